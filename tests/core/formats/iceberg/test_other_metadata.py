"""Metadata files that a table does not name: older ones are orphans, others stop the search for orphans."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt, Unsupported
from core.execution.apply import apply
from core.formats.iceberg import other_metadata, references
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.metadata import Metadata
from core.storage.store import Store
from core.table import open_table
from tests.support import memory_s3
from tests.support.execution import iceberg_ground as ground
from tests.support.formats.iceberg.orphans import LITTER, lost, paths, planned, unique
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home

__all__ = ["home"]  # a fixture


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


def next_by_a_slow_clock(document: ground.Json) -> None:
    """Writers of one table may differ by a minute."""
    older(document)
    version = max(entry["metadata-file"] for entry in document["metadata-log"])
    number = int(version.rpartition("/v")[2].partition(".")[0]) + 1
    file = f"{document['location']}/metadata/v{number}.metadata.json"
    document["metadata-log"].append({"timestamp-ms": document["last-updated-ms"], "metadata-file": file})


def test_older_metadata_of_a_failed_commit_is_an_orphan(root: Path) -> None:
    path = named(root, f"{unique(40)}.metadata.json", older)
    lost(root, LITTER["data"])
    assert paths(planned(root)) == [LITTER["data"], path]


@pytest.mark.parametrize("change", [of_another, newer, next_by_a_slow_clock])
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
def test_metadata_that_cannot_be_read_stops_the_search(
    root: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_metadata, "_COMMIT_S", 0.0)
    path = f"metadata/{unique(42)}.metadata.json"
    (root / path).write_bytes(content)
    with pytest.raises(Corrupt) as told:
        planned(root)
    assert told.value.path == path


def test_a_commit_that_is_made_meanwhile_does_not_stop_the_search(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost(root, LITTER["data"])
    refuse = other_metadata.refuse

    def late(place: TableLocation, found: Metadata, current: Callable[[], Metadata]) -> None:
        ground.commit(root, newer)
        refuse(place, found, current)

    monkeypatch.setattr(other_metadata, "refuse", late)
    assert paths(planned(root)) == [LITTER["data"]]


@pytest.mark.parametrize("is_made", [True, False])
def test_metadata_that_is_being_written_does_not_stop_the_search(
    root: Path, is_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some clients show a file on a local disk before it is whole; a failed commit takes it back."""
    lost(root, LITTER["data"])
    path = root / f"metadata/{unique(43)}.metadata.json"
    whole = json.dumps(ground.document(root) | {"last-updated-ms": 1})
    path.write_text(whole[:100])
    paused: list[float] = []

    def later(seconds: float) -> None:
        paused.append(seconds)
        path.write_text(whole) if is_made else path.unlink()

    monkeypatch.setattr(time, "sleep", later)
    found = paths(planned(root))
    assert found == [LITTER["data"], *([f"metadata/{path.name}"] if is_made else [])]
    assert len(paused) == 1


# through a catalog ----------------------------------------------------------------------------------------------------


class Versions:
    """Versions of a catalog's table: each is written on another one, and the catalog is told which is current."""

    def __init__(self, directory: Path) -> None:
        self.lake = Lake(directory)
        self.first = self.lake.location()
        self.directory = Path(self.first.removeprefix("file://")).parent
        self._count = 0

    def on(self, before: str, **changes: Any) -> str:
        path = Path(before.removeprefix("file://"))
        document = json.loads(path.read_bytes()) | changes
        document["metadata-log"].append({"timestamp-ms": document["last-updated-ms"], "metadata-file": before})
        self._count += 1
        document["last-updated-ms"] += self._count
        new = self.directory / f"{int(path.name[:5]) + 1:05}-{unique(self._count)}.metadata.json"
        new.write_text(json.dumps(document))
        return f"file://{new}"

    def go_to(self, version: str) -> None:
        with self.lake.client() as client:
            client.drop_table("shop.orders")
            client.register_table("shop.orders", version)


@pytest.fixture
def versions_of(tmp_path: Path) -> Versions:
    return Versions(tmp_path)


def test_two_lines_of_versions_stop_the_search(versions_of: Versions) -> None:
    """Of a table that was registered twice, or that went back and then on."""
    theirs = [versions_of.on(versions_of.first)]
    theirs.append(versions_of.on(theirs[0]))
    versions_of.go_to(versions_of.on(versions_of.on(versions_of.first)))
    with pytest.raises(Unsupported, match="Two lines of versions") as told:
        planned(NAME)
    assert told.value.path in {f"metadata/{each.rpartition('/')[2]}" for each in theirs}
    Path(theirs[1].removeprefix("file://")).unlink()
    assert f"metadata/{theirs[0].rpartition('/')[2]}" in paths(planned(NAME)), "as of a failed commit"


def test_versions_that_the_log_has_forgotten_are_no_other_line(versions_of: Versions) -> None:
    """Nor are commits that failed beside them."""
    every = [versions_of.first]
    for _ in range(4):
        failed = versions_of.on(every[-1])
        every.append(versions_of.on(every[-1]))
    last = Path(every[-1].removeprefix("file://"))
    document = json.loads(last.read_bytes())
    document["metadata-log"] = document["metadata-log"][-1:]
    last.write_text(json.dumps(document))
    versions_of.go_to(every[-1])
    found = paths(planned(NAME))
    assert {f"metadata/{each.rpartition('/')[2]}" for each in (*every[:-2], failed)} <= set(found)
    assert f"metadata/{every[-2].rpartition('/')[2]}" not in found


def test_newer_metadata_outside_the_table_stops_the_search(versions_of: Versions, tmp_path: Path) -> None:
    """In the directory where the current one is. Metadata of tables elsewhere may be there, too."""
    versions_of.directory = tmp_path / "outside"
    versions_of.directory.mkdir()
    current = versions_of.on(versions_of.first)
    versions_of.go_to(current)
    lost(versions_of.lake.root, LITTER["data"])
    versions_of.on(current, **{"table-uuid": unique(99), "location": f"file://{tmp_path}/another"})
    assert LITTER["data"] in paths(planned(NAME))
    newer = versions_of.on(current)
    with pytest.raises(Unsupported, match="newer than the table's current one") as told:
        planned(NAME)
    assert told.value.path == newer
    Path(newer.removeprefix("file://")).unlink()
    versions_of.on(current, **{"table-uuid": unique(99)})
    with pytest.raises(Unsupported, match="that of another table"):
        planned(NAME)


def test_newer_metadata_in_the_tables_own_directory_stops_the_search(versions_of: Versions) -> None:
    """With write.metadata.path = the location itself."""
    versions_of.directory = versions_of.lake.root
    current = versions_of.on(versions_of.first)
    versions_of.go_to(current)
    lost(versions_of.lake.root, LITTER["data"])
    assert LITTER["data"] in paths(planned(NAME))
    newer = versions_of.on(current)
    with pytest.raises(Unsupported, match="newer than the table's current one") as told:
        planned(NAME)
    assert told.value.path == newer.rpartition("/")[2]


def test_a_version_that_the_log_forgets_at_once_does_not_stop_the_search(
    versions_of: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With write.metadata.previous-versions-max = 1 and many commits, a version is soon followed by two others."""
    lost(versions_of.lake.root, LITTER["data"])
    refuse = other_metadata.refuse

    def late(place: Any, found: Any, current: Callable[[], Any]) -> None:
        seen = versions_of.on(versions_of.first)

        def after_two_others() -> Any:
            last = Path(versions_of.on(versions_of.on(seen)).removeprefix("file://"))
            document = json.loads(last.read_bytes())
            document["metadata-log"] = document["metadata-log"][-1:]
            last.write_text(json.dumps(document))
            versions_of.go_to(f"file://{last}")
            return current()

        refuse(place, found, after_two_others)

    monkeypatch.setattr(other_metadata, "refuse", late)
    assert LITTER["data"] in paths(planned(NAME))


# reading once ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", ["MD5", "others"])
def test_a_file_is_read_again_only_if_listings_show_another_content(
    root: Path, monkeypatch: pytest.MonkeyPatch, tags: str
) -> None:
    """A tag that is no MD5, as of uploads in parts and of encrypted objects, shows nothing."""
    monkeypatch.setattr(other_metadata, "_COMMIT_S", 0.1)
    monkeypatch.setattr(other_metadata, "_known", {})
    if tags != "MD5":
        monkeypatch.setattr(memory_s3, "_etag", lambda data: f'"{len(data):032x}"')
    others = [named(root, f"00000-{unique(number)}.metadata.json", lambda _: None) for number in range(3)]
    objects = {f"t/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        store = Store(f"s3://{memory_s3.BUCKET}/t")
        found = references.read(store)[1]
        place = TableLocation.of(store, found.location, found.properties)

        def read() -> list[str]:
            server.taken()
            other_metadata.refuse(place, found, lambda: found)
            return sorted(path.rpartition("/")[2] for method, path in server.taken() if "list-type" not in path)

        every = sorted(path.rpartition("/")[2] for path in others)
        assert read() == every
        assert read() == ([] if tags == "MD5" else every)
        more, changed = f"00000-{unique(9)}.metadata.json", f"t/{others[1]}"
        server.objects[f"t/metadata/{more}"] = server.objects[changed]
        server.objects[changed] += b" "
        server._names = None
        assert read() == (sorted([more, others[1].rpartition("/")[2]]) if tags == "MD5" else sorted([more, *every]))
        document = json.loads(server.objects[changed])
        document["last-updated-ms"] += 1
        server.objects[changed] = json.dumps(document).encode()
        with pytest.raises(Unsupported, match="newer than the table's current one"):
            read()
        server.objects[changed] = b"{"
        with pytest.raises(Corrupt, match="cannot be read"):
            read()
