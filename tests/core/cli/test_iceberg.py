"""The command line on Iceberg tables: the same commands, the same numbers as from core, rejections by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.execution.journal import Journal
from core.model.actions import Expire
from core.table import open_table, resolve
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, moved

NOW = "2026-01-09T00:00:00Z"
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables, read-only."""
    root = tmp_path_factory.mktemp("lake")
    moved(PYICEBERG / "tags_branches", root / "db" / "tags_branches")
    moved(JAVA_RANDOM / "t12_v1", root / "db.db" / "t12_v1")
    return root


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command twice: return its JSON document, and keep its text in `ask.text`."""

    def run(*words: object, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*map(str, words)]) == status
        run.text = "".join(capsys.readouterr())  # type: ignore[attr-defined]
        assert main([*map(str, words), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return run


def test_tables(lake: Path, ask: Ask) -> None:
    assert sorted((each["database"], each["name"]) for each in ask("tables", lake)) == [
        ("db", "t12_v1"),
        ("db", "tags_branches"),
    ]


def test_snapshots_are_of_all_branches_and_say_what_they_are(lake: Path, ask: Ask) -> None:
    table = lake / "db" / "tags_branches"
    found = ask("snapshots", table)
    heads = open_table(str(table)).heads()
    assert len(found) == len(heads.document["snapshots"])
    assert {each["branch"] for each in found} == {line.branch for line in heads.lines}
    assert found[0]["id"] == found[0]["snapshot_id"]
    assert "orphaned" in ask.text  # type: ignore[attr-defined]
    only = ask("snapshots", table, "--branch", "(no branch)")
    assert {each["branch"] for each in only} == {"(no branch)"}


def test_tags_are_of_the_table(lake: Path, ask: Ask) -> None:
    for table in (lake / "db" / "tags_branches", lake / "db.db" / "t12_v1"):
        heads = open_table(str(table)).heads()
        wanted = {ref.name: ref.snapshot_id for ref in heads.refs if not ref.is_branch}
        assert {each["tag_name"]: each["snapshot_id"] for each in ask("tags", table)} == wanted
        assert ", which has expired: only tags still hold it." not in ask.text  # type: ignore[attr-defined]


def test_files_as_of_and_diff(lake: Path, ask: Ask) -> None:
    table = lake / "db.db" / "t12_v1"
    opened = open_table(str(table))
    history = opened.history()
    latest = resolve(history.heads, "latest")
    files = ask("files", table)
    assert [each["path"] for each in files] == history.files_at(history.position(latest.point))["path"].to_pylist()
    assert all(each["partition"].startswith("id_bucket_5=") for each in files)
    assert ask("as-of", table, "latest")["snapshot"] == latest.snapshot.id
    found = ask("diff", table, "earliest", "latest")
    assert found["summary"]["net_rows"] == sum(each["rows"] for each in found["added"]) - sum(
        each["rows"] for each in found["removed"]
    )
    assert {each["bucket"] for each in found["partitions"]} == {None}


@pytest.mark.slow
def test_plans_costs_and_holders(lake: Path, ask: Ask) -> None:
    table = lake / "db.db" / "t12_v1"
    opened = open_table(str(table))
    moment = 1_767_312_000_000  # 2026-01-02
    found = ask("plan", "expire", table, "--older-than", moment, "--retain-min", 2, "--now", NOW)
    plan = opened.preview(Expire(older_than_ms=moment, retain_min=2), found["now_ms"])
    assert (found["fingerprint"], found["freed_bytes"]) == (plan.fingerprint, plan.freed_bytes)
    assert found["rules"].startswith("Apache Iceberg")
    tag = opened.heads().main.tags[0].name
    dropped = ask("plan", "expire", table, "--drop-ref", tag, "--now", NOW)
    verdict = {"point": f"tag:{tag}", "keep": False, "reasons": ["named for deletion"], "codes": ["named-to-drop"]}
    assert verdict in dropped["points"]
    assert ask("plan", "delete-tag", table, "--name", tag, "--now", NOW)["frees"] == []
    costs = ask("cost", table, "--now", NOW)
    assert {each["exclusive_now_bytes"] for each in costs["tags"]} == {0}
    assert len(costs["tags"]) == len(opened.heads().main.tags)
    path = ask("files", table)[0]["path"]
    assert ask("holders", table, path, "--now", NOW)["holders"]


def test_what_the_retention_curve_frees_is_what_dropping_those_frees(lake: Path, ask: Ask) -> None:
    """Snapshots of tags and branches are kept, whatever number is to be kept."""
    table = lake / "db" / "tags_branches"
    opened = open_table(str(table))
    history = opened.history()
    named = {ref.snapshot_id for ref in history.heads.refs}
    line = [each.id for each in history.heads.main.snapshots]
    for told in ask("cost", table, "--now", NOW)["retention"]:
        goes = tuple(number for number in line[: len(line) - told["retain"]] if number not in named)
        kept = Expire(snapshots=goes, older_than_ms=0)
        plan = opened.preview(kept, 0, history) if goes else None
        assert told["freed_bytes"] == (plan.freed_bytes if plan else 0)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["orphans"], "Unsupported"),
        (["as-of", "time:1000"], "NotFound"),
        (["as-of", "watermark:3"], "Invalid"),
        (["files", "tag:nope"], "NotFound"),
        (["snapshots", "--branch", "nope"], "NotFound"),
        (["expire", "--retain-max", "3", "--yes"], "Invalid"),
        (["expire", "--snapshot", "5", "--yes"], "Invalid"),
        (["delete-tag", "--name", "main", "--yes"], "Invalid"),
        (["create-tag", "--name", "12", "--yes"], "Invalid"),
        (["create-tag", "--name", "new", "--yes"], "Unsupported"),  # a catalog owns it
        (["expire", "--older-than", "2026-06-01T00:00:00Z", "--yes"], "Unsupported"),
    ],
)
def test_refusals_name_their_kind(lake: Path, ask: Ask, words: list[str], kind: str) -> None:
    table = lake / "db" / "tags_branches"
    before = {path: path.read_bytes() for path in table.rglob("*") if path.is_file()}
    command, *rest = words
    assert ask(command, table, *rest, status=1)["error"]["kind"] == kind
    assert before == {path: path.read_bytes() for path in table.rglob("*") if path.is_file()}
    assert Journal().runs(str(table)) == []
