"""The demo's calendar works for every build date: nothing is in the future, and every incident has its days."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from core.demo.data import DAY_MS, HOUR_MS, Calendar, Load

MOMENTS = st.datetimes(dt.datetime(2024, 1, 1), dt.datetime(2032, 12, 31)).map(
    lambda at: Calendar(int(at.replace(tzinfo=dt.UTC).timestamp() * 1000))
)


def check_times(loads: list[Load], calendar: Calendar) -> None:
    times = [load.time_ms for load in loads]
    assert times == sorted(set(times))
    assert len({load.name for load in loads}) == len(loads)
    assert calendar.now_ms - HOUR_MS < times[-1] < calendar.now_ms
    for load in loads:
        for part in load.days:  # no load before its day is over, but for today's, which says how much there is
            over = calendar.at(part.day) - 600_000 + int(part.share * DAY_MS if load.name == "today" else DAY_MS)
            assert load.time_ms >= over - 25 * 60_000


@given(MOMENTS)
def test_loads_come_in_order_after_their_days_and_end_shortly_before_now(calendar: Calendar) -> None:
    check_times(calendar.orders(), calendar)
    check_times(calendar.events(), calendar)


@given(MOMENTS)
def test_the_bad_tuesday_is_loaded_on_wednesday_and_replaced_on_thursday(calendar: Calendar) -> None:
    loads = calendar.orders()
    (bad,) = [load for load in loads for part in load.days if part.factor != 1]
    (fix,) = [load for load in loads if load.name == "fix"]
    assert calendar.bad_tuesday.weekday() == 1
    assert [part.day for part in bad.days] == [part.day for part in fix.days] == [calendar.bad_tuesday]
    weekdays = [dt.datetime.fromtimestamp(load.time_ms / 1000, dt.UTC).weekday() for load in (bad, fix)]
    assert weekdays == [2, 3]
    assert fix.replaces
    between = [load for load in loads if bad.time_ms < load.time_ms < fix.time_ms]
    assert not any(part.day == calendar.bad_tuesday for load in between for part in load.days)
    rewritten = [days for at, days in calendar.compactions() if bad.time_ms < at < fix.time_ms]
    assert not any(calendar.bad_tuesday in days for days in rewritten)


@given(MOMENTS)
def test_days_are_loaded_once_but_where_the_story_says_so(calendar: Calendar) -> None:
    loads = calendar.orders()
    plain = [part.day for load in loads if not load.replaces for part in load.days]
    assert len(plain) == len(set(plain))
    assert max(plain) - min(plain) == dt.timedelta(days=len(plain) - 1)
    clicks = calendar.events()
    twice = [load for load in clicks for part in load.days if part.day == calendar.doubled_day and part.share == 1]
    assert [load.name for load in twice] == [twice[0].name, "retry"]
    assert twice[0].days == twice[1].days


@given(MOMENTS)
def test_compactions_only_take_days_that_are_loaded(calendar: Calendar) -> None:
    loads = calendar.orders()
    compactions = calendar.compactions()
    assert len(compactions) >= 4
    times = [load.time_ms for load in loads]
    for time_ms, days in compactions:
        loaded = {part.day for load in loads if load.time_ms < time_ms for part in load.days}
        assert set(days) <= loaded
        assert time_ms < calendar.now_ms
        assert time_ms not in times
