"""The page of orphans: found, planned, confirmed, deleted, told by a receipt; where they are not looked for, why."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st

from core.catalog import DEMO_MARKER
from core.execution import apply as applying
from core.model.actions import CleanOrphans
from core.planning.confirmation import danger
from core.table import open_table
from dashboard import url_state, words
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import carrying_out, newest_job
from tests.support.execution import iceberg_ground
from tests.support.formats.iceberg.orphans import LITTER, lost

LOST = "data-0f0e0d0c-1111-4222-8333-444455556666-0.parquet"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    table = TableBuilder(root / "shop.db" / "orders", step_ms=DAY_MS)
    table.commit([table.file(1_000, rows=10)])
    for name, old_s in ((LOST, 3 * 86_400), (LOST.replace("6666-0", "7777-0"), 3_600)):
        lost = table.root / "bucket-0" / name
        lost.write_bytes(bytes(70_000))
        then = lost.stat().st_mtime - old_s
        os.utime(lost, (then, then))
    (root / DEMO_MARKER).touch()
    return root


def test_orphans_are_planned_confirmed_and_deleted(
    warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = applying.apply
    monkeypatch.setattr(applying, "apply", lambda table, plan, **options: own(table, plan, settle_s=0, **options))
    page = open_page("orphans", warehouse, writes=True, table="shop.orders")
    root = warehouse / "shop.db" / "orders"
    now_ms = int(page.test.session_state["snapscope.now_ms"])
    plan = open_table(str(root)).preview(CleanOrphans(now_ms - DAY_MS), now_ms)
    assert plan.frees["path"].to_pylist() == [f"bucket-0/{LOST}"]
    for said in (plan.headline, words.reclaims(70_000, 1), "snapscope orphans", "sys.remove_orphan_files"):
        assert said in page.text
    for said in (words.VERDICTS, words.GO, words.TAGS_KEEP):
        assert said not in page.text, "orphans belong to no version"
    (confirm,) = (each for each in page.test.text_input if re.search("to confirm", each.label))
    confirm.set_value(danger(plan, "orders").phrase)
    carrying_out(page.run(), "CleanOrphans").click()
    page.run()
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    assert job.error is None
    assert sorted(path.name for path in (root / "bucket-0").glob("data-0f0e*")) == [LOST.replace("6666-0", "7777-0")]
    assert "Done: 1 file deleted" in page.run().text


def test_an_age_is_a_length_or_a_time(warehouse: Path, open_page: Callable) -> None:
    assert words.reclaims(140_000, 2) in open_page("orphans", warehouse, table="shop.orders", written="1 min").text


def test_without_orphans_the_page_says_what_was_searched_and_asks_for_nothing(
    warehouse: Path, open_page: Callable
) -> None:
    page = open_page("orphans", warehouse, writes=True, table="shop.orders", written="2020-01-01")
    for said in (words.ORPHANS_NONE, "2020-01-01 00:00:00 UTC"):
        assert said in page.text
    for said in ("Reclaims", words.NOTHING_FREED, words.CARRY_OUT, "snapscope orphans", words.REPORT_OF_PLAN):
        assert said not in page.text
    assert "2 files are kept" in page.text, "what was found and left alone is still told"


def test_directories_with_commas_in_their_names_can_be_named(tmp_path: Path, open_page: Callable) -> None:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders", partition_keys=["dt"], step_ms=DAY_MS)
    table.commit([])
    for directory in ("dt=a,b", "dt=x%3Ay", "dt=c"):
        lost = table.root / directory / "bucket-0" / LOST
        lost.parent.mkdir(parents=True)
        lost.write_bytes(bytes(1_000))
        os.utime(lost, (1, 1))
    for typed, files in (("dt=a,b", 1), ("dt=c,dt=x%3Ay", 2), ("dt=x%3Ay, dt=a,b, dt=c,", 3)):
        page = open_page("orphans", tmp_path / "w", table="shop.orders", also=typed)
        assert words.reclaims(1_000 * files, files) in page.text, typed


@pytest.mark.parametrize("typed", ["7", " 7", "30"])
def test_a_number_without_a_unit_is_no_age(warehouse: Path, open_page: Callable, typed: str) -> None:
    """Read as milliseconds it would make every file of a running writer an orphan."""
    text = open_page("orphans", warehouse, table="shop.orders", written=typed).text
    assert words.older_than_unread(typed.strip()) in text
    assert "Reclaims" not in text


def test_an_age_of_snapshots_is_not_one_of_orphans(
    warehouse: Path, open_page: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words.reclaims(70_000, 1) in open_page("orphans", warehouse, table="shop.orders", older="0 s").text
    values = {"table": "shop.orders", "older": "0 s", "also": "dt=1"}
    monkeypatch.setattr(st, "session_state", {"snapscope.place": values})
    assert url_state.address("orphans") == {"table": "shop.orders", "also": "dt=1"}


def test_a_partition_named_for_one_table_is_not_cleaned_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"table": "shop.orders", "also": "dt=1", "point": "7", "tz": "UTC"}
    monkeypatch.setattr(st, "session_state", {"snapscope.place": values})
    assert url_state.address("orphans", table="shop.lines") == {"table": "shop.lines", "tz": "UTC"}
    assert url_state.address("orphans", table="shop.lines", point="9")["point"] == "9"
    assert url_state.address("orphans", table="shop.orders")["also"] == "dt=1"


def test_a_table_whose_orphans_are_not_looked_for_names_the_engines_way(
    shared_tables: Path, open_page: Callable
) -> None:
    """Only its catalog knows which metadata is current."""
    root = next(path.parent for path in sorted((shared_tables / "iceberg").rglob("metadata")) if path.is_dir())
    page = open_page("orphans", root)
    assert "CALL system.remove_orphan_files" in page.text
    assert "Reclaims" not in page.text


def test_orphans_of_an_iceberg_table(tmp_path: Path, open_page: Callable) -> None:
    """Of three days, in every partition: no directories can be named."""
    root = iceberg_ground.small_table(tmp_path / "w" / "shop.db" / "orders")
    (tmp_path / "w" / DEMO_MARKER).touch()
    for path, days in ((LITTER["data"], 4), (LITTER["manifest"], 4), (LITTER["deletes"], 2)):
        lost(root, path)
        then = (root / path).stat().st_mtime - days * 86_400
        os.utime(root / path, (then, then))
    page = open_page("orphans", tmp_path / "w", table="shop.orders")
    for said in (words.reclaims(10, 2), "1 file is kept", "CALL system.remove_orphan_files", "snapscope orphans"):
        assert said in page.text
    assert [each.placeholder for each in page.test.text_input if each.label == words.ORPHANS_OLDER] == ["3 d"]
    assert words.ORPHANS_ALSO not in [each.label for each in page.test.text_input]
    for path in (LITTER["data"], LITTER["manifest"]):
        (root / path).unlink()
    text = open_page("orphans", tmp_path / "w", table="shop.orders").text
    assert words.ORPHANS_NONE in text
    assert "directories of data and metadata" in text
