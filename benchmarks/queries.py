"""Benchmark queries that need no merge: Snapscope and Spark's own Parquet reader on the same files.

    python benchmarks/queries.py [--files 1000] [--rows 2000000] [--rounds 5]

Writes an append table of `--files` partitions with one small file each and another of as many rows in few files. Both
candidates answer the same statement in the same Spark session, in turn, and their answers must be equal before a time
is printed. Snapscope also opens the table, finds the files of its newest snapshot and checks the statement. Output:
median seconds with the spread, and the median of the rounds' ratios (Snapscope's time to Spark's).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from core.spark.query.query import query
from core.spark.session import session
from core.spark.write import append as write
from core.table import open_table
from support import ratios

COLUMNS = [("id", "BIGINT"), ("amount", "DECIMAL(12, 2)"), ("city", "STRING"), ("part", "INT")]
STATEMENTS = {
    "LIMIT 10": "SELECT * FROM t LIMIT 10",
    "one partition": "SELECT sum(amount) FROM t WHERE part = 7",
    "count": "SELECT count(*) FROM t",
    "aggregate": "SELECT city, count(*) AS n, sum(amount) AS total FROM t GROUP BY city ORDER BY city",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    spark = session.get()
    with tempfile.TemporaryDirectory(prefix="snapscope-queries-") as folder:
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {args.rounds} rounds")
        print(f"{'table':18} {'statement':14} {'Snapscope':>22} {'spark.read.parquet':>22} {'ratio':>6}")
        for parts in (args.files, 8):
            place = Path(folder) / f"w{parts}" / "bench.db" / "t"
            _write(spark, place, args.rows, parts)
            measure(spark, place, f"{parts:,} files", args.rounds)


def measure(spark: SparkSession, place: Path, name: str, rounds: int) -> None:
    for label, text in STATEMENTS.items():
        snapscope_s, parquet_s = [], []
        for _ in range(rounds + 1):
            seconds, answer = _timed(partial(_ours, place, text))
            snapscope_s.append(seconds)
            seconds, expected = _timed(partial(_plain, spark, place, text))
            parquet_s.append(seconds)
            if label != "LIMIT 10":
                assert answer.to_pylist() == expected.to_pylist(), (answer, expected)
            assert answer.num_rows == expected.num_rows
        ratios.add(f"{label}: {name}", "s", {"Snapscope": snapscope_s[1:], "spark.read.parquet": parquet_s[1:]})
        ratio = statistics.median(one / other for one, other in zip(snapscope_s[1:], parquet_s[1:], strict=True))
        print(
            f"{name:18} {label:14} {_spread(snapscope_s[1:]):>22} {_spread(parquet_s[1:]):>22} {ratio:>5.2f}x",
            flush=True,
        )


def _ours(place: Path, text: str) -> Any:
    return query(open_table(str(place)), text).table


def _plain(spark: SparkSession, place: Path, text: str) -> Any:
    spark.read.option("basePath", str(place)).parquet(f"{place}/part=*").createOrReplaceTempView("t")
    return spark.sql(text).toArrow()


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = work()
    return time.perf_counter() - began, answer


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f}–{max(seconds):.2f})"


def _write(spark: SparkSession, place: Path, rows: int, parts: int) -> None:
    """One file in each partition."""
    write.create_table(str(place), COLUMNS, time_ms=0, partition_keys=["part"], options={"bucket": "-1"})
    lines = spark.range(rows).select(
        "id",
        (F.col("id") % 10_000 / 100).cast("decimal(12, 2)").alias("amount"),
        F.concat(F.lit("city "), F.col("id") % 50).alias("city"),
        (F.col("id") % parts).cast("int").alias("part"),
    )
    write.append(str(place), lines.repartition(8, "part"), write.stamp(1))


if __name__ == "__main__":
    main()
