"""What goes by itself: when a point does, and what the next commit takes. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages import Reason
from core.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Expiry:
    """When a point goes by itself: not before `not_before_ms` (None = never, or not while the words hold)."""

    point: str
    not_before_ms: int | None
    words: str
    is_counted: bool = False  # it waits for commits yet to come, and its date is not known


@dataclass(frozen=True, slots=True)
class Forecast:
    """`plans` are of the snapshots and tags, and of the long-lived changelogs where the writer expires those too; none
    where it cannot be told, and `headline` says why."""

    branch: str
    plans: tuple[Plan, ...]
    headline: str
    breaks: tuple[Reason, ...] = ()
    prevented_by: tuple[Reason, ...] = ()

    @property
    def goes(self) -> tuple[str, ...]:
        """The points that go, in order."""
        return tuple(verdict.point for plan in self.plans for verdict in plan.goes)
