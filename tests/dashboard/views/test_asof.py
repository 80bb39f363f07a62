"""As of, on a store that is far away: the answer is shown before all snapshots are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.delta_generator import DeltaGenerator

from core.errors import Corrupt
from core.formats.paimon import time_search
from core.formats.table_format import TableRef
from core.model.references import Heads
from dashboard import data, words
from dashboard.components import frame
from tests.support import memory_s3
from tests.support.builders import START_MS, TableBuilder
from tests.support.dashboard.pages import Open
from tests.support.execution import ground

COMMITS = 400


def test_the_answer_is_shown_before_all_snapshots_are_read(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_search, "FEWEST", 100)
    made = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=60_000)
    for number in range(COMMITS):
        made.commit([made.file(rows=10)] if number % 50 == 0 else [], hints=False)
    made.hints(earliest=1, latest=COMMITS)
    objects = {f"shop.db/orders/{path}": (made.root / path).read_bytes() for path in ground.disk(made.root)}
    reads, before = list[int](), data.heads

    def taken() -> int:
        return len({target for method, target in server.taken() if method == "GET" and "/snapshot-" in target})

    def heads(ref: TableRef, *told: Any) -> Heads:
        reads.append(taken())
        if len(reads) == 1:
            raise Corrupt("stopped", path=ref.location)
        found = before(ref, *told)
        reads.append(taken())
        return found

    searched, tell = list[str](), frame.tell

    def told(slot: DeltaGenerator, key: str, text: str) -> None:
        if key == "searching":
            searched.append(key)
        tell(slot, key, text)

    monkeypatch.setattr(frame, "tell", told)
    monkeypatch.setattr(frame, "QUIET_S", 0.0)
    monkeypatch.setattr(data, "heads", heads)
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        place, at = f"s3://{memory_s3.BUCKET}", f"time:{START_MS + 200 * 60_000 + 1}"
        stopped = open_page("asof", place, table="shop.orders", point=at)
        assert words.ASOF_EARLY in stopped.text
        assert "of 400 snapshots were read" in stopped.text
        whole = open_page("asof", place, table="shop.orders", point=at)
        assert words.ASOF_EARLY not in whole.text
        again = open_page("asof", place, table="shop.orders", point=at)
        assert words.ASOF_EARLY not in again.text
    assert searched == ["searching"] * 2, "both first openings said what they waited for"
    assert 0 < reads[0] < 120
    assert sum(reads[:3]) <= COMMITS + 10, "what was read is not read again"


@pytest.mark.parametrize(
    ("typed", "said"),
    [("soon", "not a valid version"), ("2026-13-45", "not a valid time"), ("tag:none", "none"), ("99", "99")],
)
def test_what_cannot_be_read_is_explained_below_its_box_alone(
    open_page: Open, tmp_path: Path, typed: str, said: str
) -> None:
    made = TableBuilder(tmp_path / "shop.db" / "orders")
    made.commit([made.file()])
    page = open_page("asof", tmp_path, table="shop.orders", point=typed)
    assert said in page.text
    assert words.STILL_WORKS not in page.text
    assert words.ASOF_EXAMPLES in page.text
