"""Find files that are not where a version says, near the files to be deleted.

A version may refer to a file that does not exist because the file is in the same directory under another name, or in
another directory under the same name. A URL may also be another spelling of the location of a file with the same name,
since file names are unique. What may be such a file stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.formats.paimon import layout
from core.formats.parts import Missing
from core.messages import Reason, message
from core.model import codes
from core.model.history import History
from core.model.references import ObjectKind
from core.model.unheld import names
from core.storage import listings
from core.storage.store import Store

_KINDS = (ObjectKind.DATA, ObjectKind.INDEX, ObjectKind.CHANGELOG, ObjectKind.STATISTICS)


@dataclass(frozen=True)
class Doubts:
    """unsure: a directory or path in which nothing may be deleted → why; gone: files to be deleted that are no longer
    listed."""

    unsure: Mapping[str, Reason]
    gone: frozenset[str] = frozenset()

    def of(self, path: str) -> Reason | None:
        """Return why a file stays; None if it may be deleted. In the table's directory, only its own files may be."""
        why = self.unsure.get(path) or self.unsure.get(path.rpartition("/")[0])
        return why or (None if urls.is_url(path) or layout.is_place(path) else codes.NO_PLACE())


@dataclass(frozen=True, slots=True)
class PaimonDiskCheck:
    """The check of the directories of files to be deleted. It can be pickled.

    directories: of files to be deleted, inside the table; names: of files to be deleted, without their directories
    """

    store: Store
    directories: pa.Array
    names: pa.Array

    @classmethod
    def of(cls, store: Store, frees: Collection[str]) -> PaimonDiskCheck:
        paths = pa.array(sorted(frees), pa.string())
        own = [each for each in pc.unique(_directories(paths)).to_pylist() if _is_own(each)]
        return cls(store, pa.array(own, pa.string()), pc.unique(names(paths)))

    def listed(self, directories: Collection[str]) -> pa.Table:
        """List some of the directories: path and bytes (null where the store does not tell) of everything in them.

        Manifests cannot name what is not text."""
        schema = pa.schema([("path", pa.string()), ("bytes", pa.int64())])
        there = [
            (f"{directory}/{each.name}", each.size)
            for directory, entries in listings.of(self.store, directories).items()
            for each in entries
            if urls.is_text(each.name)
        ]
        return pa.table([[path for path, _ in there], [size for _, size in there]], schema=schema)

    def missing(self, objects: pa.Table, listed: pa.Table) -> Missing:
        """Look for what versions hold: `objects` are paths, kinds and bytes, `listed` what is at these paths."""
        files = pa.array([kind.value for kind in _KINDS])
        held = objects.filter(pc.is_in(objects["kind"], value_set=files))
        near = held.filter(pc.is_in(_directories(held["path"]), value_set=self.directories))
        at = pc.index_in(near["path"], value_set=listed["path"].combine_chunks())
        there = listed["bytes"].take(at)
        # Entries of a compacted changelog give the sizes of ranges within it.
        sized = pc.and_(pc.is_valid(near["bytes"]), pc.not_equal(near["kind"], ObjectKind.CHANGELOG.value))
        differs = pc.and_(sized, pc.invert(pc.fill_null(pc.equal(near["bytes"], there), False)))
        is_wrong = pc.or_(pc.is_null(at), differs)
        unsure = dict[str, Reason]()
        rows = pa.table([near["path"], near["bytes"], there], ["path", "bytes", "there"]).filter(is_wrong).to_pylist()
        for row in rows:
            unsure[row["path"].rpartition("/")[0]] = _unsure(row["path"], row["there"], row["bytes"])
        alike = held["path"].filter(pc.is_in(names(held["path"]), value_set=self.names))
        return Missing(unsure, frozenset(alike.to_pylist()))

    def doubts(self, found: Iterable[Missing], frees: Collection[str], gone: Collection[str]) -> Doubts:
        """Put together what was found of all objects."""
        unsure, alike = dict[str, Reason](), set[str]()
        for each in found:
            unsure |= each.unsure
            alike |= each.namesakes
        free = defaultdict(list)
        freed_paths = frozenset(frees)
        for path in freed_paths if alike else ():
            free[path.rpartition("/")[2]].append(path)
        for path in sorted(alike - freed_paths):
            namesakes = free[path.rpartition("/")[2]]
            if any(urls.is_url(each) for each in (path, *namesakes)):
                unsure |= dict.fromkeys(namesakes, codes.MAY_BE_THIS_URL(path=path))
            elif self.store.size(path) is None:
                unsure |= dict.fromkeys(namesakes, _unsure(path, None, None))
        return Doubts(unsure, frozenset(gone))


def doubts(store: Store, history: History, frees: Collection[str]) -> Doubts:
    """Check the directories of the files to be deleted."""
    check = PaimonDiskCheck.of(store, frees)
    listed = check.listed(check.directories.to_pylist())
    freed_paths = pa.array(sorted(frees), pa.string())
    near = pc.is_in(_directories(freed_paths), value_set=check.directories)
    is_there = pc.is_in(freed_paths, value_set=listed["path"].combine_chunks())
    gone = freed_paths.filter(pc.and_(near, pc.invert(is_there))).to_pylist()
    held = history.objects.filter(pa.array(history.held.over(history.existing)))
    return check.doubts([check.missing(held, listed)], frees, gone)


def _is_own(directory: str) -> bool:
    return not urls.is_url(directory) and not directory.startswith("/")


def _unsure(path: str, found: int | None, size: int | None) -> Reason:
    fate = message("does not exist")
    if found is not None:
        fate = message("has {found} bytes instead of {size}", found=found, size=size)
    return codes.MAY_BE_THIS(path=path, fate=fate)


def _directories(paths: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.replace_substring_regex(paths, "/[^/]*$", "")
