"""Every page opens Iceberg tables: commits, refs, branches, snapshots on no branch, previews; unreadable rows are
rejected by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.analysis.expiration_dates import expiries
from core.catalog import DEMO_MARKER
from core.execution.journal import Journal
from core.model.actions import CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag
from core.table import open_table
from dashboard import words
from dashboard.formatting import commands
from dashboard.view_models import rows
from tests.support.dashboard.pages import carrying_out, newest_job
from tests.support.execution import iceberg_ground as ground
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, moved

TABLES = [JAVA_RANDOM / "t12_v1", JAVA_RANDOM / "t05_v3", PYICEBERG / "tags_branches", PYICEBERG / "rollback"]


@pytest.mark.slow
@pytest.mark.parametrize("source", TABLES, ids=lambda path: path.name)
def test_every_page(source: Path, open_page: Callable, tmp_path: Path) -> None:
    root = moved(source, tmp_path / "lake" / "db" / source.name)
    warehouse, table = tmp_path / "lake", f"db.{source.name}"
    heads = open_table(str(root)).heads()
    points = ["latest", "earliest", str(heads.lines[-1].snapshots[-1].id)]
    points += [f"tag:{tag.name}" for line in heads.lines for tag in line.tags]
    points += [f"branch:{line.branch}" for line in heads.lines[1:]]
    for point in points:
        for page in ("timeline", "asof", "query"):
            shown = open_page(page, warehouse, table=table, point=point)
            assert not any(title in shown.text for title in words.ERROR_TITLES.values()), (page, point, shown.text)
    assert "Net " in open_page("diff", warehouse, table=table, a="earliest", b="latest").text
    assert source.name in open_page("overview", warehouse).text
    shown = open_page("retention", warehouse, table=table, older="2026-01-02T00:00:00Z")
    assert not any(title in shown.text for title in words.ERROR_TITLES.values()), shown.text
    assert not heads.main.tags or words.NO_TAGS_TO_DELETE not in shown.text
    shown = open_page("tags", warehouse, table=table)
    for tag in heads.main.tags:
        assert tag.name in shown.text


def test_the_form_asks_what_iceberg_knows(open_page: Callable, tmp_path: Path) -> None:
    """There is no branch to choose, no rule set and nothing of another format; refs are part of the same plan."""
    root = moved(PYICEBERG / "tags_branches", tmp_path / "lake" / "db" / "t")
    heads = open_table(str(root)).heads()
    tag = heads.main.tags[0].name
    shown = open_page("retention", tmp_path / "lake", table="db.t", older="2026-01-02T00:00:00Z", drop=tag)
    assert f"tag:{tag} ✕ deleted" in shown.text
    for word in ("Paimon", words.BRANCH, words.MAX_DELETES, words.TAGS_OLDER):
        assert word not in shown.text
    assert f"--drop-tag {tag}" in shown.text
    shown = open_page("retention", tmp_path / "lake", table="db.t", keep_min="2")
    assert words.own_age("5 d") in [each.placeholder for each in shown.test.text_input]
    assert "CALL system.expire_snapshots(table => 'db.t', retain_last => 2)" in shown.text
    every = {str(each.id) for line in heads.lines for each in line.snapshots}
    offered = open_page("tags", tmp_path / "lake", table="db.t").selectbox(key="pick.point").options
    assert every <= {each.split(" ·")[0] for each in offered}


def test_what_a_reader_saw_during_a_rolled_back_commit(open_page: Callable, tmp_path: Path) -> None:
    """The command works, the next commit is a later one, and a snapshot that main was set back to says so."""
    root = moved(PYICEBERG / "rollback", tmp_path / "lake" / "db" / "t")
    rolled_back, later = 4258621709003219409, 1145665403460880301
    shown = open_page("asof", tmp_path / "lake", table="db.t", point="time:1767240000001")
    assert f"snapscope as-of {root} time:2026-01-01T04:00:00.001Z" in shown.text
    assert "--branch" not in shown.text
    assert words.ROUND_UP not in shown.text
    assert shown.text.index(words.NEXT_COMMIT) < shown.text.index(str(later)) < shown.text.index(words.ROUND_UP_ICEBERG)
    assert words.SET_BACK in shown.text
    by_id = open_page("asof", tmp_path / "lake", table="db.t", point=str(rolled_back))
    assert f"snapscope as-of {root} {rolled_back}" in by_id.text
    assert "--branch" not in by_id.text
    assert words.SET_BACK not in open_page("asof", tmp_path / "lake", table="db.t", point=str(later)).text


def test_icebergs_own_sql() -> None:
    assert commands.iceberg(Expire(time_retained_ms=60_000, snapshots=(1, 2)), "d.t", 120_000) == (
        "CALL system.expire_snapshots(table => 'd.t', older_than => TIMESTAMP '1970-01-01 00:01:00', "
        "snapshot_ids => ARRAY(1, 2))"
    )
    assert commands.iceberg(Expire(drop_tags=("a",)), "d.t", 0) is None
    assert commands.iceberg(DeleteTags(("a", "b`c")), "d.t", 0) == (
        "ALTER TABLE d.t DROP TAG `a`;\nALTER TABLE d.t DROP TAG `b``c`"
    )
    created = CreateTag("a", 7, 86_400_000)
    assert commands.iceberg(created, "d.t", 0) == "ALTER TABLE d.t CREATE TAG `a` AS OF VERSION 7 RETAIN 1440 MINUTES"
    assert commands.iceberg(ReplaceTag("a"), "d.t", 0) == "ALTER TABLE d.t REPLACE TAG `a`"
    assert commands.iceberg(CreateTag("a", 7, 1), "d.t", 0) is None
    assert commands.iceberg(RenameTag("a", "b"), "d.t", 0) is None


def test_a_tags_end_has_a_zone(tmp_path: Path) -> None:
    """Iceberg's is a time, counted from the snapshot; Paimon's is a local time."""
    table = open_table(str(moved(PYICEBERG / "tags_branches", tmp_path / "db" / "t")))
    heads = table.heads()
    shown = rows.tags(heads.main, None, expiries(heads, 0), "Asia/Shanghai", 0).set_index("name")["expires"]
    assert shown["short-lived"] == "2026-01-01 10:00:00 CST"
    assert shown["EOM-2025-12"] == words.NEVER


@pytest.mark.slow
def test_branches_and_the_way_back_by_the_page(open_page: Callable, tmp_path: Path) -> None:
    """Each form shows its plan and its command; a rollback needs a typed confirmation, runs as a job, and shows its
    result."""
    root = ground.small_table(tmp_path / "lake" / "db" / "t")
    old = ground.ids(root)
    (tmp_path / "lake" / DEMO_MARKER).write_text("{}")  # allow changes to this one

    page = open_page("tags", tmp_path / "lake", table="db.t", writes=True)
    for form, inputs, commands_ in (
        ("create", (("selectbox", ".point", "tag:early"), ("text_input", "", "new"), ("text_input", ".age", "90000 d")),
         (f"snapscope create-branch {root} new tag:early --max-ref-age '90000 d'",)),
        ("replace", (("selectbox", "", "work"), ("selectbox", ".point", str(old[0]))),
         (f"snapscope replace-branch {root} work {old[0]}",
          f"ALTER TABLE db.t REPLACE BRANCH `work` AS OF VERSION {old[0]}")),
        ("rename", (("selectbox", "", "work"), ("text_input", ".to", "works")),
         (f"snapscope rename-branch {root} work works",)),
        ("delete", (("multiselect", "", ["work"]),), (f"snapscope delete-branch {root} work",)),
        ("rollback", (("selectbox", ".point", "tag:early"),), (f"snapscope rollback {root} tag:early",)),
    ):  # fmt: skip
        page.fill_in(form, inputs)
        for command in commands_:
            assert command in page.text
    assert f"({old[3]}) will then be on no branch or tag" in page.text
    page.test.toggle[0].set_value(True)
    page.run()
    assert carrying_out(page, "Rollback").disabled
    for each in page.test.text_input:
        if each.label == words.type_to_confirm("t 0"):
            each.set_value("t 0")
    page.run()
    carrying_out(page, "Rollback").click()
    page.run()
    job = newest_job("change")
    assert job is not None
    assert job.wait(300)
    page.run()
    assert ground.document(root)["current-snapshot-id"] == old[1]
    assert Journal().runs()[0].change_kind == "Rollback"
