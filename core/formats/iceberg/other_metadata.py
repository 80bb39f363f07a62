"""Metadata files in a table's directory that its current metadata does not name: what is in them may need files that
look unneeded here.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import ABSOLUTE, TableLocation
from core.formats.iceberg.locations import is_metadata
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import DIRECTORY, HINT, version_of
from core.storage import listings, presence
from core.storage.size_limits import TABLE_METADATA

_READ_AT_ONCE = 50
_COMMIT_S = 2.0  # how long a commit gets to become current after its metadata file was seen


def directories(place: TableLocation, found: Metadata) -> frozenset[str]:
    """Return the directories inside the table's own in which its metadata files are, now or before."""
    paths = [found.path, *(place.path(file) for _, file in found.metadata_log), f"{DIRECTORY}/{HINT}"]
    return frozenset(path.rpartition("/")[0] for path in paths if not ABSOLUTE.match(path) and "/" in path)


def named(place: TableLocation, found: Metadata) -> frozenset[str]:
    """Return the names of files that the metadata names itself. (Statistics may be of a snapshot that is gone.)"""
    named = (*(file for _, file in found.metadata_log), *(file for _, file, _ in found.statistics))
    paths = [found.path, *map(place.path, named), HINT]
    return frozenset(path.rpartition("/")[2] for path in paths)


def refuse(place: TableLocation, found: Metadata, current: Callable[[], Metadata]) -> None:
    """Raise `Unsupported` if a metadata file that `found` does not name may hold other files.

    Raises `Corrupt` if one cannot be read. `current` reads the table's metadata again."""
    version = version_of(found.path)

    def is_older_version(name: str) -> bool:
        """Of a table without a catalog: each version was written on the one before."""
        own = version_of(name)
        return version is not None and own is not None and own <= version

    listed = listings.of(place.store, sorted(directories(place, found)))
    there = [(each, entry.name) for each, entries in listed.items() for entry in entries if not entry.is_dir]
    own = [(each, name) for each, name in there if is_metadata(name) and not is_older_version(name)]
    others = sorted(f"{each}/{name}" for each, name in own if name not in named(place, found))
    newer = list[str]()
    for begin in range(0, len(others), _READ_AT_ONCE):
        contents = place.store.read_many(others[begin : begin + _READ_AT_ONCE], TABLE_METADATA)
        newer += [path for path, content in contents.items() if _is_newer(path, content, place, found)]
    ends = time.monotonic() + _COMMIT_S
    while newer:
        now = current()
        if not (newer := [path for path in newer if path.rpartition("/")[2] not in named(place, now)]):
            return
        if time.monotonic() > ends:
            raise Unsupported(
                "A metadata file is newer than the table's current one: its commit may be going on, or it was undone "
                "in the catalog. What it refers to would look orphaned.",
                path=newer[0],
                remedy="Try again later. If nothing needs this file, delete it.",
            )
        time.sleep(presence.PAUSE_S)


def _is_newer(path: str, content: bytes | SnapscopeError, place: TableLocation, found: Metadata) -> bool:
    """Return whether metadata of this table is newer than `found`. Raises `Unsupported` for that of another table."""
    if isinstance(content, NotFound):  # deleted since it was listed
        return False
    if isinstance(content, SnapscopeError):
        raise content
    try:
        other = documents.parse(content, path)
    except SnapscopeError as error:
        raise Corrupt(
            "A metadata file that the table does not name cannot be read, so it cannot be determined which files it "
            "needs: {error}",
            error=error.message,
            path=path,
            remedy="If nothing needs this file, delete it.",
        ) from error
    ids = [each.document.get("table-uuid") for each in (other, found)]
    is_same = ids[0] == ids[1] if None not in ids else place.path(f"{other.location}/x") == "x"
    if not is_same:
        raise Unsupported(
            "The metadata file of another table is in this table's directory, so files that look orphaned may be its.",
            path=path,
            remedy="Delete orphans of such tables only after you have compared both tables' files.",
        )
    return other.updated_ms > found.updated_ms
