"""Runs on every page: one total from the first step to the last, a countdown, and receipts that are read once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from dashboard import background_jobs, words
from dashboard.background_jobs import Job
from dashboard.components.changes import running_change
from tests.support.builders import DAY_MS, TableBuilder

TITLE = "shop.orders"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    for name in ("orders", "other"):
        table = TableBuilder(tmp_path / "w" / "shop.db" / name, step_ms=DAY_MS)
        table.commit([table.file(1_000, rows=10)])
    return tmp_path / "w"


class Run:
    """A run whose steps a test takes one by one."""

    def __init__(self, warehouse: Path, name: str, planned: int) -> None:
        self.go_on = threading.Event()
        self.result: Receipt | None = None
        location = str(warehouse / "shop.db" / name)
        self.job = background_jobs.submit(
            name, running_change.KIND, location, self._work,
            exclusive=True, title=f"shop.{name}", about=f"Frees of {name}.", planned=planned,
        )  # fmt: skip

    def _work(self, _: Job) -> Receipt | None:
        assert self.go_on.wait(300)
        return self.result

    def end(self, run: str, location: str) -> None:
        self.result = Receipt(run, location, "", "done", (), ("a", "b"), 7, 2, 7, (), (), "")
        self.go_on.set()
        assert self.job.wait(300)


@pytest.fixture
def run(warehouse: Path) -> Iterator[Run]:
    found = Run(warehouse, "orders", 169)
    yield found
    found.go_on.set()


def test_one_total_in_all_steps(run: Run) -> None:
    """References are files of the plan, too: what the sweep is told to delete is fewer, and counts up to the whole."""
    now = run.job.state()
    assert (now.waits_s, now.total, now.is_deleting) == (None, 169, False)
    assert words.run_steps(now)[2] == ("next", words.delete_files(169))
    run.job.waits(3_000)
    assert 2_000 < (run.job.state().waits_s or 0) <= 3_000
    state, said = words.run_steps(run.job.state())[1]
    assert state == "now"
    assert said in map(words.waiting, range(2_000, 3_001))
    run.job.progress(56, 138)
    assert words.run_steps(run.job.state())[2] == ("now", words.deleted_of(87, 169))
    run.job.progress(138, 138)
    assert words.run_steps(run.job.state())[2:] == [("done", words.deleted_of(169, 169)), ("now", words.VERIFYING)]


def test_every_page_shows_every_run_that_goes_on(run: Run, warehouse: Path, open_page: Callable) -> None:
    other = Run(warehouse, "other", 3)
    for page in ("overview", "timeline", "audit"):
        text = open_page(page, warehouse, table=TITLE).text
        for each in (run, other):
            assert words.run_of(each.job.title, each.job.about) in text, "runs of two tables are told apart"
    other.go_on.set()


def test_a_receipt_is_read_once(run: Run, warehouse: Path, open_page: Callable) -> None:
    location = str(warehouse / "shop.db" / "orders")
    document = {
        "change": {},
        "fingerprint": "",
        "leaves": [],
        "now_ms": 0,
        "headline": "Frees.",
        "points": [],
        "rules": "",
    }
    run.end(Journal().start(location, "Expire", document, [], []), location)
    done = "Done: 2 files deleted"
    first = open_page("retention", warehouse, table=TITLE)
    assert done in first.text
    assert done in first.run().text, "it stays while this reader looks at it"
    assert words.VIEW_RECEIPT in [each.proto.label for each in first.test.get("page_link")]
    assert done not in open_page("retention", warehouse, table=TITLE).text, "another browser was not told it again"
    first.test.query_params["table"] = "shop.other"
    assert done not in first.run().text
    first.test.query_params["table"] = TITLE
    assert done not in first.run().text, "it was read"
