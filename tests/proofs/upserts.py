"""Primary-key tables written by us and a real engine in turns, compared with a twin written by the engine alone.

A seed is one life of a table; ten neighbouring seeds have different merge engines.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

from core.spark.session import session
from tests.engines import paimon_java
from tests.support.interop.keyed_writes import sequence

CLAIM = (
    "Primary-key tables that we and Java Paimon 2.0 write, compact and change in turns have the rows of a copy that "
    "the engine writes alone, and the same files: levels, buckets, keys, sequence numbers and statistics"
)
NEEDS = "engines"


def missing() -> str | None:
    return paimon_java.missing() or None


@cache
def _judge() -> paimon_java.PaimonJudge:
    return paimon_java.PaimonJudge().__enter__()


@cache
def _state() -> tempfile.TemporaryDirectory[str]:
    """The directory for Spark's files, for the lifetime of this process."""
    return tempfile.TemporaryDirectory(prefix="snapscope-upserts-")


def prove(seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="snapscope-upserts-") as folder:
        with mock.patch.dict(os.environ, {"SNAPSCOPE_STATE": _state().name, "SNAPSCOPE_SPARK_FAST_START": "1"}):
            spark = session.get()
        try:
            return {"tables": 1, **sequence(spark, _judge(), Path(folder), seed)}
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
