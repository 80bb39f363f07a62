"""The journal: what an auditor can rely on, even if somebody tampered with the file."""

from __future__ import annotations

import getpass
import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.execution.journal import CANCELLED, DONE, FAILED, RESUMED, STARTED, Journal
from core.execution.journal_watch import append

PLAN = {"change": {"names": ["v"]}, "fingerprint": "f", "headline": "Frees nothing."}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "journal.sqlite")
    for number in range(3):
        run = made.start("/w/t", "DeleteTags", PLAN, [(f"tag/tag-{number}", b"{}")], [("tag/tag-v", "tag", 2)])
        made.add(run, DONE, {"deleted": [f"tag/tag-{number}"]})
    return made


def alter(journal: Journal, statement: str) -> None:
    with closing(sqlite3.connect(journal.path)) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        connection.execute(statement)
        connection.commit()


def test_a_new_journal_waits_for_whoever_creates_it_at_the_same_moment(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.touch()
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("begin immediate")
        ends = threading.Timer(0.3, other.execute, ["commit"])
        ends.start()
        run = Journal(path).start("/w/t", "DeleteTags", PLAN, [], [])
        ends.join()
    assert [each.id for each in Journal(path).runs()] == [run]


def test_a_journal_nobody_touched_is_intact(journal: Journal) -> None:
    assert journal.verify() == journal.events()[-1]["hash"]


@pytest.mark.parametrize(
    "statement",
    [
        "update events set detail = '{}' where number = 2",
        "update events set detail = 'no json' where number = 2",
        "update events set at_ms = 0 where number = 3",
        "delete from events where number = 3",
        "delete from runs where rowid = 2",
        "update runs set who = 'somebody else' where rowid = 2",
        "update runs set table_location = '/w/other' where rowid = 2",
        "update removed set content = x'00' where rowid = 2",
        "delete from removed",
        "update runs set plan = replace(plan, 'Frees nothing', 'Frees all') where rowid = 2",
        "update frees set path = 'data/another' where rowid = 2",
        "update frees set bytes = 3 where rowid = 2",
        "delete from frees where rowid = 2",
        "insert into runs select 'made up', who, table_location, change_kind, plan, fingerprint, 1 from runs limit 1",
    ],
)
def test_whatever_was_altered_is_told(journal: Journal, statement: str) -> None:
    alter(journal, statement)
    with pytest.raises(Corrupt):
        journal.verify()


@pytest.mark.parametrize("table", ["runs", "removed", "frees", "events"])
def test_nothing_is_ever_updated_or_deleted(journal: Journal, table: str) -> None:
    with closing(sqlite3.connect(journal.path)) as connection:
        for statement in (f"delete from {table}", f"update {table} set run = 'x'", f"update {table} set id = 'x'"):
            with pytest.raises(sqlite3.DatabaseError):
                connection.execute(statement)


def test_a_run_is_found_however_the_location_is_spelled(tmp_path: Path) -> None:
    """Otherwise a second run could start beside an unfinished one."""
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("s3a://lake/t", "DeleteTags", PLAN, [], [])
    found = journal.open_run("s3://lake/t")
    assert found is not None
    assert (found.id, found.table) == (run, "s3a://lake/t")
    assert [each.id for each in journal.runs("s3n://lake/t")] == [run]
    assert journal.open_run("s3://lake/t2") is None
    assert [each.id for each in journal.runs()] == [run]


def test_an_error_of_a_client_is_written_down_without_secrets(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("s3://lake/t", "DeleteTags", PLAN, [], [])
    journal.failed(run, FAILED, OSError("https://h/x?sv=1&sig=HUNTER2 was denied"))
    assert "denied" in str(journal.events())
    assert "HUNTER2" not in str(journal.events())


def test_a_user_without_a_name_can_start_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    monkeypatch.setattr(getpass, "getuser", nameless)
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("/w/t", "DeleteTags", PLAN, [], [])
    assert journal.run(run).who.startswith(f"uid-{os.getuid()}@")


def test_a_location_that_is_no_text_has_no_runs(journal: Journal) -> None:
    odd = os.fsdecode(b"/w/\xff")
    assert journal.runs(odd) == []
    assert journal.open_run(odd) is None


def test_each_entry_says_who_caused_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever resumes, cancels or undoes a run is not the one who started it."""
    journal = Journal(tmp_path / "journal.sqlite")
    monkeypatch.setenv("LOGNAME", "alice")
    run = journal.start("/w/t", "DeleteTags", PLAN, [], [])
    assert journal.run(run).others == ()
    for name, what in (("bob", RESUMED), ("carol", CANCELLED), ("alice", RESUMED), ("bob", DONE)):
        monkeypatch.setenv("LOGNAME", name)
        journal.add(run, what, {"deleted": 0})
    found = [(each["what"], each["detail"]["who"].partition("@")[0]) for each in journal.events(run)]
    assert found == [(STARTED, "alice"), (RESUMED, "bob"), (CANCELLED, "carol"), (RESUMED, "alice"), (DONE, "bob")]
    assert [each.partition("@")[0] for each in journal.run(run).others] == ["bob", "carol"]
    assert journal.run(run).receipt == {"deleted": 0}, "a receipt is the same whoever ended the run"
    assert "bob@" in journal.export("csv")
    assert journal.verify()


def test_entries_of_older_versions_do_not_say_who_caused_them(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    run = journal.start("/w/t", "DeleteTags", PLAN, [], [])
    with closing(sqlite3.connect(journal.path)) as connection:
        append(connection, run, 1, FAILED, {"problem": "full"})
        connection.commit()
    assert journal.verify() == journal.events()[-1]["hash"]
    assert (journal.run(run).others, journal.run(run).problem) == ((), "full")
    assert "who" not in json.loads(journal.export("json"))[-1]["detail"]
