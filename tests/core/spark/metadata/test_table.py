"""Deletions that are decided by metadata that Spark reads, beside those of one process."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.errors import Corrupt
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import resume, was_begun_on_spark
from core.model import codes
from core.model.actions import Change, DeleteTags, Expire
from core.spark.metadata import history as on_spark
from core.spark.metadata.table import SparkTable, open_table
from core.table import Table
from core.table import open_table as in_one_process
from tests.support.depth import sample
from tests.support.execution import iceberg_ground
from tests.support.formats.paimon.random_tables import Maker
from tests.support.formats.paimon.tables import four_commits, manifest_of
from tests.support.places import ROOT, SMALL_TABLES
from tests.support.spark.planned import NOW_MS

ONE, TWO = Expire(retain_max=1, retain_min=1), Expire(retain_max=2, retain_min=1)
GOING = Expire(retain_max=1, retain_min=1, drop_tags=("v",))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = on_spark.build
    monkeypatch.setattr("core.spark.metadata.table.build", partial(whole, entries=60))


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def run(table: Table, change: Change, now_ms: int = NOW_MS) -> tuple[set[str], set[tuple[str, str]], str]:
    """What is deleted and kept back, and how it ends."""
    receipt = apply(table, table.preview(change, now_ms, table.summary(table.heads(), change)), settle_s=0)
    return set(receipt.deleted), {(path, why.text) for path, why in receipt.kept_back}, receipt.outcome


def agree(root: Path, change: Change, now_ms: int = NOW_MS) -> int:
    """Assert that a deletion on Spark does what one in this process does to the same table; return how many files and
    references are deleted."""
    aside = root.parent / "aside"
    shutil.copytree(root, aside)
    expected = run(in_one_process(str(root)), change, now_ms)
    left = data(root)
    shutil.rmtree(root)
    aside.rename(root)
    table = open_table(str(root))
    try:
        assert run(table, change, now_ms) == expected
    finally:
        table.close()
    assert data(root) == left
    return len(expected[0])


def data(root: Path) -> set[str]:
    """Everything but what has a new name in each run."""
    return {name for name in contents(root) if not name.endswith((".metadata.json", ".text"))}


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(["pk_tags_expired", "changelog_decoupled"], 1))
@pytest.mark.usefixtures("spark")
def test_a_real_table(name: str, tmp_path: Path) -> None:
    root = tmp_path / "default.db" / name
    shutil.copytree(SMALL_TABLES / "paimon" / "default.db" / name, root)
    tags = tuple(tag.name for tag in in_one_process(str(root)).heads().main.tags)
    assert (agree(root, DeleteTags(tags)) if tags else 0) + agree(root, ONE) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(2), 1))
@pytest.mark.usefixtures("spark")
def test_a_random_table(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    words = ["append", "append", "delete", "compact", "upgrade", "merge", "tag", "branch", "index", "overwrite"]
    root = tmp_path / "default.db" / "t"
    made = Maker(root, {})
    made.main.commit([made.file(made.main, 1, 1)])
    made.run([(chance.choice(words), chance.randrange(10**6), chance.randrange(10**6)) for _ in range(40)])
    assert agree(root, (ONE, TWO)[seed]) > 5


@pytest.mark.usefixtures("spark")
def test_an_iceberg_table(tmp_path: Path) -> None:
    root = iceberg_ground.small_table(tmp_path / "db" / "t")
    assert agree(root, Expire(drop_tags=("early",)), iceberg_ground.LATE_MS) > 1
    assert iceberg_ground.broken(root) == []


@pytest.mark.usefixtures("spark")
def test_a_table_that_contradicts_itself(tmp_path: Path) -> None:
    """A manifest of a version that stays lost an entry that its list counts: nothing is deleted."""
    table = four_commits(tmp_path / "default.db" / "t")
    opened = open_table(str(table.root))
    plan = opened.preview(GOING, NOW_MS, opened.summary(opened.heads(), GOING))
    assert len(plan.frees)
    (table.root / manifest_of(table, 4)).write_bytes((table.root / manifest_of(table, 1)).read_bytes())
    before = contents(table.root)
    with pytest.raises(Corrupt):
        apply(opened, plan, settle_s=0)
    assert contents(table.root) == before
    opened.close()


@pytest.mark.usefixtures("spark")
def test_what_may_be_a_missing_file_stays(tmp_path: Path) -> None:
    """A version that stays refers to a file that is not there: files to be deleted in its directory may be it."""
    table = four_commits(tmp_path / "default.db" / "t")
    root = str(table.root)
    whole = in_one_process(root)
    stays = set(whole.history().files_of("4")["path"].to_pylist())
    plan = whole.preview(GOING, NOW_MS)
    missing = min(stays)
    (table.root / missing).unlink()
    opened = open_table(root)
    receipt = apply(opened, plan, settle_s=0)
    opened.close()
    near = {path for path in plan.frees["path"].to_pylist() if path.startswith(f"{missing.rpartition('/')[0]}/")}
    assert near
    assert {path for path, why in receipt.kept_back if why.code == codes.MAY_BE_THIS} == near


@pytest.mark.usefixtures("spark")
def test_a_run_that_was_cancelled_is_resumed(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "default.db" / "t")
    opened = open_table(str(table.root))
    plan = opened.preview(GOING, NOW_MS, opened.summary(opened.heads(), GOING))
    receipt = apply(opened, plan, settle_s=0, cancelled=lambda: True)
    assert receipt.outcome == "cancelled"
    receipt = resume(receipt.run, open_table=lambda _: opened, settle_s=0)
    opened.close()
    assert receipt.outcome == "done"
    assert set(plan.frees["path"].to_pylist()) <= set(receipt.deleted)
    assert Journal().open_run(str(table.root)) is None


@pytest.mark.slow
def test_a_driver_that_was_killed(tmp_path: Path) -> None:
    """Another process resumes the run, without Spark."""
    root = four_commits(tmp_path / "t").root
    frees = set(in_one_process(str(root)).preview(ONE, NOW_MS).frees["path"].to_pylist())
    code = "import sys; from tests.support.spark.planned import expired; expired(sys.argv[1])"
    pipe: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, str(root)], cwd=ROOT, **pipe) as driver:
        assert json.loads(driver.stdout.readline()) == {"waiting": True}
        driver.kill()
    run = Journal().open_run(str(root))
    assert run is not None
    receipt = resume(run.id, open_table=in_one_process, settle_s=0)
    assert (receipt.outcome, receipt.is_exact) == ("done", True)
    assert frees <= set(receipt.deleted)
    assert not [path for path in frees if (root / path).exists()]


@pytest.mark.usefixtures("spark")
def test_no_file_is_read_by_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not hold them all."""
    table = four_commits(tmp_path / "default.db" / "t")
    opened = open_table(str(table.root))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Table, "history", refuse)
    monkeypatch.setattr(type(opened.format), "history", refuse)
    assert isinstance(opened.reread(), SparkTable)
    result = run(opened, GOING)
    opened.close()
    assert result[2] == "done"


@pytest.mark.usefixtures("spark")
def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "default.db" / "t"
    shutil.copytree(SMALL_TABLES / "paimon" / "default.db" / "pk_tags_expired", root)
    words = ["expire", str(root), "--retain-max", "1", "--retain-min", "1", "--yes", "--settle", "0s", "--on-spark"]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metadata_read_by"] == "Spark (local)"
    assert told["receipt"]["outcome"] == "done"
    assert was_begun_on_spark(Journal().run(told["receipt"]["run"]))
    assert told["frees"]
    assert not [each["path"] for each in told["frees"] if (root / each["path"]).exists()]
    assert main(words) == 0
    assert "Nothing to do." in capsys.readouterr().out
