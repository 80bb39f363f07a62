"""The progress of a demo that is still being built, for pages that show its tables as they appear.

Invariant: the progress file is in the demo's directory from the start until all tables exist; then the marker replaces
it. So an interrupted demo is never mistaken for a complete one. A lock tells whether a build is running.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import Conflict, Corrupt, Invalid
from core.execution.table_lock import locked

NAME = ".snapscope-demo.building"
TABLES = ("crm.customers", "events.clicks", "sales.orders", "sales.orders_iceberg")
_STARTING_S = 10.0
_TRIES, _PAUSE_S = 20, 0.05  # somebody who only looks holds the lock for a moment


@dataclass(frozen=True, slots=True)
class Building:
    """`told`: the story of each finished table. `now`: the table being written. `problem`: why the build stopped."""

    created_ms: int
    told: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    now: str = ""
    problem: str = ""

    def with_tables(self, stories: Mapping[str, dict[str, Any]]) -> Building:
        return replace(self, told={**self.told, **stories})


def read(directory: str) -> Building | None:
    """What was last written down; None where no demo is being built, or it is whole. `Corrupt` of any other file."""
    path = Path(directory) / NAME
    try:
        building = Building(**json.loads(path.read_bytes()))
        if not set(building.told) <= set(TABLES):
            raise ValueError(sorted(building.told))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError) as error:
        remedy = "Remove the directory and make the demo again: snapscope demo DIRECTORY."
        raise Corrupt("This is not what a demo in the making is marked with.", path=str(path), remedy=remedy) from error
    return building


def begin(directory: str, now_ms: int) -> Building:
    """Take a directory that is missing or empty, or holds a part of a demo, for building one. `Conflict` of any other.

    A demo that was cut off keeps the moment at which its story ends."""
    building = read(directory)
    if building is None:
        try:
            os.makedirs(directory, exist_ok=True)
        except OSError as error:
            raise Invalid(
                "The directory cannot be created: {strerror}.",
                strerror=error.strerror,
                path=directory,
                remedy="Choose another directory.",
            ) from error
        if os.listdir(directory):
            raise Conflict(
                "The directory is not empty; no demo was created.",
                path=directory,
                remedy="Choose another directory, or remove this one first.",
            )
        building = Building(now_ms)
    building = replace(building, now="", problem="")
    write(directory, building)
    return building


def write(directory: str, building: Building) -> None:
    path = Path(directory) / NAME
    new = path.with_name(f"{NAME}.new")
    new.write_text(json.dumps(asdict(building)))
    os.replace(new, path)


def end(directory: str) -> None:
    (Path(directory) / NAME).unlink(missing_ok=True)


@contextmanager
def alone(directory: str) -> Iterator[None]:
    """Be the one that builds there; `Conflict` where somebody is at it."""
    with ExitStack() as held:
        for tries_left in reversed(range(_TRIES)):
            try:
                held.enter_context(locked(_lock(directory)))
                break
            except Conflict:
                if not tries_left:
                    problem, remedy = "This demo is being built already.", "Wait for it to end."
                    raise Conflict(problem, path=directory, remedy=remedy) from None
                time.sleep(_PAUSE_S)
        yield


def is_being_built(directory: str) -> bool:
    """Whether somebody is at it, or was a moment ago: who has just begun it may still be starting."""
    with suppress(FileNotFoundError):
        if time.time() - os.stat(Path(directory) / NAME).st_mtime < _STARTING_S:
            return True
    try:
        with locked(_lock(directory)):
            return False
    except Conflict:
        return True


def _lock(directory: str) -> str:
    return f"demo {os.path.realpath(directory)}"
