"""A SQL catalog of pyiceberg with one table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.execution.iceberg_ground import Json, read_avro
from tests.support.iceberg_tables import PYICEBERG, moved

NAME = "iceberg://lake/shop/orders"


class Lake:
    """A SQL catalog with one table of five snapshots, two tags and a branch."""

    def __init__(self, directory: Path, scenario: str = "tags_branches", change: Callable[[Json], None] | None = None):
        self.directory, self.root = directory, directory / "wh" / "orders"
        self.uri = f"sqlite:///{directory}/catalog.db"
        self.root.parent.mkdir(parents=True)
        moved(PYICEBERG / scenario, self.root)
        newest = max(self.root.glob("metadata/*.metadata.json"))
        (directory / ".pyiceberg.yaml").write_text(f"catalog:\n  lake:\n    type: sql\n    uri: {self.uri}\n")
        with self.client() as client:
            client.create_namespace("shop")
            client.register_table("shop.orders", f"file://{newest}")
        if change is not None:
            own = json.loads(newest.read_bytes())
            change(own)
            newest.write_text(json.dumps(own))

    def client(self) -> SqlCatalog:
        return SqlCatalog("lake", uri=self.uri)

    def location(self) -> str:
        with self.client() as client:
            return str(client.load_table("shop.orders").metadata_location)

    def document(self) -> Json:
        found: Json = json.loads(Path(self.location().removeprefix("file://")).read_bytes())
        return found

    def tag(self, name: str, snapshot: int) -> None:
        with self.client() as client:
            client.load_table("shop.orders").manage_snapshots().create_tag(snapshot, name).commit()

    def ids(self) -> list[int]:
        return [each["snapshot-id"] for each in self.document()["snapshots"]]

    def files(self) -> frozenset[str]:
        found = (str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())
        return frozenset(path for path in found if not path.endswith(".metadata.json"))

    def lose(self, path: str) -> None:
        """Write a file that nobody names."""
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_bytes(b"lost")

    def broken(self) -> list[str]:
        """Return the missing files that any snapshot needs."""
        lost = []
        for snapshot in self.document()["snapshots"]:
            for row in self.rows(snapshot["manifest-list"]):
                for entry in self.rows(row["manifest_path"]):
                    path = entry["data_file"]["file_path"]
                    if entry["status"] != 2 and not self.exists(path):
                        lost.append(path)
        return lost

    def rows(self, location: str) -> list[Json]:
        """Return the rows of an Avro file."""
        return read_avro(Path(location.removeprefix("file://")))[1]

    def exists(self, location: str) -> bool:
        return Path(location.removeprefix("file://")).is_file()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)
