"""Metadata files that a table's current one does not name: their snapshots may need files that look unneeded here.

Invariant: what was current after the table's current metadata, or in place of it, stops a search. A version is after
another that its log names, whatever the clocks of their writers said; two lines of versions that both go on from one
are of a table that was registered twice, or of a catalog that went back. Of what was written beside a version and never
followed by another, nothing shows that it was more than a failed commit. A file is not read again in this process as
long as listings show the MD5 of what was read.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import ABSOLUTE, DIRECTORY, TableLocation
from core.formats.iceberg.locations import is_metadata
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import HINT, version_of
from core.storage import presence
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

_READ_AT_ONCE = 50
_MOST_KNOWN = 10_000
_COMMIT_S = 2.0  # how long a commit gets to write its metadata file, and to become current


def directories(place: TableLocation, found: Metadata) -> frozenset[str]:
    """Return the directories inside the table's own in which its metadata files are, now or before."""
    paths = [found.path, *(place.path(file) for _, file in found.metadata_log), f"{DIRECTORY}/{HINT}"]
    return frozenset(path.rpartition("/")[0] for path in paths if not ABSOLUTE.match(path) and "/" in path)


def named(place: TableLocation, found: Metadata) -> frozenset[str]:
    """Return the names of files that the metadata names itself. (Statistics may be of a snapshot that is gone.)"""
    named = (*(file for _, file in found.metadata_log), *(file for _, file, _ in found.statistics))
    paths = [found.path, *map(place.path, named), HINT]
    return frozenset(path.rpartition("/")[2] for path in paths)


@dataclass(frozen=True, slots=True)
class _Other:
    """A metadata file. log: the names of those before it, the last one last."""

    path: str
    updated_ms: int
    log: tuple[str, ...]
    uuid: str | None
    location: str

    @property
    def name(self) -> str:
        return _name(self.path)

    @property
    def line(self) -> tuple[str, ...]:
        return *self.log, self.name

    def is_after(self, found: _Other) -> bool:
        is_named = self.name in found.line
        return not is_named and (self.updated_ms > found.updated_ms or found.name in self.log)


_known = dict[tuple[str, str, str], _Other]()
"""What was read in this process, by the store, the path in the table and the MD5 of the content."""


def refuse(place: TableLocation, found: Metadata, current: Callable[[], Metadata]) -> None:
    """Raise `Unsupported` if a metadata file that `found` does not name may hold other files.

    Raises `Corrupt` if one cannot be read. `current` reads the table's metadata again."""
    others, own = _others(place, found), _other(found.path, found)
    ends = time.monotonic() + _COMMIT_S
    while newer := [each for each in others if each.is_after(own)]:
        if time.monotonic() > ends:
            raise Unsupported(
                "A metadata file is newer than the table's current one: its commit may be going on, or it was undone "
                "in the catalog. What it refers to would look orphaned.",
                path=newer[0].path,
                remedy="Try again later. If nothing needs this file, delete it.",
            )
        now = current()
        if now.path == own.path:
            time.sleep(presence.PAUSE_S)
        own = _other(now.path, now)
    if stray := _on_another_line([each for each in others if each.name not in own.line], own):
        raise Unsupported(
            "Two lines of versions of this table go on from one: it was registered twice, or its catalog went back to "
            "an older version. What the other line refers to would look orphaned.",
            path=stray.path,
            remedy="If nothing needs this file, delete it.",
        )


def _on_another_line(others: Sequence[_Other], own: _Other) -> _Other | None:
    """Return a version of another line than that of `own`, where the lines part and both go on; None if none does."""
    logs = {each.name: each.log for each in others}
    own_names, waiting = {own.name}, [own.log]
    while waiting:
        more = [name for name in waiting.pop() if name not in own_names]
        own_names.update(more)
        waiting += [logs[name] for name in more if name in logs]
    every = [*others, own]
    followed = {own.name}.union(*(each.log for each in every))
    next_of = defaultdict[str, set[str]](set)
    for each in every:
        for before, after in pairwise(each.line):
            if after in followed:
                next_of[before].add(after)
    parted = {after for each in next_of.values() if len(each) > 1 for after in each - own_names}
    return next((each for each in others if each.name not in own_names and not parted.isdisjoint(each.line)), None)


def _others(place: TableLocation, found: Metadata) -> list[_Other]:
    """Read the metadata files that `found` does not name, wherever those that it names are."""
    version, known, others = version_of(found.path), named(place, found), list[_Other]()

    def is_older_version(name: str) -> bool:
        """Of a table without a catalog: each version was written on the one before."""
        own = version_of(name)
        return version is not None and own is not None and own <= version

    paths = [found.path, *(place.path(file) for _, file in found.metadata_log)]
    every = {path.rpartition("/")[0]: bool(ABSOLUTE.match(path)) for path in (*paths, f"{DIRECTORY}/{HINT}")}
    for directory, is_outside in sorted(every.items()):
        store, below = place.opened(directory)
        there = [entry for entry in store.ls_if_there(below) if not entry.is_dir and is_metadata(entry.name)]
        found_md5 = {
            each.name: each.md5 for each in there if each.name not in known and not is_older_version(each.name)
        }
        joint, own_joint = (f"{each}/" if each else "" for each in (below, directory))
        own = {f"{joint}{name}": (f"{own_joint}{name}", found_md5[name]) for name in sorted(found_md5)}
        for other in _read(store, own):
            if _is_this(other, place, found, is_inside=not is_outside):
                others.append(other)
    return others


def _read(store: Store, own: Mapping[str, tuple[str, str | None]]) -> Iterator[_Other]:
    """Yield what is in metadata files that still exist; those that are not whole yet get some time.

    own: path in the store → the table's own path, and the MD5 that a listing shows. Raises `Corrupt` if one cannot be
    read."""
    keys = {path: (store.location, name, md5) for path, (name, md5) in own.items() if md5 is not None}
    kept = {path: _known[key] for path, key in keys.items() if key in _known}
    yield from kept.values()
    waiting, ends = [path for path in own if path not in kept], 0.0
    while waiting:
        errors = dict[str, SnapscopeError]()
        for begin in range(0, len(waiting), _READ_AT_ONCE):
            for path, content in store.read_many(waiting[begin : begin + _READ_AT_ONCE], TABLE_METADATA).items():
                if isinstance(content, NotFound):  # deleted since it was listed
                    continue
                if isinstance(content, SnapscopeError):
                    raise content
                try:
                    other = _other(own[path][0], documents.parse(content, own[path][0]))
                except SnapscopeError as error:
                    errors[path] = error
                    continue
                if path in keys and hashlib.md5(content, usedforsecurity=False).hexdigest() == keys[path][-1]:
                    if len(_known) >= _MOST_KNOWN:
                        _known.clear()
                    _known[keys[path]] = other
                yield other
        ends = ends or time.monotonic() + _COMMIT_S
        if errors and time.monotonic() > ends:
            path, why = next(iter(errors.items()))
            raise Corrupt(
                "A metadata file that the table does not name cannot be read, so it cannot be determined which files "
                "it needs: {error}",
                error=why.message,
                path=own[path][0],
                remedy="If nothing needs this file, delete it.",
            ) from why
        if waiting := list(errors):
            time.sleep(presence.PAUSE_S)


def _is_this(other: _Other, place: TableLocation, found: Metadata, *, is_inside: bool) -> bool:
    """Return whether metadata is of this table. Raises `Unsupported` for that of another that may have files here."""
    ids = [other.uuid, found.document.get("table-uuid")]
    is_here = place.path(f"{other.location}/x") == "x"
    if ids[0] == ids[1] if None not in ids else is_here:
        return True
    if is_here or is_inside:
        raise Unsupported(
            "Beside this table's metadata is that of another table, so files that look orphaned may be its.",
            path=other.path,
            remedy="Delete orphans of such tables only after you have compared both tables' files.",
        )
    return False


def _other(path: str, found: Metadata) -> _Other:
    log = tuple(sys.intern(_name(file)) for _, file in found.metadata_log)  # many files name the same ones
    return _Other(path, found.updated_ms, log, found.document.get("table-uuid"), found.location)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
