"""The pages on tables of a catalog: listed, drawn, planned and changed like those of a warehouse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.execution.apply import apply
from core.model.actions import CreateTag
from core.table import open_table
from dashboard import words
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home

__all__ = ["home"]  # a fixture


@pytest.mark.slow
def test_every_page_of_a_catalogs_table(open_page: Callable, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert "Tables 1" in open_page("overview", "iceberg://lake").text
    for page in ("timeline", "asof", "query", "retention", "tags"):
        shown = open_page(page, "iceberg://lake", table="shop.orders")
        assert not any(title in shown.text for title in words.ERROR_TITLES.values()), (page, shown.text)
    assert "Net " in open_page("diff", "iceberg://lake", table="shop.orders", a="earliest", b="latest").text
    table = open_table(NAME)
    apply(table, table.preview(CreateTag("mine"), 0), settle_s=0)
    assert "mine" in open_page("tags", "iceberg://lake", table="shop.orders").text
    assert "mine" in lake.document()["refs"]
