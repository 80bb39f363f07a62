"""Hadoop tables that others change at the same time, and disks that report a wrong result of a write."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, Corrupt, NotFound, SnapscopeError
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.write import commit
from core.model import codes
from core.model.actions import CreateTag, Expire
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store
from core.table import open_table
from tests.support.execution import iceberg_ground as ground
from tests.support.execution.ground import while_settling
from tests.support.execution.iceberg_crashes import AFTER_THE_COMMIT, cut_off, reopened
from tests.support.execution.iceberg_ground import LATE_MS, Json, ids


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return ground.small_table(tmp_path / "t")


class Interrupted(Store):
    """A store in which something happens just before, or just after, a version is created."""

    before: object = None
    after: object = None

    def create(self, relative: str, data: bytes) -> None:
        act, self.before = self.before, None
        if callable(act):
            act()
        super().create(relative, data)
        act, self.after = self.after, None
        if callable(act):
            act()


def rival_tag(root: Path, name: str, snapshot: int) -> object:
    return lambda: ground.commit(root, lambda own: own["refs"].update({name: {"snapshot-id": snapshot, "type": "tag"}}))


def test_a_tag_made_in_the_very_moment_of_the_commit_survives(root: Path) -> None:
    old, there = ids(root), ground.disk(root)
    store = Interrupted(str(root))
    table = ground.opened(store)
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    store.before = rival_tag(root, "theirs", old[0])
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert "theirs" in ground.document(root)["refs"]
    assert ids(root) == old
    assert ground.disk(root) == there
    assert Journal().open_run(table.location) is None, "nothing was done, so nothing is left to finish"


@pytest.mark.slow
def test_a_commit_that_touches_nothing_of_the_plan_is_built_upon(root: Path) -> None:
    old = ids(root)
    store = Interrupted(str(root))
    table = ground.opened(store)
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    store.before = rival_tag(root, "theirs", old[3])
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert receipt.created == ("metadata/v9.metadata.json",)
    assert set(ground.document(root)["refs"]) == {"main", "work", "theirs"}
    assert ground.broken(root) == []


def test_a_name_that_another_takes_in_the_very_moment(root: Path) -> None:
    old = ids(root)
    store = Interrupted(str(root))
    table = ground.opened(store)
    plan = table.preview(CreateTag("mine", old[0]), LATE_MS)
    store.before = rival_tag(root, "mine", old[3])
    with pytest.raises(Conflict, match="in the meantime; nothing was changed"):
        apply(table, plan, settle_s=0)
    assert ground.document(root)["refs"]["mine"]["snapshot-id"] == old[3]
    assert Journal().open_run(table.location) is None


@pytest.mark.slow
def test_whoever_is_always_second_gives_up_and_leaves_nothing(root: Path) -> None:
    class Busy(Store):
        number = 0

        def create(self, relative: str, data: bytes) -> None:
            self.number += 1
            rival_tag(root, f"rival-{self.number}", ids(root)[3])()  # type: ignore[operator]
            super().create(relative, data)

    table = ground.opened(Busy(str(root)))
    with pytest.raises(Conflict, match="kept getting in first"):
        apply(table, table.preview(CreateTag("mine"), LATE_MS), settle_s=0)
    assert "mine" not in ground.document(root)["refs"]
    assert Journal().open_run(table.location) is None


def test_a_commit_between_looking_at_the_hint_and_listing(root: Path) -> None:
    """A reader never sees a hint that is newer than its listing."""

    class Watched(Store):
        def read(self, relative: str, *limits: Any, **more: Any) -> bytes:
            content = super().read(relative, *limits, **more)
            if relative.endswith("version-hint.text"):
                rival_tag(root, "between", ids(root)[0])()  # type: ignore[operator]
            return content

        def ls(self, relative: str = "") -> list[DirectoryEntry]:
            listed = super().ls(relative)
            rival_tag(root, f"after-{len(listed)}", ids(root)[0])()  # type: ignore[operator]
            return listed

    assert "between" in {ref.name for ref in ground.opened(Watched(str(root))).heads().refs}


def test_a_tag_made_again_after_the_commit_keeps_its_files(root: Path) -> None:
    """Somebody who read the old version publishes it again during the grace period."""
    before, there = ground.document(root), ground.disk(root)
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)

    def again() -> None:
        ground.commit(root, lambda own: own.update({key: before[key] for key in ("snapshots", "refs")}))

    with while_settling(again):
        receipt = apply(table, plan, settle_s=0)
    assert receipt.deleted == ()
    assert {why for _, why in receipt.kept_back} == {codes.HELD_SINCE()}
    assert ground.disk(root) == there
    assert ground.broken(root) == []


@pytest.mark.slow
def test_java_renames_over_what_was_just_published(root: Path) -> None:
    """On a local disk its rename overwrites. The planned references are then back, and nothing is deleted."""
    store = Interrupted(str(root))
    table = ground.opened(store)
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    there = ground.disk(root)
    rival = root / "metadata/deadbeef-8a30-48f2-9899-8db525fd9713.metadata.json"
    rival.write_bytes(ground.newest(root).read_bytes())
    done = threading.Event()

    def renames() -> None:
        threading.Thread(target=lambda: (rival.rename(root / "metadata/v8.metadata.json"), done.set())).start()

    store.after = renames
    with pytest.raises(Conflict, match="overwrote"):
        apply(table, plan, settle_s=0)
    assert done.wait(300)
    assert ground.disk(root) == there
    run = Journal().open_run(table.location)
    assert run is not None
    recovery.undo(run.id, open_table=lambda _: ground.opened(Store(str(root))))
    assert len(ids(root)) == 4


@pytest.mark.slow
def test_litter_of_a_crashed_java_is_waited_for_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "RIVAL_S", 0.01)
    (root / "metadata/deadbeef-8a30-48f2-9899-8db525fd9713.metadata.json").write_bytes(b"{")
    table = open_table(str(root))
    assert apply(table, table.preview(CreateTag("new"), LATE_MS), settle_s=0).outcome == "done"


@pytest.mark.parametrize("writers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_one_version_has_one_winner(root: Path, writers: int) -> None:
    """All commit on top of the same version at once: one wins, and nobody's tag is lost."""
    barrier = threading.Barrier(writers)
    opened = [ground.opened(Store(str(root))) for _ in range(writers)]
    begun = [table.heads() for table in opened]
    won: list[str | None] = [None] * writers

    def race(number: int) -> None:
        table = opened[number]
        plan = table.preview(CreateTag(f"by-{number}"), LATE_MS)
        own = IcebergFormat.of(table.format)
        edit = own.edit(plan, begun[number])
        barrier.wait(600)
        won[number] = own.commit(begun[number], edit)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path for path in won if path] == ["metadata/v8.metadata.json"]
    (winner,) = (number for number, path in enumerate(won) if path)
    assert {name for name in ground.document(root)["refs"] if name.startswith("by-")} == {f"by-{winner}"}


@pytest.mark.slow
def test_expiries_and_tags_side_by_side(root: Path) -> None:
    """A second client tags while expiries run: in the end, everything it tagged is complete."""
    old = ids(root)
    stop, tagged = threading.Event(), list[str]()

    def tags() -> None:
        for number in range(1_000):
            if stop.is_set():
                return
            try:
                ground.commit(
                    root,
                    lambda own, number=number: own["refs"].update(
                        {f"t{number}": {"snapshot-id": own["snapshots"][0]["snapshot-id"], "type": "tag"}}
                    ),
                )
                tagged.append(f"t{number}")
            except FileExistsError:
                continue

    thread = threading.Thread(target=tags)
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    thread.start()
    try:
        apply(table, plan, settle_s=0)
    except Conflict:
        pass
    finally:
        stop.set()
        thread.join()
    refs = ground.document(root)["refs"]
    assert set(tagged) <= set(refs)
    assert {refs[name]["snapshot-id"] for name in tagged} <= set(ids(root)) <= set(old)
    assert ground.broken(root) == []


# a lying disk -----------------------------------------------------------------------------------------------------


class Lying(Store):
    """A store that once reports an error after it did (or did not do) what was requested."""

    lie: str = ""

    def create(self, relative: str, data: bytes) -> None:
        lie, self.lie = self.lie, ""
        if lie != "lost":
            super().create(relative, data)
        if lie:
            raise Corrupt("503 Slow Down", path=relative)


@pytest.mark.slow
def test_a_write_that_was_done_and_denied_counts(root: Path) -> None:
    store = Lying(str(root))
    table = ground.opened(store)
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    store.lie = "done"
    assert apply(table, plan, settle_s=0).is_exact
    assert ground.broken(root) == []


def test_a_write_whose_outcome_is_not_known_deletes_nothing(root: Path) -> None:
    store = Lying(str(root))
    table = ground.opened(store)
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    there, before = ground.disk(root), ground.newest(root)
    store.lie = "lost"
    with pytest.raises(Conflict, match="cannot be determined whether"):
        apply(table, plan, settle_s=0)
    assert ground.disk(root) == there
    assert ground.newest(root) == before
    run = Journal().open_run(table.location)
    assert run is not None
    receipt = recovery.resume(run.id, open_table=lambda _: ground.opened(Store(str(root))), settle_s=0)
    assert receipt.is_exact
    assert ground.broken(root) == []


@pytest.mark.slow
def test_a_manifest_that_cannot_be_read_any_more_keeps_everything(root: Path) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    there = ground.disk(root)
    own = ground.document(root)
    kept = own["snapshots"][-1]["manifest-list"].removeprefix(own["location"] + "/")
    content = (root / kept).read_bytes()
    damage = while_settling(lambda: (root / kept).write_bytes(content[:100]))
    with damage, pytest.raises(SnapscopeError, match="No further file was deleted"):
        apply(ground.opened(Store(str(root))), plan, settle_s=0)
    assert ground.disk(root) == there
    (root / kept).write_bytes(content)
    run = Journal().open_run(str(root))
    assert run is not None
    assert recovery.resume(run.id, open_table=lambda _: ground.opened(Store(str(root))), settle_s=0).is_exact


@pytest.mark.slow
def test_metadata_that_cannot_be_read_any_more_refuses(root: Path) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    path = ground.newest(root)
    content = path.read_bytes()
    for damaged in (content[:100], b"", b"[]", content.replace(b'"refs"', b'"ref"')):
        path.write_bytes(damaged)
        with pytest.raises(SnapscopeError):
            apply(table, plan, settle_s=0)
        assert len(list(root.glob("metadata/v*.json"))) == 7
    path.unlink()
    with pytest.raises((Corrupt, Conflict, NotFound)):
        apply(table, plan, settle_s=0)


@pytest.mark.slow
def test_two_processes_of_ours_do_not_meet(root: Path) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    seen: list[str] = []

    def meets() -> None:
        with pytest.raises(Conflict, match="Another change"):
            apply(table, table.preview(CreateTag("x"), LATE_MS), settle_s=0)
        seen.append("refused")

    with while_settling(meets):
        apply(table, plan, settle_s=0)
    assert seen == ["refused"]


@pytest.mark.slow
def test_a_log_that_no_longer_names_what_was_replaced_deletes_nothing(root: Path) -> None:
    """Interrupted after the commit, and its predecessor has since disappeared: what the commit removed is unknown."""
    run = cut_off(root, Expire(drop_tags=("early",)), AFTER_THE_COMMIT)
    there = ground.disk(root)

    def forgets(own: Json) -> None:
        own["metadata-log"] = own["metadata-log"][-1:]

    ground.commit(root, forgets)
    with pytest.raises(Conflict, match="cannot be determined"):
        recovery.resume(run, open_table=reopened, settle_s=0)
    assert ground.disk(root) == there
    recovery.undo(run, open_table=reopened)
    assert len(ids(root)) == 4
