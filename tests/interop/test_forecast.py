"""What the next commit expires automatically: predicted, and then committed by an engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    assert gone - set(told.goes) == ({"8"} if name == "all but one" else set())
    assert set(told.goes) <= gone


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
    assert set(told.goes) == gone
    assert len(gone) == 2
