"""Arrow tables on the local disk, one file and key for each place, mapped into memory that all processes share.

Invariant: tables are returned only if the file is whole: it ends where it says and has the checksum that was computed
when it was written, for this key. Anything else is not there. Files appear complete or not at all, and one that is
replaced or deleted stays as it is for those who mapped it. A disk that cannot be used costs reads, never an answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from core.errors import Invalid
from core.paths import cache_dir, private
from core.units import parse_size_bytes

VARIABLE = "SNAPSCOPE_CACHE_SIZE"
MOST_BYTES = 4 << 30  # if the variable is not set
_MAGIC = b"snapscope tables"
_HEAD = 40  # bytes: the magic; then the length of the file, where its contents are listed, and the checksum
_ALIGNED = 64
_BLOCK = 1 << 15  # words of 8 bytes: they stay in the processor's cache
_WEIGHTS = np.random.default_rng(7).integers(0, 1 << 63, _BLOCK, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_FACTOR, _WORD = 0x9E3779B97F4A7C15, 1 << 64


def keep(place: str, key: str, tables: Mapping[str, pa.Table]) -> None:
    """Replace what is kept for a place; drop what was used least recently, if all takes more than the limit."""
    most = most_bytes()
    if sum(table.nbytes for table in tables.values()) > most:
        return
    written = ""
    try:
        path = _path(place)
        number, written = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=private(path.parent))
        with os.fdopen(number, "w+b") as file:
            file.write(bytes(_HEAD))
            where = {name: _write(file, table) for name, table in tables.items()}
            end = file.tell()
            file.write(json.dumps({"key": key, "tables": where}).encode())
            file.write(bytes(-file.tell() % 8))
            size = file.tell()
            file.flush()
            head = size.to_bytes(8, "little") + end.to_bytes(8, "little")
            file.seek(_HEAD)
            sum_ = _checksum(head, iter(lambda: file.read(_BLOCK * 8), b""))
            file.seek(0)
            file.write(_MAGIC + head + sum_.to_bytes(8, "little"))
        os.replace(written, path)
        _trim(path, most)
    except (OSError, pa.ArrowException):  # read again next time
        with contextlib.suppress(OSError):
            os.unlink(written)


def find(place: str, key: str) -> dict[str, pa.Table] | None:
    """Return what was kept for a place under this key, without a copy; None if it is not there in full."""
    if not most_bytes():
        return None
    try:
        path = _path(place)
        with pa.memory_map(str(path)) as mapped:
            data = mapped.read_buffer()
        if data.size < _HEAD or data.size % 8 or data.slice(0, len(_MAGIC)).to_pybytes() != _MAGIC:
            return None
        size, end, sum_ = (int(each) for each in np.frombuffer(data.slice(len(_MAGIC), 24), "<u8"))
        if size != data.size or _checksum(data.slice(len(_MAGIC), 16).to_pybytes(), _blocks(data)) != sum_:
            return None
        listed = json.loads(data.slice(end).to_pybytes().rstrip(b"\0"))
        if listed["key"] != key:
            return None
        found = {name: pa.ipc.open_stream(data.slice(*where)).read_all() for name, where in listed["tables"].items()}
    except (OSError, ValueError, pa.ArrowException):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return found


def most_bytes() -> int:
    """Return how much may be kept: `$SNAPSCOPE_CACHE_SIZE`, else 4 GB; 0 keeps nothing. Raises `Invalid`."""
    text = os.environ.get(VARIABLE, "").strip()
    try:
        return parse_size_bytes(text) if text else MOST_BYTES
    except Invalid as error:
        raise Invalid(
            "{variable}={text} is not a size.",
            variable=VARIABLE,
            text=text,
            remedy="Write a size such as 4 GB; 0 keeps nothing.",
        ) from error


def _path(place: str) -> Path:
    return cache_dir() / "histories" / f"{hashlib.sha256(place.encode()).hexdigest()[:40]}.arrow"


def _write(file: BinaryIO, table: pa.Table) -> tuple[int, int]:
    """Write a table; return its offset and length."""
    file.write(bytes(-file.tell() % _ALIGNED))
    begin = file.tell()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return begin, file.tell() - begin


def _blocks(data: pa.Buffer) -> Iterator[memoryview]:
    view = memoryview(data)
    return (view[begin : begin + _BLOCK * 8] for begin in range(_HEAD, len(view), _BLOCK * 8))


def _checksum(head: bytes, blocks: Iterable[bytes | memoryview]) -> int:
    """Return a checksum of a file from what it has behind its head: any changed word changes it, and so does their
    order."""
    found = int.from_bytes(head, "little") % (_WORD - 59)
    for block in blocks:
        words = np.frombuffer(block, "<u8")
        found = (found * _FACTOR + int((words * _WEIGHTS[: len(words)]).sum(dtype=np.uint64))) % _WORD
    return found


def _trim(newest: Path, most: int) -> None:
    """Delete those used least recently until the rest fits, and what a killed process left behind."""
    found = []
    for each in newest.parent.iterdir():
        with contextlib.suppress(FileNotFoundError):
            state = each.stat()
            found.append((each != newest, -state.st_mtime, state.st_size, each))
    taken = 0
    for is_older, _, size, each in sorted(found):
        taken += size
        if is_older and taken > most:
            each.unlink(missing_ok=True)
