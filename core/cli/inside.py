"""Questions about single files: manifests, column statistics, health. They read and never write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.analysis import inspection as contents
from core.analysis.file_health import Bucket, Health
from core.analysis.file_lifetime import find
from core.analysis.file_tree import below
from core.analysis.schema_history import REORDERED, Version, schema_history
from core.cli import questions
from core.cli.arguments import Args
from core.cli.output import UNREAD, grid, number
from core.errors import NotFound
from core.model.column_bounds import Bounds
from core.model.history import History
from core.model.time_travel import AsOf, in_words
from core.reports import json as answers
from core.table import Table, open_table, resolve
from core.units import several, size

Answer = tuple[Any, str]
SHOWN = 20


def _opened(args: Args) -> tuple[Table, History, AsOf]:
    version = questions.point(args)
    table = open_table(args.table)
    history = table.history()
    point = resolve(history.heads, version, args.branch)
    history.require(point.point)
    return table, history, point


def manifests(args: Args) -> Answer:
    table, history, point = _opened(args)
    if args.manifest is not None:
        rows = contents.entries(table, history, point, args.manifest)
        names = ["change", "kind", "path", "bytes", "rows", "partition", "bucket", "level"]
    else:
        rows = contents.manifests(table, history, point)
        names = ["list", "path", "bytes", "added", "deleted", "existing"]
    return rows.to_pylist(), grid(tuple(names), _texts(rows.select(names)))


def _texts(rows: pa.Table) -> list[tuple[str, ...]]:
    return [
        tuple(size(value) if name == "bytes" and value is not None else "" if value is None else str(value)
              for name, value in row.items())
        for row in rows.to_pylist()
    ]  # fmt: skip


def columns(args: Args) -> Answer:
    table, history, point = _opened(args)
    files = history.files_of(point.point)
    if args.file is not None:
        path = find(history, args.file, table.store.relative)
        files = files.filter(pc.equal(files["path"], path))
        if not len(files):
            raise NotFound(f"{path} is not a current data file of {point.point}.", path=path)
    elif args.folder is not None:
        files = below(files, args.folder.strip("/"))
        if not len(files):
            raise NotFound(f"No file of {point.point} lies in {args.folder!r}.", path=table.location)
    found = contents.statistics(table, history, point, files)
    document = [_document(each) for each in found]
    lines = [
        (each.column.name, each.column.type, _bound(each, each.low, cut=each.low_cut),
         _bound(each, each.high, cut=each.high_cut), _nulls(each), f"{each.files_with_bounds} of {each.files}")
        for each in found
    ]  # fmt: skip
    text = grid(("column", "type", "min", "max", "nulls", "files with statistics"), lines)
    return document, f"{text}\n(possibly truncated: marked ~)"


def _document(of: Bounds) -> dict[str, Any]:
    return {
        "id": of.column.id, "column": of.column.name, "type": of.column.type, "low": _plain(of.low),
        "high": _plain(of.high), "low_possibly_truncated": of.low_cut, "high_possibly_truncated": of.high_cut,
        "nulls": of.nulls, "files": of.files, "files_that_tell": of.files_with_bounds,
        "files_that_count_nulls": of.files_with_null_count,
        "files_of_another_type": of.unreadable,
        "rows": of.rows,
    }  # fmt: skip


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _bound(of: Bounds, value: Any, *, cut: bool) -> str:
    if value is None:
        if of.unreadable:
            return "written, but not of this type"
        return "all null" if of.files and of.files_with_bounds == of.files else "not written"
    return f"{_plain(value)}{'~' if cut else ''}"


def _nulls(of: Bounds) -> str:
    if of.nulls is None:
        return "not written"
    return f"{'' if of.files_with_null_count == of.files else '>= '}{of.nulls:,}"


def schemas(args: Args) -> Answer:
    history = open_table(args.table).history()
    found = schema_history(history.heads, args.branch, history)
    line = history.heads.require(args.branch)
    args.partly = UNREAD if any(each.kind == "schema" for each in line.unreadable) else ""
    return answers.schemas(found), "\n".join(line for each in found.versions for line in _lines(each))


def _lines(of: Version) -> Iterator[str]:
    """A version's heading, and its changes with what they mean for readers."""
    name = ("Schema " if len(of.ids) == 1 else "Schemas ") + ", ".join(map(str, of.ids))
    when = "" if of.since_ms is None else f", since {in_words(of.since_ms)}"
    used = f", {several(len(of.snapshots), 'retained snapshot')}"
    yield f"{name}{' (current)' if of.is_current else ''}{when}{used}"
    if of.missing:
        listed = ", ".join(map(str, of.missing))
        yield f"  Schemas not there or unreadable: {listed}. What changed here may be theirs."
    for each in (change for changes in of.changes.values() for change in changes):
        values = " → ".join(value for value in (each.before, each.after) if value is not None)
        yield f"  {each.kind.value} {each.column}{values and f': {values}'}"
        yield f"    {' '.join(each.meaning)}"
    if of.is_reordered:
        yield f"  {REORDERED}"


def health(args: Args) -> Answer:
    table, history, point = _opened(args)
    found = contents.health(table, history, point)
    lines = [
        ("small files", f"{found.small_files:,} of {found.files:,}", f"below {size(found.small.below_bytes)}: "
         f"{found.small.ratio:g} of the target size, {size(found.small.target_bytes)}"),
        ("files per bucket", "" if found.median_files is None else f"{found.median_files:g} median",
         f"most in {_place(found.fullest)}"),
        ("skew", "" if found.skew is None else f"{found.skew:.2f}", f"largest: {_place(found.largest, is_size=True)}"),
        ("sorted runs", "" if found.runs is None else str(found.runs.amount),
         "" if found.runs is None else f"most in {_place(found.runs)}; a compaction is due at {found.trigger}"),
        ("deleted rows", _deletes(found), f"of {several(found.rows, 'row')} in files"),
    ]  # fmt: skip
    rows = found.partitions.slice(0, SHOWN).to_pylist()
    worst = [
        (each["partition"], number(each["small_files"]), number(each["files"]), size(each["bytes"])) for each in rows
    ]
    text = grid(("figure", "", "rule"), lines)
    text += "\n\n" + grid(("partition", "small files", "files", "bytes"), worst)
    if len(found.partitions) > SHOWN:
        text += f"\n… and {several(len(found.partitions) - SHOWN, 'more partition')}"
    return _figures(found), text


def _figures(of: Health) -> dict[str, Any]:
    def place(found: Bucket | None, name: str) -> dict[str, Any] | None:
        return None if found is None else {"partition": found.partition, "bucket": found.bucket, name: found.amount}

    return {
        "files": of.files, "bytes": of.bytes, "rows": of.rows, "target_bytes": of.small.target_bytes,
        "small_below_bytes": of.small.below_bytes, "small_files": of.small_files, "small_bytes": of.small_bytes,
        "places": of.places, "median_files": of.median_files, "fullest": place(of.fullest, "files"),
        "median_bytes": of.median_bytes, "largest": place(of.largest, "bytes"), "skew": of.skew,
        "level0_files": of.level0, "sorted_runs": place(of.runs, "runs"), "compaction_trigger": of.trigger,
        "delete_rows": of.delete_rows, "delete_ratio": of.delete_ratio, "equality_deletes": of.equality_deletes,
        "partitions": of.partitions.to_pylist(),
    }  # fmt: skip


def _place(of: Bucket | None, *, is_size: bool = False) -> str:
    if of is None:
        return "nothing"
    where = " ".join(part for part in (of.partition, "" if of.bucket is None else f"bucket {of.bucket}") if part)
    return f"{where or 'the whole table'} ({size(of.amount) if is_size else format(of.amount, ',')})"


def _deletes(of: Health) -> str:
    return "not recorded for every file" if of.delete_rows is None else f"{of.delete_rows:,}"
