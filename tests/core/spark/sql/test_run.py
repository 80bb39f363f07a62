"""A user's query always returns: with a limited number of Arrow rows, with one sentence, or stopped in time."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.serializers import NoOpSerializer
from pyspark.sql import SparkSession

from core.errors import Conflict, Corrupt, Invalid, NotFound, TimedOut
from core.spark.session import session as sessions
from core.spark.sql import arrow_rows, guard
from core.spark.sql import run as sql

OPEN = {"t", "t_before", "many"}
ENDLESS = "SELECT sum(a.id * b.id) FROM many a, many b"


def lines(answer: sql.StatementResult) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in answer.table.columns), strict=True))


# -------------------------------------------------------------------------------------------------------------- rows


def test_rows_come_in_order(shop: SparkSession) -> None:
    answer = sql.run(shop, "SELECT id, city FROM t ORDER BY qty DESC, id", OPEN)
    assert lines(answer) == [(3, "Oslo"), (4, "Oslo"), (1, "Oslo"), (2, "Bergen"), (5, "Tromso")]
    assert not answer.truncated
    assert 0 < answer.seconds < 60


@pytest.mark.parametrize(("cap", "rows", "truncated"), [(4, 4, True), (5, 5, False), (6, 5, False)])
def test_truncated_is_decided_by_one_row_more(shop: SparkSession, cap: int, rows: int, truncated: bool) -> None:
    answer = sql.run(shop, "SELECT id FROM t", OPEN, row_cap=cap)
    assert (answer.table.num_rows, answer.truncated) == (rows, truncated)


def test_a_cap_spares_the_work(shop: SparkSession) -> None:
    answer = sql.run(shop, "SELECT a.id FROM many a, many b", OPEN, row_cap=10, timeout_s=300)
    assert (answer.table.num_rows, answer.truncated) == (10, True)


def test_a_large_answer_is_whole_and_in_order(shop: SparkSession) -> None:
    answer = sql.run(shop, "SELECT id, repeat('x', 100) AS c FROM range(35000) ORDER BY id DESC", OPEN, row_cap=50_000)
    assert answer.table["id"].to_pylist() == list(range(34_999, -1, -1))


def test_an_answer_that_breaks_off_is_refused(shop: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    load: Any = NoOpSerializer.load_stream
    monkeypatch.setattr(NoOpSerializer, "load_stream", lambda *given: list(load(*given))[:-1])
    with pytest.raises(Corrupt, match="Spark sent 10000 of 15000 rows of its answer"):
        sql.run(shop, "SELECT id FROM range(15000)", OPEN, row_cap=50_000)


@pytest.mark.parametrize("at", ["connecting", "reading"])
def test_rows_that_cannot_be_fetched_are_an_error_at_once(
    shop: SparkSession, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """The JVM waits for whoever reads them: nothing may wait for the JVM then."""

    def fails(*_: object) -> None:
        raise MemoryError(at)

    if at == "connecting":
        monkeypatch.setattr(arrow_rows, "local_connect_and_auth", fails)
    else:
        monkeypatch.setattr(NoOpSerializer, "loads", fails)
    with pytest.raises(Invalid, match=at):
        sql.run(shop, "SELECT repeat('x', 10000) FROM range(9000)", OPEN, row_cap=9_000, timeout_s=30)
    monkeypatch.undo()
    assert sql.run(shop, "SELECT count(*) AS n FROM t", OPEN).table.to_pylist() == [{"n": 5}]


def test_a_missing_file_is_reported_without_waiting_for_spark_to_end(
    shop: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []
    monkeypatch.setattr(sessions.Spark, "ran_out_of_memory", lambda _, patience_s: waited.append(patience_s))

    def work(*_: object) -> None:
        try:
            Path("/nowhere/at/all").read_bytes()
        except FileNotFoundError as missing:
            raise NotFound("There is no such file.") from missing

    with pytest.raises(NotFound):
        sql.run_on_spark(work, timeout_s=60, session=shop)
    assert waited == [0]


@pytest.mark.parametrize(("text", "rows"), [("SELECT id FROM parts LIMIT 10", 10), ("SELECT id FROM parts", 1_000)])
def test_a_limit_leaves_most_partitions_unread(shop: SparkSession, text: str, rows: int) -> None:
    shop.range(0, 640_000, 1, 64).createOrReplaceTempView("parts")
    answer = sql.run(shop, text, {"parts"}, row_cap=1_000, query_id=text)
    assert answer.table.num_rows == rows
    tracker = shop.sparkContext.statusTracker()
    stages = [stage for job in tracker.getJobIdsForGroup(text) for stage in tracker.getJobInfo(job).stageIds]
    assert 0 < sum(tracker.getStageInfo(stage).numTasks for stage in stages) <= 8


def test_rows_of_many_partitions_keep_their_order(shop: SparkSession) -> None:
    shop.range(0, 640, 1, 64).createOrReplaceTempView("parts")
    answer = sql.run(shop, "SELECT id FROM parts WHERE id % 10 = 0", {"parts"}, row_cap=1_000)
    assert answer.table["id"].to_pylist() == list(range(0, 640, 10)), "every partition, although few rows come of each"


def test_no_rows_still_have_columns(shop: SparkSession) -> None:
    answer = sql.run(shop, "SELECT id, tags, map('k', price) AS m FROM t WHERE id < 0", OPEN)
    assert answer.table.num_rows == 0
    assert answer.table.column_names == ["id", "tags", "m"]
    assert answer.table.schema.field("id").type == pa.int64()


def test_names_may_repeat_or_hold_anything(shop: SparkSession) -> None:
    answer = sql.run(shop, "SELECT id, id, qty AS `a.b`, qty AS `` FROM t WHERE id = 3".replace("``", "`ø ```"), OPEN)
    assert answer.table.column_names == ["id", "id", "a.b", "ø `"]
    assert lines(answer) == [(3, 3, 5, 5)]


def test_every_type_arrives(shop: SparkSession) -> None:
    """Every type of a Paimon column, with the values at the edges, and what SQL can make of them besides."""
    far = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
    cases: list[tuple[str, Any, Any]] = [
        ("CAST(-128 AS tinyint)", pa.int8(), -128),
        ("CAST(-32768 AS smallint)", pa.int16(), -32768),
        ("2147483647", pa.int32(), 2147483647),
        ("9223372036854775807", pa.int64(), 9223372036854775807),
        ("CAST(0.5 AS float)", pa.float32(), 0.5),
        ("CAST('-Infinity' AS double)", pa.float64(), float("-inf")),
        ("true", pa.bool_(), True),
        ("CAST('ab' AS char(3))", pa.string(), "ab"),
        ("CAST('ab' AS varchar(3))", pa.string(), "ab"),
        ("'x' COLLATE UTF8_LCASE", pa.string(), "x"),
        ("X'00ff'", pa.binary(), b"\x00\xff"),
        ("99999999999999999999999999999999999999BD", pa.decimal128(38, 0), Decimal("9" * 38)),
        ("CAST(-1.5 AS decimal(38,18))", pa.decimal128(38, 18), Decimal("-1.5")),
        ("date'0001-01-01'", pa.date32(), dt.date(1, 1, 1)),
        ("timestamp'9999-12-31 23:59:59.999999'", pa.timestamp("us", "UTC"), far.replace(tzinfo=dt.UTC)),
        ("timestamp_ntz'9999-12-31 23:59:59.999999'", pa.timestamp("us"), far),
        ("time'23:59:59.999999'", pa.time64("ns"), dt.time(23, 59, 59, 999999)),
        ("CAST(null AS decimal(10,2))", pa.decimal128(10, 2), None),
        ("null", pa.null(), None),
        ("array(1, null)", None, [1, None]),
        ("array(timestamp'2026-01-01')", None, [dt.datetime(2026, 1, 1, tzinfo=dt.UTC)]),
        ("map('k', array(1.5BD), 'n', null)", None, [("k", [Decimal("1.5")]), ("n", None)]),
        ("named_struct('a', 1, 'b', named_struct('c', X'01'))", None, {"a": 1, "b": {"c": b"\x01"}}),
        ("array(map(1, named_struct('d', date'2026-01-01')))", None, [[(1, {"d": dt.date(2026, 1, 1)})]]),
        ("interval '3 04:05:06' day to second", pa.duration("us"), dt.timedelta(3, 4 * 3600 + 5 * 60 + 6)),
        ("interval '1-2' year to month", pa.string(), "INTERVAL '1-2' YEAR TO MONTH"),
        ("make_interval(1, 2)", pa.string(), "1 years 2 months"),
        ("""parse_json('{"a":1}')""", pa.string(), '{"a":1}'),
        ("array(parse_json('1'), parse_json('null'))", None, ["1", None]),
        ("map('k', parse_json('[1]'))", None, [("k", "[1]")]),
        ("named_struct('v', parse_json('true'))", None, {"v": "true"}),
        ("struct(1 AS a, 2 AS a)", pa.string(), "{1, 2}"),
        ("array()", pa.string(), "[]"),
        ("named_struct('n', null)", pa.string(), "{null}"),
    ]
    answer = sql.run(shop, "SELECT " + ", ".join(expression for expression, _, _ in cases), OPEN)
    for (expression, kind, value), column in zip(cases, answer.table.columns, strict=True):
        assert column.to_pylist() == [value], expression
        assert kind is None or column.type == kind, expression


def test_views_over_python_code_can_be_asked(own: SparkSession) -> None:
    own.range(3).mapInArrow(lambda batches: batches, "id long").createOrReplaceTempView("v")
    assert lines(sql.run(own, "SELECT sum(id) FROM v", {"v"})) == [(3,)]


# ------------------------------------------------------------------------------------------------------------ failing


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT * FROM secret", "The query was rejected: `secret` is not an opened table."),
        (
            "SELECT nope FROM t",
            "Spark cannot run this query. A column, variable, or function parameter with name `nope`",
        ),
        (
            "SELECT (1",
            "Spark cannot run this query. Syntax error at or near end of input (line 1, position 10).",
        ),
        (
            "SELECT 1 / (id - 3) FROM t",
            "Spark could not run this query. Division by zero. Use `try_divide` to tolerate divisor being 0 and return "
            "NULL instead (line 1, position 8).",
        ),
        ("SELECT CAST(city AS int) FROM t", "cannot be cast to"),
    ],
)
def test_failures_are_one_sentence_of_sparks_own(shop: SparkSession, query: str, says: str) -> None:
    with pytest.raises(Invalid) as failed:
        sql.run(shop, query, OPEN, timeout_s=300)
    assert says in str(failed.value)
    assert "\n" not in str(failed.value)
    assert "org.apache" not in str(failed.value)
    assert lines(sql.run(shop, "SELECT count(*) FROM t", OPEN)) == [(5,)]


def test_nothing_is_printed(shop: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    for query in ("SELECT nope FROM t", "SELECT 1 / 0 FROM t", "SELEC"):
        with pytest.raises(Invalid):
            sql.run(shop, query, OPEN)
    assert capfd.readouterr() == ("", "")


def test_an_unreadable_file_is_corrupt_not_invalid(own: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 this is no Parquet file PAR1")
    own.read.schema("id long").parquet(str(path)).createOrReplaceTempView("v")
    with pytest.raises(Corrupt, match=r"could not read a data file.*broken\.parquet"):
        sql.run(own, "SELECT * FROM v", {"v"})


@pytest.mark.parametrize("cap", [0, -1, 2**31 - 1, 10**20])
def test_a_cap_that_spark_cannot_count_is_refused(shop: SparkSession, cap: int) -> None:
    with pytest.raises(Invalid, match=f"from 1 to 2,147,483,646, not {cap}"):
        sql.run(shop, "SELECT 1", OPEN, row_cap=cap)


# -------------------------------------------------------------------------------------------------- stopping, progress


def comes_about(condition: Callable[[], object], within_s: float = 120) -> bool:
    deadline = time.monotonic() + within_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())


def idle(session: SparkSession) -> bool:
    return comes_about(lambda: not session.sparkContext.statusTracker().getActiveJobsIds())


def busy(session: SparkSession, query_id: str) -> bool:
    """Whether a job of the query runs."""
    return bool(session.sparkContext.statusTracker().getJobIdsForGroup(query_id))


def test_a_time_limit_stops_the_query(shop: SparkSession) -> None:
    with pytest.raises(TimedOut, match=r"^The query was stopped after 0\.7 s, its time limit\."):
        sql.run(shop, ENDLESS, OPEN, timeout_s=0.7)
    assert idle(shop)


def test_time_that_goes_while_spark_starts_is_not_blamed_on_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def slowly() -> sessions.Spark:
        over.wait(60)
        raise Invalid("Nobody waits any more.")

    monkeypatch.setattr(sessions, "spark", slowly)
    try:
        with pytest.raises(TimedOut, match="its time limit") as error:
            sql.run_on_spark(lambda *_: None, timeout_s=0.3)
    finally:
        over.set()
    assert "Spark had not started by then" in str(error.value.remedy)


def test_a_planning_that_hangs_is_left_behind(shop: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning is no job that Spark could cancel. It must not hold its caller, nor start its job afterwards."""
    hangs, go_on, real = threading.Event(), threading.Event(), guard.check

    def slow(session: SparkSession, text: str, views: Any) -> guard.CheckedPlan:
        hangs.set()
        go_on.wait(600)
        return real(session, text, views)

    def until_it_hangs(_done: int, _total: int) -> None:
        assert hangs.wait(600)

    monkeypatch.setattr(guard, "check", slow)
    with pytest.raises(Invalid, match="its time limit"):
        sql.run(shop, ENDLESS, OPEN, timeout_s=0.3, query_id="left behind", on_progress=until_it_hangs)
    worker = next(thread for thread in threading.enumerate() if thread.name == "query left behind")
    go_on.set()
    worker.join(120)
    assert not worker.is_alive()
    assert idle(shop)


def test_cancel_from_another_thread(shop: SparkSession) -> None:
    with ThreadPoolExecutor(1) as another:
        cancelled = another.submit(lambda: comes_about(lambda: busy(shop, "mine")) and sql.cancel("mine"))
        with pytest.raises(Invalid, match=r"^The query was cancelled\.$"):
            sql.run(shop, ENDLESS, OPEN, query_id="mine", timeout_s=600)
    assert cancelled.result() is True
    assert idle(shop)
    assert sql.cancel("mine") is False


def test_cancel_stops_one_query_and_no_other(shop: SparkSession) -> None:
    slow = "SELECT count(*) FROM range(30000000) WHERE hash(id) % 7 = 1"
    ended: dict[str, object] = {}

    def work(name: str, query: str) -> None:
        try:
            ended[name] = lines(sql.run(shop, query, OPEN, query_id=name, timeout_s=600))
        except Invalid as error:
            ended[name] = str(error)

    threads = [threading.Thread(target=work, args=pair) for pair in (("kept", slow), ("stopped", ENDLESS))]
    for thread in threads:
        thread.start()
    assert comes_about(lambda: busy(shop, "stopped") and (busy(shop, "kept") or "kept" in ended))
    with pytest.raises(Conflict, match="A query with the id stopped is already running"):
        sql.run(shop, "SELECT 1", OPEN, query_id="stopped")
    assert sql.cancel("stopped")
    for thread in threads:
        thread.join(600)
    assert ended["stopped"] == "The query was cancelled."
    assert isinstance(ended["kept"], list)


def test_progress_grows_and_ends(shop: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "POLL_S", 0.005)  # however fast the machine is
    seen: list[tuple[int, int]] = []
    query = "SELECT id % 10, count(*) FROM range(0, 40000000) WHERE hash(id) % 3 = 1 GROUP BY 1"
    sql.run(shop, query, OPEN, on_progress=lambda done, total: seen.append((done, total)))
    assert seen
    assert all(done <= total for done, total in seen)
    assert seen == sorted(set(seen))


def test_who_gave_up_before_the_query_was_there_is_heard_before_any_task_ends(shop: SparkSession) -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        assert sql.cancel("early")

    with pytest.raises(Invalid, match="cancelled"):
        sql.run(shop, ENDLESS, OPEN, on_progress=tell, query_id="early", timeout_s=600)
    assert told == [(0, 0)]
    assert idle(shop)


def test_what_the_caller_raises_cancels_the_query(shop: SparkSession) -> None:
    """Streamlit reruns a script by raising a BaseException from wherever it is."""

    class Rerun(BaseException):
        pass

    def leave(_done: int, _total: int) -> None:
        raise Rerun

    with pytest.raises(Rerun):
        sql.run(shop, ENDLESS, OPEN, on_progress=leave, timeout_s=600)
    assert idle(shop)


def test_queries_leave_nothing_in_the_callers_thread(shop: SparkSession) -> None:
    sql.run(shop, "SELECT count(*) FROM t", OPEN)
    assert not shop.sparkContext.getLocalProperty("spark.jobGroup.id")  # blank where another test's job has had one
    assert comes_about(lambda: not [each for each in threading.enumerate() if each.name.startswith("query ")])
    assert sql._running == {}
