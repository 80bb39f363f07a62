"""Iceberg tables for tests: shared ones that are read in place, and copies with rewritten locations."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as parquet

from core.formats.iceberg import references
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.history import build as histories
from core.formats.iceberg.manifests import IcebergManifests
from core.formats.iceberg.metadata import Metadata
from core.model.history import History
from core.storage.store import Store
from tests.support.places import SMALL_TABLES, TABLES

JAVA_RANDOM = TABLES / "iceberg" / "java_random"
PYICEBERG = TABLES / "iceberg" / "pyiceberg"
SMALL = SMALL_TABLES / "iceberg"


@cache
def as_if_there(root: Path) -> tuple[History, Metadata]:
    """Read the history of a table as if it were at the location in its metadata."""
    store = Store(str(root))
    found, document = references.read(store)
    place = TableLocation.of(store, document.location, document.properties)
    return histories.build(place, found, document, IcebergManifests()), document


def moved(source: Path, target: Path, location: str | None = None) -> Path:
    """Copy a table and set the location in its metadata to the copy's, or to `location`. Position delete files are
    unchanged."""
    shutil.copytree(source, target)
    newest = max(target.glob("metadata/*.metadata.json*"))
    old, new = json.loads(_text(newest))["location"], location or f"file://{target}"
    for path in target.glob("metadata/*"):
        if path.name.endswith((".json", ".json.gz")):
            text = _text(path).replace(old, new).encode()
            path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
        elif path.suffix == ".avro":
            schema, records, metadata = read_avro(path)
            records = json.loads(json.dumps(records, default=_packed).replace(old, new), object_hook=_unpacked)
            write_avro(path, schema, records, metadata)
    return target


def relocated(source: Path, target: Path, old: str) -> Path:
    """Copy a table that was written for the location `old`; position delete files are rewritten too, and lose their
    bounds."""
    shutil.copytree(source, target)

    def there(value: Any) -> Any:
        match value:
            case str():
                return value.replace(old, str(target))
            case dict():
                return {key: there(each) for key, each in value.items()}
            case list():
                return [there(each) for each in value]
            case _:
                return value

    for path in target.rglob("*"):
        if path.name.endswith((".metadata.json", ".metadata.json.gz")):
            text = _text(path).replace(old, str(target)).encode()
            path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
        elif path.suffix == ".avro" and path.parent.name == "metadata":
            schema, records, metadata = read_avro(path)
            for each in records:
                if (file := each.get("data_file")) and file.get("content") == 1:
                    file["lower_bounds"] = file["upper_bounds"] = None
            write_avro(path, schema, there(records), metadata)
        elif path.suffix in (".parquet", ".parq") and parquet.read_schema(path).names[:2] == ["file_path", "pos"]:
            table = parquet.read_table(path)
            names = pa.array(there(table["file_path"].to_pylist()), table.schema.field(0).type)
            parquet.write_table(table.set_column(0, table.schema.field(0), names), path)
    return target


def read_avro(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, str]]:
    """Return the schema, records and metadata of an Avro file."""
    reader = fastavro.reader(io.BytesIO(path.read_bytes()))
    metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    return json.loads(reader.metadata["avro.schema"]), list[Any](reader), metadata


def write_avro(path: Path, schema: dict[str, Any], records: list[dict[str, Any]], metadata: dict[str, str]) -> None:
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec="deflate", metadata=metadata)
    path.write_bytes(out.getvalue())


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()


def _packed(value: Any) -> Any:
    return {"__hex": value.hex()} if isinstance(value, bytes) else str(value)


def _unpacked(value: dict[str, Any]) -> Any:
    return bytes.fromhex(value["__hex"]) if set(value) == {"__hex"} else value
