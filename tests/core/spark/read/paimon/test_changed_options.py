"""Which options decide what rows a version has."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.spark.read.paimon.changed_options import DECIDES, decided, elsewhere
from core.table import open_table
from tests.support.builders import TableBuilder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merge-engine", True),
        ("sequence.field", True),
        ("fields.a.aggregate-function", True),
        ("postpone.merge-on-read", True),
        ("changelog-producer", True),
        ("changelog-producer.row-deduplicate", False),
        ("partial-update.ignore-delete", True),
        ("snapshot.num-retained.max", False),
        ("postpone.default-bucket-num", False),
    ],
)
def test_options_that_decide(name: str, expected: bool) -> None:
    assert bool(DECIDES.match(name)) is expected


@pytest.mark.parametrize(
    ("name", "value", "is_said"),
    [
        ("scan.snapshot-id", "1", True),
        ("scan.tag-name", "x", True),
        ("scan.mode", "from-snapshot", True),
        ("scan.mode", "latest-full", False),
        ("incremental-between", "1,2", True),
        ("scan.parallelism", "1", False),
    ],
)
def test_an_option_that_moves_the_engines_plain_read_is_said(
    tmp_path: Path, name: str, value: str, is_said: bool
) -> None:
    table = TableBuilder(tmp_path / "t", options={name: value})
    for number in range(2):
        table.commit([table.file(number)])
    heads = open_table(str(table.root)).heads()
    said = elsewhere(heads, "main", 2)
    assert [f"'{name}' ({value})" in each for each in said] == [True] * is_said
    assert elsewhere(heads, "main", 1) == ()


@pytest.mark.parametrize(("older", "name"), [("log.scan", "scan.mode"), ("log.scan.timestamp-millis", None)])
def test_an_older_key_moves_the_plain_read_too(tmp_path: Path, older: str, name: str | None) -> None:
    table = TableBuilder(tmp_path / "t", options={older: "1"})
    table.commit([table.file()])
    [said] = elsewhere(open_table(str(table.root)).heads(), "main", 1)
    assert f"'{name or older.removeprefix('log.')}' (1)" in said


def test_an_older_key_of_the_same_meaning_is_no_change(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", primary_keys=("id",), options={"deduplicate.ignore-delete": "true"})
    table.commit([table.file()])
    before = open_table(str(table.root)).heads().main.schema
    assert before is not None
    table.schema(options={"ignore-delete": "true"})
    assert decided(before, open_table(str(table.root)).heads(), "main") == []
    table.schema(options={"deduplicate.ignore-delete": "true", "ignore-delete": "false"})
    assert decided(before, open_table(str(table.root)).heads(), "main") == [("ignore-delete", "false", "true")]
