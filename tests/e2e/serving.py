"""The dashboard as a process, whose writers get as long as a test gives them: until the file HOLD is gone, not 30 s.

python -m tests.e2e.serving HOLD run dashboard/app.py …
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from streamlit.web import cli

from core import settle

HOLD = Path(sys.argv.pop(1))


def wait(settle_s: float, cancelled: Callable[[], bool], waits: Callable[[float], None] | None = None) -> None:
    if waits is not None:
        waits(settle_s)
    while HOLD.exists() and not cancelled():
        time.sleep(settle.HEED_S)


settle.wait = wait
cli.main(prog_name="streamlit")
