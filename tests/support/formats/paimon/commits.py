"""Data files to commit, and the current files after a commit."""

from __future__ import annotations

import io
import itertools
from typing import Any

import fastavro

from core.formats.paimon import binary_row
from core.formats.paimon.write import publish
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import NewDataFile, SimpleStats
from core.model.references import Snapshot
from core.storage.store import Store

COLUMNS = (("id", "BIGINT"), ("note", "STRING"), ("dt", "STRING"))


T0 = 1_700_000_000_000


class Uuids:
    """Sequential names, so that tests can refer to them."""

    def __init__(self, prefix: str = "u") -> None:
        self.prefix, self.count = prefix, itertools.count()

    def __call__(self) -> str:
        return f"{self.prefix}{next(self.count)}"


UUIDS = Uuids()


def stamp(time_ms: int = T0, **more: Any) -> Stamp:
    return Stamp(time_ms, UUIDS, **more)


FILES = itertools.count()


def file(store: Store, day: str | None = "d1", rows: int = 10, **more: Any) -> NewDataFile:
    """Create a data file without readable rows: only its name and metadata matter."""
    path = f"dt={day}/bucket-0/data-{next(FILES)}-0.parquet"
    store.create(path, b"x" * rows)
    row = binary_row.encode((day,), ("STRING",))
    stats = SimpleStats([1, "a", day], [9, "z", day], [0, 0, 0])
    return NewDataFile(row, path, rows, rows, 0, stats, source=0, created_ms=T0, **more)


def live(store: Store, snapshot: Snapshot | None = None) -> set[str]:
    """Return the names of the current files, read without the code under test."""
    snapshot = snapshot or publish.read_head(store).snapshot
    assert snapshot is not None
    records = []
    for which in ("base", "delta"):
        for listed in avro(store, snapshot.fields[f"{which}ManifestList"]):
            records += avro(store, listed["_FILE_NAME"])
    gone = {(r["_PARTITION"], r["_FILE"]["_FILE_NAME"]) for r in records if r["_KIND"] == 1}
    kept = [(r["_PARTITION"], r["_FILE"]["_FILE_NAME"]) for r in records if r["_KIND"] == 0]
    assert len(kept) == len(set(kept))
    return {name for key, name in kept if (key, name) not in gone}


def avro(store: Store, name: str) -> list[dict[str, Any]]:
    return list[Any](fastavro.reader(io.BytesIO(store.read(f"manifest/{name}"))))
