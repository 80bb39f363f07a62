"""Contents of parts in rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from core.spark.metadata.part_rows import Kind, PartContents, by_part, row_of, written

ROWS = pa.table({"path": ["a", "b"]})


def test_contents_are_read_as_they_were_written() -> None:
    batches = [row_of(1, Kind.PATHS, written(ROWS)), row_of(2, Kind.MARK, b"m"), row_of(1, Kind.PATHS, written(ROWS))]
    found = by_part(batches)
    assert found.keys() == {1, 2}
    assert PartContents(found[1]).paths().to_pylist() == ["a", "b", "a", "b"]
    assert PartContents(found[2]).paths().to_pylist() == []
    assert PartContents(found[2]).one(Kind.MARK) == b"m"


def test_a_content_that_is_there_twice_is_not_one() -> None:
    with pytest.raises(ValueError, match="too many"):
        PartContents([(Kind.MARK, b"m"), (Kind.MARK, b"m")]).one(Kind.MARK)
