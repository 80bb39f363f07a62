"""Rows of the postpone bucket (`postpone.merge-on-read`), merged by Java Paimon 2.0 and by us, at every snapshot."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query.query import query
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge, ordered
from tests.support.depth import sample
from tests.support.interop.keyed_tables import ENGINE_OPTIONS
from tests.support.interop.shown import shown

POSTPONED = {"bucket": "-2", "postpone.merge-on-read": "true", "postpone.batch-write-fixed-bucket": "false"}
COLUMNS = [("p", "STRING NOT NULL"), ("id", "INT NOT NULL"), ("text", "STRING"), ("big", "BIGINT"),
           ("ratio", "DOUBLE"), ("money", "DECIMAL(12, 2)"), ("ok", "BOOLEAN"), ("s1", "INT"), ("s2", "TIMESTAMP(3)"),
           ("wide", "DECIMAL(36, 2)"), ("moment", "TIMESTAMP(6)")]  # fmt: skip
LAYOUTS = ("", "vectors", "vectors, merged", "lookup")
UNSAID = "Several writers have put rows of the key"


def ours(location: str, *, where: str = "true", what: str = "*", **at: Any) -> list[list[Any]]:
    found = query(open_table(location), f"select {what} from t where {where}", row_cap=100_000, **at).table.to_pylist()
    return ordered([[shown(value) for value in row.values()] for row in found])


def row(chance: random.Random, part: str, id: int) -> list[Any]:
    values = [
        chance.choice("abc"), chance.randrange(9), chance.choice((1.5, -2.25)), f"{chance.randrange(50)}.25",
        chance.random() < 0.5, chance.randrange(4), f"2026-01-01T00:0{chance.randrange(5)}",
        f"{chance.randrange(9)}.01", f"2026-03-29T02:30:00.{chance.randrange(10**6):06}",
    ]  # fmt: skip
    return [part, id, *(None if chance.random() < 0.3 else value for value in values)]


def write(judge: PaimonJudge, location: str, chance: random.Random, engine: str, keys: range, **how: Any) -> None:
    ids = chance.sample(keys, chance.randrange(1, min(12, len(keys))))
    kinds = ["-D" if "retract" not in engine and chance.random() < 0.2 else "+I" for _ in ids]
    if engine == "aggregation, remove on delete":
        kinds = ["+I" if kind == "+I" else chance.choice(("-D", "+U")) for kind in kinds]
    judge.write(location, [row(chance, chance.choice("xy"), id) for id in ids], kinds=kinds, **how)


ENGINES = sorted({*ENGINE_OPTIONS} - {"first-row"})
CASES = [
    *(("first-row", ""), ("first-row", "lookup"), ("deduplicate", "vectors"), ("partial-update", "vectors, merged")),
    *((engine, LAYOUTS[number % 4]) for number, engine in enumerate(ENGINES)),
]


@pytest.mark.parametrize(("engine", "vectors"), sample(CASES, 6))
def test_random_histories(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, engine: str, vectors: str
) -> None:
    chance = random.Random(f"{engine}{vectors}")
    location = str(tmp_path / "default.db" / "t")
    options = {**POSTPONED, **ENGINE_OPTIONS[engine]}
    options |= {"deletion-vectors.enabled": "true"} if "vectors" in vectors else {}
    options |= {"deletion-vectors.merge-on-read": "true"} if "merged" in vectors else {}
    options |= {"changelog-producer": "lookup"} if vectors == "lookup" else {}
    java_judge.create(location, COLUMNS, primary_keys=["p", "id"], partition_keys=["p"], options=options)
    write_real = {"bucket": "3"} | ({"write-only": "true"} if chance.random() < 0.5 else {})
    for number in range(9):
        if number < 2 or chance.random() < 0.3:
            write(java_judge, location, chance, engine, range(24), options=write_real)
        else:  # each writer has keys of its own, as each of a job's writers
            writer = chance.randrange(3)
            keys = range(8 * writer, 8 * writer + 8)
            write(java_judge, location, chance, engine, keys, user="job", writer=writer)
    snapshots = [each["id"] for each in java_judge.snapshots(location)]
    for snapshot in (snapshots[2], snapshots[-3], snapshots[-1]):
        theirs = java_judge.rows(location, snapshot=snapshot, postponed=True)
        assert ours(location, at=str(snapshot)) == theirs, snapshot
    assert ours(location, what="count(*)") == [[len(theirs)]]
    for where, of in (
        ("id in (3, 4, 11)", lambda row: row[1] in (3, 4, 11)),
        ("p = 'x' and id > 17", lambda row: row[0] == "x" and row[1] > 17),
        ("s1 = 2", lambda row: row[7] == 2),
    ):
        assert ours(location, where=where) == [row for row in theirs if of(row)], where
    before, after = (java_judge.rows(location, snapshot=each, postponed=True) for each in snapshots[-2:])
    changed = query(open_table(location), "select * from t_changes", since=str(snapshots[-2]), row_cap=100_000).table
    gone, come = (
        ordered([[shown(value) for value in each.values()][1:] for each in changed.to_pylist() if
                 next(iter(each.values())) in kinds])
        for kinds in (("-D", "-U"), ("+I", "+U"))
    )  # fmt: skip
    assert gone == ordered([each for each in before if each not in after])
    assert come == ordered([each for each in after if each not in before])


def test_writers_that_share_no_column_or_have_an_order(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    columns = [("id", "INT NOT NULL"), ("a", "INT"), ("b", "INT"), ("s", "INT")]
    for number, options in enumerate(({"merge-engine": "partial-update"}, {"sequence.field": "s"})):
        location = str(tmp_path / "default.db" / f"t{number}")
        java_judge.create(location, columns, primary_keys=["id"], options={**POSTPONED, **options})
        java_judge.write(location, [[1, 1, 1, 1], [2, 1, 1, 1]], options={"bucket": "2"})
        java_judge.write(location, [[1, 2, None, 2 - 2 * number], [2, 5, None, 9]], user="one", writer=0)
        java_judge.write(location, [[1, None, 3, 2 - 2 * number + number], [3, 1, 1, 1]], user="two", writer=0)
        theirs = java_judge.rows(location, postponed=True)
        assert theirs == java_judge.rows(location, postponed=True, reversed=True)
        assert ours(location) == theirs


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_writers_without_an_order_are_rejected(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, engine: str
) -> None:
    location = str(tmp_path / "default.db" / "t")
    options = {**POSTPONED, "merge-engine": engine}
    java_judge.create(location, [("id", "INT NOT NULL"), ("a", "INT")], primary_keys=["id"], options=options)
    for number, rows in enumerate(([[1, 1], [2, 2]], [[1, 9], [3, 3]], [[2, 2]])):
        java_judge.write(location, rows, user=f"job{number}", writer=0)
    assert java_judge.rows(location, postponed=True) != java_judge.rows(location, postponed=True, reversed=True)
    with pytest.raises(Unsupported, match=f"{UNSAID} 1 ") as caught:
        ours(location)
    assert "Compact the table" in str(caught.value.remedy)
    assert "bucket-postpone/" in str(caught.value.path)
    assert ours(location, what="count(*)") == [[3]]
    assert ours(location, what="id") == [[1], [2], [3]]
    java_judge.write(location, [[1, None]], kinds=["+I"], user="job3", writer=0)
    assert ours(location, at="1") == java_judge.rows(location, snapshot=1, postponed=True)


def test_elsewhere_the_option_says_nothing(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    """Neither in a table with real buckets, nor in its audit log."""
    columns = [("id", "INT NOT NULL"), ("a", "INT")]
    for number, bucket in enumerate(("2", "-2")):
        location = str(tmp_path / "default.db" / f"t{number}")
        java_judge.create(location, columns, primary_keys=["id"], options={**POSTPONED, "bucket": bucket})
        java_judge.write(location, [[1, 1], [2, 2]], options={"bucket": "2"})
        java_judge.write(location, [[2, 3]], kinds=["-D"])
        found = query(open_table(location), "select * from `t$audit_log`").table.to_pylist()
        assert ordered([list(each.values()) for each in found]) == java_judge.rows(location, audit=True)
        assert ours(location) == java_judge.rows(location, postponed=bucket == "-2")
