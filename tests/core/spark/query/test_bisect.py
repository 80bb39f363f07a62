"""Bisecting real rows: probes at snapshots and at tags of expired ones; unknown if a version cannot be read."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core.analysis.bisect import Outcome, condition
from core.cli import main
from core.errors import Invalid
from core.spark.query import bisect
from core.spark.query.query import query
from core.spark.sql import run as sql
from core.table import open_table
from dashboard.view_models import examples
from tests.support.iceberg_tables import PYICEBERG, moved


def test_a_turn_is_found_among_real_snapshots(
    spark: SparkSession, shared_tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(shared_tables / "paimon" / "default.db" / "schema_evolved", tmp_path / "t")
    table = open_table(str(place))
    history = table.history()
    line = history.heads.main.snapshots[:4]
    rows = [each.total_rows or 0 for each in line]
    middle = sorted(rows)[2]
    turns = [count >= middle for count in rows]
    asked, last = f"count(*) >= {middle}", str(line[-1].id)
    every = bisect.search(table, asked, end=last, is_every=True, history=history)
    assert {probe.place: (probe.value, probe.seen) for probe in every.probes} == {
        place: (count >= middle, f"{count:,}") for place, count in enumerate(rows)
    }
    assert (every.answer.first_true, bool(every.answer.contradictions)) == (turns.index(True), turns != sorted(turns))
    # from the command line, as JSON, and by halves
    assert main(["bisect", str(place), asked, "--to", last, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["probes"]) <= bisect.expected(len(rows), is_every=False)
    if turns == sorted(turns) and not turns[0]:
        assert (told["outcome"], told["first_true"]) == ("turned", str(line[turns.index(True)].id))
    # a snapshot that is no JSON: unknown, never false
    (place / "snapshot" / f"snapshot-{line[0].id}").write_text("{")
    first = bisect.search(table, "count(*) >= 0", end=str(line[1].id))
    assert (first.answer.outcome, [probe.value for probe in first.probes]) == (Outcome.ALREADY, [None, True])
    assert "snapshot-" in str(first.probes[0].problem)
    # NULL is unknown; what is no condition anywhere is refused
    nothing = bisect.search(table, "max(CAST(NULL AS INT)) > 0", end=str(line[1].id), history=history)
    assert (nothing.answer.outcome, {probe.problem for probe in nothing.probes}) == (Outcome.UNKNOWN, {bisect.NULL})
    for wrong, said in (("count(*)", "neither true nor false"), ("count(nowhere) > 1", "nowhere")):
        with pytest.raises(Invalid, match=said):
            bisect.search(table, wrong, end=last, history=history)


def test_a_search_is_stopped_with_its_probe(spark: SparkSession, shared_tables: Path) -> None:
    table = open_table(str(shared_tables / "paimon" / "default.db" / "schema_evolved"))
    asked: list[str] = []
    stop = threading.Event()

    def stopping(_place: object, id: str, _count: int) -> None:
        def soon() -> None:
            stop.set()
            while not sql.cancel(id):  # as soon as it runs
                pass

        asked.append(id)
        threading.Thread(target=soon).start()

    slow = "(select sum(hash(a.id, b.id, c.id)) from range(100000) a, range(100000) b, range(100000) c) > 0"
    with pytest.raises(Invalid, match="cancelled"):
        bisect.search(table, slow, on_place=stopping, cancelled=stop.is_set, timeout_s=600)
    assert len(asked) == 1


@pytest.mark.parametrize("format", ["paimon", "iceberg"])
def test_examples_run_on_the_table_they_are_made_for(
    spark: SparkSession, shared_tables: Path, tmp_path: Path, format: str
) -> None:
    """What the Query page offers to begin with: each statement answers, each condition is true or false."""
    place = shared_tables / "paimon" / "default.db" / "schema_evolved"
    if format == "iceberg":
        place = moved(PYICEBERG / "append_history", tmp_path / "t")
    table = open_table(str(place))
    history = table.history()
    schema, latest = history.heads.main.schema, history.heads.main.latest
    assert schema is not None
    assert latest is not None
    earlier = str(history.heads.main.snapshots[0].id)
    for name, statement in examples.statements(schema, table.name, history.heads.capabilities, has_before=True):
        since = earlier if name == "changes" else None
        query(table, statement, before=earlier, since=since, history=history)
    for text in examples.conditions(schema, latest.total_rows):
        found = query(table, condition(text).statement, history=history).table
        assert found.num_rows == 1, text
        assert found["turned"][0].as_py() in (True, False, None), text
