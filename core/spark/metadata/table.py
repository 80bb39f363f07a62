"""A table whose deletions are decided by what Spark sums up of its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.formats.table_format import Examined
from core.messages import Reason
from core.model.actions import Change
from core.model.history import HistorySummary
from core.model.references import Heads
from core.spark.metadata.history import SparkHistory, build
from core.spark.session import session
from core.table import Table
from core.table import open_table as opened


@dataclass(frozen=True)
class SparkTable(Table):
    """A table whose history Spark sums up: for costs and deletions where files do not fit into one process."""

    batches_together = 50  # writers that commit all the time have it read again
    on_spark = True

    _built: list[SparkHistory] = field(default_factory=list, repr=False, compare=False)

    def summary(self, heads: Heads, change: Change | None = None) -> SparkHistory:
        """As declared. What it returned before is let go."""
        self.close()
        found = build(session.get(), self, heads, changelogs=change is not None and self.is_wide(change))
        self._built.append(found)
        return found

    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        assert isinstance(history, SparkHistory)
        return history.examined(list(frees)) or super().examine(history, frees)

    def doubt(self, history: HistorySummary, frees: Mapping[str, str]) -> Callable[[str], Reason | None]:
        return self.examine(history, frees).doubt

    def close(self) -> None:
        """Let Spark forget what it built."""
        while self._built:
            self._built.pop().close()


def open_table(location: str) -> SparkTable:
    """As `core.table.open_table`."""
    return SparkTable(opened(location).format)
