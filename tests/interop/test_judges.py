"""The judges themselves: they start, read real tables, write their own, and agree with each other.

Invariant: a judge that misreads would prove anything, so each is held to what another engine wrote or deleted.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines import paimon_java
from tests.engines.lines import JudgeDied
from tests.engines.paimon_java import EngineError, PaimonJudge, set_commit_time
from tests.engines.pypaimon_env import PypaimonJudge
from tests.support.depth import sample
from tests.support.interop import random_history
from tests.support.interop.engine_deleted import act, copied, dangling, engine_deleted, files_of, points, stranded
from tests.support.places import TABLES

PAIMON = TABLES / "paimon"
NAMES = sorted(path.name for path in (PAIMON / "default.db").iterdir())
GOLDENS = json.loads((PAIMON / "goldens.json").read_text())
COLUMNS = [("k", "BIGINT NOT NULL"), ("dt", "STRING NOT NULL"), ("v", "STRING")]
PLAIN = [
    *[("id", "BIGINT NOT NULL"), ("yes", "BOOLEAN"), ("small", "INT"), ("real", "DOUBLE"), ("name", "STRING")],
    *[("raw", "BYTES"), ("day", "DATE"), ("at", "TIMESTAMP(3)"), ("at6", "TIMESTAMP(6)")],
]
VALUES: list[list[Any]] = [
    [1, True, -7, 1.5, "naïve / 日本", "00ff", "1969-12-31", "2026-01-01T00:00", "2026-01-01T12:34:56.000007"],
    [2, False, 2**31 - 1, -0.25, "", "", "2026-11-21", "1970-01-01T00:00:00.001", "2026-01-01T12:34:56.789"],
    [9_007_199_254_740_993, None, None, None, None, None, None, None, None],
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Where a new table can be made."""
    return tmp_path / "default.db" / "t"


@pytest.fixture(params=sample(NAMES, 6))
def real(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A copy of a real table."""
    with copied(PAIMON / "default.db" / request.param) as copy:
        yield copy


def _pk_table(judge: PaimonJudge, table: Path) -> None:
    options = {"bucket": "1", "snapshot.num-retained.min": "100"}
    judge.create(table, COLUMNS, partition_keys=["dt"], primary_keys=["k", "dt"], options=options)


# --- reading what others wrote ----------------------------------------------------------------------------------------


def test_judges_read_every_point_of_a_real_table_and_agree(
    real: Path, java_judge: PaimonJudge, java_09_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    hint = real / "snapshot" / "EARLIEST"
    earliest = int(hint.read_text()) if hint.is_file() and hint.read_text().isdigit() else 0
    read = 0
    for name, point in points(real).items():
        if "changelog_id" in point:
            continue
        rows = java_judge.rows(real, **point)
        assert java_judge.count(real, **point) == len(rows), name
        assert pypaimon_judge.rows(real, **point) == rows, name
        if point.get("snapshot", earliest) < earliest and "branch" not in point:
            # Up to 1.1 a snapshot below a hint that is too high could not be read by its id.
            with pytest.raises(EngineError, match="out of available snapshotId range"):
                java_09_judge.rows(real, **point)
        else:
            assert java_09_judge.rows(real, **point) == rows, name
        read += 1
    assert read


def test_judges_name_the_same_live_files(
    real: Path, java_judge: PaimonJudge, java_1x_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    same = ("path", "bytes", "rows", "bucket", "level", "schema_id", "min_sequence", "max_sequence")

    def named(files: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted(tuple(file[name] for name in same) for file in files)

    for name, point in points(real).items():
        if "changelog_id" not in point:
            files = named(java_judge.files(real, **point))
            assert files == named(java_1x_judge.files(real, **point)), name
            assert files == named(pypaimon_judge.files(real, **point)), name
            assert {file[0] for file in files} <= files_of(real), name


def test_every_real_table_is_whole(real: Path, java_judge: PaimonJudge) -> None:
    """Nothing a point needs is missing, and nothing lies there unneeded: so `needs` neither forgets nor invents."""
    assert dangling(java_judge, real) == {}
    assert stranded(java_judge, real) == frozenset()


# --- the goldens, done again ------------------------------------------------------------------------------------------

REPLAYED = ("expire", "delete-tag", "rollback", "consumer", "delete-branch", "fast-forward")


def _words(golden: dict[str, Any]) -> list[list[str]]:
    return [shlex.split(op) for op in golden["op"].split(" ; ")]


def _replay(judge: PaimonJudge, table: Path, words: list[str]) -> None:
    op, *rest = words
    if op == "delete-tag":
        for name in rest[0].split(","):
            judge.delete_tag(table, name)
    elif op == "rollback":
        kind, _, name = rest[0].rpartition(":")
        judge.rollback(table, **{"tag": name} if kind else {"snapshot": int(name)})
    elif op == "consumer":
        judge.set_consumer(table, rest[0], int(rest[1]))
    elif op in ("delete-branch", "fast-forward"):
        (judge.delete_branch if op == "delete-branch" else judge.fast_forward)(table, rest[0])
    elif rest[0] == "--changelog":
        asked: dict[str, Any] = {
            rest[i].removeprefix("--changelog-").replace("-", "_"): int(rest[i + 1]) for i in range(1, len(rest), 2)
        }
        judge.expire(table, rule="changelogs", **asked)
    else:
        said: dict[str, Any] = {rest[i][2:].replace("-", "_"): rest[i + 1] for i in range(0, len(rest), 2)}
        branch = said.pop("branch", None)
        judge.expire(
            table, rule="bare", branch=branch, **dict[str, Any]((name, int(value)) for name, value in said.items())
        )


CASES = [
    pytest.param(name, golden, id=f"{name}: {golden['op']}")
    for name in NAMES
    for golden in GOLDENS.get(name, ())
    if all(words[0] in REPLAYED for words in _words(golden)) and not golden["errors"]
]


@pytest.mark.parametrize(("name", "golden"), CASES)
def test_the_0_9_judge_deletes_what_its_goldens_say(
    name: str, golden: dict[str, Any], java_09_judge: PaimonJudge
) -> None:
    with copied(PAIMON / "default.db" / name) as copy:
        before = files_of(copy)
        for words in _words(golden):
            _replay(java_09_judge, copy, words)
        assert before - files_of(copy) == set(golden["deleted"])


@pytest.mark.parametrize(("name", "golden"), CASES)
def test_the_newest_engine_deletes_the_same_except_in_a_rollback(
    name: str, golden: dict[str, Any], java_judge: PaimonJudge
) -> None:
    """Since 1.2 a rollback removes snapshots and tags and leaves their files to the orphan cleaner."""
    with copied(PAIMON / "default.db" / name) as copy:
        before = files_of(copy)
        for words in _words(golden):
            _replay(java_judge, copy, words)
        gone = before - files_of(copy)
        if any(words[0] == "rollback" for words in _words(golden)):
            assert gone == {path for path in golden["deleted"] if path.startswith(("snapshot/", "tag/", "changelog/"))}
        else:
            assert gone == set(golden["deleted"])


def test_engine_deleted_answers_without_touching_the_table(java_09_judge: PaimonJudge) -> None:
    table = PAIMON / "default.db" / "consumer"
    before = files_of(table)
    golden = next(g for g in GOLDENS["consumer"] if g["op"] == "expire --retain-max 1 --retain-min 1")
    request = {"op": "expire", "retain_max": 1, "retain_min": 1}
    assert engine_deleted(table, request, java_09_judge) == set(golden["deleted"])
    assert files_of(table) == before


def test_a_branch_is_not_protected_by_the_engine_and_dangling_says_so(java_judge: PaimonJudge) -> None:
    with copied(PAIMON / "default.db" / "branches") as copy:
        outcome = act(java_judge, copy, {"op": "expire", "retain_max": 1, "retain_min": 1, "drop_tags": ("fork",)})
        assert not outcome.errors
        broken = dangling(java_judge, copy)
        assert broken
        assert all(point.startswith("branch:b1/") for point in broken)
        lacking = {path for paths in broken.values() for path in paths if "Failed to read" not in path}
        assert lacking
        assert lacking <= outcome.deleted


# --- writing ----------------------------------------------------------------------------------------------------------


def test_a_table_of_java_is_read_by_pypaimon(
    table: Path, java_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    java_judge.create(table, PLAIN)
    assert java_judge.write(table, VALUES) == [1]
    assert java_judge.rows(table) == paimon_java.ordered(VALUES)
    assert pypaimon_judge.rows(table) == paimon_java.ordered(VALUES)


def test_a_table_of_pypaimon_is_read_by_java(
    table: Path, java_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    pypaimon_judge.create(table, PLAIN, primary_keys=["id"], options={"bucket": "2"})
    assert pypaimon_judge.write(table, VALUES) == [1]
    assert pypaimon_judge.write(table, [[1, *[None] * 8]]) == [2]
    pypaimon_judge.create_tag(table, "first", snapshot=1)
    assert java_judge.rows(table, tag="first") == paimon_java.ordered(VALUES)
    assert java_judge.rows(table) == pypaimon_judge.rows(table) == paimon_java.ordered([[1, *[None] * 8], *VALUES[1:]])


def test_upserts_deletes_overwrites_and_drops(table: Path, java_judge: PaimonJudge) -> None:
    _pk_table(java_judge, table)
    assert java_judge.write(table, [[1, "a", "x"], [2, "a", "x"], [3, "b", "x"]], watermark=77) == [1]
    assert java_judge.write(table, [[1, "a", "y"], [2, "a", None]], kinds=["+U", "-D"]) == [2]
    assert java_judge.rows(table) == [[1, "a", "y"], [3, "b", "x"]]
    assert java_judge.rows(table, snapshot=1) == [[1, "a", "x"], [2, "a", "x"], [3, "b", "x"]]
    assert java_judge.write(table, [[9, "b", "z"]], overwrite={"dt": "b"}) == [3]
    assert java_judge.write(table, [[8, "a", "z"]], overwrite={}) == [4]
    assert java_judge.rows(table) == [[8, "a", "z"], [9, "b", "z"]]
    assert java_judge.drop_partitions(table, {"dt": "b"}) == [5]
    assert java_judge.rows(table) == [[8, "a", "z"]]
    assert java_judge.analyze(table) == [6]
    assert java_judge.truncate(table) == [7]
    assert java_judge.count(table) == 0
    kinds = [snapshot["commitKind"] for snapshot in java_judge.snapshots(table)]
    assert kinds == ["APPEND", "APPEND", "OVERWRITE", "OVERWRITE", "OVERWRITE", "ANALYZE", "OVERWRITE"]
    assert java_judge.as_of(table, watermark=77, rule="later") == 1


def test_tags_branches_and_schema_changes(table: Path, java_judge: PaimonJudge) -> None:
    _pk_table(java_judge, table)
    java_judge.write(table, [[1, "a", "x"]])
    java_judge.create_tag(table, "v1", retained_ms=3_600_000)
    java_judge.create_branch(table, "dev", tag="v1")
    assert java_judge.alter(table, ("add", "n", "INT")) == 1
    assert java_judge.write(table, [[2, "a", "y", 5]]) == [2]
    assert java_judge.write(table, [[3, "a", "z"]], branch="dev") == [2]
    assert java_judge.rows(table) == [[1, "a", "x", None], [2, "a", "y", 5]]
    assert java_judge.rows(table, tag="v1") == [[1, "a", "x"]]
    java_judge.rename_tag(table, "v1", "v2")
    java_judge.replace_tag(table, "v2", snapshot=2)
    assert [(tag["name"], tag["snapshot"]) for tag in java_judge.tags(table)] == [("v2", 2)]
    java_judge.rename_branch(table, "dev", "work")
    java_judge.fast_forward(table, "work")
    assert java_judge.rows(table) == [[1, "a", "x"], [3, "a", "z"]]
    java_judge.delete_branch(table, "work")
    assert java_judge.branches(table) == []


@pytest.mark.parametrize("version", ["newest", "0.9"])
def test_java_looks_for_a_branchs_tag_among_mains(
    version: str, table: Path, java_judge: PaimonJudge, java_09_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    judge = java_judge if version == "newest" else java_09_judge
    judge.create(table, COLUMNS)
    judge.write(table, [[1, "a", "x"]])
    judge.create_tag(table, "fork")
    judge.create_branch(table, "dev", tag="fork")
    judge.write(table, [[3, "a", "z"]], branch="dev")
    judge.create_tag(table, "theirs", branch="dev")
    assert (table / "branch" / "branch-dev" / "tag" / "tag-theirs").is_file()
    with pytest.raises(EngineError, match="Tag 'theirs' doesn't exist"):
        judge.rows(table, branch="dev", tag="theirs")
    assert judge.rows(table, branch="dev", tag="theirs", own=True) == [[1, "a", "x"], [3, "a", "z"]]
    assert pypaimon_judge.rows(table, branch="dev", tag="theirs") == [[1, "a", "x"], [3, "a", "z"]]


def test_compaction_expiry_tags_and_consumers(table: Path, java_judge: PaimonJudge) -> None:
    _pk_table(java_judge, table)
    for round in range(4):
        java_judge.write(table, [[key, "a", f"v{round}"] for key in range(3)])
    assert java_judge.compact(table) == [5]
    assert [file["level"] for file in java_judge.files(table)] == [5]
    java_judge.create_tag(table, "old", snapshot=2)
    java_judge.set_consumer(table, "job", 4)
    assert java_judge.expire(table, retain_max=1, retain_min=1) == 3
    java_judge.delete_consumer(table, "job")
    assert java_judge.expire(table, rule="bare", retain_max=1) == 1
    assert [snapshot["id"] for snapshot in java_judge.snapshots(table)] == [5]
    assert java_judge.rows(table, tag="old") == [[key, "a", "v1"] for key in range(3)]
    assert stranded(java_judge, table) == frozenset()
    java_judge.delete_tag(table, "old")
    assert len([path for path in files_of(table) if path.endswith(".parquet")]) == 1
    assert java_judge.orphans(table, older_than_ms=2**41, dry_run=True) == []


def test_append_compaction_and_rollback(table: Path, java_judge: PaimonJudge) -> None:
    java_judge.create(table, COLUMNS)
    for key in range(3):
        java_judge.write(table, [[key, "a", "x"]])
    assert java_judge.compact(table, options={"compaction.min.file-num": "2"}) == [4]
    assert [file["rows"] for file in java_judge.files(table)] == [3]
    java_judge.rollback(table, snapshot=2)
    assert java_judge.count(table) == 2
    assert java_judge.write(table, [[7, "a", "x"]]) == [3]
    assert java_judge.rollback_as_latest(table, snapshot=1) == [4]
    assert java_judge.rows(table) == [[0, "a", "x"]]


def test_times_are_the_engines_to_read(table: Path, java_judge: PaimonJudge, java_09_judge: PaimonJudge) -> None:
    java_judge.create(table, COLUMNS)
    for id, time_ms in enumerate((1_000, 2_000, 3_000), 1):
        java_judge.write(table, [[id, "a", "x"]])
        set_commit_time(table, id, time_ms)
    java_judge.create_tag(table, "first", snapshot=1)
    set_commit_time(table, 1, 1_500)
    assert json.loads((table / "tag" / "tag-first").read_text())["timeMillis"] == 1_500
    assert java_judge.as_of(table, time_ms=2_999) == java_judge.travel(table, time_ms=2_999) == 2
    assert java_judge.as_of(table, time_ms=2_999, rule="later") == 3
    assert java_judge.as_of(table, time_ms=1_499) is None
    with pytest.raises(EngineError, match="no snapshot earlier than or equal"):
        java_judge.travel(table, time_ms=1_499)
    assert java_09_judge.travel(table, time_ms=1_499) == 1  # up to 1.0 it answered the earliest


def test_ages_are_looked_up_a_snapshot_later_since_2_0(
    table: Path, java_judge: PaimonJudge, java_1x_judge: PaimonJudge
) -> None:
    """A snapshot is old in 1.x by its own time, in 2.0 by that of the next: it was the newest until then."""
    java_judge.create(table, COLUMNS)
    for id in range(1, 5):
        java_judge.write(table, [[id, "a", "x"]])
        set_commit_time(table, id, id * 1_000)
    request = {"op": "expire", "retain_max": 100, "retain_min": 1, "older_than_ms": 2_500}

    def gone(judge: PaimonJudge) -> list[str]:
        return sorted(path for path in engine_deleted(table, request, judge) if path.startswith("snapshot/"))

    assert gone(java_1x_judge) == ["snapshot/snapshot-1", "snapshot/snapshot-2"]
    assert gone(java_judge) == ["snapshot/snapshot-1"]


def test_a_commit_in_two_steps_and_one_given_up(table: Path, java_judge: PaimonJudge) -> None:
    java_judge.create(table, COLUMNS)
    first, second = (java_judge.prepare(table, [[id, "a", "x"]]) for id in (1, 2))
    written = files_of(table)
    assert java_judge.commit(second) == [1]
    java_judge.abort(first)
    assert java_judge.rows(table) == [[2, "a", "x"]]
    assert len(written - files_of(table)) == 1


# --- failing ----------------------------------------------------------------------------------------------------------


def test_an_error_of_the_engine_leaves_the_judge_alive(
    tmp_path: Path, java_judge: PaimonJudge, pypaimon_judge: PypaimonJudge
) -> None:
    for judge in (java_judge, pypaimon_judge):
        with pytest.raises(EngineError, match=r"(?i)schema"):
            judge.rows(tmp_path / "nothing")
        assert judge.hello()


def test_what_a_release_lacks_is_said_and_nothing_done(table: Path, java_1x_judge: PaimonJudge) -> None:
    java_1x_judge.create(table, COLUMNS)
    java_1x_judge.write(table, [[1, "a", "x"]])
    before = files_of(table)
    with pytest.raises(EngineError) as lacking:
        java_1x_judge.rollback_as_latest(table, snapshot=1)
    assert lacking.value.is_unsupported
    assert files_of(table) == before


def test_a_dead_judge_is_no_answer(java_judge: PaimonJudge) -> None:
    with PaimonJudge() as other:
        subprocess.run(["kill", "-9", str(other.pid)], check=True)
        with pytest.raises(JudgeDied, match="ended"):
            other.hello()
    with PaimonJudge(timeout_s=0.0) as other, pytest.raises(JudgeDied, match="did not answer"):
        other.hello()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "no jar is known for Paimon 9.9" in paimon_java.missing("9.9")
    paimon_java.find_java.cache_clear()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    try:
        with pytest.raises(paimon_java.Missing, match=f"no java in {tmp_path}/bin"):
            paimon_java.find_java()
    finally:
        paimon_java.find_java.cache_clear()
    shutil.rmtree(tmp_path)


# --- histories --------------------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_decisions(tmp_path: Path, java_judge: PaimonJudge) -> None:
    def said(history: random_history.History) -> list[tuple[Any, ...]]:
        return [(entry["do"], entry.get("result"), entry.get("snapshot")) for entry in history.log]

    once, again = (
        random_history.make(java_judge, tmp_path / name / "default.db" / "h", seed=12, steps=15) for name in "ab"
    )
    assert said(once) == said(again)
    assert once.counts == again.counts


def test_the_generator_says_what_did_not_occur(tmp_path: Path) -> None:
    words = ["--seeds", "1", "--steps", "1", "--directory", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.interop.random_history", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if "did not occur" not in done.stderr:
        pytest.fail(f"status {done.returncode}: {done.stderr}")
    assert done.returncode == 1
    assert "fast-forward" in done.stderr
    assert json.loads((tmp_path / "h1.json").read_text().splitlines()[0])["do"] == "create"
