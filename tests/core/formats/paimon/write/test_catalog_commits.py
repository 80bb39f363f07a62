"""The lock of a Hive catalog in a small Metastore, and a server that publishes; real ones in tests/interop."""

from __future__ import annotations

import contextlib

import pytest

from core.errors import Conflict, Unsupported
from core.execution.apply import apply
from core.formats.paimon.catalogs import hive
from core.formats.paimon.write import catalog_commits, commit
from core.formats.paimon.write.commit import CommitChange, Stamp
from core.model.actions import CreateTag
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.metastore import Metastore, configure, lake, names, server

__all__ = ["lake", "server"]  # fixtures


def test_a_commit_takes_the_lock_and_gives_it_back(
    server: Metastore, lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(server.uri, "lock-enabled = true")
    found = open_table("paimon://meta/shop/orders")
    assert found.location == "paimon://meta/shop/orders"
    apply(found, found.preview(CreateTag("v9", 2), 0), settle_s=0)
    assert server.asked == [], "no engine locks for a tag"
    during: list[object] = []
    before = server.unlock
    monkeypatch.setattr(server, "unlock", lambda rqst: (during.append(names(lake)), before(rqst))[1])
    stamp = Stamp(5000, iter(f"u{each}" for each in range(9)).__next__, user="me", identifier=1)
    made = commit.run(found.store, CommitChange("OVERWRITE", None, (), lambda *_: [], refuse=lambda _: None), stamp)
    assert (made.id, server.asked) == (5, ["lock", "unlock"])
    assert "snapshot-5" in str(during[0]), "it was published before the lock was given back"
    assert server.held == {}


def test_another_writers_lock_is_waited_for(
    server: Metastore, lake: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(server.uri, "lock-enabled = true")
    found = open_table("paimon://meta/shop/orders")
    before = names(lake)
    server.held["shop", "orders"] = 99
    monkeypatch.setattr(hive, "LOCK_S", 0.2)
    stamp = Stamp(5000, iter(f"u{each}" for each in range(9)).__next__, user="me", identifier=1)
    with pytest.raises(Conflict, match=r"Another writer holds the lock of shop\.orders"):
        commit.run(found.store, CommitChange("OVERWRITE", None, (), lambda *_: [], refuse=lambda _: None), stamp)
    assert names(lake) == before, "nothing is left of it"
    assert server.held == {("shop", "orders"): 99}, "and the other's lock stands"


def test_the_lock_of_a_table_is_forgotten_when_its_catalog_has_none(server: Metastore, lake: TableBuilder) -> None:
    configure(server.uri, "lock-enabled = true")
    store = open_table("paimon://meta/shop/orders").store
    assert catalog_commits.is_known(store)
    configure(server.uri)
    open_table("paimon://meta/shop/orders")
    assert not catalog_commits.is_known(Store(str(lake.root)))


def test_the_lock_of_one_catalog_stays_where_another_names_the_same_place(lake: TableBuilder) -> None:
    """Both locks are taken; that a catalog has none tells nothing about the other one."""
    taken: list[str] = []

    def lock(name: str) -> catalog_commits.Lock:
        return lambda: contextlib.nullcontext(taken.append(name))

    store = Store(str(lake.root))
    try:
        catalog_commits.learn(store, "b", lock("b"))
        catalog_commits.learn(store, "a", lock("a"))
        catalog_commits.learn(store, "c", None)
        with catalog_commits.held(store):
            assert taken == ["a", "b"]
    finally:
        for name in "ab":
            catalog_commits.learn(store, name, None)
    assert not catalog_commits.is_known(store)


def test_a_server_publishes_until_its_catalog_tells_otherwise(lake: TableBuilder) -> None:
    store = Store(str(lake.root))
    send: catalog_commits.Send = lambda *_: None  # noqa: E731
    try:
        catalog_commits.learn(store, "a", send=send)
        catalog_commits.learn(store, "b")
        assert catalog_commits.server(store) is send
        assert catalog_commits.is_known(store)
        with pytest.raises(Unsupported, match="through the catalog a"):
            catalog_commits.refuse_served(store)
    finally:
        catalog_commits.learn(store, "a")
    assert catalog_commits.server(store) is None
    catalog_commits.refuse_served(store)
