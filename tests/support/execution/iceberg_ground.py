"""Shared by tests of applied changes to Iceberg tables: real tables moved to a writable place, another client that
commits on its own, and an oracle that reads metadata and manifests without the code under test."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.manifests import IcebergManifests
from core.storage.store import Store
from core.table import Table
from tests.support.iceberg_tables import PYICEBERG, SMALL, moved, read_avro

Json = dict[str, Any]
LATE_MS = 4_000_000_000_000
"""A `now` at which all snapshots are old."""


def small_table(root: Path, **properties: str) -> Path:
    """Create four appends (s0 to s3), a tag on the second and a branch on the third; all files exist."""
    root.parent.mkdir(parents=True, exist_ok=True)
    moved(PYICEBERG / "hadoop_path", root)

    def named(document: Json) -> None:
        ids = [each["snapshot-id"] for each in document["snapshots"]]
        document["refs"] = {
            "main": {"snapshot-id": ids[3], "type": "branch"},
            "early": {"snapshot-id": ids[1], "type": "tag", "max-ref-age-ms": 2**62, "owner": "somebody"},
            "work": {"snapshot-id": ids[2], "type": "branch", "min-snapshots-to-keep": 1},
        }
        document["properties"] = properties
        document["x-unknown"] = {"kept": [1, 2.5, None, "ü"]}

    commit(root, named)
    return root


def java_table(name: str, root: Path) -> Path:
    """Copy a table of a random history and create its missing data files as empty files of the right size."""
    root.parent.mkdir(parents=True, exist_ok=True)
    moved(SMALL / "java_random" / name, root)
    for path, size in needed(root).items():
        if not (root / path).exists():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
            os.truncate(root / path, size)
    return root


def newest(root: Path) -> Path:
    versions = {int(path.name[1:].split(".")[0]): path for path in root.glob("metadata/v*.metadata.json")}
    return versions[max(versions)]


def document(root: Path) -> Json:
    found: Json = json.loads(newest(root).read_bytes())
    return found


def commit(root: Path, change: Callable[[Json], object]) -> Path:
    """Commit as another client: exclusively create the next version, then write the hint."""
    before = newest(root)
    own = json.loads(before.read_bytes())
    own["metadata-log"] = [
        *own.get("metadata-log", ()),
        {"timestamp-ms": own["last-updated-ms"], "metadata-file": f"{own['location']}/metadata/{before.name}"},
    ]
    change(own)
    version = int(before.name[1:].split(".")[0]) + 1
    path = root / f"metadata/v{version}.metadata.json"
    whole = root / f"metadata/{uuid.uuid4()}.tmp"
    whole.write_text(json.dumps(own))
    os.link(whole, path)  # as engines rename: no reader sees half of it; fails if the version exists
    whole.unlink()
    (root / "metadata/version-hint.text").write_text(str(version))
    return path


def ids(root: Path) -> list[int]:
    return [each["snapshot-id"] for each in document(root)["snapshots"]]


def needed(root: Path) -> dict[str, int]:
    """Return path and size of every file that any snapshot of the newest metadata needs."""
    own = document(root)
    found: dict[str, int] = {}

    def relative(path: str) -> str:
        inner = path.removeprefix(own["location"]).lstrip("/")
        assert inner != path, path
        return inner

    def manifest(path: str) -> None:
        found[relative(path)] = (root / relative(path)).stat().st_size
        for entry in read_avro(root / relative(path))[1]:
            if entry["status"] != 2:
                found[relative(entry["data_file"]["file_path"])] = entry["data_file"]["file_size_in_bytes"]

    for snapshot in own["snapshots"]:
        for path in snapshot.get("manifests", ()):
            manifest(path)
        if "manifest-list" in snapshot:
            path = snapshot["manifest-list"]
            found[relative(path)] = (root / relative(path)).stat().st_size
            for row in read_avro(root / relative(path))[1]:
                manifest(row["manifest_path"])
    for name in ("statistics", "partition-statistics"):
        for each in own.get(name, ()):
            found[relative(each["statistics-path"])] = each["file-size-in-bytes"]
    return found


def broken(root: Path) -> list[str]:
    """Return the missing files that the newest metadata needs. A missing list or manifest fails outright."""
    return sorted(path for path in needed(root) if not (root / path).is_file())


def told(root: Path) -> Json:
    """Return the newest metadata, without what every commit changes."""
    own = document(root)
    for name in ("metadata-log", "last-updated-ms"):
        own.pop(name, None)
    return own


def disk(root: Path) -> frozenset[str]:
    """Return every file except metadata and leftovers of interrupted writes."""
    found = (path for path in root.rglob("*") if path.is_file())
    names = (str(path.relative_to(root)) for path in found)
    return frozenset(name for name in names if not name.endswith((".metadata.json", ".tmp", "version-hint.text")))


def copied(source: Path, target: Path) -> Path:
    """Restore a table in place."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def opened(store: Store, manifests: IcebergManifests | None = None) -> Table:
    return Table(IcebergFormat(store, manifests=manifests or IcebergManifests()))
