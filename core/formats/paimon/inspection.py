"""The contents of one snapshot's metadata: lists, manifests, entries, and column statistics.

Invariant: nothing is read again that was decoded before. An unreadable file is an error that names it, never an empty
list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import Corrupt, Unsupported
from core.formats.paimon import binary_row, layout, scan_details
from core.formats.paimon.file_paths import identities
from core.formats.paimon.manifests import ADD, DETAIL, ENTRY, LIST, LISTED, STATS, VECTORS, PaimonManifests
from core.formats.paimon.partitions import directory
from core.formats.paimon.references import document
from core.formats.paimon.types import PaimonType, parse, text
from core.messages import message
from core.model.column_bounds import Bounds, Column, FileBounds, cut_length, merged
from core.model.intervals import Ints
from core.model.references import Heads, Schema, Snapshot
from core.storage.decoded_files import Loaded
from core.storage.store import Store

LISTS = {"base": "baseManifestList", "delta": "deltaManifestList", "changelog": "changelogManifestList"}
INDEX_KIND = "index"
_GROUPS = {**dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "whole"), "FLOAT": "float", "DOUBLE": "float",
           "CHAR": "text", "VARCHAR": "text", "BINARY": "bytes", "VARBINARY": "bytes"}  # fmt: skip


def manifests(decoded: PaimonManifests, snapshot: Snapshot) -> pa.Table:
    """Return every manifest of a snapshot, by list.

    Columns: list, list_path, list_bytes, path, bytes, added, deleted, existing (null in Paimon), schema_id. The index
    manifest is the only row of its list and has no entry counts.
    """
    sizes = _sizes(decoded)
    parts = []
    for kind, key in LISTS.items():
        name = snapshot.fields.get(key)
        if isinstance(name, str):
            rows = _whole(decoded.load([name], LISTED, sizes)).rows
            parts.append(
                _manifests(kind, name, sizes[name], rows.select(["name", "bytes", "added", "deleted", "schema_id"]))
            )
    name = snapshot.fields.get("indexManifest")
    if isinstance(name, str):
        nothing = pa.nulls(1, pa.int64())
        rows = pa.table([[name], pa.array([sizes.get(name)], pa.int64()), nothing, nothing, nothing],
                        names=["name", "bytes", "added", "deleted", "schema_id"])  # fmt: skip
        parts.append(_manifests(INDEX_KIND, name, sizes.get(name), rows))
    return pa.concat_tables([_MANIFESTS.empty_table(), *parts])


_MANIFESTS = pa.schema(
    [("list", pa.string()), ("list_path", pa.string()), ("list_bytes", pa.int64()), ("path", pa.string()),
     *((name, pa.int64()) for name in ("bytes", "added", "deleted", "existing", "schema_id"))]
)  # fmt: skip


def _manifests(kind: str, name: str, size: int | None, rows: pa.Table) -> pa.Table:
    count = len(rows)
    columns = {
        "list": pa.array([kind] * count, pa.string()),
        "list_path": pa.array([f"{layout.MANIFEST}/{name}"] * count, pa.string()),
        "list_bytes": pa.array([size] * count, pa.int64()),
        "path": pc.binary_join_element_wise(layout.MANIFEST, rows["name"], "/"),
        **{each: rows[each] for each in ("bytes", "added", "deleted")},
        "existing": pa.nulls(count, pa.int64()),
        "schema_id": rows["schema_id"],
    }
    return pa.table(columns).cast(_MANIFESTS)


def entries(decoded: PaimonManifests, heads: Heads, path: str, *, is_index: bool) -> pa.Table:
    """Return the entries of one manifest, in order.

    Columns: change (added or removed), kind, path, bytes, rows, partition, bucket, level, min_sequence, max_sequence,
    schema_id, source, delete_rows. Index entries have no rows, levels or sequence numbers.
    """
    name = path.removeprefix(f"{layout.MANIFEST}/")
    rows = _whole(decoded.load([name], VECTORS if is_index else DETAIL, _sizes(decoded))).rows
    found = identities(rows, heads, index_files=is_index)
    files = found.files.take(pa.array(found.identity))
    count, nothing = len(rows), pa.nulls(len(rows), pa.int64())
    change = pa.array(np.where(rows["kind"].to_numpy() == ADD, "added", "removed").tolist(), pa.string())
    kind = pc.utf8_lower(rows["type"]) if is_index else pa.array(["data"] * count, pa.string())
    details = {name: nothing if is_index else rows[name] for name in ("min_sequence", "max_sequence", "delete_rows")}
    columns = {
        "change": change,
        "kind": kind,
        "path": files["path"],
        "bytes": files["bytes"],
        "rows": nothing if is_index else files["rows"],
        "partition": _partitions(rows["partition"], heads.main.schema),
        "bucket": rows["bucket"].cast(pa.int64()),
        "level": nothing if is_index else files["level"].cast(pa.int64()),
        "min_sequence": details["min_sequence"],
        "max_sequence": details["max_sequence"],
        "schema_id": nothing if is_index else files["schema_id"],
        "source": pa.nulls(count, pa.string()) if is_index else files["source"],
        "delete_rows": details["delete_rows"],
    }
    return pa.table(columns)


def described(decoded: PaimonManifests, snapshot: Snapshot, files: pa.Table) -> dict[str, list[int | None]]:
    """Return min_sequence, max_sequence and delete_rows of live files of a snapshot, in order; null if not stored."""
    rows = _naming(decoded, snapshot, files, DETAIL, decoded)
    keys = zip(rows["partition"].to_pylist(), rows["bucket"].to_pylist(), rows["name"].to_pylist(), strict=True)
    row_of = {key: number for number, key in enumerate(keys)}
    places = [row_of.get(key) for key in scan_details.keys_of(files)]
    details = {}
    for name in ("min_sequence", "max_sequence", "delete_rows"):
        values = rows[name].to_pylist()
        details[name] = [None if place is None else values[place] for place in places]
    return details


def retractions(decoded: PaimonManifests, heads: Heads, snapshot: Snapshot, files: pa.Table) -> int | None:
    """Return the number of rows that delete rows in these live files: retractions plus rows in deletion vectors.

    None if some file does not state its number.
    """
    delete_rows = described(decoded, snapshot, files)["delete_rows"]
    vectors = [each.rows for each in scan_details.vectors(decoded, heads, snapshot).values()]
    known = [each for each in (*delete_rows, *vectors) if each is not None]
    return sum(known) if len(known) == len(delete_rows) + len(vectors) else None


def analyzed(store: Store, snapshot: Snapshot) -> dict[str, Any] | None:
    """Return the statistics file of a snapshot as it is stored; None if the snapshot has none. Raises `Corrupt`."""
    name = snapshot.fields.get("statistics")
    if not isinstance(name, str):
        return None
    path = f"{layout.STATISTICS}/{layout.plain_name(name, 'statistics')}"
    try:
        return document(store.read(path), path)
    except Corrupt as error:
        raise Corrupt(error.message, path=error.path, remedy=error.remedy or "Run ANALYZE again.") from error


def analyzed_in_words(store: Store, snapshot: Snapshot) -> dict[str, str]:
    """Return the statistics file of a snapshot as text by name: rows, bytes, and the statistics of each column."""
    document = analyzed(store, snapshot)
    if document is None:
        return {}
    names = {"snapshotId": "snapshot", "mergedRecordCount": "rows", "mergedRecordSize": "bytes"}
    texts = {name: f"{document[key]:,}" for key, name in names.items() if isinstance(document.get(key), int)}
    columns = document.get("colStats")
    for column, values in sorted(columns.items()) if isinstance(columns, dict) else ():
        parts = (
            [f"{key} {value}" for key, value in values.items() if key != "colId"] if isinstance(values, dict) else []
        )
        texts[str(column)] = ", ".join(parts)
    return texts


def statistics(
    decoded: PaimonManifests, snapshot: Snapshot, files: pa.Table, schema: Schema, schemas: Mapping[int, Schema]
) -> tuple[Bounds, ...]:
    """Return the manifests' statistics of the columns of `schema` in these live files.

    Each file's statistics are decoded with the schema it was written with. Raises `Corrupt` if that schema is
    missing.
    """
    rows = _naming(decoded, snapshot, files, STATS, PaimonManifests(decoded.store))
    wanted = set(scan_details.keys_of(files))
    found = {(row["partition"], row["bucket"], row["name"]): row for row in rows.to_pylist()}
    known = _known(schema)
    columns = [
        Column(field.id, field.name, text(known[field.id]) if field.id in known else str(field.type))
        for field in schema.fields
    ]
    bounds_of_files = []
    for key, row in found.items():
        if key in wanted:
            written = schemas.get(row["schema_id"])
            if written is None:
                raise Corrupt(
                    "Its statistics belong to schema {schema_id}, which does not exist.",
                    schema_id=row["schema_id"],
                    path=f"{layout.SCHEMA}/schema-{row['schema_id']}",
                    remedy="Restore that schema file; other files are not affected.",
                )
            bounds_of_files.append((row["rows"], _file_bounds(row, written, known)))
    mode = schema.options.get("metadata.stats-mode")
    cuts = {
        field.id: cut_length(schema.options.get(f"fields.{field.name}.stats-mode", mode)) for field in schema.fields
    }
    return merged(columns, bounds_of_files, cuts)


def _file_bounds(row: Mapping[str, Any], written: Schema, known: Mapping[int, PaimonType]) -> dict[int, FileBounds]:
    """Return one file's statistics by column id.

    A column that the file's schema lacks is null in all rows. One whose type has since changed to an incomparable type
    is marked unreadable. One without statistics is left out.
    """
    then, types = {field.name: field for field in written.fields}, _known(written)
    of_file = row["written"] if row["written"] is not None else list(then)
    names = row["columns"] if row["columns"] is not None else of_file
    found = {id: FileBounds(None, None, row["rows"]) for id in known if all(field.id != id for field in written.fields)}
    own = [name for name in written.primary_keys if name not in written.partition_keys]
    for low, high, listed, nulls in (
        (row["key_low"], row["key_high"], own, [0] * len(own)),
        (row["low"], row["high"], names, row["nulls"]),
    ):
        fields = [then.get(name) for name in listed]
        if low is None or high is None or _arity(low) == 0 or any(field is None for field in fields):
            continue
        wanted = {
            number: types[field.id]
            for number, field in enumerate(fields)
            if field is not None and field.id in known and field.id in types and not types[field.id].is_nested
        }
        lows, highs = (_decoded(side, len(listed), wanted, row["name"]) for side in (low, high))
        counted = nulls if nulls is not None and len(nulls) == len(listed) else [None] * len(listed)
        for number, to in wanted.items():
            field = fields[number]
            assert field is not None
            fits = _group(to) == _group(known[field.id])
            least, greatest = (lows.get(number), highs.get(number))
            is_written = least is not None or greatest is not None
            if fits:
                found[field.id] = FileBounds(least, greatest, counted[number])
            else:
                found[field.id] = FileBounds(None, None, counted[number], is_written)
    return found


def _known(schema: Schema) -> dict[int, PaimonType]:
    """The columns' types by id, without those that this program does not know."""
    found = {}
    for field in schema.fields:
        with contextlib.suppress(Unsupported):
            found[field.id] = parse(field.type)
    return found


def _decoded(side: bytes, arity: int, wanted: Mapping[int, PaimonType], name: str) -> dict[int, Any]:
    try:
        return binary_row.some(side, arity, wanted)
    except Corrupt as error:
        raise Corrupt(
            message("Statistics of {name}: {message}", name=name, message=error.message), path=name, remedy=error.remedy
        ) from error


def _arity(row: bytes) -> int:
    return int.from_bytes(row[:4], "big")


def _partitions(stored: pa.ChunkedArray, schema: Schema | None) -> pa.Array:
    encoded = stored.combine_chunks().dictionary_encode()
    texts = [directory(schema, value) if schema else "" for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices) if texts else pa.array([], pa.string())


def _group(type_: PaimonType) -> str:
    return _GROUPS.get(type_.root, type_.root)


def _naming(
    decoded: PaimonManifests, snapshot: Snapshot, files: pa.Table, columns: tuple[Any, ...], reader: PaimonManifests
) -> pa.Table:
    """Return the ADD entries of these files, reading only the manifests that name them.

    Which manifests those are follows from the entries cached when the history was read.
    """
    sizes = _sizes(decoded)
    lists = [name for key in (LISTS["base"], LISTS["delta"]) if isinstance(name := snapshot.fields.get(key), str)]
    names = _whole(decoded.load(lists, LIST, sizes)).rows["name"].unique().to_pylist()
    loaded = _whole(decoded.load(names, ENTRY, sizes))
    wanted = pa.array({path.rpartition("/")[2] for path in files["path"].to_pylist()}, pa.string())
    has = pc.and_(pc.is_in(loaded.rows["name"], value_set=wanted), pc.equal(loaded.rows["kind"], ADD)).to_numpy()
    manifest_of: Ints = np.repeat(np.arange(len(names), dtype=np.int64), np.diff(loaded.start))
    chosen: Sequence[str] = [names[number] for number in np.unique(manifest_of[has])]
    rows = _whole(reader.load(chosen, columns, sizes)).rows
    return rows.filter(pc.is_in(rows["name"], value_set=wanted))


def _sizes(decoded: PaimonManifests) -> dict[str, int]:
    return {entry.name: entry.size for entry in decoded.store.ls_if_there(layout.MANIFEST) if entry.size is not None}


def _whole(loaded: Loaded) -> Loaded:
    for error in loaded.errors.values():
        raise error
    return loaded
