"""Output formats: tables for people, JSON, lines and CSV for programs; colours only where they are wanted."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main, output
from tests.support.builders import START_MS, TableBuilder
from tests.support.execution.processes import CLI
from tests.support.formats.paimon.tables import four_commits

NOW = str(START_MS + 10**11)
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return four_commits(tmp_path / "w" / "default.db" / "t")


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_every_form_holds_the_same(ask: Ask, table: TableBuilder) -> None:
    for words in (
        ["snapshots", table.root],
        ["tags", table.root],
        ["files", table.root],
        ["tables", table.root.parent],
    ):
        document = json.loads(ask(*words, "--json")[1])
        assert json.loads(ask(*words, "-o", "json")[1]) == document
        assert [json.loads(line) for line in ask(*words, "--output=jsonl")[1].splitlines()] == document
        rows = list(csv.DictReader(io.StringIO(ask(*words, "-o", "csv")[1])))
        assert [list(row) for row in rows] == [list(each) for each in document]
        name = next(iter(document[0]))
        assert [row[name] for row in rows] == [str(each[name]) for each in document]
        assert ask(*words, "-o", "table") == ask(*words)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (b"\x00\xffa", "00ff61"),
        ([b"\x01", "a", None], '["01", "a", null]'),
        (dt.timedelta(days=1, hours=2, seconds=3), "INTERVAL '1 02:00:03' DAY TO SECOND"),
        (-dt.timedelta(minutes=1, microseconds=500_000), "INTERVAL '-0 00:01:00.5' DAY TO SECOND"),
        (dt.date(2026, 1, 2), "2026-01-02"),
    ],
)
def test_values_of_a_query_in_every_form(value: object, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert output.value_text(value) == text
    document = {"rows": [{"v": value}], "columns": ["v"]}
    for form in (output.JSON, output.CSV):
        output.show(document, "", form, "rows")
    as_json, header, *cells = capsys.readouterr().out.splitlines()
    said = json.loads(as_json)["rows"][0]["v"]
    if value is None or isinstance(value, list):
        assert said == (None if value is None else ["01", "a", None])
        assert cells == ['""' if value is None else '"[""01"", ""a"", null]"']
    else:
        assert (said, header, cells) == (text, "v", [text])


def test_what_cannot_be_written_is_an_error_and_no_traceback(table: TableBuilder) -> None:
    for words in (["--version"], ["snapshots", str(table.root)], ["snapshots", str(table.root), "--json"]):
        with open("/dev/full", "w") as full:
            ended = subprocess.run([*CLI, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (
            1,
            "snapscope: error: The output cannot be written: No space left on device.\n",
        )


def test_a_plan_as_rows_is_what_it_deletes(ask: Ask, table: TableBuilder) -> None:
    words = ["plan", "expire", table.root, "--retain-max", "1", "--retain-min", "1", "--now", NOW]
    frees = json.loads(ask(*words, "--json")[1])["frees"]
    assert frees
    assert [json.loads(line) for line in ask(*words, "-o", "jsonl")[1].splitlines()] == frees
    rows = list(csv.DictReader(io.StringIO(ask(*words, "-o", "csv")[1])))
    assert [row["path"] for row in rows] == [each["path"] for each in frees]


def test_a_document_without_rows_is_one_row(ask: Ask, table: TableBuilder) -> None:
    [row] = csv.DictReader(io.StringIO(ask("as-of", table.root, "2", "-o", "csv")[1]))
    assert (row["snapshot"], row["before"], row["after"]) == ("2", "1", "3")


def test_an_error_has_its_remedy_on_the_next_line(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("files", table.root, "9")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "snapscope: error: Snapshot 9 is not retained.",
        "The nearest retained snapshot is 4.",
    ]
    for form in ("json", "jsonl"):
        status, out, err = ask("files", table.root, "9", "-o", form)
        assert (status, err) == (1, "")
        assert json.loads(out)["error"]["remedy"] == "The nearest retained snapshot is 4."
    assert ask("files", table.root, "9", "-o", "csv")[1] == ""
    assert json.loads(ask("files", table.root, "--bogus", "-o", "json")[1])["error"]["kind"] == "Invalid"
    assert ask("files", table.root, "-o", "xml")[0] == 2


def test_names_that_are_close_are_named(ask: Ask, table: TableBuilder) -> None:
    table.tag("release-1")
    assert "Did you mean tag:release-1?" in ask("files", table.root, "tag:relase-1")[2]
    assert f"Did you mean {table.root}?" in ask("tags", table.root.parent / "tt")[2]


def test_numbers_stand_to_the_right() -> None:
    text = output.grid(("name", "rows", "size"), [("a", "5", "1.2 MB"), ("bb", "1,000", "")])
    assert text.removeprefix(output.HEADING).splitlines() == [
        "name   rows    size",
        "a         5  1.2 MB",
        "bb    1,000",
    ]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("silencer", [None, "NO_COLOR", "TERM"])
def test_colours_are_for_terminals_that_want_them(
    table: TableBuilder, silencer: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb" if silencer == "TERM" else "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if silencer == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    table.tag("[red]x[/red]\x1b[2J")
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        assert main(["tags", str(table.root)]) == 0
    shown = terminal.getvalue()
    assert ("\x1b[1m" in shown) == (silencer is None)
    assert "\x1b[2J" not in shown, "a table's names do not steer the terminal"
    assert "[red]x[/red]\\x1b[2J" in shown
    assert output.HEADING not in shown


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "table"])
def test_no_name_steers_the_terminal(table: TableBuilder, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a\x1b[2J\x9b31m\x07"
    table.tag(name)
    shown = []
    for stream in (Terminal(), io.StringIO()):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setenv("NO_COLOR", "1")
            assert main(["tags", str(table.root), "-o", form]) == 0
        shown.append(stream.getvalue())
    assert not {"\x1b", "\x9b", "\x07"} & set(shown[0])
    if form in ("json", "jsonl"):
        found = json.loads(shown[0] if form == "json" else f"[{','.join(shown[0].splitlines())}]")
        assert name in [each["tag_name"] for each in found]
        assert shown[0] == shown[1]
    if form == "csv":
        assert name in shown[1], "a program gets it as it is"


def test_a_name_with_a_line_break_is_no_other_line_of_a_plan(
    table: TableBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "old\ntag:gold  kept  not part of this change"
    table.tag(name)
    assert main(["plan", "delete-tag", str(table.root), "--name", name]) == 0
    said = capsys.readouterr().out.splitlines()
    assert not [line for line in said if line.startswith("tag:gold")]
    assert [line for line in said if line.startswith("tag:old\\ntag:gold")]


def test_an_answer_without_rows_has_its_columns_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    output.show({"columns": ["a", "b"], "rows": []}, "", output.CSV, "rows")
    assert capsys.readouterr().out == "a,b\n"
