"""What the next commit expires automatically: which versions, what that breaks, and whether the proposed remedies
work."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from core.analysis.expiration_dates import expiries, life
from core.errors import NotFound
from core.execution.apply import apply
from core.formats.paimon.plan.expiry import expiring
from core.messages import code_names
from core.model import codes
from core.model.actions import Expire
from core.model.expiry import Forecast
from core.table import open_table
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import NOW_MS, replaced_four_times

NEWEST_ALONE = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}


def coming(root: Path, branch: str = "main") -> Forecast | None:
    table = open_table(str(root))
    return table.next_commit(table.history(), NOW_MS, branch)


def goes(root: Path, branch: str = "main") -> tuple[str, ...]:
    found = coming(root, branch)
    assert found is not None
    return found.expired


def test_tags_whose_time_has_passed_go(tmp_path: Path) -> None:
    table = replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "9"})
    table.tag("old", 2, created=dt.datetime(2026, 1, 1), retained_s=60)
    assert goes(tmp_path / "t") == ("tag:old",)
    told = coming(tmp_path / "t")
    assert told is not None
    assert told.breaks == ()
    assert told.prevented_by == (codes.KEEP_ENDED_TAGS(),)
    table.schema(options={"snapshot.num-retained.min": "9", "tag.time-expire-enabled": "false"})
    assert goes(tmp_path / "t") == ()


def test_the_commit_to_come_is_counted(tmp_path: Path) -> None:
    table = replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "2"})
    assert goes(tmp_path / "t") == ("1", "2", "3")
    table.commit([table.file()])
    table.expire([1, 2, 3])
    assert goes(tmp_path / "t") == ("4",)


def test_a_writer_takes_no_more_than_its_limit(tmp_path: Path) -> None:
    replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "1", "snapshot.expire.limit": "2"})
    assert goes(tmp_path / "t") == ("1", "2")


@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_limit_below_one_lets_no_snapshot_expire(tmp_path: Path, limit: str) -> None:
    replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "1", "snapshot.expire.limit": limit})
    assert goes(tmp_path / "t") == ()


@pytest.mark.parametrize("options", [NEWEST_ALONE, {"snapshot.num-retained.min": "1"}])
def test_what_keeps_the_points_that_go_keeps_them(tmp_path: Path, options: dict[str, str]) -> None:
    table = replaced_four_times(tmp_path / "t", options)
    found = coming(tmp_path / "t")
    assert found is not None
    assert found.expired == ("1", "2", "3")
    assert "(1–3)" in found.headline
    assert found.prevented_by[0] == codes.TAG_IT(id=3)
    assert "snapshot.num-retained.min = 5" in found.prevented_by[1].text
    table.tag("mine", 3)
    again = coming(tmp_path / "t")
    assert again is not None
    assert again.prevented_by[0] == codes.TAG_IT(id=2), "3 is kept already"
    named = dict.fromkeys(options, "5") | {"snapshot.num-retained.min": "5"}
    assert all(f"{name} = 5" in found.prevented_by[1].text for name in named)
    table.schema(options=named)
    assert goes(tmp_path / "t") == ()
    table.schema(options=options | {"write-only": "true"})
    assert coming(tmp_path / "t") is None


def cut_branch(root: Path) -> TableBuilder:
    """A branch of a tag that is gone: nothing on main tells the engine that the branch needs snapshot 2's files."""
    table = replaced_four_times(root, NEWEST_ALONE)
    table.tag("v", 2)
    table.branch("dev", "v")
    table.delete_tag("v")
    return table


def test_what_breaks_is_named_with_the_tag_that_keeps_it_whole(tmp_path: Path) -> None:
    table = cut_branch(tmp_path / "t")
    found = coming(tmp_path / "t")
    assert found is not None
    assert (found.breaks[0].code, found.breaks[0].values["point"]) == (codes.ENGINE_BREAKS, "branch:dev/2")
    assert (
        found.prevented_by[-1].text == "With a tag of snapshot 2, branch:dev/2, branch:dev/tag:v would remain complete."
    )
    table.tag("kept", 2)
    found = coming(tmp_path / "t")
    assert found is not None
    assert found.breaks == ()


def test_a_branch_is_judged_by_its_own_options(tmp_path: Path) -> None:
    table = replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "9"})
    table.tag("v", 4)
    branch = table.branch("dev", "v")
    for _ in range(2):
        branch.commit([branch.file()], branch.live(), kind="OVERWRITE")
    branch.schema(options={"snapshot.num-retained.min": "1"})
    assert goes(tmp_path / "t") == ()
    assert goes(tmp_path / "t", "dev") == ("branch:dev/4", "branch:dev/5")
    with pytest.raises(NotFound):
        coming(tmp_path / "t", "nobody")


def test_long_lived_changelogs_go_too(tmp_path: Path) -> None:
    options = {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "2", "changelog-producer": "input"}
    table = TableBuilder(tmp_path / "t", options=options | {"changelog.num-retained.max": "4"})
    for _ in range(4):
        table.commit([table.file()], changelog=[table.file(prefix="changelog-")])
    opened = open_table(str(tmp_path / "t"))
    apply(opened, opened.preview(Expire(retain_max=2, retain_min=2), NOW_MS), settle_s=0)
    found = coming(tmp_path / "t")
    assert found is not None
    assert found.expired == ("3", "changelog:1")
    assert "Long-lived changelogs: Expires" in found.headline
    option = "changelog.num-retained.min = 5 with changelog.num-retained.max = 5"
    assert codes.RETAIN_CHANGELOGS(option=option) in found.prevented_by
    table.schema(options=options | {"changelog.num-retained.min": "5", "changelog.num-retained.max": "5"})
    assert goes(tmp_path / "t") == ("3",)


def test_an_engine_that_would_fail_is_told_of(tmp_path: Path) -> None:
    """Nothing goes by our own count; the engine's hint leads nowhere."""
    replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "9"}).hints(latest=7)
    found = coming(tmp_path / "t")
    assert found is not None
    assert (found.expired, found.prevented_by) == ((), ())
    assert code_names(found.breaks) == ["engine-fails"]


@pytest.mark.parametrize("earliest", [3, 4])
def test_snapshots_that_the_engine_does_not_see_do_not_go(tmp_path: Path, earliest: int) -> None:
    """It believes an EARLIEST hint whose snapshot exists, and never expires what lies before it."""
    replaced_four_times(tmp_path / "t", NEWEST_ALONE).hints(earliest=earliest)
    found = coming(tmp_path / "t")
    assert found is not None
    assert (found.expired, found.prevented_by) == ((), ())
    assert f"snapshot/EARLIEST points to snapshot {earliest}" in found.headline
    dates = expiries(open_table(str(tmp_path / "t")).heads(), NOW_MS)
    unseen = {point for point, expiry in dates.items() if "never at a commit" in expiry.words}
    assert unseen == {str(number) for number in range(1, earliest)}
    assert dates[str(earliest)].words == "at the next commit"


@pytest.mark.parametrize("hints", [{"earliest": 1}, {"earliest": 9}, {"earliest": "x"}, {"earliest": -8}])
def test_hints_that_mislead_nobody_change_nothing(tmp_path: Path, hints: dict[str, object]) -> None:
    replaced_four_times(tmp_path / "t", NEWEST_ALONE).hints(**hints)
    assert goes(tmp_path / "t") == ("1", "2", "3")


def test_nothing_goes_where_the_engine_fails(tmp_path: Path) -> None:
    replaced_four_times(tmp_path / "t", NEWEST_ALONE).hints(latest=7)
    found = coming(tmp_path / "t")
    assert found is not None
    assert (found.expired, found.prevented_by) == ((), ())
    assert "its LATEST hint refers to snapshot 7, which does not exist" in found.headline


@pytest.mark.parametrize("text", ["true", "TRUE", "True"])
def test_booleans_are_read_whatever_their_case(tmp_path: Path, text: str) -> None:
    table = replaced_four_times(tmp_path / "t", NEWEST_ALONE | {"write-only": text})
    assert coming(tmp_path / "t") is None
    dates = expiries(open_table(str(tmp_path / "t")).heads(), NOW_MS)
    assert {each.words for each in dates.values()} == {"never at a commit: the table is write-only"}
    table.schema(options=NEWEST_ALONE | {"write.compaction-skip": text})
    assert coming(tmp_path / "t") is None
    assert expiries(open_table(str(tmp_path / "t")).heads(), NOW_MS)["1"].words.endswith("the table is write-only")
    table.schema(options=NEWEST_ALONE | {"consumer.changelog-only": text, "changelog.num-retained.max": "9"})
    table.consumer("reader", 2)
    assert goes(tmp_path / "t") == ("1", "2", "3")


def test_readers_of_changelogs_hold_snapshots_from_a_plan_but_not_from_a_commit(tmp_path: Path) -> None:
    options = NEWEST_ALONE | {"consumer.changelog-only": "true", "changelog.num-retained.max": "9"}
    table = replaced_four_times(tmp_path / "t", options)
    table.consumer("reader", 2)
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    plan = opened.preview(Expire(), NOW_MS, history)
    assert [verdict.point for verdict in plan.deleted_points] == ["1"]
    assert codes.COMMITS_PASS_CONSUMERS() in plan.warnings
    assert opened.native(plan, history) == ()
    assert goes(tmp_path / "t") == ("1", "2", "3")
    old = opened.preview(Expire(rules="1.x"), NOW_MS, history)
    assert codes.COMMITS_PASS_CONSUMERS() not in old.warnings
    going = expiring(history, NOW_MS)
    assert [history.holders[at].point for at in np.flatnonzero(going)] == ["1", "2", "3"]


def test_readers_hold_snapshots_where_changelogs_are_not_kept_longer(tmp_path: Path) -> None:
    """`consumer.changelog-only` is heeded only on tables whose changelogs outlive their snapshots."""
    table = replaced_four_times(tmp_path / "t", NEWEST_ALONE | {"consumer.changelog-only": "true"})
    table.consumer("reader", 2)
    opened = open_table(str(tmp_path / "t"))
    history = opened.history()
    plan = opened.preview(Expire(retain_max=1, retain_min=1), NOW_MS, history)
    assert [verdict.point for verdict in plan.deleted_points] == ["1"]
    assert opened.native(plan, history) == ()
    assert goes(tmp_path / "t") == ("1",)
    dates = expiries(opened.heads(), NOW_MS)
    assert dates["2"].words == "never while consumer reader still has to read it"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"snapshot.num-retained.max": "5"}, "retain-max (5) is below retain-min (10, the engine's default)"),
        (
            {"snapshot.time-retained": "soon"},
            "The table option snapshot.time-retained cannot be parsed: not a valid duration: 'soon'",
        ),
    ],
)
def test_options_that_cannot_be_heeded_hide_nothing_else(tmp_path: Path, options: dict[str, str], why: str) -> None:
    replaced_four_times(tmp_path / "t", options)
    table = open_table(str(tmp_path / "t"))
    dates = expiries(table.heads(), NOW_MS)
    assert all(each.words.startswith(f"cannot be determined: {why}") for each in dates.values())
    found = life(table.history(), "snapshot/snapshot-1", NOW_MS)
    assert found is not None
    assert found.holders == ("1",)
    told = coming(tmp_path / "t")
    assert told is not None
    assert why in told.headline


def test_what_cannot_be_told_says_why(tmp_path: Path) -> None:
    replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "many"})
    found = coming(tmp_path / "t")
    assert found is not None
    assert found.plans == ()
    assert "The table option snapshot.num-retained.min must be a number, not" in found.headline


def test_nothing_was_ever_committed(tmp_path: Path) -> None:
    TableBuilder(tmp_path / "t")
    assert coming(tmp_path / "t") is None
