"""A recovery goal on the page: proposed, its tags made by one run, then the expiry of the rest planned from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import DEMO_MARKER
from core.execution import apply as applying
from core.model.actions import Expire
from core.table import open_table
from dashboard import words
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import newest_job


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(40):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1] if number % 3 else [])
    (root / DEMO_MARKER).touch()
    return root


def test_a_goal_is_proposed_tagged_and_then_expired(
    warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = applying.apply
    monkeypatch.setattr(applying, "apply", lambda table, plan, **options: own(table, plan, settle_s=0, **options))
    root = warehouse / "shop.db" / "orders"
    address = {"mode": "goal", "monthly": "24", "newest": "4"}
    page = open_page("retention", warehouse, writes=True, table="shop.orders", **address)
    assert "Monthly for 24 months: " in page.text
    assert "2026-01" in page.text, "January has a version"
    assert "CREATE TAG" in page.text or "sys.create_tag" in page.text, "the engine's own statement"
    assert words.GOAL_TAGS_FIRST in page.text, "nothing expires before the tags are there"
    (button,) = (each for each in page.test.button if each.label == words.GOAL_CREATE)
    button.click()
    page.run()
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    assert job.error is None
    assert [path.name for path in root.glob("tag/*")] == ["tag-month-2026-01"]
    ended = page.run()
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    plan = open_table(str(root)).preview(Expire(retain_max=4, retain_min=4), now_ms)
    assert words.GOAL_NO_TAGS in ended.text
    assert plan.headline in ended.text, "the second step is a plan of the table as it is now"
    assert any(each.point == "tag:month-2026-01" and each.keep for each in plan.points)


def test_a_goal_opens_with_the_usual_one_and_names_options_for_writers(warehouse: Path, open_page: Callable) -> None:
    page = open_page("retention", warehouse, table="shop.orders", mode="goal")
    assert "Daily for 30 days; monthly for 12 months" in page.text
    assert "'tag.creation-period' = 'daily'" in page.text
    assert page.test.query_params["daily"] == "30"


def test_a_goal_that_asks_for_nothing_plans_nothing(warehouse: Path, open_page: Callable) -> None:
    text = open_page("retention", warehouse, writes=True, table="shop.orders", mode="goal", daily="30d").text
    assert words.GOAL_TEACH in text
    assert words.GOAL_NO_TAGS not in text
    assert words.GOAL_STEP_EXPIRE not in text


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path, open_page: Callable) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=31 * DAY_MS)
    for number in range(3):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
    table.tag("month-2026-01", 1, retained_s=60)  # its time is over, so it serves no goal
    page = open_page("retention", tmp_path, table="shop.orders", mode="goal", monthly="24", newest="1")
    assert "month-2026-01-2" in page.text


def test_a_goal_counts_on_nothing_that_a_later_run_expires(tmp_path: Path, open_page: Callable) -> None:
    """Where a table expires one snapshot a run, the goal still needs a tag for January."""
    root = tmp_path / "w"
    options = {"snapshot.expire.limit": "1"}
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS, options=options)
    for number in range(40):
        table.commit([table.file(1_000 + number, rows=10)])
    page = open_page("retention", root, table="shop.orders", mode="goal", monthly="24", newest="4")
    assert "CREATE TAG" in page.text or "sys.create_tag" in page.text
    assert "month-2026-01" in page.text
