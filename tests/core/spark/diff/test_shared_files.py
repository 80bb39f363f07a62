"""A file is passed over only if its rows are read alike at both versions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from core.model.row_diff import RowDiff
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.table import Table, resolve
from tests.support.spark.stored import Stored

pytestmark = pytest.mark.usefixtures("spark")

NARROWED = [
    ("BIGINT", "INT", (2**32 + 5, 7)),
    ("VARCHAR(10)", "VARCHAR(2)", ("abcdef", "ab")),
    ("TIMESTAMP(6)", "TIMESTAMP(3)", (dt.datetime(2026, 1, 1, 0, 0, 0, 123456), dt.datetime(2026, 1, 1))),
    ("DECIMAL(10, 2)", "DECIMAL(8, 0)", (Decimal("12.50"), Decimal("12.00"))),
    ("DOUBLE", "FLOAT", (0.1, 0.5)),
]


def diff(table: Table, a: int, b: int) -> RowDiff:
    history = table.history()
    first, second = (resolve(history.heads, str(point)) for point in (a, b))
    return row_diff(table, history, first, second)


def retyped(root: Path, was: Any, now: Any, values: tuple[Any, Any], keys: list[str]) -> Stored:
    """Rows 1 and 2 of type `was` in one file, which version 2 shows as `now`."""
    made = Stored(root, [("id", "INT"), ("v", was)], primary_keys=keys, options={"bucket": "1"} if keys else {})
    made.commit([made.file([{"id": id, "v": value} for id, value in enumerate(values, 1)])])
    made.schema([(0, ("id", "INT")), (1, ("v", now))])
    made.commit([])
    made.tag("v1", 1)
    return made


@pytest.mark.parametrize("keys", [[], ["id"]])
@pytest.mark.parametrize(("was", "now", "values"), NARROWED)
def test_rows_that_a_narrower_type_shows_differently_are_changed(
    tmp_path: Path, was: str, now: str, values: tuple[Any, Any], keys: list[str]
) -> None:
    table = retyped(tmp_path / "t", was, now, values, keys).opened()
    shown = [query(table, "select v from t where id = 1", at=at).table["v"][0].as_py() for at in ("1", "2")]
    assert shown[0] == values[0] != shown[1]
    for a, b in ((1, 2), (2, 1)):
        found = diff(table, a, b)
        assert (found.added, found.removed, found.changed) == ((0, 0, 1) if keys else (1, 1, 0))
        assert (found.unchanged, found.files_read) == (1, 1)
        old = [each.before["v"] for each in found.changes if each.before]
        new = [each.after["v"] for each in found.changes if each.after]
        assert (old, new) == ([shown[a - 1]], [shown[b - 1]])
    sql = "select _rowkind, v from t_changes where id = 1"
    changes = sorted(tuple(row.values()) for row in query(table, sql, since="tag:v1").table.to_pylist())
    kinds = ("+U", "-U") if keys else ("+I", "-D")
    assert changes == [(kinds[0], shown[1]), (kinds[1], shown[0])]


def test_a_file_whose_values_both_types_hold_is_passed_over(tmp_path: Path) -> None:
    made = retyped(tmp_path / "t", "INT", "BIGINT", (1, 2), [])
    made.schema([(0, ("id", "INT")), (1, ("v", "SMALLINT"))])
    made.commit([])
    table = made.opened()
    assert (diff(table, 1, 2).files_read, diff(table, 1, 2).unchanged) == (0, 2)
    assert (diff(table, 1, 3).files_read, diff(table, 1, 3).unchanged) == (1, 2)


def test_types_inside_of_rows_count_as_well(tmp_path: Path) -> None:
    def inside(of: str) -> dict[str, Any]:
        return {"type": "ROW", "fields": [{"id": 20, "name": "p", "type": of}]}

    made = retyped(tmp_path / "t", inside("INT"), inside("BIGINT"), ({"p": 1}, {"p": 2}), [])
    made.schema([(0, ("id", "INT")), (1, ("v", inside("SMALLINT")))])
    made.commit([])
    table = made.opened()
    assert (diff(table, 1, 2).files_read, diff(table, 1, 2).unchanged) == (0, 2)
    assert diff(table, 1, 3).not_compared == ("v",)


def test_a_column_that_is_not_compared_can_decide_which_row_is_left(tmp_path: Path) -> None:
    columns: list[tuple[str, Any]] = [("id", "INT"), ("v", "STRING"), ("seq", "FLOAT")]
    options = {"bucket": "1", "sequence.field": "seq"}
    made = Stored(tmp_path / "t", columns, primary_keys=["id"], options=options)
    made.commit([made.file([{"id": 1, "v": str(seq), "seq": seq}]) for seq in (1.5, 1.25)])
    made.schema([(0, columns[0]), (1, columns[1]), (2, ("seq", "INT"))])
    made.commit([])
    table = made.opened()
    shown = [query(table, "select v from t", at=at).table["v"].to_pylist() for at in ("1", "2")]
    assert shown == [["1.5"], ["1.25"]]
    found = diff(table, 1, 2)
    assert (found.changed, found.not_compared) == (1, ("seq",))
