"""The version chosen in a table's heading, in a real browser: every page shows it, Back and links restore it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dashboard import words
from tests.support.e2e.reader import Reader

pytestmark = pytest.mark.slow

TABLE = "sales.orders"
TITLES = {name: title for name, (title, _) in words.PAGES.items()}


def test_one_version_for_all_pages_of_a_table(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"timeline?table={TABLE}")
    page = me.page
    box = page.get_by_role("combobox", name=words.VERSION)
    latest = page.get_by_role("button", name=words.TO_LATEST, exact=True)
    expect(latest).to_be_disabled()
    expect(box).to_have_attribute("placeholder", words.LATEST)
    point = me.snapshots()[0]
    me.click_dot(point)
    expect(box).to_have_value(re.compile(rf"^{point} · "))
    for name in ("asof", "diff", "files", "query", "retention", "orphans", "tags", "timeline"):
        me.go(TITLES[name])
        expect(page).to_have_url(re.compile(rf"/{name}\?table={TABLE}.*&{'b' if name == 'diff' else 'point'}={point}$"))
        expect(box).to_have_value(re.compile(rf"^{point} · "))
        expect(box).to_have_count(1)
        if name in words.ACTS_NOW:
            expect(page.get_by_text(words.ACTS_NOW[name])).to_be_visible()
    me.go(TITLES["audit"])
    expect(box).to_have_count(0)
    me.go(TITLES["files"])
    expect(box).to_have_value(re.compile(rf"^{point} · "))
    latest.click()
    me.settled()
    expect(page).to_have_url(re.compile(rf"/files\?table={TABLE}$"))
    expect(latest).to_be_disabled()
    page.go_back()
    expect(box).to_have_value(re.compile(rf"^{point} · "))
    page.go_forward()
    expect(latest).to_be_disabled()
    me.settled().go(TITLES["retention"])
    expect(page.get_by_text(words.ACTS_NOW["retention"])).to_have_count(0)
    me.check()


def test_back_to_another_page_restores_its_version(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"files?table={TABLE}&point=40")
    page = me.page
    box = page.get_by_role("combobox", name=words.VERSION)
    me.go(TITLES["query"])
    expect(box).to_have_value(re.compile("^40 · "))
    page.get_by_role("button", name=words.TO_LATEST, exact=True).click()
    me.settled()
    expect(page).to_have_url(re.compile(rf"/query\?table={TABLE}$"))
    for name, value in (("query", "^40 · "), ("files", "^40 · ")):
        page.go_back()
        expect(page).to_have_url(re.compile(rf"/{name}\?table={TABLE}&point=40$"))
        expect(box).to_have_value(re.compile(value))
    me.settled().check()


def test_no_address_without_a_table_stays_in_the_history(reader: Callable[..., Reader]) -> None:
    """Now and then Streamlit added one; Back to it opened another table, and no Back led out of it."""
    me = reader().open(f"files?table={TABLE}&point=40")
    page = me.page
    me.go(TITLES["query"])
    expect(page).to_have_url(re.compile(rf"/query\?table={TABLE}"))
    page.evaluate(
        """() => { const [path, all] = [location.pathname, location.pathname + location.search];
        history.replaceState({}, "", path); history.pushState({}, "", all); }"""
    )
    page.go_back()
    expect(page).to_have_url(re.compile(rf"/files\?table={TABLE}&point=40$"))
    expect(page.get_by_role("combobox", name=words.VERSION)).to_have_value(re.compile("^40 · "))
    me.settled().check()


def test_the_right_side_of_a_comparison_is_the_chosen_version(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"diff?table={TABLE}&a=20&b=30")
    page = me.page
    box = page.get_by_role("combobox", name=words.VERSION)
    expect(box).to_have_value(re.compile("^30 · "))
    expect(page.locator(".snap-stat").first).to_contain_text("Net ")
    me.go(TITLES["files"])
    expect(page).to_have_url(re.compile(rf"/files\?table={TABLE}&point=30$"))
    page.get_by_role("button", name=words.TO_LATEST, exact=True).click()
    me.settled().go(TITLES["diff"])
    expect(page).to_have_url(re.compile(rf"/diff\?table={TABLE}&a=20$"))
    expect(page.get_by_text(words.DIFF_PICK_B)).to_be_visible()
    expect(page.locator(".snap-stat").first).to_contain_text("Net ")
    page.get_by_role("button", name=words.SWAP).click()
    expect(page).to_have_url(re.compile("&a=latest&b=20$"))
    me.settled().check()


def test_other_tests_of_the_process_can_start_an_event_loop() -> None:
    """The browser of the tests before this one keeps a loop running."""
    asyncio.run(asyncio.sleep(0))
