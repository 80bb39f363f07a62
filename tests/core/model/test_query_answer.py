"""Query results: no column hides another."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from core.model.query_answer import QueryAnswer


def test_a_repeated_column_gets_a_number_that_nobody_has() -> None:
    at: Any = None
    rows = pa.table([pa.array([number]) for number in range(4)], names=["a", "a", "a_2", "b"])
    found = QueryAnswer(rows, False, 0.0, 0, 0, at, None, "plain").named_apart
    assert found.column_names == ["a", "a_2", "a_2_2", "b"]
    assert [column[0].as_py() for column in found.columns] == [0, 1, 2, 3]
