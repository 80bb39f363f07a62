"""Rollbacks, branches and consumers of ours beside Paimon's own, each on a copy of one table: the same references and
the same files are left, and the engine reads and commits on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, SnapscopeError
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import undo
from core.model.actions import (
    Change,
    ClearConsumers,
    CreateBranch,
    DeleteBranches,
    Expire,
    FastForward,
    RenameBranch,
    ResetConsumer,
    Rollback,
)
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge
from tests.support.execution import ground

pytestmark = [pytest.mark.slow, pytest.mark.engines]
COLUMNS = [("k", "BIGINT NOT NULL"), ("v", "STRING")]
NOW = 4_000_000_000_000
Twins = tuple[Path, Path]


@pytest.fixture
def table(java_judge: PaimonJudge, tmp_path: Path) -> Path:
    """Seven commits and a compaction; tags at 2 (expired) and 5, a branch from each, with commits of their own."""
    root = tmp_path / "good" / "default.db" / "t"
    java_judge.create(root, COLUMNS, primary_keys=["k"], options={"bucket": "1", "snapshot.num-retained.min": "100"})
    for number in range(1, 6):
        write(java_judge, root, number)
        if number in (2, 5):
            java_judge.create_tag(root, f"t{number}")
            java_judge.create_branch(root, f"b{number}", tag=f"t{number}")
    java_judge.compact(root)
    write(java_judge, root, 7)
    java_judge.create_tag(root, "late")
    for name in ("b2", "b5"):
        write(java_judge, root, 20, branch=name)
        write(java_judge, root, 21, branch=name)
    java_judge.set_consumer(root, "reader", 7)
    java_judge.set_consumer(root, "other", 6)
    java_judge.delete_consumer(root, "other")
    java_judge.expire(root, retain_max=5, retain_min=5)
    return root


def write(judge: PaimonJudge, root: Path, number: int, **at: Any) -> None:
    judge.write(root, [[number % 4, f"v{number}"], [100 + number, "new"]], **at)


@pytest.fixture
def twins(table: Path, tmp_path: Path) -> Callable[[], Iterator[Path]]:
    def made() -> tuple[Path, Path]:
        found = []
        for name in ("theirs", "ours"):
            root = tmp_path / name / "default.db" / "t"
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(table, root)
            found.append(root)
        return found[0], found[1]

    return made  # type: ignore[return-value]


def changed(root: Path, change: Change, now_ms: int = NOW) -> None:
    opened = open_table(str(root))
    assert apply(opened, opened.preview(change, now_ms), settle_s=0).outcome == "done"


STEPS: dict[str, tuple[Change, Callable[[PaimonJudge, Path], object]]] = {
    "to a snapshot": (Rollback("5", destructive=True), lambda judge, root: judge.rollback(root, snapshot=5)),
    "to a tag": (Rollback("tag:t5", destructive=True), lambda judge, root: judge.rollback(root, tag="t5")),
    "to an expired tag": (Rollback("tag:t2", destructive=True), lambda judge, root: judge.rollback(root, tag="t2")),
    "branch from a tag": (CreateBranch("c", "tag:t5"), lambda judge, root: judge.create_branch(root, "c", tag="t5")),
    "empty branch": (CreateBranch("c"), lambda judge, root: judge.create_branch(root, "c")),
    "rename": (RenameBranch("b5", "c"), lambda judge, root: judge.rename_branch(root, "b5", "c")),
    "delete": (DeleteBranches(("b5",)), lambda judge, root: judge.delete_branch(root, "b5")),
    "forward": (FastForward("b5"), lambda judge, root: judge.fast_forward(root, "b5")),
    "reset consumer": (ResetConsumer("reader", 5), lambda judge, root: judge.set_consumer(root, "reader", 5)),
    "clear consumers": (ClearConsumers(), lambda judge, root: judge.delete_consumer(root, "reader")),
}


def test_what_is_left_is_what_paimon_leaves(java_judge: PaimonJudge, table: Path, twins: Callable[[], Twins]) -> None:
    """References byte for byte; files too, but those that only a deleted branch held: we take them along."""
    for name, (change, does) in STEPS.items():
        theirs, ours = twins()
        plan = open_table(str(ours)).preview(change, NOW)
        before = ground.files(ours) - ground.unheld(ours)
        does(java_judge, theirs)
        changed(ours, change)
        assert ground.references(ours) == ground.references(theirs), name
        freed = {path for path in plan.frees["path"].to_pylist() if path.split("/")[0] not in ground.OWN}
        assert ground.files(ours) == ground.files(theirs) - freed, name
        assert bool(freed) == (name == "delete"), name
        assert set(plan.orphans["path"].to_pylist()) | freed == before - (ground.files(ours) - ground.unheld(ours)), (
            name
        )
        assert ground.broken(ours) == [], name
        for branch in (None, "b5", "c"):
            there = branch is None or (ours / f"branch/branch-{branch}").is_dir()
            if not there:
                continue
            assert (theirs / f"branch/branch-{branch}").is_dir() or branch is None, name
            assert java_judge.rows(ours, branch=branch) == java_judge.rows(theirs, branch=branch), (name, branch)
            for root in (ours, theirs):
                write(java_judge, root, 33, branch=branch)
            assert java_judge.rows(ours, branch=branch) == java_judge.rows(theirs, branch=branch), (name, branch)
        java_judge.compact(ours)
        java_judge.expire(ours, retain_max=1, retain_min=1)
        assert java_judge.rows(ours) == java_judge.rows(theirs), name


def test_taken_back_it_is_as_it_was_and_paimon_goes_on(
    java_judge: PaimonJudge, table: Path, twins: Callable[[], Twins], monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.execution import delete_files

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    for name, (change, _) in STEPS.items():
        _, ours = twins()
        before = ground.references(ours)
        with monkeypatch.context() as dying:
            dying.setattr(delete_files, "sweep", ends)
            with pytest.raises(KeyboardInterrupt):
                changed(ours, change)
        run = Journal().open_run(str(ours))
        assert run is not None
        assert ground.references(ours) != before, name
        undo(run.id, open_table=open_table)
        assert ground.references(ours) == before, name
        assert ground.broken(ours) == [], name
    write(java_judge, ours, 33)


def test_a_commit_in_between_is_not_rolled_back_unseen(
    java_judge: PaimonJudge, table: Path, twins: Callable[[], Twins]
) -> None:
    """Seen before the first effect: refused. Seen only afterwards: the run is not taken back over it."""
    _, ours = twins()
    opened = open_table(str(ours))
    plan = opened.preview(Rollback("5", destructive=True), NOW)
    write(java_judge, ours, 50)
    before = ground.references(ours)
    with pytest.raises(Conflict, match="has changed since"):
        apply(opened, plan, settle_s=0)
    assert ground.references(ours) == before
    for change in (Rollback("tag:nobody", destructive=True), CreateBranch("c", "5"), ResetConsumer("reader", 1)):
        with pytest.raises(SnapscopeError):
            opened.preview(change, NOW)


def test_back_by_a_new_snapshot_as_paimon_does_it(
    java_judge: PaimonJudge, table: Path, twins: Callable[[], Twins]
) -> None:
    """The same rows, schema and counts as the engine's own; no snapshot goes, the old one is kept by a tag, a second
    time leads back, and the engine compacts and commits on."""
    for change, point in ((Rollback("5"), {"snapshot": 5}), (Rollback("tag:t2"), {"tag": "t2"})):
        theirs, ours = twins()
        java_judge.rollback_as_latest(theirs, **point)
        before = ground.references(ours)
        rows = java_judge.rows(ours, **point)
        changed(ours, change)
        assert java_judge.rows(ours) == java_judge.rows(theirs) == rows
        told = [java_judge.snapshots(root)[-1] for root in (ours, theirs)]
        same = ("id", "kind", "schema_id", "total_rows", "delta_rows")
        assert [told[0].get(key) for key in same] == [told[1].get(key) for key in same], told
        after = ground.references(ours)
        assert before.items() <= after.items(), "nothing goes"
        made = {path for path in after.keys() - before.keys() if path.startswith("tag/")}
        assert len(made) == ("snapshot" in point)
        assert ground.broken(ours) == []
        changed(ours, Rollback("latest~1"))
        assert java_judge.rows(ours) == java_judge.rows(ours, snapshot=told[0]["id"] - 1) != rows
        changed(ours, change, NOW + 1)
        write(java_judge, ours, 33)
        write(java_judge, theirs, 33)
        assert java_judge.rows(ours) == java_judge.rows(theirs)
        java_judge.compact(ours)
        assert java_judge.rows(ours) == java_judge.rows(theirs)
        assert ground.broken(ours) == []
        changed(ours, Expire(retain_max=2, retain_min=1), NOW + 2)
        assert ground.broken(ours) == []
        assert java_judge.rows(ours) == java_judge.rows(theirs), "what came back outlives the snapshots it came from"
