"""What the pages keep of a table: as long as its references are the same, and no longer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from core.table import open_table
from dashboard import data
from tests.support.builders import TableBuilder


def test_the_fingerprint_is_that_of_the_references(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "orders")
    table.commit([table.file(1_000, rows=10)])
    opened = open_table(str(table.path))
    first = opened.heads()
    known = {data.fingerprint(opened.heads()) for _ in range(2 * data.KEPT_HISTORIES)}
    assert known == {data.fingerprint(first)} == {data.fingerprint(first)}
    table.commit([table.file(1_000, rows=10)])
    assert data.fingerprint(opened.heads()) not in known


def test_tags_folders_and_days_are_those_of_the_current_references(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "orders", partition_keys=["dt"])
    opened, seen = open_table(str(table.path)), []
    for day in ("a", "b"):
        table.commit([table.file(1_000, rows=10, partition=(day,))])
        table.tag(day)
        heads = opened.heads()
        history = data.history(heads)
        point = opened.format.resolve(heads, "latest")
        inside, level = data.below(history, point, ""), data.level(history, point, "")
        tags = data.tag_rows(heads.main, history, heads, "UTC", 0)
        assert data.tag_rows(heads.main, history, heads, "UTC", 0) is tags
        assert data.tag_rows(heads.main, None, heads, "UTC", 0)["cost"].isna().all()
        seen.append(
            (len(inside), level["name"].to_pylist(), sorted(tags["name"]), sum(data.days(heads, "UTC").values()))
        )
    assert seen == [(1, ["dt=a"], ["a"], 1), (2, ["dt=a", "dt=b"], ["a", "b"], 2)]


def test_earlier_histories_of_a_table_make_room(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "orders")
    opened, seen = open_table(str(table.path)), []
    for _ in range(data.KEPT_OF_ONE_TABLE + 2):
        table.commit([table.file(1_000, rows=10)])
        seen.append(opened.heads())
        data.history(seen[-1])
    kept = [data.kept_history(heads) is not None for heads in seen]
    assert kept == [False] * 2 + [True] * data.KEPT_OF_ONE_TABLE


def test_a_chart_is_drawn_again_if_the_references_or_its_look_change(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "orders")
    opened = open_table(str(table.path))
    drawn: list[str] = []
    for look in ("light", "light", "dark"):
        table.commit([table.file(1_000, rows=10)])
        for heads in (opened.heads(), opened.heads()):
            for history in (None, data.history(heads)):
                data.figure(heads, history, look, partial(drawn.append, look))
    assert drawn == ["light"] * 4 + ["dark"] * 2
