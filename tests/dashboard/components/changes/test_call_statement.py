"""CALL on the Query page, tags from a time and automatic tags on the Tags page: first the plan, then the same
button."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import DEMO_MARKER
from core.table import open_table
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.dashboard.pages import Page, newest_job

Open = Callable[..., Page]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC"}
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS, options=options)
    for _ in range(3):
        table.commit([table.file()])
    small = TableBuilder(root / "shop.db" / "small")
    small.commit([small.file(100 + number) for number in range(6)])
    (root / DEMO_MARKER).write_text("")
    return root


def tags(root: Path) -> dict[str, int]:
    found = (root / "shop.db" / "orders" / "tag").glob("tag-*")
    return {path.name[4:]: json.loads(path.read_text())["id"] for path in found}


def press(page: Page, label: str) -> Page:
    next(each for each in page.test.button if each.label == label).click()
    return page.run()


def done() -> None:
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    assert job.error is None, job.error


@pytest.mark.slow
def test_a_call_is_planned_on_the_page_and_run_by_its_button(open_page: Open, warehouse: Path) -> None:
    sql = "CALL sys.create_tag(table => 'shop.orders', tag => 'v1', snapshot => 2)"
    page = open_page("query", warehouse, table="shop.orders", writes=True, sql=sql)
    assert "Creates tag v1 at snapshot 2; reclaims nothing." in page.text
    assert "snapscope call" in page.text
    press(page, "Create tag")
    done()
    assert tags(warehouse) == {"v1": 2}
    page = open_page("query", warehouse, table="shop.orders", sql="CALL sys.purge_files('shop.orders')")
    assert "CALL sys.purge_files is not supported here" in page.text
    page = open_page("query", warehouse, table="shop.orders", sql="CALL sys.compact('shop.orders')")
    assert "Nothing is worth compacting." in page.text
    page = open_page("query", warehouse, table="shop.small", sql="CALL sys.compact('shop.small')")
    assert "Rewrites 6 files" in page.text
    ends = open_table(str(warehouse / "shop.db" / "small")).history().files["path"].to_pylist()
    assert all(path in page.text for path in ends)
    page = open_page("query", warehouse, table="shop.orders", sql="CALL sys.create_tag('shop.other', 'x')")
    assert "The CALL is for table shop.other, which is not at" in page.text


@pytest.mark.slow
def test_tags_that_are_due_are_told_with_the_next_dates_and_made_together(open_page: Open, warehouse: Path) -> None:
    page = open_page("tags", warehouse, table="shop.orders", writes=True, tz="UTC")
    assert "Creates a tag every 1 d, by commit times." in page.text
    assert "Creates tag 2025-12-31 at snapshot" in page.text
    assert "the next commit" in page.text
    assert "the first commit at or after" in page.text
    press(page, "Create due tags")
    done()
    assert tags(warehouse) == {"2025-12-31": 1, "2026-01-01": 2, "2026-01-02": 3}
    page.run()
    assert "No tag is due." in page.text
    assert "snapscope auto-tag" in page.text
    assert "CALL sys.trigger_tag_automatic_creation(table => 'shop.orders')" in page.text


def test_a_tag_from_a_time_says_both_answers_before_it_is_made(open_page: Open, warehouse: Path) -> None:
    page = open_page("tags", warehouse, table="shop.orders", writes=True)
    page.test.text_input(key="tags.name").set_value("then")
    page.test.text_input(key="tags.time").set_value(str(START_MS + 1))
    page.run()
    assert "The tag will point to snapshot 2: the first at or after 2026-01-01 00:00:00.001 UTC." in page.text
    assert "Time travel to that time finds snapshot 1." in page.text
    press(page, "Create tag")
    done()
    assert tags(warehouse) == {"then": 2}


def test_tags_whose_time_is_over_are_told_with_a_plan_to_confirm(open_page: Open, tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "orders")
    table.commit([table.file()])
    table.tag("over", retained_s=60)
    (tmp_path / DEMO_MARKER).write_text("")
    page = open_page("tags", tmp_path, table="shop.orders", writes=True)
    assert "tag:over: its retention ended 2026-01-01 00:01:00" in page.text
    [confirm] = [each for each in page.test.text_input if "confirm." in str(each.key)]
    confirm.set_value(confirm.label.split("**")[1])
    page.run()
    assert not next(each for each in page.test.button if each.label == "Delete them").disabled
