"""The more dangerous a plan, the more has to be typed, and only somebody who read a grave plan can type it."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from core.messages import Reason
from core.model import codes
from core.model.actions import Change, CreateTag, DeleteBranches, DeleteTags, Expire, RenameTag
from core.model.plan import FREES, Plan, Verdict
from core.planning.confirmation import danger, of_all

SNAPSHOT = Verdict("1", False, (codes.NAMED_TO_GO(),))
TAG = Verdict("branch:b/tag:v", False, (codes.NAMED_TO_DELETE(),))
OTHER_TAG = dataclasses.replace(TAG, point="tag:w")


def plan(change: Change, *points: Verdict, freed: int = 10, kept: int = 100, warnings: int = 0) -> Plan:
    frees = pa.table([["a", "b"], ["data", "data"], [freed, 0]], schema=FREES)
    said = tuple(codes.ENGINE_RUNS(runs=number) for number in range(warnings))
    return Plan("/w/t", change, codes.PAIMON_2(), 0, "f" * 64, points, frees, kept, 0, (), (), said)


@pytest.mark.parametrize("change", [CreateTag("x"), RenameTag("x", "y")])
def test_what_deletes_nothing_needs_a_click(change: Change) -> None:
    assert danger(plan(change, warnings=1), "t").phrase == ""


def test_an_ordinary_expiry_needs_the_tables_name() -> None:
    found = danger(plan(Expire(retain_max=3), SNAPSHOT), "t")
    assert (found.phrase, found.why) == ("t", ())


@pytest.mark.parametrize(
    ("grave", "why"),
    [
        (plan(DeleteTags((" ",), "b"), dataclasses.replace(TAG, point="branch:b/tag: ")), codes.TAGS_GO(count=1)),
        (plan(Expire(drop_tags=("v",)), SNAPSHOT, TAG), codes.TAGS_GO(count=1)),
        (
            plan(Expire(drop_tags=("v", "w")), SNAPSHOT, TAG, dataclasses.replace(TAG, point="tag:w")),
            codes.TAGS_GO(count=2),
        ),
        (plan(Expire(retain_max=1), SNAPSHOT, freed=100, kept=100), codes.HALF_GOES()),
        (plan(Expire(retain_max=1), SNAPSHOT, warnings=2), codes.WARNED(count=2)),
    ],
)
def test_a_grave_plan_needs_the_number_of_files(grave: Plan, why: Reason) -> None:
    found = danger(grave, "t")
    assert found.phrase == "t 2"
    assert why in found.why


def test_a_tag_that_goes_alone_is_named() -> None:
    """By the text to type, and the sentence above it."""
    one, many = plan(DeleteTags(("v",), "b"), TAG), plan(Expire(drop_tags=("v",)), *[SNAPSHOT] * 12, TAG)
    found = danger(one, "t")
    assert (found.phrase, found.why) == ("v", (codes.TAGS_GO(count=1),))
    assert one.headline == "Deletes 1 tag (branch:b/tag:v), reclaims 10 B in 2 files."
    assert many.headline == (
        "Deletes 1 tag (branch:b/tag:v), expires 12 snapshots (1, 1, 1, 1 and 8 more), reclaims 10 B in 2 files."
    )


def test_a_branch_is_deleted_with_what_it_holds() -> None:
    inside = dataclasses.replace(SNAPSHOT, point="branch:b/1"), dataclasses.replace(TAG, point="branch:b/tag:v")
    one, ref = (
        plan(DeleteBranches(("b",)), *inside),
        plan(DeleteBranches(("b",)), dataclasses.replace(TAG, point="branch:b")),
    )
    assert one.headline == "Deletes branch b with 1 snapshot (1) and 1 tag (v), reclaims 10 B in 2 files."
    assert ref.headline == "Deletes 1 branch (b), reclaims 10 B in 2 files."


def test_plans_that_are_confirmed_at_once_count_all_files() -> None:
    tag, other = plan(DeleteTags(("v",)), TAG), plan(DeleteTags(("a long name",)), TAG)
    assert of_all([plan(CreateTag("x")), tag], "t") == danger(tag, "t")
    assert of_all([tag, other], "t").phrase == "t 4"
    assert of_all([plan(CreateTag("x"))], "t").phrase == ""


def test_a_tag_that_stays_is_no_danger() -> None:
    kept = dataclasses.replace(TAG, keep=True)
    assert danger(plan(Expire(retain_max=1), SNAPSHOT, kept), "t").phrase == "t"
