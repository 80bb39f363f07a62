"""`snapscope bisect`: find the first version at which a condition holds."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from core.analysis.bisect import Candidate, Outcome, Probe
from core.cli.arguments import Args
from core.cli.output import grid, say
from core.model.time_travel import in_words
from core.spark.query import bisect as bisecting
from core.spark.query.bisect import Found
from core.table import open_table
from core.units import asked_duration_ms, several

Answer = tuple[Any, str]

ASSUMED = (
    "Assumes that the condition became true once and stayed true; snapshots between the checked ones were not read."
)


def bisect(args: Args) -> Answer:
    def tell(place: Candidate, probe: Probe) -> None:
        say(f"{place.point}: {_value(probe)} ({probe.seconds:.1f} s)", sys.stderr)

    found = bisecting.search(
        open_table(args.table),
        args.condition,
        start=args.start,
        end=args.end,
        branch=args.branch,
        is_every=args.every,
        timeout_s=asked_duration_ms(args.timeout) / 1000,
        on_probe=None if args.json else tell,
    )
    return document(found), _text(args.table, found)


def document(found: Found) -> dict[str, Any]:
    """The answer as JSON: versions as POINTs in commit order; probes in the order they were made."""
    said = found.answer
    return {
        "condition": found.asked.text,
        "statement": found.asked.statement,
        "branch": found.branch,
        "outcome": str(said.outcome),
        "first_true": _point(found, said.first_true),
        "last_false": _point(found, said.last_false),
        "previous": None if not said.first_true else _point(found, said.first_true - 1),
        "after_gap": found.is_after_gap,
        "unknown": [found.places[place].point for place in said.unknown],
        "contradictions": [[found.places[a].point, found.places[b].point] for a, b in said.contradictions],
        "every": found.is_every,
        "points": len(found.places),
        "seconds": round(found.seconds, 3),
        "probes": [
            {
                "point": found.places[each.place].point,
                "committed_at_ms": found.places[each.place].time_ms,
                "value": each.value,
                "seen": each.seen,
                "seconds": round(each.seconds, 3),
                "problem": each.problem,
            }
            for each in found.probes
        ],
    }


def _point(found: Found, place: int | None) -> str | None:
    return None if place is None else found.places[place].point


def _text(table: str, found: Found) -> str:
    rows = [
        (found.places[each.place].point, _when(found.places[each.place]), _value(each), f"{each.seconds:.1f} s")
        for each in sorted(found.probes, key=lambda each: each.place)
    ]
    many = several(len(found.places), "retained snapshot")
    lines = [grid(("snapshot", "committed", found.asked.text.replace("\n", " "), "took"), rows), _sentence(found)]
    said = found.answer
    if said.outcome in (Outcome.TURNED, Outcome.ALREADY) and said.unknown:
        lines.append(
            f"Unknown between them: {several(len(said.unknown), 'snapshot')}; the change may be at any of those."
        )
    if found.is_after_gap:
        lines.append(
            "The snapshots just before it are no longer retained: the change may have happened in one of them."
        )
    lines += [
        f"It changed more than once: true at {_point(found, a)}, false again at {_point(found, b)}."
        for a, b in said.contradictions
    ]
    lines.append(
        f"Checked {several(len(found.probes), 'snapshot')} of {many} on {found.branch} in {found.seconds:.1f} s."
    )
    if not found.is_every and len(found.probes) < len(found.places):
        lines.append(ASSUMED)
    if said.first_true:
        a, b = found.places[said.first_true - 1].point, found.places[said.first_true].point
        gap = "between them" if found.places[said.first_true].after_gap else "by that commit"
        lines.append(f"What changed {gap}: snapscope diff {' '.join(map(shlex.quote, (table, a, b)))}")
    return "\n".join(lines)


def _sentence(found: Found) -> str:
    said = found.answer
    first, last = found.place(said.first_true), found.place(said.last_false)
    match said.outcome:
        case Outcome.TURNED:
            assert first is not None
            assert last is not None
            return f"First true at {first.point}, committed {_when(first)}; false at {last.point}, {_when(last)}."
        case Outcome.ALREADY:
            assert first is not None
            return (
                f"Already true at {first.point}, the first snapshot that could be read; the state before it is unknown."
            )
        case Outcome.NEVER:
            return "Not true in any checked snapshot."
        case Outcome.BACK:
            return "True at the first snapshot, false at the last: the change goes the other way. Search for `not (…)`."
        case Outcome.UNKNOWN:
            return "No checked snapshot gave a result."


def _when(place: Candidate) -> str:
    return "unknown" if place.time_ms is None else in_words(place.time_ms)


def _value(probe: Probe) -> str:
    value = "unknown" if probe.value is None else str(probe.value).lower()
    told = [text for text in (probe.seen, probe.problem) if text]
    return f"{value} ({'; '.join(told)})" if told else value
