"""Spark writes, the driver commits: rows, footers, paths, rejections and leftovers."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from core.errors import Conflict, Corrupt, Invalid, NotFound, Unsupported
from core.formats.paimon import binary_row
from core.formats.paimon.write import alter, commit, documents, publish, small_files
from core.spark.read.paimon import frames as read
from core.spark.write import append as write
from core.spark.write import upsert
from core.storage.store import Store

T0 = 1_790_000_000_000
COLUMNS = (("id", "BIGINT NOT NULL"), ("note", "STRING"), ("dt", "DATE"))
AWKWARD = "a{b}*?[c],d e%"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "default.db" / "t"))


@pytest.fixture
def at() -> Callable[..., commit.Stamp]:
    clock = itertools.count(T0, 1000)
    return lambda **more: write.stamp(next(clock), **more)


def rows(spark: SparkSession, first: int, end: int, day: str = "2026-01-01") -> DataFrame:
    return spark.range(first, end, numPartitions=1).selectExpr("id", "concat('n', id) note", f"date'{day}' dt")


def frame(spark: SparkSession, store: Store) -> DataFrame:
    """The newest rows, by way of the code under test's own list of live files."""
    head = publish.read_head(store)
    files = write.file_table(head.schema, commit.live_entries(store, head.snapshot))
    schemas = {number: publish.read_schema(store, number) for number in range(head.schema.id + 1)}
    return read.frame(spark, store, head.schema, schemas, files)


def ids(spark: SparkSession, store: Store) -> list[int]:
    return sorted(row.id for row in frame(spark, store).select("id").collect())


def files(store: Store) -> list[str]:
    root = Path(store.root)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def entries(store: Store) -> list[Any]:
    return commit.live_entries(store, publish.read_head(store).snapshot)


def test_appended_rows_are_there_with_their_statistics(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    snapshot = write.append(store, rows(spark, 0, 10), at())
    assert (snapshot.id, snapshot.kind, snapshot.total_rows, snapshot.delta_rows) == (1, "APPEND", 10, 10)
    assert ids(spark, store) == list(range(10))
    (entry,) = entries(store)
    file = entry["_FILE"]
    assert binary_row.decode(entry["_PARTITION"], ("DATE",)) == (dt.date(2026, 1, 1),)
    of = [column for _, column in COLUMNS]
    assert binary_row.decode(file["_VALUE_STATS"]["_MIN_VALUES"], of) == (0, "n0", dt.date(2026, 1, 1))
    assert binary_row.decode(file["_VALUE_STATS"]["_MAX_VALUES"], of) == (9, "n9", dt.date(2026, 1, 1))
    assert file["_VALUE_STATS"]["_NULL_COUNTS"] == [0, 0, 0]
    path = f"dt=20454/bucket-0/{file['_FILE_NAME']}"  # a date is a day number in the engine's directory names
    assert file["_FILE_SIZE"] == store.size(path)
    written = parquet.ParquetFile(store.full(path))
    assert written.schema_arrow.names == ["id", "note", "dt"]
    assert [field.metadata[b"PARQUET:field_id"] for field in written.schema_arrow] == [b"0", b"1", b"2"]
    assert written.metadata.row_group(0).column(0).compression == "ZSTD"
    assert [name for name in files(store) if "staging" in name] == []


def test_every_type_comes_back_as_it_went(spark: SparkSession, store: Store, at: Any) -> None:
    columns = (
        ("a", "BOOLEAN"), ("b", "TINYINT"), ("c", "SMALLINT"), ("d", "INT"), ("e", "BIGINT"), ("f", "FLOAT"),
        ("g", "DOUBLE"), ("h", "DECIMAL(9, 2)"), ("i", "DECIMAL(18, 4)"), ("j", "DECIMAL(38, 10)"), ("k", "STRING"),
        ("l", "VARCHAR(20)"), ("m", "CHAR(2)"), ("n", "BYTES"), ("o", "DATE"), ("p", "TIMESTAMP(6)"),
        ("q", "TIMESTAMP_LTZ(6)"), ("r", "ARRAY<INT>"), ("s", "MAP<STRING NOT NULL, DOUBLE>"),
        ("t.u", "ROW<x INT, y ROW<z STRING>>"),
    )  # fmt: skip
    write.create_table(store, columns, time_ms=T0)
    made = spark.sql(
        """select true a, 1Y b, 2S c, 3 d, 4L e, 0.5f f, -0.1d g, 1.25BD h, 12345678901.2345BD i,
        cast('-1234567890123456789012345678.0123456789' as decimal(38,10)) j, 'Grüße, a rather long text' k, 'vv' l,
        'cc' m, X'00FF' n, date'1500-02-28' o, timestamp_ntz'2026-03-29 02:30:00.123456' p,
        timestamp'2026-03-29 02:30:00.123456Z' q, array(1, null) r, map('k', 1.5d, 'n', null) s,
        named_struct('x', 7, 'y', named_struct('z', 'deep')) `t.u`
        union all select null,null,null,null,null,null,null,null,null,null,
        null,null,null,null,null,null,null,null,null,null"""
    ).coalesce(1)
    write.append(store, made, at())
    found = frame(spark, store)
    assert found.columns == made.columns
    assert [str(each) for each in found.orderBy("a").collect()] == [str(each) for each in made.orderBy("a").collect()]
    (entry,) = entries(store)
    stats = entry["_FILE"]["_VALUE_STATS"]
    low = binary_row.decode(stats["_MIN_VALUES"], [of for _, of in columns])
    high = binary_row.decode(stats["_MAX_VALUES"], [of for _, of in columns])
    assert low[:10] == high[:10]
    assert low[9] == Decimal("-1234567890123456789012345678.0123456789")
    assert (low[10], high[10]) == ("Grüße, a rather ", "Grüße, a rather!")
    assert low[14:17] == (
        dt.date(1500, 2, 28),
        dt.datetime(2026, 3, 29, 2, 30, 0, 123456),
        dt.datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=dt.UTC),
    )
    assert low[17:] == high[17:] == (None, None, None)
    assert stats["_NULL_COUNTS"] == [1] * 17 + [None] * 3
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"  # as it was


def test_values_of_partitions_are_kept_apart_however_they_look(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, (("id", "BIGINT"), ("p", "STRING"), ("n", "INT")), partition_keys=["p", "n"], time_ms=T0)
    values = [AWKWARD, "", None, "  ", "x=1/y", "__DEFAULT_PARTITION__", "ü"]
    made = spark.createDataFrame([(i, v, i % 2) for i, v in enumerate(values)], "id long, p string, n int").coalesce(1)
    write.append(store, made, at())
    of = ("STRING", "INT")
    assert {binary_row.decode(entry["_PARTITION"], of) for entry in entries(store)} == {
        (value, number % 2) for number, value in enumerate(values)
    }
    assert {(row.id, row.p, row.n) for row in frame(spark, store).collect()} == {
        (i, v, i % 2) for i, v in enumerate(values)
    }
    assert "p=a%7Bb%7D%2A%3F%5Bc%5D,d e%25/n=0/bucket-0" in {name.rpartition("/")[0] for name in files(store)}


def test_overwrite_replaces_partitions_and_drops_them(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    write.append(store, rows(spark, 0, 5), at())
    write.append(store, rows(spark, 5, 9, "2026-01-02"), at())
    day = [{"dt": dt.date(2026, 1, 1)}]
    assert write.overwrite(store, rows(spark, 100, 102), day, at()).delta_rows == 2 - 5
    assert ids(spark, store) == [5, 6, 7, 8, 100, 101]
    assert write.overwrite(store, None, day, at()).total_rows == 4
    assert ids(spark, store) == [5, 6, 7, 8]
    with pytest.raises(Invalid, match="outside"):
        write.overwrite(store, rows(spark, 0, 1, "2026-01-09"), day, at())
    assert [name for name in files(store) if "20462" in name or "staging" in name] == []


def test_partitions_are_overwritten_as_touched_dropped_and_emptied(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    for day in (1, 2, 3):
        write.append(store, rows(spark, 10 * day, 10 * day + 2, f"2026-01-0{day}"), at())
    touched = rows(spark, 0, 1).union(rows(spark, 1, 2, "2026-01-02"))
    replaced = write.overwrite_touched(store, touched, at(properties={"job": "nightly"}))
    assert replaced is not None
    assert (replaced.kind, replaced.fields["operation"], replaced.fields["properties"]) == (
        "OVERWRITE",
        "OVERWRITE",
        {"job": "nightly"},
    )
    assert ids(spark, store) == [0, 1, 30, 31]
    assert write.overwrite_touched(store, rows(spark, 0, 0), at()) is None
    dropped = write.drop_partitions(store, [{"dt": dt.date(2026, 1, 1)}, {"dt": dt.date(2026, 1, 9)}], at())
    assert (dropped.kind, dropped.fields["operation"], dropped.delta_rows) == ("OVERWRITE", "TRUNCATE", -1)
    assert ids(spark, store) == [1, 30, 31]
    wrong: Any
    for wrong in ([], [{}], [{"id": 1}]):
        with pytest.raises(Invalid):
            write.drop_partitions(store, wrong, at())
    assert write.truncate(store, at()).total_rows == 0
    assert ids(spark, store) == []
    keyed = Store(f"{store.root}_keyed")
    columns, rule = (("id", "BIGINT"), ("dt", "DATE")), {"bucket": "1"}
    upsert.create_table(keyed, columns, primary_keys=["id", "dt"], partition_keys=["dt"], options=rule, time_ms=T0)
    upsert.upsert(keyed, touched.select("id", "dt"), at())
    assert write.drop_partitions(keyed, [{"dt": dt.date(2026, 1, 1)}], at()).delta_rows == -1
    assert write.truncate(keyed, at()).total_rows == 0


def test_compaction_fills_files_of_the_tables_size(spark: SparkSession, store: Store, at: Any) -> None:
    options = {"target-file-size": "2 kb", "source.split.open-file-cost": "1 b", "compaction.small-file-ratio": "1.0"}
    write.create_table(store, (("id", "BIGINT"),), options=options, time_ms=T0)
    write.append(store, spark.range(0, 60, numPartitions=12), at())
    assert write.compact(store, at(), spark=spark, min_files=None) is not None
    assert 1 < len(entries(store)) < 12, "several at once, and neither one of all nor each by itself"
    assert ids(spark, store) == list(range(60))


def test_compaction_keeps_rows_and_makes_one_file_of_many(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    for first in range(0, 30, 10):
        write.append(store, rows(spark, first, first + 10), at())
    write.append(store, rows(spark, 90, 91, "2026-01-02"), at())
    write.add_column(store, "more", "INT", time_ms=T0)
    before = frame(spark, store).orderBy("id").collect()
    snapshot = write.compact(store, at(), spark=spark)
    assert snapshot is not None
    assert (snapshot.kind, snapshot.delta_rows, snapshot.total_rows) == ("COMPACT", 0, 31)
    assert frame(spark, store).orderBy("id").collect() == before
    assert sorted((e["_FILE"]["_ROW_COUNT"], e["_FILE"]["_FILE_SOURCE"]) for e in entries(store)) == [(1, 0), (30, 1)]
    assert write.compact(store, at(), spark=spark) is None
    assert write.compact(store, at(), spark=spark, partitions=[{"dt": dt.date(2026, 1, 2)}]) is None


def test_compaction_of_files_that_python_reads(
    spark: SparkSession, store: Store, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of another format, or in another store."""
    write.create_table(store, COLUMNS, time_ms=T0)
    for first in range(0, 30, 10):
        write.append(store, rows(spark, first, first + 10), at())
    before = frame(spark, store).orderBy("id").collect()
    monkeypatch.setattr(read, "by_jvm", lambda *_: False)
    assert write.compact(store, at(), spark=spark) is not None
    assert len(entries(store)) == 1
    assert frame(spark, store).orderBy("id").collect() == before


def test_a_compaction_that_lost_rows_is_not_committed(
    spark: SparkSession, store: Store, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write.create_table(store, COLUMNS, time_ms=T0)
    for first in (0, 10):
        write.append(store, rows(spark, first, first + 10), at())
    before = files(store)
    monkeypatch.setattr(read, "frame", lambda *_: rows(spark, 0, 19))
    with pytest.raises(Corrupt, match="20 rows were to be compacted and 19"):
        write.compact(store, at(), spark=spark)
    assert files(store) == before


def test_a_column_of_the_same_name_made_meanwhile_does_not_get_the_old_values(
    spark: SparkSession, store: Store, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write.create_table(store, COLUMNS, time_ms=T0)
    for first in (0, 10):
        write.append(store, rows(spark, first, first + 10), at())
    tasks = small_files.tasks

    def late(*arguments: Any) -> Any:
        write.alter(store, [alter.DropColumn("note"), alter.AddColumn("note", "STRING")], time_ms=T0)
        return tasks(*arguments)

    monkeypatch.setattr(small_files, "tasks", late)
    with pytest.raises(Conflict, match="schema"):
        write.compact(store, at(), spark=spark)
    assert [name for name in files(store) if name.startswith(".")] == []
    assert frame(spark, store).select("note").distinct().collect() == [(None,)]


def test_one_job_can_feed_several_commits(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    made = spark.range(0, 30, numPartitions=1).selectExpr(
        "id", "'x' note", "date_add(date'2026-01-01', cast(id % 3 as int)) dt", "cast(id % 2 as string) batch"
    )
    with write.stage(store, made, at(), group="batch") as groups:
        assert sorted(groups) == ["0", "1"]
        assert {name.split("/")[0] for name in files(store)} - {"schema"} == {
            name.split("/")[0] for name in files(store) if name.startswith(".snapscope-staging-")
        }
        first = write.commit_append(store, groups["1"], at())
        second = write.commit_overwrite(store, groups["0"], [{}], at())
    assert (first.total_rows, second.total_rows) == (15, 15)
    assert ids(spark, store) == list(range(0, 30, 2))
    assert [name for name in files(store) if name.startswith(".")] == []


def test_files_nobody_committed_are_taken_away(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, time_ms=T0)
    with pytest.raises(KeyboardInterrupt), write.stage(store, rows(spark, 0, 3), at()):
        raise KeyboardInterrupt
    assert files(store) == ["schema/schema-0"]


def test_no_rows_are_an_empty_commit(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, time_ms=T0)
    assert write.append(store, rows(spark, 0, 0), at()).total_rows == 0
    assert entries(store) == []
    assert frame(spark, store).collect() == []
    assert frame(spark, store).columns == ["id", "note", "dt"]


def test_rows_must_fit_the_table(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, (("id", "BIGINT NOT NULL"), ("code", "VARCHAR(3)")), time_ms=T0)
    for broken, kind, says in (
        ("select 1L id", Invalid, "the table has id, code"),
        ("select 1L id, 'a' code, 2 more", Invalid, "the table has id, code"),
        ("select cast(null as bigint) id, 'a' code", Invalid, "Column 'id' may not be null, but"),
        ("select 1L id, 'long' code", PySparkException, "longer than VARCHAR"),
        ("select 'x' id, 'a' code", PySparkException, "id"),
    ):
        with pytest.raises(kind, match=says):
            write.append(store, spark.sql(broken), at())
    assert files(store) == ["schema/schema-0"]


def test_no_column_is_taken_for_one_of_the_writers_own(spark: SparkSession, store: Store, at: Any) -> None:
    columns = [("__partition", "INT"), ("__group", "INT"), ("__kind", "INT"), ("p", "INT")]
    made = spark.sql("select 1 __partition, 2 __group, 3 __kind, 4 p")
    write.create_table(store, columns, partition_keys=["p"], time_ms=T0)
    write.append(store, made, at())
    with write.stage(store, made.selectExpr("*", "'x' which"), at(), group="which") as groups:
        write.commit_append(store, groups["x"], at())
    assert [tuple(row) for row in frame(spark, store).collect()] == [(1, 2, 3, 4)] * 2
    keyed = Store(f"{store.root}_keyed")
    upsert.create_table(keyed, columns, primary_keys=["p"], options={"bucket": "1"}, time_ms=T0)
    assert upsert.upsert(keyed, made, at()).delta_rows == 1
    assert upsert.delete(keyed, made, at()).total_rows == 2
    for name in ("_KEY_a", "_VALUE_KIND", "rowkind", "P"):
        with pytest.raises(Invalid):
            write.create_table(f"{store.root}_other", [("p", "INT"), (name, "INT")], time_ms=T0)


def test_a_value_that_no_directory_can_be_named_by_leaves_nothing(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, (("id", "BIGINT"), ("p", "STRING")), partition_keys=["p"], time_ms=T0)
    with pytest.raises(Corrupt, match="File name too long"):
        write.append(store, spark.sql("select 1L id, repeat('x', 300) p union select 2L, 'fits'"), at())
    assert files(store) == ["schema/schema-0"]


def test_tables_of_other_kinds_are_refused_before_anything_is_written(
    spark: SparkSession, store: Store, at: Any
) -> None:
    with pytest.raises(NotFound):
        write.append(store, rows(spark, 0, 1), at())
    write.create_table(store, COLUMNS, time_ms=T0)
    with pytest.raises(Conflict):
        write.create_table(store, COLUMNS, time_ms=T0)
    document = {**documents.first_schema(COLUMNS, [], {}, T0), "primaryKeys": ["id"]}
    store.put("schema/schema-0", documents.pretty(document))
    with pytest.raises(Unsupported, match="primary key"):
        write.append(store, rows(spark, 0, 1), at())
    with pytest.raises(Unsupported, match="local disk"):
        write.append(Store("memory://t"), rows(spark, 0, 1), at())
    assert files(store) == ["schema/schema-0"]


def test_compression_prefix_and_statistics_follow_the_options(spark: SparkSession, store: Store, at: Any) -> None:
    options = {"file.compression": "snappy", "data-file.prefix": "rows-", "metadata.stats-mode": "none"}
    write.create_table(store, COLUMNS, options=options, time_ms=T0)
    write.append(store, rows(spark, 0, 3), at())
    (entry,) = entries(store)
    assert entry["_FILE"]["_FILE_NAME"].startswith("rows-")
    assert entry["_FILE"]["_VALUE_STATS_COLS"] == []
    assert entry["_FILE"]["_VALUE_STATS"]["_MIN_VALUES"] == binary_row.EMPTY
    written = parquet.ParquetFile(store.full(f"bucket-0/{entry['_FILE']['_FILE_NAME']}"))
    assert written.metadata.row_group(0).column(0).compression == "SNAPPY"


def test_a_branch_is_written_with_its_own_schema(spark: SparkSession, store: Store, at: Any) -> None:
    write.create_table(store, COLUMNS, time_ms=T0)
    write.append(store, rows(spark, 0, 3), at())
    publish.create_tag(store, "v1")
    publish.create_branch(store, "dev", "v1")
    write.add_column(store, "more", "INT", time_ms=T0, branch="dev")
    snapshot = write.append(store, rows(spark, 3, 5).selectExpr("*", "1 more"), at(branch="dev"))
    assert (snapshot.id, snapshot.schema_id, snapshot.total_rows) == (2, 1, 5)
    assert ids(spark, store) == [0, 1, 2]
