"""The doctor: everything missing has a remedy, what is not needed is not a problem, and no check takes long."""

from __future__ import annotations

import fcntl
import json
import platform
import threading
from pathlib import Path

import pytest

from core import doctor
from core.catalog import Warehouse
from core.cli import main
from core.doctor import OK, PROBLEM, WARNING, Finding
from core.execution.journal import Journal
from core.execution.table_lock import locked
from tests.support.builders import TableBuilder


def by_name(found: tuple[Finding, ...]) -> dict[str, Finding]:
    assert len({each.name for each in found}) == len(found)
    return {each.name: each for each in found}


def test_a_machine_that_has_all_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TableBuilder(tmp_path / "w" / "shop.db" / "orders").commit([])
    place = str(tmp_path / "w")
    assert main(["doctor", place, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {each["group"] for each in document} == set(doctor.GROUPS)
    assert all(each["ok"] == (each["level"] != PROBLEM) for each in document)
    told = {each["name"]: each["found"] for each in document}
    assert "Scala 2.13" in told["spark"]
    assert told[place].startswith("1 table, listed in")
    assert told["journal"] == "empty"
    assert main(["doctor"]) == 0
    assert "local disk" in capsys.readouterr().out


def test_what_is_missing_has_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state_dir: Path
) -> None:
    monkeypatch.setenv("SNAPSCOPE_JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("SNAPSCOPE_CONNECTORS", "no/such.jar")
    monkeypatch.setenv("PYICEBERG_CATALOG__GONE__URI", "http://127.0.0.1:1")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SNAPSCOPE_CACHE", str(tmp_path / "file" / "cache"))
    Journal().start("/t", "Expire", {"fingerprint": "f", "change": {}}, [], [])
    (state_dir / "journal.sqlite-wal").unlink(missing_ok=True)
    (state_dir / "journal.sqlite").write_bytes(b"no database at all")
    monkeypatch.setattr(doctor, "PACKAGES", ("streamlit", "no_such_package"))
    found = by_name(doctor.examine([str(tmp_path / "nowhere")]))
    bad = {name for name, each in found.items() if each.level == PROBLEM}
    assert bad == {
        "no_such_package", "java", "connectors", "cache", "journal", "iceberg://gone", str(tmp_path / "nowhere"),
    }  # fmt: skip
    for name in bad:
        assert found[name].remedy, name
        assert not found[name].ok
    assert main(["doctor", str(tmp_path / "nowhere")]) == 1
    said = capsys.readouterr()
    assert "PROBLEM  java" in said.out
    assert "see above" in said.err


def test_what_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, over = threading.Event(), threading.Event()

    def silent(_: str) -> Warehouse:
        asked.set()
        over.wait(300)
        return Warehouse("", (), False, ())

    monkeypatch.setattr(doctor, "list_tables", silent)
    monkeypatch.setattr(doctor, "PATIENCE_S", 0.05)
    (found,) = doctor.of_group("places", ["s3://somewhere"])
    over.set()
    assert asked.wait(300)
    assert (found.level, found.found) == (PROBLEM, "no answer within 0.05 s")


def test_little_room_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 10**18)
    found = by_name(doctor.of_group("state"))
    assert [found[name].level for name in ("state", "cache", "journal")] == [WARNING, WARNING, OK]
    assert found["state"].ok


def test_locks_that_keep_nobody_out_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network file system that grants every lock."""
    assert by_name(doctor.of_group("state"))["locks"].level == OK
    with locked("the doctor's own"):
        assert by_name(doctor.of_group("state"))["locks"].level == OK
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    found = by_name(doctor.of_group("state"))["locks"]
    assert (found.level, found.found) == (PROBLEM, "two changes to one table can run at the same time")
    assert "local disk" in found.remedy


def test_a_system_it_was_not_made_for_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    assert by_name(doctor.of_group("python"))["system"].level == PROBLEM


def test_a_state_directory_that_stays_open_to_others_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some disks refuse to close it, or ignore it."""
    place = tmp_path / "state"
    place.mkdir()
    place.chmod(0o755)
    monkeypatch.setenv("SNAPSCOPE_STATE", str(place))
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    found = {each.name: each for each in doctor.of_group("state")}
    assert (found["state"].level, found["state"].ok) == (WARNING, True)
    assert "can be read by other users of this machine" in found["state"].found
    assert "chmod go=" in found["state"].remedy
    monkeypatch.undo()
    monkeypatch.setenv("SNAPSCOPE_STATE", str(place))
    place.chmod(0o700)
    assert {each.name: each.level for each in doctor.of_group("state")}["state"] == OK
