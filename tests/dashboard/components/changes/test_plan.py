"""What a plan says on a page, where it is shown whole and where in brief."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import DEMO_MARKER
from dashboard import words
from dashboard.components import grid
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Page

Open = Callable[..., Page]
TITLE = "shop.orders"
WARNING = "The table option tag.callbacks = com.acme.Tell makes the engine do more than create a tag"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    table = TableBuilder(root / "shop.db" / "orders", options={"tag.callbacks": "com.acme.Tell"})
    for _ in range(3):
        table.commit([table.file()])
    table.tag("t2", 2)
    (root / DEMO_MARKER).write_text("")
    return root


def test_a_plan_in_brief_warns_too(open_page: Open, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page("tags", warehouse, table=TITLE)
    assert WARNING not in page.text
    page.test.text_input(key="tags.name").set_value("made")
    assert page.run().text.count(WARNING) == 1
    monkeypatch.setattr("dashboard.components.grid.choose", lambda frame, *_, **__: list(frame["name"]).index("t2"))
    page = open_page("tags", warehouse, table=TITLE)
    before = page.text.count(WARNING)  # the plan of its deletion
    page.test.text_input(key="tags.rename.t2").set_value("renamed")
    assert page.run().text.count(WARNING) == before + 1
    page = open_page("timeline", warehouse, table=TITLE, point="3")
    page.test.session_state["protect.open"] = True
    assert page.run().text.count(WARNING) == 1


def test_a_long_name_of_a_tag_has_room(open_page: Open, warehouse: Path) -> None:
    name = "closing-of-the-third-quarter-for-finance-and-audit"
    shutil.copytree(warehouse / "shop.db" / "orders", warehouse / "shop.db" / "long")
    tags = warehouse / "shop.db" / "long" / "tag"
    (tags / "tag-t2").rename(tags / f"tag-{name}")
    for page, column in (("retention", "point"), ("tags", "name")):
        widths = []
        for table in ("orders", "long"):
            shown = open_page(page, warehouse, table=f"shop.{table}", keep_max="1").test.dataframe[0]
            widths.append(json.loads(shown.proto.columns)[column]["width"])
        assert widths[0] < 150
        assert widths[1] > 6 * len(name)
    assert grid.whole("快照或标签", ["1"])["width"] > 5 * 14, "a Chinese character is twice as wide"
    page = open_page("timeline", warehouse, table=TITLE)
    page.test.session_state["timeline.table"] = True
    columns = json.loads(page.run().test.dataframe[0].proto.columns)
    assert {each for each, found in columns.items() if "width" in found} == {"point", "kind"}


def test_the_comparison_is_named_where_it_is_shown(open_page: Open, warehouse: Path) -> None:
    page = open_page("tags", warehouse, table=TITLE)
    page.test.text_input(key="tags.name").set_value("made")
    assert "CALL sys.create_tag" in page.run().text
    assert words.NATIVE not in page.text
    page = open_page("retention", warehouse, table=TITLE, keep_max="1")
    assert "CALL sys.expire_snapshots" in page.text
    assert f"“{words.NATIVE}”" in page.text
