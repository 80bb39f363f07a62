"""Rows of an answer as Arrow, whatever they hold."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from core.errors import Invalid
from core.spark.sql.arrow_rows import first_rows

BEYOND = "date '+12345-01-01'", "timestamp '-0044-03-15 00:00:00'", "timestamp_ntz '+10000-01-01 00:00:00'"


@pytest.mark.parametrize("value", BEYOND)
@pytest.mark.parametrize("shape", ["{}", "array({})", "map(1, {})", "struct({} AS x)", "array(struct(map({}, 1)))"])
def test_days_that_python_does_not_have_are_text(spark: SparkSession, shape: str, value: str) -> None:
    """One such value must not hide the whole answer."""
    text = (
        f"SELECT {shape.format(value)} AS a, date '2024-02-29' AS b UNION ALL SELECT null, null ORDER BY b NULLS LAST"
    )
    [row, nulls] = first_rows(spark.sql(text), 10).to_pylist()
    said = spark.sql(f"SELECT CAST({shape.format(value)} AS STRING) AS a").first()
    assert said is not None
    assert row["a"] == said["a"]
    assert str(row["b"]) == "2024-02-29"
    assert nulls == {"a": None, "b": None}


@pytest.mark.parametrize("value", ["date '9999-12-31'", "date '0001-01-01'", "timestamp_ntz '9999-12-30 23:59:59'"])
def test_other_days_are_no_text(spark: SparkSession, value: str) -> None:
    [row] = first_rows(spark.sql(f"SELECT {value} AS a, array({value}) AS b"), 10).to_pylist()
    assert [row["a"]] == row["b"]
    assert not isinstance(row["a"], str)


def test_rows_without_columns_are_refused(spark: SparkSession) -> None:
    with pytest.raises(Invalid, match="selects no columns"):
        first_rows(spark.sql("SELECT * EXCEPT (a) FROM VALUES (1), (2) AS t(a)"), 10)
