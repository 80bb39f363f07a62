"""Kinds of tables that random histories do not contain: what the engine writes in them is not doubted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.formats.paimon import consistency
from core.formats.paimon.format import PaimonFormat
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge

COLUMNS = [("id", "BIGINT NOT NULL"), ("v", "STRING"), ("n", "INT")]
TOGETHER = {"compaction.min.file-num": "2"}


def rows(number: int) -> list[list[object]]:
    return [[each, "a", number] for each in range(5)]


def postponed(judge: PaimonJudge, table: Path) -> None:
    judge.create(table, COLUMNS, primary_keys=["id"], options={"bucket": "-2"})
    for number in range(4):
        judge.write(table, rows(number))
    judge.create_tag(table, "a", snapshot=2)


def evolving(judge: PaimonJudge, table: Path) -> None:
    options = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    judge.create(table, COLUMNS, options=options)
    for number in range(4):
        judge.write(table, rows(number))
    judge.create_tag(table, "a", snapshot=2)
    judge.compact(table, options=TOGETHER)
    judge.write(table, rows(9))


def tracked(judge: PaimonJudge, table: Path) -> None:
    judge.create(table, COLUMNS, options={"bucket": "-1", "row-tracking.enabled": "true"})
    for number in range(4):
        judge.write(table, rows(number))
    judge.compact(table, options=TOGETHER)
    judge.write(table, rows(9), overwrite={})


def one_job_on_two_branches(judge: PaimonJudge, table: Path) -> None:
    """The same user gives the same numbers to other commits of the same ids."""
    judge.create(table, COLUMNS, options={"bucket": "-1"})
    judge.write(table, rows(1), user="job", identifier=1)
    judge.create_tag(table, "a")
    judge.create_branch(table, "b", tag="a")
    for number in range(2, 5):
        for branch in (None, "b"):
            judge.write(table, rows(number), user="job", identifier=number, branch=branch)


def vectors_of_appends(judge: PaimonJudge, table: Path) -> None:
    judge.create(table, COLUMNS, options={"bucket": "-1", "deletion-vectors.enabled": "true"})
    for number in range(4):
        judge.write(table, rows(number))
    judge.compact(table, options=TOGETHER)


def emptied(judge: PaimonJudge, table: Path) -> None:
    judge.create(table, COLUMNS, options={"bucket": "-1"})
    judge.write(table, rows(1))
    judge.truncate(table)
    judge.write(table, rows(2))
    judge.analyze(table)
    judge.compact_manifest(table)


SHAPES = [postponed, evolving, tracked, one_job_on_two_branches, vectors_of_appends, emptied]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_what_the_engine_writes_is_not_doubted(
    shape: Callable[[PaimonJudge, Path], None], java_judge: PaimonJudge, tmp_path: Path
) -> None:
    place = tmp_path / "default.db" / "t"
    shape(java_judge, place)
    table = open_table(str(place))
    history = table.history()
    found = consistency.examine(
        table.store, history, PaimonFormat.of(table.format).manifests, history.objects["path"].to_pylist()
    )
    assert len(history.holders) >= 4
    assert (history.incomplete, found.problems, found.doubts.unsure) == ({}, {}, {})
