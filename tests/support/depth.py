"""How many examples a property is tried on: few and always the same ones, or with `SNAPSCOPE_DEEP=50` fifty times as
many and new ones in every run."""

from __future__ import annotations

import os

from hypothesis import settings

FACTOR = int(os.environ.get("SNAPSCOPE_DEEP", "1"))


def tries(examples: int) -> settings:
    """The settings of one property."""
    return settings(max_examples=examples * FACTOR, derandomize=FACTOR == 1, database=None)
