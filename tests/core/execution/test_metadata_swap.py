"""A process that dies before each single effect of a change to a Hadoop table: files too many, never too few; what was
cut off is carried on to where a clean run ends, or taken back to where it began.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Conflict, Invalid, SnapscopeError
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import UNDONE, Journal
from core.formats.iceberg.manifests import IcebergManifests
from core.model import codes
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    RenameTag,
    ReplaceTag,
    Rollback,
)
from core.model.plan import Plan
from core.storage.store import Store
from core.table import Table
from tests.support.execution import iceberg_ground as ground
from tests.support.execution.dying import Life
from tests.support.execution.iceberg_crashes import AFTER_THE_COMMIT, BEFORE_IT, cut_off, reopened
from tests.support.execution.iceberg_ground import LATE_MS, Json, ids
from tests.support.execution.stages import Check, Stage, open_run

CLEANS = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "3"}
CHANGES: dict[str, Change] = {
    "expire": Expire(drop_tags=("early",)),
    "expire-cleaning": Expire(drop_tags=("early",)),
    "delete-tag": DeleteTags(("early",)),
    "create-tag": CreateTag("new"),
    "create-tag-cleaning": CreateTag("new"),
    "replace-tag": ReplaceTag("early"),
    "rename-tag": RenameTag("early", "late"),
    "rollback": Rollback("latest~1"),
}


@pytest.fixture
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Stage:
    root = tmp_path / "t"
    ground.small_table(root, **(CLEANS if "cleaning" in request.getfixturevalue("name") else {}))
    good = ground.copied(root, tmp_path / "good")
    manifests = IcebergManifests()
    return Stage(good, root, tmp_path, LATE_MS, ground.copied, lambda store: ground.opened(store, manifests))


def deaths(stage: Stage, change: Change, *, is_fault: bool = False) -> Iterator[tuple[Life, Journal, Table]]:
    """After every crash, the snapshots are those before or after the change, and only freed files are gone."""

    def watch(plan: Plan) -> Check:
        before, frees = ground.disk(stage.root), set(plan.frees["path"].to_pylist())
        goes = {int(path.rpartition("/")[2]) for path, _ in plan.removes if "#snapshots/" in path}

        def check(life: Life) -> None:
            assert before - ground.disk(stage.root) <= frees, life.log
            assert ground.broken(stage.root) == [], life.log
            was, now = ground.told(stage.good)["snapshots"], ground.told(stage.root)["snapshots"]
            assert now in (was, [each for each in was if each["snapshot-id"] not in goes]), "all or nothing"
            if now == was:
                assert ground.disk(stage.root) == before, life.log

        return check

    return stage.deaths(change, watch, is_fault=is_fault)


def end_of_a_clean_run(stage: Stage, change: Change) -> tuple[frozenset[str], Json, frozenset[str]]:
    stage.run_clean(change)
    assert ground.broken(stage.root) == []
    return ground.disk(stage.root), told(stage, stage.root), versions(stage.root)


def told(stage: Stage, root: Path) -> Json:
    """Return the content of the metadata, without the times at which main was moved."""
    own, known = ground.told(root), len(ground.document(stage.good)["snapshot-log"])
    log = own["snapshot-log"]
    return {**own, "snapshot-log": [*log[:known], *(each["snapshot-id"] for each in log[known:])]}


def versions(root: Path) -> frozenset[str]:
    return frozenset(path.name for path in root.glob("metadata/*.metadata.json"))


def hint_leads_on(root: Path) -> bool:
    """Check as Java does: the version in the hint exists, and every version from there to the newest."""
    first = int((root / "metadata/version-hint.text").read_text())
    last = int(ground.newest(root).name[1:].split(".")[0])
    return all((root / f"metadata/v{number}.metadata.json").is_file() for number in range(first, last + 1))


CASES = [pytest.param(name, marks=[pytest.mark.slow] if name != "rename-tag" else []) for name in CHANGES]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_resume_ends_where_a_clean_run_ends(name: str, stage: Stage) -> None:
    change = CHANGES[name]
    end = end_of_a_clean_run(stage, change)
    for life, journal, table in deaths(stage, change):
        assert hint_leads_on(stage.root), life.log
        run = open_run(journal)
        if run is None:  # crashed before the first entry or after the last
            begin = ground.disk(stage.good), told(stage, stage.good), versions(stage.good)
            assert (ground.disk(stage.root), told(stage, stage.root), versions(stage.root)) == (
                end if journal.runs() else begin
            ), life.log
            continue
        with pytest.raises(Conflict, match="has not finished"):
            apply(table, table.preview(CreateTag("other"), LATE_MS), settle_s=0, journal=journal)
        receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert receipt.outcome == "done", (life.log, receipt)
        assert (ground.disk(stage.root), told(stage, stage.root), versions(stage.root)) == end, life.log
        assert hint_leads_on(stage.root)
        assert ground.broken(stage.root) == []
        assert open_run(journal) is None
        journal.verify()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_undo_brings_back_exactly_what_was(name: str, stage: Stage) -> None:
    change = CHANGES[name]
    undone = 0
    for life, journal, table in deaths(stage, change):
        run = open_run(journal)
        if run is None:
            continue
        if not journal.run(run).can_undo:
            assert "journal: entry sweep started" in life.log
            with pytest.raises(Invalid, match="it has started to delete files"):
                recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
            continue
        recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
        undone += 1
        now, then = told(stage, stage.root), told(stage, stage.good)
        moved = now["snapshot-log"][len(then["snapshot-log"]) :]  # what main pointed to in between really happened
        assert moved in ([], [then["snapshots"][-2]["snapshot-id"], then["current-snapshot-id"]])
        assert now == {**then, "snapshot-log": [*then["snapshot-log"], *moved]}, life.log
        assert ground.disk(stage.root) == ground.disk(stage.good), life.log
        assert hint_leads_on(stage.root)
        with pytest.raises(Invalid):
            recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert table.preview(change, LATE_MS).removes == stage.again().preview(change, LATE_MS).removes
    assert undone


@pytest.mark.parametrize("name", CASES)
def test_one_refused_effect_loses_nothing_and_is_told(name: str, stage: Stage) -> None:
    """The store rejects one effect and then works again."""
    change = CHANGES[name]
    end = end_of_a_clean_run(stage, change)
    for life, journal, table in deaths(stage, change, is_fault=True):
        assert any("503" in str(event["detail"]) for event in journal.events()), life.log
        run = open_run(journal)
        assert run is not None
        receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert receipt.outcome == "done"
        assert (ground.disk(stage.root), told(stage, stage.root), versions(stage.root)) == end, life.log
        assert open_run(journal) is None


# in between, another hand --------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return ground.small_table(tmp_path / "t")


@pytest.mark.slow
def test_a_tag_made_before_the_commit_is_kept_by_resume(root: Path) -> None:
    run = cut_off(root, Expire(drop_tags=("early",)), BEFORE_IT)
    old, there = ids(root), ground.disk(root)
    ground.commit(root, lambda own: own["refs"].update({"theirs": {"snapshot-id": old[0], "type": "tag"}}))
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert receipt.outcome == "done"
    assert ids(root)[0] == old[0]
    assert "theirs" in ground.document(root)["refs"]
    assert ground.broken(root) == []
    assert set(receipt.deleted) == there - ground.disk(root)


@pytest.mark.slow
def test_new_commits_after_the_commit_are_kept_by_undo(root: Path) -> None:
    before = ground.told(root)
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    assert len(ids(root)) == 2
    last = ids(root)[-1]
    entry = {"snapshot-id": last, "timestamp-ms": 1_900_000_000_000}

    def theirs(own: Json) -> None:
        own["refs"]["theirs"] = {"snapshot-id": last, "type": "tag"}
        own["snapshot-log"].append(entry)

    ground.commit(root, theirs)
    recovery.undo(run, open_table=reopened)
    after = ground.told(root)
    assert after["refs"].pop("theirs")
    assert after["snapshot-log"].pop() == entry
    assert after == before


@pytest.mark.slow
def test_undo_says_where_it_cannot_be_exact(root: Path) -> None:
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    last = ids(root)[-1]
    ground.commit(root, lambda own: own["refs"].update({"early": {"snapshot-id": last, "type": "tag"}}))
    with pytest.raises(
        Invalid,
        match=(
            r"This run cannot be undone exactly: another writer has changed metadata\.json#refs/early since\. "
            r"Nothing was changed"
        ),
    ):
        recovery.undo(run, open_table=reopened)
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert receipt.outcome == "done"
    assert ground.document(root)["refs"]["early"]["snapshot-id"] == last
    assert ground.broken(root) == []


@pytest.mark.slow
def test_undo_brings_no_snapshot_back_whose_files_are_gone(root: Path) -> None:
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    plan = json.loads(json.dumps([path for path, _, _ in Journal().frees(run)]))
    (root / plan[0]).unlink()  # somebody removes orphans
    with pytest.raises(Invalid, match="someone else deleted 1 of the files"):
        recovery.undo(run, open_table=reopened)
    assert len(ids(root)) == 2
    assert recovery.resume(run, open_table=reopened, settle_s=0).outcome == "done"


@pytest.mark.parametrize("change", [DeleteTags(("early",)), DeleteBranches(("work",)), Rollback("latest~1")])
def test_no_ref_is_brought_back_whose_snapshot_has_expired_since(root: Path, change: Change) -> None:
    """An undo that can never succeed must not begin: it would keep the run from being resumed, and so the table."""
    run = cut_off(root, change, AFTER_THE_COMMIT if not isinstance(change, Rollback) else "journal: entry done")
    (ref,) = [json.loads(content) for path, content in Journal().removed(run) if "#refs/" in path]

    def expired(own: Json) -> None:
        for name in ("snapshots", "snapshot-log"):
            own[name] = [each for each in own[name] if each["snapshot-id"] != ref["snapshot-id"]]

    ground.commit(root, expired)
    now = ground.told(root)
    with pytest.raises(Invalid, match="no longer exists; nothing was changed") as refused:
        recovery.undo(run, open_table=reopened)
    assert str(refused.value.remedy) == "Resume the run instead."
    assert "undo started" not in [event["what"] for event in Journal().events(run)]
    assert recovery.resume(run, open_table=reopened, settle_s=0).outcome == "done"
    assert ground.told(root) == now
    assert ground.broken(root) == []


def test_what_can_neither_be_done_nor_undone_deletes_no_file_and_ends(root: Path) -> None:
    """The log no longer tells what the commit replaced, and somebody removed a file as an orphan: it would block the
    table for ever."""
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    (root / next(path for path, kind, _ in Journal().frees(run) if kind == "manifest-list")).unlink()
    ground.commit(root, lambda own: own.update({"metadata-log": []}))
    now, there = ground.told(root), ground.disk(root)
    with pytest.raises(Invalid, match="someone else deleted 1 of the files"):
        recovery.undo(run, open_table=reopened)
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert [each.code for each in receipt.problems] == [codes.REST_LEFT]
    assert (receipt.outcome, receipt.freed_bytes, receipt.deleted) == ("done", 0, ())
    assert (receipt.planned_files, receipt.is_exact) == (len(Journal().frees(run)), False)
    assert ground.told(root) == now
    assert ground.disk(root) == there
    assert Journal().open_run(str(root)) is None


def test_snapshots_brought_back_by_another_hand_keep_their_files(root: Path) -> None:
    """After the commit somebody restores the content of the old version: resume deletes nothing that it holds."""
    before = ground.document(root)
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    there = ground.disk(root)
    ground.commit(root, lambda own: own.update({key: before[key] for key in ("snapshots", "refs", "snapshot-log")}))
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert receipt.deleted == ()
    assert len(receipt.kept_back) == receipt.planned_files
    assert ground.disk(root) == there
    assert ground.broken(root) == []


@pytest.mark.slow
def test_orphans_are_not_looked_for_while_a_run_is_open(root: Path) -> None:
    cut_off(root, Expire(drop_tags=("early",)), BEFORE_IT)
    table = reopened(str(root))
    with pytest.raises(SnapscopeError):
        apply(table, table.preview(CleanOrphans(LATE_MS), LATE_MS), settle_s=0)


NEVER_SENT = "journal: entry commit sent"


@pytest.mark.parametrize("change", ["tag", "rollback"])
def test_what_another_hand_did_alike_is_not_undone(root: Path, change: str) -> None:
    """The run died before it sent its commit; then someone else committed the very same change."""
    first, second = ids(root)[0], ground.opened(Store(str(root))).as_of("latest~1").snapshot.id
    run = cut_off(root, CreateTag("mine", first) if change == "tag" else Rollback("latest~1"), NEVER_SENT)

    def theirs(own: Json) -> None:
        if change == "tag":
            own["refs"]["mine"] = {"snapshot-id": first, "type": "tag"}
        else:
            own["refs"]["main"]["snapshot-id"] = own["current-snapshot-id"] = second
            own["snapshot-log"].append({"timestamp-ms": own["last-updated-ms"], "snapshot-id": second})

    ground.commit(root, theirs)
    after = ground.document(root)
    assert recovery.undo(run, open_table=reopened) == ()
    assert ground.document(root) == after
    assert Journal().run(run).state == UNDONE


def test_a_tag_whose_commit_was_not_sent_is_made_however_much_was_committed_since(root: Path) -> None:
    run = cut_off(root, CreateTag("mine", ids(root)[0]), NEVER_SENT)
    for number in range(2):  # the version that the run was based on leaves the log

        def theirs(own: Json, number: int = number) -> None:
            own["properties"]["n"] = f"{number}"
            own["metadata-log"] = own["metadata-log"][-1:]

        ground.commit(root, theirs)
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert (receipt.outcome, receipt.problems) == ("done", ())
    assert ground.document(root)["refs"]["mine"]["snapshot-id"] == ids(root)[0]


@pytest.mark.parametrize("at", [NEVER_SENT, BEFORE_IT])
def test_a_resumed_run_says_what_others_have_made_of_its_references(root: Path, at: str) -> None:
    third = ids(root)[0]
    run = cut_off(root, Rollback("latest~1"), at)

    def theirs(own: Json) -> None:
        own["refs"]["main"]["snapshot-id"] = own["current-snapshot-id"] = third
        own["snapshot-log"].append({"timestamp-ms": own["last-updated-ms"], "snapshot-id": third})

    ground.commit(root, theirs)
    receipt = recovery.resume(run, open_table=reopened, settle_s=0)
    assert receipt.problems == (codes.NOT_AS_MADE(path="metadata.json#refs/main"),)
    assert ground.document(root)["current-snapshot-id"] == third
