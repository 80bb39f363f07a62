"""The number of examples for property tests: by default few and always the same, with `SNAPSCOPE_DEEP=50` fifty times
as many and new ones in every run."""

from __future__ import annotations

import os

from hypothesis import settings

FACTOR = int(os.environ.get("SNAPSCOPE_DEEP", "1"))


def tries(examples: int) -> settings:
    """Return the settings of a property test."""
    return settings(max_examples=examples * FACTOR, derandomize=FACTOR == 1, database=None)
