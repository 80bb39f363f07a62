"""What is usual, judged by the rule written out naively; and each reason for attention, with its opposite."""

from __future__ import annotations

import random
import statistics
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.analysis import usual_commits as rule
from core.analysis.commit_changes import CommitChanges
from core.analysis.usual_commits import Alike, Sign
from core.table import open_table
from tests.support.builders import DAY_MS, TableBuilder

HOUR_MS = 3_600_000
START_MS = 1_767_225_600_000  # Thursday, 2026-01-01


def table_of(tmp_path: Path) -> TableBuilder:
    return TableBuilder(tmp_path / "shop.db" / "t", partition_keys=["dt"], start_ms=START_MS)


def changes(table: TableBuilder) -> CommitChanges:
    return CommitChanges(open_table(str(table.root)).history())


def load(table: TableBuilder, rows: int, time_ms: int, partition: str = "a", kind: str = "APPEND") -> None:
    table.commit([table.file(rows * 10, rows=rows, partition=(partition,))], time_ms=time_ms, kind=kind)


def found(table: TableBuilder, now_ms: int | None = None) -> list[Sign]:
    own = changes(table)
    newest = own.snapshots[-1].time_ms
    return [each.sign for each in rule.attention(own, newest - 1, newest if now_ms is None else now_ms)]


@pytest.mark.parametrize("seed", range(12))
def test_the_rule_written_out(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    table = table_of(tmp_path)
    for day in range(60):
        time_ms = START_MS + day * DAY_MS + chance.choice([0, 0, 10, 40, 70, 400]) * 60_000
        rows = chance.choice([100, 110, 90, 100, 400, 10])
        if chance.random() < 0.2:
            table.commit([table.file(10, rows=rows, partition=("b",))], time_ms=time_ms, kind="COMPACT")
        else:
            load(table, rows, time_ms)
    own = changes(table)
    seen = set()
    for number, snapshot in enumerate(own.snapshots):
        earlier = [each for each in range(number) if own.snapshots[each].kind == snapshot.kind]
        now = datetime.fromtimestamp(snapshot.time_ms / 1000, UTC)
        close = []
        for each in earlier:
            then = datetime.fromtimestamp(own.snapshots[each].time_ms / 1000, UTC)
            apart = (now.hour * 3600 + now.minute * 60 - then.hour * 3600 - then.minute * 60) % 86_400
            if min(apart, 86_400 - apart) <= 3600:
                close.append(each)
        same_day = [
            each
            for each in close
            if (snapshot.time_ms - own.snapshots[each].time_ms + HOUR_MS) % (7 * DAY_MS) <= 2 * HOUR_MS
        ]
        expected = rule.Usual(None, len(earlier), rows=own.sums[number].added_rows)
        for alike, fitting in ((Alike.WEEKDAY, same_day), (Alike.TIME, close), (Alike.ANY, earlier)):
            if len(fitting) >= 5:
                sizes = [own.sums[each].added_rows for each in fitting[-30:]]
                median = statistics.median(sizes)
                spread = statistics.median([abs(size - median) for size in sizes])
                expected = rule.Usual(alike, len(sizes), median, spread, own.sums[number].added_rows)
                break
        assert rule.usual(own, number) == expected
        seen.add(expected.alike)
    assert {None, Alike.TIME, Alike.ANY} <= seen


def test_too_little_history_says_so(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    for day in range(5):
        load(table, 100, START_MS + day * DAY_MS)
    load(table, 1000, START_MS + 5 * DAY_MS)
    own = changes(table)
    few, enough = rule.usual(own, 4), rule.usual(own, 5)
    assert few is not None
    assert (few.alike, few.number, few.is_larger, few.is_smaller) == (None, 4, False, False)
    assert enough is not None
    assert enough.is_larger


@pytest.mark.parametrize(("rows", "signs"), [(100, []), (200, []), (201, [Sign.LARGER]), (10, [])])
def test_a_load_of_more_than_twice_the_usual_size(tmp_path: Path, rows: int, signs: list[Sign]) -> None:
    table = table_of(tmp_path)
    for day in range(8):
        load(table, 100, START_MS + day * DAY_MS)
    load(table, rows, START_MS + 8 * DAY_MS)
    assert found(table) == signs
    own = rule.usual(changes(table), 8)
    assert own is not None
    assert own.is_smaller == (rows == 10)


def test_loads_that_differ_much_are_usual(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    for day in range(12):
        load(table, [10, 400, 100][day % 3], START_MS + day * DAY_MS)
    load(table, 370, START_MS + 12 * DAY_MS)  # more than thrice the median, and within the spread of the others
    assert found(table) == []


def test_a_partition_that_vanished(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    load(table, 5, START_MS, "lost")
    load(table, 1000, START_MS + 1, "stays")
    gone = [each for each in table.live() if each.partition == ("lost",)]
    table.commit([], gone, kind="OVERWRITE", time_ms=START_MS + 2)
    assert found(table) == [Sign.VANISHED]


def test_partitions_that_go_every_day_are_usual(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    for day in range(12):
        load(table, 1000, START_MS + day * DAY_MS, f"d{day}")
    for day in range(8):
        gone = [each for each in table.live() if each.partition == (f"d{day}",)]
        table.commit([], gone, kind="OVERWRITE", time_ms=START_MS + (12 + day) * DAY_MS)
        own = changes(table)
        signs = {each.sign for each in rule.signs(own, len(own.snapshots) - 1)}
        assert (Sign.VANISHED in signs) == (day < 5)


@pytest.mark.parametrize(("kept", "signs"), [(900, []), (899, [Sign.DELETED])])
def test_a_delete_of_more_than_a_tenth(tmp_path: Path, kept: int, signs: list[Sign]) -> None:
    table = table_of(tmp_path)
    load(table, 1000, START_MS)
    table.commit([table.file(10, rows=kept, partition=("a",))], table.live(), kind="OVERWRITE")
    assert found(table) == signs


def test_a_compaction_is_no_delete(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    load(table, 1000, START_MS)
    table.commit([table.file(10, rows=100, partition=("b",))], table.live(), kind="COMPACT")
    assert found(table) == []


def test_columns_that_changed(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    load(table, 1000, START_MS)
    table.schema([("id", "INT"), ("dt", "STRING"), ("more", "INT")])
    load(table, 1, START_MS + 1)
    assert found(table) == [Sign.SCHEMA]


@pytest.mark.parametrize(("days", "signs"), [(4.4, []), (4.6, [Sign.STOPPED])])
def test_loads_that_stopped(tmp_path: Path, days: float, signs: list[Sign]) -> None:
    """Weekdays only: the pause of a weekend is three days long."""
    table, time_ms = table_of(tmp_path), START_MS
    for day in range(14):
        if datetime.fromtimestamp((START_MS + day * DAY_MS) / 1000, UTC).weekday() < 5:
            time_ms = START_MS + day * DAY_MS
            load(table, 100, time_ms)
    assert found(table, time_ms + int(days * DAY_MS)) == signs
