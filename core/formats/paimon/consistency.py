"""What a table's metadata says twice must agree before anything is deleted by it.

Reading needs only part of what is written; a file that rotted, or was restored wrongly, may read well and say less
than it did. Whatever stays protects files by what it says, so it is cross-examined: counts told by whoever names a
file, rows told by snapshots, the same file told by several manifests, copies of one snapshot, and the disk.

Law: no check here fails on what an engine wrote. Nothing tells of a whole record that an index manifest lost, nor of
another snapshot's index manifest or statistics in the place of a snapshot's own.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
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
from core.formats.paimon.read.metadata_files import named
from core.messages import Reason, told
from core.model import codes
from core.model.codes import Fault
from core.model.history import History
from core.model.intervals import Ints, Mask
from core.model.references import Holder, HolderKind, ObjectKind, Problem
from core.storage.decoded_files import Loaded
from core.storage.store import Store

_LISTERS = 16
_LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_VIEW = ("baseManifestList", "deltaManifestList", "indexManifest", "statistics")
_TEXTS = frozenset({*_LISTS, *_VIEW, "commitUser"})  # keys that name a file, and one whose text a user chooses
_FILE_NAME = re.compile(r"(manifest|manifest-list|index-manifest|index|stat)-[0-9a-f]{8}-[0-9a-f]{4}-.+")
_COMMIT = ("id", "commitUser", "commitIdentifier", "timeMillis", "commitKind")  # the same in every copy of a snapshot
_FILES = (ObjectKind.DATA, ObjectKind.INDEX, ObjectKind.CHANGELOG, ObjectKind.STATISTICS)
_RESTORE = told("A file was damaged or replaced by another: restore it from a good copy, or drop this point by name.")


@dataclass(frozen=True)
class Findings:
    """`problems`: position → a contradiction in what it says. `unsure`: a directory, or a path, in which nothing may
    be deleted, and why."""

    problems: Mapping[int, Problem]
    unsure: Mapping[str, Reason]

    def doubt(self, path: str) -> Reason | None:
        return self.unsure.get(path) or self.unsure.get(path.rpartition("/")[0])


def examine(store: Store, history: History, manifests: PaimonManifests, frees: Collection[str]) -> Findings:
    """Cross-examine every point that exists, and the directories of the files that shall go."""
    found = _Examination(store, history, manifests)
    found.documents()
    found.lists()
    return dataclasses.replace(doubts(store, history, frees), problems=found.problems)


def doubts(store: Store, history: History, frees: Collection[str]) -> Findings:
    """The directories of the files that shall go alone."""
    return Findings({}, dict(_absent(store, history, frees)))


class _Examination:
    """Only what exists and was read in full is examined: whatever else stays is refused already."""

    def __init__(self, store: Store, history: History, manifests: PaimonManifests) -> None:
        self.store, self.history, self.manifests = store, history, manifests
        self.problems: dict[int, Problem] = {}
        self.points = {
            position: (holder, holder.snapshot.fields)
            for position, holder in enumerate(history.holders)
            if holder.exists and holder.snapshot is not None and position not in history.incomplete
        }

    def _blame(self, position: int, path: str, expected: str, found: str) -> None:
        if position in self.points:
            self.problems.setdefault(position, Problem(path, expected, found, _RESTORE, Fault.CONTRADICTION))

    # documents ---------------------------------------------------------------------------------------------------

    def documents(self) -> None:
        """A file named under a key nobody knows, a size without its list, two copies of one snapshot that differ."""
        copies: dict[tuple[Any, ...], tuple[int, Holder, Mapping[str, Any]]] = {}
        for position, (holder, fields) in self.points.items():
            for key, value in fields.items():
                if key not in _TEXTS and isinstance(value, str) and _FILE_NAME.fullmatch(value):
                    self._blame(
                        position, holder.path, told("no file named under an unknown key"), f"{key!r}: {value!r}"
                    )
            for key in _LISTS:
                if isinstance(fields.get(f"{key}Size"), int) and fields.get(key) is None:
                    self._blame(position, holder.path, told("a {key}, whose size is told", key=key), told("none"))
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
        """What lists say of manifests, manifests of files, and snapshots of rows, against what is there."""
        sizes = {entry.name: entry.size for entry in self.store.ls_if_there(layout.MANIFEST) if entry.size is not None}
        given = named(self.history.heads, self.history.holders)
        names = [name for name in {**given.lists.number, **given.changelog_lists.number} if name in sizes]
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
                told("as many {what} as its list tells", what=what),
                told("others"),
            )
        blame(
            _repeated(of_list * max(len(manifests), 1) + of),
            told("each manifest once in a list"),
            told("it is named twice"),
        )
        contradictory = np.isin(of, _contradictory(entries, manifest, self.history))
        blame(
            contradictory,
            told("what other manifests tell of the same file"),
            told("another size, schema or number of rows"),
        )
        for source in (given.lists, given.changelog_lists) if wrong else ():
            listed = source.names
            for position, number in zip(source.position, source.name, strict=True):
                if problem := wrong.get(listed[number]):
                    self._blame(position, *problem)
        net = _sums(manifest, np.where(is_add, rows, -rows), len(manifests))
        self._rows(dict(zip(names, _sums(of_list, net[of], len(names)).tolist(), strict=True)))

    def _rows(self, net: Mapping[str, int]) -> None:
        """The rows that snapshots tell of their delta and their view, and those of their manifests (list → rows).

        Where a writer began to count late (on a table of 0.3) every view has the same number of rows more than told.
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
                (told("in its live files"), int(totals[position]), counted),
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
    """Manifests with an entry that tells other bytes or rows of a file than another entry of the same path does."""
    try:
        found = identities(entries.rows, history.heads)
    except SnapscopeError:
        return manifest[:0]  # told of the points that need it when the history was read
    path = found.files["path"].combine_chunks().dictionary_encode()
    owner = path.indices.to_numpy(zero_copy_only=False).astype(np.int64)[found.identity]
    wrong = np.zeros(len(owner), dtype=np.bool_)
    for column in ("bytes", "rows", "schema_id"):
        value = entries.rows[column].to_numpy()
        one = np.zeros(len(path.dictionary), dtype=np.int64)
        one[owner] = value  # what any one entry says of each file
        wrong |= np.bincount(owner, value != one[owner], len(one))[owner] > 0
    return np.unique(manifest[wrong])


# the disk ------------------------------------------------------------------------------------------------------------


def _absent(store: Store, history: History, frees: Collection[str]) -> Iterator[tuple[str, Reason]]:
    """Where a point names a file that is not there, the file it means may be one that looks free: in the same
    directory under another name, or in another directory under the same name. And a URL may be another way to write
    the place of a file of that name: names of files are unique."""
    going = frozenset(frees)
    kinds = pa.array([kind.value for kind in _FILES])
    mask = pc.and_(pa.array(history.held.over(history.existing)), pc.is_in(history.objects["kind"], value_set=kinds))
    held = history.objects.filter(mask)
    directory, name = _directories(held["path"]), _names(held["path"])
    in_place = pc.unique(_directories(pa.array(sorted(going), pa.string())))
    listed = _list(store, in_place.to_pylist())
    for row in held.filter(pc.is_in(directory, value_set=in_place)).to_pylist():
        parent, _, own = row["path"].rpartition("/")
        there = listed.get(parent)
        # A compacted changelog's entries tell the sizes of windows into it.
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
    fate = told("is not there")
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
