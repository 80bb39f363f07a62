"""Append tables changed by us and the engine in turns: equal rows after every step, tags keep theirs, no orphans."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from unittest import mock

from core.spark.session import session
from tests.engines import paimon_java
from tests.support.interop.append_turns import Turns

CLAIM = (
    "Append tables that we and Java Paimon 2.0 write, overwrite, empty, compact, analyze, alter and expire in turns: "
    "the engine reads the same rows after every step, we do at the end, tags keep their rows, and the engine's orphan "
    "cleaner finds nothing"
)
NEEDS = "engines"
STEPS = 14


def missing() -> str | None:
    return paimon_java.missing() or None


@cache
def _judge() -> paimon_java.PaimonJudge:
    return paimon_java.PaimonJudge().__enter__()


@cache
def _state() -> tempfile.TemporaryDirectory[str]:
    """The directory for Spark's files, for the lifetime of this process."""
    return tempfile.TemporaryDirectory(prefix="snapscope-appends-")


def prove(seed: int) -> dict[str, int]:
    with mock.patch.dict(os.environ, {"SNAPSCOPE_STATE": _state().name, "SNAPSCOPE_SPARK_FAST_START": "1"}):
        spark = session.get()
    with tempfile.TemporaryDirectory(prefix="snapscope-appends-") as folder:
        return dict(Turns(spark, _judge(), f"{folder}/default.db/t", seed).run(STEPS))
