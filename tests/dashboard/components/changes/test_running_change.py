"""The banner of an unfinished run: what can be done about it from here."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalog import DEMO_MARKER
from core.execution.apply import apply
from core.execution.journal import RESUMED, Journal
from core.model.actions import Expire
from core.table import Table, open_table
from dashboard import words
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import Page

NOW_MS = 4_000_000_000_000


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(4):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
    (tmp_path / "w" / DEMO_MARKER).touch()
    return tmp_path / "w"


def cancelled(warehouse: Path, of: type[Table] = Table) -> str:
    table = of(open_table(str(warehouse / "shop.db" / "orders")).format)
    plan = table.preview(Expire(retain_max=1, retain_min=1), NOW_MS)
    return apply(table, plan, settle_s=0, cancelled=lambda: True).run


def buttons(page: Page) -> set[str]:
    return {each.label for each in page.test.button} & {words.RESUME, words.UNDO}


@pytest.mark.parametrize("on_spark", [False, True])
def test_what_was_begun_on_spark_is_ended_on_the_command_line(
    warehouse: Path, open_page: Callable[..., Page], on_spark: bool
) -> None:
    """The dashboard reads metadata in one process, into which such a table may not fit."""

    class OnSpark(Table):
        pass

    OnSpark.on_spark = on_spark
    run = cancelled(warehouse, OnSpark)
    page = open_page("retention", warehouse, table="shop.orders", writes=True)
    assert "did not finish" in page.text
    ways = f"snapscope resume {run} --on-spark snapscope undo {run} --on-spark"
    assert (ways in page.text, buttons(page)) == (on_spark, set() if on_spark else {words.RESUME, words.UNDO})
    assert (words.UNFINISHED_ON_SPARK[True] in page.text) == on_spark


_HOLDER = """
import sys
from core.execution.table_lock import carried_out, locked
with locked(sys.argv[1]), carried_out(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_what_another_process_carries_out_is_not_called_unfinished(
    warehouse: Path, open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Resume would fail, and what it says of files would be wrong a moment later."""
    run, location, pipe = cancelled(warehouse), str(warehouse / "shop.db" / "orders"), subprocess.PIPE
    monkeypatch.setenv("LOGNAME", "bob")
    Journal().add(run, RESUMED, {})
    command = [sys.executable, "-c", _HOLDER, location, run]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        page = open_page("retention", warehouse, table="shop.orders", writes=True)
        assert "did not finish" not in page.text
        assert re.search(r"“Expire snapshots” is running in another process, since .*, by bob@", page.text)
        assert buttons(page) == set()
        assert page.test.button(key="unfinished.refresh").label == words.REFRESH
        audit = open_page("audit", warehouse, table="shop.orders", run=run)
        assert words.RUNNING_NOW in audit.text
        assert f"snapscope resume {run}" not in audit.text
        holder.kill()
        holder.wait(30)
    page.test.button(key="unfinished.refresh").click()
    page.run()
    assert "did not finish" in page.text
    assert buttons(page) == {words.RESUME, words.UNDO}
