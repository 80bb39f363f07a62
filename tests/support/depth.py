"""How deep a run goes. The examples of property tests are always the same; `SNAPSCOPE_DEEP=50` tries fifty times as
many and new ones in every run, `SNAPSCOPE_DEEP=0.2` (`make check`) a fifth of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

FACTOR = float(os.environ.get("SNAPSCOPE_DEEP", "1"))


def tries(examples: int) -> settings:
    """Return the settings of a property test."""
    return settings(max_examples=max(1, round(examples * FACTOR)), derandomize=FACTOR <= 1, database=None)


def first_fast(cases: Iterable[Any]) -> list[Any]:
    """Let `make check` run the first case and `make test` all of them."""
    first, *others = cases
    return [first, *(pytest.param(each, marks=pytest.mark.slow) for each in others)]
