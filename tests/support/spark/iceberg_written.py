"""Writes small Iceberg tables with real Parquet files according to the table specification, without an engine.

    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")])
    file = table.data({"id": [1, 2], "v": ["a", "b"]})
    table.commit(file)
    table.commit(table.positions([(file, 0)]))
    point = open_table(str(table.root))

Invariant: nothing here uses core.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa

from core import decimals
from tests.support.spark import data_files
from tests.support.vectors import vector

Column = tuple[int, str, Any]
Entry = dict[str, Any]
DATA, POSITIONS, EQUALITY = 0, 1, 2
_ARROW = {
    "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "date": pa.date32(), "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", tz="UTC"),
    "string": pa.string(), "binary": pa.binary(), "uuid": pa.binary(16),
}  # fmt: skip
_AVRO = {
    "int": "int", "long": "long", "string": "string", "boolean": "boolean", "double": "double", "bytes": "bytes",
    "date": {"type": "int", "logicalType": "date"}, "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "uuid": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    "fixed[3]": {"type": "fixed", "name": "fixed_3", "size": 3},
    "decimal(5,2)": {"type": "fixed", "name": "decimal_5_2", "size": 3, "logicalType": "decimal", "precision": 5,
                     "scale": 2},
    "decimal(38,4)": {"type": "fixed", "name": "decimal_38_4", "size": 16, "logicalType": "decimal", "precision": 38,
                      "scale": 4},
}  # fmt: skip


@dataclass
class Written:
    """A table. `spec` are partition fields as in metadata; more can be appended to `specs`, and columns to
    `schemas`."""

    root: Path
    columns: list[Column]
    spec: Sequence[Mapping[str, Any]] = ()
    version: int = 2
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.root / "data").mkdir(parents=True)
        (self.root / "metadata").mkdir()
        self.schemas: list[dict[str, Any]] = []
        self.specs: list[dict[str, Any]] = [{"spec-id": 0, "fields": list(self.spec)}]
        self.evolve(self.columns)
        self.live: list[Entry] = []
        self.snapshots: list[dict[str, Any]] = []
        self._names = 0

    def evolve(self, columns: Sequence[Column], defaults: Mapping[int, Any] | None = None) -> None:
        """Set a new current schema."""
        self.columns = list(columns)
        fields = [
            {"id": id, "name": name, "required": False, "type": of}
            | ({"initial-default": defaults[id]} if defaults and id in defaults else {})
            for id, name, of in columns
        ]
        self.schemas.append({"type": "struct", "schema-id": len(self.schemas), "fields": fields})

    # files ------------------------------------------------------------------------------------------------------------

    def data(self, rows: Mapping[str, Sequence[Any]] | pa.Table, **more: Any) -> Entry:
        """Write a data file with some of the current columns; `partition` by field id, `spec`, `name`, `ids`."""
        if isinstance(rows, pa.Table):
            return self.file(rows, DATA, **more)
        chosen = [each for each in self.columns if each[1] in rows]
        arrays = [pa.array(rows[name], arrow_field(id, name, of).type) for id, name, of in chosen]
        return self.file(pa.table(arrays, schema=pa.schema([arrow_field(*each) for each in chosen])), DATA, **more)

    def positions(self, rows: Sequence[tuple[Entry | str | None, int]], **more: Any) -> Entry:
        """Write a position delete file: (data file or its location, position)."""
        paths = [each["path"] if isinstance(each, dict) else each for each, _ in rows]
        schema = pa.schema([arrow_field(2147483546, "file_path", "string"), arrow_field(2147483545, "pos", "long")])
        table = pa.table([pa.array(paths), pa.array([row for _, row in rows], pa.int64())], schema=schema)
        return self.file(table, POSITIONS, **more)

    def equality(self, rows: Mapping[str, Sequence[Any]], **more: Any) -> Entry:
        """Write an equality delete file on all of its columns."""
        entry = self.data(rows, **more)
        ids = [id for id, name, _ in self.columns if name in rows]
        return entry | {"content": EQUALITY, "equality_ids": ids}

    def vector(self, of: Entry, rows: Sequence[int], **more: Any) -> Entry:
        """Write a deletion vector in a separate file that starts with other bytes."""
        blob, _ = vector(rows, wide=True)
        path = self.path("puffin", more.pop("name", None))
        path.write_bytes(b"PFA1" + blob)
        where = {"referenced": of["path"], "offset": 4, "length": len(blob)}
        own = {"format": "PUFFIN", "records": len(rows), "bytes": len(blob) + 4, **where}
        given = {"spec": of["spec"], "partition": of["partition"]}
        return {"content": POSITIONS, "path": str(path), "ids": None, "sizes": None, **given, **own, **more}

    def file(self, rows: pa.Table, content: int, *, name: str | None = None, spec: int = 0, ids: bool = True,
             partition: Mapping[int, Any] | None = None, bounds: Sequence[int] = (), form: str = "parquet",
             **more: Any) -> Entry:  # fmt: skip
        """Write a file. `bounds`: the ids of columns with min, max and null count in the manifest."""
        path = self.path(form, name)
        data_files.write(rows if ids else rows.replace_schema_metadata().cast(_bare(rows.schema)), form, path)
        sizes = [id for each in rows.schema for id in _leaves(each)] if ids else []
        told = {id: _bounds(column) for id, column in zip(sizes, rows.columns, strict=False) if id in bounds}
        more = {"bounds": told} | more
        own = {"path": str(path), "format": form.upper(), "records": len(rows), "bytes": path.stat().st_size}
        return {"content": content, "spec": spec, "partition": dict(partition or {}), "sizes": sizes, **own, **more}

    def path(self, suffix: str, name: str | None) -> Path:
        self._names += 1
        return self.root / "data" / (name or f"f{self._names}.{suffix}")

    # commits ----------------------------------------------------------------------------------------------------------

    def commit(self, *entries: Entry, without: Sequence[Entry] = (), **more: Any) -> int:
        """Commit a snapshot that adds these files to those of the last one; return its id. `more` is added to the
        metadata."""
        sequence = len(self.snapshots) + 1
        gone = [each["path"] for each in without]
        kept = [each for each in self.live if each["path"] not in gone]
        added = [{"sequence": sequence, **each} for each in entries]
        rows = []
        for (spec, is_deletes), some in _grouped([(each, each in added) for each in [*kept, *added]]).items():
            rows.append(self._manifest(spec, is_deletes, some, sequence))
        path = self.root / "metadata" / f"snap-{sequence}.avro"
        _write(path, _LIST, rows)
        self.live = [*kept, *added]
        self.snapshots.append({
            "snapshot-id": sequence, "sequence-number": sequence, "timestamp-ms": 1_000 * sequence,
            "manifest-list": str(path), "schema-id": self.schemas[-1]["schema-id"],
            "summary": {"operation": "append"},
        })  # fmt: skip
        self.publish(**more)
        return sequence

    def publish(self, **more: Any) -> None:
        """Overwrite metadata.json with the current state."""
        last = len(self.snapshots)
        document = {
            "format-version": self.version, "table-uuid": "00000000-0000-0000-0000-000000000001",
            "location": str(self.root), "last-sequence-number": last, "last-updated-ms": 1_000 * last,
            "last-column-id": 1000, "schemas": self.schemas, "current-schema-id": self.schemas[-1]["schema-id"],
            "partition-specs": self.specs, "default-spec-id": self.specs[-1]["spec-id"], "last-partition-id": 2000,
            "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0, "next-row-id": 0,
            "properties": dict(self.properties), "snapshots": self.snapshots, "current-snapshot-id": last or -1,
            "snapshot-log": [{"timestamp-ms": each["timestamp-ms"], "snapshot-id": each["snapshot-id"]}
                             for each in self.snapshots], **more,
        }  # fmt: skip
        (self.root / "metadata" / "v1.metadata.json").write_text(json.dumps(document))
        (self.root / "metadata" / "version-hint.text").write_text("1")

    def _manifest(self, spec: int, is_deletes: bool, some: Sequence[tuple[Entry, bool]], own: int) -> dict[str, Any]:
        """Write a manifest and return its row in the list. New files inherit their sequence number."""
        self._names += 1
        path = self.root / "metadata" / f"m{self._names}.avro"
        fields = self.specs[spec]["fields"]
        records = [
            {
                "status": 1 if is_new else 0, "snapshot_id": None if is_new else each["sequence"],
                "sequence_number": None if is_new and each["sequence"] == own else each["sequence"],
                "file_sequence_number": None,
                "data_file": {
                    "content": each["content"], "file_path": each["path"], "file_format": each["format"],
                    "partition": {f"f{part['field-id']}": each["partition"].get(part["field-id"]) for part in fields},
                    "record_count": each["records"], "file_size_in_bytes": each["bytes"],
                    "column_sizes": None if each["sizes"] is None else
                                    [{"key": id, "value": 1} for id in each["sizes"]],
                    **{name: [{"key": id, "value": of[name]} for id, of in each.get("bounds", {}).items()
                              if of[name] is not None] for name in ("nulls", "lower", "upper")},
                    "equality_ids": each.get("equality_ids"), "referenced_data_file": each.get("referenced"),
                    "key_metadata": each.get("key"), "content_offset": each.get("offset"),
                    "content_size_in_bytes": each.get("length"),
                },
            }
            for each, is_new in some
        ]  # fmt: skip
        _write(path, _entry([_partition_field(each) for each in fields]), records)
        new = sum(is_new for _, is_new in some)
        return {"manifest_path": str(path), "manifest_length": path.stat().st_size, "partition_spec_id": spec,
                "content": int(is_deletes), "sequence_number": own, "added_snapshot_id": own,
                "added_files_count": new, "existing_files_count": len(some) - new,
                "deleted_files_count": 0}  # fmt: skip


def arrow_field(id: int, name: str, of: Any) -> pa.Field:
    """Create a column with its id, in the type that a writer would choose."""
    return pa.field(name, _arrow(of), metadata={"PARQUET:field_id": str(id)})


def _arrow(of: Any) -> pa.DataType:
    if isinstance(of, str):
        if of.startswith("decimal"):
            return pa.decimal128(*(int(each) for each in of[8:-1].split(",")))
        return pa.binary(int(of[6:-1])) if of.startswith("fixed") else _ARROW[of]
    match of["type"]:
        case "struct":
            return pa.struct([arrow_field(each["id"], each["name"], each["type"]) for each in of["fields"]])
        case "list":
            return pa.list_(arrow_field(of["element-id"], "element", of["element"]))
        case _:
            key = arrow_field(of["key-id"], "key", of["key"]).with_nullable(False)
            return pa.map_(key, arrow_field(of["value-id"], "value", of["value"]))


def _bounds(column: pa.ChunkedArray) -> dict[str, Any]:
    """Return min and max, serialized as in the specification, and the null count."""
    import pyarrow.compute as pc

    least_most = pc.min_max(column).as_py()
    return {"nulls": column.null_count, "lower": _stored(least_most["min"]), "upper": _stored(least_most["max"])}


def _stored(value: Any) -> bytes | None:
    match value:
        case None:
            return None
        case bool():
            return bytes([value])
        case int():
            return value.to_bytes(8, "little", signed=True)
        case str():
            return value.encode()
        case Decimal():
            digits = decimals.unscaled(value, -int(value.as_tuple().exponent))
            return digits.to_bytes(digits.bit_length() // 8 + 1, "big", signed=True)
        case dt.datetime():
            since = (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
            return since.to_bytes(8, "little", signed=True)
        case dt.date():
            return (value - dt.date(1970, 1, 1)).days.to_bytes(4, "little", signed=True)
        case _:
            raise TypeError(value)


def _leaves(of: pa.Field) -> list[int]:
    """Return the field ids of a column's leaves in a file."""
    if pa.types.is_map(of.type):
        return [*_leaves(of.type.key_field), *_leaves(of.type.item_field)]
    if pa.types.is_nested(of.type):
        return [id for number in range(of.type.num_fields) for id in _leaves(of.type.field(number))]
    return [int(of.metadata[b"PARQUET:field_id"])] if b"PARQUET:field_id" in (of.metadata or {}) else []


def _bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(each.name, each.type) for each in schema])


def _grouped(entries: Sequence[tuple[Entry, bool]]) -> dict[tuple[int, bool], list[tuple[Entry, bool]]]:
    found: dict[tuple[int, bool], list[tuple[Entry, bool]]] = {}
    for each, is_new in entries:
        found.setdefault((each["spec"], each["content"] != DATA), []).append((each, is_new))
    return found


# Avro -----------------------------------------------------------------------------------------------------------------


def _write(path: Path, schema: dict[str, Any], records: Sequence[Mapping[str, Any]]) -> None:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), records, codec="deflate")
    path.write_bytes(out.getvalue())


def _field(id: int, name: str, of: Any, *, maybe: bool = False) -> dict[str, Any]:
    return {"name": name, "type": ["null", of] if maybe else of, "field-id": id} | ({"default": None} if maybe else {})


def _partition_field(part: Mapping[str, Any]) -> dict[str, Any]:
    return _field(part["field-id"], f"f{part['field-id']}", _AVRO[part.get("avro", "string")], maybe=True)


def _entry(partition: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sizes = {
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": "k117_v118",
            "fields": [_field(117, "key", "int"), _field(118, "value", "long")],
        },
    }
    bounds: dict[str, Any] = {
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": "k126_v127",
            "fields": [_field(126, "key", "int"), _field(127, "value", "bytes")],
        },
    }
    counts = {
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": "k121_v122",
            "fields": [_field(121, "key", "int"), _field(122, "value", "long")],
        },
    }
    uppers = bounds | {"items": bounds["items"] | {"name": "k129_v130"}}
    file = [
        _field(110, "nulls", counts, maybe=True),
        _field(125, "lower", bounds, maybe=True),
        _field(128, "upper", uppers, maybe=True),
        _field(134, "content", "int"),
        _field(100, "file_path", "string"),
        _field(101, "file_format", "string"),
        _field(102, "partition", {"type": "record", "name": "r102", "fields": list(partition)}),
        _field(103, "record_count", "long"),
        _field(104, "file_size_in_bytes", "long"),
        _field(108, "column_sizes", sizes, maybe=True),
        _field(131, "key_metadata", "bytes", maybe=True),
        _field(135, "equality_ids", {"type": "array", "element-id": 136, "items": "int"}, maybe=True),
        _field(143, "referenced_data_file", "string", maybe=True),
        _field(144, "content_offset", "long", maybe=True),
        _field(145, "content_size_in_bytes", "long", maybe=True),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": [
        _field(0, "status", "int"), _field(1, "snapshot_id", "long", maybe=True),
        _field(3, "sequence_number", "long", maybe=True), _field(4, "file_sequence_number", "long", maybe=True),
        _field(2, "data_file", {"type": "record", "name": "r2", "fields": file}),
    ]}  # fmt: skip


_LIST = {"type": "record", "name": "manifest_file", "fields": [
    _field(500, "manifest_path", "string"), _field(501, "manifest_length", "long"),
    _field(502, "partition_spec_id", "int"), _field(517, "content", "int"), _field(515, "sequence_number", "long"),
    _field(503, "added_snapshot_id", "long"), _field(504, "added_files_count", "int"),
    _field(505, "existing_files_count", "int"), _field(506, "deleted_files_count", "int"),
]}  # fmt: skip
