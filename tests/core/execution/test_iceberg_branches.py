"""Branches and rollbacks of Iceberg tables: what is shown, what is committed, what is refused; through the command line
on a Hadoop table, and through catalogs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.errors import Conflict, NotFound, SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.messages import code_names
from core.model.actions import Change, CreateBranch, CreateTag, DeleteBranches, FastForward, ReplaceBranch, Rollback
from core.planning.confirmation import danger
from core.table import open_table
from tests.support.execution import iceberg_ground as ground
from tests.support.execution.iceberg_ground import LATE_MS, document, ids
from tests.support.execution.iceberg_rest import Server, serving
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home, lake

__all__ = ["home", "lake"]  # fixtures

DAY_MS = 86_400_000
Ask = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return ground.small_table(tmp_path / "db" / "t")


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: object, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*map(str, words), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.slow
def test_rollback_shows_what_it_leaves_behind(root: Path, ask: Ask) -> None:
    """Nothing is freed, main's own retention stays, the log records the move; snapshots left behind are reported."""
    old, there = ids(root), ground.disk(root)
    ground.commit(root, lambda own: own["refs"]["main"].update({"min-snapshots-to-keep": 2, "x": 1}))
    shown = ask("plan", "rollback", root, "tag:early", "--now", LATE_MS)
    assert shown["frees"] == []
    assert [each["point"] for each in shown["points"] if not each["keep"]] == []
    told = " ".join(shown["warnings"])
    assert f"1 snapshot ({old[3]}) will then be on no branch or tag" in told  # s2 is the branch's
    assert "reclaims 0 files now; the next expiry by the table's own rules reclaims" in told
    done = ask("rollback", root, "tag:early", "--now", LATE_MS, "--yes", "--plan", shown["fingerprint"])
    assert done["receipt"]["outcome"] == "done"
    after = document(root)
    assert after["current-snapshot-id"] == old[1]
    assert after["refs"]["main"] == {"snapshot-id": old[1], "type": "branch", "min-snapshots-to-keep": 2, "x": 1}
    assert after["snapshot-log"][-1] == {"timestamp-ms": after["last-updated-ms"], "snapshot-id": old[1]}
    assert (ids(root), ground.disk(root), ground.broken(root)) == (old, there, [])
    assert Journal().runs()[0].change_kind == "Rollback"
    refused = ask("rollback", root, old[3], "--yes", status=1)["error"]
    assert "not an ancestor" in refused["message"]
    ask("rollback", root, old[3], "--set", "--yes")
    assert document(root)["current-snapshot-id"] == old[3]
    assert ids(root) == old


def test_a_rollback_to_a_time_is_where_main_was(root: Path) -> None:
    """Iceberg itself uses the newest ancestor committed before the time; if that differs, it is reported."""
    table, log = open_table(str(root)), document(root)["snapshot-log"]
    at = log[2]["timestamp-ms"]
    plan = table.preview(Rollback(f"time:{at + 1}"), LATE_MS)
    assert plan.source is not None
    assert plan.source.id == ids(root)[2]
    assert "rollback-elsewhere" not in code_names(plan.warnings)
    plan = table.preview(Rollback(f"time:{at}"), LATE_MS)
    assert any(f"rollback_to_timestamp moves to {ids(root)[1]}" in warning.text for warning in plan.warnings)
    assert danger(plan, "t").phrase == "t 0"


@pytest.mark.slow
def test_the_life_of_a_branch(root: Path, ask: Ask) -> None:
    old, there = ids(root), ground.disk(root)
    ask("create-branch", root, "new", old[0], "--min-snapshots-to-keep", 3, "--max-snapshot-age", "2 d", "--yes")
    kept = {"snapshot-id": old[0], "type": "branch", "min-snapshots-to-keep": 3, "max-snapshot-age-ms": 2 * DAY_MS}
    assert document(root)["refs"]["new"] == kept
    ask("replace-branch", root, "new", "tag:early", "--min-snapshots-to-keep", 5, "--yes")
    kept |= {"snapshot-id": old[1], "min-snapshots-to-keep": 5}
    assert document(root)["refs"]["new"] == kept, "what is not said stays"
    ask("fast-forward", root, "main", "--branch", "new", "--yes")
    assert document(root)["refs"]["new"] == kept | {"snapshot-id": old[3]}
    ask("rename-branch", root, "new", "newer", "--yes")
    assert document(root)["refs"]["newer"] == kept | {"snapshot-id": old[3]}
    ask("rollback", root, "branch:work", "--yes")
    ask("fast-forward", root, "newer", "--yes")
    assert document(root)["current-snapshot-id"] == old[3]
    ask("replace-branch", root, "main", "--min-snapshots-to-keep", 4, "--yes")
    assert document(root)["refs"]["main"]["min-snapshots-to-keep"] == 4
    shown = ask("plan", "delete-branch", root, "newer", "work", "--now", LATE_MS)
    assert {each["point"] for each in shown["points"] if not each["keep"]} == {"branch:newer", "branch:work"}
    assert "Removing these branches reclaims 0 files now" in " ".join(shown["warnings"])
    ask("delete-branch", root, "newer", "work", "--yes")
    assert set(document(root)["refs"]) == {"main", "early"}
    assert (ids(root), ground.disk(root), ground.broken(root)) == (old, there, [])
    assert [each["snapshot-id"] for each in document(root)["snapshot-log"][4:]] == [old[2], old[3], old[3]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (DeleteBranches(("main",)), "cannot be deleted"),
        (DeleteBranches(("early",)), "is a tag, not a branch"),
        (DeleteBranches(("nobody",)), "no branch"),
        (DeleteBranches(()), "No branch was given."),
        (CreateBranch("early"), "already exists"),
        (CreateBranch("main"), "reserved"),
        (CreateBranch("x", "12345"), "12345"),
        (CreateBranch("x", min_snapshots=0), "Branch retention must be positive."),
        (CreateBranch("x", max_ref_age_ms=1), "the next expiry would already delete it."),
        (ReplaceBranch("main", "tag:early"), "use rollback to move it"),
        (ReplaceBranch("main", max_ref_age_ms=1 << 60), "never expires"),
        (ReplaceBranch("work"), "already"),
        (FastForward("work"), "not an ancestor"),
        (FastForward("early"), "is a tag, not a branch"),
        (Rollback("latest"), "already"),
        (
            Rollback("latest~1", destructive=True),
            "An Iceberg rollback deletes nothing: snapshots it leaves behind are kept until they expire.",
        ),
        (Rollback("latest", branch="work"), "Only main"),
        (Rollback("tag:nobody"), "no tag"),
    ],
)
def test_what_nobody_may_do_to_branches(root: Path, change: Change, words: str) -> None:
    before = ground.newest(root)
    with pytest.raises(SnapscopeError, match=words):
        open_table(str(root)).preview(change, LATE_MS)
    assert ground.newest(root) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "ref"),
    [
        (Rollback("tag:early"), "main"),
        (FastForward("main", branch="work"), "work"),
        (ReplaceBranch("work", "tag:early"), "work"),
        (DeleteBranches(("work",)), "work"),
    ],
)
def test_a_ref_that_moves_in_between_is_not_overrun(root: Path, change: Change, ref: str) -> None:
    table, old = open_table(str(root)), ids(root)
    plan = table.preview(change, LATE_MS)

    def theirs(own: ground.Json) -> None:
        own["refs"][ref]["snapshot-id"] = old[0]
        if ref == "main":
            own["current-snapshot-id"] = old[0]

    ground.commit(root, theirs)
    with pytest.raises(Conflict, match="rewritten"):
        apply(table, plan, settle_s=0)
    assert document(root)["refs"][ref]["snapshot-id"] == old[0]
    assert Journal().open_run(table.location) is None


@pytest.mark.slow
def test_a_point_that_expires_in_between_is_not_named(root: Path) -> None:
    table, old = open_table(str(root)), ids(root)
    plan = table.preview(CreateBranch("new", str(old[0])), LATE_MS)

    def expired(own: ground.Json) -> None:
        own["snapshots"] = own["snapshots"][1:]
        own["snapshot-log"] = own["snapshot-log"][1:]

    ground.commit(root, expired)
    with pytest.raises((Conflict, NotFound)):
        apply(table, plan, settle_s=0)
    assert "new" not in document(root)["refs"]


# catalogs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["sql", "rest"])
def catalog(lake: Lake, request: pytest.FixtureRequest) -> Iterator[Server | None]:
    if request.param == "sql":
        yield None
        return
    with serving(lake.uri) as server:
        (lake.directory / ".pyiceberg.yaml").write_text(f"catalog:\n  lake:\n    type: rest\n    uri: {server.uri}\n")
        yield server


@pytest.mark.slow
def test_through_a_catalog(lake: Lake, catalog: Server | None) -> None:
    """The catalog's own client sees the change; a move at the moment of the commit makes the commit fail."""
    table, there = open_table(NAME), lake.files()
    log = len(lake.document()["snapshot-log"])
    line = [each.id for each in table.heads().main.snapshots]

    def does(change: Change) -> None:
        apply(table, table.preview(change, LATE_MS), settle_s=0)

    does(CreateBranch("b", str(line[0]), min_snapshots=2, max_ref_age_ms=1 << 60))
    does(Rollback(str(line[0])))
    does(ReplaceBranch("b", str(line[-1])))
    with lake.client() as client:
        seen = client.load_table("shop.orders")
        assert seen.current_snapshot().snapshot_id == line[0]
        assert seen.refs()["b"].snapshot_id == line[-1]
        assert seen.refs()["b"].min_snapshots_to_keep == 2
    does(FastForward("b"))
    assert [each["snapshot-id"] for each in lake.document()["snapshot-log"][log:]] == [line[0], line[-1]]
    plan = table.preview(Rollback(str(line[0])), LATE_MS)

    def theirs() -> None:
        with lake.client() as client:
            client.load_table("shop.orders").manage_snapshots().rollback_to_snapshot(line[1]).commit()

    if catalog is None:
        theirs()
    else:
        catalog.before = theirs
    with pytest.raises(Conflict, match="rewritten"):
        apply(table, plan, settle_s=0)
    assert lake.document()["current-snapshot-id"] == line[1]
    does(DeleteBranches(("b",)))
    does(CreateTag("after"))
    assert "b" not in lake.document()["refs"]
    assert (lake.files(), lake.broken()) == (there, [])
