"""Programs: a query that holds its version answers as it would without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli import main
from tests.support.spark.iceberg_written import Written

pytestmark = pytest.mark.usefixtures("spark")


def test_a_held_query_has_the_columns_of_the_version_as_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Written(tmp_path / "t", [(1, "id", "int")])
    made.commit(made.data({"id": [1]}))
    made.evolve([(1, "id", "int"), (2, "new", "int")])
    refs = {name: {"snapshot-id": 1, "type": "branch"} for name in ("main", "dev")}
    made.publish(refs=refs)

    def asked(*how: str) -> list[str]:
        assert main(["query", str(made.root), "SELECT * FROM t", *how, "--json"]) == 0
        return list(json.loads(capsys.readouterr().out)["columns"])

    for how in ([], ["--branch", "dev"], ["--at", "branch:dev"]):
        assert asked(*how) == asked(*how, "--hold", "1 h") == ["id", "new"]
    assert asked("--at", "1") == asked("--at", "1", "--hold", "1 h") == ["id"]
