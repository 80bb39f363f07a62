"""The order of rows by several columns of integers."""

from __future__ import annotations

import numpy as np
import pytest

from core.spark.merge.columns import order_by

_EXTREME = [np.iinfo(np.int64).min, -1, 0, 1, np.iinfo(np.int64).max]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_it_is_that_of_numpy(seed: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    columns = [
        chance.integers(0, 4, count),
        chance.integers(-3, 3, count, dtype=np.int8),
        chance.random(count) < 0.5,
        chance.choice(np.array(_EXTREME), count),
        chance.integers(_EXTREME[0], _EXTREME[-1], count),
    ]
    for number in range(1, 6):
        by = [columns[each] for each in chance.permutation(5)[:number]]
        assert order_by(*by).tolist() == np.lexsort(tuple(reversed(by))).tolist()
