"""A demo whose tables hold next to nothing: how they come needs no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.demo import build, stories
from core.storage.store import Store
from tests.support.builders import TableBuilder

TOLD: dict[str, dict[str, Any]] = {
    "sales.orders": stories.kept("in cents", wednesday="w", tuesday="t", bad=1, fix=2),
    "events.clicks": stories.kept("twice", day="d", first=1, again=2),
    "crm.customers": stories.kept("dropped", region="r", lost=2, before=1, tag="t"),
    "sales.orders_iceberg": stories.kept("rolled back", during="d", old="o", days=1),
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were made, each of one commit: no Spark is needed to see them come."""
    made: list[str] = []

    def table(title: str) -> Any:
        def make(*given: Any) -> dict[str, Any]:
            store = next(each for each in given if isinstance(each, Store))
            builder = TableBuilder(Path(store.root))
            builder.commit([builder.file(10)])
            made.append(title)
            return TOLD[title]

        return make

    monkeypatch.setattr(build, "_quick_spark", lambda: None)
    monkeypatch.setattr(build, "_customers", table("crm.customers"))
    monkeypatch.setattr(build, "_clicks", table("events.clicks"))
    monkeypatch.setattr(build, "_orders", table("sales.orders"))
    monkeypatch.setattr("core.demo.iceberg_twin.build", table("sales.orders_iceberg"))
    monkeypatch.setattr(build, "_expire", lambda *_: None)
    return made
