"""What holds for every action on any table."""

from __future__ import annotations

import pytest

from core.model.actions import KINDS, Action, DeleteTags, Expire, Rollback
from tests.support.actions import some

ACTIONS = {name: some(name, 0) for name in KINDS}


def those(trait: str) -> set[str]:
    return {name for name, action in ACTIONS.items() if getattr(action, trait)}


@pytest.mark.parametrize(
    ("trait", "names"),
    [
        ("is_harmless", "CreateTag RenameTag CreateBranch RenameBranch Compact Analyze"),
        (
            "names_a_reference",
            "CreateTag RenameTag CreateBranch ReplaceBranch RenameBranch FastForward Rollback",
        ),
        ("is_expiry", "Expire"),
        ("deletes_files", "Expire DeleteTags ReplaceTag DeleteBranches CleanOrphans"),
        ("is_of_tags", "CreateTag ReplaceTag RenameTag DeleteTags"),
        ("makes_a_tag", "CreateTag"),
        ("new_tag", "CreateTag RenameTag"),
        ("old_tag", "RenameTag"),
        ("set_tag", "CreateTag ReplaceTag"),
    ],
)
def test_each_action_says_of_itself_what_it_is(trait: str, names: str) -> None:
    """One click confirms harmless actions, and actions that only change references need no waiting: a new action is
    neither."""
    assert those(trait) == set(names.split())


@pytest.mark.parametrize(
    ("action", "point", "expires"),
    [
        (Expire, "12", True),
        (Expire, "branch:dev/12", True),
        (Expire, "changelog:3", True),
        (Expire, "tag:12", False),
        (Expire, "branch:dev", False),
        (Rollback, "12", False),
        (DeleteTags, "tag:v1", False),
    ],
)
def test_only_an_expiry_expires_snapshots(action: type[Action], point: str, *, expires: bool) -> None:
    assert action.expires(point) is expires
