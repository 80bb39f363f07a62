"""What a newer engine may write into manifests: it is read where it does not matter, and nothing is deleted where it
may. Nobody is told to restore a file that is not damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Corrupt, SnapscopeError
from core.model.actions import DeleteBranches, Expire
from core.model.codes import Fault
from core.table import Table, open_table
from tests.support import builders
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import NOW_MS, four_commits, manifest_of, merging, rewrite

CHANGELOGS = {"changelog.num-retained.max": "9", "snapshot.num-retained.max": "1"}


def refused(table: Table) -> SnapscopeError:
    with pytest.raises(Corrupt) as caught:
        table.preview(Expire(retain_max=1, retain_min=1), NOW_MS)
    assert "estore" not in str(caught.value)
    assert "Upgrade Snapscope." in str(caught.value)
    return caught.value


def test_an_unknown_file_source_is_read_and_deletions_that_do_not_depend_on_it_go_on(tmp_path: Path) -> None:
    """Paimon's own reader rejects the whole manifest."""
    table = TableBuilder(tmp_path / "t")
    table.commit([table.file()])
    made = [table.file(source=7), table.file(source=-1), table.file(source=1), table.file(source=None)]
    table.commit(made)
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    assert history.incomplete == {}
    files = history.files_at(history.require("2"))
    found = dict(zip(files["path"].to_pylist(), files["source"].to_pylist(), strict=True))
    assert [found[f"bucket-0/{each.name}"] for each in made] == ["7", "-1", "compact", None]
    plan = opened.preview(Expire(retain_max=1, retain_min=1), NOW_MS)
    assert [path for path, _ in plan.removes] == ["snapshot/snapshot-1"]


def test_an_unknown_file_source_stops_deletions_where_a_changelog_may_need_the_file(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", options=CHANGELOGS)
    odd = table.file(source=7)
    table.commit([odd])
    table.commit([table.file(source=1)], [odd], kind="COMPACT")
    table.commit([table.file()])
    path = manifest_of(table, 1)
    table.keep_changelog(1)
    table.expire([1], free=False)
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    assert history.require("3") == history.position("3")
    position = history.position("changelog:1")
    (problem,) = history.incomplete[position]
    assert (problem.path, problem.found, problem.code) == (path, "7", Fault.UNSUPPORTED)
    assert refused(opened).path == problem.path


def test_an_unknown_file_source_stops_an_expiry_that_would_leave_a_changelog(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", options=CHANGELOGS)
    odd = table.file(source=7)
    table.commit([odd])
    table.commit([table.file(source=1)], [odd], kind="COMPACT")
    assert refused(open_table(str(tmp_path / "t"))).path == manifest_of(table, 1)


@pytest.mark.parametrize("field", ["_KIND", "_VERSION"])
def test_an_unknown_kind_of_entry_or_version_is_not_damage(field: str, tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    path = rewrite(table, 4, {**builders._entry(0, table.live()[-1]), field: 5})
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    assert history.require("3") == history.position("3")
    (problem,) = history.incomplete[history.position("4")]
    assert (problem.path, problem.code) == (path, Fault.UNSUPPORTED)
    assert "Upgrade" in problem.remedy
    assert refused(opened).path == path


def test_an_unknown_kind_in_what_stays_stops_the_deletion_of_a_branch(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    table.branch("b", "v")
    rewrite(table, 4, {**builders._entry(0, table.live()[-1]), "_KIND": 5})
    with pytest.raises(Corrupt) as caught:
        open_table(str(tmp_path / "t")).preview(DeleteBranches(("b",)), NOW_MS)
    assert "estore" not in str(caught.value)


def test_an_unknown_type_of_partition_is_not_damage(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", columns=[("id", "BIGINT"), ("at", "GEOMETRY")], partition_keys=["at"])
    for day in ("a", "b"):
        table.commit([table.file(partition=(day,))])
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    for problems in history.incomplete.values():
        assert "'GEOMETRY'" in problems[0].found
        assert problems[0].code == Fault.UNSUPPORTED
    refused(opened)


def test_a_tag_that_needs_an_unknown_kind_may_go_with_the_plan(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    table.tag("late", 4)
    rewrite(table, 4, {**builders._entry(0, table.live()[-1]), "_KIND": 5})
    with merging():
        table.commit([table.file()])
    assert "(--drop-tag late)" in str(refused(open_table(str(tmp_path / "t"))))
