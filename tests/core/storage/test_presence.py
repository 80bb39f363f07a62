"""Sizes of many files far away: asked at the same time, and an absent one is told from one that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from core.errors import Corrupt
from core.storage import presence
from core.storage.store import Store
from tests.support import memory_s3

NAMES = [f"data/f{number}.parquet" for number in range(300)]
ODD = "data/a b%20ä.parquet"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory_s3.Server]:
    objects = {f"t/{name}": bytes(number) for number, name in enumerate([*NAMES, ODD])}
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        yield server


def test_sizes_are_asked_in_parallel(server: memory_s3.Server) -> None:
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    store.size(NAMES[0])
    server.taken()
    server.together = ("/data/", 100)
    found = presence.sizes(store, [*NAMES, ODD, "data/none.parquet"])
    assert found == {name: number for number, name in enumerate([*NAMES, ODD])} | {"data/none.parquet": None}
    assert server.most_at_once >= 100
    assert len(server.taken()) <= len(NAMES) + 6


def test_a_size_that_is_refused_is_no_absent_file(server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    answer = server.answer

    def refusing(method: str, target: str, *rest: Any) -> Any:
        return (403, [], b"") if target.endswith("f7.parquet") else answer(method, target, *rest)

    monkeypatch.setattr(server, "answer", refusing)
    with pytest.raises(Corrupt, match="could not read this path"):
        presence.sizes(Store(f"s3://{memory_s3.BUCKET}/t"), NAMES[:20])


@pytest.mark.parametrize("is_usable", [True, False])
def test_the_name_above_objects_is_no_file(
    is_usable: bool, server: memory_s3.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of objects answers that `f0.parquet` is a directory while an object `f0.parquet/x` exists."""
    store = Store(f"s3://{memory_s3.BUCKET}/t")
    if not is_usable:
        monkeypatch.setattr(store, "many", None)
    below = [f"data/lost{number}.parquet" for number in range(2)]
    server.objects.update({f"t/{path}/x": b"other" for path in below})
    assert store.size(below[0]) is None
    assert presence.sizes(store, below) == dict.fromkeys(below)
