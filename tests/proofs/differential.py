"""Random histories of a real engine: what it deletes compared with our plan, and how it reads the table after our
apply."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

from tests.engines import paimon_java
from tests.support.interop import differential
from tests.support.interop.random_history import make

CLAIM = (
    "Plans equal what Java Paimon 2.0 deletes, file for file, except where the engine breaks a version or leaves "
    "files behind"
)
NEEDS = "engines"


def missing() -> str | None:
    return paimon_java.missing() or None


@cache
def _judge() -> paimon_java.PaimonJudge:
    return paimon_java.PaimonJudge().__enter__()


def prove(seed: int) -> dict[str, int]:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="snapscope-differential-") as folder:
        history = make(_judge(), Path(folder) / "default.db" / f"h{seed}", seed)
        before = differential.Before(_judge(), history)
        for change in differential.changes(history, "newest"):
            differential.compare(_judge(), history, change, before, counts)
    return {"histories": 1, **counts}
