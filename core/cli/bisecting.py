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
from core.units import parse_user_duration_ms, several

Answer = tuple[Any, str]

ASSUMED = (
    "Assumes that the condition became true once and stayed true; snapshots between the checked ones were not read."
)


def bisect(args: Args) -> Answer:
    def show_probe(place: Candidate, probe: Probe) -> None:
        say(f"{place.point}: {_value(probe)} ({probe.seconds:.1f} s)", sys.stderr)

    found = bisecting.search(
        open_table(args.table),
        args.condition,
        start=args.start,
        end=args.end,
        branch=args.branch,
        is_every=args.every,
        timeout_s=parse_user_duration_ms(args.timeout) / 1000,
        on_probe=None if args.json else show_probe,
    )
    return document(found), _text(args.table, found)


def document(found: Found) -> dict[str, Any]:
    """The answer as JSON: versions as POINTs in commit order; probes in the order they were made."""
    answer = found.answer
    return {
        "condition": found.condition.text,
        "statement": found.condition.statement,
        "branch": found.branch,
        "outcome": str(answer.outcome),
        "first_true": _point(found, answer.first_true),
        "last_false": _point(found, answer.last_false),
        "previous": None if not answer.first_true else _point(found, answer.first_true - 1),
        "after_gap": found.is_after_gap,
        "unknown": [found.places[place].point for place in answer.unknown],
        "contradictions": [[found.places[a].point, found.places[b].point] for a, b in answer.contradictions],
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
    total = several(len(found.places), "retained snapshot")
    lines = [grid(("snapshot", "committed", found.condition.text.replace("\n", " "), "took"), rows), _sentence(found)]
    answer = found.answer
    if answer.outcome in (Outcome.TURNED, Outcome.ALREADY) and answer.unknown:
        lines.append(
            f"Unknown between them: {several(len(answer.unknown), 'snapshot')}; the change may be at any of those."
        )
    if found.is_after_gap:
        lines.append(
            "The snapshots just before it are no longer retained: the change may have happened in one of them."
        )
    lines += [
        f"It changed more than once: true at {_point(found, a)}, false again at {_point(found, b)}."
        for a, b in answer.contradictions
    ]
    lines.append(
        f"Checked {several(len(found.probes), 'snapshot')} of {total} on {found.branch} in {found.seconds:.1f} s."
    )
    if not found.is_every and len(found.probes) < len(found.places):
        lines.append(ASSUMED)
    if answer.first_true:
        a, b = found.places[answer.first_true - 1].point, found.places[answer.first_true].point
        gap = "between them" if found.places[answer.first_true].after_gap else "by that commit"
        lines.append(f"What changed {gap}: snapscope diff {' '.join(map(shlex.quote, (table, a, b)))}")
    return "\n".join(lines)


def _sentence(found: Found) -> str:
    answer = found.answer
    first, last = found.place(answer.first_true), found.place(answer.last_false)
    match answer.outcome:
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
    details = [text for text in (probe.seen, probe.problem) if text]
    return f"{value} ({'; '.join(details)})" if details else value
