"""One statement's answers at two versions: which rows belong together, which cells differ, and what stays unknown."""

from __future__ import annotations

import decimal
from typing import Any

import pyarrow as pa
import pytest

from core.model.query_answer import QueryAnswer
from dashboard import words
from dashboard.view_models import compared_answers
from dashboard.view_models.compared_answers import POSITION, Comparison

PLAIN = "SELECT * FROM t"


def answer(rows: dict[str, list[Any]], *, truncated: bool = False) -> QueryAnswer:
    nothing: Any = None
    return QueryAnswer(pa.table(rows), truncated, 0.1, 1, 1, nothing, None, "")


def kinds(of: Comparison) -> list[str]:
    return [each.kind for each in of.rows]


def test_rows_match_by_the_key_wherever_it_stands_and_cells_differ() -> None:
    before = answer({"status": ["new", "new", "paid"], "id": [1, 2, 3], "gone": ["x", "x", "x"]})
    after = answer({"status": ["new", "paid", "new"], "id": [1, 2, 4], "n": [7, 7, 7]})
    found = compared_answers.compare(PLAIN, before, after, ["id"])
    assert found.by == ("id",)
    assert kinds(found) == ["same", "changed", "added", "removed"]
    listed, hues, labels = compared_answers.frame(found, ("11", "tag:b"), differing=True)
    assert list(labels.values()) == [
        words.COLUMN["side"], "status @ 11", "status @ tag:b", "id", "n @ tag:b", "gone @ 11",
    ]  # fmt: skip
    assert listed.to_numpy().tolist() == [
        [words.ANSWER_SIDES["changed"], "new", "paid", "2", "7", "x"],
        [words.ANSWER_SIDES["added"], "", "new", "4", "7", ""],
        [words.ANSWER_SIDES["removed"], "paid", "", "3", "", "x"],
    ]
    assert hues.to_numpy().tolist() == [
        ["changed", "changed", "changed", "", "", ""],
        ["added", "", "added", "added", "added", ""],
        ["removed", "removed", "", "removed", "", "removed"],
    ]
    assert compared_answers.numbers(found, after, labels) == {"v1", "b2"}


@pytest.mark.parametrize(
    ("before", "after", "by", "expected"),
    [
        # groups: the first columns that tell the rows apart; money is no key
        (
            {"paid": [decimal.Decimal(1), decimal.Decimal(2)], "dt": ["a", "a"], "who": ["x", "y"]},
            {"paid": [decimal.Decimal(1), decimal.Decimal(3)], "dt": ["a", "a"], "who": ["x", "y"]},
            ("dt", "who"),
            ["same", "changed"],
        ),
        # a single row each, as of count(*)
        ({"n": [1]}, {"n": [2]}, POSITION, ["changed"]),
        ({"n": [float("nan")]}, {"n": [float("nan")]}, POSITION, ["same"]),
        # repeated rows: as often as both have them
        ({"a": [1, 1, 2]}, {"a": [1, 1, 1]}, (), ["same", "same", "added", "removed"]),
        ({"a": [[1], None, None]}, {"a": [[1], None, None]}, (), ["same"] * 3),
        ({"a": []}, {"a": []}, ("a",), []),
        # a number is the number it was, whatever type it has by now
        ({"k": ["a", "b"], "n": [1, 2]}, {"k": ["a", "b"], "n": [1.0, 2.5]}, ("k",), ["same", "changed"]),
    ],
)
def test_which_columns_match_rows(
    before: dict[str, list[Any]], after: dict[str, list[Any]], by: tuple[str, ...], expected: list[str]
) -> None:
    found = compared_answers.compare(PLAIN, answer(before), answer(after), [])
    assert (found.by, kinds(found)) == (by, expected)


@pytest.mark.parametrize(
    ("statement", "cut", "expected"),
    [
        (PLAIN, False, ["added", "removed"]),
        (PLAIN, True, ["added", "unknown"]),  # what the longer answer has may be in the rest of the other
        (f"{PLAIN} ORDER BY 1 LIMIT 3 ;", False, ["added", "removed"]),
        (f"{PLAIN} limit 2", False, ["unknown", "unknown"]),
        ("SELECT * FROM (SELECT * FROM t LIMIT 9) LIMIT 100", False, ["unknown", "unknown"]),
    ],
)
def test_what_an_answer_that_is_cut_off_lacks_is_unknown(statement: str, cut: bool, expected: list[str]) -> None:
    before, after = answer({"id": [1, 2]}), answer({"id": [1, 3]}, truncated=cut)
    found = compared_answers.compare(statement, before, after, ["id"])
    assert kinds(found) == ["same", *expected]
    _, hues, _ = compared_answers.frame(found, ("1", "2"), differing=True)
    assert [any(row) for row in hues.to_numpy().tolist()] == [kind != "unknown" for kind in expected]
