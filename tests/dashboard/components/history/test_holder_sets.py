"""Storage by holder: what deleting ticked sets reclaims, now and later, is what their plans reclaim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.execution.apply import apply
from core.model.actions import DeleteTags, Expire
from core.table import open_table
from dashboard import words
from dashboard.formatting import units
from tests.support.builders import DAY_MS, TableBuilder


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    table = TableBuilder(
        tmp_path / "w" / "shop.db" / "orders", step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"}
    )
    for number in range(14):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
        if number in (1, 5):
            table.tag(f"t{number + 1}")
    return tmp_path / "w"


def table_of(warehouse: Path) -> str:
    return str(warehouse / "shop.db" / "orders")


def test_a_ticked_set_says_what_deleting_it_reclaims_and_leads_to_its_plan(
    warehouse: Path, open_page: Callable
) -> None:
    """Now by a plan of the same tags; after the policy by that plan on a table on which it has run."""
    page = open_page("retention", warehouse, table="shop.orders", mode="storage", sets="tag:t2,history + tag:t6")
    table = open_table(table_of(warehouse))
    assert words.deleting_names(["tag:t2", "older snapshots", "tag:t6"]) in page.text
    page = open_page("retention", warehouse, table="shop.orders", mode="storage", sets="tag:t2")
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    plan = table.preview(DeleteTags(("t2",)), now_ms)
    assert f"{words.SETS_NOW} {units.size(plan.freed_bytes)} {units.plural(len(plan.frees), 'file')}" in page.text
    (link,) = (each for each in page.test.get("page_link") if each.proto.label == words.PLAN_THIS)
    assert "tags=t2" in link.proto.query_string
    address = {"branch": "dev", "ended": "1", "tags_older": "30 d", "rules": "oldest", "older": "1 h"}
    page = open_page("retention", warehouse, table="shop.orders", mode="storage", sets="tag:t2", **address)
    (link,) = (each for each in page.test.get("page_link") if each.proto.label == words.PLAN_THIS)
    assert not any(name in link.proto.query_string for name in address), "the plan is of the ticked names alone"
    apply(table, table.preview(Expire(), now_ms), settle_s=0)
    later = table.preview(DeleteTags(("t2",)), now_ms)
    assert f"{words.SETS_LATER} {units.size(later.freed_bytes)} {units.plural(len(later.frees), 'file')}" in page.text
