"""What a table's metadata says twice must agree before anything is deleted by it.

Reading needs only part of what is written; a file that rotted, or was restored wrongly, may read well and say less
than it did. Whatever stays protects files by what it says, so it is cross-examined: sizes and counts told by whoever
names a file, rows told by snapshots, the same file told by several manifests, copies of one snapshot, and the disk.

Law: no check here fails on what an engine wrote. What an index manifest lost as a whole record nothing tells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats.paimon import layout
from core.formats.paimon.files import identities
from core.formats.paimon.manifest import ADD, ENTRY, LIST, Loaded, Manifests
from core.history import History
from core.model import Holder, HolderKind, ObjectKind, Problem
from core.runs import Ints
from core.store import Store

_LISTERS = 16
_LISTS = ("baseManifestList", "deltaManifestList", "changelogManifestList")
_NAMING = frozenset({*_LISTS, "indexManifest", "statistics"})
_FILE_NAME = re.compile(r"(manifest|index|stat)-.+")
_SAME = ("id", "commitUser", "commitIdentifier", "timeMillis", "commitKind")
_RESTORE = "A file was damaged or replaced by another: restore it from a good copy."


@dataclass(frozen=True)
class Findings:
    """`problems`: position → a contradiction in what it says. `unsure`: a directory, or a path, in which nothing may
    be deleted, and why."""

    problems: Mapping[int, Problem]
    unsure: Mapping[str, str]

    def doubt(self, path: str) -> str | None:
        return self.unsure.get(path) or self.unsure.get(path.rpartition("/")[0])


def examine(store: Store, history: History, manifests: Manifests, frees: Collection[str]) -> Findings:
    """Cross-examine every point that exists, and the directories of the files that shall go."""
    found = _Examination(store, history, manifests)
    found.documents()
    found.lists()
    return Findings(found.problems, dict(_absent(store, history, frees)))


@dataclass
class _Examination:
    store: Store
    history: History
    manifests: Manifests
    problems: dict[int, Problem] = field(default_factory=dict)

    def _blame(self, position: int, path: str, expected: str, found: str) -> None:
        self.problems.setdefault(position, Problem(path, expected, found, _RESTORE))

    def _points(self) -> Iterator[tuple[int, Holder, Mapping[str, Any]]]:
        for position, holder in enumerate(self.history.holders):
            if holder.exists and holder.snapshot is not None and position not in self.history.incomplete:
                yield position, holder, holder.snapshot.fields

    # documents ---------------------------------------------------------------------------------------------------

    def documents(self) -> None:
        """A name under a key nobody knows, a size without its list, two copies of one snapshot that differ."""
        copies: dict[tuple[Any, ...], tuple[int, Holder, Mapping[str, Any]]] = {}
        for position, holder, fields in self._points():
            for key, value in fields.items():
                if key not in _NAMING and isinstance(value, str) and _FILE_NAME.fullmatch(value):
                    self._blame(position, holder.path, "no file named under an unknown key", f"{key!r}: {value!r}")
            for name in _LISTS:
                if isinstance(fields.get(f"{name}Size"), int) and not isinstance(fields.get(name), str):
                    self._blame(position, holder.path, f"a {name}, whose size is told", "none")
            if holder.kind is HolderKind.CHANGELOG:
                continue
            other = copies.setdefault(tuple(fields.get(key) for key in _SAME), (position, holder, fields))
            told = fields.get("uuid"), other[2].get("uuid")
            if None not in told and told[0] != told[1]:
                continue
            for key in ("baseManifestList", "deltaManifestList", "indexManifest", "statistics"):
                if fields.get(key) != other[2].get(key):
                    expected = f"the {key} of {other[1].point}, a copy of the same snapshot: {other[2].get(key)}"
                    for each in (position, other[0]):
                        self._blame(each, holder.path, expected, f"{fields.get(key)}")

    # lists and manifests -------------------------------------------------------------------------------------------

    def lists(self) -> None:
        listing = self.store.ls_if_there(layout.MANIFEST)
        sizes = {entry.name: entry.size for entry in listing if entry.size is not None}
        named: dict[int, list[str]] = {}
        for position, holder, fields in self._points():
            keys = _LISTS[:2] if holder.kind is HolderKind.TAG else _LISTS
            told_names = (fields.get(key) for key in keys)
            named[position] = [name for name in told_names if isinstance(name, str) and name in sizes]
        names: list[str] = list(dict.fromkeys(name for each in named.values() for name in each))
        loaded = self.manifests.load(names, LIST, sizes)
        manifest_names = loaded.rows["name"].unique().to_pylist()
        of = (
            pc.index_in(loaded.rows["name"], value_set=pa.array(manifest_names, pa.string()))
            .to_numpy()
            .astype(np.int64)
        )
        entries = self.manifests.load(manifest_names, ENTRY, sizes)
        count = len(manifest_names)
        manifest = np.repeat(np.arange(count, dtype=np.int64), np.diff(entries.start))
        is_add = entries.rows["kind"].to_numpy() == ADD
        rows = entries.rows["rows"].to_numpy()
        added, net = (
            _sums(manifest, is_add.astype(np.int64), count),
            _sums(manifest, np.where(is_add, rows, -rows), count),
        )
        deleted = _sums(manifest, (~is_add).astype(np.int64), count)
        held = np.array([sizes.get(name, -1) for name in manifest_names], dtype=np.int64)
        bad: dict[int, str] = {}  # manifest → what contradicts
        for number in _contradictory(entries, manifest, self.history):
            bad[int(number)] = "another size or number of rows for a file than another manifest tells"
        first_bad: dict[int, tuple[str, str, str]] = {}  # list → (path, expected, found)
        of_list = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(loaded.start))
        for what, said, true in (
            ("ADD entries", loaded.rows["added"], added),
            ("DELETE entries", loaded.rows["deleted"], deleted),
            ("bytes", loaded.rows["bytes"], held),
        ):
            told = said.to_numpy()
            for row in np.flatnonzero(told != true[of]) if count else ():
                name = manifest_names[of[row]]
                first_bad.setdefault(
                    int(of_list[row]), (f"{layout.MANIFEST}/{name}", f"{told[row]} {what}", f"{true[of[row]]}")
                )
        for number in range(len(names)):
            mine = of[loaded.start[number] : loaded.start[number + 1]]
            if len(np.unique(mine)) != len(mine):
                first_bad.setdefault(number, (f"{layout.MANIFEST}/{names[number]}", "each manifest once", "one twice"))
            elif bad and (wrong := next((each for each in mine.tolist() if each in bad), None)) is not None:
                path = f"{layout.MANIFEST}/{manifest_names[wrong]}"
                first_bad.setdefault(number, (path, "what other manifests tell of the same file", bad[wrong]))
        number_of = {name: number for number, name in enumerate(names)}
        list_net = _sums(of_list, net[of] if count else of, len(names))
        for position, holder, fields in self._points():
            for name in named[position]:
                if told_bad := first_bad.get(number_of[name]):
                    self._blame(position, *told_bad)
                size = fields.get(next(key for key in _LISTS if fields.get(key) == name) + "Size")
                if isinstance(size, int) and size != sizes[name]:
                    self._blame(position, f"{layout.MANIFEST}/{name}", f"{size} bytes", f"{sizes[name]}")
            if holder.kind is not HolderKind.CHANGELOG:
                self._rows(position, holder, fields, number_of, list_net)

    def _rows(
        self, position: int, holder: Holder, fields: Mapping[str, Any], number_of: Mapping[str, int], net: Ints
    ) -> None:
        """The rows that a snapshot tells of its delta and of its whole view, counted in its manifests."""
        assert holder.snapshot is not None
        numbers = (number_of.get(str(fields.get(key))) for key in _LISTS[:2])
        base, delta = (0 if number is None else int(net[number]) for number in numbers)
        total = int(self.history.totals.rows[position])
        for what, said, found in (
            ("deltaRecordCount", holder.snapshot.delta_rows, delta),
            ("totalRecordCount", holder.snapshot.total_rows, base + delta),
            ("totalRecordCount", holder.snapshot.total_rows, total),
        ):
            if said is not None and said != found:
                self._blame(position, holder.path, f"manifests with {said:,} rows ({what})", f"{found:,}")


def _sums(owner: Ints, weight: Ints, owners: int) -> Ints:
    sums = np.zeros(owners, dtype=np.int64)
    np.add.at(sums, owner, weight)
    return sums


def _contradictory(entries: Loaded, manifest: Ints, history: History) -> Iterable[int]:
    """Manifests with an entry that tells other bytes or rows of a file than another entry of the same path does."""
    if not len(manifest):
        return ()
    try:
        found = identities(entries.rows, history.heads)
    except SnapscopeError:
        return ()  # told of the points that need it when the history was read
    path = found.files["path"].combine_chunks().dictionary_encode()
    owner = path.indices.to_numpy(zero_copy_only=False).astype(np.int64)[found.identity]
    wrong = np.zeros(len(owner), dtype=np.bool_)
    for column in ("bytes", "rows", "schema_id"):
        value = entries.rows[column].to_numpy()
        least = np.full(len(path.dictionary), np.iinfo(np.int64).max)
        greatest = np.full(len(path.dictionary), np.iinfo(np.int64).min)
        np.minimum.at(least, owner, value)
        np.maximum.at(greatest, owner, value)
        wrong |= (least != greatest)[owner]
    return np.unique(manifest[wrong])


# the disk ------------------------------------------------------------------------------------------------------------


def _absent(store: Store, history: History, frees: Collection[str]) -> Iterator[tuple[str, str]]:
    """Where a point names a file that is not there, the file it means may be one that looks free: in the same
    directory under another name, or in another directory under the same name."""
    kinds = [kind.value for kind in (ObjectKind.DATA, ObjectKind.INDEX, ObjectKind.CHANGELOG, ObjectKind.STATISTICS)]
    mask = pc.and_(
        pa.array(history.held.over(history.existing)), pc.is_in(history.objects["kind"], value_set=pa.array(kinds))
    )
    held = history.objects.filter(mask)
    going = pa.array(sorted(frees), pa.string())
    in_place = _directories(going)
    beside = held.filter(pc.is_in(_directories(held["path"]), value_set=pc.unique(in_place)))
    listed = _list(store, pc.unique(in_place).to_pylist())
    for path, size in zip(beside["path"].to_pylist(), beside["bytes"].to_pylist(), strict=True):
        directory, _, name = path.rpartition("/")
        there = listed.get(directory)
        if there is not None and (name not in there or size not in (None, there[name])):
            yield directory, _unsure(path, there.get(name), size)
    named = pc.replace_substring_regex(held["path"], "^.*/", "")
    namesakes = held.filter(
        pc.and_(
            pc.is_in(named, value_set=pc.replace_substring_regex(going, "^.*/", "")),
            pc.invert(pc.is_in(held["path"], value_set=going)),
        )
    )
    wanted = {path.rpartition("/")[2]: path for path in namesakes["path"].to_pylist()}
    lost = {name: path for name, path in wanted.items() if store.size(path) is None}
    for path in frees if lost else ():
        if (other := lost.get(path.rpartition("/")[2])) is not None:
            yield path, _unsure(other, None, None)


def _unsure(path: str, found: int | None, size: int | None) -> str:
    fate = "is not there" if found is None else f"has {found} bytes instead of {size}"
    return f"kept, because a point names {path}, which {fate}: it may mean this file"


def _directories(paths: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.replace_substring_regex(paths, "/[^/]*$", "")


def _list(store: Store, directories: list[str]) -> dict[str, dict[str, int | None]]:
    own = [each for each in directories if ":" not in each.split("/")[0] and not each.startswith("/")]

    def one(directory: str) -> dict[str, int | None]:
        return {entry.name: entry.size for entry in store.ls_if_there(directory)}

    with ThreadPoolExecutor(_LISTERS) as pool:
        return dict(zip(own, pool.map(one, own), strict=True))
