"""Deletion vectors: the deleted rows of a data file, as positions from 0. Pure.

Invariant: bytes that are not exactly one whole vector with a matching checksum are `Corrupt`. Both kinds are read: 32
bits (one portable Roaring bitmap) and 64 bits (several, each preceded by the high half of its positions). Sources:
docs/paimon.md §4.7 and the public format specification of Roaring bitmaps.
"""

from __future__ import annotations

import struct
import zlib

from core.errors import Corrupt
from core.formats import roaring
from core.messages import message
from core.model.intervals import Ints

MAGIC_32, MAGIC_64 = 1581511376, 1681511377


def positions(content: bytes, offset: int, size: int, path: str) -> Ints:
    """Return the positions of the vector at byte `offset` of an index file; `size` is its size by the index manifest.

    Raises `Corrupt` if the vector is damaged or has another size.
    """
    try:
        (length,) = struct.unpack_from(">i", content, offset)
        body = content[offset + 4 : offset + 4 + length]
        (checksum,) = struct.unpack_from(">I", content, offset + 4 + length)
        if len(body) != length or length < 4:
            raise ValueError(message("{length} bytes are more than the file has", length=length))
        if zlib.crc32(body) != checksum:
            raise ValueError(message("its checksum does not match"))
        if struct.unpack_from(">i", body)[0] == MAGIC_32:
            expected = length
            found, end = roaring.narrow(body, 4)
        elif struct.unpack_from("<i", body)[0] == MAGIC_64:
            expected = length + 8
            found, end = roaring.wide(body, 4)
        else:
            raise ValueError(message("its kind is unknown"))
        if expected != size or end != length:
            raise ValueError(message("expected {size} bytes, found {expected}", size=size, expected=expected))
    except (ValueError, struct.error) as error:
        raise Corrupt(
            "The deletion vector at byte {offset} cannot be read: {error}.", offset=offset, error=error, path=path
        ) from error
    return found
