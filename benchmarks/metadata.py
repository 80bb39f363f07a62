"""Benchmark the metadata of one large table of each format: the files of its latest snapshot, compared with decoding
the same manifests by DataFusion alone (the limit), with pypaimon and with PyIceberg.

    python benchmarks/metadata.py [--files 200000] [--rounds 3] [--pypaimon PATH_TO_PYTHON]

In each round every reader runs in turn, in a process of its own that reads `TIMES` times and tells the median; imports
are not counted, and the table is opened anew each time. All must find the same number of files. Output: one table of
medians, spreads, processor seconds, ratios to Snapscope in the same round (above 1: Snapscope takes less), and the peak
of memory above that of the imports, for each file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.formats.iceberg.manifests import ADDED
from core.formats.iceberg.write import manifest_encoding as iceberg
from core.formats.paimon import binary_row
from core.formats.paimon.write import manifest_encoding as paimon
from support import large_tables, ratios

MANIFESTS = 12
DAYS = large_tables.DAYS
PARTITIONS = [binary_row.encode([day], ["STRING"]) for day in DAYS]
TYPES = ["BIGINT", "STRING"]
TIMES = {"Snapscope": 5, "DataFusion alone": 5}  # others take long
HEAD = "{:8} {:18} {:>8} {:>14} {:>7} {:>7} {:>6} {:>7}"
SNAPSHOT = 4_711_000_000_000_000_001  # Iceberg's ids are random numbers of this size

Reader = Callable[[Path], int]


# reading -------------------------------------------------------------------------------------------------------------


def snapscope(table: Path) -> int:
    """Open the table, read the references, build the whole history, and list the files of the latest snapshot."""
    from core.table import open_table

    history = open_table(str(table)).history()
    position = history.require("1" if (table / "snapshot").exists() else str(SNAPSHOT))
    return len(history.files_at(position, is_ordered=False))  # the others do not order them either


def by_datafusion(table: Path) -> int:
    """Decode the columns that identify and describe a file; nothing else."""
    import datafusion

    is_paimon = (table / "snapshot").exists()
    columns = (
        """"_KIND", "_PARTITION", "_BUCKET", "_FILE"['_LEVEL'] as l, "_FILE"['_FILE_NAME'] as n,
        "_FILE"['_FILE_SIZE'] as s, "_FILE"['_ROW_COUNT'] as r"""
        if is_paimon
        else """status, snapshot_id, sequence_number, data_file['content'] as c, data_file['file_path'] as n,
        data_file['partition'] as p, data_file['file_size_in_bytes'] as s, data_file['record_count'] as r"""
    )
    context = datafusion.SessionContext()
    context.register_avro("t", str(table / ("manifest" if is_paimon else "metadata") / "entries"))
    return int(context.sql(f"select {columns} from t").to_arrow_table().num_rows)


def by_pyiceberg(table: Path) -> int:
    from pyiceberg.table import StaticTable

    return sum(1 for _ in StaticTable.from_metadata(str(table / "metadata" / "v1.metadata.json")).scan().plan_files())


def by_pypaimon(table: Path) -> int:
    from pypaimon import CatalogFactory  # in an environment of its own

    catalog = CatalogFactory.create({"warehouse": str(table.parent.parent)})
    found = catalog.get_table(f"default.{table.name}")
    return sum(len(split.files) for split in found.new_read_builder().new_scan().plan().splits())


READERS: dict[str, Reader] = {
    "Snapscope": snapscope, "DataFusion alone": by_datafusion, "PyIceberg": by_pyiceberg, "pypaimon": by_pypaimon,
}  # fmt: skip


def read(name: str, table: Path, times: int) -> dict[str, Any]:
    """Run one reader, after one small use that imports what it needs."""
    reader = READERS[name]
    small = table.parent / f"{table.name}_small"
    reader(small)
    before, seconds, cpu, files = _peak(), [], [], 0
    for _ in range(times):
        started, busy = time.perf_counter(), time.process_time()
        files = reader(table)
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - busy)
    return {
        "files": files,
        "seconds": statistics.median(seconds),
        "cpu": statistics.median(cpu),
        "bytes_each": (_peak() - before) / files,
    }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# tables --------------------------------------------------------------------------------------------------------------


def paimon_table(table: Path, count: int) -> None:
    """An append table with one snapshot that lists `count` files, without the data files."""
    schema = {
        "version": 3, "id": 0, "highestFieldId": 1, "partitionKeys": ["dt"], "primaryKeys": [], "timeMillis": 0,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT"}, {"id": 1, "name": "dt", "type": "STRING"}],
        "options": {"bucket": "-1"},
    }  # fmt: skip
    for folder in ("schema", "snapshot", "manifest/entries"):
        (table / folder).mkdir(parents=True)
    (table / "schema" / "schema-0").write_text(json.dumps(schema))
    listed = []
    for number in range(MANIFESTS):
        records = [
            paimon.added(large_tables.data_file(PARTITIONS[each % len(DAYS)], DAYS[each % len(DAYS)], each), TYPES)
            for each in range(number, count, MANIFESTS)
        ]
        name = f"manifest-{uuid.uuid4()}-{number}"
        data = paimon.manifest(name, records)
        (table / "manifest" / name).write_bytes(data)
        os.link(table / "manifest" / name, table / "manifest" / "entries" / f"{name}.avro")
        listed.append(paimon.listed(name, len(data), records, 0, ["STRING"]))
    names = [f"manifest-list-{uuid.uuid4()}-{each}" for each in range(2)]
    for name, manifests in zip(names, ([], listed), strict=True):
        (table / "manifest" / name).write_bytes(paimon.manifest_list(name, manifests))
    snapshot = {
        "version": 3, "id": 1, "schemaId": 0, "baseManifestList": names[0], "deltaManifestList": names[1],
        "commitUser": "benchmark", "commitIdentifier": 1, "commitKind": "APPEND", "timeMillis": 1,
        "totalRecordCount": count * 10, "deltaRecordCount": count * 10,
    }  # fmt: skip
    (table / "snapshot" / "snapshot-1").write_text(json.dumps(snapshot))


def iceberg_table(table: Path, count: int) -> None:
    """A table of version 2 with one snapshot that lists `count` data files with statistics of both columns."""
    fields = [
        {"id": 1, "name": "id", "type": "long", "required": False},
        {"id": 2, "name": "dt", "type": "string", "required": False},
    ]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    parts = [{"source-id": 2, "field-id": 1000, "name": "dt", "transform": "identity"}]
    spec = iceberg.Spec(0, parts, {"dt": "string"})
    (table / "metadata" / "entries").mkdir(parents=True)
    rows = []
    for number in range(MANIFESTS):
        entries = [
            iceberg.ManifestEntry(ADDED, SNAPSHOT, None, large_tables.content_file(table, DAYS[each % len(DAYS)], each))
            for each in range(number, count, MANIFESTS)
        ]
        path = table / "metadata" / f"{uuid.uuid4()}-m{number}.avro"
        path.write_bytes(iceberg.manifest(str(path), entries, schema, spec))
        os.link(path, table / "metadata" / "entries" / path.name)
        rows.append(iceberg.listed(str(path), path.stat().st_size, entries, spec, SNAPSHOT, 1))
    listed = table / "metadata" / f"snap-{SNAPSHOT}-1-{uuid.uuid4()}.avro"
    listed.write_bytes(iceberg.manifest_list(str(listed), rows, SNAPSHOT, None, 1))
    snapshot = {
        "snapshot-id": SNAPSHOT, "sequence-number": 1, "timestamp-ms": 1, "manifest-list": str(listed),
        "summary": {"operation": "append"}, "schema-id": 0,
    }  # fmt: skip
    metadata = {
        "format-version": 2, "table-uuid": str(uuid.uuid4()), "location": str(table), "last-sequence-number": 1,
        "last-updated-ms": 1, "last-column-id": 2, "current-schema-id": 0, "schemas": [schema], "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": parts}], "last-partition-id": 1000, "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}], "properties": {}, "current-snapshot-id": SNAPSHOT,
        "refs": {"main": {"snapshot-id": SNAPSHOT, "type": "branch"}}, "snapshots": [snapshot], "statistics": [],
        "snapshot-log": [{"snapshot-id": SNAPSHOT, "timestamp-ms": 1}], "metadata-log": [],
    }  # fmt: skip
    (table / "metadata" / "v1.metadata.json").write_text(json.dumps(metadata))
    (table / "metadata" / "version-hint.text").write_text("1")


# one table of results ------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pypaimon", help="a Python that has it, or `none`; else one is made")
    parser.add_argument("--read", nargs=2, metavar=("READER", "TABLE"), help="run one reader in this process")
    args = parser.parse_args()
    if args.read:
        print(json.dumps(read(args.read[0], Path(args.read[1]), TIMES.get(args.read[0], 1))))
        return
    from support import pypaimon  # not in the readers' processes, one of which has another Python

    args.pypaimon = pypaimon.python(args.pypaimon)
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {args.files:,} files")
    print(HEAD.format("format", "reader", "seconds", "spread", "cpu s", "x ours", "x cpu", "B/file"))
    with tempfile.TemporaryDirectory(prefix="snapscope-bench-") as folder:
        for kind, build in {"paimon": paimon_table, "iceberg": iceberg_table}.items():
            table = Path(folder) / "default.db" / kind
            build(table, args.files)
            build(table.parent / f"{kind}_small", MANIFESTS)
            compare(kind, table, args)


def compare(kind: str, table: Path, args: argparse.Namespace) -> None:
    other = "pypaimon" if kind == "paimon" else "PyIceberg"
    found: dict[str, dict[str, list[float]]] = {}
    for _ in range(args.rounds):
        for name in ("Snapscope", "DataFusion alone", other):
            python = args.pypaimon if name == "pypaimon" else sys.executable
            if Path(python).exists():
                for key, value in in_a_process(python, name, table, args.files).items():
                    found.setdefault(name, {}).setdefault(key, []).append(value)
    if other not in found:
        print(f"{kind:8} {other:18} left out")
    ours = found["Snapscope"]
    for name, each in found.items():
        ratios_of = {
            key: statistics.median(own / base for own, base in zip(each[key], ours[key], strict=True))
            for key in ("seconds", "cpu")
        }
        spread = f"{min(each['seconds']):.2f}..{max(each['seconds']):.2f}"
        numbers = [f"{statistics.median(each['seconds']):.2f}", spread, f"{statistics.median(each['cpu']):.3f}"]
        numbers += [f"{ratios_of['seconds']:.2f}", f"{ratios_of['cpu']:.2f}"]
        print(HEAD.format(kind, name, *numbers, f"{statistics.median(each['bytes_each']):.0f}"))
    for key, unit in (("cpu", "CPU s"), ("bytes_each", "B a file")):
        ratios.add(f"{kind}: {args.files:,} files and holders", unit, {name: each[key] for name, each in found.items()})


def in_a_process(python: str, name: str, table: Path, files: int) -> dict[str, float]:
    words = [python, __file__, "--read", name, str(table)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stderr.strip().splitlines()[-1]}")
    measured: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    if measured.pop("files") != files:
        raise SystemExit(f"{name} did not find {files} files")
    return measured


if __name__ == "__main__":
    main()
