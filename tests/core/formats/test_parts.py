"""Which part a path belongs to, and parts of tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from core.formats.parts import divided, part_of

PATHS = pa.array([f"dt=2026-11-{number % 28}/bucket-{number % 7}/data-{number}.parquet" for number in range(10_000)])


def test_the_part_depends_on_the_path_alone() -> None:
    found = part_of(PATHS, 16)
    again = part_of(PATHS.take(pa.array(np.arange(10_000)[::-1])), 16)[::-1]
    assert found.tolist() == again.tolist()
    assert [part_of(PATHS.slice(number, 1), 16)[0] for number in range(5)] == found[:5].tolist()
    assert part_of(pa.array(["data-1.parquet", "ä"], pa.string()), 1000).tolist() == [732, 998]


def test_parts_have_about_the_same_size() -> None:
    sizes = np.bincount(part_of(PATHS, 16), minlength=16)
    assert sizes.min() > 500
    assert sizes.max() < 750


def test_entries_keep_their_order() -> None:
    rows = pa.table({"row": range(6)})
    found = {part: own["row"].to_pylist() for part, own in divided(rows, np.array([2, 0, 2, 2, 0, 5]))}
    assert found == {0: [1, 4], 2: [0, 2, 3], 5: [5]}
    assert list(divided(rows.slice(0, 0), np.zeros(0, dtype=np.int64))) == []
