"""Two readers of one server, on a real engine's table: each keeps their own choices, and a plan runs once."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from core.catalog import DEMO_MARKER
from core.model.actions import Expire
from core.planning.confirmation import danger
from core.table import open_table
from dashboard import words
from tests.support.e2e.reader import Reader
from tests.support.languages import SaidIn
from tests.support.places import TABLES

NAME, ZONE = "schema_evolved", "Asia/Shanghai"

ZH = SaidIn("zh")


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A copy of a real engine's table that may be changed."""
    table = tmp_path / "default.db" / NAME
    shutil.copytree(TABLES / "paimon" / "default.db" / NAME, table)
    (tmp_path / DEMO_MARKER).touch()
    return table


def snapshots(table: Path) -> set[int]:
    return {int(path.name.partition("-")[2]) for path in table.glob("snapshot/snapshot-*")}


def test_two_readers_one_table(theirs: Path, hold: Path, reader: Callable[..., Reader]) -> None:
    """One expires while the other has a plan open: submitted twice it runs once, and the other's is refused in words.

    They share neither zone nor language nor rules."""
    warehouse = theirs.parents[1]
    where = f"retention?warehouse={warehouse}&table=default.{NAME}"
    one = reader().open(f"{where}&keep_max=6&tz={ZONE}")
    other = reader(900, "dark").open(f"{where}&keep_max=3&lang=zh")
    for me, kept, said in ((one, 6, words), (other, 3, ZH)):
        plan = open_table(str(theirs)).preview(Expire(retain_max=kept), time.time_ns() // 1_000_000)
        phrase = danger(plan, NAME).phrase
        me.allow_changes(said.WRITABLE)
        confirm = me.page.get_by_role("textbox", name=said.type_to_confirm(phrase))
        confirm.press_sequentially(phrase)
        expect(me.page.get_by_role("button", name=said.CARRY_OUT)).to_be_enabled()
        me.settled().check()
    assert " CST" in one.text()
    assert " CST" not in other.text()
    assert words.VERDICTS not in other.text()
    assert "tz=" not in other.page.url
    assert "keep_max=3" in other.page.url

    one.page.get_by_role("button", name=words.CARRY_OUT).evaluate("button => { button.click(); button.click() }")
    expect(one.page.get_by_text(re.compile(r"\d+ s left$")).first).to_be_visible()
    hold.unlink()
    expect(one.page.get_by_text(re.compile(r"^Done: \d+ files? deleted"))).to_be_visible(timeout=300_000)
    assert snapshots(theirs) == set(range(9, 15))

    other.page.get_by_role("button", name=ZH.CARRY_OUT).click()
    refused = other.page.locator(".snap-error")
    expect(refused).to_contain_text(ZH.ERROR_TITLES["Conflict"], timeout=300_000)
    expect(refused).to_contain_text(ZH.STILL_WORKS)
    assert snapshots(theirs) == set(range(9, 15))
    one.open(f"audit?warehouse={warehouse}&table=default.{NAME}")
    expect(one.page.get_by_text(words.audit_exact(1, 1))).to_be_visible()
    assert one.complaints + other.complaints == []


def travel(me: Reader, step: Callable[[], object], address: str) -> None:
    """Press one of the browser's buttons until the address is there."""
    for _ in range(6):
        if me.page.url == address:
            return
        step()
        me.settled()
    assert me.page.url == address


def test_back_and_forward_and_a_new_window(reader: Callable[..., Reader]) -> None:
    """The browser's own buttons lead through pages and choices; an address taken anywhere opens the same again."""
    me = reader().open(f"timeline?table=sales.orders&point=12&tz={ZONE}")
    title, first = me.page.locator(".snap-panel-title").first, me.page.url
    expect(title).to_have_text("Snapshot 12")
    me.click_dot(next(name for name in me.snapshots() if name != "12"))
    expect(me.page).not_to_have_url(first)
    second = me.page.url
    me.go(words.PAGES["retention"][0])
    keep = me.page.get_by_role("spinbutton", name=words.KEEP_MAX)
    keep.fill("10")
    keep.press("Enter")
    expect(me.page).to_have_url(re.compile("keep_max=10"))
    third, frees = me.page.url, me.page.locator(".snap-headline").first
    expect(frees).to_contain_text("reclaims")
    me.settled()
    travel(me, me.page.go_back, second)
    travel(me, me.page.go_back, first)
    expect(title).to_have_text("Snapshot 12")
    travel(me, me.page.go_forward, third)
    expect(keep).to_have_value("10")
    said = frees.inner_text()
    me.check()
    other = reader().open(third.removeprefix(me.home))
    expect(other.page.locator(".snap-headline").first).to_have_text(said)
    expect(other.page.get_by_role("spinbutton", name=words.KEEP_MAX)).to_have_value("10")
    assert other.page.url == third
    other.check()
