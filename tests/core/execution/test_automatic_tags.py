"""`auto-tag` and `expire-tags`: due tags are shown, created once and journaled; expired ones are deleted; a repetition
changes nothing."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.execution.journal import Journal
from core.units import wall_clock
from tests.support.builders import DAY_MS, HOUR_MS, START_MS, TableBuilder

NOW = str(START_MS + 3 * DAY_MS)
AUTO = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC"}


def ask(capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json", "--now", NOW]) == status
    return json.loads(capsys.readouterr().out)


def table(path: Path, **options: str) -> TableBuilder:
    """Commit every 8 hours, each time replacing the previous file."""
    made = TableBuilder(path / "default.db" / "t", options={**AUTO, **options}, step_ms=8 * HOUR_MS)
    last = [made.file()]
    made.commit(last)
    for _ in range(8):
        new = [made.file()]
        made.commit(new, last)
        last = new
    return made


def tags(made: TableBuilder) -> dict[str, int]:
    return {path.name[4:]: json.loads(path.read_text())["id"] for path in (made.root / "tag").glob("tag-*")}


def test_what_is_due_is_made_once_and_every_tag_is_in_the_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = table(tmp_path, **{"tag.default-time-retained": "90 d", "tag.period-formatter": "without_dashes"})
    due = {"20251231": 1, "20260101": 4, "20260102": 7}
    shown = ask(capsys, "auto-tag", made.root, "--dry-run")
    assert shown["creates"] == list(due)
    assert tags(made) == {}
    assert [each["tag"] for each in shown["coming"]] == ["20260103"] + [f"202601{day:02}" for day in range(4, 13)]
    assert shown["coming"][0] == {"tag": "20260103", "due_ms": START_MS + 3 * DAY_MS, "is_due": True}
    assert ask(capsys, "auto-tag", made.root, "--yes", "--plan", "0" * 16, status=1)["error"]["kind"] == "Conflict"
    done = ask(capsys, "auto-tag", made.root, "--yes", "--plan", shown["fingerprint"])
    assert [each["outcome"] for each in done["receipts"]] == ["done"] * 3
    assert tags(made) == due
    assert json.loads((made.root / "tag" / "tag-20260101").read_text())["tagTimeRetained"] == 90 * 86400
    assert [run.change_kind for run in Journal().runs()] == ["CreateTag"] * 3
    again = ask(capsys, "auto-tag", made.root, "--yes")
    assert (again["creates"], again["receipts"], tags(made)) == ([], [], due)


def test_tags_beyond_the_number_go_with_what_only_they_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = table(tmp_path, **{"tag.num-retained-max": "2"})
    made.tag("2025-12-31", 1)
    made.tag("by hand", 1)
    made.tag("2026-01-01", 4)
    made.expire([1, 2, 3, 4, 5])
    assert main(["auto-tag", str(made.root), "--dry-run", "--now", NOW]) == 0
    text = capsys.readouterr().out
    assert "Creates a tag every 1 d by commit times; the newest 2 are kept." in text
    assert "tag:2025-12-31 DELETED: not among the newest 2 automatic tags (tag.num-retained-max)" in text
    assert (
        "Creates tag 2026-01-02 at snapshot 7; reclaims nothing. It was committed 2026-01-03 00:00:00.000 UTC." in text
    )
    assert "2026-01-04  the first commit at or after 2026-01-05 00:00:00.000 UTC" in text
    done = ask(capsys, "auto-tag", made.root, "--yes", "--settle", "0 s")
    assert tags(made) == {"by hand": 1, "2026-01-01": 4, "2026-01-02": 7}
    assert [len(each["deleted"]) for each in done["receipts"]] == [0, 1]
    assert ask(capsys, "auto-tag", made.root, "--yes")["receipts"] == []


def test_tags_whose_time_is_over_go_and_those_of_unknown_age_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = table(tmp_path, **{"tag.automatic-creation": "none"})
    now = wall_clock(int(NOW))
    made.tag("over", 1, created=now - dt.timedelta(hours=2), retained_s=3600)
    made.tag("old", 2, created=now - dt.timedelta(hours=2), retained_s=9000)
    made.tag("untold", 3)
    assert ask(capsys, "auto-tag", made.root, "--yes")["mode"] is None
    shown = ask(capsys, "expire-tags", made.root, "--dry-run")
    assert [each["point"] for each in shown["plan"]["points"] if not each["keep"]] == ["tag:over"]
    assert "its retention ended" in next(e["reasons"][0] for e in shown["plan"]["points"] if not e["keep"])
    assert len(tags(made)) == 3
    done = ask(capsys, "expire-tags", made.root, "--older-than", int(NOW) - HOUR_MS, "--yes", "--settle", "0 s")
    assert done["receipt"]["outcome"] == "done"
    assert list(done["untold"]) == ["untold"]
    assert set(tags(made)) == {"untold"}
    assert ask(capsys, "expire-tags", made.root, "--yes")["plan"] is None


def test_automatic_creation_lets_tags_go_whose_time_is_over_unless_it_is_switched_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, gone in (("true", {"over"}), ("false", set())):
        made = table(tmp_path / name, **{"tag.time-expire-enabled": name})
        made.tag("over", 1, created=wall_clock(START_MS), retained_s=3600)
        assert set(ask(capsys, "auto-tag", made.root, "--dry-run")["deletes"]) == gone


def test_refusals_name_the_option_and_iceberg_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = table(tmp_path, **{"tag.callbacks": "com.acme.Mail"})
    told = ask(capsys, "auto-tag", made.root, "--yes", status=1)["error"]
    assert told["kind"] == "Unsupported"
    assert "tag.callbacks" in told["message"]
    assert ask(capsys, "auto-tag", made.root, "--branch", "none", status=1)["error"]["kind"] == "NotFound"


def test_a_tag_from_a_time_or_a_watermark_rounds_up_and_says_what_time_travel_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = TableBuilder(tmp_path / "default.db" / "t")
    for number in range(1, 6):
        made.commit([made.file()], watermark=None if number == 1 else number * 100)
    made.tag("kept", 2)
    made.expire([1, 2, 3])
    between = START_MS + 3 * HOUR_MS + 1
    assert main(["plan", "create-tag", str(made.root), "--name", "up", "--time", str(between), "--now", NOW]) == 0
    text = capsys.readouterr().out
    assert "The tag will point to snapshot 5: the first at or after 2026-01-01 03:00:00.001 UTC." in text
    assert "Time travel to that time finds snapshot 4." in text
    assert "up" not in tags(made)
    done = ask(capsys, "create-tag", made.root, "--name", "up", "--time", between, "--yes")
    assert (done["source"]["snapshot"], done["source"]["time_travel"]["snapshot"]) == (5, 4)
    done = ask(capsys, "create-tag", made.root, "--name", "mark", "--watermark", "401", "--yes")
    assert done["source"]["time_travel"]["snapshot"] == 5  # time travel by watermark also rounds up
    before = ask(capsys, "create-tag", made.root, "--name", "early", "--time", START_MS, "--yes")["source"]
    assert (before["snapshot"], before["tag"], before["time_travel"]) == (2, "kept", None)  # expired, but kept
    assert ask(capsys, "create-tag", made.root, "--name", "again", "--snapshot", 2, "--yes")["receipt"]["created"]
    assert tags(made) == {"kept": 2, "up": 5, "mark": 5, "early": 2, "again": 2}
    told = ask(capsys, "create-tag", made.root, "--name", "no", "--time", between + DAY_MS, "--yes", status=1)["error"]
    assert told["message"] == "No snapshot or tag was committed at or after 2026-01-02 03:00:00.001 UTC."
    gone = ask(capsys, "delete-tag", made.root, "--name", "up, mark", "--name", "kept", "--yes", "--settle", "0 s")
    assert gone["receipt"]["outcome"] == "done"
    assert set(tags(made)) == {"early", "again"}


def test_a_second_automatic_tag_of_a_snapshot_is_refused_and_what_only_the_engine_does_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = table(tmp_path, **{"tag.create-success-file": "true"})
    made.tag("2026-01-01", 4)
    made.tag("plain", 4)
    for words in (
        ("create-tag", "--name", "2020-01-01", "--snapshot", 4),
        ("rename-tag", "--name", "plain", "--to", "2020-01-01"),
    ):
        told = ask(capsys, words[0], made.root, *words[1:], "--yes", status=1)["error"]
        assert (
            "One snapshot would have more than one automatic tag (2026-01-01, 2020-01-01); the engine rejects that too."
        ) in told["message"]
    done = ask(capsys, "rename-tag", made.root, "--name", "2026-01-01", "--to", "2026-01-02", "--yes")
    assert done["warnings"] == [
        (
            "The table option tag.create-success-file = true makes the engine do more than create "
            "a tag; Snapscope does not do that."
        )
    ]
    assert ask(capsys, "create-tag", made.root, "--name", "2020-01-01", "--snapshot", 5, "--yes")["receipt"]
