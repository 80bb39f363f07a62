"""OSS: ranges, listings that are denied, and creates that its buckets protect, or not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.errors import Conflict, Corrupt, NotFound, Unsupported
from core.storage.store import Store
from tests.support import memory_oss

PLACE = f"oss://{memory_oss.BUCKET}/t"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_oss.Server]:
    with memory_oss.serving() as found:
        monkeypatch.setenv("OSS_ENDPOINT", found.url)
        yield found


def test_a_range_that_ends_after_the_object_is_its_end(server: memory_oss.Server) -> None:
    """OSS itself answers with the whole object."""
    server.objects["t/a"] = b"0123456789"
    store = Store(PLACE)
    assert store.read("a", 4, 8) == b"89"
    assert store.read("a", 4, 2) == b"2345"
    assert store.read("a", 4, 10) == b""
    assert store.read("a") == b"0123456789"


@pytest.mark.parametrize("token", ["", "marker-token"])
def test_credentials_come_from_the_variables_unless_they_are_given(
    server: memory_oss.Server, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    assert Store(PLACE).ls_if_there("") == []
    assert server.signed == {("", "")}
    for name, value in (("ACCESS_KEY_ID", "me"), ("ACCESS_KEY_SECRET", "s"), ("SESSION_TOKEN", token)):
        monkeypatch.setenv(f"OSS_{name}", value)
    server.signed.clear()
    Store(PLACE).ls_if_there("")
    assert server.signed == {("OSS me", token)}
    server.signed.clear()
    Store(PLACE, {"key": "given", "secret": "s"}).ls_if_there("")
    assert server.signed == {("OSS given", "")}


def test_an_empty_object_is_read(server: memory_oss.Server) -> None:
    server.objects["t/a"] = b""
    assert Store(PLACE).read("a") == b""


@pytest.mark.parametrize("denied", ["t/tag/", "t/"])
def test_a_listing_that_is_denied_is_not_empty(server: memory_oss.Server, denied: str) -> None:
    """ossfs takes it for empty, so the files of tags would be orphans."""
    server.objects |= {"t/tag/tag-v": b"{}", "t/schema/schema-0": b"{}"}
    assert [each.name for each in Store(PLACE).ls_if_there("tag")] == ["tag-v"]
    server.denied = (denied,)
    with pytest.raises(Corrupt, match="PermissionError"):
        Store(PLACE).ls_if_there("tag")
    with pytest.raises(Corrupt):
        Store(PLACE).size("tag/none")


def test_many_names_are_listed_by_pages(server: memory_oss.Server) -> None:
    names = [f"f {number:04}+%" for number in range(2_100)]
    server.objects |= {f"t/m/{name}": b"1" for name in names} | {"t/m/in/er": b"", "t/m-x": b""}
    found = Store(PLACE).ls("m")
    assert [(each.name, each.size) for each in found] == [*((name, 1) for name in names), ("in", None)]


def test_an_object_is_no_directory_and_what_is_not_there_is_absent(server: memory_oss.Server) -> None:
    server.objects |= {"t/a": b"1", "t/d/x": b""}
    store = Store(PLACE)
    with pytest.raises(Corrupt, match="directory"):
        store.ls("a")
    with pytest.raises(NotFound):
        store.ls("b")
    assert store.ls_if_there("b") == []
    assert (store.size("a"), store.size("d"), store.size("b")) == (1, None, None)


def test_a_name_is_created_once(server: memory_oss.Server) -> None:
    store = Store(PLACE)
    store.probe(["tag"])
    store.create("tag/tag-v", b"one")
    with pytest.raises(Conflict):
        store.create("tag/tag-v", b"one")
    store.put("tag/tag-v", b"two")
    assert server.objects == {"t/tag/tag-v": b"two"}
    assert store.keeps_versions() is False


@pytest.mark.parametrize(("versioning", "keeps"), [("Enabled", True), ("Suspended", None)])
def test_a_bucket_that_keeps_versions_protects_no_name(
    server: memory_oss.Server, versioning: str, keeps: bool | None
) -> None:
    server.versioning = versioning
    with pytest.raises(Unsupported) as refused:
        Store(PLACE).probe(["tag"])
    assert "buckets that keep versions" in (refused.value.remedy or "")
    assert Store(PLACE).keeps_versions() is keeps
    assert server.objects == {}
