"""A real S3 server: tables open, plan and change there as on the local disk, with few requests and through faults."""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from core.errors import Corrupt, SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import resume
from core.model.actions import Expire
from core.model.references import Line
from core.spark.metadata import table as on_spark
from core.storage.store import Store
from core.table import open_table
from tests.engines import s3_server
from tests.engines.java import Missing
from tests.support import command_line
from tests.support.builders import TableBuilder
from tests.support.faulty_http import Proxy, between
from tests.support.formats.paimon.tables import REAL, four_commits
from tests.support.places import TABLES

ODD = ("a b", "50%25", "100%", "ümlaut", "表", "x#y", "x?y", "x+y=z", "tilde~", "two  spaces", "x&y;z")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Path]]:
    """A proxy of the server, and the directory that is its bucket."""
    base = tmp_path_factory.mktemp("s3")
    try:
        with s3_server.running(base) as url, between(url) as proxy:
            yield proxy, base / s3_server.BUCKET
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


@pytest.fixture
def proxy(served: tuple[Proxy, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The proxy, without faults, and this process's credentials for it."""
    found = served[0]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    found.seen.clear()
    yield found
    found.rule, found.delay_s = lambda _method, _path: None, 0.0


@pytest.fixture
def bucket(served: tuple[Proxy, Path], request: pytest.FixtureRequest) -> Path:
    """A directory of the bucket for one test."""
    return served[1] / re.sub(r"\W+", "-", request.node.name).strip("-")


def url(directory: Path) -> str:
    return f"s3://{s3_server.BUCKET}/{directory.name}"


def lines(place: str) -> tuple[Line, ...]:
    """All references of a table, read now."""
    return open_table(place).heads().lines


def slow(directory: Path) -> Store:
    """The same place through s3fs alone: the judge of the faster client."""
    found = Store(url(directory))
    found.many = None
    return found


def test_both_clients_list_and_read_the_same(proxy: Proxy, bucket: Path) -> None:
    """More names than one page of a listing holds, and directories; names that clients quote are left to s3fs."""
    bucket.mkdir()
    for number in range(1_100):
        (bucket / f"snapshot-{number}").write_bytes(b"x" * (number % 7 + 1))
    (bucket / "below").mkdir()
    for name in ODD:
        (bucket / "below" / name).write_text(name)
    fast, judge = Store(url(bucket)), slow(bucket)
    names = [entry.name for entry in judge.ls() if not entry.is_dir]
    assert len(names) == 1_100
    proxy.seen.clear()
    assert fast.ls() == judge.ls()
    assert fast.ls("below") == judge.ls("below")
    assert [entry.name for entry in judge.ls("below")] == sorted(ODD)
    assert fast.read_many(names) == judge.read_many(names)
    odd = [f"below/{name}" for name in ODD]
    assert fast.read_many(odd) == {path: path.removeprefix("below/").encode() for path in odd}
    assert (fast.ls_if_there("nowhere"), judge.ls_if_there("nowhere")) == ([], [])
    for store in (fast, judge):
        with pytest.raises(SnapscopeError, match="There is no directory"):
            store.ls("nowhere")
    found = fast.read_many(["snapshot-1", "nowhere/at-all"])
    assert found["snapshot-1"] == b"xx"
    assert isinstance(found["nowhere/at-all"], SnapscopeError)
    assert found["nowhere/at-all"].kind == "NotFound"
    assert isinstance(fast.read_many(["snapshot-6", "snapshot-0"], 3)["snapshot-6"], Corrupt)


def test_opening_asks_once_for_each_file(proxy: Proxy, bucket: Path) -> None:
    made = TableBuilder(bucket)
    for number in range(60):
        made.commit([made.file(10)], time_ms=1_767_225_600_000 + number)
    table = open_table(url(bucket))
    proxy.seen.clear()
    assert len(table.heads().lines[0].snapshots) == 60
    asked = Counter(proxy.seen)
    read = {unquote(path).rpartition("/")[2] for method, path in asked if method == "GET" and "list-type" not in path}
    assert read >= {f"snapshot-{number}" for number in range(1, 61)}
    assert [path for (_, path), times in asked.items() if times > (2 if "list-type" in path else 1)] == []
    assert not [path for method, path in asked if method == "HEAD"]
    assert sum(asked.values()) <= 60 + 12


def test_reopening_after_one_commit_reads_only_what_is_new(proxy: Proxy, bucket: Path) -> None:
    made = TableBuilder(bucket)
    store = Store(url(bucket))

    def commit(number: int) -> None:
        made.commit([made.file(10)], time_ms=1_767_225_600_000 + number)
        path = f"snapshot/snapshot-{number}"
        store.put(path, (bucket / path).read_bytes())  # through the server, which then knows its checksum

    for number in range(1, 25):
        commit(number)
    open_table(url(bucket)).history()
    commit(25)
    proxy.seen.clear()
    table = open_table(url(bucket))
    history = table.history()
    assert len(proxy.seen) < 20
    read = {unquote(path).rpartition("/")[2] for method, path in proxy.seen if method == "GET"}
    assert "snapshot-25" in read
    assert "snapshot-24" not in read
    assert history.heads.lines == lines(str(bucket))
    assert not history.incomplete
    store.put("snapshot/snapshot-24", store.read("snapshot/snapshot-24") + b" ")
    assert lines(url(bucket)) == lines(str(bucket))
    proxy.seen.clear()
    table.heads(patience_s=0.1)  # as a change reads them
    assert {"snapshot-1", "snapshot-24"} <= {path.rpartition("/")[2] for _, path in proxy.seen}


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_the_same_as_on_the_local_disk(name: str, proxy: Proxy, bucket: Path) -> None:
    source = TABLES / "paimon/default.db" / name
    shutil.copytree(source, bucket)
    assert lines(url(bucket)) == lines(str(source))
    plans = [
        command_line.run("plan", "expire", place, "--retain-max", 1, "--retain-min", 1, "--older-than",
                         "2100-01-01T00:00Z", "--now", "2100-01-01T00:00Z", "--json")
        for place in (source, url(bucket))
    ]  # fmt: skip
    (status, local), (status_there, remote) = plans
    assert status == status_there
    if status == 0:
        same = ("headline", "points", "frees", "freed_bytes", "kept_bytes")
        assert {name: remote[name] for name in same} == {name: local[name] for name in same}
        assert remote["warning_codes"] == local["warning_codes"]
        assert remote["points"]


def broken(proxy: Proxy, fault: int | str, every: int, part: str) -> None:
    counted = Counter[str]()

    def rule(method: str, path: str) -> int | str | None:
        if method != "GET" or part not in path or "list-type" in path:
            return None
        counted["all"] += 1
        return fault if counted["all"] % every == 0 else None

    proxy.rule = rule


@pytest.mark.parametrize("fault", [503, "reset", "truncate"])
def test_passing_faults_change_no_answer(fault: int | str, proxy: Proxy, bucket: Path) -> None:
    made = TableBuilder(bucket)
    for number in range(40):
        made.commit([made.file(10)], time_ms=1_767_225_600_000 + number)
    expected = lines(str(bucket))
    broken(proxy, fault, 5, "snapshot-")
    assert lines(url(bucket)) == expected


def test_what_may_not_be_read_is_unreadable_and_not_absent(proxy: Proxy, bucket: Path) -> None:
    four_commits(bucket)
    proxy.rule = lambda _method, path: 403 if path.endswith("/snapshot-2") else None
    line = lines(url(bucket))[0]
    assert [each.id for each in line.snapshots] == [1, 3, 4]
    assert [(each.kind, each.name) for each in line.unreadable] == [("snapshot", "2")]


def test_a_file_that_is_not_answered_takes_no_other_away(
    proxy: Proxy, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    four_commits(bucket)
    store = Store(url(bucket))
    names = [f"snapshot/snapshot-{number}" for number in (1, 2, 3, 4)]
    assert all(isinstance(content, bytes) for content in store.read_many(names).values())
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "4")
    hung = threading.Event()

    def hang(_method: str, path: str) -> None:
        if path.endswith("/snapshot-2"):
            hung.wait(60)

    proxy.rule = hang
    began = time.monotonic()
    found = store.read_many(names)
    hung.set()
    assert "did not answer within 4 s" in str(found.pop("snapshot/snapshot-2"))
    assert all(isinstance(content, bytes) for content in found.values())
    assert time.monotonic() - began < 40


def test_a_named_warehouse_is_opened_and_queried(
    proxy: Proxy, bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in the environment leads to the store: only the settings file does, also in tasks of Spark."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name)
    shutil.copytree(TABLES / "paimon" / "default.db" / REAL[0], bucket / "shop.db" / "t")
    secret = tmp_path / "secret"
    secret.write_text(s3_server.SECRET)
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        f"[warehouse.lake]\nlocation = '{url(bucket)}'\nendpoint = '{proxy.backend}'\nregion = 'us-east-1'\n"
        f"access-key = '{s3_server.KEY}'\nsecret-key = {{ file = '{secret}' }}\n"
    )
    monkeypatch.chdir(tmp_path)
    counting = "select count(*) as n from t"
    _, there = command_line.run("query", "lake/shop.db/t", counting, "--json")
    _, here = command_line.run("query", TABLES / "paimon" / "default.db" / REAL[0], counting, "--json")
    assert there["rows"] == here["rows"]
    assert there["rows"][0]["n"] > 0
    secret.write_text("another")
    status, refused = command_line.run("snapshots", "lake/shop.db/t", "--json")
    assert status == 1
    assert s3_server.SECRET not in str(refused)


def test_a_catalogs_own_settings_reach_its_tables(
    proxy: Proxy, bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in the environment leads to the store: only the catalog's s3.* properties do."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name)
    settings = {
        "type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": url(bucket),
        "s3.endpoint": proxy.backend, "s3.access-key-id": s3_server.KEY,
        "s3.secret-access-key": s3_server.SECRET, "s3.region": "us-east-1",
    }  # fmt: skip
    with load_catalog("shelf", **settings) as catalog:
        catalog.create_namespace("ns")
        table = catalog.create_table("ns.t", pa.schema([("a", pa.int64())]))
        table.append(pa.table({"a": [1, 2]}))
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__SHELF__{name.upper().replace('.', '__').replace('-', '_')}", value)
    opened = open_table("iceberg://shelf/ns/t")
    assert len(opened.heads().main.snapshots) == 1
    assert not opened.history().incomplete


@pytest.mark.usefixtures("spark")
def test_a_deletion_on_spark_whose_store_fails_is_resumed(proxy: Proxy, bucket: Path, tmp_path: Path) -> None:
    """The store refuses tasks of Spark once references are deleted: no file is."""
    four_commits(bucket)
    secret = tmp_path / "secret"
    secret.write_text(s3_server.SECRET)
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(  # tasks of a Spark that runs do not see new variables
        f"[warehouse.lake]\nlocation = 's3://{s3_server.BUCKET}'\nendpoint = '{proxy.url}'\nregion = 'us-east-1'\n"
        f"access-key = '{s3_server.KEY}'\nsecret-key = {{ file = '{secret}' }}\n"
    )
    table = on_spark.open_table(url(bucket))
    change = Expire(retain_max=1, retain_min=1, drop_tags=("v",))
    plan = table.preview(change, 1_790_000_000_000, table.summary(table.heads(), change))
    frees = set(plan.frees["path"].to_pylist())

    def fails(_method: str, path: str) -> int | None:
        return 403 if re.search("prefix=[^&]*%2Fbucket-0", path) else None  # only tasks list it

    with pytest.raises(Corrupt, match="bucket-0"):
        apply(table, plan, settle_s=0.01, waits=lambda _: setattr(proxy, "rule", fails))
    run = Journal().open_run(url(bucket))
    assert run is not None
    assert all((bucket / path).exists() for path in frees if "bucket-0" in path or "manifest/" in path)
    proxy.rule = lambda _method, _path: None
    receipt = resume(run.id, open_table=lambda _: table, settle_s=0)
    table.close()
    assert (receipt.outcome, receipt.is_exact) == ("done", True)
    assert not [path for path in frees if (bucket / path).exists()]
