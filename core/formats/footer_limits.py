"""Check the size of a Parquet or ORC footer from the file's last bytes, before a decoder reads it.

Sources: the Parquet format (a footer ends with its length in four bytes and `PAR1`); the ORC specification, version 1
(the last byte is the length of the postscript, a Protobuf message with the lengths of footer and stripe statistics and
the size of a compressed block; the first three bytes of each block give its length).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from core.messages import message
from core.storage import local_disk, time_limits
from core.storage.size_limits import FOOTER, FOOTER_UNPACKED

_PARQUET = b"PAR1"
_FOOTER, _COMPRESSION, _BLOCK, _STATISTICS = 1, 2, 3, 5  # fields of ORC's postscript
_USUAL_BLOCK = 256 << 10


def refuse_large(source: bytes | str, form: str) -> None:
    """Raise `ValueError` if the footer of a file (its content, or a local path) is larger than any writer makes it.

    A file that is not Parquet or ORC at all is left to the decoder to report.
    """
    size = os.stat(source).st_size if isinstance(source, str) else len(source)
    if form == "parquet":
        end = _part(source, max(size - 8, 0), 8)
        if end[4:] == _PARQUET:
            _bounded(int.from_bytes(end[:4], "little"), FOOTER)
    elif form == "orc" and size:
        end = _part(source, max(size - 256, 0), 256)
        postscript = end[len(end) - 1 - end[-1] : -1]
        fields = dict(_numbers(postscript))
        packed = fields.get(_FOOTER, 0) + fields.get(_STATISTICS, 0)
        _bounded(packed, FOOTER)
        if fields.get(_COMPRESSION, 0):
            begin = size - 1 - end[-1] - packed
            blocks = _blocks(_part(source, begin, packed)) if begin >= 0 else 0
            _bounded(blocks * fields.get(_BLOCK, _USUAL_BLOCK), FOOTER_UNPACKED)


def _part(source: bytes | str, start: int, length: int) -> bytes:
    if isinstance(source, str):
        return time_limits.calling(local_disk.read, source, length, start)
    return source[start : start + length]


def _bounded(found: int, most: int) -> None:
    if found > most:
        raise ValueError(
            message("its footer is {found:,} bytes, more than the limit of {most:,}", found=found, most=most)
        )


def _blocks(packed: bytes) -> int:
    """Count the compressed blocks, including a truncated one."""
    at = count = 0
    while at + 3 <= len(packed):
        at += 3 + (int.from_bytes(packed[at : at + 3], "little") >> 1)
        count += 1
    return count


def _numbers(message: bytes) -> Iterator[tuple[int, int]]:
    """Yield (field number, value) of a Protobuf message's varint fields, up to the first unreadable field."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == 0:
            yield key >> 3, value
        elif key & 7 == 2:
            at += value
        else:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        value |= (message[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if message[at - 1] < 0x80:
            break
    return value, at
