"""A store whose listings and reads disagree, lost responses to writes, a journal that is lost or replaced."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from unittest import mock
from zlib import crc32

from core.errors import SnapscopeError
from core.execution import delete_files
from core.execution.apply import apply
from core.execution.journal import Journal
from core.storage import presence
from tests.support.execution import ground, lying_runs
from tests.support.execution.journal_attacks import ATTACKS, Ground
from tests.support.execution.lying import Lies, lying_table
from tests.support.execution.lying_runs import CHANGES, Stage, hidden

CLAIM = (
    "Whatever a store lists but cannot read, or reads but does not list, whichever reply to a write is lost, and "
    "however the journal is lost during a run, no kept snapshot or tag loses a file; once the store works, resuming "
    "ends where a clean run ends"
)
CASES = 3
WAYS = (
    "listed and never found",
    "listed and found late",
    "found and never listed",
    "answers to writes lost",
    "journal",
)


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="snapscope-lagging-") as folder, contextlib.ExitStack() as patches:
        places = {"SNAPSCOPE_STATE": f"{folder}/state", "SNAPSCOPE_CACHE": f"{folder}/cache"}
        patches.enter_context(mock.patch.dict(os.environ, places))
        patches.enter_context(mock.patch.object(presence, "PATIENCE_S", 0.1))
        patches.enter_context(mock.patch.object(delete_files, "BATCH", 3))
        return dict(_prove(chance, Path(folder)))


def _prove(chance: random.Random, folder: Path) -> Counter[str]:
    stage, counts = lying_runs.made(folder), Counter[str]()
    name = chance.choice(sorted(CHANGES))
    end, documents, _ = lying_runs.end_of_a_clean_run(stage, CHANGES[name])
    for _ in range(CASES):
        way = chance.choice(WAYS)
        if way == "journal":
            how = chance.choice(sorted(ATTACKS))
            journal, is_refused = _attacked(stage, name, how, chance)
        else:
            how = way
            journal, receipt = lying_runs.attempt(stage, CHANGES[name], _lies(chance, way, stage))
            is_refused = receipt is None
        counts[way] += 1
        counts["refusals"] += is_refused
        lying_runs.finish(stage.root, CHANGES[name], journal)
        assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end), (name, how)
        journal.verify()
    return counts


def _lies(chance: random.Random, way: str, stage: Stage) -> Lies:
    metadata = sorted(path for path in ground.disk(stage.good) if "bucket-" not in path and "T" not in Path(path).name)
    path = chance.choice(metadata)
    match way:
        case "listed and never found":
            return Lies(how="absent", picks=lambda call, at, times: (call, at) == ("cat_file", path))
        case "listed and found late":
            reads = chance.randrange(1, 4)
            return Lies(how="absent", picks=lambda call, at, times: (call, at) == ("cat_file", path) and times < reads)
        case "found and never listed":  # nobody can learn from listings about what nothing references
            named = [each for each in metadata if each.startswith(("manifest/", "statistics/", "snapshot/", "schema/"))]
            return Lies(behind=hidden(chance.choice(named)))
        case "answers to writes lost":
            often = chance.choice((2, 3, 5))
            writes = ("pipe_file", "rm_file")
            return Lies(how="half", picks=lambda call, at, _: call in writes and crc32(at.encode()) % often == 0)
        case _:
            raise ValueError(f"{way} is none of {WAYS}")


def _attacked(stage: Stage, name: str, how: str, chance: random.Random) -> tuple[Journal, bool]:
    stage.fresh()
    attacked = Ground(stage.journals / f"state-{stage.tries}" / "journal.sqlite")
    attacked.begin()
    table, batch, batches = lying_table(stage.root, Lies()), chance.randrange(3), 0

    def progress(done: int, total: int) -> None:
        nonlocal batches
        batches += 1
        if batches == batch:
            attacked.attack(how)

    def settled() -> None:
        if not batch:
            attacked.attack(how)

    is_refused = False
    plan = table.preview(CHANGES[name], lying_runs.NOW)
    with ground.while_settling(settled):
        try:
            apply(table, plan, settle_s=0, progress=progress, journal=Journal(attacked.path))
        except SnapscopeError:
            is_refused = True
    assert is_refused == bool(attacked.kept), (name, how, batch)
    assert ground.broken(stage.root) == []
    if is_refused:
        attacked.put_back()
    return Journal(attacked.path), is_refused
