"""A `.blob` file: values one after the other, then their lengths, then the length of these and a version.

A value is preceded by four bytes of magic and followed by twelve of length and checksum. Length -1 means null; -2 means
that an older file has the value. Also here: the engine's descriptor of such a value, (uri, offset, length).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import Corrupt, Unsupported
from core.formats.paimon.ways_out import LEAVE_OUT

FORMAT = "blob"
TAIL = 5  # bytes: the length of the index, the version
_VERSION = 1
_BEFORE, _AROUND = 4, 16
_NULL, _ELSEWHERE = -1, -2
_MAGIC = 0x424C4F4244455343  # BLOBDESC
_VIEW_MAGIC = 0x424C4F4256494557  # BLOBVIEW


@dataclass(frozen=True, slots=True)
class Blob:
    """The location of a value's bytes."""

    uri: str
    offset: int
    length: int


def index_size(tail: bytes, path: str) -> int:
    """The size in bytes of the list of lengths, which ends before the file's last five bytes."""
    if len(tail) != TAIL:
        raise Corrupt("A blob file of at least {size} bytes was expected.", size=TAIL, path=path)
    if tail[4] != _VERSION:
        raise Unsupported(
            "The blob file has the version {version}; 1 is known.", version=tail[4], path=path, remedy=LEAVE_OUT
        )
    return int.from_bytes(tail[:4], "little", signed=True)


def values(index: bytes, uri: str, path: str) -> list[Blob | type[Blob] | None]:
    """What the file's rows are: a blob, null, or `Blob` itself where an older file has the value."""
    found: list[Blob | type[Blob] | None] = []
    offset = 0
    for length in _lengths(index, path):
        if length == _NULL:
            found.append(None)
        elif length == _ELSEWHERE:
            found.append(Blob)
        elif length < _AROUND:
            raise Corrupt("The blob file gives a value the length {length}.", length=length, path=path)
        else:
            found.append(Blob(uri, offset + _BEFORE, length - _AROUND))
            offset += length
    return found


def _lengths(index: bytes, path: str) -> list[int]:
    """Differences of neighbours, each a signed number of seven bits a byte."""
    lengths: list[int] = []
    number = shift = 0
    for byte in index:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            delta = (number >> 1) ^ -(number & 1)
            lengths.append(delta + (lengths[-1] if lengths else 0))
            number = shift = 0
    if shift:
        raise Corrupt("The index of the blob file breaks off.", path=path)
    return lengths


def described(stored: bytes) -> Blob | None:
    """The descriptor in these bytes of a data file; None where they are none. `Unsupported` for a view of a value in
    another table."""
    if len(stored) >= 9 and stored[0] == 1 and int.from_bytes(stored[1:9], "little") == _VIEW_MAGIC:
        raise Unsupported(
            "A BLOB is in a row of another table ('blob-view-field'), which is not looked up here.",
            remedy=LEAVE_OUT,
        )
    if len(stored) < 13 or stored[0] != 2 or int.from_bytes(stored[1:9], "little") != _MAGIC:
        return None
    end = 13 + int.from_bytes(stored[9:13], "little")
    if len(stored) < end + 16:
        return None
    offset, length = (int.from_bytes(stored[at : at + 8], "little", signed=True) for at in (end, end + 8))
    return Blob(stored[13:end].decode(errors="replace"), offset, length)
