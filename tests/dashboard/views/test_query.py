"""The Query page: suitable examples, a result next to its own query, history, saved queries, downloads."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core import user_state
from core.errors import Corrupt, Invalid
from core.model.query_answer import QueryAnswer
from core.spark.query import query as spark_query
from core.table import open_table, resolve
from dashboard import background_jobs, words
from dashboard.charts import query_plot
from dashboard.components import grid
from dashboard.formatting import cells, exports
from dashboard.formatting.palette import palette
from dashboard.view_models import saved_queries
from tests.support.builders import TableBuilder
from tests.support.dashboard.pages import Open, Page, newest_job

SUM = "SELECT sum(a) AS n FROM t"
BOTH, FAILS = "SELECT a, n FROM t", "SELECT a, n, note FROM t"


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / "state"))
    made = TableBuilder(tmp_path / "w" / "shop.db" / "orders")
    made.commit([made.file(100)])
    made.commit([made.file(100), made.file(200)])
    return tmp_path / "w"


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replaces Spark and records what it was asked."""
    asked: list[dict[str, Any]] = []

    def answer(table: Any, sql: str, **how: Any) -> QueryAnswer:
        asked.append({"sql": sql, **how})
        rows = pa.table({"day": [dt.date(2026, 1, day % 28 + 1) for day in range(1_200)], "n": list(range(1_200))})
        found = how["at"]
        if sql == cells.counting(SUM):
            rows = pa.table({"count": [98_765]})
        if sql == FAILS and found.point == "1":
            raise Invalid("there is no column {name}", name="note")
        if sql in (BOTH, FAILS):
            rows = pa.table({"a": [1, 2], "n": [10, 20 + found.snapshot.id]})
        return QueryAnswer(rows, how["row_cap"] == 100, 0.25, 1, 2, found, None, "plain Spark (local)")

    monkeypatch.setattr(spark_query, "query", answer)
    return asked


def run(page: Page, sql: str) -> Page:
    page.test.text_area[0].set_value(sql)
    next(each for each in page.test.button if each.label == words.RUN).click()
    page.run()
    job = newest_job("query")
    assert job is not None
    assert job.wait(300)
    return page.run()


@pytest.mark.parametrize("starts", [True, False])
def test_opening_the_page_starts_spark_behind_it_and_archives_its_classes(
    starts: bool, warehouse: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm, archived = Future[float](), list[object]()
    running = SimpleNamespace(settings={"spark.driver.extraClassPath": "/a.jar"})
    monkeypatch.setattr("core.spark.sql.warm_up.warm_up", lambda: warm)
    monkeypatch.setattr("core.spark.session.session.spark", lambda: running)
    monkeypatch.setattr("core.spark.session.class_archiving.make", archived.append)
    monkeypatch.setattr(background_jobs, "warms_up", True)
    open_page("query", warehouse, table="shop.orders")
    job = background_jobs.find("warm-up")
    assert job is not None
    assert job.running
    assert archived == []
    if starts:
        warm.set_result(1.0)
    else:
        warm.set_exception(Invalid("no"))
    assert job.wait(60)
    assert job.error is None
    assert archived == ([running.settings] if starts else [])


def test_an_answer_stands_beside_its_question_and_is_kept(
    warehouse: Path, open_page: Open, answered: list[dict[str, Any]]
) -> None:
    page = open_page("query", warehouse, table="shop.orders")
    assert words.EXAMPLES_TITLE in page.text
    for name in ("rows", "count", "files", "commits"):
        assert words.EXAMPLES[name] in page.text
    assert words.EXAMPLES["before"] not in page.text
    run(page, SUM)
    assert "1,200 rows as of 2; read 1 of 2 current files in 0.2 s by plain Spark (local)." in page.text
    rule = resolve(open_table(str(warehouse / "shop.db" / "orders")).heads(), "latest").rule
    assert rule in page.text  # of the requested version, not of the id it resolved to
    assert "1 to 500 of 1,200 rows (all rows)" in page.text
    next(each for each in page.test.button if each.label == words.LATER_ROWS).click()
    page.run()
    assert "501 to 1,000 of 1,200 rows" in page.text
    # another version: the result belongs to another query
    page.test.selectbox(key="pick.point").set_value("1")
    page.run()
    assert words.QUESTION_CHANGED in page.text
    before, _, after = page.text.partition(words.EARLIER_ANSWER)
    assert "rows as of" not in before
    assert "1,200 rows as of 2; read 1 of 2" in after, "it stays, below its own statement"
    run(page, SUM)
    assert words.EARLIER_ANSWER not in page.text
    assert [each["at"].point for each in answered] == ["2", "1"]
    # the history leads back to the first one
    [newer, older] = saved_queries.entries(user_state.read(saved_queries.HISTORY, []), saved_queries.HISTORY)
    assert (newer["point"], older["point"], older["sql"], older["rows"]) == ("1", "latest", SUM, 1_200)
    other = open_page("query", warehouse, table="shop.orders", ask="history")
    assert SUM in other.text
    # saved under a name, opened, deleted
    next(each for each in page.test.text_input if each.label == words.SAVE_AS).set_value("revenue")
    next(each for each in page.test.button if each.label == words.SAVE).click()
    page.run()
    assert [each["name"] for each in user_state.read(saved_queries.SAVED, [])] == ["revenue"]
    other.run()
    next(each for each in other.test.button if each.label == "revenue").click()
    other.run()
    assert other.test.text_area[0].value == SUM
    assert (other.test.query_params["sql"], other.test.query_params["point"]) == (SUM, "1")
    last = open_page("query", warehouse, table="shop.orders", ask="history")
    next(each for each in last.test.button if each.label == words.SAVED_DELETE).click()
    last.run()
    assert user_state.read(saved_queries.SAVED, None) == []


def test_all_rows_of_an_answer_that_was_cut_off_are_counted_where_it_was_asked(
    warehouse: Path, open_page: Open, answered: list[dict[str, Any]]
) -> None:
    page = open_page("query", warehouse, table="shop.orders", point="latest~1")
    page.test.selectbox(key="query.cap").set_value(100)
    assert words.COUNT_ALL not in page.text
    run(page, f"{SUM} ;")
    assert page.test.query_params["limit"] == "100"
    assert "read 1 of 2 current files" in page.text
    next(each for each in page.test.button if each.label == words.COUNT_ALL).click()
    page.run()
    assert words.counted_all(98_765) in page.text
    assert [(each["at"].point, each["row_cap"]) for each in answered] == [("1", 100), ("1", 1)]
    assert answered[1]["at"] == answered[0]["at"]
    run(page, SUM)
    assert words.counted_all(98_765) not in page.text, "it was of the answer before"


def test_a_statement_runs_at_two_versions_side_by_side(
    warehouse: Path, open_page: Open, answered: list[dict[str, Any]]
) -> None:
    page = open_page("query", warehouse, table="shop.orders", before="1", limit="10000", seconds="300", equal="1")
    run(page, BOTH)
    assert [(each["at"].point, each["before"], each["row_cap"], each["timeout_s"]) for each in answered] == [
        ("1", None, 10_000, 300),
        ("2", None, 10_000, 300),
    ]
    assert "0 added · 0 removed · 1 changed · 1 equal · Rows matched by a" in page.text
    assert "2 rows as of 1; read 1 of 2" in page.text
    assert "2 rows as of 2; read 1 of 2" in page.text
    assert "n @ 1" not in page.test.dataframe[0].value.columns  # names of columns are numbers: they may be anything
    assert page.test.dataframe[0].value.to_numpy().tolist() == [
        [words.ANSWER_SIDES["same"], "1", "10", "10"],
        [words.ANSWER_SIDES["changed"], "2", "21", "22"],
    ]
    assert "--at 1 snapscope query" in page.text
    # both are also there on their own, and the address says which is shown
    alone = run(open_page("query", warehouse, table="shop.orders", before="1", answer="before"), BOTH)
    assert "2 rows as of 1" in alone.text
    assert "2 rows as of 2" not in alone.text
    # where it fails at one version, the other one still answers
    run(page, FAILS)
    assert "No answer at 1: there is no column note" in page.text
    assert "2 rows as of 2; read 1 of 2" in page.text
    # a statement that names the second version runs once
    run(page, "SELECT count(*) FROM t_before")
    assert (answered[-1]["at"].point, answered[-1]["before"]) == ("2", "1")


def test_the_name_of_a_table_is_no_markdown_beside_the_editor(tmp_path: Path, open_page: Open) -> None:
    made = TableBuilder(tmp_path / "shop.db" / "a ![x](y) *z*")
    made.commit([made.file(1)])
    made.commit([made.file(2)])
    help = open_page("query", tmp_path, point="2", before="1").test.text_area[0].help
    assert r"is \`a \!\[x\](y) \*z\*\`, or t" in help
    assert r"is \`a \!\[x\](y) \*z\*\_before\`, or t_before" in help


def test_a_damaged_history_takes_nothing_from_the_answer(
    warehouse: Path, tmp_path: Path, open_page: Open, answered: list[dict[str, Any]]
) -> None:
    (tmp_path / "state" / "desk").mkdir(parents=True)
    damaged = tmp_path / "state" / "desk" / f"{saved_queries.HISTORY}.json"
    damaged.write_text('{"half": ')
    page = run(open_page("query", warehouse, table="shop.orders"), SUM)
    assert words.NOT_NOTED in page.text
    assert "1,200 rows as of 2" in page.text
    assert "move it away" in open_page("query", warehouse, table="shop.orders", ask="history").text
    assert damaged.read_text() == '{"half": '


def test_what_is_kept_is_capped_and_checked() -> None:
    entry = {"table": "a.b", "location": "/a", "sql": "select 1", "point": "1", "before": None, "at_ms": 1}
    found: list[saved_queries.Entry] = []
    for number in range(saved_queries.MOST + 5):
        found = saved_queries.noted(found, {**entry, "sql": f"select {number}"})
    assert len(found) == saved_queries.MOST
    assert saved_queries.noted(found, {**found[0], "at_ms": 2})[1:] == found[1:]  # an immediate repetition is one entry
    wrong: Any
    for wrong in ({}, [1], [{"sql": 1}], [{**entry, "at_ms": "x"}]):
        with pytest.raises(Corrupt, match="query-history"):
            saved_queries.noted(wrong, entry)


def test_files_to_take_away_are_harmless_and_exact() -> None:
    rows = pa.table(
        [
            pa.array(["=1+1", "plain", None, "\tx"]),
            pa.array([decimal.Decimal("-1.50"), decimal.Decimal("12345678901234567890.25"), None, decimal.Decimal(0)]),
            pa.array([-(2**60), 1, None, 2]),
            pa.array([["-a"], [], None, ["b"]]),
            pa.array([b"\x00", b"", None, b"-"]),
        ],
        names=["@name", "amount", "id", "tags", "id"],
    )
    assert exports.rows_csv(rows).decode().splitlines() == [
        "'@name,amount,id,tags,id_2",
        "'=1+1,-1.50,-1152921504606846976,['-a'],00",
        "plain,12345678901234567890.25,1,[],",
        ",,,,",
        "'\tx,0.00,2,['b'],2d",
    ]
    back = pq.read_table(io.BytesIO(exports.parquet(rows)))
    assert back.equals(rows.rename_columns(["@name", "amount", "id", "tags", "id_2"]))


def test_a_chart_is_read_from_an_address_as_far_as_it_fits() -> None:
    moments = pa.array([dt.datetime(2026, 1, day, tzinfo=dt.UTC) for day in (1, 2)])
    rows = pa.table({"at": moments, "n": [1, 2], "x": pa.array([decimal.Decimal("1.5"), None]), "who": ["a", "b"]})
    suits = query_plot.suiting(rows)
    assert suits == query_plot.Chart("line", "at", ("n",))
    chart = query_plot.read('["bar","who","x","n","gone"]', rows)
    assert chart == query_plot.Chart("bar", "who", ("x", "n"))
    assert query_plot.read(chart.text(), rows) == chart
    for broken in (None, "{", "[]", '["pie","who"]', "3"):
        assert query_plot.read(broken, rows) == suits
    figure = query_plot.figure(rows, query_plot.Chart("line", "at", ("n", "x")), palette("dark"), "Asia/Shanghai")
    assert list(figure.data[0].x) == [dt.datetime(2026, 1, 1, 8), dt.datetime(2026, 1, 2, 8)]
    assert figure.layout.xaxis.title.text == "at (Asia/Shanghai)"
    assert list(figure.data[1].y) == [1.5, None]
    assert query_plot.suiting(pa.table({"who": ["a"]})) is None


def test_since_when_shows_its_probes_and_leads_on(
    warehouse: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(table: Any, sql: str, **how: Any) -> Any:
        number = how["history"].position(how["at"])
        rows = pa.table({"turned": [number > 0], "seen": [100 * (number + 1)]})
        return type("Answer", (), {"table": rows})

    monkeypatch.setattr(spark_query, "query", answer)
    page = open_page("query", warehouse, table="shop.orders", ask="bisect")
    assert words.BISECT_EMPTY in page.text
    [given] = [json.loads(each.proto.json) for each in page.test.get("bidi_component") if "asked" in each.proto.json]
    offered = {each["text"]: each["kind"] for each in given["words"]}
    assert (given["editor"], offered["id"], offered["t"]) == ("bisect_editor", "column", "table")
    page.test.text_area[0].set_value("count(*) > 150")
    next(each for each in page.test.button if each.label == words.BISECT_RUN).click()
    page.run()
    limit = time.monotonic() + 300
    while "First true at" not in page.text and time.monotonic() < limit:
        page.run()
    assert "First true at 2, committed" in page.text
    assert "false at 1." in page.text
    assert words.BISECT_ALL in page.text
    assert page.test.query_params["condition"] == "count(*) > 150"
    assert "snapscope bisect" in page.text


def test_the_columns_of_the_point_are_told(warehouse: Path, open_page: Open) -> None:
    page = open_page("query", warehouse, table="shop.orders", before="1")
    [told] = [json.loads(each.proto.json) for each in page.test.get("bidi_component") if "written" in each.proto.json]
    assert told["columns"]
    assert {"t_before", "t_changes", "`t$files`", "`t$audit_log`"} <= set(told["tables"])
    assert words.EXAMPLES["changes"] in page.text


def test_whole_numbers_of_an_answer_may_be_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("streamlit.dataframe", lambda frame, **_: shown.append(frame))
    grid.plain(pd.DataFrame({"id": pd.array([6421280109695013028, None], dtype="Int64")}), "answer", columns={})
    assert "6421280109695013028" in shown[0].to_html()
    assert "NULL" in shown[0].to_html()
