"""How deep a run goes.

The examples of property tests are always the same, and long tests take a sample of their cases. `SNAPSCOPE_DEEP=50`
tries fifty times as many examples, new ones in every run, and all cases; `SNAPSCOPE_DEEP=0.2` (`make check`) a fifth of
the examples, and three cases of each test that has more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pytest
from hypothesis import settings

FACTOR = float(os.environ.get("SNAPSCOPE_DEEP", "1"))
IS_DEEP = FACTOR > 1
IS_SHALLOW = FACTOR < 1

T = TypeVar("T")


def tries(examples: int) -> settings:
    """Return the settings of a property test."""
    return settings(max_examples=max(1, round(examples * FACTOR)), derandomize=not IS_DEEP, database=None)


def first_fast(cases: Iterable[Any]) -> list[Any]:
    """Let `make check` run the first case and `make test` all of them."""
    first, *others = cases
    return [first, *(pytest.param(each, marks=pytest.mark.slow) for each in others)]


def sample(cases: Iterable[T], most: int) -> list[T]:
    """Return `most` of the cases, evenly spread from the first to the last; in a deep run all of them."""
    every = list(cases)
    assert most > 0
    if IS_DEEP or len(every) <= most:
        return every
    return [every[number * (len(every) - 1) // max(1, most - 1)] for number in range(most)]


def moments() -> Iterator[int]:
    """Yield the numbers of the effects before which a run is to fail: the first seven and then every third; in a deep
    run all. Raises AssertionError where no run has so many."""
    at = 0
    while at < 1_000:
        yield at
        at += 1 if IS_DEEP or at < 6 else 3
    raise AssertionError("no end was reached")
