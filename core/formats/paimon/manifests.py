"""Manifest lists, manifests and index manifests as Arrow columns, each decoded once.

Invariant: these files are named by UUID and never change, so decoded content may be cached. Whether a file still exists
and has the same size is checked with the store each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.formats import columnar, large_texts
from core.formats.avro import decode as avro
from core.formats.avro.container import fields_of
from core.formats.avro.decode import AvroColumn, Decoded
from core.formats.file_index import FileIndex
from core.formats.paimon import layout
from core.storage.decoded_files import Loaded, RowRange, add_unlisted, ahead, by_file, by_size, gathered, sources
from core.storage.store import Store

ADD, DELETE = 0, 1
SOURCE_APPEND, SOURCE_COMPACT = 0, 1
SOURCES = {SOURCE_APPEND: "append", SOURCE_COMPACT: "compact"}

LIST = (
    AvroColumn("version", ("_VERSION",), pa.int32()),
    AvroColumn("name", ("_FILE_NAME",), pa.string()),
    AvroColumn("bytes", ("_FILE_SIZE",), pa.int64()),
    AvroColumn("added", ("_NUM_ADDED_FILES",), pa.int64()),
    AvroColumn("deleted", ("_NUM_DELETED_FILES",), pa.int64()),
    AvroColumn("extra_files", ("_EXTRA_FILES",), pa.list_(pa.string()), required=False),
)
ENTRY = (
    AvroColumn("version", ("_VERSION",), pa.int32()),
    AvroColumn("kind", ("_KIND",), pa.int32()),
    AvroColumn("partition", ("_PARTITION",), pa.binary()),
    AvroColumn("bucket", ("_BUCKET",), pa.int32()),
    AvroColumn("name", ("_FILE", "_FILE_NAME"), pa.string()),
    AvroColumn("bytes", ("_FILE", "_FILE_SIZE"), pa.int64()),
    AvroColumn("rows", ("_FILE", "_ROW_COUNT"), pa.int64()),
    AvroColumn("schema_id", ("_FILE", "_SCHEMA_ID"), pa.int64()),
    AvroColumn("level", ("_FILE", "_LEVEL"), pa.int32()),
    AvroColumn("extra_files", ("_FILE", "_EXTRA_FILES"), pa.list_(pa.string())),
    AvroColumn("embedded_index", ("_FILE", "_EMBEDDED_FILE_INDEX"), pa.binary(), required=False),
    AvroColumn("source", ("_FILE", "_FILE_SOURCE"), pa.int32(), required=False),
    AvroColumn("external_path", ("_FILE", "_EXTERNAL_PATH"), pa.string(), required=False),
)
INDEX = (
    AvroColumn("version", ("_VERSION",), pa.int32()),
    AvroColumn("kind", ("_KIND",), pa.int32()),
    AvroColumn("partition", ("_PARTITION",), pa.binary()),
    AvroColumn("bucket", ("_BUCKET",), pa.int32()),
    AvroColumn("type", ("_INDEX_TYPE",), pa.string()),
    AvroColumn("name", ("_FILE_NAME",), pa.string()),
    AvroColumn("bytes", ("_FILE_SIZE",), pa.int64()),
    AvroColumn("external_path", ("_EXTERNAL_PATH",), pa.string(), required=False),
)
# Read on demand: needed only for looking at single files.
DETAIL = (
    *ENTRY,
    AvroColumn("min_sequence", ("_FILE", "_MIN_SEQUENCE_NUMBER"), pa.int64(), required=False),
    AvroColumn("max_sequence", ("_FILE", "_MAX_SEQUENCE_NUMBER"), pa.int64(), required=False),
    AvroColumn("delete_rows", ("_FILE", "_DELETE_ROW_COUNT"), pa.int64(), required=False),
)
# Read on demand for the files of one version: needed only for reading rows.
KEYED = (
    AvroColumn("version", ("_VERSION",), pa.int32()),
    AvroColumn("partition", ("_PARTITION",), pa.binary()),
    AvroColumn("bucket", ("_BUCKET",), pa.int32()),
    AvroColumn("name", ("_FILE", "_FILE_NAME"), pa.string()),
    AvroColumn("min_key", ("_FILE", "_MIN_KEY"), pa.binary()),
    AvroColumn("max_key", ("_FILE", "_MAX_KEY"), pa.binary()),
    AvroColumn("delete_rows", ("_FILE", "_DELETE_ROW_COUNT"), pa.int64(), required=False),
)
# Read on demand, for the files of one snapshot: which rows and columns a file holds if rows have ids.
TRACKED = (
    *KEYED[:4],
    AvroColumn("rows", ("_FILE", "_ROW_COUNT"), pa.int64()),
    AvroColumn("max_sequence", ("_FILE", "_MAX_SEQUENCE_NUMBER"), pa.int64()),
    AvroColumn("first_row_id", ("_FILE", "_FIRST_ROW_ID"), pa.int64(), required=False),
    AvroColumn("columns", ("_FILE", "_WRITE_COLS"), pa.list_(pa.string()), required=False),
)
# Read on demand, for files of the postpone bucket: when each was created, in milliseconds of its writer's clock.
CREATED = (*KEYED[:4], AvroColumn("created", ("_FILE", "_CREATION_TIME"), pa.timestamp("ms")))
# Statistics of the values in files. Too large to be cached.
STATS = (
    *KEYED[:-1],
    AvroColumn("rows", ("_FILE", "_ROW_COUNT"), pa.int64()),
    AvroColumn("schema_id", ("_FILE", "_SCHEMA_ID"), pa.int64()),
    AvroColumn("total_buckets", ("_TOTAL_BUCKETS",), pa.int32()),
    AvroColumn("low", ("_FILE", "_VALUE_STATS", "_MIN_VALUES"), pa.binary(), required=False),
    AvroColumn("high", ("_FILE", "_VALUE_STATS", "_MAX_VALUES"), pa.binary(), required=False),
    AvroColumn("nulls", ("_FILE", "_VALUE_STATS", "_NULL_COUNTS"), pa.list_(pa.int64()), required=False),
    AvroColumn("columns", ("_FILE", "_VALUE_STATS_COLS"), pa.list_(pa.string()), required=False),
    AvroColumn("written", ("_FILE", "_WRITE_COLS"), pa.list_(pa.string()), required=False),
    AvroColumn("key_low", ("_FILE", "_KEY_STATS", "_MIN_VALUES"), pa.binary(), required=False),
    AvroColumn("key_high", ("_FILE", "_KEY_STATS", "_MAX_VALUES"), pa.binary(), required=False),
)
_RANGES = pa.list_(
    pa.struct([("f0", pa.string()), ("f1", pa.int32()), ("f2", pa.int32()), ("_CARDINALITY", pa.int64())])
)
VECTORS = (*INDEX, AvroColumn("ranges", ("_DELETIONS_VECTORS_RANGES",), _RANGES, required=False))
LISTED = (*LIST, AvroColumn("schema_id", ("_SCHEMA_ID",), pa.int64()))
_VERSIONS: Mapping[tuple[AvroColumn, ...], int] = {
    LIST: 2, LISTED: 2, ENTRY: 2, DETAIL: 2, KEYED: 2, TRACKED: 2, CREATED: 2, STATS: 2, INDEX: 1, VECTORS: 1,
}  # fmt: skip
_OF_A_LIST = frozenset(
    "_VERSION _FILE_NAME _FILE_SIZE _NUM_ADDED_FILES _NUM_DELETED_FILES _PARTITION_STATS _SCHEMA_ID _MIN_BUCKET "
    "_MAX_BUCKET _MIN_LEVEL _MAX_LEVEL _MIN_ROW_ID _MAX_ROW_ID _TOTAL_BUCKETS _EXTRA_FILES".split()
)
_OF_AN_ENTRY = frozenset(
    "_VERSION _KIND _PARTITION _BUCKET _TOTAL_BUCKETS _FILE _FILE._FILE_NAME _FILE._FILE_SIZE _FILE._ROW_COUNT "
    "_FILE._MIN_KEY _FILE._MAX_KEY _FILE._KEY_STATS _FILE._VALUE_STATS _FILE._MIN_SEQUENCE_NUMBER "
    "_FILE._MAX_SEQUENCE_NUMBER _FILE._SCHEMA_ID _FILE._LEVEL _FILE._EXTRA_FILES _FILE._CREATION_TIME "
    "_FILE._DELETE_ROW_COUNT _FILE._EMBEDDED_FILE_INDEX _FILE._FILE_SOURCE _FILE._VALUE_STATS_COLS "
    "_FILE._EXTERNAL_PATH _FILE._FIRST_ROW_ID _FILE._WRITE_COLS _FILE._WRITE_COLS_SEQUENCES".split()
)
_OF_AN_INDEX = frozenset(
    "_VERSION _KIND _PARTITION _BUCKET _INDEX_TYPE _FILE_NAME _FILE_SIZE _ROW_COUNT _DELETIONS_VECTORS_RANGES "
    "_EXTERNAL_PATH _GLOBAL_INDEX".split()
)
KNOWN: Mapping[tuple[AvroColumn, ...], frozenset[str]] = {LIST: _OF_A_LIST, ENTRY: _OF_AN_ENTRY, INDEX: _OF_AN_INDEX}
"""The fields of all releases, up to 2.0."""


@dataclass(slots=True)
class PaimonManifests:
    """Decodes a table's immutable metadata files and caches them by name and size.

    `index`: what they said when the history was last built; `is_kept`: whether the local disk may give and keep it.
    `odd`: name of a file → the fields in it that no known release writes. Only what lists and holds files is looked at.
    """

    store: Store
    index: FileIndex | None = None
    is_kept: bool = True
    odd: dict[str, str] = field(default_factory=dict)
    _decoded: dict[tuple[AvroColumn, ...], dict[tuple[str, int], RowRange]] = field(default_factory=dict)

    def load(
        self,
        names: Sequence[str],
        columns: tuple[AvroColumn, ...],
        sizes: dict[str, int],
        progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Decode the named files of `manifest/`; `sizes` is the listing of that directory, in bytes.

        The size of a file that is not listed is requested and added to `sizes`. Files that cannot be read have no rows
        and an entry in `errors`.
        """
        kept = self._decoded.setdefault(columns, {})
        errors: dict[str, SnapscopeError] = {}
        add_unlisted(self.size, names, sizes, errors)
        wanted = []
        for name in dict.fromkeys(names):
            if name in errors:
                continue
            if name not in sizes:
                errors[name] = Corrupt(
                    "The table's metadata refers to this file, but it does not exist.",
                    path=f"{layout.MANIFEST}/{name}",
                    remedy="Snapshots and tags that need it can no longer be read in full; delete them by name.",
                )
            elif (name, sizes[name]) not in kept:
                wanted.append(name)
        done = 0

        def fetch(some: list[str]) -> tuple[list[str], list[str], int, dict[str, SnapscopeError]]:
            unread: dict[str, SnapscopeError] = {}
            return *sources(self.store, layout.MANIFEST, some, sizes, unread), len(some), unread

        for paths, found, count, unread in ahead(self.store, by_size(wanted, sizes), fetch):
            errors |= unread
            self._decode(paths, found, columns, sizes, errors)
            done += count
            if progress is not None:
                progress(done, len(wanted))
        schema = pa.schema([(column.name, column.type) for column in columns])
        return gathered(names, schema, kept, sizes, errors, is_new=bool(wanted))

    def size(self, name: str) -> int | None:
        """Return the size of a file of `manifest/` in bytes, None if it is absent."""
        return self.store.size(f"{layout.MANIFEST}/{name}")

    def _decode(
        self,
        paths: Sequence[str],
        found: Sequence[str],
        columns: tuple[AvroColumn, ...],
        sizes: Mapping[str, int],
        errors: dict[str, SnapscopeError],
    ) -> None:
        decoded = _read(paths, columns)
        for number, error in decoded.errors.items():
            errors[found[number]] = error
        rows = by_file(decoded.rows)
        is_known = _misunderstood(rows, columns) is None
        bounds = np.searchsorted(rows["file"].to_numpy(), np.arange(len(found) + 1)).tolist()
        has_extra = columns is LIST and len(pc.list_flatten(rows["extra_files"])) > 0
        rows, kept, released = rows.drop_columns(["file"]), self._decoded[columns], KNOWN.get(columns)
        for number, name in enumerate(found):
            if number in decoded.errors:
                continue
            begin, end = bounds[number], bounds[number + 1]
            if problem := None if is_known else _misunderstood(rows.slice(begin, end - begin), columns):
                errors[name] = problem
            else:
                kept[(name, sizes[name])] = rows, begin, end
                odd = frozenset[str]() if released is None else _fields(decoded.schemas[number]) - released
                if has_extra and len(pc.list_flatten(rows["extra_files"].slice(begin, end - begin))):
                    odd |= {"_EXTRA_FILES"}  # sidecars of manifests, of no release yet: nothing here holds them
                if odd:
                    self.odd[name] = ", ".join(sorted(odd))


def _read(paths: Sequence[str], columns: tuple[AvroColumn, ...]) -> Decoded:
    """Decode each file in the format its first bytes show; the table's option applies only to new files."""
    found = avro.read(paths, columns)
    if not found.errors:
        return found
    rejected = list(found.errors)
    forms = dict(zip(rejected, columnar.formats([paths[number] for number in rejected]), strict=True))
    others = {number: form for number, form in forms.items() if form is not None}
    if not others:
        return found
    numbers, also = list(others), columnar.read([paths[number] for number in others], [*others.values()], columns)
    file = pa.array(numbers, pa.int32()).take(also.rows["file"])
    return Decoded(
        pa.concat_tables([found.rows, also.rows.set_column(0, "file", file)]),
        {number: error for number, error in found.errors.items() if number not in others}
        | {numbers[number]: error for number, error in also.errors.items()},
        {**found.schemas, **{numbers[number]: schema for number, schema in also.schemas.items()}},
    )


def _fields(schema: bytes | pa.Schema) -> frozenset[str]:
    """Return the names of a record's fields, with those of the data file that it describes."""
    if isinstance(schema, bytes):
        return _fields_of_avro(schema)
    file = schema.field("_FILE").type if "_FILE" in schema.names else pa.struct([])
    return frozenset([*schema.names, *(f"_FILE.{file.field(number).name}" for number in range(file.num_fields))])


@lru_cache(256)
def _fields_of_avro(schema: bytes) -> frozenset[str]:
    found = set()
    for each in fields_of(json.loads(schema)) or ():
        found.add(str(each.get("name")))
        if each.get("name") == "_FILE":
            found |= {f"_FILE.{inner.get('name')}" for inner in fields_of(each.get("type")) or ()}
    return frozenset(found)


def _misunderstood(rows: pa.Table, columns: tuple[AvroColumn, ...]) -> SnapscopeError | None:
    """Return what a decoded file contains that this version of Snapscope does not support; None if everything is."""
    versions = set(rows["version"].unique().to_pylist()) - {_VERSIONS[columns]}
    if versions:
        return Unsupported(
            "Expected format version {version}, found {found}.",
            version=_VERSIONS[columns],
            found=sorted(versions),
            remedy="The file was written by a newer Paimon than this version of Snapscope supports. Upgrade Snapscope.",
        )
    if "kind" in rows.column_names and (kinds := set(rows["kind"].unique().to_pylist()) - {ADD, DELETE}):
        return Unsupported(
            "Expected entry kinds 0 and 1, found {kinds}.",
            kinds=sorted(kinds),
            remedy="The file was written by a newer Paimon than this version of Snapscope supports. Upgrade Snapscope.",
        )
    extra = [pc.list_flatten(rows["extra_files"])] if "extra_files" in rows.column_names else []
    for names in (rows["name"], *extra):
        if all(_are_plain(chunk) for chunk in names.chunks):
            continue
        if len(bad := names.filter(pc.match_substring_regex(names, layout.NO_FILE_NAME))):
            return Corrupt(
                "It contains {bad!r}, which is not a file name.",
                bad=bad[0].as_py(),
                remedy="Paimon did not write this file; Snapscope used it neither to read nor to delete.",
            )
    return None


def _are_plain(names: pa.StringArray) -> bool:
    """Return whether all are sure to be names of files: see `layout.NO_FILE_NAME`."""
    shortest = pc.min(pc.binary_length(names)).as_py()
    return shortest is None or (shortest > 2 and not large_texts.may_contain(names, b"/", b"\\", b"\0"))
