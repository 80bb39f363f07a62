"""How sentences count and list versions: `1 tag (v)`, `31 snapshots (8–38)`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.messages import Message, counted, message

NAMED = 4  # how many versions, or runs of them, a sentence names


def is_tag(point: str) -> bool:
    """Whether a POINT names a tag, of any branch."""
    return "tag:" in point


def is_branch(point: str) -> bool:
    """Whether a POINT names a whole branch."""
    return point.startswith("branch:") and "/" not in point


def of_refs(points: Sequence[str]) -> list[Message]:
    """The branches and tags among these POINTs, each kind with its count and names."""
    branches = [point.removeprefix("branch:") for point in points if is_branch(point)]
    tags = [point.removeprefix("tag:") for point in points if is_tag(point)]
    found = []
    if branches:
        found.append(
            counted(len(branches), "{count} branch ({which})", "{count} branches ({which})", which=which(branches))
        )
    if tags:
        found.append(counted(len(tags), "{count} tag ({which})", "{count} tags ({which})", which=which(tags)))
    return found


def of_versions(points: Sequence[str]) -> list[Message]:
    """The snapshots and changelogs among these POINTs, each kind with its count and ids."""
    versions = [point for point in points if not is_branch(point) and not is_tag(point)]
    logs = [point.removeprefix("changelog:") for point in versions if "changelog:" in point]
    ids = [point for point in versions if "changelog:" not in point]
    found = []
    if ids:
        found.append(counted(len(ids), "{count} snapshot ({which})", "{count} snapshots ({which})", which=which(ids)))
    if logs:
        found.append(
            counted(len(logs), "{count} changelog ({which})", "{count} changelogs ({which})", which=which(logs))
        )
    return found


def with_and(things: Sequence[Message]) -> Message:
    """`A`, `A and B`, `A and B and C`."""
    first, *rest = things
    return message("{first} and {rest}", first=first, rest=with_and(rest)) if rest else first


def which(names: Iterable[str]) -> str:
    """The names in their order, consecutive ids as ranges, and how many are left out."""
    found = _runs(names)
    shown = ", ".join(_range(run) for run in found[:NAMED])
    if more := sum(map(len, found[NAMED:])):
        return message("{points} and {more} more", points=shown, more=f"{more:,}")
    return shown


def _runs(names: Iterable[str]) -> list[list[str]]:
    """Split into runs of at least three consecutive ids of one branch, and single names."""
    found: list[list[str]] = []
    last = ("", -1)
    for name in names:
        before, own = _before(name), _id(name)
        if found and (before, own - 1) == last and own > 0:
            found[-1].append(name)
        else:
            found.append([name])
        last = before, own
    return [part for run in found for part in ([run] if len(run) > 2 else [[name] for name in run])]


def _range(run: Sequence[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]}–{_id(run[-1])}"


def _id(name: str) -> int:
    """The id of a snapshot or changelog, -1 for any other name."""
    last = name[max(name.rfind(":"), name.rfind("/")) + 1 :]
    return int(last) if last.isdecimal() and last == str(int(last)) else -1


def _before(name: str) -> str:
    return name.rstrip("0123456789")
