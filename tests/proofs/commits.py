"""Kill a writer with SIGKILL at a random moment of a commit, then retry the commit."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.execution import kill_commits

CLAIM = (
    "Killed by SIGKILL in the middle of a commit, a writer leaves no half snapshot, loses no commit that was answered, "
    "and lands the one that was cut off once, when it tries again"
)


def prove(seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="snapscope-killed-") as directory:
        return kill_commits.prove(Path(directory), seed)
