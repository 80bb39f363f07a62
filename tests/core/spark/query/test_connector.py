"""What serving through a connector promises whoever's code reads: the point it is told, who answered, what is refused.

A stand-in reads here, registered with Spark under Paimon's name: rows of it are the options it was given. That Paimon's
own connector understands them is tested in tests/interop/test_connectors_paimon.py, where its jar is at hand.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader

from core import doctor
from core.errors import Corrupt, Invalid, NotFound, Unsupported
from core.model.query_answer import QueryAnswer
from core.spark.query import connector
from core.spark.query.query import query
from core.spark.session import session
from core.spark.sql import run as sql
from core.table import Table, open_table, resolve

NAME = "stand-in 1.0"


class StandIn(DataSource):
    """A table whose every column holds the options it was opened with; of three rows, or without an end."""

    @classmethod
    def name(cls) -> str:
        return "paimon"

    def schema(self) -> str:
        newest = max(Path(self.options["path"]).glob("schema/schema-*"), key=lambda path: int(path.name[7:]))
        fields = json.loads(newest.read_text())["fields"]
        return ", ".join(f"`{field['name']}` string" for field in fields)

    def reader(self, schema: Any) -> DataSourceReader:
        return Reader(json.dumps(dict(self.options), sort_keys=True), len(schema.fields))


class Reader(DataSourceReader):
    def __init__(self, told: str, columns: int) -> None:
        self.row, self.is_endless = (told,) * columns, "endless" in told

    def read(self, partition: Any) -> Iterator[tuple[str, ...]]:
        for _ in range(3):
            yield self.row
        while self.is_endless:
            yield self.row


@pytest.fixture
def stand_in(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """Every query's session knows it; it counts as what is configured."""
    if connector._found(spark, "paimon"):
        pytest.skip("spark: Paimon's own connector was loaded in this process and has the name")

    def isolated() -> SparkSession:
        own = spark.newSession()
        own.dataSource.register(StandIn)
        return own

    monkeypatch.setattr(session, "isolated", isolated)
    monkeypatch.setattr(connector, "loaded", lambda _spark, _form: NAME)
    return spark


def copied(shared_tables: Path, to: Path, name: str = "branches") -> Table:
    return open_table(str(shutil.copytree(shared_tables / "paimon" / "default.db" / name, to)))


def ask(table: Table, statement: str, **more: Any) -> QueryAnswer:
    return query(table, statement, engine=connector.CONNECTOR, **({"timeout_s": 600} | more))


def told(table: Table, statement: str | None = None, **more: Any) -> list[dict[str, str]]:
    """What the stand-in was told, without the path, in each column of the answer's first row."""
    column = table.heads().main.schemas[0].fields[0].name
    answer = ask(table, statement or f"select {column} from t", **more)
    assert (answer.engine, answer.files_read) == (NAME, None)
    assert f"live, read in {answer.seconds:.1f} s by {NAME}." in answer.note
    found = [json.loads(text) for text in answer.table.to_pylist()[0].values()]
    assert {each.pop("path") for each in found} == {table.location}
    return found


def test_the_point_that_was_resolved_is_told(stand_in: SparkSession, shared_tables: Path, tmp_path: Path) -> None:
    table = copied(shared_tables, tmp_path / "t")
    history = table.history()
    kinds = {(holder.kind, holder.branch): holder for holder in history.holders}
    assert len(kinds) > 3
    for (kind, branch), holder in kinds.items():
        point = {"scan.tag-name" if kind == "tag" else "scan.snapshot-id": holder.name}
        options, place = connector._paimon(table, history, resolve(history.heads, holder.point))
        assert (options, place) == (point | {"branch": branch}, table.location)
    tag = next(holder for holder in history.holders if holder.kind == "tag" and holder.branch != "main")
    column = history.heads.main.schemas[0].fields[0].name
    both = f"select max(t.{column}) a, max(t_before.{column}) b from t, t_before"
    latest = {"scan.snapshot-id": str(history.heads.main.snapshots[-1].id), "branch": "main"}
    as_tagged = {"scan.tag-name": tag.name, "branch": tag.branch}
    assert told(table, both, before=tag.point, history=history) == [latest, as_tagged]
    newest = max((tmp_path / "t" / "schema").glob("schema-*"))  # as an ALTER TABLE leaves it
    document = json.loads(newest.read_text())
    document |= {"id": document["id"] + 1, "options": {**document["options"], "ignore-delete": "true"}}
    newest.with_name(f"schema-{document['id']}").write_text(json.dumps(document))
    number = history.heads.main.snapshots[-1].id
    assert ask(table, "select * from t").differs == ()
    differs = ask(table, "select * from t", at=str(number)).differs
    assert differs == (
        ("The connector reads this version with today's 'ignore-delete' (true); at the time it was not set"),
    )


def test_the_newest_columns_are_not_asked_of_one_snapshot(
    stand_in: SparkSession, shared_tables: Path, tmp_path: Path
) -> None:
    """Paimon would show the snapshot's own."""
    table = copied(shared_tables, tmp_path / "t")
    newest = max((tmp_path / "t" / "schema").glob("schema-*"))
    document = json.loads(newest.read_text())
    document["id"] += 1
    document["fields"].append({"id": 99, "name": "added", "type": "INT"})
    newest.with_name(f"schema-{document['id']}").write_text(json.dumps(document))
    number = str(table.heads().main.snapshots[-1].id)
    with pytest.raises(Unsupported, match="columns were changed after the newest snapshot") as caught:
        ask(table, "select * from t")
    assert f"Ask for {number}" in str(caught.value.remedy)


def test_a_name_given_anew_is_no_answer(stand_in: SparkSession, shared_tables: Path, tmp_path: Path) -> None:
    """Our reader goes by files; a connector looks the name up again."""
    table = copied(shared_tables, tmp_path / "t")
    history = table.history()
    tag = next(holder for holder in history.holders if holder.kind == "tag" and holder.branch == "main")
    path = tmp_path / "t" / tag.path
    path.write_text(json.dumps({**json.loads(path.read_text()), "id": 1, "commitUser": "another"}))
    with pytest.raises(NotFound, match=f"{tag.point} was deleted while it was read"):
        told(table, at=tag.point, history=history)


def test_limits_and_cancelling_hold(stand_in: SparkSession, shared_tables: Path, tmp_path: Path) -> None:
    table = copied(shared_tables, tmp_path / "t")
    answer = ask(table, "select * from t", row_cap=2)
    assert (answer.table.num_rows, answer.truncated) == (2, True)
    for statement in ("select * from paimon.`/etc`", "select * from t; select 1", "insert into t select * from t"):
        with pytest.raises(Invalid):
            ask(table, statement)
    for more in ({"since": "earliest"}, {"statement": "select * from `t$audit_log`"}):
        with pytest.raises(Unsupported, match="is not available with a connector"):
            ask(table, **({"statement": "select * from t"} | more))
    with pytest.raises(Invalid, match="not a valid engine: 'spark'"):
        query(table, "select * from t", engine="spark")
    endless = copied(shared_tables, tmp_path / "endless")
    ended: list[BaseException] = []

    def run() -> None:
        try:
            ask(endless, "select count(*) from t", query_id="endless")
        except Invalid as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not sql.cancel("endless"):
        thread.join(0.05)
    thread.join(300)
    assert "cancelled" in str(ended[0])


def test_no_file_of_a_table_chooses_what_is_loaded_or_read(
    stand_in: SparkSession, shared_tables: Path, tmp_path: Path
) -> None:
    for number, (name, value, said) in enumerate(
        (
            (
                "scan.mode",
                "from-snapshot",
                (
                    "The table's own option 'scan.mode' sets where reading starts, which would contradict "
                    "the chosen version."
                ),
            ),
            (
                "incremental-between",
                "1,2",
                (
                    "The table's own option 'incremental-between' sets where reading starts, which would "
                    "contradict the chosen version."
                ),
            ),
            ("partition.mark-done-action.custom.class", "evil.Action", r"names a class \(evil.Action\)"),
        )
    ):
        table = copied(shared_tables, tmp_path / str(number))
        for path in (tmp_path / str(number)).rglob("schema-*"):
            document = json.loads(path.read_text())
            document["options"][name] = value
            path.write_text(json.dumps(document))
        with pytest.raises(Unsupported, match=said):
            told(table)
    table = copied(shared_tables, tmp_path / "t")
    newest = max((tmp_path / "t" / "schema").glob("schema-*"))
    history = table.history()
    document = json.loads(newest.read_text())
    document["fields"][0]["name"] = "other"
    newest.write_text(json.dumps(document))
    with pytest.raises(Corrupt, match=f"{NAME} shows the columns other, "):
        ask(table, "select * from t", history=history)


def test_a_refusal_names_the_way(
    spark: SparkSession, shared_tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = copied(shared_tables, tmp_path / "t")
    for path in (tmp_path / "t").rglob("schema-*"):
        document = json.loads(path.read_text())
        document["options"]["query-auth.enabled"] = "true"
        path.write_text(json.dumps(document))
    with pytest.raises(Unsupported, match=r"query-auth.* may read it \(set SNAPSCOPE_CONNECTORS, then --engine"):
        query(table, "select * from t")
    monkeypatch.setenv(connector.SETTING, "a.jar")
    with pytest.raises(Unsupported, match=r"may read it \(--engine connector\)"):
        query(table, "select * from t")


def test_nothing_is_loaded_unasked_and_what_is_missing_says_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(connector.SETTING, raising=False)
    assert connector.configured() == ()
    assert doctor._connectors().ok
    (started,) = doctor.spark()
    assert (started.level, spark.version in started.found) == (doctor.OK, True)
    with pytest.raises(Invalid, match=r"No Spark connector is configured to read Paimon tables\. Set SNAPSCOPE_CONN"):
        connector.loaded(spark.newSession(), "paimon")
    for named, kind, said in (
        (str(tmp_path / "none.jar"), NotFound, "names a jar that cannot be read"),
        ("paimon", Invalid, "contains 'paimon', which is neither a .jar nor group:artifact:version."),
    ):
        monkeypatch.setenv(connector.SETTING, named)
        with pytest.raises(kind, match=said):
            connector.configured()
        found = doctor._connectors()
        assert (found.name, found.ok, bool(found.remedy)) == ("connectors", False, True)
    jar = tmp_path / "other.jar"
    shutil.make_archive(str(jar), "zip", tmp_path)
    Path(f"{jar}.zip").rename(jar)
    monkeypatch.setenv(connector.SETTING, f" {jar} ,a.b:c_2.13:1.0-x")
    assert connector.configured() == (str(jar), "a.b:c_2.13:1.0-x")
    monkeypatch.setenv(connector.SETTING, str(jar))
    with pytest.raises(Invalid, match=r"None of the configured connectors \(.*other.jar\) reads paimon tables"):
        connector.loaded(spark.newSession(), "paimon")
