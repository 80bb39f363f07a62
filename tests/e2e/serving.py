"""The dashboard as a process, whose writers get as long as a test gives them: until the file HOLD is gone, not 30 s.

python -m tests.e2e.serving HOLD SOCKET, as `core.serve` starts it.
"""

from __future__ import annotations

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
server.main(sys.argv[2:])
