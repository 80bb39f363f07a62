"""Java of our own in Spark's JVM."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from core.spark.session import compiled

SOURCE = "public final class Adder { public int add(int one, int other) { return one + other; } }"


def test_a_class_is_compiled_once_for_each_jvm(spark: SparkSession) -> None:
    adder = compiled.instance(spark, "Adder", SOURCE)
    assert adder.add(20, 22) == 42
    assert compiled.instance(spark.newSession(), "Adder", "not Java at all") is adder


def test_what_janino_refuses_is_raised(spark: SparkSession) -> None:
    with pytest.raises(Py4JError, match="CompileException"):
        compiled.instance(spark, "Broken", "public final class Broken {")
