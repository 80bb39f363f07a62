"""Finding the first version where a condition is true: the search compared with brute force, conditions, and the
candidates."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.bisect import (
    MOST_UNKNOWN,
    BisectResult,
    Candidate,
    Outcome,
    Probe,
    answer,
    condition,
    next_place,
    places,
)
from core.cli import main
from core.errors import Invalid, NotFound
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.paimon.capabilities import PAIMON
from core.model.references import Heads, Line, Problem, Schema, Snapshot, Tag, Unreadable
from core.spark.query import bisect
from tests.support.builders import TableBuilder

Truth = list[bool | None]


def search(truth: Truth) -> tuple[BisectResult, dict[int, bool | None]]:
    known: dict[int, bool | None] = {}
    while (place := next_place(len(truth), known)) is not None:
        assert place not in known
        known[place] = truth[place]
    return answer(len(truth), known), known


def plainly(truth: Truth) -> tuple[int | None, int | None]:
    """Return the first true position and the last false one before it, with every position queried."""
    first = next((place for place, value in enumerate(truth) if value), None)
    falses = [place for place, value in enumerate(truth[:first]) if value is False]
    return first, falses[-1] if falses else None


@pytest.mark.parametrize("count", range(1, 9))
def test_every_turn_beside_every_gap_is_found_as_by_looking_everywhere(count: int) -> None:
    for turn, gaps in itertools.product(range(count + 1), itertools.product((False, True), repeat=count)):
        truth: Truth = [None if gap else place >= turn for place, gap in enumerate(gaps)]
        found, known = search(truth)
        assert (found.first_true, found.last_false) == plainly(truth), truth
        low, high = -1 if found.last_false is None else found.last_false, found.first_true
        assert found.unknown == tuple(range(low + 1, count if high is None else high)), truth
        assert found.contradictions == ()
        told = [value for value in truth if value is not None]
        expected = (
            Outcome.UNKNOWN if not told else
            Outcome.NEVER if not any(told) else
            Outcome.ALREADY if all(told) else Outcome.TURNED
        )  # fmt: skip
        assert found.outcome == expected, truth
        if not any(gaps):
            assert len(known) <= 2 + math.ceil(math.log2(count)) + 1


@given(st.integers(1, 3_000), st.data())
def test_few_probes_find_the_turn_among_many_places(count: int, data: st.DataObject) -> None:
    turn = data.draw(st.integers(0, count))
    blind = data.draw(st.sets(st.integers(0, count - 1), max_size=MOST_UNKNOWN - 1))
    truth: Truth = [None if place in blind else place >= turn for place in range(count)]
    found, known = search(truth)
    assert (found.first_true, found.last_false) == plainly(truth)
    assert len(known) <= (2 + math.ceil(math.log2(count + 1))) + 2 * len(blind)


def test_a_stretch_that_cannot_be_read_costs_few_probes_and_is_told() -> None:
    """A column that does not exist yet in half of the history."""
    found, known = search([None] * 500 + [False] * 200 + [True] * 300)
    assert (found.first_true, found.last_false, found.unknown) == (700, 699, ())
    assert len(known) <= 16
    found, known = search([False] * 10 + [None] * 980 + [True] * 10)  # the change is where nothing can be read
    assert found.outcome == Outcome.TURNED
    assert found.last_false in range(10)
    assert found.first_true in range(990, 1_000)
    assert set(range(10, 990)) <= set(found.unknown)
    assert len(known) <= MOST_UNKNOWN + 2 + 10


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12))
def test_what_turned_more_than_once_is_told_where_it_was_seen(truth: Truth) -> None:
    told = [(place, value) for place, value in enumerate(truth) if value is not None]
    everywhere = answer(len(truth), dict(enumerate(truth)))
    back = tuple((a, b) for (a, x), (b, y) in itertools.pairwise(told) if x and not y)
    assert everywhere.contradictions == back
    found, known = search(truth)
    assert all(known[a] is True and known[b] is False and a < b for a, b in found.contradictions)
    if truth[0] is True and truth[-1] is False:
        assert found.outcome == Outcome.BACK
        assert found.contradictions
        assert len(known) <= 2


# ---------------------------------------------------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("count(*) > 1000", "SELECT (count(*) > 1000) AS turned, (count(*)) AS seen FROM t"),
        ("max(amount)<0 ;", "SELECT (max(amount)<0) AS turned, (max(amount)) AS seen FROM t"),
        ("exists(select 1 from t where a = 1)", "SELECT (exists(select 1 from t where a = 1)) AS turned"),
        ("(select max(a) from t) = 5", "SELECT ((select max(a) from t) = 5) AS turned, ((select max(a) from t)) AS seen"),  # noqa: E501
        ("select count(*) > 5 from t", "SELECT (select count(*) > 5 from t) AS turned"),
        ("count(*) > 5 and min(a) < 0", "SELECT (count(*) > 5 and min(a) < 0) AS turned FROM t"),
        ("not count(*) > 5", "SELECT (not count(*) > 5) AS turned FROM t"),
        ("any(a > 2)", "SELECT (any(a > 2)) AS turned FROM t"),
        ("some_aggregate(a) = 2", "SELECT (some_aggregate(a) = 2) AS turned, (some_aggregate(a)) AS seen FROM t"),
        ("count(*) > 5 -- many", "SELECT (count(*) > 5 -- many) AS turned, (count(*)) AS seen FROM t"),
    ],
)  # fmt: skip
def test_a_condition_becomes_a_statement_of_one_row(text: str, statement: str) -> None:
    asked = condition(text)
    assert asked.statement.replace("\n", "") == statement
    assert asked.compares == ("seen" in statement)


@pytest.mark.parametrize("text", ["", ";", "1) as a, (2", "count(*) >", "count(*) > 1; select 2", "drop table t"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"Such as count"):
        condition(text)


@pytest.mark.parametrize(
    "text", ["(" * 3_000 + "1" + ")" * 3_000 + " = 1", "not " * 5_000 + "true", "1 + " * 5_000 + "1 > 2"]
)
def test_a_condition_that_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="nested too deeply"):
        condition(text)


def test_what_went_before_a_place_without_an_answer_may_be_where_it_turned() -> None:
    way = tuple(Candidate(str(number), number, 0, after_gap=number == 7) for number in (1, 2, 7, 8, 9))
    for known, is_after_gap in (
        ({0: False, 1: False, 2: None, 3: True, 4: True}, True),
        ({0: False, 1: None, 2: False, 3: True, 4: True}, False),
    ):
        found = bisect.Found(condition("true"), "main", way, (), answer(5, known), False, 0.0)
        assert found.is_after_gap == is_after_gap


def test_a_condition_on_single_rows_is_refused_with_the_way_out() -> None:
    with pytest.raises(Invalid, match=r"Ask whether such rows exist: exists\(select 1 from t where amount < 0\)"):
        condition("amount < 0")


# -------------------------------------------------------------------------------------------------------------- places


def snapshot(number: int, content: str = "", parent: int | None = None, state: str = "") -> Snapshot:
    return Snapshot(
        id=number, time_ms=number * 1000, kind="APPEND", schema_id=0, commit_user="u", commit_identifier=number,
        total_rows=1, delta_rows=1, watermark=None, fields={}, content=f"{number}{content}".encode(), parent_id=parent,
        state=state,
    )  # fmt: skip


def line(branch: str, *snapshots: Snapshot, tags: tuple[Tag, ...] = (), unreadable: tuple[str, ...] = ()) -> Line:
    schema = Schema(0, (), (), (), {}, 0)
    bad = tuple(
        Unreadable("snapshot", name, Problem(f"snapshot/snapshot-{name}", "JSON", "half")) for name in unreadable
    )
    return Line(branch, snapshots, tags, (), (), {0: schema}, unreadable=bad)


def tagged(name: str, of: Snapshot) -> Tag:
    return Tag(name, of, None, None)


HEADS = Heads(
    "/w/t",
    PAIMON,
    (
        line(
            "main",
            *map(snapshot, (5, 6, 8, 9)),
            tags=(
                tagged("old", snapshot(2)),
                tagged("older", snapshot(2)),
                tagged("six", snapshot(6)),
                tagged("undone", snapshot(8, "before the rollback")),
                tagged("ahead", snapshot(11)),
            ),
            unreadable=("7",),
        ),
        line("dev", snapshot(6), snapshot(7)),
    ),
    {},
)


def points(heads: Heads, start: str | None = None, end: str | None = None, branch: str = "main") -> list[str]:
    return [each.point for each in places(heads, start, end, branch)]


def test_places_are_what_is_retained_and_what_a_tag_keeps_of_what_went() -> None:
    assert points(HEADS) == ["tag:old", "5", "6", "7", "8", "9"]
    assert [each.time_ms for each in places(HEADS, "6", "8")] == [6000, None, 8000]
    assert [each.after_gap for each in places(HEADS, None, None)] == [False, True, False, False, False, False]
    assert points(HEADS, "tag:old", "tag:six") == ["tag:old", "5", "6"]
    assert points(HEADS, "time:5500", "latest") == ["5", "6", "7", "8", "9"]
    assert points(HEADS, branch="dev") == ["branch:dev/6", "branch:dev/7"]


def test_places_that_cannot_be_looked_at_are_refused() -> None:
    for start, end, branch, said in (
        ("9", "5", "main", "comes after"),
        ("tag:undone", None, "main", "not in the history"),
        ("tag:ahead", None, "main", "not in the history"),
        ("3", None, "main", "not retained"),
        (None, None, "nowhere", "no branch"),
    ):
        with pytest.raises((Invalid, NotFound), match=said):
            places(HEADS, start, end, branch)
    with pytest.raises(NotFound, match="no snapshot"):
        places(replace(HEADS, lines=(line("main"),)), None, None)


def test_of_iceberg_places_are_the_ancestors_of_the_head() -> None:
    chain = (snapshot(5, parent=4), snapshot(6, parent=5), snapshot(9, parent=6))
    aside = snapshot(7, parent=5, state="rolled-back")
    tags = (tagged("early", snapshot(2)), tagged("undone", snapshot(3, state="rolled-back")), tagged("five", chain[0]))
    lines = (
        line("main", *chain, tags=tags),
        replace(line("dev", snapshot(8, parent=6)), head=snapshot(8, parent=6)),
        line("", snapshot(2), aside),
    )
    heads = Heads("/w/t", ICEBERG, lines, {}, pointer=((5000, 5), (9000, 9)))
    assert points(heads) == ["tag:early", "5", "6", "9"]
    assert [each.after_gap for each in places(heads, None, None)] == [False, True, False, False]
    assert points(heads, branch="dev") == ["5", "6", "8"]
    with pytest.raises(Invalid, match="not in the history"):
        places(heads, "7", None)


# -------------------------------------------------------------------------------------------------------- command line


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        (
            [False, False, True, True, True],
            [
                "First true at 3, committed",
                "false at 2,",
                "diff",
                (
                    "Assumes that the condition became true once and stayed true; "
                    "snapshots between the checked ones were not read."
                ),
            ],
        ),
        ([True] * 5, ["Already true at 1, the first snapshot that could be read"]),
        (
            [True, True, True, True, False],
            [
                ("True at the first snapshot, false at the last: the change goes the other way. Search for `not (…)`."),
                "true at 1, false again at 5",
                "Checked 2 snapshots of 5",
            ],
        ),
        ([None] * 5, ["No checked snapshot gave a result", "unknown (lost)"]),
        ([False, None, None, None, True], ["First true at 5", "Unknown between them: 3 snapshots"]),
        ([False] * 5, ["Not true in any checked snapshot"]),
    ],
)
def test_the_command_says_what_was_found(
    tmp_path: Path, truth: Truth, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def probe(_table: Any, _history: Any, _asked: Any, place: Candidate, number: int, *_: Any) -> tuple[Probe, None]:
        assert place.point == str(number + 1)
        return Probe(number, truth[number], 0.1, None, "lost" if truth[number] is None else None), None

    monkeypatch.setattr(bisect, "_probe", probe)
    made = TableBuilder(tmp_path / "w" / "db.db" / "t")
    for number in range(len(truth)):
        made.commit([made.file(100 + number)])
    assert main(["bisect", str(made.root), "count(*) > 1"]) == 0
    said = capsys.readouterr()
    assert [text for text in words if text not in said.out] == []
    assert "(0.1 s)" in said.err
    assert main(["bisect", str(made.root), "count(*) > 1", "--every", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["point"]: each["value"] for each in told["probes"]} == {
        str(number + 1): value for number, value in enumerate(truth)
    }
    for more, refused in ((["--from", "4", "--to", "2"], "comes after"), (["--to", "9"], "not retained")):
        assert main(["bisect", str(made.root), "count(*) > 1", *more]) == 1
        assert refused in capsys.readouterr().err
