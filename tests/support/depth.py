"""The number of examples for property tests: always the same ones, with `SNAPSCOPE_DEEP=50` fifty times as many and new
ones in every run, with `SNAPSCOPE_DEEP=0.2` (`make check`) a fifth of them."""

from __future__ import annotations

import os

from hypothesis import settings

FACTOR = float(os.environ.get("SNAPSCOPE_DEEP", "1"))


def tries(examples: int) -> settings:
    """Return the settings of a property test."""
    return settings(max_examples=max(1, round(examples * FACTOR)), derandomize=FACTOR <= 1, database=None)
