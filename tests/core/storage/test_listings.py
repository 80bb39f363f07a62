"""Many directories, listed together."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Corrupt
from core.storage import listings
from core.storage.file_systems import DirectoryEntry
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


def test_a_refusal_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever thread is refused: the others do not go on to the end."""
    with memory_s3.serving(FILES) as server:
        for name, value in server.leads.items():
            monkeypatch.setenv(name, value)
        store, asked, ls = Store(f"s3://{memory_s3.BUCKET}/t"), list[str](), Store.ls_if_there

        def refusing(self: Store, directory: str) -> list[DirectoryEntry]:
            asked.append(directory)
            if directory == "d020":
                raise Corrupt("refused", path=directory)
            return ls(self, directory)

        monkeypatch.setattr(Store, "ls_if_there", refusing)
        with pytest.raises(Corrupt, match="refused"):
            listings.of(store, [*EXPECTED, *(f"more{number}" for number in range(5_000))])
        assert len(asked) < 1_000


def test_a_directory_that_has_only_its_marker_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """As s3fs lists what S3A leaves; a file of that name is refused."""
    store = Store("memory://listings/t")
    name = f"{store.full('d')}/"
    info = {"name": name, "type": "file", "size": 0}
    monkeypatch.setattr(store._fs, "ls", lambda *_, **__: [info])
    assert listings.of(store, ["d"]) == {"d": []}
    info["name"] = name.rstrip("/")
    with pytest.raises(Corrupt, match="found a file"):
        listings.of(store, ["d"])
