"""Primary-key tables with all combinations of options, written by a real engine and read by us at every version.

A seed is one combination; higher seeds go through all of them again with other rows.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from math import gcd
from pathlib import Path
from unittest import mock

from core.spark.session import session
from tests.engines import paimon_java
from tests.support.interop.keyed_tables import COMBINATIONS, build, check_every_point, combination, invalid

CLAIM = (
    "Rows of primary-key tables at every snapshot and tag equal those of Java Paimon 2.0, whatever the merge engine, "
    "format, buckets, deletion vectors, changelog, schema changes, deletes and compactions"
)
NEEDS = "engines"
STRIDE = 29_009  # neighbouring seeds differ in everything
assert gcd(STRIDE, COMBINATIONS) == 1


def missing() -> str | None:
    return paimon_java.missing() or None


@cache
def _judge() -> paimon_java.PaimonJudge:
    return paimon_java.PaimonJudge().__enter__()


@cache
def _state() -> tempfile.TemporaryDirectory[str]:
    """The directory for Spark's files, for the lifetime of this process."""
    return tempfile.TemporaryDirectory(prefix="snapscope-reads-")


def prove(seed: int) -> dict[str, int]:
    case = combination(seed * STRIDE % COMBINATIONS)
    with tempfile.TemporaryDirectory(prefix="snapscope-reads-") as folder:
        location = str(Path(folder) / "default.db" / "t")
        if said := invalid(case):
            try:
                build(_judge(), location, case, seed)
            except paimon_java.EngineError as error:
                assert said in str(error), (case, error)
                return {"combinations that the engine refuses": 1}
            raise AssertionError(f"the engine takes {case}")
        build(_judge(), location, case, seed)
        with mock.patch.dict(os.environ, {"SNAPSCOPE_STATE": _state().name, "SNAPSCOPE_SPARK_FAST_START": "1"}):
            spark = session.get()
        try:
            points = check_every_point(spark, _judge(), location)
        except Exception as error:
            error.add_note(f"seed {seed}: {case}")
            raise
        return {"tables": 1, "versions": points}
