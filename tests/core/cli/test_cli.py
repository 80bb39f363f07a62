"""The command line: one JSON document for every result and error, correct exit statuses, no traceback."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core import units
from core.catalog import DEMO_MARKER
from core.cli import main, running
from core.cli import on_spark as reading
from core.errors import Invalid
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Expire
from core.reports import json as answers
from core.table import Table, open_table
from tests.support.builders import START_MS, STATES, TableBuilder
from tests.support.depth import first_fast
from tests.support.formats.paimon.tables import four_commits
from tests.support.places import ROOT, TABLES

NOW = str(START_MS + 10**11)
EXPIRE = ("--retain-max", "1", "--retain-min", "1", "--now", NOW)


class Said(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out, parse_constant=refuse)


Ask = Callable[..., Said]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    def run(*words: object) -> Said:
        capsys.readouterr()
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Said(status, out, err)

    return run


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    (tmp_path / "w").mkdir()
    made = four_commits(tmp_path / "w" / "default.db" / "t")
    made.branch("dev", "v").commit([made.file()])
    return made


def errors(document: Any) -> list[str]:
    """Return the messages of a command that failed or returned only part of the result."""
    found = document if isinstance(document, list) else [document]
    return [each["error"]["message"] for each in found if "error" in each]


def commands(root: object) -> dict[str, list[str]]:
    """List every command that reads or plans a table."""
    at = str(root)
    return {
        "tables": ["tables", at],
        "snapshots": ["snapshots", at],
        "tags": ["tags", at],
        "branches": ["branches", at],
        "files": ["files", at],
        "files at": ["files", at, "latest"],
        "as-of": ["as-of", at, "latest"],
        "diff": ["diff", at, "earliest", "latest"],
        "plan expire": ["plan", "expire", at, *EXPIRE],
        "plan delete-tag": ["plan", "delete-tag", at, "--name", "v", "--now", NOW],
        "expire": ["expire", at, *EXPIRE],
        "delete-tag": ["delete-tag", at, "--name", "v"],
        "create-tag": ["create-tag", at, "--name", "x"],
        "holders": ["holders", at, "snapshot/snapshot-4"],
        "cost": ["cost", at],
        "orphans": ["orphans", at],
    }


QUESTIONS = [name for name in commands("") if name not in ("tables", "expire", "delete-tag", "create-tag")]


# one document each ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_one_document_or_a_text(ask: Ask, table: TableBuilder, name: str) -> None:
    words = commands(table.root)[name]
    for asked in ([*words, "--json"], ["--json", *words]):
        said = ask(*asked)
        assert (said.status, said.err) == (0, "")
        assert isinstance(said.json, dict | list)
    said = ask(*words)
    assert (said.status, said.err) == (0, "")
    assert said.out.strip()
    assert not said.out.startswith(("{", "["))


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is going to complete unfinished files."""
    heads = Table.heads
    monkeypatch.setattr(Table, "heads", lambda self, **_: heads(self))


def places(tmp_path: Path) -> dict[str, str]:
    """Everything that is not a table."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    (tmp_path / "ware/default.db").mkdir(parents=True)
    (tmp_path / "ice/metadata").mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing at all")
    return {
        "absent": str(tmp_path / "absent"),
        "file": str(tmp_path / "file"),
        "empty": str(tmp_path / "empty"),
        "warehouse": str(tmp_path / "ware"),
        "iceberg": str(tmp_path / "ice"),
        "loop": str(tmp_path / "loop"),
        "link to nothing": str(tmp_path / "gone"),
        "blank": "",
        "protocol": "nope://bucket/t",
        "zero byte": "a\0b",
        "chain": str(tmp_path / "a::b"),
        "long": "/" + "x" * 5000,
        "odd": "file://[::1",
    }


@pytest.mark.parametrize("name", [name for name in commands("") if name != "tables"])
def test_what_is_no_table_is_one_error(ask: Ask, tmp_path: Path, name: str) -> None:
    for what, location in places(tmp_path).items():
        words = commands(location)[name]
        said = ask(*words, "--json")
        assert said.status == 1, what
        assert list(said.json) == ["error"], what
        error = said.json["error"]
        assert list(error) == ["kind", "code", "message", "path", "remedy"]
        assert error["kind"] in {"NotFound", "Invalid", "Corrupt", "Unsupported", "Conflict"}
        assert error["message"]
        plain = ask(*words)
        assert (plain.status, plain.out) == (1, ""), what
        assert error["message"].splitlines()[0] in plain.err
        assert "Traceback" not in plain.err


@pytest.mark.parametrize(
    "state", first_fast(name for name in STATES if name not in ("10,000 snapshots", "table moved while viewing"))
)
def test_every_state_is_answered_by_every_command(
    ask: Ask, tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each named state, every command returns a result or says why not, in both formats."""
    impatient(monkeypatch)
    STATES[state].build(tmp_path)
    location = STATES[state].location(tmp_path)
    for name, words in commands(location).items():
        said = ask(*words, "--json")
        assert said.status in (0, 1), name
        if said.status:
            assert errors(said.json), name
        else:
            assert isinstance(said.json, dict | list), name
        plain = ask(*words)
        assert plain.status == said.status, name
        assert "Traceback" not in plain.err + plain.out
        if plain.status:
            assert plain.err.strip(), name


@pytest.mark.parametrize(
    "damage", first_fast(["snapshot/snapshot-4", "tag/tag-v", "schema/schema-0", "snapshot/snapshot-1"])
)
def test_unreadable_references_are_told_by_every_command(
    ask: Ask, table: TableBuilder, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    (table.root / damage).write_bytes(b'{"id": ')
    for name, words in commands(table.root).items():
        said, plain = ask(*words, "--json"), ask(*words)
        assert said.status == plain.status, name
        if said.status:
            assert errors(said.json), name
        assert "Traceback" not in plain.err


@pytest.mark.parametrize(
    ("command", "damage", "key", "name"),
    [("snapshots", "snapshot/snapshot-4", "id", 4), ("tags", "tag/tag-v", "tag_name", "v")],
)
def test_a_list_tells_what_could_not_be_read_and_is_no_success(
    ask: Ask, table: TableBuilder, command: str, damage: str, key: str, name: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    whole = {each[key] for each in ask(command, str(table.root), "--json").json}
    (table.root / damage).write_bytes(b'{"id": ')
    said = ask(command, str(table.root), "--json")
    assert said.status == 1
    assert {each[key] for each in said.json} == whole
    assert [each[key] for each in said.json if "error" in each] == [name]
    plain = ask(command, str(table.root))
    assert (plain.status, "Unreadable" in plain.out) == (1, True)
    assert plain.err.strip()


def test_plans_of_a_warehouse_fail_where_one_table_does(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    warehouse = str(table.root.parents[1])
    TableBuilder(table.root.parent / "other").commit([])
    assert ask("plan", "expire", "--all", warehouse, *EXPIRE, "--json").status == 0
    (table.root / "snapshot/snapshot-4").write_bytes(b"{")
    said = ask("plan", "expire", "--all", warehouse, *EXPIRE, "--json")
    assert said.status == 1
    assert {("error" in each, "frees" in each) for each in said.json} == {(True, False), (False, True)}


def test_a_table_beside_a_warehouse_is_refused(ask: Ask, table: TableBuilder) -> None:
    """Otherwise one of the two would be silently ignored."""
    said = ask("plan", "expire", table.root, "--all", table.root.parents[1], *EXPIRE, "--json")
    assert (said.status, said.json["error"]["kind"]) == (1, "Invalid")


USAGE = [
    ["nothing"],
    ["snapshots"],
    ["files", "t", "1", "2"],
    ["as-of"],
    ["diff", "t", "1"],
    ["plan"],
    ["plan", "nothing"],
    ["plan", "delete-tag", "t"],
    ["plan", "expire", "t", "--retain-max", "many"],
    ["plan", "expire", "t", "--retain-max", "1.5"],
    ["plan", "expire", "t", "--rules", "3.x"],
    ["plan", "expire", "t", "--bogus"],
    ["expire", "t", "--max-deletes"],
    ["create-tag", "t"],
    ["replace-tag", "t", "--name", "x", "--verify"],
    ["delete-tag", "t"],
    ["query", "t"],
    ["demo"],
    ["serve", "w", "--port", "x"],
    ["--branch", "x"],
    ["snapshots", "t", "--now", "5"],
    ["audit", "--run", "x", "--verify"],
    ["audit", "--export", "csv", "--run", "x"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_a_command_line_that_is_none(ask: Ask, words: list[str]) -> None:
    said = ask(*words, "--json")
    assert said.status == 2
    assert said.json["error"]["kind"] == "Invalid"
    assert "--help" in said.json["error"]["remedy"]
    plain = ask(*words)
    assert (plain.status, plain.out) == (2, "")
    assert plain.err.startswith("snapscope: error: ")


def test_no_command_is_a_misuse_that_shows_the_help(ask: Ask) -> None:
    """The exit status is that of any misuse, as always; with --json it is still an error document."""
    plain = ask()
    assert (plain.status, plain.err) == (2, "")
    assert plain.out.startswith("usage: snapscope")
    said = ask("--json")
    assert said.status == 2
    assert "--help" in said.json["error"]["remedy"]


VALUES = [
    ["files", "latest~99"],
    ["files", "nonsense"],
    ["files", "latest", "--at", "1"],
    ["as-of", "latest", "--at", "1"],
    ["files", "--at", ""],
    ["files", ""],
    ["manifests", "--at", ""],
    ["columns", ""],
    ["health", "--at", ""],
    ["report", "-o", "table", "--at", ""],
    ["files", "tag:nothing"],
    ["files", "branch:nothing"],
    ["files", "time:01/02/2026"],
    ["files", "--branch", "nothing"],
    ["as-of", "time:yesteryear"],
    ["as-of", "9" * 30],
    ["diff", "1", "99"],
    ["diff", "", "1"],
    ["snapshots", "--branch", "nothing"],
    ["tags", "--branch", "nothing"],
    ["plan expire", "--retain-min", "0"],
    ["plan expire", "--retain-max", "0", "--retain-min", "0"],
    ["plan expire", "--retain-max", "1", "--retain-min", "2"],
    ["plan expire", "--older-than", "01/02/2026"],
    ["plan expire", "--older-than", "-5"],
    ["plan expire", "--time-retained", "soon"],
    ["plan expire", "--time-retained", "1.5 h"],
    ["plan expire", "--max-deletes", "0"],
    ["plan expire", "--now", "never"],
    ["plan expire", "--drop-tag", "nothing"],
    ["plan expire", "--snapshot", "²"],
    ["plan expire", "--snapshot", "x"],
    ["plan expire", "--snapshot", "9" * 5000],
    ["plan expire", "--branch", "nothing"],
    ["plan expire", "--now", "9" * 18, "--expired-tags"],
    ["plan delete-tag", "--name", "nothing"],
    ["plan delete-tag", "--name", ""],
    ["create-tag", "--name", "a/b"],
    ["create-tag", "--name", ""],
    ["create-tag", "--name", "x", "--snapshot", "99"],
    ["create-tag", "--name", "x", "--snapshot", "²"],
    ["create-tag", "--name", "x", "--snapshot", "-1"],
    ["create-tag", "--name", "x", "--time-retained", "0 d"],
    ["create-tag", "--name", "x", "--time-retained", "a while"],
    ["create-tag", "--name", "x", "--now", "9" * 18, "--time-retained", "1 d", "--yes"],
    ["create-tag", "--name", "x", "--time-retained", "9" * 15 + " d", "--now", "0", "--branch", "nothing"],
    ["holders", "no/such/file"],
    ["holders", "../../etc/passwd"],
    ["holders", "snapshot/snapshot-1", "--branch", "nothing"],
    ["orphans", "--older-than", "tomorrow"],
    ["orphans", "--now", "2999-01-01T00:00:00Z"],
    ["orphans", "--now", "2999-01-01T00:00:00Z", "--older-than", "2998-12-31T00:00:00Z"],
    ["cost", "--now", "x"],
    ["resume", "no such run"],
    ["undo", "no such run"],
]


@pytest.mark.parametrize("words", VALUES, ids=lambda words: " ".join(words)[:60])
def test_a_value_that_cannot_be_is_one_error(ask: Ask, table: TableBuilder, words: list[str]) -> None:
    before = tree(table.root)
    command = words[0].split()
    where = [] if words[0] in ("resume", "undo") else [str(table.root)]
    # `=`, so that a value may start with a dash
    rest = [
        f"{word}={words[1:][at + 1]}"
        if word.startswith("--") and at + 1 < len(words[1:]) and word not in FLAGS
        else word
        for at, word in enumerate(words[1:])
        if not (at and words[1:][at - 1].startswith("--") and words[1:][at - 1] not in FLAGS)
    ]
    said = ask(*command, *where, *rest, "--json")
    assert said.status in (1, 2), said.out
    assert said.json["error"]["message"]
    plain = ask(*command, *where, *rest)
    assert plain.status == said.status
    assert plain.err.strip()
    assert tree(table.root) == before


FLAGS = {"--yes", "--expired-tags"}


def test_a_time_beyond_the_calendar_is_a_time(ask: Ask, table: TableBuilder) -> None:
    """It is not the current time, and ages can still be computed."""
    for now in ("9" * 18, "-" + "9" * 18):
        said = ask("plan", "expire", table.root, "--retain-max", "1", "--retain-min", "1", f"--now={now}", "--json")
        assert (said.status, said.err) == (0, "")
        assert said.json["now_ms"] == int(now)
    assert ask("cost", table.root, f"--now={'9' * 18}", "--json").status == 0


@pytest.mark.parametrize("words", [["--help"], ["plan", "--help"], ["expire", "--help"], ["files", "-h"]], ids=" ".join)
def test_help_is_no_error(ask: Ask, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 0
    assert "usage: snapscope" in capsys.readouterr().out


def test_a_word_that_asks_for_json_may_stand_anywhere(ask: Ask, table: TableBuilder) -> None:
    first = ask("files", table.root, "--json").json
    assert ask("--json", "files", table.root).json == first
    assert ask("files", "--json", table.root, "latest").json == first


# keys ----------------------------------------------------------------------------------------------------------------

SEED = [
    *("version", "id", "schema_id", "base_manifest_list", "delta_manifest_list", "changelog_manifest_list"),
    *("index_manifest", "commit_user", "commit_identifier", "commit_kind", "time_millis", "log_offsets"),
    *("total_record_count", "delta_record_count", "changelog_record_count", "watermark", "statistics"),
]


def test_keys_of_files(ask: Ask, table: TableBuilder) -> None:
    said = ask("files", table.root, "4", "--json").json
    assert {tuple(row) for row in said} == {("path", "bytes", "rows", "partition", "bucket", "level")}
    assert [row["path"] for row in said] == sorted(f"bucket-0/{file.name}" for file in table.live())
    assert {type(row[key]) for row in said for key in ("bytes", "rows", "bucket", "level")} == {int}
    assert ask("files", table.root, "--at", "tag:v", "--json").json == ask("files", table.root, "2", "--json").json
    assert (
        ask("files", table.root, "latest", "--branch", "dev", "--json").json
        == ask("files", table.root, "branch:dev", "--json").json
    )


def test_keys_of_snapshots_and_tags(ask: Ask, table: TableBuilder) -> None:
    said = ask("snapshots", table.root, "--json").json
    assert [row["id"] for row in said] == [1, 2, 3, 4]
    assert all(list(row)[: len(SEED)] == SEED for row in said)
    assert said[0]["commit_identifier"] == 2**63 - 1, "an integer, exact beyond doubles"
    assert said[0]["watermark"] is None
    [tag] = ask("tags", table.root, "--json").json
    assert tag["tag_name"] == "v"
    assert tag["id"] == 2
    assert set(SEED) <= set(tag)
    assert [row["id"] for row in ask("snapshots", table.root, "--branch", "dev", "--json").json] == [2, 3]


def test_unknown_fields_are_shown(ask: Ask, table: TableBuilder) -> None:
    table.commit([], fields={"nextRowId": 2**60, "uuid": "u", "deepThing": {"a": [1]}})
    last = ask("snapshots", table.root, "--json").json[-1]
    assert (last["next_row_id"], last["uuid"], last["deep_thing"]) == (2**60, "u", {"a": [1]})


def test_keys_of_as_of(ask: Ask, table: TableBuilder) -> None:
    said = ask("as-of", table.root, f"time:{START_MS + 5_000_000}", "--json").json
    assert {"snapshot", "committed_at_ms", "rule", "before", "after", "engine"} <= set(said)
    assert (said["snapshot"], said["before"], said["after"], said["engine"]) == (2, 1, 3, 2)
    assert said["committed_at_ms"] == START_MS + 3_600_000
    assert ask("as-of", table.root, "--at", "1", "--json").json["before"] is None
    assert ask("as-of", table.root, "--json").json == ask("as-of", table.root, "latest", "--json").json


def test_keys_of_diff(ask: Ask, table: TableBuilder) -> None:
    said = ask("diff", table.root, "1", "4", "--json").json
    assert {"added", "removed", "summary"} <= set(said)
    for side in ("added", "removed"):
        assert all({"path", "bytes", "rows"} <= set(row) for row in said[side])
        assert said["summary"][f"{side}_files"] == len(said[side])
    assert ask("diff", table.root, "tag:v", "branch:dev", "--json").status == 0


ISSUED = {
    "table",
    "change",
    "rules",
    "fingerprint",
    "now_ms",
    "points",
    "frees",
    "freed_bytes",
    "kept_bytes",
    "warnings",
}


def test_keys_of_plans(ask: Ask, table: TableBuilder) -> None:
    for words in (["expire", table.root, *EXPIRE], ["delete-tag", table.root, "--name", "v", "--now", NOW]):
        said = ask("plan", *words, "--json").json
        assert set(said) >= ISSUED
        assert said["now_ms"] == int(NOW)
        assert {tuple(row) for row in said["frees"]} == {("path", "kind", "bytes")}
        assert {tuple(row) for row in said["points"]} == {("point", "keep", "reasons", "codes")}
        assert said["freed_bytes"] == sum(row["bytes"] for row in said["frees"])
        assert said["fingerprint"] == ask("plan", *words, "--json").json["fingerprint"]


def test_a_plan_of_an_expiry_tells_what_the_next_commit_does_by_itself(ask: Ask, table: TableBuilder) -> None:
    table.schema(options={"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"})
    words = ["plan", "expire", table.root, *EXPIRE]
    told = ask(*words, "--json").json["next_commit"]
    assert set(told) >= {"branch", "headline", "goes", "breaks", "prevented_by"}
    assert told["prevented_by_codes"][0] == "tag-it"
    assert told["goes"] == ["1", "2", "3"]
    text = ask(*words).out
    for sentence in (told["headline"], *told["breaks"], *told["prevented_by"]):
        assert sentence in text
    assert "Tag snapshot 3 to keep it." in text
    words[2:3] = [table.root, "--branch", "dev"]
    assert ask(*words, "--json").json["next_commit"]["branch"] == "dev"
    assert ask("plan", "delete-tag", table.root, "--name", "v", "--json").json["next_commit"] is None
    all_of_them = ["plan", "expire", "--all", table.root.parent.parent, *EXPIRE]
    assert [each["next_commit"] for each in ask(*all_of_them, "--json").json] == [told]
    assert "Expires 3 snapshots (1–3); the next commit expires 3 automatically" in ask(*all_of_them).out


def test_the_cost_tells_when_each_point_goes(ask: Ask, table: TableBuilder) -> None:
    said = ask("cost", table.root, "--now", NOW, "--json").json
    assert [each["point"] for each in said["snapshots"]][:4] == ["1", "2", "3", "4"]
    text = ask("cost", table.root, "--now", NOW).out
    for each in (*said["snapshots"], *said["tags"]):
        assert each["expires"] in text


def test_the_cost_is_that_of_the_branch(ask: Ask, table: TableBuilder) -> None:
    table.tag("cut", 2)
    branch = table.branch("dev", "cut")
    branch.commit([branch.file()])
    table.delete_tag("cut")
    told = {name: ask("cost", table.root, "--branch", name, "--json").json for name in ("main", "dev")}
    assert [len(each["retention"]) for each in told.values()] == [len(table.commits), 2]
    named = {name: {tag for each in said["best_drops"] for tag in each["tags"]} for name, said in told.items()}
    assert ("cut" in named["main"], "cut" in named["dev"]) == (False, True)


def test_more_tags_than_can_be_chosen_from_hide_nothing_else(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.analysis.storage_cost.MAX_DROPPABLE", 0)
    said = ask("cost", table.root, "--json").json
    assert said["best_drops"] == []
    assert "tags are too many to compare; the limit is" in said["best_drops_untold"]
    assert said["tags"]
    assert said["best_drops_untold"] in ask("cost", table.root).out


def test_keys_of_tables(ask: Ask, table: TableBuilder, tmp_path: Path) -> None:
    said = ask("tables", tmp_path / "w", "--json").json
    assert said == [{"database": "default", "name": "t", "format": "paimon", "location": str(table.root)}]
    (tmp_path / "none").mkdir()
    assert ask("tables", tmp_path / "none", "--json").json == []
    assert "No tables" in ask("tables", tmp_path / "none").out
    assert ask("tables", tmp_path / "nothing", "--json").json["error"]["kind"] == "NotFound"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir()))
def test_every_real_table_is_answered(ask: Ask, name: str) -> None:
    root = TABLES / "paimon" / "default.db" / name
    for question in QUESTIONS:
        words = commands(root)[question]
        if question == "plan delete-tag":
            tags = ask("tags", root, "--json").json
            if not tags:
                continue
            words = ["plan", "delete-tag", str(root), "--name", tags[0]["tag_name"]]
        if question == "holders":
            last = ask("snapshots", root, "--json").json[-1]["id"]
            words = ["holders", str(root), f"snapshot/snapshot-{last}"]
        said = ask(*words, "--json")
        assert said.status == 0, (question, said)
        assert said.json is not None
        assert ask(*words).status == 0


# changes -------------------------------------------------------------------------------------------------------------


def demo(table: TableBuilder) -> None:
    (table.root.parents[1] / DEMO_MARKER).touch()


def test_a_plan_that_was_approved_is_run_and_no_other(ask: Ask, table: TableBuilder) -> None:
    words = commands(table.root)["expire"]
    shown = ask("plan", *words, "--json").json["fingerprint"]
    before = tree(table.root)
    for other in ("0" * 16, shown[:7], ""):
        said = ask(*words, "--yes", "--settle", "0 s", "--plan", other, "--json")
        assert (said.status, said.json["error"]["kind"]) == (1, "Conflict")
    assert tree(table.root) == before
    assert ask(*words, "--yes", "--settle", "0 s", "--plan", shown[:16]).status == 0
    assert tree(table.root) != before


@pytest.mark.parametrize("command", ["expire", "delete-tag", "create-tag"])
def test_nobody_there_to_confirm(ask: Ask, table: TableBuilder, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    demo(table)
    before = tree(table.root)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    said = ask(*commands(table.root)[command], "--json")
    assert (said.status, said.json["error"]["kind"]) == (1, "Invalid")
    assert "--yes" in said.json["error"]["remedy"]
    assert ask(*commands(table.root)[command]).status == 1
    assert tree(table.root) == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("command", ["expire", "delete-tag", "create-tag"])
def test_a_person_types_what_the_danger_asks_for(
    ask: Ask, table: TableBuilder, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(table.root)
    words = [*commands(table.root)[command], "--settle", "0 s"]

    def typing(text: str) -> Said:
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        said = ask(*words)
        assert "Traceback" not in said.err
        return said

    asked = re.search(r"Type (.+) to go ahead", typing("").out)
    assert asked
    phrase = asked[1]
    name = open_table(str(table.root)).name
    assert re.fullmatch({"expire": name, "delete-tag": "v", "create-tag": "yes"}[command], phrase)
    for wrong in ("\n", "y\n", f"{phrase}0\n", f"{phrase[:-1]}\n", f"{phrase.upper()}\n"):
        assert typing(wrong).status == 1
    assert tree(table.root) == before
    assert typing(f"{phrase}\n").status == 0
    assert tree(table.root) != before


def test_a_search_for_orphans_says_on_a_terminal_that_it_begins(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo(table)
    assert ask("orphans", table.root).err == ""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert ask("orphans", table.root, "--json").status == 0
    assert shown.getvalue() == ""
    assert ask("orphans", table.root).status == 0
    assert shown.getvalue() == "Searching for orphans; press Ctrl-C to stop.\n"


def test_a_change_is_one_document_with_its_receipt(ask: Ask, table: TableBuilder) -> None:
    demo(table)
    planned = ask("plan", *commands(table.root)["expire"], "--json").json
    said = ask(*commands(table.root)["expire"], "--yes", "--settle", "0 s", "--json")
    assert (said.status, said.err) == (0, "")
    assert {key: said.json[key] for key in ISSUED} == {key: planned[key] for key in ISSUED}
    receipt = said.json["receipt"]
    assert receipt["outcome"] == "done"
    assert sorted(receipt["deleted"]) == sorted(row["path"] for row in planned["frees"])
    assert receipt["freed_bytes"] == planned["freed_bytes"]
    again = ask(*commands(table.root)["expire"], "--yes", "--json")
    assert (again.status, again.json["receipt"]) == (0, None)


def test_the_journal_as_csv_is_what_its_reader_reads(ask: Ask, table: TableBuilder) -> None:
    assert ask("create-tag", table.root, "--name", "x", "--yes", "--json").status == 0
    (_, *rows) = list(csv.reader(io.StringIO(ask("audit", "--export", "csv").out)))
    events = ask("audit", "--export", "json", "--json").json
    assert [row[-1] for row in rows if row] == [event["hash"] for event in events]


def test_who_undid_a_run_is_shown_beside_who_started_it(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    opened = open_table(str(table.root))
    run = apply(
        opened, opened.preview(Expire(retain_max=1, retain_min=1), int(NOW)), settle_s=0, cancelled=lambda: True
    ).run
    assert "then" not in ask("audit").out
    monkeypatch.setenv("LOGNAME", "bob")
    assert ask("undo", run).status == 0
    said = ask("audit", "--run", run)
    assert "by alice@" in said.out
    assert ", then bob@" in said.out
    assert ", then bob@" in ask("audit").out
    assert [each.partition("@")[0] for each in ask("audit", "--json").json[0]["others"]] == ["bob"]
    assert "bob@" in ask("audit", "--export", "csv").out


@pytest.mark.parametrize(
    "words",
    [["expire", "--retain-max", "1"], ["create-tag", "--name", "x"], ["delete-tag", "--name", "v"]],
    ids=lambda words: words[0],
)
def test_a_state_directory_that_is_none_changes_nothing(
    ask: Ask, table: TableBuilder, words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = tree(table.root)
    (tmp_path / "a file").touch()
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / "a file"))
    said = ask(words[0], table.root, *words[1:], "--settle", "0 s", "--yes", "--json")
    assert said.status == 1
    assert "a file" in said.json["error"]["path"]
    assert tree(table.root) == before


@pytest.mark.parametrize("words", [["--verify"], ["--export", "csv"], ["--export", "json"]], ids=" ".join)
def test_the_whole_journal_is_not_that_of_one_table(ask: Ask, table: TableBuilder, words: list[str]) -> None:
    said = ask("audit", table.root, *words)
    assert (said.status, said.out) == (1, "")
    assert "for the whole journal" in said.err


def test_the_journal_is_exported_as_csv_or_as_json(ask: Ask) -> None:
    said = ask("audit", "--export", "csv", "--json")
    assert (said.status, said.json["error"]["code"]) == (1, "invalid")


def test_a_run_of_another_table_is_not_shown_as_one_of_this(ask: Ask, table: TableBuilder, tmp_path: Path) -> None:
    other = four_commits(tmp_path / "other.db" / "t")
    run = ask("create-tag", table.root, "--name", "x", "--yes", "--json").json["receipt"]["run"]
    assert ask("audit", table.root, "--run", run).out == ask("audit", "--run", run).out
    said = ask("audit", other.root, "--run", run)
    assert (said.status, said.out) == (1, "")
    assert f"Run {run} is of {table.root}, not of {other.root}." in said.err


@pytest.mark.parametrize("words", [[], ["--run", "x"], ["--verify"], ["--export", "json"]])
def test_a_journal_that_cannot_be_is_not_an_empty_one(
    ask: Ask, words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / "a file"))
    said = ask("audit", *words, "--json")
    assert said.status == 1
    assert "a file" in said.json["error"]["path"]
    assert "SNAPSCOPE_STATE" in said.json["error"]["remedy"]
    monkeypatch.setenv("SNAPSCOPE_STATE", str(tmp_path / "nothing yet"))
    assert ask("audit", "--json").json == []


def test_a_file_may_be_named_by_where_it_lies(ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ask("files", table.root, "--json").json[0]["path"]
    told = ask("holders", table.root, path, "--now", NOW, "--json").json
    assert told["path"] == path
    (table.root.parent / "link").symlink_to(table.root)
    for written in (table.root / path, f"file://{table.root}/{path}", f"./{path}", table.root.parent / "link" / path):
        assert ask("holders", table.root, written, "--now", NOW, "--json").json == told
    for elsewhere in ("/etc/passwd", f"{table.root}-beside/{path}", f"memory://{table.root}/{path}"):
        error = ask("holders", table.root, elsewhere, "--json").json["error"]
        assert error["kind"] == "Invalid"
        assert "is not inside" in error["message"]


def test_nothing_is_waited_for_where_nothing_is_deleted(ask: Ask) -> None:
    said = ask("undo", "run", "--settle", "1 s", "--json")
    assert said.status == 2
    assert "--settle" in said.json["error"]["message"]


def test_tags_are_made_and_deleted(ask: Ask, table: TableBuilder) -> None:
    demo(table)
    assert ask("create-tag", table.root, "--name", "x", "--snapshot", "3", "--yes", "--json").status == 0
    assert (table.root / "tag/tag-x").read_bytes() == (table.root / "snapshot/snapshot-3").read_bytes()
    taken = ask("create-tag", table.root, "--name", "x", "--yes", "--json")
    assert (taken.status, taken.json["error"]["kind"]) == (1, "Invalid")
    said = ask("create-tag", table.root, "--name", "y", "--time-retained", "36 h", "--yes", "--json")
    assert said.json["receipt"]["created"] == ["tag/tag-y"]
    tags = {row["tag_name"]: row for row in ask("tags", table.root, "--json").json}
    assert tags["y"]["tag_time_retained"] == 129_600
    done = ask(
        "delete-tag", table.root, "--name", "x", "--name", "y", "--name", "x", "--yes", "--settle", "0 s", "--json"
    )
    assert sorted(done.json["receipt"]["deleted"]) == ["tag/tag-x", "tag/tag-y"]


@pytest.mark.parametrize("settle", ["soon", "-1 s", "999999999999999 d"])
def test_a_wait_that_cannot_be_waited_changes_nothing(ask: Ask, table: TableBuilder, settle: str) -> None:
    demo(table)
    before = tree(table.root)
    said = ask(*commands(table.root)["expire"], "--yes", f"--settle={settle}", "--json")
    assert (said.status, said.json["error"]["kind"]) == (1, "Invalid")
    assert tree(table.root) == before


# terminals and pipes -------------------------------------------------------------------------------------------------


def spawn(words: list[str], **more: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "import sys; from core.cli import main; sys.exit(main())", *words]
    return subprocess.run(command, cwd=ROOT, timeout=600, check=False, **more)


class Terminal8(NamedTuple):
    status: int
    out: bytes
    err: bytes


def on_terminal(encoding: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> Terminal8:
    """Encode output as for a terminal of that encoding; unsupported characters would raise."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict") for _ in range(2)]
    with monkeypatch.context() as patch:
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        status = main(words)
    sent = []
    for stream in streams:
        stream.flush()
        sent.append(stream.buffer.getvalue())
        stream.close()
    return Terminal8(status, *sent)


@pytest.fixture
def odd(tmp_path: Path) -> TableBuilder:
    """Names that terminals cannot show: other scripts, control characters, bytes that are not text."""
    made = TableBuilder(tmp_path / "default.db" / "日本", partition_keys=["dt"])
    made.commit([made.file(partition=("ünï",))], user="me\x07")
    for name in ("日本", "clear\x1b[2Jscreen", "two\nlines", "tab\there"):
        made.tag(name)
    shutil.copy(os.fsencode(made.root / "tag/tag-日本"), os.fsencode(made.root / "tag") + b"/tag-\xff\xfe")
    return made


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("name", ["snapshots", "tags", "plan expire", "files"])
def test_any_terminal_gets_an_answer(
    odd: TableBuilder, encoding: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = commands(odd.root)[name]
    plain = on_terminal(encoding, words, monkeypatch)
    assert (plain.status, plain.err) == (0, b"")
    assert b"\x1b" not in plain.out, "a table's names do not steer the terminal"
    said = on_terminal(encoding, [*words, "--json"], monkeypatch)
    assert (said.status, said.err) == (0, b"")
    document = json.loads(said.out.decode(encoding))
    if name == "tags":
        expected = {"日本", "clear\x1b[2Jscreen", "two\nlines", "tab\there", "\\xff\\xfe"}
        assert {row["tag_name"] for row in document} == expected
        assert len(plain.out.splitlines()) == 1 + len(expected)


def test_an_error_with_odd_names_reaches_any_terminal(odd: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("utf-8", "ascii"):
        done = on_terminal(encoding, ["files", str(odd.root), "tag:nö\x1b[0m"], monkeypatch)
        assert (done.status, done.out) == (1, b"")
        assert done.err.startswith(b"snapscope: error: ")
        assert b"\x1b" not in done.err


@pytest.mark.parametrize("lines", [0, 2])
@pytest.mark.parametrize("form", first_fast([[], ["--json"]]))
def test_a_reader_may_leave_early(table: TableBuilder, lines: int, form: list[str]) -> None:
    """`snapscope … | head`: no traceback, whether the output fits into the pipe or not."""
    for _ in range(300):
        table.tag(f"a tag with quite a long name to fill the pipe {_}")
    command = [sys.executable, "-c", "import sys; from core.cli import main; sys.exit(main())", "tags", str(table.root)]
    with subprocess.Popen([*command, *form], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert said == b""


def test_a_short_answer_into_a_closed_pipe(table: TableBuilder) -> None:
    """The output fits the buffer, so the closed pipe is only noticed at the end."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = spawn(["as-of", str(table.root), "latest"], stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert done.stderr == b""
    assert done.returncode != 0


def test_stopped_by_hand(ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> Mapping[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(answers, "as_of", stop)
    said = ask("as-of", table.root, "latest")
    assert (said.status, said.out, said.err) == (130, "", "Interrupted.\n")


def test_a_change_stopped_by_hand_says_how_it_ends(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while waiting for writers: nothing is broken, and the output names resume and undo."""
    demo(table)
    told = running._waits

    def waits(seconds: float) -> None:
        told(seconds)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(running, "_waits", waits)
    before = signal.getsignal(signal.SIGINT)
    said = ask(*commands(table.root)["expire"], "--yes", "--settle", "10 min")
    [run] = Journal().runs()
    assert said.status == 1
    assert "cancelled: " in said.out
    assert f"snapscope resume {run.id}" in said.out
    assert f"snapscope undo {run.id}" in said.out
    assert "Waiting 600 s for running writers" in said.err
    assert signal.getsignal(signal.SIGINT) is before
    assert ask("undo", run.id).status == 0


def test_a_second_interruption_names_how_the_run_was_begun(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo(table)
    monkeypatch.setattr(Table, "on_spark", True)

    def waits(seconds: float) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(running, "_waits", waits)
    said = ask(*commands(table.root)["expire"], "--yes", "--settle", "10 min")
    [run] = Journal().runs()
    assert said.status == 130
    assert (
        f"Finish it: snapscope resume {run.id} --on-spark, or undo it: snapscope undo {run.id} --on-spark\n" in said.err
    )


def test_a_change_is_undone_with_what_spark_reads(
    ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is resumed: what one process cannot read can be undone, too."""
    opened, on_spark = open_table(str(table.root)), list[str]()
    plan = opened.preview(Expire(retain_max=1, retain_min=1), int(NOW))
    run = apply(opened, plan, settle_s=0, cancelled=lambda: True).run

    def opens(location: str) -> Table:
        on_spark.append(location)
        return opened

    monkeypatch.setattr(reading, "opener", lambda: nullcontext(opens))
    said = ask("undo", run, "--on-spark", "--json")
    assert (said.status, on_spark) == (0, [opened.location])
    assert sorted(said.json["restored"]) == [f"snapshot/snapshot-{number}" for number in (1, 2, 3)]
    assert said.json["metadata_read_by"] == "Spark (local)"


def test_points_with_one_reason_share_a_line(ask: Ask, table: TableBuilder) -> None:
    for _ in range(8):
        table.commit([table.file()])
    lines = ask("plan", "expire", table.root, "--retain-max", "9", "--retain-min", "9", "--now", NOW).out.splitlines()
    assert any(re.match(r"4 … 12 \(9 snapshots\) +kept +among the newest 9 \(retain-min\)", line) for line in lines)
    assert [line.split()[0] for line in lines if " EXPIRES " in line] == ["1", "2", "3"]


def test_a_query_says_that_spark_starts(ask: Ask, table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes seconds; but never together with a document."""
    from core.spark.sql import run as sql

    def start(_: object, **_how: object) -> None:
        raise Invalid("Not here.")

    monkeypatch.setattr(sql, "run_on_spark", start)
    assert "Starting Spark…" in ask("query", table.root, "select 1").err
    assert "Starting Spark…" not in ask("query", table.root, "select 1", "--json").err


@pytest.mark.parametrize("command", ["cost", "holders", "report"])
def test_an_answer_from_a_history_that_is_not_whole_says_so(
    command: str, ask: Ask, table: TableBuilder, tmp_path: Path
) -> None:
    """`cost` used to show what would be freed and exit with 0, although the files of one snapshot could not be read."""
    path = open_table(str(table.root)).history().files["path"][0].as_py()
    more = {"cost": [], "holders": [path], "report": ["--at", "1", "-o", str(tmp_path / "r.html")]}[command]
    whole = ask(command, table.root, *more, "--json")
    assert (whole.status, whole.json.get("problems", [])) == (0, [])
    name = json.loads((table.root / "snapshot/snapshot-4").read_text())["deltaManifestList"]
    (table.root / "manifest" / name).unlink()
    said = ask(command, table.root, *more, "--json")
    assert said.status == 1
    if command == "report":
        assert name in (tmp_path / "r.html").read_text()
        return
    assert [each["path"] for each in said.json["problems"]] == [f"manifest/{name}"]
    assert f"Unreadable: manifest/{name}" in ask(command, table.root, *more).out
    if command == "cost":
        assert said.json["retention"] == said.json["best_drops"] == []
        assert {each["exclusive_now_bytes"] for each in said.json["tags"]} <= {None}
        assert whole.json["retention"]
        assert "At least" in ask("cost", table.root).out


@pytest.mark.parametrize(
    "words",
    [
        ["query", "select 1", "--timeout", "200"], ["query", "select 1", "--hold", "60"],
        ["diff", "1", "2", "--rows", "--timeout", "200"], ["bisect", "true", "--timeout", " 200 "],
        ["expire", "--time-retained", "7"], ["expire", "--changelog-time-retained", "7"],
        ["expire", "--retain-max", "1", "--settle", "30", "--yes"],
        ["create-tag", "--name", "x", "--time-retained", "86400000"], ["protect", "1", "--time-retained", "7"],
        ["create-branch", "b", "--max-snapshot-age", "5"],
    ],
)  # fmt: skip
def test_a_duration_without_a_unit_is_refused(table: TableBuilder, ask: Ask, words: list[str]) -> None:
    said = ask(words[0], table.root, *words[1:], "--json")
    assert said.status != 0
    text = next(each for each in words if each.strip().isdecimal() and each not in ("1", "2"))
    error = said.json["error"]
    assert error["message"].startswith(f"{text!r} has no unit.")
    given = text.strip()
    assert error["remedy"] == f"Write {given} d, {given} h, {given} s or {given} ms."


def test_a_duration_is_one_that_can_be_waited_for(table: TableBuilder, ask: Ask) -> None:
    for text in ("999999999 d", "100001 d", "1 µs", "999 us", "1 ns"):
        said = ask("query", table.root, "select 1", "--timeout", text, "--json")
        assert said.status != 0
        assert "shorter than a millisecond or longer than 100,000 days" in said.json["error"]["message"]
    assert [units.parse_user_duration_ms(f"5000 {unit}") for unit in ("µs", "\u03bcs", "us")] == [5, 5, 5]
    assert units.parse_user_duration_ms("100000 d") / 1000 < threading.TIMEOUT_MAX
    assert [units.parse_user_duration_ms(text) for text in ("0", "0 s", "00 ns")] == [0, 0, 0]


def test_one_row_is_told_as_one(ask: Ask, tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "shop.db" / "one")
    table.commit([table.file(rows=1)])
    table.commit([table.file(rows=1)])
    told = ask("diff", table.root, "1", "2").out
    assert "+1 row in files" in told
    assert "1 file, " in told
    assert ", 1 row (of which compaction" in told
    assert "-1 row in files" in ask("diff", table.root, "2", "1").out
    assert ": 1 row in 1 file" in ask("report", table.root, "--at", "1", "-o", "table").out


def test_a_place_without_tables_says_where_to_look(ask: Ask, table: TableBuilder) -> None:
    for words in (["snapshots", table.root.parent], ["snapshots", table.root / "nothing"]):
        assert "`snapscope tables WAREHOUSE` lists the tables." in ask(*words).err
    assert "the directory that holds the databases" in ask("tables", table.root / "nothing").err
