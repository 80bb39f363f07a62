"""Read many immutable metadata files in batches, with a cache of remote files on the local disk.

Invariant: a file named by a UUID never changes, so a remote file is cached under its URL and size. A short read is
never cached.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa

from core.errors import Corrupt, SnapscopeError
from core.model.intervals import Ints, Mask
from core.storage import kept_contents, time_limits
from core.storage.local_disk import InMemory
from core.storage.store import Store

T = TypeVar("T")
A = TypeVar("A")
RowRange = tuple[pa.Table, int, int]
"""A table, and its rows from the first to the second number (exclusive)."""
_BATCH_BYTES, _BATCH_FILES = 128 << 20, 4096


@dataclass(frozen=True, slots=True)
class Loaded:
    """Rows of the requested files, in that order.

    File i has rows `start[i]` (inclusive) to `start[i + 1]` (exclusive).
    """

    rows: pa.Table
    start: Ints
    errors: Mapping[str, SnapscopeError]

    def expand(self, files: Ints) -> tuple[Ints, Ints]:
        """Return all rows of the given file numbers as two parallel arrays: index into `files`, and row number."""
        return expand(self.start, files)

    def without(self, bad: Mask, names: Sequence[str], error: SnapscopeError) -> Loaded:
        """Drop all rows of each file that has a row in the mask `bad`, and record `error` for that file.

        `names` lists the file names in the order of `start`.
        """
        file = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(self.start))
        files = np.unique(file[bad])
        counts = np.diff(self.start)
        counts[files] = 0
        rows = self.rows.filter(pa.array(~np.isin(file, files)))
        errors = {**self.errors, **{names[number]: error for number in files}}
        return Loaded(rows, np.concatenate(([0], np.cumsum(counts))).astype(np.int64), errors)


def expand(start: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the given groups one after another as (index into `groups`, row number).

    `start` is defined as in `Loaded`.
    """
    counts = start[groups + 1] - start[groups]
    index = np.repeat(np.arange(len(groups), dtype=np.int64), counts)
    offset = np.arange(len(index), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return index, start[groups][index] + offset


def first_rows(of: Ints, count: int) -> Ints:
    """Return the first row of each of the values 0 to `count` - 1; -1 for a value that no row has."""
    found = np.full(count, -1, dtype=np.int64)
    found[of[::-1]] = np.arange(len(of) - 1, -1, -1, dtype=np.int64)
    return found


def gathered(
    names: Sequence[str],
    schema: pa.Schema,
    kept: MutableMapping[tuple[str, int], RowRange],
    sizes: Mapping[str, int],
    errors: Mapping[str, SnapscopeError],
    *,
    is_new: bool,
) -> Loaded:
    """Return the kept rows of these files in one table; if some are new, `kept` shares its memory from then on."""
    empty = schema.empty_table()
    ranges = [(empty, 0, 0) if name in errors else kept[(name, sizes[name])] for name in names]
    counts = [end - begin for _, begin, end in ranges]
    start = np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)
    rows = pa.concat_tables([empty, *_runs(ranges)]).combine_chunks()
    if is_new:
        places = start.tolist()
        for name, begin, end in zip(names, places, places[1:], strict=False):
            if name not in errors:
                kept[(name, sizes[name])] = rows, begin, end
        del ranges
        pa.default_memory_pool().release_unused()
    return Loaded(rows, start, errors)


def _runs(ranges: Iterable[RowRange]) -> Iterator[pa.Table]:
    """Yield the rows of these ranges; those that follow each other in one table, in one piece."""
    table, first, last = None, 0, 0
    for of, begin, end in ranges:
        if of is table and begin == last:
            last = end
            continue
        if table is not None:
            yield table.slice(first, last - first)
        table, first, last = of, begin, end
    if table is not None:
        yield table.slice(first, last - first)


def flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, without a copy if it is in one piece."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def by_file(rows: pa.Table) -> pa.Table:
    """Order rows by the number of their file, which they mostly are already."""
    file = rows["file"].to_numpy()
    return rows if (file[1:] >= file[:-1]).all() else rows.sort_by("file")


def by_size(names: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Split the names into batches of about 128 MB, at most 4,096 files each, so that each batch fits into memory."""
    batch: list[str] = []
    filled = 0
    for name in names:
        batch.append(name)
        filled += sizes[name]
        if filled >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, filled = [], 0
    if batch:
        yield batch


def add_unlisted(
    size: Callable[[str], int | None], names: Iterable[str], sizes: dict[str, int], errors: dict[str, SnapscopeError]
) -> None:
    """Add the sizes of files that metadata names but the listing does not show, because a listing may be stale.

    Each size takes one request to the store. Absent files are left out; other failures go to `errors`.
    """
    for name in names:
        if name not in sizes and name not in errors:
            try:
                found = size(name)
            except SnapscopeError as error:
                errors[name] = error
                continue
            if found is not None:
                sizes[name] = found


def sources(
    store: Store, directory: str, names: Sequence[str], sizes: Mapping[str, int], errors: dict[str, SnapscopeError]
) -> tuple[list[str], list[str]]:
    """Return those files of a directory that could be read, for a decoder, and their names.

    Local files are named by their paths; remote ones come with their content, from the local disk if it was read
    before. Files that cannot be read go to `errors`.
    """
    below = f"{directory}/" if directory else ""
    if store.is_local:
        return [store.full(below + name) for name in names], list(names)
    urls = {name: store.url(below + name) for name in names}
    marks = {urls[name]: str(sizes[name]) for name in names}
    kept = kept_contents.find(marks)
    new: dict[str, bytes] = {}
    missing = {below + name: name for name in names if urls[name] not in kept}
    for path, content in store.read_many(list(missing)).items():
        name = missing[path]
        if not isinstance(content, SnapscopeError) and len(content) != sizes[name]:
            # A truncated response may be a valid Avro file with fewer records.
            content = Corrupt(
                "{sizes:,} bytes are listed, but {content:,} were read.",
                sizes=sizes[name],
                content=len(content),
                path=path,
                remedy="Try again.",
            )
        if isinstance(content, SnapscopeError):
            errors[name] = content
        else:
            new[urls[name]] = content
    if new:
        kept_contents.keep(new, marks)
    kept |= new
    found = [name for name in names if urls[name] in kept]
    return [InMemory.of(below + name, kept[urls[name]]) for name in found], found


def ahead(store: Store, batches: Iterable[T], fetch: Callable[[T], A]) -> Iterator[A]:
    """Yield what `fetch` returns for each batch; on a remote store, fetch the next one while the caller uses this."""
    if store.is_local:
        yield from map(fetch, batches)
        return

    def begun(batch: T) -> time_limits.Waiting[A]:
        return time_limits.begin(store.location, time_limits.limit_s(), partial(fetch, batch), sys.maxsize)

    waiting: time_limits.Waiting[A] | None = None
    for batch in batches:
        if waiting is None:
            waiting = begun(batch)
            continue
        found = waiting.answer()
        waiting = begun(batch)  # not earlier: two reads share the request slots, and their threads wait for each other
        yield found
    if waiting is not None:
        yield waiting.answer()
