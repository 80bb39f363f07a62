"""Check that redundant metadata of a table agrees before anything is deleted on its basis.

Reading uses only part of what is written, so a damaged or wrongly restored file may be readable and yet list less than
it should. Versions that are kept protect the files they list, so they are checked: counts in a manifest list against
the manifests, row counts in snapshots, entries for the same file in several manifests, and copies of one snapshot; and
the disk, by `core.formats.paimon.disk_check`.

Invariant: no check here fails on metadata that an engine wrote. Not detected: a whole record missing from an index
manifest, and an index manifest or statistics file replaced by that of another snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats.paimon import disk_check, layout
from core.formats.paimon.disk_check import Doubts
from core.formats.paimon.file_paths import Identities, identities
from core.formats.paimon.manifests import ADD, ENTRY, LIST, PaimonManifests
from core.formats.paimon.read.metadata_files import Named, named
from core.messages import message
from core.model.codes import Fault
from core.model.history import History, HistorySummary
from core.model.intervals import Ints, Mask
from core.model.references import Holder, HolderKind, Problem
from core.storage.decoded_files import add_unlisted, flat
from core.storage.store import Store

_LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_VIEW = ("baseManifestList", "deltaManifestList", "indexManifest", "statistics")
_TEXTS = frozenset({*_LISTS, *_VIEW, "commitUser", "properties"})  # keys that name a file, or that users fill
_FILE_NAME = re.compile(
    r"(.*/)?((manifest|manifest-list|index-manifest|index|stat)-[0-9a-f]{8}-[0-9a-f]{4}-.+"
    r"|[^/]*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d[^/]*)"
)
_COMMIT = ("id", "commitUser", "commitIdentifier", "timeMillis", "commitKind")  # identical in every copy of a snapshot
_RESTORE = message(
    "A file was damaged or replaced by another one: restore it from a good copy, or delete "
    "this snapshot or tag by name."
)
_NEWER = message(
    "If a newer Paimon release wrote this, update Snapscope. Otherwise restore the file from a good copy, or delete "
    "this snapshot or tag by name."
)


@dataclass(frozen=True, slots=True)
class ManifestContents:
    """What manifests contain, each named once.

    added, deleted, rows: the ADD and the DELETE entries of each, and the rows of the former less those of the latter
    contradictory: the numbers of manifests that say of a file what another one, or another entry, says differently
    odd: the fields of a manifest that no known release writes, by its name
    """

    added: Ints
    deleted: Ints
    rows: Ints
    contradictory: Ints
    odd: Mapping[str, str]


@dataclass(frozen=True)
class Findings:
    """The result of a check. `problems`: position → a contradiction found there."""

    problems: Mapping[int, Problem]
    doubts: Doubts


def examine(store: Store, history: History, manifests: PaimonManifests, frees: Collection[str]) -> Findings:
    """Check every existing version, and the directories of the files to be deleted."""
    sizes = {entry.name: entry.size for entry in store.ls_if_there(layout.MANIFEST) if entry.size is not None}

    def contents(names: list[str]) -> ManifestContents:
        return _contents(history, manifests, names, sizes)

    found = problems(history, manifests, sizes, contents)
    return Findings(found, disk_check.doubts(store, history, frees))


def problems(
    history: HistorySummary,
    manifests: PaimonManifests,
    sizes: dict[str, int],
    contents: Callable[[list[str]], ManifestContents],
) -> Mapping[int, Problem]:
    """Check every existing version. `manifests` reads lists; `sizes` is the listing of their directory; `contents` is
    asked once, with the names of manifests."""
    found = _Examination(history, manifests, sizes)
    found.documents()
    found.lists(contents)
    return found.problems


def _contents(
    history: History, manifests: PaimonManifests, names: list[str], sizes: dict[str, int]
) -> ManifestContents:
    """Read these manifests."""
    entries = manifests.load(names, ENTRY, sizes)
    manifest = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(entries.start))
    try:
        wrong = contradictory(entries.rows, manifest, identities(entries.rows, history.heads))
    except SnapscopeError:
        wrong = manifest[:0]  # already reported for the affected versions when the history was read
    return ManifestContents(*sums(entries.rows, manifest, len(names)), wrong, manifests.odd)


def sums(entries: pa.Table, manifest: Ints, manifests: int) -> tuple[Ints, Ints, Ints]:
    """Return `added`, `deleted` and `rows` of `ManifestContents`. manifest: the number of each entry's manifest."""
    is_add, rows = entries["kind"].to_numpy() == ADD, entries["rows"].to_numpy()
    weights = is_add.astype(np.int64), (~is_add).astype(np.int64), np.where(is_add, rows, -rows)
    added, deleted, net = (_sums(manifest, weight, manifests) for weight in weights)
    return added, deleted, net


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys of maps included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


class _Examination:
    """Checks versions that exist and were read completely; plans that keep any other version are rejected before."""

    def __init__(self, history: HistorySummary, manifests: PaimonManifests, sizes: dict[str, int]) -> None:
        self.history, self.manifests, self.sizes = history, manifests, sizes
        self.problems: dict[int, Problem] = {}
        self.points = {
            position: (holder, holder.snapshot.fields)
            for position, holder in enumerate(history.holders)
            if holder.exists and holder.snapshot is not None and position not in history.incomplete
        }

    def _blame(
        self,
        position: int,
        path: str,
        expected: str,
        found: str,
        remedy: str = _RESTORE,
        code: Fault = Fault.CONTRADICTION,
    ) -> None:
        if position in self.points:
            self.problems.setdefault(position, Problem(path, expected, found, remedy, code))

    # documents ---------------------------------------------------------------------------------------------------

    def documents(self) -> None:
        """Find files named under an unknown key, sizes without their list, and copies of one snapshot that differ."""
        copies: dict[tuple[Any, ...], tuple[int, Holder, Mapping[str, Any]]] = {}
        for position, (holder, fields) in self.points.items():
            for key, value in fields.items():
                name = None if key in _TEXTS else next(filter(_FILE_NAME.fullmatch, _strings(value)), None)
                if name is not None:
                    expected = message("no file name under an unknown key")
                    self._blame(position, holder.path, expected, f"{key!r}: {name!r}", _NEWER)
            for key in _LISTS:
                if isinstance(fields.get(f"{key}Size"), int) and fields.get(key) is None:
                    self._blame(
                        position, holder.path, message("a {key}, because its size is given", key=key), message("none")
                    )
            if holder.kind is HolderKind.CHANGELOG:
                continue
            first, other, theirs = copies.setdefault(tuple(map(fields.get, _COMMIT)), (position, holder, fields))
            uuids = fields.get("uuid"), theirs.get("uuid")
            if None not in uuids and uuids[0] != uuids[1]:
                continue
            for key in _VIEW:
                if fields.get(key) != theirs.get(key):
                    expected = message(
                        "the {key} of {point}, a copy of the same snapshot: {theirs}",
                        key=key,
                        point=other.point,
                        theirs=theirs.get(key),
                    )
                    for each in (position, first):
                        self._blame(each, holder.path, expected, f"{fields.get(key)}")

    # lists and manifests -------------------------------------------------------------------------------------------

    def lists(self, contents: Callable[[list[str]], ManifestContents]) -> None:
        """Compare what lists state about manifests, manifests about files, and snapshots about rows with the facts."""
        sizes = self.sizes
        given = named(self.history.heads, self.history.holders)
        wanted = {**given.lists.number, **given.changelog_lists.number}
        add_unlisted(self.manifests.size, wanted, sizes, {})  # a listing may be stale
        names = [name for name in wanted if name in sizes]
        loaded = self.manifests.load(names, LIST, sizes)
        manifests = loaded.rows["name"].unique().to_pylist()
        manifest_of = (
            pc.index_in(loaded.rows["name"], value_set=pa.array(manifests, pa.string())).to_numpy().astype(np.int64)
        )
        of_list = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(loaded.start))
        facts = contents(manifests)
        wrong: dict[str, tuple[str, str, str]] = {}  # list → path, expected, found

        def blame(bad: Mask, expected: str, found: str) -> None:
            for row in np.flatnonzero(bad):
                wrong.setdefault(
                    names[of_list[row]], (f"{layout.MANIFEST}/{manifests[manifest_of[row]]}", expected, found)
                )

        for column, true, what in (
            ("added", facts.added, "ADD entries"),
            ("deleted", facts.deleted, "DELETE entries"),
            ("bytes", np.array([sizes.get(name, -1) for name in manifests], dtype=np.int64), "bytes"),
        ):
            blame(
                loaded.rows[column].to_numpy() != true[manifest_of],
                message("as many {what} as its list states", what=what),
                message("a different number"),
            )
        blame(
            _repeated(of_list * max(len(manifests), 1) + manifest_of),
            message("each manifest once in a list"),
            message("it listed twice"),
        )
        blame(
            np.isin(manifest_of, facts.contradictory),
            message("what other manifests say about the same file"),
            message("a different size, schema or number of rows"),
        )
        for source in (given.lists, given.changelog_lists) if wrong else ():
            listed = source.names
            for position, number in zip(source.position, source.name, strict=True):
                if problem := wrong.get(listed[number]):
                    self._blame(position, *problem)
        if odd := {**self.manifests.odd, **facts.odd}:
            parts = np.split(manifest_of, loaded.start[1:-1]) if names else []
            behind = {name: [manifests[each] for each in part] for name, part in zip(names, parts, strict=True)}
            self._fields(given, behind, odd)
        self._rows(dict(zip(names, _sums(of_list, facts.rows[manifest_of], len(names)).tolist(), strict=True)))

    def _fields(self, given: Named, listed: Mapping[str, Sequence[str]], odd: Mapping[str, str]) -> None:
        """Find metadata files with fields that no known release writes: they may say that other files are needed.

        `listed`: list → its manifests. `odd`: file → such fields."""
        for source in (given.lists, given.changelog_lists, given.index_manifests):
            names = source.names
            for position, number in zip(source.position, source.name, strict=True):
                for name in (names[number], *listed.get(names[number], ())):
                    if found := odd.get(name):
                        path, expected = f"{layout.MANIFEST}/{name}", message("only known fields")
                        self._blame(position, path, expected, found, _NEWER, Fault.UNSUPPORTED)

    def _rows(self, net: Mapping[str, int]) -> None:
        """Compare the row counts of snapshots (delta and total) with those of their manifests. `net`: list → rows.

        If a writer started counting late (on a table of 0.3), all totals are too low by the same number of rows.
        """
        more: dict[int, int] = {}
        totals = self.history.totals.rows
        for position, (holder, fields) in self.points.items():
            names = [name for name in map(fields.get, _LISTS[:2]) if name is not None]
            if holder.snapshot is None or holder.kind is HolderKind.CHANGELOG or not net.keys() >= set(names):
                continue
            counted, delta = sum(net[name] for name in names), net[names[-1]]
            for what, stated, found in (
                ("deltaRecordCount", holder.snapshot.delta_rows, delta),
                (message("in its current files"), int(totals[position]), counted),
            ):
                if stated is not None and stated != found:
                    self._blame(
                        position,
                        holder.path,
                        message("manifests with {said:,} rows ({what})", said=stated, what=what),
                        f"{found:,}",
                    )
            if holder.snapshot.total_rows is not None:
                more[position] = int(totals[position]) - holder.snapshot.total_rows
        for position, rows in more.items() if len(set(more.values())) > 1 else ():
            if rows:
                holder = self.points[position][0]
                self._blame(
                    position, holder.path, message("as many rows in manifests as totalRecordCount"), f"{rows:+,}"
                )


def _sums(owner: Ints, weight: Ints, owners: int) -> Ints:
    sums = np.zeros(owners, dtype=np.int64)
    np.add.at(sums, owner, weight)
    return sums


def _repeated(keys: Ints) -> Mask:
    _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
    repeated: Mask = count[number] > 1
    return repeated


def contradictory(entries: pa.Table, manifest: Ints, found: Identities) -> Ints:
    """Return manifests with an entry whose size, rows or schema differ from another entry of the same path.

    manifest: the number of each entry's manifest; found: the entries' identities
    """
    path = flat(found.files["path"]).dictionary_encode()
    owner = path.indices.to_numpy(zero_copy_only=False).astype(np.int64)[found.identity]
    wrong = np.zeros(len(owner), dtype=np.bool_)
    for column in ("bytes", "rows", "schema_id"):
        value = entries[column].to_numpy()
        one = np.zeros(len(path.dictionary), dtype=np.int64)
        one[owner] = value  # the value of an arbitrary entry of each file
        wrong |= np.bincount(owner, value != one[owner], len(one))[owner] > 0
    return np.unique(manifest[wrong])
