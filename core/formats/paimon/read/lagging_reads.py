"""Read reference files in parallel, and read again those that cannot be right: truncated or listed but not found.

Invariants: a file that was listed but is not found when read was deleted meanwhile only if it is no longer listed. A
content that was read before is used again only for the MD5, or the mark of a local file, that a listing of this pass
shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from core.errors import NotFound, SnapscopeError
from core.formats.paimon import layout
from core.storage import kept_contents, presence, time_limits
from core.storage.conditional import LOCAL
from core.storage.file_systems import DirectoryEntry
from core.storage.local_contents import LocalContents
from core.storage.size_limits import DOCUMENT
from core.storage.store import Store

LAG_S = 0.2  # minimum time that a listing is assumed to be stale
_KEPT = (layout.SNAPSHOT, layout.CHANGELOG, layout.SCHEMA, layout.TAG)  # consumers change more often than they stay
T = TypeVar("T")


@dataclass(slots=True)
class Patience:
    """How one pass over references reads. `gone`: paths that the caller has deleted, which may still be listed."""

    store: Store
    deadline: float
    gone: Collection[str] = ()
    keeps: bool = False  # whether the local disk may answer; a change that is being run reads the store itself
    memory: kept_contents.ReadContents | None = None  # what that change has read; without it, all is read
    local: LocalContents | None = None  # what this process has read of a table on the local disk
    began_s: float = field(default_factory=time.time)  # epoch seconds
    listed: set[str] = field(default_factory=set)  # paths in the listings of this pass
    directories: list[str] = field(default_factory=list)  # that were listed
    checksums: dict[str, str] = field(default_factory=dict)  # of listed files; with `local`, their marks
    ahead: dict[str, list[DirectoryEntry] | None] = field(default_factory=dict)

    def look_ahead(self, directories: Sequence[str], also: Callable[[], object] = lambda: None) -> None:
        """List these directories now and run `also`, on a remote store all at the same time; `entries` returns each
        listing once."""
        calls: list[Callable[[], list[DirectoryEntry] | None]] = [partial(self._entries, each) for each in directories]
        if self.store.protocol in (*LOCAL, "memory"):
            also()
            found = [call() for call in calls]
        else:
            found = time_limits.together(self.store.location, calls, also)
        self.ahead |= zip(directories, found, strict=True)

    def entries(self, directory: str) -> list[DirectoryEntry] | None:
        """List a directory; None if it is absent although its parent listed it before.

        Raises `Corrupt` if the parent keeps listing it."""
        return self.ahead.pop(directory) if directory in self.ahead else self._entries(directory)

    def _entries(self, directory: str) -> list[DirectoryEntry] | None:
        if directory not in self.listed:
            splits = layout.OF_NUMBERS.get(directory.rpartition("/")[2], ())
            return self._noted(directory, self.store.ls_if_there(directory, splits))
        ends = max(self.deadline, time.monotonic() + LAG_S)
        while True:
            try:
                found = self.store.ls(directory)
            except NotFound:
                is_ours = any(path.startswith(f"{directory}/") for path in self.gone)
                if is_ours or not presence.listed(self.store, [directory]):
                    return None
                if time.monotonic() > ends:
                    raise presence.unread(directory) from None
                time.sleep(presence.PAUSE_S)
                continue
            return self._noted(directory, found)

    def _noted(self, directory: str, found: list[DirectoryEntry]) -> list[DirectoryEntry]:
        self.directories.append(directory)
        self.listed.update(f"{directory}/{entry.name}" for entry in found)
        if self.local is not None:
            if directory.rpartition("/")[2] in _KEPT:  # all but hints, whose names have no number
                marks = {f"{directory}/{each.name}": each.mark for each in found if "-" in each.name}
                self.checksums |= {path: mark for path, mark in marks.items() if mark is not None}
        elif self.memory is not None or (self.keeps and directory.rpartition("/")[2] in _KEPT):
            known = {f"{directory}/{each.name}": each.md5 for each in found if each.md5 is not None}
            self.checksums |= {path: md5 for path, md5 in known.items() if path not in self.gone}
        return found

    def contents(self, paths: Sequence[str], most_bytes: int = DOCUMENT) -> dict[str, bytes | SnapscopeError]:
        """Read files; what has the listed checksum that it had when last read comes from memory or the local disk."""
        known = [path for path in paths if path in self.checksums]
        if not known:
            return self.store.read_many(paths, most_bytes)
        if self.local is not None:
            return self._local_contents(self.local, paths, known, most_bytes)
        urls = {path: path if self.memory is not None else self.store.url(path) for path in known}
        keeper = kept_contents if self.memory is None else self.memory
        listed = {url: self.checksums[path] for path, url in urls.items()}
        kept = keeper.find(listed)
        found = self.store.read_many([path for path in paths if urls.get(path) not in kept], most_bytes)
        new = {urls[path]: content for path, content in found.items() if path in urls and isinstance(content, bytes)}
        if new:
            keeper.keep(new, listed)
        return {path: kept[urls[path]] if urls.get(path) in kept else found[path] for path in paths}

    def _local_contents(
        self, local: LocalContents, paths: Sequence[str], known: Sequence[str], most_bytes: int
    ) -> dict[str, bytes | SnapscopeError]:
        listed = {path: self.checksums[path] for path in known}
        kept = local.find(listed)
        found = self.store.read_many([path for path in paths if path not in kept], most_bytes)
        new = {path: content for path, content in found.items() if path in listed and isinstance(content, bytes)}
        if len(new) == len(listed) - len(kept):  # else the next pass meets the same limits and errors
            local.keep(new, listed, self.began_s)
        return {**kept, **found}

    def read(
        self, names: Mapping[str, str], parse: Callable[[str, bytes], T]
    ) -> tuple[dict[str, T], dict[str, bytes], dict[str, SnapscopeError]]:
        """Read and parse files until `deadline`. `names` maps names to paths.

        Returns the parsed content by name, the bytes read by path, and the errors of the remaining names.
        """
        parsed: dict[str, T] = {}
        contents: dict[str, bytes] = {}
        waiting, deadline, least = dict(names), self.deadline, time.monotonic() + LAG_S
        while waiting:
            failed: dict[str, SnapscopeError] = {}
            absent: dict[str, str] = {}
            found = self.contents(list(waiting.values()))
            for name, path in waiting.items():
                content = found[path]
                if isinstance(content, SnapscopeError):
                    contents.pop(path, None)
                    if content.kind != "NotFound":
                        failed[name] = content
                    elif path in self.listed and path not in self.gone:
                        absent[name] = path
                    continue
                contents[path] = content
                try:
                    parsed[name] = parse(name, content)
                except SnapscopeError as error:
                    failed[name] = error
            if absent:
                still = presence.listed(self.store, list(absent.values()))
                failed |= {name: presence.unread(path) for name, path in absent.items() if path in still}
                deadline = max(deadline, least)
            if not failed or time.monotonic() > deadline:
                return parsed, contents, failed
            time.sleep(presence.PAUSE_S)
            waiting = {name: names[name] for name in failed}
            for path in waiting.values():
                self.checksums.pop(path, None)  # the store itself is asked again
        return parsed, contents, {}
