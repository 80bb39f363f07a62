"""Running a plan in a real browser: typed confirmation, one submission, a closed tab, two readers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from core.model.actions import Expire
from core.planning.confirmation import danger
from core.table import open_table
from dashboard import words
from tests.support.e2e.reader import Reader

ADDRESS = "retention?table=sales.orders&keep_max=12"


def test_an_expiry_survives_a_closed_tab(own_demo: Path, hold: Path, reader: Callable[..., Reader]) -> None:
    location = own_demo / "sales.db" / "orders"
    me = reader(warehouse=own_demo).open(ADDRESS).allow_changes()
    button = me.page.get_by_role("button", name=words.CARRY_OUT)
    expect(button).to_be_disabled()
    confirm = me.page.get_by_role("textbox", name=re.compile("to confirm"))
    planned = open_table(str(location)).preview(Expire(retain_max=12), time.time_ns() // 1_000_000)
    phrase = danger(planned, "orders").phrase
    confirm.press_sequentially(phrase[:-1])
    expect(button).to_be_disabled()
    confirm.press_sequentially(phrase[-1])
    expect(button).to_be_enabled()
    button.click()
    expect(me.page.get_by_text(re.compile(r"\d+ s left$")).first).to_be_visible()
    expect(button).to_have_count(0)  # the plan cannot be submitted again
    me.check()
    me.page.close()  # the change continues
    hold.unlink()

    other = reader(warehouse=own_demo).open(ADDRESS)
    expect(other.page.get_by_text(re.compile(r"^Done: \d+ files deleted"))).to_be_visible(timeout=300_000)
    other.check()
    other.open("audit?table=sales.orders")  # the journal shows it to everybody
    expect(other.page.get_by_text(words.audit_exact(1, 1))).to_be_visible()
    other.check()
    left = {path.relative_to(location).as_posix() for path in location.rglob("*")}
    assert not left & set(planned.frees["path"].to_pylist())
    assert len(list(location.glob("snapshot/snapshot-*"))) == sum(
        verdict.keep and verdict.point.isdigit() for verdict in planned.points
    )


def test_a_tag_is_made_from_the_timeline(own_demo: Path, reader: Callable[..., Reader]) -> None:
    me = reader(warehouse=own_demo).open("timeline?table=crm.customers")
    point = me.snapshots()[0]
    me.click_dot(point).go(words.TAG_HERE).allow_changes()
    name = me.page.get_by_role("textbox", name=words.TAG_NAME)
    name.fill("before-cleanup")
    name.press("Enter")
    me.settled()
    me.page.get_by_role("button", name=words.CREATE).click()
    expect(me.page.get_by_text("Created tag/tag-before-cleanup.")).to_be_visible()
    me.settled().check()
    table = own_demo / "crm.db" / "customers"
    made = table / "tag" / "tag-before-cleanup"
    assert made.read_bytes().startswith((table / f"snapshot/snapshot-{point}").read_bytes()[:80])
