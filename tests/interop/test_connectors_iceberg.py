"""Iceberg's own Spark runtime compared with our plain reader: the same rows at every version, pinned, with the engine
named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.cli import main
from core.errors import Invalid, NotFound, SnapscopeError, Unsupported
from core.spark.query import connector
from core.spark.query.query import query
from core.spark.session.session import ENGINE
from core.table import Table, open_table
from tests.engines.connectors import iceberg_runtime
from tests.engines.iceberg_java import IcebergJudge
from tests.engines.java import Missing
from tests.support.iceberg_tables import PYICEBERG, moved
from tests.support.interop.iceberg_layouts import LAYOUTS, Past
from tests.support.spark.iceberg_written import Written

RUNTIME = "Iceberg Spark runtime 1.11.0"
IDS = [(1, "id", "long"), (2, "v", "string")]


@pytest.fixture(autouse=True)
def runtime(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """The one Spark, which loads the runtime where it is asked for."""
    try:
        monkeypatch.setenv(connector.SETTING, str(iceberg_runtime()))
    except Missing as lack:
        pytest.skip(f"engines: {lack}")
    return spark


def told(table: Table, sql: str = "select * from t", **more: Any) -> list[str]:
    answer = query(table, sql, engine=connector.CONNECTOR, timeout_s=600, **more)
    assert (answer.engine, answer.files_read) == (RUNTIME, None)
    return in_order(answer.table.to_pylist())


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def same_rows(table: Table) -> int:
    """Some snapshots, and every tag and branch, by both; how many points."""
    history = table.history()
    ids = [holder.point for holder in history.holders if holder.point.isdecimal()]
    points = [*ids[:: max(1, len(ids) // 3)], *(f"tag:{each.name}" for each in history.heads.main.tags)]
    points += ["latest", *(f"branch:{name}" for name in history.heads.branches)]
    for point in points:
        ours = query(table, "select * from t", at=point, history=history, timeout_s=600)
        assert ours.engine == ENGINE
        assert in_order(ours.table.to_pylist()) == told(table, at=point, history=history), point
    return len(points)


@pytest.mark.parametrize("name", ["expired", "rollback", "tags_branches", "v1_upgraded"])
def test_tables_of_pyiceberg(tmp_path: Path, name: str) -> None:
    assert same_rows(open_table(str(moved(PYICEBERG / name, tmp_path / name)))) > 2


@pytest.mark.parametrize(("layout", "version"), [("whole", 2), ("days", 3)])
def test_deletes_renames_and_partitions_that_evolve(
    iceberg_judge: IcebergJudge, tmp_path: Path, layout: str, version: int
) -> None:
    past = Past(iceberg_judge, tmp_path, layout, version)
    keys = {name for name, _ in LAYOUTS[layout]}
    past.append()
    past.append()
    past.positions()
    past.equality("i")
    past.do("schema", changes=[("type", "f", "double"), *([("rename", "s", "b2")] if "s" not in keys else [])])
    past.do("spec", changes=[("add", "id", "bucket[3]")])
    past.append()
    past.equality("id", "d")
    past.positions()
    past.do("create_tag", snapshot=iceberg_judge.state(past.address)["current"], name="kept")
    past.do("schema", changes=[("drop", "y"), ("first", "d")])
    past.append()
    past.positions()
    assert same_rows(open_table(past.address)) > 4


def test_a_point_is_pinned_and_every_answer_says_who_gave_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1, 2], "v": ["a", "b"]}))
    table.evolve([(1, "id", "long"), (2, "w", "string")])
    table.commit(table.data({"id": [3], "w": ["c"]}))
    table.evolve([(1, "id", "long"), (2, "now", "string")])
    table.publish()
    opened = open_table(str(table.root))
    history = opened.history()
    head = told(opened, history=history)
    assert (len(head), "'now'" in head[0]) == (3, True)
    assert "'w'" in told(opened, at="2", history=history)[0]  # an id is read with its own schema, a head with today's
    both = "select count(*) n, (select count(*) from t_before) m, (select count(*) from `t$snapshots`) s from t"
    assert told(opened, both, at="2", before="1", history=history) == ["{'n': 3, 'm': 2, 's': 2}"]
    table.commit(table.data({"id": [4], "now": ["d"]}))
    assert told(opened, "select id from t", at="2") == ["{'id': 1}", "{'id': 2}", "{'id': 3}"]
    assert len(told(opened)) == 4

    words = ["query", str(table.root), "select id from t", "--at", "2", "--limit", "1", "--timeout", "10 min"]
    assert main([*words, "--engine", "connector", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["engine"], answer["truncated"], answer["files_read"]) == (RUNTIME, True, None)
    assert main([*words, "--engine", "connector"]) == main(words) == 0
    connected, plain = capsys.readouterr().out.split("as of ")[1:]
    assert f"by {RUNTIME}." in connected
    assert ENGINE in plain


def test_the_gate_for_sql_holds(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1], "v": ["a"]}))
    opened = open_table(str(table.root))
    for sql in (f"select * from iceberg.`{table.root}`", "select * from default_iceberg.t", "drop table t"):
        with pytest.raises(Invalid, match="rejected"):
            told(opened, sql)
    with pytest.raises(Unsupported, match="t_changes is not available with a connector"):
        told(opened, "select * from t_changes", since="1")


def test_what_plain_spark_refuses_the_connector_reads(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1], "v": ["a"]}) | {"format": "LANCE"})
    with pytest.raises(Unsupported, match=r"format 'lance' .* Iceberg's own Spark connector may read it"):
        query(open_table(str(table.root)), "select * from t")


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (
            {"write.location-provider.impl": "evil.Provider"},
            "The table's property 'write.location-provider.impl' names a class",
        ),
        (
            {},
            (
                "A file of the table is on another kind of store; a table's file may not choose which "
                "stores Spark connects to."
            ),
        ),
    ],
)
def test_no_file_of_a_table_chooses_what_is_loaded(tmp_path: Path, properties: dict[str, str], said: str) -> None:
    table = Written(tmp_path / "t", IDS, properties=properties)
    file = table.data({"id": [1], "v": ["a"]})
    table.commit(file if properties else file | {"path": "s3a://elsewhere/f.parquet"})
    with pytest.raises(Unsupported, match=said):
        told(open_table(str(table.root)))


def test_what_cannot_be_had_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    for named, kind, said in (
        ("", Invalid, "No Spark connector is configured to read Iceberg tables"),
        (str(tmp_path / "none.jar"), NotFound, "names a jar that cannot be read"),
        ("iceberg", Invalid, "neither a .jar nor group:artifact:version"),
    ):
        monkeypatch.setenv(connector.SETTING, named)
        monkeypatch.setattr(connector, "_found", lambda *_: None)  # the one Spark has loaded it for the tests above
        with pytest.raises(SnapscopeError, match=said) as caught:
            connector.loaded(spark, "iceberg")
        assert isinstance(caught.value, kind)
