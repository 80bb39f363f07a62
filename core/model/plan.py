"""A plan as a value: what an action frees, and why each version is kept or expires. Frozen, comparable. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from core.messages import Message, Reason, both, counted, listed, message
from core.model import codes, version_lists
from core.model.actions import (
    Analyze,
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DropPartitions,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceBranch,
    ReplaceTag,
    ResetConsumer,
    Rollback,
    Truncate,
)
from core.model.effects import Effect
from core.model.references import Heads, ObjectKind, Snapshot
from core.model.time_travel import in_words
from core.units import duration, size

LEAVING = pa.schema([("path", pa.string()), ("partition", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])
FREES = pa.schema([("path", pa.string()), ("kind", pa.string()), ("bytes", pa.int64())])
_KIND_ORDER = {kind.value: number for number, kind in enumerate(ObjectKind)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a version is kept, and why."""

    point: str
    keep: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """What a plan deletes under one root outside the table's own directory."""

    root: str
    files: int
    bytes: int

    @property
    def words(self) -> Message:
        files = counted(self.files, "{count} file", "{count} files")
        return message("{files} ({size}) under {root}", files=files, size=size(self.bytes), root=self.root)


@dataclass(frozen=True)
class Plan:
    """What an action would do to one table.

    `frees`: path, kind, bytes (null = the store has not been asked yet). `removes`: the references to delete with their
    exact bytes, in order of deletion. `leaves`: the reference files the action creates. `effects`: all steps in order;
    what is shown is what runs. `orphans`: files that nothing holds afterwards but that an action on references alone
    leaves in place. `leaving`: live files that a commit removes from the table's current version; they stay on disk.
    `outside`: the part of `frees` outside the table's directory, by root; each root must be allowed by name.
    """

    table: str
    change: Change
    rules: Reason
    now_ms: int
    fingerprint: str
    points: tuple[Verdict, ...] = field(repr=False)
    frees: pa.Table = field(repr=False)
    kept_bytes: int  # of everything that some version still holds afterwards
    tags_keep_bytes: int  # held by expiring versions and kept only by tags
    removes: tuple[tuple[str, bytes], ...] = field(repr=False)
    leaves: tuple[str, ...]
    warnings: tuple[Reason, ...]
    source: Snapshot | None = field(default=None, repr=False)  # what a tag is created from, as it was shown
    source_tag: str | None = None  # the tag whose copy of it is used where the snapshot itself has expired
    effects: tuple[Effect, ...] = field(default=(), repr=False)
    orphans: pa.Table = field(default_factory=FREES.empty_table, repr=False)
    leaving: pa.Table = field(default_factory=LEAVING.empty_table, repr=False)  # live files that a commit removes
    notes: tuple[Reason, ...] = ()
    outside: tuple[Outside, ...] = ()

    @property
    def freed_bytes(self) -> int:
        """Bytes of everything freed, as far as sizes are known."""
        return int(pc.sum(self.frees["bytes"]).as_py() or 0)

    @cached_property
    def deleted_points(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.points if not verdict.keep)

    @cached_property
    def headline(self) -> str:
        """The plan in one sentence; a second one says what it deletes outside the table's directory."""
        if not self.outside:
            return self._headline
        roots = listed([each.words for each in self.outside])
        return both(self._headline, message("Outside the table's directory it deletes {roots}.", roots=roots))

    @property
    def _headline(self) -> str:
        if moved := self._moved:
            return self._move_sentence(moved)
        if isinstance(self.change, CleanOrphans):
            orphans = counted(len(self.frees), "{count} orphaned file", "{count} orphaned files")
            return message("Reclaims {size} in {files}.", size=size(self.freed_bytes), files=orphans)
        if isinstance(self.change, Compact):
            return message("Nothing is worth compacting.")
        if not self.deleted_points:
            return message("Nothing is deleted, so nothing is reclaimed.")
        if len(self.frees):
            sentence = message("{gone}, reclaims {freed}.", gone=self.deletions, freed=self._freed)
        else:
            sentence = message("{gone}, reclaims nothing.", gone=self.deletions)
        if not self.tags_keep_bytes:
            return sentence
        kept = message("Tags hold a further {size} of the expired snapshots.", size=size(self.tags_keep_bytes))
        return both(sentence, kept)

    @property
    def _freed(self) -> Message:
        files = counted(len(self.frees), "{count} file", "{count} files")
        return message("{size} in {files}", size=size(self.freed_bytes), files=files)

    @property
    def deletions(self) -> Message:
        """What is deleted and what expires. References come first, because someone created them on purpose."""
        points = [verdict.point for verdict in self.deleted_points]
        if not points:
            return message("Deletes nothing")
        refs, versions = version_lists.of_refs(points), version_lists.of_versions(points)
        if isinstance(self.change, DeleteBranches) and not all(map(version_lists.is_branch, points)):
            names = self.change.names
            if len(names) == 1:
                points = [point.removeprefix(f"branch:{names[0]}/") for point in points]
            what = version_lists.with_and([*version_lists.of_versions(points), *version_lists.of_refs(points)])
            return message("Deletes branch {names} with {what}", names=", ".join(names), what=what)
        if not self.change.is_expiry or not versions:
            return message("Deletes {what}", what=version_lists.with_and([*refs, *versions]))
        if not refs:
            return message("Expires {what}", what=version_lists.with_and(versions))
        named, expired = version_lists.with_and(refs), version_lists.with_and(versions)
        return message("Deletes {refs}, expires {versions}", refs=named, versions=expired)

    def _move_sentence(self, moved: Message) -> Message:
        """What is deleted, what nothing holds afterwards, and what is reclaimed, for an action that moves references or
        commits. Such an action frees files only where it replaces a tag, or by a rule of the table for each commit."""
        freed = message("reclaims {freed}", freed=self._freed) if len(self.frees) else message("reclaims nothing")
        if not self.deleted_points or isinstance(self.change, ReplaceTag):
            return message("{moved}; {freed}.", moved=moved, freed=freed)
        points = [verdict.point for verdict in self.deleted_points]
        if isinstance(self.change, RenameBranch):
            points = [point.removeprefix(f"branch:{self.change.name}/") for point in points]
            what = version_lists.with_and([*version_lists.of_refs(points), *version_lists.of_versions(points)])
            return message("{moved}, and with it {what}; {freed}.", moved=moved, what=what, freed=freed)
        deletions = version_lists.with_and([*version_lists.of_refs(points), *version_lists.of_versions(points)])
        if not len(self.orphans):
            return message("{moved}; deletes {what}; {freed}.", moved=moved, what=deletions, freed=freed)
        return message(
            "{moved}; deletes {what} with {files} ({size}) that nothing else holds; {freed}.",
            moved=moved,
            what=deletions,
            files=counted(len(self.orphans), "{count} file", "{count} files"),
            size=size(int(pc.sum(self.orphans["bytes"]).as_py() or 0)),
            freed=freed,
        )

    @property
    def _moved(self) -> Message | None:
        """The sentence for an action that repoints names or commits and frees nothing itself; None for any other."""
        change = self.change
        to = message("no snapshot") if self.source is None else message("snapshot {id}", id=self.source.id)
        match change:
            case CreateTag():
                return _kept(message("Creates tag {name} at {to}", name=change.name, to=to), change.retained_ms)
            case ReplaceTag():
                return _kept(message("Moves tag {name} to {to}", name=change.name, to=to), change.retained_ms)
            case RenameTag():
                return message("Renames tag {name} to {to}", name=change.name, to=change.to)
            case CreateBranch() if self.source:
                return message("Creates branch {name} at {to}", name=change.name, to=to)
            case CreateBranch():
                return message("Creates branch {name} without any snapshot", name=change.name)
            case ReplaceBranch():
                return message("Moves branch {name} to {to}", name=change.name, to=to)
            case DeleteBranches() if not self.deleted_points:
                return message("Deletes branch {names}", names=", ".join(change.names))
            case RenameBranch():
                return message("Renames branch {name} to {to}", name=change.name, to=change.to)
            case FastForward():
                name, branch = change.name, change.branch
                return message("Fast-forwards {branch} to {to}, the head of {name}", branch=branch, to=to, name=name)
            case Rollback():
                return message("Rolls {branch} back to {to}", branch=change.branch, to=to)
            case ResetConsumer() if change.next_snapshot is None:
                return message("Deletes consumer {name}", name=change.name)
            case ResetConsumer():
                return message("Sets consumer {name} to {id}", name=change.name, id=change.next_snapshot)
            case ClearConsumers():
                return counted(len(self.removes), "Deletes {count} consumer", "Deletes {count} consumers")
            case DropPartitions() | Truncate():
                rows = f"{pc.sum(self.leaving['rows']).as_py() or 0:,}"
                template = "Removes {rows} rows in {ended} from {branch} with a commit"
                return message(template, rows=rows, ended=self._ended, branch=change.branch)
            case Compact() if len(self.leaving):
                return message("Rewrites {ended} of {branch} with a commit", ended=self._ended, branch=change.branch)
            case Analyze():
                return message("Counts the rows of {branch} and commits the statistics", branch=change.branch)
            case _:
                return None

    @property
    def _ended(self) -> Message:
        files = counted(len(self.leaving), "{count} file", "{count} files")
        return message("{files} ({size})", files=files, size=size(pc.sum(self.leaving["bytes"]).as_py() or 0))

    def by_kind(self) -> tuple[tuple[str, int, int], ...]:
        """(kind, files, bytes) of what is freed, in the order of `ObjectKind`."""
        grouped = self.frees.group_by("kind").aggregate([("path", "count"), ("bytes", "sum")]).to_pylist()
        rows = [(row["kind"], row["path_count"], row["bytes_sum"] or 0) for row in grouped]
        return tuple(sorted(rows, key=lambda row: _KIND_ORDER[row[0]]))

    def without_size(self) -> list[str]:
        """Paths whose size no metadata states (extra files)."""
        found: list[str] = self.frees["path"].filter(pc.is_null(self.frees["bytes"])).to_pylist()
        return found

    def with_sizes(self, sizes: Mapping[str, int | None]) -> Plan:
        """The same plan with sizes that the store returned; files that do not exist are removed from `frees`."""
        paths = self.frees["path"].to_pylist()
        known = self.frees["bytes"].to_pylist()
        filled = [sizes.get(path) if size is None else size for path, size in zip(paths, known, strict=True)]
        frees = self.frees.set_column(2, FREES.field(2), pa.array(filled, pa.int64()))
        return dataclasses.replace(self, frees=frees.filter(pc.is_valid(frees["bytes"])))


def unreadable(lost: Iterable[Snapshot], *, later: bool = False) -> list[Reason]:
    """Warnings about snapshots that a deleted tag was the last to keep. `later`: they are lost at the next expiry."""
    one = codes.LAST_KEPT_LATER if later else codes.LAST_KEPT
    by_id = {each.id: each for each in lost}
    shown = [one(id=id, at=in_words(by_id[id].time_ms)) for id in sorted(by_id)[: version_lists.NAMED]]
    if more := len(by_id) - len(shown):
        shown.append(codes.MORE_LAST_KEPT(count=more))
    return shown


def _kept(named: Message, kept_ms: int | None) -> Message:
    return named if kept_ms is None else message("{named} for {kept}", named=named, kept=duration(kept_ms))


def ordered(table: pa.Table) -> pa.Table:
    """Sort freed files by kind, then path."""
    order = pc.index_in(table["kind"], value_set=pa.array(list(_KIND_ORDER), pa.string()))
    return (
        table.append_column("order", order)
        .sort_by([("order", "ascending"), ("path", "ascending")])
        .drop_columns("order")
    )


_HASHED = {  # rule names as fingerprints have always hashed them, whatever their current wording
    codes.PAIMON_2.name: "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run",
    codes.PAIMON_1.name: "Paimon 1.x: a snapshot's age is its own; 50 snapshots a run",
    codes.PAIMON_0_9.name: "Paimon 0.9: a snapshot's age is its own; 10 snapshots a run",
    codes.PAIMON_REFERENCES.name: (
        "Apache Paimon 2.1: references alone; what nothing names any more is left to be found as orphans"
    ),
    codes.PAIMON_COMMIT.name: (
        "Apache Paimon 2.0: a commit ends files, and an expiry deletes them once no point holds them"
    ),
    codes.PAIMON_AS_LATEST.name: "Apache Paimon 2.0: rollback as latest, a new snapshot with an old one's content",
    codes.ICEBERG.name: "Apache Iceberg 1.11: each ref's own retention, files by reachability",
}


def fingerprint(heads: Heads, change: Change, rules: Reason, now_ms: int) -> str:
    """SHA-256 over the content of every reference, the action, the rule set and `now`."""
    digest = hashlib.sha256()
    for path, content in sorted(heads.references.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    request = {
        "change": type(change).__name__,
        **dataclasses.asdict(change),
        "rules": _HASHED.get(rules.code.name, rules.code.name),
        "now_ms": now_ms,
    }
    if not request.get("also", True):
        del request["also"]  # so that older fingerprints, made before this field existed, stay valid
    digest.update(json.dumps(request, sort_keys=True).encode())
    return digest.hexdigest()
