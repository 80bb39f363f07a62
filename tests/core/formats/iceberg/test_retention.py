"""Per-ref retention compared with the rule written as sets, on random tables with clocks that went back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt, Invalid
from core.formats.iceberg import expiration_dates, retention
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.iceberg.retention import ExpiryOptions, judge
from core.model import codes
from core.model.references import MAIN, Heads, Line, Ref, Schema, Snapshot, Tag

NOW = 1_000


def snapshot(number: int, parent: int | None, time_ms: int) -> Snapshot:
    return Snapshot(number, time_ms, "append", 0, "", 0, None, None, None, {}, b"", parent)


def by_sets(
    snapshots: Mapping[int, Snapshot], given_refs: Sequence[Ref], properties: Mapping[str, str], asked: ExpiryOptions
) -> tuple[set[int], set[str]] | None:
    """(expired, dropped refs), or None where an explicit id is a live ref's head. Source: Iceberg, RemoveSnapshots."""
    cutoff = asked.older_than_ms
    if cutoff is None:
        cutoff = asked.now_ms - int(properties.get("history.expire.max-snapshot-age-ms", 432_000_000))
    least = asked.retain_last or int(properties.get("history.expire.min-snapshots-to-keep", 1))
    longest = int(properties.get("history.expire.max-ref-age-ms", 2**63 - 1))
    live = set()
    for ref in given_refs:
        age_ms = longest if ref.max_ref_age_ms is None else ref.max_ref_age_ms
        if ref.name in (asked.dropped or {}):
            continue
        if ref.name == MAIN or (
            ref.snapshot_id in snapshots and asked.now_ms - snapshots[ref.snapshot_id].time_ms <= age_ms
        ):
            live.add(ref)
    keep = {ref.snapshot_id for ref in live}
    if keep & asked.ids:
        return None
    reachable: set[int] = set()
    for ref in live:
        if not ref.is_branch:
            reachable.add(ref.snapshot_id)
            continue
        at: int | None = ref.snapshot_id
        kept, keeping = 0, True
        while at is not None and at in snapshots:
            each = snapshots[at]
            reachable.add(each.id)
            few = kept < (least if ref.min_snapshots is None else ref.min_snapshots)
            young = each.time_ms >= (
                cutoff if ref.max_snapshot_age_ms is None else asked.now_ms - ref.max_snapshot_age_ms
            )
            keeping = keeping and (few or young)
            if keeping:
                keep.add(each.id)
                kept += 1
            at = each.parent_id
    keep |= {each.id for each in snapshots.values() if each.id not in reachable and each.time_ms >= cutoff}
    expired = (snapshots.keys() - keep) | asked.ids
    return expired, {ref.name for ref in given_refs} - {ref.name for ref in live}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[int, Snapshot], list[Ref], dict[str, str]]:
    count = draw(st.integers(1, 9))
    snapshots = {}
    for number in range(1, count + 1):
        earlier = st.integers(1, number - 1) if number > 1 else st.nothing()
        parent = draw(st.none() | earlier | st.just(99))  # 99: expired long ago
        snapshots[number] = snapshot(number, parent, draw(st.integers(900, NOW)))
    some = st.integers(1, count)
    few, age = st.none() | st.integers(1, 4), st.none() | st.integers(0, 110)
    given_refs = [Ref(MAIN, True, draw(some), draw(few), draw(age))]
    for number in range(draw(st.integers(0, 4))):
        is_branch = draw(st.booleans())
        at = draw(some | st.just(77))  # 77: a snapshot that is not there
        own = (draw(few), draw(age)) if is_branch else (None, None)
        given_refs.append(Ref(f"r{number}", is_branch, at, *own, draw(age)))
    properties = {
        key: str(value)
        for key, value in (
            ("history.expire.max-snapshot-age-ms", draw(age)),
            ("history.expire.min-snapshots-to-keep", draw(few)),
            ("history.expire.max-ref-age-ms", draw(age)),
        )
        if value is not None
    }
    return snapshots, given_refs, properties


@given(st.data())
def test_the_rule_is_the_rule(data: st.DataObject) -> None:
    snapshots, given_refs, properties = data.draw(tables())
    names = [ref.name for ref in given_refs if ref.name != MAIN]
    asked = ExpiryOptions(
        NOW,
        data.draw(st.none() | st.integers(890, NOW + 10)),
        data.draw(st.none() | st.integers(1, 5)),
        data.draw(st.frozensets(st.sampled_from(sorted(snapshots)), max_size=2)),
        dict.fromkeys(data.draw(st.sets(st.sampled_from(names))) if names else (), codes.NAMED_TO_DROP()),
    )
    wanted = by_sets(snapshots, given_refs, properties, asked)
    if wanted is None:
        with pytest.raises(Invalid, match="still referenced by"):
            judge(snapshots, given_refs, properties, asked)
        return
    found = judge(snapshots, given_refs, properties, asked)
    assert (set(found.expired), set(found.deleted_refs)) == wanted
    assert all(reasons and all(map(str, reasons)) for _, reasons in found.snapshots.values())


def test_a_snapshot_at_the_cut_off_stays() -> None:
    line = {number: snapshot(number, number - 1 or None, 100 * number) for number in range(1, 6)}
    found = judge(line, [Ref(MAIN, True, 5)], {}, ExpiryOptions(NOW, older_than_ms=300))
    assert found.expired == {1, 2}
    assert found.snapshots[3] == (True, (codes.YOUNG_ON_BRANCH(at="1970-01-01 00:00:00.300 UTC", name=MAIN),))


def test_nothing_younger_is_kept_behind_one_that_goes() -> None:
    """Clocks went back: the walk stops at the first that is neither young nor few."""
    line = {1: snapshot(1, None, 900), 2: snapshot(2, 1, 100), 3: snapshot(3, 2, 950)}
    found = judge(line, [Ref(MAIN, True, 3)], {}, ExpiryOptions(NOW, older_than_ms=500))
    assert found.expired == {1, 2}
    assert found.snapshots[1][1] == (codes.BEHIND(name=MAIN),)


def test_parents_that_go_round_in_a_circle_end() -> None:
    line = {1: snapshot(1, 2, 100), 2: snapshot(2, 1, 200)}
    assert judge(line, [Ref(MAIN, True, 2)], {}, ExpiryOptions(NOW, older_than_ms=500)).expired == {1}


def test_what_cannot_be_asked() -> None:
    line = {1: snapshot(1, None, 100)}
    with pytest.raises(Invalid, match="At least one snapshot must be retained, not 0"):
        judge(line, [Ref(MAIN, True, 1)], {}, ExpiryOptions(NOW, retain_last=0))
    with pytest.raises(Invalid, match="no snapshot 7"):
        judge(line, [Ref(MAIN, True, 1)], {}, ExpiryOptions(NOW, ids=frozenset({7})))
    with pytest.raises(Corrupt, match="min-snapshots-to-keep must be a whole number, not 'many'"):
        judge(line, [Ref(MAIN, True, 1)], {"history.expire.min-snapshots-to-keep": "many"}, ExpiryOptions(NOW))


def test_the_log_is_cleared_up_to_a_gap() -> None:
    assert retention.trimmed(((1, 1), (2, 2), (3, 3)), {1, 3}) == ((3, 3),)
    assert retention.trimmed(((1, 1), (2, 2), (3, 1), (4, 3)), {1, 3}) == ((3, 1), (4, 3))
    assert retention.trimmed(((1, 1),), set()) == ()


def ends(
    line: Mapping[int, Snapshot], refs: Sequence[Ref], properties: Mapping[str, str], tags: Sequence[Tag] = ()
) -> dict[str, tuple[int | None, str, bool]]:
    schema = Schema(0, (), (), (), properties, 0)
    main = Line(MAIN, tuple(line.values()), tuple(tags), (), (), {0: schema}, current_schema=0)
    return expiration_dates.ends(Heads("t", ICEBERG, (main,), {}, tuple(refs), ()), NOW)


@given(st.data())
def test_the_day_a_snapshot_goes_is_the_day_an_expiry_takes_it(data: st.DataObject) -> None:
    """Where a date is told: not taken until then, taken after it."""
    snapshots, given_refs, properties = data.draw(tables())
    for point, (until_ms, words, _) in ends(snapshots, given_refs, properties).items():
        assert words
        if until_ms is None:
            kept = judge(snapshots, given_refs, properties, ExpiryOptions(10**15))
            assert int(point) not in kept.expired
            continue
        assert int(point) not in judge(snapshots, given_refs, properties, ExpiryOptions(until_ms)).expired
        assert int(point) in judge(snapshots, given_refs, properties, ExpiryOptions(until_ms + 1)).expired


def test_a_ref_that_ends_by_its_age_keeps_nothing_longer() -> None:
    """The engine removed the branch's snapshots, and the tag's, without any commit."""
    line = {number: snapshot(number, number - 1 or None, 100 * number) for number in range(1, 5)}
    refs = [Ref(MAIN, True, 1), Ref("dev", True, 3, 5, None, 5_000), Ref("v1", False, 4, None, None, 7_000)]
    found = ends(line, refs, {"history.expire.max-snapshot-age-ms": "1"})
    assert found["1"] == (None, "never while main points to it", False)
    when = "at the first expiry after 1970-01-01 00:00:05.300 UTC, if dev has no new commit; "
    assert [found[each][0] for each in "234"] == [5_300, 5_300, 7_400]
    assert all(found[each][1].startswith(when) for each in "23")
    assert found["4"][1].startswith("at the first expiry after 1970-01-01 00:00:07.400 UTC; ")
    both = [*refs, Ref("v2", False, 3), Ref("main2", True, 3, 2)]
    found = ends(line, both, {"history.expire.max-snapshot-age-ms": "1"})
    assert found["3"] == (None, "never while v2, main2 point to it", False)
    assert found["2"][1].startswith("after 1 more commit on main2, not before 1970-01-01 00:00:05.300 UTC")


def test_nothing_expires_where_the_table_rejects_it() -> None:
    line = {number: snapshot(number, number - 1 or None, 100 * number) for number in range(1, 3)}
    refs, tag = [Ref(MAIN, True, 2), Ref("v1", False, 1, None, None, 1)], Tag("v1", line[1], None, None, 101)
    assert ends(line, refs, {}, [tag])["tag:v1"][0] == 101
    found = ends(line, refs, {"gc.enabled": "false"}, [tag])
    assert list(found) == ["1", "2", "tag:v1"]
    assert set(found.values()) == {(None, "never: the table sets gc.enabled = false", False)}


def test_an_end_that_cannot_be_told_says_why() -> None:
    options = {"history.expire.min-snapshots-to-keep": "many"}
    main = Line(MAIN, (snapshot(1, None, 100),), (), (), (), {0: Schema(0, (), (), (), options, 0)}, current_schema=0)
    found = expiration_dates.expiries(Heads("t", ICEBERG, (main,), {}, (Ref(MAIN, True, 1),), ()), NOW)
    assert found["1"].not_before_ms is None
    assert found["1"].words.startswith("cannot be determined: The table property history.expire.min-snapshots-to-keep")
