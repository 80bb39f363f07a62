"""Manifest lists and manifests as Arrow columns, read by field id, each decoded once.

Invariant: these files never change, so decoded content is cached by path and size; whether they exist is checked each
time. What an entry inherits from its manifest's row in the list is filled in by the caller, which has the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats.avro import decode as avro
from core.formats.avro.decode import AvroColumn
from core.formats.file_index import FileIndex
from core.formats.iceberg.file_paths import TableLocation
from core.storage.decoded_files import Loaded, RowRange, add_unlisted, by_file, by_size, gathered, sources

EXISTING, ADDED, DELETED = 0, 1, 2
DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
CONTENTS = ("data", "position-deletes", "equality-deletes")

LIST = (
    AvroColumn("path", (500,), pa.string()),
    AvroColumn("bytes", (501,), pa.int64()),
    AvroColumn("spec_id", (502,), pa.int32()),
    AvroColumn("content", (517,), pa.int32(), required=False),
    AvroColumn("sequence", (515,), pa.int64(), required=False),
    AvroColumn("snapshot_id", (503,), pa.int64(), required=False),
    AvroColumn("added", (504,), pa.int64(), required=False),
    AvroColumn("existing", (505,), pa.int64(), required=False),
    AvroColumn("deleted", (506,), pa.int64(), required=False),
    AvroColumn("key", (519,), pa.binary(), required=False),
)
ENTRY = (
    AvroColumn("status", (0,), pa.int32()),
    AvroColumn("snapshot_id", (1,), pa.int64(), required=False),
    AvroColumn("sequence", (3,), pa.int64(), required=False),
    AvroColumn("content", (2, 134), pa.int32(), required=False),
    AvroColumn("path", (2, 100), pa.string()),
    AvroColumn("format", (2, 101), pa.string()),
    AvroColumn("partition", (2, 102), pa.string(), spelled=True),
    AvroColumn("rows", (2, 103), pa.int64()),
    AvroColumn("bytes", (2, 104), pa.int64()),
    AvroColumn("key", (2, 131), pa.binary(), required=False),
    AvroColumn("referenced", (2, 143), pa.string(), required=False),
    AvroColumn("offset", (2, 144), pa.int64(), required=False),
    AvroColumn("size", (2, 145), pa.int64(), required=False),
)


@dataclass(slots=True)
class IcebergManifests:
    """Decodes a table's immutable metadata files and caches them by path and size.

    `index`: what they said when the history was last built; `is_kept`: whether the local disk may give and keep it.
    """

    index: FileIndex | None = None
    is_kept: bool = True
    _decoded: dict[tuple[AvroColumn, ...], dict[tuple[str, int], RowRange]] = field(default_factory=dict)

    def load(
        self,
        place: TableLocation,
        paths: Sequence[str],
        columns: tuple[AvroColumn, ...],
        sizes: dict[str, int],
        progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Decode files by their paths as returned by `place`.

        The size of a path that is missing in `sizes` is requested and added to it. Files that cannot be read have no
        rows and an entry in `errors`.
        """
        kept = self._decoded.setdefault(columns, {})
        errors: dict[str, SnapscopeError] = {}
        wanted = []
        add_unlisted(place.size, paths, sizes, errors)
        for path in dict.fromkeys(paths):
            if path in errors:
                continue
            if path not in sizes:
                errors[path] = Corrupt(
                    "The table's metadata refers to this file, but it does not exist.",
                    path=path,
                    remedy="Snapshots and tags that need it can no longer be read in full.",
                )
            elif (path, sizes[path]) not in kept:
                wanted.append(path)
        done = 0
        for some in by_size(wanted, sizes):
            self._decode(place, some, columns, sizes, errors)
            done += len(some)
            if progress is not None:
                progress(done, len(wanted))
        schema = pa.schema([(column.name, column.type) for column in columns])
        return gathered(paths, schema, kept, sizes, errors, is_new=bool(wanted))

    def _decode(
        self,
        place: TableLocation,
        paths: Sequence[str],
        columns: tuple[AvroColumn, ...],
        sizes: Mapping[str, int],
        errors: dict[str, SnapscopeError],
    ) -> None:
        files, found = _local(place, paths, sizes, errors)
        decoded = avro.read(files, columns)
        for number, error in decoded.errors.items():
            errors[found[number]] = error
        rows = by_file(decoded.rows)
        bounds = np.searchsorted(rows["file"].to_numpy(), np.arange(len(found) + 1)).tolist()
        rows = rows.drop_columns(["file"])
        is_known = _misunderstood(rows, place) is None
        for number, path in enumerate(found):
            if number in decoded.errors:
                continue
            begin, end = bounds[number], bounds[number + 1]
            if problem := None if is_known else _misunderstood(rows.slice(begin, end - begin), place):
                errors[path] = problem
            else:
                self._decoded[columns][(path, sizes[path])] = rows, begin, end


def needed(errors: Mapping[str, SnapscopeError], names: Sequence[str], listed: pa.Table) -> dict[str, SnapscopeError]:
    """Return the errors of manifests that are needed to know what is live.

    `listed`: the row of each of `names` in a manifest list. Readers skip a manifest in which, by its row, no file is
    live; the table's engine never opens one that is damaged or missing.
    """
    if not errors:
        return {}
    is_idle = pc.and_(pc.equal(listed["added"], 0), pc.equal(listed["existing"], 0)).to_pylist()
    used = {name for name, idle in zip(names, is_idle, strict=True) if not idle}
    return {path: error for path, error in errors.items() if path in used or not isinstance(error, Corrupt)}


def _local(
    place: TableLocation, paths: Sequence[str], sizes: Mapping[str, int], errors: dict[str, SnapscopeError]
) -> tuple[list[str], list[str]]:
    """Return local files to decode, and the paths they are copies of; each directory is read from its own store."""
    files: list[str] = []
    found: list[str] = []
    directories: dict[str, list[str]] = {}
    for path in paths:
        directories.setdefault(path.rpartition("/")[0], []).append(path.rpartition("/")[2])
    for directory, names in directories.items():
        joint = f"{directory}/" if directory else ""
        store, below = place.opened(directory)
        own_errors: dict[str, SnapscopeError] = {}
        some, got = sources(store, below, names, {name: sizes[joint + name] for name in names}, own_errors)
        errors.update({joint + name: error for name, error in own_errors.items()})
        files += some
        found += [joint + name for name in got]
    return files, found


def _misunderstood(rows: pa.Table, place: TableLocation) -> SnapscopeError | None:
    """Return what a decoded file contains that is impossible or not supported; None if everything is."""
    known = {"content": (0, 1, 2), "status": (0, 1, 2)}
    for name, values in known.items():
        if name in rows.column_names and (odd := set(rows[name].unique().to_pylist()) - {*values, None}):
            return Unsupported(
                "{name} must be 0, 1 or 2, not {odd}.",
                name=name.capitalize(),
                odd=sorted(odd),
                remedy="The file was written by a newer version of the table format than Snapscope knows.",
            )
    paths = rows["path"]
    odd_paths = paths.filter(pc.invert(place.is_named(paths)))
    if len(odd_paths):
        return Corrupt(
            "It contains {odd_paths!r:.200}, which is not an absolute location.", odd_paths=odd_paths[0].as_py()
        )
    for name in ("bytes", "rows", "offset", "size"):
        if name in rows.column_names and pc.any(pc.less(rows[name], 0)).as_py():
            return Corrupt("It contains a negative number of {name}.", name=name, remedy="Restore the file.")
    return None
