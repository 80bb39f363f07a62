"""Writes small Paimon tables as plain files, without Spark, to set up the states that tests need.

Everything that a `TableBuilder` writes has the format of a real engine (JSON snapshots, tags, schemas and hints; Avro
manifests and manifest lists), except that data files are sparse files of the declared size, so no rows can be read from
them. Names and times are the same in every run. Nothing here uses the code under test.

    table = TableBuilder(tmp_path / "default.db" / "orders", partition_keys=["dt"])
    first = table.file(1_000, rows=10, partition=("2026-01-01",))
    table.commit([first])
    table.tag("v1")
    table.commit([table.file(900)], [first], kind="COMPACT")
    table.expire([1])          # removes snapshot-1 and everything that only it held

`STATES` are the ten named states that every page of the dashboard must handle.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import shutil
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fastavro

from tests.support.formats import manifest_bytes

START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z: the commit time of the first snapshot
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MERGE_AFTER = 30  # manifests in a base list before they are merged into one, as `manifest.merge-min-count`
BATCH_COMMIT = 9_223_372_036_854_775_807

COLUMNS = (("id", "BIGINT NOT NULL"), ("amount", "DOUBLE"), ("dt", "STRING"))

Value = str | int | None


@dataclass(frozen=True)
class DataFile:
    """A data file. Its identity consists of everything except sizes, rows, schema and source."""

    name: str
    bytes: int
    rows: int
    partition: tuple[Value, ...] = ()
    bucket: int = 0
    level: int = 0
    schema_id: int = 0
    source: int | None = 0  # 0 append, 1 compaction, None for old writers that did not write it
    extra: tuple[str, ...] = ()
    external: str | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        return (self.partition, self.bucket, self.level, self.name, self.extra, self.external)


@dataclass(frozen=True)
class IndexFile:
    """An index file; `kind` is `HASH` or `DELETION_VECTORS`."""

    name: str
    bytes: int
    kind: str = "DELETION_VECTORS"
    partition: tuple[Value, ...] = ()
    bucket: int = 0
    ranges: tuple[tuple[str, int, int], ...] = ()  # data file name, offset, length


@dataclass(frozen=True)
class _Commit:
    """The files that a snapshot holds, for the set operations of `expire`."""

    document: Mapping[str, Any]
    paths: frozenset[str]
    changelog_paths: frozenset[str]
    live: Mapping[tuple[Any, ...], DataFile]
    manifests: tuple[Mapping[str, Any], ...]  # records of base and delta list
    index: tuple[IndexFile, ...]
    index_manifest: str | None


@dataclass
class _Shared:
    """State shared by all branches of a table: the directory, the names used so far, and all commits."""

    root: Path
    partition_keys: tuple[str, ...]
    random: random.Random
    sizes: dict[str, int] = field(default_factory=dict)
    lines: list[TableBuilder] = field(default_factory=list)


class TableBuilder:
    """One branch of one table on local disk. The builder of the main branch creates the table."""

    def __init__(
        self,
        path: Path | str,
        *,
        columns: Sequence[tuple[str, str]] = COLUMNS,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
        start_ms: int = START_MS,
        step_ms: int = HOUR_MS,
        codec: str = "null",
        forms: Sequence[str] = ("avro",),
        _parent: TableBuilder | None = None,
        _branch: str = "main",
    ) -> None:
        """Create the directory and `schema-0`. `step_ms` is the time between commits without an explicit time; `forms`
        are the formats of `manifest_bytes` that successive commits write their metadata in, in turn."""
        self.branch_name = _branch
        self.user = "builder" if _branch == "main" else f"builder of {_branch}"  # names of writers are unique
        self.codec = codec
        self.forms = tuple(forms)
        self.step_ms = step_ms
        self.next_ms = start_ms
        self.commits: dict[int, _Commit] = {}
        self.tags: dict[str, _Commit] = {}
        self.schema_id = -1
        self._last: _Commit | None = None
        self._last_id = 0
        self._primary_keys = tuple(primary_keys)
        if _parent is not None:
            self._shared: _Shared = _parent._shared
            self.path = self._shared.root / "branch" / f"branch-{_branch}"
        else:
            self.path = Path(path)
            self._shared = _Shared(self.path, tuple(partition_keys), random.Random(7))
            self.schema(columns, options or {}, time_ms=start_ms)
        self._shared.lines.append(self)

    # what a table is made of ----------------------------------------------------------------------------------

    @property
    def root(self) -> Path:
        """The directory of the table, the same for all branches."""
        return self._shared.root

    def schema(
        self,
        columns: Sequence[tuple[str, str]] | None = None,
        options: Mapping[str, str] | None = None,
        *,
        ids: Sequence[int] | None = None,
        time_ms: int | None = None,
    ) -> int:
        """Write the next `schema-N`, for use by later commits and files. Column ids start at 0 unless given."""
        if columns is not None:
            numbers = list(ids) if ids is not None else list(range(len(columns)))
            self._columns: list[dict[str, Any]] = [
                {"id": number, "name": name, "type": kind}
                for number, (name, kind) in zip(numbers, columns, strict=True)
            ]
        if options is not None:
            self._options = {"bucket": "-1" if not self._primary_keys else "1", **options}
        self.schema_id += 1
        self._json(
            f"schema/schema-{self.schema_id}",
            {
                "version": 3,
                "id": self.schema_id,
                "fields": self._columns,
                "highestFieldId": max((column["id"] for column in self._columns), default=-1),
                "partitionKeys": list(self._shared.partition_keys),
                "primaryKeys": list(self._primary_keys),
                "options": self._options,
                "timeMillis": self.next_ms if time_ms is None else time_ms,
            },
        )
        return self.schema_id

    def file(
        self,
        size: int = 1_000,
        rows: int = 10,
        *,
        partition: tuple[Value, ...] = (),
        bucket: int = 0,
        level: int = 0,
        source: int | None = 0,
        extra: Sequence[str] = (),
        external: str | None = None,
        prefix: str = "data-",
        write: bool = True,
    ) -> DataFile:
        """Create a data file of `size` bytes (sparse on disk). `extra` are suffixes of additional files next to it."""
        name = f"{prefix}{self._uuid()}-0.parquet"
        made = DataFile(
            name, size, rows, partition, bucket, level, self.schema_id, source,
            tuple(name + suffix for suffix in extra), external,
        )  # fmt: skip
        for path in self._paths_of(made):
            if write and external is None:
                self._sparse(path, size if path.endswith(name) else 100)
        return made

    def index_file(self, size: int = 100, **fields: Any) -> IndexFile:
        """Create an index file; `fields` as in `IndexFile`."""
        made = IndexFile(f"index-{self._uuid()}-0", size, **fields)
        self._sparse(f"index/{made.name}", size)
        return made

    def commit(
        self,
        adds: Iterable[DataFile] = (),
        deletes: Iterable[DataFile] = (),
        *,
        kind: str = "APPEND",
        time_ms: int | None = None,
        id: int | None = None,
        changelog: Iterable[DataFile] = (),
        index: Sequence[IndexFile] | None = None,
        statistics: bool = False,
        watermark: int | None = None,
        user: str | None = None,
        fields: Mapping[str, Any] | None = None,
        hints: bool = True,
    ) -> int:
        """Commit the next snapshot and return its id. `index` replaces the whole index; None keeps the current one.

        `id` skips ahead, leaving a gap; `fields` are additional JSON fields, written as they are.
        """
        adds, deletes, changelog = list(adds), list(deletes), list(changelog)
        last = self._last
        number = self._last_id + 1 if id is None else id
        time_ms = self.next_ms if time_ms is None else time_ms
        live = dict(last.live) if last else {}
        total = sum(file.rows for file in live.values())
        base = list(last.manifests) if last else []
        if len(base) >= MERGE_AFTER:
            base = [self._manifest([(0, file) for file in live.values()])] if live else []
        delta = [self._manifest([(1, f) for f in deletes] + [(0, f) for f in adds])] if adds or deletes else []
        for file in deletes:
            live.pop(file.identity)
        live.update({file.identity: file for file in adds})
        base_list, base_size = self._list(base)
        delta_list, delta_size = self._list(delta)
        changelog_records = [self._manifest([(0, f) for f in changelog])] if changelog else []
        changelog_list = self._list(changelog_records)[0] if changelog else None
        index_files = tuple(index) if index is not None else (last.index if last else ())
        index_manifest = last.index_manifest if last else None
        if index is not None:
            index_manifest = self._index_manifest(index_files)
        rows = sum(file.rows for file in live.values())
        document: dict[str, Any] = {
            "version": 3, "id": number, "schemaId": self.schema_id,
            "baseManifestList": base_list, "baseManifestListSize": base_size,
            "deltaManifestList": delta_list, "deltaManifestListSize": delta_size,
            "changelogManifestList": changelog_list,
        }  # fmt: skip
        if index_manifest is not None:
            document["indexManifest"] = index_manifest
        document |= {
            "commitUser": user or self.user, "commitIdentifier": BATCH_COMMIT, "commitKind": kind,
            "timeMillis": time_ms,
            "logOffsets": {}, "totalRecordCount": rows, "deltaRecordCount": rows - total,
            "changelogRecordCount": sum(file.rows for file in changelog),
        }  # fmt: skip
        if watermark is not None:
            document["watermark"] = watermark
        paths = {f"manifest/{name}" for name in (base_list, delta_list)}
        if statistics:
            document["statistics"] = f"stat-{self._uuid()}-0"
            paths.add(f"statistics/{document['statistics']}")
            self._write(f"statistics/{document['statistics']}", b'{"snapshotId": %d, "schemaId": 0}' % number)
        document |= fields or {}
        paths |= {f"manifest/{record['_FILE_NAME']}" for record in (*base, *delta)}
        paths |= {path for file in (*live.values(), *adds) for path in self._paths_of(file)}
        if index_manifest is not None:
            paths |= {f"manifest/{index_manifest}", *(f"index/{file.name}" for file in index_files)}
        changelog_paths = {path for file in changelog for path in self._paths_of(file)}
        changelog_paths |= {f"manifest/{record['_FILE_NAME']}" for record in changelog_records}
        if changelog_list is not None:
            changelog_paths.add(f"manifest/{changelog_list}")
        made = _Commit(
            document, frozenset(paths), frozenset(changelog_paths), live, (*base, *delta), index_files, index_manifest
        )
        self.commits[number] = self._last = made
        self._last_id = number
        self.next_ms = time_ms + self.step_ms
        self._json(f"snapshot/snapshot-{number}", document)
        if hints:
            self.hints(earliest=min(self.commits), latest=number)
        return number

    def tag(
        self,
        name: str,
        snapshot_id: int | None = None,
        *,
        created: dt.datetime | None = None,
        retained_s: float | None = None,
    ) -> None:
        """Write a tag: the snapshot's JSON, and both time fields if a retention is given."""
        made = self.commits[self._last_id if snapshot_id is None else snapshot_id]
        document = dict(made.document)
        if retained_s is not None:
            when = created or dt.datetime(2026, 1, 1)
            parts = [when.year, when.month, when.day, when.hour, when.minute]
            parts += [when.second, when.microsecond * 1_000] if when.microsecond else [when.second] * bool(when.second)
            document |= {"tagCreateTime": parts, "tagTimeRetained": float(retained_s)}
        self.tags[name] = made
        self._json(f"tag/tag-{name}", document)

    def branch(self, name: str, tag: str | None = None) -> TableBuilder:
        """Create a branch from a tag (or an empty one) and return a builder for its commits."""
        made = TableBuilder(
            self.root, _parent=self, _branch=name, step_ms=self.step_ms, codec=self.codec, forms=self.forms
        )
        made._columns, made._options, made._primary_keys = self._columns, self._options, self._primary_keys
        made.next_ms, made.schema_id = self.next_ms, self.schema_id
        for number in range(self.schema_id + 1):
            made._write(f"schema/schema-{number}", (self.path / f"schema/schema-{number}").read_bytes())
        if tag is not None:
            commit = self.tags[tag]
            made._last_id = int(commit.document["id"])
            made._last = made.commits[made._last_id] = made.tags[tag] = commit
            made._json(f"snapshot/snapshot-{made._last_id}", commit.document)
            made._write(f"tag/tag-{tag}", (self.path / f"tag/tag-{tag}").read_bytes())
            made.hints(earliest=made._last_id, latest=made._last_id)
        return made

    def consumer(self, name: str, next_snapshot: int) -> None:
        """Write the progress of a consumer."""
        self._json(f"consumer/consumer-{name}", {"nextSnapshot": next_snapshot})

    def hints(self, *, earliest: object = None, latest: object = None) -> None:
        """Write hints with the given values, right or wrong; None leaves a hint unchanged, `""` empties it."""
        for name, value in (("EARLIEST", earliest), ("LATEST", latest)):
            if value is not None:
                self._write(f"snapshot/{name}", str(value).encode())

    def keep_changelog(self, number: int) -> None:
        """Write `changelog-N` for a snapshot that is about to expire (decoupled changelog)."""
        self._json(f"changelog/changelog-{number}", self.commits[number].document)

    def delete_tag(self, name: str) -> None:
        """Delete a tag file and everything that only it held."""
        (self.path / f"tag/tag-{name}").unlink()
        self._free(self.tags.pop(name).paths)

    def expire(self, numbers: Iterable[int], *, free: bool = True, hints: bool = True) -> None:
        """Delete snapshot files and, with `free`, all files that nothing holds any more."""
        gone = [self.commits.pop(number) for number in numbers]
        for commit in gone:
            (self.path / f"snapshot/snapshot-{commit.document['id']}").unlink()
        if free:
            self._free(path for commit in gone for path in commit.paths | commit.changelog_paths)
        if hints and self.commits:
            self.hints(earliest=min(self.commits))

    def held(self) -> frozenset[str]:
        """Return every path in the table that a snapshot or tag of any branch needs, except JSON files."""
        commits = [c for line in self._shared.lines for c in line.commits.values()]
        tagged = [c.paths for line in self._shared.lines for c in line.tags.values()]
        return frozenset().union(*tagged, *(c.paths | c.changelog_paths for c in commits))

    def live(self) -> list[DataFile]:
        """Return the current files of the latest commit."""
        return list(self._last.live.values()) if self._last else []

    # files ------------------------------------------------------------------------------------------------------

    def _free(self, candidates: Iterable[str]) -> None:
        held = self.held()
        for path in set(candidates) - held:
            (self.root / path).unlink(missing_ok=True)

    def _paths_of(self, file: DataFile) -> list[str]:
        if file.external is not None:
            return []
        keys = self._shared.partition_keys
        parts = [f"{quote(k)}={_directory(v)}/" for k, v in zip(keys, file.partition, strict=False)]
        directory = "".join(parts) + (f"bucket-{file.bucket}" if file.bucket >= 0 else "bucket-postpone")
        return [f"{directory}/{name}" for name in (file.name, *file.extra)]

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._shared.random.getrandbits(128), version=4))

    def _sparse(self, relative: str, size: int) -> None:
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.truncate(size)

    def _write(self, relative: str, data: bytes, below: Path | None = None) -> None:
        path = (below or self.path) / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def _json(self, relative: str, document: Mapping[str, Any]) -> None:
        self._write(relative, json.dumps(document, indent=2, separators=(",", " : ")).encode())

    def _manifest(self, entries: Sequence[tuple[int, DataFile]]) -> Mapping[str, Any]:
        """Write a manifest and return its record for a manifest list."""
        name = f"manifest-{self._uuid()}-0"
        data = self._encoded("entry", [_entry(kind, file) for kind, file in entries])
        self._write(f"manifest/{name}", data, self.root)
        partitions = sorted({_row(file.partition) for _, file in entries})
        return {
            "_VERSION": 2, "_FILE_NAME": name, "_FILE_SIZE": len(data),
            "_NUM_ADDED_FILES": sum(kind == 0 for kind, _ in entries),
            "_NUM_DELETED_FILES": sum(kind == 1 for kind, _ in entries),
            "_PARTITION_STATS": {
                "_MIN_VALUES": partitions[0], "_MAX_VALUES": partitions[-1],
                "_NULL_COUNTS": [0] * len(self._shared.partition_keys),
            },
            "_SCHEMA_ID": self.schema_id,
            "_MIN_BUCKET": min(file.bucket for _, file in entries),
            "_MAX_BUCKET": max(file.bucket for _, file in entries),
            "_MIN_LEVEL": min(file.level for _, file in entries),
            "_MAX_LEVEL": max(file.level for _, file in entries),
        }  # fmt: skip

    def _encoded(self, which: str, records: Sequence[Mapping[str, Any]]) -> bytes:
        form = self.forms[len(self.commits) % len(self.forms)]
        return manifest_bytes.encoded(form, _schema(which), records, self.codec)

    def _list(self, records: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
        name = f"manifest-list-{self._uuid()}-0"
        data = self._encoded("list", records)
        self._write(f"manifest/{name}", data, self.root)
        return name, len(data)

    def _index_manifest(self, files: Sequence[IndexFile]) -> str:
        name = f"index-manifest-{self._uuid()}-0"
        records = [
            {
                "_VERSION": 1, "_KIND": 0, "_PARTITION": _row(file.partition), "_BUCKET": file.bucket,
                "_INDEX_TYPE": file.kind, "_FILE_NAME": file.name, "_FILE_SIZE": file.bytes,
                "_ROW_COUNT": len(file.ranges),
                "_DELETIONS_VECTORS_RANGES": [
                    {"f0": n, "f1": offset, "f2": size, "_CARDINALITY": None} for n, offset, size in file.ranges
                ] or None,
            }
            for file in files
        ]  # fmt: skip
        self._write(f"manifest/{name}", self._encoded("index", records), self.root)
        return name


# Avro and BinaryRow -----------------------------------------------------------------------------------------------


def _row(values: tuple[Value, ...]) -> bytes:
    """Encode texts and 8-byte integers as a BinaryRow preceded by its arity, as manifests store partitions."""
    width = ((len(values) + 63 + 8) // 64) * 8
    header = bytearray(width)
    slots, tail = bytearray(), bytearray()
    for position, value in enumerate(values):
        if value is None:
            header[(8 + position) >> 3] |= 1 << ((8 + position) & 7)
            slots += bytes(8)
        elif isinstance(value, int):
            slots += struct.pack("<q", value)
        elif len(data := value.encode()) <= 7:
            slots += data.ljust(7, b"\0") + bytes([0x80 | len(data)])
        else:
            offset = width + 8 * len(values) + len(tail)
            slots += struct.pack("<q", offset << 32 | len(data))
            tail += data.ljust(-(-len(data) // 8) * 8, b"\0")
    return struct.pack(">i", len(values)) + bytes(header + slots + tail)


def _directory(value: Value) -> str:
    """Format a partition value for a directory name (only for the plain texts and numbers used here)."""
    return "__DEFAULT_PARTITION__" if value is None or not str(value).strip() else str(value)


_NO_STATS = {"_MIN_VALUES": _row(()), "_MAX_VALUES": _row(()), "_NULL_COUNTS": []}


def _entry(kind: int, file: DataFile) -> Mapping[str, Any]:
    return {
        "_VERSION": 2, "_KIND": kind, "_PARTITION": _row(file.partition), "_BUCKET": file.bucket, "_TOTAL_BUCKETS": -1,
        "_FILE": {
            "_FILE_NAME": file.name, "_FILE_SIZE": file.bytes, "_ROW_COUNT": file.rows,
            "_MIN_KEY": _row(()), "_MAX_KEY": _row(()), "_KEY_STATS": _NO_STATS, "_VALUE_STATS": _NO_STATS,
            "_MIN_SEQUENCE_NUMBER": 0, "_MAX_SEQUENCE_NUMBER": max(file.rows - 1, 0), "_SCHEMA_ID": file.schema_id,
            "_LEVEL": file.level, "_EXTRA_FILES": list(file.extra), "_CREATION_TIME": START_MS,
            "_DELETE_ROW_COUNT": 0, "_EMBEDDED_FILE_INDEX": None, "_FILE_SOURCE": file.source,
            "_VALUE_STATS_COLS": None, "_EXTERNAL_PATH": file.external,
        },
    }  # fmt: skip


def _maybe(kind: object) -> dict[str, Any]:
    return {"type": ["null", kind], "default": None}


def _stats(name: str) -> dict[str, Any]:
    counts = {"name": "_NULL_COUNTS", **_maybe({"type": "array", "items": ["null", "long"]})}
    fields = [{"name": "_MIN_VALUES", "type": "bytes"}, {"name": "_MAX_VALUES", "type": "bytes"}, counts]
    return {"type": "record", "name": f"record_{name}", "fields": fields}


def _plain(**kinds: object) -> list[dict[str, Any]]:
    return [{"name": f"_{name}", "type": kind} for name, kind in kinds.items()]


def _nullable(**kinds: object) -> list[dict[str, Any]]:
    return [{"name": f"_{name}", **_maybe(kind)} for name, kind in kinds.items()]


@cache
def _schema(which: str) -> Any:
    texts = {"type": "array", "items": "string"}
    if which == "list":
        fields = _plain(
            VERSION="int", FILE_NAME="string", FILE_SIZE="long", NUM_ADDED_FILES="long", NUM_DELETED_FILES="long",
            PARTITION_STATS=_stats("PARTITION_STATS"), SCHEMA_ID="long",
        ) + _nullable(MIN_BUCKET="int", MAX_BUCKET="int", MIN_LEVEL="int", MAX_LEVEL="int")  # fmt: skip
    elif which == "entry":
        file = _plain(
            FILE_NAME="string", FILE_SIZE="long", ROW_COUNT="long", MIN_KEY="bytes", MAX_KEY="bytes",
            KEY_STATS=_stats("KEY_STATS"), VALUE_STATS=_stats("VALUE_STATS"),
            MIN_SEQUENCE_NUMBER="long", MAX_SEQUENCE_NUMBER="long", SCHEMA_ID="long", LEVEL="int", EXTRA_FILES=texts,
        ) + _nullable(
            CREATION_TIME={"type": "long", "logicalType": "timestamp-millis"}, DELETE_ROW_COUNT="long",
            EMBEDDED_FILE_INDEX="bytes", FILE_SOURCE="int", VALUE_STATS_COLS=texts, EXTERNAL_PATH="string",
        )  # fmt: skip
        fields = _plain(
            VERSION="int", KIND="int", PARTITION="bytes", BUCKET="int", TOTAL_BUCKETS="int",
            FILE={"type": "record", "name": "record_FILE", "fields": file},
        )  # fmt: skip
    else:
        ranges = [{"name": "f0", "type": "string"}, {"name": "f1", "type": "int"}, {"name": "f2", "type": "int"}]
        ranges += _nullable(CARDINALITY="long")
        items = ["null", {"type": "record", "name": "record_RANGES", "fields": ranges}]
        fields = _plain(
            VERSION="int", KIND="int", PARTITION="bytes", BUCKET="int", INDEX_TYPE="string", FILE_NAME="string",
            FILE_SIZE="long", ROW_COUNT="long",
        ) + _nullable(DELETIONS_VECTORS_RANGES={"type": "array", "items": items})  # fmt: skip
    return fastavro.parse_schema(
        {"type": "record", "name": "org.apache.paimon.avro.generated.record", "fields": fields}
    )


def _avro(which: str, records: Sequence[Mapping[str, Any]], codec: str) -> bytes:
    return manifest_bytes.encoded("avro", _schema(which), records, codec)


# the ten named states ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """A warehouse in a state that every page must handle. `then` runs after the page has been shown once."""

    build: Callable[[Path], None]  # fills an existing empty directory
    table: str | None = "orders"  # name of the table in database `default`; None = there is none
    then: Callable[[Path], None] | None = None

    def location(self, warehouse: Path) -> Path:
        return warehouse / "default.db" / (self.table or "")


def _orders(warehouse: Path, **options: Any) -> TableBuilder:
    return TableBuilder(warehouse / "default.db" / "orders", step_ms=DAY_MS, **options)


def _appends(table: TableBuilder, count: int) -> None:
    for number in range(count):
        table.commit([table.file(1_000_000 + 10_000 * number, rows=1_000 + number)])


def _compact(table: TableBuilder) -> int:
    live = table.live()
    total, rows = sum(f.bytes for f in live), sum(f.rows for f in live)
    return table.commit([table.file(total * 9 // 10, rows=rows, source=1)], live, kind="COMPACT")


def _empty_warehouse(warehouse: Path) -> None:
    (warehouse / "default.db").mkdir()


def _no_snapshots(warehouse: Path) -> None:
    _orders(warehouse)


def _one_snapshot(warehouse: Path) -> None:
    _appends(_orders(warehouse), 1)


def _expired_tag(warehouse: Path) -> None:
    table = _orders(warehouse)
    _appends(table, 3)
    table.tag("month-end", 3)
    _compact(table)
    _appends(table, 4)
    table.expire([1, 2, 3])


def _twin_tags(warehouse: Path) -> None:
    table = _orders(warehouse)
    _appends(table, 3)
    table.tag("audit", 3)
    table.tag("release", 3)
    _compact(table)
    _appends(table, 2)
    table.expire([1, 2, 3])


def _gap(warehouse: Path) -> None:
    table = _orders(warehouse)
    _appends(table, 9)
    table.expire([4, 5], hints=False)


def _wrong_hints(warehouse: Path) -> None:
    table = _orders(warehouse)
    _appends(table, 5)
    table.hints(earliest=3, latest=99)


def _unreadable_manifest(warehouse: Path) -> None:
    table = _orders(warehouse)
    _appends(table, 4)
    _compact(table)
    _appends(table, 1)
    newest = table.commits[6].manifests[-1]["_FILE_NAME"]
    (table.root / "manifest" / newest).write_bytes(b"Obj\x01 this is no manifest")


def _moved(warehouse: Path) -> None:
    _appends(_orders(warehouse), 3)


def _move(warehouse: Path) -> None:
    shutil.move(warehouse / "default.db" / "orders", warehouse.parent / f"{warehouse.name}-elsewhere")


def _ten_thousand(warehouse: Path) -> None:
    table = TableBuilder(warehouse / "default.db" / "orders", step_ms=15 * 60_000)
    for number in range(1, 10_001):
        if number % MERGE_AFTER == 0:
            small = [file for file in table.live() if file.source == 0]
            rows = sum(file.rows for file in small)
            size = sum(file.bytes for file in small) * 9 // 10
            table.commit([table.file(size, rows=rows, source=1)], small, kind="COMPACT", hints=False)
        else:
            table.commit([table.file(10_000 + number, rows=100)], hints=False)
        if number % 2_500 == 0:
            table.tag(f"q{number // 2_500}")
    table.hints(earliest=1, latest=10_000)


STATES: Mapping[str, State] = {
    "empty warehouse": State(_empty_warehouse, table=None),
    "table without snapshots": State(_no_snapshots),
    "one snapshot": State(_one_snapshot),
    "tag on an expired snapshot": State(_expired_tag),
    "two tags on one snapshot": State(_twin_tags),
    "id gap": State(_gap),
    "wrong hints": State(_wrong_hints),
    "unreadable manifest": State(_unreadable_manifest),
    "table moved while viewing": State(_moved, then=_move),
    "10,000 snapshots": State(_ten_thousand),
}
