"""Reading while others expire: files that disappear between two calls of a reader are not damage, in whatever order
they go."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.iceberg.format import IcebergFormat
from core.model.actions import CreateTag, Expire
from core.paths import cache_dir
from core.table import Table, open_table, resolve
from tests.support.depth import sample
from tests.support.execution import ground, iceberg_ground
from tests.support.execution.lying import Lies, lying_store, lying_table
from tests.support.execution.lying_runs import Stage, made

NOW = ground.LATE_MS
APART = 6
OLDEST = Expire(retain_max=3, retain_min=1)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    found = made(tmp_path)
    found.fresh()
    return found


def interleaved(number: int, acts: list[Callable[[], object]]) -> Lies:
    """From the n-th call on, another process takes its next step before each call."""

    def pick(call: str, path: str, times: int) -> bool:
        if len(lies.calls) > number and acts:
            acts.pop(0)()
        return False

    lies = Lies(picks=pick)
    return lies


def at_one_moment(acts: list[Callable[[], object]]) -> list[Callable[[], object]]:
    return [lambda: [act() for act in acts]]


def of_the_engine(root: Path) -> list[Callable[[], object]]:
    """Paimon's expiry of snapshot 2, file by file: files it alone holds, its lists, the snapshot itself."""
    table = open_table(str(root))
    plan = table.preview(Expire(snapshots=(2,)), NOW)
    order = [path for path in plan.frees["path"].to_pylist() if not path.startswith("snapshot/")]
    assert any(path.startswith("manifest/") for path in order)
    paths = [*sorted(order, key=lambda path: path.startswith("manifest/")), *(path for path, _ in plan.removes)]
    return [(root / path).unlink for path in paths]


def calls(work: Callable[[Table], object], root: Path) -> int:
    lies = Lies()
    work(lying_table(root, lies))
    return len(lies.calls)


def whole(table: Table) -> None:
    history = table.history()
    assert not history.incomplete
    assert resolve(history.heads, "latest").snapshot.id == 5


def planned(table: Table) -> None:
    table.preview(CreateTag("new"), NOW)
    table.preview(OLDEST, NOW)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "at once"])
@pytest.mark.parametrize("work", [whole, planned], ids=lambda each: each.__name__)
def test_an_expiry_by_the_engine_between_any_two_calls(
    work: Callable[[Table], object], at_once: bool, stage: Stage
) -> None:
    seen = 0
    every = calls(work, stage.root)
    for number in sample(range(every), every // 3):
        stage.fresh()
        acts = of_the_engine(stage.root)
        if at_once:
            acts = at_one_moment(acts)
        work(lying_table(stage.root, interleaved(number, acts)))
        seen += not acts
    assert seen > 2, "the expiry came in between"


@pytest.mark.slow
def test_an_apply_between_whose_calls_another_expires(stage: Stage) -> None:
    """If another process deletes part of a plan, it may end as a conflict, but is never reported as damage."""
    ends = set()
    for number in range(0, 150, 14):
        journal: Journal = stage.fresh()
        acts = of_the_engine(stage.root)
        every = list(acts)
        table = lying_table(stage.root, interleaved(number, at_one_moment(every)))
        change = CreateTag("new", 4)
        receipt = apply(table, table.preview(change, NOW), settle_s=0, journal=journal)
        ends.add(receipt.outcome)
        assert ground.broken(stage.root) == []
    assert ends == {"done"}


def test_a_manifest_that_is_truly_gone_is_damage(stage: Stage) -> None:
    lost = json.loads((stage.root / "snapshot/snapshot-4").read_bytes())["deltaManifestList"]
    (stage.root / "manifest" / lost).unlink()
    history = lying_table(stage.root, Lies()).history()
    assert {history.holders[position].point for position in history.incomplete} == {"4"}


def test_the_command_line_answers_while_another_expires(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["files", "latest"], ["manifests", "latest"], ["diff", "4", "5"]):
        stage.fresh()
        every = of_the_engine(stage.root)
        table = lying_table(stage.root, interleaved(20, at_one_moment(every)))
        for module in ("questions", "inside"):
            monkeypatch.setattr(f"core.cli.{module}.open_table", lambda _, table=table: table)
        assert main([command[0], "t", *command[1:], "--json"]) == 0, capsys.readouterr()
        capsys.readouterr()


# Iceberg -------------------------------------------------------------------------------------------------------------


def iceberg(root: Path, lies: Lies) -> Table:
    store = lying_store(root, lies)
    return Table(IcebergFormat(store))


@pytest.mark.slow
def test_an_iceberg_expiry_between_two_calls(tmp_path: Path) -> None:
    """A commit, then the deleted files; the metadata that it replaced is deleted as well."""
    good = iceberg_ground.small_table(
        tmp_path / "t",
        **{"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"},
    )
    root = tmp_path / "t"
    kept = iceberg_ground.copied(root, tmp_path / "kept")
    lies, seen = Lies(), 0
    assert not iceberg(root, lies).history().incomplete
    every = range(0, len(lies.calls), 2)
    for number in every:
        iceberg_ground.copied(kept, root)
        shutil.rmtree(cache_dir(), ignore_errors=True)

        def expire(number: int = number) -> None:
            own = open_table(str(root))
            journal = Journal(tmp_path / f"{number}.sqlite")
            plan = own.preview(Expire(older_than_ms=NOW, retain_min=1, drop_tags=("early",)), iceberg_ground.LATE_MS)
            assert len(plan.frees)
            apply(own, plan, settle_s=0, journal=journal)

        acts: list[Callable[[], object]] = [expire]
        history = iceberg(root, interleaved(number, acts)).history()
        assert not history.incomplete
        seen += not acts
    assert seen == len(every)
    assert good
