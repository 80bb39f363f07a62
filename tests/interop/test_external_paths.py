"""The engine takes external paths literally: what it writes under odd roots and partitions is what we find, free, and
leave; it reads the rest as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.execution.apply import apply
from core.model.actions import Expire
from core.table import open_table
from tests.engines.paimon_java import PaimonJudge
from tests.support.execution import ground

VALUES = ["10:00", "a%2Fb", "a b", "ü", "#", "?", "+", "..", "x" * 120, None, "a/b", "a=b", "~"]
ROOTS = ["plain", "an odd one", "per%20cent", "hash#1", "ask?q=1"]


@pytest.mark.parametrize("root", ROOTS)
def test_files_lie_where_their_paths_say_letter_by_letter(java_judge: PaimonJudge, root: str, tmp_path: Path) -> None:
    table, place = ground.warehouse(tmp_path / "w"), tmp_path / "outer" / root
    options = {
        "bucket": "-1",
        "data-file.external-paths": f"file://{place}",
        "data-file.external-paths.strategy": "round-robin",
    }
    java_judge.create(table, [("id", "BIGINT"), ("hh", "STRING")], partition_keys=["hh"], options=options)
    for number, value in enumerate(VALUES):
        java_judge.write(table, [[number, value]])
    there = {path for path in place.rglob("*.*") if path.is_file() and not path.name.startswith(".")}
    assert len(there) == len(VALUES)
    opened = open_table(str(table))
    history = opened.history()
    paths = history.files["path"].to_pylist()
    assert {Path("/" + path.removeprefix("file:").lstrip("/")) for path in paths} == there
    assert opened.missing_files(history, str(len(VALUES))) == []
    java_judge.write(table, [[99, VALUES[0]]], overwrite={"hh": VALUES[0]})
    before = {*place.rglob("*.*")}
    plan = opened.preview(Expire(retain_max=1, retain_min=1), ground.LATE_MS)
    frees = {
        Path("/" + path.removeprefix("file:").lstrip("/")) for path in plan.frees["path"].to_pylist() if ":/" in path
    }
    assert frees <= there
    receipt = apply(opened, plan, settle_s=0, outside=[each.root for each in plan.outside])
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert before - {*place.rglob("*.*")} == frees
    assert len(frees) == 1
    kept = [[99, VALUES[0]], *([number, value] for number, value in enumerate(VALUES) if number)]
    assert sorted(java_judge.rows(table), key=str) == sorted(kept, key=str)
