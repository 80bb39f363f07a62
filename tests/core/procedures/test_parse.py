"""CALL sys.NAME(…) and the engines' action names: parsed, matched, planned, run, and generated from the same table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.errors import Invalid, Unsupported
from core.execution.journal import Journal
from core.model.actions import (
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    ResetConsumer,
    Rollback,
)
from core.procedures import statements
from core.procedures.parse import is_call, parse, request_of
from core.procedures.requests import AutoTag, BackToWatermark, ExpireTags, TagFrom
from tests.support.builders import HOUR_MS, START_MS, TableBuilder
from tests.support.iceberg_tables import JAVA_RANDOM, moved

NOW = START_MS + 30 * 24 * HOUR_MS


def of(sql: str) -> Any:
    return request_of(parse(sql), NOW).request


# reading -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "request_"),
    [
        ("CALL sys.create_tag('d.t', 'v1')", CreateTag("v1")),
        ("call `sys`.create_tag(`table` => 'd.t', TAG => 'it\\'s', snapshot => 3, time_retained => '1 d') -- ours",
         CreateTag("it's", 3, 86_400_000)),
        ("CALL sys.create_tag(table => 'd.t$branch_x', tag => 'v', snapshot_id => NULL);", CreateTag("v", branch="x")),
        ("CALL cat.sys.replace_tag('d.t', 'v', 3)", ReplaceTag("v", 3)),
        ("CALL sys.create_tag_from_timestamp('d.t', 'v', 1000)", TagFrom("v", 1000)),
        ("CALL sys.create_tag_from_watermark(`table` => 'd.t', tag => 'v', watermark => -5)", TagFrom("v", None, -5)),
        ("CALL sys.rename_tag(table => 'd.t', tagName => 'a', targetTagName => 'b')", RenameTag("a", "b")),
        ("CALL sys.delete_tag('d.t', 'a, b,a')", DeleteTags(("a", "b"))),
        ("CALL sys.expire_tags(table => 'd.t', older_than => '2026-01-01 00:00:00')", ExpireTags(START_MS)),
        ("CALL sys.trigger_tag_automatic_creation('d.t')", AutoTag()),
        ("CALL sys.expire_snapshots('d.t', 5, 2, TIMESTAMP '2026-01-01 08:00:00+08:00', 9)",
         Expire(retain_max=5, retain_min=2, older_than_ms=START_MS, max_deletes=9)),
        ("CALL sys.rollback(table => 'd.t', version => '2')", Rollback("2", destructive=True)),
        ("CALL sys.rollback('d.t', 'v2')", Rollback("tag:v2", destructive=True)),
        ("CALL sys.rollback_to('d.t', 'v2')", Rollback("tag:v2", destructive=True)),
        ("CALL sys.rollback_to('d.t', '', 3)", Rollback("3", destructive=True)),
        ("CALL sys.create_tag('d.t', 'v', '', '')", CreateTag("v")),
        ("CALL sys.rollback_to_as_latest(table => 'd.t', snapshot_id => 3)", Rollback("3")),
        ("CALL sys.rollback_to_timestamp('d.t', 1000)", Rollback("time:1000", destructive=True)),
        ("CALL sys.rollback_to_watermark('d.t', 7)", BackToWatermark(7)),
        ("CALL sys.create_branch('d.t', 'b', 'v')", CreateBranch("b", "tag:v")),
        ("CALL sys.delete_branch('d.t', 'a,b')", DeleteBranches(("a", "b"))),
        ("CALL sys.fast_forward('d.t', 'b')", FastForward("b")),
        ("CALL sys.reset_consumer('d.t', 'c', 5)", ResetConsumer("c", 5)),
        ("CALL sys.clear_consumers(table => 'd.t', excluding_consumers => 'a.*')", ClearConsumers(None, "a.*")),
        ("CALL sys.compact('d.t$branch_x', 'p=1,q=2;p=2')", Compact("x", ("p=1,q=2", "p=2"))),
        ("CALL sys.remove_orphan_files('d.t')", CleanOrphans(NOW - 24 * HOUR_MS)),
        ("CALL system.remove_orphan_files('d.t')", CleanOrphans(NOW - 72 * HOUR_MS)),
        ("CALL system.expire_snapshots(table => 'd.t', retain_last => 2, snapshot_ids => ARRAY(1, 2))",
         Expire(retain_min=2, snapshots=(1, 2))),
        ("CALL cat.system.rollback_to_snapshot('d.t', 12)", Rollback("12")),
        ("CALL cat.system.set_current_snapshot(table => 'd.t', ref => 'tag:v')", Rollback("tag:v", any_line=True)),
        ("CALL system.set_current_snapshot('d.t', ref => 'earliest')", Rollback("ref:earliest", any_line=True)),
        ("CALL cat.system.fast_forward('d.t', 'main', 'dev')", FastForward("dev", "main")),
    ],
)  # fmt: skip
def test_a_call_is_read_by_position_and_by_name(sql: str, request_: Any) -> None:
    assert is_call(sql)
    assert of(sql) == request_


@pytest.mark.parametrize(
    ("sql", "kind", "told"),
    [
        ("CALL sys.create_tag('d.t')", Invalid, "needs the argument tag"),
        ("CALL sys.create_tag('d.t', time_retained => ' ', tag => 'a')", Invalid, "not a valid duration"),
        ("CALL sys.create_tag('d.t', 'a', 1, '1 d', 5)", Invalid, "takes at most 4 arguments."),
        ("CALL sys.create_tag('d.t', tag => 'a', tag_name => 'b')", Invalid, "given twice"),
        ("CALL sys.create_tag('d.t', tag => 'a', tag => 'b')", Invalid, "given twice"),
        ("CALL sys.create_tag(table => 'd.t', 'a')", Invalid, "A positional argument follows a named one."),
        ("CALL sys.create_tag('d.t', 'a', 'x')", Invalid, "snapshot must be a whole number"),
        ("CALL sys.create_tag('d.t', 5)", Invalid, "The argument tag must be a string, not"),
        ("CALL sys.create_tag('d.t', 'a', time_retained => 'soon')", Invalid, "not a valid duration"),
        ("CALL sys.create_tag('d.t', concat('a', 'b'))", Invalid, "is not a constant."),
        ("CALL sys.create_tag('d.t', 'a', colour => 'red')", Invalid, "has no argument 'colour'"),
        ("CALL system.expire_snapshots('d.t', '2026-01-01', 5, 4)", Invalid, "max_concurrent_deletes has no effect"),
        ("CALL sys.expire_snapshots('d.t', options => 'a=b')", Invalid, "'options', or it has no effect here"),
        ("CALL system.expire_snapshots('d.t', snapshot_ids => ARRAY())", Invalid, "snapshot_ids names nothing"),
        ("CALL sys.compact('d.t', ';')", Invalid, "partitions names nothing"),
        ("CALL sys.delete_tag('d.t', ',')", Invalid, "tag names nothing"),
        ("CALL sys.rollback('d.t')", Invalid, "exactly one of"),
        ("CALL sys.rollback('d.t', snapshot => 1, tag => 'v')", Invalid, "exactly one of"),
        ("CALL sys.create_branch('d.t', 'b', ignoreIfExists => true)", Unsupported, "ignoreIfExists"),
        ("CALL sys.compact('d.t', order_by => 'a')", Invalid, "'order_by', or it has no effect here"),
        ("CALL sys.drop_partition('d.t', 'p=1')", Unsupported, "snapscope drop-partition"),
        ("CALL sys.merge_branch('d.t', 'b')", Unsupported, "CALL sys.merge_branch is not supported here: "),
        ("CALL system.rewrite_data_files('d.t')", Unsupported, "does not rewrite data of Iceberg tables"),
        ("CALL sys.no_such('d.t')", Invalid, "There is no procedure sys.no_such"),
        ("CALL elsewhere.create_tag('d.t', 'a')", Invalid, "no namespace 'elsewhere'"),
        ("CALL create_tag('d.t', 'a')", Invalid, "The CALL has no procedure name."),
        ("CALL sys.create_tag('d.t', 'a'); CALL sys.create_tag('d.t', 'b')", Invalid, "Expected one CALL."),
        ("CALL sys.create_tag(", Invalid, "cannot be parsed"),
        ("CALL", Invalid, "Expected one CALL."),
    ],
)  # fmt: skip
def test_what_is_no_such_call_is_refused_by_name(sql: str, kind: type[Exception], told: str) -> None:
    assert is_call(sql)
    with pytest.raises(kind) as found:
        of(sql)
    assert told in str(found.value)


def test_queries_are_no_calls() -> None:
    for sql in ("select 'CALL sys.x()'", "with call as (select 1) select * from call", "", "select '", "-- CALL"):
        assert not is_call(sql)


@pytest.mark.parametrize(
    "change",
    [
        CreateTag("it's", 3, 90_000, "dev"),
        ReplaceTag("v"),
        RenameTag("a", "b"),
        DeleteTags(("a", "b")),
        Expire(retain_max=20, older_than_ms=START_MS, max_deletes=3),
        CreateBranch("b"),
        CreateBranch("b", "tag:v"),
        DeleteBranches(("a",)),
        RenameBranch("a", "b"),
        FastForward("b"),
        Rollback("3", destructive=True),
        Rollback("tag:v", destructive=True),
        ResetConsumer("c", 4),
        ClearConsumers("a.*", None),
        CleanOrphans(START_MS),
    ],
)
def test_the_call_that_is_told_of_a_change_asks_for_that_change(change: Change) -> None:
    sql = statements.of_paimon(change, "d.t", NOW, {})
    assert sql is not None
    found = request_of(parse(sql), NOW)
    assert (found.table, found.request) == ("d.t", change)


def test_what_no_procedure_does_is_not_told() -> None:
    beyond = Expire(older_than_ms=2**62), Expire(time_retained_ms=2**62), CleanOrphans(-(2**62))  # of any calendar
    others = Rollback("3"), CreateBranch("b", "3"), Expire(expired_tags=True), Expire(changelogs_only=True)
    for change in (*beyond, *others):
        assert statements.of_paimon(change, "d.t", NOW, {}) is None
    low = statements.of_paimon(Expire(retain_max=3), "d.t", NOW, {})
    assert low == "CALL sys.expire_snapshots(table => 'd.t', retain_max => 3, retain_min => 3)"


# at the terminal -----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "w" / "d.db" / "t")
    for _ in range(4):
        made.commit([made.file()])
    return made


def ask(capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def tags(table: TableBuilder) -> dict[str, int]:
    return {path.name[4:]: json.loads(path.read_text())["id"] for path in (table.root / "tag").glob("tag-*")}


def test_a_call_shows_its_plan_asks_and_is_journaled(table: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    warehouse, sql = table.root.parents[1], "CALL sys.create_tag(table => 'd.t', tag => 'v', snapshot => 2)"
    assert main(["call", str(warehouse), sql]) == 1  # nobody can confirm
    said = capsys.readouterr()
    assert "Creates tag v" in said.out
    assert "stdin is not a terminal" in said.err
    assert tags(table) == {}
    for place in (warehouse, table.root):
        assert main(["call", str(place), sql.replace("'v'", f"'{place.name}'"), "--yes"]) == 0
    done = ask(capsys, "query", table.root, f"CALL sys.create_tag_from_timestamp('t', 'up', {START_MS + 1})", "--yes")
    assert done["told"][0].startswith("The tag will point to snapshot 2:")
    assert done["receipts"][0]["outcome"] == "done"
    assert tags(table) == {"w": 2, "t": 2, "up": 2}
    gone = ask(capsys, "call", warehouse, "CALL sys.delete_tag('d.t', 'w,t')", "--yes", "--settle", "0 s")
    assert gone["plans"][0]["change"]["type"] == "DeleteTags"
    assert set(tags(table)) == {"up"}
    assert main(["call", str(warehouse), "CALL sys.rollback('d.t', 'up')", "--yes"]) == 0
    assert "done: no file was to be deleted; 2 references removed. Run " in capsys.readouterr().out
    assert {run.change_kind for run in Journal().runs()} == {"CreateTag", "DeleteTags", "Rollback"}


def test_a_call_names_the_table_that_is_there(table: TableBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    for named, kind in (
        ("d.other", "NotFound"),
        ("e.t", "NotFound"),
        ("t", None),
        ("cat.d.t", None),
        ("`d`.`t`", None),
    ):
        sql = f"CALL sys.expire_tags('{named}')"
        found = ask(capsys, "call", table.root, sql, "--yes", status=int(kind is not None))
        assert found.get("error", {}).get("kind") == kind, named
    assert ask(capsys, "call", table.root, "CALL system.fast_forward('d.t', 'main', 'b')", "--yes", status=1)["error"]
    assert ask(capsys, "query", table.root, "CALL sys.expire_tags('t')", "--at", "2", "--yes", status=1)["error"]
    assert ask(capsys, "query", table.root, "select 1", "--yes", status=1)["error"]["kind"] == "Invalid"
    idle = ask(capsys, "call", table.root, "CALL sys.compact('t')")
    assert ([plan["headline"] for plan in idle["plans"]], idle["receipts"]) == (["Nothing is worth compacting."], [])
    dry = ask(capsys, "call", table.root, "CALL sys.remove_orphan_files('d.t', dry_run => true)")
    assert dry["receipts"] == []


@pytest.mark.slow
def test_actions_go_by_the_engines_names_and_by_the_proposals(
    table: TableBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--warehouse", table.root.parents[1], "--database", "d", "--table", "t")
    ask(capsys, "create_tag", *where, "--tag_name", "today", "--snapshot", 3, "--time_retained", "1 d", "--yes")
    ask(capsys, "create-tag", *where, "--name", "proposal", "--time-retained", "1 d", "--yes")
    ask(capsys, "create-tag", table.root, "--tag_name", "ours", "--snapshot_id", 1, "--yes")
    assert tags(table) == {"today": 3, "proposal": 4, "ours": 1}
    planned = ask(capsys, "plan", "rename-tag", table.root, "--name", "ours", "--to", "mine")
    assert planned["headline"] == "Renames tag ours to mine; reclaims nothing."
    ask(capsys, "rename_tag", "--path", table.root, "--tag_name", "ours", "--target_tag_name", "mine", "--yes")
    ask(capsys, "delete-tag", *where, "--tag_name", "today,proposal", "--yes", "--settle", "0 s")
    assert tags(table) == {"mine": 1}
    told = ask(capsys, "create_tag", "--warehouse", table.root.parents[1], "--tag_name", "x", "--yes", status=1)
    assert told["error"]["message"] == "No single table was given."
    assert ask(capsys, "create_tag", table.root, "--colour", "x", status=2)["error"]["kind"] == "Invalid"


def test_icebergs_procedures_are_called_on_icebergs_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = tmp_path / "lake"
    moved(JAVA_RANDOM / "t12_v1", lake / "db.db" / "t12_v1")
    before = ask(capsys, "snapshots", lake / "db.db" / "t12_v1")
    newest = before[-1]["timestamp_ms"] + 1
    sql = f"CALL cat.system.expire_snapshots(table => 'db.t12_v1', older_than => {newest}, retain_last => 1)"
    done = ask(capsys, "call", lake, sql, "--yes", "--settle", "0 s")
    assert done["receipts"][0]["outcome"] == "done"
    assert len(ask(capsys, "snapshots", lake / "db.db" / "t12_v1")) < len(before)
    for ref, kind in (("earliest", "NotFound"), ("main", "Invalid")):  # a ref's name, not a version here
        sql = f"CALL system.set_current_snapshot(table => 'db.t12_v1', ref => '{ref}')"
        assert ask(capsys, "call", lake, sql, status=1)["error"]["kind"] == kind
    told = ask(capsys, "call", lake, "CALL sys.create_tag('db.t12_v1', 'x')", status=1)["error"]["message"]
    assert told == "The format of db.t12_v1 is iceberg: its procedures are called system.NAME."
