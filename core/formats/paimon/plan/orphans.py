"""Files that no version of any branch refers to: left behind by crashed writers, rollbacks and deleted branches.

Invariant: a file is an orphan only if the whole history was read, it lies where this table keeps files
(`layout.is_place`, which also guards deletions) and is named like such a file, nothing holds it, and it is older than
the limit (a running writer's files look the same until it commits). A partition unknown to the history may belong to a
crashed writer or be a user's copy: it is listed, and cleaned only if it is named. Other directories, and tables inside
this one, are listed and never entered.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from core import urls
from core.errors import Invalid, Unsupported
from core.formats import orphan_files
from core.formats.orphan_files import Found
from core.formats.paimon import layout
from core.formats.paimon.partitions import is_named
from core.messages import Reason
from core.model import codes
from core.model.history import HistorySummary
from core.model.references import Heads, ObjectKind, Schema
from core.model.unheld import Listed
from core.storage import listings
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store

_METADATA: dict[str, tuple[tuple[str, ObjectKind], ...]] = {
    layout.MANIFEST: (
        ("manifest-list-", ObjectKind.MANIFEST_LIST),
        ("manifest-", ObjectKind.MANIFEST),
        ("index-manifest-", ObjectKind.MANIFEST),
    ),
    layout.INDEX: (("index-", ObjectKind.INDEX),),
    layout.STATISTICS: (("stat-", ObjectKind.STATISTICS),),
}
_NUMBERED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-\d+)?$")
_AT_ONCE = 1_000  # directories whose entries are in memory together
_TRACKED = ("table", "materialized-table")  # types of tables with manifests (`TableType`)


def find(
    store: Store, history: HistorySummary, older_than_ms: int, also: Collection[str] = ()
) -> tuple[pa.Table, tuple[Reason, ...]]:
    """Return orphans as a plan's freed files, and notes on files that look orphaned but are kept.

    The history must be complete. `also`: directories of partitions that the history does not mention. Raises `Invalid`
    for a directory that is not a partition, `Unsupported` for a table whose files no manifest tracks.
    """
    table_type = history.heads.main.options.get("type", _TRACKED[0])
    if table_type.lower() not in _TRACKED:
        raise Unsupported(
            "The type of this table is {type}: its files are tracked by no manifest, so all would look orphaned.",
            type=table_type,
            path=store.location,
            remedy="Delete files that nobody needs with the program that writes this table.",
        )
    if odd_name := next((each for each in also if not urls.is_text(each)), None):
        raise Invalid(
            "The name of the directory {directory} is not valid UTF-8, so it was not searched.",
            directory=urls.shown(odd_name),
            path=urls.shown(odd_name),
            remedy="Rename the directory, or delete its files yourself if no program needs them.",
        )
    lister = PaimonLister.of(store, history.heads, older_than_ms)
    walk = _Walk(lister, history, frozenset(each.removeprefix("./").rstrip("/") for each in also))
    walk.all()
    found = history.unheld(lister, [*_METADATA, *walk.buckets], walk.seen())
    listed = found.listed
    walk.refuse_what_is_no_partition(listed.tables)
    frees, notes = orphan_files.freed_and_notes(store, found)
    return frees, (*walk.notes(listed), *notes)


@dataclass(frozen=True)
class PaimonLister:
    """Lists the directories of a table's files, and judges each by its directory, its name and its age.

    kinds: prefixes of data files and changelogs
    """

    store: Store
    kinds: Sequence[tuple[str, ObjectKind]]
    older_than_ms: int

    @classmethod
    def of(cls, store: Store, heads: Heads, older_than_ms: int) -> PaimonLister:
        options = [schema.options for line in heads.lines for schema in line.schemas.values()]
        data = {each.get("data-file.prefix", "data-") for each in options}
        changes = {each.get("changelog-file.prefix", "changelog-") for each in options}
        kinds = (
            *((prefix, ObjectKind.DATA) for prefix in sorted(data)),
            *((prefix, ObjectKind.CHANGELOG) for prefix in sorted(changes)),
            ("compacted-changelog-", ObjectKind.CHANGELOG),
        )
        return cls(store, kinds, older_than_ms)

    def listed(self, directories: Sequence[str]) -> Listed:
        files: list[Found] = []
        tables, others = list[str](), list[str]()
        for directory, entries in listings.of(self.store, directories).items():
            plain = [(f"{directory}/{each.name}", each) for each in entries if not each.is_dir]
            if directory in _METADATA:
                files += [(path, each, _of_metadata(directory, each.name)) for path, each in plain]
            elif _is_table(entries):
                tables.append(directory)  # its content belongs to that table
            else:
                files += [(path, each, self._kind(each.name)) for path, each in plain]
                others += [f"{directory}/{each.name}" for each in entries if each.is_dir]
        return dataclasses.replace(self.judged(files), tables=tuple(tables), others=tuple(others))

    def judged(self, files: Sequence[Found]) -> Listed:
        """Say of files, given with what they seem to be, why they stay even if nothing holds them."""
        return orphan_files.judged(self.store, files, self.older_than_ms, layout.is_place)

    def _kind(self, name: str) -> ObjectKind | None:
        if _NUMBERED.sub("", name) == "index-":  # `index-file-in-data-file-dir`
            return ObjectKind.INDEX
        return next((kind for prefix, kind in self.kinds if name.startswith(prefix)), None)


def _of_metadata(directory: str, name: str) -> ObjectKind | None:
    plain = _NUMBERED.sub("", name)  # a newer engine's files have longer names
    return next((kind for prefix, kind in _METADATA[directory] if plain == prefix), None)


def _is_table(entries: Collection[DirectoryEntry]) -> bool:
    return any(entry.is_dir and entry.name in layout.OF_TABLES for entry in entries)


@dataclass
class _Walk:
    """A walk to the directories that may contain the table's files.

    `buckets`: those to be listed. `files`: files beside buckets, and what our own jobs left. `partitions`, `tables` and
    `others`: directories not entered.
    """

    lister: PaimonLister
    history: HistorySummary
    also: frozenset[str]
    buckets: list[str] = field(default_factory=list)
    files: list[Found] = field(default_factory=list)
    partitions: dict[str, None] = field(default_factory=dict)  # not empty, and unknown to the history
    tables: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = self.lister.store
        schemas = [schema for line in self.history.heads.lines for schema in line.schemas.values()]
        self.roots = {schema.options.get("data-file.path-directory", "").strip("/") for schema in schemas} | {""}
        self.schemas: Sequence[Schema] = list({schema.partition_keys: schema for schema in schemas}.values())
        self.known = {"", *self.history.partitions()}

    def all(self) -> None:
        own = (*layout.OWN, *_METADATA)
        top = [entry.name for entry in self.store.ls() if entry.is_dir and entry.name not in own]
        # left by one of our jobs that was killed before its commit
        self._each([each for each in top if each.startswith(layout.STAGING)], self._staged)
        self._each([each for each in top if not each.startswith(layout.STAGING)], self._entered)

    def seen(self) -> Listed:
        """Return the files that were found on the way."""
        return self.lister.judged(self.files)

    def refuse_what_is_no_partition(self, tables: Sequence[str]) -> None:
        """Raise `Invalid` for one of `also` that is none. `tables`: directories of others, besides those seen here."""
        inside = tuple(f"{each}/" for each in (*self.tables, *tables))
        if wrong := sorted(each for each in self.also if not self._is_partition(each) or f"{each}/".startswith(inside)):
            raise Invalid(
                "{directory} is not a partition directory of this table, so it was not searched.",
                directory=wrong[0],
                path=wrong[0],
                remedy="`snapscope orphans TABLE` lists the directories you can give.",
            )

    def notes(self, listed: Listed) -> list[Reason]:
        found: list[Reason] = []
        tables, others = [*self.tables, *listed.tables], [*self.others, *listed.others]
        if self.partitions:
            found.append(codes.PARTITIONS_STAY(**orphan_files.shown([*self.partitions])))
            found.append(codes.NAME_PARTITIONS())
        return [*found, *orphan_files.neighbours(tables, others)]

    def _each(self, directories: Sequence[str], enter: Callable[[str, Sequence[DirectoryEntry]], list[str]]) -> None:
        """List these directories together, then those that `enter` returns, until none is left."""
        while directories := [each for each in directories if self._is_listed(each)]:
            below: list[str] = []
            for begin in range(0, len(directories), _AT_ONCE):
                found = listings.of(self.store, directories[begin : begin + _AT_ONCE])
                below += [inner for each, entries in found.items() for inner in enter(each, entries)]
            directories = below

    def _is_listed(self, directory: str) -> bool:
        """Return whether a directory must be listed to see what it is."""
        if directory.startswith(layout.STAGING):
            return True
        kind, partition = self._at(directory)
        if kind == "other":
            self.others.append(directory)
        is_known = partition in self.known or directory.rpartition("/")[0] in self.also
        if kind == "bucket" and is_known:
            self.buckets.append(directory)
        return kind == "above" or (kind == "bucket" and not is_known)

    def _entered(self, directory: str, entries: Sequence[DirectoryEntry]) -> list[str]:
        if _is_table(entries):
            self.tables.append(directory)
            return []
        if self._at(directory)[0] == "bucket":
            above = directory.rpartition("/")[0]
            if entries:
                self.partitions[above] = None
            return []
        self.files += [(f"{directory}/{entry.name}", entry, None) for entry in entries if not entry.is_dir]
        return [f"{directory}/{entry.name}" for entry in entries if entry.is_dir]

    def _staged(self, directory: str, entries: Sequence[DirectoryEntry]) -> list[str]:
        if _is_table(entries):
            self.tables.append(directory)
            return []
        self.files += [(f"{directory}/{entry.name}", entry, ObjectKind.DATA) for entry in entries if not entry.is_dir]
        return [f"{directory}/{entry.name}" for entry in entries if entry.is_dir]

    def _at(self, directory: str) -> tuple[str, str]:
        """Classify a directory: ("bucket", its partition), ("above", "") if it is a parent of buckets; else "other"."""
        for root in self.roots:
            if f"{root}/".startswith(f"{directory}/"):
                return "above", ""
            if root and not directory.startswith(f"{root}/"):
                continue
            steps = (directory.removeprefix(root).strip("/")).split("/")
            for schema in self.schemas:
                keys = len(schema.partition_keys)
                if not is_named(schema, steps[:keys]):
                    continue
                if len(steps) <= keys:
                    return "above", ""
                if len(steps) == keys + 1 and layout.BUCKET.fullmatch(steps[-1]):
                    return "bucket", "/".join(steps[:-1])
        return "other", ""

    def _is_partition(self, directory: str) -> bool:
        return directory not in ("", *self.roots) and self._at(f"{directory}/bucket-0")[0] == "bucket"
