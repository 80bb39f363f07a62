"""The history of one file: which commit added it, which removed it from the current state, and who held it meanwhile.

Invariant: everything follows from the intervals alone. The adding and the removing commit are named only if they are
retained and were read in full. If the commit before the first holder is not retained, the file was added there or
earlier, and the answer says so. Whether a file is live where nothing can be read is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.expiration_dates import Life, expiries, lasting, life
from core.errors import NotFound
from core.messages import message
from core.model.expiry import Expiry
from core.model.history import History
from core.model.intervals import Mask
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Holder, HolderKind, ObjectKind, Snapshot

_REFERENCES = (ObjectKind.SNAPSHOT, ObjectKind.TAG, ObjectKind.CHANGELOG_JSON)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive holders of one kind and branch that all hold the file, oldest first."""

    kind: HolderKind
    branch: str
    holders: tuple[Holder, ...]
    ends: Expiry | None  # of the one that lasts longest, None where no rule applies to it

    @property
    def first(self) -> Holder:
        return self.holders[0]

    @property
    def last(self) -> Holder:
        return self.holders[-1]


@dataclass(frozen=True, slots=True)
class FileLifetime:
    """The lifetime of a file on one branch.

    born: the commit that added it or, with `is_exact` False, the oldest retained one that has it
    removed: the commit that removed it from the branch's current state; None while it is live there, for references,
             and also, with `is_live` False, where that commit is not retained or cannot be read
    is_live: None where the current state cannot be read
    """

    life: Life
    branch: str
    born: Snapshot | None
    is_exact: bool
    removed: Snapshot | None
    is_live: bool | None
    stretches: tuple[Stretch, ...]

    @property
    def is_reference(self) -> bool:
        """Whether it is the file of a snapshot, tag or changelog: no commit removes it, only its expiry or deletion."""
        return self.life.kind in _REFERENCES


def find(history: History, text: str, relative: Callable[[str], str] = str) -> str:
    """The path meant by a pasted path, URL or bare name.

    `relative` turns a path as another program prints it into one of the table's store. A path never matches another one
    that merely ends alike. Raises `NotFound` if there is none or several, `Invalid` for a path outside the table.
    """
    text = text.strip()
    paths = history.objects["path"]
    for read in (str, relative):  # another program's spelling is tried only where needed
        known = read(text)
        if pc.index(paths, known).as_py() >= 0:
            return known
    ending = paths.filter(pc.ends_with(paths, f"/{text}")) if text and "/" not in text else paths.slice(0, 0)
    if len(ending) == 1:
        return str(ending[0])
    if len(ending):
        raise NotFound(
            "{ending:,} files of this table are named {text!r}.",
            ending=len(ending),
            text=text,
            path=history.heads.location,
            remedy=message("Give its path, such as {ending}.", ending=ending[0]),
        )
    raise NotFound(
        "No readable snapshot or tag of this table refers to {text!r}.",
        text=text,
        path=history.heads.location,
        remedy="Give a path as `snapscope files TABLE` prints it, or its full location; `snapscope "
        "orphans TABLE` lists files that nothing refers to.",
    )


def lifetime(history: History, path: str, now_ms: int) -> FileLifetime:
    """The lifetime of a file that the history knows. Raises `NotFound` otherwise."""
    found = life(history, path, now_ms)
    if found is None:
        raise NotFound(
            message("No readable snapshot or tag of this table refers to {path!r}.", path=path),
            path=history.heads.location,
        )
    row = pc.index(history.objects["path"], path).as_py()
    held = history.held.positions_of(row) & history.existing
    live = _live(history, row, held)
    branch, line = _line(history, live)
    on_line, snapshots = _views(history, live, line)
    born, is_exact, removed = None, False, None
    if any(on_line):
        first, last = on_line.index(True), len(on_line) - 1 - on_line[::-1].index(True)
        born, before = snapshots[first], snapshots[first - 1] if first and on_line[first - 1] is not None else None
        is_exact = born is not None and _follows(history, before, born)
        if last + 1 < len(on_line) and found.kind not in _REFERENCES:
            after, at = snapshots[last + 1], snapshots[last]
            if on_line[last + 1] is not None and at is not None and after is not None:
                removed = after if _follows(history, at, after) else None
    dates = expiries(history.heads, now_ms)
    return FileLifetime(
        found, branch, born, is_exact, removed, on_line[-1] if on_line else False, _stretches(history, held, dates)
    )


def _live(history: History, row: int, held: Mask) -> Mask:
    """Per position: whether a file of this path is live there. A file that is no data file is live where it is held."""
    own = np.flatnonzero(history.files["object"].to_numpy() == row)
    if not len(own):
        return held
    is_own = np.isin(history.live.owner, own)
    answer = np.zeros(len(history.holders), dtype=np.bool_)
    for first, last in zip(history.live.first[is_own], history.live.last[is_own], strict=True):
        answer[first : last + 1] = True
    return answer & history.existing


def _line(history: History, live: Mask) -> tuple[str, list[int]]:
    """The branch that explains the file, and its positions in order.

    That is main if main has the file, else the first branch that has it; in Iceberg, the line of ancestors of main's
    head, or of the newest snapshot that has the file.
    """
    if not history.heads.capabilities.ids_are_ordered:
        return _ancestry(history, live)
    lines: dict[str, list[int]] = {}
    for position, holder in enumerate(history.holders):
        if holder.kind is not HolderKind.CHANGELOG:
            lines.setdefault(holder.branch, []).append(position)
    having = [branch for branch, positions in lines.items() if any(live[position] for position in positions)]
    branch = MAIN if MAIN in having or not having else having[0]
    return branch, _of_today(history, live, lines.get(branch, []))


def _of_today(history: History, live: Mask, line: Sequence[int]) -> list[int]:
    """A branch's positions without tags newer than its newest snapshot, which remain from before a rollback.

    If only these tags have the file: the tags and the newest snapshot.
    """
    ids = [int(each.name) for each in map(history.holders.__getitem__, line) if each.kind is HolderKind.SNAPSHOT]
    newest = max(ids, default=None)

    def is_left_behind(position: int) -> bool:
        snapshot = history.holders[position].snapshot
        return newest is not None and snapshot is not None and snapshot.id > newest

    own = [position for position in line if not is_left_behind(position)]
    if any(live[own]) or not any(live[line]):
        return own
    return [*filter(is_left_behind, line), *own[-1:]]


def _views(history: History, live: Mask, line: Sequence[int]) -> tuple[list[bool | None], list[Snapshot | None]]:
    """Per commit of a line, kept by a snapshot or a tag: is the file live (None: unreadable); and the commit."""
    found: dict[int, tuple[bool | None, Snapshot | None]] = {}
    for position in line:
        snapshot = history.holders[position].snapshot
        is_there = None if position in history.incomplete else bool(live[position])
        found.setdefault(-position - 1 if snapshot is None else snapshot.id, (is_there, snapshot))
    return [each[0] for each in found.values()], [each[1] for each in found.values()]


def _ancestry(history: History, live: Mask) -> tuple[str, list[int]]:
    known = members(history.heads)
    at = {int(holder.name): position for position, holder in enumerate(history.holders)}
    heads = [history.heads.main.latest, *(line.latest for line in history.heads.lines[1:])]
    having = sorted(
        (holder.snapshot for position, holder in enumerate(history.holders) if live[position] and holder.snapshot),
        key=lambda each: each.time_ms,
    )
    for head in (*heads, *reversed(having)):
        if head is not None:
            way = [at[each.id] for each in ancestors(known, head.id) if each.id in at][::-1]
            if any(live[each] for each in way):
                return history.holders[way[-1]].branch, way
    return MAIN, []


def _follows(history: History, before: Snapshot | None, after: Snapshot) -> bool:
    """Whether one is the commit right before the other; the very first commit follows None."""
    if not history.heads.capabilities.ids_are_ordered:
        return after.parent_id == (None if before is None else before.id)
    return after.id == (1 if before is None else before.id + 1)


def _stretches(history: History, held: Mask, dates: dict[str, Expiry]) -> tuple[Stretch, ...]:
    """Holders of one kind and branch, split where one in between does not hold the file."""
    groups: dict[tuple[HolderKind, str], list[int]] = {}
    for position, holder in enumerate(history.holders):
        if holder.exists:
            groups.setdefault((holder.kind, holder.branch), []).append(position)
    found: list[Stretch] = []
    for (kind, branch), positions in groups.items():
        for holds, run in groupby(positions, key=lambda position: bool(held[position])):
            if holds:
                holders = tuple(history.holders[position] for position in run)
                found.append(Stretch(kind, branch, holders, _longest(holders, dates)))
    order = {kind: place for place, kind in enumerate((HolderKind.SNAPSHOT, HolderKind.TAG, HolderKind.CHANGELOG))}
    return tuple(sorted(found, key=lambda each: (each.branch != MAIN, each.branch, order[each.kind])))


def _longest(holders: Sequence[Holder], dates: dict[str, Expiry]) -> Expiry | None:
    place = max(range(len(holders)), key=lambda each: lasting(holders[each], dates.get(holders[each].point), each))
    return dates.get(holders[place].point)


def table(found: FileLifetime) -> pa.Table:
    """The stretches as rows: kind, branch, first, last, holders, since_ms, until_ms, ends (words), not_before_ms."""
    times = [[each.snapshot.time_ms for each in one.holders if each.snapshot is not None] for one in found.stretches]
    return pa.table(
        {
            "kind": pa.array([each.kind.value for each in found.stretches], pa.string()),
            "branch": pa.array([each.branch for each in found.stretches], pa.string()),
            "first": pa.array([each.first.point for each in found.stretches], pa.string()),
            "last": pa.array([each.last.point for each in found.stretches], pa.string()),
            "holders": pa.array([len(each.holders) for each in found.stretches], pa.int64()),
            "since_ms": pa.array([min(some, default=None) for some in times], pa.int64()),
            "until_ms": pa.array([max(some, default=None) for some in times], pa.int64()),
            "ends": pa.array([each.ends.words if each.ends else None for each in found.stretches], pa.string()),
            "not_before_ms": pa.array(
                [each.ends.not_before_ms if each.ends else None for each in found.stretches], pa.int64()
            ),
        }
    )
