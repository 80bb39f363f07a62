"""What happened to a table since the last visit, from a small record made then. Pure.

Invariant: what can no longer be known is counted separately and never guessed. Commits that were made and expired in
between are counted in Paimon, whose ids are consecutive; in Iceberg they are only known to be possible. Sums compare
the two states, so they are exact whatever happened in between.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.analysis.diff import option_changes, schema_changes
from core.model.lineage import ancestors, members
from core.model.references import MAIN, Heads, Line, Schema, Snapshot
from core.units import epoch_ms

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Commits:
    """New commits of one kind by one user on one branch."""

    branch: str
    kind: str
    user: str
    number: int


@dataclass(frozen=True, slots=True)
class Since:
    """What is new.

    `unseen`: commits that were made and have expired since (None: there may have been some). `moved`: branches that no
    longer lead through the snapshot they had: (branch, its snapshot then, now). Tags are given as POINTs. `schema` are
    sentences; `schema_ids` (then, now) is set where the old schema is gone and nothing can be said. After a
    fast-forward, the new one may have the same id.
    """

    at_ms: int
    commits: tuple[Commits, ...] = ()
    unseen: int | None = 0
    moved: tuple[tuple[str, int, int | None], ...] = ()
    expired: int = 0
    rows: int | None = 0
    files: int | None = 0
    bytes: int | None = 0
    tags_made: tuple[str, ...] = ()
    tags_moved: tuple[str, ...] = ()
    tags_ended: tuple[str, ...] = ()  # their own retention had passed
    tags_gone: tuple[str, ...] = ()
    branches_made: tuple[str, ...] = ()
    branches_gone: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    schema_ids: tuple[int, int] | None = None

    @property
    def is_quiet(self) -> bool:
        return self == Since(self.at_ms, rows=self.rows, files=self.files, bytes=self.bytes)


def mark(heads: Heads, files: int | None, size: int | None, at_ms: int) -> Json:
    """What to remember of a table: a small JSON document. `files` and `size` are those of main's newest snapshot."""
    latest, schema = heads.main.latest, heads.main.schema
    tips = {branch: _head(each) for branch, each in _tips(heads).items()}
    return {
        "at_ms": at_ms,
        "heads": tips,
        "retained": _up_to(heads, tips),
        "tags": {point: [number, ends] for point, (number, ends) in _tags(heads).items()},
        "schema": schema.id if schema else None,
        "schema_hash": _schema_hash(schema) if schema else None,
        "rows": latest.total_rows if latest else 0,
        "files": files,
        "bytes": size,
    }


def since(then: Mapping[str, Any], heads: Heads, files: int | None, size: int | None, now_ms: int) -> Since:
    """What changed from a remembered mark to these references at `now_ms`."""
    tips, before = _tips(heads), then["heads"]
    commits: Counter[tuple[str, str, str]] = Counter()
    unseen: int | None = 0
    moved = []
    for branch, tip in tips.items():
        old = before.get(branch)
        if old is None and (branch != MAIN or tip is None):
            continue  # a new branch is reported as such; its commits existed before
        new, lost, is_moved = _new(heads, branch, old, tip)
        commits.update((branch, each.kind, each.commit_user) for each in new)
        unseen = None if lost is None or unseen is None else unseen + lost
        if is_moved and old is not None:
            moved.append((branch, int(old["id"]), tip.id if tip else None))
    tags, tags_before = _tags(heads), then["tags"]
    unread = {f"tag:{each.name}" for line in heads.lines for each in line.unreadable if each.kind == "tag"}
    deleted_tags = [point for point in tags_before if point not in tags and point.rpartition("/")[2] not in unread]
    ended = tuple(
        point for point in deleted_tags if tags_before[point][1] is not None and tags_before[point][1] <= now_ms
    )
    latest = heads.main.latest
    return Since(
        at_ms=int(then["at_ms"]),
        commits=tuple(Commits(*key, number) for key, number in commits.items()),
        unseen=unseen,
        moved=tuple(moved),
        expired=max(0, int(then["retained"]) - _up_to(heads, before)),
        rows=_net(then["rows"], latest.total_rows if latest else 0),
        files=_net(then["files"], files),
        bytes=_net(then["bytes"], size),
        tags_made=tuple(point for point in tags if point not in tags_before),
        tags_moved=tuple(point for point in tags if point in tags_before and tags_before[point][0] != tags[point][0]),
        tags_ended=ended,
        tags_gone=tuple(point for point in deleted_tags if point not in ended),
        branches_made=tuple(each for each in tips if each != MAIN and each not in before),
        branches_gone=tuple(each for each in before if each != MAIN and each not in tips),
        **_schema(then["schema"], then.get("schema_hash"), heads),
    )


def _tips(heads: Heads) -> dict[str, Snapshot | None]:
    """The newest snapshot of main and of every branch."""
    if heads.capabilities.branches_are_directories:
        return {line.branch: line.latest for line in heads.lines}
    known = members(heads)
    branches = {ref.name: known.get(ref.snapshot_id) for ref in heads.refs if ref.is_branch}
    return {MAIN: heads.main.latest, **branches}


def _head(tip: Snapshot | None) -> Json | None:
    return None if tip is None else {"id": tip.id, "time_ms": tip.time_ms, "hash": _hash(tip)}


def _hash(snapshot: Snapshot) -> str:
    return hashlib.sha256(snapshot.content).hexdigest()[:16]


def _ids(line: Line) -> list[int]:
    """Ids of the existing snapshots, readable or not."""
    unread = [int(each.name) for each in line.unreadable if each.kind == "snapshot" and each.name.isdecimal()]
    return sorted([*(each.id for each in line.snapshots), *unread])


def _tags(heads: Heads) -> dict[str, tuple[int, int | None]]:
    """Per tag its snapshot and when it expires automatically (Paimon: the writer's wall clock, read as UTC)."""
    found: dict[str, tuple[int, int | None]] = {}
    for line in heads.lines:
        before = "" if line.branch == MAIN else f"branch:{line.branch}/"
        for tag in line.tags:
            ends = tag.ends_ms
            if ends is None and tag.expires is not None:
                ends = epoch_ms(tag.expires)
            found[f"{before}tag:{tag.name}"] = tag.snapshot.id, ends
    return found


def _new(
    heads: Heads, branch: str, old: Mapping[str, Any] | None, tip: Snapshot | None
) -> tuple[list[Snapshot], int | None, bool]:
    """Commits since a branch's old head, how many of them have expired, and whether the branch left that head."""
    if not heads.capabilities.ids_are_ordered:
        return _new_by_parents(heads, old, tip)
    line = heads.line(branch)
    retained, ids = (line.snapshots, _ids(line)) if line else ((), [])
    number = int(old["id"]) if old else 0
    lost = max(0, max(ids, default=0) - number) - sum(each > number for each in ids)
    if old is None:
        return list(retained), lost, False
    again = next((each for each in retained if each.id == number), None)
    if tip is None or tip.id < number or (again is not None and _hash(again) != old["hash"]):
        return [each for each in retained if each.time_ms > old["time_ms"]], None if tip else 0, True
    return [each for each in retained if each.id > number], lost, False


def _new_by_parents(
    heads: Heads, old: Mapping[str, Any] | None, tip: Snapshot | None
) -> tuple[list[Snapshot], int | None, bool]:
    known = members(heads)
    way = list(ancestors(known, tip.id)) if tip else []
    if old is None:
        return way, 0 if way and way[-1].parent_id is None else None, False
    number = int(old["id"])
    if number in {each.id for each in way}:
        return way[: [each.id for each in way].index(number)], 0, False
    if number in known:  # the branch was moved
        shared = {each.id for each in ancestors(known, number)}
        return [each for each in way if each.id not in shared], 0, True
    return [each for each in way if each.time_ms > old["time_ms"]], None, False


def _up_to(heads: Heads, tips: Mapping[str, Json | None]) -> int:
    """The number of existing snapshots that are no newer than those heads.

    Newer ones may have been committed since or, if staged on no branch, may have existed before.
    """
    before = {branch: head for branch, head in tips.items() if head is not None}
    if not heads.capabilities.ids_are_ordered:
        newest = max((int(head["time_ms"]) for head in before.values()), default=-1)
        return sum(each.time_ms <= newest for line in heads.lines for each in line.snapshots)
    lines = (line for line in heads.lines if line.branch in before)
    return sum(number <= int(before[line.branch]["id"]) for line in lines for number in _ids(line))


def _net(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _schema(before: int | None, content: str | None, heads: Heads) -> dict[str, Any]:
    """What changed since schema `before`; `content` is its hash, which older records lack."""
    now = heads.main.schema
    if before is None or now is None:
        return {}
    old = heads.main.schemas.get(before)
    if old is None or content not in (None, _schema_hash(old)):
        return {"schema_ids": (before, now.id)}
    return {"schema": (*schema_changes(old, now), *option_changes(old, now))}


def _schema_hash(schema: Schema) -> str:
    """Of the columns, and of when the schema was made: in Iceberg, options change without a new schema."""
    content = [schema.time_ms, *((each.id, each.name, each.type) for each in schema.fields)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
