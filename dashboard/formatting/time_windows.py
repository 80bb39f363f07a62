"""Zooming and moving the visible stretch of time. All in epoch milliseconds, both ends included."""

from __future__ import annotations

Window = tuple[int, int]
LEAST_MS = 1_000


def closer(shown: Window, around_ms: int | None) -> Window:
    """Half of what is shown, round a moment that lies in it, else round its middle."""
    first, last = shown
    middle = around_ms if around_ms is not None and first <= around_ms <= last else (first + last) // 2
    quarter = max((last - first) // 4, LEAST_MS // 2)
    return middle - quarter, middle + quarter


def wider(shown: Window, whole: Window) -> Window | None:
    """Twice of what is shown; None where that is all there is."""
    first, last = shown
    half = max((last - first) // 2, LEAST_MS // 2)
    found = max(first - half, whole[0]), min(last + half, whole[1])
    return None if found == whole or found[0] > found[1] else found


def moved(shown: Window, whole: Window, halves: int) -> Window:
    """As long as what is shown, so many halves of it later; never past the ends of what there is."""
    first, last = shown
    by = (last - first) // 2 * halves
    by = min(by, max(whole[1] - last, 0)) if by > 0 else max(by, min(whole[0] - first, 0))
    return first + by, last + by
