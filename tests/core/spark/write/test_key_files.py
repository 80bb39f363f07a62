"""Files of primary-key tables: which columns have a dictionary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from core.formats.paimon.write import publish
from core.model.references import Schema
from core.spark.merge.rows import KIND, SEQUENCE
from core.spark.write import key_files, upsert
from core.storage.store import Store

_ROWS = 30_000


def _schema(place: Path, *more: tuple[str, str]) -> Schema:
    columns = [("id", "BIGINT NOT NULL"), ("few", "STRING"), ("many", "INT"), *more]
    upsert.create_table(str(place), columns, primary_keys=["id"], options={"bucket": "1"}, time_ms=1)
    return publish.read_head(Store(str(place)), "main").schema


def _written(place: Path, schema: Schema, rows: pa.Table) -> dict[str, bool]:
    files = key_files.Files(schema, str(place / "files"), b"", 0, 1)
    files.add(rows)
    (file,) = files.close()
    with parquet.ParquetFile(file["staged_at"]) as found:
        chunks = [found.metadata.row_group(0).column(number) for number in range(found.metadata.num_columns)]
        read = found.read()
    for name in rows.column_names:
        assert read[name].to_pylist() == rows[name].to_pylist()
    return {chunk.path_in_schema: chunk.has_dictionary_page for chunk in chunks}


def _rows() -> pa.Table:
    chance = np.random.default_rng(5)
    every = np.arange(_ROWS, dtype=np.int64)
    return pa.table({
        SEQUENCE: every + 7, KIND: np.zeros(_ROWS, dtype=np.int8), "id": every * 3,
        "few": pa.array(["one", "two", None]).take(pa.array(chance.integers(0, 3, _ROWS))),
        "many": pa.array(chance.permutation(_ROWS).astype(np.int32), mask=chance.random(_ROWS) < 0.01),
    })  # fmt: skip


def test_values_that_differ_have_no_dictionary(tmp_path: Path) -> None:
    found = _written(tmp_path, _schema(tmp_path / "t"), _rows())
    assert {name for name, has in found.items() if has} == {KIND, "few"}


def test_nested_columns_are_left_to_the_writer(tmp_path: Path) -> None:
    rows = _rows().append_column("inner", pa.array([[1, None]] * _ROWS, pa.list_(pa.int32())))
    assert all(_written(tmp_path, _schema(tmp_path / "t", ("inner", "ARRAY<INT>")), rows).values())
