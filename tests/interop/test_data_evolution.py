"""Tables with data evolution and BLOB columns, written by Java Paimon: rows and references at every snapshot."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Unsupported
from core.spark.query.query import query
from core.table import open_table
from tests.engines.paimon_java import EngineError, PaimonJudge, ordered
from tests.support.depth import sample
from tests.support.interop.keyed_tables import check_every_point
from tests.support.interop.shown import shown

OPTIONS = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
VECTOR = {"type": "VECTOR", "element": "FLOAT", "length": 2}
COLUMNS = [("p", "STRING"), ("id", "INT"), ("a", "STRING"), ("b", "BIGINT"), ("t", "TIMESTAMP(3)")]


def check(spark: SparkSession, judge: PaimonJudge, location: str) -> int:
    """Rows of every snapshot, and rows and their number as a query gives them of every third and the last."""
    table = open_table(location)
    history = table.history()
    snapshots = [snapshot.id for snapshot in history.heads.main.snapshots]
    for snapshot in {*snapshots[2::3], snapshots[-1]}:
        found = query(table, "select * from t", at=str(snapshot), history=history, row_cap=10_000, timeout_s=300).table
        theirs = judge.rows(location, snapshot=snapshot)
        assert ordered([[plain(value) for value in row.values()] for row in found.to_pylist()]) == theirs, snapshot
        (counted,) = query(table, "select count(*) as n from t", at=str(snapshot), history=history).table.to_pylist()
        assert counted == {"n": len(theirs)}
    assert check_every_point(spark, judge, location, show=plain) == len(snapshots)
    return len(snapshots)


def plain(value: Any) -> Any:
    """A value as the judge tells it: of a blob its bytes, which stand where its reference says."""
    if not isinstance(value, dict):
        return shown(value)
    content = Path(value["uri"].removeprefix("file://")).read_bytes()
    return content[value["offset"] :][: value["length"]].hex()


@pytest.mark.parametrize(
    ("seed", "form", "deletes"),
    sample([(1, "parquet", False), (2, "orc", False), (1, "parquet", True), (2, "orc", True), (4, "parquet", True),
            (3, "avro", True)], 3),
)  # fmt: skip
def test_random_histories(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, seed: int, form: str, deletes: bool
) -> None:
    """Rows are appended; then some columns of all rows of an append are written anew, others are added or changed."""
    has_blobs = seed % 2 == 0
    choose = random.Random(seed)
    location = str(tmp_path / "default.db" / "t")
    options = {**OPTIONS, "file.format": form, "manifest.format": form}
    options |= {"blob-field": "picture", "blob.target-file-size": "20 b"} if has_blobs else {}
    options |= {"deletion-vectors.enabled": "true"} if deletes else {}
    columns = [*COLUMNS, ("picture", "BLOB")] if has_blobs else COLUMNS
    java_judge.create(location, columns, partition_keys=["p"], options=options)
    names = [name for name, _ in columns]
    spans: list[tuple[str, int, int]] = []
    first = 0

    def value(name: str, number: int) -> Any:
        if choose.random() < 0.2:
            return None
        return {
            "id": number,
            "a": f"{choose.randrange(100)}",
            "b": choose.randrange(10**12),
            "new": number % 7,
            "picture": f"{choose.randrange(256**6):012x}",
        }.get(name, f"19{choose.randrange(40, 99)}-03-29T02:30:00.{choose.randrange(1000):03}")

    for step in range(9):
        if step == 4:
            java_judge.alter(location, ("add", "new", "INT"))
            names.append("new")
        if step == 6:
            java_judge.alter(location, ("type", "a", "INT"), ("rename", "b", "c"))
            names[names.index("b")] = "c"
        own = [name for name in names if name not in ("p", "picture")]  # the engine itself fails on blobs written anew
        if step < 2 or not spans or choose.random() < 0.3:
            count, part = choose.randint(1, 5), choose.choice("xy")
            rows = [[part if name == "p" else value(name, at) for name in names] for at in range(count)]
            java_judge.write(location, rows)
            spans.append((part, first, count))
            first += count
        else:
            part, start, count = choose.choice(spans)
            some = [name for name in own if choose.random() < 0.4] or [own[-1]]
            columns = [name for name in names if name in (*some, "p")]
            rows = [[part if name == "p" else value(name, at) for name in columns] for at in range(count)]
            java_judge.write(location, rows, columns=columns, first_row_id=start)
        if deletes and step % 3:
            java_judge.delete_rows(location, *choose.sample(range(first), max(1, first // 4)))
    assert check(spark, java_judge, location) == (15 if deletes else 9)


@pytest.mark.parametrize("form", sample(["", "parquet", "avro"], 2))
def test_random_vectors(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, form: str) -> None:
    choose = random.Random(form)
    location = str(tmp_path / "default.db" / "t")
    options = {**OPTIONS, "deletion-vectors.enabled": "true", "vector.target-file-size": "1 b"}
    options |= {"vector.file.format": form} if form else {}
    columns = [("id", "INT"), ("v", VECTOR), ("w", VECTOR), ("note", "STRING")]
    java_judge.create(location, columns, options=options)

    def vector() -> list[float] | None:
        return None if choose.random() < 0.2 else [choose.randrange(9) + 0.5, choose.randrange(9)]

    spans: list[tuple[int, int]] = []
    for step in range(9):
        if step < 2 or choose.random() < 0.3:
            first = sum(spans[-1]) if spans else 0
            count = choose.randint(1, 5)
            java_judge.write(location, [[first + at, vector(), vector(), f"n{at}"] for at in range(count)])
            spans.append((first, count))
        else:
            first, count = choose.choice(spans)
            names = choose.choice((["v", "w"], ["note"], ["v", "w", "note"]))
            own = [[f"m{step}" if name == "note" else vector() for name in names] for _ in range(count)]
            java_judge.write(location, own, columns=names, first_row_id=first)
        if step % 3 == 2:
            java_judge.delete_rows(location, *choose.sample(range(sum(spans[-1])), 2))
    assert any(".vector." in path.name for path in Path(location).rglob("data-*")) is bool(form)
    assert check(spark, java_judge, location) == 12


def test_vectors_of_which_the_engine_returns_the_older_are_rejected(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path
) -> None:
    """Vectors written anew after a change of the schema: Paimon 2.0 takes those of the oldest schema."""
    location = str(tmp_path / "default.db" / "t")
    java_judge.create(location, [("id", "INT"), ("v", VECTOR)], options={**OPTIONS, "vector.file.format": "parquet"})
    java_judge.write(location, [[1, [1, 1]]])
    java_judge.alter(location, ("add", "note", "STRING"))
    java_judge.write(location, [[[2, 2]]], columns=["v"], first_row_id=0)
    assert java_judge.rows(location) == [[1, [1.0, 1.0], None]]
    table = open_table(location)
    with pytest.raises(Unsupported, match="'v' were written again after a change") as caught:
        query(table, "select * from t")
    assert ".vector.parquet" in str(caught.value.path)
    assert query(table, "select id, note from t").table.to_pylist() == [{"id": 1, "note": None}]
    assert query(table, "select count(*) as n from t").table.to_pylist() == [{"n": 1}]
    assert query(table, "select v from t", at="1").table.to_pylist() == [{"v": [1.0, 1.0]}]


def test_blobs_are_where_they_are_said_to_be(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    columns = [("id", "INT"), ("picture", "BLOB"), ("note", "STRING")]
    options = {**OPTIONS, "blob-field": "picture", "blob.target-file-size": "20 b"}
    java_judge.create(location, columns, options=options)
    written = {1: b"one picture", 2: None, 3: b"", 4: bytes(range(256)) * 40}
    java_judge.write(location, [[id, None if blob is None else blob.hex(), f"n{id}"] for id, blob in written.items()])
    java_judge.write(location, [[f"m{id}"] for id in written], columns=["note"], first_row_id=0)
    assert [row[1] for row in java_judge.rows(location)] == [b if b is None else b.hex() for b in written.values()]
    table = open_table(location)
    found = query(table, "select * from t order by id").table.to_pylist()
    assert [(row["id"], row["note"]) for row in found] == [(id, f"m{id}") for id in written]
    for row in found:
        blob = row["picture"]
        if blob is None:
            assert written[row["id"]] is None
            continue
        content = Path(blob["uri"].removeprefix("file://")).read_bytes()
        assert content[blob["offset"] :][: blob["length"]] == written[row["id"]]
    sizes = query(table, "select sum(picture.length) as n from t").table.to_pylist()
    assert sizes == [{"n": sum(len(blob or b"") for blob in written.values())}]


def test_views_of_blobs_take_nothing_away(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    columns = [("id", "INT"), ("picture", "BLOB"), ("own", "BLOB")]
    options = {**OPTIONS, "blob-view-field": "picture", "blob-field": "own"}
    java_judge.create(location, columns, options=options)
    java_judge.write(location, [[1, ["default.album", 1, 0], "0a0b"], [2, None, None]])
    java_judge.write(location, [[3, ["default.album", 1, 2], "0c"]])
    table = open_table(location)
    assert query(table, "select count(*) as n from t").table.to_pylist() == [{"n": 3}]
    found = query(table, "select id, own from t order by id").table.to_pylist()
    assert [[row["id"], plain(row["own"])] for row in found] == [[1, "0a0b"], [2, None], [3, "0c"]]
    with pytest.raises(Unsupported, match=r"'picture' cannot be shown.*blob-view-field") as caught:
        query(table, "select picture from t")
    assert "Leave the column out, or read it with Paimon 2.0" in str(caught.value.remedy)
    changed = query(table, "select id from t_changes", at="2", since="1").table.to_pylist()
    assert [row["id"] for row in changed] == [3]
    with pytest.raises(EngineError, match="'blob-view-field' is not supported"):  # a view stays one
        java_judge.alter(location, ("remove_option", "blob-view-field"))


def test_no_statistics_of_old_values_hide_a_row(spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path) -> None:
    location = str(tmp_path / "default.db" / "t")
    java_judge.create(location, [("id", "INT"), ("v", "INT")], options=OPTIONS)
    java_judge.write(location, [[1, 10], [2, 20]])
    java_judge.write(location, [[3, 70]])
    java_judge.write(location, [[80], [90]], columns=["v"], first_row_id=0)
    table = open_table(location)
    for where, ids in (("v > 75", [1, 2]), ("v < 50", []), ("v = 70", [3]), ("id = 2", [2])):
        found = query(table, f"select id from t where {where} order by id").table.to_pylist()
        assert [row["id"] for row in found] == ids, where
    changed = query(table, "select * from t_changes order by id, v", at="3", since="2").table.to_pylist()
    assert [tuple(row.values()) for row in changed] == [
        ("-D", 1, 10), ("+I", 1, 80), ("-D", 2, 20), ("+I", 2, 90),
    ]  # fmt: skip
