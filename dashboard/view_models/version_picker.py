"""What a reader typed, as the core's syntax for a version; the versions to choose from; what one resolved to."""

from __future__ import annotations

import re

from core.errors import Invalid
from core.model import time_input
from core.model.references import MAIN, Heads, Line, Snapshot
from core.model.time_travel import AsOf
from dashboard import words
from dashboard.formatting import units
from dashboard.formatting.palette import SIGNS

LISTED = 300  # newest snapshots to choose from; tags and branches all are, and any other point can be typed

_BARE = re.compile(r"\d+|latest(~\d+)?|earliest")
_KINDS = ("tag:", "branch:", "time:", "watermark:", "changelog:")


def read(text: str, zone: str = units.UTC, heads: Heads | None = None, now_ms: int | None = None) -> str:
    """A POINT. A time, in any form of `core.model.time_input`, gets `time:` and its moment; with `heads`, a tag's or a
    branch's bare name gets its kind, and so does `BRANCH/POINT`. Everything else is left for the core to judge.
    `Invalid` where a name is a tag's and a branch's."""
    point, _ = time_input.point(text, heads, zone, now_ms)
    return point if heads is None or point.startswith(_KINDS) or _BARE.fullmatch(point) else _named(point, heads)


def _named(text: str, heads: Heads) -> str:
    """A bare name: of a tag on main, of a branch, of a point on a branch."""
    branches = [line.branch for line in heads.lines]
    is_tag = any(tag.name == text for tag in heads.main.tags)
    if is_tag and text in branches:
        raise Invalid(words.two_names(text), remedy=words.two_names_next(text))
    if is_tag:
        return f"tag:{text}"
    on_branch = any(text == name or text.startswith(f"{name}/") for name in branches)
    return f"branch:{text}" if on_branch else text


def offered(heads: Heads, zone: str, now_ms: int, line: Line | None = None) -> dict[str, str]:
    """Points to choose from, of all branches or of one line alone, and how each is shown: the ends, branches, tags,
    then the newest snapshots of each branch."""
    lines = heads.lines if line is None else (line,)

    def shown(sign: str, name: str, of: Snapshot | None) -> str:
        return f"{sign} {name}" if of is None else f"{sign} {name} · {told(of, zone, now_ms)}"

    found = {}
    if any(each.snapshots for each in lines):
        found = {"latest": words.LATEST, "earliest": words.EARLIEST}
    for each in lines:
        if each.branch != MAIN and each.snapshots:
            found[f"branch:{each.branch}"] = shown(SIGNS["branch"], each.branch, each.latest)
    for each in lines:
        for tag in reversed(each.tags):
            name = f"{_before(heads, each)}tag:{tag.name}"
            found[name] = shown(SIGNS["tag"], name.replace("tag:", "", 1), tag.snapshot)
    for each in lines:
        for snapshot in reversed(each.snapshots[-LISTED:]):
            at = _before(heads, each)
            found[f"{at}{snapshot.id}"] = f"{at}{told(snapshot, zone, now_ms)}"
    return found


def _before(heads: Heads, line: Line) -> str:
    """Ids and tags are of the branch, or of the table where branches are names of its snapshots."""
    of_table = not heads.capabilities.branches_are_directories
    return "" if line.branch == MAIN or of_table else f"branch:{line.branch}/"


def told(of: Snapshot, zone: str, now_ms: int) -> str:
    """`31 · Append · 2026-11-11 08:02:11 UTC · 10 days ago`."""
    parts = str(of.id), words.commit_kind(of.kind), units.moment(of.time_ms, zone), units.ago(of.time_ms, now_ms)
    return " · ".join(parts)


def resolved(text: str, point: str, found: AsOf, zone: str, now_ms: int) -> str:
    """One line on what a text resolved to, and how it was read where that is not how it was typed."""
    line = words.picked(told(found.snapshot, zone, now_ms), found.branch if found.branch != MAIN else "")
    return f"{point} → {line}" if was_read_as(text, point) else line


def next_pair(a: str | None, b: str | None, clicked: str) -> tuple[str, str | None]:
    """A and B after a click: the first click is A, the second B, a third begins anew."""
    return (clicked, None) if a is None or b is not None else (a, clicked)


def was_read_as(text: str, point: str) -> bool:
    """Is the point another text than the one typed?"""
    return text.strip() != point
