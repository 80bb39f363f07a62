"""Commits to an append table: append, overwrite of partitions, compaction.

Laws: a snapshot is published after everything it names. What is known not to be published is taken away again, data
files included; where the outcome is not known nothing is deleted. Source: commit protocol, spec 6.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import Conflict, Invalid, SnapscopeError, Unsupported
from core.formats.paimon import binary_row, documents, entries, heads, layout
from core.formats.paimon.entries import NewFile, Record
from core.formats.paimon.references import ATTEMPTS, Head, publish, read_head, read_schema
from core.model import MAIN, Snapshot
from core.store import Store

MANIFEST_TARGET_BYTES = 8 << 20
MERGE_MIN_COUNT = 30
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who commits when, and where new names come from (`new_uuid` answers a different text each time)."""

    time_ms: int
    new_uuid: Callable[[], str]
    user: str = documents.WRITER
    identifier: int = documents.BATCH
    branch: str = MAIN
    watermark: int | None = None


# reading what a commit is built on -----------------------------------------------------------------------------------


def live_entries(store: Store, snapshot: Snapshot | None) -> list[Record]:
    """The ADD entries of all files live at a snapshot, with every field."""
    if snapshot is None:
        return []
    return entries.live(_entries(store, [*_listed(store, snapshot, "base"), *_listed(store, snapshot, "delta")]))


def _listed(store: Store, snapshot: Snapshot, which: str) -> list[Record]:
    name = snapshot.fields.get(f"{which}ManifestList")
    if name is None:
        return []
    path = f"{layout.MANIFEST}/{name}"
    return entries.read_list(store.read(path), path)


def _entries(store: Store, listed: Iterable[Record]) -> list[Record]:
    found: list[Record] = []
    for each in listed:
        path = f"{layout.MANIFEST}/{layout.plain_name(each['_FILE_NAME'], layout.MANIFEST)}"
        found += entries.read_manifest(store.read(path), path)
    return found


# commits --------------------------------------------------------------------------------------------------------


def append(store: Store, files: Sequence[NewFile], stamp: Stamp) -> Snapshot:
    """Add files. Appends never conflict: a lost race is repeated on top of the winner."""
    return _commit(store, files, stamp, "APPEND", "WRITE", None)


def overwrite(
    store: Store, files: Sequence[NewFile], partitions: Sequence[Mapping[str, Any]], stamp: Stamp
) -> Snapshot:
    """Replace all files of the named partitions by `files`; without files the partitions are dropped.

    Each of `partitions` gives values for some or all partition keys; `{}` means the whole table.
    `Invalid` where a new file lies outside of them.
    """
    if not partitions:
        raise Invalid("No partition was named to overwrite.", remedy="Name one; {} means the whole table.")

    def choose(head: Head, live: list[Record]) -> list[Record]:
        matches = matcher(head, partitions)
        if any(not matches(file.partition) for file in files):
            raise Invalid("A row lies outside of the partitions that were named to be overwritten.")
        return [entry for entry in live if matches(entry["_PARTITION"])]

    return _commit(store, files, stamp, "OVERWRITE", "OVERWRITE", choose)


def compact(store: Store, gone: Sequence[Record], files: Sequence[NewFile], stamp: Stamp) -> Snapshot:
    """Replace files by others that hold the same rows. `Conflict` if one of them is no longer live."""
    wanted = {entries.identity(entry): entry["_FILE"]["_FILE_NAME"] for entry in gone}

    def choose(_: Head, live: list[Record]) -> list[Record]:
        found = [entry for entry in live if entries.identity(entry) in wanted]
        if len(found) != len(wanted):
            missing = set(wanted.values()) - {entry["_FILE"]["_FILE_NAME"] for entry in found}
            raise Conflict(f"{min(missing)} is no longer live; another commit replaced it.", path=store.location)
        return found

    return _commit(store, files, stamp, "COMPACT", None, choose)


def matcher(head: Head, partitions: Sequence[Mapping[str, Any]]) -> Callable[[bytes], bool]:
    """Whether a stored partition is one of those named; `Invalid` for a key that is none."""
    keys = head.schema.partition_keys
    for wanted in partitions:
        if unknown := [key for key in wanted if key not in keys]:
            raise Invalid(
                f"'{unknown[0]}' is no partition key of this table; its keys are {', '.join(keys) or 'none'}."
            )
    types = head.partition_types
    # values are compared as stored, so that 0.0 and -0.0, or null and "", stay different
    stored = [{key: binary_row.encode((value,), (head.types[key],)) for key, value in p.items()} for p in partitions]

    def matches(partition: bytes) -> bool:
        values = dict(zip(keys, binary_row.decode(partition, types), strict=True))
        return any(
            all(binary_row.encode((values[key],), (head.types[key],)) == value for key, value in wanted.items())
            for wanted in stored
        )

    return matches


def _commit(
    store: Store,
    files: Sequence[NewFile],
    stamp: Stamp,
    kind: str,
    operation: str | None,
    choose: Callable[[Head, list[Record]], list[Record]] | None,
) -> Snapshot:
    draft = _Draft(store, files, stamp)
    try:
        for attempt in range(ATTEMPTS):
            if attempt:  # as engines do: wait for a random while that grows, or the same writers meet again
                time.sleep(random.uniform(0.0, min(1.0, 0.01 * 2**attempt)))
            head = read_head(store, stamp.branch)
            path, content = draft.write(head, kind, operation, choose)
            draft.is_open = False
            if publish(store, path, content):
                _hint(store, head, stamp.branch)
                number = path.rsplit("-", 1)[-1]
                return heads.snapshot_of(number, content, path)
            draft.is_open = True
            draft.withdraw()
        raise Conflict("Other commits kept coming first.", path=store.location, remedy="Try again.")
    except BaseException as error:
        if draft.is_open:
            draft.abandon(error)
        raise


@dataclass(slots=True)
class _Draft:
    """The files of a commit that is not published yet. `is_open`: it is known that nothing of it is published."""

    store: Store
    files: Sequence[NewFile]
    stamp: Stamp
    written: list[str] = field(default_factory=list)
    is_open: bool = True

    def write(
        self,
        head: Head,
        kind: str,
        operation: str | None,
        choose: Callable[[Head, list[Record]], list[Record]] | None,
    ) -> tuple[str, bytes]:
        """Write manifests and lists on top of `head`; the snapshot's path and content, not yet there."""
        documents.refuse_unwritable(head.schema)
        previous = head.snapshot
        live = live_entries(self.store, previous) if choose is not None else []
        gone = choose(head, live) if choose is not None else []
        if gone and previous is not None and previous.fields.get("indexManifest"):
            raise Unsupported(
                "The table has index files that may speak of the files to be replaced.",
                path=self.store.location,
                remedy="Make this change with the table's own engine.",
            )
        changes = [*map(entries.deleted, gone), *(self._added(file) for file in self.files)]
        names = _Names(self.stamp.new_uuid())
        base = self._merged(_base(self.store, previous), head, names)
        delta = [self._manifest(changes, head, names)] if changes else []
        base_list = self._file(names.list(), lambda name: entries.manifest_list(name, base))
        delta_list = self._file(names.list(), lambda name: entries.manifest_list(name, delta))
        rows = sum(file.rows for file in self.files) - sum(entry["_FILE"]["_ROW_COUNT"] for entry in gone)
        document = {
            "version": documents.VERSION,
            "uuid": self.stamp.new_uuid(),
            "id": 1 if previous is None else previous.id + 1,
            "schemaId": head.schema.id,
            "baseManifestList": base_list[0],
            "baseManifestListSize": base_list[1],
            "deltaManifestList": delta_list[0],
            "deltaManifestListSize": delta_list[1],
            "commitUser": self.stamp.user,
            "writerVersion": documents.WRITER,
            "commitIdentifier": self.stamp.identifier,
            "commitKind": kind,
            "timeMillis": self.stamp.time_ms,
            "totalRecordCount": _total_rows(self.store, previous) + rows,
            "deltaRecordCount": rows,
            **_carried(head, self.stamp.watermark),
            **({} if operation is None else {"operation": operation}),
        }
        path = layout.reference(head.branch, layout.SNAPSHOT, document["id"])
        return path, documents.pretty(document)

    def _added(self, file: NewFile) -> Record:
        schema = read_schema(self.store, file.schema_id, self.stamp.branch)
        return entries.added(file, [column.type for column in schema.fields])

    def _manifest(self, records: Sequence[Record], head: Head, names: _Names) -> Record:
        name, size = self._file(names.manifest(), lambda name: entries.manifest(name, records))
        return entries.listed(name, size, records, head.schema.id, head.partition_types)

    def _merged(self, base: list[Record], head: Head, names: _Names) -> list[Record]:
        """The engine's minor merge: adjacent manifests are packed up to the target size, the small rest when many."""
        least = int(head.schema.options.get("manifest.merge-min-count", MERGE_MIN_COUNT))
        result: list[Record] = []
        pending: list[Record] = []
        for number, each in enumerate(base, 1):
            pending.append(each)
            is_full = sum(one["_FILE_SIZE"] for one in pending) >= MANIFEST_TARGET_BYTES
            if not is_full and number < len(base):
                continue
            if len(pending) > 1 and (is_full or len(pending) >= least):
                kept = entries.merged(_entries(self.store, pending))
                result += [self._manifest(kept, head, names)] if kept else []
            else:
                result += pending
            pending = []
        return result

    def _file(self, name: str, content: Callable[[str], bytes]) -> tuple[str, int]:
        data = content(name)
        path = f"{layout.MANIFEST}/{name}"
        self.store.create(path, data)
        self.written.append(path)
        return name, len(data)

    def withdraw(self) -> None:
        """Take the metadata of this attempt away."""
        while self.written:
            self.store.delete(self.written.pop())

    def abandon(self, error: BaseException) -> None:
        """Take everything away that nobody can refer to; what cannot be deleted is told with the error."""
        for path in (*self.written, *(file.path for file in self.files)):
            try:
                self.store.delete(path)
            except SnapscopeError as left:
                error.add_note(f"{path} was left behind: {left}")


class _Names:
    """Names of one attempt's metadata files: one uuid, counted."""

    def __init__(self, uuid: str) -> None:
        self.uuid = uuid
        self.manifests = self.lists = -1

    def manifest(self) -> str:
        self.manifests += 1
        return f"manifest-{self.uuid}-{self.manifests}"

    def list(self) -> str:
        self.lists += 1
        return f"manifest-list-{self.uuid}-{self.lists}"


def _base(store: Store, previous: Snapshot | None) -> list[Record]:
    return [] if previous is None else [*_listed(store, previous, "base"), *_listed(store, previous, "delta")]


def _total_rows(store: Store, previous: Snapshot | None) -> int:
    if previous is None:
        return 0
    if previous.total_rows is not None:
        return previous.total_rows
    return sum(entry["_FILE"]["_ROW_COUNT"] for entry in live_entries(store, previous))  # Paimon 0.3 and before


def _carried(head: Head, watermark: int | None) -> dict[str, Any]:
    """What a commit takes over from the snapshot before it."""
    fields: Mapping[str, Any] = {} if head.snapshot is None else head.snapshot.fields
    known = [each for each in (watermark, fields.get("watermark")) if each is not None]
    carried = {
        "indexManifest": fields.get("indexManifest"),
        "watermark": max(known, default=None),
        "statistics": fields.get("statistics") if fields.get("schemaId") == head.schema.id else None,
        "properties": fields.get("properties") or None,
        "nextRowId": fields.get("nextRowId"),
    }
    return {name: value for name, value in carried.items() if value is not None}


def _hint(store: Store, head: Head, branch: str) -> None:
    """Hints follow the commit and are never trusted: without them engines find the commit by listing."""
    number = 1 if head.snapshot is None else head.snapshot.id + 1
    try:
        store.put(layout.hint(branch, layout.LATEST), str(number).encode())
        if head.snapshot is None:
            store.put(layout.hint(branch, layout.EARLIEST), str(number).encode())
    except (SnapscopeError, OSError) as error:
        _log.warning("Snapshot %s is committed; its hints could not be written: %s", number, error)
