"""What has to be typed grows with the danger, and only somebody who read a grave plan can type it."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from core.changes import Change, CreateTag, DeleteTags, Expire, RenameTag
from core.danger import danger
from core.planned import FREES, Plan, Verdict

SNAPSHOT, TAG = Verdict("1", False, ("old",)), Verdict("branch:b/tag:v", False, ("named",))


def plan(change: Change, *points: Verdict, freed: int = 10, kept: int = 100, warnings: int = 0) -> Plan:
    frees = pa.table([["a", "b"], ["data", "data"], [freed, 0]], schema=FREES)
    said = tuple(f"warning {number}" for number in range(warnings))
    return Plan("/w/t", change, "newest", 0, "f" * 64, points, frees, kept, 0, (), (), said)


@pytest.mark.parametrize("change", [CreateTag("x"), RenameTag("x", "y")])
def test_what_deletes_nothing_needs_a_click(change: Change) -> None:
    assert danger(plan(change, warnings=1), "t").phrase == ""


def test_an_ordinary_expiry_needs_the_tables_name() -> None:
    found = danger(plan(Expire(retain_max=3), SNAPSHOT), "t")
    assert (found.phrase, found.why) == ("t", ())


@pytest.mark.parametrize(
    ("grave", "why"),
    [
        (plan(DeleteTags(("v",), "b"), TAG), "1 tag goes"),
        (plan(Expire(drop_tags=("v", "w")), SNAPSHOT, TAG, dataclasses.replace(TAG, point="tag:w")), "2 tags go"),
        (plan(Expire(retain_max=1), SNAPSHOT, freed=100, kept=100), "half"),
        (plan(Expire(retain_max=1), SNAPSHOT, warnings=2), "2 warnings"),
    ],
)
def test_a_grave_plan_needs_the_number_of_files(grave: Plan, why: str) -> None:
    found = danger(grave, "t")
    assert found.phrase == "t 2"
    assert why in "; ".join(found.why)


def test_a_tag_that_stays_is_no_danger() -> None:
    kept = dataclasses.replace(TAG, keep=True)
    assert danger(plan(Expire(retain_max=1), SNAPSHOT, kept), "t").phrase == "t"
