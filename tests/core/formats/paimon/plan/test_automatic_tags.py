"""Automatic tags: the calendar, the options, the proposal's options, what is refused. The engine judges the same in
tests/interop/test_autotag.py."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re

import pytest

from core.errors import Corrupt, Invalid, Unsupported
from core.formats.paimon.plan import automatic_tags
from core.formats.paimon.plan.automatic_tags import AutomaticTagRules
from core.formats.paimon.write import harmless_options as options
from core.model.references import Line, Problem, Schema, Snapshot, Tag, Unreadable

HOUR, DAY = 3_600_000, 86_400_000
BASE = 1_789_948_800_000  # 2026-09-21T00:00:00Z


def rules(**own: str) -> AutomaticTagRules:
    options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC"}
    found = automatic_tags.rules({**options, **{f"tag.{key.replace('_', '-')}": value for key, value in own.items()}})
    assert found is not None
    return found


def snapshot(number: int, time_ms: int, watermark: int | None = None) -> Snapshot:
    return Snapshot(number, time_ms, "APPEND", 0, "u", number, 1, 1, watermark, {}, b"")


def line(*times_ms: int, tags: dict[str, int] | None = None, unreadable: tuple[Unreadable, ...] = ()) -> Line:
    snapshots = tuple(snapshot(number, time_ms) for number, time_ms in enumerate(times_ms, 1))
    made = tuple(Tag(name, snapshot(number, 0), None, None) for name, number in (tags or {}).items())
    return Line("main", snapshots, made, (), (), {}, unreadable)


def test_the_first_commit_is_tagged_at_once_and_then_the_first_after_each_period_and_delay() -> None:
    on = line(BASE + HOUR, BASE + 25 * HOUR, BASE + 27 * HOUR, BASE + 28 * HOUR)
    due = automatic_tags.due(rules(creation_delay="3 h"), on)
    assert due.creates == (("2026-09-20", 1), ("2026-09-21", 3))
    assert due.after == dt.datetime(2026, 9, 22)
    assert automatic_tags.due(rules(), line()).creates == ()


def test_the_oldest_automatic_tags_go_when_there_are_more() -> None:
    """As the engine did with a limit of 2: the next period's tag replaced the oldest one."""
    options = {"tag.automatic-creation": "watermark", "tag.num-retained-max": "2"}
    tags = {"2026-09-20": 1, "mine": 1, "2026-09-21": 2}
    on = dataclasses.replace(line(BASE, BASE, tags=tags), schemas={0: Schema(0, (), (), (), options, 0)})
    assert automatic_tags.surplus(on) == {"2026-09-20": 1, "2026-09-21": 2}
    assert automatic_tags.surplus(line(BASE, BASE, tags=tags)) == {}
    batch = {**options, "tag.automatic-creation": "batch", "tag.batch.customized-name": "mine"}
    on = dataclasses.replace(on, schemas={0: Schema(0, (), (), (), batch, 0)})
    assert automatic_tags.surplus(on) == {"2026-09-20": 0, "2026-09-21": 1}


def test_the_next_dates_are_told_and_what_is_overdue_comes_with_the_next_commit() -> None:
    of = rules(creation_delay="3 h")
    on = line(BASE + HOUR, tags={"2026-09-20": 1})
    found = automatic_tags.coming(of, automatic_tags.due(of, on).after, on, BASE + 5 * HOUR)
    assert [each.name for each in found] == [f"2026-09-{day}" for day in range(21, 31)]
    assert [each.due_ms for each in found] == [BASE + 3 * HOUR + day * DAY for day in range(1, 11)]
    assert not any(each.is_due for each in found)
    late = automatic_tags.coming(
        of, dt.datetime(2026, 9, 21), on, BASE + 4 * DAY + 4 * HOUR, 3
    )  # days without a commit
    assert [(each.name, each.is_due) for each in late] == [
        ("2026-09-24", True),
        ("2026-09-25", False),
        ("2026-09-26", False),
    ]
    filling = rules(automatic_completion="TRUE")
    late = automatic_tags.coming(filling, dt.datetime(2026, 9, 21), on, BASE + 3 * DAY, 4)
    assert [(each.name[-2:], each.is_due) for each in late] == [("21", True), ("22", True), ("23", True), ("24", False)]
    assert automatic_tags.coming(of, None, line(), BASE + HOUR, 1)[0].name == "2026-09-20"


def test_dates_by_watermark_follow_the_newest_watermark_and_none_tells_none() -> None:
    of = rules(automatic_creation="watermark", creation_period="hourly")
    on = Line("main", (snapshot(1, BASE, BASE - DAY),), (), (), (), {})
    due = automatic_tags.due(of, on)
    assert due.creates == (("2026-09-19 23", 1),)
    found = automatic_tags.coming(of, due.after, on, BASE, 2)
    assert [(each.name, each.due_ms) for each in found] == [
        ("2026-09-20 00", BASE - 23 * HOUR),
        ("2026-09-20 01", BASE - 22 * HOUR),
    ]
    assert automatic_tags.due(of, line(BASE)).creates == ()
    assert automatic_tags.coming(of, None, line(BASE), BASE) == ()


def test_summer_time_ends_without_a_second_tag_of_an_hour() -> None:
    options = {"tag.creation-period": "hourly", "sink.process-time-zone": "Europe/Berlin"}
    of = automatic_tags.rules({"tag.automatic-creation": "process-time", **options})
    assert of is not None
    change = 1_792_890_000_000  # 2026-10-25T01:00:00Z: the clock goes from 03:00 back to 02:00
    due = automatic_tags.due(of, line(*(change + step * HOUR // 2 for step in range(-4, 8))))
    assert [name[-2:] for name, _ in due.creates] == ["00", "01", "02", "03", "04"]


def test_a_time_that_summer_time_skips_is_due_when_the_clock_has_passed_it() -> None:
    change = 1_774_746_000_000  # 2026-03-29T01:00:00Z: the clock goes from 02:00 on to 03:00
    found = automatic_tags.rules(
        {
            "tag.automatic-creation": "process-time",
            "tag.creation-delay": "150 min",
            "sink.process-time-zone": "Europe/Berlin",
        }
    )
    assert found is not None
    [coming, then] = automatic_tags.coming(found, dt.datetime(2026, 3, 28), line(change - DAY), change - HOUR, 2)
    assert (coming.due_ms, then.due_ms) == (change, change + DAY - HOUR // 2)
    assert automatic_tags.due(found, line(change, tags={"2026-03-27": 1})).creates == ()
    made = line(change - 2 * HOUR, change - 1, change, tags={"2026-03-27": 1})
    assert automatic_tags.due(found, made).creates == (("2026-03-28", 3),)
    back = dt.datetime(2026, 10, 25, 2, 30)  # comes twice: the first time counts
    assert found.moment_ms(back) == 1_792_890_000_000 - HOUR // 2


def test_batch_mode_tags_the_newest_once_a_day_and_counts_every_tag() -> None:
    of = rules(automatic_creation="batch", num_retained_max="2")
    due = automatic_tags.due(of, line(BASE, BASE + HOUR, tags={"by-hand": 1, "older": 1}))
    assert due.creates == (("batch-write-2026-09-21", 2),)
    assert list(due.drops) == ["by-hand"]
    named = automatic_tags.rules({"tag.automatic-creation": "batch", "tag.batch.customized-name": "n"})
    assert named is not None
    on = line(BASE, BASE + HOUR, tags={"n": 1})
    moved = automatic_tags.due(named, on)
    assert (moved.creates, moved.replaces, moved.drops) == ((), (("n", 2),), {})
    tag = Tag("n", on.snapshots[1], None, None)
    again = automatic_tags.due(named, Line("main", on.snapshots, (tag,), (), (), {}))
    assert (again.creates, again.replaces, again.drops) == ((), (), {})
    assert automatic_tags.coming(of, None, on, BASE) == ()


def test_the_proposals_options_are_told_in_todays() -> None:
    assert automatic_tags.rules({}) is None
    assert automatic_tags.rules({"tag.automatic-creation": "none"}) is None
    own = {"tag.create-time": "02:30", "tag.create-interval": "1d"}
    found = automatic_tags.rules(own)
    assert found is not None
    assert (found.mode, found.period_ms, found.delay_ms) == ("process-time", DAY, 150 * 60_000)
    assert "tag.creation-delay = 150 min" in found.notes[0].text
    assert automatic_tags.of_proposal({"tag.create-interval": "7 d"})["tag.creation-period-duration"] == "7 d"
    for wrong in ({"tag.create-time": "25:00"}, {"tag.create-interval": "36 h"}, {"tag.create-interval": "0 d"}):
        with pytest.raises(Invalid, match="must be "):
            automatic_tags.rules(wrong)
    assert all(map(options.is_changeable, own))  # a table that has them is written like any other
    today = automatic_tags.rules({**own, "tag.automatic-creation": "batch"})  # an engine heeds today's alone
    assert today is not None
    assert (today.mode, today.delay_ms) == ("batch", 0)


@pytest.mark.parametrize(
    ("own", "kind", "told"),
    [
        ({"creation_delay": "24 h"}, Invalid, "must be shorter than the period"),
        ({"creation_delay": "soon"}, Invalid, "tag.creation-delay cannot be parsed"),
        ({"creation_period": "weekly"}, Invalid, "tag.creation-period must be one of"),
        ({"period_formatter": "iso"}, Invalid, "tag.period-formatter must be one of"),
        ({"creation_period_duration": "0 s"}, Invalid, "must be positive"),
        ({"num_retained_max": "0"}, Invalid, "tag.num-retained-max must be at least 1, not"),
        ({"automatic_creation": "sometimes"}, Invalid, "tag.automatic-creation must be"),
        ({"callbacks": "com.acme.Mail"}, Unsupported, "tag.callbacks = com.acme.Mail"),
        ({"create_success_file": "true"}, Unsupported, "tag.create-success-file"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_right_is_refused_by_name(own: dict[str, str], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=re.escape(told)):
        rules(**own)


def test_what_cannot_be_read_and_twin_automatic_tags_refuse() -> None:
    lost = Unreadable("tag", "x", Problem("tag/tag-x", "JSON", "nothing"))
    with pytest.raises(Corrupt, match="tag-x"):
        automatic_tags.due(rules(), line(BASE, unreadable=(lost,)))
    with pytest.raises(Invalid, match="more than one automatic tag"):  # the second would be made of snapshot 2
        automatic_tags.due(rules(), line(BASE, BASE + 40 * HOUR, tags={"2026-09-20": 1, "2026-09-19": 2}))
