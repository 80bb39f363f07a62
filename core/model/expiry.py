"""Automatic expiration: when a version expires, and what the next commit expires. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import SnapscopeError
from core.messages import Reason, message
from core.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Expiry:
    """When a version expires automatically: not before `not_before_ms`, in epoch milliseconds.

    None: never, or not while `words` applies; with `is_open` the date is unknown, because it depends on the number of
    future commits or the rules cannot be read.
    """

    point: str
    not_before_ms: int | None
    words: str
    is_open: bool = False


def undetermined(point: str, error: SnapscopeError) -> Expiry:
    """The expiry of a version whose rules cannot be read."""
    return Expiry(point, None, message("cannot be determined: {why}", why=error.message.rstrip(".")), is_open=True)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the next commit on a branch expires.

    `plans`: one for snapshots and tags, and one for long-lived changelogs where the writer expires those too. Empty if
    it cannot be predicted; `headline` then says why.
    """

    branch: str
    plans: tuple[Plan, ...]
    headline: str
    breaks: tuple[Reason, ...] = ()
    prevented_by: tuple[Reason, ...] = ()

    @property
    def expired(self) -> tuple[str, ...]:
        """The versions that expire, in order."""
        return tuple(verdict.point for plan in self.plans for verdict in plan.deleted_points)
