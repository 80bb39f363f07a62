"""The single list of steps: what is shown of a plan is what is run."""

from __future__ import annotations

from typing import get_args

from core.model import effects
from core.model.effects import (
    CheckTable,
    DeleteIfEqual,
    DeleteUnreferencedFiles,
    Effect,
    PutIfAbsent,
    Require,
    Wait,
    changes,
    ended,
    steps,
)


def test_neighbours_of_a_kind_are_one_step() -> None:
    gone = [DeleteIfEqual(f"snapshot/snapshot-{number}", b"") for number in (1, 2, 3)]
    found = steps(ended([*gone, PutIfAbsent("tag/tag-a", b"")], 1_204, 5_000, waits=True))
    assert [(each.kind, each.count, each.words) for each in found] == [
        ("DeleteIfEqual", 3, "Delete 3 references, each if unchanged: snapshot/snapshot-1 … snapshot/snapshot-3"),
        ("PutIfAbsent", 1, "Create tag/tag-a, if nothing is there"),
        ("Wait", 1, "Wait for running writers to finish"),
        (
            "DeleteUnreferencedFiles",
            1,
            "Read all references again; of 1,204 files (5.0 kB), delete those that no reference holds",
        ),
        ("CheckTable", 1, "Check that everything that is kept can be read"),
    ]


def test_what_changes_nothing_has_no_steps() -> None:
    assert steps(ended((), 0, 0, waits=False)) == ()


def test_files_go_after_the_wait_and_the_check_comes_last() -> None:
    assert ended((), 2, 7, waits=True) == (Wait(), DeleteUnreferencedFiles(2, 7), CheckTable())
    assert changes(ended([Require("a", b"")], 2, 7, waits=True)) == (Require("a", b""),)


def test_every_effect_is_told_and_stands_in_the_crash_table_or_changes_nothing() -> None:
    assert all(f"`{kind.__name__}`" in str(effects.__doc__) for kind in get_args(Effect))
