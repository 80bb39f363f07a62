"""An Iceberg table at a version: which files are read, which deletes apply to each, and by whom. From metadata alone.

Invariants:
- Live entries are those of the snapshot's own manifests with status EXISTING or ADDED; a deletion vector replaces
  position deletes; what a delete applies to follows from spec, partition and sequence number (table specification,
  "Scan Planning").
- The JVM reads only files whose rows are the table's unchanged, and that have every column which another source would
  have to fill (footers.py); all others are read in Python (files.py).
- Contradictory metadata is `Corrupt`, unsupported metadata `Unsupported`, by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Unsupported
from core.formats import undecoded
from core.formats.avro import decode as avro
from core.formats.iceberg import metadata as documents
from core.formats.iceberg import types
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.manifests import ADDED, DATA, DELETED, ENTRY, LIST, IcebergManifests, needed
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import reference
from core.formats.iceberg.types import IcebergField
from core.model.history import History
from core.model.references import Schema
from core.model.time_travel import UNWRITTEN, AsOf
from core.spark.read.iceberg import field_ids
from core.spark.read.iceberg.columns import Columns, in_words
from core.spark.read.iceberg.deletes import Deletes, Entry
from core.spark.read.iceberg.field_ids import MappedName
from core.spark.read.iceberg.stored_files import FORMATS
from core.spark.session.session import is_connect
from core.table import Table

_SIZES = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
_BOUNDS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.binary())]))
_LOWER_UPPER = (
    avro.AvroColumn("lower", (2, 125), _BOUNDS, required=False),
    avro.AvroColumn("upper", (2, 128), _BOUNDS, required=False),
)
DATA_FILES = (
    *ENTRY,
    *_LOWER_UPPER,
    avro.AvroColumn("column_sizes", (2, 108), _SIZES, required=False),
    avro.AvroColumn("nulls", (2, 110), _SIZES, required=False),
)
DELETE_FILES = (*ENTRY, *_LOWER_UPPER, avro.AvroColumn("equality_ids", (2, 135), pa.list_(pa.int32()), required=False))
DELETES = 1  # content of a manifest
_MAPS = ("column_sizes", "lower", "upper", "nulls")
Matched: TypeAlias = tuple[Entry, tuple[Entry | None, tuple[int, ...], tuple[int, ...]]]
_UNIT_BYTES = 8 << 20  # data files with the same deletes that one task reads: this much, or as much as the deletes
_OPENING_BYTES = 256 << 10  # the cost of opening a file


@dataclass(frozen=True)
class IcebergScan:
    """A version with everything needed to read its rows. `work` are JSON-ready units (see `files`)."""

    place: TableLocation
    columns: tuple[IcebergField, ...]
    schema: Schema
    keys: tuple[IcebergField, ...]  # columns that equality deletes compare by
    native: tuple[tuple[str, int], ...]  # paths and rows
    work: tuple[Mapping[str, Any], ...]
    data: pa.Table  # per data file: file (its path), rows, bytes, lower, upper, nulls, snapshot_id
    must_have: frozenset[int]  # columns that a native file must have, whatever its metadata says
    described: Mapping[str, Mapping[str, Any]]  # native files, described for tasks
    names: Mapping[str, MappedName] | None  # the mapping for files without field ids

    @property
    def files(self) -> int:
        return len(self.data)


def opened(table: Table, history: History, at: AsOf, *, by_jvm: bool = True) -> IcebergScan:
    """Prepare to read a version.

    Without `by_jvm`, all files are read in Python. Raises `Unsupported` by name for what cannot be read correctly,
    `Corrupt` if the version is incomplete.
    """
    if at.point != UNWRITTEN:
        history.require(at.point)
    own = IcebergFormat.of(table.format)
    found = documents.of(history.heads.document, history.heads.references[reference("file")].decode())
    place = own.place(found)
    listed = Columns(found, at.schema.id)
    entries = data, deletes = _entries(place, own.manifests, found, at.snapshot.id)
    _refuse_formats(data, deletes)
    index, scanned = _matched(found, listed, *entries)
    rows = [row for row, _ in scanned]
    needed = _ids_to_have(listed.columns) | index.sources
    surely = _has_all(data["column_sizes"], needed)
    times = Counter(row["file"] for row in rows)
    names = field_ids.mapping(found.properties.get(field_ids.PROPERTY))
    by_jvm = by_jvm and not is_connect() and place.store.is_local and not listed.is_hard and names is None
    native: list[tuple[str, int]] = []
    described: dict[str, Mapping[str, Any]] = {}
    units: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for (row, of), is_sure in zip(scanned, surely, strict=True):
        vector, positions, equality = of
        is_clean = vector is None and not positions and not equality
        is_plain = row["format"].lower() == "parquet" and row["key"] is None and times[row["file"]] == 1
        is_fit = is_plain and is_sure and row["spec_id"] in found.specs and _is_visible(row["file"])
        if is_clean and is_fit and by_jvm:
            native.append((row["file"], row["rows"]))
            described[row["file"]] = index.described(row, None)
        else:
            key = (row["number"],) if is_clean else (positions, equality)
            units.setdefault(key, []).append(index.described(row, vector))
    work = tuple(
        {"files": some, **index.named(key)}
        for key, files in units.items()
        for some in _shares(files, max(_UNIT_BYTES, index.bytes(key)))
    )
    return IcebergScan(
        place=place,
        columns=listed.columns,
        schema=in_words(at.schema, listed.columns),
        keys=index.keys,
        native=tuple(native),
        work=work,
        data=data.select(["file", "rows", "bytes", "lower", "upper", "nulls", "snapshot_id"]),
        must_have=frozenset(needed),
        described=described,
        names=names,
    )


def scan(
    place: TableLocation, manifests: IcebergManifests, found: Metadata, schema_id: int, snapshot: int
) -> list[tuple[Entry, tuple[Entry, ...]]]:
    """Each data file of a snapshot with the delete files that apply to it, by the same rule as `opened`."""
    index, scanned = _matched(found, Columns(found, schema_id), *_entries(place, manifests, found, snapshot))
    return [
        (row, (*([vector] if vector else []), *(index.all[number] for number in (*positions, *equality))))
        for row, (vector, positions, equality) in scanned
    ]


def _matched(found: Metadata, listed: Columns, data: pa.Table, deletes: pa.Table) -> tuple[Deletes, list[Matched]]:
    index = Deletes(found, listed, deletes, data)
    rows = ({**row, "scope": index.scope(row)} for row in data.drop_columns(list(_MAPS)).to_pylist())
    return index, [(row, index.of(row)) for row in rows]


def _ids_to_have(columns: Sequence[IcebergField]) -> set[int]:
    """Columns that a file must have for the JVM to read it correctly.

    These are columns that would not be null otherwise, and all struct columns, because Spark reads a struct as null if
    a file has none of its fields.
    """
    found = {each.id for each in columns if each.default is not None}
    for each in columns:
        if types.has(each.type, lambda of: of.root == "struct"):
            found |= types.leaves(each)
    return found


def _is_visible(path: str) -> bool:
    """Whether the file is on the local disk, with a name that Spark neither skips as hidden nor splits in two."""
    is_elsewhere = re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*:/", path)
    return not is_elsewhere and not path.rpartition("/")[2].startswith(("_", ".")) and "\n" not in path


def _has_all(sizes: pa.ChunkedArray, ids: set[int]) -> list[bool]:
    """Per file: whether its metadata lists all these columns as stored in it."""
    if not ids:
        return [True] * len(sizes)
    flat = sizes.combine_chunks()
    file = pc.list_parent_indices(flat)
    wanted = pc.is_in(pc.struct_field(pc.list_flatten(flat), "key"), value_set=pa.array(sorted(ids), pa.int32()))
    counts = np.bincount(file.filter(wanted).to_numpy(), minlength=len(flat))
    return [bool(count == len(ids)) for count in counts]


def _shares(files: Sequence[dict[str, Any]], most: int) -> Iterable[list[dict[str, Any]]]:
    """Files with the same deletes, in portions that a task reads at a time."""
    part: list[dict[str, Any]] = []
    filled = 0
    for each in files:
        if part and filled + each["bytes"] > most:
            yield part
            part, filled = [], 0
        part.append(each)
        filled += each["bytes"] + _OPENING_BYTES
    yield part


# entries ----------------------------------------------------------------------------------------------------------


def _entries(
    place: TableLocation, manifests: IcebergManifests, found: Metadata, snapshot: int
) -> tuple[pa.Table, pa.Table]:
    """The data files and the delete files that are live in a snapshot."""
    member = found.snapshots.get(snapshot)
    if member is None:
        listed = pa.schema([(each.name, each.type) for each in LIST]).empty_table()
    elif member.manifest_list is not None:
        path = place.path(member.manifest_list)
        loaded = manifests.load(place, [path], LIST, place.sizes([path]))
        _raise_first(loaded.errors)
        listed = loaded.rows
    else:  # version 1 may list them in the metadata itself: without deletes, and without their spec
        spec = next(iter(found.specs)) if len(found.specs) == 1 else -1
        rows = [{"path": each, "spec_id": spec, "bytes": 0} for each in member.manifests]
        listed = pa.Table.from_pylist(rows, pa.schema([(each.name, each.type) for each in LIST]))
    is_deletes = pc.equal(pc.coalesce(listed["content"], pa.scalar(DATA, pa.int32())), DELETES)
    return (
        _live(place, manifests, listed.filter(pc.invert(is_deletes)), DATA_FILES),
        _live(place, manifests, listed.filter(is_deletes), DELETE_FILES),
    )


def _live(
    place: TableLocation, manifests: IcebergManifests, listed: pa.Table, columns: tuple[avro.AvroColumn, ...]
) -> pa.Table:
    """The live entries of these manifests, with spec_id, sequence, file (its path here) and number."""
    names = place.paths(listed["path"].combine_chunks()).to_pylist() if len(listed) else []
    entries = manifests.load(place, names, columns, place.sizes(names))
    _raise_first(needed(entries.errors, names, listed))
    given = pa.array(np.repeat(np.arange(len(names)), np.diff(entries.start)))
    rows = entries.rows
    sequence = pc.coalesce(listed["sequence"], pa.scalar(0, pa.int64())).take(given)
    is_inheriting = pc.or_(pc.equal(rows["status"], ADDED), pc.equal(sequence, 0))
    inherited = pc.coalesce(rows["sequence"], pc.if_else(is_inheriting, sequence, None))
    rows = rows.set_column(rows.schema.get_field_index("sequence"), "sequence", inherited)
    own = pc.if_else(pc.equal(rows["status"], ADDED), listed["snapshot_id"].take(given), None)
    number = rows.schema.get_field_index("snapshot_id")
    rows = rows.set_column(number, "snapshot_id", pc.coalesce(rows["snapshot_id"], own))
    rows = rows.append_column("spec_id", listed["spec_id"].take(given))
    rows = rows.append_column("file", place.paths(rows["path"].combine_chunks()) if len(rows) else rows["path"])
    rows = rows.filter(pc.not_equal(rows["status"], DELETED))
    return rows.append_column("number", pa.array(range(len(rows)), pa.int64()))


def _raise_first(errors: Mapping[str, Exception]) -> None:
    for error in errors.values():
        raise error


def _refuse_formats(data: pa.Table, deletes: pa.Table) -> None:
    for rows, known in ((data, FORMATS), (deletes, (*FORMATS, "puffin"))):
        for form in pc.utf8_lower(rows["format"]).unique().to_pylist():
            if form not in known:
                path = rows.filter(pc.equal(pc.utf8_lower(rows["format"]), form))["path"][0].as_py()
                raise Unsupported(
                    "Files of the format {form!r} cannot be read here; Parquet, ORC and Avro can.",
                    form=form,
                    path=path,
                    remedy=undecoded.ELSEWHERE,
                )
