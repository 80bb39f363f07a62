"""The cheapest versions for a goal: judged by trying every choice, on random files and on whole tables."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.errors import Invalid
from core.formats.paimon.write import publish
from core.model.actions import CreateTag, Expire
from core.model.intervals import freed
from core.planning.recovery_goal import DAY, HOUR, MONTH, WEEK, Tier, cheapest, propose, stretches
from core.storage.store import Store
from core.table import open_table
from core.units import wall_clock
from tests.support.builders import DAY_MS, HOUR_MS, START_MS, TableBuilder

NOW_MS = START_MS + 45 * DAY_MS + 5 * HOUR_MS

Runs = Sequence[tuple[int, int, int]]


def held(runs: Runs, positions: Sequence[int]) -> int:
    return sum(weight for first, last, weight in runs if any(first <= each <= last for each in positions))


def tried(runs: Runs, positions: Sequence[int], needed: Sequence[tuple[int, int]]) -> int:
    """The least bytes of any choice that gives every stretch a version."""
    choices = itertools.chain.from_iterable(
        itertools.combinations(range(len(positions)), size) for size in range(len(positions) + 1)
    )
    fitting = (each for each in choices if all(any(low <= at <= high for at in each) for low, high in needed))
    return min(held(runs, [positions[at] for at in each]) for each in fitting)


@pytest.mark.parametrize("seed", range(150))
def test_no_choice_holds_fewer_bytes(seed: int) -> None:
    chance = random.Random(seed)
    places = chance.randint(1, 9)
    positions = sorted(chance.sample(range(14), places))
    between = [sorted((chance.randrange(14), chance.randrange(14))) for _ in range(12)]
    runs = [(low, high, chance.choice((0, 1, 5, 40))) for low, high in between]
    needed = [sorted((chance.randrange(places), chance.randrange(places))) for _ in range(chance.randint(0, 5))]
    spans = [(low, high) for low, high in needed]
    first, last, weight = (np.array([run[column] for run in runs], dtype=np.int64) for column in range(3))
    chosen = cheapest(first, last, weight, positions, spans)
    assert chosen == sorted(set(chosen))
    assert all(any(low <= at <= high for at in chosen) for low, high in spans)
    assert held(runs, [positions[at] for at in chosen]) == tried(runs, positions, spans)


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """Two commits a day for 45 days; one in five rewrites the file of the commit before."""
    made = TableBuilder(tmp_path / "shop.db" / "orders", step_ms=12 * HOUR_MS)
    for number in range(90):
        made.commit([made.file(1_000 + number, rows=10)], made.live()[-1:] if number % 5 == 4 else [])
    return made


def test_stretches_follow_the_calendar() -> None:
    found = stretches([Tier(DAY, 2), Tier(MONTH, 2), Tier(WEEK, 1), Tier(HOUR, 1)], START_MS + 14 * DAY_MS + 1)
    told = {(each.tier.unit, each.start_ms - START_MS, each.end_ms - START_MS) for each in found}
    assert told == {
        ("day", 14 * DAY_MS, 15 * DAY_MS),
        ("day", 13 * DAY_MS, 14 * DAY_MS),
        ("month", 0, 31 * DAY_MS),  # 2026-01 and, before it, 2025-12
        ("month", -31 * DAY_MS, 0),
        ("week", 11 * DAY_MS, 18 * DAY_MS),  # from Monday, 2026-01-12
        ("hour", 14 * DAY_MS, 14 * DAY_MS + HOUR_MS),
    }
    for wrong in (Tier(DAY, 0), Tier("year", 1), Tier(DAY, 10**6)):
        with pytest.raises(Invalid):
            stretches([wrong], NOW_MS)


def test_a_proposal_meets_the_goal_once_it_was_carried_out(table: TableBuilder) -> None:
    """Tags are made, everything else expires: each stretch that is not told missing has a version, and what the table
    then holds is what was said."""
    opened, tiers = open_table(str(table.root)), [Tier(DAY, 30), Tier(MONTH, 3)]
    history = opened.history()
    expire = Expire(retain_max=3, retain_min=3)
    points = {each.point: each.keep for each in opened.preview(expire, NOW_MS, history).points}
    kept = np.array([points[holder.point] for holder in history.holders], dtype=np.bool_)
    found = propose(history, "main", kept, tiers, NOW_MS)
    assert [each.start_ms for each in found.missing] == [START_MS - 31 * DAY_MS, START_MS + 45 * DAY_MS]
    assert len(found.met) == 31
    for each in found.tags:
        holder = history.holders[each.position]
        assert holder.snapshot is not None
        assert all(stretch.has(holder.snapshot.time_ms) for stretch in each.stretches)
        assert each.until_ms == max(stretch.needed_until_ms for stretch in each.stretches)
        opened.preview(CreateTag(f"g{holder.name}", int(holder.name)), NOW_MS, history)
        table.tag(f"g{holder.name}", int(holder.name))
    after = opened.history()
    plan = opened.preview(expire, NOW_MS, after)
    data = int(history.objects["bytes"].to_numpy(zero_copy_only=False)[history.held.over(found.after)].sum())
    assert data == found.bytes
    still = [each for each in plan.points if each.keep]
    times = {each.point: each.snapshot.time_ms for each in after.holders if each.snapshot}
    for stretch in found.met:
        assert any(stretch.has(times[each.point]) for each in still), stretch
    gone = freed(history.held, history.existing, found.after)
    paths = set(history.objects["path"].filter(gone).to_pylist())
    assert {each for each in paths if "data-" in each} == {
        each for each in plan.frees["path"].to_pylist() if "data-" in each
    }


def test_what_is_kept_anyway_costs_no_tag(table: TableBuilder) -> None:
    history = open_table(str(table.root)).history()
    found = propose(history, "main", history.existing, [Tier(DAY, 30)], NOW_MS)
    assert (found.tags, len(found.met), len(found.missing)) == ((), 29, 1)


def test_a_tag_that_ends_too_soon_meets_no_goal(table: TableBuilder) -> None:
    """It is kept today, but not until the version is needed no longer; a tag that stays, or stays long enough, does."""

    def proposed(retained_ms: int | None) -> list[str]:
        name = f"t{retained_ms}"
        publish.create_tag(
            Store(str(table.root)), name, snapshot_id=20, created=wall_clock(NOW_MS), retained_ms=retained_ms
        )
        opened = open_table(str(table.root))
        history = opened.history()
        points = {each.point: each.keep for each in opened.preview(Expire(retain_max=3, retain_min=3), NOW_MS).points}
        kept = np.array([points[holder.point] for holder in history.holders], dtype=np.bool_)
        found = propose(history, "main", kept, [Tier(MONTH, 2)], NOW_MS)
        assert len(found.met) == 2
        return [history.holders[each.position].point for each in found.tags]

    assert proposed(HOUR_MS)
    assert proposed(400 * DAY_MS) == []
    table.root.joinpath(f"tag/tag-t{400 * DAY_MS}").unlink()
    assert proposed(None) == []
