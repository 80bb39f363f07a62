"""What a commit changed, judged by comparing the sets of live files one commit after another."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.analysis.commit_changes import CommitChanges, Sums
from core.errors import NotFound
from core.model.history import History
from core.model.references import MAIN, Snapshot
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.depth import tries
from tests.support.formats.paimon.random_tables import STEP, Maker
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, as_if_there

Files = dict[tuple[str, int | None], tuple[str, int, int, bool]]


def live(history: History, point: str) -> Files:
    """By path and place in it: partition, rows, bytes, whether it is a data file."""
    return {
        (row["path"], row.get("offset")): (
            row["partition"] or "",
            row["rows"] or 0,
            row["bytes"] or 0,
            row.get("content", "data") == "data",
        )
        for row in history.files_at(history.position(point)).to_pylist()
    }


def judged(before: Files, after: Files) -> tuple[Sums, dict[str, Sums], tuple[str, ...]]:
    """The sums of all, those by partition, and the partitions that lost their last data file."""
    by: dict[str, list[int]] = defaultdict(lambda: [0] * 7)
    for side, files in ((0, after.keys() - before.keys()), (3, before.keys() - after.keys())):
        for path in files:
            partition, rows, size, is_data = (after if side == 0 else before)[path]
            if is_data:
                by[partition][side] += 1
                by[partition][side + 1] += rows
            elif side == 0:
                by[partition][6] += 1
            by[partition][side + 2] += size
            by[partition][0] += 0
    had, has = ({each[0] for each in files.values() if each[3]} for files in (before, after))
    return (
        Sums(*map(sum, zip(*by.values(), strict=True))) if by else Sums(),
        {name: Sums(*each) for name, each in by.items()},
        tuple(sorted(had - has)),
    )


def predecessor(history: History, branch: str, snapshot: Snapshot) -> str | None:
    """The point a commit was made on, "" before the first one, None where it is not there."""
    points = {each.point: each.snapshot for each in history.holders if each.kind != "changelog"}
    if not history.heads.capabilities.ids_are_ordered:
        found = [p for p in points if p.rpartition("/")[2] == str(snapshot.parent_id)]
        return "" if snapshot.parent_id is None else next(iter(found), None)
    if snapshot.id == 1:
        return ""
    prefix = "" if branch == MAIN else f"branch:{branch}/"
    own = [p for p in points if p.startswith(prefix) and (branch != MAIN or not p.startswith("branch:"))]
    found = [p for p in own if (at := points[p]) is not None and at.id == snapshot.id - 1]
    return min(found, key=lambda point: "tag:" in point, default=None)


def compare(history: History) -> int:
    """Every commit of every branch; how many were compared."""
    compared = 0
    for line in history.heads.lines:
        changes = CommitChanges(history, line.branch)
        prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
        for number, snapshot in enumerate(line.snapshots):
            found = changes.of(number)
            point, before = f"{prefix}{snapshot.id}", predecessor(history, line.branch, snapshot)
            blind = {history.position(each) for each in (point, before) if each} & set(history.incomplete)
            assert found.is_known == (before is not None and not blind), point
            if not found.is_known:
                continue
            old = live(history, before) if before else {}
            sums, partitions, vanished = judged(old, live(history, point))
            assert (found.sums, dict(found.partitions), found.vanished) == (sums, partitions, vanished), point
            assert changes.sums[number] == sums
            assert found.rows_before == sum(rows for _, rows, _, is_data in old.values() if is_data)
            compared += 1
    return compared


@tries(60)
@given(some.lists(STEP, min_size=3, max_size=25))
def test_random_paimon_tables(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]) -> None:
    maker = Maker(tmp_path_factory.mktemp("t") / "shop.db" / "t", {})
    maker.run(steps)
    table = open_table(str(maker.main.root))
    if table.heads().main.snapshots:
        compare(table.history())


@pytest.mark.parametrize(
    "source",
    sorted(each.parent for of in (JAVA_RANDOM, PYICEBERG) for each in of.glob("*/metadata")),
    ids=lambda path: path.name,
)
def test_real_iceberg_tables(source: Path) -> None:
    history, _ = as_if_there(source)
    assert compare(history) == sum(
        predecessor(history, line.branch, each) is not None for line in history.heads.lines for each in line.snapshots
    )


def test_what_is_not_known_is_not_nothing(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "t")
    for _ in range(3):
        table.commit([table.file(10, rows=5)])
    table.expire([1])
    changes = CommitChanges(open_table(str(table.root)).history())
    assert [changes.of(number).is_known for number in range(2)] == [False, True]
    assert changes.of(1).sums == Sums(added_files=1, added_rows=5, added_bytes=10)
    with pytest.raises(NotFound):
        CommitChanges(open_table(str(table.root)).history(), "other")


def test_columns_that_changed_are_told(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "t")
    table.commit([table.file(10)])
    table.schema([("extra", "STRING")], ids=[7])
    table.commit([table.file(10)])
    changes = CommitChanges(open_table(str(table.root)).history())
    assert changes.of(0).schema == ()
    assert "added column extra STRING" in changes.of(1).schema
