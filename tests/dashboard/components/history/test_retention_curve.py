"""The what-if analysis, the audit page and unfinished runs, each with real plans, applies and crashes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import plotly.graph_objects as go
import pytest

from core.catalog import DEMO_MARKER
from core.errors import SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import resume
from core.model.actions import Expire
from core.storage.store import Store
from core.table import open_table
from dashboard import settings, words
from dashboard.components.changes import plan
from dashboard.formatting.palette import LIGHT
from dashboard.formatting.prices import Price, money
from dashboard.view_models import retention_curve
from tests.support.builders import DAY_MS, STATES, TableBuilder
from tests.support.dashboard.pages import newest_job

NOW_MS = 4_000_000_000_000


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "warehouse"
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"})
    for number in range(14):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
        if number in (1, 5):
            table.tag(f"t{number + 1}")
    (root / DEMO_MARKER).touch()
    return root


def table_of(warehouse: Path) -> str:
    return str(warehouse / "shop.db" / "orders")


def crash(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An expiry whose store fails at the second deleted reference."""
    table = open_table(table_of(warehouse))
    plan = table.preview(Expire(retain_max=3, retain_min=3), NOW_MS)
    whole, left = Store.delete, [1]

    def dies(self: Store, path: str, was: bytes | None = None) -> bool:
        if not left:
            raise SnapscopeError("the store went away")
        left.pop()
        return whole(self, path, was)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete", dies)
        with pytest.raises(SnapscopeError):
            apply(table, plan, settle_s=0)


@pytest.mark.slow
def test_the_curve_says_what_each_retention_would_free(warehouse: Path) -> None:
    history = open_table(table_of(warehouse)).history()
    drawn = retention_curve.curve(history, "main", LIGHT, chosen=4)
    assert drawn is not None
    figure = go.Figure(drawn)  # which refuses what plotly does not know
    told = retention_curve.curve_table(history, "main")
    assert told["keep"].tolist() == list(range(1, 15))
    line = dict(zip(figure.data[0].x, figure.data[0].y, strict=True))
    assert {1, 14} <= set(line)
    for keep, freed in zip(told["keep"], told["bytes"], strict=True):
        assert line[max(each for each in line if each <= keep)] == freed, "a step lasts until the next"
        plan = open_table(table_of(warehouse)).preview(Expire(retain_max=keep, retain_min=keep), NOW_MS)
        assert plan.freed_bytes == freed
    assert any("keep 4" in str(each.text) for each in figure.layout.annotations)


def test_the_line_of_a_long_history_has_no_more_turns_than_pixels(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = open_table(table_of(warehouse)).history()
    whole = retention_curve.curve(history, "main", LIGHT)
    monkeypatch.setattr(retention_curve, "MOST_TURNS", 3)
    least = retention_curve.curve(history, "main", LIGHT)
    assert whole is not None
    assert least is not None
    every, some = (dict(zip(each["data"][0]["x"], each["data"][0]["y"], strict=True)) for each in (whole, least))
    assert {1, 14} <= set(some)
    assert len(some) <= 5 < len(every)
    for keep in range(1, 15):  # a step lies at most a third of the line too far to the right
        truth = {every[max(x for x in every if x <= max(1, near))] for near in range(keep - 5, keep + 1)}
        assert some[max(x for x in some if x <= keep)] in truth


def test_the_newest_versions_that_go_are_offered_to_keep(
    warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, offered in ((3, ["10", "9", "8"]), (10, [str(number) for number in range(10, 0, -1)])):
        monkeypatch.setattr(plan, "LISTED", most)
        page = open_page("retention", warehouse, table="shop.orders", keep_max="4", keep_min="4")
        box = page.test.selectbox(key="plans.protect")
        assert box.options == offered
        assert (words.PROTECT_OTHERS in box.help) == (most == 3)


def test_retention_shows_curve_holders_drops_and_the_engine(warehouse: Path, open_page: Callable) -> None:
    page = open_page("retention", warehouse, table="shop.orders", keep_max="10")
    own = "At the next commit, the engine itself does this: Expires"
    for text in (words.LAB_CURVE_HELP, own):
        assert text in page.text
    beside = open_page("retention", warehouse, table="shop.orders", keep_max="10", tab="native")
    assert words.NATIVE_SAME in beside.text
    assert words.NATIVE_SAME not in page.text, "nor is a tab of the plan"
    page = open_page("retention", warehouse, table="shop.orders", mode="storage")
    assert words.LAB_DROPS_HELP not in page.text, "what is not open is not drawn"
    for tab, texts in {
        "holders": (words.LAB_HOLDERS_HELP,),
        "drops": (words.LAB_DROPS_HELP,),
        "own": (
            "to keep it. The table option snapshot.num-retained.min = 15",
            "after 10 more commits",
            "never automatically: it has no retention",
        ),
    }.items():
        page.test.query_params["lab"] = tab
        page.run()
        for text in texts:
            assert text in page.text
    assert page.text.count(own) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("button", "state"), [(words.RESUME, "done"), (words.UNDO, "undone")])
def test_an_unfinished_change_is_offered(
    button: str, state: str, warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(warehouse, monkeypatch)
    monkeypatch.setattr("core.execution.grace_period.wait", lambda *_: None)
    page = open_page("retention", warehouse, table="shop.orders", writes=True)
    assert "did not finish" in page.text
    assert "the store went away" in page.text
    next(each for each in page.test.button if each.label == button).click()
    page.run()
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    assert job.error is None
    ended = page.run().text
    assert "did not finish" not in ended
    assert (words.restored(1) if state == "undone" else "Done:") in ended
    [run] = Journal().runs()
    assert run.state == state
    snapshots = open_table(table_of(warehouse)).heads().main.snapshots
    assert len(snapshots) == (3 if state == "done" else 14)


def test_a_cancelled_change_reads_as_cancelled_and_once_carried_on_as_exact(
    warehouse: Path, open_page: Callable
) -> None:
    table = open_table(table_of(warehouse))
    asked = itertools.count()
    plan = table.preview(Expire(retain_max=3, retain_min=3), NOW_MS)
    run = apply(table, plan, settle_s=0, cancelled=lambda: next(asked) >= 3).run
    text = open_page("retention", warehouse, table="shop.orders").text
    assert "did not finish: cancelled by the user." in text
    assert text.count("cancelled by") == 1
    assert "stopped by" not in text
    resume(run, open_table=open_table, settle_s=0)
    assert words.audit_exact(1, 1) in open_page("audit", warehouse, table="shop.orders").text


@pytest.mark.parametrize("name", [name for name in STATES if name != "10,000 snapshots"])
def test_audit_copes_with_every_state(name: str, built: Callable[[str], Path], open_page: Callable) -> None:
    open_page("audit", built(name))


def test_the_curve_of_few_snapshots_counts_whole_ones(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", step_ms=DAY_MS)
    for _ in range(3):
        table.commit([table.file(1_000)], table.live()[:1])
    drawn = retention_curve.curve(open_table(str(table.root)).history(), "main", LIGHT)
    assert drawn is not None
    assert go.Figure(drawn).layout.xaxis.dtick == 1, "or its marks are 1, 1.5, 2"


def test_the_curve_is_a_slider_and_its_mark_is_where_the_plan_is(warehouse: Path, open_page: Callable) -> None:
    history = open_table(table_of(warehouse)).history()
    plan = open_table(table_of(warehouse)).preview(Expire(retain_max=4, retain_min=4), NOW_MS)
    assert retention_curve.kept_snapshots(plan, "main") == 4
    drawn = retention_curve.curve(history, "main", LIGHT, 4, Price(0.5, "EUR"))
    assert drawn is not None
    figure, told = go.Figure(drawn), retention_curve.curve_table(history, "main")
    columns = figure.data[1]
    assert [each[0] for each in columns.customdata] == [str(keep) for keep in told["keep"]], "each can be clicked"
    assert sum(told["bytes"] > 0) == sum("EUR a month" in each[1] for each in columns.customdata[:-1])
    top = max(told["bytes"])
    assert figure.layout.yaxis2.ticktext[-1] == money(top, Price(0.5, "EUR"))
    page = open_page("retention", warehouse, table="shop.orders", keep_max="4", keep_min="4")
    assert plan.headline in page.text
    assert words.reclaims(plan.freed_bytes, len(plan.frees)) in page.text


@pytest.mark.parametrize(("preset", "asked"), [("newest", Expire(retain_max=5, retain_min=5)), ("policy", Expire())])
def test_a_preset_fills_the_boxes(warehouse: Path, open_page: Callable, preset: str, asked: Expire) -> None:
    page = open_page("retention", warehouse, table="shop.orders", keep_max="3", max_deletes="1")
    [presets] = [each for each in page.test.get("button_group") if each.key == "retention.preset"]
    assert presets.value is None, "none of them says what the boxes say"
    presets.set_value(preset)
    page.run()
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    assert open_table(table_of(warehouse)).preview(asked, now_ms).headline in page.text
    assert page.test.session_state["retention.preset"] == preset


def test_one_number_alone_is_enough_where_the_option_contradicts_it(tmp_path: Path, open_page: Callable) -> None:
    options = {"snapshot.num-retained.min": "8", "snapshot.num-retained.max": "9"}
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders", step_ms=DAY_MS, options=options)
    for number in range(12):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
    for name, number, asked in (
        ("keep_max", 5, Expire(retain_max=5, retain_min=5)),
        ("keep_min", 11, Expire(retain_max=11, retain_min=11)),
    ):
        page = open_page("retention", tmp_path / "w", table="shop.orders", **{name: str(number)})
        assert open_table(str(table.root)).preview(asked, NOW_MS).headline in page.text
        assert "contradicts" in page.text


@pytest.mark.slow
def test_a_price_that_is_set_shows_what_bytes_cost(warehouse: Path, open_page: Callable) -> None:
    page = open_page("retention", warehouse, table="shop.orders", keep_max="3", keep_min="3")
    assert "USD a month" not in page.text
    page.test.text_input(key="price.amount").set_value("23000")
    page.run()
    assert settings.price() == Price(23_000, "USD")
    plan = open_table(table_of(warehouse)).preview(Expire(retain_max=3, retain_min=3), NOW_MS)
    assert page.text.count(money(plan.freed_bytes, Price(23_000))) >= 3, "tile, bar and footer"
    page.test.text_input(key="price.amount").set_value("dear")
    assert words.NOT_A_PRICE in page.run().text
    assert settings.price() == Price(23_000, "USD"), "what is no price changes nothing"
    page.test.text_input(key="price.amount").set_value("")
    assert "USD a month" not in page.run().text
    assert settings.price() is None
