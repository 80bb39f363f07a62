"""What is kept of a table's manifests: with it a history is what reading everything anew gives, after every change."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli import main
from core.formats import file_index
from core.model.history import History
from core.paths import cache_dir
from core.storage import decoded_files, mapped_tables
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.depth import first_fast, tries
from tests.support.formats.paimon.random_tables import FORMATS, STEP, Maker
from tests.support.formats.paimon.tables import four_commits, manifest_of
from tests.support.iceberg_tables import SMALL, moved

ICEBERG = sorted({path.parent.parent for path in SMALL.glob("*/*/metadata/*.metadata.json")})  # not compressed


@pytest.fixture(autouse=True, scope="module")
def _keep_all() -> Iterator[None]:
    """Keep small tables too, after every change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_index, "LEAST", 0)
        patch.setattr(file_index, "_NEW", 1)
        yield


def answer(history: History) -> dict[str, Any]:
    """All that a history says, in an order of its own."""
    objects = history.objects.to_pylist()
    files = history.files.drop_columns(["object"]).to_pylist()
    paths = history.objects["path"].to_pylist()
    return {
        "holders": history.holders,
        "objects": sorted(map(repr, objects)),
        "files": sorted(map(repr, files)),
        "objects of files": sorted((each["path"], paths[each["object"]]) for each in history.files.to_pylist()),
        "held": [sorted(_chosen(paths, history.held.at(position))) for position in range(len(history.holders))],
        "live": [
            sorted(map(repr, _chosen(files, history.live.at(position)))) for position in range(len(history.holders))
        ],
        "incomplete": history.incomplete,
        "warnings": sorted(map(repr, history.warnings)),
    }


def _chosen(values: list[Any], mask: Any) -> list[Any]:
    return list(itertools.compress(values, mask.tolist()))


def check(location: str, *, changelogs: bool = False) -> None:
    """Compare what a new process answers with what is kept, an open table, and reading all anew."""
    anew = open_table(location).reread()
    expected = answer(anew.history(changelogs=changelogs))
    for _ in range(2):
        assert answer(open_table(location).history(changelogs=changelogs)) == expected


@pytest.mark.slow
@tries(20)
@given(st.lists(STEP, min_size=1, max_size=20), FORMATS, st.booleans())
def test_after_every_step_a_paimon_table_is_what_reading_all_anew_gives(
    steps: list[tuple[str, int, int]], forms: list[str], changelogs: bool
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="snapscope-index-"))
    root = folder / "default.db" / "t"
    made = Maker(root, {}, forms)
    made.main.commit([made.file(made.main, 1, 1)])
    opened = open_table(str(root))
    for step in steps:
        made.run([step])
        check(str(root), changelogs=changelogs)
        assert answer(opened.history(changelogs=changelogs)) == answer(opened.reread().history(changelogs=changelogs))
    shutil.rmtree(folder)


@pytest.mark.parametrize("seed", first_fast(range(4)))
@pytest.mark.parametrize("source", ICEBERG, ids=lambda path: path.name)
def test_whatever_versions_an_iceberg_table_has_it_is_what_reading_all_anew_gives(
    source: Path, seed: int, tmp_path: Path
) -> None:
    root = moved(source, tmp_path / "t")
    newest = max(root.glob("metadata/*.metadata.json"))
    whole, chance = json.loads(newest.read_text()), random.Random(seed)
    opened = None
    for step in range(6):
        some = [each for each in whole["snapshots"] if chance.random() < 0.7] or whole["snapshots"][:1]
        ids = {each["snapshot-id"] for each in some}
        current = chance.choice(some)["snapshot-id"]
        tags = {f"t{n}": {"snapshot-id": chance.choice(some)["snapshot-id"], "type": "tag"} for n in range(step % 3)}
        document = whole | {
            "snapshots": some,
            "current-snapshot-id": current,
            "refs": {"main": {"snapshot-id": current, "type": "branch"}, **tags},
            "snapshot-log": [each for each in whole.get("snapshot-log", []) if each["snapshot-id"] in ids],
            "statistics": [each for each in whole.get("statistics", []) if each["snapshot-id"] in ids],
            "partition-statistics": [],
        }
        path = root / "metadata" / f"{step:05d}-{step}.metadata.json"
        path.write_text(json.dumps(document))
        check(str(path))
        opened = opened or open_table(str(path))


def keep(root: Path) -> dict[str, Any]:
    found = answer(open_table(str(root)).history())
    (path,) = (cache_dir() / "histories").glob("*.arrow")
    assert path.stat().st_size
    return found


def decoded(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The manifests and lists that a new process reads."""
    from core.formats.paimon import manifests

    seen: list[str] = []
    read = decoded_files.sources

    def sources(store: Store, directory: str, names: list[str], *rest: Any) -> Any:
        seen.extend(names)
        return read(store, directory, names, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(manifests, "sources", sources)
        check_ = open_table(str(root)).history()
    assert answer(check_) == answer(open_table(str(root)).reread().history())
    return seen


def test_only_what_a_commit_added_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = four_commits(tmp_path / "t")
    before = {path.name for path in (table.root / "manifest").iterdir()}
    keep(table.root)
    assert decoded(table.root, monkeypatch) == []
    table.commit([table.file()])
    added = {path.name for path in (table.root / "manifest").iterdir()} - before
    assert set(decoded(table.root, monkeypatch)) == added


def test_a_manifest_that_was_written_again_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = four_commits(tmp_path / "t")
    keep(table.root)
    path = table.root / manifest_of(table, 1)
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)
    os.utime(path, (1, 1))
    assert path.name in decoded(table.root, monkeypatch)


def test_another_table_at_the_place_with_the_same_names_is_read(tmp_path: Path) -> None:
    """Names and sizes are the same; what is in the files is not."""
    one, other = tmp_path / "t", tmp_path / "u"
    for root, rows in ((one, 3), (other, 4)):
        table = TableBuilder(root)
        table.commit([table.file(rows=rows)])
    named = [sorted((path.name, path.stat().st_size) for path in root.glob("manifest/*")) for root in (one, other)]
    assert named[0] == named[1]
    before = keep(one)
    shutil.rmtree(one)
    other.rename(one)
    assert answer(open_table(str(one)).history()) != before
    check(str(one))


@pytest.mark.parametrize("damage", ["flipped", "cut", "nothing", "of another table"])
def test_a_damaged_file_is_ignored_and_written_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = four_commits(tmp_path / "t")
    keep(table.root)
    (path,) = (cache_dir() / "histories").glob("*.arrow")
    whole = path.read_bytes()
    if damage == "of another table":
        other = four_commits(tmp_path / "other")
        path.unlink()
        keep(other.root)
        (theirs,) = (cache_dir() / "histories").glob("*.arrow")
        theirs.rename(path)
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        path.write_bytes({"flipped": flipped, "cut": whole[:middle], "nothing": b""}[damage])
    assert decoded(table.root, monkeypatch)
    assert decoded(table.root, monkeypatch) == []


def test_other_keys_are_another_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths depend on the schema, and what is kept on the version of what derives them."""
    table = four_commits(tmp_path / "t")
    keep(table.root)
    monkeypatch.setattr("core.formats.paimon.history.file_index.VERSION", 2)
    assert decoded(table.root, monkeypatch)


def test_a_change_is_decided_by_the_store_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = four_commits(tmp_path / "t")
    keep(table.root)
    plan = open_table(str(table.root))

    def refused(*_: object) -> None:
        raise AssertionError("the local disk was asked")

    monkeypatch.setattr(mapped_tables, "find", refused)
    monkeypatch.setattr(mapped_tables, "keep", refused)
    plan.reread().history()
    from core.execution import apply as executing
    from core.model.actions import Expire

    anew = plan.reread()
    change = anew.preview(Expire(retain_max=1, retain_min=1), 4_000_000_000_000)
    assert len(change.frees)
    executing.apply(open_table(str(table.root)), change, settle_s=0)


def test_the_command_line_uses_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = four_commits(tmp_path / "t")
    assert main(["files", str(table.root)]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr("core.formats.paimon.manifests.sources", lambda *_: pytest.fail("read again"))
    assert main(["files", str(table.root)]) == 0
    assert capsys.readouterr().out == first
