"""We and Iceberg's Java core commit to one Hadoop table at the same time."""

from __future__ import annotations

import itertools
import random
import threading
import time

from core.errors import Conflict
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import undo
from core.model.actions import CreateTag
from core.table import open_table
from tests.engines.iceberg_java import EngineError, IcebergJudge

TRIES, WINS, PATIENCE_S = 8, 3, 300.0


def run(judge: IcebergJudge, table: str, packing: str, now_ms: int, tries: int = TRIES) -> None:
    """Run until each side has won several times; every commit that succeeded must be there then.

    Java commits without pause, and rests longer with each time that we lose, because a writer whose commits take longer
    than the other's pauses might lose forever."""
    judge.change(table, {"do": "properties", "set": {"write.metadata.compression-codec": packing}})
    ours, mine, theirs, lost = open_table(table), list[str](), list[str](), list[str]()
    stop, chance, until = threading.Event(), random.Random(packing), time.monotonic() + PATIENCE_S

    def java_branches() -> None:
        number = 0
        while not stop.wait(chance.uniform(0, 2 ** len(lost) - 1)):
            number += 1
            try:
                judge.change(table, {"do": "create_branch", "name": f"java-{number}", "snapshot": first})
                theirs.append(f"java-{number}")
            except EngineError as error:
                assert "ommit" in str(error) or "ersion" in str(error), error

    first = judge.state(table)["snapshots"][0]["id"]
    thread = threading.Thread(target=java_branches)
    thread.start()
    try:
        for number in itertools.count():
            if number >= tries and min(len(mine), len(theirs)) >= WINS:
                break
            assert time.monotonic() < until, f"{len(mine)} commits of ours in {number} tries, {len(theirs)} of Java's"
            try:
                apply(ours, ours.preview(CreateTag(f"ours-{number}"), now_ms), settle_s=0)
                mine.append(f"ours-{number}")
            except Conflict as error:
                lost.append(str(error))
                if unfinished := Journal().open_run(table):
                    undo(unfinished.id, open_table=open_table)
    finally:
        stop.set()
        thread.join()
    refs = set(judge.state(table)["refs"])
    assert set(mine) <= refs
    assert set(theirs) <= refs
