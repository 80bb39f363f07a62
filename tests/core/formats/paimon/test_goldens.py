"""What real engines did to real tables, done by us: the same files and bytes, through the plan and through its apply.

Where that engine was wrong (it left references to files it deleted) ours frees none of them and the rest alike.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.catalog import DEMO_MARKER
from core.execution.apply import apply
from core.formats.paimon.plan.expiry import preview
from core.model.actions import DeleteTags, Expire
from core.model.plan import Plan
from core.table import open_table
from tests.support import set_model
from tests.support.formats.goldens import digest
from tests.support.places import SMALL_TABLES, TABLES

NOW_MS = 1_795_300_000_000  # after every commit of every table
MOVES = {"expire", "delete-tag"}
OPTIONS = {
    "--retain-max": "retain_max",
    "--retain-min": "retain_min",
    "--changelog-retain-max": "changelog_retain_max",
    "--changelog-retain-min": "changelog_retain_min",
}


def steps_of(op: str) -> list[list[str]]:
    return [step.split() for step in op.split(";")]


def goldens() -> list[tuple[str, Mapping[str, Any]]]:
    found = json.loads((TABLES / "paimon" / "goldens.json").read_bytes())
    return [
        (name, golden)
        for name, done in found.items()
        for golden in done
        if any(step[0] in MOVES for step in steps_of(golden["op"]))
    ]


def change_of(words: list[str]) -> Expire | DeleteTags:
    if words[0] == "delete-tag":
        return DeleteTags(tuple(words[1].split(",")))
    given: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        if word == "--changelog":
            given["changelogs_only"] = True
        elif word == "--branch":
            given["branch"] = next(rest)
        else:
            given[OPTIONS[word]] = int(next(rest))
    return Expire(**given)


def copy(name: str, to: Path) -> Path:
    """A table in a warehouse of its own where deleting is allowed."""
    root = to / "default.db" / name
    shutil.copytree(TABLES / "paimon" / "default.db" / name, root)
    (to / DEMO_MARKER).touch()
    return root


def sizes(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_size for path in root.rglob("*") if path.is_file()}


def carry_out(root: Path, words: list[str]) -> Plan:
    """Plan and apply one step; what the plan says, the receipt and the disk must be one."""
    before = sizes(root)
    table = open_table(str(root))
    plan = table.preview(change_of(words), NOW_MS)
    receipt = apply(table, plan, settle_s=0)
    after = sizes(root)
    gone = {path: size for path, size in before.items() if path not in after}
    told = {row["path"]: row["bytes"] for row in plan.frees.to_pylist()}
    assert told == gone
    assert set(receipt.deleted) == set(gone)
    assert receipt.freed_bytes == plan.freed_bytes == sum(gone.values())
    assert (receipt.outcome, receipt.problems, receipt.kept_back) == ("done", (), ())
    added = {path for path in after if path not in before and not path.endswith(("EARLIEST", "LATEST"))}
    assert added == set(plan.leaves) == set(receipt.created)
    held = set_model.read(root).paths() - set(plan.leaves)  # what is left behind was not there to be kept
    assert plan.kept_bytes == sum(size for path, size in after.items() if path in held)
    return plan


@pytest.mark.parametrize(
    ("name", "golden"),
    [
        pytest.param(*each, id=f"{each[0]}: {each[1]['op']}", marks=[] if number % 4 == 0 else [pytest.mark.slow])
        for number, each in enumerate(goldens())
    ],
)
def test_golden(name: str, golden: Mapping[str, Any], tmp_path: Path) -> None:
    root = copy(name, tmp_path)
    before = sizes(root)
    for words in steps_of(golden["op"]):
        if words[0] == "consumer":
            (root / "consumer" / f"consumer-{words[1]}").write_text(json.dumps({"nextSnapshot": int(words[2])}))
        elif words[0] in MOVES:
            carry_out(root, words)
        else:
            assert words[0] in {"orphan", "read"}, words  # what the engine did afterwards and deleted nothing by
    after = sizes(root)
    gone = {path: size for path, size in before.items() if path not in after}
    left = {path for path in golden["deleted"] if path in still_named(golden, root)}
    assert set(gone) == set(golden["deleted"]) - left
    assert sum(gone.values()) == golden["deleted_bytes"] - sum(before[path] for path in left)
    assert not left or golden["dangling_refs"], "only a defect of the engine is a reason to differ"
    if golden["dangling_refs"]:
        assert left
        assert {path for path in golden["dangling_refs"] if not path.startswith("!")} <= set(after)
        assert open_table(str(root)).history().incomplete == {}, "every point still reads in full"
    hints = {path for path in (*golden["added"], *golden["changed"]) if path.endswith("EARLIEST")}
    for hint in hints:
        ids = [int(each.name.rsplit("-", 1)[1]) for each in (root / hint).parent.glob("*-*")]
        assert int((root / hint).read_text()) == min(ids)
    assert {path for path in golden["added"] if "-" in path.rsplit("/", 1)[-1]} == set(after) - set(before) - hints - {
        "changelog/LATEST"
    }


def still_named(golden: Mapping[str, Any], root: Path) -> frozenset[str]:
    """What some point of ours still holds and that engine's references dangle on."""
    return set_model.read(root).paths() if golden["dangling_refs"] else frozenset()


# a table whose deltas lie ---------------------------------------------------------------------------------------------


def test_no_plan_on_fast_forward_loss_frees_what_a_kept_point_reads() -> None:
    """Every expiry depth with every set of tags dropped, on every branch."""
    root = TABLES / "paimon" / "default.db" / "fast_forward_loss"
    model, table = set_model.read(root), open_table(str(root))
    history = table.history()
    plans = 0
    for line in history.heads.lines:
        tags = [tag.name for tag in line.tags]
        drops = [some for count in range(len(tags) + 1) for some in itertools.combinations(tags, count)]
        changes: list[Expire | DeleteTags] = [DeleteTags(some, line.branch) for some in drops if some]
        for keep in range(1, len(line.snapshots) + 1):
            changes += [Expire(line.branch, keep, keep, drop_tags=some) for some in drops]
        for change in changes:
            plan = preview(history, change, NOW_MS)
            goes = {verdict.point for verdict in plan.deleted_points}
            kept = {verdict.point for verdict in plan.points if verdict.keep}
            frees = set(plan.frees["path"].to_pylist())
            assert goes | kept == set(model.holders)
            assert frees == model.freed(goes), change
            assert not frees & model.live_paths(kept), change
            plans += 1
    assert plans >= 26


# the small copies -----------------------------------------------------------------------------------------------------


def test_the_small_copies_are_copies() -> None:
    """A checkout without the shared tables is held to the same truth, less of it."""
    small = SMALL_TABLES / "paimon"
    names = sorted(path.name for path in (small / "default.db").iterdir())
    assert names == sorted(json.loads((small / "tables.json").read_bytes()))
    assert len(names) >= 6
    assert sum(path.stat().st_size for path in small.rglob("*") if path.is_file()) < 1_000_000
    for name in names:
        copied, original = small / "default.db" / name, TABLES / "paimon" / "default.db" / name
        assert digest(copied) == digest(original), name
    for file in ("goldens.json", "tables.json"):
        whole = json.loads((TABLES / "paimon" / file).read_bytes())
        assert json.loads((small / file).read_bytes()) == {name: whole[name] for name in names if name in whole}
