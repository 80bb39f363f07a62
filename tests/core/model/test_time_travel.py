"""As of: which snapshot a version text resolves to, compared with the engine's own search."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt, Invalid, NotFound
from core.formats.paimon.capabilities import PAIMON
from core.model.references import Heads, Line, Problem, Schema, Snapshot, Tag, Unreadable
from core.model.time_travel import AsOf, in_words, parse_time_ms
from core.table import resolve
from tests.support.depth import tries

SCHEMA = Schema(0, (), (), (), {}, 0)


def snapshot(
    number: int, time_ms: int, watermark: int | None = None, *, schema_id: int = 0, mark: str = ""
) -> Snapshot:
    content = f"{number} {time_ms} {mark}".encode()
    return Snapshot(number, time_ms, "APPEND", schema_id, "me", 0, 0, 0, watermark, {}, content)


def line(
    times: Mapping[int, int],
    *,
    branch: str = "main",
    watermarks: Mapping[int, int] | None = None,
    tags: Sequence[Tag] = (),
    unreadable: Sequence[tuple[str, str]] = (),
) -> Line:
    marks = watermarks or {}
    broken = tuple(Unreadable(kind, name, Problem(f"{kind}/{kind}-{name}", "x", "y")) for kind, name in unreadable)
    snapshots = tuple(snapshot(number, times[number], marks.get(number)) for number in sorted(times))
    return Line(branch, snapshots, tuple(tags), (), (), {0: SCHEMA}, broken)


def heads(*lines: Line) -> Heads:
    return Heads("/w/t", PAIMON, lines, {})


def ask(times: Mapping[int, int], point: str) -> AsOf:
    return resolve(heads(line(times)), point)


# ids, names, counting ------------------------------------------------------------------------------------------------

FIVE = {1: 100, 2: 200, 4: 300, 5: 400, 9: 500}


def neighbours(found: AsOf) -> tuple[int | None, int, int | None]:
    before, after = found.before, found.after
    return before.id if before else None, found.snapshot.id, after.id if after else None


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("1", (None, 1, 2)),
        ("4", (2, 4, 5)),
        (" 9 ", (5, 9, None)),
        ("latest", (5, 9, None)),
        ("latest~0", (5, 9, None)),
        ("latest~1", (4, 5, 9)),
        ("latest~2", (2, 4, 5)),
        ("latest~4", (None, 1, 2)),
        ("earliest", (None, 1, 2)),
        ("branch:main/4", (2, 4, 5)),
        ("branch:main", (5, 9, None)),
        ("branch:main/", (5, 9, None)),
        ("004", (2, 4, 5)),
    ],
)
def test_points_over_gaps(point: str, expected: tuple[int | None, int, int | None]) -> None:
    """`latest~N` counts retained snapshots, never ids."""
    assert neighbours(ask(FIVE, point)) == expected


@pytest.mark.parametrize("point", ["latest~5", "latest~999999999"])
def test_further_back_than_there_is(point: str) -> None:
    with pytest.raises(NotFound, match="5 retained") as caught:
        ask(FIVE, point)
    assert "latest~4" in str(caught.value)


def test_an_id_that_is_not_there_names_the_nearest_and_its_tags() -> None:
    own = snapshot(3, 250)
    there = line(FIVE, tags=[Tag("old", own, None, None), Tag("twin", own, None, None)])
    with pytest.raises(NotFound) as caught:
        resolve(heads(there), "3")
    for word in ("tag:old", "tag:twin", "nearest retained snapshot is 2"):
        assert word in str(caught.value)


def test_a_tag_does_not_answer_for_an_id_or_a_time() -> None:
    there = line({5: 500}, tags=[Tag("old", snapshot(3, 300), None, None)])
    with pytest.raises(NotFound):
        resolve(heads(there), "3")
    with pytest.raises(NotFound, match="tag:old"):
        resolve(heads(there), "time:400")


def test_tags() -> None:
    tags = [Tag("old", snapshot(3, 250), None, None), Tag("now", snapshot(9, 500), None, None)]
    there = heads(line(FIVE, tags=tags))
    old = resolve(there, "tag:old")
    assert neighbours(old) == (2, 3, 4)
    assert "expired" in old.rule
    assert old.point == "tag:old"
    now = resolve(there, "tag:now")
    assert neighbours(now) == (5, 9, None)
    assert "expired" not in now.rule
    with pytest.raises(NotFound, match="Tags: old, now"):
        resolve(there, "tag:none")


def test_a_tag_of_an_id_that_was_used_again_is_on_an_expired_snapshot() -> None:
    tag = Tag("before", snapshot(9, 500, mark="before the rollback"), None, None)
    assert "expired" in resolve(heads(line(FIVE, tags=[tag])), "tag:before").rule


def test_a_tag_named_like_an_id_and_an_id() -> None:
    there = heads(line(FIVE, tags=[Tag("4", snapshot(1, 100), None, None)]))
    assert resolve(there, "4").snapshot.id == 4
    assert resolve(there, "tag:4").snapshot.id == 1


@pytest.mark.parametrize("name", ["a:b", "a/b", "time:5", "latest", " ", "ä", "tag:x"])
def test_odd_tag_names_are_named_in_full(name: str) -> None:
    there = heads(line(FIVE, tags=[Tag(name, snapshot(1, 100), None, None)]))
    point = f"tag:{name}"
    if name.strip():
        assert resolve(there, point).point == point


def test_a_table_without_snapshots() -> None:
    for point in ("latest", "earliest", "latest~1", "time:5", "watermark:5", "1"):
        with pytest.raises(NotFound):
            ask({}, point)
    only = heads(line({}, tags=[Tag("v", snapshot(3, 300), None, None)]))
    assert resolve(only, "tag:v").snapshot.id == 3
    with pytest.raises(NotFound, match="tag"):
        resolve(only, "3")


def test_branches() -> None:
    both = heads(line({1: 100}), line({1: 100, 2: 150}, branch="dev", tags=[Tag("x", snapshot(2, 150), None, None)]))
    assert resolve(both, "branch:dev").point == "branch:dev/2"
    assert resolve(both, "branch:dev/1").point == "branch:dev/1"
    assert resolve(both, "branch:dev/tag:x").point == "branch:dev/tag:x"
    assert resolve(both, "branch:dev/latest~1").snapshot.id == 1
    assert resolve(both, "branch:dev/time:149").snapshot.id == 1
    assert resolve(both, "latest", "dev").snapshot.id == 2
    assert resolve(both, "branch:main/latest", "dev").snapshot.id == 1
    assert resolve(both, "latest").point == "1"
    for point in ("branch:none", "branch:none/1", "branch:", "branch:/1"):
        with pytest.raises(NotFound, match="Branches: main, dev"):
            resolve(both, point)
    with pytest.raises(NotFound):
        resolve(both, "tag:x")
    with pytest.raises(Invalid):
        resolve(both, "branch:dev/branch:main/1")


@pytest.mark.parametrize(
    "point",
    [
        *("", " ", "x", "latest~", "latest~-1", "latest~x", "latest ~1", "Latest", "LATEST", "latest~1~1", "~1", "-1"),
        *("1.0", "+1", "1e3", "0x1", "tag:", "tag", "time:", "time", "watermark:", "watermark:x", "watermark:1.5"),
        *("snapshot:1", "1 2", "earliest~1", "changelog:1", "12345678901234567890", "branch", "\0"),
    ],
)
def test_what_is_no_point(point: str) -> None:
    with pytest.raises(Invalid) as caught:
        ask(FIVE, point)
    assert caught.value.remedy


# times ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("-5", -5),
        ("1790000000000", 1_790_000_000_000),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00+00:00", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T16:00-08:00", 0),
        ("2026-11-01T00:00:00.123456Z", 1_793_491_200_123),
        ("2026-11-01 00:00:00.1239+00:00", 1_793_491_200_123),
        ("1969-12-31T23:59:59.9999Z", -1),
        (" 2026-11-01T00:00:00Z ", 1_793_491_200_000),
        ("20261101T000000Z", 1_793_491_200_000),
        ("0001-01-01T00:00:00+14:00", -62_135_647_200_000),
        ("9999-12-31T23:59:59-14:00", 253_402_351_199_000 - 1000 + 1000),
    ],
)
def test_times(text: str, ms: int) -> None:
    assert parse_time_ms(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026",
        "2026-11-01",
        "2026-11-01T00:00:00",
        "2026-13-01T00:00:00Z",
        "2026-11-01T25:00Z",
        "1e9",
        "1.5",
        "12:00Z",
    ],
)
def test_what_is_no_moment(text: str) -> None:
    if text == "2026":
        assert parse_time_ms(text) == 2026  # a number is epoch milliseconds, whatever it looks like
        return
    with pytest.raises(Invalid):
        parse_time_ms(text)


def test_a_time_without_zone_says_what_is_missing() -> None:
    with pytest.raises(Invalid, match="zone"):
        ask(FIVE, "time:2026-11-01T00:00:00")


def test_moments_in_words() -> None:
    assert in_words(0) == "1970-01-01 00:00:00.000 UTC"
    assert in_words(-1) == "1969-12-31 23:59:59.999 UTC"
    assert in_words(2**63) == f"{2**63} ms since 1970 UTC"
    assert in_words(-(2**80)) == f"{-(2**80)} ms since 1970 UTC"


@tries(200)
@given(st.datetimes(timezones=st.timezones()))
def test_times_of_any_zone(moment: dt.datetime) -> None:
    offset = moment.utcoffset()
    assert offset is not None
    if offset.total_seconds() % 60:
        return  # local mean times of the nineteenth century cannot be written in ISO
    naive = moment.replace(tzinfo=None) - dt.datetime(1970, 1, 1) - offset
    assert parse_time_ms(moment.isoformat()) == naive // dt.timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("time_ms", "expected"), [(100, 1), (199, 1), (200, 2), (299, 2), (300, 4), (499, 5), (500, 9), (10**17, 9)]
)
def test_a_time_names_the_last_snapshot_committed_by_then(time_ms: int, expected: int) -> None:
    found = ask(FIVE, f"time:{time_ms}")
    assert found.snapshot.id == expected
    assert found.gap_ms == time_ms - FIVE[expected]


def test_a_time_before_everything_names_the_nearest() -> None:
    with pytest.raises(NotFound, match="nearest is snapshot 1"):
        ask(FIVE, "time:99")
    with pytest.raises(NotFound, match="nearest is snapshot 2"):
        ask({1: 500, 2: 400, 3: 600}, "time:399")


def test_ties_take_the_last_and_say_so() -> None:
    found = ask({1: 100, 2: 100, 3: 100, 4: 200}, "time:100")
    assert (found.snapshot.id, found.engine) == (3, 2)
    assert "3 snapshots have that commit time; the last of them counts." in found.rule
    assert found.engine_note is not None
    assert "finds 2" in found.engine_note


def test_ties_do_not_change_with_what_expired() -> None:
    assert ask({2: 100, 3: 100, 4: 200}, "time:100").snapshot.id == 3
    assert ask({3: 100, 4: 200}, "time:100").snapshot.id == 3


def test_clocks_that_differ_are_told() -> None:
    found = ask({1: 100, 2: 900, 3: 200, 4: 950}, "time:250")
    assert found.snapshot.id == 3
    assert "clocks differed" in found.rule
    assert found.gap_ms == 50


def test_the_engine_finds_nothing_where_its_first_is_too_young() -> None:
    found = ask({1: 900, 2: 100}, "time:150")
    assert (found.snapshot.id, found.engine) == (2, None)
    assert found.engine_note is not None
    assert "nothing" in found.engine_note


def test_the_engine_fails_over_a_gap() -> None:
    found = ask({1: 100, 2: 200, 9: 900}, "time:500")
    assert (found.snapshot.id, found.engine) == (2, None)
    assert found.engine_note is not None
    assert "snapshot 5" in found.engine_note


def engine_search(times: Mapping[int, int], time_ms: int) -> int | KeyError | None:
    """The engine's search, reimplemented as a recursion over the window of ids."""

    def within(low: int, high: int, best: int | None) -> int | None:
        if low > high:
            return best
        middle = low + (high - low) // 2
        if times[middle] == time_ms:
            return middle
        return within(low, middle - 1, best) if times[middle] > time_ms else within(middle + 1, high, middle)

    first, last = min(times), max(times)
    try:
        return None if times[first] > time_ms else within(first, last, None)
    except KeyError as missing:
        return missing


@tries(400)
@given(
    st.dictionaries(st.integers(1, 30), st.integers(0, 12), min_size=1, max_size=20),
    st.integers(-1, 13),
)
def test_the_rule_and_the_engine_on_any_history(times: dict[int, int], time_ms: int) -> None:
    fitting = [number for number, committed in times.items() if committed <= time_ms]
    expected = engine_search(times, time_ms)
    if not fitting:
        with pytest.raises(NotFound):
            ask(times, f"time:{time_ms}")
        return
    found = ask(times, f"time:{time_ms}")
    assert found.snapshot.id == max(fitting)
    assert found.gap_ms == time_ms - times[max(fitting)]
    if isinstance(expected, KeyError):
        assert found.engine is None
        assert found.engine_note is not None
        assert f"snapshot {expected.args[0]}" in found.engine_note
    else:
        assert found.engine == expected
        assert (found.engine_note is None) == (expected == found.snapshot.id)
    ordered = sorted(times)
    at = ordered.index(found.snapshot.id)
    assert neighbours(found)[0] == (ordered[at - 1] if at else None)
    assert neighbours(found)[2] == (ordered[at + 1] if at + 1 < len(ordered) else None)


# watermarks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wanted", "expected"), [(-(10**18), 2), (0, 2), (10, 2), (11, 4), (30, 4), (31, 9)])
def test_watermarks(wanted: int, expected: int) -> None:
    """The first snapshot at or past it; snapshots without a watermark are skipped."""
    there = heads(line(FIVE, watermarks={2: 10, 4: 30, 9: 50}))
    assert resolve(there, f"watermark:{wanted}").snapshot.id == expected


def test_watermarks_that_are_not_reached_or_not_there() -> None:
    with pytest.raises(NotFound, match="The highest watermark is 50"):
        resolve(heads(line(FIVE, watermarks={2: 50})), "watermark:51")
    with pytest.raises(NotFound, match="No retained snapshot has a watermark"):
        ask(FIVE, "watermark:0")


def test_equal_watermarks_tell_what_the_engine_finds() -> None:
    times = dict.fromkeys(range(1, 7), 100)
    marks = dict(enumerate([3, 3, 3, 6, 6, 6], 1))
    found = resolve(heads(line(times, watermarks=marks)), "watermark:6")
    assert (found.snapshot.id, found.engine) == (4, 5)
    assert found.engine_note is not None
    assert "finds 5" in found.engine_note
    agreed = resolve(heads(line(times, watermarks=marks)), "watermark:4")
    assert (agreed.snapshot.id, agreed.engine, agreed.engine_note) == (4, 4, None)


def test_the_engine_finds_no_watermark_where_its_newest_has_none_and_fails_over_a_gap() -> None:
    there = heads(line(FIVE, watermarks={1: 10, 2: 30}))
    found = resolve(there, "watermark:20")
    assert (found.snapshot.id, found.engine) == (2, None)
    assert "the newest snapshot has no watermark" in str(found.engine_note)
    found = resolve(heads(line({1: 1, 2: 2, 9: 9}, watermarks={1: 1, 2: 5, 9: 9})), "watermark:4")
    assert (found.snapshot.id, found.engine) == (2, None)
    assert "snapshot 5" in str(found.engine_note)
    found = resolve(heads(line(dict.fromkeys(range(1, 5), 1), watermarks={1: 1, 2: 3, 4: 9})), "watermark:5")
    assert (found.snapshot.id, found.engine) == (4, None)
    assert "does not end" in str(found.engine_note)


def engine_watermark(marks: Mapping[int, int | None], wanted: int) -> int | KeyError | str | None:
    """The engine's search, reimplemented as a recursion over the window of ids."""
    first, last = min(marks), max(marks)

    def back(number: int, low: int) -> int:
        return number if marks[number] is not None or number < low else back(number - 1, low)

    def within(low: int, high: int, best: int | None) -> int | str | None:
        if low > high:
            return best
        middle = low + (high - low) // 2
        at = back(middle, low)
        own = marks[at]
        if own == wanted:
            return middle
        if own is not None and own > wanted:
            return within(low, at - 1, middle)
        return "endless" if at + 1 == low else within(at + 1, high, best)

    if marks[last] is None:
        return None
    try:
        while (own := marks[first]) is None:
            first += 1
        return first if own >= wanted else within(first, last, None)
    except KeyError as missing:
        return missing


@tries(600)
@given(st.dictionaries(st.integers(1, 20), st.none() | st.integers(0, 6), min_size=1, max_size=20), st.integers(-1, 7))
def test_watermarks_and_the_engine_on_any_history(marks: dict[int, int | None], wanted: int) -> None:
    there = heads(line(dict.fromkeys(marks, 1), watermarks={at: own for at, own in marks.items() if own is not None}))
    fitting = [number for number, own in marks.items() if own is not None and own >= wanted]
    if not fitting:
        with pytest.raises(NotFound):
            resolve(there, f"watermark:{wanted}")
        return
    found = resolve(there, f"watermark:{wanted}")
    assert found.snapshot.id == min(fitting)
    expected = engine_watermark(marks, wanted)
    assert found.engine == (expected if isinstance(expected, int) else None)
    assert (found.engine_note is None) == (expected == found.snapshot.id)
    if isinstance(expected, KeyError):
        assert f"snapshot {expected.args[0]}" in str(found.engine_note)


# what cannot be read -------------------------------------------------------------------------------------------------


def broken(*ids: int, times: Mapping[int, int] = FIVE) -> Heads:
    left = {number: time_ms for number, time_ms in times.items() if number not in ids}
    return heads(line(left, unreadable=[("snapshot", str(number)) for number in ids]))


def test_an_unreadable_snapshot_or_tag_is_no_absent_one() -> None:
    with pytest.raises(Corrupt, match="snapshot-4"):
        resolve(broken(4), "4")
    there = heads(line(FIVE, unreadable=[("tag", "v")]))
    with pytest.raises(Corrupt, match="tag-v"):
        resolve(there, "tag:v")


@pytest.mark.parametrize(
    ("ids", "point"),
    [
        ((9,), "latest"),
        ((5,), "latest~1"),
        ((1,), "earliest"),
        ((1,), "latest~4"),
        ((9,), "time:600"),
        ((5,), "time:450"),
        ((5,), "time:350"),
        ((2,), "time:150"),
        ((1,), "time:50"),
        ((1, 2, 4, 5, 9), "latest"),
        ((1, 2, 4, 5, 9), "time:600"),
    ],
)
def test_a_point_that_may_be_the_unreadable_one_is_not_guessed(ids: tuple[int, ...], point: str) -> None:
    """`latest` must not be the newest snapshot that happens to be readable. Unknown is not absent."""
    with pytest.raises(Corrupt) as caught:
        resolve(broken(*ids), point)
    assert any(f"snapshot-{number}" in str(caught.value) for number in ids)


@pytest.mark.parametrize(
    ("ids", "point", "expected"),
    [
        ((1,), "latest", 9),
        ((5,), "latest", 9),
        ((5,), "earliest", 1),
        ((9,), "earliest", 1),
        ((9,), "4", 4),
        ((9,), "time:350", 4),
        ((9,), "time:250", 2),
        ((1,), "time:250", 2),
        ((1,), "latest~3", 2),
        ((9,), "latest~1", 5),
        ((5,), "latest~2", 4),
        ((9, 4), "latest~3", 2),
    ],
)
def test_a_point_that_cannot_be_the_unreadable_one_is_answered(ids: tuple[int, ...], point: str, expected: int) -> None:
    assert resolve(broken(*ids), point).snapshot.id == expected


def test_watermarks_beside_an_unreadable_snapshot() -> None:
    left = {number: time_ms for number, time_ms in FIVE.items() if number not in (2, 9)}
    there = heads(line(left, watermarks={1: 10, 4: 30, 5: 40}, unreadable=[("snapshot", "2"), ("snapshot", "9")]))
    for wanted in (20, 41):
        with pytest.raises(Corrupt, match=f"snapshot-{2 if wanted == 20 else 9}"):
            resolve(there, f"watermark:{wanted}")
    assert resolve(there, "watermark:10").snapshot.id == 1
    assert resolve(there, "watermark:35").snapshot.id == 5


def test_a_schema_that_is_not_there() -> None:
    own = snapshot(1, 100, schema_id=7)
    there = Heads("/w/t", PAIMON, (Line("main", (own,), (), (), (), {0: SCHEMA}),), {})
    with pytest.raises(Corrupt, match="schema 7"):
        resolve(there, "1")


# schemas -------------------------------------------------------------------------------------------------------------


def altered(*unread: str) -> Heads:
    """Both branches were written with schema 1, and given schema 2 without a commit since."""
    schemas = {number: dataclasses.replace(SCHEMA, id=number) for number in range(3)}
    tag = Tag("v", snapshot(4, 300, schema_id=1), None, None)
    broken = tuple(Unreadable("schema", name, Problem(f"schema/schema-{name}", "x", "y")) for name in unread)
    snapshots = tuple(snapshot(number, FIVE[number], schema_id=number > 1) for number in FIVE)
    return heads(*(Line(name, snapshots, (tag,), (), (), schemas, broken) for name in ("main", "dev")))


@pytest.mark.parametrize(
    ("point", "expected"),
    [("latest", 2), ("latest~0", 2), ("latest~1", 1), ("9", 1), ("tag:v", 1), ("time:600", 1), ("earliest", 0)],
)
def test_only_the_latest_is_read_with_the_newest_schema(point: str, expected: int) -> None:
    """As in Paimon, which travels in time with the schema of the snapshot."""
    for before in ("", "branch:dev/"):
        found = resolve(altered(), before + point)
        assert found.schema.id == expected
        assert ("newest schema, 2" in found.rule) == (expected == 2)
    assert resolve(altered(), "branch:dev").schema.id == 2


def test_a_newest_schema_that_cannot_be_read_is_not_replaced() -> None:
    with pytest.raises(Corrupt, match="schema-3") as caught:
        resolve(altered("3"), "latest")
    assert "give snapshot 9" in str(caught.value.remedy)
    assert resolve(altered("3"), "9").schema.id == 1
    assert resolve(altered("1"), "latest").schema.id == 2
