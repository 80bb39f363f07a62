"""The examples run unchanged: each as a program on tables of both formats, the notebook in a separate kernel."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import snapscope
from tests.support.execution import ground, iceberg_ground
from tests.support.places import ROOT
from tests.support.spark.stored import Stored

EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "retention_review.ipynb"
RUN_NOTEBOOK = """
import sys, nbclient, nbformat
found = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(found, timeout=300, kernel_name="python3").execute()
nbformat.write(found, sys.argv[2])
"""


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, *map(str, words)], env=known, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    ground.small_table(tmp_path / "w" / "shop.db" / "orders")
    iceberg_ground.small_table(tmp_path / "w" / "shop.db" / "clicks")
    return tmp_path / "w"


@pytest.mark.slow
def test_the_daily_cleanup_keeps_its_limit_and_a_receipt(warehouse: Path, tmp_path: Path) -> None:
    receipts = tmp_path / "receipts.jsonl"
    words = [EXAMPLES / "daily_cleanup.py", warehouse, "--keep", 2, "--settle", "0 s", "--receipts", receipts]
    before = ground.disk(warehouse)
    small = run(*words, "--most-gigabytes", 0.000001)
    assert small.returncode == 1, small.stderr
    assert ground.disk(warehouse) == before
    done = run(*words)
    lines = [json.loads(line) for line in receipts.read_text().splitlines()]
    over, found = lines[:2], {Path(each["table"]).name: each for each in lines[2:]}
    assert {each["outcome"] for each in over} == {"left: over the limit"}
    orders = found["orders"]
    assert orders["outcome"] == "done", done.stderr
    assert orders["reclaimed_bytes"] == orders["planned_bytes"] > 0
    assert ground.broken(warehouse / "shop.db" / "orders") == []
    assert len(snapscope.open(str(warehouse / "shop.db" / "orders")).snapshots()) == 2
    assert found["clicks"]["outcome"].startswith("left: ")  # Iceberg plans warn about time travel
    assert done.returncode == 1


@pytest.mark.slow
def test_the_costs_of_tags_are_csv(warehouse: Path) -> None:
    done = run(EXAMPLES / "tag_costs.py", warehouse)
    assert (done.returncode, done.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    expected = snapscope.open(str(warehouse / "shop.db" / "orders")).costs()
    own = {each["tag"]: int(each["exclusive_bytes"]) for each in rows if each["table"] == "shop.orders"}
    assert own == dict(zip(expected["tag"], expected["exclusive_bytes"].astype(int), strict=True))
    assert {each["table"] for each in rows} == {"shop.orders", "shop.clicks"}
    (warehouse / "shop.db" / "clicks" / "metadata" / "v7.metadata.json").write_text("{")
    broken = run(EXAMPLES / "tag_costs.py", warehouse)
    assert broken.returncode == 1
    assert "shop.orders" in broken.stdout
    assert "clicks" in broken.stderr


@pytest.mark.slow
@pytest.mark.spark
def test_an_incident_is_found_tagged_and_rolled_back(tmp_path: Path) -> None:
    stored = Stored(tmp_path / "t", [("id", "INT"), ("amount", "INT")])
    for number, amount in enumerate((5, 7, -1, 9), start=1):
        stored.commit([stored.file([{"id": number, "amount": amount}])])
    done = run(EXAMPLES / "incident.py", stored.root, "count_if(amount < 0) > 0", "--roll-back")
    assert done.returncode == 0, done.stderr
    table = snapscope.open(str(stored.root))
    tags = dict(zip(table.tags()["tag"], table.tags()["snapshot"], strict=True))
    assert (tags["last-good"], tags["first-bad"]) == ("2", "3")
    assert table.files()["path"].tolist() == table.files(at="tag:last-good")["path"].tolist()
    assert "First true at 3, false at 2" in done.stdout
    nothing = run(EXAMPLES / "incident.py", stored.root, "count(*) > 1000")
    assert nothing.returncode == 1
    assert len(table.tags()) == len(tags)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_its_values(tmp_path: Path) -> None:
    place = tmp_path / "w" / "shop.db" / "orders"
    ground.small_table(place)
    before = ground.disk(place)
    target = tmp_path / "executed.ipynb"
    environment = {"SNAPSCOPE_TABLE": str(place), "IPYTHONDIR": str(tmp_path / "ipython")}
    done = run("-c", RUN_NOTEBOOK, NOTEBOOK, target, **environment)
    assert done.returncode == 0, done.stderr
    shown = [cell["outputs"][0]["data"] for cell in code(target) if cell["outputs"]]
    assert any("application/vnd.plotly.v1+json" in data for data in shown)
    assert any("reclaimed" in "".join(data.get("text/html", "")) for data in shown)
    assert ground.disk(place) == before


def test_the_notebook_is_committed_without_outputs() -> None:
    assert code(NOTEBOOK)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code(NOTEBOOK))


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
