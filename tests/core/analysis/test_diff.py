"""Diff: files, rows and bytes between two versions compared with plain sets, and how much of it is only compaction."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.diff import Diff, diff, option_changes, schema_changes
from core.errors import Corrupt
from core.formats.iceberg import metadata as documents
from core.formats.iceberg import references as iceberg_heads
from core.formats.iceberg.history import outline as iceberg_outline
from core.model.history import History
from core.model.intervals import from_pairs
from core.model.references import Field, Schema
from core.table import open_table, resolve
from tests.support import set_model
from tests.support.builders import DataFile, TableBuilder
from tests.support.depth import tries
from tests.support.formats.paimon.random_tables import Maker
from tests.support.formats.paimon.tables import REAL
from tests.support.iceberg_documents import document, snapshot
from tests.support.places import TABLES
from tests.support.set_model import Model

SIDES = ("added", "removed")
SUMS = ("files", "bytes", "rows")


def compare(history: History, a: str, b: str) -> Diff:
    return diff(history, resolve(history.heads, a), resolve(history.heads, b))


def points(history: History) -> list[str]:
    return [holder.point for holder in history.holders if holder.exists and holder.kind != "changelog"]


def check(history: History, model: Model, a: str, b: str) -> Diff:
    found, back = compare(history, a, b), compare(history, b, a)
    rows = {point: {row[0]: row for row in model.holders[point].live} for point in (a, b)}
    for side, here, there in (("added", b, a), ("removed", a, b)):
        table = getattr(found, side).to_pylist()
        assert Counter((row["path"], row["bytes"], row["rows"]) for row in table) == Counter(
            row[:3] for row in model.holders[here].live if row[0] not in rows[there]
        ), (side, a, b)
        assert [row["path"] for row in table] == sorted(row["path"] for row in table)
        other = getattr(back, SIDES[1 - SIDES.index(side)]).to_pylist()
        assert [(row["path"], row["change"]) for row in table] == [(row["path"], row["change"]) for row in other], (
            a,
            b,
        )
        assert {row["change"] for row in table} <= {"data", "compaction"}
        compacted = [row for row in table if row["change"] == "compaction"]
        for prefix, chosen in (("", table), ("compaction_", compacted)):
            assert found.summary[f"{prefix}{side}_files"] == len(chosen)
            assert found.summary[f"{prefix}{side}_bytes"] == sum(row["bytes"] for row in chosen)
            assert found.summary[f"{prefix}{side}_rows"] == sum(row["rows"] for row in chosen)
    for name in SUMS:
        assert found.summary[f"net_{name}"] == found.summary[f"added_{name}"] - found.summary[f"removed_{name}"]
        assert found.summary[f"net_{name}"] == -back.summary[f"net_{name}"]
    check_partitions(found)
    return found


def check_partitions(found: Diff) -> None:
    cells = found.partitions.to_pylist()
    keys = [(cell["partition"], cell["bucket"]) for cell in cells]
    assert keys == sorted(set(keys))
    for side in SIDES:
        table = getattr(found, side).to_pylist()
        for cell in cells:
            own = [row for row in table if (row["partition"], row["bucket"]) == (cell["partition"], cell["bucket"])]
            assert cell[f"{side}_files"] == len(own)
            assert cell[f"{side}_bytes"] == sum(row["bytes"] for row in own)
            assert cell[f"{side}_rows"] == sum(row["rows"] for row in own)
        for name in SUMS:
            assert sum(cell[f"{side}_{name}"] for cell in cells) == found.summary[f"{side}_{name}"]
    assert {(row["partition"], row["bucket"]) for side in SIDES for row in getattr(found, side).to_pylist()} == set(
        keys
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_pair_of_points_of_a_real_table(name: str) -> None:
    root = TABLES / "paimon" / "default.db" / name
    history, model = open_table(str(root)).history(), set_model.read(root)
    every = points(history)
    pairs = [pair for pair in itertools.product(every, every) if pair[0] <= pair[1]]
    for a, b in pairs[:: max(len(pairs) // 60, 1)]:
        check(history, model, a, b)


# commit by commit ----------------------------------------------------------------------------------------------------


def labels(history: History, model: Model, a: int, b: int) -> dict[str, dict[str, str]]:
    """Replay the commits in between and return path → label, if all of them are retained."""
    kinds = {each.id: each.kind for each in history.heads.main.snapshots}

    def live(number: int) -> frozenset[str]:
        return model.live_paths([str(number)])

    added, removed = dict[str, str](), dict[str, Any]()
    for number in range(a + 1, b + 1):
        label = "compaction" if kinds[number] == "COMPACT" else "data"
        added |= dict.fromkeys(live(number) - live(number - 1), label)  # the last addition counts
        for path in live(number - 1) - live(number):
            removed.setdefault(path, label)  # the first removal counts
    return {
        "added": {path: label for path, label in added.items() if path in live(b) - live(a)},
        "removed": {path: label for path, label in removed.items() if path in live(a) - live(b)},
    }


def told(found: Diff) -> dict[str, dict[str, str]]:
    return {side: {row["path"]: row["change"] for row in getattr(found, side).to_pylist()} for side in SIDES}


def check_labels(history: History, model: Model) -> int:
    ids = [each.id for each in history.heads.main.snapshots]
    seen = 0
    for a, b in itertools.combinations(ids, 2):
        if set(range(a, b + 1)) <= set(ids):
            assert told(compare(history, str(a), str(b))) == labels(history, model, a, b), (a, b)
            seen += 1
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in REAL if name != "fast_forward_loss"])
def test_compaction_on_real_tables_is_what_compact_commits_did(name: str) -> None:
    """Not if a fast-forward put other commits under a branch's ids: there, one commit undoes another one's work."""
    root = TABLES / "paimon" / "default.db" / name
    history, model = open_table(str(root)).history(), set_model.read(root)
    assert check_labels(history, model) > 0


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="snapscope-diff-"))
    yield made
    shutil.rmtree(made)


WORDS = [
    "append",
    "append",
    "delete",
    "overwrite",
    "compact",
    "compact",
    "upgrade",
    "upgrade",
    "tag",
    "branch",
    "expire",
]


@pytest.mark.slow
@tries(20)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=16))
def test_any_table(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "t"
        made = Maker(root, {})
        made.main.commit([made.file(made.main, 1, 1)])
        made.run(steps)
        history, model = open_table(str(root)).history(), set_model.read(root)
        every = points(history)
        for a, b in itertools.islice(itertools.product(every, every), 0, None, max(len(every) ** 2 // 12, 1)):
            check(history, model, a, b)
        check_labels(history, model)


def at_level(file: DataFile, level: int) -> DataFile:
    return DataFile(**{**{name: getattr(file, name) for name in DataFile.__dataclass_fields__}, "level": level})


def opened(table: TableBuilder) -> History:
    return open_table(str(table.root)).history()


def test_an_upgrade_is_no_change(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    low = table.file()
    table.commit([low])
    table.commit([at_level(low, 5)], [low], kind="COMPACT")
    found = compare(opened(table), "1", "2")
    assert (found.added.num_rows, found.removed.num_rows, found.partitions.num_rows) == (0, 0, 0)
    assert set(found.summary.values()) == {0}


def test_data_that_was_upgraded_on_the_way_is_data(tmp_path: Path) -> None:
    """2 adds the file, 3 only moves it to another level: its rows are new since 1."""
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    low = table.file(rows=7)
    table.commit([low])
    table.commit([at_level(low, 5)], [low], kind="COMPACT")
    assert told(compare(opened(table), "1", "3"))["added"] == {f"bucket-0/{low.name}": "data"}


def test_data_that_was_upgraded_before_it_went_is_data(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    low = table.file(rows=7)
    table.commit([low])
    table.commit([at_level(low, 5)], [low], kind="COMPACT")
    table.commit([], [at_level(low, 5)], kind="OVERWRITE")
    assert told(compare(opened(table), "1", "3"))["removed"] == {f"bucket-0/{low.name}": "data"}


def test_compaction_is_told_beside_a_branch_that_keeps_the_files(tmp_path: Path) -> None:
    """Another branch still reads the small files, but on main they were merged into the large one."""
    table = TableBuilder(tmp_path / "t")
    small = [table.file(), table.file()]
    table.commit(small)
    table.tag("v")
    dev = table.branch("dev", "v")
    dev.commit([dev.file()])
    big = table.file(source=1)
    table.commit([big], small, kind="COMPACT")
    expected = {
        "added": {f"bucket-0/{big.name}": "compaction"},
        "removed": {f"bucket-0/{each.name}": "compaction" for each in small},
    }
    assert told(compare(opened(table), "1", "2")) == expected
    assert told(compare(opened(table), "tag:v", "2")) == expected


def test_a_branch_is_told_by_its_own_commits(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    small = [table.file(), table.file()]
    table.commit(small)
    table.tag("v")
    table.commit([], small, kind="OVERWRITE")
    dev = table.branch("dev", "v")
    big = dev.file(source=1)
    dev.commit([big], small, kind="COMPACT")
    found = told(compare(opened(table), "branch:dev/1", "branch:dev/2"))
    assert set(found["added"].values()) | set(found["removed"].values()) == {"compaction"}
    assert set(told(compare(opened(table), "1", "2"))["removed"].values()) == {"data"}


def test_across_branches_what_happened_since_they_parted_tells(tmp_path: Path) -> None:
    """Main compacts before dev begins and after; dev appends."""
    table = TableBuilder(tmp_path / "t")
    first, second = [table.file(), table.file()], [table.file()]
    table.commit(first)
    one = table.file()
    table.commit([one], first, kind="COMPACT")
    table.commit(second)
    table.tag("v")
    dev = table.branch("dev", "v")
    two = table.file()
    table.commit([two], [one, *second], kind="COMPACT")
    three = dev.file()
    dev.commit([three])
    history = opened(table)

    def changes(a: str, b: str) -> tuple[Counter[str], Counter[str]]:
        found, back = (told(compare(history, *pair)) for pair in ((a, b), (b, a)))
        assert (found["added"], found["removed"]) == (back["removed"], back["added"])
        return Counter(found["added"].values()), Counter(found["removed"].values())

    assert changes("branch:dev/3", "4") == ({"compaction": 1}, {"compaction": 2}) == changes("3", "4")
    assert changes("branch:dev/tag:v", "4") == changes("tag:v", "4")
    assert changes("branch:dev/4", "4") == ({"compaction": 1}, {"compaction": 2, "data": 1})
    assert changes("1", "branch:dev/4") == ({"compaction": 1, "data": 2}, {"compaction": 2})
    dev.expire([3])
    dev.delete_tag("v")
    history = opened(table)
    assert changes("branch:dev/4", "4")[0] == {"compaction": 1}


def test_across_an_expired_stretch_only_files_themselves_tell(tmp_path: Path) -> None:
    """The earliest retained commit is a compaction, which added nothing of what was appended before it."""
    table = TableBuilder(tmp_path / "t")
    first = table.file()
    table.commit([first])
    table.tag("v")
    appended, compacted, unknown = table.file(), table.file(source=1), table.file(source=None)
    table.commit([appended, unknown], [first], kind="OVERWRITE")
    table.commit([compacted], kind="COMPACT")
    table.commit([], kind="COMPACT")
    table.expire([1, 2, 3])
    found = told(compare(opened(table), "tag:v", "4"))
    assert found["added"] == {
        f"bucket-0/{appended.name}": "data",
        f"bucket-0/{compacted.name}": "compaction",
        f"bucket-0/{unknown.name}": "data",
    }
    assert found["removed"] == {f"bucket-0/{first.name}": "data"}


def test_two_contents_of_one_id(tmp_path: Path) -> None:
    """After a rollback, snapshot 2 is not the one that tag 2 names: both directions show the same changes."""
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    line = table.branch("x")
    table.commit([table.file()])
    table.tag("before")
    del table.commits[2]
    table._last, table._last_id = table.commits[1], 1
    table.commit([table.file(source=1)], kind="COMPACT")
    del line
    history, model = opened(table), set_model.read(table.root)
    check(history, model, "2", "tag:before")
    assert compare(history, "2", "tag:before").added.num_rows == 1


def test_commits_between(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    for number in (1, 2, 5, 6):
        table.commit([], id=number)
    table.tag("v", 5)
    history = opened(table)
    assert [each.id for each in compare(history, "1", "6").commits] == [2, 5, 6]
    assert [each.id for each in compare(history, "6", "1").commits] == [2, 5, 6]
    assert [each.id for each in compare(history, "2", "tag:v").commits] == [5]
    assert compare(history, "2", "2").commits == ()
    table.branch("dev", "v")
    assert compare(opened(table), "1", "branch:dev/5").commits == ()


def test_which_of_two_branches_versions_is_older_is_told_by_their_times(tmp_path: Path) -> None:
    """Ids of one branch say nothing about those of another."""
    table = TableBuilder(tmp_path / "t")
    table.commit([])
    table.tag("v")
    dev = table.branch("dev", "v")
    for _ in range(3):
        table.commit([])
    dev.next_ms = table.next_ms
    dev.commit([])
    table.commit([], time_ms=0)  # a clock that is slow
    history = opened(table)
    newer = [("4", "branch:dev/2"), ("1", "4"), ("4", "5")]
    for a, b in newer:
        assert not compare(history, a, b).is_backwards
        assert compare(history, b, a).is_backwards


def test_a_point_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    for _ in range(3):
        table.commit([table.file()])
    manifest = table.commits[2].manifests[-1]["_FILE_NAME"]
    (table.root / "manifest" / manifest).unlink()
    history = opened(table)
    for a, b in (("1", "2"), ("2", "1"), ("1", "3")):
        with pytest.raises(Corrupt, match=manifest):
            compare(history, a, b)


# schemas and options -------------------------------------------------------------------------------------------------


def schema(*columns: tuple[int, str, Any], **options: str) -> Schema:
    fields = tuple(Field(number, name, of) for number, name, of in columns)
    return Schema(0, fields, (), (), options, 0)


A, B = (0, "a", "INT"), (1, "b", "STRING")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([A, B], [A, B], []),
        ([A], [A, B], ["added column b STRING"]),
        ([A, B], [A], ["dropped column b STRING"]),
        ([A, B], [A, (1, "c", "STRING")], ["renamed column b to c"]),
        ([A], [(0, "a", "BIGINT")], ["changed type of a from INT to BIGINT"]),
        ([A, B], [B, A], ["reordered columns"]),
        ([A, B], [A, (2, "b", "STRING")], ["added column b STRING", "dropped column b STRING"]),
        ([A], [(0, "z", "BIGINT")], ["renamed column a to z", "changed type of z from INT to BIGINT"]),
        ([A, B], [(2, "n", "INT"), B, A], ["added column n INT", "reordered columns"]),
        (
            [(0, "m", {"type": "MAP"})],
            [(0, "m", {"type": "MAP", "key": "INT"})],
            ["changed type of m from MAP to MAP<INT>"],
        ),
        (
            [(0, "r", {"type": "ROW NOT NULL", "fields": [{"name": "x", "type": "INT"}]})],
            [(0, "r", {"type": "ROW", "fields": [{"name": "x", "type": {"type": "ARRAY", "element": "STRING"}}]})],
            ["changed type of r from ROW<x INT> NOT NULL to ROW<x ARRAY<STRING>>"],
        ),
    ],
)
def test_schema_changes_go_by_column_id(before: list[Any], after: list[Any], expected: list[str]) -> None:
    assert list(schema_changes(schema(*before), schema(*after))) == expected


def test_option_changes() -> None:
    before, after = schema(A, b="1", c="2", same="x"), schema(A, a="1", c="3", same="x")
    assert option_changes(before, after) == ("set a to 1", "removed b (was 1)", "changed c from 2 to 3")
    assert option_changes(before, before) == ()


def test_changes_of_many_columns_come_in_one_order() -> None:
    """The order of a set differs between runs of a program."""
    many = [(number, f"c{number}", "INT") for number in range(300)]
    renamed = [(number, f"d{number}", "INT") for number in range(300)]
    assert [text.split()[2] for text in schema_changes(schema(*many), schema(*renamed))] == [each[1] for each in many]


def test_lines_of_iceberg_are_told_by_what_happened_since_they_parted() -> None:
    """1 appends, 2 rewrites it to c, 3 appends f; 4, made from 2 and on no ref, deletes c; 5 rewrites c and f to d. 6,
    from 2 as well and on no ref, rewrites c to g, and 7 after it appends h."""

    def commit(number: int, parent: int | None, kind: str) -> dict[str, Any]:
        return {**snapshot(number, parent, number, "file:/t"), "summary": {"operation": kind}}

    told = [(1, None, "append"), (2, 1, "replace"), (3, 2, "append"), (4, 2, "delete"), (5, 3, "replace"),
            (6, 2, "replace"), (7, 6, "append")]  # fmt: skip
    log = [{"timestamp-ms": each, "snapshot-id": each} for each in (1, 2, 3, 5)]
    main = {"main": {"snapshot-id": 5, "type": "branch"}}
    text = document(snapshots=[commit(*each) for each in told], refs=main)
    text |= {"current-snapshot-id": 5, "snapshot-log": log, "last-sequence-number": 5}
    heads = iceberg_heads.heads(documents.parse(json.dumps(text).encode(), "metadata/v1.metadata.json"), "/t")
    holders = iceberg_outline.axis(heads)
    live = {"a": {1}, "b": {1}, "c": {2, 3}, "d": {5}, "f": {3}, "g": {6, 7}, "h": {7}}
    place = {int(holder.name): number for number, holder in enumerate(holders)}
    pairs = [(owner, place[id]) for owner, ids in enumerate(live.values()) for id in ids]
    owners, positions = np.array(pairs, dtype=np.int64).T
    runs = from_pairs(owners, positions, len(live), len(holders))
    rows = [{"path": name, "bytes": 1, "rows": 1, "partition": "", "source": "compact", "object": number,
             "content": "data"}
            for number, name in enumerate(live)]  # fmt: skip
    kinds = {"bucket": pa.int32(), "level": pa.int32(), "offset": pa.int64(), "referenced": pa.string()}
    files = pa.Table.from_pylist(rows)
    for name, kind in kinds.items():
        files = files.append_column(name, pa.nulls(len(rows), kind))
    history = History(heads, holders, {}, (), files.select(["path", "bytes"]), runs, files, runs)

    def changes(a: str, b: str) -> tuple[dict[str, str], dict[str, str]]:
        found = diff(history, resolve(heads, a), resolve(heads, b))
        added, removed = (dict(zip(each["path"].to_pylist(), each["change"].to_pylist(), strict=True))
                          for each in (found.added, found.removed))  # fmt: skip
        return added, removed

    side = "branch:(no branch)/4"
    assert changes("2", side) == ({}, {"c": "data"})
    assert changes(side, "2") == ({"c": "data"}, {})
    assert changes("3", side) == ({}, {"c": "data", "f": "data"})
    assert changes("5", side) == ({}, {"d": "compaction"})
    assert changes("1", side) == ({}, {"a": "compaction", "b": "compaction"})
    assert changes("2", "5") == ({"d": "compaction"}, {"c": "compaction"})
    assert changes(side, "branch:(no branch)/7") == ({"g": "compaction", "h": "data"}, {})

    def commits(a: str, b: str) -> list[int]:
        found = diff(history, resolve(heads, a), resolve(heads, b)).commits
        return [each.id for each in found]

    assert commits("1", "5") == commits("5", "1") == [2, 3, 5]
    assert commits("branch:(no branch)/6", "branch:(no branch)/7") == [7]
    assert commits(side, "branch:(no branch)/7") == commits("branch:(no branch)/7", side) == []
