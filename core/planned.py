"""A plan as a value: what a change would free, why every point stays or goes. Frozen, printable, comparable. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from core.changes import (
    Analyze,
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateBranch,
    CreateTag,
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
from core.model import Heads, ObjectKind, Snapshot
from core.units import several, size

LEAVING = pa.schema([("path", pa.string()), ("partition", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())])
FREES = pa.schema([("path", pa.string()), ("kind", pa.string()), ("bytes", pa.int64())])
_KIND_ORDER = {kind.value: number for number, kind in enumerate(ObjectKind)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A point, whether it stays, and why."""

    point: str
    keep: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A reference file from these bytes to those; None = not there. A hint is set whatever it said before."""

    path: str
    before: bytes | None
    after: bytes | None
    is_hint: bool = False


@dataclass(frozen=True)
class Plan:
    """What a change would do to one table. `frees`: path, kind, bytes (null = not yet asked of the store).

    `removes` are the references that go with their exact bytes, in the order they go; `leaves` are the reference files
    the change creates. Where references are rewritten, `steps` are all of it in order; what they are copied from
    (`guards`) is as it was before and after; of the directories `clears` nothing is left. `orphans` is what nothing
    holds then, and what such a change leaves. A commit ends live files (`leaving`), which stay where they are.
    """

    table: str
    change: Change
    rules: str
    now_ms: int
    fingerprint: str
    points: tuple[Verdict, ...] = field(repr=False)
    frees: pa.Table = field(repr=False)
    kept_bytes: int  # of everything some point still holds afterwards
    tags_keep_bytes: int  # held by going points and kept only by tags
    removes: tuple[tuple[str, bytes], ...] = field(repr=False)
    leaves: tuple[str, ...]
    warnings: tuple[str, ...]
    source: Snapshot | None = field(default=None, repr=False)  # the document a tag is made of, as it was shown
    source_tag: str | None = None  # whose copy of it, where the snapshot itself has expired

    steps: tuple[Step, ...] = field(default=(), repr=False)
    guards: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    clears: tuple[str, ...] = ()
    orphans: pa.Table = field(default_factory=FREES.empty_table, repr=False)
    leaving: pa.Table = field(default_factory=LEAVING.empty_table, repr=False)  # live files that a commit ends
    notes: tuple[str, ...] = ()

    @property
    def freed_bytes(self) -> int:
        """Bytes of everything freed, as far as sizes are known."""
        return int(pc.sum(self.frees["bytes"]).as_py() or 0)

    @property
    def goes(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.points if not verdict.keep)

    @property
    def headline(self) -> str:
        """The plan in one sentence."""
        if isinstance(self.change, ReplaceTag):
            frees = f"{size(self.freed_bytes)} in {several(len(self.frees), 'file')}" if len(self.frees) else "nothing"
            return f"Replaces tag {self.change.name}; frees {frees}."
        if moved := self._moved:
            return f"{moved}; {self._left}frees nothing."
        if isinstance(self.change, CleanOrphans):
            return f"Frees {size(self.freed_bytes)} in {several(len(self.frees), 'orphaned file')}."
        if isinstance(self.change, Compact):
            return "Nothing is worth compacting."
        if not self.goes:
            return "Nothing goes, so nothing is freed."
        names = f"{several(len(self.goes), 'point')} {'goes' if len(self.goes) == 1 else 'go'}"
        sentence = f"Frees {size(self.freed_bytes)} in {several(len(self.frees), 'file')}; {names}."
        if self.tags_keep_bytes:
            sentence += f" Tags keep a further {size(self.tags_keep_bytes)} of what they held."
        return sentence

    @property
    def _left(self) -> str:
        """What goes, and what nothing holds then, where a change frees nothing by itself."""
        if not self.goes:
            return ""
        left = int(pc.sum(self.orphans["bytes"]).as_py() or 0)
        files = f" with {several(len(self.orphans), 'file')} ({size(left)}) that nothing else holds"
        goes = f"{several(len(self.goes), 'point')} {'goes' if len(self.goes) == 1 else 'go'}"
        return f"{goes}{files if len(self.orphans) else ''}; "

    @property
    def _moved(self) -> str:
        """What a change says that frees nothing but lets names point elsewhere; "" for any other."""
        change, to = self.change, "nothing" if self.source is None else f"snapshot {self.source.id}"
        match change:
            case CreateTag():
                return f"Creates tag {change.name}"
            case RenameTag():
                return f"Renames tag {change.name} to {change.to}"
            case CreateBranch():
                return f"Creates branch {change.name} " + (f"at {to}" if self.source else "without any snapshot")
            case ReplaceBranch():
                return f"Lets branch {change.name} point to {to}"
            case RenameBranch():
                return f"Renames branch {change.name} to {change.to}"
            case FastForward():
                return f"Forwards {change.branch} to {to}, the head of {change.name}"
            case Rollback():
                return f"Sets {change.branch} back to {to}"
            case ResetConsumer():
                at = change.next_snapshot
                return f"Forgets consumer {change.name}" if at is None else f"Sets consumer {change.name} to {at}"
            case ClearConsumers():
                return f"Forgets {several(len(self.removes), 'consumer')}"
            case DropPartitions() | Truncate():
                rows = f"{pc.sum(self.leaving['rows']).as_py() or 0:,} rows"
                return f"Takes {rows} in {self._ended} out of {change.branch} by a commit"
            case Compact() if len(self.leaving):
                return f"Rewrites {self._ended} of {change.branch} by a commit"
            case Analyze():
                return f"Counts the rows of {change.branch} and commits the statistics"
            case _:
                return ""

    @property
    def _ended(self) -> str:
        return f"{several(len(self.leaving), 'file')} ({size(pc.sum(self.leaving['bytes']).as_py() or 0)})"

    def by_kind(self) -> tuple[tuple[str, int, int], ...]:
        """(kind, files, bytes) of what is freed, in the kinds' own order."""
        grouped = self.frees.group_by("kind").aggregate([("path", "count"), ("bytes", "sum")]).to_pylist()
        rows = [(row["kind"], row["path_count"], row["bytes_sum"] or 0) for row in grouped]
        return tuple(sorted(rows, key=lambda row: _KIND_ORDER[row[0]]))

    def without_size(self) -> list[str]:
        """Paths whose size no metadata tells (extra files)."""
        found: list[str] = self.frees["path"].filter(pc.is_null(self.frees["bytes"])).to_pylist()
        return found

    def with_sizes(self, sizes: Mapping[str, int | None]) -> Plan:
        """The same plan with sizes asked of the store; what is not there is not freed."""
        paths = self.frees["path"].to_pylist()
        known = self.frees["bytes"].to_pylist()
        filled = [sizes.get(path) if size is None else size for path, size in zip(paths, known, strict=True)]
        frees = self.frees.set_column(2, FREES.field(2), pa.array(filled, pa.int64()))
        return dataclasses.replace(self, frees=frees.filter(pc.is_valid(frees["bytes"])))


def ordered(table: pa.Table) -> pa.Table:
    """Freed files by kind, then path."""
    order = pc.index_in(table["kind"], value_set=pa.array(list(_KIND_ORDER), pa.string()))
    return (
        table.append_column("order", order)
        .sort_by([("order", "ascending"), ("path", "ascending")])
        .drop_columns("order")
    )


def fingerprint(heads: Heads, change: Change, rules: str, now_ms: int) -> str:
    """SHA-256 over the content of every reference, the change, the rule set and `now`."""
    digest = hashlib.sha256()
    for path, content in sorted(heads.references.items()):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    request = {"change": type(change).__name__, **dataclasses.asdict(change), "rules": rules, "now_ms": now_ms}
    digest.update(json.dumps(request, sort_keys=True).encode())
    return digest.hexdigest()
