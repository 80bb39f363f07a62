"""The snapshot of a time on a remote store: few snapshots are read, and the answer is that of reading all."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from core.cli import main
from core.errors import NotFound
from core.formats.paimon import layout, time_search
from core.model.time_travel import AsOf
from core.storage import kept_contents
from core.table import Table, open_table, resolve
from tests.support import memory_s3
from tests.support.depth import first_fast

PLACE = f"s3://{memory_s3.BUCKET}/t"
SCHEMA = {"version": 3, "id": 0, "fields": [{"id": 0, "name": "k", "type": "INT"}], "highestFieldId": 0,
          "partitionKeys": [], "primaryKeys": [], "options": {"bucket": "1"}, "timeMillis": 0}  # fmt: skip
Lake = Callable[..., memory_s3.Server]


def snapshots(times: Sequence[int], first: int = 1, branch: str = "main") -> dict[str, bytes]:
    """A branch's snapshots with these commit times."""
    below = f"t/{layout.branch_dir(branch)}"
    found = {f"{below}schema/schema-0": json.dumps(SCHEMA).encode()}
    for number, time_ms in enumerate(times, first):
        document = {
            "version": 3, "id": number, "schemaId": 0, "baseManifestList": "b", "deltaManifestList": f"d{number}",
            "commitUser": "u", "commitIdentifier": number, "commitKind": "APPEND", "timeMillis": time_ms,
        }  # fmt: skip
        found[f"{below}snapshot/snapshot-{number}"] = json.dumps(document).encode()
    found[f"{below}snapshot/LATEST"] = str(first + len(times) - 1).encode()
    return found


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    with memory_s3.serving({}) as serving:
        serving.lead(monkeypatch)
        yield serving


def holding(server: memory_s3.Server, objects: dict[str, bytes]) -> Table:
    server.objects.clear()
    server.objects.update(snapshots([]) | objects)
    server._names = None
    return open_table(PLACE)


def same(found: AsOf | None, full: AsOf) -> bool:
    """Whether both are the same but for the sentence that says how it was found."""
    return found is not None and dataclasses.replace(found, rule=full.rule) == full


def whole(table: Table, time_ms: int, branch: str = "main") -> AsOf | None:
    try:
        return resolve(table.heads(), f"time:{time_ms}", branch)
    except NotFound:
        return None


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every table is searched, and nothing is kept on the local disk between questions."""
    for name, value in {"FEWEST": 1, "AT_ONCE": 3, "AROUND": 2}.items():
        monkeypatch.setattr(time_search, name, value)
    monkeypatch.setattr(kept_contents, "find", lambda _: {})


@pytest.mark.slow
@pytest.mark.usefixtures("_tiny")
def test_with_increasing_times_it_is_the_answer_from_all_snapshots(server: memory_s3.Server) -> None:
    chance = random.Random(1)
    for count in (1, 2, 3, 7, 20, 41):
        first = chance.randrange(1, 50)
        times = sorted(chance.sample(range(1_000, 1_000 + 4 * count), count))
        table = holding(server, snapshots(times, first))
        for time_ms in (
            times[0],
            times[-1],
            times[-1] + 5,
            *chance.sample(times, min(count, 6)),
            times[count // 2] + 1,
        ):
            full = whole(table, time_ms)
            assert full is not None
            assert same(time_search.find(table.store, "main", time_ms), full), (times, time_ms)
        assert time_search.find(table.store, "main", times[0] - 1) is None


@pytest.mark.slow
@pytest.mark.usefixtures("_tiny")
def test_with_any_times_it_is_the_answer_from_all_snapshots_or_what_the_engine_reads(server: memory_s3.Server) -> None:
    """Equal times and clocks that differ: most are noticed, and all snapshots are read. Where none of those that were
    read shows it, the answer is the engine's own, and says on what it relies."""
    chance = random.Random(2)
    seen = {"as all": 0, "as the engine": 0, "read all": 0}
    for _ in range(30):
        times = sorted(chance.sample(range(1_000, 2_000), 30))
        for _ in range(chance.randrange(1, 4)):
            times[chance.randrange(30)] = chance.choice([chance.randrange(500, 2_500), chance.choice(times)])
        table = holding(server, snapshots(times))
        for time_ms in chance.sample(times, 3):
            found, full = time_search.find(table.store, "main", time_ms), whole(table, time_ms)
            if found is None:
                seen["read all"] += 1
            elif full is not None and same(found, full):
                seen["as all"] += 1
            else:
                assert full is None or found.snapshot.id == full.engine
                assert "takes commit times to increase with ids" in found.rule
                seen["as the engine"] += 1
    assert all(seen.values()), seen


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("at", first_fast([9, *range(1, 9), *range(10, 19)]))
def test_clocks_that_differ_next_to_the_answer_are_noticed(server: memory_s3.Server, at: int) -> None:
    """The earlier of two snapshots was committed after the time, the later one before it."""
    times = [1_000 + 10 * number for number in range(20)]
    times[at - 1], times[at] = times[at], times[at - 1]
    table = holding(server, snapshots(times))
    assert time_search.find(table.store, "main", times[at] + 5) is None
    assert "a lower id may be newer" in table.as_of(f"time:{times[at] + 5}").rule


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("damage", ["gap", "unreadable", "hint ahead", "no table", "listed but gone"])
def test_what_cannot_be_relied_on_is_left_to_the_full_read(
    server: memory_s3.Server, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = snapshots(range(1_000, 1_020))
    if damage == "gap":
        del objects["t/snapshot/snapshot-7"]
    elif damage == "unreadable":
        objects["t/snapshot/snapshot-11"] = b"{"
    elif damage == "hint ahead":
        objects["t/snapshot/LATEST"] = b"21"
    table = holding(server, objects)
    branch = "nobody" if damage == "no table" else "main"
    if damage == "listed but gone":
        answer = server.answer

        def hides(method: str, target: str, *rest: Any) -> Any:
            return (404, [], b"") if target.endswith("snapshot-11") else answer(method, target, *rest)

        monkeypatch.setattr(server, "answer", hides)
    assert time_search.find(table.store, branch, 1_010) is None


def test_few_of_many_snapshots_are_read(server: memory_s3.Server) -> None:
    times = [1_000_000 + 60_000 * number for number in range(3_000)]
    table = holding(server, snapshots(times) | snapshots(times[:700], branch="b"))
    server.taken()
    found = table.as_of(f"time:{times[2_123] + 5}")
    taken = server.taken()
    assert found.snapshot.id == 2_124
    assert found.engine == 2_124
    assert (found.before and found.before.id, found.after and found.after.id) == (2_123, 2_125)
    assert found.gap_ms == 5
    assert len(taken) < 220
    assert f"{sum('/snapshot-' in target for _, target in taken)} of 3,000 snapshots were read" in found.rule
    assert table.as_of(f"branch:b/time:{times[600]}").point == "branch:b/601"
    assert same(found, resolve(table.heads(), f"time:{times[2_123] + 5}"))
    server.taken()
    again = table.as_of(f"time:{times[2_123] + 5}")
    assert again.rule.startswith("The highest id among the 2,124"), "all are on the local disk by now"
    assert len(server.taken()) < 40


def test_a_local_table_is_read_in_full(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("local") / "t"
    for name, content in snapshots(range(1_000, 1_600)).items():
        path = root / name.removeprefix("t/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert open_table(str(root)).as_of("time:1100").rule.startswith("The highest id among the 101")


def test_digits_that_may_be_an_id_read_no_snapshot(
    server: memory_s3.Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """They read all of them to find out that none has it; a snapshot of a branch may."""
    objects = snapshots([1_700_000_000_000 + 1_000 * each for each in range(600)])
    holding(server, objects | snapshots([1, 2], first=1_700_000_000_001, branch="b"))
    server.taken()
    assert main(["as-of", PLACE, "1700000300000"]) == 0
    shown = capsys.readouterr()
    assert "Snapshot 301, committed" in shown.out
    assert "No snapshot has the id 1700000300000." in shown.err
    assert len(server.taken()) < 200
    assert main(["as-of", PLACE, "1700000000002", "--branch", "b"]) == 0
    assert "Snapshot 1700000000002, committed" in capsys.readouterr().out
