"""Partitions of an Iceberg table as text for people. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from core.formats.avro.decode import parted
from core.formats.iceberg.metadata import Metadata
from core.storage.decoded_files import flat

_NULL = "null"


def partitions(found: Metadata, spelled: pa.ChunkedArray) -> pa.Array:
    """Return partitions as `name=value/…`, by the ids of the specs' fields. The text 'null' is quoted, NULL is not."""
    fields = {each["field-id"]: each for spec in found.specs.values() for each in spec}
    types = {column.id: column.type for schema in found.schemas.values() for column in schema.fields}
    encoded = flat(spelled).dictionary_encode()
    texts = []
    for text in encoded.dictionary.to_pylist():
        parts = []
        for number, value in parted(text):
            spec = fields.get(number, {"name": f"field-{number}", "transform": "identity"})
            is_float = (
                types.get(spec.get("source-id", -1)) in ("float", "float NOT NULL") and spec["transform"] == "identity"
            )
            shown = str(np.float32(value)) if is_float and value is not None else _shown(value, spec["transform"])
            parts.append(f"{spec['name']}={shown}")
        texts.append("/".join(parts))
    return pa.array(texts, pa.string()).take(encoded.indices) if texts else pa.array([], pa.string())


def _shown(value: str | None, transform: str) -> str:
    """Format a partition value for people: years, months, days and hours are stored as counts from 1970."""
    if value is None:
        return _NULL
    if value.strip('"') == _NULL:
        return f'"{value}"'
    if not value.lstrip("-").isdigit():
        return value
    match transform:
        case "year":
            return str(1970 + int(value))
        case "month":
            return f"{1970 + int(value) // 12}-{int(value) % 12 + 1:02d}"
        case "day" | "hour":
            unit = np.timedelta64(int(value), "D" if transform == "day" else "h")
            return str(np.datetime64(0, "D" if transform == "day" else "h") + unit)
        case _:
            return value
