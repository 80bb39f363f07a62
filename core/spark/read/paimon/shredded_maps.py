"""Maps that a file stores in parts (`fields.<name>.map.storage-layout`), put together. Pure: Arrow in, Arrow out.

Such a column is a struct: for each of a number of value columns, which key its value has in a row (as the number of the
key in a dictionary in the column's metadata, or a negative one), these columns, and a map of what did not fit.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from core.errors import Unsupported
from core.formats.paimon.ways_out import LEAVE_OUT
from core.model.references import Schema
from core.spark.merge.columns import order_by

_LAYOUT, _SHARED = b"paimon.map.storage-layout", b"shared-shredding"
_OWN = "paimon.map.shared-shredding."


def is_on(schema: Schema, name: str) -> bool:
    """Whether files of this schema may store the column in parts."""
    return schema.options.get(f"fields.{name}.map.storage-layout", "default").strip().lower() != "default"


def is_stored(field: pa.Field) -> bool:
    """Whether a file's column is stored in parts, by its metadata."""
    return (field.metadata or {}).get(_LAYOUT) == _SHARED


def in_orc(file: Any) -> dict[str, Mapping[bytes, bytes]]:
    """The metadata of an ORC file's columns, which ORC stores in the file's metadata."""
    stored = (file.metadata or {}).get(b"ARROW:schema")
    found = file.schema if stored is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))
    return {field.name: field.metadata for field in found if field.metadata}


def whole(column: Any, metadata: Mapping[bytes, bytes], path: str) -> pa.Array:
    """The maps of a column. Raises `ValueError` if its parts do not fit together, `Unsupported` for another version."""
    keys = _dictionary(metadata, path)
    count = int(_said(metadata, "num-columns"))
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    there = np.flatnonzero(flat.is_valid().to_numpy(zero_copy_only=False))
    parts = flat.take(pa.array(there))  # of rows that are not null
    fields = {field.name: parts.field(number) for number, field in enumerate(flat.type)}
    chosen = fields["__field_mapping"]
    numbers = chosen.flatten().to_numpy(zero_copy_only=False)
    if chosen.null_count or len(numbers) != len(there) * count or chosen.flatten().null_count:
        raise ValueError(f"{count} columns of a map were expected in each row")
    numbers = numbers.reshape(len(there), count)
    ids, rows, ranks, values = [], [], [], []
    for at in range(count):
        rows.append(np.arange(len(there)))
        ids.append(numbers[:, at])
        ranks.append(np.full(len(there), at))
        values.append(fields[f"__col_{at}"])
    if (more := fields.get("__overflow")) is not None:
        full = np.flatnonzero(more.is_valid().to_numpy(zero_copy_only=False))
        pairs = more.take(pa.array(full))
        rows.append(np.repeat(full, np.diff(pairs.offsets.to_numpy())))
        first, last = pairs.offsets[0].as_py(), pairs.offsets[-1].as_py()
        ids.append(pairs.keys[first:last].to_numpy(zero_copy_only=False))
        ranks.append(count + np.arange(len(rows[-1])))
        values.append(pairs.items[first:last])
    id_, row, rank = np.concatenate(ids), np.concatenate(rows), np.concatenate(ranks)
    taken = np.flatnonzero((id_ >= 0) & np.isin(id_, list(keys)))
    taken = taken[order_by(row[taken], rank[taken])]
    sizes = np.zeros(len(flat), dtype=np.int64)
    sizes[there] = np.bincount(row[taken], minlength=len(there))
    offsets = pa.array(np.concatenate(([0], np.cumsum(sizes))), pa.int32())
    names = pa.array([keys[int(each)] for each in id_[taken]], pa.string())
    return pa.MapArray.from_arrays(offsets, names, pa.concat_arrays(values).take(pa.array(taken)), mask=flat.is_null())


def _dictionary(metadata: Mapping[bytes, bytes], path: str) -> dict[int, str]:
    """The keys by their numbers."""
    version, how = _said(metadata, "version"), _said(metadata, "field-dict-compression", "zstd").lower()
    if version != "1" or how not in ("none", "zstd"):
        raise Unsupported(
            "A map is stored in parts in the version '{version}' with the compression '{how}'; version 1 with none "
            "and zstd are known.",
            version=version,
            how=how,
            path=path,
            remedy=LEAVE_OUT,
        )
    stored = _said(metadata, "field-dict").encode("latin-1")
    size = int(_said(metadata, "field-dict-original-size"))
    if how == "zstd":
        stored = pa.decompress(stored, size, codec="zstd", asbytes=True)
    return {int(number): name for name, number in json.loads(stored).items()}


def _said(metadata: Mapping[bytes, bytes], name: str, otherwise: str | None = None) -> str:
    found = metadata.get(f"{_OWN}{name}".encode())
    if found is None and otherwise is None:
        raise ValueError(f"the metadata of a map lacks {name}")
    return (otherwise or "") if found is None else found.decode()
