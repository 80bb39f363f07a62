"""Small Paimon tables that several tests use, and ways to damage them."""

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
_OTHERS = TABLES / "paimon_public"
PUBLIC = sorted(
    path.parent.relative_to(_OTHERS).as_posix()
    for path in _OTHERS.rglob("schema")
    if (path.parent / "snapshot").is_dir() and "branch" not in path.parts
)
"""Tables of other projects, where the tables beyond tests/tables are."""


@contextmanager
def merging() -> Iterator[None]:
    """Inside this context, merge the next base list into one manifest."""
    before, builders.MERGE_AFTER = builders.MERGE_AFTER, 1
    try:
        yield
    finally:
        builders.MERGE_AFTER = before


def four_commits(root: Path, **options: Any) -> TableBuilder:
    """Commit 1 adds a; 2 adds b; 3 removes a and adds c; 4 adds d; tag v is on 2."""
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


def rewrite(table: TableBuilder, number: int, entry: Mapping[str, Any], **file: Any) -> str:
    """Change the last manifest of a commit in place, and the sizes its lists tell, so that only the content is odd."""
    path = manifest_of(table, number)
    changed = {**entry, "_FILE": {**entry["_FILE"], **file}}
    data = builders._avro("entry", [changed], "null")
    name = path.rsplit("/", 1)[-1]
    (table.root / path).write_bytes(data)
    for each in sorted(table.commits):
        document = table.commits[each].document
        for kind in ("base", "delta"):
            target = table.root / "manifest" / document[f"{kind}ManifestList"]
            with target.open("rb") as opened:
                records: list[Any] = list(fastavro.reader(opened))
            for record in records:
                if record["_FILE_NAME"] == name:
                    record["_FILE_SIZE"] = len(data)
            target.write_bytes(builders._avro("list", records, "null"))
    strip_sizes(table.root)
    return path


NOW_MS = START_MS + 10**11


def replaced_four_times(root: Path, options: Mapping[str, str]) -> TableBuilder:
    """Replace all files in each commit, so that every snapshot exclusively holds something."""
    table = TableBuilder(root, options=options)
    for _ in range(4):
        table.commit([table.file()], table.live(), kind="OVERWRITE")
    return table
