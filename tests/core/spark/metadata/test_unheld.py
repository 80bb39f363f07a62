"""Orphans that tasks find, beside those of one process."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from core.cli import main
from core.errors import Conflict, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.plan import orphans
from core.messages import code_names
from core.model.actions import CleanOrphans
from core.model.history import HistorySummary
from core.model.plan import Plan
from core.model.unheld import Listed
from core.spark.metadata import history as on_spark
from core.spark.metadata import part_rows, unheld
from core.spark.metadata.table import SparkTable, open_table
from core.table import Table
from core.table import open_table as in_one_process
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.depth import sample
from tests.support.execution import ground, iceberg_ground
from tests.support.formats.iceberg import orphans as iceberg_orphans
from tests.support.formats.paimon.random_tables import Maker
from tests.support.formats.paimon.tables import four_commits

NOW_MS = 4_000_000_000_000
pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = on_spark.build
    monkeypatch.setattr("core.spark.metadata.table.build", partial(whole, entries=100))
    monkeypatch.setattr(unheld, "_TOGETHER", 2)


@pytest.fixture
def opened() -> Iterator[list[SparkTable]]:
    tables: list[SparkTable] = []
    yield tables
    for each in tables:
        each.close()


def name(number: int, kind: str = "data") -> str:
    return f"{kind}-{uuid.UUID(int=number)}-0.parquet"


def litter(root: Path, chance: random.Random) -> None:
    """Put orphans, copies of live files, and odd things into every directory of a table."""
    live = [path for path in ground.files(root) if path.startswith(("dt=", "bucket-"))]
    for number, path in enumerate(sorted(ground.files(root))):
        directory = path.rpartition("/")[0]
        odd = os.fsdecode(b"data-\xff")
        words = [name(number), f"manifest-{uuid.UUID(int=number)}-0", name(number, "changelog"), "notes.txt", odd]
        chosen = [word for word in words if chance.random() < 0.2]
        chosen += [os.path.basename(chance.choice(live))] if chance.random() < 0.1 else []
        for word in chosen:
            if not (root / directory / word).exists():
                (root / directory / word).write_bytes(bytes(chance.randrange(20)))
                if chance.random() < 0.2:  # just written
                    os.utime(root / directory / word, (NOW_MS / 1000, NOW_MS / 1000))
    (root / "archive").mkdir()
    (root / f".snapscope-staging-1/{name(7)}").parent.mkdir()
    (root / f".snapscope-staging-1/{name(7)}").write_bytes(b"rows")


def planned(table: Table, change: CleanOrphans, history: HistorySummary | None = None) -> Plan:
    return table.preview(change, NOW_MS, history or table.summary(table.heads(), change))


@pytest.mark.parametrize("seed", sample(range(2), 1))
def test_they_are_those_of_one_process(tmp_path: Path, seed: int, opened: list[SparkTable]) -> None:
    """What is planned, said and deleted, and what is left."""
    chance = random.Random(seed)
    words = ["append", "append", "delete", "compact", "merge", "tag", "branch", "index", "overwrite"]
    root = tmp_path / "default.db" / "t"
    made = Maker(root, {})
    made.main.commit([made.file(made.main, 1, 1)])
    made.run([(chance.choice(words), chance.randrange(10**6), chance.randrange(10**6)) for _ in range(30)])
    litter(root, chance)
    change = CleanOrphans(NOW_MS - DAY_MS)
    opened.append(open_table(str(root)))
    plan, expected = planned(opened[0], change), planned(in_one_process(str(root)), change)
    assert plan.frees.equals(expected.frees)
    assert len(plan.frees) > 5
    assert set(plan.warnings) == set(expected.warnings)
    assert {"files-stay", "no-text-stays"} <= set(code_names(plan.warnings))
    before, missing = ground.disk(root), ground.broken(root)
    receipt = apply(opened[0], plan, settle_s=0)
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert before - ground.disk(root) == set(plan.frees["path"].to_pylist())
    assert ground.broken(root) == missing, "of files elsewhere"


def test_neighbours(tmp_path: Path, opened: list[SparkTable]) -> None:
    table = TableBuilder(tmp_path / "default.db" / "t", partition_keys=["dt"])
    table.commit([table.file(10, rows=1, partition=(day,)) for day in ("a", "b")])
    table.commit([table.file(10, rows=1, partition=("c",))])
    for path in (
        f"dt=a/bucket-0/{name(1)}",
        f"dt=z/bucket-0/{name(2)}",
        f"dt=b/schema/{name(3)}",
        f"dt=b/bucket-0/{name(4)}",
        f"dt=c/bucket-0/schema/{name(5)}",
        f"dt=c/bucket-0/{name(6)}",
        f"dt=a/bucket-0/old/{name(7)}",
    ):
        (table.root / path).parent.mkdir(parents=True, exist_ok=True)
        (table.root / path).write_bytes(bytes(10))
    opened.append(open_table(str(table.root)))
    whole = in_one_process(str(table.root))
    for also in ((), ("dt=z",)):
        change = CleanOrphans(NOW_MS - DAY_MS, also=also)
        plan, expected = planned(opened[0], change), planned(whole, change)
        assert plan.frees["path"].to_pylist() == expected.frees["path"].to_pylist()
        assert len(plan.frees) == 1 + len(also)
        assert plan.warnings == expected.warnings


def test_a_live_file_that_is_missing_keeps_those_beside_it(tmp_path: Path, opened: list[SparkTable]) -> None:
    table = four_commits(tmp_path / "default.db" / "t")
    missing = in_one_process(str(table.root)).history().files_of("4")["path"].to_pylist()[0]
    (table.root / missing).rename((table.root / missing).parent / name(1))
    opened.append(open_table(str(table.root)))
    plan = planned(opened[0], CleanOrphans(NOW_MS - DAY_MS))
    assert len(plan.frees) == 0
    assert "doubtful" in code_names(plan.warnings)
    assert set(plan.warnings) == set(planned(in_one_process(str(table.root)), plan_of(plan)).warnings)


def plan_of(plan: Plan) -> CleanOrphans:
    assert isinstance(plan.change, CleanOrphans)
    return plan.change


def test_more_than_a_plan_names(tmp_path: Path, opened: list[SparkTable], monkeypatch: pytest.MonkeyPatch) -> None:
    table = four_commits(tmp_path / "default.db" / "t")
    for number in range(3):
        (table.root / "bucket-0" / name(number)).write_bytes(b"rows")
    opened.append(open_table(str(table.root)))
    monkeypatch.setattr(on_spark, "MOST_FREED", 3)
    assert len(planned(opened[0], CleanOrphans(NOW_MS - DAY_MS)).frees) == 3
    monkeypatch.setattr(on_spark, "MOST_FREED", 2)
    with pytest.raises(Unsupported, match="There are 3 orphans; a plan names each file, and 2 at most"):
        planned(opened[0], CleanOrphans(NOW_MS - DAY_MS))


@pytest.mark.parametrize("at", ["when they are counted", "when they are fetched"])
def test_a_part_that_spark_builds_again_when_the_table_has_changed(
    tmp_path: Path, opened: list[SparkTable], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Its manifests are gone, so it says that nothing is held: no file may be freed by that."""
    table = four_commits(tmp_path / "default.db" / "t")
    opened.append(open_table(str(table.root)))
    history = opened[0].summary(opened[0].heads(), CleanOrphans(NOW_MS - DAY_MS))
    lost, collected, calls = list[str](), part_rows.collected, list[str]()

    def lose() -> None:
        context: Any = history._made.sparkSession.sparkContext
        environment = context._jvm.org.apache.spark.SparkEnv.get()
        ids = context._jsc.getPersistentRDDs().keySet().toArray()
        for number in ids:
            environment.blockManager().master().removeRdd(number, True)
        newest = context._jsc.sc().newShuffleId()
        for number in range(max(0, newest - 60), newest):
            with contextlib.suppress(Py4JJavaError):  # it is not there any more
                environment.mapOutputTracker().unregisterAllMapAndMergeOutput(number)
        for path in (table.root / "manifest").iterdir():
            if not path.name.startswith("manifest-list"):
                path.unlink()
        lost.append("now")

    def losing(frame: DataFrame) -> list[bytes]:
        calls.append("")
        if len(calls) == (2 if at == "when they are counted" else 3):
            lose()
        return collected(frame)

    monkeypatch.setattr(unheld, "collected", losing)
    with pytest.raises(Conflict, match="Spark lost some of the metadata"):
        history.unheld(*_given(opened[0], history))
    assert lost == ["now"]


def _given(table: SparkTable, history: HistorySummary) -> tuple[Any, Sequence[str], Listed]:
    lister = orphans.PaimonLister.of(table.store, history.heads, NOW_MS)
    return lister, ["bucket-0"], lister.judged([])


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = four_commits(ground.warehouse(tmp_path))
    (table.root / "bucket-0" / name(1)).write_bytes(b"rows")
    os.utime(table.root / "bucket-0" / name(1), (0, 0))
    words = ["orphans", str(table.root), "--on-spark"]
    shutil.copytree(table.root, tmp_path / "copy")
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metadata_read_by"] == "Spark (local)"
    assert [each["path"] for each in told["frees"]] == [f"bucket-0/{name(1)}"]
    assert main([*words]) == 0
    assert "Metadata was read by Spark (local)." in capsys.readouterr().out
    assert main([*words, "--delete", "--yes", "--settle", "0s", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["receipt"]["outcome"] == "done"
    assert ground.disk(tmp_path / "copy") - ground.disk(table.root) == {f"bucket-0/{name(1)}"}
    assert Journal().run(told["receipt"]["run"]).plan["on_spark"] is True


def test_orphans_of_an_iceberg_table(tmp_path: Path, opened: list[SparkTable]) -> None:
    root = iceberg_ground.java_table("t05_v3", tmp_path / "db" / "t")
    for path in iceberg_orphans.LITTER.values():
        iceberg_orphans.lost(root, path)
        iceberg_orphans.lost(root, f"{path}.txt")
        iceberg_orphans.lost(root, path.replace("0000", "000f", 1), is_young=True)
    opened.append(open_table(str(root)))
    change = iceberg_orphans.AGE
    plan, expected = planned(opened[0], change), planned(in_one_process(str(root)), change)
    assert set(iceberg_orphans.LITTER.values()) <= set(plan.frees["path"].to_pylist())
    assert plan.frees.equals(expected.frees)
    assert set(plan.warnings) == set(expected.warnings)
    assert apply(opened[0], plan, settle_s=0).is_exact
    assert iceberg_ground.broken(root) == []
