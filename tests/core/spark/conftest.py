"""Sessions on the one Spark of all tests: they share only the JVM."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core.spark.sql import run as sql


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """The one Spark of all tests is not ended because a busy machine is slow to end a stopped query's tasks; see
    sql/test_run_stubborn.py for that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql, "LINGER_S", math.inf)
        yield


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """A session of the test's own: no view or setting of another test is seen in it."""
    return spark.newSession()


@pytest.fixture(scope="session")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with `t` and `t_before` (two contents of one table, read from files), `many` rows whose number no text
    tells, and a view nobody opened."""
    session = spark.newSession()
    session.range(100_000_000).createOrReplaceTempView("many")
    directory: Path = tmp_path_factory.mktemp("shop")
    columns = "id long, day date, city string, qty int, price decimal(10,2), tags array<string>, note string"
    now = """VALUES
        (1L, date'2026-01-01', 'Oslo',   2, 10.00, array('a','b'), '{"k":1}'),
        (2L, date'2026-01-01', 'Bergen', 1, 20.00, array('a'),     '{"k":2}'),
        (3L, date'2026-01-02', 'Oslo',   5, 3.50,  array(),        null),
        (4L, date'2026-01-02', 'Oslo',   4, 10.00, null,           '{"k":4}'),
        (5L, date'2026-01-03', 'Tromso', 1, 99.99, array('c'),     '{"k":5}')"""
    before = """VALUES
        (1L, date'2026-01-01', 'Oslo',   2, 10.00, array('a','b'), '{"k":1}'),
        (2L, date'2026-01-01', 'Bergen', 1, 20.00, array('a'),     '{"k":2}'),
        (3L, date'2026-01-02', 'Oslo',   3, 3.50,  array(),        null),
        (9L, date'2026-01-02', 'Moss',   1, 1.00,  null,           null)"""
    names = [column.split()[0] for column in columns.split(", ")]
    for view, rows in (("t", now), ("t_before", before), ("secret", now)):
        path = str(directory / view)
        frame = session.sql(rows).toDF(*names)
        frame.select(
            *(frame[name].cast(kind).alias(name) for name, kind in (c.split() for c in columns.split(", ")))
        ).coalesce(1).write.parquet(path)
        session.read.schema(columns).parquet(path).createOrReplaceTempView(view)
    return session
