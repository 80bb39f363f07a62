"""A store and a journal that fail before the n-th effect, as in a killed process: nothing runs afterwards.

Each write, deletion and removed directory is one effect. Each journal entry is two, so that a process can die after the
entry is on disk but before the call returns.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.format import PaimonFormat
from core.model.actions import Change
from core.storage.store import Store
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground


class Death(BaseException):
    """The process dies here."""


@dataclass
class Life:
    """The number of effects left (None: unlimited). `log` lists what was done.

    With `is_fault`, the store rejects one effect instead of dying, and everything after it succeeds.
    """

    left: int | None = None
    is_fault: bool = False
    log: list[str] = field(default_factory=list)
    is_over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def effect(self, what: str) -> None:
        with self._lock:
            if self.is_over and not self.is_fault:
                raise Death(what)
            if self.left is not None and len(self.log) == self.left and not self.is_over:
                self.is_over = True
                if self.is_fault:
                    raise Corrupt(f"503: {what}", path=what)
                raise Death(what)
            self.log.append(what)

    def look(self) -> None:
        if self.is_over and not self.is_fault:
            raise Death("reading")


class MortalStore(Store):
    """A store that counts its effects."""

    def __init__(self, location: str, life: Life) -> None:
        super().__init__(location)
        self.life = life

    def create(self, relative: str, data: bytes) -> None:
        self.life.effect(f"create {relative}")
        super().create(relative, data)

    def put(self, relative: str, data: bytes, was: bytes | None = None) -> None:
        self.life.effect(f"put {relative}")
        super().put(relative, data, was)

    def delete(self, relative: str, was: bytes | None = None) -> bool:
        self.life.effect(f"delete {relative}")
        return super().delete(relative, was)

    def remove_empty_dir(self, relative: str) -> bool:
        self.life.effect(f"remove directory {relative}")
        return super().remove_empty_dir(relative)

    def ls(self, relative: str = "") -> Any:
        self.life.look()
        return super().ls(relative)

    def read(self, relative: str, *limits: Any) -> bytes:
        self.life.look()
        return super().read(relative, *limits)


class ManyStore(MortalStore):
    """Deletes many files by one request, in an order of its own, which may be cut off anywhere."""

    deletes_together = True

    def __init__(self, location: str, life: Life, seed: int = 0) -> None:
        super().__init__(location, life)
        self.chance = random.Random(seed)

    def delete_together(self, were: Mapping[str, bytes | None]) -> set[str]:
        waiting = sorted(were)
        self.chance.shuffle(waiting)
        return {each for each in waiting if self.delete(each, were[each])}


class MortalJournal(Journal):
    """A journal that counts its entries, before and after they are written. Store faults do not affect it."""

    def __init__(self, path: Path, life: Life) -> None:
        super().__init__(path)
        self.life = life

    def start(
        self,
        table: str,
        change_kind: str,
        plan: Mapping[str, Any],
        removes: Sequence[tuple[str, bytes]],
        frees: Sequence[tuple[str, str, int]],
        run: str = "",
    ) -> str:
        self._effect("start")
        run = super().start(table, change_kind, plan, removes, frees, run)
        self._effect("started")
        return run

    def add(self, run: str, what: str, detail: Mapping[str, Any]) -> str:
        self._effect(f"entry {what}")
        head = super().add(run, what, detail)
        self._effect(f"written {what}")
        return head

    def _effect(self, what: str) -> None:
        if not self.life.is_fault:
            self.life.effect(f"journal: {what}")


def until(at: str, *, count: int = 1) -> Life:
    """Return a life that ends just before the n-th effect whose name starts with `at`."""

    class Watched(Life):
        seen = 0

        def effect(self, what: str) -> None:
            if what.startswith(at):
                self.seen += 1
                if self.seen == count:
                    self.left = len(self.log)
            super().effect(what)

    return Watched()


def dies(table: TableBuilder, change: Change, at: str, *, count: int = 1) -> str:
    """Run a change up to just before the n-th effect whose name starts with `at`; return the run id."""
    life = until(at, count=count)
    opened = open_table(str(table.root))
    shown = opened.preview(change, ground.LATE_MS)
    mortal = Table(PaimonFormat(MortalStore(str(table.root), life), PaimonFormat.of(opened.format).manifests))
    with pytest.raises(Death):
        apply(mortal, shown, settle_s=0, journal=MortalJournal(Journal().path, life))
    run = Journal().open_run(mortal.location)
    assert run is not None
    return run.id
