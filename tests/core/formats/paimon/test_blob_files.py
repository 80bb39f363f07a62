"""The index of a blob file, and descriptors of values elsewhere."""

from __future__ import annotations

import pytest

from core.errors import Corrupt, Unsupported
from core.formats.paimon import blob_files
from core.formats.paimon.blob_files import Blob


def index(*lengths: int) -> bytes:
    """As the engine writes it: differences, their sign in the last bit, seven bits a byte."""
    found = bytearray()
    before = 0
    for length in lengths:
        number = (length - before) << 1 if length >= before else ((before - length) << 1) - 1
        before = length
        while number > 0x7F:
            found.append(number & 0x7F | 0x80)
            number >>= 7
        found.append(number)
    return bytes(found)


def test_values_stand_one_after_the_other() -> None:
    found = blob_files.values(index(19, -1, 16, -2, 10_016), "u", "f.blob")
    assert found == [Blob("u", 4, 3), None, Blob("u", 23, 0), Blob, Blob("u", 39, 10_000)]
    assert blob_files.values(b"", "u", "f.blob") == []


def test_the_tail_tells_the_size_of_the_index() -> None:
    assert blob_files.index_size(b"\x05\0\0\0\x01", "f.blob") == 5
    with pytest.raises(Unsupported, match="version 2"):
        blob_files.index_size(b"\x05\0\0\0\x02", "f.blob")
    with pytest.raises(Corrupt, match="at least 5 bytes"):
        blob_files.index_size(b"\x05", "f.blob")


@pytest.mark.parametrize(("stored", "said"), [(index(15), "the length 15"), (index(-3), "-3"), (b"\x80", "breaks off")])
def test_other_bytes_are_damage(stored: bytes, said: str) -> None:
    with pytest.raises(Corrupt, match=said):
        blob_files.values(stored, "u", "f.blob")


def test_descriptors_say_where_a_value_stands() -> None:
    uri = "s3://b/ä".encode()
    sizes = (7).to_bytes(8, "little") + (9).to_bytes(8, "little")
    stored = b"\x02" + b"CSEDBOLB" + len(uri).to_bytes(4, "little") + uri + sizes
    assert blob_files.described(stored) == Blob("s3://b/ä", 7, 9)
    with pytest.raises(Unsupported, match="in a row of another table"):
        blob_files.described(b"\x01" + b"WEIVBOLB" + bytes(20))
    assert blob_files.described(b"\x01WEIVBOL") is None
    for other in (b"", b"bytes of a picture", stored[:-1], b"\x01" + stored[1:]):
        assert blob_files.described(other) is None
