"""One step of a benchmark in a process of its own, by the script's own option `--step`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def in_a_process(script: str, step: str, table: Path, cache: Path | None) -> dict[str, Any]:
    """Return what a step prints as JSON in its last line. `cache`: where what was read is kept; None keeps nothing."""
    kept = {"SNAPSCOPE_CACHE_SIZE": "0"} if cache is None else {"SNAPSCOPE_CACHE": str(cache)}
    words = [sys.executable, script, "--step", step, str(table)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **kept}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{step} failed: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
