"""A table's state as a plain JSON value: what the report of a table says, for programs."""

from __future__ import annotations

from core.analysis.storage_cost import by_holders
from core.model.history import History
from core.model.references import Heads, Schema
from core.model.time_travel import AsOf
from core.reports import json as answers
from core.reports import references_json
from core.reports.json import Json


def of_table(history: History, at: AsOf | None, now_ms: int) -> Json:
    """The content of a version (`at`: null if nothing was ever committed), and everything in the table's history.

    Numbers of what could not be read in full are lower bounds; `problems` names what is missing.
    """
    heads = history.heads
    line = (heads.line(at.branch) if at else None) or heads.main
    schema = at.schema if at else line.schema
    return {
        "table": heads.location,
        "format": heads.format,
        "read_at_ms": now_ms,
        "held_bytes": history.bytes_of(history.held.over(history.existing)),
        "at": None if at is None else {**answers.as_of(at), **_content(history, at)},
        "columns": [] if schema is None else _columns(schema),
        "partitions": [] if at is None else history.partitions_at(history.position(at.point)).to_pylist(),
        "tags": answers.tag_costs(history, now_ms),
        "branches": _branches(heads),
        "consumers": [
            {"branch": of.branch, "consumer": each.name, "next_snapshot": each.next_snapshot}
            for of in heads.lines
            for each in of.consumers
        ],
        "snapshots": [
            {"branch": of.branch, **references_json.snapshot(each)} for of in heads.lines for each in of.snapshots
        ],
        "by_holders": by_holders(history).to_pylist(),
        "options": dict(sorted(line.options.items())),
        **answers.problems(history),
    }


def _content(history: History, at: AsOf) -> Json:
    position = history.position(at.point)
    return {
        "commit_kind": at.snapshot.kind,
        "commit_user": at.snapshot.commit_user,
        "rows": at.snapshot.total_rows,
        "files": int(history.totals.files[position]),
        "bytes": int(history.totals.bytes[position]),
    }


def _columns(schema: Schema) -> list[Json]:
    return [
        {
            "id": each.id,
            "column": each.name,
            "type": each.type,
            "is_primary_key": each.name in schema.primary_keys,
            "is_partition_key": each.name in schema.partition_keys,
        }
        for each in schema.fields
    ]


def _branches(heads: Heads) -> list[Json]:
    return [
        {
            "branch": line.branch,
            "head": line.latest.id if line.latest else None,
            "committed_at_ms": line.latest.time_ms if line.latest else None,
            "snapshots": len(line.snapshots),
        }
        for line in heads.lines
        if line.branch in (heads.main.branch, *heads.branches)
    ]
