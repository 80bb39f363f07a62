"""Random histories of Iceberg tables: all our results compared with the engine's Java core."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

from tests.engines import iceberg_java
from tests.support.interop.iceberg_differential import compare
from tests.support.interop.iceberg_history import make

CLAIM = (
    "As of, scans, diffs and expiries of Iceberg tables equal what Java Iceberg 1.11 answers: snapshots, refs, log "
    "and files, with their bytes; after our expiry Java reads the kept versions as before and can commit"
)
NEEDS = "engines"


def missing() -> str | None:
    return iceberg_java.missing() or None


@cache
def _judge() -> iceberg_java.IcebergJudge:
    return iceberg_java.IcebergJudge().__enter__()


def prove(seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="snapscope-iceberg-") as folder:
        places = {"SNAPSCOPE_STATE": f"{folder}/state", "SNAPSCOPE_CACHE": f"{folder}/cache"}
        with mock.patch.dict(os.environ, places):
            return {"histories": 1, **compare(_judge(), make(_judge(), Path(folder) / f"h{seed}", seed))}
