"""As of: which snapshot a reader at a moment saw."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, spoken

ASOF_INPUT = N_("Time or point")
ASOF_PLACEHOLDER = N_(
    "2026-11-01 08:00, time:2026-11-01T00:00:00Z, tag:v1, 12, latest~3, branch:dev, watermark:1700000000000"
)
ASOF_ASKED = N_("What did a reader see then?")
ASOF_TEACH = N_(
    "Paste a time from a log, an incident or a report, or name a point. The answer is the snapshot a "
    "reader at that moment saw, why that one, and what lies on both sides of it."
)
ASOF_BEFORE = N_("Before")
ASOF_THIS = N_("As of then")
ASOF_AFTER = N_("After")
ASOF_NOTHING_BEFORE = N_("Nothing earlier is retained.")
ASOF_NOTHING_AFTER = N_("Nothing newer: this is the latest.")
ASOF_RULE = N_("Why this one")
ASOF_ENGINE = N_("Paimon's own answer")
ASOF_EXAMPLES = N_("For example")


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return _("Committed at exactly the time asked for.")
    return _("Committed {gap} before the time asked for.", gap=units.duration(gap_ms))


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return spoken(note)
    if engine is None:
        return _("Paimon's own search answers nothing here, not {ours}.", ours=ours)
    return _("Paimon's own search answers snapshot {engine} here, not {ours}.", engine=engine, ours=ours)


ASOF_GAP = N_("Gap")
ASKED = N_("asked")

# how a time was read -------------------------------------------------------------------------------------------------

READ_AS = N_("Read as")
READ_ZONE = N_("Zone")
READ_FORMS: Mapping[str, str] = {
    "iso": N_("a date and time from year to second (ISO 8601, as Flink, Log4j and SQL write it)"),
    "spark": N_("a line of a Spark log: yy/MM/dd HH:mm:ss"),
    "rfc2822": N_("a date of mail and HTTP (RFC 2822)"),
    "web": N_("a line of a web server's log"),
    "java": N_("a date as Java and `date` print it"),
    "epoch_s": N_("seconds since 1970 UTC, because it has 10 digits"),
    "epoch_ms": N_("milliseconds since 1970 UTC, because it has 13 digits"),
    "epoch_us": N_("microseconds since 1970 UTC, because it has 16 digits"),
    "epoch_ns": N_("nanoseconds since 1970 UTC, because it has 19 digits"),
    "relative": N_("a time counted from now"),
    "day": N_("a date written with its day and month in figures"),
}
ROUND_DOWN = N_("Time travel rounds down")
ROUND_DOWN_NONE = N_("Nothing: every retained snapshot was committed after it.")
ROUND_UP = N_("A tag made from this time rounds up")
ROUND_UP_NONE = N_("Nothing: every snapshot was committed before it.")
ROUND_UP_ICEBERG = N_("The next commit of main after it. Iceberg makes no tag from a time: name the snapshot.")
IN_THE_FUTURE = N_("This time is still to come: the answer is the newest snapshot, and another commit will change it.")
TOO_EARLY = N_("This time lies before all that is retained. What rounds up is there; tags may keep older points.")


def read_zone(zone: str, named: bool) -> str:
    return (
        _("{zone}, as written", zone=zone)
        if named
        else _("{zone}: none is written, so the zone on the left counts", zone=zone)
    )


def read_moment(form: str, utc: str, ms: int) -> str:
    return _("{utc} ({ms} ms), from {form}", utc=utc, ms=ms, form=form)


def from_asked(gap_ms: int) -> str:
    if gap_ms == 0:
        return _("exactly then")
    return _(
        "{abs} {rest} the time asked for",
        abs=units.duration(abs(gap_ms)),
        rest=_("before") if gap_ms > 0 else _("after"),
    )


def own_search(engine: int | None, ours: int) -> str:
    if engine == ours:
        return _("Paimon's own search finds the same.")
    what = _("finds nothing") if engine is None else _("finds {engine}", engine=engine)
    return _("Paimon's own search {what}: it stops at the first equal time it meets, or at a skewed clock.", what=what)


def from_this(id: int, gap_ms: int) -> str:
    return _(
        "{abs} {rest} {id}", abs=units.duration(abs(gap_ms)), rest=_("before") if gap_ms >= 0 else _("after"), id=id
    )
