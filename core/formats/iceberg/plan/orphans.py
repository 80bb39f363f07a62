"""Files of an Iceberg table that no snapshot refers to: left behind by crashed writers, failed commits and expiries.

Invariant: a file is an orphan only if the whole history was read, it lies where this table keeps files, has a unique
name as writers give it, nothing holds a file of that name (metadata may spell one place in many ways), and it is older
than the limit. Metadata files that the current one does not name are read: if one is of another table, or newer than
the current one, what looks orphaned may be its, and nothing is searched. Source: `DeleteOrphanFilesSparkAction` of
Iceberg 1.11, which looks neither at names nor into other metadata files.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import urls
from core.errors import Invalid, Unsupported
from core.formats import orphan_files
from core.formats.iceberg import other_metadata
from core.formats.iceberg.file_paths import ABSOLUTE, DIRECTORY, WRITE_PATHS, TableLocation
from core.formats.iceberg.locations import is_metadata
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import hinted_version, version_of
from core.formats.orphan_files import Found
from core.model import codes
from core.model.actions import CleanOrphans
from core.model.history import HistorySummary
from core.model.plan import Plan
from core.model.references import ObjectKind
from core.model.unheld import Listed
from core.storage import listings
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store

DATA = "data"
_UNIQUE = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LIST = re.compile(r"snap-\d+-\d+-.+\.avro")
_CONTENT = (".parquet", ".parq", ".orc", ".avro", ".puffin")
_STATISTICS = (".stats", ".puffin", ".parquet", ".orc")
_OF_TABLES = frozenset({DIRECTORY, "_delta_log", ".hoodie", "snapshot", "schema"})
"""Directories that only the directory of a table has."""
_OTHER_FORMATS = ("_delta_log", ".hoodie")
_OF_OTHERS = "part-"  # how the names begin of files that Spark and Flink write for tables of Hive, and Spark for Delta
_AT_ONCE = 1_000  # directories whose entries are in memory together


def searched(
    plan: Plan, change: CleanOrphans, history: HistorySummary, place: TableLocation, current: Callable[[], Metadata]
) -> Plan:
    """Return the plan with the orphans that it deletes, and with notes on files that look orphaned but are kept.

    The history must be complete. `current` reads the table's metadata again. Raises `Unsupported` if other metadata may
    hold such files, `Invalid` if directories are named, since every partition is searched.
    """
    if change.also:
        raise Invalid(
            "All partitions of an Iceberg table are searched, so none can be named.",
            remedy="Leave out the directories (--also).",
        )
    store, found = place.store, current()
    _refuse_shared(store)
    metadata = other_metadata.directories(place, found)
    other_metadata.refuse(place, found, current)
    written, outer = _written(place, found)
    starts = {each.partition("/")[0] for each in (DATA, *metadata, *written)}
    shown = [entry.name for entry in store.ls() if entry.is_dir and not _is_hidden(entry.name)]
    top = [name for name in shown if orphan_files.is_named(store, name)]
    own_directories = [name for name in top if name in starts or "=" in name or "" in starts]
    lister = IcebergLister(
        store, metadata, other_metadata.named(place, found), _oldest_version(store, found), change.older_than_ms
    )
    top_directory = lister.alone([""])[0]
    seen, below = lister.alone(own_directories)
    unheld = history.unheld(lister, below, Listed.together([top_directory, seen]))
    frees, notes = orphan_files.freed_and_notes(store, unheld)
    others = [*unheld.listed.others, *(name for name in top if name not in own_directories)]
    around = orphan_files.neighbours(unheld.listed.tables, others)
    around += [codes.NOT_SEARCHED(places=", ".join(map(urls.shown, outer)))] if outer else []
    return dataclasses.replace(plan, frees=frees, warnings=(*plan.warnings, *around, *notes))


@dataclass(frozen=True)
class IcebergLister:
    """Lists directories and all below them, and judges each file by its directory, its name and its age.

    Symbolic links to directories are not entered: they may lead back to where they are.

    metadata: directories of the table's metadata
    needed: names of files that the current metadata names, without any snapshot
    oldest: the oldest version of a Hadoop table that readers may look for; None for a table in a catalog
    """

    store: Store
    metadata: frozenset[str]
    needed: frozenset[str]
    oldest: int | None
    older_than_ms: int

    def listed(self, directories: Sequence[str]) -> Listed:
        found, below = list[Listed](), list(directories)
        while below:
            listed, below = self.alone(below)
            found.append(listed)
        return Listed.together(found)

    def alone(self, directories: Sequence[str]) -> tuple[Listed, list[str]]:
        """List these directories alone; return what is in them, and the directories below."""
        found, below = list[Listed](), list[str]()
        for begin in range(0, len(directories), _AT_ONCE):
            files, tables, odd = list[Found](), list[str](), list[str]()
            some = directories[begin : begin + _AT_ONCE]
            links = listings.links(self.store, some)
            for directory, entries in listings.of(self.store, [each for each in some if each not in links]).items():
                if directory and self._is_table(directory, entries):
                    tables.append(directory)  # its content belongs to that table
                    continue
                shown = [(_joined(directory, each.name), each) for each in entries if not _is_hidden(each.name)]
                inner = [path for path, each in shown if each.is_dir]
                below += [path for path in inner if orphan_files.is_named(self.store, path)]
                odd += [path for path in inner if not orphan_files.is_named(self.store, path)]
                plain = [(path, each) for path, each in shown if not each.is_dir and not self._is_needed(each.name)]
                files += [(path, each, self._kind(directory, each.name)) for path, each in plain]
            listed = orphan_files.judged(self.store, files, self.older_than_ms, bool)
            odd += listed.odd
            found.append(dataclasses.replace(listed, odd=tuple(odd), tables=tuple(tables), others=tuple(links)))
        return Listed.together(found), below

    def _is_table(self, directory: str, entries: Sequence[DirectoryEntry]) -> bool:
        if directory in self.metadata:
            return False
        return any(entry.name in _OF_TABLES if entry.is_dir else is_metadata(entry.name) for entry in entries)

    def _is_needed(self, name: str) -> bool:
        version = None if self.oldest is None else version_of(name)
        return name in self.needed or (version is not None and version >= (self.oldest or 0))

    def _kind(self, directory: str, name: str) -> ObjectKind | None:
        if directory in self.metadata and version_of(name) is not None:
            return None if self.oldest is None else ObjectKind.METADATA
        if not _UNIQUE.search(name) or name.startswith(_OF_OTHERS):
            return None
        if directory not in self.metadata:
            is_deletes = name.endswith(".puffin") or "-deletes" in name
            return None if not name.endswith(_CONTENT) else ObjectKind.DELETES if is_deletes else ObjectKind.DATA
        if is_metadata(name):
            return ObjectKind.METADATA
        if name.endswith(".avro"):
            return ObjectKind.MANIFEST_LIST if _LIST.fullmatch(name) else ObjectKind.MANIFEST
        return ObjectKind.STATISTICS if name.endswith(_STATISTICS) else None


def _refuse_shared(store: Store) -> None:
    """Raise `Unsupported` if the directory is also a table of another format, for which others write Iceberg metadata.

    Such metadata names what that table needs at some time, and nothing shows which files it needs now."""
    there = {entry.name for entry in store.ls() if entry.is_dir}
    names = [name for name in _OTHER_FORMATS if name in there]
    if "schema" in there and any(entry.name.startswith("schema-") for entry in store.ls_if_there("schema")):
        names.append("schema")
    if names:
        raise Unsupported(
            "This directory is also a table of another format ({sign}), whose files would look orphaned.",
            sign=names[0],
            path=store.location,
            remedy="Delete orphans with that table's own engine.",
        )


def _joined(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def _is_hidden(name: str) -> bool:
    """Return whether engines see no file of a table there; the name of a partition's directory may begin like that."""
    return name.startswith(("_", ".")) and "=" not in name


# metadata -------------------------------------------------------------------------------------------------------------


def _oldest_version(store: Store, found: Metadata) -> int | None:
    """Return the oldest version of a Hadoop table at which a reader may start; None for a table in a catalog."""
    version = version_of(found.path)
    if version is None:
        return None
    hinted = hinted_version(store)
    return version if hinted is None else min(version, hinted)


def _written(place: TableLocation, found: Metadata) -> tuple[list[str], list[str]]:
    """Return the configured directories of files: those inside the table's own ("" for itself), and all others."""
    inner, outer = list[str](), set[str]()
    for key in WRITE_PATHS:
        if location := found.properties.get(key, "").rstrip("/"):
            path = place.path(f"{location}/x").removesuffix("x").rstrip("/")
            if ABSOLUTE.match(path):
                outer.add(location)
            else:
                inner.append(path)
    return inner, sorted(outer)
