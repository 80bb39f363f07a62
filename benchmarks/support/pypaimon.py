"""The Python that has pypaimon, in the environment that the tests make for it: its pins clash with ours."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.engines import pypaimon_env
from tests.engines.java import Missing

NONE = "none"


def python(given: str | None) -> str:
    """Return the path that was given, else the tests' own environment, made if needed; `none` if there is none."""
    if given:
        return given
    try:
        return str(pypaimon_env.python())
    except Missing as why:
        print(f"pypaimon left out: {why}")
        return NONE
