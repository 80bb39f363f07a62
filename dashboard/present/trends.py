"""How a table grew: rows, files and bytes at each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")
SHOWN = 700  # points a trend is drawn with: about one per pixel
Values = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """What was live at each point, in the order of ids. `files` and `bytes` are None where manifests were not read;
    a single None is a point that could not be read in full."""

    points: tuple[str, ...]
    times_ms: tuple[int, ...]
    rows: Values
    files: Values | None = None
    bytes: Values | None = None

    def within(self, window_ms: tuple[int, int] | None) -> Trend:
        """Only what lies inside a window, both ends included."""
        if window_ms is None:
            return self
        first, last = window_ms
        return self._take([place for place, time in enumerate(self.times_ms) if first <= time <= last])

    def thinned(self, limit: int = SHOWN) -> Trend:
        """At most `limit` points, evenly spaced and with both ends: no screen shows more."""
        if len(self.points) <= limit:
            return self
        return self._take(np.unique(np.linspace(0, len(self.points) - 1, limit).astype(int)).tolist())

    def _take(self, keep: Sequence[int]) -> Trend:
        def of(values: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(values[place] for place in keep)

        return Trend(
            of(self.points),
            of(self.times_ms),
            of(self.rows),
            None if self.files is None else of(self.files),
            None if self.bytes is None else of(self.bytes),
        )
