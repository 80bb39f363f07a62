"""The effects in the journal can be read again, whichever version wrote them."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.execution import journal_versions, recovery
from core.execution.journal import Journal, Run
from core.model.actions import CreateTag
from core.model.effects import DeleteUnreferencedFiles, Effect, RaiseHint, SwapMetadata, VerifyFiles, steps
from core.storage.store import Store
from core.table import open_table
from tests.support.depth import sample
from tests.support.execution import ground, recorded_runs
from tests.support.execution.dying import dies
from tests.support.execution.recorded_runs import Json, OpenRun, picture

CASES = (
    "paimon-expire",
    "paimon-expire-leaving-changelogs",
    "paimon-replace-tag",
    "paimon-rename-tag",
    "paimon-create-tag-for-an-hour",
    "paimon-rollback",
    "paimon-rollback-as-latest",
    "paimon-rename-branch",
    "paimon-clear-consumers",
    "paimon-truncate",
    "paimon-orphans",
    "iceberg-expire",
    "iceberg-create-tag",
    "iceberg-rename-tag",
)


@pytest.mark.parametrize("case", CASES)
def test_a_run_of_an_earlier_version_has_the_effects_that_its_plan_has_today(case: str, tmp_path: Path) -> None:
    """The first crash is before any effect: the same change, planned now, has the same effects."""
    of, _, name = case.partition("-")
    change = {"paimon": recorded_runs.PAIMON, "iceberg": recorded_runs.ICEBERG}[of][name]
    recorded = next(iter(recorded_runs.recorded(case, tmp_path)))[0]
    run, journal = recorded.journal.run(recorded.run), recorded.journal
    assert not {journal_versions.EFFECTS, journal_versions.CONTENTS} & run.plan.keys()
    kept = journal_versions.effects_of(run, journal.removed(run.id), journal.frees(run.id))
    plan = recorded_runs.opened(Store(str(recorded.root))).preview(change, recorded_runs.NOW)
    now = plan.effects if plan.now_ms == run.plan["now_ms"] else ()
    assert list(map(comparable, kept)) == [comparable(each) for each in now if not is_asked_before(each)]


def comparable(effect: Effect) -> Effect:
    """Return an effect without what depends on the restored table's path, or on sizes that contain it."""
    if isinstance(effect, SwapMetadata):
        return dataclasses.replace(effect, beside=())
    return dataclasses.replace(effect, bytes=0) if isinstance(effect, DeleteUnreferencedFiles) else effect


def is_asked_before(effect: Effect) -> bool:
    """Asked before a run starts, so earlier journals did not record it; a run of theirs deletes in order."""
    return isinstance(effect, RaiseHint) or (isinstance(effect, VerifyFiles) and effect.tag is None)


@pytest.mark.parametrize("name", recorded_runs.PAIMON)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path)
    recorded_runs._built("paimon", name, root)
    plan = open_table(str(root)).preview(recorded_runs.PAIMON[name], ground.LATE_MS)
    document = json.loads(json.dumps(journal_versions.written(plan.effects, plan.removes)))
    kept = {"change": dataclasses.asdict(plan.change), "now_ms": plan.now_ms, **document}
    run = Run("0", "", "", type(plan.change).__name__, kept, "", 0, "started", False, None, None, None)
    assert journal_versions.effects_of(run, plan.removes, ()) == plan.effects
    bytes_of_references = {journal_versions._digest(content) for _, content in plan.removes}
    assert not bytes_of_references & document[journal_versions.CONTENTS].keys(), "each content is kept once"


def test_a_step_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    builder = ground.small_table(ground.warehouse(tmp_path))
    run = Journal().run(dies(builder, CreateTag("new", 9), "create tag/"))
    later = {**run.plan, journal_versions.EFFECTS: [{"effect": "Teleport"}]}
    with pytest.raises(Corrupt, match="has a step that this version of Snapscope does not know: Teleport"):
        journal_versions.effects_of(dataclasses.replace(run, plan=later), (), ())


def test_a_field_of_a_step_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    """A step that is carried out without a condition that it has may delete what must stay."""
    builder = ground.small_table(ground.warehouse(tmp_path))
    run = Journal().run(dies(builder, CreateTag("new", 9), "create tag/"))
    later = {**run.plan, journal_versions.EFFECTS: [{"effect": "RepairHint", "path": "x", "only_if": "y"}]}
    with pytest.raises(Corrupt, match=r"does not know: RepairHint \(only_if\)") as refused:
        journal_versions.effects_of(dataclasses.replace(run, plan=later), (), ())
    assert "the version that started it" in str(refused.value.remedy)


@pytest.mark.parametrize(
    ("kind", "more", "named"), [("Teleport", {}, "Teleport"), ("CreateTag", {"label": "x"}, r"CreateTag \(label\)")]
)
@pytest.mark.parametrize("verb", [recovery.resume, recovery.undo])
def test_a_change_of_a_later_version_is_refused_by_name(
    kind: str, more: Json, named: str, verb: Callable[..., object], tmp_path: Path
) -> None:
    builder = ground.small_table(ground.warehouse(tmp_path))
    id = dies(builder, CreateTag("new", 9), "create tag/")
    before = ground.references(builder.root)
    with closing(sqlite3.connect(Journal().path)) as connection:
        connection.execute("drop trigger runs_update")
        (plan,) = connection.execute("select plan from runs").fetchone()
        later = json.loads(plan)
        later["change"] |= more
        connection.execute("update runs set change_kind = ?, plan = ?", (kind, json.dumps(later)))
        connection.commit()
    with pytest.raises(Corrupt, match=rf"that this version of Snapscope does not know: {named}") as refused:
        verb(id, open_table=open_table)
    assert "the version that started it" in str(refused.value.remedy)
    assert ground.references(builder.root) == before
    assert Journal().run(id).is_open


def test_the_journal_shows_the_steps_that_the_plan_showed(tmp_path: Path) -> None:
    builder = ground.small_table(ground.warehouse(tmp_path))
    change = recorded_runs.PAIMON["expire"]
    shown = open_table(str(builder.root)).preview(change, ground.LATE_MS)
    run = Journal().run(dies(builder, change, "delete snapshot/snapshot-2"))
    kept = journal_versions.effects_of(run, Journal().removed(run.id), Journal().frees(run.id))
    assert steps(kept) == steps(shown.effects)


# ends -----------------------------------------------------------------------------------------------------------------

QUICK = {"paimon-create-tag", "iceberg-rename-tag"}


MARKED = [pytest.param(case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in recorded_runs.CASES]


@pytest.mark.parametrize("case", sample(MARKED, 12))
def test_runs_of_an_earlier_version_end_as_they_would_have_ended(case: str, tmp_path: Path) -> None:
    seen = 0
    for first, second in recorded_runs.recorded(case, tmp_path):
        assert_same(first, recorded_runs.resumed, first.resumed)
        assert_same(second, recorded_runs.undone, second.undone)
        seen += 1
    assert seen > 2


def with_earlier_attempts(run: OpenRun, found: Json, expected: Json) -> Json:
    """What is expected, with what attempts before the last one have done: the recorded receipts left out part of it.

    What a receipt says beyond them must be so: it was planned to go and is gone, or it is there.
    """
    if "deleted" not in found or "deleted" not in expected:
        return expected
    expected = with_newest_hint(run.root, found, expected)
    sizes = {path: len(content) for path, content in run.journal.removed(run.run)}
    sizes |= {path: size for path, _, size in run.journal.frees(run.run)}
    gone = set(found["deleted"]) - set(expected["deleted"])
    assert not [path for path in gone if path not in sizes or (run.root / path).exists()], run.died
    names = {name.partition(" ")[0] for name in found["picture"]}
    made = {path for path in set(found["created"]) - set(expected["created"]) if path in names}
    return {
        **expected,
        "created": sorted([*expected["created"], *made]),
        "deleted": sorted([*expected["deleted"], *gone]),
        "kept_back": [path for path in expected["kept_back"] if path not in gone],
        "freed_bytes": expected["freed_bytes"] + sum(sizes[path] for path in gone),
    }


def with_newest_hint(root: Path, found: Json, expected: Json) -> Json:
    """What is expected, with a LATEST that names the newest snapshot: earlier versions left it one behind."""
    hint, ids = root / "snapshot/LATEST", [path.name.partition("-")[2] for path in root.glob("snapshot/snapshot-*")]
    if not ids or not hint.exists() or hint.read_text() != max(ids, key=int):
        return expected
    own, theirs = (
        {key: value for key, value in each["picture"].items() if key.startswith("snapshot/LATEST ") is is_hint}
        for each, is_hint in ((found, True), (expected, False))
    )
    return {**expected, "picture": {**theirs, **own}}


def assert_same(run: OpenRun, act: Callable[[OpenRun], Json], expected: Json) -> None:
    before = picture(run.root)
    found = act(run)
    assert found == with_earlier_attempts(run, found, expected), run.died
    if "error" in found and found["picture"] == before:
        return  # rejected, and nothing was changed
    run.journal.verify()
    if "error" not in found:
        assert not any(each.is_open for each in run.journal.runs()), run.died
