"""Decode Avro container files directly into Arrow columns, many files at once.

Files with the same writer schema are concatenated into one temporary container, so that two thousand manifests cost one
scan; the counts in their block headers tell which row came from which file. Invariant: a truncated or inconsistent file
yields an error that names it, never fewer rows.

The decoder loops forever if a block has more bytes than its records take (one flipped bit is enough). Therefore each
scan has a time limit; once one exceeds it, this process uses the slower reader, which finds the damaged file.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import threading
import uuid
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, SnapscopeError
from core.formats import unpack_limits
from core.formats.avro import container
from core.formats.avro.container import Frame, fields_of
from core.messages import message
from core.storage import size_limits

_JOINT, _NOTHING, _ESCAPE = "\x1f", "\x1e", "\x1d"
_ESCAPED = {_ESCAPE: f"{_ESCAPE}-", _JOINT: f"{_ESCAPE}/", _NOTHING: f"{_ESCAPE}."}  # in this order
PATIENCE_S = 20.0  # plus one second per megabyte
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORTH_A_SCAN = 1 << 20  # bytes
_BATCH_RECORDS = 4096
_COPIED_BATCHES = 2
_SLOW_BLOCK = 8 << 20  # largest unpacked block in bytes that the slow reader turns into Python objects
_gave_up = False  # a scan that never ended still occupies its thread


@dataclass(frozen=True, slots=True)
class AvroColumn:
    """One requested column: its name, its path of field names or field ids in the record, and its Arrow type.

    `spelled`: the path leads to a record, which is returned as text, to be taken apart by `parted`. Binary values are
    hexadecimal.
    """

    name: str
    path: tuple[str | int, ...]
    type: pa.DataType
    required: bool = True
    spelled: bool = False


@dataclass(frozen=True, slots=True)
class Decoded:
    """All rows of all readable files: the requested columns, and `file`, the number of the file of each row.

    `schemas`: number of a file → the schema that stands in it, as JSON (Avro) or as Arrow gives it."""

    rows: pa.Table
    errors: Mapping[int, SnapscopeError]
    schemas: Mapping[int, bytes | pa.Schema] = field(default_factory=dict)


def read(paths: Sequence[str], columns: Sequence[AvroColumn]) -> Decoded:
    """Decode local files. A file that cannot be read has no rows, and its number is in `errors`."""
    errors: dict[int, SnapscopeError] = {}
    groups: dict[tuple[bytes, bytes], list[tuple[int, Frame]]] = {}
    for number, path in enumerate(paths):
        try:
            frame = container.frame(path)
            groups.setdefault((frame.schema, frame.codec), []).append((number, frame))
        except SnapscopeError as error:
            errors[number] = error
    parts: list[tuple[str, list[tuple[int, Frame]]]] = []
    for (schema, _), members in groups.items():
        try:
            query = _query(schema, columns)
        except SnapscopeError as error:
            errors.update({number: error for number, _ in members})
        else:
            parts += [(query, part) for part in _split(members)]
    empty = arrow_schema(columns).empty_table()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tables = pool.map(lambda part: _decode(paths, part[1], part[0], columns, errors), parts)
        rows = pa.concat_tables([empty, *tables])
    refuse_nulls(rows, paths, columns, errors)
    schemas = {number: schema for (schema, _), members in groups.items() for number, _ in members}
    if errors:
        rows = rows.filter(pc.invert(pc.is_in(rows["file"], pa.array(list(errors), pa.int32()))))
    return Decoded(rows, errors, schemas)


def refuse_nulls(
    rows: pa.Table, paths: Sequence[str], columns: Sequence[AvroColumn], errors: dict[int, SnapscopeError]
) -> None:
    for column in columns:
        if column.required and rows[column.name].null_count:
            for number in rows.filter(pc.is_null(rows[column.name]))["file"].unique().to_pylist():
                errors[number] = Corrupt(
                    "Field {column} is required in every record; some records lack it.",
                    column=shown(column),
                    path=paths[number],
                    remedy="The file was not written by a known version of the table format.",
                )


def _split(members: list[tuple[int, Frame]]) -> Iterator[list[tuple[int, Frame]]]:
    """Split files into parts of similar size, one per core, none smaller than what is worth a scan."""
    share = max(_WORTH_A_SCAN, sum(frame.size for _, frame in members) // (os.cpu_count() or 1) + 1)
    part: list[tuple[int, Frame]] = []
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
    members: list[tuple[int, Frame]],
    query: str,
    columns: Sequence[AvroColumn],
    errors: dict[int, SnapscopeError],
) -> pa.Table:
    """Scan all members at once; if that fails or loses rows, decode them one by one to find the damaged file."""
    try:
        try:
            return _scan(members, query, columns)
        except _Endless:
            if len(members) > 1:
                raise
            return _read_slowly(*members[0], columns)
    except BaseException as error:  # the decoder's panics are BaseExceptions
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        if len(members) > 1:
            each = [_decode(paths, [member], query, columns, errors) for member in members]
            return pa.concat_tables(each)
        errors[members[0][0]] = Corrupt(
            "Expected a complete Avro file, but decoding failed: {first_line}.",
            first_line=_first_line(error),
            path=paths[members[0][0]],
            remedy="The file is damaged; restore it, or delete the snapshots and tags that need it.",
        )
        return arrow_schema(columns).empty_table()


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]


class _Endless(Exception):
    """The decoder did not finish within the time limit."""


def _scan(members: list[tuple[int, Frame]], query: str, columns: Sequence[AvroColumn]) -> pa.Table:
    if _gave_up:
        raise _Endless
    with tempfile.TemporaryDirectory(prefix="snapscope-avro-") as folder:
        head = members[0][1]
        with open(f"{folder}/a.avro", "wb", _WORTH_A_SCAN) as file:
            file.write(container.readable(head))
            for _, frame in members:
                for block in frame.blocks:
                    file.write(block)
                    file.write(head.sync)
        size = sum(frame.size for _, frame in members)
        batch = max(1, min(_BATCH_RECORDS, size_limits.BATCH // max(frame.largest for _, frame in members)))
        rows = _in_time(folder, query, PATIENCE_S + size / 1e6, batch, size, pa.schema([*arrow_schema(columns)][1:]))
    numbers = np.repeat([number for number, _ in members], [frame.records for _, frame in members])
    if len(rows) != len(numbers):
        raise ValueError(
            message("expected {numbers} records, could decode {rows}", numbers=len(numbers), rows=len(rows))
        )
    return rows.add_column(0, "file", pa.array(numbers, pa.int32()))


def _in_time(folder: str, query: str, limit_s: float, batch: int, size: int, schema: pa.Schema) -> pa.Table:
    """Run the query in a thread that can be abandoned, with `batch` records at a time.

    Its rows are copied, because the decoder keeps the memory of what it returned even after it was freed.
    """
    import datafusion  # imports pandas, which is slow; many requests read no Avro

    answers: list[pa.Table] = []
    failures: list[BaseException] = []
    most = max(size_limits.DECODED, size_limits.EXPANSION * size)

    def run() -> None:
        try:
            # With one partition, a file is read from start to end, so its rows keep their order.
            settings = datafusion.SessionConfig({"datafusion.optimizer.repartition_file_scans": "false"})
            context = datafusion.SessionContext(settings.with_target_partitions(1).with_batch_size(batch))
            context.register_avro("t", folder, file_extension=".avro")
            copied, parts, bytes_read = [], [], 0
            for part in context.sql(query).execute_stream():
                parts.append(part.to_pyarrow().cast(schema))
                bytes_read += parts[-1].nbytes
                if bytes_read > most:
                    raise ValueError(message("its rows take more than {most:,} bytes of memory", most=most))
                if len(parts) == _COPIED_BATCHES:
                    copied.append(pa.concat_batches(parts))
                    parts = []
            answers.append(pa.Table.from_batches([*copied, *parts], schema))
        except BaseException as error:  # noqa: BLE001 # raised by the caller that waits
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


def _read_slowly(number: int, frame: Frame, columns: Sequence[AvroColumn]) -> pa.Table:
    for block in frame.blocks:
        unpack_limits.unpacked(frame.codec, container.packed(block), _SLOW_BLOCK)
    schema = json.loads(frame.schema)
    paths = [_resolve(schema, column.path) for column in columns]
    found: list[list[Any]] = [[] for _ in columns]
    count = 0
    for record in _records(frame):
        count += 1
        for column, fields, values in zip(columns, paths, found, strict=True):
            value = _value(record, [str(each["name"]) for each in fields]) if fields else None
            values.append(_spelled(value, fields[-1].get("type")) if column.spelled and fields else value)
    return pa.table([[number] * count, *found], schema=arrow_schema(columns))


def _records(frame: Frame) -> Iterator[Any]:
    """Yield the records of one block after another, so that only one block's objects exist at a time."""
    import fastavro  # slow to import, and lists of tags and snapshots decode nothing

    for packed in frame.blocks:
        for block in fastavro.block_reader(io.BytesIO(frame.header + packed + frame.sync)):
            yield from block
            if block.bytes_.read(1):  # type: ignore[attr-defined]
                raise ValueError(message("a block contains more than its records"))


def _value(record: Any, path: Sequence[str]) -> Any:
    for name in path:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def arrow_schema(columns: Sequence[AvroColumn]) -> pa.Schema:
    return pa.schema([("file", pa.int32()), *((column.name, column.type) for column in columns)])


def _query(schema: bytes, columns: Sequence[AvroColumn]) -> str:
    try:
        record = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise Corrupt(
            "The schema in the Avro header is not valid JSON: {error}.", error=error, remedy="The file is damaged."
        ) from error
    parts = []
    around = [container.UNION] if isinstance(record, list) else []
    top = {tuple(around)} if around else {path for path, _ in container.leaves(record)}
    for column in columns:
        fields = _resolve(record, column.path)
        if fields is not None:
            path = (*around, *(str(each["name"]) for each in fields))
            text = _spelling(path, fields[-1].get("type"), top) if column.spelled else _chosen(path, top)
            parts.append(f'{text} as "{column.name}"')
        elif column.required:
            raise Corrupt(
                "The Avro record must have a field {column}; it has none.",
                column=shown(column),
                remedy="The file was not written by a known version of the table format.",
            )
        else:
            parts.append(f'null as "{column.name}"')
    whole = f' where "{around[0]}" is not null' if around else ""  # a null record shows in the row count
    return f"select {', '.join(parts)} from t{whole}"


def shown(column: AvroColumn) -> str:
    return ".".join(str(each) for each in column.path)


def _resolve(record: Any, path: Sequence[str | int]) -> list[Mapping[str, Any]] | None:
    """Return the fields along a path of names or field ids; None if the record has no such field."""
    found = []
    for step in path:
        key = "name" if isinstance(step, str) else "field-id"
        field = next((each for each in fields_of(record) or () if each.get(key) == step), None)
        if field is None:
            return None
        if not isinstance(field.get("name"), str) or not _NAME.fullmatch(field["name"]):
            raise Corrupt(
                "not a valid name of an Avro field: {name!r:.60}.",
                name=field.get("name"),
                remedy="The file was not written by a known version of the table format.",
            )
        found.append(field)
        record = field.get("type")
    return found


def _chosen(path: tuple[str, ...], top: Container[tuple[str, ...]]) -> str:
    """Return an SQL expression for the field at a path. `top`: the paths of what are columns for the decoder."""
    steps = next((steps for steps in range(len(path), 0, -1) if path[:steps] in top), 1)
    return f'"{container.STEP.join(path[:steps])}"' + "".join(f"['{name}']" for name in path[steps:])


def _spelling(record: tuple[str, ...], type_: Any, top: Container[tuple[str, ...]]) -> str:
    """Return an SQL expression for the text of a record's fields, by their ids."""
    parts = []
    for each in fields_of(type_) or ():
        is_named = isinstance(each.get("name"), str) and _NAME.fullmatch(each["name"])
        if not is_named or type(each.get("field-id")) is not int:
            raise Corrupt(
                "The Avro field {name!r:.60} has no field id.",
                name=each.get("name"),
                remedy="The file was not written by a known version of the table format.",
            )
        value = _chosen((*record, each["name"]), top)
        if _not_null(each.get("type")) == "float":
            value = f"cast({value} as double)"  # keeps all digits: the column's current type may be double
        text = f"cast({value} as varchar)"
        if _is_binary(each.get("type")):
            text = f"encode({value}, 'hex')"
        elif _not_null(each.get("type")) == "string":
            text = value
            for char, escaped in _ESCAPED.items():
                text = f"replace({text}, chr({ord(char)}), chr({ord(_ESCAPE)}) || '{escaped[1]}')"
        if _is_local(each.get("type")):
            text = f"rtrim({text}, 'Z')"
        parts.append(f"'{each['field-id']}=', coalesce({text}, chr({ord(_NOTHING)}))")
    return f"concat({f', chr({ord(_JOINT)}), '.join(parts)})" if parts else "''"


def _is_binary(type_: Any) -> bool:
    type_ = _not_null(type_)
    if isinstance(type_, dict):
        return type_.get("type") in ("bytes", "fixed") and type_.get("logicalType") != "decimal"
    return bool(type_ == "bytes")


def _is_local(type_: Any) -> bool:
    """Return whether the type is a time without zone, by Iceberg's extra property of the Avro type."""
    type_ = _not_null(type_)
    return isinstance(type_, dict) and type_.get("adjust-to-utc") is False


def _not_null(type_: Any) -> Any:
    return next((branch for branch in type_ if branch != "null"), None) if isinstance(type_, list) else type_


def _spelled(value: Any, type_: Any) -> str:
    def text(each: Any) -> str:
        if each is None:
            return _NOTHING
        if isinstance(each, bool):
            return str(each).lower()
        if isinstance(each, uuid.UUID):
            each = each.bytes
        return each.hex() if isinstance(each, bytes) else _escaped(str(each))

    fields = fields_of(type_) or ()
    return _JOINT.join(f"{each['field-id']}={text(_value(value, [each['name']]))}" for each in fields)


def _escaped(text: str) -> str:
    for char, escaped in _ESCAPED.items():
        text = text.replace(char, escaped)
    return text


def parted(spelled: str) -> list[tuple[int, str | None]]:
    """Return the field ids and values of a record that was returned as text; None for null."""
    found: list[tuple[int, str | None]] = []
    for part in spelled.split(_JOINT) if spelled else ():
        id, _, text = part.partition("=")
        for char, escaped in reversed(_ESCAPED.items()) if _ESCAPE in text else ():
            text = text.replace(escaped, char)
        found.append((int(id), None if text == _NOTHING and _ESCAPE not in part else text))
    return found
