"""Random histories of Iceberg tables: times, scans, diffs, expiries and ref costs, ours compared with the
engine's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.formats.iceberg.expiration_dates import ends
from core.table import open_table
from tests.engines.iceberg_java import IcebergJudge
from tests.support.depth import IS_DEEP
from tests.support.interop.iceberg_differential import Beside, compare
from tests.support.interop.iceberg_history import DAY_MS, EPOCH_MS, History, absent

COVERING = (0, 1, 2, 4, 6, 8, 9, 10, 13, 16, 23, 24)  # together they have every kind of thing
SEEDS = (*(range(25) if IS_DEEP else COVERING), 142)  # the last: main stands on a pick of its own ancestor

Counts = tuple[Counter[str], Counter[str]]
Ask = Callable[[int], Counts]


@pytest.fixture(scope="module")
def ask(iceberg_judge: IcebergJudge, history_of: Callable[[int], History]) -> Ask:
    """What occurred in a history and what was compared, each history once."""
    known: dict[int, Counts] = {}

    def counted(seed: int) -> Counts:
        if seed not in known:
            history = history_of(seed)
            known[seed] = history.counts, compare(iceberg_judge, history)
        return known[seed]

    return counted


@pytest.mark.parametrize("seed", SEEDS)
def test_our_answers_are_the_engines(ask: Ask, seed: int) -> None:
    _, compared = ask(seed)
    assert compared["times"] + compared["times before all"]


def test_every_kind_of_thing_occurred_and_was_compared(ask: Ask) -> None:
    answers = [ask(seed) for seed in SEEDS]
    occurred, compared = (sum((each[part] for each in answers), Counter()) for part in (0, 1))
    print(dict(sorted(occurred.items())), dict(compared))
    assert not absent(occurred), "a kind of thing never occurred"
    least = {"times": 400, "times in disorder": 60, "refs": 40, "snapshots": 160, "data files": 1000, "deletes": 200}
    least |= {"diffs": 60, "expiries": 100, "expiries that delete data files": 80, "snapshots expired": 1000}
    least |= {"marginals": 20, "applied": 15, "files deleted by us": 300, "rows read after our apply": 400}
    least |= {"expiries that Java cleans incrementally": 5, "deleted only later by Java": 1, "refused by both": 1}
    assert {name: count for name, count in least.items() if compared[name] < count} == {}


def test_a_branch_that_ends_by_its_age_keeps_nothing_longer(iceberg_judge: IcebergJudge, tmp_path: Path) -> None:
    """Its snapshots then live by main's rule, or by the cut-off where they are on no other."""
    table, now, hour = str(tmp_path / "t"), EPOCH_MS, 3_600_000
    iceberg_judge.create(table, [("id", "long")], now=now)
    ids = []
    for name in ("a", "b", "c", "d"):
        (id,) = iceberg_judge.change(table, {"do": "append", "name": name, "rows": [[1]]}, now=now)
        ids.append(id)
    side = {"do": "create_branch", "snapshot": ids[1], "max_ref_age_ms": 2 * hour}
    for change in ({"do": "retention", "name": "main", "max_snapshot_age_ms": hour}, side | {"name": "side"}):
        iceberg_judge.change(table, change, now=now)
    iceberg_judge.change(table, side | {"name": "away"}, now=now)
    (lone,) = iceberg_judge.change(table, {"do": "append", "branch": "away", "name": "e", "rows": [[1]]}, now=now)
    iceberg_judge.change(table, {"do": "append", "branch": "away", "name": "f", "rows": [[1]]}, now=now)
    told = {point: end for point, (end, _, _) in ends(open_table(table).heads(), now).items()}
    assert told[str(ids[0])] == now + 2 * hour, "not the five days that the branch's snapshots may have"
    assert told[str(ids[2])] == now + hour
    assert told[f"branch:away/{lone}"] == now + 5 * DAY_MS, "on no ref then, where the cut-off alone counts"
    for end, goes in ((now + hour, {ids[2]}), (now + 2 * hour, {ids[0], ids[1]}), (now + 5 * DAY_MS, {lone})):
        before, after = (set(iceberg_judge.expire(table, now=end + more)["removed_snapshots"]) for more in (0, 1))
        assert goes <= after - before


def test_a_vector_hides_the_position_deletes_of_before(iceberg_judge: IcebergJudge, tmp_path: Path) -> None:
    """Of a table that was version 2: one file of deletes reaches both data files, a vector takes its place for one."""
    both = Beside(iceberg_judge, History(tmp_path / "t", str(tmp_path / "t"), 0, {"is_real": True}))
    address = both.history.address
    iceberg_judge.create(address, [("id", "long")], now=EPOCH_MS)
    for name in "ab":
        iceberg_judge.change(address, {"do": "append", "name": name, "rows": [[1], [2], [3]]}, now=EPOCH_MS)
    a, b = sorted(file["path"] for file in iceberg_judge.scan(address)["files"])
    iceberg_judge.change(address, {"do": "row_delta", "name": "d", "positions": {a: [0], b: [0]}}, now=EPOCH_MS)
    iceberg_judge.change(address, {"do": "properties", "set": {"format-version": "3"}}, now=EPOCH_MS)
    iceberg_judge.change(address, {"do": "row_delta", "name": "v", "positions": {a: [1]}}, now=EPOCH_MS)
    told = {file["path"]: [path for _, path, _ in file["deletes"]] for file in iceberg_judge.scan(address)["files"]}
    assert [path.rpartition("/")[2] for path in (*told[a], *told[b])] == ["v.puffin", "d-p0.parquet"]
    assert iceberg_judge.rows(address) == [[2], [3], [3]]
    both.compare_scans()
    assert both.counts["deletes that Java leaves out"] == 0
