"""Times on the command line: read in the machine's zone, reported, and rejected if ambiguous."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.cli import main, typed_times
from core.model.time_travel import parse_time_ms
from tests.support.builders import START_MS, TableBuilder
from tests.support.formats.paimon.tables import four_commits

HOUR_MS = 3_600_000
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    """Create snapshots 1 to 4, an hour apart, starting at midnight UTC on 2026-01-01."""
    return four_commits(tmp_path / "w" / "default.db" / "t")


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("TZ", "Asia/Shanghai")

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def snapshot(said: tuple[int, str, str]) -> Any:
    assert said[0] == 0, said
    return json.loads(said[1])["snapshot"]


def test_a_time_is_read_in_the_zone_of_the_machine(ask: Ask, table: TableBuilder) -> None:
    assert snapshot(ask("as-of", table.root, "2026-01-01 09:30", "--json")) == 2
    assert snapshot(ask("as-of", table.root, "--at", "time:2026-01-01 09:30", "--json")) == 2
    assert snapshot(ask("as-of", table.root, "2026-01-01 09:30 UTC", "--json")) == 4
    status, out, err = ask("as-of", table.root, "2026-01-01 09:30")
    assert status == 0
    assert out.startswith("Snapshot 2, committed 2026-01-01 01:00:00.000 UTC.")
    at = "2026-01-01 09:30:00 CST (Asia/Shanghai), 2026-01-01 01:30:00 UTC"
    assert err == f'Read "2026-01-01 09:30" as {at}.\n'


def test_a_text_that_alone_says_a_moment_is_not_explained(ask: Ask, table: TableBuilder) -> None:
    for point in (f"time:{START_MS}", "time:2026-01-01T00:00:00Z", "latest", "1"):
        assert ask("as-of", table.root, point)[2] == ""
    assert ask("cost", table.root, "--now", START_MS)[2] == ""


def test_digits_are_a_time_where_no_snapshot_has_that_id(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("as-of", table.root, START_MS + HOUR_MS)
    assert (status, out[:11]) == (0, "Snapshot 2,")
    assert f"No snapshot has the id {START_MS + HOUR_MS}." in err
    assert "milliseconds since 1970: 2026-01-01 01:00:00 UTC" in err
    assert snapshot(ask("as-of", table.root, (START_MS + HOUR_MS) // 1000, "--json")) == 2
    (table.root / f"snapshot/snapshot-{START_MS}").write_bytes(
        (table.root / "snapshot/snapshot-4").read_bytes().replace(b'"id" : 4', f'"id" : {START_MS}'.encode())
    )
    status, out, err = ask("as-of", table.root, START_MS)
    assert (status, err) == (0, "")
    assert out.startswith(f"Snapshot {START_MS},")


def test_ages_are_counted_from_now_as_it_was_given(ask: Ask, table: TableBuilder) -> None:
    now = "2026-01-04T00:00:00Z"
    words = ["plan", "expire", table.root, "--retain-min", "1", "--now", now]
    by_words = ask(*words, "--older-than", "3 days ago", "--json")
    exact = ask(*words, "--older-than", "2026-01-01T00:00:00Z", "--json")
    assert by_words[0] == 0
    assert json.loads(by_words[1])["fingerprint"] == json.loads(exact[1])["fingerprint"]
    assert '--older-than: Read "3 days ago" as 2026-01-01 08:00:00 CST' in ask(*words, "--older-than", "3 days ago")[2]
    assert ask(*words, "--older-than", "3d", "--json") == by_words, "an age needs no `ago`"
    assert '--older-than: Read "3 D" as 2026-01-01 08:00:00 CST' in ask(*words, "--older-than", " 3 D ")[2]
    assert ask(*words, "--tags-older-than", "3 days", "--json")[0] == 0
    assert 'not a valid time: "3 m"' in ask(*words, "--older-than", "3 m")[2]
    assert "30 has no unit" in ask(*words, "--older-than", "30")[2]


def test_what_stands_in_a_command_keeps_its_text(ask: Ask, table: TableBuilder) -> None:
    """The fingerprint of a plan with a time depends on that text."""
    words = ["plan", "rollback", table.root, "--now", START_MS + 10 * HOUR_MS]
    said = json.loads(ask(*words, f"time:{START_MS}", "--json")[1])
    assert said["change"]["point"] == f"time:{START_MS}"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_can_be_two_moments_is_asked_about(ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    status, out, err = ask("as-of", table.root, "02/01/2026")
    assert (status, out) == (1, "")
    first, remedy = err.splitlines()
    assert first == 'snapscope: error: "02/01/2026" can be day/month or month/day.'
    assert "2026-01-01T16:00:00Z (2026-01-02 00:00:00 CST)" in remedy
    monkeypatch.setattr(sys, "stdin", Terminal("1\n"))
    status, out, _ = ask("as-of", table.root, "02/01/2026")
    assert status == 0
    assert "1. 2026-01-02 00:00:00 CST, 2026-01-01T16:00:00Z" in out
    assert "Snapshot 4," in out
    for typed in ("", "3\n", "x\n"):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        assert ask("as-of", table.root, "02/01/2026")[0] == 1
    monkeypatch.setattr(sys, "stdin", Terminal("1\n"))
    status, out, _ = ask("as-of", table.root, "02/01/2026", "--json")
    assert status == 1
    assert json.loads(out)["error"]["kind"] == "Invalid"


def test_the_zone_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, zone in (("Europe/Berlin", "Europe/Berlin"), (":Asia/Tokyo", "Asia/Tokyo"), ("No/Such", "UTC")):
        monkeypatch.setenv("TZ", named)
        assert typed_times.local_zone() == zone


def test_what_is_read_is_what_the_core_takes(ask: Ask, table: TableBuilder) -> None:
    said = json.loads(ask("plan", "expire", table.root, "--retain-max", "1", "--now", "2026-02-01", "--json")[1])
    assert said["now_ms"] == parse_time_ms("2026-01-31T16:00:00Z")
