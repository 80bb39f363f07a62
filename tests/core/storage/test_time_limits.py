"""Nothing waits forever: pipes and devices in place of files, unavailable disks, servers that do not respond."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from core import cli
from core.catalog import list_tables
from core.errors import Corrupt, Invalid, NotFound
from core.formats.avro import container
from core.storage import local_disk, time_limits
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.places import ROOT


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, "0.4")
    monkeypatch.setattr(time_limits, "TABLE_S", 0.4)


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Simulate a mount whose server is gone: reads below the given paths hang until the test ends."""
    places, stuck = list[str](), time_limits.stuck().keys()  # by tests before
    over, read = threading.Event(), local_disk.read
    ls = local_disk.ls

    def hang(path: str) -> None:
        if any(f"{path}/".startswith(f"{place}/") for place in places):
            over.wait(120)

    def slow_read(path: str, *limits: Any) -> bytes:
        hang(path)
        return read(path, *limits)

    def slow_ls(path: str, shown: str) -> Any:
        hang(path)
        return ls(path, shown)

    monkeypatch.setattr(local_disk, "read", slow_read)
    monkeypatch.setattr(local_disk, "ls", slow_ls)
    yield lambda path: places.append(str(path))
    over.set()
    until(lambda: time_limits.stuck().keys() <= stuck)


def until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def table(root: Path) -> TableBuilder:
    made = TableBuilder(root)
    made.commit([made.file(1_000, rows=10)])
    return made


# what is no file -----------------------------------------------------------------------------------------------------


def special(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    match kind:
        case "a named pipe":
            os.mkfifo(path)
        case "a device":
            path.symlink_to("/dev/zero")
        case "a socket":
            with closing(socket.socket(socket.AF_UNIX)) as own, pytest.MonkeyPatch.context() as patch:
                patch.chdir(path.parent)  # its path must be short
                own.bind(path.name)


KINDS = ("a named pipe", "a device", "a socket")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_named_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    special(tmp_path / "x", kind)
    with pytest.raises(Corrupt, match=f"expected here, found {kind}") as refused:
        Store(str(tmp_path)).read("x")
    assert refused.value.path == str(tmp_path / "x")
    with pytest.raises(Corrupt, match=f"found {kind}"):
        container.frame(str(tmp_path / "x"))
    with pytest.raises(Corrupt, match=f"found {kind}"):
        local_disk.refuse_special(str(tmp_path / "x"))
    with pytest.raises(Corrupt, match="found a file"):
        Store(str(tmp_path)).ls("x")


def test_files_directories_and_what_is_absent_are_as_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 70_000)
    store = Store(str(tmp_path))
    assert store.read("file") == b"x" * 70_000
    with pytest.raises(NotFound):
        store.read("nothing")
    with pytest.raises(Corrupt, match="IsADirectoryError"):
        Store(str(tmp_path.parent)).read(tmp_path.name)
    assert local_disk.refuse_special(str(tmp_path / "nothing")) == str(tmp_path / "nothing")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["snapshot/snapshot-1", "schema/schema-0", "tag/tag-a", "snapshot/LATEST"])
def test_a_table_that_holds_one_is_read_as_far_as_may_be(tmp_path: Path, kind: str, where: str) -> None:
    root = table(tmp_path / "w/db.db/t").root
    (root / where).parent.mkdir(exist_ok=True)
    special(root / where, kind)
    heads = open_table(str(root)).heads()
    line = heads.main
    said = [each.problem.sentence() for each in line.unreadable] + [each.sentence() for each in line.warnings]
    assert any(kind in each for each in said), said


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_that_is_none_leaves_its_points_incomplete(tmp_path: Path, kind: str) -> None:
    root = table(tmp_path / "t").root
    for path in (root / "manifest").iterdir():
        special(path, kind)
    history = open_table(str(root)).history()
    assert history.incomplete
    assert any(kind in each.sentence() for each in history.problems)


# who never answers ---------------------------------------------------------------------------------------------------


def test_one_dead_table_costs_the_others_nothing(
    tmp_path: Path, gone: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abc":
        table(tmp_path / "shop.db" / name)
    gone(tmp_path / "shop.db" / "b")
    began = time.monotonic()
    found = list_tables(str(tmp_path))
    assert [each.name for each in found.tables] == ["a", "c"]
    (problem,) = found.problems
    assert "did not answer within 0.4 s" in problem.sentence()
    assert "shop.db/b" in problem.sentence()
    assert time.monotonic() - began < 60
    monkeypatch.setattr(time_limits, "TABLE_S", 100.0)  # and so long would a second wait take
    began = time.monotonic()
    assert "The store has not yet answered an earlier request." in list_tables(str(tmp_path)).problems[0].sentence()
    assert time.monotonic() - began < 60
    assert cli.main(["tables", str(tmp_path)]) != 0
    assert "shop.b" not in capsys.readouterr().out


def test_a_dead_warehouse_is_given_up_and_asked_again(tmp_path: Path, gone: Any) -> None:
    gone(tmp_path)
    for _ in range(time_limits.MOST_STUCK):
        with pytest.raises(Corrupt, match=r"did not answer within 0\.4 s"):
            list_tables(str(tmp_path))
    before = threading.active_count()
    for _ in range(50):
        with pytest.raises(Corrupt, match="The store has not yet answered an earlier request"):
            list_tables(str(tmp_path))
    assert threading.active_count() <= before  # threads of other tests may end
    assert time_limits.stuck()[str(tmp_path)] == time_limits.MOST_STUCK


def test_who_answers_again_is_read_again(tmp_path: Path) -> None:
    go_on = threading.Event()
    with pytest.raises(Corrupt):
        time_limits.within("x", 0.1, lambda: time_limits.calling(lambda: go_on.wait(60)), 1)
    with pytest.raises(Corrupt, match="The store has not yet answered an earlier request"):
        time_limits.within("x", 0.1, lambda: 1, 1)
    go_on.set()
    until(lambda: "x" not in time_limits.stuck())
    assert time_limits.within("x", 0.1, lambda: 1, 1) == 1


def test_work_takes_its_time_and_only_calls_are_counted() -> None:
    """A table with a hundred thousand files is slow to read, but responds all the while."""

    def work() -> int:
        for _ in range(14):
            time_limits.calling(lambda: time.sleep(0.05))
        time.sleep(0.7)
        return 7

    assert time_limits.within("x", 0.6, work) == 7


def test_errors_come_through_as_they_are() -> None:
    with pytest.raises(KeyError, match="own"):
        time_limits.within("x", 1, lambda: dict[str, int]()["own"])


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "1e9"])
def test_a_time_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, text)
    with pytest.raises(Invalid, match=f"{time_limits.VARIABLE}={text} is not a number of seconds"):
        time_limits.call_s()


def test_a_server_that_is_silent_is_given_up(tmp_path: Path) -> None:
    """A server that accepts the connection and never responds."""
    fsspec.get_filesystem_class("webhdfs")  # importing it takes longer than a call may take here
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        store = Store(f"webhdfs://127.0.0.1:{server.getsockname()[1]}/warehouse")
        asked = (store.ls, lambda: store.read("x"), lambda: store.size("x"))
        for ask in asked:
            began = time.monotonic()
            with pytest.raises(Corrupt, match="did not answer within"):
                ask()
            assert time.monotonic() - began < 60
        began = time.monotonic()
        answers = store.read_many(["a", "b", "c"])
        assert all(isinstance(each, Corrupt) for each in answers.values())
        assert list(answers) == ["a", "b", "c"]
        assert time.monotonic() - began < 60


class Slow(MemoryFileSystem):
    """A server on which each file takes time, and some do not respond before the end of the test."""

    protocol = "slow"
    takes_s, over = 0.02, threading.Event()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(MemoryFileSystem._strip_protocol(path.replace("slow://", "memory://")))

    def cat_file(self, path: str, *given: Any, **more: Any) -> Any:
        if "dead" in path:
            self.over.wait(120)
        time.sleep(self.takes_s)
        return super().cat_file(path, *given, **more)


@pytest.fixture
def slow() -> Iterator[Any]:
    fsspec.register_implementation("slow", Slow, clobber=True)
    Slow.over.clear()
    stuck = time_limits.stuck().keys()  # by tests before

    def put(names: list[str]) -> Store:
        for name in names:
            Slow().pipe_file(f"/slow/{name}", b"x")
        return Store("slow:///slow")

    yield put
    Slow.over.set()
    until(lambda: time_limits.stuck().keys() <= stuck)


def test_many_files_take_longer_together_than_one_may(slow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, "0.6")
    names = [f"f{at}" for at in range(2_000)]
    store = slow(names)
    began = time.monotonic()
    found = time_limits.within("table", 0.6, lambda: store.read_many(names), 1)
    assert time.monotonic() - began > 0.6
    assert found == dict.fromkeys(names, b"x")


def test_many_files_of_a_dead_server_are_given_up_as_one_is(slow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(time_limits.VARIABLE, "100")
    store = slow(["dead1", "dead2"])
    began = time.monotonic()
    with pytest.raises(Corrupt, match=r"did not answer within 0\.2 s"):
        time_limits.within("table", 0.2, lambda: store.read_many(["dead1", "dead2"]), 1)
    assert time.monotonic() - began < 60


def test_files_that_are_silent_do_not_hide_the_others(slow: Any) -> None:
    names = [f"dead{at}" for at in range(time_limits.MOST_STUCK)] + [f"f{at}" for at in range(40)]
    store = slow(names)
    for said in ("did not answer", "The store has not yet answered an earlier request."):
        found = store.read_many(names)
        for name in names[: time_limits.MOST_STUCK]:
            assert said in str(found[name])
        assert list(found) == names
        assert all(isinstance(each, bytes | Corrupt) for each in found.values())


def test_a_process_that_was_forked_has_readers_of_its_own() -> None:
    script = """
        import os, signal, threading
        from core.storage import time_limits as patience
        assert patience.within("x", 5, lambda: 1) == 1
        over = threading.Event()
        try:
            patience.within("x", 0.1, lambda: patience.calling(over.wait))
        except Exception:
            pass
        with patience._lock:
            child = os.fork()
        if not child:
            signal.alarm(100)
            assert not patience.stuck()
            os._exit(patience.within("x", 5, lambda: 7, 1))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), patience.stuck())
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout == "7 {'x': 1}\n", done.stderr


def test_the_process_ends_with_threads_that_are_stuck(tmp_path: Path) -> None:
    script = """
        import os, time
        from core.storage import time_limits as patience
        from core.errors import Corrupt
        read, _ = os.pipe()
        try:
            patience.within("x", 0.1, lambda: patience.calling(lambda: os.read(read, 1)))
        except Corrupt as error:
            print(error.message)
    """
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "The store did not answer within 0.1 s.\n"), done.stderr


@pytest.mark.slow
def test_the_command_line_ends_on_a_pipe(tmp_path: Path) -> None:
    """The whole program, as in the original report: one pipe in one table."""
    root = table(tmp_path / "w/shop.db/a").root
    shutil.copytree(root, root.parent / "b")
    special(root / "schema/schema-0", "a named pipe")
    said, environment = {}, {**os.environ, "PYTHONPATH": str(ROOT)}
    for name, command in {"tables": ["tables", str(tmp_path / "w")], "one": ["snapshots", str(root)]}.items():
        said[name] = subprocess.run(
            [sys.executable, "-c", "from core.cli import main; raise SystemExit(main())", *command],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert [line.split()[0] for line in said["tables"].stdout.splitlines()] == ["shop.a", "shop.b"]
    assert "found a named pipe" in said["one"].stdout + said["one"].stderr
    assert "Traceback" not in said["one"].stderr


@pytest.mark.parametrize("at_once", [1, 7, 999, 1_000, 10_000])
def test_a_file_is_whole_however_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Some file systems return less than requested, and some files have no size before they are read."""
    (tmp_path / "x").write_bytes(bytes(range(250)) * 4)
    given = os.read
    monkeypatch.setattr(os, "read", lambda handle, most: given(handle, min(most, at_once)))
    assert local_disk.read(str(tmp_path / "x")) == bytes(range(250)) * 4
    assert local_disk.read("/proc/self/status").startswith(b"Name:")


def test_calls_that_are_made_together_are_answered_in_order_and_each_has_the_limit() -> None:
    all_are_asked, ran, over = threading.Barrier(8, timeout=60), list[int](), threading.Event()
    calls = [lambda number=number: number if all_are_asked.wait() >= 0 else None for number in range(8)]
    assert time_limits.together("store", calls, lambda: ran.append(1)) == list(range(8))
    assert ran == [1]

    def stuck() -> int:
        time_limits.calling(over.wait, 60)
        return 0

    def lost() -> int:
        raise NotFound("It is lost.", path="x")

    with pytest.raises(NotFound, match="It is lost"):
        time_limits.together("store", [lambda: 1, lost, lambda: 2])
    with pytest.raises(Corrupt, match="did not answer"):
        time_limits.together("silent store", [lambda: 1, stuck])
    over.set()
