"""Tables on a store far away: what is asked of it, and what the local disk answers instead."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from core.errors import Corrupt
from core.storage.decoded_files import ahead, gathered
from core.storage.store import Store
from core.table import open_table
from tests.support import memory_s3
from tests.support.builders import TableBuilder

PLACE = f"s3://{memory_s3.BUCKET}/t"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    """60 snapshots and 40 tags."""
    table = TableBuilder(tmp_path / "t")
    for number in range(60):
        table.commit([table.file(write=False)], hints=number == 59)
        if number < 40:
            table.tag(f"v{number}")
    paths = [path for path in table.root.rglob("*") if path.is_file()]
    objects = {f"t/{path.relative_to(table.root)}": path.read_bytes() for path in paths}
    with memory_s3.serving(objects) as found:
        found.lead(monkeypatch)
        yield found


def read(server: memory_s3.Server) -> list[str]:
    """The objects that were read since the last call."""
    return [path.partition("/t/")[2] for method, path in server.taken() if method == "GET" and "list-type" not in path]


def test_reopening_reads_only_what_a_listing_shows_to_be_new(server: memory_s3.Server) -> None:
    before = open_table(PLACE).history()
    assert sorted(read(server)) == [name.removeprefix("t/") for name in server.names()]  # each once
    again = open_table(PLACE).history()
    assert sorted(read(server)) == ["snapshot/LATEST"]
    assert again.heads.lines == before.heads.lines
    assert again.objects.equals(before.objects)
    moved = {**json.loads(server.objects["t/tag/tag-v3"]), "commitUser": "someone else"}
    server.objects["t/tag/tag-v3"] = json.dumps(moved).encode()
    line = open_table(PLACE).heads().main
    assert sorted(read(server)) == ["snapshot/LATEST", "tag/tag-v3"]
    assert [tag.snapshot.commit_user for tag in line.tags if tag.name == "v3"] == ["someone else"]
    open_table(PLACE).heads(patience_s=0.01)  # as a change reads them
    assert {"tag/tag-v5", "snapshot/snapshot-7", "snapshot/EARLIEST"} <= set(read(server))


def test_many_files_are_asked_for_at_once(server: memory_s3.Server) -> None:
    open_table(PLACE).heads()
    server.most_at_once = 0
    server.together = ("/snapshot/snapshot-", 60)
    open_table(PLACE).heads(patience_s=0.01)
    assert server.most_at_once >= 60


def test_a_file_of_another_size_than_listed_is_not_kept(
    server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(name for name in server.names() if "manifest/manifest-list" in name)
    whole, listing = server.objects[name], server._listed

    def longer(asked: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        server.objects[name] = whole + b"\0"
        try:
            return listing(asked)
        finally:
            server.objects[name] = whole

    with monkeypatch.context() as lying:
        lying.setattr(server, "_listed", longer)
        assert open_table(PLACE).history().incomplete
    assert not open_table(PLACE).history().incomplete


def test_a_table_opens_where_an_event_loop_runs(server: memory_s3.Server) -> None:
    async def opened() -> int:
        with memory_s3.serving({}):  # as in the process of a browser test
            return len(open_table(PLACE).heads().main.snapshots)

    with ThreadPoolExecutor(1) as thread:  # in this one, a browser test may have left a loop that runs
        assert thread.submit(lambda: asyncio.run(opened())).result() == 60


def test_one_batch_is_fetched_while_the_one_before_is_used() -> None:
    begun, ended = [threading.Event() for _ in range(4)], list[int]()

    def fetch(batch: int) -> int:
        assert ended == list(range(batch))
        begun[batch].set()
        ended.append(batch)
        return batch

    used = list[int]()
    for batch in ahead(Store("memory://ahead"), range(4), fetch):
        if batch < 3:
            assert begun[batch + 1].wait(60)
        assert not any(each.is_set() for each in begun[batch + 2 :])
        used.append(batch)
    assert used == list(range(4))


def test_rows_of_files_loaded_together_and_apart() -> None:
    schema = pa.schema([("row", pa.int64())])
    first, second = (pa.table([list(rows)], schema=schema) for rows in (range(6), range(6, 9)))
    kept = {("a", 1): (first, 0, 2), ("b", 1): (first, 2, 5), ("none", 1): (first, 5, 5), ("c", 1): (second, 1, 3)}
    sizes = dict.fromkeys(("a", "b", "c", "bad", "none"), 1)
    wanted = ["b", "a", "bad", "b", "none", "c"]
    expected, start = [2, 3, 4, 0, 1, 2, 3, 4, 7, 8], [0, 3, 5, 5, 8, 8, 10]
    for is_new in (True, False):  # the second time from what the first one kept
        found = gathered(wanted, schema, kept, sizes, {"bad": Corrupt("broken")}, is_new=is_new)
        assert found.rows["row"].to_pylist() == expected
        assert found.start.tolist() == start
    alone = gathered(["a", "b"], schema, kept, sizes, {}, is_new=False)
    assert alone.rows["row"].to_pylist() == [0, 1, 2, 3, 4]
    assert gathered([], schema, kept, sizes, {}, is_new=False).start.tolist() == [0]
