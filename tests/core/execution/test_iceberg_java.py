"""What we did to a Hadoop table, judged by Iceberg's own Java core: it reads what we wrote as what it would have
written, and writes on; where both commit at once, no commit of either is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import Invalid
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import undo
from core.model.actions import (
    Change,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceBranch,
    ReplaceTag,
    Rollback,
)
from core.table import open_table
from tests.engines import iceberg_java
from tests.engines.iceberg_java import EngineError, IcebergJudge
from tests.support.execution import iceberg_ground as ground
from tests.support.interop import iceberg_race

pytestmark = [pytest.mark.slow, pytest.mark.engines]
COLUMNS = [("id", "long"), ("p", "string")]
DAY_MS = 86_400_000
NOW = 1_700_000_000_000
BOOKKEEPING = ("metadata", "metadata_log", "updated_ms")


@pytest.fixture(scope="module")
def judge() -> Iterator[IcebergJudge]:
    if lack := iceberg_java.missing():
        pytest.skip(f"engines: {lack}")
    with IcebergJudge() as judge:
        yield judge


@pytest.fixture
def table(judge: IcebergJudge, tmp_path: Path) -> str:
    """Create six appends a day apart, an overwrite, statistics, two tags, and a branch with its own commit."""
    table = str(tmp_path / "t")
    judge.create(table, COLUMNS, partition_by=[("p", "identity")], now=NOW - DAY_MS)
    made = []
    for day, name in enumerate("abcdef"):
        made += append(judge, table, name, NOW + day * DAY_MS)
    judge.change(table, {"do": "create_tag", "name": "early", "snapshot": made[1]}, now=NOW + 6 * DAY_MS)
    judge.change(table, {"do": "create_branch", "name": "work", "snapshot": made[3]}, now=NOW + 6 * DAY_MS)
    append(judge, table, "w", NOW + 6 * DAY_MS, branch="work")
    judge.change(table, {"do": "statistics", "snapshot": made[0], "name": "s"}, now=NOW + 6 * DAY_MS)
    judge.change(table, {"do": "delete", "where": ["p", "xa"]}, now=NOW + 7 * DAY_MS)
    return table


def append(judge: IcebergJudge, table: str, name: str, now: int | None, **more: object) -> list[int]:
    change = {"do": "append", "fast": True, "name": name, "rows": [[ord(name), f"x{name}"]], **more}
    return judge.change(table, change, now=now)


def state(judge: IcebergJudge, table: str) -> dict[str, object]:
    return {key: value for key, value in judge.state(table).items() if key not in BOOKKEEPING}


def test_an_expiry_of_ours_leaves_what_javas_leaves(judge: IcebergJudge, table: str) -> None:
    now = NOW + 20 * DAY_MS
    ours = open_table(table)
    plan = ours.preview(Expire(older_than_ms=NOW + 4 * DAY_MS, drop_tags=("early",)), now)
    wanted = judge.expire(table, now=now, older_than_ms=NOW + 4 * DAY_MS, drop_refs=["early"])
    before = {point: judge.rows(table, snapshot=point) for point in judge.files(table)}
    receipt = apply(ours, plan, settle_s=0)
    assert receipt.is_exact
    assert {f"{table}/{path}" for path in receipt.deleted} == {
        "/" + path.removeprefix("file:").lstrip("/") for path in wanted["action"]
    }
    after = state(judge, table)
    assert after == {key: value for key, value in wanted["state"].items() if key not in BOOKKEEPING}
    left = [each["id"] for each in judge.state(table)["snapshots"]]
    assert left
    assert {point: judge.rows(table, snapshot=point) for point in left} == {point: before[point] for point in left}
    assert append(judge, table, "z", None), "and Java writes on, by the clock of today"
    assert len(judge.rows(table)) == len(before[after["current"]]) + 1  # type: ignore[index]


def test_tags_of_ours_are_tags_to_java(judge: IcebergJudge, table: str) -> None:
    ours, now = open_table(table), NOW + 20 * DAY_MS
    first = judge.state(table)["snapshots"][0]["id"]
    for change in (
        CreateTag("mine", first, retained_ms=1 << 50),
        ReplaceTag("early", first),
        RenameTag("early", "late"),
        CreateTag("gone"),
        DeleteTags(("gone",)),
    ):
        apply(ours, ours.preview(change, now), settle_s=0)
    refs = judge.state(table)["refs"]
    assert set(refs) == {"main", "work", "mine", "late"}
    assert refs["mine"]["snapshot"] == refs["late"]["snapshot"] == first
    assert refs["mine"]["max_ref_age_ms"] == 1 << 50
    judge.change(table, {"do": "remove_tag", "name": "mine"})
    assert "mine" not in {ref.name for ref in ours.heads().refs}


def test_branches_and_rollbacks_of_ours_are_what_java_would_do(judge: IcebergJudge, table: str, tmp_path: Path) -> None:
    """Each action by Java on a copy, and by us: the same refs, current snapshot, log and schema, as Java reads them;
    Java reads every ref the same, and continues to write."""
    ours, now, made = open_table(table), NOW + 20 * DAY_MS, [each["id"] for each in judge.state(table)["snapshots"]]
    head, work = judge.state(table)["current"], judge.state(table)["refs"]["work"]["snapshot"]
    steps: list[tuple[Change, list[dict[str, object]]]] = [
        (CreateBranch("b", str(made[2])), [{"do": "create_branch", "name": "b", "snapshot": made[2]}]),
        (
            ReplaceBranch("b", min_snapshots=3, max_snapshot_age_ms=DAY_MS, max_ref_age_ms=1 << 50),
            [
                {
                    "do": "retention",
                    "name": "b",
                    "min_snapshots_to_keep": 3,
                    "max_snapshot_age_ms": DAY_MS,
                    "max_ref_age_ms": 1 << 50,
                }
            ],
        ),
        (ReplaceBranch("b", "tag:early"), [{"do": "replace_branch", "name": "b", "snapshot": made[1]}]),
        (FastForward("main", branch="b"), [{"do": "fast_forward", "name": "b", "to": "main"}]),
        (RenameBranch("b", "c"), [{"do": "rename_branch", "name": "b", "to": "c"}]),
        (Rollback(str(made[3])), [{"do": "rollback", "snapshot": made[3]}]),
        (ReplaceBranch("main", min_snapshots=2), [{"do": "retention", "name": "main", "min_snapshots_to_keep": 2}]),
        (Rollback(f"time:{NOW + DAY_MS + 1}"), [{"do": "rollback_to_time", "time_ms": NOW + DAY_MS + 1}]),
        (Rollback(str(work), any_line=True), [{"do": "set_current", "snapshot": work}]),
        (Rollback("tag:early"), [{"do": "rollback", "snapshot": made[1]}]),
        (FastForward("c"), [{"do": "fast_forward", "name": "main", "to": "c"}]),
        (DeleteBranches(("c", "work")), [{"do": "remove_branch", "name": name} for name in ("c", "work")]),
    ]
    before = tmp_path / "before"
    for change, theirs in steps:
        ground.copied(Path(table), before)
        plan = ours.preview(change, now)
        for each in theirs:
            judge.change(table, each)
        wanted, rows = told(judge, table), read(judge, table)
        ground.copied(before, Path(table))
        apply(ours, plan, settle_s=0)
        assert told(judge, table) == wanted, change
        assert read(judge, table) == rows, change
    assert judge.state(table)["current"] == head
    refused: list[tuple[Change, dict[str, Any]]] = [
        (Rollback(str(work)), {"do": "rollback", "snapshot": work}),
        (DeleteBranches(("main",)), {"do": "remove_branch", "name": "main"}),
        (CreateBranch("early"), {"do": "create_branch", "name": "early", "snapshot": head}),
        (FastForward("early"), {"do": "fast_forward", "name": "main", "to": "early"}),
    ]
    for change, refusal in refused:
        with pytest.raises(Invalid):
            ours.preview(change, now)
        with pytest.raises(EngineError):
            judge.change(table, refusal)
    apply(ours, ours.preview(CreateBranch("on"), now), settle_s=0)
    assert append(judge, table, "y", None, branch="on")
    assert append(judge, table, "z", None)
    apply(ours, ours.preview(Rollback("latest~1"), now), settle_s=0)
    assert judge.state(table)["current"] == head
    assert append(judge, table, "z", None), "and Java writes on after a rollback of ours"


def told(judge: IcebergJudge, table: str) -> dict[str, object]:
    """Return what Java reports about a table, including main's path but not its times, which are from this machine's
    clock."""
    own = state(judge, table)
    return {**own, "log": [entry[1] for entry in own["log"]]}  # type: ignore[attr-defined]


def read(judge: IcebergJudge, table: str) -> dict[str, list[list[object]]]:
    return {name: judge.rows(table, ref=name) for name in judge.state(table)["refs"]}


def test_what_undo_brings_back_is_what_java_saw(
    judge: IcebergJudge, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.execution import grace_period

    def ends(*_: object) -> None:
        raise KeyboardInterrupt

    before, now = state(judge, table), NOW + 20 * DAY_MS
    ours = open_table(table)
    monkeypatch.setattr(grace_period, "wait", ends)
    with pytest.raises(KeyboardInterrupt):
        apply(ours, ours.preview(Expire(drop_tags=("early",)), now), settle_s=0)
    assert state(judge, table) != before
    run = Journal().open_run(table)
    assert run is not None
    undo(run.id, open_table=open_table)
    assert state(judge, table) == before


@pytest.mark.parametrize("packing", ["none", "gzip"])
def test_no_commit_is_lost_where_both_write_at_once(judge: IcebergJudge, table: str, packing: str) -> None:
    iceberg_race.run(judge, table, packing, NOW)
