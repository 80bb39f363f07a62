"""Shared by tests of applied changes: the files on disk, the files every kept version needs, and copies of tables.

Two independent oracles, neither of which uses the code under test: the sets that `TableBuilder` maintains, and
`tests.support.set_model`, which reads the table's files itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.catalog import DEMO_MARKER
from core.execution import grace_period
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.storage.store import Store
from core.table import Table
from tests.support import set_model
from tests.support.builders import DAY_MS, START_MS, DataFile, TableBuilder

LATE_MS = START_MS + 10_000 * DAY_MS
"""A `now` at which all commits of a builder are old."""

OWN = ("snapshot", "tag", "changelog", "schema", "consumer", "branch")
"""Directories of references. Everything else in a table is held by references."""


def warehouse(directory: Path) -> Path:
    """Create a warehouse in which changes are run; return the path for a table."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / DEMO_MARKER).touch()
    return directory / "default.db" / "orders"


def small_table(root: Path, **options: str) -> TableBuilder:
    """Create a table of nine commits with a compaction, an overwrite, changelogs, extra files, an index, statistics,
    three tags and a branch with its own commit. Some change frees each of its files."""
    table = TableBuilder(root, partition_keys=["dt"], options=options)

    def made(size: int, day: int = 1, **fields: Any) -> DataFile:
        return table.file(size, rows=size // 10, partition=(f"2026-01-0{day}",), **fields)

    first = [made(1_010, extra=(".index",)), made(1_020, day=2)]
    table.commit(first, changelog=[made(300, prefix="changelog-")])
    table.commit([made(1_100)], index=[table.index_file(90, partition=("2026-01-01",))])
    table.tag("early", 2)
    table.commit([made(1_200, day=2)], statistics=True, changelog=[made(310, prefix="changelog-")])
    live = table.live()
    table.commit([made(4_000, source=1)], live, kind="COMPACT")
    table.tag("packed", 4)
    table.tag("twin", 4)
    table.commit([made(1_300)], index=[table.index_file(80, partition=("2026-01-01",))])
    table.commit([made(2_000, day=2)], [each for each in table.live() if each.partition == ("2026-01-02",)])
    table.commit([made(1_400)])
    branch = table.branch("b", "packed")
    branch.commit([branch.file(1_500, rows=150, partition=("2026-01-01",))])
    table.commit([made(1_600)])
    table.commit([made(1_700)])
    return table


def open_with(store: Store, manifests: PaimonManifests | None = None) -> Table:
    return Table(PaimonFormat(store, manifests or PaimonManifests(store)))


def disk(root: Path) -> frozenset[str]:
    """Return every file in a table."""
    return frozenset(_walk(root))


def _walk(root: Path) -> Iterator[str]:
    for directory, _, names in os.walk(root):
        for name in names:
            yield os.path.relpath(os.path.join(directory, name), root)


def references(root: Path) -> dict[str, bytes]:
    """Return the bytes of all references: snapshots, tags, changelogs, schemas, consumers; not hints."""
    found = {}
    for path in disk(root):
        parts = path.split("/")
        if parts[0] in OWN and parts[-1] not in ("EARLIEST", "LATEST"):
            found[path] = (root / path).read_bytes()
    return found


def files(root: Path) -> frozenset[str]:
    """Return all files that references hold or once held."""
    return frozenset(path for path in disk(root) if path.split("/")[0] not in OWN)


def broken(root: Path) -> list[tuple[str, str]]:
    """Return (version, path) for every file that a version of any branch needs and that is missing. This is the oracle
    of every test: it reads all lists and manifests itself, and fails if one is missing."""
    model = set_model.read(root)
    return [
        (point, path)
        for point, holder in sorted(model.holders.items())
        for path in sorted(holder.paths)
        if not (root / path).is_file()
    ]


def unheld(root: Path) -> frozenset[str]:
    """Return the files on disk that no version references."""
    return files(root) - set_model.read(root).paths()


def copied(source: Path, target: Path) -> Path:
    """Replace `target` with a fresh copy of a table, with the same modification times."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def age(root: Path, paths: Collection[str], epoch_s: float) -> None:
    for path in paths:
        os.utime(root / path, (epoch_s, epoch_s), follow_symlinks=False)


def roll_back(table: TableBuilder, number: int, tag: str | None = None) -> None:
    """Roll back as the engine does: delete every newer snapshot and tag file, but no data; write a tag's expired
    snapshot again."""
    for newer in sorted((each for each in table.commits if each > number), reverse=True):
        (table.path / f"snapshot/snapshot-{newer}").unlink(missing_ok=True)
        del table.commits[newer]
    for name, commit in list(table.tags.items()):
        if commit.document["id"] > number:
            (table.path / f"tag/tag-{name}").unlink()
            del table.tags[name]
    if tag is not None:
        table.commits[number] = table.tags[tag]
        table._json(f"snapshot/snapshot-{number}", table.tags[tag].document)
        table.hints(earliest=number)
    table._last, table._last_id = table.commits[number], number
    table.hints(latest=number)


def gone_for_good(table: TableBuilder) -> None:
    """Make the builder forget the deleted snapshots."""
    for number in list(table.commits):
        if not (table.path / f"snapshot/snapshot-{number}").is_file():
            del table.commits[number]


@contextmanager
def while_settling(act: Callable[[], object]) -> Iterator[None]:
    """Run `act` while an apply waits for writers: after all references were removed, before anything is read again."""
    before = grace_period.wait

    def wait(*_: object) -> None:
        grace_period.wait = before
        act()

    grace_period.wait = wait  # type: ignore[assignment]
    try:
        yield
    finally:
        grace_period.wait = before
