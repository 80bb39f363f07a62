"""When each version expires automatically, tested with commits: not one commit earlier, and exactly with the one
named."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.analysis.expiration_dates import expiries, life
from core.formats.paimon import retention
from core.formats.paimon.capabilities import PAIMON
from core.formats.paimon.retention import RULES, Retained
from core.model.expiry import Expiry
from core.model.references import Consumer, Heads, Line, Schema, Snapshot
from core.model.time_travel import in_words
from core.table import open_table
from core.units import epoch_ms
from tests.support.builders import START_MS, TableBuilder
from tests.support.depth import tries

NOW = START_MS
HOUR = 3_600_000
FAR = NOW + 10**11


def table(times: Sequence[int], options: dict[str, str], consumers: Sequence[int] = ()) -> Heads:
    snapshots = tuple(
        Snapshot(number, time, "APPEND", 0, "u", 1, None, None, None, {}, b"") for number, time in enumerate(times, 1)
    )
    readers = tuple(Consumer(f"c{each}", each) for each in consumers)
    line = Line("main", snapshots, (), (), readers, {0: Schema(0, (), (), (), options, 0)})
    return Heads("/t", PAIMON, (line,), {})


def left_after(heads: Heads, commits: Sequence[int], rules: str) -> set[int]:
    """Return the snapshots that are left after commits at these times, each followed by its writer's expiry."""
    line = heads.main
    kept = [Retained(each.id, each.time_ms) for each in line.snapshots]
    for number, time in enumerate(commits, len(line.snapshots) + 1):
        kept.append(Retained(number, time))
        rule = retention.policy(
            line.options, time, retain_max=None, retain_min=None, time_retained_ms=None, older_than_ms=None,
            max_deletes=None, rules=rules,
        )  # fmt: skip
        goes = retention.expire_snapshots(line, kept, rule).expired
        kept = [each for each in kept if each.id not in goes]
    return {each.id for each in kept}


def more_commits(pattern: str, told: Expiry) -> int | None:
    found = re.search(pattern, told.words)
    return int(found[1]) if found else None


@tries(200)
@given(
    ages=st.lists(st.integers(0, 5 * HOUR), min_size=1, max_size=8),
    least=st.integers(1, 6),
    beyond=st.none() | st.integers(0, 6),
    rules=st.sampled_from(list(RULES)),
    consumers=st.lists(st.integers(1, 9), max_size=1),
)
def test_each_goes_when_it_is_said_to(
    ages: list[int], least: int, beyond: int | None, rules: str, consumers: list[int]
) -> None:
    options = {"snapshot.num-retained.min": str(least), "snapshot.time-retained": "2 h"}
    if beyond is not None:
        options["snapshot.num-retained.max"] = str(least + beyond)
    heads = table([NOW - age for age in sorted(ages, reverse=True)], options, consumers)
    for point, told in expiries(heads, NOW, rules).items():
        number = int(point)
        if "never while consumer" in told.words:
            assert number in left_after(heads, [NOW + 1, *[FAR] * 20], rules)
            continue
        limit = more_commits(r"or after (\d+) more commits? whatever its age", told)
        if limit is not None:
            assert number in left_after(heads, [NOW] * (limit - 1), rules)
            assert number not in left_after(heads, [NOW] * limit, rules)
        if told.not_before_ms is not None:
            assert number not in left_after(heads, [max(NOW, told.not_before_ms + 1)], rules)
            if told.not_before_ms > NOW:
                assert in_words(told.not_before_ms) in told.words
                assert number in left_after(heads, [told.not_before_ms], rules)
            continue
        more = more_commits(r"^after (\d+) more commits?", told)
        assert more is not None
        assert more > 1
        commits = [NOW + 1, *[FAR] * (more - 1)]
        assert number in left_after(heads, commits[:-1] if more > 2 else [FAR], rules)
        assert number not in left_after(heads, commits if "not before" in told.words else [NOW] * more, rules)


@tries(200)
@given(
    ages=st.lists(st.integers(0, 5 * HOUR), min_size=1, max_size=9),
    least=st.integers(1, 4),
    beyond=st.none() | st.integers(0, 4),
    limit=st.integers(1, 4),
    rules=st.sampled_from(list(RULES)),
)
@example([5 * HOUR] * 12, 1, 1, 5, "newest")  # the engine left 6 to 13 after the next commit
def test_a_commit_expires_no_more_than_its_limit(
    ages: list[int], least: int, beyond: int | None, limit: int, rules: str
) -> None:
    options = {"snapshot.num-retained.min": str(least), "snapshot.time-retained": "2 h"}
    options |= {"snapshot.expire.limit": str(limit)}
    if beyond is not None:
        options["snapshot.num-retained.max"] = str(least + beyond)
    heads = table([NOW - age for age in sorted(ages, reverse=True)], options)
    for point, told in expiries(heads, NOW, rules).items():
        number, more = int(point), more_commits(r"^after (\d+) more commits?", told) or 1
        assert told.is_open is (more > 1)
        commits = [FAR + 9 * HOUR * commit for commit in range(more)]
        assert number in left_after(heads, commits[:-1], rules)
        if "one commit expires at most" not in told.words:
            assert number not in left_after(heads, commits, rules)


@pytest.mark.parametrize(("rules", "most"), [("newest", 50), ("1.x", 50), ("0.9", 10)])
def test_the_engine_has_a_limit_of_its_own(rules: str, most: int) -> None:
    found = expiries(table([NOW - 9 * HOUR] * 60, {"snapshot.num-retained.min": "1"}), NOW, rules)
    assert (found[str(most)].words, found[str(most + 1)].words) == ("at the next commit", "after 2 more commits")
    heads = table([NOW] * 70, {"snapshot.num-retained.min": "1"})
    assert expiries(heads, NOW, rules)["69"].words.endswith(f" UTC; one commit expires at most {most}")
    assert expiries(heads, NOW, rules)[str(most)].words.endswith(" UTC")
    heads = table([NOW - 9 * HOUR] * 60, {"snapshot.expire.limit": "0"})
    assert expiries(heads, NOW, rules)["1"].words == "never at a commit: snapshot.expire.limit is 0"


def test_writers_that_only_write_expire_nothing() -> None:
    found = expiries(table([NOW, NOW], {"write-only": "true"}), NOW)
    assert {each.not_before_ms for each in found.values()} == {None}
    assert "write-only" in found["1"].words


def test_consumers_of_changelogs_alone_keep_no_snapshot() -> None:
    heads = table([NOW - 9 * HOUR] * 3, {"snapshot.num-retained.min": "1"}, [1])
    assert "consumer c1" in expiries(heads, NOW)["1"].words
    line = heads.main
    told = {**line.options, "consumer.changelog-only": "true", "changelog.time-retained": "2 d"}
    schema = dataclasses.replace(line.schemas[0], options=told)
    heads = dataclasses.replace(heads, lines=(dataclasses.replace(line, schemas={0: schema}),))
    assert expiries(heads, NOW)["1"].words == "at the next commit"
    assert "consumer c1" in expiries(heads, NOW, "1.x")["1"].words


def test_tags_go_by_their_own_time_and_branches_by_their_own_options(tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "t", options={"snapshot.num-retained.min": "1"})
    for _ in range(3):
        made.commit([made.file()])
    made.tag("kept", 1)
    made.tag("ends", 2, created=dt.datetime(2026, 1, 1), retained_s=86_400)
    made.branch("dev", "kept").schema(options={"write-only": "true"})
    found = expiries(open_table(str(tmp_path / "t")).heads(), FAR)
    assert found["tag:kept"].words == "never automatically: it has no retention"
    assert found["tag:ends"].words.startswith("after 2026-01-02 00:00:00 ")
    assert found["1"].words == "at the next commit"
    assert "write-only" in found["branch:dev/1"].words


AUTOMATIC = {"tag.automatic-creation": "watermark", "tag.num-retained-max": "2"}
BATCH = {"tag.automatic-creation": "batch", "tag.num-retained-max": "1"}


@pytest.mark.parametrize(
    ("options", "ends", "lasts"),
    [
        ({}, "after 2026-01-02 00:00:00 by the writers' clock (no zone)", "never automatically: it has no retention"),
        ({"write-only": "true"}, "never at a commit: the table is write-only", None),
        ({"tag.time-expire-enabled": "false"}, "never at a commit: tag.time-expire-enabled is not true", None),
        (AUTOMATIC, "after 2026-01-02 00:00:00 by the writers' clock (no zone)", "when 2 more automatic tags exist"),
        ({**AUTOMATIC, "write-only": "true"}, *["never at a commit: the table is write-only"] * 2),
        ({**AUTOMATIC, "tag.num-retained-max": "0"}, *["cannot be determined: tag.num-retained-max must be"] * 2),
        (BATCH, "after 2026-01-02 00:00:00 by the writers' clock (no zone), or when 1 more tag exists",
         "at the next batch write"),
        ({**BATCH, "tag.time-expire-enabled": "false"}, "when 1 more tag exists", "at the next batch write"),
    ],
)  # fmt: skip
def test_a_tag_goes_when_a_commit_deletes_it(
    tmp_path: Path, options: dict[str, str], ends: str, lasts: str | None
) -> None:
    made = TableBuilder(tmp_path / "t", options=options)
    for _ in range(3):
        made.commit([made.file()])
    made.tag("2025-12-31", 1)
    made.tag("ends", 2, created=dt.datetime(2026, 1, 1), retained_s=86_400)
    found = expiries(open_table(str(tmp_path / "t")).heads(), FAR)
    assert found["tag:ends"].words.startswith(ends)
    assert (found["tag:ends"].not_before_ms is None) is not ends.startswith("after")
    last = found["tag:2025-12-31"]
    assert last.words.startswith(lasts or "never automatically: it has no retention")
    is_open = any(each in last.words for each in ("more", "batch", "cannot be determined"))
    assert (last.not_before_ms, last.is_open) == (None, is_open)


@pytest.mark.parametrize("tagged", [False, True])
def test_a_file_lives_as_long_as_its_last_holder(tmp_path: Path, tagged: bool) -> None:
    made = TableBuilder(tmp_path / "t", options={"snapshot.num-retained.min": "1"})
    made.commit([made.file()])
    made.commit([made.file()], made.live(), kind="OVERWRITE")
    made.commit([made.file()])
    if tagged:
        made.tag("kept", 1)
    history = open_table(str(tmp_path / "t")).history()
    path = f"bucket-0/{next(iter(made.commits[1].live.values())).name}"
    found = life(history, path, FAR)
    assert found is not None
    assert found.last == ("tag:kept" if tagged else "1")
    assert found.words.startswith(f"last holder: {found.last}, ")
    assert (found.not_before_ms is None) is tagged
    assert life(history, "bucket-0/nobody", FAR) is None


@given(st.integers(-62_135_596_800_000, 10**14), st.integers(0, 999_999))
@example(-1, 0)
@example(1_767_225_600_001, 0)
@example(4_102_444_800_000 - 1, 999)
def test_a_wall_clock_keeps_its_milliseconds(ms: int, nanos: int) -> None:
    clock = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=ms, microseconds=nanos // 1000)
    assert dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=epoch_ms(clock)) <= clock
    assert epoch_ms(clock) == ms + nanos // 1_000_000
