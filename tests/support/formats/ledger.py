"""A toy table format that the product does not know: a directory `ledger` of entries, each a JSON file that names its
files.

It implements only what `TableFormat` requires of every format; everything else must work without changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from core.errors import Corrupt, Invalid, NotFound, Unsupported
from core.formats.registry import Entry
from core.formats.table_format import Examined, Progress, TableFormat
from core.messages import Code
from core.model.actions import Change, Expire
from core.model.capabilities import Capabilities
from core.model.effects import DeleteIfEqual, Effect, ended
from core.model.history import History, HistorySummary
from core.model.intervals import from_pairs
from core.model.plan import Plan
from core.model.references import MAIN, Field, Heads, Holder, HolderKind, Line, Schema, Snapshot
from core.model.time_travel import AsOf
from core.planning.reclaim import drafted
from core.storage.size_limits import DOCUMENT
from core.storage.store import Store

LEDGER = Capabilities(
    format="ledger",
    title="Ledger",
    references_are_files=True,
    tags_hold_files=True,
    ids_are_ordered=True,
    time_by_log=False,
    branches_are_directories=True,
    refs_have_retention=False,
    tag_ends_are_wall_clock=False,
    tags_age_with_snapshots=False,
    makes_tags_from_times=False,
    deletes_are_files=False,
    compacts_here=False,
    has_row_kinds=False,
    simulates_engine=False,
    procedures="ledger",
    has_changelogs=False,
    orphan_age_ms=86_400_000,
    names_partitions=False,
    writers_expire=False,
)
NEWEST_STAY = Code("toy-newest-stay", "the newest stay")
NEWEST, OLDER = Code("toy-newest", "one of the newest"), Code("toy-older", "older than those")
NO_DATA = Code("toy-no-data", "it is no data file")
SCHEMA = Schema(0, (Field(0, "id", "BIGINT"),), (), (), {}, 0)


def path_of(number: int) -> str:
    return f"ledger/entry-{number}.json"


def write(root: Path, entries: Mapping[int, Collection[str]]) -> Path:
    """Write a table with these entries; the size of each file is the length of its name."""
    (root / "ledger").mkdir(parents=True)
    (root / "data").mkdir()
    for number, names in entries.items():
        content = {"time_ms": number * 1000, "files": {f"data/{name}": len(name) for name in names}}
        (root / path_of(number)).write_text(json.dumps(content))
        for name in names:
            (root / "data" / name).write_text(name)
    return root


@dataclass(frozen=True)
class LedgerFormat(TableFormat):
    """A table of entries. Each entry holds itself and the files that it names."""

    capabilities: ClassVar[Capabilities] = LEDGER
    sign: ClassVar[str] = "Ledger's ledger/entry-<N>.json"

    store: Store

    @classmethod
    def is_table(cls, store: Store) -> bool:
        return bool(store.ls_if_there("ledger"))

    @classmethod
    def at(cls, store: Store) -> LedgerFormat:
        return cls(store)

    @staticmethod
    def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
        line = heads.line(branch)
        found = [each for each in line.snapshots if point in ("latest", str(each.id))] if line else []
        if not found:
            raise NotFound("No entry is {point!r}.", point=point)
        of = found[-1]
        return AsOf(str(of.id), branch, of, "It was named.", None, None, None, of.id, None, SCHEMA)

    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        names = [entry.name for entry in self.store.ls("ledger")]
        numbers = sorted(int(name.removeprefix("entry-").removesuffix(".json")) for name in names)
        contents = {path_of(number): self.store.read(path_of(number), DOCUMENT) for number in numbers}
        snapshots = tuple(_snapshot(number, contents[path_of(number)]) for number in numbers)
        line = Line(MAIN, snapshots, (), (), (), {0: SCHEMA})
        return Heads(self.store.location, LEDGER, (line,), contents)

    def history(self, heads: Heads, progress: Progress | None, *, changelogs: bool = False) -> History:
        held = [each.fields["files"] for each in heads.main.snapshots]
        sizes = {path: size for files in held for path, size in files.items()}
        paths = list(sizes)
        pairs = [(paths.index(path), position) for position, files in enumerate(held) for path in files]
        owner, position = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        runs = from_pairs(owner, position, len(paths), len(held))
        of_bytes = pa.array(sizes.values(), pa.int64())
        many = [pa.nulls(len(paths), kind) for kind in (pa.string(), pa.int64(), pa.int64(), pa.string())]
        objects = pa.table(
            {"path": paths, "kind": ["data"] * len(paths), "bytes": of_bytes, "ours": [True] * len(paths)}
        )
        files = pa.table(
            {
                "path": pa.array(paths, pa.string()),
                "bytes": of_bytes,
                "rows": pa.array([1] * len(paths), pa.int64()),
                "partition": pa.array([""] * len(paths), pa.string()),
                **dict(zip(("source", "bucket", "level", "format"), many, strict=True)),
                "schema_id": pa.array([0] * len(paths), pa.int64()),
                "object": pa.array(range(len(paths)), pa.int64()),
            }
        )
        holders = tuple(
            Holder(HolderKind.SNAPSHOT, MAIN, str(each.id), each, path_of(each.id)) for each in heads.main.snapshots
        )
        return History(heads, holders, {}, (), objects, runs, files, runs)

    def plan(self, history: History, change: Change, now_ms: int) -> Plan:
        if not isinstance(change, Expire):
            raise Unsupported("A ledger only expires.", path=self.location)
        if change.retain_max is None or change.retain_max < 1:
            raise Invalid("Say how many entries stay.")
        count = len(history.holders)
        stays = np.arange(count) >= count - change.retain_max
        reasons = {at: ((NEWEST if stays[at] else OLDER)(),) for at in range(count)}
        return drafted(history, change, NEWEST_STAY(), now_ms, stays, reasons, [], [])

    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        gone = [DeleteIfEqual(path, content, while_planned=True) for path, content in plan.removes]
        return ended(gone, len(plan.frees), plan.freed_bytes, waits=bool(gone))

    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        return Examined({}, lambda path: None if path.startswith("data/") else NO_DATA())


def _snapshot(number: int, content: bytes) -> Snapshot:
    try:
        fields = json.loads(content)
    except ValueError:
        raise Corrupt("An entry is no JSON.", path=path_of(number)) from None
    rows = len(fields["files"])
    return Snapshot(number, fields["time_ms"], "APPEND", 0, "", number, rows, None, None, fields, content)


ENTRY = Entry("ledger", __name__, LedgerFormat.__name__)
