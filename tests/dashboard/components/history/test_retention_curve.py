"""The retention lab, the audit page and what did not end: each on real plans, applies and crashes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import DEMO_MARKER
from core.errors import SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import resume
from core.model.actions import Expire
from core.storage.store import Store
from core.table import open_table
from dashboard import words
from dashboard.formatting.palette import LIGHT
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
    """An expiry whose store fails at the second reference that goes."""
    table = open_table(table_of(warehouse))
    plan = table.preview(Expire(retain_max=3, retain_min=3), NOW_MS)
    whole, left = Store.delete, [1]

    def dies(self: Store, path: str) -> bool:
        if not left:
            raise SnapscopeError("the store went away")
        left.pop()
        return whole(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete", dies)
        with pytest.raises(SnapscopeError):
            apply(table, plan, settle_s=0)


def test_the_curve_says_what_each_retention_would_free(warehouse: Path) -> None:
    history = open_table(table_of(warehouse)).history()
    figure = retention_curve.curve(history, "main", LIGHT, chosen=4)
    assert figure is not None
    assert list(figure.data[0].x) == list(range(1, 15))
    for keep, freed in zip(figure.data[0].x, figure.data[0].y, strict=True):
        plan = open_table(table_of(warehouse)).preview(Expire(retain_max=keep, retain_min=keep), NOW_MS)
        assert plan.freed_bytes == freed
    told = retention_curve.curve_table(history, "main")
    assert told["bytes"].tolist() == list(figure.data[0].y)
    assert any("keep 4" in str(each.text) for each in figure.layout.annotations)


def test_retention_shows_curve_holders_drops_and_the_engine(warehouse: Path, open_page: Callable) -> None:
    page = open_page("retention", warehouse, table="shop.orders", keep_max="10")
    own = "Apart from any plan, the table's own options have the next commit of a writer do: Frees"
    for text in (words.LAB, words.LAB_CURVE_HELP, words.NATIVE_SAME, own):
        assert text in page.text
    assert words.LAB_HOLDERS_HELP not in page.text, "what is not open is not drawn"
    for tab, texts in {
        words.LAB_HOLDERS: (words.LAB_HOLDERS_HELP,),
        words.LAB_DROPS: (words.LAB_DROPS_HELP,),
        words.LAB_OWN: (
            "to keep it. The table option snapshot.num-retained.min = 15",
            "after 10 more commits",
            "never by itself: it has no retention",
        ),
    }.items():
        page.test.session_state["lab"] = tab
        page.run()
        for text in texts:
            assert text in page.text
    assert page.text.count(own) == 2, "beside the plan, and in the lab"


@pytest.mark.parametrize(("button", "state"), [(words.RESUME, "done"), (words.UNDO, "undone")])
def test_an_unfinished_change_is_offered(
    button: str, state: str, warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(warehouse, monkeypatch)
    monkeypatch.setattr("core.execution.grace_period.wait", lambda *_: None)
    page = open_page("retention", warehouse, table="shop.orders", writes=True)
    assert "did not end" in page.text
    assert "the store went away" in page.text
    next(each for each in page.test.button if each.label == button).click()
    page.run()
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    assert job.error is None
    ended = page.run().text
    assert "did not end" not in ended
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
    assert "did not end: cancelled by its user." in text
    assert text.count("cancelled by") == 1
    assert "stopped by" not in text
    resume(run, open_table=open_table, settle_s=0)
    assert words.audit_exact(1, 1) in open_page("audit", warehouse, table="shop.orders").text


@pytest.mark.parametrize("name", [name for name in STATES if name != "10,000 snapshots"])
def test_audit_copes_with_every_state(name: str, built: Callable[[str], Path], open_page: Callable) -> None:
    open_page("audit", built(name))
