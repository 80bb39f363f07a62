"""Writes small tables with real Parquet files and complete manifests, including statistics, without Spark or an engine.

The rows of every file are remembered, so `rows` computes the content of a version in plain Python, as the reference for
reads, row diffs and pruning. Statistics of FLOAT and DOUBLE skip NaN, as Arrow's do, or are randomly missing.

    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")])
    first = table.file([{"id": 1, "v": "a"}])
    table.commit([first])
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from core.formats.paimon import binary_row, types
from core.formats.paimon.types import parse
from core.formats.paimon.write import manifest_encoding
from core.formats.paimon.write.manifest_encoding import NewDataFile, Record, SimpleStats
from core.model.references import Field, Schema
from core.table import Table, open_table

Row = dict[str, Any]
STATS = ("full", "short", "counts", "none", "dense")
NO_BOUNDS = ("BINARY", "VARBINARY", "ARRAY", "MAP", "MULTISET", "ROW")
ADDS = (0, 2)


@dataclass
class File:
    """A file as in its manifest entry, and its content: values by field id, kinds and sequence numbers of its rows."""

    record: Record
    rows: list[dict[int, Any]]
    kinds: list[int]
    sequence: list[int]


@dataclass
class Stored:
    root: Path
    columns: Sequence[tuple[str, Any]]
    partition_keys: Sequence[str] = ()
    primary_keys: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        self.choose = random.Random(self.seed)
        self.schemas: dict[int, Schema] = {}
        self.live: list[File] = []
        self.points: dict[int, tuple[int, list[File]]] = {}  # snapshot → schema id, files
        self._numbers = 0
        self._sequence = 0
        self._base: list[Record] = []
        self.schema(list(enumerate(self.columns)))

    @property
    def now(self) -> Schema:
        return self.schemas[max(self.schemas)]

    def opened(self) -> Table:
        return open_table(str(self.root))

    def schema(self, columns: Iterable[tuple[int, tuple[str, Any]]], options: Mapping[str, str] | None = None) -> None:
        """Write the next schema: (field id, (name, type)) of each column."""
        number = len(self.schemas)
        self.options = self.options if options is None else options
        fields = tuple(Field(id, name, of) for id, (name, of) in columns)
        self.schemas[number] = Schema(
            number, fields, tuple(self.partition_keys), tuple(self.primary_keys), self.options, 0
        )
        document = {
            "version": 3, "id": number, "highestFieldId": max(each.id for each in fields),
            "fields": [{"id": each.id, "name": each.name, "type": each.type} for each in fields],
            "partitionKeys": list(self.partition_keys), "primaryKeys": list(self.primary_keys),
            "options": {"bucket": "-1", **self.options}, "timeMillis": 0,
        }  # fmt: skip
        self._write(f"schema/schema-{number}", json.dumps(document).encode())

    def file(
        self,
        rows: Sequence[Row],
        *,
        kinds: Sequence[int] | None = None,
        partition: Sequence[Any] = (),
        bucket: int = 0,
        total_buckets: int = -1,
        level: int = 0,
        stats: str = "full",
        source: int = 0,
    ) -> File:
        """Write the rows to a file with the newest schema, without committing it. Partition columns can be left out."""
        of = self.now
        rows = [{**row, **dict(zip(self.partition_keys, partition, strict=True))} for row in rows]
        kinds = [0] * len(rows) if kinds is None else list(kinds)
        sequence = list(range(self._sequence, self._sequence + len(rows)))
        self._sequence += len(rows)
        keys = [name for name in self.primary_keys if name not in self.partition_keys]
        order = sorted(range(len(rows)), key=lambda at: [rows[at][key] for key in keys])
        rows, kinds = [rows[at] for at in order], [kinds[at] for at in order]
        sequence = [sequence[at] for at in order]
        by_name = {each.name: parse(each.type) for each in of.fields}
        arrays = {name: pa.array([row.get(name) for row in rows], types.arrow(to)) for name, to in by_name.items()}
        if keys:
            system = {"_SEQUENCE_NUMBER": pa.array(sequence, pa.int64()), "_VALUE_KIND": pa.array(kinds, pa.int8())}
            arrays = {**{f"_KEY_{key}": arrays[key] for key in keys}, **system, **arrays}
        self._numbers += 1
        stored = binary_row.encode(list(partition), [by_name[key] for key in self.partition_keys])
        folder = "".join(
            f"{key}={self._directory(value)}/" for key, value in zip(self.partition_keys, partition, strict=True)
        )
        path = f"{folder}bucket-{bucket}/data-{self._numbers:04d}.parquet"
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table(arrays), self.root / path)
        record = manifest_encoding.added(
            NewDataFile(
                partition=stored, path=path, size_bytes=(self.root / path).stat().st_size, rows=len(rows),
                schema_id=of.id, stats=self._stats(rows, by_name, stats), source=source, created_ms=0, bucket=bucket,
                total_buckets=total_buckets,
            ),
            list(by_name.values()),
        )  # fmt: skip
        if stats == "dense":
            some = [name for name in by_name if self.choose.random() < 0.6]
            own = self._stats(rows, {name: by_name[name] for name in some}, "full")
            record["_FILE"]["_VALUE_STATS"] = manifest_encoding._row_stats(own, [by_name[name] for name in some])
            record["_FILE"]["_VALUE_STATS_COLS"] = some
        record["_FILE"]["_LEVEL"] = level
        if keys:
            kept = [by_name[key] for key in keys]
            for name, row in (("_MIN_KEY", rows[0]), ("_MAX_KEY", rows[-1])):
                record["_FILE"][name] = binary_row.encode([row[key] for key in keys], kept)
            record["_FILE"]["_KEY_STATS"] = manifest_encoding._row_stats(
                self._stats(rows, {key: by_name[key] for key in keys}, "full"), kept
            )
            record["_FILE"]["_DELETE_ROW_COUNT"] = sum(kind not in ADDS for kind in kinds)
        ids = {each.name: each.id for each in of.fields}
        return File(record, [{ids[name]: row.get(name) for name in ids} for row in rows], kinds, sequence)

    def commit(
        self, adds: Sequence[File] = (), deletes: Sequence[File] = (), *, kind: str = "APPEND",
        changelog: Sequence[File] = (),
    ) -> int:  # fmt: skip
        """Commit the next snapshot with the newest schema; return its id."""
        number = len(self.points) + 1
        self.live = [each for each in self.live if each not in deletes] + list(adds)
        delta = [manifest_encoding.deleted(each.record) for each in deletes] + [each.record for each in adds]
        document = {
            "version": 3, "id": number, "schemaId": self.now.id, "commitUser": "stored", "commitKind": kind,
            "baseManifestList": self._list(f"list-{number}-0", self._base),
            "deltaManifestList": self._list(f"list-{number}-1", self._manifest(f"m-{number}-0", delta)),
            "changelogManifestList": None, "commitIdentifier": number, "timeMillis": 1_767_225_600_000 + number,
            "totalRecordCount": sum(len(each.rows) for each in self.live),
            "deltaRecordCount": sum(len(each.rows) for each in adds) - sum(len(each.rows) for each in deletes),
        }  # fmt: skip
        if changelog:
            listed = self._manifest(f"m-{number}-1", [each.record for each in changelog])
            document["changelogManifestList"] = self._list(f"list-{number}-2", listed)
        self._base += self._manifest(f"m-{number}-0", delta)
        self.points[number] = (self.now.id, list(self.live))
        self._write(f"snapshot/snapshot-{number}", json.dumps(document).encode())
        self._write("snapshot/LATEST", str(number).encode())
        self._write("snapshot/EARLIEST", b"1")
        return number

    def tag(self, name: str, snapshot: int) -> None:
        self._write(f"tag/tag-{name}", (self.root / f"snapshot/snapshot-{snapshot}").read_bytes())

    def rows(self, snapshot: int) -> list[dict[int, Any]]:
        """Return the rows of a version by field id, as in its schema; for each key, the row written last."""
        number, files = self.points[snapshot]
        schema = self.schemas[number]
        found: list[tuple[int, int, dict[int, Any]]] = [
            (at, kind, row)
            for each in files
            for at, kind, row in zip(each.sequence, each.kinds, each.rows, strict=True)
        ]
        if self.primary_keys:
            keys = [each.id for each in schema.fields if each.name in self.primary_keys]
            latest = {
                tuple(row[key] for key in keys): (kind, row) for _, kind, row in sorted(found, key=lambda e: e[0])
            }
            kept = [row for kind, row in latest.values() if kind in ADDS]
        else:
            kept = [row for _, _, row in found]
        return [{each.id: row.get(each.id) for each in schema.fields} for row in kept]

    # files ------------------------------------------------------------------------------------------------------

    def _stats(self, rows: Sequence[Row], of: Mapping[str, types.PaimonType], how: str) -> SimpleStats | None:
        if how in ("none", "dense"):
            return None
        columns = [[row.get(name) for row in rows] for name in of]
        bounds = [self._bounds(values, to, how) for values, to in zip(columns, of.values(), strict=True)]
        nulls = [sum(value is None for value in values) for values in columns]
        return SimpleStats([low for low, _ in bounds], [high for _, high in bounds], nulls)

    def _bounds(self, values: Sequence[Any], of: types.PaimonType, how: str) -> tuple[Any, Any]:
        if how == "counts" or of.root in NO_BOUNDS:
            return None, None
        if of.root in ("FLOAT", "DOUBLE"):
            known = [value for value in values if value is not None and not math.isnan(value)]
            return (min(known), max(known)) if known and self.choose.random() < 0.5 else (None, None)
        low, high = manifest_encoding._bounds(values, of)
        return manifest_encoding.shortened(low, high, self.choose.choice((1, 2, 5)) if how == "short" else 16)

    @staticmethod
    def _directory(value: Any) -> str:
        return "__DEFAULT_PARTITION__" if value is None or not str(value).strip() else str(value)

    def _manifest(self, name: str, records: Sequence[Record]) -> list[Record]:
        if not records:
            return []
        content = manifest_encoding.manifest(name, records)
        self._write(f"manifest/{name}", content)
        of = {each.name: each.type for each in self.now.fields}
        keys = [of[key] for key in self.partition_keys]
        return [manifest_encoding.listed(name, len(content), records, self.now.id, keys)]

    def _list(self, name: str, records: Sequence[Record]) -> str:
        self._write(f"manifest/{name}", manifest_encoding.manifest_list(name, records))
        return name

    def _write(self, path: str, content: bytes) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content)
