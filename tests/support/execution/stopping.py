"""The command line as a process that stops itself (SIGSTOP) at an exact moment, so that other processes can act.

    python -m tests.support.execution.stopping settling expire TABLE …      instead of waiting for writers
    python -m tests.support.execution.stopping 7 expire TABLE …             just before it deletes the seventh file

Files are deleted one at a time in small batches, so that the order is fixed and the next batch comes soon.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys

from core import cli
from core.execution import delete_files, grace_period
from core.storage.store import Store
from tests.support.execution import ground

BATCH = 5


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_while_settling() -> None:
    grace_period.wait = lambda *_: stop()


def stop_before(number: int) -> None:
    """Stop before the n-th file is deleted, counted from 1 and without references."""
    delete, count = Store.delete, itertools.count(1)

    def stopping(self: Store, relative: str, was: bytes | None = None) -> bool:
        if relative.split("/", 1)[0] not in ground.OWN and next(count) == number:
            stop()
        return delete(self, relative, was)

    Store.delete = stopping  # type: ignore[method-assign]


if __name__ == "__main__":
    moment, *words = sys.argv[1:]
    delete_files.BATCH, delete_files.DELETERS = BATCH, 1
    if moment == "settling":
        stop_while_settling()
    else:
        stop_before(int(moment))
    sys.exit(cli.main(words))
