"""Home: stars, news since the last visit, tags that expire soon, what needs attention, and a state that cannot be
stored."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import user_state
from core.catalog import DEMO_MARKER
from core.demo import stories
from core.errors import Corrupt
from core.storage import local_disk, time_limits
from core.table import open_table
from core.units import wall_clock
from dashboard import data, visits, words
from dashboard.view_models import home as rows_of_home
from dashboard.view_models import table_tree
from dashboard.view_models.home import table_facts
from dashboard.view_models.notices import Notice
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import Page

HOUR_MS = 3_600_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, TableBuilder]:
    found = {}
    for number in range(10):  # more than are all watched
        name = f"t{number}"
        table = TableBuilder(tmp_path / "w" / "shop.db" / name, start_ms=now_ms() - 9 * DAY_MS, step_ms=DAY_MS)
        table.commit([table.file(1_000, rows=10)])
        found[name] = table
    return found


def home(open_page: Callable[..., Page], tables: dict[str, TableBuilder]) -> Page:
    return open_page("overview", tables["t0"].root.parents[1])


def test_a_table_that_is_waited_for_is_named(
    open_page: Callable[..., Page], tables: dict[str, TableBuilder], monkeypatch: pytest.MonkeyPatch
) -> None:
    said, reading = list[str](), words.reading_tables

    def reading_tables(read: int, tables: int, name: str, done: int, total: int) -> str:
        said.append(f"{read} {name}")
        return reading(read, tables, name, done, total)

    monkeypatch.setattr(words, "reading_tables", reading_tables)
    monkeypatch.setattr(data.BackgroundRead, "wait", lambda *_: False)
    home(open_page, tables)
    assert set(said) >= {f"{number} shop.t{number}" for number in range(10)}


def test_a_table_that_cannot_be_read_is_a_problem(open_page: Callable[..., Page], tmp_path: Path) -> None:
    metadata = tmp_path / "w" / "db" / "t" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "00001-a.metadata.json").write_text("{")
    shown = open_page("overview", tmp_path / "w")
    assert words.TABLE_UNREAD in shown.text
    assert words.NOTHING_TO_MIND not in shown.text


def test_what_stands_out_lately_needs_attention(open_page: Callable[..., Page], tmp_path: Path) -> None:
    for name, days in (("new", 2), ("old", 40)):
        start = now_ms() - days * DAY_MS
        table = TableBuilder(tmp_path / "w" / "shop.db" / name, partition_keys=["dt"], start_ms=start)
        table.commit([table.file(1_000, rows=100, partition=(each,)) for each in ("a", "b")], user="loader")
        table.commit([], [each for each in table.live() if each.partition == ("a",)], kind="OVERWRITE", user="cleaner")
    shown = open_page("overview", tmp_path / "w")
    assert shown.text.count("by cleaner removed every file of dt=a.") == 1
    assert words.with_warnings(1, 4) in shown.text
    assert words.NOTHING_TO_MIND not in shown.text


def test_nothing_is_said_of_tables_that_are_not_shown(
    open_page: Callable[..., Page], tables: dict[str, TableBuilder]
) -> None:
    page = home(open_page, tables)
    shown = page.at(filter="none of them").text
    assert words.NO_MATCH in shown
    assert words.NOTHING_TO_MIND not in shown
    assert words.ENDS_NONE not in shown


@pytest.mark.parametrize(("found", "shown", "more"), [(24, 24, ""), (25, 24, "1 more")])
def test_each_line_that_needs_attention_names_its_table(
    open_page: Callable[..., Page],
    tables: dict[str, TableBuilder],
    monkeypatch: pytest.MonkeyPatch,
    found: int,
    shown: int,
    more: str,
) -> None:
    lines = [("shop.t3", Notice("warning", f"line {number}.")) for number in range(found)]
    monkeypatch.setattr(rows_of_home, "worst_first", lambda _: lines)
    page = home(open_page, tables)
    assert len(re.findall(r"line \d+\.", page.text)) == shown
    assert [each.label for each in page.test.get("page_link")].count("shop.t3") == 1 + shown
    rest = [each for each in page.test.button if each.label.endswith(" more")]
    assert [each.label for each in rest] == [more][: bool(more)]
    if rest:
        rest[0].click()
        page.run()
        assert len(re.findall(r"line \d+\.", page.text)) == found
        assert not [each for each in page.test.button if each.label.endswith(" more")]


def test_the_commits_since_the_last_visit_are_told(
    open_page: Callable[..., Page], tables: dict[str, TableBuilder]
) -> None:
    visits.watch(str(tables["t1"].root), True)
    home(open_page, tables)
    away(2)
    tables["t1"].commit([tables["t1"].file(50, rows=3)], time_ms=now_ms(), user="etl")
    assert "etl (append): added 3 rows in 1 file (50 B)." in home(open_page, tables).text


def away(hours: float) -> None:
    """As if the last visit had been that long ago."""
    ms = int(hours * HOUR_MS)

    def earlier(document: visits.Json) -> visits.Json:
        seen = {place: {**mark, "at_ms": mark["at_ms"] - ms} for place, mark in document["seen"].items()}
        return {**document, "at_ms": document["at_ms"] - ms, "seen": seen}

    user_state.change("visits", earlier, {})


@pytest.mark.slow
def test_what_is_new_is_told_of_watched_tables_until_the_next_visit(
    tables: dict[str, TableBuilder], open_page: Callable[..., Page]
) -> None:
    page = home(open_page, tables)
    assert words.FIRST_VISIT in page.text
    for name in ("t7", "t8"):
        page.test.button(key=f"home.star.{tables[name].root}").click()
        page.run()
    assert visits.watched() == (str(tables["t7"].root), str(tables["t8"].root))
    order = [each.label for each in page.test.button if each.label in (words.WATCH, words.UNWATCH)]
    assert order == [words.UNWATCH] * 2 + [words.WATCH] * 8, "watched tables stand first"

    away(2)
    for name in ("t1", "t7"):
        tables[name].commit([tables[name].file(500, rows=7)], user="nightly")
        tables[name].tag("v<b>")
    for _ in range(2):  # looking again does not clear the news
        page = home(open_page, tables)
        text = page.text
        assert words.last_visit("2 hours ago", 1, 2) in text
        assert "Since 2 hours ago: 1 new commit: 1 APPEND by nightly · +7 rows , +1 file" in text
        assert "tag v<b> created" in text, "a name is text"
        assert text.count("nightly") == 1, "t1 is not watched"
        assert f"Since 2 hours ago: {words.SINCE_QUIET}" in text, "t8"
    away(0.6)
    text = home(open_page, tables).text
    assert words.last_visit("36 minutes ago", 0, 2) in text
    assert "nightly" not in text


def test_a_sum_that_misses_something_tells_nothing_new(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "t", start_ms=now_ms() - 9 * DAY_MS, step_ms=DAY_MS)
    table.commit([table.file(1_000_000, rows=10)])
    assert words.FIRST_VISIT in open_page("overview", tmp_path).text
    away(2)
    for path in (table.root / "manifest").iterdir():
        path.write_bytes(b"damaged")
    table.commit([table.file(10, rows=1)], user="nightly")
    for path in (table.root / "manifest").iterdir():
        path.write_bytes(b"damaged")
    text = open_page("overview", tmp_path).text
    assert "1 APPEND by nightly" in text
    assert "−1 file" not in text
    assert "−1.0 MB" not in text


def test_what_an_unreadable_point_keeps_is_not_told_as_freed(tmp_path: Path) -> None:
    """The newest snapshot still holds the first one's file but cannot be read: the file must not count as free."""
    table = TableBuilder(tmp_path / "shop.db" / "t")
    table.commit([table.file(1_000)])
    first = set((table.root / "manifest").iterdir())
    table.commit([table.file(10)])
    whole = open_table(str(table.root)).history()
    assert table_facts(whole.heads, whole, 0).history_bytes is not None
    for path in set((table.root / "manifest").iterdir()) - first:
        path.write_bytes(b"damaged")
    history = open_table(str(table.root)).history()
    damaged = table_facts(history.heads, history, 0)
    assert damaged.lower_bound
    assert (damaged.history_bytes, damaged.policy_bytes) == (None, None)


def test_a_visit_begins_after_half_an_hour() -> None:
    first = visits.with_marks(visits.touched({}, 0), {"/t": {"at_ms": 0}})
    assert first["before_ms"] is None
    still = visits.touched(first, visits.AWAY_MS)
    assert (still["before_ms"], still["base"]) == (None, {})
    later = visits.touched(visits.with_marks(still, {"/t": {"at_ms": 5}}), 2 * visits.AWAY_MS + 1)
    assert (later["before_ms"], later["base"]) == (visits.AWAY_MS, {"/t": {"at_ms": 5}})
    many = {f"/{number}": {"at_ms": number} for number in range(visits.MOST + 3)}
    assert "/2" not in visits.with_marks({}, many)["seen"]


def test_tags_that_end_soon_and_what_to_mind(tables: dict[str, TableBuilder], open_page: Callable[..., Page]) -> None:
    now = wall_clock(now_ms())
    for name, left_s in (("over", -7_200), ("soon", 2 * 86_400 + 600), ("late", 9 * 86_400)):
        tables["t3"].tag(name, created=now - dt.timedelta(days=1), retained_s=86_400 + left_s)
    tables["t5"].hints(latest=99)
    (tables["t4"].root / "snapshot" / "snapshot-1").write_text("{")
    page = home(open_page, tables)
    text = page.text
    assert "its retention ended 2 hours ago" in text
    assert "expires in 2 days" in text
    assert "⚑ late" not in text
    links = [each.label for each in page.test.get("page_link")]
    assert links.count("shop.t3") == 3 + 1, "its line, two tags, and the note that they keep one snapshot"
    worst = text.index("snapshot/snapshot-1"), text.index("snapshot/LATEST: expected")
    assert worst == tuple(sorted(worst)), "a problem stands before a warning"
    assert "Reclaimable by policy" in text


@pytest.mark.slow
def test_home_does_without_what_cannot_be_kept(
    tables: dict[str, TableBuilder], open_page: Callable[..., Page], state_dir: Path
) -> None:
    home(open_page, tables)
    (state_dir / "desk" / "visits.json").write_text("{")
    text = home(open_page, tables).text
    assert words.NOTHING_KEPT in text
    assert "visits.json" in text
    assert "shop.t9" in [each.label for each in home(open_page, tables).test.get("page_link")]
    desk_file = state_dir / "desk" / "visits.json"
    desk_file.write_text("[]")
    assert words.not_kept("visits") in home(open_page, tables).text
    desk_file.write_text('{"at_ms": 1, "base": {}, "before_ms": 1, "seen": {"x": {"at_ms": 1, "other": "form"}}}')
    assert words.SINCE_NEW_TABLE not in home(open_page, tables).text, "nothing is watched"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("visits", "[]"),
        ("visits", '{"at_ms": "late"}'),
        ("visits", '{"at_ms": 1, "seen": {"/t": 3}}'),
        ("visits", '{"at_ms": 1, "base": []}'),
        ("watched", "3"),
        ("watched", "[[]]"),
    ],
)
def test_what_is_kept_in_another_form_is_refused_by_its_name(name: str, kept: str, state_dir: Path) -> None:
    path = state_dir / "desk" / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text(kept)
    with pytest.raises(Corrupt, match=name):
        (visits.begin if name == "visits" else visits.watched)()
    with pytest.raises(Corrupt, match=name):
        visits.remember({"/t": {"at_ms": 9}}) if name == "visits" else visits.watch("/t", True)
    assert path.read_text() == kept, "it stays as it is"


def test_a_demo_asks_what_happened_and_says_the_way_and_the_answer(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    TableBuilder(tmp_path / "events.db" / "clicks").commit([])
    marker = tmp_path / DEMO_MARKER
    marker.write_text(json.dumps({"stories": [stories.kept("twice", day="2026-01-02", first=9, again=10)]}))
    (told,) = stories.read(marker.read_bytes(), str(marker))
    page = open_page("overview", tmp_path)
    asked = page.test.expander[0]
    assert asked.label == table_tree.label(told.question)
    links = [each.proto.label.replace("\\", "") for each in page.test.get("page_link")]
    assert words.story_open("events.clicks", "10") in links
    for said in (*told.clicks, told.answer):
        assert re.sub("[` ]", "", said) in re.sub(" ", "", page.text)
    zh = open_page("overview", tmp_path, lang="zh")
    assert "为什么 2026-01-02 的点击数" in zh.test.expander[0].label.replace("\\", "")
    for broken in (b"[]", b"{", b'{"stories": [{"name": "x", "values": {}}]}', b'{"stories": [{"name": "twice"}]}'):
        marker.write_bytes(broken)
        with pytest.raises(Corrupt, match="stories"):
            stories.read(broken, str(marker))
    assert "stories cannot be read" in open_page("overview", tmp_path).text
    for none in (b"", b'{"created_ms": 1, "questions": []}'):
        assert stories.read(none, str(marker)) == ()


def drawn(page: Page) -> list[str]:
    return [str(each.proto.body) for each in page.test.get("html")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a pipe", "a dead disk"])
def test_one_table_that_hangs_leaves_home_to_the_others(
    tables: dict[str, TableBuilder], open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Its own row says so; the others are read meanwhile, and its own page eventually says so, too."""
    hung, over, read = tables["t0"].root, threading.Event(), local_disk.read
    monkeypatch.setattr(time_limits, "TABLE_S", 1.0)
    monkeypatch.setenv(time_limits.VARIABLE, "1")
    if kind == "a pipe":
        (hung / "snapshot/snapshot-1").unlink()
        os.mkfifo(hung / "snapshot/snapshot-1")
    else:

        def hang(path: str, *limits: Any) -> bytes:
            if path.startswith(f"{hung}/"):
                over.wait(60)
            return read(path, *limits)

        monkeypatch.setattr(local_disk, "read", hang)
    try:
        page = home(open_page, tables)
        said = "found a named pipe" if kind == "a pipe" else "did not answer within 1 s"
        assert said in page.text
        whole = [
            each for each in drawn(page) if each.startswith('<div class="snap-row"><span>1</span>') and "…" not in each
        ]
        assert len(whole) == len(tables) - 1
        page = open_page("timeline", tables["t0"].root.parents[1], table="shop.t0")
        assert said in page.text
    finally:
        over.set()


def listed(page: Page) -> list[str]:
    """The names of Home's tables in the order shown."""
    links = [each.proto.label for each in page.test.main.get("page_link")]
    return [each.removeprefix("shop.") for each in links if each.startswith("shop.t")][:10]


@pytest.mark.slow
def test_the_tables_are_sorted_and_filtered_by_the_address(
    open_page: Callable[..., Page], tables: dict[str, TableBuilder]
) -> None:
    big, late, old = tables["t4"], tables["t7"], tables["t2"]
    big.commit([big.file(9_000, rows=5)], time_ms=now_ms() - DAY_MS)
    late.commit([late.file(10, rows=900)], time_ms=now_ms() - HOUR_MS)
    for number in range(3):
        old.commit([], old.live()[:1] if number == 0 else [], time_ms=now_ms() - 3 * DAY_MS)
    root = big.root.parents[1]
    for sort, first in (("live", ["t4", "t7", "t0"]), ("rows", ["t7", "t4", "t0"]), ("snapshots", ["t2", "t4", "t7"])):
        page = open_page("overview", root, sort=sort)
        assert listed(page)[:3] == first, sort
        assert len(set(listed(page))) == 10
    assert listed(open_page("overview", root, sort="commit"))[:3] == ["t7", "t4", "t2"]
    assert listed(open_page("overview", root, sort="-live"))[0] == "t2", "nothing is current in it"
    assert listed(open_page("overview", root, sort="-name"))[:2] == ["t9", "t8"]
    assert listed(open_page("overview", root, sort="no such figure"))[:2] == ["t0", "t1"]
    visits.watch(str(tables["t9"].root), True)
    page = open_page("overview", root, filter="SHOP.T")
    assert listed(page)[:2] == ["t9", "t0"], "watched tables stand first"
    page.test.selectbox(key="overview.sort").set_value("rows")
    assert listed(page.run())[:2] == ["t7", "t4"]
    page.test.button(key="overview.reverse").click()
    assert listed(page.run())[-2:] == ["t4", "t7"]
    assert dict(page.test.query_params)["sort"] in ("-rows", ["-rows"])
    page.test.text_input(key="overview.filter").set_value("t4")
    assert set(listed(page.run())) == {"t4"}
    assert dict(page.test.query_params)["filter"] in ("t4", ["t4"])
    page.test.text_input(key="overview.filter").set_value("nothing")
    assert words.NO_MATCH in page.run().text


def test_figures_that_are_not_all_read_sort_nothing(
    open_page: Callable[..., Page], tables: dict[str, TableBuilder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest table could be among those that are not shown, and so not read."""
    tables["t9"].commit([tables["t9"].file(9_000)])
    monkeypatch.setattr(rows_of_home, "MOST", 5)
    page = open_page("overview", tables["t0"].root.parents[1], sort="live")
    assert listed(page)[:5] == ["t0", "t1", "t2", "t3", "t4"]
    assert "t9" not in listed(page)
