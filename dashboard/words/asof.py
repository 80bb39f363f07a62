"""As of: the snapshot that a reader saw at a given time."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.formatting import units
from dashboard.formatting.language import N_, _, spoken

ASOF_ASKED = N_("What did a reader see then?")
ASOF_TEACH = N_(
    "Paste a time from a log, an incident or a report into the box at the top, or choose a "
    "snapshot, tag or branch there. The answer is the snapshot a reader saw at that moment, the "
    "reason, and the snapshots before and after it."
)
ASOF_SEARCHING = N_("Looking for the snapshot of this time …")
ASOF_EARLY = N_("This is the answer from a few snapshots. The others are still being read.")
ASOF_BEFORE = N_("Before")
ASOF_THIS = N_("At that time")
ASOF_AFTER = N_("After")
ASOF_NOTHING_BEFORE = N_("Nothing earlier is retained.")
ASOF_NOTHING_AFTER = N_("No newer snapshot: this is the latest.")
ASOF_RULE = N_("Why this snapshot")
ASOF_ENGINE = N_("Paimon's answer")
ASOF_EXAMPLES = N_("For example")


def asof_gap(gap_ms: int) -> str:
    if gap_ms == 0:
        return _("Committed at exactly the requested time.")
    return _("Committed {gap} before the requested time.", gap=units.duration(gap_ms))


def asof_engine(engine: int | None, note: str | None, ours: int) -> str:
    if note:
        return spoken(note)
    if engine is None:
        return _("Paimon's search finds no snapshot here, not {ours}.", ours=ours)
    return _("Paimon's search returns snapshot {engine} here, not {ours}.", engine=engine, ours=ours)


ASOF_GAP = N_("Gap")
ASKED = N_("requested")

# how a time was read -------------------------------------------------------------------------------------------------

READ_AS = N_("Read as")
READ_ZONE = N_("Zone")
READ_FORMS: Mapping[str, str] = {
    "iso": N_("date and time from year to second (ISO 8601, as Flink, Log4j and SQL write it)"),
    "spark": N_("Spark log line: yy/MM/dd HH:mm:ss"),
    "rfc2822": N_("mail or HTTP date (RFC 2822)"),
    "web": N_("web server log line"),
    "java": N_("date as printed by Java and `date`"),
    "epoch_s": N_("seconds since 1970 UTC, because it has 10 digits"),
    "epoch_ms": N_("milliseconds since 1970 UTC, because it has 13 digits"),
    "epoch_us": N_("microseconds since 1970 UTC, because it has 16 digits"),
    "epoch_ns": N_("nanoseconds since 1970 UTC, because it has 19 digits"),
    "relative": N_("a time counted from now"),
    "day": N_("a date written with its day and month in figures"),
}
ROUND_DOWN = N_("Time travel rounds down")
ROUND_DOWN_NONE = N_("None: every retained snapshot was committed after this time.")
ROUND_UP = N_("A tag created from this time rounds up")
NEXT_COMMIT = N_("The next commit on main")
SET_BACK = N_("Main was rolled back to this older snapshot, so it comes after as well.")
ROUND_UP_NONE = N_("None: every snapshot was committed before this time.")
ROUND_UP_ICEBERG = N_("Iceberg cannot create a tag from a time: specify this snapshot.")
IN_THE_FUTURE = N_("This time is in the future: the answer is the newest snapshot, and the next commit will change it.")
TOO_EARLY = N_(
    "This time is before the oldest retained snapshot. Rounding up still finds one; tags may keep older versions."
)


def read_zone(zone: str, named: bool) -> str:
    return (
        _("{zone}, as written", zone=zone)
        if named
        else _("{zone}: the text has no zone, so the zone selected on the left applies", zone=zone)
    )


def read_moment(form: str, utc: str, ms: int) -> str:
    return _("{utc} ({ms} ms), from {form}", utc=utc, ms=ms, form=form)


def distance_to_time(gap_ms: int) -> str:
    if gap_ms == 0:
        return _("exactly at that time")
    return _(
        "{abs} {rest} the requested time",
        abs=units.duration(abs(gap_ms)),
        rest=_("before") if gap_ms > 0 else _("after"),
    )


def own_search(engine: int | None, ours: int) -> str:
    if engine == ours:
        return _("Paimon's search gives the same result.")
    what = _("finds nothing") if engine is None else _("finds {engine}", engine=engine)
    return _("Paimon's search {what}: it stops at the first equal time it meets, or at a skewed clock.", what=what)


def distance_to_snapshot(id: int, gap_ms: int) -> str:
    return _(
        "{abs} {rest} {id}", abs=units.duration(abs(gap_ms)), rest=_("before") if gap_ms >= 0 else _("after"), id=id
    )
