"""Dropping partitions and truncating tables with a plan: what it shows, does and rejects."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.errors import Conflict, Invalid, NotFound, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.plan.commits import named
from core.formats.paimon.write import commit, publish
from core.model.actions import Analyze, Compact, DropPartitions, Truncate
from core.model.effects import steps
from core.planning.confirmation import danger
from core.storage.store import Store
from core.table import open_table
from tests.support.formats.paimon.commits import COLUMNS, T0, file, live, stamp

NOW = T0 + 10**9
Said = Callable[..., tuple[int, Any]]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Create two days, one of them twice; a tag holds the first two files."""
    store = Store(str(tmp_path / "w" / "default.db" / "t"))
    publish.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    for day in ("2026-11-01", "2026-11-02", "2026-11-01"):
        commit.append(store, [file(store, day)], stamp())
        if day == "2026-11-02":
            newest = publish.read_head(store).snapshot
            assert newest is not None
            store.create("tag/tag-v", newest.content)
    return store


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def run(*words: str) -> tuple[int, Any]:
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return run


def test_a_dropped_partition_is_planned_carried_out_and_audited(store: Store, said: Said) -> None:
    words = ("drop-partition", store.root, "--partition", "dt=2026-11-01")
    before = live(store)
    status, plan = said("plan", *words, "--now", "2026-11-03T00:00:00Z")
    assert (status, plan["headline"]) == (
        0,
        "Removes 20 rows in 2 files (20 B) from main with a commit; reclaims nothing.",
    )
    assert [(each["partition"], each["rows"]) for each in plan["leaving"]] == [("dt=2026-11-01", 10)] * 2
    assert plan["notes"][1] == "Still in these snapshots and tags: tag:v (1), 3 (all), 2 (1), 1 (1)."
    assert "No tag has all of them: snapshot 3 has" in plan["notes"][2]
    assert live(store) == before, "a plan changes nothing"
    assert (
        said(*words)[1]["error"]["message"]
        == "stdin is not a terminal, so the change cannot be confirmed; nothing was changed."
    )
    exactly = ("--now", "2026-11-03T00:00:00Z", "--plan", plan["fingerprint"], "--yes")
    status, done = said(*words, *exactly)
    assert (status, done["receipt"]["created"], done["receipt"]["deleted"]) == (0, ["snapshot/snapshot-4"], [])
    assert len(live(store)) == 1
    assert all(store.size(each["path"]) for each in plan["leaving"]), "no file goes"
    newest = publish.read_head(store).snapshot
    assert newest is not None
    assert (newest.kind, newest.fields["operation"], newest.total_rows) == ("OVERWRITE", "TRUNCATE", 10)
    assert said(*words, *exactly)[1]["error"]["kind"] == "Invalid", "nothing lies there any more"
    [run] = Journal().runs(open_table(store.root).location)
    assert (run.change_kind, run.state, run.plan["leaving"]) == ("DropPartitions", "done", plan["leaving"])
    assert said("truncate", store.root, "--yes")[1]["receipt"]["created"] == ["snapshot/snapshot-5"]
    assert live(store) == set()
    assert said("truncate", store.root, "--yes")[1]["error"]["kind"] == "Invalid", "nothing is left to be taken"


def test_who_commits_meanwhile_stops_it(store: Store, said: Said) -> None:
    table = open_table(store.root)
    plan = table.preview(Truncate(), NOW)
    assert danger(plan, "t").phrase == "t"
    commit.append(store, [file(store, "2026-11-05")], stamp())
    before = live(store)
    with pytest.raises(
        Conflict,
        match=(
            "The table has changed since this plan was made, and other references would now have "
            "to be rewritten; nothing was changed"
        ),
    ):
        apply(table, plan, settle_s=0)
    assert live(store) == before
    assert Journal().open_run(table.location) is None


@pytest.mark.parametrize(
    ("change", "kind", "why"),
    [
        (DropPartitions(()), Invalid, "No partition was given"),
        (DropPartitions(("2026-11-01",)), Invalid, "; the keys are dt."),
        (DropPartitions(("day=1",)), Invalid, "; the keys are dt."),
        (DropPartitions(("dt=2026-11-01,dt=2026-11-02",)), Invalid, "gives two values for the same key."),
        (DropPartitions(("dt=2026-12-24",)), Invalid, "There are no current files there; there is nothing to do."),
        (Truncate("gone"), NotFound, "no branch 'gone'"),
        (Analyze(columns=("gone",)), NotFound, "no column 'gone'"),
    ],
)
def test_what_cannot_be_asked(store: Store, change: Any, kind: type[Exception], why: str) -> None:
    with pytest.raises(kind, match=why):
        open_table(store.root).preview(change, NOW)


def test_partitions_are_named_by_values_of_their_types(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "default.db" / "t"))
    columns = (("id", "INT"), ("day", "DATE"), ("n", "BIGINT"), ("b", "BOOLEAN"), ("s", "STRING"))
    schema = publish.create_table(store, columns, partition_keys=["day", "n", "b", "s"], time_ms=T0)
    [found] = named(schema, ["day=2026-11-01, n=7,b=true"])
    assert {name: str(value) for name, value in found.items()} == {"day": "2026-11-01", "n": "7", "b": "True"}
    assert named(schema, ["n=__DEFAULT_PARTITION__"]) == [{"n": None}]
    assert named(schema, ["s=a,b,n=7", "s=,", "s="]) == [{"s": "a,b", "n": 7}, {"s": ","}, {"s": ""}]
    with pytest.raises(Invalid, match="not a valid value of type DATE: 'soon'"):
        named(schema, ["day=soon"])


def test_a_compaction_tells_which_files_it_rewrites(store: Store) -> None:
    plan = open_table(store.root).preview(Compact(partitions=("dt=2026-11-01",), min_files=2), NOW)
    assert plan.headline == "Rewrites 2 files (20 B) of main with a commit; reclaims nothing."
    assert set(plan.leaving["partition"].to_pylist()) == {"dt=2026-11-01"}
    assert "The same rows will be in files of about 268.4 MB (target-file-size)." in plan.notes[-1].text
    idle = open_table(store.root).preview(Compact(), NOW)
    assert (idle.headline, idle.leaves, steps(idle.effects)) == ("Nothing is worth compacting.", (), ())
    assert danger(plan, "t").phrase == ""


def test_a_table_that_is_not_written_is_refused_before_anything(store: Store) -> None:
    document = json.loads(store.read("schema/schema-0"))
    document["options"]["deletion-vectors.enabled"] = "true"
    store.put("schema/schema-0", json.dumps(document).encode())
    with pytest.raises(Unsupported, match="deletion-vectors"):
        open_table(store.root).preview(Truncate(), NOW)
