"""Metadata files that a table does not name: older ones are orphans, others stop the search for orphans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import Corrupt, Unsupported
from core.execution.apply import apply
from core.formats.iceberg import other_metadata, references
from core.table import open_table
from tests.support.execution import iceberg_ground as ground
from tests.support.formats.iceberg.orphans import LITTER, lost, paths, planned, unique


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table without a catalog."""
    return ground.small_table(tmp_path / "db" / "t")


def versions(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("metadata/v*.metadata.json"))


def forget(root: Path) -> None:
    """Commit without a log of older metadata."""
    before = ground.newest(root)
    ground.commit(root, lambda document: document.pop("metadata-log"))
    assert before.is_file()


def test_old_versions_of_a_table_without_a_catalog_are_orphans_before_its_hint(root: Path) -> None:
    """A reader starts at the version of the hint, which may be behind, and goes on to the next ones."""
    forget(root)
    every = versions(root)
    assert len(every) > 2
    assert paths(planned(root)) == [f"metadata/{name}" for name in every[:-1]]
    (root / "metadata/version-hint.text").write_text(every[1][1:].partition(".")[0])
    assert paths(planned(root)) == [f"metadata/{every[0]}"]
    apply(open_table(str(root)), planned(root), settle_s=0)
    assert references.find(open_table(str(root)).store)[0] == f"metadata/{every[-1]}"


def named(root: Path, name: str, change: Callable[[ground.Json], object]) -> str:
    """Write metadata that nobody names, derived from the newest."""
    document = ground.document(root)
    change(document)
    (root / f"metadata/{name}").write_text(json.dumps(document))
    return f"metadata/{name}"


def of_another(document: ground.Json) -> None:
    document["table-uuid"] = unique(99)
    document["last-updated-ms"] -= 1


def newer(document: ground.Json) -> None:
    document["last-updated-ms"] += 1


def older(document: ground.Json) -> None:
    document["last-updated-ms"] -= 1


def test_older_metadata_of_a_failed_commit_is_an_orphan(root: Path) -> None:
    path = named(root, f"{unique(40)}.metadata.json", older)
    lost(root, LITTER["data"])
    assert paths(planned(root)) == [LITTER["data"], path]


@pytest.mark.parametrize("change", [of_another, newer])
def test_metadata_that_may_hold_the_same_files_stops_the_search(
    root: Path, change: Callable[[ground.Json], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_metadata, "_COMMIT_S", 0.0)
    path = named(root, f"{unique(41)}.metadata.json", change)
    lost(root, LITTER["data"])
    with pytest.raises(Unsupported) as told:
        planned(root)
    assert told.value.path == path
    (root / path).unlink()
    assert paths(planned(root)) == [LITTER["data"]]


@pytest.mark.parametrize("content", [b"", b"{", b'{"format-version": 2}'])
def test_metadata_that_cannot_be_read_stops_the_search(root: Path, content: bytes) -> None:
    path = f"metadata/{unique(42)}.metadata.json"
    (root / path).write_bytes(content)
    with pytest.raises(Corrupt) as told:
        planned(root)
    assert told.value.path == path


def test_a_commit_that_is_made_meanwhile_does_not_stop_the_search(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost(root, LITTER["data"])
    refuse = other_metadata.refuse

    def late(*given: object) -> None:
        ground.commit(root, newer)
        refuse(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(other_metadata, "refuse", late)
    assert paths(planned(root)) == [LITTER["data"]]
