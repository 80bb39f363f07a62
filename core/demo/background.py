"""Builds the demo while a server runs, and prints nothing: its progress, and why it stopped, are in its directory.

python -m core.demo.background DIRECTORY    DIRECTORY was started with `core.demo.progress.begin`
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

from core.demo import progress
from core.errors import SnapscopeError
from core.storage.store import Store

_NICE = 5  # pages come first


def main(directory: str) -> int:
    """Continue the build that was started there; return the exit status."""
    os.nice(_NICE)
    with progress.alone(directory):  # before anything slow is loaded: pages ask whether somebody is at it
        building = progress.begin(directory, time.time_ns() // 1_000_000)
        try:
            from core.demo.build import carry_on

            carry_on(Store(directory), building, lambda _: None)
        except Exception as error:  # noqa: BLE001 - nobody reads what a program in the background prints
            problem = str(error) if isinstance(error, SnapscopeError) else f"{type(error).__name__}: {error}"
            progress.write(directory, replace(progress.read(directory) or building, now="", problem=problem))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
