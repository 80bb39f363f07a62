"""Notices about a table: one sentence each, most severe first.

Invariant: a notice is based on what was read. Nothing is guessed, and no rounding changes a number's meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.model.codes import Fault
from core.model.history import History
from core.model.references import MAIN, Heads, Line
from dashboard import words
from dashboard.charts.time_axis import MAX_POINTS

TWINS = 3  # snapshots whose tags are named one by one
PROBLEM, WARNING, INFO = "problem", "warning", "info"


@dataclass(frozen=True, slots=True)
class Notice:
    """One line. `level` is problem (something cannot be read), warning (an engine may trip) or info. `point` is where
    to look."""

    level: str
    text: str
    point: str | None = None


def notices(heads: Heads, history: History | None = None) -> tuple[Notice, ...]:
    """List all notices of a table; those that depend on manifests need the history."""
    found = [each for line in heads.lines for each in _of_line(line, heads.retained(line))]
    if history is not None:
        listed = {each.problem for line in heads.lines for each in line.unreadable}
        found += [Notice(PROBLEM, problem.sentence()) for problem in history.problems if problem not in listed]
        if history.incomplete:
            found.append(Notice(PROBLEM, words.lower_bound(len(history.problems))))
        branch_warnings = {warning for line in heads.lines for warning in line.warnings}
        found += [Notice(WARNING, warning.sentence()) for warning in history.warnings if warning not in branch_warnings]
    if not any(line.snapshots or line.tags or line.unreadable for line in heads.lines):
        found.append(Notice(INFO, words.no_snapshots(heads.name)))
    order = (PROBLEM, WARNING, INFO)
    return tuple(sorted(found, key=lambda notice: order.index(notice.level)))


def _of_line(line: Line, retained: frozenset[int]) -> Iterator[Notice]:
    on = "" if line.branch == MAIN else words.on_branch(line.branch)
    for each in line.unreadable:
        yield Notice(PROBLEM, each.problem.sentence())
    for warning in line.warnings:
        if warning.code == Fault.GAP:
            yield Notice(WARNING, words.gap(*warning.ids) + on)
        else:
            yield Notice(WARNING, warning.sentence())
    if line.branch == MAIN and len(line.snapshots) == 1 and not line.tags:
        yield Notice(INFO, words.one_snapshot(str(line.snapshots[0].id)))
    if len(line.snapshots) > MAX_POINTS:
        yield Notice(INFO, words.many_snapshots(len(line.snapshots)) + on)
    held: dict[int, list[str]] = {}
    for tag in line.tags:
        held.setdefault(tag.snapshot.id, []).append(tag.name)
    twins = {number: sorted(names) for number, names in sorted(held.items()) if len(names) > 1}
    if len(twins) > TWINS:
        yield Notice(INFO, words.many_twin_tags(len(twins), sum(map(len, twins.values()))) + on)
    else:
        for number, names in twins.items():
            yield Notice(INFO, words.twin_tags(names, number) + on)
    if expired := sorted(number for number in held if number not in retained):
        yield Notice(INFO, words.held_by_tags([name for number in expired for name in held[number]], expired) + on)
