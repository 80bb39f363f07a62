"""Retention in a real browser: the curve is a slider, holders can be ticked, the button stays in sight."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dashboard import words
from tests.support.e2e.reader import Reader


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
