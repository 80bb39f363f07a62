"""Primary-key tables that we write, judged by the engine that reads, compacts, expires and commits on after us."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engines.paimon_java import PaimonJudge
from tests.interop.keyed_writes import sequence

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(10))
def test_we_and_the_engine_write_in_turns(
    spark: SparkSession, java_judge: PaimonJudge, tmp_path: Path, seed: int
) -> None:
    assert sequence(spark, java_judge, tmp_path, seed).total() >= 7
