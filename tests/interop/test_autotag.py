"""Automatic tags: ours equal those that Java Paimon creates for the same snapshots, step by step."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.analysis import tag_target
from core.cli import main
from core.errors import Invalid, NotFound
from core.formats.paimon import references
from core.formats.paimon.plan import automatic_tags
from core.storage.store import Store
from tests.engines.paimon_java import EngineError, PaimonJudge, set_commit_time

pytestmark = [pytest.mark.engines, pytest.mark.slow]

HOUR, DAY = 3_600_000, 86_400_000
BASE = 1_790_000_000_000 // DAY * DAY
COMMITS = 16
STAGES = (1, 4, 5, 9, 13, COMMITS)  # automatic creation runs after these
GONE = {9: 4, 13: 11}  # and by then the snapshots up to these have expired
RULES = [
    {},
    {"tag.automatic-creation": "watermark", "tag.num-retained-max": "2"},
    {"tag.automatic-creation": "WATERMARK", "sink.watermark-time-zone": "America/New_York", "tag.creation-delay": "7h"},
    {"tag.period-formatter": "without_dashes", "tag.num-retained-max": "1"},
    {"tag.automatic-completion": "true", "tag.default-time-retained": "3 d"},
    {"tag.creation-period": "hourly", "tag.num-retained-max": "3"},
    {"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes", "sink.process-time-zone": "UTC+5"},
    {
        "tag.creation-period": "hourly",
        "tag.period-formatter": "without_dashes_and_spaces",
        "tag.creation-delay": "50 m",
    },
    {"tag.creation-period": "two-hours", "tag.automatic-completion": "true", "tag.num-retained-max": "4"},
    {"tag.creation-period-duration": "5 h", "tag.num-retained-max": "2", "tag.creation-delay": "4 h"},
    {"tag.creation-period-duration": "3 d", "tag.automatic-completion": "true"},
    {"tag.creation-delay": "10 h", "sink.process-time-zone": "Asia/Shanghai"},
]
BATCH = [
    {},
    {"tag.num-retained-max": "2", "sink.process-time-zone": "Asia/Shanghai"},
    {"tag.batch.customized-name": "nightly", "tag.num-retained-max": "3", "tag.default-time-retained": "9000 d"},
]
NAMES = {  # made by hand: some read as automatic ones, whatever was meant
    "tag.period-formatter": ("2026-09-22 of ours", "2026-13-41", "20260922", "-7-01-01", "2026-9-1", "v1"),
    "without_dashes": ("202311", "20260922x", "+20260101", "20261121123456", "2026-09-22", "v1"),
    "hourly": ("2026-09-22 25", "2026-09-22 2", "2026-09-22", "2026-09-22  03", "v1"),
}


def _tags(table: Path) -> dict[str, tuple[int, float | None]]:
    """Snapshot and retention in seconds by name."""
    found = {path.name[4:]: json.loads(path.read_text()) for path in (table / "tag").glob("tag-*")}
    return {name: (tag["id"], tag.get("tagTimeRetained")) for name, tag in found.items()}


@pytest.fixture(scope="module")
def history(java_judge: PaimonJudge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commits minutes, hours and days apart, one back in time, some without a watermark."""
    table = tmp_path_factory.mktemp("autotag") / "default.db" / "t"
    java_judge.create(table, [("id", "BIGINT")], options={"bucket": "-1", "snapshot.num-retained.min": "100"})
    draw, time_ms = random.Random(6), BASE + 5 * HOUR
    for number in range(1, COMMITS + 1):
        mark = None if number in (1, 2) else time_ms - draw.randrange(3 * HOUR)
        java_judge.write(table, [[number]], watermark=mark)
        set_commit_time(table, number, time_ms)
        time_ms += draw.choice([HOUR // 2, HOUR, 5 * HOUR, 9 * HOUR, DAY, 3 * DAY])
        time_ms -= 2 * HOUR if number == 7 else 0
    return table


def _staged(history: Path, table: Path, stage: int) -> None:
    """The table as it was after so many commits."""
    for number in range(1, COMMITS + 1):
        name = f"snapshot/snapshot-{number}"
        if max((gone for at, gone in GONE.items() if at <= stage), default=0) < number <= stage:
            shutil.copy(history / name, table / name)
        else:
            (table / name).unlink(missing_ok=True)
    for hint in ("EARLIEST", "LATEST"):
        (table / "snapshot" / hint).unlink(missing_ok=True)


def _judged(judge: PaimonJudge, table: Path, options: dict[str, str]) -> None:
    """One run of ours, as a prediction, and one of the engine's."""
    rules = automatic_tags.rules(options)
    assert rules is not None
    before = _tags(table)
    due = automatic_tags.due(rules, references.read(Store(str(table))).main)
    kept = None if rules.retained_ms is None else rules.retained_ms / 1000
    expected = {name: told for name, told in before.items() if name not in due.drops}
    expected |= {name: (snapshot, kept) for name, snapshot in (*due.creates, *due.replaces)}
    judge.auto_tag(table, options=options, batch=rules.mode == "batch")
    assert _tags(table) == expected, (options, due)
    again = automatic_tags.due(rules, references.read(Store(str(table))).main)
    assert not again.creates, options
    assert not again.replaces, options
    assert not again.drops, options


def test_the_engine_makes_and_drops_the_very_tags_that_are_due(
    java_judge: PaimonJudge, history: Path, tmp_path: Path
) -> None:
    made = 0
    for number, own in enumerate(RULES):
        options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", **own}
        table = shutil.copytree(history, tmp_path / f"{number}.db" / "t")
        for stage in STAGES:
            _staged(history, table, stage)
            _judged(java_judge, table, options)
        made += len(_tags(table))
    assert made > 30


def test_after_a_batch_write_the_engine_makes_and_drops_the_very_tags_that_are_due(
    java_judge: PaimonJudge, history: Path, tmp_path: Path
) -> None:
    for number, own in enumerate(BATCH):
        options = {"tag.automatic-creation": "batch", "sink.process-time-zone": "UTC", **own}
        table = shutil.copytree(history, tmp_path / f"{number}.db" / "t")
        for stage in STAGES:
            _staged(history, table, stage)
            _judged(java_judge, table, options)
            if stage == 4:  # these count, too
                java_judge.create_tag(table, "by hand", snapshot=3)
                java_judge.create_tag(table, "again", snapshot=2)


def test_tags_made_by_hand_count_as_automatic_exactly_where_the_engine_counts_them(
    java_judge: PaimonJudge, history: Path, tmp_path: Path
) -> None:
    for kind, names in NAMES.items():
        own = {} if kind == "tag.period-formatter" else {
            "tag.creation-period" if kind == "hourly" else "tag.period-formatter": kind
        }  # fmt: skip
        options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", **own}
        options["tag.num-retained-max"] = "1"
        for number, name in enumerate(names):
            table = shutil.copytree(history, tmp_path / f"{kind}{number}.db" / "t")
            java_judge.create_tag(table, name, snapshot=5)
            _judged(java_judge, table, options)


@pytest.mark.parametrize("most", ["1", "3"])
def test_the_newest_automatic_tag_is_the_one_of_the_latest_name(
    java_judge: PaimonJudge, history: Path, tmp_path: Path, most: str
) -> None:
    """Whatever snapshots they name; where the engine refuses two of one snapshot, so do we."""
    refused = 0
    options = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", "tag.num-retained-max": most}
    for number, made in enumerate((
        {"2026-09-22": 12, "2026-09-26": 3},
        {"2026-09-22": 12, "2026-09-23": 3, "2026-09-21": 16},
        {"2026-09-22": 2, "2026-09-21": 2},
        {"2026-09-22": 2, "2026-09-21": 2, "2026-12-01": 16},
        {"2026-09-20 a": 9, "2026-09-21 b": 8},
    )):  # fmt: skip
        table = shutil.copytree(history, tmp_path / f"{number}.db" / "t")
        for name, snapshot in made.items():
            java_judge.create_tag(table, name, snapshot=snapshot)
        try:
            _judged(java_judge, table, options)
        except Invalid:
            refused += 1
            with pytest.raises(EngineError, match=r"auto-tagged|auto-created tags of the same snapshot"):
                java_judge.auto_tag(table, options=options)
    assert refused


def test_rules_that_the_engine_refuses_are_refused(java_judge: PaimonJudge, history: Path, tmp_path: Path) -> None:
    table = shutil.copytree(history, tmp_path / "t.db" / "t")
    for own in (
        {"tag.creation-delay": "1 d"},
        {"tag.creation-period": "weekly"},
        {"sink.process-time-zone": "Nowhere"},
    ):
        options = {"tag.automatic-creation": "process-time", **own}
        with pytest.raises(EngineError):
            java_judge.auto_tag(table, options=options)
        with pytest.raises(Invalid):
            automatic_tags.rules(options)


def test_what_a_time_or_a_watermark_names_is_what_the_engine_finds(java_judge: PaimonJudge, history: Path) -> None:
    read = references.read(Store(str(history)))
    times = [each.time_ms for each in read.main.snapshots]
    marks = [each.watermark for each in read.main.snapshots if each.watermark is not None]
    asked: list[dict[str, Any]] = [{"time_ms": time_ms + by} for time_ms in times for by in (0, 1)]
    asked += [{"watermark": mark + by} for mark in marks[::3] for by in (0, 1)]
    differing = 0
    for each in asked:
        theirs = java_judge.as_of(history, rule="later", **each)
        if theirs is None:
            with pytest.raises(NotFound):
                tag_target.tag_target(read, **each)
            continue
        found = tag_target.tag_target(read, **each)
        assert found.engine == theirs, each
        differing += found.snapshot.id != theirs
    assert differing < len(asked) // 4  # only where clocks went back


def test_our_runs_and_the_engines_in_turn_end_where_the_engine_alone_ends(
    java_judge: PaimonJudge, history: Path, tmp_path: Path
) -> None:
    """By the command line: creation, the tags that go with their files, the engine reading all that stays."""
    own = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", "tag.num-retained-max": "3"}
    alone, ours = (shutil.copytree(history, tmp_path / f"{name}.db" / "t") for name in ("alone", "ours"))
    for table in (alone, ours):
        java_judge.alter(table, *(("set_option", key, value) for key, value in own.items()))
    for turn, stage in enumerate(STAGES):
        for table in (alone, ours):
            _staged(history, table, stage)
        java_judge.auto_tag(alone)
        if turn % 2:
            java_judge.auto_tag(ours)
        else:
            for _ in range(2):  # the second run finds nothing to do
                assert main(["auto-tag", str(ours), "--yes", "--settle", "0 s", "--json"]) == 0
        assert _tags(ours) == _tags(alone), stage
    assert len(_tags(ours)) == 3
    for name in _tags(ours):
        assert java_judge.rows(ours, tag=name) == java_judge.rows(alone, tag=name)
