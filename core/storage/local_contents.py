"""A cache in memory of small local files, used while listings show them unchanged, and of what was computed from all
files of some directories.

Invariant: a content is returned only for the mark of `local_disk.ls` (size, inode, times) of a listing made just now,
and kept only if the file had that mark before and after it was read, so it is what a read would return. Two kinds of
files are read each time: those that had changed shortly before their listing, because another change of the same size
in the same tick of the disk's clock would show the same mark, and those on disks whose marks do not tell every change.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from typing import Generic, TypeVar

from core.storage import local_disk

T = TypeVar("T")

SETTLED_S = 5.0  # longer than a tick of any disk's clock


class LocalContents:
    """Contents of the files of one table, in the directory `root`. Several threads may use it at the same time."""

    def __init__(self, root: str) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}
        self._root = root
        self._reliable: dict[str, bool] = {}  # directories, and whether marks tell changes there

    def find(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """Return the kept contents by path below the root; `wanted` has the mark that the listing shows for each."""
        known = ((path, mark, self._known.get(path)) for path, mark in wanted.items())
        return {path: kept[1] for path, mark, kept in known if kept is not None and kept[0] == mark}

    def keep(self, contents: Mapping[str, bytes], listed: Mapping[str, str], listed_s: float) -> None:
        """Keep what was read after a listing at `listed_s`, in epoch seconds, that showed the marks `listed`."""
        settled = [path for path in contents if local_disk.changed_s(listed[path]) < listed_s - SETTLED_S]
        for directory in {path.rpartition("/")[0] for path in settled}.difference(self._reliable):
            self._reliable[directory] = local_disk.marks_tell_changes(f"{self._root}/{directory}")
        reliable = [path for path in settled if self._reliable[path.rpartition("/")[0]]]
        same = [path for path in reliable if local_disk.mark_of(f"{self._root}/{path}") == listed[path]]
        self._known |= {path: (listed[path], contents[path]) for path in same}

    def forget_others(self, paths: Container[str]) -> None:
        """Forget all but these."""
        for path in list(self._known):  # in one step: other threads may be adding some
            if path not in paths:
                self._known.pop(path, None)


class LocalListings(Generic[T]):
    """The last value made from directories below `root`. Several threads may use it at the same time.

    It is returned only if each directory and each entry has the inode, size and times that it had after the value was
    made, and kept only if all of them had last changed some time before the making began.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._kept: tuple[dict[str, local_disk.Marks | None], T] | None = None

    def find(self) -> T | None:
        """Return the value if nothing has changed since it was made."""
        if (kept := self._kept) is None:
            return None
        known, value = kept
        is_same = all(local_disk.marks(self._at(each), has_entries=bool(each)) == known[each] for each in known)
        return value if is_same else None

    def keep(self, value: T, directories: Collection[str], began_s: float) -> None:
        """Keep a value whose making began at `began_s`, in epoch seconds, and read nothing but files of these
        directories; their paths are relative to the root."""
        self._kept = None
        seen = {each: local_disk.marks(self._at(each), has_entries=bool(each)) for each in ("", *directories)}
        there = [each for each in seen if seen[each] is not None]
        newest_ns = max((marks.newest_ns for marks in seen.values() if marks is not None), default=0)
        is_settled = newest_ns < (began_s - SETTLED_S) * 1e9
        if is_settled and all(local_disk.marks_tell_changes(self._at(each)) for each in there):
            self._kept = seen, value

    def _at(self, directory: str) -> str:
        return f"{self._root}/{directory}"
