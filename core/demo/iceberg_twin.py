"""The demo's Iceberg table: the history of a Paimon table, file by file, with additions that only Iceberg has.

Invariants: at each commit that both have, main has the same rows; times, ids and names depend on the seed, the source
and the day of the build. It is a Hadoop table (`vN.metadata.json`), so that no catalog is needed to change it. Only its
last metadata versions are written, as by a writer that deletes old metadata.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet

from core.demo import stories
from core.demo.data import DAY_MS, HOUR_MS, SEED, Calendar
from core.formats.iceberg.file_paths import DIRECTORY
from core.formats.iceberg.manifests import ADDED, DATA, DELETED, POSITION_DELETES
from core.formats.iceberg.references import HINT
from core.formats.iceberg.write import manifest_encoding
from core.formats.iceberg.write.manifest_encoding import ColumnMetrics, ManifestEntry, NewContentFile, Spec, stored
from core.formats.paimon.types import parse
from core.model.history import History
from core.model.references import MAIN, Line, Schema, Snapshot
from core.storage.store import Store

KEPT_DAYS = 45
PROPERTIES = {
    "comment": "The orders once more, in Iceberg",
    "history.expire.max-snapshot-age-ms": str(KEPT_DAYS * DAY_MS),
    "history.expire.min-snapshots-to-keep": "10",
    "write.delete.mode": "merge-on-read",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "10",
}
VERSIONS = 11  # the current one, and as many as the property above allows
_PATH = pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"})
_POSITION = pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"})
Json = dict[str, Any]


def build(source: History, store: Store, location: str, calendar: Calendar) -> dict[str, Any]:
    """Repeat the history of `source` in `store`, whose final location is `location`. Returns its story."""
    twin = _Twin(source, store, location)
    lost, back = calendar.at(calendar.day(6), 15.7), calendar.at(calendar.day(6), 15.7) + 50 * 60_000
    fixed = next(each for each in source.heads.main.snapshots if each.commit_user == "repair")
    staged = calendar.at(calendar.bad_tuesday, 24 + 16.2)
    old, feed = calendar.day(60), calendar.at(calendar.day(2), 13.2)
    main = source.heads.main
    steps: list[tuple[int, Callable[[], None]]] = [
        (lost, partial(twin.clean_up, lost, str(old))),
        (back, partial(twin.roll_back, back)),
        (staged, partial(twin.stage_repair, staged, fixed)),
        (feed, partial(twin.stage_feed, feed)),
    ]
    steps += [(each.time_ms, partial(twin.repeat, each)) for each in main.snapshots]
    steps += [(line.snapshots[-1].time_ms, partial(twin.branch, line)) for line in source.heads.lines[1:]]
    later = sorted(main.schemas.values(), key=lambda each: each.id)[1:]
    steps += [(each.time_ms, partial(twin.evolve, each)) for each in later]
    for _, step in sorted(steps, key=lambda each: each[0]):
        step()
    twin.write()
    return stories.kept("rolled back", during=str(calendar.day(6)), old=str(old), days=KEPT_DAYS)


class _Twin:
    """The table while it is built: its metadata document, and the manifests of each snapshot."""

    def __init__(self, source: History, store: Store, location: str) -> None:
        self.source, self.store, self.location = source, store, location
        first = source.heads.main.schemas[min(source.heads.main.schemas)]
        self.key = first.partition_keys[0]
        spec: Json = {"name": self.key, "transform": "identity", "field-id": 1000}
        spec["source-id"] = next(each.id for each in first.fields if each.name == self.key)
        self.spec = Spec(0, [spec], {self.key: "string"})
        self.document: Json = {
            "format-version": 2, "table-uuid": str(self._uuid("table")), "location": location,
            "last-sequence-number": 0, "last-updated-ms": first.time_ms, "last-column-id": 0, "schemas": [],
            "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": [spec]}], "default-spec-id": 0,
            "last-partition-id": 1000, "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
            "properties": PROPERTIES, "current-snapshot-id": -1, "refs": {}, "snapshots": [], "snapshot-log": [],
            "metadata-log": [], "statistics": [], "partition-statistics": [],
        }  # fmt: skip
        self.versions: list[bytes] = []
        self.manifests: dict[int | None, list[tuple[Json, list[ManifestEntry]]]] = {None: []}
        self.files: dict[str, NewContentFile] = {}  # by path in the source
        self.held: set[str] = set()  # paths in the source of main's files
        self.masked: dict[
            Any, list[NewContentFile]
        ] = {}  # per partition: files whose rows are all deleted, and their deletes
        self.twin_of: dict[int, int] = {}  # by snapshot of the source's main
        self.picked: int | None = None  # the staged repair
        self.evolve(first)

    # steps of the story -----------------------------------------------------------------------------------------------

    def evolve(self, schema: Schema) -> None:
        """Make a schema of the source the current one."""
        fields = [{"id": each.id, "name": each.name, "required": False, "type": _type(each.type)}
                  for each in schema.fields]  # fmt: skip
        self.document["schemas"] = [
            *self.document["schemas"], {"type": "struct", "schema-id": schema.id, "fields": fields}
        ]  # fmt: skip
        self.document["current-schema-id"] = schema.id
        self.document["last-column-id"] = max(each.id for each in schema.fields)
        self._version(schema.time_ms)

    def repeat(self, snapshot: Snapshot) -> None:
        """Repeat a commit of the source's main, and the tags on it."""
        point = str(snapshot.id)
        removed, added = self._changed(point)
        kind = {"APPEND": "append", "COMPACT": "replace"}.get(snapshot.kind, "overwrite")
        if self.picked is not None and snapshot.commit_user == "repair":
            more = {
                "source-snapshot-id": str(self.picked),
                "published-wap-id": "repair-1",
                "replace-partitions": "true",
            }
            self._commit(snapshot.time_ms, kind, added, removed, snapshot.commit_user, **more)
        elif snapshot.id == self._last_return and removed:
            self._commit(snapshot.time_ms, kind, [*added, *self._masks(removed)], (), snapshot.commit_user)
        else:
            days = {each.partition[self.key] for each in removed}
            removed += [each for day in days for each in self.masked.pop(day, [])]
            self._commit(snapshot.time_ms, kind, added, removed, snapshot.commit_user)
        self.twin_of[snapshot.id] = self.document["current-snapshot-id"]
        for tag in self.source.heads.main.tags:
            if tag.snapshot.id == snapshot.id:
                ref: Json = {"snapshot-id": self.twin_of[snapshot.id], "type": "tag"}
                if tag.retained is not None:
                    ref["max-ref-age-ms"] = round(tag.retained.total_seconds() * 1000)
                self.document["refs"] = {**self.document["refs"], tag.name: ref}
                self._version(snapshot.time_ms + HOUR_MS)

    def clean_up(self, at: int, before: str) -> None:
        """The incident: delete every file of the days before `before`."""
        live = [each.file for each in self._live(self.document["current-snapshot-id"])]
        self._commit(at, "delete", [], [each for each in live if each.partition[self.key] < before], "cleanup-job")

    def roll_back(self, at: int) -> None:
        """Point main to the parent of its snapshot again."""
        head = self._member(self.document["current-snapshot-id"])
        self._point(at, head["parent-snapshot-id"])
        self._version(at)

    def stage_repair(self, at: int, fix: Snapshot) -> None:
        """Stage what the repair will replace, for review; it is cherry-picked at its own time."""
        removed, added = self._changed(str(fix.id), is_staged=True)
        number = self._snapshot(at, "overwrite", added, removed, self.document["current-snapshot-id"], fix.commit_user,
                                **{"wap.id": "repair-1", "replace-partitions": "true"})  # fmt: skip
        self.picked = number
        self._version(at)

    def stage_feed(self, at: int) -> None:
        """Stage a partner's rows that are never published."""
        data = (each.file for each in self._live(self.document["current-snapshot-id"]) if each.file.content == DATA)
        newest = max(data, key=lambda each: (each.partition[self.key], each.path))
        whole = parquet.read_table(self.store.full(newest.path.removeprefix(f"{self.location}/")))
        file = self._new(whole.slice(0, len(whole) // 3), newest.partition, "feed")
        self._snapshot(at, "append", [file], [], self.document["current-snapshot-id"], "partner-feed",
                       **{"wap.id": "partner-feed-7"})  # fmt: skip
        self._version(at)

    def branch(self, line: Line) -> None:
        """A branch of the source with its last commit."""
        start, last = line.snapshots[0], line.snapshots[-1]
        before, after = (self._paths(f"branch:{line.branch}/{each.id}") for each in (start, last))
        ref: Json = {"type": "branch", "min-snapshots-to-keep": 2, "max-ref-age-ms": 30 * DAY_MS}
        added = [self._copied(path) for path in _in_order(after - before)]
        parent = self.twin_of[start.id]
        ref["snapshot-id"] = self._snapshot(last.time_ms, "append", added, [], parent, last.commit_user)
        self.document["refs"] = {**self.document["refs"], line.branch: ref}
        self._version(last.time_ms)

    # commits ----------------------------------------------------------------------------------------------------------

    def _commit(self, at: int, kind: str, added: Sequence[NewContentFile], removed: Sequence[NewContentFile], user: str,
                **more: str) -> None:  # fmt: skip
        """Commit a snapshot on main."""
        head = self.document["current-snapshot-id"]
        self._point(at, self._snapshot(at, kind, added, removed, None if head == -1 else head, user, **more))
        self._version(at)

    def _snapshot(
        self,
        at: int,
        kind: str,
        added: Sequence[NewContentFile],
        removed: Sequence[NewContentFile],
        parent: int | None,
        user: str,
        **more: str,
    ) -> int:
        """Create a snapshot that no ref names yet: rewrite manifests with deleted files, and add one for new files."""
        number = int.from_bytes(hashlib.sha256(f"{SEED} snapshot {at}".encode()).digest()[:8], "big") >> 1
        sequence = self.document["last-sequence-number"] + 1
        paths = {each.path for each in removed}
        written = [[ManifestEntry(ADDED, number, None, file) for file in added if (file.content == DATA) is is_data]
                   for is_data in (True, False)]  # fmt: skip
        kept: list[tuple[Json, list[ManifestEntry]]] = []
        for row, own in self.manifests[parent]:
            before = row["sequence_number"]
            live = [each for each in own if each.status != DELETED]
            if any(each.file.path in paths for each in live):
                written.append([each.deleted(number, before) if each.file.path in paths else each.existing(before)
                                for each in live])  # fmt: skip
            elif live:
                kept.append((row, own))
        new_manifests = [
            self._manifest(number, sequence, place, own) for place, own in enumerate(filter(None, written))
        ]
        self.manifests[number] = [*new_manifests, *kept]
        path = f"{DIRECTORY}/snap-{number}-1-{self._uuid(f'list {number}')}.avro"
        rows = [row for row, _ in self.manifests[number]]
        self.store.create(path, manifest_encoding.manifest_list(path, rows, number, parent, sequence))
        own_json: Json = {"sequence-number": sequence, "snapshot-id": number, "timestamp-ms": at}
        own_json |= {} if parent is None else {"parent-snapshot-id": parent}
        own_json["summary"] = {"operation": kind, "engine-name": user, **more, **self._counts(number, added, removed)}
        own_json["manifest-list"] = f"{self.location}/{path}"
        own_json["schema-id"] = self.document["current-schema-id"]
        self.document["snapshots"] = [*self.document["snapshots"], own_json]
        self.document["last-sequence-number"] = sequence
        return number

    def _manifest(
        self, number: int, sequence: int, place: int, own: list[ManifestEntry]
    ) -> tuple[Json, list[ManifestEntry]]:
        path = f"{DIRECTORY}/{self._uuid(f'manifests {number}')}-m{place}.avro"
        schema = next(each for each in self.document["schemas"] if each["schema-id"] == self._schema_id)
        content = manifest_encoding.manifest(path, own, schema, self.spec)
        self.store.create(path, content)
        whole = f"{self.location}/{path}"
        return dict(manifest_encoding.listed(whole, len(content), own, self.spec, number, sequence)), own

    def _point(self, at: int, number: int) -> None:
        self.document["current-snapshot-id"] = number
        self.document["refs"] = {**self.document["refs"], MAIN: {"snapshot-id": number, "type": "branch"}}
        self.document["snapshot-log"] = [*self.document["snapshot-log"], {"timestamp-ms": at, "snapshot-id": number}]

    def _version(self, at: int) -> None:
        """Save the current document as a version whose log names the previous ones."""
        if self.versions:
            file = f"{self.location}/{DIRECTORY}/v{len(self.versions)}.metadata.json"
            before = {"timestamp-ms": self.document["last-updated-ms"], "metadata-file": file}
            self.document["metadata-log"] = [*self.document["metadata-log"], before][1 - VERSIONS :]
        self.document["last-updated-ms"] = at
        self.versions.append(json.dumps(self.document).encode())

    def write(self) -> None:
        """Write the last versions and the hint."""
        for number, content in list(enumerate(self.versions, start=1))[-VERSIONS:]:
            self.store.create(f"{DIRECTORY}/v{number}.metadata.json", content)
        self.store.create(f"{DIRECTORY}/{HINT}", str(len(self.versions)).encode())

    # files ------------------------------------------------------------------------------------------------------------

    def _changed(self, point: str, *, is_staged: bool = False) -> tuple[list[NewContentFile], list[NewContentFile]]:
        """The files that a commit of the source's main removes and adds."""
        after, before = self._paths(point), self.held
        if is_staged:  # not main's next commit: compare with the commit before it
            snapshots = [str(each.id) for each in self.source.heads.main.snapshots]
            before = self._paths(snapshots[snapshots.index(point) - 1])
        else:
            self.held = after
        removed = [self.files[path] for path in _in_order(before - after)]
        return removed, [self._copied(path) for path in _in_order(after - before)]

    def _paths(self, point: str) -> set[str]:
        return set(self.source.files_at(self.source.position(point), is_ordered=False)["path"].to_pylist())

    def _copied(self, path: str) -> NewContentFile:
        """A copied data file of the source."""
        if path not in self.files:
            directory = path.partition("/")[0]
            target = f"data/{directory}/{len(self.files):05}-{self._uuid(f'data {len(self.files)}')}.parquet"
            self.store.make_dirs([f"data/{directory}"])
            shutil.copyfile(Store(self.source.heads.location).full(path), self.store.full(target))
            self.files[path] = self._described(target, {self.key: directory.partition("=")[2]}, DATA)
        return self.files[path]

    def _masks(self, removed: Sequence[NewContentFile]) -> Iterator[NewContentFile]:
        """Position deletes of all rows of these files, one file per partition."""
        for day in sorted({each.partition[self.key] for each in removed}):
            own = sorted((each for each in removed if each.partition[self.key] == day), key=lambda each: each.path)
            paths = [each.path for each in own for _ in range(each.rows)]
            places = [place for each in own for place in range(each.rows)]
            rows = pa.table([pa.array(paths), pa.array(places, pa.int64())], schema=pa.schema([_PATH, _POSITION]))
            deletes = self._new(rows, {self.key: day}, "deletes", POSITION_DELETES)
            self.masked[day] = [*own, deletes]
            yield deletes

    def _new(self, rows: pa.Table, partition: Mapping[str, Any], name: str, content: int = DATA) -> NewContentFile:
        out = io.BytesIO()
        parquet.write_table(rows, out, compression="zstd")
        directory = f"data/{self.key}={partition[self.key]}"
        target = f"{directory}/{self._uuid(f'{name} {directory}')}-{name}.parquet"
        self.store.create(target, out.getvalue())
        return self._described(target, partition, content)

    def _described(self, path: str, partition: Mapping[str, Any], content: int) -> NewContentFile:
        with parquet.ParquetFile(self.store.full(path)) as file:
            columns = _stats(file, self.document["schemas"][-1]) if content == DATA else {}
            size = self.store.size(path)
            assert size is not None
            return NewContentFile(
                f"{self.location}/{path}", file.metadata.num_rows, size, dict(partition), columns, content
            )

    # current state --------------------------------------------------------------------------------------------------

    def _live(self, number: int) -> Iterator[ManifestEntry]:
        return (each for _, own in self.manifests[number] for each in own if each.status != DELETED)

    def _member(self, number: int) -> Json:
        found: Json = next(each for each in self.document["snapshots"] if each["snapshot-id"] == number)
        return found

    @property
    def _schema_id(self) -> int:
        return int(self.document["current-schema-id"])

    @property
    def _last_return(self) -> int:
        return max(each.id for each in self.source.heads.main.snapshots if each.commit_user == "returns")

    def _counts(
        self, number: int, added: Sequence[NewContentFile], removed: Sequence[NewContentFile]
    ) -> dict[str, str]:
        """The counters of a summary, as engines write them, without those that are zero."""
        live = [each.file for each in self._live(number)]
        changes = {
            "added-data-files": (added, DATA, False), "added-records": (added, DATA, True),
            "added-position-deletes": (added, POSITION_DELETES, True),
            "deleted-data-files": (removed, DATA, False), "deleted-records": (removed, DATA, True),
            "removed-position-deletes": (removed, POSITION_DELETES, True),
        }  # fmt: skip
        totals = {
            "total-data-files": (live, DATA, False), "total-records": (live, DATA, True),
            "total-delete-files": (live, POSITION_DELETES, False),
            "total-position-deletes": (live, POSITION_DELETES, True),
        }  # fmt: skip
        sums = {name: _sum(*of) for name, of in changes.items()}
        return {name: str(each) for name, each in sums.items() if each} | {
            name: str(_sum(*of)) for name, of in totals.items()
        }

    @staticmethod
    def _uuid(name: str) -> uuid.UUID:
        return uuid.uuid5(uuid.NAMESPACE_URL, f"snapscope demo {SEED} {name}")


def _sum(files: Sequence[NewContentFile], content: int, in_rows: bool) -> int:
    return sum(each.rows if in_rows else 1 for each in files if each.content == content)


def _in_order(paths: set[str]) -> list[str]:
    """Paths of the source by partition, then by the number at the end of the name, because its middle is random."""

    def place(path: str) -> tuple[str, int, str]:
        number = path.removesuffix(".parquet").rpartition("-")[2]
        return path.partition("/")[0], int(number) if number.isdecimal() else 0, path

    return sorted(paths, key=place)


def _type(type_: Any) -> str:
    """The Iceberg type of a column of the source."""
    parsed = parse(type_)
    names = {"BIGINT": "long", "INT": "int", "STRING": "string", "VARCHAR": "string", "TIMESTAMP": "timestamp"}
    return f"decimal({parsed.size}, {parsed.scale})" if parsed.root == "DECIMAL" else names[parsed.root]


def _stats(file: parquet.ParquetFile, schema: Json) -> dict[int, ColumnMetrics]:
    """Sizes, null counts and bounds from a footer."""
    types = {each["id"]: each["type"] for each in schema["fields"]}
    metrics: dict[int, ColumnMetrics] = {}
    for place, field in enumerate(file.schema_arrow):
        id = int(field.metadata[b"PARQUET:field_id"])
        chunks = [file.metadata.row_group(group).column(place) for group in range(file.metadata.num_row_groups)]
        statistics = [each.statistics for each in chunks]
        known = [each for each in statistics if each.has_min_max]
        metrics[id] = ColumnMetrics(
            sum(each.total_compressed_size for each in chunks),
            sum(each.null_count for each in statistics),
            stored(min(each.min for each in known), types[id]) if known else None,
            stored(max(each.max for each in known), types[id]) if known else None,
        )
    return metrics
