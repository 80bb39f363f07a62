"""Benchmark a TPC-H-like load of order lines: appends and one replaced load, compared with two other writers.

    python benchmarks/load.py [--rows 3000000] [--rounds 3]

Spark generates the lines (16 columns with decimals, dates and text) from a seed into Parquet files, and every writer
reads them from there in the same Spark session: Snapscope; Spark's own Parquet writer, which maintains no table and is
thus the lower bound; and Paimon's Spark connector, if `SNAPSCOPE_CONNECTORS` names its jars. Each appends the loads one
by one, in `--loads` commits; Snapscope and Parquet then replace the last load. Row counts and sums must match before
any time is printed. Output: seconds per step (median, spread) and the ratio to Snapscope.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from core.spark.query import connector
from core.spark.query.query import query
from core.spark.session import session
from core.spark.write import append as write
from core.table import open_table
from support import ratios

COLUMNS = {
    "l_orderkey": "BIGINT",
    "l_partkey": "BIGINT",
    "l_suppkey": "BIGINT",
    "l_linenumber": "INT",
    "l_quantity": "DECIMAL(15, 2)",
    "l_extendedprice": "DECIMAL(15, 2)",
    "l_discount": "DECIMAL(15, 2)",
    "l_tax": "DECIMAL(15, 2)",
    "l_returnflag": "STRING",
    "l_linestatus": "STRING",
    "l_shipdate": "DATE",
    "l_commitdate": "DATE",
    "l_receiptdate": "DATE",
    "l_shipmode": "STRING",
    "l_comment": "STRING",
    "l_load": "INT",
}
KEY = "l_load"
SUMS = ("count(*) as n", "sum(l_extendedprice) as price", f"sum({KEY} * l_orderkey) as load")
Step = Callable[[DataFrame, bool], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--loads", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    spark = session.get()
    rivals = {"snapscope": ours, "parquet alone": parquet}
    connector_text = f"connector left out ({connector.SETTING} is not set)"
    if connector.configured():
        connector_text = connector.loaded(spark, "paimon")
        rivals["connector"] = theirs
    timings: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="snapscope-load-") as folder:
        source = f"{folder}/lines"
        lines(spark, args.rows, args.loads).repartition(args.loads * 2, KEY).write.partitionBy(KEY).parquet(source)
        print(f"{os.cpu_count()} cores, {args.rows:,} rows in {args.loads} loads; {connector_text}")
        for number in range(args.rounds + 1):  # the first round is a warm-up
            appended, replaced = {}, {}
            for name, rival in rivals.items():
                place = f"{folder}/{name.split()[0]}{number}.db/lines"
                step, read = rival(spark, place)
                loads = [
                    spark.read.parquet(f"{source}/{KEY}={each}").withColumn(KEY, F.lit(each))
                    for each in range(args.loads)
                ]
                seconds = {"append": timed(lambda: [step(each, False) for each in loads])}  # noqa: B023  # called here
                appended[name] = read()
                if name != "connector":
                    seconds["replace"] = timed(lambda: step(loads[-1].where("l_linenumber > 1"), True))  # noqa: B023
                    replaced[name] = read()
                for what, value in seconds.items():
                    if number:
                        timings.setdefault((what, name), []).append(value)
            for answers in (appended, replaced):
                if any(answer != answers["snapscope"] for answer in answers.values()):
                    raise SystemExit(f"The rivals disagree: {answers}")
    for what in ("append", "replace"):
        own = {name: values for (of, name), values in timings.items() if of == what}
        ratios.add(f"{what}: {args.rows:,} rows in {args.loads} loads", "s", own)
    for (what, name), values in sorted(timings.items()):
        middle, mine = statistics.median(values), statistics.median(timings[what, "snapscope"])
        spread = f"[{min(values):.1f}..{max(values):.1f}]"
        print(f"{what:8} {name:14} {middle:6.1f} s {spread:>14}  {middle / mine:5.2f} x ours")


def lines(spark: SparkSession, rows: int, loads: int) -> DataFrame:
    """Generate four lines per order; every value is derived from the row number."""
    number = F.col("id")
    hashed = {name: F.abs(F.xxhash64(number, F.lit(name))) for name in COLUMNS}
    day = F.date_add(F.lit("1992-01-01").cast("date"), (hashed["l_shipdate"] % 2500).cast("int"))

    def pick(name: str, *texts: str) -> Column:
        return F.element_at(F.array(*map(F.lit, texts)), (hashed[name] % len(texts) + 1).cast("int"))

    def money(name: str, most: int) -> Column:
        return (hashed[name] % most / 100).cast("decimal(15,2)")

    return spark.range(rows).select(
        (number / 4).cast("bigint").alias("l_orderkey"),
        (hashed["l_partkey"] % 200_000).alias("l_partkey"),
        (hashed["l_suppkey"] % 10_000).alias("l_suppkey"),
        (number % 4 + 1).cast("int").alias("l_linenumber"),
        money("l_quantity", 5000).alias("l_quantity"),
        money("l_extendedprice", 10_000_000).alias("l_extendedprice"),
        money("l_discount", 11).alias("l_discount"),
        money("l_tax", 9).alias("l_tax"),
        pick("l_returnflag", "A", "N", "R").alias("l_returnflag"),
        pick("l_linestatus", "F", "O").alias("l_linestatus"),
        day.alias("l_shipdate"),
        F.date_add(day, 7).alias("l_commitdate"),
        F.date_add(day, 21).alias("l_receiptdate"),
        pick("l_shipmode", "AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK").alias("l_shipmode"),
        F.concat_ws(" ", pick("l_comment", "quickly", "slyly", "never"), number.cast("string")).alias("l_comment"),
        (hashed[KEY] % loads).cast("int").alias(KEY),
    )


def ours(_: SparkSession, place: str) -> tuple[Step, Callable[[], list[object]]]:
    _create(place)

    def step(rows: DataFrame, replaces: bool) -> None:
        (write.overwrite_touched if replaces else write.append)(place, rows, write.stamp(_now_ms()))

    return step, lambda: _read(place)


def parquet(spark: SparkSession, place: str) -> tuple[Step, Callable[[], list[object]]]:
    def step(rows: DataFrame, replaces: bool) -> None:
        writer = rows.write.partitionBy(KEY).option("partitionOverwriteMode", "dynamic")
        writer.mode("overwrite" if replaces else "append").parquet(place)

    return step, lambda: _summed(spark.read.parquet(place))


def theirs(_: SparkSession, place: str) -> tuple[Step, Callable[[], list[object]]]:
    _create(place)

    def step(rows: DataFrame, _: bool) -> None:  # appends only: an overwrite by path replaces the table
        rows.select(*COLUMNS).write.format("paimon").mode("append").save(place)

    return step, lambda: _read(place)


def _create(place: str) -> None:
    write.create_table(place, list(COLUMNS.items()), partition_keys=[KEY], time_ms=_now_ms())


def _summed(frame: DataFrame) -> list[object]:
    return list(frame.selectExpr(*SUMS).collect()[0])


def _read(place: str) -> list[object]:
    """Read count and sums with our reader, whoever wrote the table."""
    found = query(open_table(place), f"select {', '.join(SUMS)} from t", timeout_s=600).table
    return [column[0].as_py() for column in found.columns]


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    main()
