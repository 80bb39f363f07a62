"""Plans of Paimon rollbacks, branches and consumers: losses are listed exactly, impossible requests are rejected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.errors import Invalid, SnapscopeError, Unsupported
from core.model import codes
from core.model.actions import (
    Change,
    ClearConsumers,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceBranch,
    ResetConsumer,
    Rollback,
)
from core.model.effects import DeleteIfEqual, SetHint
from core.model.plan import Plan
from core.table import open_table
from tests.support import set_model
from tests.support.builders import TableBuilder
from tests.support.execution import ground

NOW = ground.LATE_MS


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableBuilder:
    """Read only. See `ground.small_table`; two readers, and branch b is the table's fallback."""
    root = ground.warehouse(tmp_path_factory.mktemp("lines"))
    made = ground.small_table(root, **{"scan.fallback-branch": "b"})
    made.consumer("reader", 7)
    made.consumer("other", 3)
    return made


def plan(table: TableBuilder, change: Change) -> Plan:
    return open_table(str(table.root)).preview(change, NOW)


def test_what_a_rollback_loses_is_what_the_sets_say(table: TableBuilder) -> None:
    model = set_model.read(table.root)
    shown = plan(table, Rollback("5", destructive=True))
    lost = {"6", "7", "8", "9"}
    assert {verdict.point for verdict in shown.deleted_points} == lost
    kept = {path for point, holder in model.holders.items() if point not in lost for path in holder.paths}
    own = {path for point in lost for path in model.holders[point].paths} - kept
    assert set(shown.orphans["path"].to_pylist()) == {path for path in own if not path.startswith("snapshot/")}
    assert len(shown.frees) == 0
    doing = [each for each in shown.effects if isinstance(each, SetHint | DeleteIfEqual)]
    assert isinstance(doing[0], SetHint), "readers are told where to look before anything goes"
    assert [each.path for each in doing[1:]] == [f"snapshot/snapshot-{number}" for number in (9, 8, 7, 6)]
    assert "reader" in [each.values["name"] for each in shown.warnings if each.code == codes.CONSUMER_WAITS]
    assert "deletes 4 snapshots (6–9)" in shown.headline
    assert plan(table, Rollback("5")).deleted_points == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Rollback("9"), "is already the newest; there is nothing to do."),
        (Rollback("9", destructive=True), "already in that state"),
        (Rollback("77"), "not retained"),
        (Rollback("branch:b/5"), "A Paimon branch can be rolled back only to a snapshot or tag of its own."),
        (Rollback("5", any_line=True), "A Paimon branch can be rolled back only to a snapshot or tag of its own."),
        (CreateBranch("b", "tag:early"), "already exists"),
        (CreateBranch("c", "5"), r"Create a tag there first \(create-tag\)"),
        (
            CreateBranch("c", "tag:early", min_snapshots=3),
            "Branch retention is an Iceberg setting; a Paimon branch follows the table's options.",
        ),
        (CreateBranch("12", "tag:early"), "is a number"),
        (CreateBranch("a:b", "tag:early"), "contains a colon"),
        (RenameBranch("b", "a:b"), "contains a colon"),
        (CreateTag("release 08:00"), "contains a colon"),
        (RenameTag("early", "a:b"), "contains a colon"),
        (ResetConsumer("a:b", 7), "contains a colon"),
        (DeleteBranches(("b",)), "scan.fallback-branch"),
        (DeleteBranches(("main",)), "the table itself"),
        (DeleteBranches(("nobody",)), "no branch"),
        (RenameBranch("b", "main"), "reserved"),
        (FastForward("main"), "the table itself"),
        (ReplaceBranch("b", "5"), "A Paimon branch has snapshots of its own, so it cannot be moved to another one."),
        (ResetConsumer("reader", 77), "not retained"),
        (ResetConsumer("nobody"), "no consumer"),
        (ResetConsumer("reader", 7), "already in that state"),
        (ClearConsumers(including="x.*"), "No consumer has a matching name; there is nothing to do."),
        (ClearConsumers(including="("), "not a valid regular expression:"),
    ],
)
def test_what_cannot_be_asked(table: TableBuilder, change: Change, words: str) -> None:
    with pytest.raises(SnapscopeError, match=words):
        plan(table, change)


def test_branches_of_a_chain_table_stay_as_they_are(tmp_path: Path) -> None:
    """The engine drops partitions of the snapshot branch where the delta branch is rolled back as latest."""
    names = {"scan.fallback-snapshot-branch": "a", "scan.fallback-delta-branch": "b", "chain-table.enabled": "true"}
    made = ground.small_table(ground.warehouse(tmp_path), **names)
    for change in (DeleteBranches(("b",)), RenameBranch("b", "c")):
        with pytest.raises(Invalid, match=r"is the table.s .*-delta-branch"):
            plan(made, change)
    with pytest.raises(Unsupported, match="In a chain table, a rollback as latest"):
        plan(made, Rollback("5"))
    assert {verdict.point for verdict in plan(made, Rollback("5", destructive=True)).deleted_points} == {
        "6",
        "7",
        "8",
        "9",
    }


def test_a_branch_is_renamed_with_what_is_on_it(table: TableBuilder) -> None:
    model = TableBuilder(table.root.parent / "renamed")
    model.commit([model.file()])
    model.tag("v", 1)
    model.branch("b", "v").commit([])
    said = plan(model, RenameBranch("b", "c")).headline
    assert said == "Renames branch b to c, and with it 1 tag (v) and 2 snapshots (1, 2); reclaims nothing."


def test_readers_are_cleared_by_their_whole_names(table: TableBuilder) -> None:
    for change, gone in (
        (ClearConsumers(), ["other", "reader"]),
        (ClearConsumers(including="r.*"), ["reader"]),
        (ClearConsumers(including="read"), None),
        (ClearConsumers(excluding="r.*"), ["other"]),
    ):
        if gone is None:
            with pytest.raises(SnapscopeError, match="No consumer"):
                plan(table, change)
        else:
            assert [path for path, _ in plan(table, change).removes] == [f"consumer/consumer-{name}" for name in gone]


def test_a_branch_without_a_snapshot_goes_by_its_name(table: TableBuilder) -> None:
    shutil.copytree(table.root / "schema", table.root / "branch/branch-empty/schema")
    assert plan(table, DeleteBranches(("empty",))).headline == "Deletes branch empty; reclaims nothing."


def test_an_id_that_was_used_again_is_no_way_back(tmp_path: Path) -> None:
    """The tag's own snapshot is gone, another has its id: only a new snapshot can have its content."""
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    tag = root / "tag/tag-packed"
    tag.write_text(json.dumps(json.loads(tag.read_bytes()) | {"commitUser": "somebody else"}))
    opened = open_table(str(root))
    with pytest.raises(SnapscopeError, match="now belongs to a different snapshot than the one that"):
        opened.preview(Rollback("tag:packed", destructive=True), NOW)
    assert opened.preview(Rollback("tag:packed"), NOW).leaves == ("snapshot/snapshot-10",)
    snapshot = root / "snapshot/snapshot-8"
    whole = snapshot.read_bytes()
    snapshot.write_bytes(whole[:50])
    with pytest.raises(SnapscopeError, match="Snapshot 8 cannot be read"):
        opened.preview(FastForward("b"), NOW)
    snapshot.write_bytes(whole)
    tag.write_bytes(tag.read_bytes()[:50])
    with pytest.raises(SnapscopeError, match="Tag packed cannot be read"):
        opened.preview(FastForward("b"), NOW)
    with pytest.raises(SnapscopeError, match="Tag packed cannot be read"):
        opened.preview(Rollback("5", destructive=True), NOW)
