"""News since the last visit, on tables that were written, expired, tagged and rolled back in between."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.analysis.changes_since import Commits, Since, mark, since
from core.formats.iceberg.capabilities import ICEBERG
from core.model.references import MAIN, Heads, Line, Ref, Snapshot
from core.table import open_table
from tests.support.builders import COLUMNS, DAY_MS, START_MS, TableBuilder

NOW_MS = START_MS + 30 * DAY_MS


@pytest.fixture
def made(tmp_path: Path) -> TableBuilder:
    table = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(5):
        table.commit([table.file(100 + number, rows=10)], user="etl")
    table.tag("kept", 2)
    table.tag("short", 3, created=dt.datetime(2026, 1, 4), retained_s=86_400)
    table.tag("moving", 1)
    table.branch("dev", "kept")
    return table


def heads(table: TableBuilder) -> Heads:
    return open_table(str(table.root)).heads()


def seen(table: TableBuilder) -> Mapping[str, object]:
    """Return it as stored: as JSON."""
    found: Mapping[str, object] = json.loads(json.dumps(mark(heads(table), 5, 510, START_MS)))
    return found


def test_nothing_is_new_where_nothing_happened(made: TableBuilder) -> None:
    found = since(seen(made), heads(made), 5, 510, NOW_MS)
    assert found == Since(START_MS)
    assert found.is_quiet


def test_every_kind_of_news(made: TableBuilder) -> None:
    then = seen(made)
    made.schema([*COLUMNS, ("more", "STRING")], {"snapshot.num-retained.max": "9"})
    made.commit([made.file(500, rows=7)], user="etl")
    made.commit([made.file(501, rows=1)], user="etl")
    made.commit([made.file(900, rows=0)], made.live()[:2], kind="COMPACT", user="nightly")
    made.delete_tag("short")
    made.delete_tag("moving")
    made.tag("moving", 4)
    made.tag("new", 6)
    made.branch("other", "kept")
    made.expire([1])
    found = since(then, heads(made), 6, 2_000, NOW_MS)
    assert set(found.commits) == {Commits(MAIN, "APPEND", "etl", 2), Commits(MAIN, "COMPACT", "nightly", 1)}
    assert (found.unseen, found.expired, found.moved) == (0, 1, ())
    assert (found.rows, found.files, found.bytes) == (7 + 1 - 20, 1, 1_490)
    assert found.tags_made == ("tag:new", "branch:other/tag:kept")
    assert (found.tags_moved, found.tags_ended, found.tags_gone) == (("tag:moving",), ("tag:short",), ())
    assert (found.branches_made, found.branches_gone) == (("other",), ())
    assert "added column more STRING" in found.schema
    assert "set snapshot.num-retained.max to 9" in found.schema
    assert not found.is_quiet


def test_what_came_and_expired_is_a_number_and_sums_stay_exact(made: TableBuilder) -> None:
    then = seen(made)
    for number in range(6):
        made.commit([made.file(500 + number, rows=1)], user="etl")
    made.expire(range(1, 9))
    found = since(then, heads(made), 11, None, NOW_MS)
    assert found.commits == (Commits(MAIN, "APPEND", "etl", 3),)
    assert (found.unseen, found.expired, found.rows, found.files, found.bytes) == (3, 5, 6, 6, None)


def test_what_went_out_of_the_middle_is_counted_too(made: TableBuilder) -> None:
    then = seen(made)
    for number in range(6, 10):
        made.commit([made.file(900 + number, rows=1)], user="etl")
    for number in (7, 8):
        (made.root / f"snapshot/snapshot-{number}").unlink()
    found = since(then, heads(made), None, None, NOW_MS)
    assert (found.unseen, found.expired, found.commits) == (2, 0, (Commits(MAIN, "APPEND", "etl", 2),))


def test_an_unreadable_snapshot_has_not_expired(made: TableBuilder) -> None:
    then = seen(made)
    (made.root / "snapshot" / "snapshot-1").write_text("{")
    (made.root / "tag" / "tag-kept").write_text("{")
    found = since(then, heads(made), 5, 510, NOW_MS)
    assert (found.expired, found.unseen, found.tags_gone, found.commits) == (0, 0, (), ())


def test_a_rollback_is_told_whatever_was_written_after_it(made: TableBuilder) -> None:
    then = seen(made)
    for number in (4, 5):
        (made.root / "snapshot" / f"snapshot-{number}").unlink()
    made.hints(earliest=1, latest=3)
    found = since(then, heads(made), 3, 300, NOW_MS)
    assert (found.moved, found.expired, found.commits) == (((MAIN, 5, 3),), 2, ())
    made._last_id, made._last = 3, made.commits[3]
    for _ in range(3):
        made.commit([made.file(1, rows=1)], user="repair", time_ms=NOW_MS)
    found = since(then, heads(made), 6, 303, NOW_MS)
    assert found.moved == ((MAIN, 5, 6),), "the id is there again, and is another snapshot"
    assert found.commits == (Commits(MAIN, "APPEND", "repair", 3),)
    assert found.unseen is None


def test_a_fast_forward_that_gives_another_schema_the_same_id_is_told(made: TableBuilder) -> None:
    made.schema([*COLUMNS, ("price", "INT")])
    then = seen(made)
    assert since(then, heads(made), 5, 510, NOW_MS).is_quiet
    made.schema_id -= 1
    made.schema([*COLUMNS, ("discount", "BIGINT")])
    found = since(then, heads(made), 5, 510, NOW_MS)
    assert (found.schema, found.schema_ids) == ((), (1, 1))
    made.schema([*COLUMNS, ("discount", "BIGINT"), ("more", "INT")])
    found = since(then, heads(made), 5, 510, NOW_MS)
    assert (found.schema, found.schema_ids) == ((), (1, 2))
    older = {name: value for name, value in then.items() if name != "schema_hash"}
    assert since(older, heads(made), 5, 510, NOW_MS).schema == ("added column more INT",)


def test_an_empty_table_that_was_filled(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    then = json.loads(json.dumps(mark(heads(table), 0, 0, START_MS)))
    assert since(then, heads(table), 0, 0, NOW_MS).is_quiet
    table.commit([table.file(1, rows=3)], user="etl")
    found = since(then, heads(table), 1, 1, NOW_MS)
    assert (found.commits, found.rows, found.unseen) == ((Commits(MAIN, "APPEND", "etl", 1),), 3, 0)


def iceberg(main: int, *snapshots: tuple[int, int | None], dev: int | None = None) -> Heads:
    """Create an Iceberg table of (id, parent) with main at an id; snapshot n was committed at n seconds."""
    made = {
        number: Snapshot(number, 1_000 * number, "append", 0, "spark", 0, number, 1, None, {}, b"", parent)
        for number, parent in snapshots
    }
    line = Line(MAIN, tuple(made.values()), (), (), (), {}, head=made.get(main))
    refs = (Ref(MAIN, True, main), *((Ref("dev", True, dev),) if dev else ()))
    return Heads("/t", ICEBERG, (line,), {}, refs, ())


def test_main_of_an_iceberg_table_is_followed_by_its_ancestors() -> None:
    whole = ((1, None), (2, 1), (3, 2), (4, 2), (5, 4))
    then = mark(iceberg(3, *whole[:3], dev=2), None, None, 0)
    on = since(then, iceberg(3, *whole[:3], dev=2), None, None, NOW_MS)
    assert on.is_quiet
    turned = since(then, iceberg(5, *whole, dev=3), None, None, NOW_MS)
    assert turned.commits == (Commits(MAIN, "append", "spark", 2), Commits("dev", "append", "spark", 1))
    assert (turned.moved, turned.unseen, turned.expired) == (((MAIN, 3, 5),), 0, 0)
    later = since(then, iceberg(9, (8, 7), (9, 8)), None, None, NOW_MS)
    assert later.commits == (Commits(MAIN, "append", "spark", 2),)
    assert (later.unseen, later.expired, later.branches_gone) == (None, 3, ("dev",)), "some may have come and gone"
    assert dataclasses.replace(later, at_ms=1) != later


def test_a_staged_snapshot_newer_than_every_branch_has_not_expired() -> None:
    staged = iceberg(2, (1, None), (2, 1), (3, 2))
    then = mark(staged, None, None, 0)
    assert since(then, staged, None, None, NOW_MS).expired == 0
    assert since(then, iceberg(2, (2, 1), (3, 2)), None, None, NOW_MS).expired == 1
