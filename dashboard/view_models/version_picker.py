"""Parses typed versions into core's syntax, lists the versions to choose from, and describes the result."""

from __future__ import annotations

import re

from core.errors import Invalid
from core.model import time_input
from core.model.references import MAIN, Heads, Line, Snapshot
from core.model.time_travel import AsOf
from core.safe_text import escape_direction_marks
from dashboard import words
from dashboard.formatting import units
from dashboard.formatting.palette import SIGNS

LISTED = 300  # newest snapshots offered; all tags and branches are, and any other version can be typed

_BARE = re.compile(r"\d+|latest(~\d+)?|earliest")
_KINDS = ("tag:", "branch:", "time:", "watermark:", "changelog:")


def read(text: str, zone: str = units.UTC, heads: Heads | None = None, now_ms: int | None = None) -> str:
    """Convert typed text to a POINT. A time in any format of `core.model.time_input` becomes `time:…`. With `heads`,
    the plain name of a tag or branch gets its prefix, as does `BRANCH/POINT`. Everything else is left to core. Raises
    `Invalid` if a name is both a tag and a branch."""
    point, _ = time_input.point(text, heads, zone, now_ms)
    return point if heads is None or point.startswith(_KINDS) or _BARE.fullmatch(point) else _named(point, heads)


def _named(text: str, heads: Heads) -> str:
    """Resolve a plain name: a tag on main, a branch, or a version on a branch."""
    branches = [line.branch for line in heads.lines]
    is_tag = any(tag.name == text for tag in heads.main.tags)
    if is_tag and text in branches:
        raise Invalid(words.two_names(text), remedy=words.two_names_next(text))
    if is_tag:
        return f"tag:{text}"
    on_branch = any(text == name or text.startswith(f"{name}/") for name in branches)
    return f"branch:{text}" if on_branch else text


def offered(heads: Heads, zone: str, now_ms: int, line: Line | None = None) -> dict[str, str]:
    """List the versions to choose from, on all branches or on one line, with their labels: latest and earliest,
    branches, tags, then the newest snapshots of each branch."""
    lines = heads.lines if line is None else (line,)

    def shown(sign: str, name: str, of: Snapshot | None) -> str:
        name = escape_direction_marks(name)
        return f"{sign} {name}" if of is None else f"{sign} {name} · {snapshot_text(of, zone, now_ms)}"

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
            found[f"{at}{snapshot.id}"] = f"{at}{snapshot_text(snapshot, zone, now_ms)}"
    return found


def _before(heads: Heads, line: Line) -> str:
    """Return the prefix for ids and tags: the branch, or none if branches are names of the table's snapshots."""
    of_table = not heads.capabilities.branches_are_directories
    return "" if line.branch == MAIN or of_table else f"branch:{line.branch}/"


def snapshot_text(of: Snapshot, zone: str, now_ms: int) -> str:
    """Format a snapshot: `31 · Append · 2026-11-11 08:02:11 UTC · 10 days ago`."""
    parts = str(of.id), words.commit_kind(of.kind), units.moment(of.time_ms, zone), units.ago(of.time_ms, now_ms)
    return " · ".join(parts)


def resolved(text: str, point: str, found: AsOf, zone: str, now_ms: int) -> str:
    """Describe what a text resolved to and, if it was not taken literally, how it was read."""
    line = words.picked_snapshot(
        snapshot_text(found.snapshot, zone, now_ms), found.branch if found.branch != MAIN else ""
    )
    return f"{point} → {line}" if was_read_as(text, point) else line


def next_pair(a: str | None, b: str | None, clicked: str) -> tuple[str, str | None]:
    """Return A and B after a click: the first click sets A, the next one B, and with both chosen it starts over."""
    if a is None:
        return clicked, b
    return (clicked, None) if b is not None else (a, clicked)


def was_read_as(text: str, point: str) -> bool:
    """Return whether the version differs from the typed text."""
    return text.strip() != point
