"""Reports in every format: HTML into a file as ever, or printed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.table import open_table
from dashboard.view_models import examples
from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import four_commits
from tests.support.iceberg_documents import document

NOW = "2026-02-01T00:00:00Z"
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    return four_commits(tmp_path / "default.db" / "t")


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: object) -> tuple[int, str, str]:
        status = main([*map(str, words)])
        return status, *capsys.readouterr()

    return run


def test_a_format_prints_the_state_of_a_table(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("report", table.root, "-o", "json", "--now", NOW)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["table"], found["at"]["snapshot"], found["problems"]) == (str(table.root), 4, [])
    assert [each["id"] for each in found["snapshots"]] == [1, 2, 3, 4]
    assert [each["point"] for each in found["tags"]] == ["tag:v"]
    assert sum(each["files"] for each in found["partitions"]) == found["at"]["files"] > 0
    assert found["held_bytes"] == sum(each["bytes"] for each in found["by_holders"])
    for words in (["--json"], ["--out", "json"], ["--output=json"], ["-ojson"]):
        assert json.loads(ask("report", table.root, *words, "--now", NOW)[1]) == found
    assert json.loads(ask("report", table.root, "--at", "2", "-o", "json")[1])["at"]["snapshot"] == 2


def test_rows_are_the_partitions(ask: Ask, table: TableBuilder) -> None:
    partitions = json.loads(ask("report", table.root, "-o", "json")[1])["partitions"]
    assert [json.loads(line) for line in ask("report", table.root, "-o", "jsonl")[1].splitlines()] == partitions
    rows = list(csv.DictReader(io.StringIO(ask("report", table.root, "-o", "csv")[1])))
    assert [int(row["bytes"]) for row in rows] == [each["bytes"] for each in partitions]


def test_as_text(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("report", table.root, "-o", "table")
    assert (status, err) == (0, "")
    assert out.startswith("At 4, committed ")
    assert "tag:v" in out


def test_html_is_what_the_file_says(ask: Ask, table: TableBuilder, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    status, printed, err = ask("report", table.root, "-o", "html", "--now", NOW)
    assert (status, err) == (0, "")
    assert printed.startswith("<!doctype html>")
    assert ask("report", table.root, "-o", path, "--now", NOW)[:2] == (0, f"Written to {path}.\n")
    assert path.read_text().rstrip() == printed.rstrip()
    written = json.loads(ask("report", table.root, "-o", path, "--now", NOW, "--json")[1])
    assert (written["report"], written["bytes"]) == (str(path), len(path.read_bytes()))


def test_a_difference_is_that_of_diff(ask: Ask, table: TableBuilder) -> None:
    report = ["report", table.root, "--diff", "2", "4"]
    found = json.loads(ask(*report, "-o", "json")[1])
    assert found.items() >= json.loads(ask("diff", table.root, "2", "4", "--json")[1]).items()
    assert ask(*report, "-o", "table")[1] == ask("diff", table.root, "2", "4")[1]
    assert ask(*report, "-o", "csv")[1] == ask("diff", table.root, "2", "4", "-o", "csv")[1]
    assert "<!doctype html>" in ask(*report, "-o", "html")[1]


@pytest.mark.parametrize("way", [[], ["--diff", "2", "4"]])
@pytest.mark.parametrize("out", ["table", "json", "csv", "html", "report.html"])
def test_a_zone_that_does_not_exist_is_rejected_in_every_format(
    ask: Ask, table: TableBuilder, tmp_path: Path, out: str, way: list[str]
) -> None:
    out = str(tmp_path / out) if "." in out else out
    status, printed, err = ask("report", table.root, *way, "-o", out, "--zone", "Mars")
    assert status == 1
    assert "not a valid time zone: 'Mars'." in printed + err


def test_text_states_times_in_the_requested_zone(ask: Ask, table: TableBuilder) -> None:
    out = ask("report", table.root, "-o", "table", "--zone", "Asia/Shanghai")[1]
    assert re.match(r"At 4, committed \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{3})? CST: ", out)


def test_nested_types_are_written_as_in_sql(ask: Ask, tmp_path: Path) -> None:
    of = {"type": "struct", "fields": [{"id": 3, "name": "x", "type": "long", "required": False}]}
    at = {"id": 2, "name": "at", "type": of, "required": False}
    fields = [{"id": 1, "name": "id", "type": "long", "required": True}, at]
    more = {
        "schemas": [{"type": "struct", "schema-id": 0, "fields": fields}],
        "partition-specs": [{"spec-id": 0, "fields": []}],
    }
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata/v1.metadata.json").write_text(json.dumps(document(2, f"file:{tmp_path}", **more)))
    assert re.search(r"^at +struct<x long>", ask("report", tmp_path, "-o", "table")[1], re.MULTILINE)
    assert "struct&lt;x long&gt;" in ask("report", tmp_path, "-o", "html")[1]
    assert json.loads(ask("report", tmp_path, "-o", "json")[1])["columns"][1]["type"] == of
    heads = open_table(str(tmp_path)).heads()
    assert heads.main.schema is not None
    assert [each.type for each in examples.columns(heads, heads.main.schema)] == ["long", "struct<x long>"]


def test_a_table_without_a_commit(ask: Ask, tmp_path: Path) -> None:
    TableBuilder(tmp_path / "empty")
    found = json.loads(ask("report", tmp_path / "empty", "-o", "json")[1])
    assert (found["at"], found["partitions"], found["snapshots"]) == (None, [], [])
    assert "No snapshot" in ask("report", tmp_path / "empty", "-o", "table")[1]


def test_neither_a_file_nor_a_format_is_a_misuse(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("report", table.root)
    assert (status, out) == (2, "")
    assert "-o json" in err


def test_what_could_not_be_read_is_in_the_document(ask: Ask, table: TableBuilder) -> None:
    name = json.loads((table.root / "snapshot/snapshot-4").read_text())["deltaManifestList"]
    (table.root / "manifest" / name).unlink()
    status, out, _ = ask("report", table.root, "--at", "1", "-o", "json")
    assert status == 1
    assert [each["path"] for each in json.loads(out)["problems"]] == [f"manifest/{name}"]
    assert f"Unreadable: manifest/{name}" in ask("report", table.root, "--at", "1", "-o", "table")[1]


def test_errors_are_in_the_format(ask: Ask, table: TableBuilder) -> None:
    status, out, err = ask("report", table.root, "--at", "9", "-o", "json")
    assert (status, json.loads(out)["error"]["kind"], err) == (1, "NotFound", "")
