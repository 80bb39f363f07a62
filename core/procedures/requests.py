"""What a procedure asks for that is no action yet: a table's own options or points decide which. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.actions import Change
from core.model.references import MAIN


@dataclass(frozen=True, slots=True)
class TagFrom:
    """A tag made from a time or a watermark, rounded up."""

    name: str
    time_ms: int | None = None
    watermark: int | None = None
    retained_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ExpireTags:
    """Tags whose time is over, or that were made before `older_than_ms`."""

    older_than_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class AutoTag:
    """The tags that are due by the table's own options."""

    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class BackToWatermark:
    """A destructive rollback to the last snapshot whose watermark is at or before this."""

    watermark: int
    branch: str = MAIN


Request = Change | TagFrom | ExpireTags | AutoTag | BackToWatermark
