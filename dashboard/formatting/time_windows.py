"""Zooms and shifts the visible time range. All times are epoch milliseconds, both ends included."""

from __future__ import annotations

Window = tuple[int, int]
LEAST_MS = 1_000


def closer(shown: Window, around_ms: int | None) -> Window:
    """Zoom in to half the range, around a given time inside it, else around its middle. The result ends where the
    range ends at the latest, unless the range is shorter than the least one."""
    first, last = shown
    middle = around_ms if around_ms is not None and first <= around_ms <= last else (first + last) // 2
    quarter = max((last - first) // 4, LEAST_MS // 2)
    middle = max(min(middle, last - quarter), min(first + quarter, (first + last) // 2))
    return middle - quarter, middle + quarter


def wider(shown: Window, whole: Window) -> Window | None:
    """Zoom out to twice the range; None if everything is already visible."""
    first, last = shown
    half = max((last - first) // 2, LEAST_MS // 2)
    found = max(first - half, whole[0]), min(last + half, whole[1])
    return None if found == whole or found[0] > found[1] else found


def moved(shown: Window, whole: Window, halves: int) -> Window:
    """Shift the range by a number of half ranges, within the limits of the whole."""
    first, last = shown
    by = (last - first) // 2 * halves
    by = min(by, max(whole[1] - last, 0)) if by > 0 else max(by, min(whole[0] - first, 0))
    return first + by, last + by
