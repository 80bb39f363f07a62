"""The journal for display: filtered runs, their outcomes, and how many matched their plan exactly.

Invariant: "exact" is counted, never assumed: the run deleted as many files and bytes as planned, and kept none of them
back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.execution.journal import UNDONE, Run
from core.model.actions import DELETING, KINDS, Action
from dashboard import words
from dashboard.formatting import units

BADGE = 40  # the badge counts this many of the newest runs that deleted files
OUTCOMES = ("exact", "inexact", "ended", "taken back", "refused", "unfinished")
EXACT, INEXACT, ENDED, TAKEN_BACK, REFUSED, OPEN = OUTCOMES


@dataclass(frozen=True, slots=True)
class RunFilter:
    """The reader's filters; None means no filter. `until_ms` is exclusive."""

    table: str | None = None
    kind: str | None = None
    who: str | None = None
    outcome: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    text: str | None = None

    def matches(self, run: Run) -> bool:
        exactly = ((self.table, run.table), (self.kind, run.change_kind))
        return (
            all(value is None or value == found for value, found in exactly)
            and (self.who is None or self.who in people(run))
            and (self.outcome is None or self.outcome == outcome(run))
            and (self.since_ms is None or run.started_ms >= self.since_ms)
            and (self.until_ms is None or run.started_ms < self.until_ms)
            and (self.text is None or self.text.lower() in _searchable_text(run))
        )


def filtered(runs: Iterable[Run], run_filter: RunFilter) -> list[Run]:
    return [run for run in runs if run_filter.matches(run)]


def people(run: Run) -> tuple[str, ...]:
    """Return who started a run, followed by who else resumed, cancelled or undid it."""
    return (run.who, *run.others)


def _searchable_text(run: Run) -> str:
    """Return the text to search in: ids, fingerprints, names, sentences, the request, and the versions that expired."""
    points = " ".join(str(point) for point, keep, _ in run.plan["points"] if not keep)
    parts = (run.id, run.fingerprint, run.table, *people(run), run.change_kind, run.plan["headline"], run.problem or "")
    return f"{' '.join(map(str, parts))} {run.plan['change']} {points}".lower()


def deleted(receipt: Mapping[str, Any]) -> int:
    """Return how many files a receipt says were deleted: a number or, for tags and commits, a list of names."""
    found = receipt["deleted"]
    return int(found) if isinstance(found, int) else len(found)


def is_exact(run: Run) -> bool | None:
    """Return whether the receipt matches the plan; None for a run without a receipt or a change that deletes
    nothing."""
    found = run.receipt
    if found is None or run.change_kind not in DELETING:
        return None
    same = deleted(found) == found["planned_files"] and found["freed_bytes"] == found["planned_bytes"]
    return same and not found["kept_back"]


def outcome(run: Run) -> str:
    """Return one of `OUTCOMES`."""
    if run.is_open:
        return OPEN
    if run.state == UNDONE:
        return TAKEN_BACK if run.problem is None else REFUSED
    return {None: ENDED, True: EXACT, False: INEXACT}[is_exact(run)]


def badge(runs: Sequence[Run]) -> tuple[int, int]:
    """Count (exact runs, runs) among the newest `BADGE` finished runs that deleted files; `runs` is sorted newest
    first."""
    judged = [exact for run in runs if (exact := is_exact(run)) is not None][:BADGE]
    return sum(judged), len(judged)


def title(table: str) -> str:
    """Return `database.table` for a table's location."""
    *_, above, name = ["", *table.rstrip("/").split("/")]
    return f"{above.removesuffix('.db')}.{name}" if above else name


def titles(tables: Iterable[str]) -> dict[str, str]:
    """Return the title of each location, with the place of its warehouse where several have the same."""
    found = {table: title(table) for table in tables}
    seen = Counter(found.values())
    return {
        table: name if seen[name] == 1 else f"{name} ({'/'.join(table.rstrip('/').split('/')[:-2])})"
        for table, name in found.items()
    }


def frame(found: Sequence[Run], zone: str) -> pd.DataFrame:
    """List the runs as a table, newest first, with string ids."""
    receipts = [run.receipt for run in found]
    named = titles(run.table for run in found)
    return pd.DataFrame(
        {
            "started": [units.moment(run.started_ms, zone) for run in found],
            "change": [words.CHANGE_NAMES.get(run.change_kind, run.change_kind) for run in found],
            "table": [named[run.table] for run in found],
            "who": [words.people(run) for run in found],
            "outcome": [words.AUDIT_OUTCOMES[outcome(run)] for run in found],
            "files": pd.array([None if each is None else deleted(each) for each in receipts], "Int64"),
            "bytes": pd.array([None if each is None else int(each["freed_bytes"]) for each in receipts], "Int64"),
            "planned": [str(run.plan["headline"]) for run in found],
            "took": [units.duration(None if run.ended_ms is None else run.ended_ms - run.started_ms) for run in found],
            "run": [run.id for run in found],
        }
    )


def points(run: Run) -> pd.DataFrame:
    """List every snapshot and tag of a plan in order: whether it was to be kept, and why."""
    kind = KINDS.get(run.change_kind, Action)
    rows = [(point, words.fate(kind, point, keep), words.listing(why)) for point, keep, why in run.plan["points"]]
    return pd.DataFrame(rows, columns=["point", "verdict", "reasons"])


def entries(events: Sequence[Mapping[str, Any]], zone: str) -> pd.DataFrame:
    """List the journal entries of a run, in order."""
    rows = [
        (
            str(each["number"]),
            units.moment(each["at_ms"], zone),
            words.AUDIT_EVENTS[each["what"]],
            each["detail"].get("who", ""),
            each["hash"],
        )
        for each in events
    ]
    return pd.DataFrame(rows, columns=["number", "at", "what", "who", "hash"])


def planned(run: Run, frees: Sequence[tuple[str, str, int]], deleted: Sequence[str]) -> pd.DataFrame:
    """List every file of a plan with its result: deleted, kept back (with the reason), or pending."""
    deleted_paths, kept = set(deleted), dict((run.receipt or {}).get("kept_back", ()))
    rows: list[tuple[str, str, int | None, str]] = [
        (path, kind, size, words.AUDIT_FATES[path in deleted_paths] if path not in kept else kept[path])
        for path, kind, size in frees
    ]
    known = {path for path, _, _ in frees}
    rows += [(path, words.AUDIT_REFERENCE, None, words.AUDIT_FATES[True]) for path in deleted if path not in known]
    return pd.DataFrame(rows, columns=["path", "kind", "bytes", "fate"]).astype({"bytes": "Int64"})
