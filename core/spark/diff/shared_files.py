"""Which files hold the same rows at two versions, from metadata alone, so that a comparison can skip them. Pure.

Invariant: the rows of such a file are equal at both versions, in every column that the second version has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core.errors import Unsupported
from core.formats.paimon import schema_evolution
from core.formats.paimon.scan_details import FileKey, keys_of
from core.formats.paimon.types import PaimonType, parse
from core.model.references import Schema
from core.spark.read.paimon import merge_on_read, postponed
from core.spark.read.paimon.changed_options import DECIDES
from core.spark.read.paimon.points import PaimonScan, is_joined


def paths_of(plan: merge_on_read.ReadPlan) -> set[str]:
    return {*plan.raw["path"].to_pylist(), *(file["path"] for each in plan.work for file in each["files"])}


def alike(a: PaimonScan, b: PaimonScan, compared: Collection[int]) -> set[str]:
    """Files whose rows are the same at both versions, in the columns that are compared.

    For an append table: files that both have with the same deleted rows. For a primary-key table: the files of buckets
    with the same files on the same levels, read by the same rules. A file with a column that only `b` shows differs. So
    does one with a column that the versions show as different types, unless both hold every value that it can have.
    With data evolution no single file tells that it is alike.
    """
    if is_joined(a.schema) or is_joined(b.schema):
        return set()
    shown = _ids(b.schema, compared) - _ids(a.schema, compared)
    fitting = {
        number
        for number, written in a.schemas.items()
        if number in b.schemas and b.schemas[number].fields == written.fields
        if not _ids(written, compared) & shown and _is_lossless(written, a.schema, b.schema, compared)
    }
    ours, theirs = _described(a), _described(b)
    if not b.schema.primary_keys:
        return {
            path
            for path, (_, seen) in ours.items()
            if path in theirs and theirs[path][1] == seen and seen[0] in fitting
        }
    if _deciding(a.schema) != _deciding(b.schema):
        return set()
    if postponed.is_on(a.schema) != postponed.is_on(b.schema):
        return set()
    apart = 1 if postponed.is_on(b.schema) else 2  # rows of the postpone bucket are of any bucket of their partition
    buckets_a, buckets_b = _buckets(ours, apart), _buckets(theirs, apart)
    return {
        path
        for bucket, members in buckets_a.items()
        if buckets_b.get(bucket) == members and all(seen[0] in fitting for seen in members.values())
        for path in members
    }


def _is_lossless(written: Schema, a: Schema, b: Schema, compared: Collection[int]) -> bool:
    """Whether columns whose type differs between two versions have every value of such a file at both.

    Those that are not compared can decide which rows of a key are left, so for primary keys their types must agree.
    """
    before, stored = ({each.id: each for each in schema.fields} for schema in (a, written))
    for after in b.fields:
        old, source = before.get(after.id), stored.get(after.id)
        if old is None or source is None or old.type == after.type:
            continue
        if after.id not in compared:
            if b.primary_keys:
                return False
            continue
        try:
            for each in (old, after):
                schema_evolution.check(each.name, parse(source.type), parse(each.type))
        except Unsupported:
            return False
    return True


_Seen = tuple[int, int, Any]  # schema id, level, deletion vector


def _described(point: PaimonScan) -> dict[str, tuple[FileKey, _Seen]]:
    columns = (point.files[name].to_pylist() for name in ("path", "schema_id", "level"))
    keys = keys_of(point.files)
    return {
        path: (key, (number, level, point.vectors.get(key)))
        for key, path, number, level in zip(keys, *columns, strict=True)
    }


def _buckets(files: Mapping[str, tuple[FileKey, _Seen]], apart: int) -> dict[tuple[Any, ...], dict[str, _Seen]]:
    """Files by their partition, and bucket if `apart` is 2."""
    found: dict[tuple[Any, ...], dict[str, _Seen]] = {}
    for path, (key, seen) in files.items():
        found.setdefault(key[:apart], {})[path] = seen
    return found


def _deciding(schema: Schema) -> dict[str, str]:
    return {name: value for name, value in schema.options.items() if DECIDES.match(name)}


def rows_of(point: PaimonScan, paths: set[str]) -> int | None:
    """The number of rows that these files contribute, from metadata; None if that takes merging or counting."""
    if not paths:
        return 0
    keys = dict(zip(point.files["path"].to_pylist(), keys_of(point.files), strict=True))
    counts = dict(zip(point.files["path"].to_pylist(), point.files["rows"].to_pylist(), strict=True))
    plan = merge_on_read.only(point.plan, paths)
    if any(each["merges"] for each in plan.work):
        return None
    total = 0
    for path in paths_of(plan):
        vector = point.vectors.get(keys[path])
        deleted = 0 if vector is None else vector.rows
        retracts = point.ranges[keys[path]].delete_rows if point.schema.primary_keys else 0
        if deleted is None or retracts != 0:
            return None
        total += int(counts[path]) - deleted
    return total


def _ids(schema: Schema, compared: Collection[int]) -> set[int]:
    """The ids of all columns, and those nested in the columns that are compared; others can be of unknown types."""

    def inside(of: PaimonType) -> Iterable[int]:
        for each in of.fields:
            yield each.id
            yield from inside(each.type)
        for argument in of.args:
            yield from inside(argument)

    within = (id for each in schema.fields if each.id in compared for id in inside(parse(each.type)))
    return {*(each.id for each in schema.fields), *within}
