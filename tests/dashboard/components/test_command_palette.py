"""The command palette: what it offers, and where a choice leads. tests/e2e/test_frame.py uses it by keyboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard import words
from tests.support.builders import START_MS, TableBuilder
from tests.support.dashboard.pages import Page


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "lake"
    for title in ("shop/orders", "crm/people"):
        database, name = title.split("/")
        table = TableBuilder(root / f"{database}.db" / name)
        for _ in range(3):
            table.commit([table.file(10)], time_ms=START_MS)
        table.tag("v1")
    return root


def offered(page: Page) -> dict[str, list[Any]]:
    """What the only component with these labels was given: the targets by name of the group."""
    data = [json.loads(each.proto.json) for each in page.test.main.get("bidi_component") if "groups" in each.proto.json]
    assert len(data) == 1
    return {group["name"]: [target for _text, target in group["rows"]] for group in data[0]["groups"]}


def choose(page: Page, kind: str, target: str) -> dict[str, str]:
    page.test.session_state["snapscope.palette.go"] = {"kind": kind, "target": target}
    page.run()
    assert not page.test.exception
    return {name: value if isinstance(value, str) else value[0] for name, value in page.test.query_params.items()}


def test_it_offers_what_can_be_opened_here(open_page: Callable[..., Page], warehouse: Path) -> None:
    found = offered(open_page("asof", warehouse, table="shop.orders"))
    assert found[words.PALETTE_PAGE] == list(words.PAGES)
    assert found[words.TABLE] == ["crm.people", "shop.orders"]
    assert found[words.PALETTE_TAG] == ["tag:v1"]
    assert found[words.PALETTE_VERSION] == ["latest", "earliest", "3", "2", "1"]
    assert set(offered(open_page("doctor", warehouse))) == {words.PALETTE_PAGE, words.TABLE}
    assert set(offered(open_page("overview", None))) == {words.PALETTE_PAGE}
    for broken in (
        open_page("timeline", warehouse, table="shop.gone"),
        open_page("timeline", warehouse / "nowhere"),
        open_page("audit", warehouse, table="shop.orders"),
    ):
        assert words.PALETTE_PAGE in offered(broken), "on every page once, whatever else fails"


def test_a_choice_leads_to_an_address(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("asof", warehouse, table="shop.orders", point="2", tz="Asia/Tokyo")
    base = {"warehouse": str(warehouse), "tz": "Asia/Tokyo"}
    assert choose(page, "version", "tag:v1") == {**base, "table": "shop.orders", "point": "tag:v1"}
    assert "v1" in page.text
    assert choose(page, "table", "crm.people") == {**base, "table": "crm.people"}, "the version is another table's"
    assert "crm. people" in page.text
    assert choose(page, "page", "retention")["table"] == "crm.people"
    assert choose(page, "page", "no such page")["table"] == "crm.people"
    page = open_page("retention", warehouse, table="shop.orders")
    assert choose(page, "version", "latest~1")["point"] == "latest~1"
    assert "Snapshot 2" in page.text, "retention has no version, the timeline has"
