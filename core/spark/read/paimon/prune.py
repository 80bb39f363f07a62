"""Which files a condition can match: by partition, bucket, key range and statistics, from metadata alone.

Invariants:
- A file is skipped only if every row of it fails the condition, whatever is unknown; an uncertain one is read.
- Before a merge, a row's values are not final: only partition, bucket and key are used there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import SnapscopeError
from core.formats.paimon import binary_row, scan_details, schema_evolution
from core.formats.paimon.scan_details import keys_of
from core.formats.paimon.types import PaimonType, parse
from core.model.references import Schema
from core.spark.read.paimon import merge_on_read
from core.spark.read.paimon.bucket_prune import Buckets
from core.spark.read.paimon.points import PaimonScan
from core.spark.read.paimon.shown_columns import is_refused
from core.spark.sql.filters import All, Any_, Check, Condition, kind

_EPOCH = dt.datetime.combine(dt.date(1970, 1, 1), dt.time())  # a wall clock
_BY_CLOCK = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ")  # in ORC, possibly shifted by a writer's zone


@dataclass(frozen=True, slots=True)
class ComparableBounds:
    """The known bounds of one column in one file, as `comparable` values; None = unknown.

    No value is below `low` or above `high` (but it may start with `high` if that is a truncated string); `nulls` of
    `rows` are null.
    """

    low: Any
    high: Any
    nulls: int | None
    rows: int


_BoundsOf = Callable[[int], "ComparableBounds | None"]
_StatsOf = Callable[[pa.Table], Mapping[scan_details.FileKey, Mapping[str, Any]]]


def plan(of: PaimonScan, condition: Condition) -> merge_on_read.ReadPlan:
    """The plan of an opened version without files in which no row passes the condition."""
    by_key, by_value = left(
        of.schema, of.schemas, of.files, condition, lambda files: scan_details.stats(of.table.store, of.snapshot, files)
    )
    found = merge_on_read.only(of.plan, by_value, merged=by_key)
    if of.schema.partition_keys and pc.count_distinct(of.files["path"]).as_py() < len(of.files):  # in several ones
        kept = of.files["partition_bytes"].take(pa.array(_in_partitions(of.schema, of.files, condition), pa.int64()))
        found = merge_on_read.in_partitions(found, set(kept.to_pylist()))
    return found if of.other is None else replace(found, other=plan(of.other, condition))


def left(
    schema: Schema, schemas: Mapping[int, Schema], files: pa.Table, condition: Condition, stats: _StatsOf
) -> tuple[set[str], set[str]]:
    """Paths of the files that may have rows that pass: (by partition, bucket and key; by values as well).

    `stats` returns what `scan_details.stats` does; it is called only if partitions do not decide.
    """
    columns = _columns(condition)
    if not columns:
        every = set(files["path"].to_pylist()) if may(condition, _nothing_known) else set()
        return every, every
    candidates = files.take(pa.array(_in_partitions(schema, files, condition), pa.int64()))
    paths = candidates["path"].to_pylist()
    if all(schema.fields[at].name in schema.partition_keys for at in columns):
        return set(paths), set(paths)
    stats_by_file = stats(candidates)
    judge = _Judge(schema, condition)
    buckets = Buckets(schema, condition, ((file, schemas.get(file["schema_id"])) for file in stats_by_file.values()))
    by_key, by_value = set(), set()
    rows = (candidates[name].to_pylist() for name in ("schema_id", "format"))
    for path, key, schema_id, form in zip(paths, keys_of(candidates), *rows, strict=True):
        file, written = stats_by_file.get(key), schemas.get(schema_id)
        if file is None or written is None:
            by_key.add(path)
            by_value.add(path)
        elif buckets.may(file) and judge.may_by_key(file, written):
            by_key.add(path)
            if judge.may_by_value(file, written, form):
                by_value.add(path)
    return by_key, by_value


def _in_partitions(schema: Schema, files: pa.Table, condition: Condition) -> list[int]:
    """The numbers of the files whose partition may have rows that pass."""
    if not schema.partition_keys:
        return list(range(len(files)))
    at = {name: number for number, name in enumerate(field.name for field in schema.fields)}
    kinds = [parse(schema.fields[at[name]].type) for name in schema.partition_keys]
    stored = files["partition_bytes"].to_pylist()
    fits: dict[bytes, bool] = {}
    for partition in set(stored):
        values = binary_row.decode(partition, kinds)
        own = {
            at[name]: ComparableBounds(low := comparable(value, to), low, int(value is None), 1)
            for name, value, to in zip(schema.partition_keys, values, kinds, strict=True)
        }
        fits[partition] = may(condition, own.get)
    return [number for number, partition in enumerate(stored) if fits[partition]]


def _nothing_known(_: int) -> ComparableBounds | None:
    return None


def may(condition: Condition, of: _BoundsOf) -> bool:
    """Whether some row may pass. Columns without bounds may contain anything."""
    match condition:
        case All(parts):
            return all(may(each, of) for each in parts)
        case Any_(parts):
            return any(may(each, of) for each in parts)
        case Check(column, is_, values):
            bounds = of(column)
            return bounds is None or _may(is_, values, bounds)


def _may(is_: str, values: Sequence[Any], of: ComparableBounds) -> bool:
    if is_ == "null":
        return of.nulls != 0
    if of.nulls == of.rows:
        return False  # null passes no other check
    match is_:
        case "=":
            return any(not _below(value, of) and not _above(value, of) for value in values)
        case "<":
            return of.low is None or of.low < values[0]
        case "<=":
            return not _below(values[0], of)
        case ">":
            return of.high is None or of.high > values[0] or _begins(values[0], of.high)
        case ">=":
            return not _above(values[0], of)
        case "prefix":
            return not _above(values[0], of) and (of.low is None or of.low[: len(values[0])] <= values[0])
        case _:
            return True


def _below(value: Any, of: ComparableBounds) -> bool:
    return of.low is not None and bool(value < of.low)


def _above(value: Any, of: ComparableBounds) -> bool:
    """Whether a value is above all others; a string that starts with `high` may have been truncated to it."""
    return of.high is not None and value > of.high and not _begins(value, of.high)


def _begins(value: Any, start: Any) -> bool:
    return isinstance(value, bytes) and value.startswith(start)


def comparable(value: Any, of: PaimonType) -> Any:
    """A decoded value in the form of Spark's literals; None if it is null or not compared."""
    match kind(of):
        case "":
            return None
        case "text":
            return None if value is None else value.encode()
        case "DATE":
            return None if value is None else (value - _EPOCH.date()).days
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return None if value is None else (value.replace(tzinfo=None) - _EPOCH) // dt.timedelta(microseconds=1)
        case _:
            return value


class _Judge:
    """For one schema and one condition."""

    def __init__(self, schema: Schema, condition: Condition) -> None:
        self.schema, self.condition = schema, condition
        self.types = [parse(field.type) for field in schema.fields]
        at = {field.name: number for number, field in enumerate(schema.fields)}
        self.keys = [at[name] for name in schema.primary_keys if name not in schema.partition_keys]
        self.columns = sorted(at for at in _columns(condition) if schema.fields[at].name not in schema.partition_keys)

    def may_by_key(self, file: Mapping[str, Any], written: Schema) -> bool:
        """Judge by the minimum and maximum key, and by the statistics of key columns, which say more.

        The key range limits its first column, and a later column if all columns before it have a single value.
        """
        then = {field.id: field.type for field in written.fields}
        own = [then.get(self.schema.fields[at].id) for at in self.keys]
        of = [parse(to) for to in own if to is not None]
        if not self.keys or len(of) != len(own) or file["bucket"] < 0:  # files of the postpone bucket are not sorted
            return True
        bounds: dict[int, ComparableBounds] = {}
        for low, high, in_order in (
            (file["key_low"], file["key_high"], False),
            (file["min_key"], file["max_key"], True),
        ):
            lows, highs = (_some(row, len(of), dict(enumerate(of))) for row in (low, high))
            for number, at in enumerate(self.keys):
                if number in lows and number in highs and kind(of[number]) == kind(self.types[at]):
                    bounds[at] = ComparableBounds(lows[number], highs[number], 0, file["rows"])
                if in_order and (number not in lows or lows[number] != highs.get(number)):
                    break
        return may(self.condition, bounds.get)

    def may_by_value(self, file: Mapping[str, Any], written: Schema, form: str) -> bool:
        """Judge by the statistics of the columns that the condition names."""
        if file["written"] is not None:
            return True  # this file does not have all columns
        names = [field.name for field in written.fields] if file["columns"] is None else file["columns"]
        then = {field.id: field for field in written.fields}
        bounds: dict[int, ComparableBounds] = {}
        places: dict[int, tuple[int, PaimonType]] = {}
        for at in self.columns:
            if is_refused(self.schema.fields[at]):
                continue
            source = then.get(self.schema.fields[at].id)
            if source is None:
                bounds[at] = ComparableBounds(None, None, file["rows"], file["rows"])  # missing: all null
            elif names.count(source.name) == 1 and _keeps_values(parse(source.type), self.types[at]):
                places[at] = names.index(source.name), parse(source.type)
        nulls = file["nulls"] or []
        wanted = dict(places.values())
        lows, highs = (_some(file[side], len(names), wanted) for side in ("low", "high"))
        for at, (number, to) in places.items():
            fits = kind(to) == kind(self.types[at]) and not (form == "orc" and kind(to) in _BY_CLOCK)
            low, high = (side.get(number) if fits else None for side in (lows, highs))
            count = nulls[number] if len(nulls) == len(names) else None
            bounds[at] = ComparableBounds(low, high, count, file["rows"])
        return may(self.condition, bounds.get)


def _keeps_values(have: PaimonType, wanted: PaimonType) -> bool:
    """Whether statistics of the one say something of the other: a cast may cut values off, wrap or drop them."""
    return schema_evolution.same(have, wanted) or schema_evolution.widens(have, wanted)


def _columns(condition: Condition) -> set[int]:
    if isinstance(condition, Check):
        return {condition.column}
    return set().union(*map(_columns, condition.parts))


def _some(row: bytes | None, arity: int, wanted: Mapping[int, PaimonType]) -> dict[int, Any]:
    """Comparable values of a statistics row without unknown ones; empty if the row has another shape."""
    compared = {number: to for number, to in wanted.items() if kind(to)}
    if row is None or not compared:
        return {}
    try:
        found = binary_row.some(row, arity, compared)
    except SnapscopeError:  # no statistics, or of columns unknown here
        return {}
    return {number: comparable(value, compared[number]) for number, value in found.items() if value is not None}
