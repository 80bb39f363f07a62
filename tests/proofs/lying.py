"""A store on which one call, or all calls after some point, fail: rejected, unavailable, interrupted or half
answered."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock
from zlib import crc32

from tests.support.execution import ground, lying_runs
from tests.support.execution.lying import HOW, Lies

CLAIM = (
    "Whichever call to the store fails, no kept snapshot or tag loses a file, and resuming ends where a clean run ends"
)
CASES = 2


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="snapscope-lying-") as folder:
        places = {"SNAPSCOPE_STATE": f"{folder}/state", "SNAPSCOPE_CACHE": f"{folder}/cache"}
        with mock.patch.dict(os.environ, places):
            return _prove(chance, Path(folder))


def _some(salt: int, often: int) -> Callable[[str, str, int], bool]:
    """Pick one of this many calls, in whatever order threads make them."""
    return lambda call, path, times: crc32(f"{salt} {call} {path} {times}".encode()) % often == 0


def _prove(chance: random.Random, folder: Path) -> dict[str, int]:
    stage = lying_runs.made(folder)
    name = chance.choice(sorted(lying_runs.CHANGES))
    change = lying_runs.CHANGES[name]
    end, documents, calls = lying_runs.end_of_a_clean_run(stage, change)
    refused = 0
    for _ in range(CASES):
        lies = Lies(chance.randrange(calls), chance.choice(HOW))
        if chance.random() < 0.3:
            lies.picks = _some(chance.randrange(2**32), chance.choice((3, 7, 20)))
        journal, receipt = lying_runs.attempt(stage, change, lies)
        refused += receipt is None
        lying_runs.finish(stage.root, change, journal)
        assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end), (name, lies.at, lies.how)
    return {"calls that went wrong": CASES, "refusals": refused}
