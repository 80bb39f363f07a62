"""Requests of procedures that depend on a table's options or snapshots before they become an action. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.actions import Change
from core.model.references import MAIN


@dataclass(frozen=True, slots=True)
class TagFrom:
    """Create a tag from a time or a watermark, rounded up."""

    name: str
    time_ms: int | None = None
    watermark: int | None = None
    retained_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ExpireTags:
    """Delete tags whose own retention has passed, or that were created before `older_than_ms`."""

    older_than_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class AutoTag:
    """Create the tags that are due by the table's own options."""

    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class BackToWatermark:
    """Roll back destructively to the last snapshot whose watermark is at or before this."""

    watermark: int
    branch: str = MAIN


Request = Change | TagFrom | ExpireTags | AutoTag | BackToWatermark
