"""A dashboard as a server of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from core import serve


@contextlib.contextmanager
def served(warehouse: Path, hold: Path) -> Iterator[str]:
    """The address of a server that opens that warehouse; its writers get time until there is no file `hold`."""
    serving = serve.start([str(warehouse)], 0, program=["-m", "tests.e2e.serving", str(hold)])
    try:
        yield serving.address
    finally:
        serving.process.terminate()
        serving.process.wait(300)
