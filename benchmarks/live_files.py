"""Benchmark the listing of current files in a 200,000-file table: entries per second, compared with fastavro and
pypaimon.

    python benchmarks/live_files.py [--entries 200000] [--rounds 3] [--pypaimon PATH_TO_PYTHON]

All readers read the same table on local disk, in turn, `rounds` times; the first round of each includes lazy imports.
Output: median entries per second, and the ratio to Snapscope. pypaimon runs in its own environment.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import fastavro

from core.formats.paimon import binary_row
from core.formats.paimon.write import manifest_encoding
from core.table import open_table

MANIFESTS = 12
PYPAIMON = """
import json, sys, time
from pypaimon import CatalogFactory
catalog = CatalogFactory.create({"warehouse": sys.argv[1]})
table = catalog.get_table("default.large")
started = time.perf_counter()
splits = table.new_read_builder().new_scan().plan().splits()
files = sum(len(split.files) for split in splits)
print(json.dumps({"files": files, "seconds": time.perf_counter() - started}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pypaimon", default=str(Path.home() / ".cache/snapscope-tests/pypaimon-venv/bin/python"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
        table = Path(folder) / "default.db" / "large"
        build(table, args.entries)
        readers: dict[str, Callable[[], tuple[int, float]]] = {
            "snapscope": lambda: ours(table),
            "fastavro": lambda: by_fastavro(table),
        }
        if Path(args.pypaimon).exists():
            readers["pypaimon"] = lambda: by_pypaimon(args.pypaimon, Path(folder))
        else:
            print(f"left out: pypaimon ({args.pypaimon} does not exist)")
        taken: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(args.rounds):
            for name, reader in readers.items():
                files, seconds = reader()
                if files != args.entries:
                    raise SystemExit(f"{name} found {files} files, expected {args.entries}")
                taken[name].append(seconds)
    best = statistics.median(taken["snapscope"])
    for name, seconds_ in taken.items():
        middle = statistics.median(seconds_)
        spread = f"[{min(seconds_):.2f}..{max(seconds_):.2f}] s"
        print(f"{name:10} {args.entries / middle:>12,.0f} entries/s  {spread:>18}  {middle / best:6.1f} x ours")


def ours(table: Path) -> tuple[int, float]:
    """Open the table, read the references, build the full history, and list the files of the latest snapshot."""
    started = time.perf_counter()
    history = open_table(str(table)).history()
    files = len(history.files_at(history.require("1")))
    return files, time.perf_counter() - started


def by_fastavro(table: Path) -> tuple[int, float]:
    """Decode every entry and merge them by the engine's scan rule; nothing else."""
    started = time.perf_counter()
    snapshot = json.loads((table / "snapshot" / "snapshot-1").read_bytes())
    added, deleted = set(), set()
    for key in ("baseManifestList", "deltaManifestList"):
        with (table / "manifest" / snapshot[key]).open("rb") as listed:
            for manifest in fastavro.reader(listed):
                with (table / "manifest" / manifest["_FILE_NAME"]).open("rb") as file:
                    for entry in fastavro.reader(file):
                        data = entry["_FILE"]
                        identity = (entry["_PARTITION"], entry["_BUCKET"], data["_LEVEL"], data["_FILE_NAME"])
                        (deleted if entry["_KIND"] else added).add(identity)
    return len(added - deleted), time.perf_counter() - started


def by_pypaimon(python: str, warehouse: Path) -> tuple[int, float]:
    """Run `new_scan().plan()` in a separate process, not counting its imports."""
    done = subprocess.run([python, "-c", PYPAIMON, str(warehouse)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pypaimon failed: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return found["files"], found["seconds"]


def build(table: Path, count: int) -> None:
    """Write an append table with one snapshot that lists `count` files in twelve manifests, without the data files."""
    schema = {
        "version": 3,
        "id": 0,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT"}, {"id": 1, "name": "dt", "type": "STRING"}],
        "highestFieldId": 1,
        "partitionKeys": ["dt"],
        "primaryKeys": [],
        "options": {"bucket": "-1"},
        "timeMillis": 0,
    }
    types = ["BIGINT", "STRING"]
    for folder in ("schema", "snapshot", "manifest"):
        (table / folder).mkdir(parents=True)
    (table / "schema" / "schema-0").write_text(json.dumps(schema))
    listed = []
    for number in range(MANIFESTS):
        own = range(number * count // MANIFESTS, (number + 1) * count // MANIFESTS)
        records = [manifest_encoding.added(_file(each), types) for each in own]
        name = f"manifest-{uuid.uuid4()}-{number}"
        data = manifest_encoding.manifest(name, records)
        (table / "manifest" / name).write_bytes(data)
        listed.append(manifest_encoding.listed(name, len(data), records, 0, ["STRING"]))
    names = [f"manifest-list-{uuid.uuid4()}-{each}" for each in range(2)]
    for name, manifests in zip(names, ([], listed), strict=True):
        (table / "manifest" / name).write_bytes(manifest_encoding.manifest_list(name, manifests))
    snapshot = {
        "version": 3,
        "id": 1,
        "schemaId": 0,
        "baseManifestList": names[0],
        "deltaManifestList": names[1],
        "commitUser": "benchmark",
        "commitIdentifier": 1,
        "commitKind": "APPEND",
        "timeMillis": 1,
        "totalRecordCount": count * 10,
        "deltaRecordCount": count * 10,
    }
    (table / "snapshot" / "snapshot-1").write_text(json.dumps(snapshot))


def _file(number: int) -> manifest_encoding.NewDataFile:
    day = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
    return manifest_encoding.NewDataFile(
        partition=binary_row.encode([day], ["STRING"]),
        path=f"dt={day}/bucket-0/data-{uuid.uuid4()}-0.parquet",
        size_bytes=1000 + number,
        rows=10,
        schema_id=0,
        stats=manifest_encoding.SimpleStats([number, day], [number + 9, day], [0, 0]),
        source=0,
        created_ms=0,
    )


if __name__ == "__main__":
    sys.exit(main())
