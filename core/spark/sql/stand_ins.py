"""Frames without rows in the place of views, over which statements are analyzed but never run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from core.formats.paimon import types


def of_struct(session: SparkSession, struct: Any) -> DataFrame:
    """A classic frame of a Java StructType."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    jsession: Any = session._jsparkSession
    return ClassicDataFrame(jsession.createDataFrame(session.sparkContext._jsc.emptyRDD(), struct), session)


def replace(checker: SparkSession, session: SparkSession, views: Collection[str]) -> None:
    """Replace the views of a session that checks by stand-ins for those of a Connect server's session."""
    jvm: Any = checker._jvm
    made: dict[str, DataFrame] = {}
    for view in views:
        text = session.table(types.quoted(view)).schema.json()
        if text not in made:
            made[text] = of_struct(checker, jvm.org.apache.spark.sql.types.DataType.fromJson(text))
        made[text].createOrReplaceTempView(types.quoted(view))
