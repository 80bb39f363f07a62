"""Objects and what holds them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from core.formats.held_objects import HeldObjects
from core.model.intervals import from_pairs
from core.model.references import ObjectKind


def test_some_of_the_objects_keep_their_positions() -> None:
    runs = from_pairs(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 3]), 3, 4)
    every = HeldObjects.of(pa.array(["a", "b", "c"]), ObjectKind.MANIFEST, pa.array([1, 2, None], pa.int64()), runs)
    some = every.only(np.array([False, True, True]))
    assert some.paths.to_pylist() == ["b", "c"]
    assert some.kinds.to_pylist() == ["manifest", "manifest"]
    assert some.bytes.to_pylist() == [2, None]
    assert [some.runs.positions_of(number).tolist() for number in range(2)] == [
        [True, True, False, False],
        [False, False, False, True],
    ]
