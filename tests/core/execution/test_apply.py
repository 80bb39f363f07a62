"""Applying a plan while the table changes: it may do less than was shown, never more, and never breaks a kept
version."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.catalog import DEMO_MARKER
from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError
from core.execution import delete_files, grace_period
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model import codes
from core.model.actions import (
    Change,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    Rollback,
)
from core.model.plan import Plan
from core.storage.store import Store
from core.table import Table, open_table
from tests.support import set_model
from tests.support.builders import START_MS, DataFile, TableBuilder
from tests.support.formats.paimon.tables import four_commits, list_of, merging

NOW_MS = START_MS + 10**11
KEEP_ONE = Expire(retain_max=1, retain_min=1)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """Create six snapshots, tag v on 2, tag w on 4, branch dev from v with its own commit; deletion is allowed."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / DEMO_MARKER).touch()
    made = four_commits(tmp_path / "w" / "default.db" / "t")
    made.commit([made.file()], made.live()[:1], kind="COMPACT")
    made.commit([made.file(extra=[".index"])])
    made.tag("w", 4)
    made.branch("dev", "v").commit([made.file()])
    return made


def opened(table: TableBuilder) -> Table:
    return open_table(str(table.root))


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def assert_whole(root: Path) -> set_model.Model:
    """Check that every file held by a remaining version exists."""
    model = set_model.read(root)
    missing = {path for path in model.paths() if not path.startswith("file:") and not (root / path).is_file()}
    assert missing == set()
    assert open_table(str(root)).history().incomplete == {}
    return model


def go(table: TableBuilder, plan: Plan, **more: Any) -> Any:
    return apply(opened(table), plan, settle_s=0, **more)


# before anything goes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settle_s", [-1, float("nan"), float("inf"), 1e12])
def test_a_wait_that_cannot_be_waited_is_refused_before_anything_goes(table: TableBuilder, settle_s: float) -> None:
    before = tree(table.root)
    with pytest.raises(Invalid, match="wait"):
        apply(opened(table), opened(table).preview(KEEP_ONE, NOW_MS), settle_s=settle_s)
    assert tree(table.root) == before


def test_a_receipt_is_exact(table: TableBuilder) -> None:
    before = tree(table.root)
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    told: list[tuple[int, int]] = []
    receipt = go(table, plan, progress=lambda done, total: told.append((done, total)))
    gone = {path for path in before if path not in tree(table.root)}
    assert set(receipt.deleted) == gone == set(plan.frees["path"].to_pylist())
    assert receipt.freed_bytes == plan.freed_bytes == sum(len(before[path]) for path in gone)
    assert (receipt.outcome, receipt.kept_back, receipt.problems) == ("done", (), ())
    assert told[-1] == (plan.frees.num_rows, plan.frees.num_rows)  # references that went first are counted
    assert (table.root / "snapshot/EARLIEST").read_bytes() == b"6"
    assert_whole(table.root)
    again = opened(table).preview(KEEP_ONE, NOW_MS)
    assert (again.frees.num_rows, again.deleted_points) == (0, ())


# the world between plan and apply ------------------------------------------------------------------------------------


def commit_schema(table: TableBuilder) -> None:
    table.schema(options={"snapshot.num-retained.min": "6"})


CONFLICTS: dict[str, tuple[Any, Callable[[TableBuilder], Any]]] = {
    "a snapshot that goes is gone": (KEEP_ONE, lambda t: (t.root / "snapshot/snapshot-1").unlink()),
    "the last that goes is gone": (KEEP_ONE, lambda t: (t.root / "snapshot/snapshot-5").unlink()),
    "a snapshot that goes is another": (
        KEEP_ONE,
        lambda t: (t.root / "snapshot/snapshot-2").write_bytes((t.root / "snapshot/snapshot-2").read_bytes() + b"\n"),
    ),
    "a tag that goes is gone": (DeleteTags(("v",)), lambda t: (t.root / "tag/tag-v").unlink()),
    "a tag that goes was replaced": (
        DeleteTags(("v",)),
        lambda t: shutil.copy(t.root / "snapshot/snapshot-6", t.root / "tag/tag-v"),
    ),
    "a consumer wants a snapshot that goes": (KEEP_ONE, lambda t: t.consumer("job", 3)),
    "the table's options keep more": (
        Expire(older_than_ms=NOW_MS, retain_max=99),
        lambda t: t.schema(options={"snapshot.num-retained.min": "99"}),
    ),
}


@pytest.mark.parametrize("what", CONFLICTS)
def test_conflicts_change_nothing(table: TableBuilder, what: str) -> None:
    change, happens = CONFLICTS[what]
    if isinstance(change, Expire) and change.retain_max == 99:
        table.schema(options={"snapshot.num-retained.min": "1"})
    plan = opened(table).preview(change, NOW_MS)
    assert plan.deleted_points
    happens(table)
    before = tree(table.root)
    with pytest.raises(Conflict, match=r"[Nn]othing was changed"):
        go(table, plan)
    assert tree(table.root) == before


def test_a_reference_that_became_unreadable_stops_it(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    (table.root / "tag/tag-new").write_bytes(b"{")
    before = tree(table.root)
    monkeypatch.setattr(Table, "heads", impatient(Table.heads))
    with pytest.raises(Corrupt, match="tag-new"):
        go(table, plan)
    assert tree(table.root) == before


def impatient(heads: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, **_: heads(self)


def test_new_commits_are_no_conflict(table: TableBuilder) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    table.commit([table.file()])
    table.commit([table.file()], table.live()[:2], kind="COMPACT")
    receipt = go(table, plan)
    assert receipt.outcome == "done"
    left = {holder for holder in assert_whole(table.root).holders if ":" not in holder}
    assert left == {"6", "7", "8"}


def test_a_commit_that_brings_back_a_file_keeps_it(table: TableBuilder) -> None:
    """A rollback made as a new commit: the newest snapshot again reads what the plan would free."""
    before = opened(table)
    shutil.rmtree(table.root / "branch")
    plan = before.preview(Expire(retain_max=1, retain_min=1, drop_tags=("v",)), NOW_MS)
    files = {f"bucket-0/{file.name}": file for file in table.commits[2].live.values()}
    back = set(files) & set(plan.frees["path"].to_pylist())
    assert back
    with merging():
        table.commit([files[path] for path in back], kind="OVERWRITE")
    receipt = go(table, plan)
    assert back <= {path for path, _ in receipt.kept_back}
    assert_whole(table.root)
    assert receipt.outcome == "done"


def test_a_snapshot_tagged_since_keeps_what_the_tag_holds(table: TableBuilder) -> None:
    """The engine expires a tagged snapshot; its files now belong to the tag."""
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    shutil.copy(table.root / "snapshot/snapshot-3", table.root / "tag/tag-new")
    held = set_model.read(table.root).holders["tag:new"].paths
    receipt = go(table, plan)
    assert held & set(plan.frees["path"].to_pylist()), "otherwise there is nothing to see"
    assert not held & set(receipt.deleted)
    assert {why for _, why in receipt.kept_back} == {codes.HELD_SINCE()}
    assert "tag:new" in assert_whole(table.root).holders


# the world while it settles and sweeps -------------------------------------------------------------------------------


@pytest.fixture
def settling(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], Any]]]:
    """What happens while apply waits for writers."""
    waiting: list[Callable[[], Any]] = []

    def wait(*_: object) -> None:
        for happens in waiting:
            happens()
        waiting.clear()

    monkeypatch.setattr(grace_period, "wait", wait)
    yield waiting
    assert waiting == [], "it never waited"


def test_a_tag_published_while_it_settles_keeps_its_files(
    table: TableBuilder, settling: list[Callable[[], Any]]
) -> None:
    """The writer had read snapshot 3 before it was deleted."""
    content = (table.root / "snapshot/snapshot-3").read_bytes()
    held = set_model.read(table.root).holders["3"].paths - {"snapshot/snapshot-3"}
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    settling.append(lambda: (table.root / "tag/tag-late").write_bytes(content))
    receipt = go(table, plan)
    assert held & set(plan.frees["path"].to_pylist())
    model = assert_whole(table.root)
    assert not model.holders["tag:late"].paths & set(receipt.deleted)
    assert receipt.outcome == "done"


def test_a_branch_cut_while_it_settles_keeps_its_files(table: TableBuilder, settling: list[Callable[[], Any]]) -> None:
    content = (table.root / "tag/tag-w").read_bytes()
    plan = opened(table).preview(Expire(retain_max=1, retain_min=1, drop_tags=("w",)), NOW_MS)
    made = table.root / "branch/branch-late"

    def cut() -> None:
        shutil.copytree(table.root / "schema", made / "schema")
        (made / "snapshot").mkdir()
        (made / "snapshot/snapshot-4").write_bytes(content)

    settling.append(cut)
    receipt = go(table, plan)
    assert "branch:late/4" in assert_whole(table.root).holders
    assert receipt.kept_back


def test_a_commit_while_it_settles_is_kept(table: TableBuilder, settling: list[Callable[[], Any]]) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    settling.append(lambda: table.commit([table.file()]))
    assert go(table, plan).outcome == "done"
    assert "7" in assert_whole(table.root).holders


def test_an_unreadable_reference_while_it_settles_stops_the_sweep(
    table: TableBuilder, settling: list[Callable[[], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(table.root)
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    settling.append(lambda: (table.root / "tag/tag-half").write_bytes(b'{"id": 3'))
    monkeypatch.setattr(Table, "heads", impatient(Table.heads))
    with pytest.raises(Corrupt, match="tag-half"):
        go(table, plan)
    gone = set(before) - set(tree(table.root))
    assert gone == {path for path, _ in plan.removes}, "references went, no file did"


@pytest.mark.parametrize("after", range(5))
def test_a_tag_published_between_two_batches_keeps_what_is_left(
    table: TableBuilder, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """References are listed again before every batch. One that came too late for its own files stops the sweep."""
    content = (table.root / "snapshot/snapshot-3").read_bytes()
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    held = set_model.read(table.root).holders["3"].paths
    monkeypatch.setattr(delete_files, "BATCH", 1)
    delete = Store.delete
    swept: list[str] = []
    late: list[str] = []

    def watched(self: Store, path: str, was: bytes | None = None) -> bool:
        if not path.startswith(("snapshot/", "tag/")):
            if len(swept) == after:
                (table.root / "tag/tag-late").write_bytes(content)
            elif len(swept) > after:
                late.append(path)
            swept.append(path)
        return delete(self, path, was)

    monkeypatch.setattr(Store, "delete", watched)
    try:
        go(table, plan)
    except Corrupt as error:
        assert error.path in held
        assert late == []
    assert len(swept) > after
    assert not held & set(late)


def test_references_that_never_agree_stop_the_sweep(
    table: TableBuilder, settling: list[Callable[[], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    heads = Table.heads
    flips: list[int] = []

    def restless(self: Table, **more: Any) -> Any:
        if flips:
            flips.append(1)
            newest = max((table.root / "snapshot").glob("snapshot-*"))
            shutil.copy(newest, table.root / f"tag/tag-flip{len(flips)}")
        return heads(self, **more)

    monkeypatch.setattr(Table, "heads", restless)
    settling.append(lambda: flips.append(1))
    with pytest.raises(Conflict, match="kept changing"):
        go(table, plan)
    flips.clear()
    assert_whole(table.root)


# a store that fails --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("error", [Corrupt("The store refused."), KeyboardInterrupt()], ids=lambda e: type(e).__name__)
def test_a_delete_that_fails_at_any_call_breaks_no_kept_point(
    table: TableBuilder, error: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The store raises at call n; for every n, everything that stays is readable and only planned files are gone."""
    whole = tmp_path / "whole"
    shutil.copytree(table.root, whole)
    change = Expire(retain_max=1, retain_min=1, drop_tags=("v", "w"))
    kept = {"6", "branch:dev/2", "branch:dev/3", "branch:dev/tag:v"}
    call = 0
    while True:
        shutil.rmtree(table.root)
        shutil.copytree(whole, table.root)
        monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / f"state-{call}"))
        plan = opened(table).preview(change, NOW_MS)
        failing = failing_at(call, error)
        with monkeypatch.context() as patch:
            patch.setattr(Store, "delete", failing)
            try:
                receipt = go(table, plan)
            except (SnapscopeError, KeyboardInterrupt) as raised:
                assert raised is error
                receipt = None
        gone = set(tree(whole)) - set(tree(table.root))
        assert gone <= set(plan.frees["path"].to_pylist())
        model = assert_whole(table.root) if not _half(table.root, kept) else set_model.read(table.root)
        assert kept <= set(model.holders)
        for point in kept:
            assert all((table.root / path).is_file() for path in model.holders[point].paths), (call, point)
        if receipt is not None and receipt.outcome == "done":
            break
        call += 1
    assert call == plan.frees.num_rows


def failing_at(call: int, error: BaseException) -> Callable[..., bool]:
    """A delete that raises at the n-th call, from whatever thread."""
    delete, calls = Store.delete, itertools.count()  # `next` of a count is atomic

    def failing(self: Store, path: str, was: bytes | None = None) -> bool:
        if next(calls) == call:
            raise error
        return delete(self, path, was)

    return failing


def _half(root: Path, kept: set[str]) -> bool:
    """Return whether references that should be removed are left."""
    return {holder.point for holder in open_table(str(root)).history().holders} != kept


def test_cancelling_leaves_whole_points(table: TableBuilder) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    asked = iter(range(10**6))
    receipt = go(table, plan, cancelled=lambda: next(asked) >= 3)
    assert receipt.outcome == "cancelled"
    assert len(receipt.deleted) < plan.frees.num_rows
    assert_whole(table.root)


def test_cancelling_ends_the_wait_for_writers(table: TableBuilder) -> None:
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    asked, told, began = threading.Event(), list[float](), time.monotonic()

    def waits(seconds: float) -> None:
        told.append(seconds)
        asked.set()

    receipt = apply(opened(table), plan, settle_s=200, waits=waits, cancelled=asked.is_set)
    assert time.monotonic() - began < 100
    assert told == [200]
    assert (receipt.outcome, set(receipt.deleted)) == ("cancelled", {path for path, _ in plan.removes})
    assert Journal().run(receipt.run).can_undo
    assert_whole(table.root)


def test_external_files_go_and_their_neighbours_stay(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / DEMO_MARKER).touch()
    (tmp_path / "ext").mkdir()
    for name in ("gone.parquet", "gone.parquet.index", "kept.parquet", "foreign.parquet"):
        (tmp_path / "ext" / name).write_bytes(bytes(7))
    made = TableBuilder(tmp_path / "w/default.db/t", options={"data-file.external-paths": f"file://{tmp_path}/ext"})
    gone, kept = (
        DataFile(f"{name}.parquet", 7, 1, extra=extra, external=f"file:{tmp_path}/ext/{name}.parquet")
        for name, extra in (("gone", ("gone.parquet.index",)), ("kept", ()))
    )
    made.commit([gone, kept])
    made.commit([], [gone], kind="OVERWRITE")
    plan = opened(made).preview(KEEP_ONE, NOW_MS)
    root = f"file://{tmp_path}/ext"
    assert plan.headline.endswith(f"Outside the table's directory it deletes 2 files (14 B) under {root}.")
    with pytest.raises(Invalid, match=r"2 files \(14 B\) under file:"):
        go(made, plan)
    assert len(list((tmp_path / "ext").iterdir())) == 4
    assert Journal().runs() == []
    receipt = apply(opened(made), plan, settle_s=0, outside=[f"file:{tmp_path}/ext/"])
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert sorted(path.name for path in (tmp_path / "ext").iterdir()) == ["foreign.parquet", "kept.parquet"]


# tags ----------------------------------------------------------------------------------------------------------------


def test_a_tag_is_a_byte_copy_whatever_the_document_says(table: TableBuilder) -> None:
    path = table.root / "snapshot/snapshot-6"
    path.write_bytes(
        path.read_bytes().rstrip(b"} \n") + b',\n  "from the future" : { "a" : 1.0 },  "big":9007199254740993\n}\n'
    )
    go(table, opened(table).preview(CreateTag("x"), NOW_MS))
    assert (table.root / "tag/tag-x").read_bytes() == path.read_bytes()


def test_a_tag_with_a_retention_keeps_every_field(table: TableBuilder) -> None:
    path = table.root / "snapshot/snapshot-6"
    path.write_bytes(
        path.read_bytes().rstrip(b"} \n") + b', "from the future": {"a": [1, 2]}, "big": 9007199254740993}'
    )
    go(table, opened(table).preview(CreateTag("x", retained_ms=90_000), NOW_MS))
    document = json.loads((table.root / "tag/tag-x").read_bytes())
    created = document.pop("tagCreateTime")
    assert document.pop("tagTimeRetained") == 90
    assert document == json.loads(path.read_bytes())
    assert 5 <= len(created) <= 7
    [tag] = [tag for tag in opened(table).heads().main.tags if tag.name == "x"]
    assert tag.expires is not None


def test_a_tag_is_made_by_one_of_many(table: TableBuilder) -> None:
    opened_ = opened(table)
    plans = [opened_.preview(CreateTag("x", number), NOW_MS) for number in range(1, 7)]
    won: list[int] = []
    lost: list[SnapscopeError] = []
    barrier = threading.Barrier(len(plans))

    def publish(number: int) -> None:
        barrier.wait()
        try:
            go(table, plans[number])
            won.append(number + 1)
        except (Conflict, Invalid) as error:
            lost.append(error)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(len(plans))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert len(lost) == 5
    assert (table.root / "tag/tag-x").read_bytes() == (table.root / f"snapshot/snapshot-{won[0]}").read_bytes()


@pytest.mark.parametrize("happens", ["gone", "another"])
def test_a_tag_whose_snapshot_goes_while_it_is_made_is_withdrawn(
    table: TableBuilder, happens: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An expiry read the tags before this one existed: what the tag references may be deleted at any moment."""
    plan = opened(table).preview(CreateTag("x", 3), NOW_MS)
    create = Store.create
    path = table.root / "snapshot/snapshot-3"

    def slow(self: Store, relative: str, data: bytes) -> None:
        create(self, relative, data)
        if relative == "tag/tag-x":
            path.unlink()
            if happens == "another":
                shutil.copy(table.root / "snapshot/snapshot-4", path)

    monkeypatch.setattr(Store, "create", slow)
    with pytest.raises(Conflict):
        go(table, plan)
    assert not (table.root / "tag/tag-x").exists()


def test_a_tag_of_a_snapshot_that_expired_since_the_plan(table: TableBuilder) -> None:
    plan = opened(table).preview(CreateTag("x", 1), NOW_MS)
    (table.root / "snapshot/snapshot-1").unlink()
    with pytest.raises((NotFound, Conflict)):
        go(table, plan)
    assert not (table.root / "tag/tag-x").exists()


SHOWN: dict[str, tuple[Change, list[Change]]] = {  # the plan that is confirmed late, and what someone else did before
    "the same tag, now the only holder": (CreateTag("late", 1), [CreateTag("late", 1), KEEP_ONE]),
    "the same tag": (CreateTag("late", 6), [CreateTag("late", 6)]),
    "a tag renamed in the same way": (RenameTag("v", "kept"), [RenameTag("v", "kept")]),
    "a renamed tag that was deleted with its files": (RenameTag("w", "kept"), [KEEP_ONE, DeleteTags(("w",))]),
    "a renamed tag that was replaced": (RenameTag("w", "kept"), [ReplaceTag("w", 6)]),
    "a tag replaced in the same way": (ReplaceTag("w", 6), [ReplaceTag("w", 6)]),
    "the same branch": (CreateBranch("new", "tag:w"), [CreateBranch("new", "tag:w")]),
    "a branch renamed in the same way": (RenameBranch("dev", "new"), [RenameBranch("dev", "new")]),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_plan_confirmed_late_leaves_what_others_did(table: TableBuilder, case: str) -> None:
    """Reference by reference; the refused run ends, so that it blocks nothing and no undo is offered."""
    change, others = SHOWN[case]
    plan = opened(table).preview(change, NOW_MS)
    for other in others:
        go(table, opened(table).preview(other, NOW_MS))
    before = tree(table.root)
    with pytest.raises((Conflict, Invalid)):
        go(table, plan)
    assert tree(table.root) == before
    assert Journal().open_run(str(table.root)) is None
    assert_whole(table.root)


@pytest.mark.parametrize("change", [CreateBranch("new", "tag:w"), RenameBranch("dev", "new"), DeleteBranches(("dev",))])
def test_the_same_change_of_a_branch_by_another_machine_stays(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    """It comes after the plan was confirmed, and before the first effect: other machines do not see the lock."""
    twin = table.root.parent / "twin"
    shutil.copytree(table.root, twin)
    apply(open_table(str(twin)), open_table(str(twin)).preview(change, NOW_MS), settle_s=0)
    plan, start = opened(table).preview(change, NOW_MS), Journal.start

    def late(*given: Any) -> str:
        shutil.rmtree(table.root / "branch")
        if (twin / "branch").is_dir():
            shutil.copytree(twin / "branch", table.root / "branch")
        return start(*given)

    monkeypatch.setattr(Journal, "start", late)
    with contextlib.suppress(Conflict):
        go(table, plan)
    assert tree(table.root / "branch") == tree(twin / "branch")
    assert Journal().open_run(str(table.root)) is None


def test_rollbacks_planned_in_the_same_millisecond_have_a_tag_each(table: TableBuilder) -> None:
    for _ in range(2):
        go(table, opened(table).preview(Rollback("4"), NOW_MS))
    names = [tag.name for tag in opened(table).heads().main.tags if tag.name.startswith("rollback-to-as-latest-4-")]
    assert len(names) == 2
    assert_whole(table.root)


def test_a_tag_replaced_while_its_files_are_checked_stays(table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snapshot of the first one lacks a file, so it is withdrawn; the other one is not."""
    plan = opened(table).preview(CreateTag("late", 6, verified=True), NOW_MS)
    tag = table.root / "tag/tag-late"

    def replaced(*_: Any) -> list[str]:
        tag.write_bytes((table.root / "snapshot/snapshot-5").read_bytes())
        return ["dt=1/bucket-0/data-0.parquet"]

    monkeypatch.setattr(Table, "missing_files", replaced)
    with pytest.raises(Corrupt):
        go(table, plan)
    assert tag.read_bytes() == (table.root / "snapshot/snapshot-5").read_bytes()


def test_a_plan_that_was_changed_by_hand_frees_no_more_than_it_may(table: TableBuilder) -> None:
    """A plan that was saved and edited, or made by an older version, still cannot delete what a kept version holds."""
    plan = opened(table).preview(KEEP_ONE, NOW_MS)
    model = set_model.read(table.root)
    kept = model.holders["6"].paths | model.holders["tag:v"].paths
    more = [{"path": path, "kind": "data", "bytes": 1} for path in sorted(kept)]
    frees = plan.frees.from_pylist([*plan.frees.to_pylist(), *more], schema=plan.frees.schema)
    receipt = go(table, dataclasses.replace(plan, frees=frees))
    assert not kept & set(receipt.deleted)
    assert_whole(table.root)
    assert list_of(table, 6) not in receipt.deleted


def test_a_table_at_a_location_that_is_no_text_is_refused_before_anything(tmp_path: Path) -> None:
    """The journal can record only text."""
    four_commits(tmp_path / "w" / "default.db" / "t")
    odd = tmp_path / os.fsdecode(b"n\xff")
    shutil.move(tmp_path / "w", odd)
    table = open_table(str(odd / "default.db" / "t"))
    plan, before = table.preview(CreateTag("new"), NOW_MS), tree(odd)
    with pytest.raises(Invalid, match=r"n\\xff/default.db/t is not valid UTF-8") as found:
        apply(table, plan, settle_s=0)
    assert found.value.remedy
    str(found.value).encode()
    assert tree(odd) == before
    assert Journal().runs() == []
