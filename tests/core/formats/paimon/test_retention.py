"""Which snapshots expire: each rule set compared with the engine's own arithmetic, boundaries, consumers, texts,
rejections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from core.formats.paimon import retention
from core.formats.paimon.retention import Policy, Retained, SnapshotVerdicts
from core.messages import code_names
from core.model import codes
from core.model.references import Consumer, Line, Schema
from tests.support.depth import tries

NOW = 1_000_000
HOUR = 3_600_000


def policy(options: Mapping[str, str] | None = None, now_ms: int = NOW, **given_: Any) -> Policy:
    asked = {
        "retain_max": None,
        "retain_min": None,
        "time_retained_ms": None,
        "older_than_ms": None,
        "max_deletes": None,
        "rules": "newest",
    }
    return retention.policy(options or {}, now_ms, **{**asked, **given_})


def line(*consumers: int, **options: str) -> Line:
    keys = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    schema = Schema(0, (), (), (), keys, 0)
    return Line("main", (), (), (), tuple(Consumer(f"c{each}", each) for each in consumers), {0: schema})


def judge(times: Mapping[int, int | None], rule: Policy, on: Line | None = None) -> SnapshotVerdicts:
    retained = [Retained(number, times[number]) for number in sorted(times)]
    return retention.expire_snapshots(on or line(), retained, rule)


# the policy ----------------------------------------------------------------------------------------------------------


def test_defaults_are_the_engines() -> None:
    found = policy(now_ms=10 * HOUR)
    assert (found.retain_max, found.retain_min, found.max_deletes) == (2**31 - 1, 10, None)
    assert found.threshold_ms == 9 * HOUR
    assert found.notes == ()


def test_options_of_the_table_count_where_nothing_was_asked() -> None:
    options = {
        "snapshot.num-retained.min": "3",
        "snapshot.num-retained.max": "7",
        "snapshot.time-retained": "2 h",
    }
    found = policy(options, 10 * HOUR)
    assert (found.retain_max, found.retain_min, found.threshold_ms) == (7, 3, 8 * HOUR)
    asked = policy(options, 10 * HOUR, retain_max=5, retain_min=2, time_retained_ms=HOUR)
    assert (asked.retain_max, asked.retain_min, asked.threshold_ms) == (5, 2, 9 * HOUR)


def test_changelog_options_fall_back_to_the_snapshots() -> None:
    options = {"snapshot.num-retained.min": "3", "changelog.num-retained.max": "20", "snapshot.time-retained": "2 h"}
    found = policy(options, 10 * HOUR, prefix="changelog")
    assert (found.retain_max, found.retain_min, found.threshold_ms) == (20, 3, 8 * HOUR)


def test_an_age_and_a_time_protect_what_either_protects() -> None:
    assert policy(time_retained_ms=100, older_than_ms=NOW - 500).threshold_ms == NOW - 500
    assert policy(time_retained_ms=500, older_than_ms=NOW - 100).threshold_ms == NOW - 500
    assert policy(older_than_ms=NOW + 10**9).threshold_ms == NOW + 10**9
    assert policy(time_retained_ms=0).threshold_ms == NOW


def test_only_retain_max_lowers_the_default_of_retain_min_and_says_so() -> None:
    found = policy(retain_max=3)
    assert (found.retain_max, found.retain_min) == (3, 3)
    assert code_names(found.notes) == ["retain-min-lowered"]
    assert policy(retain_max=10).notes == ()
    assert policy(retain_max=30).retain_min == 10


@pytest.mark.parametrize(
    ("options", "asked", "says"),
    [
        ({}, {"retain_min": 0}, "at least 1"),
        ({}, {"retain_min": -1}, "at least 1"),
        ({}, {"retain_max": 2, "retain_min": 3}, "below retain-min"),
        ({"snapshot.num-retained.min": "5"}, {"retain_max": 4}, "from the table option snapshot.num-retained.min"),
        ({"snapshot.num-retained.max": "5"}, {}, "the engine's default"),
        ({}, {"retain_max": 0}, "retain-max must be at least 1"),
        ({}, {"retain_max": -1}, "retain-max must be at least 1"),
        ({"snapshot.num-retained.max": "5"}, {"retain_min": 6}, "below retain-min"),
        ({"snapshot.num-retained.min": "0"}, {}, "at least 1"),
        ({"snapshot.num-retained.min": "many"}, {}, "a number"),
        ({"snapshot.num-retained.max": "1.5"}, {}, "a number"),
        ({"snapshot.time-retained": "soon"}, {}, "duration"),
        ({}, {"max_deletes": 0}, "at least 1"),
        ({}, {"max_deletes": -1}, "at least 1"),
        ({}, {"time_retained_ms": -1}, "negative"),
        ({}, {"older_than_ms": -1}, "negative"),
        ({}, {"rules": "3.x"}, "rule set"),
        ({}, {"rules": ""}, "rule set"),
    ],
)
def test_requests_that_cannot_be(options: Mapping[str, str], asked: Mapping[str, Any], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        policy(options, **asked)


# the engine's arithmetic ---------------------------------------------------------------------------------------------


def engine(times: Mapping[int, int], rule: Policy, consumers: Sequence[int]) -> set[int]:
    """The range the engine expires, by ids as its sources compute it."""
    latest, earliest = max(times), min(times)
    low = max(latest - rule.retain_max + 1, earliest)
    high = min([latest - rule.retain_min + 1, *consumers])
    if rule.max_deletes is not None:
        high = min(high, earliest + rule.max_deletes)
    for number in range(low, high):
        judged = times.get(number + 1 if rule.rules == "newest" else number)
        if judged is not None and judged >= rule.threshold_ms:
            high = number
            break
    return {number for number in times if number < high}


POLICIES = st.builds(
    lambda least, more, age, deletes, rules: Policy(least + more, least, 20 - age, deletes, rules),
    st.integers(1, 6),
    st.integers(0, 20),
    st.integers(0, 20),
    st.none() | st.integers(1, 12),
    st.sampled_from(sorted(retention.RULES)),
)


@tries(400)
@given(
    st.integers(1, 5),
    st.lists(st.integers(0, 20), min_size=1, max_size=15),
    POLICIES,
    st.lists(st.integers(0, 25), max_size=2),
)
def test_without_gaps_exactly_what_the_engine_takes(
    first: int, committed: list[int], rule: Policy, consumers: list[int]
) -> None:
    """Clocks may run backwards: the engine stops at the first that is too young."""
    times = {first + index: time_ms for index, time_ms in enumerate(committed)}
    found = judge(times, rule, line(*consumers))
    assert set(found.expired) == engine(times, rule, consumers)
    check_words(times, found)


def check_words(times: Mapping[int, Any], found: SnapshotVerdicts) -> None:
    ids = sorted(times)
    assert list(found.expired) == ids[: len(found.expired)], "only a prefix goes"
    assert set(found.reasons) == set(ids)
    assert all(each.text.strip() for reasons in found.reasons.values() for each in reasons)
    assert all(found.reasons[number] for number in ids)


@pytest.mark.slow
@tries(400)
@given(
    st.dictionaries(st.integers(1, 30), st.integers(0, 20), min_size=1, max_size=15),
    POLICIES,
    st.lists(st.integers(0, 35), max_size=2),
)
def test_over_gaps_no_fewer_stay_than_the_engine_keeps(
    times: dict[int, int], rule: Policy, consumers: list[int]
) -> None:
    found = judge(times, rule, line(*consumers))
    check_words(times, found)
    assert max(times) not in found.expired, "All snapshots were named for expiry; the newest is always kept."
    assert len(times) - len(found.expired) >= min(len(times), rule.retain_min)
    for consumer in consumers:
        assert all(number < consumer for number in found.expired)
    if rule.max_deletes is None:
        assert set(found.expired) <= engine(times, rule, consumers)
    else:
        assert len(found.expired) <= rule.max_deletes


# boundaries ----------------------------------------------------------------------------------------------------------

TIMES = {1: 100, 2: 200, 3: 300, 4: 400}


@pytest.mark.parametrize(
    ("rules", "threshold", "expected"),
    [
        ("newest", 200, ()),  # 1 is judged by 2, committed at the threshold: still protected
        ("newest", 201, (1,)),
        ("newest", 300, (1,)),
        ("newest", 301, (1, 2)),
        ("newest", 10**9, (1, 2, 3)),
        ("1.x", 100, ()),
        ("1.x", 101, (1,)),
        ("1.x", 200, (1,)),
        ("0.9", 300, (1, 2)),
        ("0.9", 301, (1, 2, 3)),
    ],
)
def test_ages_at_the_boundary(rules: str, threshold: int, expected: tuple[int, ...]) -> None:
    rule = policy(retain_min=1, older_than_ms=threshold, rules=rules)
    assert judge(TIMES, rule).expired == expected


def test_the_newest_n_go_whatever_their_age_beyond_retain_max() -> None:
    young = dict.fromkeys(range(1, 6), NOW)
    found = judge(young, policy(retain_max=2, retain_min=1))
    assert found.expired == (1, 2, 3)
    assert found.reasons[1] == (codes.BEYOND_NEWEST(most=2),)
    assert found.reasons[5] == (codes.AMONG_NEWEST(least=1),)
    assert found.reasons[4][0].code == codes.YOUNG


@pytest.mark.parametrize(
    ("next_", "expected"), [(0, ()), (1, ()), (2, (1,)), (4, (1, 2, 3)), (5, (1, 2, 3)), (10**18, (1, 2, 3))]
)
def test_consumers_hold_their_next_and_all_later(next_: int, expected: tuple[int, ...]) -> None:
    rule = policy(retain_min=1, older_than_ms=10**9)
    found = judge(TIMES, rule, line(next_))
    assert found.expired == expected
    if len(expected) < 3:
        assert found.reasons[len(expected) + 1][0] == codes.CONSUMER(name=f"c{next_}", id=next_)


def test_the_slowest_consumer_counts() -> None:
    rule = policy(retain_min=1, older_than_ms=10**9)
    assert judge(TIMES, rule, line(4, 2, 3)).expired == (1,)


def test_a_consumer_over_a_gap_holds_from_the_next_there_is() -> None:
    rule = policy(retain_min=1, older_than_ms=10**9)
    assert judge({1: 1, 2: 2, 7: 3, 8: 4}, rule, line(5)).expired == (1, 2)


def test_consumers_of_changelogs_only_hold_no_snapshot_from_a_writer() -> None:
    free = line(1, consumer__changelog_only="true", changelog__time_retained="2 d")
    rule = policy(retain_min=1, older_than_ms=10**9)
    assert judge(TIMES, rule, retention.seen_by_writers(free)).expired == (1, 2, 3)
    assert judge(TIMES, rule, free).expired == (), "the engine's CALL heeds them"
    old = retention.seen_by_writers(free, "1.x")
    assert judge(TIMES, rule, old).expired == (), "older releases do not know the option"


def test_max_deletes() -> None:
    rule = policy(retain_min=1, older_than_ms=10**9, max_deletes=2)
    found = judge(TIMES, rule)
    assert found.expired == (1, 2)
    assert found.reasons[3][0] == codes.MAX_DELETES(most=2)
    assert judge(TIMES, policy(retain_min=1, older_than_ms=10**9, max_deletes=99)).expired == (1, 2, 3)


@pytest.mark.parametrize(("limit", "goes"), [("2", (1, 2)), ("1", (1,)), ("0", ()), ("-1", ()), ("9", (1, 2, 3))])
def test_the_tables_own_limit_holds_where_none_is_asked(limit: str, goes: tuple[int, ...]) -> None:
    options = {"snapshot.expire.limit": limit}
    rule = policy(options, retain_min=1, older_than_ms=10**9)
    found = judge(TIMES, rule)
    assert found.expired == goes
    if len(goes) < 3:
        assert found.reasons[len(goes) + 1][0] == codes.EXPIRE_LIMIT(most=int(limit))
    asked = policy(options, retain_min=1, older_than_ms=10**9, max_deletes=3)
    assert judge(TIMES, asked).expired == (1, 2, 3), "what is asked overrides it"


def test_nothing_and_one() -> None:
    rule = policy(retain_min=1, older_than_ms=10**9)
    assert judge({}, rule) == SnapshotVerdicts((), {})
    assert judge({7: 1}, rule).expired == ()
    assert judge({7: 1}, policy(retain_max=1, retain_min=1)).expired == ()


def test_an_unreadable_age_stops_and_retain_max_goes_on() -> None:
    times: dict[int, int | None] = {1: 1, 2: None, 3: 3, 4: 4, 5: 5}
    found = judge(times, policy(retain_min=1, older_than_ms=10**9))
    assert found.expired == ()
    assert found.reasons[1][0] == codes.AGE_UNKNOWN(id=2)
    assert judge(times, policy(retain_min=1, older_than_ms=10**9, rules="1.x")).expired == (1,)
    assert judge(times, policy(retain_max=2, retain_min=2)).expired == (1, 2, 3)


def test_what_stays_behind_a_blocker_says_which() -> None:
    found = judge(TIMES, policy(retain_min=1, older_than_ms=10**9), line(2))
    assert found.reasons[3] == (codes.ONLY_PREFIX(id=2, why=codes.CONSUMER(name="c2", id=2)),)


@pytest.mark.parametrize(
    ("going", "rules", "runs"),
    [
        (0, "newest", 0),
        (1, "newest", 1),
        (50, "newest", 1),
        (51, "1.x", 2),
        (10, "0.9", 1),
        (11, "0.9", 2),
        (1000, "0.9", 100),
    ],
)
def test_runs_of_the_engine(going: int, rules: str, runs: int) -> None:
    assert retention.engine_runs(going, policy(rules=rules)) == runs


@pytest.mark.parametrize(("limit", "runs"), [("2", 6), ("11", 1), ("100", 1), ("0", 0)])
def test_runs_of_the_engine_by_the_tables_own_limit(limit: str, runs: int) -> None:
    assert retention.engine_runs(11, policy({"snapshot.expire.limit": limit})) == runs


# changelogs ----------------------------------------------------------------------------------------------------------


def judge_changelogs(
    changelogs: Mapping[int, int | None], snapshots: Mapping[int, int], rule: Policy, on: Line | None = None
) -> SnapshotVerdicts:
    both = [[Retained(number, each[number]) for number in sorted(each)] for each in (changelogs, snapshots)]
    return retention.expire_changelogs(on or line(), both[0], both[1], rule)


def engine_changelogs(
    changelogs: Mapping[int, int], snapshots: Mapping[int, int], rule: Policy, consumers: Sequence[int]
) -> set[int]:
    latest, first, last = max({**changelogs, **snapshots}), min(changelogs), max(changelogs)
    low = max(latest - rule.retain_max + 1, first)
    high = min([latest - rule.retain_min + 1, last, *consumers])
    if rule.max_deletes is not None:
        high = min(high, first + rule.max_deletes)
    for number in range(low, high):
        if changelogs[number] >= rule.threshold_ms:
            high = number
            break
    return {number for number in changelogs if number < high}


@tries(300)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=10),
    st.lists(st.integers(0, 20), min_size=1, max_size=6),
    POLICIES,
    st.lists(st.integers(0, 20), max_size=2),
)
def test_changelogs_go_as_the_engine_takes_them(
    old: list[int], new: list[int], rule: Policy, consumers: list[int]
) -> None:
    changelogs = {1 + index: time_ms for index, time_ms in enumerate(old)}
    snapshots = {1 + len(old) + index: time_ms for index, time_ms in enumerate(new)}
    found = judge_changelogs(changelogs, snapshots, rule, line(*consumers))
    assert set(found.expired) == engine_changelogs(changelogs, snapshots, rule, consumers)
    check_words(changelogs, found)


def test_the_newest_changelog_always_stays() -> None:
    found = judge_changelogs({1: 1, 2: 2}, {3: 3}, policy(retain_max=1, retain_min=1))
    assert found.expired == (1,)
    assert found.reasons[2] == (codes.NEWEST_CHANGELOG(),)
    assert judge_changelogs({}, {1: 1}, policy(retain_max=1, retain_min=1)) == SnapshotVerdicts((), {})


# named ones ----------------------------------------------------------------------------------------------------------

FIVE = [Retained(number, number) for number in (1, 2, 5, 6, 9)]


def test_named_snapshots_go_if_they_are_the_oldest() -> None:
    found = retention.named_snapshots(FIVE, [2, 1, 2])
    assert found.expired == (1, 2)
    assert set(found.reasons) == {1, 2, 5, 6, 9}


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ([3], "not retained"),
        ([2], "leave a gap"),
        ([1, 5], "leave a gap"),
        ([9], "leave a gap"),
        ([1, 2, 5, 6, 9], "All snapshots were named for expiry; the newest is always kept."),
    ],
)
def test_named_snapshots_that_may_not_go(wanted: list[int], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        retention.named_snapshots(FIVE, wanted)
