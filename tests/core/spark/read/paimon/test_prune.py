"""Fewer files, the same results: random statements on random tables, with and without file skipping by metadata."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.formats.paimon import binary_row
from core.spark.diff.shared_files import paths_of
from core.spark.query.query import query
from core.spark.read.paimon import prune
from core.spark.read.paimon.points import opened_at
from core.spark.read.paimon.prune import ComparableBounds, may
from core.spark.sql import filters
from core.spark.sql.filters import EVERYTHING, All, Any_, Check
from core.table import resolve
from tests.support.depth import sample
from tests.support.spark.conditions import COLUMNS, PARTS, condition, value
from tests.support.spark.stored import STATS, Row, Stored

EVOLVED: list[tuple[int, tuple[str, Any]]] = [  # renamed, widened, dropped and added again, new
    (0, ("id", "BIGINT")), (1, ("title", "STRING")), (2, ("num", "BIGINT")), (3, ("ratio", "DOUBLE")),
    (4, ("money", "DECIMAL(38, 4)")), (20, ("day", "DATE")), (6, ("at", "TIMESTAMP(6)")),
    (7, ("seen", "TIMESTAMP_LTZ(3)")), (8, ("ok", "BOOLEAN")), (9, ("raw", "BYTES")), (10, ("p", "STRING")),
    (21, ("more", "STRING")),
]  # fmt: skip


def some_rows(choose: random.Random, table: Stored, ids: Iterable[int]) -> list[Row]:
    names = [field.name for field in table.now.fields if field.name not in ("id", "p")]
    mostly = {name: value(choose, name) for name in names}  # so that some files have few values, or nulls alone
    return [
        {"id": id, **{name: mostly[name] if choose.random() < 0.7 else value(choose, name) for name in names}}
        for id in ids
    ]


def check(spark: SparkSession, table: Stored, choose: random.Random, count: int, at: int) -> tuple[int, int]:
    """(files left, files there) over random conditions, each of which is asked of all rows in one statement.

    Every file that holds the key of a row that passes must be left; some statements are run on what is left."""
    opened = table.opened()
    history = opened.history()
    point = opened_at(opened, history, resolve(history.heads, str(at)))
    names = [field.name for field in point.schema.fields]
    conditions = [condition(choose, names) for _ in range(count)]
    columns = ", ".join(f"array_agg(if({each}, id, NULL))" for each in conditions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prune, "plan", lambda of, _: of.plan)
        whole = query(opened, f"SELECT {columns} FROM t", at=str(at), history=history, timeout_s=300).table
    holds: dict[int, set[str]] = {}
    for file in table.points[at][1]:
        for row in file.rows:
            holds.setdefault(row[0], set()).add(file.record["_FILE"]["_FILE_NAME"])
    own, left, there = spark.newSession(), 0, 0
    for number, (where, column) in enumerate(zip(conditions, whole.columns, strict=True)):
        ids = sorted(column.to_pylist()[0])
        (asked,) = filters.wanted(own, f"SELECT * FROM t WHERE {where}", ["t"], [(["t"], point.schema)])
        plan = prune.plan(point, asked)
        kept = {path.rpartition("/")[2] for path in paths_of(plan)}
        assert all(holds[id] <= kept for id in ids), (where, asked)
        left, there = left + len(kept), there + len(point.files)
        if number < 4:
            answer = query(opened, f"SELECT id FROM t WHERE {where}", at=str(at), history=history, timeout_s=300)
            assert (sorted(answer.table["id"].to_pylist()), answer.files_read) == (ids, len(kept)), where
            sizes = dict(zip(*(point.files[name].to_pylist() for name in ("path", "bytes")), strict=True))
            assert answer.bytes_read == sum(sizes[path] for path in paths_of(plan)), where
    return left, there


def test_append_tables_answer_the_same(spark: SparkSession, tmp_path: Path) -> None:
    choose = random.Random(3)
    table = Stored(tmp_path / "t", COLUMNS, partition_keys=["p"], seed=3)
    for number in range(12):
        if number == 6:
            table.schema(EVOLVED)
        ids = range(number * 5, number * 5 + choose.choice((1, 5)))
        file = table.file(some_rows(choose, table, ids), partition=[choose.choice(PARTS)], stats=choose.choice(STATS))
        table.commit([file])
    left, there = check(spark, table, choose, 25, at=12)
    assert left < there * 0.8
    check(spark, table, choose, 6, at=6)


def test_primary_key_tables_answer_the_same(spark: SparkSession, tmp_path: Path) -> None:
    choose = random.Random(5)
    keys: list[tuple[str, Any]] = [(name, f"{of} NOT NULL" if name in ("id", "p") else of) for name, of in COLUMNS]
    table = Stored(
        tmp_path / "t", keys, partition_keys=["p"], primary_keys=["p", "id"], options={"bucket": "2"}, seed=5
    )
    for _ in range(10):
        bucket, part = choose.randrange(2), choose.choice("ab")
        first = bucket + 30 * "ab".index(part)
        ids = sorted(choose.sample(range(first, first + 30, 2), choose.choice((1, 6))))
        low = choose.choice((0, 0, ids[0]))
        rows = some_rows(choose, table, [id for id in ids if id >= low])
        kinds = [choose.choice((0, 0, 0, 3)) for _ in rows]
        table.commit([table.file(rows, kinds=kinds, partition=[part], bucket=bucket, stats=choose.choice(STATS))])
    left, there = check(spark, table, choose, 25, at=10)
    assert left < there


@pytest.mark.parametrize("of", sample(["delta", "difference", "difference by key", "changelog", "audit log"], 3))
def test_changes_and_the_audit_log_answer_the_same(spark: SparkSession, tmp_path: Path, of: str) -> None:
    choose = random.Random(of)
    is_keyed = of not in ("delta", "difference")
    keys: list[tuple[str, Any]] = [(name, f"{to} NOT NULL" if name in ("id", "p") else to) for name, to in COLUMNS]
    options = {"bucket": "1", "changelog-producer": "input" if of == "changelog" else "none"}
    table = Stored(
        tmp_path / "t", keys if is_keyed else COLUMNS, partition_keys=["p"], options=options,
        primary_keys=["p", "id"] if is_keyed else [], seed=8,
    )  # fmt: skip
    for number in range(8):
        if number == 5 and not is_keyed:
            table.schema(EVOLVED)
        part = choose.choice("ab")
        first = 20 * "ab".index(part)
        ids = sorted(choose.sample(range(first, first + 20), choose.choice((1, 6))))
        rows = some_rows(choose, table, ids)

        def file(kinds: list[int], rows: list[Row] = rows, part: str = part) -> Any:
            return table.file(rows, kinds=kinds if is_keyed else None, partition=[part], stats=choose.choice(STATS))

        kinds = [choose.choice((0, 0, 3)) for _ in rows]
        table.commit([file(kinds)], changelog=[file([choose.randrange(4) for _ in rows])] if of == "changelog" else ())
    if of == "difference":
        table.tag("second", 2)
    opened = table.opened()
    history = opened.history()
    view, kind = ("`t$audit_log`", "rowkind") if of == "audit log" else ("t_changes", "_rowkind")
    how: dict[str, Any] = {"history": history, "timeout_s": 300}
    if of != "audit log":
        how["since"] = "tag:second" if of == "difference" else "2"
    names = [field.name for field in table.now.fields]
    conditions = [condition(choose, names) for _ in range(4)] + ["id = 3", "p = 'a' AND id > 12"]
    columns = ", ".join(f"array_agg(if({each}, {kind} || id, NULL))" for each in conditions)
    whole = query(opened, f"SELECT {columns} FROM {view}", **how)
    left = 0
    for where, column in zip(conditions, whole.table.columns, strict=True):
        found = query(opened, f"SELECT {kind} || id AS row FROM {view} WHERE {where}", **how)
        assert sorted(found.table["row"].to_pylist()) == sorted(column.to_pylist()[0]), where
        left += found.files_read or 0
    assert whole.files_read is not None
    assert left < whole.files_read * len(conditions)


def test_values_below_a_merge_rule_nothing_out(spark: SparkSession, tmp_path: Path) -> None:
    """The newest row of the key has another value: without its file the older row would come back."""
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "INT")], primary_keys=["id"], options={"bucket": "1"})
    table.commit([table.file([{"id": 1, "v": 5}, {"id": 2, "v": 5}])])
    table.commit([table.file([{"id": 1, "v": 6}])])
    table.commit([table.file([{"id": 2, "v": None}], kinds=[3])])
    table.commit([table.file([{"id": 9, "v": 7}])])

    def ask(where: str) -> tuple[int, int | None]:
        answer = query(table.opened(), f"SELECT * FROM t WHERE {where}")
        return answer.table.num_rows, answer.files_read

    assert ask("v = 5") == (0, 3)
    assert ask("v = 7") == (1, 4)
    assert ask("v = 8") == (0, 3)  # the file that stands alone is ruled out by its values
    assert ask("id = 9") == (1, 1)
    assert ask("id = 2 AND v = 5") == (0, 2)
    assert ask("id > 9") == (0, 0)


@pytest.mark.parametrize("keyed", [True, False])
def test_buckets_by_the_hash_of_their_key(spark: SparkSession, tmp_path: Path, keyed: bool) -> None:
    """A bucket is ruled out where the files prove the hash; one file that was hashed otherwise, and none is."""
    columns: list[tuple[str, Any]] = [("id", "INT NOT NULL"), ("day", "DATE NOT NULL"), ("v", "STRING")]
    options = {"bucket": "8", "bucket-key": "id"}
    table = Stored(tmp_path / "t", columns, primary_keys=["day", "id"] if keyed else [], options=options)
    day, buckets = dt.date(2026, 1, 1), dict[int, list[int]]()
    for id in range(400):
        hash_ = binary_row.bucket_hash(binary_row.encode([id], ["INT"])[4:])
        buckets.setdefault(abs(hash_) % 8, []).append(id)
    for number in range(2):
        adds = [
            table.file([{"id": id, "day": day} for id in ids[number::2]], bucket=bucket, total_buckets=8)
            for bucket, ids in buckets.items()
        ]
        table.commit(adds)
    opened = table.opened()

    def ask(where: str) -> tuple[int, int | None]:
        found = query(opened, f"SELECT id FROM t WHERE {where}")
        return found.table.num_rows, found.files_read

    assert ask("id = 200") == (1, 2)
    assert ask("id IN (200, 201) AND v IS NULL") == (2, 4 if hash_of(200) != hash_of(201) else 2)
    assert ask("id = 200 OR id = 210 AND day = date'2026-01-01'")[0] == 2
    assert ask("id > 200 AND id < 202") == (1, 16)
    assert ask("id = 100000") == (0, 0)
    table.commit([table.file([{"id": id, "day": day} for id in range(500, 510)], bucket=3, total_buckets=8)])
    assert ask("id = 505")[0] == 1
    assert ask("id = 200") == (1, 16)


def hash_of(id: int) -> int:
    return abs(binary_row.bucket_hash(binary_row.encode([id], ["INT"])[4:])) % 8


def test_the_figure_is_said_and_counts_points_that_are_read(spark: SparkSession, tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")])
    for number in range(20):
        table.commit([table.file([{"id": number, "v": "x"}])])
    opened = table.opened()

    def note(sql: str, **how: Any) -> str:
        return query(opened, sql, **how).note

    assert "read 3 of 20 files" in note("SELECT * FROM t WHERE id IN (1, 5, 7)")
    assert "read 0 of 20 files" in note("SELECT * FROM t WHERE id > 100")
    assert "read 20 of 20 files" in note("SELECT * FROM t WHERE id % 2 = 0")
    assert "read 2 of 20 files" in note("SELECT * FROM t WHERE id < 2", before="10")
    both = "SELECT * FROM t JOIN t_before b USING (id) WHERE id = 3"
    assert "read 2 of 30 files" in note(both, before="10")
    assert query(opened, both, before="10").table.num_rows == 1
    assert "read 20 of 20 files" in note("SELECT * FROM t WHERE date'2000-01-01' + id < current_date()")
    assert "read 0 of 20 files" in note("SELECT count(*) FROM `t$files`")


# conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "bounds", "passes"),
    [
        (Check(0, "=", (5,)), ComparableBounds(5, 5, 0, 1), True),
        (Check(0, "=", (4, 6)), ComparableBounds(5, 5, 0, 1), False),
        (Check(0, "=", (5,)), ComparableBounds(None, None, 3, 3), False),
        (Check(0, "=", (5,)), ComparableBounds(None, None, None, 3), True),
        (Check(0, "null"), ComparableBounds(1, 2, 0, 3), False),
        (Check(0, "null"), ComparableBounds(1, 2, None, 3), True),
        (Check(0, "not null"), ComparableBounds(None, None, 3, 3), False),
        (Check(0, ">", (b"ab",)), ComparableBounds(b"aa", b"ab", 0, 3), True),  # `ab` may have been cut off
        (Check(0, ">", (b"ac",)), ComparableBounds(b"aa", b"ab", 0, 3), False),
        (Check(0, "=", (b"abc",)), ComparableBounds(b"aa", b"ab", 0, 3), True),
        (Check(0, "prefix", (b"ab",)), ComparableBounds(b"ac", b"ad", 0, 3), False),
        (Check(0, "prefix", (b"ab",)), ComparableBounds(b"aa", b"ab", 0, 3), True),
        (Check(0, "prefix", (b"ab",)), ComparableBounds(b"abx", b"b", 0, 3), True),
        (Check(0, "<", (5,)), ComparableBounds(5, 9, 0, 3), False),
        (Check(0, "<=", (5,)), ComparableBounds(5, 9, 0, 3), True),
        (Check(0, ">", (9,)), ComparableBounds(5, 9, 0, 3), False),
        (Check(0, ">=", (9,)), ComparableBounds(5, 9, 0, 3), True),
        (Check(1, "=", (5,)), ComparableBounds(7, 9, 0, 3), True),  # of another column nothing is known
        (All((Check(0, "=", (5,)), Check(1, "=", (5,)))), ComparableBounds(7, 9, 0, 3), False),
        (Any_((Check(0, "=", (5,)), Check(1, "=", (5,)))), ComparableBounds(7, 9, 0, 3), True),
        (Any_(()), ComparableBounds(7, 9, 0, 3), False),
        (EVERYTHING, ComparableBounds(None, None, 3, 3), True),
    ],
)
def test_what_bounds_rule_out(test: Any, bounds: ComparableBounds, passes: bool) -> None:
    assert may(test, {0: bounds}.get) is passes


def test_what_a_statement_asks_of_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", COLUMNS)
    own = spark.newSession()

    def asked(sql: str) -> list[Any]:
        views = ["t", "t_before"]
        return filters.wanted(own, sql, views, [([name], table.now) for name in views])

    def columns(condition: Any) -> set[int]:
        return prune._columns(condition)

    assert [columns(each) for each in asked("SELECT * FROM t JOIN t_before b USING (id) WHERE id = 5")] == [{0}, {0}]
    assert asked("SELECT 1") == [filters.NOTHING, filters.NOTHING]
    assert asked("SELECT * FROM t WHERE day < current_date()")[0] == EVERYTHING
    assert asked("SELECT * FROM t WHERE day < date'today'")[0] == EVERYTHING
    assert columns(asked("SELECT * FROM t a, t b WHERE a.id = 1 AND b.num = 2")[0]) == {0, 2}
    outer = asked("SELECT * FROM t LEFT JOIN t_before b ON t.id = b.id AND t.num = 1 AND b.num = 2")
    assert columns(outer[0]) == set()
    assert columns(outer[1]) >= {2}
    assert (
        columns(asked("SELECT * FROM (SELECT *, row_number() OVER (ORDER BY id) n FROM t) WHERE num = 1")[0]) == set()
    )
    assert columns(asked("SELECT * FROM t WHERE ratio > 1 AND raw = X'00' AND upper(text) = 'A'")[0]) <= {1, 3, 9}
