"""Snapscope's own files are closed to other users of the machine; what counts as inside a served location."""

from __future__ import annotations

import errno
import getpass
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import doctor, paths, user_state
from core.errors import Invalid
from core.execution.journal import Journal
from core.execution.table_lock import locked
from core.paths import is_within
from core.storage import local_disk
from core.storage.decoded_files import sources
from core.storage.store import Store

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """The usual umask leaves files readable to all; here there is no umask at all. A process has just started."""
    paths._close_all.cache_clear()
    before = os.umask(0)
    yield
    os.umask(before)


def is_open(root: Path) -> list[str]:
    """Return what other users can read, write or list."""
    return [each.name for each in (root, *root.rglob("*")) if each.lstat().st_mode & OTHERS and not each.is_symlink()]


def use(state: Path) -> None:
    """Write everything that is stored."""
    user_state.change("recent", lambda kept: [*kept, 1], [])
    with locked("/some/table"):
        pass
    journal = Journal()
    run = journal.start("/t", "expire", {"fingerprint": "f", "change": {}}, [("a", b"b")], [("p", "data", 1)])
    with journal._open() as connection:  # -wal and -shm exist while a connection does
        connection.execute("select * from runs").fetchall()
        journal.add(run, "done", {})
        names = {each.name for each in state.iterdir()}
        assert {"journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "desk", "locks"} <= names
        assert is_open(state) == []


def test_whatever_is_kept_is_closed_to_others(state_dir: Path, tmp_path: Path) -> None:
    use(state_dir)
    assert is_open(state_dir) == []
    assert len([each for each in state_dir.rglob("*") if each.is_file()]) >= 4
    (tmp_path / "manifest-1").write_bytes(b"abc")
    remote = Store(f"memory://{tmp_path.name}")
    remote._fs.pipe_file(f"/{tmp_path.name}/manifest-1", b"abc")
    copies, _ = sources(remote, "", ["manifest-1"], {"manifest-1": 3}, {})
    assert local_disk.read(copies[0]) == b"abc"
    assert is_open(paths.cache_dir()) == []


def test_what_an_older_version_left_open_is_closed(state_dir: Path) -> None:
    for folder in ("desk", "locks", "spark/warehouse"):
        (state_dir / folder).mkdir(parents=True)
    for name in ("journal.sqlite-old", "desk/recent.json", "desk/recent.lock", "locks/a.lock", "spark/spark-1.log"):
        (state_dir / name).write_text("[]")
    outside = state_dir.parent / "outside"
    outside.write_text("not ours to change")
    (state_dir / "desk" / "link").symlink_to(outside)
    before = stat.S_IMODE(outside.stat().st_mode)
    assert len(is_open(state_dir)) == 10
    use(state_dir)
    assert is_open(state_dir) == []
    assert stat.S_IMODE(outside.stat().st_mode) == before


def test_a_directory_that_others_things_lie_in_stays_open_and_ours_in_it_do_not(state_dir: Path) -> None:
    state_dir.mkdir(mode=0o1777)
    theirs = state_dir / "theirs"
    theirs.write_text("x")
    user_state.change("recent", lambda kept: kept, [])
    assert Journal().runs() == []
    Journal().start("/t", "expire", {"fingerprint": "f", "change": {}}, [], [])
    assert sorted(is_open(state_dir)) == ["state", "theirs"]


def test_what_others_named_like_ours_stays_as_it_is_beside_things_of_theirs(state_dir: Path) -> None:
    for name in ("spark/bin/submit", "theirs", "desk/notes.txt", "desk/recent.json", "journal.sqlite.of-mine"):
        (state_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (state_dir / name).write_text("[]")
    (state_dir / "journal.sqlite").write_bytes(b"")
    (state_dir / "spark/bin/submit").chmod(0o755)
    before = set(is_open(state_dir))
    Journal().runs()
    assert before - set(is_open(state_dir)) == {"journal.sqlite", "recent.json"}


@pytest.mark.parametrize("is_mixed", [False, True])
def test_a_link_among_ours_is_not_followed(state_dir: Path, tmp_path: Path, is_mixed: bool) -> None:
    for name in ("spark", "desk"):
        (tmp_path / "theirs" / name).mkdir(parents=True)
        (tmp_path / "theirs" / name / "recent.json").write_text("[]")
    state_dir.mkdir()
    for name in ("spark", "desk"):
        (state_dir / name).symlink_to(tmp_path / "theirs" / name)
    if is_mixed:
        (state_dir / "mine").write_text("")
    before = is_open(tmp_path / "theirs")
    Journal().runs()
    assert len(before) == 5
    assert is_open(tmp_path / "theirs") == before


def test_a_state_directory_that_is_a_link_is_closed_where_it_leads(state_dir: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "desk").mkdir(parents=True)
    (real / "desk" / "recent.json").write_text("[]")
    state_dir.symlink_to(real)
    use(state_dir)
    assert is_open(real) == []


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.EROFS])
def test_a_disk_that_keeps_no_modes_is_worked_on(state_dir: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise OSError(number, os.strerror(number), str(path))

    state_dir.mkdir()
    (state_dir / "journal.sqlite").write_bytes(b"")
    monkeypatch.setattr(Path, "chmod", refuse)
    assert user_state.change("recent", lambda kept: [*kept, 1], []) == [1]
    assert Journal().runs() == []


_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0.2, isolation_level=None)
try:
    connection.execute("begin immediate")
    connection.execute("insert into probe values ('theirs')")
    connection.execute("commit")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_to_look_at_the_journal_takes_no_lock_of_this_process_away(state_dir: Path) -> None:
    """A transaction here while a thread reads, another process comes and goes, and a third one wants to write."""
    journal = Journal()
    with journal._open() as connection:
        connection.execute("create table probe (x)")
    with journal._open() as connection:
        connection.execute("begin immediate")
        connection.execute("insert into probe values ('ours')")
        looking = threading.Thread(target=journal.runs)
        looking.start()
        looking.join()
        coming = "from core.execution.journal import Journal; Journal().runs()"
        subprocess.run([sys.executable, "-c", coming], check=True, timeout=60)
        other = [sys.executable, "-c", _WRITER, str(journal.path)]
        said = subprocess.run(other, check=True, timeout=60, capture_output=True, text=True).stdout
        connection.execute("commit")
    assert said == "database is locked\n"
    with journal._open() as connection:
        assert connection.execute("select x from probe").fetchall() == [("ours",)]


SERVED = "s3://bucket/lake"
INSIDE = [SERVED, f"{SERVED}/db", f"{SERVED}/db/t/", f"{SERVED}/a.db/t-1_x"]
OUTSIDE = [
    *("s3://bucket/lakes", "s3://bucket", "s3://other/lake/db", "s3a://bucket/lake/db", "S3://bucket/lake/db"),
    *(f"{SERVED}/../other", f"{SERVED}/db/..", f"{SERVED}/%2e%2e/other", f"{SERVED}/db?endpoint=x", f"{SERVED}/a#b"),
    *(f"{SERVED}/x::github://a:b@/", f"simplecache::{SERVED}/db", f"{SERVED}\\x", f"{SERVED}/a//b", f"{SERVED}/a b"),
    *("", "/", "github://a:b@main/", "iceberg://prod", f"{SERVED}/a\n", f" {SERVED}/db"),
]


@pytest.mark.parametrize("location", INSIDE)
def test_what_lies_in_a_served_place(location: str) -> None:
    assert is_within(location, SERVED)


@pytest.mark.parametrize("location", OUTSIDE)
def test_what_lies_elsewhere_or_is_written_oddly(location: str) -> None:
    assert not is_within(location, SERVED)


def test_catalogs_lie_in_all_catalogs() -> None:
    assert is_within("iceberg://prod/ns/t", "iceberg://")
    assert is_within("iceberg://prod/ns/t", "iceberg://prod")
    assert is_within("s3://b/w", "s3://b/w/")
    assert is_within("s3://b/w/", "s3://b/w")
    assert not is_within("iceberg://production", "iceberg://prod")
    assert not is_within("s3://prod", "iceberg://")


def test_links_out_of_a_local_place_lead_out_of_it(tmp_path: Path) -> None:
    lake, other = tmp_path / "lake", tmp_path / "other"
    (lake / "db").mkdir(parents=True)
    other.mkdir()
    (lake / "way").symlink_to(other)
    (tmp_path / "same").symlink_to(lake)
    assert is_within(f"{lake}/db", str(lake))
    assert is_within(f"{tmp_path}/same/db", f"{tmp_path}/same"), "the place itself may be a link"
    assert is_within(f"{lake}/my db/a table", str(lake))
    assert not any(is_within(f"{lake}/{odd}", str(lake)) for odd in ("way ", " way", "a b\t", "a b/../../x", "a b::x"))
    assert not is_within(f"{lake}/way", str(lake))
    assert not is_within(f"{lake}/way/t", str(lake))
    assert not is_within("~/x", "~")
    assert not is_within("lake/db", str(lake))


@given(
    st.lists(
        st.sampled_from(["lake", "..", ".", "", "~", "db", "way", "way ", "a b", " ", "%2e%2e", "::", "x://", "\\.."]),
        max_size=6,
    )
)
def test_no_way_of_writing_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    """Compared with the file system itself: what counts as inside is opened inside."""
    root = tmp_path_factory.getbasetemp() / "within"
    (root / "lake" / "db").mkdir(parents=True, exist_ok=True)
    location = "/".join([str(root / "lake"), *parts])
    if is_within(location, str(root / "lake")):
        opened = Store(location)
        assert opened.is_local
        assert Path(opened.root).is_relative_to(os.path.realpath(root / "lake"))


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found"), OSError("no username set"), ImportError()])
def test_a_user_without_a_name_is_named_by_the_number(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, a user id often has no name."""

    def nameless() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert paths.user_name() == f"uid-{os.getuid()}"


@pytest.mark.parametrize("named", [None, "~/state"])
def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, named: str | None) -> None:
    """As in a container that runs with a user id of its own."""

    def unknown(uid: int) -> Any:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for variable in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    places = {
        "SNAPSCOPE_STATE": paths.state_dir,
        "SNAPSCOPE_CACHE": paths.cache_dir,
        "SNAPSCOPE_CONFIG": paths.config_file,
    }
    for variable, place in places.items():
        monkeypatch.setenv(variable, named) if named else monkeypatch.delenv(variable)
        with pytest.raises(Invalid, match=f"home directory of user uid-{os.getuid()} is unknown") as refused:
            place()
        assert refused.value.remedy == f"Set HOME, or set {variable} to a full path."
    found = {each.name: each for each in doctor.of_group("state")}
    assert {each.level for each in found.values()} == {doctor.PROBLEM}
    assert found.keys() == {"state", "cache", "settings", "locks", "journal"}
    assert all("home directory" in each.found and each.remedy for each in found.values())
