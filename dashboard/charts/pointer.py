"""The path of main's pointer over time. Only Iceberg records it, in its snapshot log.

Invariant: the log is followed in its own order, even where its times go backwards. It is neither the chain of parents
nor the current state of the refs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stay:
    """A period during which main pointed to a snapshot on this lane; None if that snapshot no longer exists."""

    lane: int | None
    start_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Reset:
    """A moment at which main was set to an existing snapshot, one that was committed at `made_ms`."""

    point: str
    id: int
    lane: int
    time_ms: int
    made_ms: int


def path(
    log: Sequence[tuple[int, int]], places: Mapping[int, tuple[str, int, int]], end_ms: int
) -> tuple[tuple[Stay, ...], tuple[Reset, ...]]:
    """Compute the path from a log of (time, snapshot id) up to `end_ms`; `places` maps each snapshot to its point, lane
    and time."""
    stays: list[Stay] = []
    resets: list[Reset] = []
    for number, (time_ms, id) in enumerate(log):
        until_ms = log[number + 1][0] if number + 1 < len(log) else max(end_ms, time_ms)
        point, lane, made_ms = places.get(id, ("", None, time_ms))
        if lane is not None and made_ms != time_ms:
            resets.append(Reset(point, id, lane, time_ms, made_ms))
        if stays and stays[-1].lane == lane and stays[-1].start_ms <= time_ms:
            stays[-1] = Stay(lane, stays[-1].start_ms, until_ms)
        else:
            stays.append(Stay(lane, time_ms, until_ms))
    return tuple(stays), tuple(resets)


def periods(log: Sequence[tuple[int, int]], id: int) -> list[tuple[int, int | None]]:
    """List the periods during which main pointed to a snapshot; an end of None means it still does."""
    found: list[tuple[int, int | None]] = []
    for number, (time_ms, own) in enumerate(log):
        if own != id:
            continue
        until_ms = log[number + 1][0] if number + 1 < len(log) else None
        if found and number and log[number - 1][1] == id:
            found[-1] = found[-1][0], until_ms
        else:
            found.append((time_ms, until_ms))
    return found
