"""Small Paimon tables that several tests need, and ways to damage them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fastavro

from tests.support import builders
from tests.support.builders import START_MS, TableBuilder
from tests.support.places import TABLES

Record = dict[str, Any]


def avro(path: Path, change: Callable[[list[Record]], object]) -> None:
    """Rewrite an Avro file's records in place."""
    reader = fastavro.reader(io.BytesIO(path.read_bytes()))
    schema, records = reader.writer_schema, list(reader)
    change(records)  # type: ignore[arg-type]
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec="null", sync_marker=bytes(16))
    path.write_bytes(out.getvalue())


REAL = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())


@contextmanager
def merging() -> Iterator[None]:
    """While open, the next base list is rewritten into one manifest, as merging does."""
    before, builders.MERGE_AFTER = builders.MERGE_AFTER, 1
    try:
        yield
    finally:
        builders.MERGE_AFTER = before


def four_commits(root: Path, **options: Any) -> TableBuilder:
    """1 adds a; 2 adds b; 3 takes a away and adds c; 4 adds d; tag v on 2."""
    table = TableBuilder(root, **options)
    a, b, c, d = (table.file(1000 + number, rows=10) for number in range(4))
    table.commit([a])
    table.commit([b])
    table.commit([c], [a], kind="OVERWRITE")
    table.commit([d])
    table.tag("v", 2)
    return table


def manifest_of(table: TableBuilder, number: int, index: int = -1) -> str:
    name: str = table.commits[number].manifests[index]["_FILE_NAME"]
    return f"manifest/{name}"


def list_of(table: TableBuilder, number: int, kind: str = "base") -> str:
    return f"manifest/{table.commits[number].document[f'{kind}ManifestList']}"


def strip_sizes(root: Path) -> None:
    for path in [*root.glob("snapshot/snapshot-*"), *root.glob("tag/tag-*")]:
        document = json.loads(path.read_bytes())
        path.write_text(json.dumps({key: value for key, value in document.items() if not key.endswith("ListSize")}))


NOW_MS = START_MS + 10**11


def replaced_four_times(root: Path, options: Mapping[str, str]) -> TableBuilder:
    """Each commit replaces the files of the one before, so every snapshot alone holds something."""
    table = TableBuilder(root, options=options)
    for _ in range(4):
        table.commit([table.file()], table.live(), kind="OVERWRITE")
    return table
