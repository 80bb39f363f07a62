"""Tags deleted many at a time: crashes anywhere are resumed or undone exactly, and what others created since stays.
Tags that another writer changes just before our request reaches an object store: nothing of theirs is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import Conflict
from core.execution import deleted_tags, recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Change, DeleteBranches, DeleteTags, Expire, ReplaceTag
from core.table import open_table
from tests.support import memory_s3
from tests.support.builders import TableBuilder
from tests.support.depth import first_fast, sample
from tests.support.execution import ground
from tests.support.execution.batches import crashed, every_crash, opened

NOW = ground.LATE_MS
NAMES = ("early", "packed", "twin", "late")
DELETE = DeleteTags(NAMES)
EXPIRE = Expire(retain_max=2, retain_min=2, drop_tags=NAMES)
BATCHES = [
    pytest.param(DELETE, id="tags"),
    pytest.param(EXPIRE, id="expiry", marks=pytest.mark.slow),
    pytest.param(DeleteBranches(("b",)), id="branch", marks=pytest.mark.slow),
]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deleted_tags, "BATCH", 3)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    table = ground.small_table(ground.warehouse(tmp_path))
    table.tag("late", 6)
    for name in NAMES:
        os.utime(table.root / "tag" / f"tag-{name}", (1_700_000_000, 1_700_000_000))
    return table


def tags(root: Path) -> set[str]:
    return {path.name[4:] for path in root.glob("tag/tag-*")}


@pytest.mark.parametrize("change", BATCHES)
@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_a_crash_anywhere_is_resumed_to_the_end_of_a_clean_run(
    table: TableBuilder, tmp_path: Path, change: Change, seed: int
) -> None:
    clean = ground.copied(table.root, tmp_path / "default.db" / "clean")
    assert crashed(clean, change, 1_000, seed) is None
    crashes = 0
    for root, run in every_crash(table, change, seed):
        receipt = recovery.resume(run, open_table=lambda _, root=root: opened(root, seed=9), settle_s=0)
        assert receipt.outcome == "done"
        assert ground.disk(root) == ground.disk(clean)
        assert ground.broken(root) == []
        crashes += 1
    assert crashes > 5


@pytest.mark.parametrize("change", BATCHES)
def test_a_crash_anywhere_is_undone_exactly(table: TableBuilder, tmp_path: Path, change: Change) -> None:
    before, undone = ground.references(table.root), 0
    for root, run in every_crash(table, change, 5):
        if not Journal().run(run).can_undo:
            break
        recovery.undo(run, open_table=lambda _, root=root: opened(root))
        assert ground.references(root) == before
        undone += 1
    assert undone > 5


@pytest.mark.parametrize("seed", first_fast(range(3)))
def test_a_tag_that_others_created_again_with_the_same_bytes_is_left_alone(
    table: TableBuilder, tmp_path: Path, seed: int
) -> None:
    """Whichever of the batch that was interrupted: by the order alone nobody could tell."""
    documents, again = ground.references(table.root), 0
    for root, run in every_crash(table, DELETE, seed):
        gone = {name for name in NAMES if name not in tags(root)}
        if not Journal().run(run).can_undo:
            break
        for name in gone:
            (root / f"tag/tag-{name}").write_bytes(documents[f"tag/tag-{name}"])
        recovery.resume(run, open_table=lambda _, root=root: opened(root), settle_s=0)
        assert tags(root) == gone
        assert ground.broken(root) == []
        again += len(gone)
    assert again > 6


def test_tags_far_away_are_deleted_by_one_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = ground.small_table(ground.warehouse(tmp_path)).root
    objects = {f"t/{path}": (root / path).read_bytes() for path in ground.disk(root)}
    names = tuple(f"n{number}" for number in range(40))
    objects |= {f"t/tag/tag-{name}": objects["t/tag/tag-early"] for name in names}
    monkeypatch.setattr(deleted_tags, "BATCH", 1000)
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        table = open_table(f"s3://{memory_s3.BUCKET}/t")
        plan = table.preview(DeleteTags(names), NOW)
        server.taken()
        assert apply(table, plan, settle_s=0).is_exact
        assert [method for method, _ in server.taken() if method in ("POST", "DELETE")] == ["DELETE", "POST"]
        assert {name for name in objects if name not in server.objects} == {f"t/tag/tag-{name}" for name in names}


# changed just before our request --------------------------------------------------------------------------------------

PLACE, TAG = f"s3://{memory_s3.BUCKET}/t", "t/tag/tag-early"
MOVE, DELETE_ONE, DELETE_TWO = ReplaceTag("early"), DeleteTags(("early",)), DeleteTags(("early", "packed"))
CHANGES = [pytest.param(MOVE, "PUT", id="move"), pytest.param(DELETE_ONE, "DELETE", id="delete"),
           pytest.param(DELETE_TWO, "POST", id="delete together")]  # fmt: skip


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    root = ground.small_table(ground.warehouse(tmp_path)).root
    with memory_s3.serving({f"t/{path}": (root / path).read_bytes() for path in ground.disk(root)}) as server:
        server.lead(monkeypatch)
        yield server


@pytest.fixture
def before_the_next(server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes | None], None]:
    """Has another writer write the tag, or delete it, just before the next request with a method that changes it."""
    answer = server.answer

    def arrange(at: str, theirs: bytes | None) -> None:
        def overtaken(method: str, target: str, head: bytes, body: bytes) -> memory_s3.Answer:
            is_it = target.endswith(TAG) or (method == "POST" and TAG.encode() in body)
            if method == at and is_it:
                monkeypatch.setattr(server, "answer", answer)
                server._names = None
                server.objects.pop(TAG, None)
                server.objects.update({} if theirs is None else {TAG: theirs})
            return answer(method, target, head, body)

        monkeypatch.setattr(server, "answer", overtaken)

    return arrange


@pytest.mark.parametrize(("change", "method"), CHANGES)
def test_what_another_writer_writes_before_our_request_is_kept(
    server: memory_s3.Server, before_the_next: Callable[[str, bytes | None], None], change: Change, method: str
) -> None:
    theirs = server.objects["t/tag/tag-twin"] + b" "
    table = open_table(PLACE)
    plan = table.preview(change, ground.LATE_MS)
    before_the_next(method, theirs)
    with pytest.raises(Conflict, match="Another writer changed" if change == MOVE else "was rewritten while"):
        apply(table, plan, settle_s=0)
    assert server.objects[TAG] == theirs
    run = Journal().open_run(table.location)
    assert (run is None) == (change != DELETE_TWO)
    if run:
        assert "t/tag/tag-packed" not in server.objects
        assert recovery.resume(run.id, open_table=open_table, settle_s=0).outcome == "done"
    assert server.objects[TAG] == theirs


@pytest.mark.parametrize(("change", "method"), CHANGES)
def test_what_another_writer_deletes_before_our_request_is_not_written_again(
    server: memory_s3.Server, before_the_next: Callable[[str, bytes | None], None], change: Change, method: str
) -> None:
    table = open_table(PLACE)
    plan = table.preview(change, ground.LATE_MS)
    before_the_next(method, None)
    if change == MOVE:
        with pytest.raises(Conflict, match="Another writer changed"):
            apply(table, plan, settle_s=0)
    else:
        assert apply(table, plan, settle_s=0).is_exact
    assert TAG not in server.objects


def test_an_undo_keeps_what_another_writer_writes_before_its_request(
    server: memory_s3.Server, before_the_next: Callable[[str, bytes | None], None]
) -> None:
    table = open_table(PLACE)
    apply(table, table.preview(Expire(retain_max=3, retain_min=3), ground.LATE_MS), settle_s=0)
    theirs = server.objects[TAG] + b" "
    stopped = apply(table, table.preview(MOVE, ground.LATE_MS), settle_s=0, cancelled=lambda: True)
    assert stopped.outcome == "cancelled"
    before_the_next("PUT", theirs)
    with pytest.raises(Conflict, match="Another writer changed"):
        recovery.undo(stopped.run, open_table=open_table)
    assert server.objects[TAG] == theirs
    assert recovery.resume(stopped.run, open_table=open_table, settle_s=0).outcome == "done"
    assert server.objects[TAG] == theirs


@pytest.mark.parametrize(("change", "method"), CHANGES)
def test_an_answer_that_is_lost_is_no_conflict(server: memory_s3.Server, change: Change, method: str) -> None:
    lost: list[str] = []

    def loses(at: str, target: str) -> bool:
        is_it = at == method and (target.endswith(TAG) or "delete" in target) and not lost
        lost.extend([target] if is_it else [])
        return is_it

    server.loses = loses
    before, table = server.objects[TAG], open_table(PLACE)
    assert apply(table, table.preview(change, ground.LATE_MS), settle_s=0).is_exact
    assert lost
    assert server.objects.get(TAG, b"") != before
    assert (TAG in server.objects) == (change == MOVE)


@pytest.mark.parametrize(("change", "method"), CHANGES)
def test_a_server_that_knows_no_such_condition_is_asked_without(
    server: memory_s3.Server, change: Change, method: str
) -> None:
    server.knows_conditions = False
    before, table = server.objects[TAG], open_table(PLACE)
    plan = table.preview(change, ground.LATE_MS)
    server.taken()
    assert apply(table, plan, settle_s=0).is_exact
    assert server.objects.get(TAG, b"") != before
    assert [at for at, target in server.taken() if at in ("PUT", "DELETE") and target.endswith(TAG)] == (
        [] if method == "POST" else [method] * 2
    )
