"""A demo in the making: who may begin one, what is kept of one that was cut off, and who is at it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.demo import progress
from core.errors import Conflict, Corrupt, Invalid

STORY = {"name": "twice", "values": {}}


def test_an_empty_or_missing_directory_is_begun(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for directory in (tmp_path / "new", tmp_path / "empty"):
        assert progress.read(str(directory)) is None
        begun = progress.begin(str(directory), 7)
        assert (begun.created_ms, begun.told) == (7, {})
        assert progress.read(str(directory)) == begun
        progress.end(str(directory))
        assert list(directory.iterdir()) == []


def test_what_is_anothers_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "crm.db").mkdir()
    with pytest.raises(Conflict, match="not empty"):
        progress.begin(str(tmp_path), 7)
    assert [each.name for each in tmp_path.iterdir()] == ["crm.db"]


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/x", "/proc/x"])
def test_what_can_be_no_directory_is_refused(place: str) -> None:
    with pytest.raises(Invalid, match="cannot be created"):
        progress.begin(place, 7)


def test_what_was_cut_off_keeps_its_moment_and_its_tables(tmp_path: Path) -> None:
    begun = progress.begin(str(tmp_path), 7).with_tables({"events.clicks": STORY})
    progress.write(str(tmp_path), begun)
    assert progress.begin(str(tmp_path), 9) == begun


@pytest.mark.parametrize("content", ["{", "[]", '{"other": 1}', '{"created_ms": 1, "told": {"x.y": {}}}'])
def test_another_file_is_no_demo(tmp_path: Path, content: str) -> None:
    (tmp_path / progress.NAME).write_text(content)
    with pytest.raises(Corrupt):
        progress.begin(str(tmp_path), 7)


def test_somebody_is_at_it_while_the_lock_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PAUSE_S", 0.0)
    progress.begin(str(tmp_path), 7)
    assert progress.is_being_built(str(tmp_path))  # it has just begun
    hour_ago = time.time() - 3600
    os.utime(tmp_path / progress.NAME, (hour_ago, hour_ago))
    assert not progress.is_being_built(str(tmp_path))
    with progress.alone(str(tmp_path)):
        assert progress.is_being_built(str(tmp_path))
        with pytest.raises(Conflict, match="already"), progress.alone(str(tmp_path)):
            raise AssertionError("nobody else may begin")
    assert not progress.is_being_built(str(tmp_path))
