"""Avro container files straight into Arrow columns, many files at once.

Files of one writer's schema are stitched into one container in memory order, so that two thousand manifests cost one
scan; the counts in their block headers tell which row came from which file. Law: a file that is not whole, or says
something impossible, is answered by an error naming it, never by fewer rows.

The decoder never ends where a block holds more bytes than its records take (one flipped bit is enough). So each scan
has a time limit; past it, this process reads with the slow reader, which tells such a file from the good ones.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import datafusion
import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, SnapscopeError, Unsupported

MAGIC = b"Obj\x01"
PATIENCE_S = 20.0  # and a second more for each megabyte
_WORTH_A_SCAN = 1 << 20  # bytes
_gave_up = False  # a scan that never ended still holds its thread


@dataclass(frozen=True, slots=True)
class Column:
    """One wanted column: its name, the path of field names in the record, and the Arrow type if the file lacks it."""

    name: str
    path: tuple[str, ...]
    type: pa.DataType
    required: bool = True


@dataclass(frozen=True, slots=True)
class Decoded:
    """All rows of all readable files: the wanted columns and `file`, the number of the file a row came from."""

    rows: pa.Table
    errors: Mapping[int, SnapscopeError]


def read(paths: Sequence[str], columns: Sequence[Column]) -> Decoded:
    """Decode local files. A file that cannot be read is in `errors` under its number and has no rows."""
    errors: dict[int, SnapscopeError] = {}
    groups: dict[tuple[bytes, bytes], list[tuple[int, _Frame]]] = {}
    for number, path in enumerate(paths):
        try:
            frame = _frame(path)
            groups.setdefault((frame.schema, frame.codec), []).append((number, frame))
        except SnapscopeError as error:
            errors[number] = error
    parts: list[tuple[str, list[tuple[int, _Frame]]]] = []
    for (schema, _), members in groups.items():
        try:
            selection = _selection(schema, columns)
        except SnapscopeError as error:
            errors.update({number: error for number, _ in members})
        else:
            parts += [(selection, part) for part in _split(members)]
    empty = _arrow_schema(columns).empty_table()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tables = pool.map(lambda part: _decode(paths, part[1], part[0], columns, errors), parts)
        rows = pa.concat_tables([empty, *tables])
    _refuse_nulls(rows, paths, columns, errors)
    return Decoded(rows.filter(pc.invert(pc.is_in(rows["file"], pa.array(list(errors), pa.int32())))), errors)


def _refuse_nulls(
    rows: pa.Table, paths: Sequence[str], columns: Sequence[Column], errors: dict[int, SnapscopeError]
) -> None:
    for column in columns:
        if column.required and rows[column.name].null_count:
            for number in rows.filter(pc.is_null(rows[column.name]))["file"].unique().to_pylist():
                errors[number] = Corrupt(
                    f"The Avro field {'.'.join(column.path)} was expected in every record, some have none.",
                    path=paths[number],
                    remedy="The file was not written by a known version of the table format.",
                )


def _split(members: list[tuple[int, _Frame]]) -> Iterator[list[tuple[int, _Frame]]]:
    """Parts of about equal bytes, one for each core, none smaller than what a scan is worth."""
    share = max(_WORTH_A_SCAN, sum(frame.size for _, frame in members) // (os.cpu_count() or 1) + 1)
    part: list[tuple[int, _Frame]] = []
    filled = 0
    for member in members:
        part.append(member)
        filled += member[1].size
        if filled >= share:
            yield part
            part, filled = [], 0
    if part:
        yield part


def _decode(
    paths: Sequence[str],
    members: list[tuple[int, _Frame]],
    selection: str,
    columns: Sequence[Column],
    errors: dict[int, SnapscopeError],
) -> pa.Table:
    """One scan over all members; if it fails or loses rows, each file by itself, to name the one at fault."""
    try:
        try:
            return _scan(members, selection, columns)
        except _Endless:
            if len(members) > 1:
                raise
            return _read_slowly(*members[0], columns)
    except BaseException as error:  # the decoder's panics are BaseExceptions
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        if len(members) > 1:
            each = [_decode(paths, [member], selection, columns, errors) for member in members]
            return pa.concat_tables(each)
        errors[members[0][0]] = Corrupt(
            f"A whole Avro file was expected, decoding failed: {_first_line(error)}.",
            path=paths[members[0][0]],
            remedy="The file is damaged; restore it or drop the points that need it.",
        )
        return _arrow_schema(columns).empty_table()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]


class _Endless(Exception):
    """The decoder did not come to an end in time."""


def _scan(members: list[tuple[int, _Frame]], selection: str, columns: Sequence[Column]) -> pa.Table:
    if _gave_up:
        raise _Endless
    with tempfile.TemporaryDirectory(prefix="snapscope-avro-") as folder:
        head = members[0][1]
        with open(f"{folder}/a.avro", "wb") as file:
            file.write(head.header)
            for _, frame in members:
                for block in frame.blocks:
                    file.write(block)
                    file.write(head.sync)
        size = sum(frame.size for _, frame in members)
        rows = _in_time(folder, f"select {selection} from t", PATIENCE_S + size / 1e6)
    numbers = np.repeat([number for number, _ in members], [frame.records for _, frame in members])
    if len(rows) != len(numbers):
        raise ValueError(f"{len(numbers)} records were expected, {len(rows)} could be decoded")
    return rows.add_column(0, "file", pa.array(numbers, pa.int32())).cast(_arrow_schema(columns))


def _in_time(folder: str, query: str, limit_s: float) -> pa.Table:
    """Run the query in a thread that can be left behind."""
    answers: list[pa.Table] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            # One partition reads one file from its start to its end: rows keep their order.
            settings = datafusion.SessionConfig({"datafusion.optimizer.repartition_file_scans": "false"})
            context = datafusion.SessionContext(settings.with_target_partitions(1))
            context.register_avro("t", folder, file_extension=".avro")
            answers.append(context.sql(query).to_arrow_table())
        except BaseException as error:  # noqa: BLE001  # told to whoever waits
            failures.append(error)

    thread = threading.Thread(target=run, name="avro", daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        global _gave_up
        _gave_up = True
        raise _Endless
    if failures:
        raise failures[0]
    return answers[0]


def _read_slowly(number: int, frame: _Frame, columns: Sequence[Column]) -> pa.Table:
    content = frame.header + b"".join(part for block in frame.blocks for part in (block, frame.sync))
    records = list(_records(content))
    found: dict[str, list[Any]] = {"file": [number] * len(records)}
    found |= {column.name: [_value(record, column.path) for record in records] for column in columns}
    return pa.table(found, schema=_arrow_schema(columns))


def _records(content: bytes) -> Iterator[Any]:
    for block in fastavro.block_reader(io.BytesIO(content)):
        yield from block
        if block.bytes_.read(1):  # type: ignore[attr-defined]
            raise ValueError("a block holds more than its records")


def _value(record: Any, path: Sequence[str]) -> Any:
    for name in path:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([("file", pa.int32()), *((column.name, column.type) for column in columns)])


def _selection(schema: bytes, columns: Sequence[Column]) -> str:
    try:
        record = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"The Avro header's schema is no JSON: {error}.", remedy="The file is damaged.") from error
    parts = []
    for column in columns:
        if _has(record, column.path):
            head, *rest = column.path
            parts.append(f'"{head}"' + "".join(f"['{name}']" for name in rest) + f' as "{column.name}"')
        elif column.required:
            raise Corrupt(
                f"The Avro record was expected to have a field {'.'.join(column.path)}, it has none.",
                remedy="The file was not written by a known version of the table format.",
            )
        else:
            parts.append(f'null as "{column.name}"')
    return ", ".join(parts)


def _has(record: Any, path: Sequence[str]) -> bool:
    if isinstance(record, list):  # a union with null
        record = next((branch for branch in record if branch != "null"), None)
    fields = record.get("fields") if isinstance(record, dict) and record.get("type") == "record" else None
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict) and field.get("name") == path[0]:
            return len(path) == 1 or _has(field.get("type"), path[1:])
    return False


@dataclass(frozen=True, slots=True)
class _Frame:
    """A container taken apart: its header and its blocks, each without the sync marker that ends it."""

    schema: bytes
    codec: bytes
    header: bytes
    sync: bytes
    blocks: list[memoryview]
    records: int
    size: int  # bytes of the whole file


def _frame(path: str) -> _Frame:
    """Walk a container block by block without decoding it.

    The decoder answers a cut-off file with the rows it could read; here a file must end with a whole block.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError as error:
        raise Corrupt(
            "The file is named by the table's metadata but does not exist.",
            path=path,
            remedy="Whatever needs it can no longer be read in full.",
        ) from error
    except OSError as error:
        raise Corrupt(f"The file could not be read: {error}.", path=path, remedy="Check access to it.") from error
    if not data.startswith(MAGIC):
        raise Unsupported(
            "An Avro file was expected, found other content.",
            path=path,
            remedy="Manifests in ORC or Parquet (an option of old versions) and damaged files cannot be read.",
        )
    try:
        metadata, position = _metadata(data, len(MAGIC))
        sync = data[position : position + 16]
        position += 16
        header, records, view = data[:position], 0, memoryview(data)
        blocks: list[memoryview] = []
        while position < len(data):
            count, body = _long(data, position)
            size, body = _long(data, body)
            end = body + size
            if count < 0 or size < 0 or len(sync) != 16 or data[end : end + 16] != sync:
                raise ValueError("a block does not end where its header says")
            blocks.append(view[position:end])
            records, position = records + count, end + 16
        if position != len(data) or b"avro.schema" not in metadata:
            raise ValueError("the header is cut off")
    except (ValueError, IndexError, KeyError) as error:
        raise Corrupt(
            f"A whole Avro file was expected; this one of {len(data)} bytes is cut off or damaged ({error}).",
            path=path,
            remedy="Restore the file or drop the points that need it.",
        ) from error
    return _Frame(
        metadata[b"avro.schema"], metadata.get(b"avro.codec", b"null"), header, sync, blocks, records, len(data)
    )


def _metadata(data: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    metadata: dict[bytes, bytes] = {}
    while True:
        count, position = _long(data, position)
        if count == 0:
            return metadata, position
        if count < 0:
            _, position = _long(data, position)
        for _ in range(abs(count)):
            key, position = _bytes(data, position)
            metadata[key], position = _bytes(data, position)


def _bytes(data: bytes, position: int) -> tuple[bytes, int]:
    size, position = _long(data, position)
    if size < 0 or position + size > len(data):
        raise ValueError("the header is cut off")
    return data[position : position + size], position + size


def _long(data: bytes, position: int) -> tuple[int, int]:
    """An Avro long: zigzag, seven bits a byte."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")
