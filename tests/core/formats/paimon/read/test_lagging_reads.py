"""References read in one pass while others move what holds a snapshot's files: whatever the order, it is seen once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from core.formats.paimon import references
from core.formats.paimon.read import lagging_reads
from core.storage.file_systems import DirectoryEntry
from core.storage.kept_contents import ReadContents
from core.storage.s3 import listing
from core.storage.store import Store
from tests.support import memory_s3
from tests.support.builders import TableBuilder
from tests.support.execution import ground


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def as_remote(table: TableBuilder) -> Store:
    store = Store(str(table.root))
    store.protocol = "s3"
    return store


@pytest.mark.parametrize("to", ["tag/tag-new", "branch/branch-new/snapshot/snapshot-1"])
def test_a_snapshot_that_moves_before_it_is_read_is_found_where_it_moved_to(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    """It was listed, then another program creates a tag or a branch from it and expires it."""
    source, new = table.root / "snapshot/snapshot-1", table.root / to
    content = source.read_bytes()

    def moved(store: Store, relative: str = "") -> list[DirectoryEntry]:
        found = listed(store, relative)
        if relative == "snapshot" and source.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            if to.startswith("branch/"):
                (table.root / "branch/branch-new/schema").mkdir(exist_ok=True)
                (table.root / "branch/branch-new/schema/schema-0").write_bytes(
                    (table.root / "schema/schema-0").read_bytes()
                )
            source.rename(new)
        return found

    listed = Store.ls
    monkeypatch.setattr(Store, "ls", moved)
    for store in (as_remote(table), Store(str(table.root))):
        assert references.read(store, patience_s=0.1).references[to] == content
        new.rename(source)


def test_what_was_read_is_used_for_its_checksum_only(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listed checksum is what decides, and a reference that the caller has deleted is read all the same."""
    asked: list[str] = []
    with_checksums(table, monkeypatch)
    monkeypatch.setattr(Store, "read", counting(Store.read, asked))
    memory, store = ReadContents(), as_remote(table)

    def read(gone: Collection[str] = ()) -> dict[str, bytes]:
        asked.clear()
        return dict(references.read(store, patience_s=0.1, memory=memory, gone=gone).references)

    first = read()
    assert {"tag/tag-early", "snapshot/snapshot-9"} <= set(asked)
    assert read() == first
    assert set(asked) == {"snapshot/LATEST", "branch/branch-b/snapshot/LATEST"}
    early = table.root / "tag/tag-early"
    early.write_bytes(json.dumps({**json.loads(early.read_bytes()), "id": 3}).encode())
    assert read()["tag/tag-early"] == early.read_bytes()
    assert "tag/tag-early" in asked
    assert "tag/tag-twin" not in asked
    read(gone=["tag/tag-twin"])
    assert "tag/tag-twin" in asked, "a listing may be stale"


def with_checksums(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have listings show the MD5 of each file, as S3 does."""
    listed = Store.ls

    def ls(store: Store, relative: str = "") -> list[DirectoryEntry]:
        found = listed(store, relative)
        return [
            each if each.is_dir else each._replace(
                md5=hashlib.md5((table.root / relative / each.name).read_bytes()).hexdigest()
            )
            for each in found
        ]  # fmt: skip

    monkeypatch.setattr(Store, "ls", ls)


def counting(read: Callable[..., bytes], asked: list[str]) -> Callable[..., bytes]:
    def counted(store: Store, relative: str, *rest: object) -> bytes:
        asked.append(relative)
        return read(store, relative, *rest)

    return counted


def test_a_long_history_is_listed_in_parts_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_s3, "PAGE", 10)
    monkeypatch.setattr(listing, "_FIRST_PAGE", 10)
    names = [f"snapshot-{number}" for number in range(1, 101)]
    with memory_s3.serving({f"t/snapshot/{name}": b"" for name in (*names, "EARLIEST", "LATEST")}) as server:
        server.lead(monkeypatch)
        patience = lagging_reads.Patience(Store(f"s3://{memory_s3.BUCKET}/t"), deadline=0.0)
        server.together = ("start-after", 4)  # a part is answered when all four are asked
        found = patience.entries("snapshot") or []
        assert {entry.name for entry in found} == {*names, "EARLIEST", "LATEST"}
        assert len(found) == 102
        assert server.most_at_once == 4
