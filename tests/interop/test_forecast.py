"""What the next commit expires automatically: predicted, and then committed by an engine."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.model.actions import Expire
from core.procedures.parse import parse, request_of
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge

pytestmark = pytest.mark.engines

COLUMNS = [("k", "INT NOT NULL"), ("v", "STRING")]
QUIET = {"write-only": "true"}
POLICIES = {
    "count": {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "4"},
    "age": {"snapshot.num-retained.min": "3", "snapshot.time-retained": "1 ms"},
    "limit": {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2", "snapshot.expire.limit": "3"},
    "all but one": {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"},
    "nothing": {},
}


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The judge's clock shows UTC, and a tag's time has no zone."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_utc")
@pytest.mark.parametrize("name", POLICIES)
def test_the_next_commit_takes_what_was_foretold(name: str, tmp_path: Path, java_judge: PaimonJudge) -> None:
    place = tmp_path / "default.db" / "t"
    java_judge.create(place, COLUMNS, options={"file.format": "parquet", **POLICIES[name]})
    for number in range(8):
        java_judge.write(place, [[number, "v"]], options=QUIET)
    java_judge.create_tag(place, "ends", snapshot=2, retained_ms=1)
    java_judge.create_tag(place, "stays", snapshot=3)
    table = open_table(str(place))
    time.sleep(0.01)  # the tag's time passes, and so does the age of what is there
    told = table.next_commit(table.history(), time.time_ns() // 1_000_000)
    assert told is not None
    before = {str(each["id"]) for each in java_judge.snapshots(place)} | {"tag:ends", "tag:stays"}
    [new] = java_judge.write(place, [[9, "v"]])
    after = {str(each["id"]) for each in java_judge.snapshots(place)}
    after |= {f"tag:{each['name']}" for each in java_judge.tags(place)}
    gone = before - after
    assert str(new) in after
    assert "tag:ends" in gone
    # Where only the newest is kept, the one before it goes too: what the coming commit replaces of it is not known.
    assert gone - set(told.expired) == ({"8"} if name == "all but one" else set())
    assert set(told.expired) <= gone


@pytest.mark.parametrize("limit", ["2", "0", None])
@pytest.mark.parametrize("most", [None, 4])
def test_a_call_takes_what_the_engines_takes(
    limit: str | None, most: int | None, tmp_path: Path, java_judge: PaimonJudge
) -> None:
    """By the table's own limit where none is asked, which the engine's CALL obeys since 1.1."""
    place = tmp_path / "default.db" / "t"
    options = {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "4"}
    options |= {"snapshot.expire.limit": limit} if limit is not None else {}
    java_judge.create(place, COLUMNS, primary_keys=["k"], options={"bucket": "1", **options})
    for number in range(9):
        java_judge.write(place, [[number % 3, "v"]], options=QUIET)
    argument = "" if most is None else f", max_deletes => {most}"
    request = request_of(parse(f"CALL sys.expire_snapshots(table => 'default.t'{argument})"), 0).request
    assert isinstance(request, Expire)
    plan = open_table(str(place)).preview(request, time.time_ns() // 1_000_000)
    before = {str(each["id"]) for each in java_judge.snapshots(place)}
    java_judge.expire(place, max_deletes=most)
    after = {str(each["id"]) for each in java_judge.snapshots(place)}
    assert {each.point for each in plan.deleted_points} == before - after
    assert len(before - after) == (most or (5 if limit is None else int(limit)))


def test_readers_of_changelogs_hold_snapshots_from_a_call_but_not_from_a_commit(
    tmp_path: Path, java_judge: PaimonJudge
) -> None:
    place = tmp_path / "default.db" / "t"
    options = {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "4", "consumer.changelog-only": "true"}
    options |= {"changelog.num-retained.min": "20", "changelog.num-retained.max": "50", "changelog-producer": "input"}
    java_judge.create(place, COLUMNS, primary_keys=["k"], options={"bucket": "1", **options})
    for number in range(9):
        java_judge.write(place, [[number % 3, "v"]], options=QUIET)
    java_judge.set_consumer(place, "reader", 3)
    table, now_ms = open_table(str(place)), time.time_ns() // 1_000_000
    history = table.history()
    plan = table.preview(Expire(), now_ms, history)
    told = table.next_commit(history, now_ms)
    assert told is not None
    gone = {}
    for rule in ("call", "commit"):
        copy = Path(shutil.copytree(place, tmp_path / rule / "default.db" / "t"))
        if rule == "call":
            java_judge.expire(copy)
        else:
            java_judge.write(copy, [[9, "v"]])
        gone[rule] = {str(number) for number in range(1, 10)} - {str(each["id"]) for each in java_judge.snapshots(copy)}
    assert gone["call"] == {each.point for each in plan.deleted_points} == {"1", "2"}
    assert set(told.expired) == {"1", "2", "3", "4", "5", "6"}
    assert set(told.expired) <= gone["commit"]  # which also compacts: it commits twice


def test_the_next_commit_takes_the_changelog_that_was_foretold(tmp_path: Path, java_judge: PaimonJudge) -> None:
    place = tmp_path / "default.db" / "t"
    policy = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3", "changelog.num-retained.max": "5"}
    options = {"bucket": "1", "file.format": "parquet", "changelog-producer": "input", **policy}
    java_judge.create(place, COLUMNS, primary_keys=["k"], options=options)
    for number in range(7):
        java_judge.write(place, [[number, "v"]])
    table = open_table(str(place))
    heads = table.heads()
    told = table.next_commit(table.history(heads), time.time_ns() // 1_000_000)
    assert told is not None
    java_judge.write(place, [[9, "v"]])
    after = table.heads().main
    gone = {str(each.id) for each in heads.main.snapshots} - {str(each.id) for each in after.snapshots}
    gone |= {f"changelog:{each.id}" for each in heads.main.changelogs} - {
        f"changelog:{each.id}" for each in after.changelogs
    }
    assert set(told.expired) == gone
    assert len(gone) == 2
