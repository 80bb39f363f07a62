"""Storage cost compared with plain sets: every result is `freed`, computed for one set after another."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.expiration_dates import calendar
from core.analysis.storage_cost import (
    best_drops,
    by_holders,
    deleting,
    drops,
    exclusive,
    holder_names,
    is_exact,
    retention_curve,
)
from core.formats import registry
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.iceberg.plan import expiry as refplan
from core.formats.paimon.capabilities import PAIMON
from core.model.expiry import Expiry
from core.model.history import History
from core.model.intervals import from_pairs
from core.model.references import MAIN, Heads, Holder, HolderKind, Line, Ref, Schema, Snapshot, Tag
from core.reports.json import tag_costs
from core.table import open_table
from tests.support.places import TABLES

REAL = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())


def made(kinds: list[str], held: list[set[int]], sizes: list[int]) -> History:
    """Create a history whose positions are snapshots ("s"), tags ("t") or another branch's ("b"); object i is on
    held[i]."""
    holders = []
    for number, kind in enumerate(kinds):
        snapshot = Snapshot(number, number, "APPEND", 0, "u", number, None, None, None, {}, b"")
        branch = "b" if kind == "b" else MAIN
        holder_kind = HolderKind.TAG if kind == "t" else HolderKind.SNAPSHOT
        holders.append(Holder(holder_kind, branch, str(number), snapshot, f"{kind}/{number}"))
    pairs = [(owner, position) for owner, positions in enumerate(held) for position in positions]
    owner, position = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    runs = from_pairs(owner, position, len(held), len(kinds))
    objects = pa.table(
        {
            "path": pa.array([f"f{number}" for number in range(len(held))], pa.string()),
            "kind": pa.array(["data"] * len(held), pa.string()),
            "bytes": pa.array(sizes, pa.int64()),
            "ours": pa.array([True] * len(held), pa.bool_()),
        }
    )
    own = tuple(each.snapshot for each in holders if each.branch == MAIN and each.kind is HolderKind.SNAPSHOT)
    line = Line(MAIN, tuple(each for each in own if each), (), (), (), {})
    files = pa.table({"bytes": sizes, "rows": sizes})
    return History(Heads("t", PAIMON, (line,), {}), tuple(holders), {}, (), objects, runs, files, runs)


@st.composite
def histories(draw: st.DrawFn) -> History:
    kinds = draw(st.lists(st.sampled_from("sstttb"), min_size=1, max_size=9))
    held = draw(st.lists(st.sets(st.integers(0, len(kinds) - 1)), max_size=12))
    sizes = draw(st.lists(st.integers(0, 1000), min_size=len(held), max_size=len(held)))
    return made(kinds, held, sizes)


def freed(history: History, kept: np.ndarray, gone: set[int]) -> np.ndarray:
    left = kept.copy()
    left[list(gone)] = False
    return history.held.over(kept) & ~history.held.over(left)


def check(history: History) -> None:
    kept = history.existing
    files, sizes = exclusive(history, kept)
    for position in np.flatnonzero(kept):
        alone = freed(history, kept, {int(position)})
        assert (files[position], sizes[position]) == (alone.sum(), history.bytes_of(alone))
    own = [p for p, each in enumerate(history.holders) if each.kind is HolderKind.SNAPSHOT and each.branch == MAIN]
    curve = retention_curve(history)
    for keep in range(len(own) + 1):
        gone = freed(history, kept, set(own[: len(own) - keep]))
        assert (curve[0][keep], curve[1][keep]) == (gone.sum(), history.bytes_of(gone))
    groups = by_holders(history)
    held = history.held.over(kept)
    assert sum(groups["bytes"].to_pylist()) == history.bytes_of(held)
    assert sum(groups["files"].to_pylist()) == held.sum()
    assert len(set(groups["holders"].to_pylist())) == len(groups)


@given(histories())
def test_each_answer_is_freed_asked_of_one_set(history: History) -> None:
    check(history)


@given(histories(), st.data())
def test_the_calendar_adds_up_to_what_is_freed_when_all_until_then_have_gone(
    history: History, data: st.DataObject
) -> None:
    dates = st.none() | st.integers(0, 9)
    told = {each.point: Expiry(each.point, data.draw(dates), "") for each in history.holders}
    now_ms = 4
    files = size = 0
    named: list[str] = []
    for due in calendar(history, told, now_ms):
        files, size, named = files + due.files, size + due.bytes, [*named, *due.points]
        gone = {
            position
            for position, each in enumerate(history.holders)
            if (moment := told[each.point].not_before_ms) is not None and max(moment, now_ms) <= due.at_ms
        }
        assert {history.position(point) for point in named} == gone
        alone = freed(history, history.existing, gone)
        assert (files, size) == (alone.sum(), history.bytes_of(alone))
    assert len(named) == sum(each.not_before_ms is not None for each in told.values())


@given(histories())
def test_sets_of_holders_are_named_exactly(history: History) -> None:
    def name(position: int) -> str:
        holder = history.holders[position]
        if holder.branch != MAIN:
            return f"branch:{holder.branch}"
        if holder.kind is HolderKind.TAG:
            return f"tag:{holder.name}"
        return "live" if position == history.live_now() else "history"

    expected: dict[frozenset[str], int] = {}
    for owner in range(history.held.owners):
        names = frozenset(name(int(position)) for position in np.flatnonzero(history.held.positions_of(owner)))
        if names:
            expected[names] = expected.get(names, 0) + 1
    found = by_holders(history)
    told = zip(found["holders"].to_pylist(), found["files"].to_pylist(), strict=True)
    assert {frozenset(text.split(" + ")): files for text, files in told} == expected


@given(histories())
def test_drops_are_counted_exactly_and_neighbours_are_chosen_best(history: History) -> None:
    kept = history.existing
    tags = [p for p, each in enumerate(history.holders) if each.kind is HolderKind.TAG and each.branch == MAIN]
    found = best_drops(history, kept)
    assert len(found) == len(tags)
    for number, drop in enumerate(found, 1):
        gone = {p for p in tags if history.holders[p].name in drop.tags}
        assert len(gone) == number
        chosen = freed(history, kept, gone)
        assert (drop.files, drop.bytes) == (chosen.sum(), history.bytes_of(chosen))
    if all(len(run) <= 1 for run in np.split(history.held.owner, np.flatnonzero(np.diff(history.held.owner)) + 1)):
        for number, drop in enumerate(found, 1):
            best = max(
                history.bytes_of(freed(history, kept, set(chosen))) for chosen in itertools.combinations(tags, number)
            )
            assert drop.bytes == best


def test_what_a_point_alone_keeps_is_told_where_all_other_points_that_stay_can_be_read() -> None:
    made: Any = SimpleNamespace(holders=("a", "b", "c"), incomplete={1: ()})
    for kept, told in (([1, 1, 1], [0, 1, 0]), ([1, 0, 1], [1, 1, 1]), ([0, 1, 0], [0, 1, 0])):
        assert is_exact(made, np.array(kept, dtype=bool)).tolist() == [bool(each) for each in told]


def test_two_tags_on_one_view_free_nothing_alone_and_all_together() -> None:
    history = made(["t", "t", "s"], [{0, 1}, {2}], [100, 7])
    assert [drop.bytes for drop in best_drops(history, history.existing)] == [0, 100]


@st.composite
def tagged(draw: st.DrawFn) -> History:
    """Create an Iceberg history: a line of snapshots, some of them on no branch, with tags that may expire."""
    count = draw(st.integers(1, 7))
    snapshots = [
        Snapshot(n, draw(st.integers(0, 20)), "append", 0, "", n, None, None, None, {}, b"", n - 1 if n > 1 else None)
        for n in range(1, count + 1)
    ]
    head = draw(st.integers(1, count))
    ages = st.none() | st.integers(0, 20)
    tags = draw(st.lists(st.tuples(st.integers(1, count), ages), max_size=5))
    refs = (Ref(MAIN, True, head), *(Ref(f"t{n}", False, id, max_ref_age_ms=age) for n, (id, age) in enumerate(tags)))
    named = tuple(Tag(ref.name, snapshots[ref.snapshot_id - 1], None, None) for ref in refs[1:])
    keep = {"history.expire.max-snapshot-age-ms": str(draw(st.integers(0, 20)))}
    schema = Schema(0, (), (), (), keep | {"gc.enabled": draw(st.sampled_from(["true", "true", "false"]))}, 0)
    line = Line(MAIN, tuple(snapshots), named, (), (), {0: schema}, current_schema=0)
    held = draw(st.lists(st.sets(st.integers(0, count - 1)), max_size=10))
    sizes = draw(st.lists(st.integers(0, 1000), min_size=len(held), max_size=len(held)))
    plain = made(["s"] * count, held, sizes)
    holders = tuple(Holder(HolderKind.SNAPSHOT, MAIN, str(each.id), each, f"s/{each.id}") for each in snapshots)
    return replace(plain, heads=Heads("t", ICEBERG, (line,), {}, refs, ()), holders=holders)


@given(tagged())
def test_dropping_icebergs_tags_frees_what_the_next_expiry_frees_without_them(history: History) -> None:
    now_ms = 20
    found = drops(history, now_ms)
    if history.heads.main.options["gc.enabled"] == "false":
        assert found == ()
        return

    def costs(names: set[str]) -> tuple[int, int]:
        return refplan.marginal(history, [ref for ref in history.heads.refs if ref.name not in names], now_ms)

    for number, drop in enumerate(found, 1):
        assert len(set(drop.tags)) == number
        assert (drop.files, drop.bytes) == costs(set(drop.tags))
    every = {ref.name for ref in history.heads.refs if ref.name != MAIN}
    assert (found[-1].bytes if found else 0) == costs(every)[1]  # tags left out hold nothing
    if all(len(run) <= 1 for run in np.split(history.held.owner, np.flatnonzero(np.diff(history.held.owner)) + 1)):
        for number, drop in enumerate(found, 1):
            best = max(costs(set(chosen))[1] for chosen in itertools.combinations(found[-1].tags, number))
            assert drop.bytes == best


@pytest.mark.parametrize("name", REAL)
def test_real_tables(name: str) -> None:
    check(open_table(str(TABLES / "paimon" / "default.db" / name)).history())


@given(histories(), st.data())
def test_deleting_names_frees_what_only_they_hold(history: History, data: st.DataObject) -> None:
    """By sets: an object goes where every kept position that holds it has one of the names."""
    masks = holder_names(history)
    names = data.draw(st.sets(st.sampled_from(sorted(masks)))) if masks else set()
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(history.holders), max_size=len(history.holders))))
    going = {at for name in names - {"live"} for at in np.flatnonzero(masks[name])}
    files = size = 0
    for owner, weight in enumerate(history.objects["bytes"].to_pylist()):
        on = {at for at in range(len(history.holders)) if history.held.at(at)[owner] and kept[at]}
        if on and on <= going:
            files, size = files + 1, size + weight
    found = deleting(history, names, kept.astype(np.bool_))
    assert (found.files, found.bytes) == (files, size)


def test_an_iceberg_tag_costs_what_an_expiry_frees_only_without_it() -> None:
    """On every real table: alone by its name in the history of `by_tags`, in the report, and by two expiries judged."""
    now_ms, compared, cost = 10**14, 0, 0
    for root in sorted((TABLES / "iceberg" / "java_random").iterdir()):
        if not (root / "metadata").is_dir():
            continue
        history = open_table(str(root)).history()
        split, stays = registry.of(history.heads).by_tags(history, now_ms)
        reported = {each["point"]: each["exclusive_after_policy_bytes"] for each in tag_costs(history, now_ms)}
        for tag in history.heads.main.tags:
            rest = [ref for ref in history.heads.refs if ref.name != tag.name]
            expected = None if history.incomplete else refplan.marginal(history, rest, now_ms)[1]
            assert reported[f"tag:{tag.name}"] == expected
            if f"tag:{tag.name}" in holder_names(split) and expected is not None:
                assert deleting(split, [f"tag:{tag.name}"], stays).bytes == expected
            compared, cost = compared + 1, cost + (expected or 0)
        assert len(by_holders(split))
    assert compared
    assert cost
