"""Retention in a real browser: the curve is a slider, holders can be ticked, the button stays in sight."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dashboard import words
from tests.support.e2e.reader import Reader
from tests.support.execution import iceberg_ground as ground


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (900, "dark")])
def test_one_screen(reader: Callable[..., Reader], width: int, theme: str) -> None:
    me = reader(width, theme).open("retention?table=sales.orders")
    columns = me.page.locator(".st-key-retention_split .js-plotly-plot .barlayer .point")
    box = columns.nth(4).bounding_box()
    assert box is not None
    me.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(me.page).to_have_url(re.compile("keep_max=5&keep_min=5"))
    me.settled()
    expect(me.page.get_by_role("spinbutton", name=words.KEEP_MAX)).to_have_value("5")
    footer = me.page.locator(".st-key-plan_footer")
    expect(footer).to_be_in_viewport()
    me.page.mouse.move(width - 200, 500)
    me.page.mouse.wheel(0, 900)
    expect(footer).to_be_in_viewport()
    me.check()


@pytest.mark.parametrize(("width", "theme"), [(1440, "dark"), (900, "light")])
def test_a_click_on_a_set_says_what_deleting_it_reclaims(reader: Callable[..., Reader], width: int, theme: str) -> None:
    me = reader(width, theme).open("retention?table=sales.orders")
    me.page.get_by_text(words.MODE_STORAGE, exact=True).click()
    expect(me.page).to_have_url(re.compile("mode=storage"))
    me.settled()
    me.check()
    box = me.page.locator(".js-plotly-plot .barlayer .point").nth(1).bounding_box()
    assert box is not None
    me.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(me.page).to_have_url(re.compile("sets="))
    expect(me.page.get_by_text(words.SETS_LATER)).to_be_visible()
    expect(me.page.get_by_role("link", name=words.PLAN_THIS)).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (900, "dark")])
def test_tags_of_any_name_are_chosen_whole(
    reader: Callable[..., Reader], tmp_path: Path, width: int, theme: str
) -> None:
    """A name with a comma is one name, also after a reload, and a long one stays within the page."""
    root, long = tmp_path / "db" / "t", "release-" + "x" * 192
    ground.small_table(root)
    at = ground.ids(root)[0]
    tag = {"snapshot-id": at, "type": "tag"}
    ground.commit(root, lambda document: document["refs"].update(dict.fromkeys(("a,b", "a", "b", long), tag)))
    me = reader(width, theme, warehouse=tmp_path).open("retention?table=db.t&mode=tags")
    for name in ("a,b", long):
        me.page.get_by_role("combobox", name=words.TAGS_TO_DELETE).click()
        me.page.get_by_role("option", name=name, exact=True).click()
        me.page.keyboard.press("Escape")
    headline = me.page.get_by_text(f"Deletes 2 tags (a,b, {long})")
    expect(headline).to_be_visible()
    me.page.reload()
    me.page.locator(".st-key-entering-open button").click()  # the location is not the one that is served
    expect(headline).to_be_visible()
    me.settled()
    me.check()
