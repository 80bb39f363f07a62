"""What every store that takes changes must do, on a real server of each: one contract."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import CreateTag, DeleteTags, Expire, Truncate
from core.storage import listings
from core.storage.file_systems import version_of
from core.storage.store import Store
from core.table import open_table
from tests.engines import store_servers
from tests.engines.java import Missing
from tests.support.depth import sample
from tests.support.execution import ground
from tests.support.faulty_http import Proxy, between, throttling
from tests.support.formats.paimon.tables import four_commits
from tests.support.places import SMALL_TABLES

NAMES = ("a b", "50%25", "100%", "ümlaut", "表", "x+y=z", "x&y;z")
NEEDS = {"azure": "azurite", "gcs": "fake_gcs", "hdfs": "hdfs", "webhdfs": "hdfs", "moto": "moto",
         "seaweedfs": "seaweedfs"}  # fmt: skip
TAG = "tag/tag-v"
CHANGES: Mapping[str, Callable[[Store, bytes], object]] = {
    "replace": lambda store, planned: store.put(TAG, b"ours", planned),
    "delete": lambda store, planned: store.delete(TAG, planned),
    "delete together": lambda store, planned: (
        store.delete_together({TAG: planned}) if store.deletes_together else store.delete(TAG, planned)
    ),
}
IGNORES = {"gcs": {"delete", "delete together"}, "moto": {"delete together"}}  # conditions that are not looked at
PAIMON, ICEBERG = SMALL_TABLES / "paimon" / "default.db", SMALL_TABLES / "iceberg" / "pyiceberg"
KEEP_ONE = Expire(retain_max=1, retain_min=1)


@pytest.fixture(
    scope="module",
    params=[
        "local",
        "s3",
        "oss",
        pytest.param("hdfs", marks=pytest.mark.hdfs),
        pytest.param("webhdfs", marks=pytest.mark.hdfs),
        pytest.param("azure", marks=pytest.mark.azurite),
        pytest.param("gcs", marks=pytest.mark.fake_gcs),
        pytest.param("moto", marks=pytest.mark.moto),
        pytest.param("seaweedfs", marks=pytest.mark.seaweedfs),
    ],
)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, str]]:
    """A proxy of a store's server, and the location of its bucket."""
    kind: str = request.param

    try:
        with (
            store_servers.KINDS[kind](tmp_path_factory.mktemp(kind)) as server,
            between(server.url) as proxy,
            pytest.MonkeyPatch.context() as environment,
        ):
            for name, value in server.leads(proxy.url).items():
                environment.setenv(name, value)
            yield proxy, server.prefix.format(host=urlsplit(proxy.url).netloc)
    except Missing as lack:
        pytest.skip(f"{NEEDS.get(kind, 'engines')}: {lack}")


@pytest.fixture
def proxy(served: tuple[Proxy, str]) -> Iterator[Proxy]:
    """The proxy, without faults."""
    yield served[0]
    served[0].rule = lambda _method, _path: None


@pytest.fixture
def ignores(served: tuple[Proxy, str], request: pytest.FixtureRequest) -> set[str]:
    """Changes that this server makes although another writer has changed the object."""
    known: set[str] = IGNORES.get(request.node.callspec.params["served"], set())
    return known if Store(served[1]).guarantees.compares else set(CHANGES)


@pytest.fixture
def place(served: tuple[Proxy, str], request: pytest.FixtureRequest) -> str:
    """A location for one test."""
    return f"{served[1]}/{request.node.originalname}"


def uploaded(directory: Path, place: str) -> str:
    store = Store(place)
    with ThreadPoolExecutor(16) as pool:  # HDFS takes 0.4 s for a file
        list(pool.map(lambda path: store.put(path, (directory / path).read_bytes()), sorted(ground.disk(directory))))
    return place


def content(place: str) -> dict[str, bytes]:
    """Every file of a location."""
    return _below(Store(place), "")


def _below(store: Store, below: str) -> dict[str, bytes]:
    found = dict[str, bytes]()
    entries = [(f"{below}/{entry.name}".lstrip("/"), entry.is_dir) for entry in store.ls_if_there(below)]
    for path in (path for path, is_dir in entries if is_dir):
        found |= _below(store, path)
    for path, data in store.read_many([path for path, is_dir in entries if not is_dir]).items():
        assert isinstance(data, bytes), path
        found[path] = data
    return found


@pytest.mark.parametrize("answer", [404, (200, [("Content-Type", "application/json")], b"{}")])
def test_tags_that_a_store_does_not_list_are_not_taken_for_none(
    proxy: Proxy, place: str, tmp_path: Path, answer: Any
) -> None:
    if not place.startswith(("gs:", "abfs:", "s3:", "oss:")) or (answer != 404 and not place.startswith("gs:")):
        assert Store(place).ls_if_there("nowhere") == []  # there, a missing directory is answered so
        return
    four_commits(tmp_path / "t")
    table = open_table(uploaded(tmp_path / "t", f"{place}-{answer == 404}"))
    proxy.rule = lambda method, path: answer if method == "GET" and re.search("prefix=[^&]*tag", path) else None
    with pytest.raises(Corrupt, match="can be listed" if answer == 404 else "not a listing"):
        table.preview(KEEP_ONE, ground.LATE_MS)


def test_names_are_written_listed_and_read(place: str) -> None:
    store = Store(place)
    for name in NAMES:
        store.create(f"below/{name}", name.encode())
    assert [entry.name for entry in store.ls("below")] == sorted(NAMES)
    assert store.read_many([f"below/{name}" for name in NAMES]) == {f"below/{name}": name.encode() for name in NAMES}
    for name in NAMES:
        assert store.delete(f"below/{name}")
    assert store.ls_if_there("below") == []
    assert store.size("below/a b") is None


def test_many_directories_are_listed_as_each_is(place: str) -> None:
    store, directories = Store(f"{place}-many"), [f"d/dt={number}%3A é" for number in range(40)]
    paths = [f"{each}/{name}" for each in directories for name in ("f", "in ner/f")]
    store.make_dirs(path.rpartition("/")[0] for path in paths)
    store.each(paths, lambda path: store.put(path, path.encode()))
    expected = {each: store.ls_if_there(each) for each in directories}
    assert [[entry.name for entry in found] for found in expected.values()] == [["f", "in ner"]] * 40
    assert listings.of(store, directories) == expected


def test_no_name_leads_to_another_object(place: str) -> None:
    store = Store(place)
    store.put("below/live", b"live")
    for name in ("live?versionid=1", "live?versionId=1", "li\tve", "live\n", "live?", "live#", "a?b#live"):
        for ask in (store.read, store.size):
            with contextlib.suppress(NotFound, Unsupported, Corrupt):
                assert not ask(f"below/{name}")
        with contextlib.suppress(SnapscopeError):
            store.delete(f"below/{name}")
        assert store.read("below/live") == b"live"


def test_of_eight_creates_one_wins(place: str) -> None:
    outcomes: list[str] = []

    def create(number: int) -> None:
        try:
            Store(place).create("tag/tag-v", f"{number}".encode())
        except Conflict:
            outcomes.append("taken")
        else:
            outcomes.append(f"{number}")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [each for each in outcomes if each != "taken"]
    assert len(outcomes) == 8
    assert Store(place).read("tag/tag-v") == winner.encode()


def test_an_answer_that_is_lost_is_found_out_by_reading(place: str, proxy: Proxy) -> None:
    """An identical object of another writer is not ours; where nothing was written, it is an error."""
    lost: list[str] = []

    def lose_one(method: str, path: str) -> str | None:
        if method in ("PUT", "POST") and len(lost) < 1:
            lost.append(path)
            return "lose"
        return None

    proxy.rule = lose_one
    Store(place).create("tag/tag-v", b"ours")
    assert lost or not proxy.backend
    proxy.rule = lambda _method, _path: None
    with pytest.raises(Conflict):
        Store(place).create("tag/tag-v", b"ours")
    lost.clear()
    proxy.rule = lose_one
    Store(place).put("tag/tag-v", b"replaced")
    assert Store(place).read("tag/tag-v") == b"replaced"
    proxy.rule = lambda method, _path: 403 if method in ("PUT", "POST") else None
    if proxy.backend:
        with pytest.raises(Corrupt, match="could not write"):
            Store(place).create("tag/tag-w", b"ours")
    assert "tag/tag-w" not in content(place)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("theirs", [b"theirs", None])
def test_what_another_writer_changes_after_our_read_is_kept_where_the_server_compares(
    place: str, ignores: set[str], change: str, theirs: bytes | None
) -> None:
    store, other = Store(place), Store(place)
    store.put(TAG, b"planned")
    planned = store.read(TAG)
    together = store.read_many([TAG, "tag/tag-w"])[TAG]
    assert isinstance(together, bytes)
    assert version_of(planned) == version_of(together)
    assert (version_of(planned) is not None) == store.guarantees.compares
    other.delete(TAG) if theirs is None else other.put(TAG, theirs)
    is_alone = change == "delete together" and store.deletes_together  # what is refused is asked again one by one
    is_refused = not is_alone and (change == "replace" or theirs is not None)
    with pytest.raises(Conflict) if is_refused and change not in ignores else nullcontext():
        CHANGES[change](store, planned)
    assert content(place).get(TAG) == ((b"ours" if change == "replace" else None) if change in ignores else theirs)
    store.delete(TAG)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_lost", [False, True])
def test_what_is_unchanged_is_changed_by_one_request_and_found_out_if_its_answer_is_lost(
    place: str, proxy: Proxy, change: str, is_lost: bool
) -> None:
    def lose(method: str, path: str) -> str | None:
        if method not in ("PUT", "POST", "DELETE") or len(proxy.seen) > 2:
            return None
        return "lose"

    store = Store(place)
    store.put(TAG, b"planned")
    proxy.seen.clear()
    planned = store.read(TAG)
    proxy.rule = lose if is_lost else proxy.rule
    CHANGES[change](store, planned)
    if store.guarantees.compares:
        assert (len(proxy.seen) > 2) == is_lost
    proxy.rule = lambda _method, _path: None
    assert content(place).get(TAG) == (b"ours" if change == "replace" else None)
    store.delete(TAG)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_the_store_refuses_is_an_error_and_no_conflict(place: str, proxy: Proxy, change: str) -> None:
    store = Store(place)
    store.put(TAG, b"planned")
    planned = store.read(TAG)
    proxy.rule = lambda method, _path: 403 if method in ("PUT", "POST", "DELETE") else None
    is_left = change == "delete together" and store.deletes_together  # to single requests
    with pytest.raises(Corrupt, match=r"403|Forbidden|Permission") if proxy.backend and not is_left else nullcontext():
        CHANGES[change](store, planned)
    proxy.rule = lambda _method, _path: None
    if proxy.backend:
        assert store.read(TAG) == b"planned"
    store.delete(TAG)


def test_a_life(place: str, proxy: Proxy, tmp_path: Path) -> None:
    """Tag, expire and stop, undo, expire, delete the tag: on every store as on a local disk, also when throttled."""
    four_commits(tmp_path / "t")
    uploaded(tmp_path / "t", place)
    table, before = open_table(place), content(place)
    apply(table, table.preview(CreateTag("w", 3), ground.LATE_MS), settle_s=0)
    tagged = content(place)
    assert tagged.keys() - before.keys() == {"tag/tag-w"}
    stopped = apply(table, table.preview(KEEP_ONE, ground.LATE_MS), settle_s=0, cancelled=lambda: True)
    assert stopped.outcome == "cancelled"
    assert "snapshot/snapshot-1" not in content(place)
    recovery.undo(stopped.run, open_table=open_table)
    assert {path: data for path, data in content(place).items() if "/E" not in path and "/L" not in path} == {
        path: data for path, data in tagged.items() if "/E" not in path and "/L" not in path
    }
    # Azure's client waits 15 s before it asks again.
    proxy.rule = throttling() if place.startswith(("s3:", "gs:")) else proxy.rule
    assert apply(table, table.preview(KEEP_ONE, ground.LATE_MS), settle_s=0).is_exact
    receipt = apply(table, table.preview(DeleteTags(("v", "w")), ground.LATE_MS), settle_s=0)
    assert receipt.is_exact
    left = content(place)
    assert not [path for path in left if "tag-" in path or "snapshot.tmp" in path or ".snapscope" in path]
    assert [snapshot.id for snapshot in open_table(place).heads().main.snapshots] == [4]
    assert not open_table(place).history().incomplete


def test_shared_tables_answer_as_on_disk(place: str) -> None:
    """Real tables of both formats: what every point holds, and what an expiry reclaims."""
    real = sample(sorted(path.name for path in PAIMON.iterdir()), 4)
    names = ["branches"] if place.startswith(("hdfs:", "webhdfs:")) else real
    roots = [*(PAIMON / name for name in names), ICEBERG / "tags_branches"]
    assert len(roots) >= 2
    for root in roots:
        found = answers(uploaded(root, f"{place}/{root.name}"))
        assert found == answers(str(root)), root.name
        assert all(found), root.name


def answers(location: str) -> tuple[dict[str, list[Any]], list[Any]]:
    """Return the files of every point, and what keeping one snapshot reclaims: path, size and what else is known."""
    table = open_table(location)
    history = table.history()
    assert not history.incomplete
    points = {
        holder.point: history.files_at(position).sort_by("path").to_pylist()
        for position, holder in enumerate(history.holders)
    }
    change = KEEP_ONE if table.capabilities.has_changelogs else Expire(older_than_ms=ground.LATE_MS, retain_min=1)
    return points, table.preview(change, ground.LATE_MS).frees.sort_by("path").to_pylist()


def test_a_tag_that_is_listed_and_never_found_stops_an_expiry(place: str, proxy: Proxy, tmp_path: Path) -> None:
    four_commits(tmp_path / "t")
    before = content(uploaded(tmp_path / "t", place))
    hides = "tag/tag-v", "tag%2Ftag-v"
    proxy.rule = lambda method, path: 404 if method in ("GET", "HEAD") and path.split("?")[0].endswith(hides) else None
    if proxy.backend:
        with pytest.raises(Corrupt, match=r"lists this file|could not read this path: HTTPError: 404") as told:
            open_table(place).preview(KEEP_ONE, ground.LATE_MS)
        assert told.value.path == "tag/tag-v"
    proxy.rule = lambda _method, _path: None
    assert content(place) == before


def test_a_server_that_ignores_the_condition_is_refused_before_the_first_effect(
    place: str, proxy: Proxy, tmp_path: Path
) -> None:
    if not proxy.backend or place.startswith(
        ("gs:", "webhdfs:")
    ):  # Google's answer has a body, HDFS needs no condition
        return
    four_commits(tmp_path / "t")
    before = content(uploaded(tmp_path / "t", place))
    table = open_table(place)
    plan = table.preview(KEEP_ONE, ground.LATE_MS)
    proxy.rule = lambda method, _path: "deny" if method == "PUT" else None
    with pytest.raises(Unsupported, match="replaced an object"):
        apply(table, plan, settle_s=0)
    assert content(place) == before
    assert not any(run.is_open for run in Journal().runs())


def test_hdfs_tells_hosts_directories_and_names_apart(place: str) -> None:
    if "hdfs:" not in place:
        return
    store = Store(place)
    for name in ("x;y", "x#y", "x"):
        store.create(f"below/{name}", name.encode())
    assert store.delete("below/x;y")
    assert not store.delete("below/x;y")
    assert [(entry.name, entry.size) for entry in store.ls("below")] == [("x", 1), ("x#y", 3)]
    assert all(abs((entry.modified_s or 0) - time.time()) < 3_600 for entry in store.ls("below"))
    with pytest.raises(Corrupt, match="IsADirectoryError"):
        store.read("below")
    assert store.read("below/x", 10, 1) == store.read("below/x", 10, 5) == b""
    store.put("below/x", b"")
    assert store.read("below/x") == b""
    assert not store.remove_empty_dir("below")
    assert store.relative(store.url("below/x")) == "below/x"
    with pytest.raises(Invalid, match="is not inside"):
        store.relative(store.url("below/x").replace("127.0.0.1", "elsewhere"))
    assert store.delete("below/x")
    assert store.delete("below/x#y")
    assert store.remove_empty_dir("below")
    assert store.ls_if_there("below") == []


def test_a_commit_where_every_engine_creates_snapshots_exclusively(place: str, tmp_path: Path) -> None:
    """On object stores other engines rely on their catalog's lock, which cannot be taken here."""
    four_commits(tmp_path / "t")
    before = content(uploaded(tmp_path / "t", place))
    table = open_table(place)
    if place.startswith(("s3:", "abfs:", "gs:", "oss:")):
        with pytest.raises(Unsupported, match="committed by another engine"):
            apply(table, table.preview(Truncate(), ground.LATE_MS), settle_s=0)
        assert content(place) == before
        return
    receipt = apply(table, table.preview(Truncate(), ground.LATE_MS), settle_s=0)
    assert receipt.is_exact
    assert open_table(place).heads().main.snapshots[-1].id == 5
    assert not [path for path in content(place) if path.endswith(".tmp")]
