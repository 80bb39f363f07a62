"""The main flow in a real browser: overview, timeline, as of, diff, retention, tags, query."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dashboard import words
from tests.support.builders import STATES
from tests.support.e2e.reader import Reader

TABLE = "sales.orders"
NAVIGATION = {name: title for name, (title, _) in words.PAGES.items()}


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (900, "dark")])
def test_main_flow(demo: Path, reader: Callable[..., Reader], width: int, theme: str) -> None:
    snapshots = demo / "sales.db" / "orders" / "snapshot"
    me = reader(width, theme).open()
    page = me.page
    expect(page.locator(".snap-row").nth(4)).not_to_contain_text("…")
    for title in ("crm.customers", "events.clicks", TABLE, f"{TABLE}_iceberg"):
        line = page.locator(".st-key-overview_table").get_by_role("link", name=title, exact=True)
        expect(line).to_be_visible()
    me.check()

    me.go(TABLE)
    points = me.snapshots()
    first, second = points[1], points[-2]
    me.click_dot(first)
    expect(page).to_have_url(re.compile(rf"timeline\?table={TABLE}&point={first}$"))
    expect(page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {first}")
    page.get_by_text(words.ALL_FIELDS).click()
    expect(page.get_by_text("baseManifestList", exact=True)).to_be_visible()
    me.check()

    me.go(NAVIGATION["asof"])
    box = page.get_by_role("combobox", name=words.VERSION)
    expect(box).to_have_value(re.compile(rf"^{first} · "))
    before_that = str(sorted(int(path.name.partition("-")[2]) for path in snapshots.glob("snapshot-*"))[-3])
    box.fill("latest~2")
    box.press("Enter")
    me.settled()
    expect(page.locator(".snap-card.snap-strong")).to_contain_text(before_that)
    expect(page.get_by_text(words.ASOF_RULE)).to_be_visible()
    me.check()

    page.get_by_role("button", name=words.TO_LATEST, exact=True).click()
    me.settled().go(NAVIGATION["diff"])
    me.click_dot(first)
    expect(page).to_have_url(re.compile(rf"a={first}$"))
    me.click_dot(second)
    expect(page).to_have_url(re.compile(rf"a={first}&b={second}$"))
    expect(page.locator(".snap-stat")).to_contain_text("Net +")
    page.get_by_role("button", name=words.SWAP).click()
    expect(page).to_have_url(re.compile(rf"a={second}&b={first}$"))
    page.get_by_role("tab", name=words.SCHEMA_OPTIONS).click()
    me.settled().check()

    me.go(NAVIGATION["retention"])
    keep = page.get_by_role("spinbutton", name=words.KEEP_MAX)
    keep.fill("10")
    keep.press("Enter")
    me.settled()
    expect(page.locator(".snap-headline")).to_contain_text("reclaims")
    expect(page.locator(".snap-tile").first).to_contain_text("file")
    expect(page.get_by_text("snapscope expire")).to_be_visible()
    page.get_by_role("tab", name=re.compile(words.FREED_FILES)).click()
    me.settled().check()

    me.go(NAVIGATION["tags"])
    me.choose_row(0)
    expect(page.locator(".snap-panel-title").first).to_have_text(re.compile("^tag:"))
    page.get_by_text(re.compile("^Delete .*: reclaims ")).click()
    expect(page.locator(".snap-headline").first).to_contain_text("Deletes 1 tag")
    me.check()

    me.go(NAVIGATION["query"]).unhurried()
    sql = page.get_by_role("textbox", name=words.SQL)
    sql.fill("SELECT count(*) AS n FROM orders")
    sql.press("Control+Enter")
    expect(page.get_by_text(re.compile(r"1 row as of .*; read \d+ of \d+ current files? in"))).to_be_visible(
        timeout=300_000
    )
    me.settled().check()


def test_a_deep_link_is_the_whole_view(reader: Callable[..., Reader]) -> None:
    """Another reader sees the same at the same URL; Back undoes a step."""
    me = reader().open(f"timeline?table={TABLE}")
    points = me.snapshots()
    me.click_dot(points[0])
    expect(me.page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {points[0]}")
    me.click_dot(points[-1])
    expect(me.page).to_have_url(re.compile(rf"point={points[-1]}$"))
    other = reader().open(me.page.url.removeprefix(me.home))
    expect(other.page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {points[-1]}")
    me.page.go_back()
    expect(me.page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {points[0]}")
    me.check()
    other.check()


@pytest.mark.parametrize("width", [1440, 900])
def test_a_second_mark_is_compared_with_shift_or_from_the_panel(reader: Callable[..., Reader], width: int) -> None:
    me = reader(width).open(f"timeline?table={TABLE}")
    first, *_, last = me.snapshots()
    me.click_dot(last)
    me.page.keyboard.down("Shift")
    me.click_dot(first)
    me.page.keyboard.up("Shift")
    expect(me.page).to_have_url(re.compile(rf"diff\?table={TABLE}&a={first}&b={last}$"))
    expect(me.page.locator(".snap-stat")).to_contain_text("Net +")
    me.check()
    me.open(f"timeline?table={TABLE}&point={last}")
    me.page.get_by_text(words.COMPARE).click()
    me.settled()
    me.page.locator(".js-plotly-plot").scroll_into_view_if_needed()  # the panel is below it on narrow pages
    me.click_dot(first)
    expect(me.page).to_have_url(re.compile(rf"diff\?table={TABLE}&a={first}&b={last}$"))
    expect(me.page.locator(".snap-stat")).to_contain_text("Net +")
    me.check()


def test_zoom_survives_a_click(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"timeline?table={TABLE}")
    dots = [dot for dot in me.dots() if dot[0] in me.snapshots()]
    (_, left, y), (_, right, _) = dots[0], dots[2]
    zoomed = "() => document.querySelector('.js-plotly-plot')._fullLayout.xaxis.range.join()"
    whole = me.page.evaluate(zoomed)
    me.page.mouse.move(left - 8, y + 12)
    me.page.mouse.down()
    me.page.mouse.move(right + 8, y + 14, steps=5)
    me.page.mouse.up()
    me.page.wait_for_timeout(600)  # otherwise the next click would count as a double click
    me.page.wait_for_function(f"({zoomed})() !== '{whole}'")
    before = me.page.evaluate(zoomed)
    me.click_dot(dots[1][0])
    expect(me.page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {dots[1][0]}")
    assert me.page.evaluate(zoomed) == before
    me.check()


def test_the_navigation_never_jumps(reader: Callable[..., Reader]) -> None:
    """The header of a page stays in place, whatever is clicked below it."""
    me = reader().open(f"timeline?table={TABLE}")
    head = me.page.locator(".snap-head")
    before = head.bounding_box()
    me.click_dot(me.snapshots()[0])
    assert head.bounding_box() == before
    me.go(NAVIGATION["diff"])
    assert me.page.locator(".snap-head").bounding_box() == before


def test_a_query_can_be_cancelled(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"query?table={TABLE}")
    sql = me.page.get_by_role("textbox", name=words.SQL)
    sql.fill("SELECT sum(hash(a.order_id, b.order_id, c.order_id)) FROM orders a, orders b, orders c")
    sql.press("Control+Enter")
    cancel = me.page.get_by_role("button", name=words.CANCEL)
    expect(cancel).to_be_visible(timeout=300_000)
    cancel.click()
    expect(me.page.get_by_text(words.QUERY_CANCELLED)).to_be_visible(timeout=300_000)
    me.settled().check()


def test_a_refused_statement_says_why(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"query?table={TABLE}")
    sql = me.page.get_by_role("textbox", name=words.SQL)
    sql.fill("DROP TABLE orders")
    sql.press("Control+Enter")
    expect(me.page.locator(".snap-error")).to_contain_text(words.ERROR_TITLES["Invalid"], timeout=300_000)


def test_two_points_are_compared_by_sql(reader: Callable[..., Reader]) -> None:
    me = reader().open(f"query?table={TABLE}&point=latest&before=earliest").unhurried()
    sql = me.page.get_by_role("textbox", name=words.SQL)
    sql.fill("SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t_before) AS more")
    sql.press("Control+Enter")
    expect(me.page.get_by_text(re.compile(r"1 row as of \d+ and \d+; read"))).to_be_visible(timeout=300_000)
    sql.fill("SELECT _rowkind, count(*) AS changed FROM t_changes GROUP BY 1 ORDER BY 1")
    sql.press("Control+Enter")
    expect(me.page.get_by_text("--since earliest")).to_be_visible()
    expect(me.page.get_by_text(re.compile(r"^[12] rows? as of \d+ and \d+; read"))).to_be_visible(timeout=300_000)
    me.settled().check()


def test_a_query_may_hold_its_point(own_demo: Path, reader: Callable[..., Reader]) -> None:
    me = reader(warehouse=own_demo).open("query?table=events.clicks&point=9").allow_changes().unhurried()
    me.page.get_by_text(words.HOLD).click()
    sql = me.page.get_by_role("textbox", name=words.SQL)
    sql.fill("SELECT count(*) AS held FROM t")
    sql.press("Control+Enter")
    expect(me.page.get_by_text(re.compile(r"^1 row as of "))).to_be_visible(timeout=300_000)
    me.settled().check()
    (tag,) = (own_demo / "events.db/clicks/tag").glob("tag-protect-9-*")
    assert '"tagTimeRetained"' in tag.read_text()


@pytest.mark.slow
def test_density_opens_by_click(tmp_path_factory: pytest.TempPathFactory, reader: Callable[..., Reader]) -> None:
    """10,000 snapshots are drawn as bars; a bar opens into clusters, these into dots, and one button leads back."""
    warehouse = tmp_path_factory.mktemp("many")
    STATES["10,000 snapshots"].build(warehouse)
    me = reader(warehouse=warehouse).open("timeline")
    bar = me.page.locator(".js-plotly-plot .barlayer .point").nth(40)
    box = bar.bounding_box()
    assert box is not None
    assert box["width"] >= 7, "each bar can be hit"
    me.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(me.page).to_have_url(re.compile(r"window=\d+\.\.\d+"))
    me.settled()
    assert len(me.clusters()) + len(me.dots()) > 10
    for _ in range(3):
        if points := me.snapshots():
            break
        _, x, y = me.clusters()[-1]
        me.page.mouse.click(x, y)
        me.settled()
    me.click_dot(points[0])
    expect(me.page.locator(".snap-panel-title").first).to_have_text(f"Snapshot {points[0]}")
    me.page.get_by_role("button", name=words.SHOW_ALL).click()
    expect(me.page.locator(".js-plotly-plot .barlayer .point").first).to_be_attached()
    me.settled().check()
