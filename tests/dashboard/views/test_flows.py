"""Flows across pages: URLs, clicks, forms, plans, running one."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import io
import json
import shlex
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx
from streamlit.testing.v1.element_tree import TextInput

from core import cli
from core import table as tables
from core.catalog import DEMO_MARKER
from core.errors import Conflict, Corrupt
from core.execution import protect
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Change, CreateTag, DeleteTags, Expire, ReplaceTag, Rollback
from core.model.history import History
from core.model.plan import Plan
from core.planning.confirmation import danger
from dashboard import background_jobs, words
from dashboard import data as loading
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.components.history import timeline
from dashboard.formatting import commands, units
from dashboard.view_models import version_picker
from tests.support.builders import DAY_MS, START_MS, DataFile, TableBuilder
from tests.support.dashboard.pages import Page, carrying_out, newest_job

TITLE = "shop.orders"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "warehouse"
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"})
    for number in range(8):
        table.commit([table.file(1_000 + number, rows=10)])
        if number in (1, 5):
            table.tag(f"t{number + 1}")
    table.commit([table.file(7_000, rows=80, source=1)], table.live(), kind="COMPACT")
    table.branch("dev", "t6").commit([table.file(5)])
    TableBuilder(root / "shop.db" / "other").commit([], time_ms=START_MS)
    return root


def address(page: Page, name: str) -> str | None:
    """Return one parameter of the page's URL."""
    found = page.test.query_params.get(name)
    return found[0] if isinstance(found, list) else found


def press(page: Page, label: str) -> Page:
    next(each for each in page.test.button if each.label == label).click()
    return page.run()


def finish() -> background_jobs.Job:
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    return job


# addresses -----------------------------------------------------------------------------------------------------------


def test_a_link_opens_what_it_names(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="3")
    assert "Snapshot 3" in page.text
    assert address(page, "point") == "3"


def test_the_first_table_is_opened_and_named(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse)
    assert address(page, "table") == TITLE


def test_another_page_carries_the_table_along(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="3", tz="Asia/Shanghai")
    page.test.query_params.clear()  # like a click on the navigation
    page.test.switch_page("views/asof.py")
    page.run()
    assert address(page, "table") == TITLE
    assert address(page, "point") == "3"
    assert "2026-01-03 08:00:00" in page.text


def test_back_takes_a_point_away(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="3")
    del page.test.query_params["point"]  # like the browser's Back on the same page
    page.run()
    assert "point" not in page.test.query_params
    assert "Snapshot 9" in page.text


def test_another_table_forgets_the_points(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("diff", warehouse, table=TITLE, a="1", b="3")
    page.test.button(key=f"tree.table.{warehouse}.shop.other").click()
    page.run()
    assert address(page, "table") == "shop.other"
    assert "a" not in page.test.query_params


def test_nothing_in_an_address_changes_a_table(open_page: Callable[..., Page], warehouse: Path) -> None:
    (warehouse / DEMO_MARKER).touch()
    before = sorted(path.as_posix() for path in warehouse.rglob("*"))
    open_page("retention", warehouse, table=TITLE, keep_max="1", older="0 s", mode="expire")
    open_page("retention", warehouse, table=TITLE, mode="tags", tags="t2,t6")
    assert sorted(path.as_posix() for path in warehouse.rglob("*")) == before


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("timeline", {"point": "999"}),
        ("timeline", {"point": "nonsense"}),
        ("timeline", {"window": "x..y"}),
        ("asof", {"point": "1999-01-01"}),
        ("diff", {"a": "tag:none", "b": "3"}),
        ("retention", {"keep_max": "many", "older": "soon"}),
        ("retention", {"keep_max": "1", "keep_min": "5"}),
        ("retention", {"keep_max": "0", "keep_min": "9" * 5_000, "older": "99999999999999 d"}),
        ("retention", {"keep_max": "99999999999999999999", "older": "9223372036854775807"}),
        ("tags", {"branch": "nobody"}),
        ("timeline", {"table": "no.such"}),
        ("timeline", {"tz": "Mars/Olympus"}),
    ],
)
def test_nonsense_in_an_address_is_explained(
    open_page: Callable[..., Page], warehouse: Path, page: str, address: dict[str, str]
) -> None:
    open_page(page, warehouse, **{"table": TITLE, **address})


# clicks --------------------------------------------------------------------------------------------------------------


def test_a_point_shows_every_field(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="2")
    page.test.session_state["details.fields"] = True
    page.run()
    for field in ("deltaManifestList", "commitIdentifier 9223372036854775807", "totalRecordCount 20"):
        assert field in page.text


def test_a_point_leads_to_its_neighbours_and_can_be_protected(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="3")
    page = press(page, words.step_to(words.NEXT, 4))
    assert address(page, "point") == "4"
    page.test.session_state["protect.open"] = True
    page.run()
    assert "snapscope create-tag" in page.text
    assert "--verify" in page.text
    page.test.session_state["timeline.table"] = True
    assert words.POINTS_TEACH in page.run().text


def test_a_pinned_snapshot_is_pinned_again_only_on_request(open_page: Callable[..., Page], warehouse: Path) -> None:
    table = tables.open_table(str(warehouse / "shop.db/orders"))
    tag = protect.protection(table, tables.resolve(table.heads(), "4"), DAY_MS, START_MS)
    apply(table, table.preview(tag, START_MS))
    page = open_page("timeline", warehouse, table=TITLE, point="4")
    page.test.session_state["protect.open"] = True
    page.run()
    assert words.kept_by([tag.name]) in page.text
    assert "snapscope create-tag" not in page.text
    page.test.checkbox(key="protect.another.4.1").check()
    assert "snapscope create-tag" in page.run().text
    page = open_page("timeline", warehouse, table=TITLE, point="3")
    page.test.session_state["protect.open"] = True
    assert "snapscope create-tag" in page.run().text


def test_a_stretch_of_time_is_shown_alone(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE, window=f"{START_MS}..{START_MS + 2 * DAY_MS}")
    assert "3 snapshots from 2026-01-01 00:00:00 UTC to 2026-01-03 00:00:00 UTC" in page.text
    assert "3 snapshots" not in press(page, words.WIDER).text
    wider = address(page, "window")
    assert wider
    assert wider != f"{START_MS}..{START_MS + 2 * DAY_MS}"
    page = press(page, words.SHOW_ALL)
    assert address(page, "window") is None
    ends = dt.datetime(2026, 1, 3), dt.datetime(2026, 1, 4, 1)
    page.test.slider(key="window.range").set_value(ends).run()
    assert address(page, "window") == f"{START_MS + 2 * DAY_MS}..{START_MS + 3 * DAY_MS + 3_600_000}"
    assert words.NOTHING_IN_WINDOW in open_page("timeline", warehouse, table=TITLE, window="7..8").text


def test_what_a_click_carries() -> None:
    def event(*data: object) -> dict[str, object]:
        return {"selection": {"points": [{"customdata": each} for each in data]}}

    assert timeline.clicked_payload(event(["12", "hover"])) == "12"
    assert timeline.clicked_payload(event("12")) == "12"
    assert timeline.clicked_payload(event(["12", ""], ["", "a consumer"])) == "12"
    assert timeline.clicked_payload(event()) is None
    assert timeline.clicked_payload(None) is None
    assert (
        timeline.clicked_payload(event(["1..9"], ["12"])) == "1..9"
    )  # a cluster clicked with shift held can only be opened
    assert timeline.pair(event(["12"], ["tag:a"])) == ("12", "tag:a")
    assert [timeline.pair(event(*each)) for each in ([], [["12"]], [["12"], ["12"]], [["12"], ["1..9"]])] == [None] * 4
    assert timeline.pair(event(["12"], ["13"], ["14"])) is None
    assert timeline.window_of("1..2") == (1, 2)
    assert timeline.window_of("tag:a..b") is None


def test_the_chosen_version_is_compared_with_another_from_its_panel(
    open_page: Callable[..., Page], warehouse: Path
) -> None:
    page = open_page("timeline", warehouse, table=TITLE, point="2")
    assert words.COMPARE_TEACH not in page.text
    page.test.session_state["compare.open"] = True
    assert words.COMPARE_TEACH in page.run().text
    page.test.session_state["compare.other"] = "4"
    page.run()

    def addresses() -> list[str]:
        links = [each.proto for each in page.test.get("page_link")]
        return [each.query_string for each in links if each.label.startswith(words.diff_with("", "")[:5])]

    assert any("a=2&b=4" in each for each in addresses())
    page.test.session_state["compare.other"] = "1"  # the older one comes first, whichever was chosen first
    page.run()
    assert any("a=1&b=2" in each for each in addresses())


def test_two_clicks_compare(open_page: Callable[..., Page], warehouse: Path) -> None:
    assert version_picker.next_pair(None, None, "2") == ("2", None)
    assert version_picker.next_pair("2", None, "4") == ("2", "4")
    assert version_picker.next_pair("2", "4", "9") == ("9", None)
    assert words.DIFF_PICK_A in open_page("diff", warehouse, table=TITLE).text
    assert words.DIFF_PICK_B in open_page("diff", warehouse, table=TITLE, a="2").text
    page = open_page("diff", warehouse, table=TITLE, a="2", b="4")
    assert "Net +20 rows, +2.0 kB, +2 files" in page.text
    page = press(page, words.SWAP)
    assert (address(page, "a"), address(page, "b")) == ("4", "2")
    assert words.BACKWARDS in page.text


# as of ---------------------------------------------------------------------------------------------------------------


def test_as_of_a_pasted_time(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("asof", warehouse, table=TITLE)
    box = page.test.selectbox(key="pick.point")
    box.options.append("2026-01-03 12:00")  # like a typed one
    box.set_value("2026-01-03 12:00")
    page.run()
    assert "time:2026-01-03T12:00:00Z → Snapshot 3 · Append" in page.text
    assert "Committed 12 h before the requested time." in page.text
    assert "The highest id among the 3 retained snapshots committed at or before" in page.text


def test_as_of_a_line_of_a_log(open_page: Callable[..., Page], warehouse: Path) -> None:
    """The page shows how a time was read and both roundings with their distances, and explains times that no clock or
    snapshot has."""
    line = "26/01/03 12:00:00 INFO SparkContext: Running"
    page = open_page("asof", warehouse, table=TITLE, point=line, tz="Asia/Shanghai")
    assert words.READ_FORMS["spark"] in page.text
    assert "2026-01-03 04:00:00.000 UTC (1767412800000 ms)" in page.text
    assert "4 h before the requested time" in page.text
    assert f"{words.ROUND_UP} 4" in page.text
    assert "20 h after the requested time" in page.text
    early = open_page("asof", warehouse, table=TITLE, point="1999-01-01")
    assert words.TOO_EARLY in early.text
    assert f"{words.ROUND_DOWN} {words.ROUND_DOWN_NONE}" in early.text
    assert f"{words.ROUND_UP} 1" in early.text
    late = open_page("asof", warehouse, table=TITLE, point="2999-01-01")
    assert words.IN_THE_FUTURE in late.text
    assert words.ROUND_UP_NONE in late.text
    twice = open_page("asof", warehouse, table=TITLE, point="2026-10-25 02:30", tz="Europe/Berlin")
    assert 'Clocks in Europe/Berlin showed "2026-10-25 02:30" twice' in twice.text
    assert [each.label for each in twice.test.button if str(each.key).startswith("choice.")] == [
        "2026-10-25 02:30:00 CEST",
        "2026-10-25 02:30:00 CET",
    ]
    assert address(press(twice, "2026-10-25 02:30:00 CET"), "point") == "2026-10-25T01:30:00Z"
    never = open_page("asof", warehouse, table=TITLE, point="2026-03-29 02:30", tz="Europe/Berlin")
    assert 'Clocks in Europe/Berlin skipped "2026-03-29 02:30"' in never.text


def test_where_the_engine_differs_it_is_said(open_page: Callable[..., Page], tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders")
    for _ in range(5):
        table.commit([table.file()], time_ms=START_MS)
    page = open_page("asof", tmp_path / "w", table=TITLE, point=f"time:{START_MS}")
    assert "5 snapshots have that commit time; the last of them counts." in page.text
    assert words.ASOF_ENGINE in page.text


# plans ---------------------------------------------------------------------------------------------------------------


def test_a_plan_says_what_goes_and_why(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("retention", warehouse, table=TITLE)
    table = tables.open_table(str(warehouse / "shop.db" / "orders"))
    own = table.preview(Expire(), int(page.test.session_state["snapscope.now_ms"]))
    assert own.headline in page.text, "it opens on the table's own policy"
    assert address(page, "keep_max") is None
    page.test.number_input(key="input.keep_max").set_value(3)
    page.run()
    assert address(page, "keep_max") == "3"
    assert "Expires 6 snapshots" in page.text
    assert words.EXPIRES in page.text
    assert "not among the newest 3 (retain-max)" in page.text
    assert words.WHY_NOT_HERE.split(",")[0] in page.text
    assert not [each for each in page.test.button if each.label == words.CARRY_OUT]


def test_changes_are_switched_on_by_the_reader_where_the_server_allows_it(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNAPSCOPE_WRITE", "1")
    page = open_page("retention", warehouse, table=TITLE, keep_max="3")
    switch = next(each for each in page.test.toggle if each.label == words.WRITABLE)
    assert not switch.value
    assert not [each for each in page.test.button if each.label == words.CARRY_OUT]
    switch.set_value(True)
    page.run()
    assert [each for each in page.test.button if each.label == words.CARRY_OUT]


def test_what_an_input_shows_is_its_default_too(open_page: Callable[..., Page], warehouse: Path) -> None:
    """A browser that is still loading a widget's code shows the default: it must not differ from what a plan uses."""
    view = {"table": TITLE, "tz": "Asia/Tokyo"}
    asked = {
        "retention": {"keep_max": "3", "keep_min": "2", "older": "7d", "tags_older": "1 d", "drop": "t2", "ended": "1"},
        "asof": {"point": "2"},
        "diff": {"a": "2", "b": "3"},
        "query": {"point": "2", "before": "1", "sql": "select 1"},
        "files": {"point": "2", "file": "nothing"},
        "audit": {"text": "a", "since": "2026-01-01"},
    }
    for name, own in asked.items():
        page = open_page(name, warehouse, **view, **own)
        assert not page.test.exception
        shown = 0
        for kind in ("number_input", "text_input", "text_area"):
            for each in page.test.get(kind):
                if each.value not in (None, ""):
                    assert each.proto.default == each.value, (name, each.label)
                    shown += 1
        for each in page.test.get("checkbox"):
            assert each.proto.default == each.value, (name, each.label)
        for each in page.test.get("selectbox"):
            if each.proto.set_value and each.value is not None:
                assert each.options[each.proto.default] == each.proto.raw_value, (name, each.label)
                shown += 1
        for each in page.test.get("multiselect"):
            assert [each.options[place] for place in each.proto.default] == list(each.proto.raw_values), each.label
        assert shown > 1, name


def test_tags_go_in_the_same_plan_as_snapshots(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("retention", warehouse, table=TITLE, keep_max="3", drop="t2")
    table = tables.open_table(str(warehouse / "shop.db" / "orders"))
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    assert table.preview(Expire(retain_max=3, drop_tags=("t2",)), now_ms).headline in page.text
    assert "--drop-tag t2" in page.text
    page.test.checkbox(key="input.ended").set_value(True)
    page.test.text_input(key="input.tags_older").set_value("1 d")
    page.run()
    assert (address(page, "ended"), address(page, "tags_older")) == ("1", "1 d")
    asked = Expire(retain_max=3, drop_tags=("t2",), expired_tags=True, tags_older_than_ms=now_ms - 86_400_000)
    assert table.preview(asked, now_ms).headline in page.text
    assert "--expired-tags --tags-older-than" in page.text


def test_long_lived_changelogs_expire_by_a_mode_of_their_own(
    open_page: Callable[..., Page], shared_tables: Path
) -> None:
    real = shared_tables / "paimon" / "default.db" / "changelog_decoupled"
    page = open_page("retention", real, mode="changelogs", keep_max="1", keep_min="1")
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    asked = Expire(changelogs_only=True, changelog_retain_max=1, changelog_retain_min=1)
    plan = tables.open_table(str(real)).preview(asked, now_ms)
    assert plan.deleted_points
    assert plan.headline in page.text
    assert "--changelog --changelog-retain-max 1" in page.text


CHANGES = [
    Expire(retain_max=3),
    Expire(retain_max=5, retain_min=2, time_retained_ms=90_000, max_deletes=2),
    Expire(older_than_ms=START_MS + 3 * DAY_MS + 5, retain_min=1, drop_tags=("t2",)),
    DeleteTags(("t2", "t6")),
    DeleteTags(("t6",), branch="dev"),
    Expire(retain_max=3, expired_tags=True, tags_older_than_ms=START_MS + 5),
    Expire(snapshots=(1, 2), drop_tags=("t2",)),
    Expire(changelogs_only=True, changelog_retain_max=3, changelog_retain_min=2, changelog_time_retained_ms=90_000),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_printed_command_is_the_same_change(warehouse: Path, change: Expire | DeleteTags) -> None:
    location = str(warehouse / "shop.db" / "orders")
    table = tables.open_table(location)
    now_ms = START_MS + 40 * DAY_MS + 7
    plan = table.preview(change, now_ms)
    printed = commands.of(change, location)
    assert printed is not None
    spoken = shlex.split(printed)
    assert spoken[0] == "snapscope"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.main(["plan", *spoken[1:], "--now", str(now_ms), "--json"]) == 0
    assert json.loads(out.getvalue())["fingerprint"] == plan.fingerprint


def test_the_procedure_keeps_what_the_plan_keeps_by_age() -> None:
    """Without it, the age would be the table's own, and more would expire than was shown."""
    now_ms = START_MS + 9 * DAY_MS
    told = "CALL sys.expire_snapshots(table => 'a.b', retain_max => 12, older_than => '2026-01-03 00:00:00')"
    assert commands.call(Expire(retain_max=12, time_retained_ms=7 * DAY_MS), "a.b", now_ms, {}) == told
    both = Expire(retain_max=12, time_retained_ms=DAY_MS, older_than_ms=START_MS + 2 * DAY_MS)
    assert commands.call(both, "a.b", now_ms, {}) == told


def test_the_procedure_is_one_that_the_engine_takes() -> None:
    """The engine rejects a retain_max below its own retain_min, which is 10 if neither request nor table sets it."""
    call = "CALL sys.expire_snapshots(table => 'a.b', retain_max => 3"
    assert commands.call(Expire(retain_max=3), "a.b", 0, {}) == f"{call}, retain_min => 3)"
    assert commands.call(Expire(retain_max=3), "a.b", 0, {"snapshot.num-retained.min": "2"}) == f"{call})"


def test_the_command_of_a_query_holds_where_the_page_does() -> None:
    plain = commands.query("/w", "select 1", "12", None)
    assert plain == "snapscope query /w 'select 1' --at 12"
    assert commands.query("/w", "select 1", "12", None, 3_600_000) == f"{plain} --hold '1 h'"


def test_a_replaced_tag_is_printed_with_its_retention() -> None:
    assert commands.of(ReplaceTag("x", 3, 90_000), "/w") == (
        "snapscope replace-tag /w --name x --snapshot 3 --time-retained '90 s'"
    )


def test_a_created_tag_is_printed_too() -> None:
    change = CreateTag("x y", 3, 90_000, "dev")
    assert commands.of(change, "/w") == (
        "snapscope create-tag /w --name 'x y' --snapshot 3 --time-retained '90 s' --branch dev"
    )


@pytest.fixture
def demo(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse in which changes are run, without waiting."""
    (warehouse / DEMO_MARKER).touch()
    from core.execution import apply as applying

    own = applying.apply
    monkeypatch.setattr(applying, "apply", lambda table, plan, **options: own(table, plan, settle_s=0, **options))
    return warehouse


def test_an_expiry_is_carried_out_as_shown(open_page: Callable[..., Page], demo: Path) -> None:
    page = open_page("retention", demo, writes=True, table=TITLE, keep_max="3")
    plan = loading.plan(
        loading.history(tables.open_table(str(demo / "shop.db" / "orders")).heads()),
        Expire(retain_max=3),
        int(page.test.session_state["snapscope.now_ms"]),
    )
    button = next(each for each in page.test.button if each.label == words.CARRY_OUT)
    assert button.disabled
    confirming(page).set_value(danger(plan, "orders").phrase)
    page = press(page.run(), words.CARRY_OUT)
    job = finish()
    assert job.error is None
    assert job.result.is_exact
    assert job.result.freed_bytes == plan.freed_bytes
    root = demo / "shop.db" / "orders"
    left = {path.relative_to(root).as_posix() for path in root.rglob("*")}
    assert not left & set(plan.frees["path"].to_pylist())
    run = Journal().run(job.result.run)
    others = open_page("retention", demo, table=TITLE).text  # who did what and when, for readers who did not do it
    for shown in (page.run().text, others):
        assert f"Done: {len(plan.frees)} files deleted" in shown
        assert words.carried_out(run, units.moment(run.started_ms, "UTC")) in shown
    assert run.who in others
    assert plan.headline in others
    background_jobs.dismiss(job.id)


@pytest.mark.slow
def test_what_lies_outside_the_table_is_ticked_root_by_root(
    open_page: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The strongest confirmation: the number of files typed, and each root separately."""
    from core.execution import apply as applying

    lake = tmp_path / "lake"
    (lake / "shop.db").mkdir(parents=True)
    (lake / DEMO_MARKER).touch()
    places = [tmp_path / "one", tmp_path / "two"]
    named = ",".join(f"file:{place}" for place in places)
    table = TableBuilder(lake / "shop.db" / "orders", options={"data-file.external-paths": named})
    files = []
    for place in places:
        place.mkdir()
        (place / "x.parquet").write_bytes(bytes(7))
        files.append(DataFile(f"{place.name}.parquet", 7, 1, external=f"file:{place}/x.parquet"))
    table.commit(files)
    table.commit([table.file()], files, kind="OVERWRITE")
    page = open_page("retention", lake, writes=True, table=TITLE, keep_max="1")
    for place in places:
        assert f"1 file (7 B) under file://{place}" in page.text
    plan = loading.plan(
        loading.history(tables.open_table(str(table.root)).heads()),
        Expire(retain_max=1),
        int(page.test.session_state["snapscope.now_ms"]),
    )
    monkeypatch.setattr(applying, "apply", functools.partial(applying.apply, settle_s=0))
    confirming(page).set_value(danger(plan, "orders").phrase)
    ticks = [f"outside.{number}." for number in range(2)]
    for tick in ticks:
        page = page.run()
        assert carrying_out(page).disabled
        (box,) = (each for each in page.test.checkbox if str(each.key).startswith(tick))
        box.set_value(True)
    page = page.run()
    assert not carrying_out(page).disabled
    carrying_out(page).click()
    page.run()
    job = finish()
    assert job.error is None
    assert not any(path.exists() for place in places for path in place.iterdir())
    background_jobs.dismiss(job.id)


def confirming(page: Page) -> TextInput:
    (found,) = (each for each in page.test.text_input if str(each.key).startswith("confirm."))
    return found


@pytest.mark.slow
def test_what_was_typed_for_a_table_confirms_nothing_of_its_copy(open_page: Callable[..., Page], demo: Path) -> None:
    shutil.copytree(demo / "shop.db", demo / "saved.db")
    page = open_page("retention", demo, writes=True, table=TITLE, keep_max="3")
    asked = confirming(page).label
    confirming(page).set_value("orders 1")
    page.run()
    page.test.query_params["table"] = "saved.orders"
    page.run()
    assert confirming(page).label == asked, "the same plan, of a table of the same name, in the same state"
    assert not confirming(page).value
    click = carrying_out(page).id
    page.test.query_params["keep_max"] = "2"
    assert carrying_out(page.run()).id != click, "a click on the plan that was shown runs no other"


def test_a_plan_is_submitted_once(demo: Path) -> None:
    gate = threading.Event()
    background_jobs.submit("once", "change", "x.y", lambda job: gate.wait(300), exclusive=True)
    with pytest.raises(Conflict):
        background_jobs.submit("once", "change", "x.y", lambda job: None, exclusive=True)
    with pytest.raises(Conflict):
        background_jobs.submit("another", "change", "x.y", lambda job: None, exclusive=True)
    gate.set()
    job = background_jobs.find("once")
    assert job is not None
    assert job.wait(300)
    background_jobs.dismiss("once")


def test_a_change_that_another_page_was_faster_with_is_told(open_page: Callable[..., Page], demo: Path) -> None:
    page = open_page("tags", demo, writes=True, table=TITLE)
    page.test.text_input(key="tags.name").set_value("late")
    page.run()
    gate = threading.Event()
    place = str(demo / "shop.db" / "orders")
    job = background_jobs.submit("faster", "change", place, lambda job: gate.wait(300), exclusive=True)
    page = press(page, words.CREATE)  # no traceback
    assert words.job_busy(place) in page.text
    gate.set()
    assert job.wait(300)
    background_jobs.dismiss("faster")
    assert not (demo / "shop.db" / "orders" / "tag" / "tag-late").exists()


@pytest.mark.parametrize("label", [words.RESUME, words.UNDO])
def test_nothing_is_carried_on_once_changes_are_off(
    open_page: Callable[..., Page], demo: Path, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old page still shows its button, but the reader's switch counts."""
    table = tables.open_table(str(demo / "shop.db" / "orders"))
    kept = table.preview(DeleteTags(("t2",)), START_MS + 40 * DAY_MS)
    document: dict[str, Any] = {
        "change": {"names": ["t2"], "branch": "main"},
        "fingerprint": kept.fingerprint,
        "leaves": [],
    }
    document |= {"now_ms": kept.now_ms, "headline": kept.headline, "points": [], "rules": kept.rules.text}
    Journal().start(table.location, "DeleteTags", document, kept.removes, [])
    page = open_page("tags", demo, writes=True, table=TITLE)
    next(each for each in page.test.toggle if each.label == words.WRITABLE).set_value(False)
    press(page, label)
    assert newest_job("change") is None
    assert Journal().open_run(table.location) is not None


@pytest.mark.slow
def test_a_tag_is_created_and_deleted(open_page: Callable[..., Page], demo: Path, tmp_path: Path) -> None:
    page = open_page("tags", demo, writes=True, table=TITLE)
    page.test.text_input(key="tags.name").set_value("keep-me")
    page = press(page.run(), words.CREATE)
    told = [each.value for each in page.test.toast]
    job = finish()
    assert job.error is None
    assert (demo / "shop.db" / "orders" / "tag" / "tag-keep-me").read_bytes()
    assert words.IS_OVER in told + [each.value for each in page.run().test.toast]
    assert "Created tag/tag-keep-me." in page.run().text
    other = open_page("tags", demo, writes=True, table=TITLE)
    assert not other.test.toast, "somebody else did it"
    TableBuilder(tmp_path / "elsewhere" / "shop.db" / "orders").commit([])
    other = open_page("tags", tmp_path / "elsewhere", table=TITLE)
    assert "Created tag/tag-keep-me." not in other.text, "a table elsewhere may have the same name"
    background_jobs.dismiss(job.id)


def test_a_run_cut_off_by_the_browsers_next_word_clears_the_name_all_the_same(
    open_page: Callable[..., Page], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the form was drawn, the browser does not know yet that the name was cleared, and sends it again; and once
    more when the tag exists, when it would be taken."""
    page = open_page("tags", demo, writes=True, table=TITLE)
    page.test.text_input(key="tags.name").set_value("keep-me")
    said, drawn = page.run().test._tree.get_widget_states(), plans.progress

    def cut_off(_: OpenedTable) -> None:
        monkeypatch.setattr(plans, "progress", drawn)
        context = get_script_run_ctx()
        assert context is not None
        raise RerunException(RerunData(context.query_string, said, context.page_script_hash))

    monkeypatch.setattr(plans, "progress", cut_off)
    press(page, words.CREATE)
    made = finish()
    page.test._run(said)
    (name,) = (each.value for each in page.test.text_input if each.label == words.TAG_NAME)
    assert name == ""
    assert "already exists" not in page.text
    assert "Created tag/tag-keep-me." in page.text
    background_jobs.dismiss(made.id)


def tick(page: Page, row: int) -> Page:
    """Click a row of the first grid, which the browser reports by number."""
    page.test.session_state[str(page.test.dataframe[0].key)] = {
        "selection": {"rows": [row], "columns": [], "cells": []}
    }
    return page.run()


def test_once_a_chosen_tag_is_gone_no_other_is_chosen(open_page: Callable[..., Page], demo: Path) -> None:
    page = tick(open_page("tags", demo, writes=True, table=TITLE), 0)
    first, second = page.test.dataframe[0].value["name"]
    orders = tables.open_table(str(demo / "shop.db" / "orders"))
    plan = orders.preview(DeleteTags((first,)), START_MS)
    told = words.delete_tag(first, plan.freed_bytes, len(plan.frees))
    assert told in [each.label for each in page.test.expander], "what that reclaims is told before it is opened"
    apply(orders, plan, settle_s=0)
    page.run()
    assert list(page.test.dataframe[0].value["name"]) == [second]
    assert not [each.label for each in page.test.expander if each.label.startswith("Delete ")]


def choose(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Click the row with a given name: rows are selected inside the browser."""
    row = "dashboard.components.grid.choose"
    monkeypatch.setattr(row, lambda frame, *_, **__: list(frame["name"]).index(name))


@pytest.mark.parametrize(("typed", "retained_ms"), [(None, 129_600_000), ("2 d", 172_800_000), ("", None)])
def test_a_replaced_tag_keeps_its_time_unless_it_is_changed(
    typed: str | None,
    retained_ms: int | None,
    open_page: Callable[..., Page],
    demo: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = demo / "shop.db" / "orders"
    orders = tables.open_table(str(place))
    apply(orders, orders.preview(CreateTag("ends", 3, 129_600_000), START_MS))
    choose(monkeypatch, "ends")
    page = open_page("tags", demo, writes=True, table=TITLE)
    assert page.test.text_input(key="tags.replace.kept.ends").value == "36 h"
    page.test.selectbox(key="tags.replace.ends").set_value("5")
    if typed is not None:
        page.test.text_input(key="tags.replace.kept.ends").set_value(typed)
    expected = commands.of(ReplaceTag("ends", 5, retained_ms), str(place))
    assert expected in [each.value for each in page.run().test.code]
    assert ("it never does" in page.text) is (retained_ms is None)


def test_every_form_of_a_tag_may_be_filled_at_once(
    open_page: Callable[..., Page], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, "t2")
    page = open_page("tags", demo, writes=True, table=TITLE)
    page.test.selectbox(key="tags.replace.t2").set_value("5")
    page.test.text_input(key="tags.rename.t2").set_value("renamed")
    page.test.text_input(key="tags.name").set_value("made")
    page.run()
    labels = [each.label for each in page.test.button]
    assert (labels.count(words.CARRY_OUT), labels.count(words.CREATE)) == (3, 1)


def test_a_tag_that_cannot_be_deleted_can_be_renamed(
    open_page: Callable[..., Page], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each form of a tag states its own error, and leaves the others to the reader."""
    planned = loading.plan

    def plan(history: History, change: Change, now_ms: int) -> Plan:
        if isinstance(change, DeleteTags):
            raise Corrupt("A manifest is damaged.", path="manifest/m")
        return planned(history, change, now_ms)

    monkeypatch.setattr(loading, "plan", plan)
    choose(monkeypatch, "t2")
    page = open_page("tags", demo, writes=True, table=TITLE)
    assert "A manifest is damaged." in page.text
    page.test.text_input(key="tags.rename.t2").set_value("renamed")
    page.run()
    assert words.CARRY_OUT in [each.label for each in page.test.button]


def test_a_name_that_is_taken_is_refused(open_page: Callable[..., Page], demo: Path) -> None:
    page = open_page("tags", demo, writes=True, table=TITLE)
    page.test.text_input(key="tags.name").set_value("t2")
    assert "already exists" in page.run().text


# what changes underneath ---------------------------------------------------------------------------------------------


def test_a_new_commit_is_seen_without_refresh(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table="shop.other")
    assert "1 snapshot ·" in page.text
    table = TableBuilder(warehouse / "shop.db" / "copy")
    table.commit([])
    table.commit([])
    shutil.copytree(warehouse / "shop.db" / "copy", warehouse / "shop.db" / "other", dirs_exist_ok=True)
    assert "2 snapshots ·" in page.run().text


def test_now_stands_still_between_refreshes(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE)
    before = page.test.session_state["snapscope.now_ms"]
    time.sleep(0.01)
    assert page.run().test.session_state["snapscope.now_ms"] == before
    assert press(page, words.REFRESH).test.session_state["snapscope.now_ms"] > before


def test_reading_can_be_cancelled_and_resumed(open_page: Callable[..., Page], warehouse: Path) -> None:
    page = open_page("timeline", warehouse, table=TITLE)
    heads = tables.open_table(str(warehouse / "shop.db" / "orders")).heads()
    loading._histories._kept.clear()
    page.test.session_state["snapscope.stopped"] = loading.fingerprint(heads)
    assert words.STOPPED in page.run().text
    assert "Snapshot 9" in press(page, words.READ_AGAIN).text


@pytest.mark.slow
def test_more_tags_than_can_be_chosen_from_hide_nothing_else(
    open_page: Callable[..., Page], warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.analysis.storage_cost.MAX_DROPPABLE", 1)
    page = open_page("retention", warehouse, table=TITLE, mode="storage")
    for tab, (text, shown) in {
        "drops": ("2 tags are too many to compare; the limit is 1.", 0),
        "holders": (words.LAB_HOLDERS_HELP, 1),
    }.items():
        page.test.query_params["lab"] = tab
        page.run()
        assert text in page.text
        assert len(page.test.dataframe) == shown


@pytest.mark.slow
def test_a_paimon_branch_and_the_way_back_by_the_page(open_page: Callable[..., Page], demo: Path) -> None:
    """Each form shows its plan and its command; a destructive rollback lists its files, needs a typed confirmation, and
    runs."""
    root = demo / "shop.db" / "orders"
    page = open_page("tags", demo, writes=True, table=TITLE)
    for form, command, inputs in (
        ("create", "create-branch", (("text_input", "", "new"), ("selectbox", ".point", "tag:t2"))),
        ("rename", "rename-branch", (("selectbox", "", "dev"), ("text_input", ".to", "devs"))),
        ("delete", "delete-branch", (("multiselect", "", ["dev"]),)),
        ("rollback", f"rollback {root} 4 --destructive",
         (("selectbox", ".point", "4"), ("checkbox", ".destroys", True))),
    ):  # fmt: skip
        page.fill_in(form, inputs)
        assert command in page.text
    page.at(form="rename")
    assert page.test.text_input(key="branches.rename.to").value == "devs", "a form stays as it was left"
    page.at(form="rollback")
    plan = tables.open_table(str(root)).preview(Rollback("4", destructive=True), 0)
    assert plan.headline in page.text
    assert words.held_by_nothing(len(plan.orphans)).split(":")[0] in str([each.label for each in page.test.expander])
    phrase = danger(plan, "orders").phrase
    assert phrase.split()[1] == str(len(plan.orphans))
    for each in page.test.text_input:
        if each.label == words.type_to_confirm(phrase):
            each.set_value(phrase)
    page.run()
    carrying_out(page, "Rollback").click()
    page.run()
    finish()
    assert not (root / "snapshot/snapshot-5").exists()
    assert (root / "snapshot/LATEST").read_text() == "4"
    assert Journal().runs()[0].state == "done"


def branched(directory: Path, *branches: str) -> TableBuilder:
    table = TableBuilder(directory)
    table.commit([table.file(1_000)])
    for name in branches:
        table.branch(name).commit([table.file(1_000)])
    return table


def test_what_was_typed_for_one_table_is_not_in_the_forms_of_another(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    """Else the branch of the same name would be one click from being deleted."""
    for name, branch in (("a", "dev"), ("b", "dev"), ("c", "other")):
        branched(tmp_path / "w" / "shop.db" / name, branch)
    page = open_page("tags", tmp_path / "w", writes=True, table="shop.a")
    for other in ("shop.b", "shop.c"):
        page.at(table="shop.a").fill_in("delete", [("multiselect", "", ["dev"])])
        page.at(form="create")
        page.at(table=other, form="delete")
        assert [each.value for each in page.test.multiselect] == [[]]


def test_what_was_typed_for_a_tag_is_not_in_the_forms_of_another_table(
    open_page: Callable[..., Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        branched(tmp_path / "w" / "shop.db" / name).tag("same", 1)
    choose(monkeypatch, "same")
    page = open_page("tags", tmp_path / "w", table="shop.a")
    forms = {"tags.name": "made", "tags.kept": "9d", "tags.time": "2026-11-01", "tags.rename.same": "renamed"}
    for key, typed in forms.items():
        page.test.text_input(key=key).set_value(typed)
    page.test.checkbox(key="tags.verify").uncheck()
    page.run().at(table="shop.b")
    assert not {each.value for each in page.test.text_input} & set(forms.values())
    assert page.test.checkbox[0].value


def test_a_branch_that_is_gone_leaves_the_forms_that_named_it(open_page: Callable[..., Page], tmp_path: Path) -> None:
    table = branched(tmp_path / "w" / "shop.db" / "a", "dev", "old")
    page = open_page("tags", tmp_path / "w", writes=True, table="shop.a")
    page.fill_in("delete", [("multiselect", "", ["dev"])])
    page.fill_in("rename", [("selectbox", "", "dev")])
    shutil.rmtree(table.root / "branch" / "branch-dev")
    page.at(form="create")
    page.at(form="delete")
    assert page.test.multiselect(key="branches.delete").value == []
    page.at(form="rename")
    assert page.test.selectbox(key="branches.rename").value is None
