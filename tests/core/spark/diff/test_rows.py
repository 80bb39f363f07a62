"""Row diffs compared with plain Python on the same tables; files that cancel out are not read."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from core.cli import main
from core.errors import Corrupt, Invalid
from core.model.row_diff import RowDiff
from core.spark.diff import compare
from core.spark.diff.rows import row_diff
from core.spark.sql import run as sql
from core.table import open_table, resolve
from tests.support.spark.stored import Row, Stored

pytestmark = pytest.mark.usefixtures("spark")

INNER = {"type": "ROW", "fields": [
    {"id": 20, "name": "p", "type": "INT"},
    {"id": 21, "name": "m", "type": {"type": "MAP", "key": "INT", "value": "STRING"}},
]}  # fmt: skip
COLUMNS: list[tuple[str, Any]] = [
    ("id", "INT"), ("text", "STRING"), ("ratio", "DOUBLE"), ("money", "DECIMAL(20, 4)"), ("raw", "BYTES"),
    ("day", "DATE"), ("at", "TIMESTAMP(6)"), ("tags", {"type": "ARRAY", "element": "STRING"}),
    ("map", {"type": "MAP", "key": "STRING", "value": "DOUBLE"}), ("inner", INNER),
]  # fmt: skip
EVOLVED: list[tuple[int, tuple[str, Any]]] = [  # id widened, text renamed, day dropped and added again, one column new
    (0, ("id", "BIGINT")), (2, ("ratio", "DOUBLE")), (1, ("title", "STRING")), (3, ("money", "DECIMAL(20, 4)")),
    (4, ("raw", "BYTES")), (30, ("day", "STRING")), (6, ("at", "TIMESTAMP(6)")), (7, COLUMNS[7]), (8, COLUMNS[8]),
    (9, ("inner", {"type": "ROW", "fields": [INNER["fields"][1], {"id": 22, "name": "q", "type": "INT"}]})),
    (31, ("more", "STRING")),
]  # fmt: skip


def diff(table: Stored, a: int | str, b: int | str, **how: Any) -> RowDiff:
    opened = table.opened()
    history = opened.history()
    points = (resolve(history.heads, str(point)) for point in (a, b))
    return row_diff(opened, history, *points, **{"limit": 10_000, "timeout_s": 300, **how})


def some_row(choose: random.Random, table: Stored, id: int) -> Row:
    def value(name: str) -> Any:
        if choose.random() < 0.25:
            return None
        match name:
            case "text" | "title" | "more":
                return choose.choice(["", "a", "größer"])
            case "ratio":
                return choose.choice([0.0, -0.0, math.nan, 1.5, -math.inf])
            case "money":
                return Decimal(choose.choice(["-0.5", "12345678901234.0001"]))
            case "raw":
                return choose.choice([b"", b"\x00\xff"])
            case "day":
                return choose.choice(["x", "y"]) if len(table.schemas) > 1 else dt.date(1500, 2, choose.randint(1, 3))
            case "at":
                return dt.datetime(1969, 12, 31, 23, 59, 59, choose.randint(1, 2))
            case "tags":
                return choose.choice([[], ["a", None], [None, "a"]])
            case "map":
                return choose.choice([[], [("a", math.nan), ("b", -0.0)], [("b", 0.0), ("a", math.nan)], [("a", None)]])
            case _:
                own = {
                    "p": choose.randint(1, 2),
                    "m": choose.choice([None, [(1, "x"), (2, None)], [(2, None), (1, "x")]]),
                }
                return own if len(table.schemas) == 1 else {"m": own["m"], "q": choose.choice([None, 7])}

    return {"id": id} | {each.name: value(each.name) for each in table.now.fields if each.name != "id"}


def plain(value: Any) -> Any:
    """A value that equals what the diff takes for equal."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else value + 0.0
        case bytes() | bytearray():
            return bytes(value)
        case dict():
            return tuple((key, plain(each)) for key, each in sorted(value.items()))
        case [(_, _), *_]:
            return frozenset((key, plain(each)) for key, each in value)
        case list():
            return tuple(map(plain, value))
        case _:
            return value


def seen(table: Stored, snapshot: int, other: int) -> list[dict[int, Any]]:
    """The rows of a point as the second point `other` shows them: by its fields, inner ones too."""
    own, shown = (list[Any](table.schemas[table.points[point][0]].fields) for point in (snapshot, other))
    inside = {each.id: [f["name"] for f in each.type["fields"]] for each in own if each.name == "inner"}
    found = []
    for row in table.rows(snapshot):
        values = {each.id: row.get(each.id) for each in shown}
        for each in shown:
            if each.name == "inner" and (value := values[each.id]) is not None:
                names = (f["name"] for f in each.type["fields"])
                values[each.id] = {name: value.get(name) if name in inside[each.id] else None for name in names}
        found.append({id: plain(value) for id, value in values.items()})
    return found


def named(change: Mapping[str, Any], table: Stored, snapshot: int) -> dict[int, Any]:
    ids = {each.name: each.id for each in table.schemas[table.points[snapshot][0]].fields}
    return {ids[name]: plain(value) for name, value in change.items() if name in ids}


def check(table: Stored, a: int, b: int) -> RowDiff:
    """The diff equals the comparison of everything with everything."""
    found = diff(table, a, b)
    before, after = seen(table, a, b), seen(table, b, b)
    if not table.primary_keys:
        counts = [Counter(tuple(row.values()) for row in rows) for rows in (before, after)]
        added, removed = counts[1] - counts[0], counts[0] - counts[1]
        assert (found.added, found.removed, found.changed) == (added.total(), removed.total(), 0)
        assert found.unchanged in ((counts[0] & counts[1]).total(), None)
        shown = [each.id for each in table.schemas[table.points[b][0]].fields]
        ours: dict[str, Counter[Any]] = {"added": Counter(), "removed": Counter()}
        for each in found.changes:
            side = named(each.after or each.before, table, b)
            ours[each.kind][tuple(side.get(id) for id in shown)] += each.times
        assert ours == {"added": added, "removed": removed}
        return found
    keys = [each.id for each in table.now.fields if each.name in table.primary_keys]
    old, new = ({tuple(row[key] for key in keys): row for row in rows} for rows in (before, after))
    expected: dict[Any, Any] = {}
    for key in old.keys() | new.keys():
        if key not in old or key not in new:
            expected[key] = "added" if key in new else "removed"
        elif changed := {id: (old[key][id], new[key][id]) for id in new[key] if old[key][id] != new[key][id]}:
            expected[key] = changed
    answered: dict[Any, Any] = {}
    for each in found.changes:
        key = tuple(each.key.values())
        if each.kind != "changed":
            answered[key] = each.kind
            continue
        names = {each.name: each.id for each in table.schemas[table.points[b][0]].fields}
        both = {names[name]: (plain(each.before[name]), plain(value)) for name, value in each.after.items()}
        answered[key] = both
        assert set(each.same) == set(names) - set(each.after) - set(each.key)
        own = new[tuple(each.key.values())]
        assert named(each.same, table, b) == {names[name]: own[names[name]] for name in each.same}
    assert answered == expected
    totals = Counter(value if isinstance(value, str) else "changed" for value in expected.values())
    assert (found.added, found.removed, found.changed) == (totals["added"], totals["removed"], totals["changed"])
    assert found.unchanged in (len(new) - totals["added"] - totals["changed"], None)
    return found


@pytest.mark.parametrize("seed", [0])
def test_rows_of_append_tables_beside_plain_python(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    table = Stored(tmp_path / "t", COLUMNS, seed=seed)
    for number in range(4):
        if number == 2:
            table.schema(EVOLVED)
        files = [table.file([some_row(choose, table, choose.randrange(4)) for _ in range(8)]) for _ in range(2)]
        gone = choose.sample(table.live, min(len(table.live), choose.choice((0, 1))))
        again = [table.file([some_row(choose, table, 1)])] if gone else []
        table.commit([*files, *again], gone, kind="OVERWRITE" if gone else "APPEND")
    for a, b in ((1, 2), (1, 4)):
        found = check(table, a, b)
        assert found.unchanged is not None
        assert found.files_read < found.files_live


@pytest.mark.parametrize("seed", [1])
def test_rows_of_primary_key_tables_beside_plain_python(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    table = Stored(tmp_path / "t", COLUMNS, primary_keys=["id"], options={"bucket": "3"}, seed=seed)
    for number in range(5):
        if number == 3:
            table.schema([(0, ("id", "INT")), *EVOLVED[1:]])
        files = []
        for bucket in choose.sample(range(3), choose.choice((1, 2))):
            ids = choose.sample(range(bucket, 30, 3), 5)
            rows = [some_row(choose, table, id) for id in ids]
            files.append(table.file(rows, kinds=[choose.choice((0, 0, 2, 3)) for _ in rows], bucket=bucket))
        table.commit(files)
    for a, b in ((1, 5), (5, 2)):
        check(table, a, b)
    assert diff(table, 5, 5).files_read == 0


def test_a_column_that_was_added_counts_where_it_has_a_value_and_a_dropped_one_not(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("gone", "STRING")], primary_keys=["id"], options={"bucket": "1"})
    table.commit([table.file([{"id": 1, "gone": "x"}, {"id": 2, "gone": "y"}])])
    table.schema([(0, ("id", "INT")), (2, ("new", "STRING"))])
    table.commit([table.file([{"id": 2, "new": "z"}])])
    found = diff(table, 1, 2)
    assert (found.added, found.removed, found.changed, found.unchanged) == (0, 0, 1, 1)
    (change,) = found.changes
    assert (change.key, change.before, change.after) == ({"id": 2}, {"new": None}, {"new": "z"})
    assert "Not compared, because only the first version has them: gone" in found.note
    back = diff(table, 2, 1)
    assert {each.key["id"]: (each.before, each.after) for each in back.changes} == {
        1: ({"gone": None}, {"gone": "x"}),
        2: ({"gone": None}, {"gone": "y"}),
    }


def test_rows_are_capped_in_the_order_of_their_keys_and_totals_are_not(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "INT")], primary_keys=["id"], options={"bucket": "1"})
    table.commit([table.file([{"id": id, "v": 0} for id in range(100)])])
    table.commit([table.file([{"id": id, "v": id % 2} for id in range(50, 150)])])
    found = diff(table, 1, 2, limit=5)
    assert (found.added, found.removed, found.changed, found.unchanged) == (50, 0, 25, 75)
    assert found.truncated
    assert [each.key["id"] for each in found.changes] == [51, 53, 55, 57, 59]
    assert "The first 5 rows are shown; the totals count all." in found.note
    rows = [{"id": 1, "v": 1}] * 3
    pairs = Stored(tmp_path / "u", [("id", "INT"), ("v", "INT")])
    pairs.commit([pairs.file(rows)])
    pairs.commit([pairs.file(rows[:1])], pairs.live, kind="OVERWRITE")
    found = diff(pairs, 1, 2)
    assert (found.removed, found.unchanged, [each.times for each in found.changes]) == (2, 1, [2])


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "INT")], primary_keys=["id"], options={"bucket": "2"})
    table.commit()
    table.commit([table.file([{"id": 1}], bucket=0), table.file([{"id": 1}], bucket=1)])
    with pytest.raises(
        Corrupt, match="1 primary key occurs more than once in the table, so rows cannot be compared by it"
    ):
        diff(table, 1, 2)


def test_a_diff_can_be_cancelled_and_leaves_nothing_kept(tmp_path: Path, spark: SparkSession) -> None:
    table = Stored(tmp_path / "t", [("id", "INT")])
    table.commit([table.file([{"id": 1}])])
    table.commit([table.file([{"id": 2}])])
    cancelled, context = threading.Event(), cast(Any, spark.sparkContext)._jsc.sc()

    def kept() -> set[str]:
        return set(context.getPersistentRDDs().keySet().mkString(" ").split())

    before = kept()  # by tests of other modules

    def stop(*_: int) -> None:
        cancelled.set()
        sql.cancel("mine")

    with pytest.MonkeyPatch.context() as patch:
        made = compare.compare
        patch.setattr("core.spark.diff.rows.compare", lambda *given: (stop(), made(*given))[1])
        with pytest.raises(Invalid, match="cancelled"):
            diff(table, 1, 2, query_id="mine")
    assert cancelled.is_set()
    assert diff(table, 1, 2).added == 1
    ends = time.monotonic() + 100
    while not kept() <= before:  # the stopped one's thread may yet have to forget it
        assert time.monotonic() < ends
        time.sleep(0.05)


# real tables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dv_pk"])
def test_what_was_not_read_would_have_changed_nothing(shared_tables: Path, name: str) -> None:
    table = open_table(str(shared_tables / "paimon" / "default.db" / name))
    history = table.history()
    a, b = (resolve(history.heads, point) for point in ("latest~1", "latest"))
    with pytest.MonkeyPatch.context() as patch:
        fewer = row_diff(table, history, a, b, limit=10_000)
        patch.setattr(compare, "alike", lambda *_: set())
        whole = row_diff(table, history, a, b, limit=10_000)
    assert fewer.changes == whole.changes
    assert fewer.unchanged in (whole.unchanged, None)
    assert fewer.files_read <= whole.files_read


# the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_shows_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "DOUBLE")], primary_keys=["id"], options={"bucket": "1"})
    table.commit([table.file([{"id": 1, "v": 1.0}, {"id": 2, "v": 2.0}])])
    table.commit([table.file([{"id": 1, "v": math.nan}, {"id": 2}, {"id": 3, "v": 0.5}], kinds=[0, 3, 0])])
    assert main(["diff", str(tmp_path / "t"), "1", "2", "--rows"]) == 0
    shown = capsys.readouterr().out
    assert "1 added, 1 removed, 1 changed, 0 unchanged" in shown
    assert "v: 1.0 → nan" in shown
    assert "read 2 of 2 files" in shown
    assert main(["diff", str(tmp_path / "t"), "1", "2", "--rows", "--limit", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows["totals"] == {"added": 1, "removed": 1, "changed": 1, "unchanged": 0}
    assert rows["truncated"] is True
    assert rows["changes"] == [
        {"kind": "changed", "key": {"id": 1}, "times": 1, "before": {"v": 1.0}, "after": {"v": "NaN"}},
        {"kind": "removed", "key": {"id": 2}, "times": 1, "before": {"v": 2.0}, "after": {}},
    ]
