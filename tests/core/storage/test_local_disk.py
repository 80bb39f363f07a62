"""Listings of this machine's disks, beside fsspec's."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import fsspec
import pytest

from core.errors import Corrupt
from core.storage import local_disk
from core.storage.file_systems import TooLarge, entries


def zoo(root: Path) -> Path:
    """A directory with one of everything."""
    (root / "directory").mkdir()
    (root / "directory" / "inner").write_bytes(b"12345")
    (root / "file").write_bytes(b"123")
    (root / "empty").touch()
    Path(os.fsdecode(os.fsencode(root) + b"/no-text-\xff")).write_bytes(b"1")
    (root / "a line\nand another").write_bytes(b"12")
    (root / "50%25 off").write_bytes(b"12")
    (root / "to-file").symlink_to("file")
    (root / "to-directory").symlink_to("directory")
    (root / "to-nothing").symlink_to("nowhere")
    (root / "to-itself").symlink_to("to-itself")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(root / "socket"))
    os.utime(root / "file", (1, 1_234_567.25))
    return root


def test_a_listing_is_that_of_fsspec(tmp_path: Path) -> None:
    root = str(zoo(tmp_path))
    found = {each.name: each for each in local_disk.ls(root, "x")}
    expected = {each.name: each for each in entries(fsspec.filesystem("file").ls(root, detail=True), root)}
    assert {name: each._replace(mark=None) for name, each in found.items()} == {
        name: each._replace(mark=None) for name, each in expected.items()
    }
    assert {name for name, each in expected.items() if each.mark} == {name for name, each in found.items() if each.mark}
    changed = os.stat(f"{root}/file")
    assert found["file"].mark == f"3 {changed.st_ino} 1234567250000000 {changed.st_ctime_ns}"
    assert (found["file"].modified_s, found["file"].size) == (1_234_567.25, 3)
    assert {name for name, each in found.items() if each.is_dir} == {"directory", "to-directory"}
    assert {name for name, each in found.items() if each.mark is None} == {
        *("directory", "to-directory", "to-file", "to-nothing", "to-itself"),
    }


def test_a_file_with_another_beginning_is_not_read(tmp_path: Path) -> None:
    (path := tmp_path / "file").write_bytes(b"abcdef")
    for given in (str(path), local_disk.InMemory.of("file", b"abcdef")):
        assert local_disk.read(given, begin=b"abc") == b"abcdef"
        assert local_disk.read(given, 3, begin=b"abd") == b"abc"
        with pytest.raises(TooLarge):
            local_disk.read(given, 3, begin=b"abc")
    (tmp_path / "short").write_bytes(b"a")
    assert local_disk.read(str(tmp_path / "short"), begin=b"abc") == b"a"


def test_what_is_no_directory(tmp_path: Path) -> None:
    zoo(tmp_path)
    with pytest.raises(Corrupt, match="A directory was expected at shown, found a file"):
        local_disk.ls(str(tmp_path / "file"), "shown")
    with pytest.raises(NotADirectoryError):
        local_disk.ls(str(tmp_path / "file" / "below"), "shown")
    for name in ("nowhere", "to-nothing"):
        with pytest.raises(FileNotFoundError):
            local_disk.ls(str(tmp_path / name), "shown")


def test_an_entry_that_is_deleted_while_it_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stays").touch()
    (tmp_path / "goes").touch()
    scandir = os.scandir

    class Late:
        def __init__(self, path: str) -> None:
            self._own = scandir(path)

        def __enter__(self) -> list[os.DirEntry[str]]:
            with self._own as own:
                found = list(own)
            (tmp_path / "goes").unlink()
            return found

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Late)
    assert [each.name for each in local_disk.ls(str(tmp_path), "x")] == ["stays"]
