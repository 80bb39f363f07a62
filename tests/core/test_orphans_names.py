"""A live file is no orphan, wherever today's options would put it."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from core.apply import apply
from core.changes import CleanOrphans
from core.table import open_table
from tests.apply import ground
from tests.builders import DAY_MS, TableBuilder

NOW_MS = 4_000_000_000_000


@pytest.mark.parametrize("option", ["data-file.path-directory", "partition.default-name"])
def test_options_that_move_paths_orphan_nothing(option: str, tmp_path: Path) -> None:
    root = tmp_path / "w" / "default.db" / "t"
    table = TableBuilder(root, partition_keys=["dt"]) if option.startswith("partition") else TableBuilder(root)
    partition = {"partition": (None,)} if option.startswith("partition") else {}
    table.commit([table.file(10, rows=1, **partition)])
    path = max((root / "schema").iterdir())
    schema = json.loads(path.read_text())
    schema["options"][option] = "elsewhere"
    path.write_text(json.dumps(schema))
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - 1), NOW_MS)
    assert plan.frees.num_rows == 0


def test_what_a_killed_job_of_ours_staged_goes_and_nothing_beside_it(tmp_path: Path, state_dir: Path) -> None:
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    staged = [f".snapscope-staging-1/{name}" for name in ("__partition=ab/part-0.parquet", "_temporary/0/x")]
    others = [".other-staging/part-0.parquet", "archive/part-0.parquet"]
    for path in (*staged, *others):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"rows")
    opened = open_table(str(root))
    plan = opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
    assert sorted(plan.frees["path"].to_pylist()) == staged
    before = ground.disk(root)
    apply(opened, plan, settle_s=0)
    assert before - ground.disk(root) == set(staged)


def test_young_orphans_are_warned_of(tmp_path: Path) -> None:
    """A file that a writer has not committed yet is named by nothing, either."""
    root = tmp_path / "w" / "default.db" / "t"
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    young, old = (
        open_table(str(root)).preview(CleanOrphans(NOW_MS - age_ms), NOW_MS).warnings for age_ms in (1, DAY_MS)
    )
    assert "not yet committed" in young[0]
    assert old == ()


@pytest.mark.parametrize("place", ["inner", "x=1", "dt=2026-01-02"])
def test_a_table_in_a_tables_directory_is_another_table(place: str, tmp_path: Path) -> None:
    """Nothing of the outer one names the inner one's files: they are live all the same."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(10, rows=1, partition=("2026-01-01",))])
    orphan = table.file(20, rows=1, partition=("2026-01-01",))
    keys = ["dt"] if place == "x=1" else []
    inner = TableBuilder(root / place, partition_keys=keys)
    inner._shared.random.seed(11)  # its files have other names
    inner.commit([inner.file(10, rows=1, partition=("2026-01-02",) * len(keys))])
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - 1), NOW_MS)
    assert plan.frees["path"].to_pylist() == [f"dt=2026-01-01/bucket-0/{orphan.name}"]


def test_what_a_newer_engine_keeps_beside_manifests_stays(tmp_path: Path) -> None:
    """A live manifest's sidecar is named by a field of its list that is not known here."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    manifest = next(path.name for path in (root / "manifest").iterdir() if not path.name.startswith("manifest-list"))
    (root / "manifest" / f"{manifest}.avro.sidecar").write_bytes(b"bounds")
    crashed = f"manifest/manifest-{uuid.UUID(int=1)}-0"
    (root / crashed).write_bytes(b"entries")
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
    assert plan.frees["path"].to_pylist() == [crashed]
    assert plan.warnings[-1].startswith("1 files stay: not named")
