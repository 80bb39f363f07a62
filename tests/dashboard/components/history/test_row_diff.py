"""Row changes on the Diff page: requested, followed, cancelled, shown."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.model.references import Snapshot
from core.model.row_diff import RowChange, RowDiff
from core.spark.session import session
from dashboard import words
from dashboard.components import grid
from dashboard.formatting import language
from dashboard.formatting.palette import palette
from dashboard.view_models import differences
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Page, newest_job
from tests.support.spark.stored import Stored

TITLE = "shop.orders"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders")
    for _ in range(3):
        table.commit([table.file()])
    return tmp_path / "w"


def press(page: Page, label: str) -> Page:
    next(each for each in page.test.button if each.label == label).click()
    return page.run()


def finished(page: Page) -> Page:
    job = newest_job("rows")
    assert job is not None
    assert job.wait(300)
    return page.run()


def found(*changes: RowChange, key: tuple[str, ...] = ("id",), **more: Any) -> RowDiff:
    point: Any = type("Point", (), {"point": "1", "snapshot": Snapshot})
    totals = {"added": 1, "removed": 1, "changed": 1, "unchanged": 7, "truncated": False, **more}
    return RowDiff(
        a=point, b=point, key=key, columns=("id", "v", "bytes"), changes=changes, files_read=1, files_live=3,
        seconds=0.1, engine="Spark", notes=(), **totals,
    )  # fmt: skip


CHANGES = (
    RowChange("changed", {"id": 1}, {"bytes": None}, {"bytes": b"\x01"}, same={"v": 7}),
    RowChange("added", {"id": 2}, {}, {"bytes": b"", "v": dt.date(2026, 1, 2)}),
    RowChange("removed", {"id": 3}, {"bytes": None, "v": float("nan")}, {}),
)


def test_only_changed_cells_are_coloured() -> None:
    shown, meanings, labels = differences.rows(found(*CHANGES))
    assert labels == {"side": "Side", "k0": "id", "c1": "v", "c2": "bytes"}
    assert shown.to_dict("records") == [
        {"side": "± changed", "k0": "1", "c1": "7", "c2": "null → 01"},
        {"side": "+ added", "k0": "2", "c1": "2026-01-02", "c2": ""},
        {"side": "− removed", "k0": "3", "c1": "nan", "c2": "null"},
    ]
    assert meanings.to_dict("records") == [  # of a changed row, the cells that differ alone
        {"side": "", "k0": "", "c1": "", "c2": "changed"},
        {"side": "added", "k0": "added", "c1": "added", "c2": "added"},
        {"side": "removed", "k0": "removed", "c1": "removed", "c2": "removed"},
    ]
    only, coloured, _ = differences.rows(found(*CHANGES), {"removed"})
    assert set(only["side"]) == {words.ROW_SIDES["removed"]}
    assert len(only) == len(coloured) == 1
    unchanged = RowChange("changed", {"id": 1}, {"v": 1}, {"v": 2}, same={"bytes": b""})
    assert list(differences.rows(found(unchanged))[2]) == ["side", "k0", "c1"]
    shown, _, labels = differences.rows(found(RowChange("added", {}, {}, {"v": 5}, times=3), key=()))
    assert shown.to_dict("records") == [{"side": "+ added", "times": "3", "c1": "5"}]
    assert "7 unchanged" in differences.row_stat(found())
    assert "unchanged" not in differences.row_stat(found(unchanged=None))


def test_rows_are_not_said_to_be_the_same_in_columns_that_were_not_compared() -> None:
    assert words.no_row_change(found()) == "A and B have the same rows."
    assert words.no_row_change(found(not_compared=("odd",))) == "A and B have the same rows in the compared columns."


def test_rows_are_counted_in_the_readers_language() -> None:
    with ThreadPoolExecutor(1) as reader:
        reader.submit(language.choose, "zh").result()
        told = reader.submit(differences.row_stat, found(*CHANGES)).result()
        note = reader.submit(words.rows_note, dataclasses.replace(found(), engine=session.ENGINE)).result()
    assert not re.search("[a-z]+ed", re.sub("<[^>]*>", "", told)), told
    assert "普通 Spark（本地）" in note


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_coloured_cells_can_be_read(theme: str) -> None:
    """Their text is at least 4.5 times as light or dark as what is behind it."""
    of = palette(theme)
    assert grid.css(of, "") == ""
    for meaning in ("added", "removed", "changed"):
        found = dict(each.split(": ") for each in grid.css(of, meaning).split("; "))
        red, green, blue, alpha = (float(each) for each in found["background-color"][5:-1].split(","))
        paper = rgb(of.paper)
        behind = [alpha * over + (1 - alpha) * under for over, under in zip((red, green, blue), paper, strict=True)]
        one, other = sorted((light(behind), light(rgb(found.get("color", of.ink)))))
        assert (other + 0.05) / (one + 0.05) >= 4.5


def rgb(colour: str) -> list[float]:
    return [float(int(colour[at : at + 2], 16)) for at in (1, 3, 5)]


def light(colour: list[float]) -> float:
    """The relative luminance of WCAG 2."""
    parts = [each / 255 / 12.92 if each / 255 <= 0.04045 else ((each / 255 + 0.055) / 1.055) ** 2.4 for each in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.slow
def test_a_table_too_large_to_style_is_shown_without_colours(open_page: Callable[..., Page], warehouse: Path,
    monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    wide = tuple(f"c{number}" for number in range(300))
    rows = [RowChange("added", {}, {}, dict.fromkeys(wide, number)) for number in range(1_000)]
    point: Any = type("Point", (), {"point": "1", "snapshot": Snapshot})
    answer = RowDiff(
        a=point, b=point, key=(), columns=wide, changes=tuple(rows), added=1_000, removed=0, changed=0, unchanged=0,
        truncated=False, files_read=1, files_live=1, seconds=0.1, engine="Spark", notes=(),
    )  # fmt: skip
    monkeypatch.setattr("core.spark.diff.rows.row_diff", lambda *_, **__: answer)
    page = finished(press(open_page("diff", warehouse, table=TITLE, a="1", b="3"), words.COMPARE_ROWS))
    assert [len(each.value) for each in page.test.dataframe if len(each.value.columns) > 300] == [1_000]


def test_what_is_below_the_history_stays_in_its_place_when_it_is_known(
    open_page: Callable[..., Page], warehouse: Path
) -> None:
    """Tabs that are drawn in another place are new tabs to the browser, which then opens the first one again."""

    def places(page: Page) -> list[int]:
        return [at for at, each in page.test.main.children.items() if each.type == "tab_container"]

    page = open_page("diff", warehouse, table=TITLE, a="1", b="3")
    first = places(page)
    assert first == places(page.run()) != []


def test_the_open_part_is_in_the_address(open_page: Callable[..., Page], warehouse: Path) -> None:
    for asked, shown in {"commits": words.COMMITS, "nothing": words.BY_PARTITION}.items():
        page = open_page("diff", warehouse, table=TITLE, a="1", b="3", part=asked)
        assert page.test.session_state["input.part"] == shown


@pytest.mark.slow
def test_rows_are_compared_when_asked_for(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def compare(table: Any, history: Any, a: Any, b: Any, **how: Any) -> RowDiff:
        asked.append((a.point, b.point))
        return found(*CHANGES, truncated=True, added=2_000)

    monkeypatch.setattr("core.spark.diff.rows.row_diff", compare)
    page = open_page("diff", warehouse, table=TITLE, a="1", b="3")
    assert words.ROW_CHANGES in [each.label for each in page.test.tabs]
    assert not asked
    page = finished(press(page, words.COMPARE_ROWS))
    assert asked == [("1", "3")]
    assert "2,000 added" in page.text
    assert "read 1 of 3 files" in page.text
    assert words.rows_capped(3) in page.text
    assert "null → 01" in page.text
    assert "--rows" in page.text
    page.test.query_params["b"] = "2"  # a result of other versions is not shown
    assert "2,000 added" not in page.run().text


def test_a_comparison_that_cannot_be_says_why(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> RowDiff:
        raise Unsupported("The column 'v' was changed from DOUBLE to DATE.")

    monkeypatch.setattr("core.spark.diff.rows.row_diff", refuse)
    page = finished(press(open_page("diff", warehouse, table=TITLE, a="1", b="3"), words.COMPARE_ROWS))
    assert "changed from DOUBLE to DATE" in page.text


def test_a_comparison_can_be_cancelled(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, cancelled = threading.Event(), set[str]()  # a job of another test may keep asking to be cancelled

    def wait(*_: Any, **__: Any) -> RowDiff:
        assert go_on.wait(300)
        return found()

    monkeypatch.setattr("core.spark.diff.rows.row_diff", wait)
    monkeypatch.setattr("core.spark.sql.run.cancel", cancelled.add)
    page = press(open_page("diff", warehouse, table=TITLE, a="1", b="3"), words.COMPARE_ROWS)
    page = press(page, words.CANCEL)
    job = newest_job("rows")
    assert job is not None
    assert job.id in cancelled
    go_on.set()
    assert words.COMPARING_CANCELLED in finished(page).text


@pytest.mark.spark
@pytest.mark.slow
def test_real_rows_through_spark(open_page: Callable[..., Page], tmp_path: Path, spark: SparkSession) -> None:
    table = Stored(
        tmp_path / "shop.db" / "orders", [("id", "INT"), ("v", "STRING")], primary_keys=["id"], options={"bucket": "1"}
    )
    table.commit([table.file([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])])
    table.commit([table.file([{"id": 1, "v": "z"}, {"id": 3, "v": "c"}])])
    page = finished(press(open_page("diff", tmp_path, table=TITLE, a="1", b="2"), words.COMPARE_ROWS))
    assert "a → z" in page.text
    assert "1 added" in page.text
    assert "1 changed" in page.text
