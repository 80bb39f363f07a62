"""Running a plan in a real browser: typed confirmation, one submission, a closed tab, two readers."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from core.model.actions import DeleteTags, Expire
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


def test_what_was_typed_for_one_table_is_not_shown_for_another(reader: Callable[..., Reader]) -> None:
    me = reader().open("tags?table=sales.orders")
    boxes = [me.page.get_by_role("textbox", name=name, exact=True) for name in (words.TAG_NAME, words.BRANCH_NAME)]
    for box in boxes:
        box.fill("mine")
        box.press("Enter")
        me.settled()
    expect(me.page.get_by_text(words.BRANCH_TEACH["create"])).to_have_count(0)
    me.page.get_by_role("button", name="clicks", exact=True).click()
    expect(me.settled().page).to_have_url(re.compile(r"table=events\.clicks"))
    expect(me.page.get_by_text(words.BRANCH_TEACH["create"])).to_be_visible()
    for box in boxes:
        expect(box).to_have_value("", timeout=5_000)
    me.check()


def test_a_tag_is_deleted_by_keyboard_alone(own_demo: Path, reader: Callable[..., Reader]) -> None:
    """From Home to a receipt without a pointer: the palette, the switch, radio buttons, boxes, the button."""
    table = open_table(str(own_demo / "sales.db" / "orders"))
    tag = table.heads().main.tags[-1].name
    me = reader(warehouse=own_demo).open()
    page, keys = me.page, me.page.keyboard

    def go(text: str, to: str) -> None:
        expect(page.get_by_role("button", name=words.PALETTE)).to_be_visible()  # from then on it hears its keys
        keys.press("Control+k")
        expect(page.get_by_role("combobox", name=words.PALETTE)).to_be_focused()
        keys.type(text)
        keys.press("Enter")
        expect(page).to_have_url(re.compile(to))
        me.settled().page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton]')")

    def tab_to(at: Locator) -> None:
        expect(at).to_be_visible()
        for _ in range(150):
            if at.evaluate("it => it.contains(document.activeElement)"):
                return
            keys.press("Tab")
        raise AssertionError(f"the keyboard does not reach {at}")

    go("sales.orders", "timeline")
    go(words.PAGES["retention"][0], "retention")
    tab_to(page.get_by_role("switch", name=words.WRITABLE).or_(page.get_by_role("checkbox", name=words.WRITABLE)))
    keys.press("Space")
    me.settled()
    tab_to(page.get_by_role("radiogroup").first)
    keys.press("ArrowRight")
    keys.press("Space")
    expect(page).to_have_url(re.compile("mode=tags"))
    me.settled()
    tab_to(page.get_by_role("combobox", name=words.TAGS_TO_DELETE))
    keys.type(tag)
    keys.press("Enter")
    expect(page).to_have_url(re.compile(f"tags={tag}"))
    me.settled()
    keys.press("Escape")
    phrase = danger(table.preview(DeleteTags((tag,)), time.time_ns() // 1_000_000), "orders").phrase
    if phrase:
        tab_to(page.get_by_role("textbox", name=re.compile("to confirm")))
        keys.type(phrase)
    run = page.get_by_role("button", name=words.CARRY_OUT)
    expect(run).to_be_enabled()
    tab_to(run)
    keys.press("Enter")
    expect(page.get_by_text(re.compile(r"^Done: \d"))).to_be_visible(timeout=300_000)
    assert not (own_demo / "sales.db" / "orders" / "tag" / f"tag-{tag}").exists()
    me.settled().check()
