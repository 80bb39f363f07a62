"""The lifetime of a file: which commits added and removed it, and during which periods it is held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.analysis.file_lifetime import find, lifetime, table
from core.errors import Invalid, NotFound
from core.table import open_table
from tests.support.builders import DAY_MS, START_MS, TableBuilder
from tests.support.places import TABLES

NOW_MS = START_MS + 40 * DAY_MS
REAL = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())


@pytest.fixture
def made(tmp_path: Path) -> TableBuilder:
    """Create ten commits a day apart, one file each; commit 6 removes the file of 3. Tags at 4 and 8; a branch from
    5."""
    made = TableBuilder(tmp_path / "t", step_ms=DAY_MS)
    for number in range(1, 11):
        gone = [file for file in made.live() if file.bytes == 1_003] if number == 6 else []
        made.commit([made.file(1_000 + number)], gone)
        if number in (4, 8):
            made.tag(f"t{number}")
    return made


def test_from_birth_to_end(made: TableBuilder) -> None:
    history = open_table(str(made.root)).history()
    path = next(each["path"] for each in history.files.to_pylist() if each["bytes"] == 1_003)
    found = lifetime(history, path, NOW_MS)
    assert (found.born.id, found.is_exact, found.removed.id, found.is_live) == (3, True, 6, False)
    assert [(each.kind, each.first.point, each.last.point, len(each.holders)) for each in found.stretches] == [
        ("snapshot", "3", "5", 3), ("tag", "tag:t4", "tag:t4", 1),
    ]  # fmt: skip
    rows = table(found).to_pylist()
    assert (rows[0]["since_ms"], rows[0]["until_ms"]) == (START_MS + 2 * DAY_MS, START_MS + 4 * DAY_MS)
    assert rows[1]["ends"].startswith("never automatically: it has no retention")
    newest = next(each["path"] for each in history.files.to_pylist() if each["bytes"] == 1_010)
    alive = lifetime(history, newest, NOW_MS)
    assert (alive.born.id, alive.removed, alive.is_live) == (10, None, True)


def test_no_commit_removes_the_file_of_a_snapshot(made: TableBuilder) -> None:
    history = open_table(str(made.root)).history()
    found = lifetime(history, "snapshot/snapshot-3", NOW_MS)
    assert (found.is_reference, found.born.id, found.removed) == (True, 3, None)
    assert not lifetime(history, history.files["path"][0].as_py(), NOW_MS).is_reference


def test_what_is_not_retained_is_not_guessed(made: TableBuilder) -> None:
    for number in (1, 2, 3, 6):
        (made.root / "snapshot" / f"snapshot-{number}").unlink()
    history = open_table(str(made.root)).history()
    path = next(each["path"] for each in history.files.to_pylist() if each["bytes"] == 1_003)
    found = lifetime(history, path, NOW_MS)
    assert (found.born.id, found.is_exact) == (4, False)  # at or before 4
    assert (found.removed, found.is_live) == (None, False)  # after 5, by an expired snapshot
    assert [len(each.holders) for each in found.stretches] == [2, 1]


def test_a_file_that_only_a_tag_has(made: TableBuilder) -> None:
    for number in range(1, 6):
        (made.root / "snapshot" / f"snapshot-{number}").unlink()
    history = open_table(str(made.root)).history()
    path = next(each["path"] for each in history.files.to_pylist() if each["bytes"] == 1_003)
    found = lifetime(history, path, NOW_MS)
    assert (found.born.id, found.is_exact, found.removed, found.is_live) == (4, False, None, False)
    assert [each.first.point for each in found.stretches] == ["tag:t4"]


def test_a_tag_that_a_rollback_left_behind_is_not_the_newest_state(tmp_path: Path) -> None:
    """Nor once its id is reused."""
    made = TableBuilder(tmp_path / "t")
    first, second = made.file(1_001), made.file(1_002)
    made.commit([first])
    made.commit([made.file(1_003)])
    made.commit([second], [first], kind="OVERWRITE")
    made.tag("old")
    (made.root / "snapshot/snapshot-3").unlink()
    made.hints(latest=2)
    made._last, made._last_id = made.commits[2], 2
    for _ in range(2):
        history = open_table(str(made.root)).history()
        stays, left = (lifetime(history, f"bucket-0/{each.name}", NOW_MS) for each in (first, second))
        assert (stays.born.id, stays.is_exact, stays.removed, stays.is_live) == (1, True, None, True)
        assert (left.removed, left.is_live, left.stretches[0].first.point) == (None, False, "tag:old")
        made.commit([made.file(1_004)])


def test_what_cannot_be_read_is_not_taken_for_an_end(made: TableBuilder) -> None:
    """A file is not considered gone if a version is unreadable, and what that version may hold is no orphan."""
    (made.root / "manifest" / made.commits[10].document["baseManifestList"]).write_bytes(b"")
    history = open_table(str(made.root)).history()
    paths = {each["bytes"]: each["path"] for each in history.files.to_pylist()}
    found = lifetime(history, paths[1_009], NOW_MS)
    assert (found.born.id, found.is_exact, found.removed, found.is_live) == (9, True, None, None)
    for number in range(2, 6):
        (made.root / "manifest" / made.commits[number].document["baseManifestList"]).write_bytes(b"")
    (made.root / "manifest" / made.commits[3].document["deltaManifestList"]).write_bytes(b"")
    history = open_table(str(made.root)).history()
    found = lifetime(history, paths[1_003], NOW_MS)
    assert (found.born, found.life.holders) == (None, ())
    assert "orphan" not in found.life.words
    assert "(as far as can be read: some snapshots or tags cannot be read, and may hold it too)" in found.life.words


def test_how_a_file_is_named(made: TableBuilder) -> None:
    history = open_table(str(made.root)).history()
    path = history.files["path"][0].as_py()
    name = path.rsplit("/", 1)[-1]
    relative = open_table(str(made.root)).store.relative
    for text in (path, name, f" {path} ", f"{made.root}/{path}", f"file://{made.root}/{path}"):
        assert find(history, text, relative) == path
    for nothing in ("", "/", "nobody.parquet", name[1:], f"/elsewhere/{path}"):  # paths of other tables are not ours
        with pytest.raises((NotFound, Invalid)):
            find(history, nothing, relative)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_stretches_are_the_holders(name: str) -> None:
    """For every object of real tables: each holder is in exactly one period, and periods have no gaps."""
    history = open_table(str(TABLES / "paimon" / "default.db" / name)).history()
    for row in range(0, len(history.objects), max(len(history.objects) // 60, 1)):
        path = history.objects["path"][row].as_py()
        found = lifetime(history, path, NOW_MS)
        held = [each.point for one in found.stretches for each in one.holders]
        assert sorted(held) == sorted(each.point for each in history.holders_of(path))
        for one in found.stretches:
            alike = [p for p, each in enumerate(history.holders)
                     if each.exists and (each.kind, each.branch) == (one.kind, one.branch)]  # fmt: skip
            places = [alike.index(history.holders.index(each)) for each in one.holders]
            assert places == list(range(places[0], places[0] + len(places)))
        if found.is_live and found.branch == "main":
            assert history.held.positions_of(row)[history.live_now() or 0]
            assert found.removed is None
    assert np.any(history.existing)
