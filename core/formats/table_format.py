"""Table formats. Each package reads its own files into the shared model; no format imports another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from core.errors import Conflict
from core.model.effects import Effect, SwapMetadata
from core.model.history import History
from core.model.plan import Plan
from core.model.references import Heads

Progress = Callable[[int, int], None]


class Unknown(Conflict):
    """It is not known whether a commit happened: nothing may be deleted, and the run stays open."""

    kind = Conflict.__name__


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

    def native(self, plan: Plan, history: History) -> tuple[str, ...]:
        """In sentences: where the engine's own deletion would break what this plan keeps."""

    def refuse_apply(self) -> None:
        """Raise where plans of this table cannot be carried out here."""

    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        """All that a finished plan does, in order."""

    def edit(self, plan: Plan, heads: Heads) -> SwapMetadata:
        """What carries a plan out."""

    def commit(self, heads: Heads, edit: SwapMetadata) -> str | None:
        """Put references with this edit in the place of exactly these; what was written, None where another commit came
        first. `Unknown` where what became of it is not known; after any other error nothing was done."""

    def was_made(self, edit: SwapMetadata, heads: Heads) -> bool:
        """Was this edit committed, whatever others made of it since? True where that cannot be known any more."""

    def repair(self) -> None:
        """After a commit: what points readers to it follows."""

    def taken_back(self, heads: Heads, edit: SwapMetadata) -> SwapMetadata:
        """The edit that undoes another. `Invalid` where that cannot be exact."""

    def check_replaced(self, edit: SwapMetadata) -> None:
        """`Conflict` where the commit replaced other references than it was made on, and lost one of them."""

    def roots(self, heads: Heads) -> tuple[str, ...]:
        """Where properties of the table let its files lie, outside its directory too."""

    def outside(self, heads: Heads, kinds: Mapping[str, str]) -> Callable[[str], str | None]:
        """Per path of a planned file (with its kind) why it is none of the table's files, None where it is."""
