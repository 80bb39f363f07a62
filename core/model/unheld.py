"""Files that a store lists, and which of them no version holds. Pure.

Invariant: files are compared by name, not by path: paths depend on options that may have changed since a file was
written, and names are unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

LISTED = pa.schema([("path", pa.string()), ("kind", pa.string()), ("bytes", pa.int64()), ("stays", pa.string())])


@dataclass(frozen=True, slots=True)
class Listed:
    """What is in some directories.

    files: path, kind, bytes (null where unknown) and why a file stays even if nothing holds it (null if it does not)
    odd: paths that are no text, which no plan can name
    tables, others: directories that were not entered
    """

    files: pa.Table
    odd: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @classmethod
    def together(cls, some: Iterable[Listed]) -> Listed:
        every = list(some)
        return cls(
            pa.concat_tables([LISTED.empty_table(), *(each.files for each in every)]),
            tuple(path for each in every for path in each.odd),
            tuple(path for each in every for path in each.tables),
            tuple(path for each in every for path in each.others),
        )


class Lister(Protocol):
    """Lists directories of one table. It can be pickled."""

    def listed(self, directories: Sequence[str]) -> Listed: ...


@dataclass(frozen=True, slots=True)
class NoLister:
    """Lists nothing: where all files are given."""

    def listed(self, directories: Sequence[str]) -> Listed:
        assert not directories
        return Listed(LISTED.empty_table())


@dataclass(frozen=True, slots=True)
class Unheld:
    """Of listed files, those that no version holds.

    frees: path, kind and bytes of those that may be deleted, in any order
    kept: why others are kept → how many
    listed: as given, without files
    """

    frees: pa.Table
    kept: Mapping[str, int]
    listed: Listed


def names(paths: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return paths without their directories."""
    return pc.replace_substring_regex(paths, "(?s)^.*/", "")


def unheld(files: pa.Table, held: pa.Array | pa.ChunkedArray) -> tuple[pa.Table, dict[str, int]]:
    """Return the files that may be deleted, and why others are kept → how many. `held`: names."""
    unheld_files = files.filter(pc.invert(pc.is_in(names(files["path"]), value_set=pc.unique(held))))
    is_deletable = pc.is_null(unheld_files["stays"])
    counts = unheld_files.filter(pc.invert(is_deletable))["stays"].value_counts().to_pylist()
    frees = unheld_files.filter(is_deletable).select(["path", "kind", "bytes"])
    return frees, {each["values"]: each["counts"] for each in counts}


def given(paths: Iterable[str]) -> Listed:
    """Return files of which only the path is known."""
    rows = [{"path": path} for path in paths]
    return Listed(pa.Table.from_pylist(rows, LISTED))
