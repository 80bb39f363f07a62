"""Listings of tables, snapshots and tags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main
from tests.support.formats.paimon.tables import four_commits


def test_a_list_of_a_branch_that_is_not_there_names_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = four_commits(tmp_path / "w" / "default.db" / "t")
    table.branch("dev", "v")
    for command in ("snapshots", "tags"):
        assert main([command, str(table.root), "--branch", "deve", "--json"]) == 1
        error = json.loads(capsys.readouterr().out)["error"]
        assert (error["kind"], error["remedy"]) == ("NotFound", "Did you mean dev? Branches: main, dev.")
        assert main([command, str(table.root), "--branch", "dev"]) == 0
        capsys.readouterr()


def test_a_tag_is_never_said_to_last_longer_or_shorter_than_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = four_commits(tmp_path / "w" / "default.db" / "t")
    table.tag("2026-01-01", 2)
    table.branch("dev", "v").schema(options={"tag.automatic-creation": "process-time", "tag.num-retained-max": "2"})
    assert main(["tags", str(table.root)]) == 0
    assert "never automatically" in capsys.readouterr().out
    table.schema(options={"tag.automatic-creation": "process-time", "tag.num-retained-max": "2"})
    assert main(["tags", str(table.root)]) == 0
    assert "when 2 more automatic tags exist" in capsys.readouterr().out


def test_one_place_that_cannot_be_listed_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    four_commits(tmp_path / "w" / "default.db" / "t")
    assert main(["tables", str(tmp_path / "w"), str(tmp_path / "none"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each.get("name") for each in found] == ["t", None]
    assert found[1]["error"]["kind"] == "NotFound"
