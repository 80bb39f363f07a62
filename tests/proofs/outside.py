"""Files in unusual places, copies of tables, and neighbours that look like a table's own files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from unittest import mock

from tests.support.execution import outside_history

CLAIM = (
    "Wherever a table's files are, and whatever its partitions are named, a change reclaims what a model of plain "
    "sets says; cleaning up a copy deletes no file of the original, and an orphan clean-up deletes nothing of "
    "neighbouring tables"
)


def prove(seed: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="snapscope-outside-") as folder:
        places = {"SNAPSCOPE_STATE": f"{folder}/state", "SNAPSCOPE_CACHE": f"{folder}/state/cache"}
        with mock.patch.dict(os.environ, places):
            return dict(outside_history.live(Path(folder), seed))
