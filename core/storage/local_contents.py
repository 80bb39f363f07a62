"""Contents of small local files in memory, for as long as listings show what they showed before the file was read.

Invariant: a content is returned only for the mark of `local_disk.ls` (size, inode, times) of a listing made just now,
so it is what a read would return. A file that had changed shortly before its listing is read each time: another change
of the same size in the same tick of the disk's clock would show the same mark.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from core.storage import local_disk

SETTLED_S = 5.0  # longer than a tick of any clock of a file system, and than clocks of a network differ


class LocalContents:
    """Contents of the files of one table."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}

    def find(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """Return the kept contents by path; `wanted` has the mark that the listing shows for each."""
        known = ((path, mark, self._known.get(path)) for path, mark in wanted.items())
        return {path: kept[1] for path, mark, kept in known if kept is not None and kept[0] == mark}

    def keep(self, contents: Mapping[str, bytes], listed: Mapping[str, str], listed_s: float) -> None:
        """Keep what was read after a listing at `listed_s`, in epoch seconds, that showed the marks `listed`."""
        settled = {path for path in contents if local_disk.changed_s(listed[path]) < listed_s - SETTLED_S}
        self._known |= {path: (listed[path], contents[path]) for path in settled}

    def forget_others(self, paths: Container[str]) -> None:
        """Forget all but these."""
        for path in [path for path in self._known if path not in paths]:
            self._known.pop(path, None)
