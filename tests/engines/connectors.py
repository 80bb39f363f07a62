"""The engines' own Spark connectors: Iceberg's jar fetched once by Maven, Paimon's where the environment names it.

No release of Paimon's is fetched here; `SNAPSCOPE_TEST_PAIMON_CONNECTOR` may name its jars, parted by commas.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.engines.iceberg_java import POM
from tests.engines.java import Missing, fetched

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
PAIMON = "SNAPSCOPE_TEST_PAIMON_CONNECTOR"


def iceberg_runtime() -> Path:
    """The jar of Iceberg's runtime for the Spark that is pinned. `Missing` where Maven finds none."""
    (jar,) = fetched("iceberg-spark-runtime", POM, ["dependency:copy", f"-Dartifact={ICEBERG}", "-DoutputDirectory={}"])
    return jar


def paimon_jars() -> str:
    """What the environment names, as the setting takes it. `Missing` where it names nothing."""
    named = os.environ.get(PAIMON, "")
    if not named:
        raise Missing(f"{PAIMON} names no jar of Paimon's Spark connector")
    return named
