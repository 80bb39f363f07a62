"""Shared comparisons for the recorded engine runs of both formats."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def digest(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }
