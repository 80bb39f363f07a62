"""A dashboard in a separate server process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from core import serve


@contextlib.contextmanager
def served(warehouse: Path, hold: Path) -> Iterator[str]:
    """Start a server on a warehouse and yield its URL. Runs keep waiting for writers while the file `hold` exists."""
    serving = serve.start([str(warehouse)], 0, program=["-m", "tests.e2e.serving", str(hold)])
    try:
        yield serving.address
    finally:
        serving.process.terminate()
        serving.process.wait(300)
