"""The answer to "as of", the same for every format: which snapshot a POINT names, and why. Also formats times. Pure.

`core.table.resolve` asks the table's format.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from core.errors import ErrorCode, Invalid
from core.messages import Message, message
from core.model.references import MAIN, Heads, Schema, Snapshot
from core.model.time_hints import hint


@dataclass(frozen=True, slots=True)
class AsOf:
    """A resolved POINT.

    `point` is the holder's own text; `engine` is the id that the format's own engine would return.
    """

    point: str
    branch: str
    snapshot: Snapshot
    rule: str
    before: Snapshot | None
    after: Snapshot | None
    gap_ms: int | None  # from the requested time back to the snapshot's commit; None if no time was given
    engine: int | None
    engine_note: str | None
    schema: Schema


NO_SNAPSHOT = -1
UNWRITTEN = "latest"
"""The point of a table to which nothing was ever committed; no holder has such a text."""


def unwritten(schema: Schema, time_ms: int) -> AsOf:
    """A table without snapshots: its current columns and no rows, under an id that no snapshot has."""
    nothing = Snapshot(
        NO_SNAPSHOT,
        time_ms,
        "none",
        schema.id,
        "",
        0,
        total_rows=0,
        delta_rows=0,
        watermark=None,
        fields={},
        content=b"",
    )
    rule = message("The table has no snapshot yet: its current columns, and no rows.")
    return AsOf(UNWRITTEN, MAIN, nothing, rule, None, None, None, None, None, schema)


def parse_time_ms(text: str) -> int:
    """Epoch milliseconds of an ISO time with a zone, or of a number already in milliseconds."""
    stripped = text.strip()
    if re.fullmatch(r"-?\d{1,18}", stripped):
        return int(stripped)
    try:
        moment = dt.datetime.fromisoformat(stripped)
    except ValueError:
        raise Invalid(
            "not a valid time: {text!r}.",
            text=text,
            remedy=message("Write ISO with a zone, such as 2026-11-01T00:00:00Z, or epoch milliseconds."),
            code=ErrorCode.NOT_A_TIME,
        ) from None
    if moment.tzinfo is None:
        raise Invalid(
            "The time {text!r} has no zone, so it could mean two different moments.",
            text=text,
            remedy=message("Add one, such as 2026-11-01T00:00:00Z or 2026-11-01T00:00:00+08:00."),
            code=ErrorCode.AMBIGUOUS_TIME,
        )
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(milliseconds=1)


def not_a_version(text: str, heads: Heads, grammar: Message) -> Invalid:
    """The error for a text that is no version. It says what was probably meant, or else what could be written."""
    remedy = hint(text) or grammar
    for line in heads.lines:
        if any(tag.name == text for tag in line.tags):
            remedy = message("Did you mean tag:{name}?", name=text)
        elif line.branch == text:
            remedy = message("Did you mean branch:{name}?", name=text)
    return Invalid("not a valid version: {text!r}.", text=text, remedy=remedy, code=ErrorCode.NOT_A_VERSION)


def in_words(time_ms: int) -> str:
    """Format a moment in UTC, to the millisecond and with its zone; a number outside the calendar stays a number."""
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=time_ms)
    except OverflowError:
        return f"{time_ms} ms since 1970 UTC"
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{moment.microsecond // 1000:03d} UTC"
