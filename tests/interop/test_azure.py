"""Listings of Azure, on Azurite: Hadoop's clients mark a directory by an object of its name, and names begin alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt, NotFound
from core.storage.store import Store
from core.table import open_table
from tests.engines import store_servers
from tests.engines.java import Missing
from tests.support.execution import ground
from tests.support.faulty_http import Proxy, between

pytestmark = pytest.mark.azurite


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Any]]:
    """A proxy of the server, and a client of its container."""
    try:
        with (
            store_servers.azure(tmp_path_factory.mktemp("azure")) as server,
            between(server.url) as proxy,
            pytest.MonkeyPatch.context() as environment,
        ):
            from azure.storage.blob import BlobServiceClient

            leads = server.leads(proxy.url)
            for name, value in leads.items():
                environment.setenv(name, value)
            with BlobServiceClient.from_connection_string(leads["AZURE_STORAGE_CONNECTION_STRING"]) as service:
                yield proxy, service.get_container_client(store_servers.LAKE)
    except Missing as lack:
        pytest.skip(f"azurite: {lack}")


@pytest.fixture
def container(served: tuple[Proxy, Any]) -> Any:
    return served[1]


def mark(container: Any, directory: str) -> None:
    container.upload_blob(directory, b"", metadata={"hdi_isfolder": "true"})


def listed(store: Store, directory: str) -> list[tuple[str, bool]]:
    return sorted((entry.name, entry.is_dir) for entry in store.ls(directory))


def test_what_is_beside_a_directory_changes_no_listing(container: Any) -> None:
    directories = ["p=1", "p=10", "p=1-", "p=1 ", "p=1 /b "]
    for each in directories:
        container.upload_blob(f"beside/{each}/f", each.encode())
    container.upload_blob("beside/p=10", b"a file of the same name")
    store, file = Store("abfs://lake/beside"), ("f", False)
    assert listed(store, "") == [("p=1", True), ("p=1 ", True), ("p=1-", True), ("p=10", False), ("p=10", True)]
    assert {each: listed(store, each) for each in directories} == {
        each: [("b ", True), file] if each == "p=1 " else [file] for each in directories
    }
    with pytest.raises(Corrupt, match="found a file"):
        store.ls("p=1/f")
    for absent in ("abfs://lake/beside/p=", "abfs://lake/nowhere", "abfs://no-container", "abfs://no-container/t"):
        with pytest.raises(NotFound):
            Store(absent).ls()
    assert listed(Store("abfs://lake"), "")


def test_a_listing_reads_no_other_directory(served: tuple[Proxy, Any]) -> None:
    proxy, container = served
    for number in (1, *range(10, 20)):
        container.upload_blob(f"alike/p={number}/f", b"x")
    store = Store("abfs://lake/alike")
    proxy.seen.clear()
    assert listed(store, "p=1") == [("f", False)]
    assert len(proxy.seen) == 1
    assert store.ls_if_there("p=") == []
    assert len(proxy.seen) < 10


def test_a_directory_with_a_marker_is_one(container: Any) -> None:
    for each in ("t", "t/d", "t/d/e", "t/none"):
        mark(container, f"marked/{each}")
    container.upload_blob("marked/t/d/e/f", b"x")
    container.upload_blob("marked/t/d/slash/", b"")
    store = Store("abfs://lake/marked/t")
    assert listed(store, "") == [("d", True), ("none", True)]
    assert listed(store, "d") == [("e", True), ("slash", True)]
    assert listed(store, "d/e") == [("f", False)]
    assert listed(store, "none") == listed(store, "d/slash") == []


def test_a_branch_whose_directory_has_a_marker_is_one_branch(container: Any, tmp_path: Path) -> None:
    root = ground.small_table(ground.warehouse(tmp_path)).root
    paths = ground.disk(root)
    for path in paths:
        container.upload_blob(f"branches/{path}", (root / path).read_bytes())
    directories = {str(each) for path in paths for each in Path(path).parents} - {"."}
    for each in sorted(directories):
        mark(container, f"branches/{each}")
    found, expected = open_table("abfs://lake/branches").history(), open_table(str(root)).history()
    assert [line.branch for line in found.heads.lines] == ["main", "b"]
    assert [holder.point for holder in found.holders] == [holder.point for holder in expected.holders]
