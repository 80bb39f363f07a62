"""Kill a writer with SIGKILL at a random moment of a commit, then retry the commit."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.execution import kill_commits

CLAIM = (
    "A writer killed by SIGKILL in the middle of a commit leaves no partial snapshot, loses no acknowledged commit, "
    "and commits the interrupted one exactly once when it retries"
)


def prove(seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="snapscope-killed-") as directory:
        return kill_commits.prove(Path(directory), seed)
