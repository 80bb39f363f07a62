"""Build a table's History, starting from its manifests.

Each snapshot's list tells which manifests it uses, which gives each manifest its intervals; each manifest is decoded
once. A file is live where a manifest is listed that has it with status EXISTING or ADDED. A snapshot holds its list,
its manifests, its live files by path (a Puffin file with many deletion vectors is one file), and its statistics
files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from core.formats import large_texts
from core.formats.file_index import FileIndex
from core.formats.held_objects import HeldObjects
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.history import file_index
from core.formats.iceberg.history.outline import IcebergIndexed, IcebergLists, IcebergOutline, inherited
from core.formats.iceberg.manifests import DATA, ENTRY, IcebergManifests
from core.formats.iceberg.metadata import Metadata, signed
from core.model.history import History
from core.model.intervals import Ints, from_pairs, maximal, union
from core.model.references import Heads
from core.storage.decoded_files import flat

_SHOWN_LAST = ("content", "offset", "referenced", "sequence", "deletes", "spec_id", "spelled")


def build(
    place: TableLocation,
    heads: Heads,
    found: Metadata,
    manifests: IcebergManifests,
    progress: Callable[[int, int], None] | None = None,
) -> History:
    """Read every list and manifest of any snapshot, and compute which snapshot holds which files."""
    listed = IcebergLists(place, heads, found, manifests)
    read = _read(listed, progress)
    return assembled(listed.outline(read), read.index, place, found)


def _read(listed: IcebergLists, progress: Callable[[int, int], None] | None) -> IcebergIndexed:
    """Index the lists and the manifests they name."""
    for index in _known(listed):
        if not index.fits_lists(listed.names, listed.marks):
            continue
        read = listed.with_lists(index)
        if read.index.fits_manifests(read.present, listed.marks):
            read = _with_entries(listed, read, progress)
            if read.index.is_sound:
                there = np.array([number for number in read.lists if number >= 0], dtype=np.int64)
                listed.manifests.index = read.index.kept(_kept_at(listed), there, read.present)
            return read
    raise AssertionError("an empty index fits")


def _known(listed: IcebergLists) -> Iterator[FileIndex]:
    """Yield what may be known of the table's manifests, the most likely first; at last nothing."""
    nothing = file_index.empty(listed.place, listed.found)
    if listed.manifests.index is not None and listed.manifests.index.key == nothing.key:
        yield listed.manifests.index
    yield nothing.found(_kept_at(listed))
    yield nothing


def _kept_at(listed: IcebergLists) -> str | None:
    return listed.place.store.location if listed.manifests.is_kept else None


def _with_entries(
    listed: IcebergLists, read: IcebergIndexed, progress: Callable[[int, int], None] | None
) -> IcebergIndexed:
    """Read the manifests that are not indexed yet, and check all against what the manifest lists state."""
    place, found, index, every = listed.place, listed.found, read.index, read.names
    new = np.flatnonzero(read.present & ~index.are_read)
    names, rows = [every[number] for number in new.tolist()], index.listed_manifests.take(pa.array(new))
    listed.require_memory(names, rows)
    entries = listed.manifests.load(place, names, ENTRY, listed.sizes, progress)
    index = file_index.with_entries(index, place, found, new, names, inherited(entries, rows), listed.marks)
    there = np.flatnonzero(read.present & index.are_read).tolist()
    counts = {number: index.counts[number].tolist() for number in there}
    return listed.checked(replace(read, index=index), entries.errors, counts)


def assembled(outline: IcebergOutline, index: FileIndex, place: TableLocation, found: Metadata) -> History:
    """Return the history of an outline and of the files of its manifests."""
    files, groups = index.of(outline.present)
    position, manifest = outline.uses
    runs = from_pairs(manifest, position, len(outline.names), outline.positions)
    live = groups.on_files(maximal(groups.covered(runs, file_index.LIVE)))
    kinds = pa.array(["data", "deletes"]).take(pa.array((files["code"].to_numpy() != DATA).astype(np.int8)))
    data = HeldObjects(flat(files["path"]), kinds, flat(files["whole"]), live)
    shown = _shown(files, found)
    del files
    return _history(outline, shown, [data, *outline.objects], place, are_distinct=index.is_distinct)


def _shown(files: pa.Table, found: Metadata) -> pa.Table:
    nothing = pa.nulls(len(files), pa.int32())
    columns = {name: files[name] for name in ("path", "bytes", "rows", "partition")}
    columns |= {"bucket": nothing, "level": nothing, "schema_id": pa.nulls(len(files), pa.int64())}
    columns |= {"source": _sources(files["snapshot_id"], found), "format": files["format"]}
    return pa.table(columns | {name: files[name] for name in _SHOWN_LAST})


def _sources(snapshots: pa.ChunkedArray, found: Metadata) -> pa.Array:
    """Return whether a rewriting commit added a file, if that commit is still known."""
    known = {signed(member.id): member.summary.get("operation") for member in found.snapshots.values()}
    words_of = {number: "compact" if kind == "replace" else "append" for number, kind in known.items() if kind}
    encoded = flat(snapshots).dictionary_encode()
    words = pa.array([words_of.get(number) for number in encoded.dictionary.to_pylist()], pa.string())
    return words.take(encoded.indices) if len(words) else pa.nulls(len(encoded), pa.string())


def _history(
    outline: IcebergOutline, files: pa.Table, held: list[HeldObjects], place: TableLocation, *, are_distinct: bool
) -> History:
    """Put the parts together. The objects of `files` are the first."""
    every = [each.paths for each in held]
    starts = np.concatenate(([0], np.cumsum([len(each) for each in every]))).astype(np.int64)
    paths, code, first = large_texts.numbered_together(every, is_first_distinct=are_distinct)
    if are_distinct:
        files = files.set_column(0, "path", paths.slice(0, len(files)))  # one copy of the texts
    del every
    count = len(first)
    runs = [each.runs.of(code[begin:end], count) for each, (begin, end) in zip(held, pairwise(starts), strict=True)]
    live = held[0].runs
    described = pa.table(
        {
            "kind": pa.chunked_array([each.kinds for each in held], pa.string()),
            "bytes": pa.chunked_array([each.bytes for each in held], pa.int64()),
        }
    )
    held.clear()
    objects = _rows(described, first, own=len(files) if paths.num_chunks > 1 else 0).add_column(0, "path", paths)
    objects = objects.append_column("ours", place.ours(paths))
    own = pa.array(code[: len(files)])
    return History(
        heads=outline.heads,
        holders=outline.holders,
        objects=objects,
        held=maximal(union(*runs)),
        files=files.append_column("object", own),
        live=live,
        incomplete=outline.incomplete,
        warnings=outline.warnings,
    )


def _rows(table: pa.Table, rows: Ints, *, own: int) -> pa.Table:
    """The given rows, without a copy if they are all; the first `own` of both are the same."""
    if len(rows) == len(table):
        return table
    return pa.concat_tables([table.slice(0, own), table.take(pa.array(rows[own:]))])
