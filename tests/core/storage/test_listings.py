"""Many directories, listed together."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Corrupt
from core.storage import listings
from core.storage.store import Store
from tests.support import memory_s3

FILES = {f"t/d{number:03}/f{each}": b"x" * each for number in range(50) for each in range(1, 4)}


def shown(store: Store, *directories: str) -> dict[str, list[tuple[str, int | None]]]:
    found = listings.of(store, directories)
    return {directory: [(each.name, each.size) for each in entries] for directory, entries in found.items()}


EXPECTED = {f"d{number:03}": [(f"f{each}", each) for each in range(1, 4)] for number in range(50)}


def test_on_a_disk(tmp_path: Path) -> None:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    found = shown(Store(str(tmp_path / "t")), *EXPECTED, "nowhere")
    assert found == {**EXPECTED, "nowhere": []}
    assert list(found) == [*EXPECTED, "nowhere"]
    with pytest.raises(Corrupt):
        shown(Store(str(tmp_path / "t")), "d001", "d001/f1")


def test_in_parallel_on_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory_s3.serving(FILES) as server:
        for name, value in server.leads.items():
            monkeypatch.setenv(name, value)
        server.taken()
        found = shown(Store(f"s3://{memory_s3.BUCKET}/t"), *EXPECTED, "nowhere")
        assert found == {**EXPECTED, "nowhere": []}
        assert len(server.taken()) < 2 * len(EXPECTED)
