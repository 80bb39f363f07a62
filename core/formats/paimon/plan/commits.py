"""Plans of commits that remove live files (drop partitions, truncate, compact) and of ANALYZE, which removes none.

Invariant: a plan lists exactly the files that the commit removes, on top of exactly the snapshot it was based on. It
deletes no file: an expiry does that once no version holds the file any more.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import ErrorCode, Invalid, NotFound, Unsupported
from core.formats.paimon import layout, partitions
from core.formats.paimon.write import commit_base, documents, full_compaction, small_files
from core.formats.paimon.write.manifest_encoding import Record
from core.formats.paimon.write.publish import Head
from core.messages import Reason, counted, listed, message
from core.model import codes
from core.model.actions import Analyze, Compact, DropPartitions, OfCommits, Truncate
from core.model.effects import CommitSnapshot
from core.model.history import History, HistorySummary
from core.model.plan import LEAVING, Plan
from core.model.references import MAIN, Line, Schema
from core.planning import reclaim as planning
from core.storage.store import Store
from core.units import parse_size_bytes, size

RULES = codes.PAIMON_COMMIT()
_POINTS = 5  # listed at most


def preview(store: Store, history: History, change: OfCommits, now_ms: int) -> Plan:
    """Plan `change`.

    Raises `Invalid` if there is nothing to do, `NotFound` for an unknown branch, `Unsupported`, with the reason, for
    tables that are not written here.
    """
    heads = history.heads
    line = heads.line(change.branch)
    if line is None or line.schema is None:
        raise NotFound(
            "There is no branch {branch!r}.", branch=change.branch, path=heads.location, code=ErrorCode.NO_BRANCH
        )
    latest, schema = line.latest, line.schema
    if latest is None:
        raise Invalid(
            "There is no snapshot on {branch}; there is nothing to do.",
            branch=change.branch,
            path=heads.location,
            code=ErrorCode.NOTHING_TO_DO,
        )
    if not isinstance(change, Analyze):
        refuse(schema)
    head = Head(line.branch, schema, latest)
    live = commit_base.live_entries(store, latest)
    ended = _chosen(head, live, change)
    if isinstance(change, DropPartitions | Truncate) and not ended:
        raise Invalid(
            "There are no current files there; there is nothing to do.",
            path=heads.location,
            code=ErrorCode.NOTHING_TO_DO,
        )
    if ended:
        commit_base.refuse_indexed(store, latest)
    new = layout.reference(line.branch, layout.SNAPSHOT, latest.id + 1)
    is_idle = isinstance(change, Compact) and not ended
    plan = planning.drafted(history, change, RULES, now_ms, history.existing.copy(), {}, [] if is_idle else [new], [])
    guard = layout.reference(line.branch, layout.SNAPSHOT, latest.id)
    files = tuple(sorted(_paths(schema, ended)))
    user = f"{type(change).__name__.lower()}-{plan.fingerprint[:32]}"
    doing = CommitSnapshot(line.branch, guard, heads.references[guard], user, files)
    return dataclasses.replace(
        plan,
        effects=() if is_idle else (doing,),
        leaving=_table(schema, ended),
        notes=tuple(_notes(history, line, change, _paths(schema, ended))),
        source=latest,
    )


def why_not_here(store: Store, plan: Plan, history: HistorySummary) -> str | None:
    """Return why the commit of this plan cannot be run by Snapscope, or None if it can."""
    line = history.heads.line(plan.change.branch)
    error = commit_base.unlocked(store, plan.change.branch, () if line is None else line.snapshots)
    return None if error is None else error.message


def refuse(schema: Schema) -> None:
    """Raise `Unsupported`, with the reason, for tables that are not written here."""
    (documents.refuse_unwritable_keyed if schema.primary_keys else documents.refuse_unwritable)(schema)


def named(schema: Schema, texts: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Parse partitions such as `dt=2026-11-01,region=EU` into values by key; the whole table if none is named.

    Raises `Invalid` for text that does not name a partition.
    """
    type_of = {field.name: field.type for field in schema.fields}
    found = []
    for text in texts:
        pairs = [each.partition("=") for each in re.split(r",(?=[^,]*=)", text)]  # a value may contain commas
        for key, equals, _ in pairs:
            if not equals or key.strip() not in schema.partition_keys:
                raise Invalid(
                    "not a valid partition: {text!r}; the keys are {partition_keys}.",
                    text=text,
                    partition_keys=", ".join(schema.partition_keys) or message("none"),
                    remedy="Write it as key=value,key=value.",
                )
        if len({key.strip() for key, _, _ in pairs}) < len(pairs):
            raise Invalid(
                "{text!r} gives two values for the same key.", text=text, remedy="Give each partition separately."
            )
        unnamed = schema.options.get("partition.default-name", partitions.UNNAMED)
        found.append(
            {
                key.strip(): None if value == unnamed else partitions.value(type_of[key.strip()], value)
                for key, _, value in pairs
            }
        )
    return found or [{}]


def _chosen(head: Head, live: list[Record], change: OfCommits) -> list[Record]:
    match change:
        case Truncate():
            return live
        case DropPartitions():
            if not change.partitions:
                raise Invalid("No partition was given.", remedy="Give a partition, or truncate the table.")
            matches = commit_base.matcher(head, named(head.schema, change.partitions))
            return [entry for entry in live if matches(entry["_PARTITION"])]
        case Compact():
            matches = commit_base.matcher(head, named(head.schema, change.partitions))
            return compacted(head.schema, [each for each in live if matches(each["_PARTITION"])], change.min_files)
        case Analyze():
            known = [field.name for field in head.schema.fields]
            for name in change.columns or ():
                if name not in known:
                    raise NotFound(
                        "There is no column '{name}'; the table has {known}.", name=name, known=", ".join(known)
                    )
            return []


def compacted(schema: Schema, live: Sequence[Record], min_files: int | None) -> list[Record]:
    """Return the files that a compaction rewrites or moves to another level."""
    if not schema.primary_keys:
        rules = small_files.rules(schema.options)
        rules = rules if min_files is None else dataclasses.replace(rules, least=min_files)
        return [entry for small in small_files.bins(live, rules) for entry in small]
    if min_files is not None:
        raise Unsupported(
            "Tables with a primary key are compacted by whole buckets, however many files a bucket has.",
            remedy="Leave the number of files out.",
        )
    found: list[Record] = []
    for _, moved, merged in full_compaction.of_table(schema, live):
        found += [*moved, *(entry for rewrite in merged for entry in rewrite.files)]
    return found


def path_of(schema: Schema, entry: Record) -> str:
    """Return a file's path in the table, or its external path."""
    directory = partitions.directory(schema, entry["_PARTITION"])
    inside = "/".join([*([directory] if directory else []), layout.bucket_dir(entry["_BUCKET"])])
    return entry["_FILE"]["_EXTERNAL_PATH"] or f"{inside}/{entry['_FILE']['_FILE_NAME']}"


def _paths(schema: Schema, ended: Sequence[Record]) -> list[str]:
    return [path_of(schema, entry) for entry in ended]


def _table(schema: Schema, ended: Sequence[Record]) -> pa.Table:
    rows = [
        {
            "path": path_of(schema, entry),
            "partition": partitions.directory(schema, entry["_PARTITION"]),
            "rows": entry["_FILE"]["_ROW_COUNT"],
            "bytes": entry["_FILE"]["_FILE_SIZE"],
        }
        for entry in ended
    ]
    return pa.Table.from_pylist(rows, schema=LEAVING).sort_by("path")


def _having(point: str, count: int, all_of: int) -> str:
    if count == all_of:
        return message("{point} (all)", point=point)
    return message("{point} ({count:,})", point=point, count=count)


def _notes(history: History, line: Line, change: OfCommits, paths: Sequence[str]) -> list[Reason]:
    assert line.latest is not None
    if not paths:
        return []
    notes = [codes.NO_FILE_DELETED()]
    chosen = pc.is_in(history.objects["path"], value_set=pa.array(paths)).to_numpy()
    counts = history.held.sums(chosen.astype("int64")) * history.existing
    by_point = {holder.point: int(count) for holder, count in zip(history.holders, counts, strict=True) if count}
    newest_first = list(by_point)[::-1]
    lasting = sorted(newest_first, key=lambda point: "tag:" not in point)
    named = [_having(point, by_point[point], len(paths)) for point in lasting]
    more = counted(len(named) - _POINTS, " and {count} more", " and {count} more")
    if named:
        points = listed(named[:_POINTS])
        notes.append(codes.STILL_HELD(points=points, more=more if len(named) > _POINTS else ""))
    if isinstance(change, Compact):
        options = {} if line.schema is None else line.schema.options
        usual = (
            full_compaction.TARGET
            if line.schema and line.schema.primary_keys
            else str(small_files.SmallFileOptions().target)
        )
        target = parse_size_bytes(options.get("target-file-size", usual))
        return [
            *notes,
            codes.SAME_ROWS(target=size(target)),
        ]
    prefix = "" if line.branch == MAIN else f"branch:{line.branch}/"
    if not any(point.startswith(f"{prefix}tag:") for point, count in by_point.items() if count == len(paths)):
        notes.append(codes.NO_TAG_HAS_ALL(id=line.latest.id))
    return notes
