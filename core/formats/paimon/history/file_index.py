"""The index of a Paimon table's files: what its manifest lists and manifests say, numbered. See `FileIndex`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core.errors import SnapscopeError
from core.formats.file_index import FileIndex, do_agree
from core.formats.paimon.file_paths import Identities, extras, identities, unreadable_partitions
from core.formats.paimon.manifests import ENTRY, LIST, SOURCE_COMPACT, SOURCES, PaimonManifests
from core.formats.paimon.read.problems import unknown_in
from core.model.intervals import Ints, Mask
from core.model.references import Heads, Schema
from core.storage import memory
from core.storage.decoded_files import Loaded, first_rows, flat

_BYTES_PER_ENTRY = 600  # of memory, at most, while a history is built: measured on a million live files (550)
VERSION = 1  # to be raised with each change of what is decoded, derived or numbered
ADDS, DELETES, BY_COMPACTION = (0, 2), (1, 3), (2, 3)  # codes of entries: their kind, and 2 if compaction wrote them
_TYPES = {column.name: column.type for column in (*LIST, *ENTRY)}
_SAID = ("name", "bytes", "added", "deleted")
_KEYS = ("name", "extra_files", "embedded_index", "external_path")
_SHOWN = {
    "path": pa.string(), "bytes": pa.int64(), "rows": pa.int64(), "partition": pa.string(),
    "partition_bytes": pa.binary(), "bucket": pa.int32(), "level": pa.int32(), "schema_id": pa.int64(),
    "source": pa.string(), "format": pa.string(),
}  # fmt: skip
_SAME = ("bytes", "rows", "schema_id", "source")  # what entries of one file agree on


def empty(schema: Schema | None) -> FileIndex:
    """Return an index without files; its key contains everything that paths depend on."""
    known = None if schema is None else (
        [(field.name, field.type) for field in schema.fields if field.name in schema.partition_keys],
        schema.partition_keys, sorted(schema.options.items()),
    )  # fmt: skip
    key = f"paimon {VERSION} {hashlib.sha256(json.dumps(known).encode()).hexdigest()}"
    files = pa.schema([*_SHOWN.items(), *((name, _TYPES[name]) for name in _KEYS)])
    return FileIndex.empty(key, pa.schema([(name, _TYPES[name]) for name in _SAID]), files, pa.schema([]))


@dataclass(frozen=True, slots=True)
class PaimonIndexed:
    """An index that contains what a table needs now.

    present: per manifest, whether a list names it
    lists: the number of each list in the index; -1 if it cannot be read
    list_errors, errors: why lists and manifests cannot be read, or what they contradict
    unknown: the unknown `_FILE_SOURCE` of each manifest that has one
    """

    index: FileIndex
    present: Mask
    lists: Ints
    list_errors: Mapping[str, SnapscopeError]
    errors: Mapping[str, SnapscopeError]
    unknown: Mapping[int, int]


def read(
    heads: Heads,
    manifests: PaimonManifests,
    names: list[str],
    sizes: dict[str, int],
    marks: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
) -> PaimonIndexed:
    """Index these lists and the manifests they name. `sizes` and `marks` are the listing of their directory."""
    place = manifests.store.location if manifests.is_kept else None
    for index in _known(heads, manifests, place):
        if not index.fits_lists(names, marks):
            continue
        new = [name for name in names if name not in index.list_numbers]
        loaded = manifests.load(new, LIST, sizes)
        index = _with_lists(index, new, loaded, marks)
        lists = np.array([index.list_numbers.get(name, -1) for name in names], dtype=np.int64)
        present = index.present(lists[lists >= 0])
        if index.fits_manifests(present, marks):
            found = _with_entries(heads, manifests, index, present, sizes, marks, progress)
            if found[0].is_sound:
                manifests.index = found[0].kept(place, lists[lists >= 0], present)
            return PaimonIndexed(found[0], present, lists, loaded.errors, *found[1:])
    raise AssertionError("an empty index fits")


def read_lists(
    heads: Heads, manifests: PaimonManifests, names: list[str], sizes: dict[str, int], marks: Mapping[str, str]
) -> PaimonIndexed:
    """Index these lists without the manifests they name."""
    loaded = manifests.load(names, LIST, sizes)
    index = _with_lists(empty(heads.main.schema), names, loaded, marks)
    lists = np.array([index.list_numbers.get(name, -1) for name in names], dtype=np.int64)
    return PaimonIndexed(index, index.present(lists[lists >= 0]), lists, loaded.errors, {}, {})


def _known(heads: Heads, manifests: PaimonManifests, place: str | None) -> Iterator[FileIndex]:
    """Yield what may be known of the table's manifests, the most likely first; at last nothing."""
    nothing = empty(heads.main.schema)
    if manifests.index is not None and manifests.index.key == nothing.key:
        yield manifests.index
    yield nothing.found(place)
    yield nothing


def _with_entries(
    heads: Heads,
    manifests: PaimonManifests,
    index: FileIndex,
    present: Mask,
    sizes: dict[str, int],
    marks: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
) -> tuple[FileIndex, Mapping[str, SnapscopeError], Mapping[int, int]]:
    """Read the manifests that are not indexed yet, and check all against what the manifest lists state."""
    expected = index.listed_manifests["added"].to_numpy() + index.listed_manifests["deleted"].to_numpy()
    new = np.flatnonzero(present & ~index.are_read)
    every = index.listed_manifests["name"].to_pylist()
    names = [every[number] for number in new]
    own = np.array([sizes.get(name, 0) for name in names], dtype=np.int64)
    memory.require(expected[new], own, _BYTES_PER_ENTRY, manifests.store.location)
    entries, found = identified_in(heads, names, manifests.load(names, ENTRY, sizes, progress))
    index = extended(index, new, names, entries, found, marks)
    read, counts = np.flatnonzero(present & index.are_read), index.counts.sum(axis=1)
    errors = {
        **entries.errors,
        **contradictions(index.listed_manifests, dict(zip(read.tolist(), counts[read], strict=True)), sizes),
    }
    return index, errors, unknown_in(entries, new)


def contradictions(
    listed_manifests: pa.Table, counts: Mapping[int, int], sizes: Mapping[str, int]
) -> dict[str, SnapscopeError]:
    """Compare the number of entries of each manifest that was read, and its size, with what manifest lists state."""
    expected = listed_manifests["added"].to_numpy() + listed_manifests["deleted"].to_numpy()
    lengths = listed_manifests["bytes"].to_pylist()
    names, errors = listed_manifests["name"].to_pylist(), {}
    for number, count in counts.items():
        name = names[number]
        if count != expected[number]:
            errors[name] = _contradiction(f"{expected[number]} entries", f"{count}")
        elif (size := sizes.get(name, lengths[number])) != lengths[number]:
            errors[name] = _contradiction(f"{lengths[number]} bytes", f"{size}")
    return errors


def _contradiction(expected: str, found: str) -> SnapscopeError:
    return SnapscopeError(
        "expected {expected} according to its manifest list, found {found}", expected=expected, found=found
    )


def identified_in(
    heads: Heads, names: Sequence[str], loaded: Loaded, *, index_files: bool = False
) -> tuple[Loaded, Identities]:
    """Number the identities; a file with an unreadable partition becomes an error and has no rows."""
    try:
        return loaded, identities(loaded.rows, heads, index_files=index_files)
    except SnapscopeError:
        bad, error = unreadable_partitions(loaded.rows, heads)
        loaded = loaded.without(bad, names, error)
        return loaded, identities(loaded.rows, heads, index_files=index_files)


def _with_lists(index: FileIndex, names: list[str], loaded: Loaded, marks: Mapping[str, str]) -> FileIndex:
    read = [number for number, name in enumerate(names) if name not in loaded.errors]
    return index.with_lists(
        [names[number] for number in read], marks, np.diff(loaded.start)[read], loaded.rows.select(_SAID)
    )


def extended(
    index: FileIndex, manifests: Ints, names: list[str], loaded: Loaded, found: Identities, marks: Mapping[str, str]
) -> FileIndex:
    """Add the entries of these manifests, whose identities among themselves are `found`."""
    rows = loaded.rows
    every = np.arange(len(rows), dtype=np.int64)
    agree = do_agree(rows, _SAME, every, found.first[found.identity])
    number, distinct, same = _numbered(index, rows, found)
    new = np.flatnonzero(number >= len(index.files))
    files = found.files if len(new) == found.count else found.files.take(pa.array(new))
    first = pa.array(found.first[new])
    for name in _KEYS:
        own = rows[name] if found.count == len(rows) == len(new) else rows[name].take(first)
        files = files.append_column(name, flat(own))
    kind, source = rows["kind"].to_numpy(), rows["source"].fill_null(0).to_numpy()
    code = kind.astype(np.int64) + 2 * (source == SOURCE_COMPACT)
    agree = agree and same and bool(np.isin(source, list(SOURCES)).all())
    whole = np.array([name not in loaded.errors for name in names], dtype=np.bool_)
    manifest = np.repeat(manifests, np.diff(loaded.start))
    grown = index.with_entries(manifests[whole], marks, manifest, code, number[found.identity], files)
    return dataclasses.replace(grown, is_distinct=index.is_distinct and distinct, is_sound=grown.is_sound and agree)


def _numbered(index: FileIndex, rows: pa.Table, found: Identities) -> tuple[Ints, bool, bool]:
    """Return the number of each identity in the index, new ones after the known; whether paths are still distinct;
    whether what is said of known ones agrees."""
    known, count = index.rows_of(flat(found.files["path"])), len(index.files)
    if not len(known):
        return count + np.arange(found.count, dtype=np.int64), found.are_paths_distinct, True
    before = index.files.take(pa.array(known))
    columns = {name: before[name] for name in _ALL if name in before.column_names}
    columns |= {"partition": before["partition_bytes"], "source": pa.nulls(len(known), pa.int32())}
    both = pa.concat_tables(
        [pa.table(columns).select(_ALL), rows.select(_ALL).take(pa.array(found.first))]
    ).combine_chunks()
    identity = identities(both, found.heads)
    number = np.full(identity.count, -1, dtype=np.int64)
    number[identity.identity[: len(known)]] = known
    own_identity = identity.identity[len(known) :]
    rest = np.flatnonzero(number[own_identity] < 0)
    number[own_identity[rest]] = count + np.arange(len(rest))
    is_known = number[own_identity] < count
    at = first_rows(identity.identity[: len(known)], identity.count)[own_identity[is_known]]
    chosen = found.files.filter(pa.array(is_known))
    agree = chosen.select(_SAME).equals(before.take(pa.array(at)).select(_SAME))
    return number[own_identity], identity.are_paths_distinct, agree


_ALL = ("partition", "bucket", "name", "bytes", "rows", "schema_id", "level", "extra_files", "embedded_index", "source",
        "external_path")  # fmt: skip


def identified(files: pa.Table, heads: Heads, *, are_distinct: bool) -> Identities:
    """Return files of the index as identities."""
    nothing = np.zeros(0, dtype=np.int64)
    owner, path = extras(files["extra_files"], files["path"])
    return Identities(nothing, nothing, len(files), files.select(list(_SHOWN)), owner, path, heads, are_distinct)
