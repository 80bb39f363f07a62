"""Metadata designed to exhaust a reader: compressed, nested, sparse, endless or with false sizes, in any file of both
formats."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.execution import bombs

CLAIM = (
    "No metadata file, whatever size it claims or unpacks to, makes a reader use more than 1 GB, and the error names "
    "the file"
)
CASES = 5


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    format = chance.choice(list(bombs.TABLES))
    with tempfile.TemporaryDirectory(prefix="snapscope-bombs-") as folder:
        wanted = bombs.chosen(format, chance, Path(folder) / "whole", CASES)
        answers = bombs.run(format, wanted, Path(folder) / "limited")
    assert not (bad := bombs.failures(answers)), bad
    kinds = Counter(said.partition(":")[0] if " is kept" not in said else "refused" for _, said, _, _ in answers)
    return {"bombs": len(answers), "refused": kinds["refused"] + kinds["Corrupt"] + kinds["Unsupported"]}
