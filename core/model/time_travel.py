"""As of, as every format answers it: which snapshot a point names, and why that one; and times in words. Pure.

`core.table.resolve` asks the table's format.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from core.errors import Invalid
from core.messages import told
from core.model.references import Schema, Snapshot


@dataclass(frozen=True, slots=True)
class AsOf:
    """A resolved point. `point` is the holder's own text; `engine` is the id the format's own engine would answer."""

    point: str
    branch: str
    snapshot: Snapshot
    rule: str
    before: Snapshot | None
    after: Snapshot | None
    gap_ms: int | None  # from the asked time back to the snapshot's commit; None where no time was asked
    engine: int | None
    engine_note: str | None
    schema: Schema


def parse_time_ms(text: str) -> int:
    """Epoch milliseconds of an ISO time with a zone, or of a number that already is that."""
    stripped = text.strip()
    if re.fullmatch(r"-?\d{1,18}", stripped):
        return int(stripped)
    try:
        moment = dt.datetime.fromisoformat(stripped)
    except ValueError:
        raise Invalid(
            "{text!r} is no time.",
            text=text,
            remedy=told("Write ISO with a zone, such as 2026-11-01T00:00:00Z, or epoch milliseconds."),
        ) from None
    if moment.tzinfo is None:
        raise Invalid(
            "The time {text!r} has no zone, so it could mean two different moments.",
            text=text,
            remedy=told("Add one, such as 2026-11-01T00:00:00Z or 2026-11-01T00:00:00+08:00."),
        )
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(milliseconds=1)


def in_words(time_ms: int) -> str:
    """A moment in UTC, to the millisecond, with its zone; a number that is no calendar time stays a number."""
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=time_ms)
    except OverflowError:
        return f"{time_ms} ms since 1970 UTC"
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d} UTC"
