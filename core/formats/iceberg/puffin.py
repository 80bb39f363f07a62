"""Deletion vectors in Puffin files: the deleted rows of one data file, as positions from 0. Pure.

Invariant: bytes that are not exactly one whole vector, with a matching checksum and the manifest's number of positions,
are `Corrupt`. The manifest states where the blob is; the Puffin file's own footer is not needed. Source: the Puffin
specification, blob type `deletion-vector-v1`.
"""

from __future__ import annotations

import struct
import zlib

from core.errors import Corrupt
from core.formats import roaring
from core.messages import message
from core.model.intervals import Ints

MAGIC = b"\xd1\xd3\x39\x64"


def deleted(blob: bytes, cardinality: int, path: str) -> Ints:
    """Return the positions in a `deletion-vector-v1` blob, ascending; `cardinality` is the manifest's record count."""
    try:
        (length,) = struct.unpack_from(">i", blob)
        if length != len(blob) - 8:
            raise ValueError(
                message("expected {length} bytes and 8 more, found {blob} in all", length=length, blob=len(blob))
            )
        body = blob[4 : 4 + length]
        (checksum,) = struct.unpack_from(">I", blob, 4 + length)
        if not body.startswith(MAGIC):
            raise ValueError(message("it starts with {body}, not with {magic}", body=body[:4].hex(), magic=MAGIC.hex()))
        if zlib.crc32(body) != checksum:
            raise ValueError(message("its checksum does not match"))
        found, end = roaring.wide(body, len(MAGIC))
        if end != length:
            raise ValueError(message("{length} bytes follow the bitmap", length=length - end))
        if len(found) != cardinality:
            raise ValueError(
                message("expected {cardinality} rows, found {found}", cardinality=cardinality, found=len(found))
            )
        if len(found) and (found[0] < 0 or (found[1:] <= found[:-1]).any()):
            raise ValueError(message("its positions are not in ascending order"))
    except (ValueError, struct.error) as error:
        raise Corrupt(
            "The deletion vector cannot be read: {error}.",
            error=error,
            path=path,
            remedy=("Without it deleted rows would reappear; restore the file, or choose another snapshot or tag."),
        ) from error
    return found
