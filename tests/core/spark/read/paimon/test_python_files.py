"""Files decoded in Python: ORC times that Arrow does not read."""

from __future__ import annotations

import datetime as dt
import io

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from core.errors import Corrupt, Unsupported
from core.formats.paimon.types import parse
from core.spark.read.paimon import python_files

FAR = dt.datetime(9999, 12, 31, 23, 59, 59)


def stored(**columns: pa.Array) -> bytes:
    out = io.BytesIO()
    orc.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


def decoded(content: bytes, *names: str) -> list[dict[str, object]]:
    table, rows = python_files.decode(content, "orc", [(name, parse("INT")) for name in names], "f.orc")
    assert rows == 2
    return table.to_pylist() if names else []


def test_times_far_away_and_the_columns_beside_them() -> None:
    ids, far = pa.array([1, 2], pa.int32()), pa.array([FAR, dt.datetime(2026, 1, 1)], pa.timestamp("us"))
    content = stored(id=ids, t=far)
    assert decoded(content, "t", "id") == [{"t": FAR, "id": 1}, {"t": dt.datetime(2026, 1, 1), "id": 2}]
    assert decoded(content, "id") == [{"id": 1}, {"id": 2}]
    assert decoded(content) == []


def test_times_far_away_inside_others_are_no_damage() -> None:
    inside = pa.array([{"t": FAR}, None], pa.struct({"t": pa.timestamp("us")}))
    content = stored(id=pa.array([1, 2], pa.int32()), r=inside)
    assert decoded(content, "id") == [{"id": 1}, {"id": 2}]
    with pytest.raises(Unsupported, match="outside of the years 1677 to 2262"):
        decoded(content, "id", "r")
    with pytest.raises(Corrupt):
        decoded(content[: len(content) // 2], "id")
