"""Benchmark upserts of millions of rows into a primary-key table and their compaction, compared with Java Paimon.

    python benchmarks/upserts.py [--rows 3000000] [--rounds 3]

The rows are in two append tables of Parquet files. Keys are drawn from a range of two thirds of the row count, so that
half of the second load replaces rows of the first. Both sides read the two loads, upsert them one after the other into
four buckets, and compact the table; then the engine reads both tables, which must match in files, buckets, levels and
rows. Output: wall-clock and CPU seconds (medians over the rounds) and the ratios to Snapscope. CPU time covers this
process and all its children, from /proc, so it is meaningful on a shared machine, too. The engine is one writer in one
warm JVM with all compiler tiers, as in one of its own tasks; Snapscope uses Spark on all cores, as it does by default.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyspark.sql import DataFrame, SparkSession

from core.spark.session import session
from core.spark.write import append as write
from core.spark.write import compact
from core.spark.write import upsert as write_keyed
from support import ratios
from tests.engines import paimon_java

COLUMNS = (("id", "BIGINT NOT NULL"), ("a", "BIGINT"), ("b", "INT"), ("s", "STRING"))
OPTIONS = {"bucket": "4", "write-only": "true"}
LOADS = 2
FLAGS = ("-Xmx3g", *(flag for flag in paimon_java.JAVA_FLAGS if "Tiered" not in flag and "Xmx" not in flag))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    paimon_java.JAVA_FLAGS = FLAGS
    rivals = [] if paimon_java.missing() else ["paimon"]
    spark = session.get()
    with tempfile.TemporaryDirectory(prefix="snapscope-upserts-") as folder:
        place = Path(folder) / "default.db"
        sources = [origin(spark, str(place / f"origin{number}"), number, args.rows // LOADS) for number in range(LOADS)]
        timings: dict[tuple[str, str], list[tuple[float, float]]] = {}
        judge = paimon_java.PaimonJudge().__enter__() if rivals else None
        print(f"{os.cpu_count()} cores, {args.rows:,} rows, Paimon {judge.version if judge else 'left out: not here'}")
        for number in range(args.rounds + 1):  # the first round is a warm-up
            for name in ("snapscope", *rivals):
                table = str(place / f"{name}{number}")
                write_keyed.create_table(table, COLUMNS, primary_keys=["id"], options=OPTIONS, time_ms=1)
                steps = (
                    ours(spark, table, sources)
                    if judge is None or name == "snapscope"
                    else theirs(judge, table, sources)
                )
                for step, run in steps:
                    started, busy = time.perf_counter(), processors()
                    run()
                    if number:
                        seconds = time.perf_counter() - started
                        timings.setdefault((step, name), []).append((seconds, processors() - busy))
                        print(f"round {number}: {step} {name} {seconds:.2f} s, {timings[step, name][-1][1]:.2f} s busy")
            if judge is not None:
                tables = [str(place / f"{name}{number}") for name in ("snapscope", "paimon")]
                layouts = [sorted((f["bucket"], f["level"], f["rows"]) for f in judge.files(each)) for each in tables]
                if layouts[0] != layouts[1] or judge.count(tables[0]) != judge.count(tables[1]):
                    raise SystemExit(f"the tables differ: {layouts}")
        for step in dict.fromkeys(step for step, _ in timings):
            for number, unit in enumerate(("s", "CPU s")):
                own = {name: [each[number] for each in rounds] for (of, name), rounds in timings.items() if of == step}
                ratios.add(f"{step}: {args.rows:,} rows with keys", unit, own)
        for (step, name), each in timings.items():
            (wall, busy), (our_wall, our_busy) = map(medians, (each, timings[step, "snapscope"]))
            both = f"{wall / our_wall:5.2f} x ours {busy / our_busy:5.2f} x ours"
            print(f"{step:8} {name:10} {wall:7.2f} s {busy:7.2f} s busy  {both}  {args.rows / wall:>12,.0f} rows/s")
        if judge is not None:
            judge.__exit__(None, None, None)
    session.stop()


def medians(timings: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in timings), statistics.median(busy for _, busy in timings)


def processors() -> float:
    """Return the CPU seconds of this process and its running child processes."""
    found, children = dict[int, int](), dict[int, list[int]]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended after the listing
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
        found[int(path.parent.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [os.getpid()]
    while waiting:
        total += found.get(pid := waiting.pop(), 0)
        waiting += children.get(pid, [])
    return total / os.sysconf("SC_CLK_TCK")


Steps = list[tuple[str, Callable[[], object]]]


def ours(spark: SparkSession, table: str, sources: list[str]) -> Steps:
    def upsert() -> None:
        for source in sources:
            write_keyed.upsert(table, rows(spark, source), write.stamp(2))

    return [("upsert", upsert), ("compact", lambda: compact.compact(table, write.stamp(3), spark=spark))]


def theirs(judge: paimon_java.PaimonJudge, table: str, sources: list[str]) -> Steps:
    def upsert() -> None:
        for source in sources:
            judge.write(table, [], origin=source)

    return [("upsert", upsert), ("compact", lambda: judge.compact(table, options={"write-only": "false"}))]


def origin(spark: SparkSession, table: str, number: int, count: int) -> str:
    """Write an append table with the rows of one load in one file."""
    write.create_table(table, [(name, of.removesuffix(" NOT NULL")) for name, of in COLUMNS], time_ms=1)
    load = spark.range(0, count, 1, 1).selectExpr(
        f"pmod(xxhash64(id, {number}), {count * LOADS * 2 // 3}) id",
        f"xxhash64(id, {number}, 1) a",
        f"cast(if(id % 3 = 0, null, pmod(xxhash64(id, {number}, 2), 1000000)) as int) b",
        f"if(id % 4 = 0, null, concat('text ', pmod(xxhash64(id, {number}, 3), 1000))) s",
    )
    write.append(table, load, write.stamp(1))
    return table


def rows(spark: SparkSession, table: str) -> DataFrame:
    return spark.read.parquet(f"{table}/bucket-0")


if __name__ == "__main__":
    main()
