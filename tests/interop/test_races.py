"""The real engine as the other hand: its commits, tags and branches in the middle of what we do, and ours in its.

The engine can be held right before it publishes something (`PaimonJudge.held`), so it makes a reference to what it
read before we removed it: the one race a deletion has to fear.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict
from core.execution.apply import apply
from core.formats.paimon.write import commit
from core.formats.paimon.write.commit import Stamp
from core.model.actions import Expire
from core.model.references import Snapshot
from core.storage.store import Store
from core.table import open_table
from tests.engines.paimon_java import EngineError, Held, PaimonJudge
from tests.support.execution import ground, processes, writing
from tests.support.interop.engine_deleted import dangling, points

NOW_MS = 4_000_000_000_000
COLUMNS = [(name, of) for name, of in writing.COLUMNS]
PATIENT = {"commit.max-retries": "100000", "commit.max-retry-wait": "50 ms"}
"""The engine's commit goes on until it is its turn: by default it gives up after ten, which a busy rival reaches."""
EXPIRE = Expire(retain_max=3, retain_min=3, drop_tags=("early",))
WORDS = ["--retain-max", "3", "--retain-min", "3", "--drop-tag", "early", "--now", str(NOW_MS), "--yes"]

# what the engine does, and where it is held while it does it ----------------------------------------------------------

ACTS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "tag": ("tag/tag-late", "create_tag", {"name": "late", "snapshot": 3}),
    "replaced tag": ("tag/tag-kept", "replace_tag", {"name": "kept", "snapshot": 3}),
    "renamed tag": ("tag/tag-later", "rename_tag", {"name": "early", "to": "later"}),
    "renamed tag that stays": ("tag/tag-later", "rename_tag", {"name": "kept", "to": "later"}),
    "branch": ("branch/branch-late/tag/tag-early", "create_branch", {"name": "late", "tag": "early"}),
    "branch without schema": ("branch/branch-late/schema/schema-0", "create_branch", {"name": "late", "tag": "early"}),
    "branch that stays": ("branch/branch-late/schema/schema-0", "create_branch", {"name": "late", "tag": "kept"}),
    "commit": ("snapshot/snapshot-9", "write", {"rows": [[9, 9.0, "d1"]]}),
}
TOO_LATE = {"renamed tag", "branch"}
"""What they are made of has gone when they go on."""


@pytest.fixture(scope="module")
def made(java_judge: PaimonJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight commits of the engine, each replacing one of two partitions, two tags and a branch."""
    table = ground.warehouse(tmp_path_factory.mktemp("made"))
    java_judge.create(table, COLUMNS, partition_keys=["dt"], options={"bucket": "-1"})
    for number in range(1, 9):
        day = f"d{number % 2}"
        java_judge.write(table, [[number, number / 2, day]], overwrite={"dt": day})
        if number in (2, 4):
            java_judge.create_tag(table, {2: "early", 4: "kept"}[number])
    java_judge.create_branch(table, "b", tag="kept")
    java_judge.write(table, [[100, 1.0, "d0"]], branch="b")
    return table


@pytest.fixture
def table(made: Path, tmp_path: Path) -> Path:
    return ground.copied(made, ground.warehouse(tmp_path))


Hold = Callable[[str, str, Mapping[str, Any]], Held]


@pytest.fixture
def hold(java_judge: PaimonJudge, table: Path, tmp_path: Path) -> Iterator[Hold]:
    """Starts a command of the engine and holds it at a path; it is never left held."""
    with ExitStack() as stack:

        def start(at: str, cmd: str, fields: Mapping[str, Any]) -> Held:
            (directory := tmp_path / "held").mkdir()
            engine = java_judge.held(directory, at, cmd, table, **fields)
            stack.callback(engine.close)
            return engine

        yield start


def go_on(engine: Held, what: str) -> None:
    try:
        engine.go_on()
    except EngineError:
        assert what in TOO_LATE


def stopped(table: Path, moment: str, state: Path) -> AbstractContextManager[processes.Process]:
    words = ["expire", str(table), *WORDS, "--settle", "1 s", "--json"]
    return processes.started([sys.executable, "-m", "tests.support.execution.stopping", moment, *words], state)


def told_by(done: processes.Done) -> str:
    if "error" in done.document:
        return str(done.document["error"]["message"])
    return " ".join(done.document["receipt"]["problems"])


@pytest.mark.parametrize("what", ACTS)
def test_what_the_engine_publishes_while_we_settle_is_whole(
    java_judge: PaimonJudge, table: Path, hold: Hold, state_dir: Path, what: str
) -> None:
    engine = hold(*ACTS[what])
    with stopped(table, "settling", state_dir) as process:
        process.stopped()
        go_on(engine, what)
        there = points(table)
        process.go_on()
        done = process.end()
    assert (done.status, told_by(done)) == (0, ""), done
    assert points(table).keys() == there.keys()
    assert dangling(java_judge, table) == {}


@pytest.mark.parametrize("what", ["tag", "replaced tag", "branch without schema"])
def test_what_the_engine_publishes_while_we_sweep_is_whole_or_named(
    java_judge: PaimonJudge, table: Path, hold: Hold, state_dir: Path, what: str
) -> None:
    engine = hold(*ACTS[what])
    with stopped(table, "4", state_dir) as process:
        process.stopped()
        go_on(engine, what)
        process.go_on()
        done = process.end()
    broken = dangling(java_judge, table)
    said = told_by(done).replace(",", " ").split()
    assert [point for point in broken if point not in said] == [], (broken, done)
    assert bool(broken) == bool(said) == bool(done.status), (broken, done)


def test_a_branch_the_engine_has_half_made_is_heeded(
    java_judge: PaimonJudge, table: Path, hold: Hold, state_dir: Path
) -> None:
    """It writes the tag first, then the snapshot, the schemas last: we begin and end while it is between them."""
    engine = hold(*ACTS["branch without schema"])
    done = processes.run(state_dir, "expire", str(table), *WORDS, "--settle", "0 s")
    engine.go_on()
    assert (done.status, told_by(done)) == (0, ""), done
    assert dangling(java_judge, table) == {}


# commits --------------------------------------------------------------------------------------------------------------


def append(store: Store) -> tuple[Snapshot, str]:
    file = writing.new_file(store, "d1")
    stamp = Stamp(1_790_000_000_000, lambda: str(uuid.uuid4()), user="ours")
    return commit.append(store, [file], stamp), file.path


def users(table: Path) -> dict[int, str]:
    """Who has committed which id."""
    documents = [json.loads(path.read_bytes()) for path in (table / "snapshot").glob("snapshot-*")]
    return {document["id"]: document["commitUser"] for document in documents}


def test_a_snapshot_of_ours_that_the_engine_overwrites_is_told(
    java_judge: PaimonJudge, table: Path, hold: Hold
) -> None:
    """On a local disk the engine looks whether the name is free and then renames over it, whatever came in between."""
    engine = hold(*ACTS["commit"])
    ours = []

    class Overtaken(Store):
        def create(self, relative: str, data: bytes) -> None:
            super().create(relative, data)
            ours.append(relative)
            if relative == "snapshot/snapshot-9":
                assert engine.go_on() == {"snapshots": [9]}

    with pytest.raises(Conflict, match="Another writer replaced snapshot/snapshot-9"):
        append(Overtaken(str(table)))
    assert users(table)[9] != "ours"
    left = [path for path in ours if path != "snapshot/snapshot-9"]
    assert left
    assert all((table / path).is_file() for path in left), "nothing is deleted where somebody may have read it"
    assert dangling(java_judge, table) == {}
    assert append(Store(str(table)))[0].id == 10
    assert java_judge.write(table, [[1, 1.0, "d1"]]) == [11]
    assert dangling(java_judge, table) == {}


def test_an_engine_that_may_yet_overwrite_our_snapshot_is_waited_for(
    java_judge: PaimonJudge, table: Path, hold: Hold
) -> None:
    """Paused between its look and its rename: ours is not called a commit before that is over."""
    engine = hold(*ACTS["commit"])
    with ThreadPoolExecutor(1) as pool:
        committing = pool.submit(append, Store(str(table)))
        while 9 not in users(table) and not committing.done():
            time.sleep(0.02)
        assert users(table)[9] == "ours"
        with pytest.raises(TimeoutError):
            committing.result(timeout=1)
        engine.go_on()
        with pytest.raises(Conflict, match="Another writer replaced snapshot/snapshot-9"):
            committing.result()
    assert users(table)[9] != "ours"
    assert dangling(java_judge, table) == {}


def test_a_commit_of_ours_that_the_engine_meets_in_time_is_kept(
    java_judge: PaimonJudge, table: Path, hold: Hold
) -> None:
    """It had prepared snapshot 9; it finds ours there, and commits on top of it."""
    engine = hold(".tmp", "write", {"rows": [[9, 9.0, "d1"]], "user": "theirs"})
    snapshot, path = append(Store(str(table)))
    engine.go_on()
    assert snapshot.id == 9
    assert (users(table)[9], users(table)[10]) == ("ours", "theirs")
    assert path in java_judge.refs(table)["data"]
    assert dangling(java_judge, table) == {}


def test_two_of_us_and_the_engine_write_at_the_same_time(java_judge: PaimonJudge, table: Path, state_dir: Path) -> None:
    """Every id is one writer's, and every commit that somebody was told of is there, once."""
    count, own = 12, ("d1", "d2")

    def commits_of(user: str) -> int:
        return list(users(table).values()).count(user)

    def one_more(user: str) -> Callable[[], bool]:
        so_far = commits_of(user)
        return lambda: commits_of(user) > so_far

    with ExitStack() as stack:
        commands = [writing.command(table, user, every_ms=20) for user in own]
        writers = [stack.enter_context(processes.started(command, state_dir)) for command in commands]
        writing.begin(*writers)
        for number in range(count):
            java_judge.write(table, [[number, 0.5, "d0"]], options=PATIENT, user="theirs", identifier=number)
            if number % 4 == 3:  # then they take turns for once
                for user, writer in zip(own, writers, strict=True):
                    assert processes.seen(one_more(user), writer)
        for writer in writers:
            writer.say("stop")
        done = [writer.end() for writer in writers]
    assert [each.status for each in done] == [0, 0], done
    committed = users(table)
    told = {user: {number for number, _, _ in each.document["commits"]} for user, each in zip(own, done, strict=True)}
    told["theirs"] = {number for number, user in committed.items() if user == "theirs"}
    lost = [message for each in done for message in each.document["lost"]]
    for user in own:
        assert {number for number, by in committed.items() if by == user} == told[user], lost
    assert sorted(number for numbers in told.values() for number in numbers) == list(range(9, max(committed) + 1))
    assert len(told["theirs"]) == count
    assert all("replaced" in message or "kept getting in first" in message for message in lost)
    newest = java_judge.refs(table)["data"]
    for user, each in zip(own, done, strict=True):
        live = {path.rsplit("/", 1)[-1] for path in newest if f"/dt={user}/" in f"/{path}"}
        assert live >= writing.live(each.document)
    assert dangling(java_judge, table) == {}


@pytest.mark.parametrize("options", [{}, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "6"}])
def test_the_engine_commits_while_we_apply(
    java_judge: PaimonJudge, table: Path, state_dir: Path, options: dict[str, str]
) -> None:
    """An old plan frees what was shown beside a busy writer; nothing that stays is broken where that writer expires,
    too, and takes what we were about to."""
    opened = open_table(str(table))
    shown = opened.preview(EXPIRE, NOW_MS)
    before = ground.disk(table)
    with ThreadPoolExecutor(1) as pool:
        applying = pool.submit(apply, opened, shown, settle_s=1)
        made = 0
        while not applying.done():
            made += len(java_judge.write(table, [[made, 0.5, "d0"]], options=options))
    assert made
    gone = before - ground.disk(table)
    receipt = applying.result() if not options or applying.exception() is None else None
    if receipt is None:
        assert isinstance(applying.exception(), Conflict)
    elif not options:
        assert receipt.is_exact
        assert gone == set(shown.frees["path"].to_pylist())
    assert receipt is None or receipt.problems == ()
    assert dangling(java_judge, table) == {}
