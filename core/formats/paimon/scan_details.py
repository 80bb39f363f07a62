"""What reading rows of one version needs beyond the history: key ranges, deleted rows and deletion vectors.

Invariant: every live file of the version is covered, by (partition bytes, bucket, name): a file's key range and rows
never change, whatever its level. Read on demand, because the history of ten thousand snapshots does not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt
from core.formats.avro.decode import AvroColumn
from core.formats.paimon import layout
from core.formats.paimon.file_paths import identities
from core.formats.paimon.manifests import CREATED, ENTRY, KEYED, LIST, STATS, TRACKED, VECTORS, PaimonManifests
from core.model.references import Heads, Snapshot
from core.storage.decoded_files import Loaded
from core.storage.store import Store

DELETION_VECTORS = "DELETION_VECTORS"
FileKey = tuple[bytes, int, str]  # partition bytes, bucket, file name


@dataclass(frozen=True, slots=True)
class Range:
    """A file's minimum and maximum key as stored rows, and its number of retractions, by its manifest."""

    min_key: bytes
    max_key: bytes
    delete_rows: int | None


@dataclass(frozen=True, slots=True)
class Vector:
    """The location of a data file's deletion vector, starting at its length word; `size` as in the index manifest.

    `rows`: how many rows it deletes, None if the index manifest does not say.
    """

    path: str
    offset: int
    size: int
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class RowIds:
    """A file whose rows have consecutive ids: the first id, the number of rows, and the columns in the file (None: all
    of its schema). Of two files, the one with the greater `sequence` is newer."""

    first: int
    rows: int
    sequence: int
    columns: tuple[str, ...] | None


def keys_of(files: pa.Table) -> list[FileKey]:
    """Return the keys of the rows of `History.files_at`."""
    names = [path.rpartition("/")[2] for path in files["path"].to_pylist()]
    return list(zip(files["partition_bytes"].to_pylist(), files["bucket"].to_pylist(), names, strict=True))


def ranges(manifests: PaimonManifests, snapshot: Snapshot, files: pa.Table) -> dict[FileKey, Range]:
    """Return the key ranges of these live files. Raises `Corrupt` if a manifest is unreadable or lacks a file."""
    keys = keys_of(files)
    rows = _entries(manifests, snapshot, ("base", "delta"), KEYED)
    rows = rows.filter(pc.is_in(rows["name"], pa.array({name for _, _, name in keys}, pa.string())))
    columns = [rows[name].to_pylist() for name in ("partition", "bucket", "name", "min_key", "max_key", "delete_rows")]
    found = {(part, bucket, name): Range(*rest) for part, bucket, name, *rest in zip(*columns, strict=True)}
    if lacking := next((key for key in keys if key not in found), None):
        raise Corrupt("A data file of the snapshot is in none of its manifests.", path=lacking[2])
    return found


def created(manifests: PaimonManifests, snapshot: Snapshot, files: pa.Table) -> dict[FileKey, int]:
    """When these live files were created, in milliseconds of their writers' clocks."""
    keys = keys_of(files)
    rows = _entries(manifests, snapshot, ("base", "delta"), CREATED)
    times = rows["created"].cast(pa.int64()).to_pylist()
    columns = (rows[name].to_pylist() for name in ("partition", "bucket", "name"))
    found: dict[FileKey, int] = dict(zip(zip(*columns, strict=True), times, strict=True))
    if lacking := next((key for key in keys if found.get(key) is None), None):
        raise Corrupt("The manifests do not say when a file of the snapshot was created.", path=lacking[2])
    return {key: found[key] for key in keys}


def row_ids(manifests: PaimonManifests, snapshot: Snapshot, files: pa.Table) -> dict[FileKey, RowIds]:
    """Row ids of these live files of a snapshot. `Corrupt` for a file without them."""
    keys = keys_of(files)
    rows = _entries(manifests, snapshot, ("base", "delta"), TRACKED)
    found: dict[FileKey, RowIds] = {}
    for row in rows.filter(pc.is_valid(rows["first_row_id"])).to_pylist():
        columns = None if row["columns"] is None else tuple(row["columns"])
        ids = RowIds(row["first_row_id"], row["rows"], row["max_sequence"], columns)
        found[row["partition"], row["bucket"], row["name"]] = ids
    if lacking := next((key for key in keys if key not in found), None):
        raise Corrupt(
            "The manifests give no first row id for a file of a table with data evolution.",
            path=lacking[2],
            remedy="Read the table with its own engine.",
        )
    return {key: found[key] for key in keys}


def stats(
    store: Store, snapshot: Snapshot, files: pa.Table, lists: Sequence[str] = ("base", "delta")
) -> dict[FileKey, dict[str, Any]]:
    """Return the statistics entries of these files from these lists of a snapshot, unparsed.

    Columns: see `manifests.STATS`. Nothing is cached. Raises `Corrupt` if a manifest is unreadable.
    """
    keys = set(keys_of(files))
    rows = _entries(PaimonManifests(store), snapshot, lists, STATS)
    rows = rows.filter(pc.is_in(rows["name"], pa.array({name for _, _, name in keys}, pa.string())))
    found = {(row["partition"], row["bucket"], row["name"]): row for row in rows.to_pylist()}
    return {key: row for key, row in found.items() if key in keys}


def brought(manifests: PaimonManifests, heads: Heads, snapshot: Snapshot, which: str) -> pa.Table:
    """Return the files in one commit's own list; `which` is "delta" or "changelog".

    Columns: those of `History.files_at`, and `kind` (0 for an added file, 1 for a removed one).
    """
    rows = _entries(manifests, snapshot, (which,), ENTRY)
    found = identities(rows, heads)
    files = found.files.take(pa.array(found.identity))
    return files.append_column("kind", rows["kind"].combine_chunks())


def vectors(manifests: PaimonManifests, heads: Heads, snapshot: Snapshot) -> dict[FileKey, Vector]:
    """Return the deletion vectors of a snapshot's data files. A file without one has no deleted rows."""
    name = snapshot.fields.get("indexManifest")
    if not isinstance(name, str):
        return {}
    rows = _whole(manifests.load([name], VECTORS, _sizes(manifests))).rows
    found = identities(rows, heads, index_files=True)
    paths = found.files["path"].to_pylist()
    vectors: dict[FileKey, Vector] = {}
    for number, row in zip(found.identity.tolist(), rows.to_pylist(), strict=True):
        if row["type"] != DELETION_VECTORS:
            continue
        for each in row["ranges"] or ():
            key = (row["partition"], row["bucket"], each["f0"])
            if key in vectors:
                raise Corrupt("{f0} has two deletion vectors.", f0=each["f0"], path=f"{layout.MANIFEST}/{name}")
            vectors[key] = Vector(paths[number], each["f1"], each["f2"], each["_CARDINALITY"])
    return vectors


def _entries(
    manifests: PaimonManifests, snapshot: Snapshot, lists: Sequence[str], columns: tuple[AvroColumn, ...]
) -> pa.Table:
    """Return all entries of these lists of a snapshot. Raises the error of the first file that cannot be read."""
    sizes = _sizes(manifests)
    names = [name for kind in lists if isinstance(name := snapshot.fields.get(f"{kind}ManifestList"), str)]
    named = _whole(manifests.load(names, LIST, sizes)).rows["name"].unique().to_pylist()
    return _whole(manifests.load(named, columns, sizes)).rows


def _sizes(manifests: PaimonManifests) -> dict[str, int]:
    entries = manifests.store.ls_if_there(layout.MANIFEST)
    return {entry.name: entry.size for entry in entries if entry.size is not None}


def _whole(loaded: Loaded) -> Loaded:
    for error in loaded.errors.values():
        raise error
    return loaded
