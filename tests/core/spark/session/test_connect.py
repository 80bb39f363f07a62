"""On a Spark Connect server whose workers do not see the checkout: the answers of a Spark on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from core.errors import Invalid, Unsupported
from core.execution.apply import apply
from core.model.references import MAIN
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.spark.read.removed_points import resolved
from core.spark.session import cluster, connect
from core.spark.session import session as sessions
from core.table import open_table
from tests.support.depth import sample
from tests.support.execution import ground
from tests.support.places import SMALL_TABLES
from tests.support.ports import free_port
from tests.support.spark.connect import Client, server
from tests.support.spark.iceberg_written import Written
from tests.support.spark.planned import CHANGE, NOW_MS

TABLES = SMALL_TABLES / "paimon" / "default.db"
KEYED = TABLES / "pk_tags_expired"
MERGED = "54"  # a snapshot whose files share keys


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that names a server, and no other Spark."""
    for name in ("SPARK_MASTER", "SPARK_HOME", "SNAPSCOPE_SPARK_CONF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("SPARK_REMOTE", "sc://host:15002/;token=secret")
    return monkeypatch


def test_which_place_names_the_server(variables: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sessions._merged(None) == {"spark.remote": "sc://host:15002/;token=secret"}
    (tmp_path / "spark-defaults.conf").write_text("spark.executor.memory 4g\nspark.sql.ansi.enabled false\n")
    assert sessions._merged(None) == {"spark.remote": "sc://host:15002/;token=secret"}
    assert sessions._merged({"spark.remote": "sc://other"}) == {"spark.remote": "sc://other"}
    assert sessions._merged({"spark.master": "local[1]"})["spark.master"] == "local[1]"
    assert "spark.remote" not in sessions._merged({"spark.master": "local[1]"})
    variables.setenv("SPARK_MASTER", "local[*]")
    assert "spark.remote" not in sessions._merged(None)
    variables.setenv("SNAPSCOPE_SPARK_CONF", "spark.remote=sc://chosen")
    assert sessions._merged(None) == {"spark.remote": "sc://chosen"}
    with pytest.raises(Invalid, match="both name where Spark runs"):
        sessions._merged({"spark.remote": "sc://a", "spark.master": "local[1]"})
    with pytest.raises(Unsupported, match=r"`spark.executor.memory` cannot be set for a session of sc://chosen"):
        sessions._merged({"spark.executor.memory": "4g"})


def test_a_token_is_not_shown(variables: pytest.MonkeyPatch) -> None:
    variables.setattr(sessions, "_running", None)
    assert sessions.cluster_name() == "sc://host:15002"
    assert sessions.engine_name() == "plain Spark on sc://host:15002"
    assert connect.shown("sc://host/;use_ssl=true") == "sc://host"


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("sc://host:15002;token=secret", Invalid),
        ("sc://host/token=secret", Invalid),
        ("sc:///;token=secret", Invalid),
        ("sc://host/;use_ssl=true;token=secret==", Invalid),
        ("sc://me:secret@host", Invalid),
        ("local[2]", Invalid),
        ("sc://host/;token=secret;session_id=00112233-4455-6677-8899-aabbccddeeff", Unsupported),
    ],
)
def test_an_address_that_cannot_be_used_shows_no_token(
    variables: pytest.MonkeyPatch, address: str, error: type[Exception]
) -> None:
    variables.setenv("SPARK_REMOTE", address)
    with pytest.raises(error) as refused:
        sessions._merged(None)
    assert "secret" not in str(refused.value)
    assert "secret" not in connect.shown(address)


@pytest.mark.parametrize(
    "address", ["sc://host", "sc://host/", "sc://[::1]:15002/;use_ssl=true", "sc://a.b-c_d:1/;token=a%3D"]
)
def test_an_address_that_can_be_used(variables: pytest.MonkeyPatch, address: str) -> None:
    variables.setenv("SPARK_REMOTE", address)
    assert sessions._merged(None) == {"spark.remote": address}
    assert connect.shown(address) == address.partition("/;")[0].rstrip("/")


class Fake:
    """A session of a server; `dead` ones have been ended by it."""

    def __init__(self) -> None:
        self.dead = False
        self.client = SimpleNamespace(release_session=lambda: setattr(self, "dead", True))

    @property
    def version(self) -> str:
        if self.dead:
            raise ConnectionError("closed")
        return "4"


def test_only_a_session_that_ended_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Fake] = []

    def opened(_server: connect.Server, _checker: object) -> Fake:
        made.append(Fake())
        return made[-1]

    monkeypatch.setattr(connect.Server, "_opened", opened)
    server: Any = connect.Server("sc://host", {}, {})
    checker: Any = object()
    assert server.model(checker) is server.model(checker) is made[0]
    made[0].dead = True
    assert server.model(checker) is server.model(checker) is made[1]
    server.close()
    assert made[1].dead
    assert len(made) == 2


def test_a_server_that_does_not_let_go_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "_RELEASE_S", 0.01)
    held = threading.Event()
    connect.release(SimpleNamespace(client=SimpleNamespace(release_session=held.wait)))
    held.set()


def test_settings_that_the_server_gets() -> None:
    asked = {"spark.remote": "sc://host", "spark.sql.ansi.enabled": "true", "spark.driver.memory": "1g"}
    settings = sessions._complete(asked)
    assert "spark.remote" not in settings
    given = connect.Server("sc://host", settings, asked)._settings
    assert given["spark.sql.session.timeZone"] == "UTC"
    assert given["spark.sql.ansi.enabled"] == "true"
    assert not {name for name in given if not name.startswith("spark.sql.")}
    assert "spark.sql.shuffle.partitions" not in given
    catalog = {"spark.sql.catalog.prod.credential": "id:secret"}
    assert not connect.Server("sc://host", settings | catalog, asked)._settings.keys() & catalog.keys()


def test_variables_reach_what_imports_our_code(tmp_path: Path) -> None:
    path = cluster.zipped(tmp_path, {"AWS_REGION": "here", "AWS_ACCESS_KEY_ID": "'\"\\"})
    content = zipfile.ZipFile(path).read("core/__init__.py").decode()
    theirs = {"PYTHONPATH": str(path), "AWS_REGION": "there", "AWS_SESSION_TOKEN": "theirs", "OSS_ENDPOINT": "kept"}
    body = "import core, json, os; print(json.dumps({**os.environ}))"
    run = [sys.executable, "-S", "-c", body]
    said = subprocess.run(run, env=theirs, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(said.stdout)
    assert (found["AWS_REGION"], found["AWS_ACCESS_KEY_ID"], found["OSS_ENDPOINT"]) == ("here", "'\"\\", "kept")
    assert "AWS_SESSION_TOKEN" not in found, "a token of theirs does not go with a key of ours"
    assert "AWS_REGION" in content


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n\tdetails = "failed '
            'to connect: Connection refused"\n\tdebug_error_string = "x"\n>',
            "sc://host does not answer: failed to connect: Connection refused.",
        ),
        (
            '<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAUTHENTICATED\n\tdetails = '
            '"no token"\n>',
            "sc://host refused: no token.",
        ),
        (
            "[INVALID_HANDLE.SESSION_CLOSED] The handle 1 is invalid. Session was closed. SQLSTATE: HY000",
            "sc://host ended this session: The handle 1 is invalid. Session was closed.",
        ),
    ],
)  # fmt: skip
def test_what_a_failure_of_a_server_means(text: str, says: str) -> None:
    found = cluster.failure(text, "sc://host")
    assert found is not None
    assert found.message == says
    assert "Check the server's address" in str(found.remedy)


# ------------------------------------------------------------------------------------------------- real processes


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("connect")
    with server(folder / "server") as address, Client(address, folder / "client") as asks:
        yield asks


def same(spark: SparkSession, client: Client, table: Path, sql: str, **more: Any) -> None:
    """Both give the same rows and types, or the same error."""
    said = client.ask(table, sql=sql, **more)
    assert "error" not in said, said
    found = query(open_table(str(table)), sql, **more)
    assert said["rows"] == sorted(map(repr, found.table.to_pylist()))
    assert said["types"] == list(map(str, found.table.schema.types))
    assert said["engine"].startswith("plain Spark on sc://127.0.0.1:")


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(sorted(path.name for path in TABLES.iterdir()), 3))
def test_paimon_tables_have_the_same_rows(spark: SparkSession, client: Client, name: str) -> None:
    same(spark, client, TABLES / name, "select * from t")


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) as n, count(distinct id) as ids, sum(n) from t where id > 17",
        "select a.id, b.n from t a left join t_before b on a.id = b.id where a.v is not null",
        "select `Record_Count`, level from (select record_count, level from `t$files`)",
        "select rowkind, count(*) from `t$audit_log` group by 1",
        "select current_timezone(), timestamp'2026-01-01 10:00:00', timestamp_ntz'2026-01-01 10:00:00'",
        "select interval '1' month as a, interval '2' day as b, array(null) as c, null as d, 1.50BD as e, 'x' as f",
        "select parse_json('{\"k\": [1, null]}') as a, map('k', parse_json('1')) as b, time'10:00:00' as c, x'00ff'",
        "select id as a, n as a from t",
    ],
)
def test_statements_have_the_same_answers(spark: SparkSession, client: Client, sql: str) -> None:
    more = {"before": MERGED} if "t_before" in sql else {}
    same(spark, client, KEYED, sql, at=MERGED, **more)


@pytest.mark.slow
def test_iceberg_rows_with_deletes(spark: SparkSession, client: Client, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "v", "string")])
    first, second = (table.data({"id": [at, at + 1], "v": ["a", "b"]}) for at in (1, 3))
    table.commit(first, second)
    table.commit(table.positions([(first, 1)]), table.equality({"id": [3]}))
    same(spark, client, table.root, "select * from t")
    same(spark, client, table.root, "select count(*) from t", at="1")


@pytest.mark.slow
def test_what_is_refused_here_is_refused_there(client: Client) -> None:
    for sql, says in {
        "select * from secret": "`secret` is not an opened table",
        "select * from parquet.`/etc`": "`parquet./etc` is not an opened table",
        "select java_method('java.lang.System', 'exit', 0)": "rejected",
        "select 1 / 0 from t": "Division by zero",  # the server was started without ANSI
        "select nothing from t": "nothing",
    }.items():
        said = client.ask(KEYED, sql=sql)
        assert says in said["message"], said


@pytest.mark.slow
def test_versions_are_compared(spark: SparkSession, client: Client) -> None:
    table = open_table(str(KEYED))
    history = table.history()
    found = row_diff(table, history, *(resolved(table, history.heads, each, MAIN) for each in (MERGED, "latest")))
    said = client.ask(KEYED, diff=[MERGED, "latest"])
    assert said["counts"] == [found.added, found.removed, found.changed, found.unchanged]


@pytest.mark.slow
def test_metadata_is_read_there(client: Client) -> None:
    said = client.ask(KEYED, plan=True)
    assert said.get("equal"), said
    assert said["parts"] > 1
    assert said["frees"] > 20


@pytest.mark.slow
def test_what_it_says_is_deleted_here(client: Client, tmp_path: Path) -> None:
    root, other = tmp_path / "t", tmp_path / "other"
    shutil.copytree(KEYED, root)
    orphan = root / "bucket-0" / f"data-{uuid.UUID(int=1)}-0.parquet"
    orphan.write_bytes(b"rows")
    os.utime(orphan, (0, 0))
    shutil.copytree(root, other)
    said = client.ask(root, clean=True)
    assert said["CleanOrphans"] == ["done", [f"bucket-0/{orphan.name}"]], said
    whole = open_table(str(other))
    expected = apply(whole, whole.preview(CHANGE, NOW_MS), settle_s=0)
    assert said["Expire"] == ["done", sorted(expected.deleted)]
    assert ground.disk(other) - ground.disk(root) == {f"bucket-0/{orphan.name}"}
    assert ground.disk(root) <= ground.disk(other)


@pytest.mark.slow
def test_what_connect_cannot_do_says_what_can(client: Client) -> None:
    said = client.ask(KEYED, append=True)
    assert said["error"] == "Unsupported"
    assert "cannot write to the disk of this machine" in said["message"]
    assert "SPARK_MASTER=local[*]" in said["remedy"]
    said = client.ask(KEYED, sql="select 1 from t", engine="connector")
    assert said["error"] == "Unsupported"
    assert "SPARK_MASTER" in said["remedy"]


@pytest.mark.slow
def test_a_stopped_query_leaves_the_server_free(client: Client) -> None:
    slow = f"{'sin(cos(tan(' * 6}id{')))' * 6}"  # for minutes on any machine
    said = client.ask(KEYED, sql=f"select sum({slow}) from range(1000000000)", timeout_s=8)
    assert "stopped after 8 s" in said["message"], said
    assert client.ask(KEYED, sql="select count(*) as n from t", at=MERGED)["rows"] == ["{'n': 300}"]


@pytest.mark.slow
def test_a_server_that_died_is_named_and_used_again(tmp_path: Path) -> None:
    address, asked = f"sc://127.0.0.1:{(port := free_port())}", {"sql": "select count(*) as n from t", "at": MERGED}
    with Client(address, tmp_path / "client") as client:
        with server(tmp_path / "one", port):
            assert client.ask(KEYED, **asked)["rows"] == ["{'n': 300}"]
        said = client.ask(KEYED, **asked)
        assert said["message"].startswith(f"{address} does not answer")
        assert "Check the server's address" in said["remedy"]
        with server(tmp_path / "two", port):
            assert client.ask(KEYED, **asked)["rows"] == ["{'n': 300}"]
