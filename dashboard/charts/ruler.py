"""Places commits at even distances, in the order of their times, instead of at their times.

Invariant: only the positions of marks change; all texts, windows and clicks keep the true times. A time between two
commits is placed between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

LABELS = 5  # of the axis


class Ruler:
    """Positions by commit: the first commit time is at 0, the next at 1. Commits of the same millisecond share a
    position."""

    def __init__(self, times_ms: Iterable[int]) -> None:
        self._times = np.unique(np.fromiter(times_ms, dtype=np.int64))

    def __len__(self) -> int:
        return len(self._times)

    def at(self, times_ms: Sequence[int | None]) -> list[float | None]:
        """Return the positions of times. Those before the first or after the last commit are at most 1 beyond it."""
        if not len(self._times):
            return [None] * len(times_ms)
        known = np.concatenate(([self._times[0] - 1], self._times, [self._times[-1] + 1]))
        places = np.arange(-1, len(self._times) + 1)
        found = np.interp([self._times[0] if ms is None else ms for ms in times_ms], known, places).tolist()
        return [None if ms is None else place for ms, place in zip(times_ms, found, strict=True)]

    def places(self, times_ms: Sequence[int]) -> list[float]:
        """Return the positions of known times."""
        return [place for place in self.at(times_ms) if place is not None]

    def labels(self) -> list[tuple[int, int]]:
        """Choose `(position, time)` of commits to label on the axis, evenly spread and off its ends."""
        places = np.unique(((np.arange(LABELS) + 0.5) / LABELS * len(self)).astype(int)) if len(self) else ()
        return [(int(place), int(self._times[place])) for place in places]

    def edges_ms(self, number: int) -> tuple[int, ...]:
        """Return the times at which bins begin that hold about the same number of commits, and the last one's end."""
        places = np.unique(np.linspace(0, len(self) - 1, number + 1).astype(int))
        edges = self._times[places].tolist()
        return (*edges[:-1], max(edges[-1], edges[0] + 1))
