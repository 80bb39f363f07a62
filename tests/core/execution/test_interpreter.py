"""A process that dies before one of its effects, for every kind of change: nothing held is lost, and the rest of the
way leads where a clean run leads.

For every n of `tests.support.depth.moments` until a run gets through: the table is restored, the change dies before its
n-th effect (a file created,
overwritten or deleted, a directory removed, a journal entry begun or just written), every kept point is read, and
then it is resumed on one copy and undone on another.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Conflict, Invalid
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import DONE, Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.model.actions import (
    Change,
    CleanOrphans,
    ClearConsumers,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    DropPartitions,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    ResetConsumer,
    Rollback,
    Truncate,
)
from core.model.plan import Plan
from core.storage.store import Store
from core.table import Table, open_table
from tests.support import set_model
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Life
from tests.support.execution.stages import Check, Stage, open_run

NOW = ground.LATE_MS
CHANGES: dict[str, Change] = {
    "expire": Expire(retain_max=3, retain_min=1, drop_tags=("early",)),
    "expire-empty-directories": Expire(retain_max=1, retain_min=1, drop_tags=("early",), branch="main"),
    "expire-leaving-changelogs": Expire(retain_max=3, retain_min=1, changelog_retain_max=100),
    "expire-branch": Expire(retain_max=1, retain_min=1, branch="b"),
    "delete-tag": DeleteTags(("early", "twin")),
    "replace-tag": ReplaceTag("early", 9),
    "rename-tag": RenameTag("early", "late"),
    "create-tag": CreateTag("new", 9),
    "orphans": CleanOrphans(older_than_ms=NOW),
    "rollback": Rollback("tag:early", destructive=True),
    "rename-branch": RenameBranch("b", "c"),
    "fast-forward": FastForward("b"),
    "delete-branch": DeleteBranches(("b",)),
    "create-branch": CreateBranch("new", "tag:early"),
    "reset-consumer": ResetConsumer("job-a", 7),
    "clear-consumers": ClearConsumers("job-.*", "job-c"),
}
LEFT_BEHIND = (
    "dt=2026-01-01/bucket-0/data-00000000-0000-4000-8000-000000000001-0.parquet",
    "manifest/manifest-00000000-0000-4000-8000-000000000002-0",
    "index/index-00000000-0000-4000-8000-000000000003-0",
)


@pytest.fixture
def stage(tmp_path: Path, request: pytest.FixtureRequest) -> Stage:
    good = ground.warehouse(tmp_path / "good")
    name = request.getfixturevalue("name")
    options = {"snapshot.clean-empty-directories": "true"} if name == "expire-empty-directories" else {}
    if name in ("drop-partition", "truncate"):
        plain_table(good)
    else:
        made = ground.small_table(good, **options)
        for number, job in enumerate(("job-a", "job-b", "job-c") if "consumer" in name else ()):
            made.consumer(job, 3 + number)
    if name in ("delete-tag", "replace-tag"):  # so that only the tags hold something
        table = open_table(str(good))
        apply(table, table.preview(Expire(retain_max=2, retain_min=1), NOW), settle_s=0)
    if name == "rollback":  # the snapshot is written again from its tag
        table = open_table(str(good))
        apply(table, table.preview(Expire(retain_max=4, retain_min=1), NOW), settle_s=0)
    if name == "orphans":
        for path in LEFT_BEHIND:
            (good / path).write_bytes(b"left behind")
    root = ground.warehouse(tmp_path / "stage")
    manifests = PaimonManifests(Store(str(root)))
    return Stage(good, root, tmp_path, NOW, ground.copied, lambda store: Table(PaimonFormat(store, manifests)))


def plain_table(root: Path) -> TableBuilder:
    """Create three commits of two days without index files, and a tag."""
    table = TableBuilder(root, partition_keys=["dt"])
    for number in range(3):
        table.commit([table.file(1_000 + number, rows=10, partition=(f"2026-01-0{1 + number % 2}",))])
    table.tag("early", 2)
    return table


def deaths(stage: Stage, change: Change, *, is_fault: bool = False) -> Iterator[tuple[Life, Journal, Table]]:
    """After every crash, only planned files are gone or rewritten, and every kept version is readable."""

    def watch(plan: Plan) -> Check:
        before = ground.references(stage.root)
        may_go = {path for path, _ in plan.removes} | set(plan.frees["path"].to_pylist())
        if isinstance(change, RenameTag):
            may_go.add("tag/tag-early")

        def check(life: Life) -> None:
            after = ground.references(stage.root)
            lost = {path for path in before if path not in after}
            rewritten = {path for path in before if path in after and before[path] != after[path]}
            assert lost <= may_go, life.log
            assert rewritten <= set(plan.leaves), life.log
            assert ground.broken(stage.root) == [], life.log

        return check

    return stage.deaths(change, watch, is_fault=is_fault)


def end_of_a_clean_run(stage: Stage, change: Change) -> tuple[frozenset[str], dict[str, bytes]]:
    assert stage.run_clean(change).kept_back == ()
    assert ground.broken(stage.root) == []
    return ground.disk(stage.root), ground.references(stage.root)


def without_litter(paths: frozenset[str]) -> frozenset[str]:
    """Temporary files of interrupted writes are harmless, and have names that every reader skips."""
    return frozenset(path for path in paths if not path.endswith(".tmp"))


REWRITES = {"rollback", "rename-branch", "fast-forward", "delete-branch", "create-branch"}
COMMITS: dict[str, Change] = {
    "as-latest": Rollback("5"),
    "drop-partition": DropPartitions(("dt=2026-01-01",)),
    "truncate": Truncate(),
}
QUICK = {"rename-tag", "create-tag"}
CASES = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in CHANGES]


@pytest.mark.parametrize("name", CASES)
def test_resume_ends_where_a_clean_run_ends(name: str, stage: Stage) -> None:
    change = CHANGES[name]
    end, documents = end_of_a_clean_run(stage, change)
    for life, journal, table in deaths(stage, change):
        run = open_run(journal)
        if run is None:  # crashed before the first entry or after the last: all or nothing
            expected = (end, documents) if journal.runs() else (ground.disk(stage.good), ground.references(stage.good))
            assert (ground.disk(stage.root), ground.references(stage.root)) == expected, life.log
            continue
        with pytest.raises(Conflict, match="has not finished"):
            apply(table, table.preview(CleanOrphans(older_than_ms=1), NOW), settle_s=0, journal=journal)
        try:
            receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        except Invalid as refused:  # what was not yet published is undone instead
            assert isinstance(change, ReplaceTag | CreateTag | RenameTag), refused
            recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
            assert ground.references(stage.root) == ground.references(stage.good), life.log
        else:
            assert receipt.outcome == "done", (life.log, receipt)
            assert without_litter(ground.disk(stage.root)) == end, life.log
            assert ground.references(stage.root) == documents, life.log
        assert ground.broken(stage.root) == []
        assert open_run(journal) is None
        journal.verify()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_undo_brings_every_reference_back_byte_for_byte(name: str, stage: Stage) -> None:
    change = CHANGES[name]
    undone = 0
    for life, journal, table in deaths(stage, change):
        run = open_run(journal)
        if run is None:
            continue
        swept = any("sweep started" in effect for effect in life.log)
        if swept and f"journal: written {'sweep started'}" in life.log:
            with pytest.raises(Invalid, match="it has started to delete files"):
                recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
            continue
        if not journal.run(run).can_undo:
            continue
        recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
        undone += 1
        assert ground.references(stage.root) == ground.references(stage.good), life.log
        assert without_litter(ground.files(stage.root)) == ground.files(stage.good), life.log
        assert ground.broken(stage.root) == []
        with pytest.raises(Invalid):
            recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert table.preview(change, NOW).frees.equals(stage.again().preview(change, NOW).frees)
    assert undone


@pytest.mark.parametrize("name", [case for case in CASES if case.values[0] not in REWRITES - {"rollback"}])
def test_one_refused_effect_loses_nothing_and_is_told(name: str, stage: Stage) -> None:
    """The store rejects one effect and then works again: every handler runs, and none makes it worse."""
    change = CHANGES[name]
    end, documents = end_of_a_clean_run(stage, change)
    for life, journal, table in deaths(stage, change, is_fault=True):
        run = open_run(journal)
        if journal.runs()[0].state == DONE:  # a hint that said the right thing already was not written again
            assert without_litter(ground.disk(stage.root)) == end, life.log
            assert ground.references(stage.root) == documents, life.log
            continue
        assert any("503" in str(event["detail"]) for event in journal.events()), life.log
        if run is None:
            assert ground.references(stage.root) in (documents, ground.references(stage.good)), life.log
            continue
        receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert receipt.outcome == "done"
        assert without_litter(ground.disk(stage.root)) == end, life.log
        assert ground.references(stage.root) == documents, life.log


@pytest.mark.slow
@pytest.mark.parametrize("name", ["as-latest", "drop-partition", "truncate"])
def test_what_ends_in_a_commit_lands_once_or_is_taken_back(name: str, stage: Stage) -> None:
    """Interrupted before the snapshot, a tag created first can be removed; after it, the run ends with what exists."""
    change = COMMITS[name]
    now = set_model.read(stage.good).holders
    kept = {"as-latest": "", "drop-partition": "dt=2026-01-02/", "truncate": "nothing"}[name]
    newest = max(int(point) for point in now if point.isdecimal())
    before = now["5" if name == "as-latest" else str(newest)].live
    wanted = tuple(each for each in before if kept in str(each))
    new = f"snapshot/snapshot-{newest + 1}"
    ends = set()
    for number, (life, journal, table) in enumerate(deaths(stage, change)):
        run = open_run(journal)
        if run is None:
            continue
        landed = (stage.root / new).exists()
        if number % 2 and not landed:
            recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
            assert ground.references(stage.root) == ground.references(stage.good), life.log
            ends.add("undone")
            continue
        if landed:
            with pytest.raises(Invalid, match="was committed"):
                recovery.undo(run, open_table=lambda _, table=table: table, journal=journal)
        receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        assert receipt.created[-1] == new, life.log
        assert not (stage.root / f"snapshot/snapshot-{newest + 2}").exists(), life.log
        assert set_model.read(stage.root).holders[str(newest + 1)].live == wanted, life.log
        assert ground.broken(stage.root) == []
        ends.add("landed before" if landed else "resumed")
    assert ends == {"undone", "resumed", "landed before"}


def test_a_rollback_by_a_new_snapshot_undoes_nothing_unseen(tmp_path: Path) -> None:
    """A commit between the plan and its own commit is not rolled back with the rest."""
    root = ground.warehouse(tmp_path / "w")
    builder = ground.small_table(root)
    table = open_table(str(root))
    plan = table.preview(Rollback("5"), NOW)
    assert plan.headline == "Rolls main back to snapshot 5; reclaims nothing."
    builder.commit([builder.file(1_800, rows=10, partition=("2026-01-01",))])
    before = ground.references(root)
    with pytest.raises(Conflict, match="has changed since"):
        apply(table, plan, settle_s=0)
    assert ground.references(root) == before
    assert Journal().open_run(table.location) is None
