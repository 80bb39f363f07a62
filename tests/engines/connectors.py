"""The engines' own Spark connectors: Iceberg's jar fetched once by Maven, Paimon's where the environment names it.

No release of Paimon's is fetched here; `SNAPSCOPE_TEST_PAIMON_CONNECTOR` may name its jars, parted by commas.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.engines.lines import CACHE, last_words
from tests.engines.paimon_java import Missing, alone

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
PAIMON = "SNAPSCOPE_TEST_PAIMON_CONNECTOR"


def iceberg_runtime() -> Path:
    """The jar of Iceberg's runtime for the Spark that is pinned. `Missing` where Maven finds none."""
    _, artifact, version = ICEBERG.split(":")
    kept = CACHE / "engines" / f"{artifact}-{version}.jar"
    if not kept.is_file():
        maven = shutil.which("mvn")
        if maven is None:
            raise Missing(f"no mvn on the PATH to fetch {ICEBERG}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        with alone(kept.parent), tempfile.TemporaryDirectory(dir=kept.parent) as fresh:
            if not kept.is_file():
                words = ["dependency:copy", f"-Dartifact={ICEBERG}", f"-DoutputDirectory={fresh}"]
                got = subprocess.run(
                    [maven, "-q", "-B", *words],
                    capture_output=True,
                    text=True,
                    check=False,
                    cwd=fresh,
                    timeout=900,
                    stdin=subprocess.DEVNULL,
                )
                if got.returncode or not (Path(fresh) / kept.name).is_file():
                    raise Missing(f"Maven found no {ICEBERG}: {last_words(got.stdout + got.stderr)}")
                (Path(fresh) / kept.name).rename(kept)
    return kept


def paimon_jars() -> str:
    """What the environment names, as the setting takes it. `Missing` where it names nothing."""
    named = os.environ.get(PAIMON, "")
    if not named:
        raise Missing(f"{PAIMON} names no jar of Paimon's Spark connector")
    return named
