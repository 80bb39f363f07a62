"""Changes between two versions: which files or rows they come from, with which row kinds, and what is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.errors import Invalid, Unsupported
from core.model.query_answer import QueryAnswer
from core.spark.query.query import query
from tests.support.spark.stored import Row, Stored

pytestmark = pytest.mark.usefixtures("spark")
KEYED = {"bucket": "1"}


def ask(table: Stored, since: int | str, at: int | str, sql: str = "SELECT * FROM t_changes") -> QueryAnswer:
    return query(table.opened(), sql, at=str(at), since=str(since))


def changes(answer: QueryAnswer) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in answer.table.to_pylist()), key=repr)


def rows(*ids: int, v: str | None = "x") -> list[Row]:
    return [{"id": id, "v": v} for id in ids]


def test_an_append_table_gives_what_its_commits_wrote(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")])
    table.commit([table.file(rows(1))])
    table.commit([table.file(rows(2)), table.file(rows(3))])
    table.commit([table.file(rows(1, 2, 3), source=1)], table.live, kind="COMPACT")
    table.commit([table.file(rows(9))], table.live, kind="OVERWRITE")
    table.schema([(0, ("id", "BIGINT")), (1, ("w", "STRING")), (2, ("new", "INT"))])
    table.commit([table.file([{"id": 4, "w": "y", "new": 5}])])
    found = ask(table, 1, 5)
    assert found.table.column_names == ["_rowkind", "id", "w", "new"]
    assert changes(found) == [("+I", 2, "x", None), ("+I", 3, "x", None), ("+I", 4, "y", 5)]
    assert "read 3 of 3 files" in found.note
    assert "rows as the APPEND commits wrote them after 1 up to 5 (delta)" in found.note
    assert "1 OVERWRITE commit skipped" in found.note
    assert changes(ask(table, 5, 5)) == []
    assert changes(ask(table, 4, 5, "SELECT c._rowkind, c.id, t.w FROM t_changes c JOIN t USING (id)")) == [
        ("+I", 4, "y")
    ]


def test_tags_and_lost_commits_give_the_difference_of_rows(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")])
    table.commit([table.file(rows(1, 1))])
    table.commit([table.file(rows(2))])
    table.commit([table.file(rows(2, 3, 3), source=1)], table.live, kind="OVERWRITE")
    table.tag("v1", 1)
    expected = [("+I", 2, "x"), ("+I", 3, "x"), ("+I", 3, "x"), ("-D", 1, "x"), ("-D", 1, "x")]
    by_tag = ask(table, "tag:v1", 3)
    assert changes(by_tag) == expected
    assert "(diff): a tag was named" in by_tag.note
    (tmp_path / "t/snapshot/snapshot-2").unlink()
    by_id = ask(table, 1, 3)
    assert changes(by_id) == expected
    assert "(diff): commit 2 is no longer retained" in by_id.note
    odd = Stored(tmp_path / "u", [("id", "INT"), ("v", "STRING")])
    odd.commit([odd.file(rows(1))])
    odd.commit([odd.file(rows(2))], odd.live)
    took = ask(odd, 1, 2)
    assert changes(took) == [("+I", 2, "x"), ("-D", 1, "x")]
    assert "APPEND commit 2 also removed files" in took.note


def test_a_primary_key_table_gives_the_rows_before_and_after(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")], primary_keys=["id"], options=KEYED)
    table.commit([table.file(rows(1, 2, 3, 4))])
    table.commit([table.file(rows(2, 3, 5, v="y"), kinds=[0, 3, 0])])
    table.commit([table.file(rows(2, v=None))])
    found = ask(table, 1, 3)
    assert changes(found) == [("+I", 5, "y"), ("+U", 2, None), ("-D", 3, "x"), ("-U", 2, "x")]
    assert "the table writes no changelog" in found.note
    assert ask(
        table, 1, 3, "SELECT _rowkind, count(*) AS n FROM t_changes GROUP BY 1 ORDER BY 1"
    ).table.to_pydict() == {
        "_rowkind": ["+I", "+U", "-D", "-U"],
        "n": [1, 1, 1, 1],
    }


def test_a_table_with_changelogs_gives_them(tmp_path: Path) -> None:
    options = {**KEYED, "changelog-producer": "input"}
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")], primary_keys=["id"], options=options)
    first = table.file(rows(1))
    table.commit([first], changelog=[table.file(rows(1))])
    written: list[dict[str, Any]] = [
        {"id": 1, "v": "x"},
        {"id": 1, "v": "y"},
        {"id": 2, "v": "z"},
        {"id": 3, "v": None},
    ]
    table.commit([table.file(rows(2, v="z"))], changelog=[table.file(written, kinds=[1, 2, 0, 3])])
    table.commit([table.file(rows(7))], kind="OVERWRITE", changelog=[table.file(rows(7))])
    table.commit([], kind="COMPACT")
    found = ask(table, 1, 4)
    assert changes(found) == [("+I", 2, "z"), ("+U", 1, "y"), ("-D", 3, None), ("-U", 1, "x")]
    assert "the changelogs of the commits after 1 up to 4 (changelog)" in found.note
    assert "read 1 of 1 file " in found.note


def test_changes_of_what_a_condition_rules_out_are_not_read(tmp_path: Path) -> None:
    columns = [("id", "INT"), ("v", "STRING"), ("p", "STRING")]
    table = Stored(tmp_path / "t", columns, partition_keys=["p"])
    for number in range(6):
        table.commit([table.file(rows(number), partition=["ab"[number % 2]])])

    def noted(answer: QueryAnswer, rows: int, files: str) -> None:
        assert (answer.table.num_rows, f"read {files} " in answer.note) == (rows, True), answer.note

    by_file = "SELECT * FROM t_changes WHERE"
    noted(ask(table, 1, 6, f"{by_file} p = 'a'"), 2, "2 of 5 files")
    noted(ask(table, 1, 6, f"{by_file} id > 3 AND _rowkind = '+I'"), 2, "2 of 5 files")
    noted(ask(table, 1, 6, f"{by_file} _rowkind = '-D'"), 0, "5 of 5 files")
    noted(ask(table, 1, 6, f"{by_file} id = 9"), 0, "0 of 5 files")
    noted(ask(table, 1, 6, "SELECT * FROM t_changes JOIN t USING (id) WHERE id = 3"), 1, "2 of 11 files")
    table.tag("v1", 1)
    noted(ask(table, "tag:v1", 6, f"{by_file} id > 3"), 2, "2 of 6 files")


def test_a_changed_row_is_told_from_a_new_one_whatever_is_asked_of_its_values(tmp_path: Path) -> None:
    columns = [("id", "INT"), ("v", "STRING")]
    table = Stored(tmp_path / "t", columns, primary_keys=["id"], options=KEYED)
    table.commit([table.file(rows(1, 2, v="old"), level=5), table.file(rows(8, 9, v="old"), level=5)])
    table.commit([table.file(rows(1, 3, v="new"))])
    found = ask(table, 1, 2, "SELECT * FROM t_changes WHERE v = 'new'")
    assert changes(found) == [("+I", 3, "new"), ("+U", 1, "new")]
    found = ask(table, 1, 2, "SELECT * FROM t_changes WHERE id = 3")
    assert changes(found) == [("+I", 3, "new")]
    assert "read 1 of 3 files" in found.note


def test_points_in_the_wrong_order_and_a_column_of_that_name_are_refused(tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("_RowKind", "STRING")])
    table.commit([table.file([{"id": 1}])])
    table.commit([table.file([{"id": 2}])])
    plain = Stored(tmp_path / "u", [("id", "INT")])
    for id in (1, 2):
        plain.commit([plain.file([{"id": id}])])
    with pytest.raises(Invalid, match="2 does not come before 1"):
        ask(plain, 2, 1)
    with pytest.raises(Unsupported, match="already has a column '_rowkind'"):
        ask(table, 1, 2)
    with pytest.raises(Invalid, match="`t_changes` is not an opened table"):
        query(table.opened(), "SELECT * FROM t_changes")


def test_the_command_line_asks_since(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Stored(tmp_path / "orders", [("id", "INT"), ("v", "STRING")])
    table.commit([table.file(rows(1))])
    table.commit([table.file(rows(2))])
    asked = ["query", str(tmp_path / "orders"), "SELECT * FROM orders_changes", "--at", "2", "--since", "1"]
    assert main([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == [{"_rowkind": "+I", "id": 2, "v": "x"}]
    assert "(delta)" in document["note"]
    assert main(asked) == 0
    assert "(delta)" in capsys.readouterr().out
