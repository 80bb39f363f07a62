"""The Files page: what a version consists of, a file's lifetime, columns and health, as a reader sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from core import cli
from core.analysis.file_lifetime import lifetime
from core.model.column_bounds import Column, FileBounds, merged
from core.table import open_table
from dashboard import words
from dashboard.charts import file_lifetime, treemap
from dashboard.formatting.palette import palette
from dashboard.view_models import files as places
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.dashboard.pages import Page

TITLE = "shop.orders"
NOW_MS = START_MS + 30 * DAY_MS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TableBuilder:
    """Create two days with two buckets each; the fourth commit compacts the first day; the third is tagged."""
    root = tmp_path_factory.mktemp("files") / "warehouse"
    made = TableBuilder(
        root / "shop.db" / "orders",
        columns=(("id", "BIGINT"), ("dt", "STRING")),
        partition_keys=("dt",),
        step_ms=DAY_MS,
    )
    for number in range(3):
        day = "2026-01-01" if number < 2 else "2026-01-02"
        made.commit([made.file(1_000 * (number + 1), rows=10, partition=(day,), bucket=each) for each in (0, 1)])
    made.tag("before")
    old = [file for file in made.live() if file.partition == ("2026-01-01",) and file.bucket == 0]
    made.commit([made.file(2_500, rows=20, partition=("2026-01-01",), source=1)], old, kind="COMPACT")
    return made


def warehouse(made: TableBuilder) -> Path:
    return made.root.parents[1]


def gone(made: TableBuilder) -> str:
    """Return the path of a file that the compaction removed."""
    history = open_table(str(made.root)).history()
    return next(each["path"] for each in history.files.to_pylist() if each["bytes"] == 1_000 and each["bucket"] == 0)


def test_the_map_and_its_way_down(made: TableBuilder, open_page: Callable[..., Page]) -> None:
    page = open_page("files", warehouse(made), table=TITLE)
    assert "5 files, 11.5 kB, 60 rows" in page.text
    assert [list(each.value["name"]) for each in page.test.dataframe] == [["dt=2026-01-02", "dt=2026-01-01"]]
    inside = open_page("files", warehouse(made), table=TITLE, folder="dt=2026-01-01")
    assert "3 files, 5.5 kB, 40 rows" in inside.text
    assert list(inside.test.dataframe[0].value["name"]) == ["bucket-1", "bucket-0"]
    inside.test.button(key="files.way.0.").click()
    assert "5 files" in inside.run().text
    assert words.NO_SUCH_FOLDER in open_page("files", warehouse(made), table=TITLE, folder="dt=1999").text
    then = open_page("files", warehouse(made), table=TITLE, point="tag:before", pane="list")
    assert "6 files" in then.text
    assert len(then.test.dataframe[0].value) == 6
    found = open_page("files", warehouse(made), table=TITLE, pane="list", find="BUCKET-1", order="small")
    assert list(found.test.dataframe[0].value["bytes"]) == [1_000, 2_000, 3_000]


def test_manifests_down_to_entries(made: TableBuilder, open_page: Callable[..., Page]) -> None:
    page = open_page("files", warehouse(made), table=TITLE, pane="manifests")
    listed = page.test.dataframe[0].value
    assert list(listed["list"]) == ["base", "base", "base", "delta"]
    delta = listed["path"].iloc[-1]
    entries = open_page("files", warehouse(made), table=TITLE, pane="manifests", manifest=delta)
    shown = entries.test.dataframe[0].value
    assert sorted(shown["change"]) == sorted([words.ENTRY_CHANGES["added"], *[words.ENTRY_CHANGES["removed"]] * 2])
    assert shown["bytes"].sum() == 2_500 + 1_000 + 2_000
    wrong = open_page("files", warehouse(made), table=TITLE, pane="manifests", manifest=delta, point="1")
    assert "has no manifest" in wrong.text
    assert words.ALL_MANIFESTS in wrong.text


def test_a_life_is_the_same_on_the_page_and_on_the_command_line(
    made: TableBuilder, open_page: Callable[..., Page], capsys: pytest.CaptureFixture[str]
) -> None:
    path = gone(made)
    page = open_page("files", warehouse(made), table=TITLE, file=path.rsplit("/", 1)[-1])
    assert "Added by snapshot 1 (Append)" in page.text
    assert "Removed by snapshot 4 (Compaction)" in page.text
    assert "3 snapshots, 1 tag" in page.text
    assert words.LIFE_NOT_HERE in page.text
    assert cli.main(["holders", str(made.root), path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert words.capitalized(told["words"]) in page.text
    assert (told["born"]["snapshot"], told["removed"]["snapshot"], told["is_live"]) == (1, 4, False)
    assert [each["holders"] for each in told["stretches"]] == [3, 1]
    page.test.button(key="life.close").click()
    assert "Born" not in page.run().text
    assert "names" in open_page("files", warehouse(made), table=TITLE, file="nobody.parquet").text


@pytest.mark.parametrize("pane", ["columns", "health"])
def test_statistics_that_are_not_written(made: TableBuilder, open_page: Callable[..., Page], pane: str) -> None:
    page = open_page("files", warehouse(made), table=TITLE, pane=pane)
    if pane == "columns":
        shown = page.test.dataframe[0].value
        assert set(shown["low"]) == set(shown["nulls"]) == {words.NOT_WRITTEN}
        assert f"snapscope columns {made.root} --at 4" in page.text
    else:
        assert "5 of 5" in page.text
        assert f"snapscope compact {made.root}" in page.text


def test_statistics_of_another_type_are_not_missing() -> None:
    column = Column(1, "c", "date")
    (found,) = merged([column], [(5, {1: FileBounds(None, None, 0, unreadable=True)}), (5, {})], {})
    shown = places.columns((found,)).iloc[0]
    assert (shown["low"], shown["high"], shown["nulls"]) == (words.OTHER_TYPE, words.OTHER_TYPE, "≥ 0")


def test_the_commands_say_the_same(made: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    def ask(*given: str) -> Any:
        assert cli.main([*given, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    table = str(made.root)
    found = ask("health", table, "--at", "tag:before")
    assert (found["files"], found["small_files"], found["places"], found["skew"]) == (6, 6, 4, 1.0)
    assert {each["nulls"] for each in ask("columns", table, "--folder", "dt=2026-01-01")} == {None}
    assert cli.main(["columns", table, "--folder", "dt=1999"]) == 1
    assert cli.main(["columns", table, "--file", gone(made)]) == 1
    listed = ask("manifests", table)
    entries = ask("manifests", table, "--manifest", listed[-1]["path"])
    assert [each["change"] for each in entries].count("removed") == 2
    for command in ("health", "columns", "manifests"):
        assert cli.main([command, table]) == 0
    assert "not written" in capsys.readouterr().out


@pytest.mark.parametrize(("days", "first"), [(6, "2026-01-01"), (60, "01-01"), (112, "01-01")])
def test_a_box_has_the_words_that_fit_and_all_boxes_alike(days: int, first: str) -> None:
    names = [f"dt=2026-{number // 28 + 1:02}-{number % 28 + 1:02}" for number in range(days)]
    rows = [{"name": name, "folder": name, "is_file": False, "files": 1, "bytes": 10, "rows": 1} for name in names]
    texts = treemap.figure(pa.Table.from_pylist(rows), palette("light"))["data"][0]["text"]
    said = [text.partition("<br>")[0] for text in texts]
    assert said == [name[-len(first) :] for name in names]
    assert said[0] == first


def test_figures_are_figures(made: TableBuilder) -> None:
    """Charts drawn as plain JSON are valid for plotly itself."""
    import plotly.graph_objects as go

    from core.analysis.file_tree import level

    history = open_table(str(made.root)).history()
    path = gone(made)
    for theme in ("light", "dark"):
        rows = level(history.files, "")
        go.Figure(treemap.figure(rows, palette(theme)))
        found = lifetime(history, path, NOW_MS)
        drawn = go.Figure(
            file_lifetime.figure(found, palette(theme), "Asia/Shanghai", (START_MS, START_MS + 3 * DAY_MS))
        )
        assert len(drawn.layout.yaxis.ticktext) == 3
        assert len(file_lifetime.legend(found)) == 3
