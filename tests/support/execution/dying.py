"""A store and a journal that die before the n-th effect, as a killed process does: nothing runs afterwards.

Each write, delete and removed directory is one effect; each journal entry is two, so that one can die with the entry
on disk and nobody told.
"""

from __future__ import annotations

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
    """The process ends here."""


@dataclass
class Life:
    """How many effects are left (None: as many as there are). What was done is in `log`.

    `is_fault`: instead of dying, one effect is refused by the store, and everything after it goes well.
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
    """A store whose effects are counted."""

    def __init__(self, location: str, life: Life) -> None:
        super().__init__(location)
        self.life = life

    def create(self, relative: str, data: bytes) -> None:
        self.life.effect(f"create {relative}")
        super().create(relative, data)

    def put(self, relative: str, data: bytes) -> None:
        self.life.effect(f"put {relative}")
        super().put(relative, data)

    def delete(self, relative: str) -> bool:
        self.life.effect(f"delete {relative}")
        return super().delete(relative)

    def remove_empty_dir(self, relative: str) -> bool:
        self.life.effect(f"remove directory {relative}")
        return super().remove_empty_dir(relative)

    def ls(self, relative: str = "") -> Any:
        self.life.look()
        return super().ls(relative)

    def read(self, relative: str, *limits: Any) -> bytes:
        self.life.look()
        return super().read(relative, *limits)


class MortalJournal(Journal):
    """A journal whose entries are counted, before and after they are on disk. A fault of the store is none of it."""

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
    ) -> str:
        self._effect("start")
        run = super().start(table, change_kind, plan, removes, frees)
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


def dies(table: TableBuilder, change: Change, at: str, *, count: int = 1) -> str:
    """Carry a change out up to right before the n-th effect that begins with `at`; answers the run's id."""

    class Watched(Life):
        seen = 0

        def effect(self, what: str) -> None:
            if what.startswith(at):
                self.seen += 1
                if self.seen == count:
                    self.left = len(self.log)
            super().effect(what)

    life = Watched()
    opened = open_table(str(table.root))
    shown = opened.preview(change, ground.LATE_MS)
    mortal = Table(PaimonFormat(MortalStore(str(table.root), life), PaimonFormat.of(opened.format).manifests))
    with pytest.raises(Death):
        apply(mortal, shown, settle_s=0, journal=MortalJournal(Journal().path, life))
    run = Journal().open_run(mortal.location)
    assert run is not None
    return run.id
