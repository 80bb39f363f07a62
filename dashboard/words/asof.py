"""As of: which snapshot a reader at a moment saw."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units

ASOF_INPUT = "Time or point"
ASOF_PLACEHOLDER = (
    "2026-11-01 08:00, time:2026-11-01T00:00:00Z, tag:v1, 12, latest~3, branch:dev, watermark:1700000000000"
)
ASOF_ASKED = "What did a reader see then?"
ASOF_TEACH = (
    "Paste a time from a log, an incident or a report, or name a point. The answer is the snapshot a reader at that "
    "moment saw, why that one, and what lies on both sides of it."
)
ASOF_BEFORE = "Before"
ASOF_THIS = "As of then"
ASOF_AFTER = "After"
ASOF_NOTHING_BEFORE = "Nothing earlier is retained."
ASOF_NOTHING_AFTER = "Nothing newer: this is the latest."
ASOF_RULE = "Why this one"
ASOF_ENGINE = "Paimon's own answer"
ASOF_EXAMPLES = "For example"


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return "Committed at exactly the time asked for."
    return f"Committed {units.duration(gap_ms)} before the time asked for."


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return note
    what = "nothing" if engine is None else f"snapshot {engine}"
    return f"Paimon's own search answers {what} here, not {ours}."


ASOF_GAP = "Gap"
ASKED = "asked"

# how a time was read -------------------------------------------------------------------------------------------------

READ_AS = "Read as"
READ_ZONE = "Zone"
READ_FORMS: Mapping[str, str] = {
    "iso": "a date and time from year to second (ISO 8601, as Flink, Log4j and SQL write it)",
    "spark": "a line of a Spark log: yy/MM/dd HH:mm:ss",
    "rfc2822": "a date of mail and HTTP (RFC 2822)",
    "web": "a line of a web server's log",
    "java": "a date as Java and `date` print it",
    "epoch_s": "seconds since 1970 UTC, because it has 10 digits",
    "epoch_ms": "milliseconds since 1970 UTC, because it has 13 digits",
    "epoch_us": "microseconds since 1970 UTC, because it has 16 digits",
    "epoch_ns": "nanoseconds since 1970 UTC, because it has 19 digits",
    "relative": "a time counted from now",
    "day": "a date written with its day and month in figures",
}
ROUND_DOWN = "Time travel rounds down"
ROUND_DOWN_NONE = "Nothing: every retained snapshot was committed after it."
ROUND_UP = "A tag made from this time rounds up"
ROUND_UP_NONE = "Nothing: every snapshot was committed before it."
ROUND_UP_ICEBERG = "The next commit of main after it. Iceberg makes no tag from a time: name the snapshot."
IN_THE_FUTURE = "This time is still to come: the answer is the newest snapshot, and another commit will change it."
TOO_EARLY = "This time lies before all that is retained. What rounds up is there; tags may keep older points."


def read_zone(zone: str, named: bool) -> str:
    return f"{zone}, as written" if named else f"{zone}: none is written, so the zone on the left counts"


def read_moment(form: str, utc: str, ms: int) -> str:
    return f"{utc} ({ms} ms), from {form}"


def from_asked(gap_ms: int) -> str:
    if gap_ms == 0:
        return "exactly then"
    return f"{units.duration(abs(gap_ms))} {'before' if gap_ms > 0 else 'after'} the time asked for"


def own_search(engine: int | None, ours: int) -> str:
    if engine == ours:
        return "Paimon's own search finds the same."
    what = "finds nothing" if engine is None else f"finds {engine}"
    return f"Paimon's own search {what}: it stops at the first equal time it meets, or at a skewed clock."


def from_this(id: int, gap_ms: int) -> str:
    return f"{units.duration(abs(gap_ms))} {'before' if gap_ms >= 0 else 'after'} {id}"
