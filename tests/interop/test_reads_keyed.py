"""Primary-key tables and deletion vectors that a real engine writes, read by us at every point, equal in rows.

From a covering set, in which every pair of values of two axes of keyed_tables.py stands together in some table, unless
the engine itself refuses the pair; those are named with what it says. The 32 tables of `make deep` hold nine tenths of
the pairs, and `make test` takes ten of them. `make proof` walks all combinations.
"""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import SparkSession

from core.errors import NotFound, Unsupported
from core.spark.query.query import query
from core.spark.read.paimon import points
from core.spark.write import append as write
from core.spark.write import compact
from core.table import open_table, resolve
from tests.engines.paimon_java import EngineError, PaimonJudge
from tests.engines.pypaimon_env import PypaimonJudge
from tests.support.depth import sample
from tests.support.interop import engine_deleted
from tests.support.interop.keyed_tables import AXES, Case, build, check_every_point, covering, invalid
from tests.support.places import TABLES
from tests.support.vectors import vector
from tests.support.webhdfs import serving

# combinations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", sample(range(32), 7))
def test_pairs_of_what_tables_may_be(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, number: int) -> None:
    case = covering()[number]
    location = str(tmp_path / "default.db" / "t")
    build(java_judge, location, case, number)
    assert check_every_point(spark, java_judge, location) >= 5, case


@pytest.mark.parametrize("engine", ["partial-update, aggregated groups", "partial-update, groups of two"])
@pytest.mark.parametrize("compaction", sample(["never", "full", "as it comes"], 2))
def test_aggregates_inside_of_sequence_groups(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, engine: str, compaction: str
) -> None:
    location = str(tmp_path / "default.db" / "t")
    producer = "lookup" if compaction == "as it comes" else "none"
    case = Case(engine, "avro", "2", "no", producer, "widened", "deletes and updates", compaction, "no")
    build(java_judge, location, case, len(compaction))
    assert check_every_point(spark, java_judge, location) >= 5


def test_what_the_engine_itself_refuses(tmp_path: Path, java_judge: PaimonJudge) -> None:
    plain = Case("deduplicate", "parquet", "1", "no", "none", "as it was", "none", "never", "no")
    pairs = [(a, x, b, y) for a, b in itertools.combinations(AXES, 2) for x in AXES[a] for y in AXES[b]]
    cases = {case for a, x, b, y in pairs if invalid(case := replace(plain, **{a: x, b: y}))}
    assert len(cases) == 6
    for number, case in enumerate(sorted(cases, key=repr)):
        with pytest.raises(EngineError) as caught:
            build(java_judge, str(tmp_path / "default.db" / f"t{number}"), case, number)
        assert invalid(case) in str(caught.value), case


@pytest.mark.parametrize("name", sample(sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir()), 6))
def test_shared_tables_at_every_point(
    spark: SparkSession, java_judge: PaimonJudge, pypaimon_judge: PypaimonJudge, name: str
) -> None:
    with engine_deleted.copied(TABLES / "paimon" / "default.db" / name) as location:
        assert check_every_point(spark, java_judge, location, second=pypaimon_judge) > 0


TYPES = (
    ("k", "BIGINT NOT NULL"), ("d", "DATE NOT NULL"), ("tiny", "TINYINT"), ("small", "SMALLINT"), ("float", "FLOAT"),
    ("wide", "DECIMAL(30, 4)"), ("raw", "BYTES"), ("day", "DATE"), ("milli", "TIMESTAMP(3)"), ("micro", "TIMESTAMP(6)"),
    ("seen", "TIMESTAMP(6) WITH LOCAL TIME ZONE"), ("list", "ARRAY<INT>"),
)  # fmt: skip


@pytest.mark.parametrize(("form", "vectors"), sample(itertools.product(["parquet", "orc", "avro"], [False, True]), 4))
def test_every_type_in_merged_rows(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, form: str, vectors: bool
) -> None:
    location = str(tmp_path / "default.db" / "t")
    columns = [each for each in TYPES if each[0] != "list"]
    options = {"bucket": "2", "file.format": form, "sequence.field": "micro"}
    options |= {"deletion-vectors.enabled": "true"} if vectors else {"write-only": "true"}
    java_judge.create(location, columns, primary_keys=["d", "k"], partition_keys=["d"], options=options)

    def row(key: int, at: int) -> list[Any]:
        nothing: list[Any] = [key, f"2026-01-{key % 3 + 1:02d}", *[None] * (len(columns) - 2)]
        some = [
            at % 100, -at, at / 4, f"-{at}000000000000.5000", f"{at:04x}", f"15{at % 90 + 10}-02-03",
            f"2026-03-29T02:30:00.{at:03d}", f"1969-12-31T23:59:59.{at:06d}", f"2026-03-29T02:30:00.{at:06d}Z",
        ]  # fmt: skip
        return nothing if at % 7 == 0 else [*nothing[:2], *some]

    for at in range(1, 5):
        java_judge.write(location, [row(key, at * 10 + key) for key in range(at, 30)])
    java_judge.write(location, [row(key, 80) for key in range(3, 9)], kinds=["-D"] * 6)
    assert check_every_point(spark, java_judge, location) >= 5


# other stores -----------------------------------------------------------------------------------------------------

REMOTE = (
    Case("deduplicate", "parquet", "2", "no", "none", "added", "deletes", "as it comes", "yes"),
    Case("deduplicate", "parquet", "1", "32 bits", "none", "renamed", "deletes and updates", "as it comes", "yes"),
    Case("deduplicate by sequence", "orc", "2", "64 bits", "lookup", "as it was", "deletes", "full", "no"),
    Case("partial-update, sequence groups", "avro", "-1", "no", "none", "widened", "deletes", "never", "yes"),
)


@pytest.mark.parametrize("number", sample(range(len(REMOTE)), 2))
def test_tables_on_a_remote_store_are_merged_inside_of_tasks(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, number: int
) -> None:
    location = str(tmp_path / "default.db" / "t")
    build(java_judge, location, REMOTE[number], number)
    with serving(tmp_path) as at:
        there = f"{at}/default.db/t"
        assert check_every_point(spark, java_judge, location, through=there) >= 5
        for statement in ("SELECT * FROM t WHERE id < 9 ORDER BY id", "SELECT * FROM `t$audit_log` ORDER BY id"):
            ours = query(open_table(there), statement)
            assert ours.table.to_pylist() == query(open_table(location), statement).table.to_pylist()
            assert ours.files_live > 0


@pytest.mark.parametrize("remote", [False, True])
def test_a_missing_file_of_deleted_rows_is_named(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, remote: bool
) -> None:
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "1", "deletion-vectors.enabled": "true"}
    java_judge.create(location, [("id", "INT NOT NULL")], primary_keys=["id"], options=options)
    for ids in (range(5_000), [2], [3, 4]):
        java_judge.write(location, [[id] for id in ids])
    table = open_table(location)
    point = points.opened_at(table, table.history(), resolve(table.heads(), "latest"))
    (path,) = {vector.path for vector in point.vectors.values()}
    (Path(location) / path).unlink()
    with serving(tmp_path) as at, pytest.raises(NotFound, match=r"not there|no file") as caught:
        query(open_table(f"{at}/default.db/t" if remote else location), "SELECT count(*) FROM t")
    assert caught.value.path is not None
    assert caught.value.path.endswith(path)


# queries ----------------------------------------------------------------------------------------------------------


def test_a_query_says_what_it_left_out_and_what_it_cannot_merge(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge
) -> None:
    first = str(tmp_path / "default.db" / "first")
    options = {"bucket": "1", "merge-engine": "first-row", "write-only": "true"}
    java_judge.create(first, [("id", "INT NOT NULL"), ("v", "STRING")], primary_keys=["id"], options=options)
    java_judge.write(first, [[1, "a"], [2, "b"]])
    assert java_judge.rows(first) == []
    answer = query(open_table(first), "SELECT * FROM t")
    assert (answer.table.num_rows, answer.files_read, answer.files_live) == (0, 0, 1)
    assert "Left out: 1 file of level 0 with 2 rows" in answer.note

    partial = str(tmp_path / "default.db" / "partial")
    options = {"bucket": "1", "merge-engine": "partial-update", "write-only": "true"}
    java_judge.create(partial, [("id", "INT NOT NULL"), ("v", "STRING")], primary_keys=["id"], options=options)
    java_judge.write(partial, [[1, "a"], [2, "b"]])
    java_judge.write(partial, [[1, "c"], [2, None]])
    answer = query(open_table(partial), "SELECT * FROM t ORDER BY id")
    assert answer.table.to_pylist() == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]
    changed = "SELECT id, t.v, t_before.v AS old FROM t JOIN t_before USING (id) WHERE t.v <> t_before.v"
    assert query(open_table(partial), changed, before="1").table.to_pylist() == [{"id": 1, "v": "c", "old": "a"}]
    (file,) = [each["path"] for each in java_judge.files(partial, snapshot=1)]
    (Path(partial) / file).unlink()
    with pytest.raises(NotFound, match="A data file that the table refers to does not exist") as caught:
        query(open_table(partial), "SELECT * FROM t")
    assert caught.value.path == file


def test_the_past_is_read_with_its_own_options_and_that_is_said(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge
) -> None:
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "write-only": "true"}
    java_judge.create(location, [("id", "INT NOT NULL"), ("v", "INT")], primary_keys=["id"], options=options)
    for value in (1, 5):
        java_judge.write(location, [[1, value]])
    then = java_judge.rows(location, snapshot=2)
    java_judge.alter(location, ("set_option", "fields.v.aggregate-function", "max"))
    java_judge.write(location, [[1, 2]])
    assert then == [[1, 6]]
    assert java_judge.rows(location, snapshot=2) == [[1, 5]]  # the engine forgets how it was read
    answer = query(open_table(location), "SELECT * FROM t", at="2")
    assert answer.table.to_pylist() == [{"id": 1, "v": 6}]
    assert "today's 'fields.v.aggregate-function' (max); this answer uses the version's own (sum)." in answer.note
    answer = query(open_table(location), "SELECT * FROM t")
    assert [list(row.values()) for row in answer.table.to_pylist()] == java_judge.rows(location) == [[1, 5]]
    assert not answer.differs


def test_deletes_that_the_engine_cannot_read_are_refused(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge
) -> None:
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "max", "write-only": "true"}
    java_judge.create(location, [("id", "INT NOT NULL"), ("v", "INT")], primary_keys=["id"], options=options)
    java_judge.write(location, [[1, 5], [2, 5]])
    java_judge.write(location, [[1, 5]], kinds=["-D"])
    assert check_every_point(spark, java_judge, location, only=["1"]) == 1
    with pytest.raises(EngineError, match="does not support retraction"):
        java_judge.rows(location)
    with pytest.raises(Unsupported, match="'max' of column 'v' cannot retract"):
        query(open_table(location), "SELECT * FROM t")


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_row_tracking_changes_no_row(spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, form: str) -> None:
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "-1", "row-tracking.enabled": "true", "file.format": form}
    java_judge.create(location, [("id", "INT"), ("v", "STRING")], options=options)
    for number in range(4):
        java_judge.write(location, [[number, "a"], [number + 10, None]])
    java_judge.compact(location, options={"compaction.min.file-num": "2"})
    assert check_every_point(spark, java_judge, location) >= 4


# deletion vectors of append tables --------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "wide"), sample(itertools.product(["parquet", "orc", "avro"], [False, True]), 4))
def test_deletion_vectors_of_append_tables(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, form: str, wide: bool
) -> None:
    """The engine's core only deletes by rewriting here, so the vectors are ours; what they mean the engine says."""
    location = tmp_path / "default.db" / "t"
    options = {"bucket": "-1", "file.format": form, "deletion-vectors.enabled": "true"}
    options |= {"deletion-vectors.bitmap64": "true"} if wide else {}
    java_judge.create(location, [("id", "INT"), ("p", "STRING")], partition_keys=["p"], options=options)
    for number in range(3):
        java_judge.write(location, [[id + 100 * number, "ab"[id % 2]] for id in range(40)])
    java_judge.alter(location, ("add", "more", "STRING"))
    java_judge.write(location, [[id, "a", "new"] for id in range(1000, 1200)])
    before = java_judge.count(location)
    gone = delete(java_judge, location, tmp_path, wide=wide)
    assert java_judge.count(location) == before - gone
    assert check_every_point(spark, java_judge, location) == 4


def delete(judge: PaimonJudge, location: Path, scratch: Path, *, wide: bool) -> int:
    """Gives the newest snapshot a deletion vector for all files but one; the number of rows they delete."""
    choose = random.Random(int(wide))
    ranges: dict[str, list[dict[str, Any]]] = {}
    content, gone = b"\x01", 0
    files = judge.files(location, detail=True)
    for file in files[1:]:
        rows = sorted(choose.sample(range(file["rows"]), file["rows"] // 2))
        entry, size = vector(rows, wide=wide, runs=len(rows) > 50)
        one = {"f0": Path(file["path"]).name, "f1": len(content), "f2": size, "_CARDINALITY": len(rows)}
        ranges.setdefault(file["partition_bytes"], []).append(one)
        content, gone = content + entry, gone + len(rows)
    (location / "index").mkdir(exist_ok=True)
    (location / "index" / "index-ours-0").write_bytes(content)
    records = [
        {
            "_VERSION": 1, "_KIND": 0, "_PARTITION": whole(bytes.fromhex(partition)), "_BUCKET": 0,
            "_INDEX_TYPE": "DELETION_VECTORS", "_FILE_NAME": "index-ours-0", "_FILE_SIZE": len(content),
            "_ROW_COUNT": len(listed), "_DELETIONS_VECTORS_RANGES": listed,
        }
        for partition, listed in ranges.items()
    ]  # fmt: skip
    with (location / "manifest" / "index-manifest-ours-0").open("wb") as out:
        fastavro.writer(out, index_schema(judge, scratch / "default.db" / "keyed"), records)
    newest = max(location.glob("snapshot/snapshot-*"), key=lambda path: int(path.name[9:]))
    newest.write_text(json.dumps({**json.loads(newest.read_text()), "indexManifest": "index-manifest-ours-0"}))
    return gone


def whole(row: bytes) -> bytes:
    """A row as a manifest keeps it, with its arity before it."""
    return row if len(row) % 8 == 4 else (1).to_bytes(4, "big") + row


def index_schema(judge: PaimonJudge, location: Path) -> Any:
    """The Avro schema that the engine gives its index manifests."""
    options = {"bucket": "1", "deletion-vectors.enabled": "true"}
    judge.create(location, [("id", "INT NOT NULL")], primary_keys=["id"], options=options)
    judge.write(location, [[id] for id in range(1000)])
    judge.compact(location)
    judge.write(location, [[1]])
    written = min((location / "manifest").glob("index-manifest-*"))
    with written.open("rb") as file:
        return fastavro.reader(file).writer_schema


@pytest.mark.parametrize("wide", [False, True])
def test_large_deletion_vectors_of_the_engine(
    spark: SparkSession, tmp_path: Path, java_judge: PaimonJudge, wide: bool
) -> None:
    """Thousands of deleted rows: bitmaps and runs, as the engine's own Roaring packs them."""
    location = tmp_path / "default.db" / "t"
    options = {"bucket": "1", "deletion-vectors.enabled": "true", "num-sorted-run.compaction-trigger": "9"}
    options |= {"deletion-vectors.bitmap64": "true"} if wide else {}
    java_judge.create(location, [("id", "INT NOT NULL"), ("v", "INT")], primary_keys=["id"], options=options)
    java_judge.write(location, [[id, 0] for id in range(100_000)])
    java_judge.compact(location)
    java_judge.write(location, [[id, 1] for id in range(0, 70_000, 2)])  # bits
    java_judge.write(location, [[id, 2] for id in range(80_000, 90_000)])  # runs
    assert java_judge.refs(location)["index"]
    assert check_every_point(spark, java_judge, location, only=[str(len(java_judge.snapshots(location)))]) == 1


@pytest.mark.parametrize("judge", ["java_judge", "java_1x_judge", "java_09_judge"])
def test_sums_beyond_a_wide_decimal_are_null_as_the_engine_has_them(
    spark: SparkSession, tmp_path: Path, judge: str, request: pytest.FixtureRequest
) -> None:
    """And start again with the next row. What can no longer be summed is read so, and not written by our compaction."""
    engine: PaimonJudge = request.getfixturevalue(judge)
    location = str(tmp_path / "default.db" / "t")
    options = {"bucket": "1", "write-only": "true", "merge-engine": "aggregation", "file.format": "parquet",
               "fields.a.aggregate-function": "sum", "fields.b.aggregate-function": "sum"}  # fmt: skip
    columns = [("id", "INT NOT NULL"), ("a", "DECIMAL(38, 2)"), ("b", "DECIMAL(20, 0)")]
    engine.create(location, columns, primary_keys=["id"], options=options)
    most, many = f"{'9' * 36}.99", "9" * 20
    for rows in (
        [[1, most, many], [2, f"-{most}", f"-{many}"], [3, "1.01", "679"]],
        [[1, "0.01", "1"], [2, "-0.01", "-2"], [3, f"{'8' * 36}.98", f"{'8' * 17}000"]],
        [[1, "5.00", "5"]],
    ):
        engine.write(location, rows)
    assert check_every_point(spark, engine, location) == 3
    assert engine.rows(location)[1] == [2, None, None]
    with pytest.raises(
        Unsupported,
        match=(": every reader sees NULL until it is corrected, and once written its rows could no longer be summed"),
    ):
        compact.compact(location, write.stamp(1_790_000_000_000), spark=spark)
