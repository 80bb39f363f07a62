"""References that were added since, and may hold what nothing held before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.formats.paimon.new_holders import alone, are_added
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import four_commits

Act = Callable[[TableBuilder], object]


def added(root: Path, act: Act, producer: str = "input") -> bool:
    """Whether an act of somebody else adds holders, once the oldest snapshot was removed and the newest is known."""
    table = four_commits(root, options={"changelog-producer": producer})
    (table.root / "snapshot/snapshot-1").unlink()
    opened = open_table(str(table.root))
    before = opened.heads()
    act(table)
    return are_added(before, opened.heads())


def turns_one_into_a_changelog(table: TableBuilder) -> None:
    table.keep_changelog(2)
    (table.root / "snapshot/snapshot-2").unlink()


def commits_and_tags(table: TableBuilder) -> None:
    table.commit([table.file(3_000)])
    table.tag("new")


def restores_the_oldest(table: TableBuilder) -> None:
    table._json("snapshot/snapshot-1", table.commits[1].document)


def reads_something_else(table: TableBuilder) -> None:
    path = table.root / "tag/tag-v"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"indexManifest": "index-manifest-x"}))


def breaks_a_tag(table: TableBuilder) -> None:
    (table.root / "tag/tag-w").write_text("{")


@pytest.mark.parametrize(
    "act",
    [
        lambda _: None,
        lambda table: table.commit([table.file(3_000)]),
        commits_and_tags,
        lambda table: table.tag("same", 3),
        lambda table: table.consumer("c", 3),
        lambda table: (table.root / "snapshot/snapshot-2").unlink(),
        turns_one_into_a_changelog,
    ],
)
def test_what_writers_do_adds_none(tmp_path: Path, act: Act) -> None:
    assert not added(tmp_path / "t", act)


@pytest.mark.parametrize(
    "act",
    [
        lambda table: table.tag("late", 1),
        restores_the_oldest,
        reads_something_else,
        breaks_a_tag,
        lambda table: table.branch("late", None),
    ],
)
def test_what_refers_to_something_older_may(tmp_path: Path, act: Act) -> None:
    assert added(tmp_path / "t", act)


def test_a_changelog_without_a_producer_holds_what_its_snapshot_removed(tmp_path: Path) -> None:
    assert added(tmp_path / "t", turns_one_into_a_changelog, "none")


def test_references_alone_have_only_what_they_hold(tmp_path: Path) -> None:
    """Whether they are on disk or not: so it is known what a reference to be restored needs."""
    table = four_commits(tmp_path / "orders")
    table.tag("early", 2)
    branch = table.branch("dev/a", "early")
    branch.commit([branch.file(10)])
    opened = open_table(str(table.root))
    heads, all_held = opened.heads(), opened.history()
    paths = ["snapshot/snapshot-3", "tag/tag-early", "branch/branch-dev/a/snapshot/snapshot-3"]
    contents = {path: heads.references[path] for path in paths}
    found = opened.history(alone(heads, contents))
    assert [each.path for each in found.holders] == [*reversed(paths[:2]), paths[2]]
    for at, each in enumerate(found.holders):
        held = all_held.objects.filter(all_held.held.at(all_held.position(each.point)))
        assert sorted(found.objects.filter(found.held.at(at))["path"].to_pylist()) == sorted(held["path"].to_pylist())
