"""Commits that change no row: compaction and statistics. What takes rows away is no command: pipelines do that, by
core.spark.write."""

from __future__ import annotations

import argparse
from typing import Any

from core.cli.running import clock_ms
from core.errors import Unsupported
from core.formats.paimon import newest, references
from core.formats.paimon.manifest import DELETE
from core.model import Snapshot
from core.store import Store
from core.table import open_table
from core.units import several, size

Args = argparse.Namespace
Answer = tuple[Any, str]


def compact(args: Args) -> Answer:
    from core.spark import compact_keyed, session, write

    store = _store(args)
    at = write.stamp(clock_ms(), branch=args.branch)
    if references.read_head(store, args.branch).schema.primary_keys:
        done = compact_keyed.compact(store, at, spark=session.get())
    else:
        done = write.compact(store, at, spark=session.get(), min_files=args.min_files)
    if done is None:
        return _document(None), "Nothing is worth compacting."
    entries = newest.delta_entries(store, done)
    gone = [entry["_FILE"]["_FILE_SIZE"] for entry in entries if entry["_KIND"] == DELETE]
    new = [entry["_FILE"]["_FILE_SIZE"] for entry in entries if entry["_KIND"] != DELETE]
    text = (
        f"Snapshot {done.id}: {several(len(gone), 'file')} ({size(sum(gone))}) became "
        f"{several(len(new), 'file')} ({size(sum(new))})."
    )
    return _document(done) | {"files_before": len(gone), "files_after": len(new)}, text


def analyze(args: Args) -> Answer:
    from core.spark import session
    from core.spark.analyze import analyze as run
    from core.spark.write import stamp

    columns = None if args.all_columns else args.column
    done = run(_store(args), stamp(clock_ms(), branch=args.branch), spark=session.get(), columns=columns)
    if done is None:
        return _document(None), "The table has no snapshot to count."
    return _document(done), f"Snapshot {done.id} has the statistics {done.fields['statistics']}."


def _store(args: Args) -> Store:
    table = open_table(args.table)
    if table.own is not None:
        raise Unsupported(
            "Only Paimon tables are compacted and analyzed here.", path=table.location, remedy="Use the table's engine."
        )
    return table.store


def _document(done: Snapshot | None) -> dict[str, Any]:
    return {"snapshot": None if done is None else done.id, "kind": None if done is None else done.kind}
