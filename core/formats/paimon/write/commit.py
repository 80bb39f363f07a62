"""Commit to a table: one change on top of the newest snapshot, published as the next id or not at all.

Invariants: a snapshot is published after everything it refers to. A commit that lost a race is repeated on top of the
winner, and the change is checked again there. Files of a commit that is known to be unpublished are deleted, data files
included; if the outcome is unknown, nothing is deleted. A change with its own number (`Stamp.identifier`) takes effect
once, however often it is tried. Source: docs/paimon.md §6."""

from __future__ import annotations

import functools
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import Conflict, Invalid, NotFound, SnapscopeError, Unsupported
from core.formats.paimon import binary_row, layout, references, schema_evolution
from core.formats.paimon.write import catalog_commits, commit_base, documents, manifest_encoding, manifest_merging
from core.formats.paimon.write.manifest_encoding import NewDataFile, Record
from core.formats.paimon.write.partition_statistics import of_changes
from core.formats.paimon.write.publish import Head, advance_hints, publish, read_head, read_schema
from core.formats.table_format import Unknown
from core.messages import message
from core.model.references import MAIN, Schema, Snapshot
from core.storage.store import Store
from core.units import number, parse_duration_ms

live_entries, matcher = commit_base.live_entries, commit_base.matcher
Choose = Callable[[Head, list[Record]], list[Record]]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who commits and when, and the source of new names (`new_uuid` returns a different text each time).

    `identifier` numbers the commits of one user. All batch commits have the same one and are never seen as
    repetitions. `refuse` is called directly before the snapshot is published, and raises if it must not be."""

    time_ms: int
    new_uuid: Callable[[], str]
    user: str = documents.WRITER
    identifier: int = documents.BATCH
    branch: str = MAIN
    watermark: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    refuse: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class CommitChange:
    """What one commit does, and the kind and operation of its snapshot.

    `choose` returns the live files that the commit removes; it is called again after every lost race and raises
    `Conflict` if the change is no longer valid. `refuse` raises for tables that must not be written this way.
    `restores`: the table returns to the state of this snapshot, including files, schema, index files and statistics."""

    kind: str
    operation: str | None = None
    files: Sequence[NewDataFile] = ()
    choose: Choose | None = None
    statistics: bytes | None = None  # the content of a new statistics file
    refuse: Callable[[Schema], None] = documents.refuse_unwritable
    restores: Snapshot | None = None


def landed(store: Store, kind: str, stamp: Stamp, *, after: int = 0) -> Snapshot | None:
    """Return this user's newest commit of this kind if it has this number or a later one: this one is then done.

    Only ids above `after` are considered. Batch commits have no number of their own and are never considered done."""
    if stamp.identifier == documents.BATCH:
        return None
    found = commit_base.last_of(store, stamp.branch, stamp.user, kind, after=after)
    return found if found is not None and found.commit_identifier >= stamp.identifier else None


# commits --------------------------------------------------------------------------------------------------------


def append(store: Store, files: Sequence[NewDataFile], stamp: Stamp) -> Snapshot:
    """Add files. Appends never conflict: a commit that lost a race is repeated on top of the winner."""
    return run(store, CommitChange("APPEND", "WRITE", files), stamp)


def overwrite(
    store: Store,
    files: Sequence[NewDataFile],
    partitions: Sequence[Mapping[str, Any]],
    stamp: Stamp,
    *,
    operation: str = "OVERWRITE",
    refuse: Callable[[Schema], None] = documents.refuse_unwritable,
) -> Snapshot:
    """Replace all files of the given partitions by `files`; without files the partitions are dropped.

    Each of `partitions` gives values for some or all partition keys; `{}` means the whole table. Files that others add
    to them in the meantime are replaced as well. Raises `Invalid` if a new file is outside of them."""
    if not partitions:
        raise Invalid(
            "No partition to overwrite was given.", remedy="Give a partition; an empty mapping means the whole table."
        )

    def choose(head: Head, live: list[Record]) -> list[Record]:
        matches = matcher(head, partitions)
        if any(not matches(file.partition) for file in files):
            raise Invalid("A row is outside the partitions to be overwritten.")
        return [entry for entry in live if matches(entry["_PARTITION"])]

    return run(store, CommitChange("OVERWRITE", operation, files, choose, refuse=refuse), stamp)


def overwrite_touched(store: Store, files: Sequence[NewDataFile], stamp: Stamp) -> Snapshot | None:
    """Replace all files of the partitions of `files` (a dynamic overwrite); None if there are no files.

    A table without partition keys is replaced completely, even if there are no files, as the engine does it."""
    if not files and read_head(store, stamp.branch).schema.partition_keys:
        return None
    touched = {file.partition for file in files} or {binary_row.EMPTY}
    choose: Choose = lambda _, live: [entry for entry in live if entry["_PARTITION"] in touched]  # noqa: E731
    return run(store, CommitChange("OVERWRITE", "OVERWRITE", files, choose), stamp)


def compact(store: Store, replaced: Sequence[Record], files: Sequence[NewDataFile], stamp: Stamp) -> Snapshot:
    """Replace files by others with the same rows. Raises `Conflict` if one of them is no longer live."""
    return run(store, CommitChange("COMPACT", None, files, exactly(store, replaced)), stamp)


def exactly(store: Store, entries: Sequence[Record]) -> Choose:
    """Return a `choose` for exactly these live files; it raises `Conflict` if one was removed in the meantime."""
    wanted = {manifest_encoding.identity(entry): entry["_FILE"]["_FILE_NAME"] for entry in entries}

    def choose(_: Head, live: list[Record]) -> list[Record]:
        found = [entry for entry in live if manifest_encoding.identity(entry) in wanted]
        if len(found) != len(wanted):
            missing = set(wanted.values()) - {entry["_FILE"]["_FILE_NAME"] for entry in found}
            raise Conflict(
                "{missing} is no longer a current file; another commit replaced it.",
                missing=min(missing),
                path=store.location,
            )
        return found

    return choose


def run(store: Store, change: CommitChange, stamp: Stamp) -> Snapshot:
    """Commit a change on top of the newest snapshot, repeating it after lost races.

    If a change of this user with this number or a later one was committed before, returns that snapshot and leaves
    nothing of this one. Raises `Conflict` if other commits kept coming first, `Unknown` if the outcome is unknown (then
    nothing is deleted, and the same change with the same number may be tried again)."""
    draft = _Draft(store, change, stamp)
    try:
        for head in _turns(store, stamp.branch):
            if (done := draft.landed(head)) is not None:
                return done
            path, content, changes = draft.write(head)
            try:
                with catalog_commits.held(store):
                    stamp.refuse()
                    published = draft.publish(head, path, content, changes)
            except Unknown as error:
                draft.unsure[path], draft.written, draft.is_sure = (content, error), [], False
                continue
            if published is not None:
                advance_hints(store, path, is_first=head.snapshot is None)
                return references.snapshot_of(path.rsplit("-", 1)[-1], published, path)
            draft.is_open = draft.is_sure
            draft.withdraw()
        raise Conflict("Other commits kept getting in first.", path=store.location, remedy="Try again.")
    except BaseException as error:
        if draft.is_open:
            draft.abandon(error)
        if draft.unsure and not isinstance(error, Unknown):
            raise next(iter(draft.unsure.values()))[1] from error
        raise


def _turns(store: Store, branch: str) -> Iterator[Head]:
    """Yield the newest state for each try, after a random, growing wait that keeps writers from colliding again."""
    head = read_head(store, branch)
    options = head.schema.options
    tries = number(options, "commit.max-retries", 10) + 1
    least, most = (
        parse_duration_ms(options.get(f"commit.{which}-retry-wait", usual)) / 1000
        for which, usual in (("min", "10 ms"), ("max", "10 s"))
    )
    timeout = options.get("commit.timeout")
    until = time.monotonic() + (parse_duration_ms(timeout) / 1000 if timeout else float("inf"))
    yield head
    for turn in range(1, tries):
        if time.monotonic() > until:
            return
        time.sleep(random.uniform(0.0, min(most, least * 2**turn)))
        yield read_head(store, branch)


@dataclass(slots=True)
class _Draft:
    """The files of a commit that is not published yet. `is_open`: nothing of it can have been published.

    `is_sure`: the outcome of every try is known. `unsure`: snapshots that may yet appear, by path, with the error."""

    store: Store
    change: CommitChange
    stamp: Stamp
    written: list[str] = field(default_factory=list)
    is_open: bool = True
    is_sure: bool = True
    unsure: dict[str, tuple[bytes, Unknown]] = field(default_factory=dict)
    seen: int = 0
    schemas: dict[int, Schema] = field(default_factory=dict)

    def landed(self, head: Head) -> Snapshot | None:
        """Return this change's snapshot if committed before, by a try with unknown outcome or an earlier run."""
        number_now = 0 if head.snapshot is None else head.snapshot.id
        for path, (content, unknown) in list(self.unsure.items()):
            known = int(path.rsplit("-", 1)[-1])
            try:
                found = self.store.read(path) if known <= number_now else None
            except NotFound:
                raise unknown from None  # published or not, it has expired
            if found is not None and commit_base.is_same(references.document(found, path), json.loads(content)):
                return references.snapshot_of(str(known), found, path)
            if found is not None:
                del self.unsure[path]  # another writer has this id, so ours cannot appear any more
        done = landed(self.store, self.change.kind, self.stamp, after=self.seen)
        self.seen = number_now
        if done is not None and self.is_sure and done.commit_identifier == self.stamp.identifier:
            there = [*commit_base.delta_entries(self.store, done), *commit_base.live_entries(self.store, head.snapshot)]
            named = {entry["_FILE"]["_FILE_NAME"] for entry in there}
            for file in self.change.files:
                if file.is_new and file.name not in named:
                    self.store.delete(file.path)
        return done

    def write(self, head: Head) -> tuple[str, bytes, Sequence[Record]]:
        """Write manifests and lists on top of `head`; return the path and content of the unpublished snapshot, and the
        entries of its changes."""
        change, previous = self.change, head.snapshot
        change.refuse(head.schema)
        commit_base.refuse_unlocked(self.store, head)
        live = commit_base.live_entries(self.store, previous) if change.choose is not None else []
        removed = change.choose(head, live) if change.choose is not None else []
        added = [self._added(file, head) for file in change.files]
        target = change.restores
        if target is not None:
            removed, added = commit_base.difference(self.store, live, target)
        elif removed and previous is not None:
            commit_base.refuse_indexed(self.store, previous)
        changes = [*map(manifest_encoding.deleted, removed), *added]
        names = _Names(self.stamp.new_uuid())
        by = manifest_merging.rules(head.schema.options)
        read: manifest_merging.Read = lambda listed: commit_base.read_listed(self.store, listed)  # noqa: E731
        base: list[Record] = []
        # restored files may have an old DELETE in previous manifests: write new ones with what is live
        pieces: Sequence[manifest_merging.Piece] = [live] * bool(live)
        if target is None:
            pieces = manifest_merging.merged(commit_base.base(self.store, previous), read, head.partition_types, by)
        for piece in pieces:
            base += self._manifests(piece, head, names, by.target) if isinstance(piece, list) else [piece]
        delta = self._manifests(changes, head, names, by.target) if changes else []
        base_list = self._file(names.list(), lambda name: manifest_encoding.manifest_list(name, base))
        delta_list = self._file(names.list(), lambda name: manifest_encoding.manifest_list(name, delta))
        statistics = self._statistics(head, names)
        rows = commit_base.rows(added) - commit_base.rows(removed)
        fields: Mapping[str, Any] = {} if previous is None else previous.fields
        inherited = fields if target is None else target.fields
        watermarks = [each for each in (self.stamp.watermark, inherited.get("watermark")) if each is not None]
        document = {
            "version": documents.VERSION,
            "uuid": self.stamp.new_uuid(),
            "id": 1 if previous is None else previous.id + 1,
            "schemaId": head.schema.id if target is None else target.schema_id,
            "baseManifestList": base_list[0],
            "baseManifestListSize": base_list[1],
            "deltaManifestList": delta_list[0],
            "deltaManifestListSize": delta_list[1],
            "indexManifest": inherited.get("indexManifest"),
            "commitUser": self.stamp.user,
            "writerVersion": documents.WRITER,
            "commitIdentifier": self.stamp.identifier,
            "commitKind": change.kind,
            "timeMillis": self.stamp.time_ms,
            "totalRecordCount": commit_base.total_rows(self.store, previous) + rows,
            "deltaRecordCount": rows,
            "watermark": max(watermarks, default=None),
            "statistics": statistics if target is None else target.fields.get("statistics"),
            "properties": dict(self.stamp.properties) or (None if target is None else target.fields.get("properties")),
            "nextRowId": max(fields.get("nextRowId") or 0, inherited.get("nextRowId") or 0),
            "operation": change.operation,
        }
        path = layout.reference(head.branch, layout.SNAPSHOT, document["id"])
        return path, documents.pretty({name: each for name, each in document.items() if each is not None}), changes

    def publish(self, head: Head, path: str, content: bytes, changes: Sequence[Record]) -> bytes | None:
        """Publish a snapshot as the table's catalog has it done; return its file, None if another commit came first."""
        self.is_open = False
        if (send := catalog_commits.server(self.store)) is None:
            return content if publish(self.store, path, content) else None
        try:
            return send(head.branch, path, content, of_changes(head.schema, changes))
        except SnapscopeError as error:
            self.is_open = self.is_sure and not isinstance(error, Unknown)
            raise

    def _added(self, file: NewDataFile, head: Head) -> Record:
        if file.schema_id not in self.schemas:
            self.schemas[file.schema_id] = read_schema(self.store, file.schema_id, self.stamp.branch)
        schema = self.schemas[file.schema_id]
        try:
            if schema.id != head.schema.id:
                schema_evolution.origins(schema, head.schema)
        except Unsupported as error:
            raise Conflict(
                message(
                    ("The schema has changed since the rows were written, and they no longer match it: {message}"),
                    message=error.message,
                ),
                path=self.store.location,
                remedy="Write the rows again.",
            ) from error
        return manifest_encoding.added(file, [column.type for column in schema.fields])

    def _statistics(self, head: Head, names: _Names) -> str | None:
        """Return the statistics file: a new one, or the previous snapshot's if its schema is still current."""
        if (content := self.change.statistics) is not None:
            return self._file(f"stat-{names.uuid}-0", lambda _: content, layout.STATISTICS)[0]
        name = None if head.snapshot is None else head.snapshot.fields.get("statistics")
        if name is None:
            return None
        path = f"{layout.STATISTICS}/{layout.plain_name(name, layout.STATISTICS)}"
        return name if references.document(self.store.read(path), path).get("schemaId") == head.schema.id else None

    def _manifests(self, records: Sequence[Record], head: Head, names: _Names, target: int) -> list[Record]:
        """Write these entries into as many manifests as the target size requires."""
        parts = -(-len(manifest_encoding.manifest("", records)) // target) if len(records) > 1000 else 1
        step = -(-len(records) // parts)
        listed = []
        for first in range(0, len(records), step):
            part = records[first : first + step]
            name, size = self._file(names.manifest(), functools.partial(manifest_encoding.manifest, entries=part))
            listed.append(manifest_encoding.listed(name, size, part, head.schema.id, head.partition_types))
        return listed

    def _file(self, name: str, content: Callable[[str], bytes], kind: str = layout.MANIFEST) -> tuple[str, int]:
        data = content(name)
        path = f"{kind}/{name}"
        self.store.create(path, data)
        self.written.append(path)
        return name, len(data)

    def withdraw(self) -> None:
        """Delete the metadata files of this attempt."""
        while self.written:
            self.store.delete(self.written.pop())

    def abandon(self, error: BaseException) -> None:
        """Delete everything that cannot be referenced; files that cannot be deleted are noted on the error."""
        files = [] if self._may_have_landed() else [file.path for file in self.change.files if file.is_new]
        for path in (*self.written, *files):
            try:
                self.store.delete(path)
            except SnapscopeError as left:
                error.add_note(f"{path} was left behind: {left}")

    def _may_have_landed(self) -> bool:
        """Return whether an earlier run of this change (same number and files) may be published or yet appear."""
        if self.stamp.identifier == documents.BATCH:
            return False
        try:
            if not self.store.is_local or landed(self.store, self.change.kind, self.stamp) is not None:
                return True
            live = commit_base.live_entries(self.store, read_head(self.store, self.stamp.branch).snapshot)
            names = {entry["_FILE"]["_FILE_NAME"] for entry in live}  # its snapshot may have expired
            return any(file.name in names for file in self.change.files)
        except (SnapscopeError, OSError):
            return True


class _Names:
    """Names of one attempt's metadata files: one UUID and a counter."""

    def __init__(self, uuid: str) -> None:
        self.uuid = uuid
        self.manifests = self.lists = -1

    def manifest(self) -> str:
        self.manifests += 1
        return f"manifest-{self.uuid}-{self.manifests}"

    def list(self) -> str:
        self.lists += 1
        return f"manifest-list-{self.uuid}-{self.lists}"
