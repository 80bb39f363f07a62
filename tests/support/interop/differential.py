"""Compares our plan with what a real engine deletes on the same history, and reads the table with the engine after our
apply.

Invariant: every difference must be explained. A file that only the engine deleted is needed by a remaining version,
which the engine broke; a file that only we delete is needed by nothing afterwards, so the engine left it behind.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from core.catalog import DEMO_MARKER
from core.errors import Corrupt, Invalid
from core.execution.apply import apply
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.plan.engine_deletion import would_delete
from core.model.actions import Change, DeleteTags, Expire
from core.table import open_table
from tests.engines.paimon_java import EngineError, PaimonJudge
from tests.support.interop.engine_deleted import act, copied, dangling, files_of, needs, points
from tests.support.interop.random_history import History

NOW_MS = 4_000_000_000_000
RULES = {"2.0.0": "newest", "1.4.2": "1.x", "0.9.0": "0.9"}


def changes(history: History, rules: str) -> Iterator[Change]:
    """Generate the requests for a history: expiries of three sizes and by age, each tag alone, and several tags
    together."""
    heads = open_table(str(history.table)).heads()
    main = heads.main
    rng = random.Random(len(main.snapshots))
    for keep in sorted({1, max(1, len(main.snapshots) // 2), max(1, len(main.snapshots) - 2)}):
        yield Expire(retain_max=keep, retain_min=keep, rules=rules)
    # The engine converts a time to an age and back, so its threshold drifts by the milliseconds in between.
    times = sorted(each.time_ms for each in main.snapshots)
    calm = [before + 10_000 for before, after in pairwise(times) if after - before > 60_000]
    if calm:
        yield Expire(retain_min=1, older_than_ms=rng.choice(calm), rules=rules)
    if main.changelogs:
        for keep in (1, len(main.snapshots) + len(main.changelogs) // 2):
            yield Expire(changelogs_only=True, changelog_retain_max=keep, changelog_retain_min=keep, rules=rules)
    if len(main.tags) > 1:
        yield DeleteTags(tuple(tag.name for tag in main.tags))
    for tag in main.tags:
        yield DeleteTags((tag.name,))


class Before:
    """What the engine reads at each version of a history, and the sets of files with which it read the same again."""

    def __init__(self, judge: PaimonJudge, history: History) -> None:
        self.rows = rows(judge, history.table)
        self.read: dict[str, list[frozenset[str]]] = {}

    def is_known(self, point: str, there: frozenset[str]) -> bool:
        """Return whether a version read the same with all files and with a subset of these; then it also reads the same
        with these."""
        return any(fewer <= there for fewer in self.read.get(point, ()))


def compare(judge: PaimonJudge, history: History, change: Change, before: Before, counts: Counter[str]) -> None:
    """Compare one request on copies of a history. Raises AssertionError with all details."""
    table = open_table(str(history.table))
    try:
        plan = table.preview(change, NOW_MS)
    except Invalid:
        counts["refused by us"] += 1
        return
    except Corrupt as error:
        # After a rollback as latest and a compaction, the engine itself reads fewer rows than it recorded. Its next
        # commits bring them back, so what such a point needs is not known.
        assert _reads_too_few(judge, history.table, str(error.path)), (history.table.name, change, error)
        counts["refused by us where the engine lost rows of a version"] += 1
        return
    ours = set(plan.frees["path"].to_pylist())
    native = would_delete(table.store, table.heads(), PaimonFormat.of(table.format).manifests, change, NOW_MS)
    with copied(history.table) as copy:
        outcome = act(judge, copy, change)
        theirs = {path for path in outcome.deleted if not _is_hint(path)}
        story = (history.table.name, change, outcome.errors)
        if outcome.errors:
            counts["refused by the engine"] += 1
            return
        more, fewer = theirs - ours, ours - theirs
        if more:
            broken = {path for paths in dangling(judge, copy).values() for path in paths}
            unreadable = {path for path in broken if " " in path}
            assert unreadable or more <= broken | _gap_leftovers(history, more), (story, "took and nothing needs", more)
            counts["versions that the engine broke"] += 1
        if fewer:
            # The engine's hints hide this version from it.
            goes = {verdict.point for verdict in plan.deleted_points}
            left = points(copy)
            needed = {path for name, at in left.items() if name not in goes for path in _needs(judge, copy, at)}
            assert not fewer & needed, (story, "we would take what the engine's points need", fewer & needed)
            counts[
                "snapshots that the engine did not see"
                if goes & left.keys()
                else "plans where the engine left files behind"
            ] += 1
        if not more and not fewer:
            counts["same"] += 1
        predicted = {path for path in native.paths if path in files_of(history.table)}
        if predicted == theirs:
            counts["deletions of the engine predicted"] += 1
        else:
            counts["deletions of the engine not predicted"] += 1
    _apply(judge, history, change, ours, before, counts)


def _reads_too_few(judge: PaimonJudge, table: Path, path: str) -> bool:
    """Return whether the files that the engine reads at this snapshot or tag have fewer rows than recorded."""
    name = next(each.point for each in open_table(str(table)).history().holders if each.path == path)
    data = judge.refs(table, own=True, **points(table)[name])["data"]
    return sum(_rows_in(table / each) for each in data) < json.loads((table / path).read_bytes())["totalRecordCount"]


def _rows_in(path: Path) -> int:
    match path.suffix:
        case ".parquet":
            return int(pq.read_metadata(path).num_rows)
        case ".orc":
            return int(orc.ORCFile(path).nrows)
        case _:
            with path.open("rb") as file:
                return sum(1 for _ in fastavro.reader(file))


def _apply(
    judge: PaimonJudge,
    history: History,
    change: Change,
    ours: set[str],
    known: Before,
    counts: Counter[str],
) -> None:
    """Check that our apply deletes exactly the plan, and that the engine still reads every remaining version and can
    commit."""
    with copied(history.table) as copy:
        (copy.parent.parent / DEMO_MARKER).write_text("{}")
        before = files_of(copy)
        table = open_table(str(copy))
        plan = table.preview(change, NOW_MS)
        receipt = apply(table, plan, settle_s=0)
        there = files_of(copy)
        gone = before - there
        assert gone == ours, (history.table.name, change, gone ^ ours)
        assert receipt.is_exact or not ours, receipt
        left = readable(copy)
        unknown = {point: at for point, at in left.items() if not known.is_known(point, there)}
        for point, found in rows(judge, copy, unknown).items():
            assert found == known.rows[point], (history.table.name, change, point, "rows changed")
            known.read.setdefault(point, []).append(there)
        counts["versions as before after our run"] += len(left)
        if not history.may_dangle:
            _commit_on(judge, copy, history, counts)


def _commit_on(judge: PaimonJudge, copy: Path, history: History, counts: Counter[str]) -> None:
    try:
        judge.compact(copy, full=True)
    except EngineError as error:
        if error.is_unsupported:
            return
        with copied(history.table) as untouched, pytest.raises(EngineError):
            judge.compact(untouched, full=True)
        counts["commits that the engine cannot make before our run either"] += 1
        return
    counts["commits of the engine afterwards"] += 1


def readable(table: Path) -> dict[str, dict[str, Any]]:
    """Return every snapshot and tag of every branch."""
    return {name: at for name, at in points(table).items() if "changelog_id" not in at}


def rows(judge: PaimonJudge, table: Path, at_points: Mapping[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """Read the rows of some versions, or of every readable one; the error class for a version that the engine cannot
    read (even before our change)."""
    found: dict[str, Any] = {}
    for name, at in (readable(table) if at_points is None else at_points).items():
        try:
            found[name] = judge.rows(table, own=True, **at)
        except EngineError as error:
            found[name] = f"error {error}".replace(str(table), "").split("(", 1)[0][:60]
    return found


def _needs(judge: PaimonJudge, table: Path, at: dict[str, Any]) -> frozenset[str]:
    try:
        return needs(judge, table, at)
    except EngineError:
        return frozenset()


def _gap_leftovers(history: History, more: set[str]) -> set[str]:
    """Return files that only a lost snapshot in a gap named; the engine also deletes those, and nothing is known to
    need them."""
    return more if history.may_dangle else set()


def _is_hint(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in ("EARLIEST", "LATEST")
