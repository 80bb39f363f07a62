"""Writers' time: how long whoever is publishing a reference gets to finish, before any file goes."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.errors import Invalid
from core.messages import told

SETTLE_S = 30.0
MOST_SETTLE_S = 86_400.0
HEED_S = 0.1  # how soon a cancelled wait ends


def refuse_settle(settle_s: float) -> None:
    """`Invalid` for a time that cannot be waited: to find out when the references have gone is too late."""
    if not 0 <= settle_s <= MOST_SETTLE_S:
        raise Invalid(
            "{settle_s} seconds is no time to wait for writers; nothing was changed.",
            settle_s=settle_s,
            remedy=told("Wait between 0 and {most_settle_s:,.0f} seconds.", most_settle_s=MOST_SETTLE_S),
        )


def wait(settle_s: float, cancelled: Callable[[], bool], waits: Callable[[float], None] | None = None) -> None:
    """Wait for writers, or until cancelled. `waits` is told once, before, how many seconds that takes."""
    ends = time.monotonic() + settle_s
    if waits is not None and settle_s:
        waits(settle_s)
    while (left := ends - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left, HEED_S))
