"""Chain tables (`chain-table.enabled`), read by Java Paimon: rows of the whole table and of each of its branches.

If the snapshot branch has several earlier partitions, 1.4.2 may start from another one than the nearest: it does not
sort them. Ours follow 2.0.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query.query import query
from core.table import open_table
from tests.engines.paimon_java import EngineError, PaimonJudge, available, missing, ordered
from tests.support.depth import sample
from tests.support.interop.shown import shown

COLUMNS: list[tuple[str, Any]] = [("s", "INT"), ("v", "STRING"), ("n", "BIGINT")]
FULL, DELTA = "full", "changes"
BRANCHES = [("set_option", "scan.fallback-snapshot-branch", FULL), ("set_option", "scan.fallback-delta-branch", DELTA)]
ENGINES: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "partial-update": {"partial-update.remove-record-on-delete": "true"},
    "aggregation": {"fields.v.aggregate-function": "last_non_null_value", "fields.n.aggregate-function": "sum",
                    "aggregation.remove-record-on-delete": "true"},
}  # fmt: skip


@pytest.fixture(params=["2.0.0", "1.4.2"], scope="module")
def judge(request: pytest.FixtureRequest) -> Iterator[PaimonJudge]:
    if not available(request.param):
        pytest.skip(missing(request.param))
    with PaimonJudge(request.param) as found:
        yield found


def made(
    judge: PaimonJudge,
    location: str,
    keys: list[str],
    options: Mapping[str, str],
    columns: list[tuple[str, Any]],
    kinds: Mapping[str, str] | None = None,
) -> None:
    of = [*((key, f"{(kinds or {}).get(key, 'STRING')} NOT NULL") for key in keys), ("k", "INT NOT NULL"), *columns]
    pattern = ("$dt", "yyyyMMdd") if keys[-1] == "dt" else ("$dt $hour:00:00", "yyyyMMdd HH:mm:ss")
    common = {
        "bucket": "2", "bucket-key": "k", "sequence.field": "s", "chain-table.enabled": "true",
        "partition.timestamp-pattern": pattern[0], "partition.timestamp-formatter": pattern[1],
    }  # fmt: skip
    judge.create(location, of, partition_keys=keys, primary_keys=[*keys, "k"], options={**common, **options})
    for name in (FULL, DELTA):
        judge.create_branch(location, name)
    judge.alter(location, *BRANCHES)
    for name in (FULL, DELTA):
        judge.alter(location, *BRANCHES, branch=name)


def ours(location: str, *, where: str = "true", **at: Any) -> list[list[Any]]:
    found = query(open_table(location), f"select * from t where {where}", row_cap=100_000, **at).table.to_pylist()
    return ordered([[shown(value) for value in row.values()] for row in found])


@pytest.mark.parametrize(
    ("keys", "engine"),
    sample(itertools.product([["dt"], ["region", "dt"], ["dt", "hour"], ["region", "dt", "hour"]], ENGINES), 7),
)
def test_random_tables(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, keys: list[str], engine: str
) -> None:
    judge = java_judge
    chance = random.Random(f"{keys}{engine}")
    location = str(tmp_path / "default.db" / "t")
    options = {"merge-engine": engine, **ENGINES[engine]}
    if keys[0] == "region":
        options["chain-table.chain-partition-keys"] = ",".join(keys[1:])
    made(judge, location, keys, options, COLUMNS)
    number = 0
    for turn in range(chance.randrange(8, 14)):
        branch = (FULL, DELTA, "main")[turn] if turn < 3 else chance.choice([FULL, DELTA, DELTA, DELTA, "main"])
        rows, kinds = [], []
        for _ in range(chance.randrange(1, 4)):
            hour = f"{chance.randrange(24):02}"
            at = {"region": chance.choice("ab"), "dt": f"2025081{chance.randrange(7)}", "hour": hour}
            for _ in range(chance.randrange(1, 8)):
                number += 1
                v = None if chance.random() < 0.3 else f"v{number}"
                rows.append([*(at[key] for key in keys), chance.randrange(12), number, v, number])
                kinds.append("-D" if branch == DELTA and chance.random() < 0.2 else "+I")
        of = None if branch == "main" else branch
        judge.write(location, rows, kinds=kinds, branch=of)
        if of is not None and chance.random() < 0.3:
            judge.compact(location, branch=of)
    assert ours(location) == judge.rows(location)
    for name in (FULL, DELTA):
        assert ours(location, branch=name) == judge.rows(location, branch=name, own=True)
    some = [row for row in judge.rows(location) if row[keys.index("dt")] == "20250814" and row[len(keys)] in (3, 4)]
    assert ours(location, where="dt = '20250814' and k in (3, 4)") == some
    for each in judge.snapshots(location)[:-1]:
        assert ours(location, at=str(each["id"])) == judge.rows(location, snapshot=each["id"])


DAYS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "INT": ("INT", {}),
    "BIGINT": ("BIGINT", {}),
    "DATE": ("DATE", {"partition.legacy-name": "false", "partition.timestamp-formatter": "yyyy-MM-dd"}),
}


@pytest.mark.parametrize("key", DAYS)
@pytest.mark.parametrize("hour", ["", "STRING", "INT"])
def test_days_and_hours_that_are_no_texts(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, key: str, hour: str
) -> None:
    chance = random.Random(f"{key}{hour}")
    location = str(tmp_path / "default.db" / "t")
    of, options = DAYS[key]
    keys = ["dt", "hour"] if hour else ["dt"]
    if hour and "partition.timestamp-formatter" in options:
        options = {**options, "partition.timestamp-formatter": "yyyy-MM-dd HH:mm:ss"}
    made(java_judge, location, keys, options, COLUMNS, {"dt": of, "hour": hour})
    number = 0
    for turn in range(9):
        branch = (FULL, DELTA, "main")[turn] if turn < 3 else chance.choice([FULL, DELTA, DELTA, DELTA])
        rows = []
        for _ in range(chance.randrange(1, 4)):
            day = chance.randrange(8, 13)
            at: dict[str, Any] = {"dt": f"2025-08-{day:02}" if key == "DATE" else int(f"202508{day:02}")}
            at["hour"] = chance.randrange(10, 24) if hour == "INT" else f"{chance.randrange(24):02}"
            for _ in range(chance.randrange(1, 6)):
                number += 1
                rows.append([*(at[name] for name in keys), chance.randrange(8), number, f"v{number}", number])
        java_judge.write(location, rows, branch=None if branch == "main" else branch)
    assert ours(location) == java_judge.rows(location)
    for name in (FULL, DELTA):
        assert ours(location, branch=name) == java_judge.rows(location, branch=name, own=True)


@pytest.mark.parametrize(
    ("keys", "merged"),
    sample([(keys, merged) for merged in (False, True) for keys in (["dt"], ["region", "dt", "hour"])], 2),
)
def test_random_tables_with_deletion_vectors(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, keys: list[str], merged: bool
) -> None:
    chance = random.Random(f"{keys}{merged}")
    location = str(tmp_path / "default.db" / "t")
    options = {"deletion-vectors.enabled": "true", "num-sorted-run.compaction-trigger": "3"}
    options |= {"deletion-vectors.merge-on-read": "true"} if merged else {}
    options |= {"chain-table.chain-partition-keys": "dt,hour"} if "region" in keys else {}
    made(java_judge, location, keys, options, COLUMNS)
    number = has_vectors = 0
    for turn in range(20):
        branch = (FULL, DELTA, "main")[turn] if turn < 3 else chance.choice([FULL, DELTA, DELTA, DELTA, "main"])
        rows, kinds = [], []
        for _ in range(chance.randrange(1, 4)):
            at = {"region": "a", "dt": f"2025081{chance.randrange(4)}", "hour": f"{chance.randrange(3):02}"}
            for _ in range(chance.randrange(1, 8)):
                number += 1
                rows.append([*(at[key] for key in keys), chance.randrange(12), number, f"v{number}", number])
                kinds.append("-D" if branch == DELTA and chance.random() < 0.2 else "+I")
        of = None if branch == "main" else branch
        stays = {"write-only": "true"} if chance.random() < 0.3 else None  # in level 0, which may not be seen
        java_judge.write(location, rows, kinds=kinds, branch=of, options=stays)
        has_vectors += any(java_judge.refs(location, branch=each)["index"] for each in (FULL, DELTA) if turn > 2)
        if turn % 4 == 3:
            assert ours(location) == java_judge.rows(location)
    assert has_vectors or merged  # then compactions write vectors only by chance
    some = [row for row in java_judge.rows(location) if row[keys.index("dt")] == "20250812" and row[len(keys)] < 5]
    assert ours(location, where="dt = '20250812' and k < 5") == some
    for each in java_judge.snapshots(location)[:-1]:
        assert ours(location, at=str(each["id"])) == java_judge.rows(location, snapshot=each["id"])


def test_days_by_their_number_are_not_counted(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    """As DATE stands in directories unless `partition.legacy-name` is false."""
    location = str(tmp_path / "default.db" / "t")
    made(java_judge, location, ["dt"], {}, COLUMNS, {"dt": "DATE"})
    java_judge.write(location, [["2025-08-02", 1, 1, "a", 1]], branch=DELTA)
    java_judge.write(location, [["2025-08-11", 2, 2, "a", 1]], branch=DELTA)
    assert ours(location) == java_judge.rows(location)
    java_judge.write(location, [["2025-08-01", 1, 1, "a", 1]], branch=FULL)
    with pytest.raises(EngineError, match="could not be parsed"):
        java_judge.rows(location)
    with pytest.raises(Unsupported, match="is not one of the days"):
        ours(location)


def test_columns_that_each_branch_got_in_turn(spark: SparkSession, judge: PaimonJudge, tmp_path: Path) -> None:
    """So that the same number means another schema in each branch."""
    location = str(tmp_path / "default.db" / "t")
    made(judge, location, ["dt"], {}, COLUMNS)
    judge.write(location, [["20250801", 1, 1, "a", 1], ["20250801", 2, 1, "a", 1]], branch=FULL)
    judge.write(location, [["20250802", 1, 2, "b", 2]], branch=DELTA)
    for name in (DELTA, FULL, "main"):
        of = None if name == "main" else name
        if name == FULL:
            judge.alter(location, ("set_option", "snapshot.num-retained.max", "100"), branch=of)
        judge.alter(location, ("add", "w", "INT"), branch=of)
    judge.write(location, [["20250803", 2, 3, "c", 3, 33], ["20250803", 3, 3, "c", 3, None]], branch=DELTA)
    judge.write(location, [["20250804", 2, 3, "d", 4, 44]], branch=FULL)
    judge.write(location, [["20250805", 4, 3, "e", 5, 55]], branch=DELTA)
    assert ours(location) == judge.rows(location)
    assert ours(location, where="dt = '20250803' and w is null") == [
        row for row in judge.rows(location) if row[0] == "20250803" and row[5] is None
    ]
    judge.alter(location, ("add", "x", "INT"), branch=DELTA)
    with pytest.raises(Unsupported, match="has other columns"):
        ours(location)


def test_what_the_engine_leaves_out_is_refused(spark: SparkSession, judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    made(judge, location, ["dt"], {}, COLUMNS)
    judge.write(location, [["20250802", 1, 2, "b", 2]], branch=DELTA)
    judge.write(location, [["202508021", 2, 3, "b", 2]], branch=DELTA)
    assert ours(location) == judge.rows(location)  # without a full state, nothing is counted
    judge.write(location, [["20250801", 1, 1, "a", 1]], branch=FULL)
    judge.write(location, [["20250803", 3, 4, "b", 2]], branch=DELTA)
    with pytest.raises(Unsupported, match="202508021 is not one of the days"):
        ours(location)
    assert ours(location, branch=DELTA) == judge.rows(location, branch=DELTA, own=True)


def test_rows_without_an_order_are_refused(spark: SparkSession, judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    made(judge, location, ["dt"], {"bucket": "1"}, COLUMNS)
    judge.write(location, [["20250801", 1, 7, "a", 1], ["20250801", 2, 7, "a", 1]], branch=FULL)
    judge.write(location, [["20250802", 1, 7, "a", 1]], branch=DELTA)
    assert ours(location) == judge.rows(location)
    judge.write(location, [["20250803", 1, 7, "b", 1]], branch=DELTA)
    with pytest.raises(Unsupported, match="Two rows of the key 1 have the same sequence field"):
        ours(location)
    assert ours(location, where="dt < '20250803'") == [row for row in judge.rows(location) if row[0] < "20250803"]


def test_other_numbers_of_buckets_are_refused(spark: SparkSession, judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    made(judge, location, ["dt"], {}, COLUMNS)
    judge.write(location, [["20250801", key, 7, "a", 1] for key in range(9)], branch=FULL)
    judge.alter(location, ("set_option", "bucket", "3"), branch=DELTA)
    judge.write(location, [["20250802", key, 8, "b", 1] for key in range(9)], branch=DELTA)
    with pytest.raises(EngineError, match="Inconsistent bucket num"):
        judge.rows(location)
    with pytest.raises(Unsupported, match="merged from files of 2, 3 buckets"):
        ours(location)


def test_row_kinds(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    made(java_judge, location, ["dt"], {}, COLUMNS)
    java_judge.write(location, [["20250801", 1, 1, "a", 1], ["20250801", 2, 1, "a", 1]], branch=FULL)
    java_judge.write(location, [["20250802", 1, 2, "b", 2]], kinds=["-D"], branch=DELTA)
    java_judge.write(location, [["20250803", 3, 2, "b", 2]], branch=DELTA)
    found = query(open_table(location), "select * from `t$audit_log`").table.to_pylist()
    assert ordered([list(row.values()) for row in found]) == java_judge.rows(location, audit=True)
