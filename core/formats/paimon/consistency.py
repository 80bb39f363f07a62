"""Check that redundant metadata of a table agrees before anything is deleted on its basis.

Reading uses only part of what is written, so a damaged or wrongly restored file may be readable and yet list less than
it should. Versions that are kept protect the files they list, so they are checked: counts in a manifest list against
the manifests, row counts in snapshots, entries for the same file in several manifests, copies of one snapshot, and the
disk.

Invariant: no check here fails on metadata that an engine wrote. Not detected: a whole record missing from an index
manifest, and an index manifest or statistics file replaced by that of another snapshot.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import SnapscopeError
from core.formats.paimon import layout
from core.formats.paimon.file_paths import identities
from core.formats.paimon.manifests import ADD, ENTRY, LIST, PaimonManifests
from core.formats.paimon.read.metadata_files import Named, named
from core.messages import Reason, told
from core.model import codes
from core.model.codes import Fault
from core.model.history import History
from core.model.intervals import Ints, Mask
from core.model.references import Holder, HolderKind, ObjectKind, Problem
from core.storage.decoded_files import Loaded, add_unlisted
from core.storage.store import Store

_LISTERS = 16
_LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_VIEW = ("baseManifestList", "deltaManifestList", "indexManifest", "statistics")
_TEXTS = frozenset({*_LISTS, *_VIEW, "commitUser", "properties"})  # keys that name a file, or that users fill
_FILE_NAME = re.compile(
    r"(.*/)?((manifest|manifest-list|index-manifest|index|stat)-[0-9a-f]{8}-[0-9a-f]{4}-.+"
    r"|[^/]*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d[^/]*)"
)
_COMMIT = ("id", "commitUser", "commitIdentifier", "timeMillis", "commitKind")  # identical in every copy of a snapshot
_FILES = (ObjectKind.DATA, ObjectKind.INDEX, ObjectKind.CHANGELOG, ObjectKind.STATISTICS)
_RESTORE = told(
    "A file was damaged or replaced by another one: restore it from a good copy, or delete "
    "this snapshot or tag by name."
)
_NEWER = told(
    "If a newer Paimon release wrote this, update Snapscope. Otherwise restore the file from a good copy, or delete "
    "this snapshot or tag by name."
)


@dataclass(frozen=True)
class Findings:
    """The result of a check.

    `problems`: position → a contradiction found there. `unsure`: a directory or path in which nothing may be deleted →
    why. `gone`: files to be deleted that are no longer listed.
    """

    problems: Mapping[int, Problem]
    unsure: Mapping[str, Reason]
    gone: frozenset[str] = frozenset()

    def doubt(self, path: str) -> Reason | None:
        return self.unsure.get(path) or self.unsure.get(path.rpartition("/")[0])


def examine(store: Store, history: History, manifests: PaimonManifests, frees: Collection[str]) -> Findings:
    """Check every existing version, and the directories of the files to be deleted."""
    found = _Examination(store, history, manifests)
    found.documents()
    found.lists()
    return dataclasses.replace(doubts(store, history, frees), problems=found.problems)


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


def doubts(store: Store, history: History, frees: Collection[str]) -> Findings:
    """Check only the directories of the files to be deleted."""
    gone = set[str]()
    return Findings({}, dict(_absent(store, history, frees, gone)), frozenset(gone))


class _Examination:
    """Checks versions that exist and were read completely; plans that keep any other version are rejected before."""

    def __init__(self, store: Store, history: History, manifests: PaimonManifests) -> None:
        self.store, self.history, self.manifests = store, history, manifests
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
                    expected = told("no file name under an unknown key")
                    self._blame(position, holder.path, expected, f"{key!r}: {name!r}", _NEWER)
            for key in _LISTS:
                if isinstance(fields.get(f"{key}Size"), int) and fields.get(key) is None:
                    self._blame(
                        position, holder.path, told("a {key}, because its size is given", key=key), told("none")
                    )
            if holder.kind is HolderKind.CHANGELOG:
                continue
            first, other, theirs = copies.setdefault(tuple(map(fields.get, _COMMIT)), (position, holder, fields))
            uuids = fields.get("uuid"), theirs.get("uuid")
            if None not in uuids and uuids[0] != uuids[1]:
                continue
            for key in _VIEW:
                if fields.get(key) != theirs.get(key):
                    expected = told(
                        "the {key} of {point}, a copy of the same snapshot: {theirs}",
                        key=key,
                        point=other.point,
                        theirs=theirs.get(key),
                    )
                    for each in (position, first):
                        self._blame(each, holder.path, expected, f"{fields.get(key)}")

    # lists and manifests -------------------------------------------------------------------------------------------

    def lists(self) -> None:
        """Compare what lists state about manifests, manifests about files, and snapshots about rows with the facts."""
        sizes = {entry.name: entry.size for entry in self.store.ls_if_there(layout.MANIFEST) if entry.size is not None}
        given = named(self.history.heads, self.history.holders)
        wanted = {**given.lists.number, **given.changelog_lists.number}
        add_unlisted(self.manifests.size, wanted, sizes, {})  # a listing may be stale
        names = [name for name in wanted if name in sizes]
        loaded = self.manifests.load(names, LIST, sizes)
        manifests = loaded.rows["name"].unique().to_pylist()
        of = pc.index_in(loaded.rows["name"], value_set=pa.array(manifests, pa.string())).to_numpy().astype(np.int64)
        of_list = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(loaded.start))
        entries = self.manifests.load(manifests, ENTRY, sizes)
        manifest = np.repeat(np.arange(len(manifests), dtype=np.int64), np.diff(entries.start))
        is_add = entries.rows["kind"].to_numpy() == ADD
        rows = entries.rows["rows"].to_numpy()
        wrong: dict[str, tuple[str, str, str]] = {}  # list → path, expected, found

        def blame(bad: Mask, expected: str, found: str) -> None:
            for row in np.flatnonzero(bad):
                wrong.setdefault(names[of_list[row]], (f"{layout.MANIFEST}/{manifests[of[row]]}", expected, found))

        for column, true, what in (
            ("added", _sums(manifest, is_add.astype(np.int64), len(manifests)), "ADD entries"),
            ("deleted", _sums(manifest, (~is_add).astype(np.int64), len(manifests)), "DELETE entries"),
            ("bytes", np.array([sizes.get(name, -1) for name in manifests], dtype=np.int64), "bytes"),
        ):
            blame(
                loaded.rows[column].to_numpy() != true[of],
                told("as many {what} as its list states", what=what),
                told("a different number"),
            )
        blame(
            _repeated(of_list * max(len(manifests), 1) + of),
            told("each manifest once in a list"),
            told("it listed twice"),
        )
        contradictory = np.isin(of, _contradictory(entries, manifest, self.history))
        blame(
            contradictory,
            told("what other manifests say about the same file"),
            told("a different size, schema or number of rows"),
        )
        for source in (given.lists, given.changelog_lists) if wrong else ():
            listed = source.names
            for position, number in zip(source.position, source.name, strict=True):
                if problem := wrong.get(listed[number]):
                    self._blame(position, *problem)
        if self.manifests.odd:
            parts = np.split(of, loaded.start[1:-1]) if names else []
            self._fields(given, {name: [manifests[each] for each in of] for name, of in zip(names, parts, strict=True)})
        net = _sums(manifest, np.where(is_add, rows, -rows), len(manifests))
        self._rows(dict(zip(names, _sums(of_list, net[of], len(names)).tolist(), strict=True)))

    def _fields(self, given: Named, listed: Mapping[str, Sequence[str]]) -> None:
        """Find metadata files with fields that no known release writes: they may say that other files are needed.

        `listed`: list → its manifests."""
        for source in (given.lists, given.changelog_lists, given.index_manifests):
            names = source.names
            for position, number in zip(source.position, source.name, strict=True):
                for name in (names[number], *listed.get(names[number], ())):
                    if found := self.manifests.odd.get(name):
                        path, expected = f"{layout.MANIFEST}/{name}", told("only known fields")
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
            for what, said, found in (
                ("deltaRecordCount", holder.snapshot.delta_rows, delta),
                (told("in its current files"), int(totals[position]), counted),
            ):
                if said is not None and said != found:
                    self._blame(
                        position,
                        holder.path,
                        told("manifests with {said:,} rows ({what})", said=said, what=what),
                        f"{found:,}",
                    )
            if holder.snapshot.total_rows is not None:
                more[position] = int(totals[position]) - holder.snapshot.total_rows
        for position, rows in more.items() if len(set(more.values())) > 1 else ():
            if rows:
                holder = self.points[position][0]
                self._blame(position, holder.path, told("as many rows in manifests as totalRecordCount"), f"{rows:+,}")


def _sums(owner: Ints, weight: Ints, owners: int) -> Ints:
    sums = np.zeros(owners, dtype=np.int64)
    np.add.at(sums, owner, weight)
    return sums


def _repeated(keys: Ints) -> Mask:
    _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
    repeated: Mask = count[number] > 1
    return repeated


def _contradictory(entries: Loaded, manifest: Ints, history: History) -> Ints:
    """Return manifests with an entry whose size, rows or schema differ from another entry of the same path."""
    try:
        found = identities(entries.rows, history.heads)
    except SnapscopeError:
        return manifest[:0]  # already reported for the affected versions when the history was read
    path = found.files["path"].combine_chunks().dictionary_encode()
    owner = path.indices.to_numpy(zero_copy_only=False).astype(np.int64)[found.identity]
    wrong = np.zeros(len(owner), dtype=np.bool_)
    for column in ("bytes", "rows", "schema_id"):
        value = entries.rows[column].to_numpy()
        one = np.zeros(len(path.dictionary), dtype=np.int64)
        one[owner] = value  # the value of an arbitrary entry of each file
        wrong |= np.bincount(owner, value != one[owner], len(one))[owner] > 0
    return np.unique(manifest[wrong])


# the disk ------------------------------------------------------------------------------------------------------------


def _absent(store: Store, history: History, frees: Collection[str], gone: set[str]) -> Iterator[tuple[str, Reason]]:
    """Find files to be deleted that may be the target of a reference to a missing file.

    A version may refer to a file that does not exist because the file is in the same directory under another name, or
    in another directory under the same name. A URL may also be another spelling of the location of a file with the same
    name, since file names are unique. Files to be deleted that are not listed are added to `gone`.
    """
    going = frozenset(frees)
    kinds = pa.array([kind.value for kind in _FILES])
    mask = pc.and_(pa.array(history.held.over(history.existing)), pc.is_in(history.objects["kind"], value_set=kinds))
    held = history.objects.filter(mask)
    directory, name = _directories(held["path"]), _names(held["path"])
    in_place = pc.unique(_directories(pa.array(sorted(going), pa.string())))
    listed = _list(store, in_place.to_pylist())
    for path in going:
        parent, _, own = path.rpartition("/")
        if own not in listed.get(parent, (own,)):
            gone.add(path)
    for row in held.filter(pc.is_in(directory, value_set=in_place)).to_pylist():
        parent, _, own = row["path"].rpartition("/")
        there = listed.get(parent)
        # Entries of a compacted changelog give the sizes of ranges within it.
        size = None if row["kind"] == ObjectKind.CHANGELOG else row["bytes"]
        if there is not None and (own not in there or size not in (None, there[own])):
            yield parent, _unsure(row["path"], there.get(own), size)
    free = defaultdict(list)
    for path in going:
        free[path.rpartition("/")[2]].append(path)
    for path in held["path"].filter(pc.is_in(name, value_set=pa.array(list(free), pa.string()))).to_pylist():
        namesakes = free[path.rpartition("/")[2]]
        if path in going:
            continue
        if any(urls.is_url(each) for each in (path, *namesakes)):
            yield from ((each, codes.MAY_BE_THIS_URL(path=path)) for each in namesakes)
        elif store.size(path) is None:
            yield from ((each, _unsure(path, None, None)) for each in namesakes)


def _unsure(path: str, found: int | None, size: int | None) -> Reason:
    fate = told("does not exist")
    if found is not None:
        fate = told("has {found} bytes instead of {size}", found=found, size=size)
    return codes.MAY_BE_THIS(path=path, fate=fate)


def _directories(paths: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.replace_substring_regex(paths, "/[^/]*$", "")


def _names(paths: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(paths, "^.*/", "")


def _list(store: Store, directories: list[str]) -> dict[str, dict[str, int | None]]:
    own = [each for each in directories if not urls.is_url(each) and not each.startswith("/")]

    def one(directory: str) -> dict[str, int | None]:
        return {entry.name: entry.size for entry in store.ls_if_there(directory)}

    with ThreadPoolExecutor(_LISTERS) as pool:
        return dict(zip(own, pool.map(one, own), strict=True))
