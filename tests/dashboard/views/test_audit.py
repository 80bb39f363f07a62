"""The Audit page: filters in the URL, each run with its plan, receipt and command, exact plans, the hash chain."""

from __future__ import annotations

import dataclasses
import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from core.catalog import DEMO_MARKER
from core.execution.apply import apply
from core.execution.journal import Journal, Run
from core.model.actions import Change, CreateTag, DeleteTags, Expire
from core.procedures import command_line
from core.table import Table, open_table
from dashboard import words
from dashboard.components.changes import running_change
from dashboard.components.frame import OpenedTable
from dashboard.formatting import exports
from dashboard.view_models import audit
from dashboard.view_models.audit import RunFilter
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import Page

NOW_MS = 4_000_000_000_000
CHANGES = (
    Expire(retain_max=9, retain_min=9),
    DeleteTags(("t<b>2",)),
    CreateTag("=made", 14),
    Expire(retain_max=5, retain_min=5),
)


def carry_out(table: Table, change: Change) -> Run:
    receipt = apply(table, table.preview(change, NOW_MS), settle_s=0)
    return Journal().run(receipt.run)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "warehouse"
    for name in ("orders", "other"):
        table = TableBuilder(root / "shop.db" / name, step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"})
        for number in range(14):
            table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
            if number in (1, 5):
                table.tag(f"t<b>{number + 1}")
    (root / DEMO_MARKER).touch()
    return root


@pytest.fixture
def runs(warehouse: Path) -> list[Run]:
    """Make changes to `orders` in the order of `CHANGES`, then one to `other`."""
    orders, other = (open_table(str(warehouse / "shop.db" / name)) for name in ("orders", "other"))
    return [*(carry_out(orders, change) for change in CHANGES), carry_out(other, Expire(retain_max=3, retain_min=3))]


def told(runs: list[Run], **wanted: Any) -> list[str]:
    return [run.id for run in audit.filtered(runs, dataclasses.replace(RunFilter(), **wanted))]


def test_tables_of_one_name_are_told_apart(runs: list[Run]) -> None:
    """An auditor must see which `shop.orders` was changed: that of tests or that in production."""
    here, there = "/lake/prod/shop.db/orders", "s3://lake/test/shop.db/orders"
    assert audit.titles([here, "/lake/prod/shop.db/other", here]) == {
        here: "shop.orders",
        "/lake/prod/shop.db/other": "shop.other",
    }
    assert audit.titles([here, there]) == {here: "shop.orders (/lake/prod)", there: "shop.orders (s3://lake/test)"}
    pair = [dataclasses.replace(runs[0], table=here), dataclasses.replace(runs[1], table=there)]
    assert list(audit.frame(pair, "UTC")["table"]) == ["shop.orders (/lake/prod)", "shop.orders (s3://lake/test)"]


def test_filters_and_what_is_exact(runs: list[Run]) -> None:
    expire, drop, make, again, other = (run.id for run in runs)
    assert told(runs) == [run.id for run in runs]
    assert told(runs, table=runs[0].table) == [expire, drop, make, again]
    assert told(runs, kind="Expire", outcome="exact") == [expire, again, other]
    assert told(runs, outcome="ended") == [make], "a tag deletes nothing, so nothing is to be compared"
    assert told(runs, who=runs[0].who, text="T<B>2") == [drop], "what goes and what was asked for, whatever its case"
    runs[2] = dataclasses.replace(runs[2], others=("bob@there",))
    assert told(runs, who="bob@there") == told(runs, text="BOB@") == [make], "who resumed, cancelled or undid it"
    assert words.people(runs[2]) == f"{runs[2].who}, then bob@there"
    assert audit.frame(runs, "UTC")["who"].tolist()[2] == f"{runs[2].who}, then bob@there"
    assert told(runs, text=runs[3].fingerprint[:20]) == [again]
    moment = runs[2].started_ms
    assert told(runs, until_ms=moment) == [run.id for run in runs if run.started_ms < moment]
    assert told(runs, since_ms=moment) == [run.id for run in runs if run.started_ms >= moment]
    assert audit.badge(runs) == (4, 4)
    receipt = dict(runs[0].receipt or {})
    for change in (
        {"kept_back": [["data-1", "held by a reference created since"]]},
        {"deleted": receipt["deleted"] - 1},
        {"freed_bytes": receipt["freed_bytes"] - 1},
    ):
        short = dataclasses.replace(runs[0], receipt={**receipt, **change})
        assert audit.outcome(short) == "inexact"
        assert audit.badge([short, *runs[1:]]) == (3, 4)
    assert audit.badge([runs[0]] * 60) == (40, 40)
    halted = dataclasses.replace(runs[0], state="sweep started", receipt=None)
    assert (audit.outcome(halted), audit.badge([halted])) == ("unfinished", (0, 0))
    undone = dataclasses.replace(runs[2], state="undone", receipt=None)
    refused = dataclasses.replace(undone, problem="tag-v already exists.")
    assert [audit.outcome(each) for each in (undone, refused)] == ["taken back", "refused"]
    assert [words.run_state(each) for each in (undone, refused)] == ["undone", "failed, nothing changed"]


def test_before_the_first_change_the_page_says_what_will_be_there(
    warehouse: Path, open_page: Callable[..., Page]
) -> None:
    assert words.AUDIT_EMPTY in open_page("audit", warehouse, table="shop.orders").text


def test_changes_of_a_table_that_cannot_be_read_are_shown(
    warehouse: Path, runs: list[Run], open_page: Callable[..., Page]
) -> None:
    for path in (warehouse / "shop.db" / "orders" / "snapshot").iterdir():
        path.write_text("{")
    for path in (warehouse / "shop.db" / "orders" / "schema").iterdir():
        path.unlink()
    page = open_page("audit", warehouse, table="shop.orders")
    assert words.audit_shown(len(runs), len(runs)) in page.text
    assert words.NEXT_STEP in page.text


def test_the_list_is_taken_away_without_formulas(runs: list[Run]) -> None:
    frame = audit.frame(runs[::-1], "Asia/Shanghai")
    assert list(frame.columns) == list(words.AUDIT_COLUMNS)
    assert frame["files"].tolist()[-1] == runs[0].receipt["deleted"] if runs[0].receipt else False
    made = next(run for run in runs if run.change_kind == "CreateTag")
    hostile = dataclasses.replace(made, who="=cmd()")
    assert b"'=cmd()" in exports.csv(audit.frame([hostile], "UTC"))
    assert "CST" in frame["started"][0]


@pytest.mark.slow
def test_every_run_opens_with_its_plan_receipt_and_command(
    warehouse: Path, runs: list[Run], open_page: Callable[..., Page]
) -> None:
    page = open_page("audit", warehouse, table="shop.orders")
    assert words.audit_exact(3, 3) in page.text
    assert words.audit_shown(4, 5) in page.text
    events = len(Journal().events())
    assert f"Journal verified: {events} entries, chain intact" in page.text
    assert words.AUDIT_PICK in page.text
    for run in runs:
        shown = open_page("audit", warehouse, table="shop.orders", run=run.id).text
        assert run.fingerprint in shown
        assert str(run.plan["headline"]) in shown
        assert command_line.exactly(run.change, run.table, NOW_MS, run.fingerprint) in shown
        for path in Journal().deleted(run.id):
            assert path in shown
        for point, _, why in run.plan["points"]:
            assert point in shown
            assert "; ".join(why) in shown
    everything = open_page("audit", warehouse, table="shop.orders", of="all", kind="Expire", outcome="exact")
    assert words.audit_shown(3, 5) in everything.text
    unasked = open_page("audit", warehouse)  # from Home: no table is the reader's
    assert len(unasked.test.dataframe[0].value) == len(runs)
    assert set(unasked.test.dataframe[0].value["table"]) == {"shop.orders", "shop.other"}
    assert "snapscope audit" in [each.value for each in unasked.test.code]
    theirs = open_page("audit", warehouse, table="shop.orders", of=runs[-1].table)
    assert f"snapscope audit {runs[-1].table}" in [each.value for each in theirs.test.code]
    assert words.AUDIT_NONE in open_page("audit", warehouse, table="shop.orders", text="nobody said this").text
    assert "not a valid time" in open_page("audit", warehouse, table="shop.orders", since="soon").text


def test_a_broken_chain_is_said_and_hides_nothing(
    warehouse: Path, runs: list[Run], open_page: Callable[..., Page]
) -> None:
    with sqlite3.connect(Journal().path) as connection:
        connection.execute("drop trigger events_update")
        connection.execute("update events set at_ms = at_ms + 1 where number = 3")
    connection.close()
    text = open_page("audit", warehouse, table="shop.orders").text
    assert "Journal entry 3 was altered: its hash does not match." in text
    assert "unbroken" not in text
    assert words.audit_shown(4, 5) in text


@pytest.mark.slow
def test_what_did_not_end_can_be_carried_on_from_here(warehouse: Path, open_page: Callable[..., Page]) -> None:
    table, asked = open_table(str(warehouse / "shop.db" / "orders")), itertools.count()
    plan = table.preview(Expire(retain_max=3, retain_min=3), NOW_MS)
    run = apply(table, plan, settle_s=0, cancelled=lambda: next(asked) >= 3).run
    own = open_page("audit", warehouse, table="shop.orders", writes=True, outcome="unfinished", run=run)
    assert words.RESUME in [each.label for each in own.test.button]
    assert words.audit_shown(1, 1) in own.text
    assert f"snapscope resume {run}" in own.text
    other = open_page("audit", warehouse, table="shop.other").text
    assert f"snapscope resume {run}" in other
    assert words.AUDIT_NONE_HERE in other


def test_a_change_that_began_is_not_that_of_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Identical tables planned at the same moment share a plan fingerprint, and are changed one by one."""
    one, copy = (
        SimpleNamespace(listing=None, ref=SimpleNamespace(location=place, title="a.b")) for place in ("one", "copy")
    )
    monkeypatch.setattr("dashboard.permissions.is_on", lambda _: True)
    for table, begun in ((one, [True, False]), (copy, [True, True])):
        assert running_change.submit(cast(OpenedTable, table), "the same plan", lambda _: None, "")
        assert [
            running_change.show_submitted(cast(OpenedTable, each), "the same plan") for each in (one, copy)
        ] == begun
