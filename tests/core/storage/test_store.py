"""The only access to files: exclusive creation, listings during changes, and errors that never turn into "absent"."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, Corrupt, ErrorCode, Invalid, NotFound, SnapscopeError, Unsupported
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store
from tests.support import memory_s3
from tests.support.places import ROOT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "t"
    made.mkdir()
    return made


@pytest.fixture
def store(root: Path) -> Store:
    return Store(str(root))


@pytest.fixture
def memory() -> Iterator[Store]:
    made = Store("memory://warehouse/t")
    yield made
    made._fs.store.clear()
    made._fs.pseudo_dirs[:] = [""]


def names(entries: list[DirectoryEntry]) -> list[str]:
    return [entry.name for entry in entries]


# locations -----------------------------------------------------------------------------------------------------------


def test_one_place_by_many_names(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_bytes(b"x")
    monkeypatch.chdir(root.parent)
    for location in (str(root), f"{root}/", f"file://{root}", f"file:{root}", "t", "./t", f"local://{root}"):
        store = Store(location)
        assert store.read("a") == b"x", location
        assert store.is_local
        assert store.root == str(root)


@pytest.mark.parametrize("name", ["hh=10%3A00", "a b", "a+b", "ü", "a#b", "a?b", "a%2Fb", "~", "a:b", "%", "a&b=c"])
def test_what_metadata_names_is_taken_literally(name: str, store: Store, tmp_path: Path) -> None:
    """Engines decode nothing in it: with `hh=10%3A00` decoded, an existing file was taken for a missing one."""
    place = tmp_path / "elsewhere" / name
    place.mkdir(parents=True)
    for spelling in ("file:", "file://", "file:///"):
        (place / f"{name}.parquet").write_bytes(bytes(7))
        url = f"{spelling}{place}/{name}.parquet"
        assert store.size(url) == 7
        assert store.delete(url)
        assert not store.delete(url)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("url", ["file://host/a/b", "memory://a::file:///a/b", "webhdfs://h:1/a?b/c"])
def test_what_cannot_be_named_literally_is_refused(url: str, store: Store) -> None:
    for verb in (store.size, store.delete):
        with pytest.raises((Unsupported, Invalid)):
            verb(url)


def test_a_file_url_is_unquoted_and_a_path_is_not(tmp_path: Path) -> None:
    for name in ("a b", "a%20b", "a#b", "ä"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_bytes(name.encode())
    assert Store(f"file://{tmp_path}/a%20b").read("f") == b"a b"
    assert Store(f"{tmp_path}/a%20b").read("f") == b"a%20b"
    assert Store(f"{tmp_path}/a#b").read("f") == b"a#b"
    assert Store(f"{tmp_path}/ä").read("f") == "ä".encode()


@pytest.mark.parametrize("location", ["", "  ", "\t\n"])
def test_a_blank_location(location: str) -> None:
    with pytest.raises(Invalid):
        Store(location)


def test_a_plain_path_is_itself(tmp_path: Path) -> None:
    """To fsspec, `a::b` is a chain of file systems, and it would open `a`."""
    for name in ("a", "a::b", "file::x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_bytes(name.encode())
        assert Store(str(tmp_path / name)).read("f") == name.encode()


@pytest.mark.parametrize(
    "location",
    ["file:", "file://", "file:///", "file://host/share", "file:///a?b", "file:///a#b", "file://[::1", "a\0b"],
)
def test_urls_that_name_no_path_here(location: str) -> None:
    with pytest.raises(Invalid):
        Store(location)


@pytest.mark.parametrize("location", ["nope://x/y", "s4://bucket/x"])
def test_an_unknown_protocol(location: str) -> None:
    with pytest.raises(Unsupported, match="fsspec"):
        Store(location)


@pytest.mark.parametrize("location", ["zip://x::file:///etc/hosts", "reference://x", "ftp://127.0.0.1:1/", "dir://x"])
def test_a_place_that_cannot_be_opened_is_told(location: str) -> None:
    """Whatever its client library raises: a URL may name anything."""
    with pytest.raises(Corrupt, match="The store could not read this path:"):
        Store(location)


# paths stay inside ---------------------------------------------------------------------------------------------------

LEAVING = ["..", "../x", "a/../../x", "a/..", "/etc/passwd", "/", "a\\..\\b", "\\\\host\\share", "a\0b", "a/../b"]
BACKSLASH = "tag/tag-a\\b"


@pytest.mark.parametrize("path", [*LEAVING, BACKSLASH])
def test_paths_that_leave_the_table_are_refused_by_every_verb(path: str, store: Store) -> None:
    """A backslash in a name is refused as well: some systems take it for a slash."""
    refused, said = (Unsupported, "has a backslash") if path == BACKSLASH else (Invalid, "leaves the table's directory")
    verbs: list[Callable[[], Any]] = [
        lambda: store.full(path),
        lambda: store.url(path),
        lambda: store.at(path),
        lambda: store.ls(path),
        lambda: store.ls_if_there(path),
        lambda: store.read(path),
        lambda: store.size(path),
        lambda: store.create(path, b""),
        lambda: store.put(path, b""),
        lambda: store.delete(path),
        lambda: store.make_dirs([path]),
    ]
    for verb in verbs:
        with pytest.raises(refused, match=said):
            verb()
    assert isinstance(store.read_many([path])[path], refused)


def test_names_that_only_look_like_leaving(store: Store) -> None:
    for path in (
        "..x",
        "x..",
        "a/..b/c",
        "...",
        "~",
        "$HOME",
        "*",
        "[a]",
        "a b",
        "%2e%2e",
        "a%b",
        "ä/ö",
        "'",
        "a?b",
        "a::b",
    ):
        store.create(path, path.encode())
        assert store.read(path) == path.encode()
        assert store.size(path) == len(path.encode())
        assert store.delete(path)


def test_a_link_out_of_the_table_is_never_deleted_through(store: Store, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x")
    (root / "bucket-0").symlink_to(outside)
    (root / "link").symlink_to(outside / "precious")
    for path in ("bucket-0/precious", "link"):
        with pytest.raises(Invalid, match="outside"):
            store.delete(path)
    assert (outside / "precious").read_bytes() == b"x"
    assert (root / "link").is_symlink()


def test_a_table_that_is_a_link_itself_can_be_cleaned(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to(real)
    assert Store(str(tmp_path / "link")).delete("f")
    assert not (real / "f").exists()


def test_a_link_within_the_table_is_followed(store: Store, root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "f").write_bytes(b"x")
    (root / "link").symlink_to(root / "real")
    assert names(store.ls("link")) == ["f"]
    assert store.delete("link/f")


# absent is not unreadable --------------------------------------------------------------------------------------------


def test_absent_is_absent(store: Store) -> None:
    with pytest.raises(NotFound):
        store.ls("nothing")
    with pytest.raises(NotFound):
        store.read("nothing")
    assert store.ls_if_there("nothing") == []
    assert store.ls_if_there("nothing/deeper") == []
    assert store.size("nothing") is None
    assert store.delete("nothing") is False
    assert isinstance(store.read_many(["nothing"])["nothing"], NotFound)


def test_a_directory_has_no_size(store: Store) -> None:
    store.make_dirs(["above"])
    store.create("above/file", b"12")
    assert store.size("above") is None
    assert store.size("above/file") == 2


def test_links_to_directories_are_directories(store: Store, root: Path) -> None:
    """A branch or table that was moved to another disk and linked back still counts."""
    (root / "real").mkdir()
    (root / "file").write_bytes(b"abc")
    (root / "dir-link").symlink_to(root / "real")
    (root / "file-link").symlink_to(root / "file")
    found = {entry.name: (entry.is_dir, entry.size) for entry in store.ls()}
    assert found == {"real": (True, None), "dir-link": (True, None), "file": (False, 3), "file-link": (False, 3)}


def test_links_to_nowhere_are_unreadable_and_not_absent(store: Store, root: Path) -> None:
    """`tag/` on an unmounted volume: without an error here, its tags would lose their files."""
    (root / "tag").symlink_to("/no/such/volume")
    (root / "tag-x").symlink_to("/no/such/file")
    assert "tag-x" in names(store.ls())
    for verb in (store.ls, store.ls_if_there, store.read, store.size):
        with pytest.raises(Corrupt, match="link"):
            verb("tag")
    with pytest.raises(Corrupt, match="link"):
        store.read("tag-x")
    assert isinstance(store.read_many(["tag-x"])["tag-x"], Corrupt)


def test_a_file_where_a_directory_should_be(store: Store, root: Path) -> None:
    (root / "tag").write_bytes(b"")
    for verb in (store.ls, store.ls_if_there):
        with pytest.raises(Corrupt, match="directory"):
            verb("tag")
    for verb in (store.ls, store.ls_if_there, store.read, store.size):
        with pytest.raises(Corrupt):
            verb("tag/tag-x")


def test_a_directory_where_a_file_should_be(store: Store, root: Path) -> None:
    (root / "tag-x").mkdir()
    with pytest.raises(Corrupt):
        store.read("tag-x")
    with pytest.raises(Corrupt):
        store.delete("tag-x")


def test_a_loop_of_links(store: Store, root: Path) -> None:
    (root / "loop").symlink_to(root / "loop")
    assert names(store.ls()) == ["loop"]
    for verb in (store.ls, store.ls_if_there, store.read, store.size):
        with pytest.raises(Corrupt):
            verb("loop")


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.EIO, "Input/output error"),
        TimeoutError("timed out"),
        ConnectionResetError("reset"),
        ValueError("nonsense from a store"),
        RuntimeError("anything"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_store_refuses_is_corrupt_and_never_empty(
    error: Exception, store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_bytes(b"x")

    def fail(*_: object, **__: object) -> Any:
        raise error

    for verb in ("info", "cat_file", "rm_file"):
        monkeypatch.setattr(store._fs, verb, fail)
    for verb in ("ls", "read"):
        monkeypatch.setattr(f"core.storage.local_disk.{verb}", fail)
    for ask in (store.ls, store.ls_if_there, store.read, store.size, store.delete):
        with pytest.raises(Corrupt, match=type(error).__name__) as caught:
            ask("f")
        assert caught.value.path == str(root / "f")
    assert isinstance(store.read_many(["f"])["f"], Corrupt)


def test_a_directory_that_may_not_be_read(store: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root can read every directory, so the kernel's response is simulated."""
    (root / "snapshot").mkdir()
    scandir = os.scandir

    def refuse(path: Any = ".") -> Any:
        if str(path).endswith("snapshot"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(Corrupt, match="PermissionError"):
        store.ls_if_there("snapshot")


# listing -------------------------------------------------------------------------------------------------------------


def test_listing_is_sorted_and_knows_sizes(store: Store, root: Path) -> None:
    (root / "b").write_bytes(b"12")
    (root / "a").mkdir()
    (root / "c").write_bytes(b"")
    assert [(entry.name, entry.size, entry.is_dir) for entry in store.ls()] == [
        ("a", None, True),
        ("b", 2, False),
        ("c", 0, False),
    ]
    assert store.ls("a") == []


def test_listing_while_files_come_and_go(store: Store, root: Path) -> None:
    """What exists all along is in every listing, whatever disappears between the kernel's responses."""
    for number in range(50):
        (root / f"stays-{number:03d}").write_bytes(b"x")
    stop = threading.Event()

    def churn(name: str) -> None:
        while not stop.is_set():
            for number in range(30):
                path = root / f"goes-{name}-{number}"
                path.write_bytes(b"x")
                path.unlink()

    threads = [threading.Thread(target=churn, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            found = names(store.ls())
            assert [name for name in found if name.startswith("stays")] == [f"stays-{n:03d}" for n in range(50)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_directory_that_vanishes_while_it_is_listed(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "d").mkdir()
    calls: list[int] = []

    def flicker(*_: object, **__: object) -> Any:
        calls.append(1)
        raise FileNotFoundError("an entry was gone when it was asked for")

    monkeypatch.setattr("core.storage.local_disk.ls", flicker)
    with pytest.raises(Corrupt, match="kept changing"):
        store.ls_if_there("d")
    assert len(calls) > 1
    (root / "d").rmdir()
    assert store.ls_if_there("d") == []


# creating ------------------------------------------------------------------------------------------------------------


def race(store: Store, rounds: int, *, watched: bool, threads: int = 8) -> None:
    """All threads create the same name at once, with different contents, while a reader watches."""
    size = 20_000
    barrier = threading.Barrier(threads)
    won: list[list[int]] = [[] for _ in range(rounds)]
    wrong: list[str] = []
    done = threading.Event()

    def write(me: int) -> None:
        for number in range(rounds):
            barrier.wait()
            try:
                store.create(f"d/snapshot-{number}", bytes([me]) * size)
                won[number].append(me)
            except Conflict:
                pass

    def look() -> None:
        while watched and not done.is_set():
            for entry in store.ls_if_there("d"):
                if entry.name.startswith("snapshot-"):
                    content = store.read(f"d/{entry.name}")
                    if len(content) != size or len(set(content)) != 1:
                        wrong.append(f"{entry.name}: {len(content)} bytes of {set(content)}")

    workers = [threading.Thread(target=write, args=(me,)) for me in range(threads)]
    looker = threading.Thread(target=look)
    for thread in (*workers, looker):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    looker.join()
    assert wrong == []
    for number, winners in enumerate(won):
        assert len(winners) == 1, f"round {number}: {winners}"
        assert store.read(f"d/snapshot-{number}") == bytes(winners) * size


@pytest.mark.slow
def test_creating_has_one_winner_and_shows_no_part(store: Store, root: Path) -> None:
    race(store, 100, watched=True)
    assert [name for name in os.listdir(root / "d") if name.endswith(".tmp")] == []


def test_creating_in_memory_has_one_winner(memory: Store) -> None:
    race(memory, 100, watched=False)


def test_creating_makes_directories_and_refuses_a_taken_name(store: Store, root: Path) -> None:
    store.create("a/b/c", b"one")
    with pytest.raises(Conflict, match="already exists"):
        store.create("a/b/c", b"two")
    assert (root / "a/b/c").read_bytes() == b"one"
    (root / "dangling").symlink_to("/no/such")
    with pytest.raises(Conflict):
        store.create("dangling", b"x")
    (root / "dir").mkdir()
    with pytest.raises(Conflict):
        store.create("dir", b"x")


def test_creating_below_a_file_is_no_conflict(store: Store, root: Path) -> None:
    """`Conflict` means that the name is taken, and a writer would try the next one, forever."""
    (root / "snapshot").write_bytes(b"")
    for verb in (store.create, store.put):
        with pytest.raises(Corrupt):
            verb("snapshot/snapshot-1", b"x")


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_disk_without_hard_links_is_unsupported(
    code: int, store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(Unsupported, match="hard link"):
        store.create("snapshot-1", b"x")
    assert os.listdir(root) == []


@pytest.mark.parametrize(
    ("verb", "call"), [("create", "fsync"), ("create", "link"), ("put", "fsync"), ("put", "replace")]
)
def test_a_write_that_fails_leaves_nothing_and_says_so(
    verb: str, call: str, store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(Corrupt, match="No space"):
        getattr(store, verb)("snapshot-1", b"x")
    assert [name for name in os.listdir(root) if name.endswith(".tmp")] == []


def test_putting_replaces_whole(store: Store, root: Path) -> None:
    store.put("hint", b"1")
    store.put("hint", b"22")
    assert (root / "hint").read_bytes() == b"22"
    assert os.listdir(root) == ["hint"]


def test_stores_without_exclusive_creation_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "protocol", "http")
    with pytest.raises(Unsupported):
        store.create("x", b"")


def test_memory_tells_absent_from_there(memory: Store) -> None:
    assert memory.ls_if_there("snapshot") == []
    memory.create("snapshot/snapshot-1", b"x")
    assert names(memory.ls("snapshot")) == ["snapshot-1"]
    assert names(memory.ls()) == ["snapshot"]
    assert memory.read("snapshot/snapshot-1") == b"x"
    with pytest.raises(Conflict):
        memory.create("snapshot/snapshot-1", b"y")
    assert memory.delete("snapshot/snapshot-1")
    assert memory.delete("snapshot/snapshot-1") is False
    assert memory.at("snapshot").size("snapshot-1") is None


def test_errors_are_one_family() -> None:
    for kind in (NotFound, Invalid, Conflict, Corrupt, Unsupported):
        error = kind("Something is so.", path="p", remedy="Do that.")
        assert isinstance(error, SnapscopeError)
        assert str(error) == "Something is so. File: p. Do that."
        assert error.kind == kind.__name__


# limits --------------------------------------------------------------------------------------------------------------


def test_a_file_is_read_up_to_its_limit_and_refused_beyond(store: Store, root: Path) -> None:
    (root / "f").write_bytes(b"12345")
    memory = Store("memory://limits")
    memory._fs.pipe_file(memory.full("f"), b"12345")
    for each in (store, memory):
        assert each.read("f", 5) == b"12345"
        with pytest.raises(Corrupt, match="at most 4 bytes") as caught:
            each.read("f", 4)
        assert caught.value.path == each.full("f")
        assert caught.value.remedy
        assert isinstance(each.read_many(["f"], 4)["f"], Corrupt)
        assert (each.read("f", 3, 1), each.read("f", 9, 3), each.read("f", 9, 5)) == (b"234", b"45", b"")


def test_a_sparse_file_of_30_gigabytes_is_refused_unread(store: Store, root: Path) -> None:
    with (root / "snapshot-1").open("wb") as file:
        file.truncate(30 << 30)
    with pytest.raises(Corrupt, match="32,212,254,720"):
        store.read("snapshot-1")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "fifo"])
def test_what_is_no_regular_file_is_neither_read_nor_waited_for(store: Store, root: Path, device: str) -> None:
    if device == "fifo":
        os.mkfifo(root / "tag-x")
    else:
        (root / "tag-x").symlink_to(device)
    with pytest.raises(Corrupt) as caught:
        store.read("tag-x")
    assert caught.value.path == str(root / "tag-x")


def test_a_file_that_grows_while_it_is_read_is_bounded_all_the_same(
    store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_bytes(b"x" * 10)
    handed = itertools.count()
    monkeypatch.setattr("core.storage.local_disk.os.read", lambda handle, size: b"x" * max(size - next(handed) % 2, 1))
    with pytest.raises(Corrupt, match="at most 1,000,000 bytes"):
        store.read("f", 1_000_000)


def test_many_files_are_bounded_together(store: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.storage.store.REFERENCES", 25)
    names = [f"f{number}" for number in range(9)]
    for name in names:
        (root / name).write_bytes(bytes(10))
    found = store.read_many(names, 10)
    assert [isinstance(found[name], bytes) for name in names] == [True] * 3 + [False] * 6


def test_an_empty_object_has_no_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 returns 416 for a range of an empty object: it is empty, not unreadable. Other errors stay errors."""
    memory = Store("memory://empty")
    memory._fs.pipe_file(memory.full("f"), b"")
    memory._fs.pipe_file(memory.full("g"), b"x")

    def refuse(*_: object, **__: object) -> bytes:
        raise OSError(22, "The requested range is not satisfiable")

    monkeypatch.setattr(memory._fs, "cat_file", refuse)
    assert memory.read("f") == b""
    with pytest.raises(Corrupt, match="not satisfiable"):
        memory.read("g")


def test_client_libraries_print_nothing() -> None:
    """Not even in the output of `--json`: what they say of a failed request is in its error."""
    script = """
        import logging
        from core.storage import store
        for name in ("gcsfs", "adlfs.spec", "azure.storage.blob._shared.response_handlers", "s3fs"):
            logging.getLogger(name).error("No.")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_store_that_lacks_settings_is_not_told_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is installed: to install it again would not help."""
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    with pytest.raises(Invalid, match=r"cannot be opened: .*account_name") as refused:
        Store("abfs://container/t")
    assert refused.value.code != ErrorCode.EXTRA_MISSING
    with pytest.raises(Unsupported, match="No file system for 'nope://x'"):
        Store("nope://x")


@pytest.mark.parametrize("name", ["live.parquet?versionId=1", "live.parquet?versionId="])
def test_a_name_that_the_client_takes_apart_never_leads_to_another_object(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Such names are those of copied versions; a hostile manifest may also name a file that it wants deleted so."""
    with memory_s3.serving({"t/b/live.parquet": b"live", "t/b/other": b"other"}) as server:
        server.lead(monkeypatch)
        store = Store(f"s3://{memory_s3.BUCKET}/t")
        for ask in (store.read, store.size, store.delete, store.at, lambda path: store.create(path, b"new"), store.ls):
            with pytest.raises(Unsupported, match="cannot be addressed exactly"):
                ask(f"b/{name}")
        url = f"s3://{memory_s3.BUCKET}/t2/{name}"
        for ask in (store.size, store.delete):
            with pytest.raises(Unsupported, match="cannot be addressed exactly"):
                ask(url)
        found = store.read_many(["b/other", f"b/{name}"])
        assert found["b/other"] == b"other"
        assert isinstance(found[f"b/{name}"], Unsupported)
        assert server.objects == {"t/b/live.parquet": b"live", "t/b/other": b"other"}
        server.objects[f"t/b/{name}"] = b"odd"
        server._names = None
        assert [each.name for each in store.ls("b")] == ["live.parquet", name, "other"]
        assert store.delete_together({f"b/{name}": None}) == {f"b/{name}"}  # a request that names it exactly
        assert server.objects == {"t/b/live.parquet": b"live", "t/b/other": b"other"}
