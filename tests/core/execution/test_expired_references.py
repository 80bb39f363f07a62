"""Snapshots deleted many at a time: engines never see a gap, and crashes anywhere are resumed or undone exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, Corrupt
from core.execution import expired_references, recovery, replanned
from core.execution.apply import apply
from core.execution.journal import REMOVED, Journal
from core.execution.reference_effects import References
from core.formats.paimon.write import publish
from core.model.actions import Expire
from core.model.effects import DeleteIfEqual, RaiseHint
from core.storage.store import Store
from core.table import open_table
from tests.support import memory_s3
from tests.support.builders import TableBuilder
from tests.support.depth import first_fast, moments, sample
from tests.support.execution import ground
from tests.support.execution.batches import Watched, crashed, crashed_at, every_crash, opened, resume, shuffling
from tests.support.execution.dying import Death, Life

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=2, retain_min=2)
FIRST = 8  # the oldest that stays


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (expired_references, replanned):
        monkeypatch.setattr(module, "BATCH", 4)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def numbers(root: Path) -> list[int]:
    return sorted(int(path.name[9:]) for path in root.glob("snapshot/snapshot-*"))


def is_safe_for_engines(root: Path) -> bool:
    """Either nothing was deleted, or the hint hides what is left; and below no tag's deleted snapshot is one left."""
    there, hint = numbers(root), int((root / "snapshot/EARLIEST").read_text())
    tagged = {json.loads(path.read_bytes())["id"] for path in root.glob("tag/tag-*")}
    lost = [number for number in tagged if number not in there and any(each < number for each in there)]
    return (there == list(range(1, 10)) or (hint == FIRST and FIRST in there)) and not lost


@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(3), 1))
def test_a_crash_anywhere_is_resumed_to_the_end_of_a_clean_run(table: TableBuilder, tmp_path: Path, seed: int) -> None:
    clean = ground.copied(table.root, tmp_path / "default.db" / "clean")
    assert crashed(clean, EXPIRE, 1_000, seed) is None
    assert numbers(clean) == [8, 9]
    for root, run in every_crash(table, EXPIRE, seed, is_safe_for_engines):
        resume(run, root)
        assert ground.disk(root) == ground.disk(clean)
        assert (root / "snapshot/EARLIEST").read_text() == str(FIRST)
        assert ground.broken(root) == []


@pytest.mark.slow
def test_a_crash_anywhere_is_undone_exactly(table: TableBuilder, tmp_path: Path) -> None:
    before, undone = ground.references(table.root), 0
    for root, run in every_crash(table, EXPIRE, 5, is_safe_for_engines):
        if not Journal().run(run).can_undo:
            break
        recovery.undo(run, open_table=lambda _, root=root: opened(root))
        assert ground.references(root) == before
        assert (root / "snapshot/EARLIEST").read_text() == "1"
        undone += 1
    assert undone > 6


@pytest.mark.parametrize("seed", first_fast(range(3)))
def test_an_undo_that_crashes_is_undone_by_the_next_one(
    table: TableBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Snapshots of a batch are written back in any order."""
    monkeypatch.setattr(expired_references, "each_of", shuffling(seed))
    before = ground.references(table.root)
    for left in moments():
        root = ground.copied(table.root, tmp_path / "default.db" / "again")
        run = crashed_at(root, EXPIRE, f"journal: entry {REMOVED}")
        life = Life(left=left)
        try:
            recovery.undo(run, open_table=lambda _, root=root, life=life: opened(root, life))
        except Death:
            assert is_safe_for_engines(root)
            recovery.undo(run, open_table=lambda _, root=root: opened(root))
            assert ground.references(root) == before
        else:
            assert left > 6
            return


# others meanwhile -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", first_fast([5, 1, 2, 3, 4, 6, 7]))
@pytest.mark.parametrize("commits", [0, 1, 3])
@pytest.mark.parametrize("at", ["snapshot/snapshot-3", "snapshot/snapshot-6", "snapshot/EARLIEST"])
def test_the_snapshot_that_others_rolled_back_to_since_is_left_alone(
    table: TableBuilder, at: str, to: int, commits: int
) -> None:
    """With the planned bytes: it is still there, or its file was created again from a tag."""
    table.tag("again", to)
    run = crashed_at(
        table.root, EXPIRE, f"delete {at}" if at != "snapshot/EARLIEST" else "put snapshot/EARLIEST", seed=to
    )
    ground.gone_for_good(table)
    ground.roll_back(table, to, tag="again")
    for size in range(commits):
        table.commit([table.file(5_010 + size, rows=501, partition=("2026-01-01",))])
    new = {path: content for path, content in ground.references(table.root).items() if _number(path) >= to}
    resume(run, table.root)
    assert {path: ground.references(table.root).get(path) for path in new} == new
    assert ground.broken(table.root) == []
    assert (table.root / "snapshot/EARLIEST").read_text() == str(numbers(table.root)[0])


def _number(path: str) -> int:
    return int(path[18:]) if path.startswith("snapshot/snapshot-") else 0


def test_a_rollback_below_what_expires_stops_the_run(table: TableBuilder) -> None:
    """Everything that stays was deleted by another writer: no snapshot would be left."""
    table.tag("again", 5)
    life = Watched("delete snapshot/", lambda: ground.roll_back(table, 5), count=2)
    mortal = opened(table.root, life)
    plan = mortal.preview(EXPIRE, NOW)
    with pytest.raises(Conflict, match="snapshot-8 no longer exists, and nothing newer does"):
        apply(mortal, plan, settle_s=0)
    run = Journal().open_run(mortal.location)
    assert run is not None
    assert numbers(table.root) == [4, 5]
    resume(run.id, table.root)
    assert numbers(table.root) == [4, 5], "the same expiry keeps two"
    assert ground.broken(table.root) == []


def test_whoever_commits_tags_and_expires_meanwhile_loses_nothing(table: TableBuilder) -> None:
    def acts() -> None:
        table.commit([table.file(7_000, rows=700, partition=("2026-01-01",))])
        table.tag("theirs", 6)
        table.expire([8], free=False, hints=False)
        (table.root / "snapshot/EARLIEST").write_text("2")  # an expiry that began before ours ends

    life = Watched("delete snapshot/", acts)
    mortal = opened(table.root, life)
    receipt = apply(mortal, mortal.preview(EXPIRE, NOW), settle_s=0)
    assert receipt.outcome == "done"
    assert numbers(table.root) == [9, 10]
    assert (table.root / "snapshot/EARLIEST").read_text() == "9"
    assert ground.broken(table.root) == []
    assert [what for what in life.log if what.startswith("put snapshot/EARLIEST")][1:], "it was raised again"


@pytest.mark.parametrize(("latest", "left"), [("0", "9"), ("3", "9"), ("7", "9"), ("8", "8"), ("9", "9"), ("?", "?")])
def test_a_stale_hint_at_what_expires_is_corrected_first(table: TableBuilder, latest: str, left: str) -> None:
    """Java trusts LATEST if the next id is missing; Python, always: to it a table whose LATEST is lost is empty."""
    hint = table.root / "snapshot/LATEST"
    hint.write_text(latest)
    seen = set[str]()

    class Seeing(Life):
        def effect(self, what: str) -> None:
            super().effect(what)
            seen.update([hint.read_text()] if what.startswith("delete snapshot/") else [])

    mortal = opened(table.root, Seeing())
    assert apply(mortal, mortal.preview(EXPIRE, NOW), settle_s=0).outcome == "done"
    assert numbers(table.root) == [8, 9]
    assert seen == {left}
    assert hint.read_text() == left
    assert ground.broken(table.root) == []


def unreadable(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, reading the file fails."""
    read = Store.read

    def failing(self: Store, relative: str, *more: Any) -> bytes:
        if relative == path:
            raise Corrupt("It cannot be read now.", path=path)
        return read(self, relative, *more)

    monkeypatch.setattr(Store, "read", failing)


def test_no_snapshot_goes_while_nobody_knows_what_latest_says(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (table.root / "snapshot/LATEST").write_text("3")
    found = open_table(str(table.root))
    plan = found.preview(EXPIRE, NOW)
    unreadable("snapshot/LATEST", monkeypatch)
    with pytest.raises(Corrupt, match="cannot be read now"):
        apply(found, plan, settle_s=0)
    assert numbers(table.root) == list(range(1, 10))


def test_the_hint_does_not_pass_by_a_snapshot_that_cannot_be_read(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, first = Store(str(table.root)), f"snapshot/snapshot-{FIRST}"
    store.put("snapshot/EARLIEST", b"1")
    hint, ls = RaiseHint("snapshot/EARLIEST", first, b""), Store.ls
    unreadable(first, monkeypatch)
    monkeypatch.setattr(Store, "ls", lambda *given: [each for each in ls(*given) if each.name != f"snapshot-{FIRST}"])
    going = {f"snapshot/snapshot-{number}" for number in range(1, FIRST)}
    assert expired_references._raised(store, hint, going, b"") == b"8"
    publish.repair_hint(store, "snapshot/EARLIEST", deleted=[*going])
    assert store.read("snapshot/EARLIEST") == b"8"


def test_a_reference_of_another_writer_stops_its_batch_before_anything_of_it_is_deleted(table: TableBuilder) -> None:
    def acts() -> None:
        path = table.root / "snapshot/snapshot-7"
        path.write_bytes(path.read_bytes() + b" ")

    life = Watched("put snapshot/EARLIEST", acts)
    mortal = opened(table.root, life)
    with pytest.raises(Conflict, match="snapshot-7 was rewritten"):
        apply(mortal, mortal.preview(EXPIRE, NOW), settle_s=0)
    assert numbers(table.root) == [4, 5, 6, 7, 8, 9], "a tag's snapshot begins a batch, and this one ends with 7"


def test_where_a_tag_cannot_be_read_snapshots_are_deleted_one_after_another(table: TableBuilder) -> None:
    """It may be a tag of any of them. It appeared after the plan, and keeps the run from deleting files."""
    life = Life()
    mortal = opened(table.root, life, seed=3)
    effects = mortal.preview(EXPIRE, NOW).effects
    [hint] = [each for each in effects if isinstance(each, RaiseHint)]
    gone = [each for each in effects if isinstance(each, DeleteIfEqual)]
    (table.root / "tag/tag-odd").write_bytes(b"{")
    expired_references.delete(References(mortal, "run", effects, is_first=True), hint, gone)
    assert life.log == ["put snapshot/EARLIEST", *(f"delete snapshot/snapshot-{number}" for number in range(1, 8))]


def test_on_s3_each_batch_is_deleted_by_one_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (expired_references, replanned):
        monkeypatch.setattr(module, "BATCH", 20)
    builder = TableBuilder(ground.warehouse(tmp_path))
    for number in range(50):
        builder.commit([builder.file(1_000 + number, rows=10)], hints=False)
    builder.tag("old", 24)
    builder.hints(earliest=1, latest=50)
    objects = {f"t/{path}": (builder.root / path).read_bytes() for path in ground.disk(builder.root)}
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        on_s3 = open_table(f"s3://{memory_s3.BUCKET}/t")
        plan = on_s3.preview(EXPIRE, NOW)
        hint = next(each for each in plan.effects if isinstance(each, RaiseHint))
        gone = [each for each in plan.effects if isinstance(each, DeleteIfEqual)]
        server.taken()
        references = References(on_s3, "run", plan.effects, is_first=True)
        expired_references.delete(references, hint, gone)
        taken = server.taken()
        left = [name for name in server.names() if name.startswith("t/snapshot/snapshot-")]
        deletions = [(each, None) for each in reversed(gone)]
        assert expired_references.restore(references, deletions) == [each.path for each, _ in deletions]
        assert {name: server.objects[name] for name in objects if name.startswith("t/snapshot/s")} == {
            name: content for name, content in objects.items() if name.startswith("t/snapshot/s")
        }
        assert server.objects["t/snapshot/EARLIEST"] == b"49", "hidden until the undo repairs it"
    assert left == ["t/snapshot/snapshot-49", "t/snapshot/snapshot-50"]
    assert references.deleted == [each.path for each in gone]
    batches = 4  # 1 to 20, to 23, to 43, to 48
    assert [method for method, _ in taken if method in ("POST", "DELETE", "PUT")] == ["PUT", *["POST"] * batches]
    assert len([target for method, target in taken if method == "GET" and "/snapshot-" in target]) == 48 + batches
    assert len(taken) < 48 + 6 * batches
