"""Files that hold different columns of the same rows: which belong together, and whose columns are taken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from core.errors import Corrupt
from core.formats.paimon.scan_details import RowIds
from core.model.references import Field, Schema
from core.spark.read.paimon import data_evolution
from core.storage.store import Store

OLD = Schema(0, (Field(0, "a", "INT"), Field(1, "b", "INT"), Field(2, "c", "INT")), (), (), {}, 0)
NEW = replace(OLD, id=1, fields=(Field(1, "x", "BIGINT"), Field(0, "a", "INT"), Field(3, "d", "INT"), OLD.fields[2]))


def test_files_whose_row_ids_overlap_are_one_group() -> None:
    ids = {
        (b"", 0, "data-1.parquet"): RowIds(0, 10, 1, None),
        (b"", 0, "data-2.parquet"): RowIds(10, 5, 2, None),
        (b"", 0, "data-3.parquet"): RowIds(0, 10, 7, ("a",)),
        (b"", 0, "data-4.blob"): RowIds(0, 4, 1, ("b",)),
        (b"", 0, "data-5.blob"): RowIds(4, 6, 9, ("b",)),
        (b"p", 0, "data-6.parquet"): RowIds(12, 9, 3, None),
    }
    names = [[name for _, _, name in group] for group in data_evolution.groups(ids)]
    assert names == [
        ["data-3.parquet", "data-1.parquet", "data-5.blob", "data-4.blob"], ["data-2.parquet"], ["data-6.parquet"],
    ]  # fmt: skip


Given: TypeAlias = tuple[dict[str, list[Any]], dict[str, Any]]


def joined(tmp_path: Path, *files: Given) -> list[tuple[Any, ...]]:
    described = []
    for number, (columns, more) in enumerate(files):
        path = f"data-{number}.parquet"
        parquet.write_table(pa.table({name: pa.array(v, pa.int32()) for name, v in columns.items()}), tmp_path / path)
        rows = len(next(iter(columns.values())))
        described.append({"path": path, "format": "parquet", "schema_id": 0, "first": 0, "rows": rows,
                          "sequence": -number, "columns": list(columns), "vector": None, **more})  # fmt: skip
    found = data_evolution.joined(Store(str(tmp_path)), NEW, {0: OLD, 1: NEW}, described, ())
    return list(zip(*found.to_pydict().values(), strict=True))


def test_a_column_is_taken_from_the_newest_file_that_has_it(tmp_path: Path) -> None:
    newest: Given = ({"x": [7, 8]}, {"schema_id": 1})
    middle: Given = ({"b": [5, 6], "a": [None, 4]}, {})
    oldest: Given = ({"a": [1, 2], "b": [3, 4]}, {"columns": None})
    assert joined(tmp_path, newest, middle, ({**oldest[0], "c": [9, None]}, oldest[1])) == [
        (7, None, None, 9), (8, 4, None, None),
    ]  # fmt: skip
    assert joined(tmp_path, middle) == [(5, None, None, None), (6, 4, None, None)]


def test_files_of_other_rows_are_damage(tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="rows 0 to 1 were expected"):
        joined(tmp_path, ({"a": [1, 2]}, {}), ({"b": [1, 2, 3]}, {}))
    with pytest.raises(Corrupt, match="2 rows were expected"):
        joined(tmp_path, ({"a": [1, 2, 3]}, {"rows": 2}))
    with pytest.raises(Corrupt, match="No data file"):
        joined(tmp_path, ({"a": [1]}, {"path": "data-0.blob"}))


def test_a_file_without_some_columns_is_not_whole() -> None:
    assert data_evolution.is_whole(None, OLD)
    assert data_evolution.is_whole(("a", "b", "c"), OLD)
    assert not data_evolution.is_whole(("a", "b"), OLD)
    assert data_evolution.is_whole(("a", "b"), replace(OLD, partition_keys=("c",)))
