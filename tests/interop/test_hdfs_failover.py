"""Two NameNodes of one nameservice, one of which takes over from the other: reads and changes go on, by Hadoop's own
protocol and over HTTP. An answer that is lost is settled by reading."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import Conflict, Corrupt, NotFound
from core.execution.apply import apply
from core.model.actions import CreateTag, Expire
from core.storage.store import Store
from core.table import open_table
from tests.engines import hdfs_server
from tests.engines.hdfs_server import NAMESERVICE, Pair
from tests.engines.java import Missing
from tests.support.formats.paimon.tables import four_commits
from tests.support.lost_answers import Relay, relaying

pytestmark = [pytest.mark.slow, pytest.mark.engines, pytest.mark.hdfs]
SCHEMES = ("hdfs", "webhdfs")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HADOOP_USER_NAME", hdfs_server.USER)
        try:
            with hdfs_server.running_pair(tmp_path_factory.mktemp("hdfs")) as found:
                yield found
        except Missing as lack:
            pytest.skip(f"engines: {lack}")


@pytest.fixture(autouse=True)
def known(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients find the NameNodes, of which the first is active."""
    pair.fail_over(0)
    settle(pair.settings, tmp_path, monkeypatch)


def settle(settings: Mapping[str, str], directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write settings as distributions do, with line breaks and variables."""
    named = {"the.service": NAMESERVICE} | {
        key: value.replace(NAMESERVICE, "${the.service}").replace(",", " ,\n ") for key, value in settings.items()
    }
    lines = [f"<property><name>{key}</name>\n<value>\n{value}</value></property>" for key, value in named.items()]
    (directory / "hdfs-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(directory))


@pytest.fixture(params=SCHEMES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    user = f"{hdfs_server.USER}@" if request.param == "webhdfs" else ""
    return f"{request.param}://{user}{NAMESERVICE}/lake/{tmp_path.name}"


def test_reads_and_changes_go_on(pair: Pair, place: str) -> None:
    store = Store(place)
    store.create("a", b"1")
    pair.fail_over(1)
    assert store.read("a") == b"1"
    assert [entry.name for entry in store.ls()] == ["a"]
    pair.fail_over(0)
    store.create("b", b"2")
    with pytest.raises(Conflict):
        store.create("a", b"other")
    pair.fail_over(1)
    store.put("b", b"3")
    assert store.delete("a")
    assert [(entry.name, store.read(entry.name)) for entry in store.ls()] == [("b", b"3")]
    assert store.url("b").endswith(f"//{NAMESERVICE}/{store.root.strip('/')}/b")
    with pytest.raises(NotFound):
        store.read("a")


def test_a_call_waits_until_a_name_node_is_active(pair: Pair, place: str) -> None:
    store = Store(place)
    store.create("a", b"1")
    pair.tell("standby", 0)
    later = threading.Timer(0.5, pair.tell, ("active", 1))
    later.start()
    store.create("b", b"2")
    later.join()
    assert store.read("a") + store.read("b") == b"12"


def test_no_active_name_node_is_an_error_that_says_so(pair: Pair, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.storage.hdfs.web._PAUSES_S", (0.0, 0.1))
    monkeypatch.setattr("core.storage.hdfs.hadoop_settings._ROUNDS", 1)
    pair.tell("standby", 0)
    with pytest.raises(Corrupt, match=f"No NameNode of {NAMESERVICE} is active") as told:
        Store(place).read("a")
    assert "haadmin" in str(told.value)
    assert "org.apache" not in str(told.value)


def test_a_table_is_changed_although_the_active_name_node_dies(pair: Pair, place: str, tmp_path: Path) -> None:
    four_commits(tmp_path / "t")
    store, files = Store(place), [each for each in (tmp_path / "t").rglob("*") if each.is_file()]
    with ThreadPoolExecutor(16) as pool:  # HDFS takes 0.4 s for a file
        list(pool.map(lambda each: store.put(each.relative_to(tmp_path).as_posix(), each.read_bytes()), files))
    table = open_table(f"{place}/t")
    plan = table.preview(Expire(retain_max=2, retain_min=1), int(time.time() * 1000))
    try:
        pair.tell("stop", 0)
        pair.tell("active", 1)
        assert apply(table, plan, settle_s=0).is_exact
        apply(table, table.preview(CreateTag("mine"), int(time.time() * 1000)), settle_s=0)
        assert [entry.name for entry in Store(f"{place}/t").ls("tag")] == ["tag-mine", "tag-v"]
    finally:
        pair.tell("start", 0)


@pytest.fixture
def relays(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Relay, Relay]]:
    """Clients of the own protocol reach both NameNodes through relays."""
    first, second = pair.nodes
    with relaying(first.native) as one, relaying(second.native) as two:
        addresses = {first.native: one.address, second.native: two.address}
        settle({key: addresses.get(value, value) for key, value in pair.settings.items()}, tmp_path, monkeypatch)
        yield one, two


@pytest.mark.parametrize("request_name", [b"create", b"complete", b"rename2"])
def test_a_write_whose_answer_was_lost_is_settled(
    relays: tuple[Relay, Relay], tmp_path: Path, request_name: bytes
) -> None:
    store = Store(f"hdfs://{NAMESERVICE}/lake/{tmp_path.name}")
    relays[0].lose(request_name)
    store.create("a", b"ours")
    assert relays[0].lost == [request_name]
    relays[0].lose(b"rename2")
    with pytest.raises(Conflict):
        store.create("a", b"ours")
    relays[0].lose(request_name)
    store.put("a", b"new")
    assert len(relays[0].lost) == 3
    assert [(entry.name, store.read(entry.name)) for entry in store.ls()] == [("a", b"new")]


def test_a_taken_name_stays_taken_if_the_answer_to_tidying_up_is_lost(
    relays: tuple[Relay, Relay], tmp_path: Path
) -> None:
    """That the temporary file is gone does not show that it was renamed."""
    store = Store(f"hdfs://{NAMESERVICE}/lake/{tmp_path.name}")
    store.create("a", b"theirs")
    relays[0].lose(b"delete")
    with pytest.raises(Conflict):
        store.create("a", b"theirs")
    assert relays[0].lost == [b"delete"]
    assert [(entry.name, store.read(entry.name)) for entry in store.ls()] == [("a", b"theirs")]


def test_a_deletion_whose_answer_was_lost_is_done(relays: tuple[Relay, Relay], tmp_path: Path) -> None:
    store = Store(f"hdfs://{NAMESERVICE}/lake/{tmp_path.name}")
    store.create("a", b"ours")
    relays[0].lose(b"delete")
    assert store.delete("a")
    assert store.ls() == []


@contextmanager
def silent() -> Iterator[str]:
    """The address of a machine that does not answer: the queue of its connections is full."""
    with socket.socket() as server, socket.socket() as one, socket.socket() as two:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for each in (one, two):
            each.setblocking(False)
            each.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_name_node_that_does_not_answer_holds_nothing_up(
    pair: Pair, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody refuses the connection: the machine is off."""
    Store(place).create("a", b"1")
    monkeypatch.setattr("core.storage.hdfs.web._CONNECT_S", 1.0)
    monkeypatch.setattr("core.storage.hdfs.hadoop_settings._REACHED_S", 1.0)
    pair.fail_over(1)
    with silent() as address:
        dead = {pair.nodes[0].native: address, pair.nodes[0].http: address}
        settle({key: dead.get(value, value) for key, value in pair.settings.items()}, tmp_path, monkeypatch)
        begun = time.monotonic()
        assert Store(place).read("a") == b"1"
        assert time.monotonic() - begun < 10
