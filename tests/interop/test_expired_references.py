"""What Java Paimon does while snapshots are deleted in any order, or after that was interrupted (docs/adr/0047)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from core.execution import expired_references
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.model.actions import DeleteBranches, Expire
from core.storage.store import Store
from core.table import Table
from tests.engines.paimon_java import EngineError, PaimonJudge
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, ManyStore, MortalJournal

pytestmark = pytest.mark.engines

COLUMNS = [("k", "INT NOT NULL"), ("v", "STRING")]
KEEPS_ALL = {"snapshot.num-retained.min": "1000", "snapshot.num-retained.max": "10000"}
TAGS = {"a": 4, "b": 9}
KEPT = 5


class Made:
    """A table of the engine with snapshots that replace rows, and what each version reads."""

    def __init__(self, judge: PaimonJudge, place: Path) -> None:
        self.judge, self.place = judge, place
        judge.create(place, COLUMNS, primary_keys=["k"], options={"bucket": "1", "file.format": "parquet", **KEEPS_ALL})
        for number in range(1, 13):
            judge.write(place, [[number % 4, f"v{number}"], [100 + number, "x"]])
            if number % 3 == 0:
                judge.compact(place)
        found = judge.snapshots(place)
        self.times = {each["id"]: each["timeMillis"] for each in found}
        self.ids = sorted(self.times)
        self.first = self.ids[-KEPT]
        for name, number in TAGS.items():
            judge.create_tag(place, name, snapshot=number)
        self.rows = {number: judge.rows(place, snapshot=number) for number in self.ids}

    def is_whole(self, place: Path, kept: list[int]) -> bool:
        """Whether the engine reads these snapshots and all tags that exist, each with its rows."""
        tags = [name for name in TAGS if (place / f"tag/tag-{name}").exists()]
        try:
            return all(self.judge.rows(place, snapshot=each) == self.rows[each] for each in kept) and all(
                self.judge.rows(place, tag=name) == self.rows[TAGS[name]] for name in tags
            )
        except EngineError:
            return False


@pytest.fixture(params=["2.0.0", "0.9.0"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    judge = request.getfixturevalue({"2.0.0": "java_judge", "0.9.0": "java_09_judge"}[request.param])
    return Made(judge, tmp_path / "default.db" / "t")


def interrupted(made: Made, place: Path, seed: int) -> list[int]:
    """Copy the table and interrupt an expiry in its batches; return the snapshots that are left below the kept."""
    ground.copied(made.place, place)
    life = Life()
    table = Table(PaimonFormat(ManyStore(str(place), life, seed), PaimonManifests(Store(str(place)))))
    plan = table.preview(Expire(retain_max=KEPT, retain_min=KEPT), ground.LATE_MS)
    life.log, life.left = [], 4 + random.Random(seed).randrange(made.first - 2)
    with pytest.raises(Death):
        apply(table, plan, settle_s=0, journal=MortalJournal(Journal().path, life))
    return [each for each in made.ids if each < made.first and (place / f"snapshot/snapshot-{each}").exists()]


def test_engines_read_expire_and_delete_tags_as_if_the_expiry_had_ended(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expired_references, "BATCH", 6)
    kept, gaps = made.ids[-KEPT:], 0
    for seed in range(8):
        place = tmp_path / "default.db" / f"interrupted{seed}"
        left = interrupted(made, place, seed)
        gaps += bool(left) and left != list(range(left[0], made.first))
        assert made.is_whole(place, kept)
        assert [made.judge.as_of(place, time_ms=made.times[each]) for each in kept] == kept
        if seed % 2:
            assert made.judge.expire(place, retain_max=2, retain_min=2) == KEPT - 2
            kept_now = kept[-2:]
        else:
            kept_now = kept
        for name in TAGS:
            made.judge.delete_tag(place, name)
            assert made.is_whole(place, kept_now)
    assert gaps > 3


def test_a_branch_that_is_being_deleted_is_read_at_its_newest_snapshot(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until that goes, after all others. The engine expires in it meanwhile, and main stays whole."""
    monkeypatch.setattr(expired_references, "BATCH", 4)
    judge, first = made.judge, TAGS["b"]
    judge.create_branch(made.place, "dev", tag="b")
    for number in range(6):
        judge.write(made.place, [[number % 2, f"dev{number}"]], branch="dev")
    newest = max(int(path.name[9:]) for path in made.place.glob("branch/branch-dev/snapshot/snapshot-*"))
    rows, gaps = judge.rows(made.place, branch="dev"), 0
    for seed in range(6):
        place = ground.copied(made.place, tmp_path / "default.db" / f"branch{seed}")
        life = Life()
        table = Table(PaimonFormat(ManyStore(str(place), life, seed), PaimonManifests(Store(str(place)))))
        plan = table.preview(DeleteBranches(("dev",)), ground.LATE_MS)
        life.log, life.left = [], 5 + seed
        with pytest.raises(Death):
            apply(table, plan, settle_s=0, journal=MortalJournal(Journal().path, life))
        there = [n for n in range(first, newest + 1) if (place / f"branch/branch-dev/snapshot/snapshot-{n}").exists()]
        assert there[-1] == newest
        gaps += there != list(range(there[0], newest + 1))
        assert judge.rows(place, branch="dev") == rows
        judge.expire(place, retain_max=1, retain_min=1, branch="dev")
        assert judge.rows(place, branch="dev") == rows
        assert made.is_whole(place, made.ids[-KEPT:])
    assert gaps > 1


def test_without_the_hint_no_engine_loses_files_to_a_tag(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may set it back. Time travel fails in gaps then, until the run is resumed; nothing is lost."""
    monkeypatch.setattr(expired_references, "BATCH", 6)
    for seed in range(8):
        place = tmp_path / "default.db" / f"interrupted{seed}"
        interrupted(made, place, seed)
        (place / "snapshot/EARLIEST").unlink()
        for name in TAGS:
            made.judge.delete_tag(place, name)
            assert made.is_whole(place, made.ids[-KEPT:])


@pytest.mark.parametrize("hint", ["first", "none"])
def test_what_a_gap_does(made: Made, tmp_path: Path, hint: str) -> None:
    """Snapshot 4 has a tag and is missing, and an older one is left: without the hint, deleting the tag deletes files
    of every version. This is why a tag's snapshot is deleted after all older ones."""
    place = ground.copied(made.place, tmp_path / "default.db" / "gap")
    for number in range(2, made.first):
        (place / f"snapshot/snapshot-{number}").unlink()
    if hint == "first":
        (place / "snapshot/EARLIEST").write_text(str(made.first))
    else:
        (place / "snapshot/EARLIEST").unlink(missing_ok=True)
    made.judge.delete_tag(place, "a")
    said: Any = made.is_whole(place, made.ids[-KEPT:])
    assert said is (hint == "first")
