"""The pure part of the dashboard: numbers, times, versions, axes, charts, notices, tables."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core import paths, safe_text
from core.analysis import diff
from core.analysis.expiration_dates import expiries
from core.formats.paimon.plan.expiry import preview
from core.model import time_input
from core.model.actions import DeleteTags, Expire
from core.model.history import History
from core.reports import page as sheet
from core.table import open_table, resolve
from dashboard import visits, words
from dashboard.charts import flags, trends
from dashboard.charts import timeline as charts
from dashboard.charts.canvas import Figure, moment_ms, times
from dashboard.charts.time_axis import MAX_POINTS, Band, axis, bins
from dashboard.charts.trends import Trend
from dashboard.components.history import timeline as lanes
from dashboard.formatting import cells, exports, markup, palette, units
from dashboard.view_models import (
    change_tree,
    differences,
    files,
    home,
    notices,
    rows,
    saved_queries,
    table_tree,
    version_picker,
)
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.depth import tries
from tests.support.iceberg_tables import JAVA_RANDOM, moved

LATER_MS = START_MS + 1_000 * DAY_MS

NOW_MS = START_MS + 100 * DAY_MS


def history(table: TableBuilder) -> History:
    return open_table(str(table.root)).history()


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """Create main with 8 snapshots, three of them expired and one of those tagged, a branch, a consumer, a schema
    change and a compaction."""
    made = TableBuilder(tmp_path / "shop.db" / "orders", partition_keys=["dt"], step_ms=DAY_MS)
    for number in range(5):
        made.commit([made.file(1_000 * (number + 1), rows=10, partition=(f"2026-01-0{number + 1}",))])
        if number == 1:
            made.tag("early")
    made.schema([("id", "BIGINT"), ("amount", "DOUBLE"), ("dt", "STRING"), ("channel", "STRING")])
    made.tag("fork")
    made.branch("dev", "fork").commit([made.file(10, partition=("2026-02-01",))])
    made.commit([made.file(500, rows=5, partition=("2026-01-09",))])
    live = made.live()
    made.commit([made.file(14_000, rows=55, partition=("2026-01-01",), source=1)], live, kind="COMPACT")
    made.commit([made.file(700, rows=7, partition=("2026-01-10",))])
    made.consumer("reader", 7)
    made.expire([1, 2, 3])
    return made


# numbers and times ---------------------------------------------------------------------------------------------------


def test_numbers_keep_their_units() -> None:
    assert units.size(71_312_345_678) == "71.3 GB"
    assert units.size(-1_500) == "−1.5 kB"
    assert units.size(None) == "—"
    assert units.exact_bytes(1) == "1 byte"
    assert units.exact_bytes(71_312_345_678) == "71,312,345,678 bytes"
    assert units.plural(1, "file") == "1 file"
    assert units.plural(1_204, "file") == "1,204 files"
    assert units.plural(2, "branch", "branches") == "2 branches"
    assert (units.signed(3), units.signed(0), units.signed(-3)) == ("+3", "0", "−3")


def test_times_keep_their_zone() -> None:
    assert units.moment(START_MS) == "2026-01-01 00:00:00 UTC"
    assert units.moment(START_MS, "Asia/Shanghai") == "2026-01-01 08:00:00 CST"
    assert units.moment(START_MS + 7, exact=True) == "2026-01-01 00:00:00.007 UTC"
    assert units.moment(10**17) == "100000000000000000 ms"
    assert units.moment(START_MS, "Not/AZone") == "2026-01-01 00:00:00 UTC"
    assert units.ago(START_MS, START_MS + 20 * DAY_MS) == "20 days ago"
    assert units.ago(START_MS + 3 * 3_600_000, START_MS) == "in 3 hours"
    assert units.ago(START_MS, START_MS + 59_999) == "just now"


@given(some.integers(min_value=-60_000_000_000_000, max_value=250_000_000_000_000))
def test_a_printed_time_reads_back(ms: int) -> None:
    assert time_input.moment(units.iso(ms), units.UTC).ms == ms
    shown = units.moment(ms, exact=True)
    assert time_input.moment(shown, units.UTC).ms == ms


def test_what_a_reader_types_becomes_a_point() -> None:
    assert version_picker.read("12") == "12"
    assert version_picker.read(" latest~3 ") == "latest~3"
    assert version_picker.read("tag:2026-01-01") == "tag:2026-01-01"
    assert version_picker.read("2026-01-01") == "time:2026-01-01T00:00:00Z"
    assert version_picker.read("2026-01-01 08:00", "Asia/Shanghai") == "time:2026-01-01T00:00:00Z"
    assert version_picker.read("2026-01-01T08:00:00+08:00", "UTC") == "time:2026-01-01T00:00:00Z"
    assert version_picker.read("2026-01-01 00:00:00 UTC", "Asia/Shanghai") == "time:2026-01-01T00:00:00Z"
    assert version_picker.read("1767225600000") == "time:1767225600000"
    assert version_picker.read("time:1767225600000") == "time:2026-01-01T00:00:00Z"
    assert version_picker.read("watermark:17") == "watermark:17"
    assert version_picker.read("nonsense") == "nonsense"


# the axis ------------------------------------------------------------------------------------------------------------


def test_everything_stands_on_the_axis(table: TableBuilder) -> None:
    found = axis(history(table).heads)
    assert [(lane.branch, lane.held) for lane in found.lanes] == [("main", False), ("main", True), ("dev", False)]
    assert [dot.point for dot in found.dots] == ["4", "5", "6", "7", "8", "tag:early", "branch:dev/5", "branch:dev/6"]
    assert [(flag.name, flag.lane) for flag in found.flags] == [("early", 1), ("fork", 0), ("fork", 2)]
    assert [(pin.name, pin.time_ms) for pin in found.pins] == [("reader", START_MS + 6 * DAY_MS)]
    assert [(mark.point, mark.before, mark.after) for mark in found.marks] == [("6", 0, 1), ("branch:dev/6", 0, 1)]
    assert [(cut.branch, cut.start_lane, cut.end_lane) for cut in found.cuts] == [("dev", 0, 2)]


def test_a_window_keeps_what_is_inside(table: TableBuilder) -> None:
    found = axis(history(table).heads).within((START_MS + 5 * DAY_MS, START_MS + 6 * DAY_MS))
    assert [dot.point for dot in found.dots] == ["6", "7", "branch:dev/6"]
    only = found.of_branch("dev")
    assert ([lane.branch for lane in only.lanes], [dot.lane for dot in only.dots]) == (["dev"], [0])


def test_bins_lose_no_commit(table: TableBuilder) -> None:
    dots = axis(history(table).heads).dots
    for number in (1, 3, 120):
        counted = bins(dots, number)
        assert sum(sum(each) for each in counted.counts.values()) == len(dots)
        for place in range(len(counted.edges_ms) - 1):
            first, last = counted.window_ms(place)
            inside = sum(first <= dot.time_ms <= last for dot in dots)
            assert inside == sum(each[place] for each in counted.counts.values())


def test_bins_of_one_moment(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    for _ in range(3):
        table.commit([table.file()], time_ms=START_MS)
    counted = bins(axis(history(table).heads).dots)
    assert counted.counts == {"APPEND": (3,)}
    assert counted.window_ms(0) == (START_MS, START_MS + 1)


# charts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark", None])
def test_a_click_tells_its_point(table: TableBuilder, theme: str | None) -> None:
    known = history(table)
    found = axis(known.heads)
    figure = go.Figure(  # plotly validates it
        charts.timeline(
            found, palette.palette(theme), "UTC", trend=rows.trend(known.heads, known), chosen={"6": "A"}, asked_ms=1,
            due={"4"},
        )
    )  # fmt: skip
    told = {lanes.clicked_payload({"selection": {"points": [{"customdata": data}]}}) for data in customdata(figure)}
    assert {dot.point for dot in found.dots} | {flag.point for flag in found.flags} <= told
    assert "<b>A</b>" in [text for trace in figure.data if trace.text is not None for text in trace.text]


def test_what_goes_by_itself_is_shaded(table: TableBuilder) -> None:
    table.schema(options={"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"})
    heads = history(table).heads
    due = rows.due(expiries(heads, LATER_MS), LATER_MS)
    assert due == {"4", "5", "6"}  # of 4 to 7, the newest stays, next to the coming commit
    found = axis(heads)
    [band] = hatched(charts.timeline(found, palette.LIGHT, "UTC", due=due))
    assert found.dot("6").time_ms < max(band["x"]) < found.dot("7").time_ms
    assert found.due(due) == (Band(0, found.dot("6").time_ms, 3),)
    assert ("band", "freed", "x") in charts.legend(found, due, "x")
    assert not hatched(charts.timeline(found, palette.LIGHT, "UTC"))


def hatched(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if "fillpattern" in trace]


def customdata(figure: go.Figure) -> list[Any]:
    return [data for trace in figure.data if trace.customdata is not None for data in trace.customdata]


def test_too_many_dots_become_bars(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "MAX_POINTS", 3)
    found = axis(history(table).heads)
    figure = go.Figure(charts.timeline(found, palette.LIGHT, "UTC"))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert bars
    windows = {data[0] for trace in bars for data in trace.customdata}
    assert all(re.fullmatch(r"\d+\.\.\d+", window) for window in windows)
    assert MAX_POINTS == 2_000


def test_names_of_others_stay_text_in_charts(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()], user="<script>alert(1)</script>")
    table.tag("<i>x</i>")
    table.commit([table.file()])
    table.commit([table.file()])
    table.expire([1])
    known = history(table)
    figure = go.Figure(charts.timeline(axis(known.heads), palette.LIGHT, "UTC", trend=rows.trend(known.heads, known)))
    assert "%{customdata}" not in "".join(trace.hovertemplate or "" for trace in figure.data)  # a tag's name, unescaped
    shown = [data[1] for data in customdata(figure) if isinstance(data, tuple | list)]
    shown += [text for trace in figure.data if trace.text is not None for text in trace.text]
    assert [text for text in shown if "<i>" in text] == []
    assert any("&lt;i&gt;x" in text for text in shown)


def test_labels_never_overlap() -> None:
    named = [(f"tag-{number}", number, 0) for number in range(50)]
    for last in (49, 60, 200):  # how far right the last mark is; a name without room there is not cut off
        spans = []
        for place, (text, side) in enumerate(flags.labels(named, (0, last))):
            at, wide = place / last * flags.CHART_PX, flags.LETTER_PX * len(text)
            spans += [(at, at + wide) if side == "right" else (at - wide, at)] if text else []
        assert bool(spans) == (last == 60)
        assert all(b > a for (_, a), (b, _) in pairwise(spans))
        assert all(end <= flags.CHART_PX for _, end in spans)


def test_a_long_trend_loses_no_peak_and_no_drop() -> None:
    values = [place % 97 for place in range(5_000)]
    values[1_234], values[4_321], values[77] = 10_000, -1, None  # type: ignore[call-overload]
    keep = trends.thinned(tuple(values))
    assert {0, 77, 1_234, 4_321, 4_999} <= set(keep)
    assert len(keep) <= 4 * trends.BINS + 1
    assert trends.thinned((3, None, 2)) == [0, 1, 2]
    many = Trend(tuple(map(str, range(5_000))), tuple(range(5_000)), tuple(values))
    assert many.within((0, 100)).times_ms[-1] == 100


def test_a_clock_on_the_axis_tells_the_moment_it_was_set_to() -> None:
    """Also when a clock shows an hour twice."""
    for zone in ("UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai"):
        moments = [START_MS, START_MS + 200 * DAY_MS, 1793494800000, 1793498400000 + 7]
        for ms, shown in zip(moments, times(moments, zone), strict=True):
            assert shown is not None
            assert ms in {moment_ms(shown, zone, fold=fold) for fold in (0, 1)}
    assert moment_ms("2026-07-01 02:00:00.5", "Europe/Berlin") == 1782864000500
    assert times([None, 10**17], "Europe/Berlin") == [None, None]


def test_files_that_only_delete_are_counted_apart(tmp_path: Path) -> None:
    place = moved(JAVA_RANDOM / "t05_v3", tmp_path / "t")
    history = open_table(str(place)).history()
    for holder in history.holders:
        contents = history.files_at(history.position(holder.point))["content"].to_pylist()
        data = contents.count("data")
        assert files.live_files(history, holder.point) == (data, len(contents) - data)
    assert any(files.live_files(history, holder.point)[1] for holder in history.holders)


def test_the_trend_is_the_history(table: TableBuilder) -> None:
    known = history(table)
    found = rows.trend(known.heads, known)
    assert found.points == ("tag:early", "4", "5", "6", "7", "8")
    assert found.rows == (20, 40, 50, 55, 55, 62)
    assert found.files == (2, 4, 5, 6, 1, 2)
    assert rows.trend(known.heads, None).files is None


# HTML and tables -----------------------------------------------------------------------------------------------------


@given(some.text())
def test_no_text_becomes_a_tag(text: str) -> None:
    pieces = [
        markup.facts([(text, text)]),
        markup.tiles([(text, text, text)]),
        markup.note("info", text),
        markup.empty(text, text),
        markup.error(text, text, [(text, text)]),
        markup.table([text], [[text]]),
        markup.head(text, text, text),
        str(markup.chip("tag", text)),
    ]
    known = r"</?(dl|dt|dd|div|span|table|thead|tbody|tr|th|td|h1|b|code)( [a-z]+=\"[^\"<>]*\")*>"
    for piece in pieces:
        assert "<" not in re.sub(known, "", piece)


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
UNSEEN = ("", "\ufeff", "\x00", "\ufeff\x00", "\u200b")
DANGEROUS = some.one_of(
    some.text(),
    some.tuples(*map(some.sampled_from, (("", "x;", "x\t", "\t", "x\n"), UNSEEN, FORMULAS)), some.text()).map("".join),
)
ENTRIES = pa.map_(pa.string(), pa.string())
KINDS: list[tuple[pa.DataType, some.SearchStrategy[Any]]] = [
    (pa.string(), DANGEROUS),
    (pa.large_string(), DANGEROUS),
    (pa.dictionary(pa.int8(), pa.string()), DANGEROUS),
    (pa.binary(), some.binary()),
    (pa.list_(pa.string()), some.lists(DANGEROUS, max_size=3)),
    (pa.struct([("=a", pa.string())]), some.fixed_dictionaries({"=a": DANGEROUS})),
    (ENTRIES, some.lists(some.tuples(DANGEROUS, DANGEROUS), max_size=2)),
    (pa.duration("us"), some.timedeltas(dt.timedelta(-9), dt.timedelta(9))),
]
NUMBERS: list[tuple[pa.DataType, some.SearchStrategy[Any]]] = [
    (pa.int8(), some.integers(-128, 127)),
    (pa.int64(), some.integers(-(2**63), 2**63 - 1)),
    (pa.decimal128(38, 2), some.decimals(-(10**20), 10**20, places=2)),
    (pa.float64(), some.floats(allow_nan=False, allow_infinity=False)),
]


def runs(text: str) -> bool:
    """Return whether a spreadsheet may interpret a part as a formula, even if it splits at semicolons, tabs or
    lines."""
    parts = re.split("[;\t\r\n]", text)
    unseen = "".join(UNSEEN)
    return text.lstrip(unseen).startswith(FORMULAS) or any(
        each.lstrip(unseen).startswith(tuple(sign for sign in FORMULAS if sign.isprintable())) for each in parts
    )


def cells_of(made: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.decode(), newline=""), strict=True))


def test_a_great_number_beside_a_missing_one_stays_the_number_it_was() -> None:
    frame = pd.DataFrame({"n": pd.Series([None, 2**53 + 1], dtype=object), "text": ["=1", None]})
    assert exports.csv(frame).decode() == f"n,text\r\n,'=1\r\n{2**53 + 1},\r\n"


@tries(60)
@given(some.data())
def test_no_cell_is_a_formula_whatever_its_type(data: some.DataObject) -> None:
    """Return every text in a query's CSV and grid, including names; every number must be unchanged."""
    rows = data.draw(some.integers(1, 3))
    kinds = data.draw(some.lists(some.sampled_from([*KINDS, *NUMBERS]), min_size=1, max_size=4))
    names = data.draw(some.lists(DANGEROUS, min_size=len(kinds), max_size=len(kinds)))
    drawn = [data.draw(some.lists(some.none() | values, min_size=rows, max_size=rows)) for _, values in kinds]
    arrays = [pa.array(values, kind) for values, (kind, _) in zip(drawn, kinds, strict=True)]
    table = pa.Table.from_arrays(arrays, names=names)
    frame = pd.DataFrame({number: pd.Series(values, dtype=object) for number, values in enumerate(drawn)})
    for made in (exports.rows_csv(table), exports.csv(frame.set_axis(names, axis=1))):
        head, *lines = cells_of(made)
        assert not any(map(runs, head))
        for row, line in enumerate(lines if len(kinds) > 1 else []):  # in a single column, an empty line is not a row
            for (kind, _), value, cell in zip(kinds, (each[row] for each in drawn), line, strict=True):
                if any(kind == of for of, _ in NUMBERS):
                    assert cell == "" if value is None else Decimal(cell) == Decimal(str(value))
                else:
                    assert not runs(cell)


@pytest.mark.parametrize("of", ["object", "string", "category"])
def test_no_kind_of_column_lets_a_formula_through(of: str) -> None:
    frame = pd.DataFrame({"=name": pd.Series(["=1+1", None, "plain"], dtype=of), "n": [-5, 1, 2]})
    assert cells_of(exports.csv(frame)) == [["'=name", "n"], ["'=1+1", "-5"], ["", "1"], ["plain", "2"]]


MEGA = 3_000_000


@pytest.mark.slow
def test_one_great_value_is_shown_by_its_beginning_and_downloaded_whole() -> None:
    great = "=" + "x" * MEGA
    table = pa.table(
        {
            "s": [great, "short", None],
            "b": [b"\x01" * MEGA, b"", None],
            "l": [["y" * MEGA] * 2, [], None],
            "d": [{"a": {"b": "z" * MEGA}}, None, None],
            "m": pa.array([[("k", "v" * MEGA)], [], None], ENTRIES),
            "n": [1, 2, 3],
        }
    )
    shown = cells.frame(table, 100)
    assert shown.map(lambda each: len(str(each)) <= 120).to_numpy().all()
    assert cells.is_cut(shown, 100)
    assert not cells.is_cut(cells.frame(table.slice(1), 100), 100)
    assert shown["s"][0] == great[:100] + "… (3.0 MB)"
    assert shown["b"][0] == "01" * 50 + "… (3.0 MB)"
    assert shown["l"][0].startswith("['yyy")
    assert shown["l"][0].endswith("y… (6.0 MB)")
    assert shown["d"][0].startswith("{'a': {'b': 'zzz")
    assert shown["m"][0].startswith("[('k', 'vvv")
    assert list(shown["s"][1:]) == ["short", None]
    whole = pd.read_csv(io.BytesIO(exports.rows_csv(table)))
    assert whole["s"][0] == f"'{great}"
    assert len(whole["l"][0]) > 2 * MEGA
    back = pq.read_table(io.BytesIO(exports.parquet(table)))
    assert back.equals(table)


PLAIN_TEXT = some.text("abc =", max_size=20)
NESTED = some.recursive(
    PLAIN_TEXT | some.integers() | some.none(),
    lambda of: some.lists(of, max_size=4) | some.dictionaries(PLAIN_TEXT, of, max_size=4),
    max_leaves=8,
)


@given(some.lists(NESTED, max_size=4), some.integers(1, 60))
def test_the_beginning_of_a_nested_value_is_that_of_its_whole_text(value: list[Any], most: int) -> None:
    assert safe_text.brief(value, most) == str(value)[:most]


@pytest.mark.parametrize(("rows", "columns"), [(500, 1), (500, 100), (10, 5_000), (1, 1)])
def test_what_a_page_sends_is_bounded(rows: int, columns: int) -> None:
    at_once = cells.page_rows(columns)
    most = cells.most_shown(at_once, columns)
    assert at_once * columns * most <= cells.MOST_SENT or most == cells.FEWEST
    assert at_once * columns * most <= 5_000_000
    assert cells.most_shown(rows, 1) <= safe_text.LONGEST_VALUE


def test_grids_and_sentences_show_beginnings_too() -> None:
    great = "x" * MEGA
    frame = pd.DataFrame({"a": [great, "b"], "n": [1, 2]})
    shown = cells.brief(frame)
    assert shown["a"][0] == great[: safe_text.LONGEST_VALUE] + "… (3.0 MB)"
    assert frame["a"][0] == great
    assert cells.brief(frame.tail(1)) is not None
    assert len(markup.note("info", great)) < 2 * safe_text.LONGEST_TEXT
    assert len(markup.facts([("option", markup.mono(great))])) < 2 * safe_text.LONGEST_TEXT
    made = sheet.page("t", "l", [sheet.facts([("Option", sheet.mono(great))]), sheet.command("run " + great)], "f")
    assert MEGA < len(made) < MEGA + 100_000  # a truncated command would be useless


def test_no_name_turns_the_text_around_it(tmp_path: Path) -> None:
    """Names are shown as they are stored: not as another name, and without reversing the sentence they are in."""
    name, shown = "evil\u202egpj.exe", "evil\\u202egpj.exe"
    frame = pd.DataFrame({"name": [name, "b", "שלום"], "n": [1, 2, 3]})
    assert list(cells.brief(frame)["name"]) == [shown, "b", "שלום"]
    assert frame["name"][0] == name
    for piece in (markup.note("info", name), markup.facts([("tag", markup.mono(name))]), markup.join([name])):
        assert shown in piece
        assert name not in piece
    assert table_tree.inline(name).replace("\\\\", "\\") == shown
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    table.tag(name)
    known = history(table)
    assert [label for label in version_picker.offered(known.heads, "UTC", 0).values() if "\u202e" in label] == []
    figure = go.Figure(charts.timeline(axis(known.heads), palette.LIGHT, "UTC", trend=rows.trend(known.heads, known)))
    told = [data for data in customdata(figure) if isinstance(data, tuple | list)]
    assert any(data[0] == f"tag:{name}" for data in told)  # what a click chooses
    assert [data[1] for data in told if "\u202e" in data[1]] == []
    labels = [text for trace in figure.data if trace.text is not None for text in trace.text]
    assert shown in labels


def test_no_digit_is_lost() -> None:
    shown = cells.frame(
        pa.table(
            {"id": [2**53 + 1, None], "small": [1, None], "when": [dt.datetime(2026, 1, 1), None], "l": [[1], None]}
        )
    )
    assert shown["id"][0] == "9007199254740993"
    assert shown["small"][0] == 1
    assert shown["l"][0] == "[1]"
    assert list(cells.frame(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])).columns) == ["a", "a_2"]


def test_sql_names() -> None:
    assert cells.quoted("orders") == "orders"
    assert cells.quoted("or-ders`x") == "`or-ders``x`"


# what is said of a table ---------------------------------------------------------------------------------------------


def test_facts_of_the_overview(table: TableBuilder) -> None:
    known = history(table)
    found = home.table_facts(known.heads, known, NOW_MS)
    counts = found.snapshots, found.tags, found.branch_tags, found.branches, found.rows
    assert counts == (7, 2, 1, 1, 62)
    assert found.live_bytes == 14_700
    everything = known.bytes_of(known.held.over(known.existing))
    newest = known.bytes_of(known.held.at(known.require("8")))
    assert found.history_bytes == everything - newest
    assert found.policy_bytes == preview(known, Expire(), NOW_MS).freed_bytes
    assert home.table_facts(known.heads).live_bytes is None


def test_the_cost_of_a_tag_is_its_plan(table: TableBuilder) -> None:
    known = history(table)
    listed = rows.tags(known.heads.main, known, expiries(known.heads, NOW_MS), "UTC", NOW_MS)
    for name, cost in zip(listed["name"], listed["cost"], strict=True):
        assert cost == preview(known, DeleteTags((name,)), NOW_MS).freed_bytes


@pytest.mark.parametrize(
    ("options", "expires", "is_ending"),
    [
        ({}, ["2026-01-01 00:01:00", words.NEVER], True),
        ({"write-only": "true"}, ["never at a commit: the table is write-only", words.NEVER], False),
        ({"tag.automatic-creation": "process-time", "tag.num-retained-max": "2"},
         ["2026-01-01 00:01:00", "when 2 more automatic tags exist"], True),
        ({"tag.automatic-creation": "process-time", "tag.num-retained-max": "0"},
         ["cannot be determined: tag.num-retained-max must be at least 1, not '0'; otherwise no tag would be kept"] * 2,
         False),
    ],
)  # fmt: skip
def test_a_tag_ends_when_commits_delete_it(
    tmp_path: Path, options: dict[str, str], expires: list[str], is_ending: bool
) -> None:
    made = TableBuilder(tmp_path / "t", options=options)
    made.commit([made.file()])
    made.tag("2026-01-01", 1)
    made.tag("ends", 1, created=dt.datetime(2026, 1, 1), retained_s=60)
    heads = open_table(str(tmp_path / "t")).heads()
    assert list(rows.tags(heads.main, None, expiries(heads, NOW_MS), "UTC", NOW_MS)["expires"]) == expires
    assert [point for _, point, _ in home.ending(heads, NOW_MS)] == ["tag:ends"] * is_ending


def test_verdicts_name_every_point(table: TableBuilder) -> None:
    known = history(table)
    plan = preview(known, DeleteTags(("early",)), NOW_MS)
    frame = rows.verdicts(plan, known.heads, "UTC")
    assert list(frame["verdict"][:1]) == [words.GOES]
    assert sorted(frame["point"]) == sorted(verdict.point for verdict in plan.points)
    parts = rows.freed_parts(plan)
    assert sum(amount for _, _, amount in parts) == plan.freed_bytes + plan.kept_bytes


def test_many_snapshots_with_several_tags_are_one_notice(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    for number in range(4):
        table.commit([table.file()])
        table.tag(f"a{number}")
        table.tag(f"b{number}")
    heads = open_table(str(tmp_path / "t")).heads()
    assert [each.text for each in notices.notices(heads)] == [
        "4 snapshots are kept by several tags each, 8 in all: deleting one tag reclaims nothing while another one "
        "keeps the same snapshot."
    ]


def test_worst_notices_come_first(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    (table.root / "snapshot" / "snapshot-9").write_text("{")
    table.hints(latest=9)
    levels = [each.level for each in notices.notices(history(table).heads)]
    assert levels == sorted(levels, key=["problem", "warning", "info"].index)
    assert levels[0] == "problem"


# differences ---------------------------------------------------------------------------------------------------------


def difference(known: History, a: str, b: str) -> diff.Diff:
    return diff.diff(known, resolve(known.heads, a), resolve(known.heads, b))


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>|&nbsp;", " ", html)).strip()


@pytest.fixture
def compacted(tmp_path: Path) -> History:
    """Create three appends, a compaction of all, one append; then a compaction that includes the last append."""
    made = TableBuilder(tmp_path / "compacted", step_ms=DAY_MS)
    for number in range(3):
        made.commit([made.file(5_000, rows=10 + number)])
    made.tag("before")
    made.commit([made.file(14_000, rows=33, source=1)], made.live(), kind="COMPACT")
    made.commit([made.file(700, rows=7)])
    made.commit([made.file(14_500, rows=40, source=1)], made.live(), kind="COMPACT")
    return history(made)


def test_a_stat_line_tells_compaction_apart(compacted: History) -> None:
    found = difference(compacted, "3", "5")
    assert plain(differences.stat_line(found)) == (
        "Net +7 rows, −300 B, −1 file · +1 file 700 B , 7 rows · no file removed · "
        "compaction 3 → 1 file, 15.0 kB → 14.0 kB"
    )
    assert differences.compacted_rows(found) == 0
    assert len(differences.listed(found, hide_compaction=True)) == 1
    assert len(differences.listed(found, hide_compaction=False)) == 5


def test_rows_inside_compaction_are_told(compacted: History) -> None:
    found = difference(compacted, "3", "6")
    assert differences.compacted_rows(found) == 7
    assert "+7 rows inside" in plain(differences.stat_line(found))


def test_sentences_of_differences(compacted: History) -> None:
    assert differences.sentence(difference(compacted, "3", "tag:before")) == words.SAME_POINT
    assert differences.sentence(difference(compacted, "3", "4")) == words.ONLY_COMPACTION
    assert differences.sentence(difference(compacted, "3", "6")) == words.ALL_COMPACTED
    assert differences.sentence(difference(compacted, "4", "5")) is None


def test_partitions_of_a_difference(table: TableBuilder) -> None:
    found = difference(history(table), "7", "8")
    assert plain(change_tree.drawn(differences.partitions(found, hide_compaction=False))) == (
        "Partition and bucket Files Added Rows Files Removed Rows dt=2026-01-10/bucket-0 +1 700 B +7 —"
    )


def test_folders_of_a_difference_add_up() -> None:
    """With two keys and buckets, each folder has the totals of everything below it; an only child is merged with its
    parent."""
    counted = [(place, bucket, *([1, 10 * number, number] * 2)) for number, (place, bucket) in enumerate(
        [("dt=1/h=1", 0), ("dt=1/h=1", 1), ("dt=1/h=2", 0), ("dt=2/h=1", -2)], start=1)]  # fmt: skip
    names = ["partition", "bucket", *change_tree.COUNTED]
    rows = pa.table({name: [row[place] for row in counted] for place, name in enumerate(names)})
    root = change_tree.tree(rows)
    assert root.sums["added_bytes"] == root.sums["removed_bytes"] == 100
    assert list(root.inner) == ["dt=1", "dt=2"]
    assert root.inner["dt=1"].sums["added_rows"] == 6
    assert root.inner["dt=1"].inner["h=1"].sums["added_files"] == 2
    assert root.inner["dt=2"].name == "dt=2/h=1/bucket-postpone"
    assert root.inner["dt=1"].inner["h=2"].inner == {}
    assert change_tree.leaves(root) == 4
    assert change_tree.drawn(rows).count("<details open>") == 2
    many = pa.concat_tables([rows.set_column(0, "partition", pa.array([f"p={n}"] * 4)) for n in range(70)])
    assert change_tree.drawn(many).count("bucket-") == change_tree.SHOWN
    assert "The first 200 of 210" in plain(change_tree.drawn(many))


def test_what_changed_beside_rows(table: TableBuilder) -> None:
    found = difference(history(table), "7", "8")
    shown = differences.settings(found, {"rows": "1"}, {"rows": "2", "id": "min 0"})
    told = dict(zip(shown["changed"], shown["of"], strict=True))
    assert told["rows: 1 → 2"] == told[f"id: {words.NOT_COUNTED} → min 0"] == words.SETTING_STATISTICS
    assert differences.settings(found, {"rows": "1"}, {"rows": "1"}).shape[0] == len(shown) - 2


def test_the_dearest_tag_is_named_and_nothing_where_a_cost_is_not_known() -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "cost": [0, 7], "later": [5, None]}).astype(
        {"cost": "Int64", "later": "Int64"}
    )
    assert rows.dearest(frame, "cost") == ("b", 7)
    assert rows.dearest(frame, "later") is None
    assert rows.dearest(frame.head(1), "later") == ("a", 5)
    assert "b, 7 B" in words.dearest(("b", 7), ("a", 5))
    assert "cannot be determined" in words.dearest(("b", 7), None)
    assert "none" in words.dearest(("a", 0), ("a", 0))


def test_every_document_of_the_desk_is_known_by_its_name() -> None:
    assert {visits._VISITS, visits._WATCHED, visits._RECENT, saved_queries.SAVED, saved_queries.HISTORY} == set(
        paths._DOCUMENTS
    )
