"""Micro-batches: each is committed exactly once, even if Spark repeats it or dies between a commit and its own
checkpoint."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import Invalid
from core.formats.paimon import references
from core.formats.paimon.write import publish
from core.spark.query.query import query
from core.spark.write import append as write
from core.spark.write import stream, upsert
from core.storage.store import Store
from core.table import open_table

T0 = 1_790_000_000_000


def committed(store: Store) -> list[tuple[int, int]]:
    """(batch, rows added) of each snapshot."""
    found = []
    for number in publish.snapshot_ids(store):
        document = references.document(store.read(f"snapshot/snapshot-{number}"), "")
        found.append((document["commitIdentifier"], document["deltaRecordCount"]))
    return found


def test_a_query_that_dies_after_a_commit_goes_on_without_a_second_one(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "default.db" / "t"))
    write.create_table(store, (("id", "BIGINT"),), time_ms=T0)
    (source := tmp_path / "source").mkdir()
    clock = itertools.count(T0, 1000)
    sink = stream.stream_to(
        store,
        user="query-1",
        now_ms=lambda: next(clock),
        watermark=lambda rows: int(rows.agg(F.max("id")).collect()[0][0]),
    )

    def once(body: Any) -> None:
        query = (
            spark.readStream.schema("id bigint").option("maxFilesPerTrigger", 1).json(str(source))
            .writeStream.foreachBatch(body)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )  # fmt: skip
        query.awaitTermination()

    (source / "a.json").write_text('{"id": 1}\n{"id": 2}\n')
    once(sink)
    assert committed(store) == [(0, 2)]

    def dies(rows: DataFrame, number: int) -> None:
        sink(rows, number)
        raise RuntimeError("between our commit and Spark's own note of it")

    (source / "b.json").write_text('{"id": 3}\n')
    with pytest.raises(Exception, match="between our commit"):
        once(dies)
    assert committed(store) == [(0, 2), (1, 1)]
    files = {str(path) for path in tmp_path.rglob("data-*.parquet")}
    once(sink)
    assert committed(store) == [(0, 2), (1, 1)], "given again, known by its number"
    assert {str(path) for path in tmp_path.rglob("data-*.parquet")} == files
    (source / "c.json").write_text("")
    (source / "d.json").write_text('{"id": 4}\n')
    once(sink)
    assert [rows for _, rows in committed(store)] == [2, 1, 1], "a batch without rows is no commit"
    head = publish.read_head(store).snapshot
    assert head is not None
    assert (head.commit_user, head.watermark, head.total_rows) == ("query-1", 4, 4)


def test_batches_of_a_keyed_table_replace_rows_and_delete_them(spark: SparkSession, tmp_path: Path) -> None:
    store, clock = Store(str(tmp_path / "default.db" / "t")), itertools.count(T0, 1000)
    columns, rule = (("id", "INT"), ("v", "STRING")), {"bucket": "1"}
    upsert.create_table(store, columns, primary_keys=["id"], options=rule, time_ms=T0)
    sink = stream.stream_to(store, user="query-1", kinds="kind", now_ms=lambda: next(clock))
    first = spark.sql("select 1 id, 'a' v, '+I' kind union all select 2, 'a', '+I'").coalesce(1)
    then = spark.sql("select 1 id, 'b' v, '+U' kind union all select 2, null, '-D'").coalesce(1)
    for number, rows in enumerate((first, then, then.limit(0), first.limit(0))):
        sink(rows, number)
        sink(rows, number)  # given again
    assert committed(store) == [(0, 2), (1, 2)]
    sink(first, 1)
    assert query(open_table(store.root), "select * from t").table.to_pylist() == [{"id": 1, "v": "b"}]
    appended = stream.stream_to(store, user="query-2")
    appended(first.drop("kind").where("id = 2"), 0)
    assert query(open_table(store.root), "select id from t").table.num_rows == 2


def test_a_stream_has_a_name_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="its own name"):
        stream.stream_to(str(tmp_path), user="snapscope")
