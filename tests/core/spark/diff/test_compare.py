"""One column that cannot be shown or compared takes nothing away from changes and row differences of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.cli import main
from core.errors import Unsupported
from core.model.row_diff import RowDiff
from core.model.time_travel import AsOf
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.table import Table, open_table, resolve
from tests.support.spark.iceberg_written import Written
from tests.support.spark.stored import Row, Stored

pytestmark = pytest.mark.spark
KEYED = {"bucket": "1"}
COLUMNS: list[tuple[str, Any]] = [("id", "INT NOT NULL"), ("v", "STRING"), ("odd", "DOUBLE")]


def retyped(stored: Stored, was: str, of: str, schema: int = 0) -> None:
    """Say another type of a column, as a newer engine may have written it."""
    file = stored.root / "schema" / f"schema-{schema}"
    assert f'"{was}"' in file.read_text()
    file.write_text(file.read_text().replace(f'"{was}"', f'"{of}"'))


def diff(table: Table, a: str, b: str) -> RowDiff:
    history = table.history()
    points: list[AsOf] = [resolve(history.heads, each) for each in (a, b)]
    return row_diff(table, history, *points)


def changes(table: Table, sql: str, since: str = "1") -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in query(table, sql, since=since).table.to_pylist()), key=repr)


def row(id: int, v: str, odd: float) -> Row:
    return {"id": id, "v": v, "odd": odd}


def stored(root: Path, keys: list[str], options: dict[str, str] = KEYED) -> Stored:
    """Row 1 changes in `odd` alone, row 2 in `v` as well, row 3 is new."""
    table = Stored(root, COLUMNS, primary_keys=keys, options=options)
    table.commit([table.file([row(1, "a", 0.5), row(2, "b", 0.5)])])
    after = table.file([row(1, "a", 1.5), row(2, "c", 1.5), row(3, "d", 1.5)])
    table.commit([after], () if keys else table.live, kind="APPEND" if keys else "OVERWRITE")
    return table


@pytest.mark.parametrize("keys", [[], ["id"]])
@pytest.mark.parametrize("of", ["GEOMETRY", "ARRAY<NUMBER>", "VARIANT", "TIME(3)"])
def test_row_differences_leave_out_what_cannot_be_compared(
    spark: SparkSession, tmp_path: Path, keys: list[str], of: str
) -> None:
    made = stored(tmp_path / "t", keys)
    retyped(made, "DOUBLE", of)
    found = diff(made.opened(), "1", "2")
    totals = (1, 0, 1) if keys else (2, 1, 0)
    assert (found.added, found.removed, found.changed) == totals
    assert (found.columns, found.not_compared) == (("id", "v"), ("odd",))
    assert "Column 'odd' is not compared, so rows that differ only in it count as equal: " in found.note
    assert of in found.note
    assert ".." not in found.note


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_changes_leave_out_what_cannot_be_shown(spark: SparkSession, tmp_path: Path, keys: list[str]) -> None:
    made = stored(tmp_path / "t", keys)
    made.tag("v1", 1)
    retyped(made, "DOUBLE", "GEOMETRY")
    table = made.opened()
    more = [("+I", 3, "d")]
    expected = [*more, ("+U", 2, "c"), ("-U", 2, "b")] if keys else [("+I", 2, "c"), *more, ("-D", 2, "b")]
    for since in ("1", "tag:v1") if keys else ("tag:v1",):
        sql = "select _rowkind, id, v from t_changes"
        assert changes(table, sql, since) == expected
        assert changes(table, f"{sql} where v = 'd'", since) == more
        assert "'odd' is not compared" in query(table, sql, since=since).note
        for naming in ("select * from t_changes", "select id from t_changes where odd = 'x'"):
            with pytest.raises(Unsupported, match=r"'odd' cannot be shown: .*GEOMETRY") as caught:
                query(table, naming, since=since)
            assert "Leave the column out" in str(caught.value.remedy)


@pytest.mark.parametrize("of", ["GEOMETRY", "TIME(3)"])
def test_changes_from_the_files_of_commits(spark: SparkSession, tmp_path: Path, of: str) -> None:
    sql = "select _rowkind, id, v from t_changes"
    columns = [*COLUMNS[:2], ("odd", "TIME(3)")]
    plain = Stored(tmp_path / "plain", columns)
    logged = Stored(tmp_path / "logged", columns, primary_keys=["id"],
                    options={**KEYED, "changelog-producer": "input"})  # fmt: skip
    for made, mode in ((plain, "delta"), (logged, "changelog")):
        for id in (1, 2):
            new: Row = {"id": id, "v": "b"}
            made.commit([made.file([new])], changelog=[made.file([new])] if made.primary_keys else ())
        retyped(made, "TIME(3)", of)
        table = made.opened()
        assert changes(table, sql) == [("+I", 2, "b")]
        assert changes(table, f"{sql} where id = 1") == []
        assert f"({mode})" in query(table, sql, since="1").note
        if of == "GEOMETRY":
            with pytest.raises(Unsupported, match=r"'odd' cannot be shown: .*GEOMETRY"):
                query(table, "select odd from t_changes", since="1")
        else:
            assert changes(table, "select id, odd from t_changes") == [(2, None)]
            assert len(changes(table, "select * from `t$audit_log`")) == 2


def test_a_column_whose_type_became_another(spark: SparkSession, tmp_path: Path) -> None:
    made = Stored(tmp_path / "t", COLUMNS)
    made.commit([made.file([row(1, "a", 0.5)])])
    made.schema([(0, COLUMNS[0]), (1, COLUMNS[1]), (2, ("odd", "DATE")), (3, ("more", "INT"))])
    made.commit([made.file([{"id": 1, "v": "a", "more": None}, {"id": 2, "v": "b", "more": 7}])], made.live,
                kind="OVERWRITE")  # fmt: skip
    made.tag("v1", 1)
    found = diff(made.opened(), "1", "2")
    assert (found.added, found.removed, found.unchanged) == (1, 0, 1)
    assert "'odd' was changed from DOUBLE to DATE" in found.note
    assert changes(made.opened(), "select id, more from t_changes", "tag:v1") == [(2, 7)]
    with pytest.raises(Unsupported, match="'odd' was changed from DOUBLE to DATE"):
        query(made.opened(), "select odd from t_changes", since="tag:v1")
    retyped(made, "DATE", "GEOMETRY", schema=1)
    found = diff(made.opened(), "1", "2")
    assert (found.added, found.removed, found.unchanged) == (1, 0, 1)
    assert "'odd' is not compared" in found.note


def test_a_key_that_cannot_be_compared_is_refused_with_a_way_out(spark: SparkSession, tmp_path: Path) -> None:
    made = Stored(tmp_path / "t", COLUMNS, primary_keys=["id"], options=KEYED)
    made.commit([made.file([row(1, "a", 0.5)])])
    made.schema([(0, ("id", "DATE NOT NULL")), (1, COLUMNS[1]), (2, COLUMNS[2])])
    made.commit([])
    with pytest.raises(Unsupported, match=r"by their key, and its column 'id' cannot be compared: .*INT") as caught:
        diff(made.opened(), "1", "2")
    assert "--before" in str(caught.value.remedy)
    unknown = Stored(tmp_path / "u", [("id", "INT NOT NULL"), ("v", "STRING")], primary_keys=["id"], options=KEYED)
    for id in (1, 2):
        unknown.commit([unknown.file([{"id": id, "v": "a"}])])
    retyped(unknown, "INT NOT NULL", "GEOMETRY")
    for ask in (lambda: diff(unknown.opened(), "1", "2"), lambda: changes(unknown.opened(), "select v from t_changes")):
        with pytest.raises(Unsupported, match="GEOMETRY") as caught:
            ask()
        assert caught.value.remedy


def test_a_column_that_is_not_merged(spark: SparkSession, tmp_path: Path) -> None:
    options = {**KEYED, "merge-engine": "aggregation", "fields.odd.aggregate-function": "hll_sketch"}
    found = diff(stored(tmp_path / "t", ["id"], options).opened(), "1", "2")
    assert (found.added, found.removed, found.changed) == (1, 0, 1)
    assert "'odd' is aggregated by 'hll_sketch'" in found.note


@pytest.mark.parametrize("of", ["GEOMETRY", "ARRAY<NUMBER>"])
def test_a_fallback_branch(spark: SparkSession, tmp_path: Path, of: str) -> None:
    columns = [*COLUMNS, ("p", "STRING NOT NULL")]
    made = Stored(tmp_path / "t", columns, partition_keys=["p"], options={"scan.fallback-branch": "rt"})
    branch = Stored(tmp_path / "t" / "branch" / "branch-rt", columns, partition_keys=["p"])
    for each in (row(1, "a", 0.5), row(2, "b", 0.5)):
        made.commit([made.file([each], partition=["x"])])
    branch.points = dict(made.points)  # ids go on, so that the files of both have names of their own
    branch.commit([branch.file([row(7, "y", 0.5)], partition=["y"])])
    for path in [*branch.root.glob("p=*"), *branch.root.glob("manifest/*")]:
        path.rename(made.root / path.relative_to(branch.root))
    for each in (made, branch):
        retyped(each, "DOUBLE", of)
    table = open_table(str(made.root))
    assert [tuple(each.values()) for each in query(table, "select id, v from t order by id").table.to_pylist()] == [
        (1, "a"), (2, "b"), (7, "y")
    ]  # fmt: skip
    with pytest.raises(Unsupported, match="'odd' cannot be shown"):
        query(table, "select odd from t")
    found = diff(table, "1", "2")
    assert (found.added, found.removed, found.changed) == (1, 0, 0)
    assert changes(table, "select _rowkind, id, v from t_changes") == [("+I", 2, "b")]
    retyped(branch, of, "MULTIPOINT")
    with pytest.raises(Unsupported, match="Branch 'rt' has other columns"):
        query(open_table(str(made.root)), "select id from t")


def test_iceberg_leaves_a_column_out_of_both_versions(spark: SparkSession, tmp_path: Path) -> None:
    """A column of an unknown type at one version is not new at the other."""
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "odd", "int")])
    table.commit(table.data({"id": [1], "odd": [5]}))
    table.evolve([(1, "id", "long"), (2, "odd", "money")])
    table.commit(table.data({"id": [2]}))
    table.publish(refs={"first": {"snapshot-id": 1, "type": "tag"}, "main": {"snapshot-id": 2, "type": "branch"}})
    opened = open_table(str(table.root))
    for points in (("1", "2"), ("2", "1")):
        found = diff(opened, *points)
        assert (found.added + found.removed, found.unchanged) == (1, 1)
        assert found.columns == ("id",)
        assert "Column 'odd' is not compared, so rows that differ only in it count as equal: " in found.note
        assert "has type money" in found.note
    table.commit(table.data({"id": [3]}))
    found = diff(opened, "2", "3")
    assert (found.added, found.unchanged, found.files_read) == (1, 2, 1)


def test_a_column_of_iceberg_that_was_of_type_unknown_was_null(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "n", "unknown"), (3, "u", "unknown")], version=3)
    first = table.data({"id": [1, 2]})
    table.commit(first)
    table.evolve([(1, "id", "long"), (2, "n", "int"), (3, "u", "unknown")])
    table.commit(table.data({"id": [1, 2], "n": [5, None]}), without=[first])
    table.publish(refs={"first": {"snapshot-id": 1, "type": "tag"}, "main": {"snapshot-id": 2, "type": "branch"}})
    found = diff(open_table(str(table.root)), "1", "2")
    assert (found.added, found.removed, found.unchanged) == (1, 1, 1)
    assert (found.columns, found.not_compared) == (("id", "n"), ())


@pytest.mark.parametrize("keys", [[], ["id"]])
@pytest.mark.parametrize("of", ["DOUBLE", "STRING", "GEOMETRY"])
def test_new_columns_of_two_branches_are_two_columns(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: list[str], of: str
) -> None:
    """Both branches give the next id to another column: `odd` is dropped and `rate` is added, whatever their types."""
    made, branch = (
        Stored(tmp_path / root, COLUMNS[:2], primary_keys=keys, options=KEYED) for root in ("t", "t/branch/branch-dev")
    )
    made.commit([made.file([row(1, "a", 0)])])
    base = list(made._base)
    made.schema(list(enumerate([*COLUMNS[:2], ("odd", "STRING" if of == "STRING" else "DOUBLE")])))
    made.commit([made.file([{"id": 2, "v": "b", "odd": "9.5" if of == "STRING" else 9.5}])])
    branch._base, branch._numbers, branch.points, branch.live = base, made._numbers, dict(made.points), made.live[:1]
    branch.schema(list(enumerate([*COLUMNS[:2], ("rate", "DOUBLE")])))
    branch.commit([branch.file([{"id": 2, "v": "b", "rate": 9.5}])])
    for path in [*branch.root.glob("bucket-*/*"), *branch.root.glob("manifest/*")]:
        path.rename(made.root / path.relative_to(branch.root))
    if of == "GEOMETRY":
        retyped(made, "DOUBLE", of, schema=1)
    found = diff(made.opened(), "2", "branch:dev/3")
    totals = (0, 0, 1, 1) if keys else (1, 1, 0, 1)
    assert (found.added, found.removed, found.changed, found.unchanged) == totals
    assert found.columns == ("id", "v", "rate", "odd")[: 3 if of == "GEOMETRY" else 4]
    assert found.not_compared == ("odd",)
    assert main(["diff", str(made.root), "2", "branch:dev/3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema_changes"] == ["added column rate DOUBLE", f"dropped column odd {of}"]
    assert [document[name] for name in ("from", "to", "from_point", "to_point")] == [2, 3, "2", "branch:dev/3"]


def test_the_command_line_and_json_say_so(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = stored(tmp_path / "t", ["id"])
    retyped(made, "DOUBLE", "GEOMETRY")
    assert main(["diff", str(made.root), "1", "2", "--rows"]) == 0
    assert "'odd' is not compared" in capsys.readouterr().out
    assert main(["diff", str(made.root), "1", "2", "--rows", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "'odd' is not compared" in str(document)
    assert "'not_compared': ['odd']" in str(document)
    asked = ["query", str(made.root), "select id, v from t_changes", "--since", "1", "--json"]
    assert main(asked) == 0
    assert "'odd' is not compared" in capsys.readouterr().out
