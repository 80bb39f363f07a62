"""How a query is run comes from the URL; what the URL cannot mean is the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.components.query import limits
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Open


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": "10000", "seconds": "300", "engine": "connector"}, (10_000, 300, "connector")),
        ({"limit": "7", "seconds": "x", "engine": "other"}, (1_000, 60, "plain")),
        ({}, (1_000, 60, "plain")),
    ],
)
def test_a_link_says_how_the_query_is_run(
    given: dict[str, str],
    expected: tuple[int, int, str],
    tmp_path: Path,
    open_page: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.permissions.has_connectors", lambda: True)
    table = TableBuilder(tmp_path / "shop.db" / "orders")
    table.commit([table.file(1)])
    page = open_page("query", tmp_path, table="shop.orders", **given)
    assert tuple(page.test.selectbox(key=key).value for key, _, _ in limits.CHOICES.values()) == expected
