"""Benchmark merge-on-read of 5 million rows with each merge engine: Snapscope compared with pypaimon, Java Paimon and
Paimon's connector.

    SNAPSCOPE_CONNECTORS=JARS python benchmarks/merge.py [--rows 5000000] [--rounds 3] [--pypaimon PATH_TO_PYTHON]

Each table has five commits with a fifth of the rows each, keys drawn from a range of three fifths of the row count, and
two buckets of Parquet files. Nothing is compacted, except for first-row, which only returns compacted rows. pypaimon
writes the table and Java Paimon compacts it; it is kept for the next run. All readers compute the same aggregate over
all merged rows, Snapscope and the connector as SQL in the same Spark session, pypaimon with Arrow, and the results must
match. Before timing starts, Spark has run each statement once and pypaimon is imported. Java Paimon reads with one
thread per core in a warm JVM and adds the values up in the same loop, without Spark: a bound for its connector, which
hands rows to Spark besides. Output: median rows read from
files per second, and the ratio of times to Snapscope. pypaimon runs in its own environment; the connector takes part if
`SNAPSCOPE_CONNECTORS` names its jars.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.spark.query import connector
from core.spark.query.query import query
from core.table import open_table
from support import pypaimon, ratios
from tests.engines import paimon_java, pypaimon_env
from tests.engines.lines import CACHE

ENGINES: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "partial-update": {"merge-engine": "partial-update"},
    "aggregation": {
        "merge-engine": "aggregation", "fields.a.aggregate-function": "sum", "fields.b.aggregate-function": "max",
    },
    "first-row": {"merge-engine": "first-row"},
}  # fmt: skip
OPTIONS = {"bucket": "2", "file.format": "parquet", "write-only": "true"}
COMMITS = 5
JAVA_FLAGS = ("-Xmx3g", *(flag for flag in paimon_java.JAVA_FLAGS if "Tiered" not in flag and "Xmx" not in flag))
STATEMENT = "SELECT count(*), sum(id), sum(a), count(b), sum(b), count(s), sum(length(s)) FROM t"
WRITE = """
import json, sys
import numpy as np, pyarrow as pa
from pypaimon import CatalogFactory, Schema
warehouse, rows, commits, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
schema = pa.schema([pa.field("id", pa.int64(), False), ("a", pa.int64()), ("b", pa.int32()), ("s", pa.string())])
catalog = CatalogFactory.create({"warehouse": warehouse})
catalog.create_database("default", True)
made = Schema.from_pyarrow_schema(schema, primary_keys=["id"], options=options)
catalog.create_table("default.deduplicate", made, False)
chance = np.random.default_rng(4)
for number in range(commits):
    size = rows // commits
    ids = chance.choice(size * 3, size, replace=False)
    a, b = chance.integers(0, 1 << 40, size), chance.integers(0, 1 << 20, size, dtype=np.int32)
    texts = pa.array([f"text {each}" for each in range(1000)]).take(pa.array(chance.integers(0, 1000, size)))
    nulls = [chance.random(size) < 0.3 for _ in range(2)]
    texts = pa.compute.if_else(pa.array(nulls[1]), None, texts)
    columns = [pa.array(ids), pa.array(a), pa.array(b, mask=nulls[0]), texts]
    builder = catalog.get_table("default.deduplicate").new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(pa.table(columns, schema=schema))
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()
"""
READ = """
import json, sys, time
import pyarrow.compute as pc
from pypaimon import CatalogFactory
table = CatalogFactory.create({"warehouse": sys.argv[1]}).get_table("default." + sys.argv[2])
started = time.perf_counter()
builder = table.new_read_builder()
t = builder.new_read().to_arrow(builder.new_scan().plan().splits())
answer = [t.num_rows, pc.sum(t["id"]), pc.sum(t["a"]), pc.count(t["b"]), pc.sum(t["b"]), pc.count(t["s"]),
          pc.sum(pc.utf8_length(t["s"]))]
seconds = time.perf_counter() - started
print(json.dumps({"answer": [each if isinstance(each, int) else each.as_py() for each in answer], "seconds": seconds}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pypaimon", help="a Python that has it, or `none`; else one is made")
    args = parser.parse_args()
    args.pypaimon = pypaimon.python(args.pypaimon)
    has_pypaimon = Path(args.pypaimon).exists()
    if not has_pypaimon and not kept(args.rows).is_dir():
        raise SystemExit(f"{args.pypaimon} does not exist, and pypaimon writes the tables")
    warehouse = warehouse_of_pypaimon(args.pypaimon, args.rows)
    ours(warehouse / "default.db" / "deduplicate")
    paimon_java.JAVA_FLAGS = JAVA_FLAGS
    judge = None if paimon_java.missing() else paimon_java.PaimonJudge().__enter__()
    rivals = ["snapscope", *(["pypaimon"] if has_pypaimon else []), *(["Java"] if judge else [])]
    connector_name = "connector left out (SNAPSCOPE_CONNECTORS is not set)"
    if connector.configured():
        connector_name = by_connector(warehouse / "default.db" / "deduplicate")[2]
        rivals.append("connector")
    pypaimon_name = pypaimon_env.PINS[0] if has_pypaimon else f"pypaimon left out (no {args.pypaimon})"
    java = f"Java Paimon {judge.version}" if judge else f"Java left out ({paimon_java.missing()})"
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{machine}, {args.rows:,} rows, {pypaimon_name}, {java}, {connector_name}")
    for engine in ENGINES:
        if not (warehouse / "default.db" / engine).is_dir():
            print(f"{engine:15} left out: {paimon_java.missing()}, and its rows show once Java Paimon compacted them")
            continue
        timings: dict[str, list[float]] = {name: [] for name in rivals}
        if judge is not None:
            by_java(judge, warehouse / "default.db" / engine)  # compiles it
        for _ in range(args.rounds):
            answer, seconds = ours(warehouse / "default.db" / engine)
            timings["snapscope"].append(seconds)
            for name in rivals[1:]:
                if name == "Java":
                    counted, seconds = by_java(judge, warehouse / "default.db" / engine)
                elif name == "pypaimon":
                    counted, seconds = by_pypaimon(args.pypaimon, warehouse, engine)
                else:
                    counted, seconds, _ = by_connector(warehouse / "default.db" / engine)
                timings[name].append(seconds)
                if answer != counted or not answer[0]:
                    raise SystemExit(f"{engine}: snapscope answers {answer}, {name} {counted}")
        ratios.add(f"{engine}: {args.rows:,} rows merged", "s", timings)
        best = statistics.median(timings["snapscope"])
        for name, each in timings.items():
            middle = statistics.median(each)
            spread = f"[{min(each):.2f}..{max(each):.2f}] s"
            print(
                f"{engine:15} {name:10} {args.rows / middle:>12,.0f} rows/s  {spread:>18}  {middle / best:6.1f} x ours"
            )


def ours(table: Path) -> tuple[list[int], float]:
    """Open the table, read references and metadata, plan, merge and aggregate."""
    started = time.perf_counter()
    answer = query(open_table(str(table)), STATEMENT, timeout_s=600)
    return [column[0].as_py() for column in answer.table.columns], time.perf_counter() - started


def by_java(judge: paimon_java.PaimonJudge | None, table: Path) -> tuple[list[int], float]:
    """Plan, merge and aggregate in Java."""
    assert judge is not None
    (rows, _, ids, _, a, bs, b, ss, lengths), seconds = judge.totals(str(table), os.cpu_count() or 1)
    return [rows, ids, a, bs, b, ss, lengths], seconds


def by_connector(table: Path) -> tuple[list[int], float, str]:
    """Run the same call with Paimon's own Spark connector; also return its version."""
    started = time.perf_counter()
    answer = query(open_table(str(table)), STATEMENT, timeout_s=600, engine=connector.CONNECTOR)
    timings = time.perf_counter() - started
    return [column[0].as_py() for column in answer.table.columns], timings, answer.engine


def by_pypaimon(python: str, warehouse: Path, engine: str) -> tuple[list[int], float]:
    """Plan, merge into Arrow and aggregate, in a separate process."""
    found = json.loads(run(python, READ, str(warehouse), engine).strip().splitlines()[-1])
    return found["answer"], found["seconds"]


def kept(rows: int) -> Path:
    return CACHE / "benchmarks" / f"merge-{rows}"


def warehouse_of_pypaimon(python: str, rows: int) -> Path:
    """Create the warehouse with one table per merge engine: the same files with different options."""
    warehouse = kept(rows)
    if warehouse.is_dir():
        return warehouse
    fresh = warehouse.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    run(python, WRITE, str(fresh), str(rows), str(COMMITS), json.dumps(OPTIONS))
    written = fresh / "default.db" / "deduplicate"
    for engine, options in ENGINES.items():
        if engine == "deduplicate" or (engine == "first-row" and paimon_java.missing()):
            continue
        shutil.copytree(written, written.with_name(engine))
        path = written.with_name(engine) / "schema" / "schema-0"
        schema = json.loads(path.read_text())
        path.write_text(json.dumps({**schema, "options": {**schema["options"], **options}}))
        if engine == "first-row":
            with paimon_java.PaimonJudge() as judge:
                judge.compact(written.with_name(engine), options={"write-only": "false"})
    fresh.rename(warehouse)
    return warehouse


def run(python: str, script: str, *arguments: str) -> str:
    done = subprocess.run([python, "-c", script, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pypaimon failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


if __name__ == "__main__":
    main()
