"""A version that is removed while it is queried: who removed it, if known, and which version is nearest."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core import cli
from core.errors import Corrupt, NotFound
from core.execution.apply import apply
from core.model.actions import Expire
from core.model.history import History
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.table import Table, open_table, resolve
from tests.support.spark.stored import Stored

COUNT = "SELECT count(*) AS n, sum(hash(*)) AS h FROM t"


@pytest.fixture
def table(shared_tables: Path, tmp_path: Path) -> Table:
    return open_table(str(shutil.copytree(shared_tables / "paimon" / "default.db" / "branches", tmp_path / "t")))


def needing_files(table: Table, history: History) -> str:
    """A snapshot that goes in an expiry down to one, and holds a data file that goes with it."""
    plan = table.preview(Expire(retain_max=1, retain_min=1), 2**42, history)
    freed = set(plan.frees["path"].to_pylist())
    going = [verdict.point for verdict in plan.deleted_points if verdict.point.isdigit()]
    return next(each for each in going if freed & set(history.files_at(history.position(each))["path"].to_pylist()))


def test_an_expiry_of_ours_is_named(spark: SparkSession, table: Table) -> None:
    history = table.history()
    point = needing_files(table, history)
    receipt = apply(table, table.preview(Expire(retain_max=1, retain_min=1), 2**42), settle_s=0)
    with pytest.raises(NotFound, match=f"{point} was deleted while it was read") as found:
        query(table, COUNT, at=point, history=history)
    assert receipt.run in found.value.message
    latest = history.heads.main.snapshots[-1]
    assert f"The nearest remaining snapshot is {latest.id}" in str(found.value)


def test_another_hand_is_not_blamed_on_us(spark: SparkSession, table: Table) -> None:
    history = table.history()
    point = needing_files(table, history)
    root = Path(table.location)
    for path in history.files_at(history.position(point))["path"].to_pylist():
        (root / path).unlink()
    with pytest.raises((Corrupt, NotFound), match=r"does not exist|cannot be read"):
        query(table, COUNT, at=point, history=history)  # the point is there: its file is what is missing
    (root / f"snapshot/snapshot-{point}").unlink()
    with pytest.raises(NotFound, match="not by this Snapscope"):
        query(table, COUNT, at=point, history=history)


def test_a_comparison_names_who_took_its_point(spark: SparkSession, table: Table) -> None:
    history = table.history()
    point = needing_files(table, history)
    a, b = (resolve(history.heads, each) for each in (point, "latest"))
    receipt = apply(table, table.preview(Expire(retain_max=1, retain_min=1), 2**42), settle_s=0)
    with pytest.raises(NotFound, match=f"{point} was deleted while it was read") as found:
        row_diff(table, history, a, b)
    assert receipt.run in found.value.message
    assert f"The nearest remaining snapshot is {history.heads.main.snapshots[-1].id}" in str(found.value)


@pytest.mark.parametrize("command", ["query", "diff"])
def test_a_point_that_is_gone_already_says_who_took_it(
    table: Table, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gone, *_, latest = (str(each.id) for each in table.heads().main.snapshots)
    receipt = apply(table, table.preview(Expire(retain_max=1, retain_min=1), 2**42), settle_s=0)
    asked = [COUNT, "--at", gone] if command == "query" else [gone, latest, "--rows"]
    assert cli.main([command, table.location, *asked]) != 0
    said = capsys.readouterr().err
    assert f"Snapshot {gone} is not retained" in said
    assert f"deleted it in run {receipt.run} (Expire)" in said
    assert f"The nearest retained snapshot is {latest}" in said


def test_a_query_may_hold_its_point(spark: SparkSession, table: Table) -> None:
    oldest = table.heads().main.snapshots[0]
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main(["query", table.location, COUNT, "--at", str(oldest.id), "--hold", "1 h", "--json"]) == 0
    assert json.loads(out.getvalue())["snapshot"] == oldest.id
    (tag,) = (each for each in table.heads().main.tags if each.name.startswith(f"protect-{oldest.id}-"))
    assert (tag.snapshot.id, tag.retained and tag.retained.total_seconds()) == (oldest.id, 3600)


def test_holding_a_point_does_not_change_what_is_answered(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the engine a tag is another kind of point: what changed up to a tag is told in another way."""
    made = Stored(tmp_path / "t", [("id", "INT")])
    for number in range(3):
        made.commit([made.file([{"id": number}])])
    asked = ["query", str(made.root), "SELECT * FROM t_changes", "--at", "2", "--since", "1", "--hold", "1 h"]
    assert cli.main(asked) == 0
    (tag,) = made.opened().heads().main.tags
    said = capsys.readouterr().out
    assert "(delta)" in said
    assert f"Held by tag:{tag.name}." in said
