"""Table formats. Each package reads its own files into the shared model; no format imports another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from core.history import History
from core.model import Heads
from core.planned import Plan

Progress = Callable[[int, int], None]


class Format(Protocol):
    """What an open table asks of its format. It keeps only what was decoded of files that never change."""

    @property
    def location(self) -> str:
        """As the user named the table: what opens it again."""

    def heads(self) -> Heads:
        """All references, read now."""

    def history(self, heads: Heads, progress: Progress | None) -> History:
        """Who holds what, by exactly these references."""

    def finished(self, plan: Plan, history: History) -> Plan:
        """The plan with what only the format's own files tell."""

    def refuse_apply(self) -> None:
        """Raise where plans of this table cannot be carried out here."""

    def refuse_query(self) -> None:
        """Raise where rows of this table cannot be read here."""
