"""What a reader of rows asks of one point beyond the history: key ranges, deleted rows in files, deletion vectors.

Law: every live file of the point is answered, by (partition bytes, bucket, name): a file's key range and its rows never
change, whatever its level. Read on demand: the history of ten thousand snapshots does without.
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
from core.formats.paimon.manifests import ENTRY, KEYED, LIST, STATS, VECTORS, PaimonManifests
from core.model.references import Heads, Snapshot
from core.storage.decoded_files import Loaded
from core.storage.store import Store

DELETION_VECTORS = "DELETION_VECTORS"
FileKey = tuple[bytes, int, str]  # partition bytes, bucket, file name


@dataclass(frozen=True, slots=True)
class Range:
    """What a manifest says of a file: its least and greatest key as stored rows, its rows that are retractions."""

    min_key: bytes
    max_key: bytes
    delete_rows: int | None


@dataclass(frozen=True, slots=True)
class Vector:
    """Where the deletion vector of a data file stands: from the length word, `size` as the index manifest says it.

    `rows`: how many rows it deletes, None where the index manifest does not say."""

    path: str
    offset: int
    size: int
    rows: int | None = None


def keys_of(files: pa.Table) -> list[FileKey]:
    """The keys of the rows of `History.files_at`."""
    names = [path.rpartition("/")[2] for path in files["path"].to_pylist()]
    return list(zip(files["partition_bytes"].to_pylist(), files["bucket"].to_pylist(), names, strict=True))


def ranges(manifests: PaimonManifests, snapshot: Snapshot, files: pa.Table) -> dict[FileKey, Range]:
    """Key ranges of these live files of a snapshot. Raises what a manifest that cannot be read says of itself."""
    keys = keys_of(files)
    rows = _entries(manifests, snapshot, ("base", "delta"), KEYED)
    rows = rows.filter(pc.is_in(rows["name"], pa.array({name for _, _, name in keys}, pa.string())))
    columns = [rows[name].to_pylist() for name in ("partition", "bucket", "name", "min_key", "max_key", "delete_rows")]
    found = {(part, bucket, name): Range(*rest) for part, bucket, name, *rest in zip(*columns, strict=True)}
    if lacking := next((key for key in keys if key not in found), None):
        raise Corrupt("A live data file is in no manifest of its snapshot.", path=lacking[2])
    return found


def stats(
    store: Store, snapshot: Snapshot, files: pa.Table, lists: Sequence[str] = ("base", "delta")
) -> dict[FileKey, dict[str, Any]]:
    """What the manifests behind these lists of a snapshot say of the values in these files, as they say it: see
    `manifest.STATS`. None is kept."""
    keys = set(keys_of(files))
    rows = _entries(PaimonManifests(store), snapshot, lists, STATS)
    rows = rows.filter(pc.is_in(rows["name"], pa.array({name for _, _, name in keys}, pa.string())))
    found = {(row["partition"], row["bucket"], row["name"]): row for row in rows.to_pylist()}
    return {key: row for key, row in found.items() if key in keys}


def brought(manifests: PaimonManifests, heads: Heads, snapshot: Snapshot, which: str) -> pa.Table:
    """The files that one commit's own list names, `which` being "delta" or "changelog": the columns of
    `History.files_at`, and `kind` (0 for an added file, 1 for a removed one)."""
    rows = _entries(manifests, snapshot, (which,), ENTRY)
    found = identities(rows, heads)
    files = found.files.take(pa.array(found.identity))
    return files.append_column("kind", rows["kind"].combine_chunks())


def vectors(manifests: PaimonManifests, heads: Heads, snapshot: Snapshot) -> dict[FileKey, Vector]:
    """The deletion vectors of a snapshot's data files; a file that has none has no deleted rows."""
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
                raise Corrupt(
                    "Two deletion vectors are given for {f0}.", f0=each["f0"], path=f"{layout.MANIFEST}/{name}"
                )
            vectors[key] = Vector(paths[number], each["f1"], each["f2"], each["_CARDINALITY"])
    return vectors


def _entries(
    manifests: PaimonManifests, snapshot: Snapshot, lists: Sequence[str], columns: tuple[AvroColumn, ...]
) -> pa.Table:
    """All entries behind these lists of a snapshot. Raises what a file that cannot be read says of itself."""
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
