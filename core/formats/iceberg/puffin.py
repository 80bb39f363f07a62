"""Deletion vectors as Puffin files hold them: which rows of one data file are deleted, as positions from 0. Pure.

Law: bytes that are not exactly one whole vector, with its checksum and as many positions as its manifest says, are
`Corrupt`. The manifest says where the blob lies; the Puffin file's own footer is not needed. Source: the Puffin
specification, blob type `deletion-vector-v1`.
"""

from __future__ import annotations

import struct
import zlib

from core.errors import Corrupt
from core.formats import roaring
from core.messages import told
from core.model.intervals import Ints

MAGIC = b"\xd1\xd3\x39\x64"


def deleted(blob: bytes, cardinality: int, path: str) -> Ints:
    """The positions of a blob `deletion-vector-v1`, ascending; `cardinality` is the manifest's record count."""
    try:
        (length,) = struct.unpack_from(">i", blob)
        if length != len(blob) - 8:
            raise ValueError(
                told("{length} bytes and 8 more were expected, found {blob} in all", length=length, blob=len(blob))
            )
        body = blob[4 : 4 + length]
        (checksum,) = struct.unpack_from(">I", blob, 4 + length)
        if not body.startswith(MAGIC):
            raise ValueError(told("it begins with {body}, not with {magic}", body=body[:4].hex(), magic=MAGIC.hex()))
        if zlib.crc32(body) != checksum:
            raise ValueError(told("its checksum is another"))
        found, end = roaring.wide(body, len(MAGIC))
        if end != length:
            raise ValueError(told("{length} bytes follow the bitmap", length=length - end))
        if len(found) != cardinality:
            raise ValueError(
                told("{cardinality} rows were expected, found {found}", cardinality=cardinality, found=len(found))
            )
        if len(found) and (found[0] < 0 or (found[1:] <= found[:-1]).any()):
            raise ValueError(told("its positions do not ascend"))
    except (ValueError, struct.error) as error:
        raise Corrupt(
            "The deletion vector cannot be read: {error}.",
            error=error,
            path=path,
            remedy="Without it deleted rows would come back; restore the file, or choose another point.",
        ) from error
    return found
