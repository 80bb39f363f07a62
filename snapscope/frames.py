"""Convert core results to Arrow tables: fixed columns, string ids, UTC times, units in column names."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa

from core.catalog import Warehouse
from core.execution.journal import Run
from core.model.history import History
from core.model.references import Heads, Line, Problem, Schema
from core.model.time_travel import AsOf
from core.reports import references_json

F = TypeVar("F")  # the frame type: pandas.DataFrame or pyarrow.Table
TIME = pa.timestamp("ms", tz="UTC")
TEXT, COUNT, FLAG = pa.string(), pa.int64(), pa.bool_()
_NULLABLE = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def to_pandas(found: pa.Table) -> pd.DataFrame:
    """Convert to pandas with nullable integers, nested ones as objects: floats would round large values."""
    frame: pd.DataFrame = found.to_pandas(types_mapper=_NULLABLE.get, integer_object_nulls=True)
    return frame


def to_arrow(found: pa.Table) -> pa.Table:
    return found


def of_rows(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Any]) -> pa.Table:
    """Build a table from rows given as mappings; missing values become null."""
    return pa.Table.from_pylist(
        [{name: row.get(name) for name in columns} for row in rows], pa.schema(list(columns.items()))
    )


def moment(time_ms: int) -> dt.datetime | None:
    """Convert epoch milliseconds to a UTC datetime; None if the value is out of range."""
    try:
        return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=time_ms)
    except OverflowError:
        return None


def id_text(value: int | None) -> str | None:
    return None if value is None else str(value)


SNAPSHOTS = {
    "snapshot": TEXT, "branch": TEXT, "committed_at": TIME, "kind": TEXT, "schema": TEXT, "total_rows": COUNT,
    "delta_rows": COUNT, "commit_user": TEXT, "watermark_ms": COUNT, "parent": TEXT, "note": TEXT, "problem": TEXT,
}  # fmt: skip


def snapshots(heads: Heads, line: Line) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for own in heads.listed_with(line):
        rows += [
            {
                "snapshot": str(each.id), "branch": own.branch, "committed_at": each.time_ms, "kind": each.kind,
                "schema": str(each.schema_id), "total_rows": each.total_rows, "delta_rows": each.delta_rows,
                "commit_user": each.commit_user, "watermark_ms": each.watermark, "parent": id_text(each.parent_id),
                "note": each.note or None,
            }
            for each in own.snapshots
        ]  # fmt: skip
        rows += _unreadable(own, "snapshot", "snapshot")
    return of_rows(rows, SNAPSHOTS)


TAGS = {
    "tag": TEXT, "branch": TEXT, "snapshot": TEXT, "committed_at": TIME, "is_snapshot_retained": FLAG,
    "expires_at": TIME, "expires_wall_clock": pa.timestamp("us"), "problem": TEXT,
}  # fmt: skip


def tags(heads: Heads, line: Line) -> pa.Table:
    retained = heads.retained(line)
    has_zone = not heads.capabilities.tag_ends_are_wall_clock
    rows = [
        {
            "tag": each.name, "branch": line.branch, "snapshot": str(each.snapshot.id),
            "committed_at": each.snapshot.time_ms, "is_snapshot_retained": each.snapshot.id in retained,
            "expires_at": each.ends_ms if has_zone else None,
            "expires_wall_clock": None if has_zone else each.expires,
        }
        for each in line.tags
    ]  # fmt: skip
    return of_rows([*rows, *_unreadable(line, "tag", "tag")], TAGS)


def _unreadable(line: Line, kind: str, column: str) -> list[dict[str, Any]]:
    return [
        {column: each.name, "branch": line.branch, "problem": each.problem.sentence()}
        for each in line.unreadable
        if each.kind == kind
    ]


BRANCHES = {
    "branch": TEXT, "snapshot": TEXT, "committed_at": TIME, "snapshots": COUNT, "min_snapshots_to_keep": COUNT,
    "max_snapshot_age_ms": COUNT, "max_ref_age_ms": COUNT,
}  # fmt: skip


def branches(heads: Heads) -> pa.Table:
    rows = [
        {**each, "snapshot": id_text(each["snapshot"]), "committed_at": each["committed_ms"]}
        for each in references_json.branches(heads)
    ]
    return of_rows(rows, BRANCHES)


CONSUMERS = {"consumer": TEXT, "branch": TEXT, "next_snapshot": TEXT, "problem": TEXT}


def consumers(line: Line) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"consumer": each.name, "branch": line.branch, "next_snapshot": str(each.next_snapshot)}
        for each in line.consumers
    ]
    return of_rows([*rows, *_unreadable(line, "consumer", "consumer")], CONSUMERS)


FILES = {"path": TEXT, "size_bytes": COUNT, "rows": COUNT, "partition": TEXT, "content": TEXT, "bucket": COUNT,
         "level": COUNT, "schema": TEXT, "format": TEXT}  # fmt: skip
RENAMED = {"bytes": "size_bytes", "schema_id": "schema"}


def files(history: History, point: AsOf) -> pa.Table:
    """List the current files of a version, by path. `content` distinguishes delete files from data files."""
    return shaped(history.files_of(point.point), FILES)


def shaped(found: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Convert a core table to the documented columns; columns that it lacks become null."""
    found = found.rename_columns([RENAMED.get(name, name) for name in found.column_names])
    arrays = [
        found[name].cast(of) if name in found.column_names else pa.nulls(len(found), of) for name, of in columns.items()
    ]
    return pa.table(arrays, pa.schema(list(columns.items())))


COLUMNS = {"column": TEXT, "id": TEXT, "type": TEXT, "is_partition_key": FLAG, "is_primary_key": FLAG,
           "description": TEXT}  # fmt: skip


def schema(found: Schema) -> pa.Table:
    rows = [
        {
            "column": each.name, "id": str(each.id),
            "type": each.type if isinstance(each.type, str) else json.dumps(each.type, sort_keys=True),
            "is_partition_key": each.name in found.partition_keys, "is_primary_key": each.name in found.primary_keys,
            "description": each.description,
        }
        for each in found.fields
    ]  # fmt: skip
    return of_rows(rows, COLUMNS)


SCHEMA_CHANGES = {"schema": TEXT, "since": TIME, "id": TEXT, "change": TEXT, "column": TEXT, "before": TEXT,
                  "after": TEXT, "meaning": TEXT}  # fmt: skip


def schema_changes(found: Sequence[Mapping[str, Any]]) -> pa.Table:
    rows = [{**each, "schema": str(each["schema"]), "since": each["since_ms"], "id": str(each["id"])} for each in found]
    return of_rows(rows, SCHEMA_CHANGES)


PROBLEMS = {"path": TEXT, "expected": TEXT, "found": TEXT, "remedy": TEXT}


def problems(found: Sequence[Problem]) -> pa.Table:
    rows = [
        {
            "path": each.path,
            "expected": str(each.expected),
            "found": str(each.found),
            "remedy": str(each.remedy) or None,
        }
        for each in dict.fromkeys(found)
    ]
    return of_rows(rows, PROBLEMS)


COSTS = {"tag": TEXT, "snapshot": TEXT, "exclusive_files": COUNT, "exclusive_bytes": COUNT,
         "exclusive_after_policy_bytes": COUNT, "expires": TEXT}  # fmt: skip


def costs(found: Sequence[Mapping[str, Any]]) -> pa.Table:
    rows = [
        {
            "tag": each["point"], "snapshot": id_text(each["snapshot"]),
            "exclusive_files": each["exclusive_now_files"], "exclusive_bytes": each["exclusive_now_bytes"],
            "exclusive_after_policy_bytes": each["exclusive_after_policy_bytes"],
            "expires": None if each["expires"] is None else str(each["expires"]),
        }
        for each in found
    ]  # fmt: skip
    return of_rows(rows, COSTS)


TABLES = {"table": TEXT, "database": TEXT, "name": TEXT, "format": TEXT, "location": TEXT, "problem": TEXT}


def tables(found: Warehouse) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {
            "table": each.title, "database": each.database, "name": each.name, "format": each.format,
            "location": each.location,
        }
        for each in found.tables
    ]  # fmt: skip
    rows += [{"location": each.path, "problem": each.sentence()} for each in found.problems]
    return of_rows(rows, TABLES)


RUNS = {"run": TEXT, "table": TEXT, "action": TEXT, "state": TEXT, "who": TEXT, "started_at": TIME, "ended_at": TIME,
        "is_open": FLAG, "can_undo": FLAG, "headline": TEXT}  # fmt: skip


def runs(found: Sequence[Run]) -> pa.Table:
    rows = [
        {
            "run": each.id, "table": each.table, "action": each.change_kind, "state": each.state, "who": each.who,
            "started_at": each.started_ms, "ended_at": each.ended_ms, "is_open": each.is_open,
            "can_undo": each.can_undo, "headline": str(each.plan["headline"]),
        }
        for each in found
    ]  # fmt: skip
    return of_rows(rows, RUNS)
