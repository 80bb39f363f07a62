"""References of a local table that are not read again: what a page shows is what reading all of them would give."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt
from core.formats.paimon import references
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.references import LocalReferences
from core.storage import local_contents, local_disk
from core.storage.local_contents import LocalListings
from core.storage.store import Store
from tests.support.builders import TableBuilder


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "orders")
    for _ in range(4):
        made.commit([made.file(1_000, rows=10)])
    made.tag("v1")
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that were read from the disk."""
    paths: list[str] = []
    from_disk = Store.read_many

    def noted(store: Store, names: Sequence[str], *more: Any) -> Any:
        paths.extend(names)
        return from_disk(store, names, *more)

    monkeypatch.setattr(Store, "read_many", noted)
    return paths


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as old at once."""
    monkeypatch.setattr(local_contents, "SETTLED_S", -3600)


@pytest.mark.usefixtures("settled")
def test_what_is_unchanged_is_not_read_again(table: TableBuilder, read: list[str]) -> None:
    store, local = Store(str(table.path)), LocalReferences(str(table.path))
    first = references.read(store, local=local)
    assert "snapshot/snapshot-2" in read
    read.clear()
    assert references.read(store, local=local) is first
    assert read == []
    read.clear()
    table.commit([table.file(1_000, rows=10)])
    assert references.read(store, local=local) == references.read(store)
    assert read.count("snapshot/snapshot-5") == 2
    assert read.count("snapshot/LATEST") == 2
    assert read.count("snapshot/snapshot-2") == 1


def test_what_changed_shortly_before_is_read_again(
    table: TableBuilder, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, local = Store(str(table.path)), LocalReferences(str(table.path))
    monkeypatch.setattr(local_contents, "SETTLED_S", 3600)
    for _ in range(2):
        references.read(store, local=local)
    assert read.count("snapshot/snapshot-2") == 2
    monkeypatch.setattr(local_contents, "SETTLED_S", 0.2)
    time.sleep(0.3)
    for _ in range(2):  # the first of these reads keeps it
        references.read(store, local=local)
    assert read.count("snapshot/snapshot-2") == 3


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("how", ["in place", "by a rename", "by another file of the same time"])
def test_a_replaced_file_of_the_same_size_is_read(table: TableBuilder, how: str) -> None:
    store, local = Store(str(table.path)), LocalReferences(str(table.path))
    before = references.read(store, local=local).main.snapshots[1].time_ms
    path = table.path / "snapshot" / "snapshot-2"
    content, times = path.read_bytes(), path.stat()
    other = content.replace(str(before).encode(), str(before + 1).encode())
    assert len(other) == len(content)
    time.sleep(0.02)  # the next tick of the clock
    if how == "in place":
        path.write_bytes(other)
    else:
        path.with_name("new").write_bytes(other)
        path.with_name("new").replace(path)
    if how != "by a rename":
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert references.read(store, local=local).main.snapshots[1].time_ms == before + 1


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_it_is_what_reading_everything_gives(table: TableBuilder, seed: int) -> None:
    store, local, chance = Store(str(table.path)), LocalReferences(str(table.path)), random.Random(seed)
    below = [table.path / each for each in ("snapshot", "tag", "schema", "consumer")]
    for step in range(60):
        there = [path for each in below if each.is_dir() for path in each.iterdir() if "-" in path.name]
        path = chance.choice(there)
        time.sleep(0.01)  # the next tick of the disk's clock: what changed in this one counts as settled here
        match chance.randrange(6):
            case 0:
                table.commit([table.file(1_000, rows=10)])
            case 1:
                table.tag(f"t{step}")
            case 2 if path.parent.name != "schema":
                path.unlink()
            case 3:
                path.write_bytes(chance.choice(there).read_bytes())
            case 4:
                path.write_bytes(path.read_bytes()[: chance.randrange(200)])
            case _:
                path.with_name("new").write_bytes(chance.choice(there).read_bytes())
                path.with_name("new").replace(path)
        assert references.read(store, local=local) == references.read(store)


@pytest.mark.usefixtures("settled")
def test_a_hint_that_could_not_be_read_is_read_again(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    store, local = Store(str(table.path)), LocalReferences(str(table.path))
    from_disk = Store.read_many

    def failing(store: Store, names: Sequence[str], *more: Any) -> Any:
        return {**from_disk(store, names, *more), **{each: Corrupt("no") for each in names if "EARLIEST" in each}}

    with monkeypatch.context() as patch:
        patch.setattr(Store, "read_many", failing)
        assert references.read(store, local=local).main.warnings
    assert references.read(store, local=local) == references.read(store)


@pytest.mark.usefixtures("settled")
def test_a_change_reads_everything(table: TableBuilder, read: list[str]) -> None:
    opened = PaimonFormat.at(Store(str(table.path)))
    opened.heads()
    for of, more in ((opened.reread(), {}), (opened, {"patience_s": 0.1}), (opened, {"gone": ("tag/tag-v1",)})):
        read.clear()
        of.heads(**more)
        assert "snapshot/snapshot-2" in read


@pytest.mark.usefixtures("settled")
def test_what_is_gone_is_forgotten(table: TableBuilder) -> None:
    store, local = Store(str(table.path)), LocalReferences(str(table.path))
    references.read(store, local=local)
    assert len(local.contents._known) == 6
    (table.path / "tag" / "tag-v1").unlink()
    (table.path / "snapshot" / "snapshot-1").unlink()
    references.read(store, local=local)
    assert len(local.contents._known) == 4


@pytest.mark.usefixtures("settled")
def test_a_file_of_another_directory_of_that_name_is_not_kept(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Directories that are swapped leave the marks of their files as they are."""
    tags, other = table.path / "tag", table.path / "tag.new"
    table.tag("v2", 2)
    other.mkdir()
    for name, source in (("tag-v1", "tag-v2"), ("tag-v2", "tag-v1")):
        (other / name).write_bytes((tags / source).read_bytes())
    store, listed = Store(str(table.path)), Store.ls_if_there

    def swapped(store: Store, relative: str = "", splits: Sequence[str] = ()) -> Any:
        found = listed(store, relative, splits)
        if relative == "tag":
            swap()
        return found

    def swap() -> None:
        tags.rename(table.path / "aside")
        other.rename(tags)
        (table.path / "aside").rename(other)

    local = LocalReferences(str(table.path))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "ls_if_there", swapped)
        references.read(store, local=local)
    swap()
    assert references.read(store, local=local) == references.read(store)


@pytest.mark.usefixtures("settled")
def test_on_other_disks_everything_is_read(
    table: TableBuilder, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_disk, "_OWN_DISKS", frozenset())
    store = Store(str(table.path))
    local = LocalReferences(str(table.path))
    for _ in range(2):
        references.read(store, local=local)
    assert read.count("snapshot/snapshot-2") == 2


@pytest.mark.usefixtures("settled")
def test_many_threads_read_one_table(table: TableBuilder) -> None:
    """Its directories change all the time, so that each thread adds and forgets."""
    store, ended, wrong = Store(str(table.path)), threading.Event(), list[BaseException]()
    local = LocalReferences(str(table.path))
    before = sys.getswitchinterval()

    def ask() -> None:
        try:
            while not ended.is_set():
                references.read(store, local=local)
        except BaseException as error:  # noqa: BLE001 - it is told below
            wrong.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for number in range(60):
            table.tag(f"t{number}")
            (table.path / "tag" / f"tag-t{number - 3}").unlink(missing_ok=True)
            time.sleep(0.01)
    finally:
        sys.setswitchinterval(before)
        ended.set()
        for thread in threads:
            thread.join(60)
    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


# a value made of all files -----------------------------------------------------------------------------------------

DIRECTORIES = ("snapshot", "branch/b/tag", "absent")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "table"
    for directory in DIRECTORIES[:2]:
        (made / directory).mkdir(parents=True)
        for number in range(3):
            (made / directory / f"file-{number}").write_text(f"content {number}")
    return made


@pytest.fixture
def kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> LocalListings[str]:
    """Listings that keep a value at once."""
    monkeypatch.setattr(local_contents, "SETTLED_S", -3600)
    made = LocalListings[str](str(root))
    made.keep("value", DIRECTORIES, time.time())
    assert made.find() == "value"
    time.sleep(0.02)  # the next tick of the disk's clock
    return made


def in_place(root: Path) -> None:
    path = root / "snapshot" / "file-1"
    times = path.stat()
    path.write_text("content x")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def replaced(root: Path) -> None:
    (root / "new").write_text("content x")
    (root / "new").replace(root / "branch/b/tag/file-2")


def other_directory(root: Path) -> None:
    (root / "snapshot").rename(root / "aside")
    (root / "snapshot").mkdir()
    for path in (root / "aside").iterdir():
        os.link(path, root / "snapshot" / path.name)


def other_table(root: Path) -> None:
    root.rename(root.with_name("aside"))
    root.mkdir()
    for directory in ("snapshot", "branch"):
        (root.with_name("aside") / directory).rename(root / directory)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda root: (root / "snapshot/file-9").write_text(""),
    "a file is gone": lambda root: (root / "branch/b/tag/file-0").unlink(),
    "a file is rewritten in place, with its time": in_place,
    "a file is replaced": replaced,
    "a file cannot be read": lambda root: (root / "snapshot/file-0").chmod(0),
    "a directory appears": lambda root: (root / "absent").mkdir(),
    "a directory is gone": lambda root: (root / "branch/b/tag").rename(root / "aside"),
    "another directory with the same files": other_directory,
    "another table with the same directories": other_table,
    "a directory leads nowhere": lambda root: (root / "absent").symlink_to(root / "nowhere"),
    "a directory is a file": lambda root: (root / "absent").write_text(""),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_a_change_it_is_made_again(
    kept: LocalListings[str], root: Path, change: Callable[[Path], object]
) -> None:
    change(root)
    assert kept.find() is None


def test_what_changed_shortly_before_is_not_kept(root: Path) -> None:
    made = LocalListings[str](str(root))
    made.keep("value", DIRECTORIES, time.time())
    assert made.find() is None
    made.keep("value", DIRECTORIES, time.time() + local_contents.SETTLED_S + 1)
    assert made.find() == "value"


def test_what_changed_while_it_was_made_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_contents, "SETTLED_S", 0.2)
    time.sleep(0.3)
    began_s, made = time.time(), LocalListings[str](str(root))
    made.keep("value", DIRECTORIES, began_s)
    assert made.find() == "value"
    (root / "snapshot/file-1").write_text("content x")
    os.utime(root / "snapshot/file-1", (0, 0))
    made.keep("value", DIRECTORIES, began_s)
    assert made.find() is None


def test_a_link_is_never_kept(kept: LocalListings[str], root: Path) -> None:
    """Its target may change without it."""
    (root / "snapshot/link").symlink_to(root / "snapshot/file-0")
    kept.keep("value", DIRECTORIES, time.time())
    assert kept.find() is None


def test_on_other_disks_nothing_is_kept(kept: LocalListings[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_disk, "_OWN_DISKS", frozenset())
    kept.keep("value", DIRECTORIES, time.time())
    assert kept.find() is None
