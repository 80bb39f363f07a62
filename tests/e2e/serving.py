"""The dashboard as a process, whose writers get as long as a test gives them: until the file HOLD is gone, not 30 s.

python -m tests.e2e.serving HOLD SOCKET, as `core.serve` starts it. With $SNAPSCOPE_TEST_NOW_MS, time stands
still there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core.execution import grace_period
from dashboard import server

HOLD = Path(sys.argv[1])


def wait(settle_s: float, cancelled: Callable[[], bool], waits: Callable[[float], None] | None = None) -> None:
    if waits is not None:
        waits(settle_s)
    while HOLD.exists() and not cancelled():
        time.sleep(grace_period.HEED_S)


grace_period.wait = wait
if "SNAPSCOPE_TEST_NOW_MS" in os.environ:
    NOW_NS = int(os.environ["SNAPSCOPE_TEST_NOW_MS"]) * 1_000_000
    time.time_ns = lambda: NOW_NS
server.main(sys.argv[2:])
