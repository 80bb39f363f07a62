"""Creating by renaming: whole or not at all, whatever answer is lost."""

from __future__ import annotations

from typing import Any

import pytest

from core.storage.hdfs import by_renaming


class Renames:
    """A store whose calls fail where they are told to: before they take effect, or after."""

    def __init__(self, fails: dict[str, str]) -> None:
        self.files: dict[str, bytes] = {}
        self.times: dict[str, int] = {}
        self.fails = fails

    def _does(self, what: str, effect: Any) -> None:
        fails = self.fails.pop(what, None)
        if fails == "before":
            raise OSError("reset")
        effect()
        if fails == "after":
            raise OSError("reset")

    def pipe_file(self, path: str, data: bytes, mode: str) -> None:
        assert mode == "create"
        assert path not in self.files
        self.times[path] = len(self.times) + 1
        self._does("write", lambda: self.files.__setitem__(path, data))

    def rename(self, old: str, new: str, *, replace: bool) -> None:
        if old not in self.files:
            raise FileNotFoundError(old)
        if new in self.files and not replace:
            raise FileExistsError(new)
        self._does("rename", lambda: self.move(old, new))

    def move(self, old: str, new: str) -> None:
        self.files[new], self.times[new] = self.files.pop(old), self.times.pop(old)

    def rm_file(self, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(path)
        self._does("delete", lambda: self.files.pop(path))

    def info(self, path: str) -> dict[str, Any]:
        if path not in self.files:
            raise FileNotFoundError(path)
        return {"size": len(self.files[path]), "mtime": self.times.get(path)}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["write", "rename"])
@pytest.mark.parametrize("write", [by_renaming.create, by_renaming.replace])
def test_a_lost_answer(what: str, when: str, write: Any) -> None:
    fs = Renames({what: when})
    if (what, when) == ("rename", "before"):
        with pytest.raises(OSError, match="reset"):
            write(fs, "/t/tag-v", b"ours")
        assert fs.files == {}
    else:
        write(fs, "/t/tag-v", b"ours")
        assert fs.files == {"/t/tag-v": b"ours"}


@pytest.mark.parametrize("fails", [{}, {"write": "before"}, {"write": "after"}])
def test_a_taken_name_is_not_replaced(fails: dict[str, str]) -> None:
    """The same bytes may be another writer's."""
    fs = Renames(dict(fails))
    fs.files["/t/tag-v"] = b"same"
    with pytest.raises(FileExistsError):
        by_renaming.create(fs, "/t/tag-v", b"same")
    by_renaming.replace(fs, "/t/tag-v", b"other")
    assert fs.files == {"/t/tag-v": b"other"}


def test_a_rename_that_comes_late_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request failed here and is executed later: the temporary file must be gone, or the name taken."""
    fs = Renames({"rename": "before"})
    late: list[tuple[str, str]] = []
    own = fs.rename

    def renames(old: str, new: str, *, replace: bool) -> None:
        late.append((old, new))
        own(old, new, replace=replace)

    monkeypatch.setattr(fs, "rename", renames)
    with pytest.raises(OSError, match="reset"):
        by_renaming.create(fs, "/t/tag-v", b"ours")
    with pytest.raises(FileNotFoundError):
        own(*late[0], replace=False)


def test_a_store_that_does_not_answer_the_deletion_either_is_an_error() -> None:
    fs = Renames({"rename": "before", "delete": "before"})
    with pytest.raises(OSError, match="reset"):
        by_renaming.create(fs, "/t/tag-v", b"ours")
    assert "/t/tag-v" not in fs.files


def test_a_lost_answer_to_tidying_up_does_not_make_a_taken_name_ours() -> None:
    fs = Renames({"delete": "after"})
    fs.files["/t/tag-v"] = b"same"
    with pytest.raises(FileExistsError):
        by_renaming.create(fs, "/t/tag-v", b"same")
    assert fs.files == {"/t/tag-v": b"same"}


def test_a_rename_that_comes_just_before_the_deletion_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer was lost, the temporary file is still there, and the NameNode renames it before it deletes."""
    fs = Renames({"rename": "before"})
    own = fs.rm_file

    def removes(path: str) -> None:
        fs.move(path, "/t/tag-v")
        own(path)

    monkeypatch.setattr(fs, "rm_file", removes)
    by_renaming.create(fs, "/t/tag-v", b"ours")
    assert fs.files == {"/t/tag-v": b"ours"}
