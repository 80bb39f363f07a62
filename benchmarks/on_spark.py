"""Benchmark metadata that Spark reads, of one large Paimon table: its history, plans of an expiry and of deleting all
tags, and what each tag costs; beside one process that reads it all.

    python benchmarks/on_spark.py [--files 2000000] [--snapshots 200] [--tags 20] [--alone] [--memory 2g] [--cluster]
                                  [--warehouse DIRECTORY]

Manifests are in Parquet, which Paimon writes with `manifest.format` = parquet, because they can be made quickly: 20
million files take some minutes. With `--alone`, one process reads the same table, and all answers must be equal. With
`--cluster`, Spark is a standalone master with two workers, in processes of their own.
Output: seconds of each step, the peak of memory of each process, and bytes of it for each live file.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.formats.paimon import binary_row
from core.formats.paimon.write import manifest_encoding as paimon
from support import large_tables
from support.large_tables import BEHIND, DAYS, DELETES
from tests.support.spark import standalone

NOW_MS = 4_000_000_000_000


# the table -----------------------------------------------------------------------------------------------------------


def make(table: Path, files: int, snapshots: int, tags: int) -> None:
    """Write a table of about `files` live files. Each commit adds one manifest; every tenth deletes an earlier one's
    files. No manifest is merged, so each entry is written once."""
    schema = {
        "version": 3, "id": 0, "highestFieldId": 1, "partitionKeys": ["dt"], "primaryKeys": [], "timeMillis": 0,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT"}, {"id": 1, "name": "dt", "type": "STRING"}],
        "options": {"bucket": "-1", "manifest.format": "parquet"},
    }  # fmt: skip
    for folder in ("schema", "snapshot", "tag", "manifest"):
        (table / folder).mkdir(parents=True)
    (table / "schema" / "schema-0").write_text(json.dumps(schema))
    each = round(files / snapshots * DELETES / (DELETES - 1))
    chance = np.random.default_rng(1)
    listed: list[dict[str, Any]] = []
    added: list[pa.Table] = []
    total = 0
    for number in range(1, snapshots + 1):
        day = number * len(DAYS) // (snapshots + 1)
        entries = [_entries(chance, each, day)]
        added = [*added[-DELETES:], entries[0]]
        change = 10 * each
        if number % DELETES == 0 and number > BEHIND:
            deleted = added[-1 - BEHIND]
            entries.append(deleted.set_column(1, "_KIND", pa.array(np.ones(each, dtype=np.int8))))
            change -= 10 * each
        total += change
        base = _list(table, listed)
        listed += [_manifest(table, some, day, is_gone=bool(at)) for at, some in enumerate(entries)]
        delta = _list(table, listed[-len(entries) :])
        text = json.dumps({
            "version": 3, "id": number, "schemaId": 0, "baseManifestList": base, "deltaManifestList": delta,
            "changelogManifestList": None, "commitUser": "8c33d0c4-5b3a-4f57-a0ab-2f04e1a0a0a0",
            "commitIdentifier": number, "commitKind": "APPEND", "timeMillis": 1_700_000_000_000 + number * 60_000,
            "totalRecordCount": total, "deltaRecordCount": change,
        })  # fmt: skip
        (table / "snapshot" / f"snapshot-{number}").write_text(text)
        if number in large_tables._tagged(snapshots, tags):
            (table / "tag" / f"tag-t{number:06d}").write_text(text)
    (table / "snapshot" / "EARLIEST").write_text("1")
    (table / "snapshot" / "LATEST").write_text(str(snapshots))


def _entries(chance: np.random.Generator, count: int, day: int) -> pa.Table:
    """Entries that add files with new names; all else is the same of each."""
    one = paimon.added(
        large_tables.data_file(binary_row.encode([DAYS[day]], ["STRING"]), DAYS[day], 0), ["BIGINT", "STRING"]
    )
    text = np.frombuffer(chance.bytes(16 * count).hex().encode(), dtype="S1").reshape(count, 32)
    parts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    dash = np.full((count, 1), b"-", dtype="S1")
    columns = [np.tile(np.frombuffer(b"data-", dtype="S1"), (count, 1))]
    for begin, end in parts:
        columns += [text[:, begin:end], dash]
    columns.append(np.tile(np.frombuffer(b"0.parquet", dtype="S1"), (count, 1)))
    width = sum(each.shape[1] for each in columns)
    names = np.ascontiguousarray(np.concatenate(columns, axis=1)).view(f"S{width}").ravel()
    schema = pa.Table.from_pylist([_typed(one)]).schema
    file = schema.field("_FILE").type
    values = [_repeated(one["_FILE"][each.name], each.type, count) for each in file]
    values[file.get_field_index("_FILE_NAME")] = pa.array(names.astype(str), pa.string())
    table_columns = {
        each.name: _repeated(one.get(each.name), each.type, count) for each in schema if each.name != "_FILE"
    }
    table_columns["_KIND"] = pa.array(np.zeros(count, dtype=np.int8))
    own = pa.StructArray.from_arrays(values, fields=list(file))
    return pa.table({name: own if name == "_FILE" else table_columns[name] for name in schema.names})


def _typed(one: dict[str, Any]) -> dict[str, Any]:
    """The record without columns that are null, whose type pyarrow cannot tell."""
    file = {name: value for name, value in one["_FILE"].items() if value is not None}
    return {**one, "_FILE": {**file, "_EXTRA_FILES": ["a text"], "_KEY_STATS": one["_FILE"]["_VALUE_STATS"]}}


def _repeated(value: Any, of: pa.DataType, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, of), count)


def _manifest(table: Path, entries: pa.Table, day: int, *, is_gone: bool) -> dict[str, Any]:
    name = f"manifest-{uuid.uuid4()}-0"
    out = io.BytesIO()
    parquet.write_table(entries, out, compression="zstd", use_dictionary=False)
    (table / "manifest" / name).write_bytes(out.getvalue())
    partition = binary_row.encode([DAYS[day]], ["STRING"])
    return {
        "_VERSION": 2, "_FILE_NAME": name, "_FILE_SIZE": len(out.getvalue()),
        "_NUM_ADDED_FILES": 0 if is_gone else len(entries), "_NUM_DELETED_FILES": len(entries) if is_gone else 0,
        "_PARTITION_STATS": {"_MIN_VALUES": partition, "_MAX_VALUES": partition, "_NULL_COUNTS": [0]}, "_SCHEMA_ID": 0,
    }  # fmt: skip


def _list(table: Path, rows: list[dict[str, Any]]) -> str:
    name = f"manifest-list-{uuid.uuid4()}-0"
    shape = pa.schema([
        ("_VERSION", pa.int32()), ("_FILE_NAME", pa.string()), ("_FILE_SIZE", pa.int64()),
        ("_NUM_ADDED_FILES", pa.int64()), ("_NUM_DELETED_FILES", pa.int64()),
        ("_PARTITION_STATS", pa.struct([("_MIN_VALUES", pa.binary()), ("_MAX_VALUES", pa.binary()),
                                        ("_NULL_COUNTS", pa.list_(pa.int64()))])),
        ("_SCHEMA_ID", pa.int64()),
    ])  # fmt: skip
    parquet.write_table(pa.Table.from_pylist(rows, shape), table / "manifest" / name, compression="zstd")
    return name


# measuring -----------------------------------------------------------------------------------------------------------


_JVMS = {"CoarseGrainedExecutorBackend": "largest executor", "SparkSubmit": "JVM of the driver"}


class Peaks(threading.Thread):
    """The most memory that this process, Spark's JVM and its workers have used, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[str, int] = defaultdict(int)

    def run(self) -> None:
        while True:
            self.look()
            time.sleep(0.5)

    def look(self) -> None:
        listed = subprocess.run(["ps", "-eo", "pid,ppid,rss,args"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(None, 3) for line in listed.splitlines()[1:]]
        mine = {os.getpid()}
        for pid, parent, _, _ in sorted(rows, key=lambda row: int(row[0])):
            if int(parent) in mine:
                mine.add(int(pid))
        workers = 0
        for pid, _, size, words in rows:
            if int(pid) == os.getpid():
                self.most["this process"] = max(self.most["this process"], int(size) // 1024)
            elif int(pid) in mine and (name := next((each for each in _JVMS if each in words), None)):
                self.most[_JVMS[name]] = max(self.most[_JVMS[name]], int(size) // 1024)
            elif int(pid) in mine and "daemon" in words:
                workers = max(workers, int(size) // 1024)
        self.most["largest worker"] = max(self.most["largest worker"], workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000_000)
    parser.add_argument("--snapshots", type=int, default=200)
    parser.add_argument("--tags", type=int, default=20)
    parser.add_argument("--memory", default="2g", help="of Spark's JVM")
    parser.add_argument("--cluster", action="store_true", help="start a standalone cluster, and use it")
    parser.add_argument("--alone", action="store_true", help="read it in one process, too")
    parser.add_argument("--warehouse", type=Path, help="keep the table here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        table = (args.warehouse or Path(own)) / f"paimon-{args.files}-{args.snapshots}-{args.tags}"
        if not table.exists():
            started = time.perf_counter()
            make(table, args.files, args.snapshots, args.tags)
            print(f"wrote the table in {time.perf_counter() - started:.0f} s")
        settings = {"spark.driver.memory": args.memory}
        if not args.cluster:
            measure(table, settings, is_alone=args.alone)
            return
        with standalone.cluster(Path(own)) as found:
            settings |= {
                "spark.master": found.url,
                "spark.driver.host": "127.0.0.1",
                "spark.executor.memory": "512m",
                "spark.pyspark.python": str(found.python),
            }
            measure(table, settings, is_alone=args.alone)


def measure(table: Path, settings: dict[str, str], *, is_alone: bool) -> None:
    from core.analysis import storage_cost
    from core.model.actions import Change, DeleteTags, Expire
    from core.spark.metadata import history as on_spark
    from core.spark.session import session
    from core.table import open_table

    spark = session.get(settings)
    opened = open_table(str(table))
    peaks = Peaks()
    peaks.start()
    heads = step("references", opened.heads)
    summed = step("history on Spark", lambda: on_spark.build(spark, opened, heads))
    live = int(summed.totals.files[-1])
    count = len(heads.main.snapshots)
    tags = tuple(tag.name for tag in heads.main.tags)
    changes: dict[str, Change] = {
        "plan: expire a twentieth": Expire(retain_min=count - count // 20),
        f"plan: delete {len(tags)} tags": DeleteTags(tags),
    }
    plans = [
        step(name, lambda change=change: opened.preview(change, NOW_MS, summed)) for name, change in changes.items()
    ]
    costs = step("cost of each tag, curve", lambda: _costs(storage_cost, summed))
    peaks.look()
    print(
        f"{live:,} live files at the newest snapshot, {int(summed.shapes.count.sum()):,} objects, {summed.parts} parts"
    )
    for plan in plans:
        print(f"  {type(plan.change).__name__} frees {len(plan.frees):,} files, {plan.freed_bytes:,} bytes")
    for name, most in sorted(peaks.most.items()):
        print(f"  {name}: {most:,} MB, {most * 1024 * 1024 / live:,.0f} bytes for each live file")
    if is_alone:
        whole = step("history in one process", lambda: opened.reread().history(heads))
        assert plans == [opened.preview(change, NOW_MS, whole) for change in changes.values()]
        assert costs == _costs(storage_cost, whole)
        peaks.look()
        print(f"  this process: {peaks.most['this process']:,} MB")


def _costs(of: Any, history: Any) -> list[Any]:
    alone = [each.tolist() for each in of.exclusive(history, history.existing)]
    return [*alone, *(each.tolist() for each in of.retention_curve(history)), of.drops(history, NOW_MS)]


def step(name: str, run: Any) -> Any:
    started = time.perf_counter()
    found = run()
    print(f"{name:28} {time.perf_counter() - started:8.2f} s   load {os.getloadavg()[0]:.1f}", flush=True)
    return found


if __name__ == "__main__":
    main()
