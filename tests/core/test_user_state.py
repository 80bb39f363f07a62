"""User state: no change is lost between threads and processes, and damaged files are never overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core import user_state
from core.errors import Corrupt, Invalid

TIMES = 25
ADDING = f"from core import user_state as desk\nfor _ in range({TIMES}): desk.change('counted', lambda n: n + 1, 0)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path))
    return tmp_path / "desk"


def test_what_is_kept_is_read_again(place: Path) -> None:
    assert user_state.read("watched", []) == []
    assert not place.exists()  # reading creates nothing
    assert user_state.change("watched", lambda kept: [*kept, "sales.orders — 表"], []) == ["sales.orders — 表"]
    assert user_state.read("watched", []) == ["sales.orders — 表"]
    assert sorted(each.name for each in place.iterdir()) == ["watched.json", "watched.lock"]


def test_no_change_is_lost_between_threads_and_processes(place: Path) -> None:
    others = [subprocess.Popen([sys.executable, "-c", ADDING], env=dict(os.environ)) for _ in range(2)]
    threads = [threading.Thread(target=exec, args=(ADDING, {})) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.wait(timeout=600) for each in others] == [0, 0]
    assert user_state.read("counted", 0) == 6 * TIMES


@pytest.mark.parametrize("content", [b"", b'{"half": ', b"\xff\xfe", b"[" * 200_000])
def test_a_damaged_document_is_an_error_and_stays(place: Path, content: bytes) -> None:
    place.mkdir()
    file = place / "watched.json"
    file.write_bytes(content)
    attempts: list[Callable[[], object]] = [
        lambda: user_state.read("watched", []),
        lambda: user_state.change("watched", lambda kept: kept, []),
    ]
    for attempt in attempts:
        with pytest.raises(Corrupt, match=r"watched.*left unchanged.*watched\.json"):
            attempt()
    assert file.read_bytes() == content


def test_a_change_that_fails_leaves_what_was(place: Path) -> None:
    user_state.change("watched", lambda _: ["kept"], [])
    with pytest.raises(ZeroDivisionError):
        user_state.change("watched", lambda kept: kept[1 // 0], [])
    with pytest.raises(ValueError, match="JSON"):
        user_state.change("watched", lambda _: float("nan"), [])
    assert user_state.read("watched", []) == ["kept"]
    assert sorted(each.name for each in place.iterdir()) == ["watched.json", "watched.lock"]


def test_names_and_places_that_cannot_be(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("../journal", "", "A", "a/b", "a.json"):
        with pytest.raises(Invalid, match="not a valid name"):
            user_state.read(name, None)
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / "taken"))
    with pytest.raises(Invalid, match="is not writable"):
        user_state.change("watched", lambda kept: kept, [])
