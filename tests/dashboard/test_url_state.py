"""The URL: names in it stay whole and apart, whatever characters they have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard import url_state
from tests.support.execution import iceberg_ground as ground

NAMES = ["a,b", "a", " v1", "v1 ", "100%", "%2C", "a%2Cb", "\t", "v, w", "é\u3000", "x + y"]


def test_a_list_gives_back_its_names() -> None:
    assert url_state.split(url_state.joined(NAMES)) == NAMES
    for name in NAMES:
        assert url_state.split(url_state.joined([name])) == [name]


def test_plain_names_are_as_they_are_in_the_url() -> None:
    names = ["v1", "month 1", "history + tag:t6", "标签"]
    assert url_state.joined(names) == "v1,month 1,history + tag:t6,标签"
    assert url_state.split("v1, v2,,") == ["v1", "v2"]
    assert url_state.split(None) == []


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """An Iceberg table with tags that are easily taken for each other."""
    root = tmp_path / "lake" / "db" / "t"
    ground.small_table(root)
    old = ground.ids(root)

    def tagged(document: Any) -> None:
        for name, at in (("a,b", 0), ("a", 1), ("b", 2), (" v1", 0), ("v1", 1)):
            document["refs"][name] = {"snapshot-id": old[at], "type": "tag"}

    ground.commit(root, tagged)
    return tmp_path / "lake"


@pytest.mark.parametrize("name", ["a,b", " v1"])
@pytest.mark.parametrize(("box", "mode"), [("drop", {}), ("tags", {"mode": "tags"})])
def test_a_chosen_tag_is_the_one_that_is_planned(
    warehouse: Path, open_page: Callable, name: str, box: str, mode: dict[str, str]
) -> None:
    page = open_page("retention", warehouse, table="db.t", **mode)
    page.test.multiselect(key=f"input.{box}").select(name).run()
    page.check()
    assert page.test.multiselect(key=f"input.{box}").value == [name]
    for other in {"a", "b", "v1"} - {name}:
        assert f"tag:{other} ✕ deleted" not in page.text


def test_a_chosen_version_stays_the_one_that_was_chosen(warehouse: Path, open_page: Callable) -> None:
    page = open_page("asof", warehouse, table="db.t")
    page.test.selectbox(key="pick.point").select("tag: v1").run()
    page.check()
    assert page.test.query_params["point"] == "tag: v1"
    assert page.test.selectbox(key="pick.point").value == "tag: v1"
