"""Kill the real command line with SIGKILL at a random moment of an expiry, then resume, undo, or first reuse ids."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

from tests.support.execution.kill import Moment, Stage

CLAIM = (
    "After a SIGKILL in the middle of an expiry, resume ends where a clean run ends, and undo restores the table byte "
    "for byte, also if ids of deleted snapshots were reused in between"
)


@cache
def _stage() -> tuple[Stage, object]:
    """One table for all cases, in a directory that is deleted with the process."""
    directory = tempfile.TemporaryDirectory(prefix="snapscope-killed-")
    return Stage(Path(directory.name)), directory


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    stage, _ = _stage()
    during = chance.choice(("references", "references", "settling", "sweep", "sweep", "sweep"))
    killed = stage.kill(Moment(during, chance.random() * (0.7 if during == "sweep" else 1)))
    then = chance.choice(("resumed", "undone", "resumed with ids used again", "killed again and resumed"))
    match then:
        case "killed again and resumed":
            if stage.kill_again(killed, chance.random()):
                stage.resume(killed)
            else:
                then = "resumed"
        case "resumed":
            stage.resume(killed)
        case "undone":
            then = "undone" if stage.undo(killed) else "too late to undo, resumed"
        case _:
            stage.reuse(killed, chance)
    stage.forget(killed.root)
    where = {"started": "references", "references removed": "settling", "sweep started": "the sweep"}[killed.died]
    return {"kills": 1, f"killed in {where}": 1, then: 1}
