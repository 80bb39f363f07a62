"""Files by folder: totals are exact at every level, and rectangles fill the frame in proportion."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.file_tree import below, capped, level, squarified, steps

KEYS = st.sampled_from(["", "dt=1", "dt=1/h=2", "dt=1/h=3", "dt=11", "dt=2/h=2"])
FILES = st.lists(st.tuples(KEYS, st.none() | st.integers(-2, 2), st.integers(0, 99), st.integers(0, 9)), max_size=30)


def table(rows: list[tuple[str, int | None, int, int]]) -> pa.Table:
    partition, bucket, size, count = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pa.table(
        {
            "path": pa.array([f"x/f{number}" for number in range(len(rows))], pa.string()),
            "partition": pa.array(partition, pa.string()),
            "bucket": pa.array(bucket, pa.int32()),
            "bytes": pa.array(size, pa.int64()),
            "rows": pa.array(count, pa.int64()),
        }
    )


@given(FILES)
def test_levels_add_up(rows: list[tuple[str, int | None, int, int]]) -> None:
    rows = [each if each[1] is not None else (each[0], 0, *each[2:]) for each in rows]
    files = table(rows)

    def check(folder: str, depth: int) -> tuple[int, int, int]:
        inside = below(files, folder)
        found = level(files, folder).to_pylist()
        sums = tuple(sum(each[name] for each in found) for name in ("files", "bytes", "rows"))
        assert sums == (len(inside), *(sum(inside[name].to_pylist()) for name in ("bytes", "rows")))
        assert depth < 6
        for each in found:
            if not each["is_file"]:
                assert check(each["folder"], depth + 1) == (each["files"], each["bytes"], each["rows"])
        return sums

    assert check("", 0)[0] == len(rows)


def test_names_that_begin_alike_are_not_mixed() -> None:
    files = table([("dt=1", None, 5, 1), ("dt=11", None, 7, 1)])
    assert [each["folder"] for each in level(files, "").to_pylist()] == ["dt=11", "dt=1"]
    assert below(files, "dt=1")["bytes"].to_pylist() == [5]
    assert len(below(files, "dt=3")) == 0
    first, rest = capped(level(files, ""), 1)
    assert (len(first), rest["bytes"].to_pylist()) == (0, [7, 5])
    assert steps("dt=1/bucket-0") == [("dt=1", "dt=1"), ("bucket-0", "dt=1/bucket-0")]


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60))
def test_rectangles_fill_the_frame(sizes: list[int]) -> None:
    sizes = sorted(sizes, reverse=True)
    boxes = squarified(sizes, 300, 100)
    total = sum(sizes)
    for size, box in zip(sizes, boxes, strict=True):
        assert box.width * box.height == pytest.approx(size / total * 30_000)
        assert -1e-6 <= box.x <= box.x + box.width <= 300 + 1e-6
        assert -1e-6 <= box.y <= box.y + box.height <= 100 + 1e-6
