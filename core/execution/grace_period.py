"""The grace period: how long running writers get to publish a reference before any file is deleted."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.errors import Invalid
from core.messages import message

SETTLE_S = 30.0
MOST_SETTLE_S = 86_400.0
HEED_S = 0.1  # how soon a cancelled wait ends, in seconds


def refuse_settle(settle_s: float) -> None:
    """Raise `Invalid` for a wait outside the allowed range. To be called before references are deleted."""
    if not 0 <= settle_s <= MOST_SETTLE_S:
        raise Invalid(
            "{settle_s} seconds is not a valid time to wait for writers; nothing was changed.",
            settle_s=settle_s,
            remedy=message("Wait from 0 to {most_settle_s:,.0f} seconds.", most_settle_s=MOST_SETTLE_S),
        )


def wait(settle_s: float, cancelled: Callable[[], bool], waits: Callable[[float], None] | None = None) -> None:
    """Wait `settle_s` seconds for writers, or until cancelled. `waits` is called once, before, with the seconds."""
    ends = time.monotonic() + settle_s
    if waits is not None and settle_s:
        waits(settle_s)
    while (left := ends - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left, HEED_S))
