"""Naming a version: what can be chosen and typed, and what it resolved to."""

from __future__ import annotations

LATEST = "latest: the newest snapshot"
EARLIEST = "earliest: the oldest retained snapshot"
POINT_PLACEHOLDER = "Choose a point, or type one"
PICK_NONE = "None: clear this"
POINT_HELP = (
    "A snapshot id, a tag, a branch, BRANCH/12, a time, `watermark:N`, `latest`, `earliest` or `latest~3`. A time may "
    "name its zone (`2026-11-01 08:00 Asia/Shanghai`, `2026-11-01T08:00+08:00`); a bare one is read in the zone on the "
    "left. `tag:NAME` and `branch:NAME` always mean a name."
)


def picked(told: str, branch: str) -> str:
    where = f" on {branch}" if branch else ""
    return f"Snapshot{where} {told}"


def two_names(name: str) -> str:
    return f"{name!r} is a tag and a branch."


def two_names_next(name: str) -> str:
    return f"Write tag:{name} or branch:{name}."


def elsewhere(branch: str, wanted: str) -> str:
    return f"That is a snapshot of {branch}, and this is about {wanted}."


def elsewhere_next(wanted: str) -> str:
    return f"Choose a point of {wanted}."
