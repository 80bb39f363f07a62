"""Open runs of an earlier version as files: the table and the journal as a crash left them, and what that version's
resume and undo did with them.

Recorded once, by the code of 3582e0b (`python -m tests.support.execution.recorded_runs DIRECTORY`), and never again,
because they test that later code can continue runs of earlier code. Tables are restored at another path of the same
length, so that manifests can be rewritten in place.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import json
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro

from core.errors import SnapscopeError
from core.execution import recovery
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.execution.journal_watch import digests, hash_of
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.model.actions import (
    Change,
    CleanOrphans,
    ClearConsumers,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    DropPartitions,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    ResetConsumer,
    Rollback,
    Truncate,
)
from core.storage.store import Store
from core.table import Table, open_table
from tests.support.builders import TableBuilder
from tests.support.execution import ground, iceberg_ground
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore
from tests.support.iceberg_tables import read_avro

Json = dict[str, Any]
RECORDED = Path(__file__).parents[2] / "data" / "open_runs"
LENGTH = 200  # path length of all these tables
NOW = ground.LATE_MS
PAIMON: dict[str, Change] = {
    "expire": Expire(retain_max=3, retain_min=1, drop_tags=("early",)),
    "expire-leaving-changelogs": Expire(retain_max=3, retain_min=1, changelog_retain_max=100),
    "expire-branch": Expire(retain_max=1, retain_min=1, branch="b"),
    "delete-tag": DeleteTags(("early", "twin")),
    "replace-tag": ReplaceTag("early", 9),
    "rename-tag": RenameTag("early", "late"),
    "create-tag": CreateTag("new", 9),
    "create-tag-for-an-hour": CreateTag("new", 9, 3_600_000),
    "orphans": CleanOrphans(older_than_ms=NOW),
    "rollback": Rollback("tag:early", destructive=True),
    "rollback-as-latest": Rollback("5"),
    "rollback-as-latest-of-a-tag": Rollback("tag:early"),
    "rename-branch": RenameBranch("b", "c"),
    "fast-forward": FastForward("b"),
    "delete-branch": DeleteBranches(("b",)),
    "create-branch": CreateBranch("new", "tag:early"),
    "reset-consumer": ResetConsumer("job-a", 7),
    "clear-consumers": ClearConsumers("job-.*", "job-c"),
    "drop-partition": DropPartitions(("dt=2026-01-01",)),
    "truncate": Truncate(),
}
ICEBERG: dict[str, Change] = {
    "expire": Expire(drop_tags=("early",)),
    "expire-cleaning": Expire(drop_tags=("early",)),
    "delete-tag": DeleteTags(("early",)),
    "create-tag": CreateTag("new"),
    "replace-tag": ReplaceTag("early"),
    "rename-tag": RenameTag("early", "late"),
    "rollback": Rollback("latest~1"),
    "create-branch": CreateBranch("new", "tag:early"),
    "delete-branch": DeleteBranches(("work",)),
}
CASES = (*(f"paimon-{name}" for name in PAIMON), *(f"iceberg-{name}" for name in ICEBERG))
LEFT_BEHIND = (
    "dt=2026-01-01/bucket-0/data-00000000-0000-4000-8000-000000000001-0.parquet",
    "manifest/manifest-00000000-0000-4000-8000-000000000002-0",
)
_MASKS = (
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), b"UUID"),
    (re.compile(rb'("(?:last-updated-ms|timestamp-ms|timeMillis)"\s*:\s*)\d+'), rb"\1TIME"),
    (re.compile(rb'("\w+Size"\s*:\s*)\d+'), rb"\1SIZE"),  # sizes of compressed files that contain uuids
)
_COLUMNS = {
    "runs": ("id", "who", "table_location", "change_kind", "plan", "fingerprint", "started_ms"),
    "removed": ("run", "number", "path", "content"),
    "frees": ("run", "path", "kind", "bytes"),
    "events": ("number", "run", "at_ms", "what", "detail", "hash"),
}


@dataclass
class OpenRun:
    """A crash: the current location of the table and its journal, and the results when they were recorded."""

    died: str
    root: Path
    journal: Journal
    run: str
    resumed: Json  # {"picture": …, "outcome": …, …}, or {"error": class name}
    undone: Json

    def open(self, _: str = "") -> Table:
        return opened(Store(str(self.root)))


def opened(store: Store) -> Table:
    if (Path(store.root) / "metadata").is_dir():
        return iceberg_ground.opened(store)
    return Table(PaimonFormat(store, PaimonManifests(store)))


def place(directory: Path) -> Path:
    """Return a path for a table in a directory, of the common length."""
    above = directory / "w"
    filling = LENGTH - len(f"{above}//default.db/orders")
    assert filling > 0, directory
    root = above / ("x" * filling) / "default.db" / "orders"
    assert len(str(root)) == LENGTH
    return ground.warehouse(root.parent.parent)


def resumed(run: OpenRun) -> Json:
    """Resume a run and return the result."""
    try:
        done = recovery.resume(run.run, open_table=run.open, settle_s=0, journal=run.journal)
    except SnapscopeError as error:
        return {"error": type(error).__name__, "picture": picture(run.root)}
    return {**said(done), "picture": picture(run.root)}


def undone(run: OpenRun) -> Json:
    """Undo a run and return the result."""
    try:
        restored = recovery.undo(run.run, open_table=run.open, journal=run.journal)
    except SnapscopeError as error:
        return {"error": type(error).__name__, "picture": picture(run.root)}
    return {"restored": sorted(restored), "picture": picture(run.root)}


def said(receipt: Receipt) -> Json:
    """Return the content of a receipt, without random names."""
    created = sorted(_masked(path.encode()).decode() for path in receipt.created)
    kept = sorted(path for path, _ in receipt.kept_back)
    return {
        "outcome": receipt.outcome,
        "created": created,
        "deleted": sorted(receipt.deleted),
        "kept_back": kept,
        "freed_bytes": receipt.freed_bytes,
    }


def picture(root: Path) -> dict[str, str]:
    """Return the files of a table, without random names and times, and without leftovers of interrupted writes."""
    found: dict[str, str] = {}
    for path in sorted(ground.disk(root)):
        if path.endswith(".tmp"):
            continue
        content = (root / path).read_bytes().replace(str(root).encode(), b"ROOT")
        is_text = content[:1] in (b"{", b"[") or content.isdigit()
        digest = hashlib.sha256(_masked(content) if is_text else b"").hexdigest()[:16]
        name = _masked(path.encode()).decode()
        found[f"{name} {digest}"] = str(int(found.get(f"{name} {digest}", "0")) + 1)
    return found


def _masked(content: bytes) -> bytes:
    for mask, by in _MASKS:
        content = mask.sub(by, content)
    return content


# put back ------------------------------------------------------------------------------------------------------------


def recorded(case: str, directory: Path) -> Iterator[tuple[OpenRun, OpenRun]]:
    """Restore every crash of a case twice: one copy to resume, one to undo."""
    data = json.loads(gzip.decompress((RECORDED / f"{case}.json.gz").read_bytes()))
    for number, stage in enumerate(data["stages"]):
        for name in ("resume", "undo"):
            (directory / name).mkdir(exist_ok=True)
        yield (
            _laid_out(data, stage, directory / "resume", number),
            _laid_out(data, stage, directory / "undo", number),
        )
        for name in ("resume", "undo"):
            shutil.rmtree(directory / name)


def _laid_out(data: Json, stage: Json, directory: Path, number: int) -> OpenRun:
    root = place(directory)
    old, new = data["location"].encode(), str(root).encode()
    tree = {path: blob for path, blob in {**data["good"], **stage["changes"]}.items() if blob is not None}
    for path, blob in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(base64.b64decode(data["blobs"][blob]).replace(old, new))
    for path in stage["directories"]:
        (root / path).mkdir(parents=True, exist_ok=True)
    journal = Journal(directory / f"{number}.sqlite")
    run = _write_journal(journal, stage["journal"], old, new)
    return OpenRun(stage["died"], root, journal, run, stage["resumed"], stage["undone"])


def _write_journal(journal: Journal, rows: Json, old: bytes, new: bytes) -> str:
    """Write journal rows with the new path, and chain them as a journal does."""

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            value = base64.b64decode(value["bytes"])
            return value.replace(old, new)
        return value.replace(old.decode(), new.decode()) if isinstance(value, str) else value

    def found(kind: str) -> list[list[Any]]:
        return [[moved(value) for value in row] for row in rows[kind]]

    with journal._open() as connection:
        runs, removed, frees = found("runs"), found("removed"), found("frees")
        head = ""
        events = []
        for number, run, at_ms, what, detail, _ in found("events"):
            if what == "started":
                plan = next(row[4] for row in runs if row[0] == run)
                own = [(path, content) for name, _, path, content in removed if name == run]
                files = [(path, kind, size) for name, path, kind, size in frees if name == run]
                detail = json.dumps(json.loads(detail) | digests(plan, own, files), sort_keys=True)
            head = hash_of(head, run, at_ms, what, detail)
            events.append([number, run, at_ms, what, detail, head])
        for kind, values in {"runs": runs, "removed": removed, "frees": frees, "events": events}.items():
            marks = ", ".join("?" for _ in _COLUMNS[kind])
            connection.executemany(f"insert into {kind} values ({marks})", values)
    journal.verify()
    (run,) = [each.id for each in journal.runs() if each.is_open]
    return run


# recorded, once ------------------------------------------------------------------------------------------------------


def record(case: str, target: Path) -> None:
    """Record every open run that the crashes of a case leave."""
    of, _, name = case.partition("-")
    change = {"paimon": PAIMON, "iceberg": ICEBERG}[of][name]
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        good, root = directory / "good", place(directory)
        _built(of, name, root)
        shutil.copytree(root, good)
        blobs: dict[str, str] = {}
        before = _tree(good, blobs)
        stages = []
        for is_fault in (False, True):
            for left in range(1_000):
                life = Life(left, is_fault)
                found = _died(directory, good, root, change, life)
                if not life.is_over:
                    break
                if found is None or _is_dull(life, is_fault):
                    continue
                stages.append(_written(directory, root, found, life, before, blobs, is_fault))
        data = {"location": str(root), "good": before, "blobs": blobs, "stages": stages}
        target.mkdir(parents=True, exist_ok=True)
        text = json.dumps(data, separators=(",", ":")).encode()
        (target / f"{case}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
        print(case, len(stages))


def _is_dull(life: Life, is_fault: bool) -> bool:
    """Skip repetitive cases: crashes between deleted files, and most of those with a single rejected effect."""
    swept = next((number for number, what in enumerate(life.log) if "written sweep started" in what), None)
    if swept is not None:
        return len(life.log) not in (swept + 1, swept + 3) and "entry done" not in life.log[-1]
    return is_fault and len(life.log) % 3 > 0


def _built(of: str, name: str, root: Path) -> None:
    if of == "iceberg":
        clean = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "3"}
        iceberg_ground.small_table(root, **(clean if "cleaning" in name else {}))
        for path in root.glob("metadata/*.avro"):  # uncompressed, so that the path can be replaced in them
            schema, records, told = read_avro(path)
            with path.open("wb") as file:
                fastavro.writer(file, schema, records, codec="null", metadata=told)
        return
    if name in ("drop-partition", "truncate"):
        table = TableBuilder(root, partition_keys=["dt"])
        for number in range(3):
            table.commit([table.file(1_000 + number, rows=10, partition=(f"2026-01-0{1 + number % 2}",))])
        table.tag("early", 2)
        return
    made = ground.small_table(root)
    for number, job in enumerate(("job-a", "job-b", "job-c") if "consumer" in name else ()):
        made.consumer(job, 3 + number)
    first = {"delete-tag": 2, "replace-tag": 2, "rollback": 4}.get(name)
    if first is not None:
        opened = open_table(str(root))
        apply(opened, opened.preview(Expire(retain_max=first, retain_min=1), NOW), settle_s=0)
    if name == "orphans":
        for path in LEFT_BEHIND:
            (root / path).write_bytes(b"left behind")


def _died(directory: Path, good: Path, root: Path, change: Change, life: Life) -> Path | None:
    ground.copied(good, root)
    path = directory / "journal.sqlite"
    for each in directory.glob("journal.sqlite*"):
        each.unlink()
    table = opened(Store(str(root)))
    plan = table.preview(change, NOW)
    store = MortalStore(str(root), life)
    mortal = Table(dataclasses.replace(table.format, store=store))  # type: ignore[type-var]  # both are dataclasses
    try:
        apply(mortal, plan, settle_s=0, journal=MortalJournal(path, life))
    except (Death, SnapscopeError):
        assert life.is_over
    return path if any(run.is_open for run in Journal(path).runs()) else None


def _written(
    directory: Path, root: Path, journal: Path, life: Life, before: dict[str, str], blobs: dict[str, str], fault: bool
) -> Json:
    now = _tree(root, blobs)
    gone = dict.fromkeys(before.keys() - now.keys())
    directories = [str(each.relative_to(root)) for each in root.rglob("*") if each.is_dir() and not any(each.iterdir())]
    rows: Json = {}
    with sqlite3.connect(journal) as connection:
        for kind, names in _COLUMNS.items():
            found = connection.execute(f"select {', '.join(names)} from {kind} order by rowid")
            rows[kind] = [
                [{"bytes": base64.b64encode(each).decode()} if isinstance(each, bytes) else each for each in row]
                for row in found
            ]
    connection.close()
    died = f"{'refused' if fault else 'died'} after {life.log[-1] if life.log else 'nothing'}"
    left = {"died": died, "changes": {**{p: b for p, b in now.items() if before.get(p) != b}, **gone},
            "directories": directories, "journal": rows}  # fmt: skip
    kept = directory / "left"
    ends = {}
    for name, end in (("resumed", resumed), ("undone", undone)):
        ground.copied(root, kept)
        own = directory / f"{name}.sqlite"
        for each in directory.glob(f"{name}.sqlite*"):
            each.unlink()
        with sqlite3.connect(journal) as source, sqlite3.connect(own) as to:
            source.backup(to)
        (run,) = [each.id for each in Journal(own).runs() if each.is_open]
        ends[name] = end(OpenRun(died, root, Journal(own), run, {}, {}))
        ground.copied(kept, root)
    return {**left, **ends}


def _tree(root: Path, blobs: dict[str, str]) -> dict[str, str]:
    found = {}
    for path in ground.disk(root):
        content = (root / path).read_bytes()
        name = hashlib.sha256(content).hexdigest()[:12]
        blobs[name] = base64.b64encode(content).decode()
        found[path] = name
    return found


if __name__ == "__main__":
    for case in sys.argv[2:] or CASES:
        record(case, Path(sys.argv[1]))
