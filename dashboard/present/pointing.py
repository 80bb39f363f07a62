"""What a reader typed, as a POINT of the core's grammar."""

from __future__ import annotations

import re

from dashboard.present import units

_BARE = re.compile(r"\d{1,19}|latest(~\d+)?|earliest")
_EPOCH_MS = re.compile(r"1\d{12}")  # 2001 to 2033: nobody has that many snapshots
_KINDS = ("tag:", "branch:", "time:", "watermark:", "changelog:")


def read(text: str, zone: str = units.UTC) -> str:
    """A POINT. A bare time gets `time:` and its zone; everything else is left for the core to judge."""
    text = text.strip()
    if _EPOCH_MS.fullmatch(text):
        return f"time:{text}"
    if _BARE.fullmatch(text) or text.startswith(_KINDS[:2]):
        return text
    if text.startswith("time:"):
        ms = units.parse_time(text[len("time:") :], zone)
        return text if ms is None else f"time:{units.iso(ms)}"
    ms = units.parse_time(text, zone)
    return text if ms is None else f"time:{units.iso(ms)}"


def next_pair(a: str | None, b: str | None, clicked: str) -> tuple[str, str | None]:
    """A and B after a click: the first click is A, the second B, a third begins anew."""
    return (clicked, None) if a is None or b is not None else (a, clicked)


def was_read_as(text: str, point: str) -> bool:
    """Is the point another text than the one typed?"""
    return text.strip() != point
