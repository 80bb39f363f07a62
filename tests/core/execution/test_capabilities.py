"""Stores that lack what a plan or its undo needs: the plan is shown, and rejected before its first effect."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import _registry

from core.errors import Corrupt, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import (
    Change,
    CleanOrphans,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    RenameTag,
    ReplaceTag,
    Rollback,
)
from core.table import open_table
from tests.support.execution import ground

CHANGES: dict[str, Change] = {
    "expire": Expire(retain_max=2, retain_min=1),
    "delete a tag": DeleteTags(("early",)),
    "make a tag": CreateTag("new"),
    "rename a tag": RenameTag("early", "old"),
    "replace a tag": ReplaceTag("early"),
    "make a branch": CreateBranch("c", "tag:packed"),
    "delete a branch": DeleteBranches(("b",)),
    "roll back": Rollback("tag:packed"),
    "roll back destructively": Rollback("7", destructive=True),
}


class Bucket(LocalFileSystem):
    """A store that cannot promise exclusive creation."""

    protocol = "bucket"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(LocalFileSystem._strip_protocol(path.removeprefix("bucket://")))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(_registry, "bucket", Bucket)
    place = ground.warehouse(tmp_path / "w")
    ground.small_table(place)
    return place


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_cannot_be_taken_back_is_shown_and_not_begun(change: Change, root: Path) -> None:
    before = {path: (root / path).read_bytes() for path in ground.disk(root)}
    there, here = open_table(f"bucket://{root}"), open_table(str(root))
    plan, same = there.preview(change, ground.LATE_MS), here.preview(change, ground.LATE_MS)
    assert plan.frees.equals(same.frees)
    assert plan.removes == same.removes
    assert any("cannot be created exclusively on 'bucket'" in each.text for each in plan.warnings)
    with pytest.raises(Unsupported, match="the table's own engine"):
        apply(there, plan, settle_s=0)
    assert {path: (root / path).read_bytes() for path in ground.disk(root)} == before
    assert Journal().runs() == []


def test_nothing_is_deleted_where_a_listing_may_hide_what_needs_it(root: Path) -> None:
    left = root / "manifest/manifest-00000000-0000-4000-8000-000000000001-0"
    left.write_bytes(b"left behind")
    there = open_table(f"bucket://{root}")
    plan = there.preview(CleanOrphans(ground.LATE_MS), ground.LATE_MS)
    assert len(plan.frees)
    with pytest.raises(Unsupported, match="whether 'bucket' stores list everything"):
        apply(there, plan, settle_s=0)
    assert left.exists()


@pytest.mark.parametrize("at", ["snapshot", "tag"])
@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_directory_that_cannot_be_written_stops_a_plan_before_its_first_effect(
    code: int, at: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(retain_max=2, retain_min=1, drop_tags=("early",)), ground.LATE_MS)
    before, link = ground.disk(root), os.link

    def refusing(source: str, target: str) -> None:
        if os.path.dirname(target) == str(root / at):
            raise OSError(code, os.strerror(code))
        link(source, target)

    monkeypatch.setattr(os, "link", refusing)
    with pytest.raises(Corrupt, match="could not write"):
        apply(table, plan, settle_s=0)
    assert ground.disk(root) == before
    assert Journal().runs() == []


def test_a_disk_without_hard_links_stops_a_plan_before_its_first_effect(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(str(root))
    plan, before = table.preview(CHANGES["expire"], ground.LATE_MS), ground.disk(root)

    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(Unsupported, match="no hard links"):
        apply(table, plan, settle_s=0)
    assert ground.disk(root) == before
    assert Journal().runs() == []
