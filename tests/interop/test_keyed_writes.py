"""Primary-key tables that we write, judged by the engine, which then reads, compacts, expires and commits."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from core.errors import Conflict, Invalid, Unsupported
from core.formats.paimon.write import commit, publish
from core.formats.paimon.write.alter import RenameColumn
from core.spark.write import append as write
from core.spark.write import compact
from core.spark.write import upsert as write_keyed
from core.storage.store import Store
from tests.engines.paimon_java import PaimonJudge, ordered
from tests.support.depth import sample
from tests.support.interop.keyed_tables import check_every_point
from tests.support.interop.keyed_writes import T0, frame, sequence, stored

pytestmark = pytest.mark.slow
PATIENT = {"commit.max-retries": "100000", "commit.max-retry-wait": "50 ms"}


@pytest.mark.parametrize("seed", sample(range(1, 11), 3))
def test_we_and_the_engine_write_in_turns(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, seed: int
) -> None:
    assert sequence(spark, java_judge, tmp_path, seed).total() >= 7


KEY_TYPES: dict[str, tuple[str, list[Any]]] = {
    "bo": ("BOOLEAN", [False, True]),
    "ti": ("TINYINT", [-128, 0, 127]),
    "si": ("SMALLINT", [-300, 5, 300]),
    "i": ("INT", [-(2**31), 7, 2**31 - 1]),
    "bi": ("BIGINT", [-(2**63), 0, 2**63 - 1]),
    "fl": ("FLOAT", [-0.0, 0.0, 1.5, -2.25, "NaN", "Infinity"]),
    "do": ("DOUBLE", [-0.0, 0.0, -1e300, 2.5, "NaN", "-Infinity"]),
    "da": ("DATE", ["1969-12-30", "2026-11-21"]),
    "de": ("DECIMAL(10, 2)", ["-123.45", "0.00", "99999999.99"]),
    "wi": ("DECIMAL(30, 4)", ["-12345678901234567890.1234", "0.0000", "7.0000"]),
    "st": ("STRING", ["", "seven b", "eight by", "größer, als sechzehn Zeichen es sind", "\U0001f600 \uffff"]),
    "ch": ("CHAR(9)", ["a", "nine char"]),
    "vb": ("BYTES", ["", "00ff", "ff" * 20]),
    "t3": ("TIMESTAMP(3)", ["1969-12-31T23:59:59.999", "2026-01-01T00:00"]),
    "t6": ("TIMESTAMP(6)", ["1969-12-31T23:59:59.999999", "2026-01-01T00:00"]),
    "z0": ("TIMESTAMP(0) WITH LOCAL TIME ZONE", ["1969-12-31T23:59:59Z", "2026-01-01T00:00:00Z"]),
    "z6": ("TIMESTAMP(6) WITH LOCAL TIME ZONE", ["1969-12-31T23:59:59.123456Z", "2026-01-01T00:00:00Z"]),
}


def test_every_type_of_keys_and_values(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    """Buckets, order, sequence numbers and statistics are the engine's; each key differs while the others are equal."""
    keyed = [(name, f"{of} NOT NULL") for name, (of, _) in KEY_TYPES.items()]
    values = [(f"v_{name}", of) for name, (of, _) in KEY_TYPES.items()]
    columns: list[tuple[str, Any]] = [*keyed, *values, ("list", {"type": "ARRAY", "element": "INT"})]
    options = {"bucket": "3", "write-only": "true"}
    ours, twin = (str(tmp_path / "default.db" / name) for name in ("ours", "twin"))
    keys = [name for name, _ in keyed]
    write_keyed.create_table(ours, columns, primary_keys=keys, options=options, time_ms=T0)
    java_judge.create(twin, columns, primary_keys=keys, options=options)
    plain = [choices[-1] for _, choices in KEY_TYPES.values()]
    rows = []
    for at, (_, choices) in enumerate(KEY_TYPES.values()):
        for number, choice in enumerate(choices):
            key = [*plain[:at], choice, *plain[at + 1 :]]
            row = [None if (at + number + other) % 3 == 0 else value for other, value in enumerate(key)]
            rows.append([*key, *row, [number, None] if number else None])
    for part, kinds in ((rows, "+I"), (rows[10:30], "+U"), (rows[5:15], "-D")):
        java_judge.write(twin, part, kinds=[kinds] * len(part))
        frame_ = frame(spark, columns, part, [kinds] * len(part))
        write_keyed.upsert(ours, frame_, write.stamp(T0), kinds="__k")
        assert stored(java_judge, ours) == stored(java_judge, twin)
        assert java_judge.rows(ours) == java_judge.rows(twin)
    java_judge.compact(twin, options={"write-only": "false"})
    compact.compact(ours, write.stamp(T0), spark=spark)
    assert stored(java_judge, ours) == stored(java_judge, twin)
    assert java_judge.rows(ours) == java_judge.rows(twin)


NEVER = 4_102_444_800_000 - 1
SMALL = (("id", "INT NOT NULL"), ("v", "STRING"), ("p", "STRING NOT NULL"))


def small(spark: SparkSession, rows: list[list[Any]]) -> DataFrame:
    return frame(spark, SMALL, rows, ["+I"] * len(rows)).drop("__k")


def made(location: Path, engine: Mapping[str, str] | None = None) -> Store:
    store = Store(str(location / "default.db" / "t"))
    options = {"bucket": "1", "write-only": "true", **(engine or {})}
    write_keyed.create_table(store, SMALL, primary_keys=["p", "id"], partition_keys=["p"], options=options, time_ms=T0)
    return store


def names(judge: PaimonJudge, location: str) -> set[str]:
    return {Path(file["path"]).name for file in judge.files(location)}


def test_overwrites_deletes_by_key_and_files_of_a_size(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    store = made(tmp_path, {"target-file-size": "16 kb"})
    many = [[id, f"{id} {id * 7919 % 104729}", "ab"[id % 2]] for id in range(20_000)]
    write_keyed.upsert(store, small(spark, many), write.stamp(T0))
    files = java_judge.files(store.root, detail=True)
    assert len(files) > 4
    assert {(file["level"], file["partition"]) for file in files} == {(0, "p=a"), (0, "p=b")}
    assert java_judge.rows(store.root) == ordered(many)
    assert compact.compact(store, write.stamp(T0), spark=spark) is not None  # nothing meets, so all files move
    moved = java_judge.files(store.root, detail=True)
    assert {file["path"] for file in moved} == {file["path"] for file in files}
    assert {file["level"] for file in moved} == {5}
    assert compact.compact(store, write.stamp(T0), spark=spark) is None
    keys = spark.createDataFrame([(0, "a"), (3, "b")], "id int, p string")
    deleted = write_keyed.delete(store, keys, write.stamp(T0))
    assert (deleted.fields["operation"], deleted.kind) == ("DELETE", "APPEND")
    left = [row for row in many if row[0] not in (0, 3)]
    assert java_judge.rows(store.root) == ordered(left)
    java_judge.write(store.root, [[1, "theirs", "b"]])
    write_keyed.overwrite(store, small(spark, [[5, "new", "a"], [5, "newest", "a"]]), [{"p": "a"}], write.stamp(T0))
    left = [[5, "newest", "a"], [1, "theirs", "b"], *(row for row in left if row[2] == "b" and row[0] != 1)]
    assert java_judge.rows(store.root) == ordered(left)
    before = names(java_judge, store.root)
    twin = str(shutil.copytree(store.root, tmp_path / "default.db" / "twin"))
    java_judge.compact(twin, options={"write-only": "false"})
    compact.compact(store, write.stamp(T0), spark=spark)
    assert java_judge.rows(store.root) == ordered(left)
    kept = before & names(java_judge, store.root)
    assert kept == before & names(java_judge, twin), "what moves, and what is merged, is the engine's choice"
    assert 1 < len(kept) < len(before)
    files = java_judge.files(store.root)
    assert {file["level"] for file in files} == {5}
    assert sum(file["rows"] for file in files) == len(left)
    assert java_judge.orphans(store.root, older_than_ms=NEVER, dry_run=True) == []
    write_keyed.overwrite(store, None, [{}], write.stamp(T0))
    assert java_judge.rows(store.root) == []
    java_judge.write(store.root, [[1, "again", "b"]])
    assert java_judge.rows(store.root) == [[1, "again", "b"]]


def test_others_that_write_meanwhile(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(tmp_path, {"commit.max-retries": "1"})
    between: list[Callable[[], object]] = []
    run = commit.run

    def late(*arguments: Any) -> Any:
        if between:
            between.pop()()
        return run(*arguments)

    monkeypatch.setattr(commit, "run", late)
    write_keyed.upsert(store, small(spark, [[1, "first", "a"], [2, "first", "a"]]), write.stamp(T0))
    between.append(lambda: java_judge.write(store.root, [[id, "theirs", "a"] for id in range(1, 9)]))
    write_keyed.upsert(store, small(spark, [[1, "ours", "a"], [9, "ours", "a"]]), write.stamp(T0))
    rows = [[1, "ours", "a"], *([id, "theirs", "a"] for id in range(2, 9)), [9, "ours", "a"]]
    assert java_judge.rows(store.root) == ordered(rows), "the later commit wins"
    numbers = sorted((file["min_sequence"], file["max_sequence"]) for file in java_judge.files(store.root))
    assert numbers == [(0, 1), (2, 9), (10, 11)]
    between.append(lambda: java_judge.compact(store.root, options={"write-only": "false"}))
    assert compact.compact(store, write.stamp(T0), spark=spark) is None, "they did it first"
    assert java_judge.rows(store.root) == ordered(rows)
    write_keyed.upsert(store, small(spark, [[20, "alone", "b"]]), write.stamp(T0))
    (alone,) = (file["path"] for file in java_judge.files(store.root) if file["partition"] == "p=b")

    with monkeypatch.context() as patch:
        patch.setattr(commit, "publish", lambda *_: False)  # others are always first
        with pytest.raises(Conflict):
            compact.compact(store, write.stamp(T0), spark=spark)
        with pytest.raises(Conflict):
            write_keyed.upsert(store, small(spark, [[21, "never", "b"]]), write.stamp(T0))
    assert store.size(alone) is not None, "a file that only was to move stays"
    assert java_judge.rows(store.root) == ordered([*rows, [20, "alone", "b"]])
    assert java_judge.orphans(store.root, older_than_ms=NEVER, dry_run=True) == []
    rows = [row for row in rows if row[0] != 1] + [[1, "again", "a"]]
    write_keyed.upsert(store, small(spark, [[1, "again", "a"]]), write.stamp(T0))
    java_judge.alter(store.root, ("set_option", "bucket", "2"))
    with pytest.raises(Unsupported, match="1 buckets"):
        write_keyed.upsert(store, small(spark, [[21, "never", "b"]]), write.stamp(T0))
    write_keyed.overwrite(store, small(spark, [[id, "all", "b"] for id in range(9)]), [{"p": "b"}], write.stamp(T0))
    assert java_judge.rows(store.root) == ordered([*rows, *([id, "all", "b"] for id in range(9))])
    java_judge.write(store.root, [[3, "theirs", "b"]])
    before = java_judge.rows(store.root)
    assert [3, "theirs", "b"] in before
    compact.compact(store, write.stamp(T0), spark=spark)
    assert java_judge.rows(store.root) == before
    found = {(file["partition"], file["total_buckets"], file["level"]) for file in java_judge.files(store.root)}
    assert found == {("p=a", 1, 5), ("p=b", 2, 5)}, "a partition keeps its number of buckets"


def test_branches_a_bucket_key_and_columns_that_options_name(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    """Buckets go by a part of the key; a column's options follow its new name; a branch has rows of its own."""
    columns = [("id", "INT NOT NULL"), ("k", "STRING NOT NULL"), ("a", "INT"), ("b", "BIGINT"), ("s", "INT")]
    options = {
        "bucket": "3",
        "bucket-key": "k",
        "write-only": "true",
        "merge-engine": "partial-update",
        "fields.s.sequence-group": "a,b",
        "fields.b.aggregate-function": "sum",
    }
    ours, twin = (str(tmp_path / "default.db" / name) for name in ("ours", "twin"))
    keys = ["id", "k"]
    write_keyed.create_table(ours, columns, primary_keys=keys, options=options, time_ms=T0)
    java_judge.create(twin, columns, primary_keys=keys, options=options)

    def upsert(rows: list[list[Any]], branch: str = "main") -> None:
        java_judge.write(twin, rows, branch=branch)
        frame_ = frame(spark, columns, rows, ["+I"] * len(rows)).drop("__k")
        write_keyed.upsert(ours, frame_, write.stamp(T0, branch=branch))
        assert stored(java_judge, ours, branch=branch) == stored(java_judge, twin, branch=branch)
        assert java_judge.rows(ours, branch=branch) == java_judge.rows(twin, branch=branch)

    upsert([[id, f"k{id % 5}", id, 1, id] for id in range(40)])
    assert len({file["bucket"] for file in java_judge.files(ours)}) > 1
    java_judge.alter(twin, ("rename", "s", "seq"), ("rename", "b", "total"))
    publish.alter(Store(ours), [RenameColumn("s", "seq"), RenameColumn("b", "total")], time_ms=T0)
    told, wanted = (java_judge.schema(each)["options"] for each in (ours, twin))
    assert {**told, "path": ""} == {**wanted, "path": ""}
    assert told["fields.seq.sequence-group"] == "a,total"
    columns = [("id", "INT NOT NULL"), ("k", "STRING NOT NULL"), ("a", "INT"), ("total", "BIGINT"), ("seq", "INT")]
    upsert([[id, f"k{id % 5}", -id, 5, 20] for id in range(40)])
    for each in (ours, twin):
        java_judge.create_tag(each, "v", snapshot=2)
        java_judge.create_branch(each, "dev", tag="v")
    before = java_judge.rows(ours)
    upsert([[1, "k1", 100, 100, 100], [900, "k9", 9, 9, 9]], branch="dev")
    java_judge.compact(twin, options={"write-only": "false"}, branch="dev")
    compact.compact(ours, write.stamp(T0, branch="dev"), spark=spark)
    assert stored(java_judge, ours, branch="dev") == stored(java_judge, twin, branch="dev")
    assert java_judge.rows(ours, branch="dev") == java_judge.rows(twin, branch="dev") != before
    assert java_judge.rows(ours) == before


def test_two_of_us_and_the_engine_upsert_at_the_same_time(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    """Everybody's own rows are there in the end, and whoever comes last wins the row that all write."""
    store = made(tmp_path, PATIENT)
    turns = 3

    def ours(user: str) -> None:
        for number in range(turns):
            rows = small(spark, [[number, user, user], [0, user, "all"]])
            for _ in range(20):  # others may keep coming first, or rename over a snapshot of ours: then once more
                with contextlib.suppress(Conflict):
                    write_keyed.upsert(store, rows, write.stamp(T0, user=user))
                    break
            else:
                raise AssertionError(f"{user} never had a turn")

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(ours, user) for user in ("a", "b")]
        for number in range(2 * turns):
            java_judge.write(store.root, [[number, "theirs", "c"], [0, "theirs", "all"]], options=PATIENT)
        for writer in writers:
            writer.result()
    write_keyed.upsert(store, small(spark, [[0, "last", "all"]]), write.stamp(T0))
    expected = [[number, user, user] for user in ("a", "b") for number in range(turns)]
    expected += [[number, "theirs", "c"] for number in range(2 * turns)]
    assert java_judge.rows(store.root) == ordered([*expected, [0, "last", "all"]])
    compact.compact(store, write.stamp(T0), spark=spark)
    assert java_judge.rows(store.root) == ordered([*expected, [0, "last", "all"]])
    check_every_point(spark, java_judge, store.root)


def test_rows_that_could_not_be_merged_again_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    one = [[1, "x", "a"]]
    for number, (engine, kinds, why) in enumerate(
        (
            ({"merge-engine": "partial-update"}, ["-D"], "partial-update"),
            ({"merge-engine": "first-row"}, ["-U"], "first-row"),
            ({"merge-engine": "aggregation", "fields.v.aggregate-function": "max"}, ["-D"], "'max' of the column 'v'"),
            ({}, ["delete"], "'delete' is no kind"),
        )
    ):
        store = made(tmp_path / str(number), engine)
        with pytest.raises((Unsupported, Invalid), match=why):
            write_keyed.upsert(store, frame(spark, SMALL, one, kinds), write.stamp(T0), kinds="__k")
        assert [entry.name for entry in store.ls("") if "staging" in entry.name] == []
    with pytest.raises(Invalid, match="The column 'id' may not be null, but"):
        write_keyed.upsert(
            store, spark.createDataFrame([(None, "x", "a")], "id int, v string, p string"), write.stamp(T0)
        )
    store = made(tmp_path / "kinds", {"rowkind.field": "v"})
    write_keyed.upsert(store, small(spark, [[1, "+I", "a"], [2, "+I", "a"], [1, "-D", "a"]]), write.stamp(T0))
    files = commit.live_entries(store, publish.read_head(store).snapshot)
    assert [(entry["_FILE"]["_ROW_COUNT"], entry["_FILE"]["_DELETE_ROW_COUNT"]) for entry in files] == [(2, 1)]
    keys = spark.createDataFrame([(1, "a")], "id int, p string")
    for number, (engine, why) in enumerate(
        (
            ({"ignore-delete": "true"}, "removes no row"),
            ({"merge-engine": "aggregation"}, "removes no row"),
            ({"merge-engine": "partial-update", "fields.v.sequence-group": "v"}, "removes no row"),
            ({"sequence.field": "v"}, "'v', which orders them"),
        )
    ):
        store = made(tmp_path / f"delete-{number}", engine)
        with pytest.raises((Unsupported, Invalid), match=why):
            write_keyed.delete(store, keys, write.stamp(T0))
    write_keyed.upsert(store, small(spark, [[1, "5", "a"]]), write.stamp(T0))
    write_keyed.delete(store, small(spark, [[1, "5", "a"]]), write.stamp(T0))
    compact.compact(store, write.stamp(T0), spark=spark)
    assert commit.live_entries(store, publish.read_head(store).snapshot) == []
