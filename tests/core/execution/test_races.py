"""Concurrent activity: writers, and others who create references to what is being deleted."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.execution import delete_files
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.formats.paimon.write import publish
from core.messages import sentences
from core.model.actions import Expire
from core.storage.file_systems import DirectoryEntry
from core.storage.store import Store
from core.table import Table, open_table
from tests.support import set_model
from tests.support.builders import TableBuilder
from tests.support.depth import sample
from tests.support.execution import ground, processes, stopping, writing

pytestmark = pytest.mark.slow

NOW = ground.LATE_MS
EXPIRE = Expire(retain_max=3, retain_min=3, drop_tags=("early",))
WORDS = ["--retain-max", "3", "--retain-min", "3", "--drop-tag", "early", "--now", str(NOW), "--yes"]

# references made by somebody who read before what they are made of ----------------------------------------------------


def makes_a_tag(table: TableBuilder) -> None:
    table.tag("late", 3)


def replaces_a_tag(table: TableBuilder) -> None:
    table.tag("packed", 3)


def renames_a_tag(table: TableBuilder) -> None:
    """An expiring version, read before its deletion, and one that stays."""
    table.tags["later"] = table.tags["early"]
    table._json("tag/tag-later", table.tags["early"].document)
    table.tags["moved"] = table.tags.pop("twin")
    os.rename(table.path / "tag/tag-twin", table.path / "tag/tag-moved")


def cuts_a_branch(table: TableBuilder) -> None:
    late, commit = table.branch("late"), table.tags["early"]
    late._last, late._last_id = commit, 2
    late.commits[2] = late.tags["early"] = commit
    for reference in ("tag/tag-early", "snapshot/snapshot-2"):
        late._json(reference, commit.document)


def rolls_back(table: TableBuilder) -> None:
    """Roll back to the tag to be deleted: every newer snapshot and tag file is removed, and the tag's snapshot is
    written again."""
    ground.roll_back(table, 2, tag="early")
    table.commit([table.file(5_010, rows=501, partition=("2026-01-01",))])


ACTS = [makes_a_tag, replaces_a_tag, renames_a_tag, cuts_a_branch, rolls_back]


def lacking(table: TableBuilder) -> dict[str, list[str]]:
    """Return missing files by version, for every version whose reference is on disk, as the builder knows it."""
    found = {}
    for line in table._shared.lines:
        prefix = "" if line.branch_name == "main" else f"branch:{line.branch_name}/"
        points = {str(number): (f"snapshot/snapshot-{number}", made) for number, made in line.commits.items()}
        points |= {f"tag:{name}": (f"tag/tag-{name}", made) for name, made in line.tags.items()}
        for name, (reference, made) in points.items():
            missing = sorted(path for path in made.paths if not (table.root / path).exists())
            if (line.path / reference).exists() and missing:
                found[prefix + name] = missing
    return found


def unnamed(points: dict[str, list[str]], problems: list[str]) -> set[str]:
    """Return the broken versions that were not reported."""
    said = set(re.split(r"[\s,]+", "\n".join(problems)))
    return points.keys() - said


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return ground.small_table(ground.warehouse(tmp_path))


def interrupted(table: TableBuilder, number: int, act: Callable[[TableBuilder], None]) -> tuple[list[str], bool]:
    """Expire while something happens before the n-th file is deleted; return what was reported, and whether it
    happened."""

    class Interrupted(Store):
        seen = 0

        def delete(self, relative: str, was: bytes | None = None) -> bool:
            if relative.split("/", 1)[0] not in ground.OWN:
                self.seen += 1
                if self.seen == number:
                    act(table)
            return super().delete(relative, was)

    store = Interrupted(str(table.root))
    opened = Table(PaimonFormat(store, PaimonManifests(store)))
    try:
        told = tuple(sentences(apply(opened, opened.preview(EXPIRE, NOW), settle_s=0).problems))
    except Corrupt as error:
        told = (str(error),)
    return list(told), store.seen >= number


@pytest.mark.parametrize("act", ACTS)
def test_whoever_is_broken_by_the_sweep_is_named(
    tmp_path: Path, act: Callable[[TableBuilder], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Created before the n-th deletion: too late for the files already deleted, and for the rest of the batch."""
    monkeypatch.setattr(delete_files, "BATCH", stopping.BATCH)
    monkeypatch.setattr(delete_files, "DELETERS", 1)
    broken, journal = 0, Journal()
    for number in range(1, 1_000, 4):
        table = ground.small_table(ground.warehouse(tmp_path / str(number)))
        told, is_met = interrupted(table, number, act)
        points = lacking(table)
        broken += bool(points)
        assert unnamed(points, told) == set(), (number, told)
        assert bool(points) == bool(told), (number, told)
        assert journal.open_run(str(table.root)) is not None or not told
        if not is_met:
            assert number > 10
            assert broken
            return
    raise AssertionError("no end was reached")


def test_whoever_expires_what_we_are_reading_does_not_stop_us(table: TableBuilder) -> None:
    """Two commits arrive during the grace period, and all but the newest expire while we read the first of them."""

    def commits() -> None:
        for size in (5_010, 5_020):
            table.commit([table.file(size, rows=size // 10, partition=("2026-01-01",))])

    class Expiring(Store):
        def ls(self, relative: str = "") -> list[DirectoryEntry]:
            if relative == "manifest" and 10 in table.commits:  # the references have been read
                ground.gone_for_good(table)
                table.expire([number for number in sorted(table.commits) if number < 11])
            return super().ls(relative)

    store = Expiring(str(table.root))
    opened = Table(PaimonFormat(store, PaimonManifests(store)))
    with ground.while_settling(commits):
        receipt = apply(opened, opened.preview(EXPIRE, NOW), settle_s=1)
    assert 10 not in table.commits
    assert receipt.problems == ()
    assert ground.broken(table.root) == []


# the same with real processes -----------------------------------------------------------------------------------------


def stopped(table: TableBuilder, moment: str, state: Path) -> AbstractContextManager[processes.Process]:
    words = ["expire", str(table.root), *WORDS, "--settle", "1 s", "--json"]
    return processes.started([sys.executable, "-m", "tests.support.execution.stopping", moment, *words], state)


def told_by(done: processes.Done) -> list[str]:
    """Return all problems that the command line reported."""
    if "error" in done.document:
        return [done.document["error"]["message"]]
    return list(done.document["receipt"]["problems"])


@pytest.mark.parametrize("act", ACTS)
def test_what_is_made_while_apply_is_stopped_and_settles_is_whole(
    table: TableBuilder, state_dir: Path, act: Callable[[TableBuilder], None]
) -> None:
    with stopped(table, "settling", state_dir) as process:
        process.stopped()
        act(table)
        made = ground.references(table.root)
        process.go_on()
        done = process.end()
    assert done.status == 0, done
    assert told_by(done) == []
    assert ground.references(table.root) == made
    assert ground.broken(table.root) == []
    assert ground.unheld(table.root) == frozenset() or act is rolls_back  # the engine frees nothing there


@pytest.mark.parametrize(("act", "moment"), sample([(makes_a_tag, "1"), *((act, "7") for act in ACTS)], 3))
def test_what_is_made_while_apply_is_stopped_in_its_sweep_is_whole_or_named(
    table: TableBuilder, state_dir: Path, act: Callable[[TableBuilder], None], moment: str
) -> None:
    """Whoever removes what was broken can resume; the result is that of an undisturbed run."""
    with stopped(table, moment, state_dir) as process:
        process.stopped()
        act(table)
        process.go_on()
        done = process.end()
    broken = lacking(table)
    assert broken or moment == "1"
    assert unnamed(broken, told_by(done)) == set(), done
    assert bool(done.status) == bool(broken), "no success where a point was broken"
    if act is makes_a_tag:
        table.tags.pop("late")
        (table.root / "tag/tag-late").unlink()
        run = Journal().open_run(str(table.root))
        assert run is not None
        resumed = processes.run(state_dir, "resume", run.id, "--settle", "0 s")
        assert (resumed.status, resumed.document["outcome"], resumed.document["problems"]) == (0, "done", [])
        assert ground.broken(table.root) == []
        assert ground.unheld(table.root) == frozenset()


# writers --------------------------------------------------------------------------------------------------------------


def test_of_our_writers_exactly_one_wins_each_id(tmp_path: Path, state_dir: Path) -> None:
    """Three processes each append to their own partition and sometimes replace it: no commit is lost or duplicated, and
    failed attempts leave nothing."""
    root, each = tmp_path / "default.db" / "t", 9
    publish.create_table(Store(str(root)), writing.COLUMNS, partition_keys=["dt"], time_ms=0)
    with ExitStack() as stack:
        users = ["a", "b", "c"]
        writers = [
            stack.enter_context(processes.started(writing.command(root, user, each, 30), state_dir)) for user in users
        ]
        writing.begin(*writers)
        done = [writer.end() for writer in writers]
    assert [one.status for one in done] == [0, 0, 0], done
    assert [one.document["lost"] for one in done] == [[], [], []]
    winner = {number: user for user, one in zip(users, done, strict=True) for number, _, _ in one.document["commits"]}
    assert sorted(winner) == list(range(1, 3 * each + 1))
    assert winner == {
        number: json.loads((root / f"snapshot/snapshot-{number}").read_bytes())["commitUser"] for number in winner
    }
    assert sum(one != other for one, other in pairwise(winner[number] for number in sorted(winner))) > 2, "they met"
    newest = set_model.read(root).live_paths([str(3 * each)])
    assert {path.rsplit("/", 1)[-1] for path in newest} == set().union(*(writing.live(one.document) for one in done))
    assert ground.broken(root) == []
    assert ground.unheld(root) == frozenset()


def test_a_plan_a_minute_old_applies_beside_a_busy_writer(table: TableBuilder, state_dir: Path) -> None:
    """A commit every 50 ms, before and during the apply: it frees exactly what was shown."""
    opened = open_table(str(table.root))
    shown = opened.preview(dataclasses.replace(EXPIRE, time_retained_ms=0), time.time_ns() // 1_000_000 - 60_000)
    before = ground.disk(table.root)
    snapshots = table.root / "snapshot"
    with processes.started(writing.command(table.root, "2026-01-01", 0, 50), state_dir) as writer:
        writing.begin(writer)
        assert processes.seen((snapshots / "snapshot-12").exists, writer), writer.end()
        begun = opened.heads().main.snapshots[-1].id

        def until_it_commits(_settle_s: float) -> None:
            assert processes.seen((snapshots / f"snapshot-{begun + 1}").exists, writer), writer.end()

        receipt = apply(opened, shown, settle_s=1, waits=until_it_commits)
        ended = opened.heads().main.snapshots[-1].id
        writer.say("stop")
        done = writer.end()
    assert (done.status, done.document["lost"]) == (0, []), done
    assert ended > begun, "it committed while the plan was applied"
    assert receipt.is_exact
    assert receipt.problems == ()
    assert before - ground.disk(table.root) == set(shown.frees["path"].to_pylist())
    made = {number for number, _, _ in done.document["commits"]}
    assert made == set(range(10, 10 + len(made)))
    assert all((snapshots / f"snapshot-{number}").exists() for number in made)
    assert ground.broken(table.root) == []
