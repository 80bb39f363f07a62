"""Primary-key tables and deletion vectors: which files are read directly, which are merged, and by which task.

Invariants: files whose keys may overlap are merged by one task, in order (docs/paimon.md §5.4); what the engine leaves
out of a batch read is left out here, and that is reported; no file is left out because of value statistics. The plan is
made from metadata alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from core.errors import Corrupt
from core.formats.paimon import binary_row, layout, types
from core.formats.paimon.blob_files import FORMAT as BLOB
from core.formats.paimon.scan_details import FileKey, Range, RowIds, Vector, keys_of
from core.formats.paimon.types import PaimonType, parse
from core.messages import counted, message
from core.model.references import Schema
from core.spark.merge.rows import KIND, LEVEL, SEQUENCE, merge, refuse_ties
from core.spark.merge.rules import FIRST_ROW, MergeRule, is_on, of_columns, read_rule
from core.spark.read import timestamps
from core.spark.read.paimon import arrow_files, data_evolution, postponed, python_files
from core.spark.read.paimon import frames as read
from core.spark.session.divided import divided
from core.spark.session.task_errors import forwarding_errors
from core.storage.store import Store
from core.units import several

_BATCH_ROWS = 16_384
_ADDS = pa.array([0, 2], pa.int8())
_SYSTEM = {SEQUENCE: "BIGINT", KIND: "TINYINT"}
_UNORDERED = ("FLOAT", "DOUBLE", "ARRAY", "MAP", "MULTISET", "ROW")
_File: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How to read the files of a version.

    `raw`: rows of the file list whose rows are the table's rows unchanged. `work`: sections that a task merges, or
    files from which it removes deleted rows. `left_out`: sentences.
    """

    raw: pa.Table
    work: tuple[Mapping[str, Any], ...]
    files: int
    left_out: tuple[str, ...]
    other: ReadPlan | None = None
    """Of the branch that has the partitions which this one lacks."""

    @property
    def bytes(self) -> int:
        """Of all its own files, whole."""
        return (pc.sum(self.raw["bytes"]).as_py() or 0) + bytes_of(self.work)


def bytes_of(work: Iterable[Mapping[str, Any]]) -> int:
    """The total size of the files in units of work."""
    return sum(file["bytes"] for unit in work for file in unit["files"])


def plan(
    schema: Schema,
    schemas: Mapping[int, Schema],
    files: pa.Table,
    ranges: Mapping[FileKey, Range],
    vectors: Mapping[FileKey, Vector],
    ids: Mapping[FileKey, RowIds] | None = None,
    *,
    chained: bool = False,
    orders: Mapping[FileKey, tuple[str, int]] | None = None,
) -> ReadPlan:
    """How to read these live files of a point. Without a primary key `ranges` is not looked at; `ids`: the row ids of a
    table with data evolution; `chained`: the files of a partition were written as those of several; `orders`: the
    files of the postpone bucket, if they are merged: then all files of their partition, and level 0 in all."""
    if ids is not None:
        return _joined(schemas, files, vectors, ids)
    if not schema.primary_keys:
        cleaned = [_work([_described(row, vectors.get(key))]) for key, row in _rows(files) if key in vectors]
        return ReadPlan(_without(files, vectors), tuple(cleaned), len(files), ())
    rule = read_rule(schema, schema.options)
    has_vectors = is_on(schema.options, "deletion-vectors.enabled")
    skips = rule.engine == FIRST_ROW or (has_vectors and not is_on(schema.options, "deletion-vectors.merge-on-read"))
    left_out: tuple[str, ...] = ()
    if orders is None:
        files, left_out = taken(files, skips_level_0=skips, why="first-row" if rule.engine == FIRST_ROW else "vectors")
    skips = skips and orders is None
    whole: dict[bytes, list[_File]] = {partition: [] for partition, _, _ in orders or ()}
    buckets: dict[tuple[bytes, int], list[tuple[FileKey, _File]]] = {}
    for key, row in _rows(files):
        if key[0] in whole:
            whole[key[0]].append(_described(row, vectors.get(key)) | {"order": (orders or {}).get(key)})
        else:
            buckets.setdefault((key[0], key[1]), []).append((key, row))
    raw: list[int] = []
    work = [_work(each, merges=True) for each in whole.values()]
    for members in buckets.values():
        deletes = [ranges[key].delete_rows for key, _ in members]
        levels = {row["level"] for _, row in members}
        never_meet = not chained and 0 not in levels and (skips or has_vectors or len(levels) == 1)
        if never_meet and (skips or all(count == 0 for count in deletes)):
            sections = [[member] for member in members]
        else:
            sections = _sections(schema, schemas, members, ranges)
        for section in sections:
            is_plain = len(section) == 1 and (skips or ranges[section[0][0]].delete_rows == 0)
            if is_plain and section[0][0] not in vectors:
                raw.append(section[0][1]["number"])
            else:
                described = [_described(row, vectors.get(key)) for key, row in section]
                work.append(_work(described, merges=not is_plain, chained=chained))
    return ReadPlan(files.take(pa.array(raw, pa.int64())), tuple(work), len(files), left_out)


def _joined(
    schemas: Mapping[int, Schema], files: pa.Table, vectors: Mapping[FileKey, Vector], ids: Mapping[FileKey, RowIds]
) -> ReadPlan:
    rows = dict(_rows(files))
    raw, work = [], []
    for group in data_evolution.groups(ids):
        first = rows[group[0]]
        is_whole = len(group) == 1 and data_evolution.is_whole(ids[group[0]].columns, schemas.get(first["schema_id"]))
        if is_whole and group[0] not in vectors:
            raw.append(first["number"])
        else:
            own = [_described(rows[key], vectors.get(key)) | data_evolution.described(ids[key]) for key in group]
            work.append(_work(own, joins=True))
    return ReadPlan(files.take(pa.array(sorted(raw), pa.int64())), tuple(work), len(files), ())


def only(plan: ReadPlan, paths: Collection[str], merged: Collection[str] | None = None) -> ReadPlan:
    """The plan limited to these files; for files that are merged, to those in `merged`, if given.

    Correct for the requested rows if every file that may hold their keys stays.
    """
    raw = plan.raw.filter(pc.is_in(plan.raw["path"], pa.array(list(paths), pa.string())))
    work = []
    for each in plan.work:
        if each["whole"]:  # other columns of the same rows, or newer ones, whatever single files say of theirs
            if any(file["path"] in (paths if merged is None else merged) for file in each["files"]):
                work.append(each)
            continue
        wanted = merged if each["merges"] and merged is not None else paths
        if kept := [file for file in each["files"] if file["path"] in wanted]:
            work.append(_work(kept, merges=each["merges"], chained=each["chained"]))
    return replace(plan, raw=raw, work=tuple(work), files=len(raw) + sum(len(each["files"]) for each in work))


def in_partitions(plan: ReadPlan, stored: Collection[bytes]) -> ReadPlan:
    """The plan limited to these partitions."""
    raw = plan.raw.filter(pc.is_in(plan.raw["partition_bytes"], pa.array(list(stored), pa.binary())))
    texts = {base64.b64encode(each).decode() for each in stored}
    work = tuple(each for each in plan.work if each["files"][0]["partition"] in texts)
    return replace(plan, raw=raw, work=work, files=len(raw) + sum(len(each["files"]) for each in work))


def in_python(plan: ReadPlan, is_native: Callable[[str, int], bool]) -> ReadPlan:
    """The plan with raw files that the JVM cannot read, by (format, schema id), moved to the tasks' work."""
    native = [
        is_native(*each) for each in zip(*(plan.raw[name].to_pylist() for name in ("format", "schema_id")), strict=True)
    ]
    others = plan.raw.filter(pa.array([not each for each in native], pa.bool_()))
    work = [_work([_described(row, None)]) for _, row in _rows(others)]
    return replace(plan, raw=plan.raw.filter(pa.array(native, pa.bool_())), work=(*plan.work, *work))


def taken(files: pa.Table, *, skips_level_0: bool, why: str) -> tuple[pa.Table, tuple[str, ...]]:
    """The files that a batch read includes, and sentences about the others."""
    left_out = []
    bucket, level = files["bucket"].to_numpy(), files["level"].to_numpy()
    late = bucket < 0
    if late.any():
        found, rows = files.filter(pa.array(late)), "rows"
        rows = several(sum(found["rows"].to_pylist()), "row")
        left_out.append(
            message(
                "{found} with {rows} are in the postpone bucket ({postpone_bucket}); the engine shows "
                "them after they are compacted into real buckets",
                found=counted(len(found), "{count} file", "{count} files"),
                rows=rows,
                postpone_bucket=layout.POSTPONE_BUCKET,
            )
        )
    fresh = (level == 0) & ~late & skips_level_0
    if fresh.any():
        found = files.filter(pa.array(fresh))
        cause = message("a first-row table") if why == "first-row" else message("a table with deletion vectors")
        left_out.append(
            message(
                "{found} of level 0 with {sum}: {cause} shows rows only after compaction",
                found=counted(len(found), "{count} file", "{count} files"),
                sum=counted(sum(found["rows"].to_pylist()), "{count} row", "{count} rows"),
                cause=cause,
            )
        )
    return files.filter(pa.array(~(late | fresh))), tuple(left_out)


def _rows(files: pa.Table) -> Iterator[tuple[FileKey, dict[str, Any]]]:
    columns = ["path", "schema_id", "format", "level", "partition_bytes", "bytes"]
    listed = files.select(columns).to_pylist()
    for number, (key, row) in enumerate(zip(keys_of(files), listed, strict=True)):
        yield key, {**row, "number": number}


def _without(files: pa.Table, vectors: Mapping[FileKey, Vector]) -> pa.Table:
    return files.filter(pa.array([key not in vectors for key in keys_of(files)], pa.bool_()))


def _sections(
    schema: Schema,
    schemas: Mapping[int, Schema],
    members: Sequence[tuple[FileKey, _File]],
    ranges: Mapping[FileKey, Range],
) -> list[list[tuple[FileKey, _File]]]:
    """Groups of files whose key ranges do not overlap; a single group if keys cannot be compared here."""
    ids = {field.name: field.id for field in schema.fields}
    keys = [ids[name] for name in schema.primary_keys if name not in schema.partition_keys]
    kinds = set()
    for number in {row["schema_id"] for _, row in members}:
        by_id = {field.id: field.type for field in schemas[number].fields} if number in schemas else {}
        kinds.add(tuple(parse(by_id[key]).root if key in by_id else "" for key in keys))
    if len(kinds) != 1 or set(next(iter(kinds))) & {*_UNORDERED, ""}:
        return [list(members)]
    ordered = []
    for member in members:
        written = {field.id: field.type for field in schemas[member[1]["schema_id"]].fields}
        of = [written[key] for key in keys]
        both = (ranges[member[0]].min_key, ranges[member[0]].max_key)
        low, high = ([(v is not None, v) for v in binary_row.decode(stored, of)] for stored in both)
        ordered.append((low, high, member))
    ordered.sort(key=lambda each: each[0])
    sections: list[list[tuple[FileKey, _File]]] = []
    reach: Any = None
    for low, high, member in ordered:
        if sections and low <= reach:
            sections[-1].append(member)
            reach = max(reach, high)
        else:
            sections.append([member])
            reach = high
    return sections


def _described(row: _File, vector: Vector | None) -> dict[str, Any]:
    own = {name: row[name] for name in ("path", "schema_id", "format", "level", "bytes")}
    own["partition"] = base64.b64encode(row["partition_bytes"]).decode()
    return own | {"vector": None if vector is None else [vector.path, vector.offset, vector.size]}


def _work(
    files: Sequence[_File], *, merges: bool = False, joins: bool = False, chained: bool = False
) -> dict[str, Any]:
    whole = joins or any("order" in file for file in files)
    how = {"merges": merges, "joins": joins, "chained": chained, "whole": whole}
    return {**how, "files": list(files), "bytes": sum(file["bytes"] for file in files)}


# tasks ------------------------------------------------------------------------------------------------------------


def frame(
    spark: SparkSession,
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    work: Sequence[Mapping[str, Any]],
    *,
    kinds: str | None = None,
    narrow: Schema | None = None,
) -> DataFrame:
    """The rows of the planned work, as a frame whose tasks each take a share, largest first.

    `narrow`: the schema with the columns to read, if not all. With `kinds` also the deleted rows, and a first column of
    that name with each one's row kind (`read.KINDS`).
    """
    if gone := {file["schema_id"] for each in work for file in each["files"]} - set(schemas):
        raise Corrupt(
            "Data files were written with schema {gone}, which cannot be read.", gone=min(gone), path=store.location
        )
    for form in {file["format"] for each in work for file in each["files"]} - {*python_files.FORMATS, BLOB}:
        raise python_files.unknown_format(form, store.location)
    shown = narrow or schema
    rule = None
    if schema.primary_keys:
        rule = of_columns(read_rule(schema, schema.options), {field.name for field in shown.fields})
    units = pa.table({"work": [json.dumps(each) for each in work]})
    rows = divided(spark, units, [int(each["bytes"]) for each in work])
    ddl = ", ".join(
        f"{types.quoted(field.name)} {types.spark(parse(field.type), reads=True)}" for field in shown.fields
    )
    ddl = ddl if kinds is None else f"{types.quoted(kinds)} STRING, {ddl}"
    return rows.mapInArrow(_task(store, shown, schemas, rule, kinds), ddl)


def _task(
    store: Store, schema: Schema, schemas: Mapping[int, Schema], rule: MergeRule | None, kinds: str | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    used = {number: replace(each, options={}) for number, each in schemas.items()}
    out = arrow_files.arrow_schema(schema, micros=True)
    out = out if kinds is None else pa.schema([(kinds, pa.string()), *out])
    words = pa.array(read.KINDS)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for text in batch.column(0).to_pylist():
                work = json.loads(text)
                with forwarding_errors():
                    found = _found(store, schema, used, rule, work, kinds=kinds is not None)
                if kinds is not None:
                    found = found.set_column(0, kinds, words.take(found[KIND]))
                made = [timestamps.cast(column, to) for column, to in zip(found.columns, out.types, strict=True)]
                yield from pa.table(made, schema=out).to_batches(_BATCH_ROWS)

    return run


def _found(
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    rule: MergeRule | None,
    work: Mapping[str, Any],
    *,
    kinds: bool,
) -> pa.Table:
    if not work["joins"]:
        how = {name: work[name] for name in ("merges", "chained")}
        return section(store, schema, schemas, rule, work["files"], **how, kinds=kinds)
    files = work["files"]
    partition = binary_row.decode(base64.b64decode(files[0]["partition"]), _keys(schema))
    found = data_evolution.joined(store, schema, schemas, files, partition)
    return found.add_column(0, KIND, pa.array([0] * len(found), pa.int8())) if kinds else found


def _keys(schema: Schema) -> list[PaimonType]:
    return [parse(next(f.type for f in schema.fields if f.name == name)) for name in schema.partition_keys]


def section(
    store: Store,
    schema: Schema,
    schemas: Mapping[int, Schema],
    rule: MergeRule | None,
    files: Sequence[_File],
    *,
    merges: bool,
    kinds: bool = False,
    stored: bool = False,
    chained: bool = False,
) -> pa.Table:
    """The table's rows from files that may share keys; a single file without retractions is read unchanged.

    With `kinds` also retractions, and a first column `_VALUE_KIND`. With `stored` merged as a file holds them, see
    `merge`."""
    keys = _keys(schema)
    micros = rule is None or not _needs_nanos(schema, rule)
    parts = []
    for file in files:
        path = file["path"]
        table = arrow_files.read(
            python_files.source(store, path),
            file["format"],
            schemas[file["schema_id"]],
            schema,
            binary_row.decode(base64.b64decode(file["partition"]), keys),
            path,
            system=_SYSTEM if rule is not None else None,
            deleted=python_files.deleted_rows(store, file["vector"]),
            micros=micros,
        )
        parts.append(table.append_column(LEVEL, pa.array([file["level"]] * len(table), pa.int32())))
    if rule is not None and "order" in files[0]:
        return postponed.merge(rule, files, parts, kinds=kinds)
    whole = pa.concat_tables(parts)
    if rule is None:
        whole = whole.drop_columns([LEVEL])
        return whole.add_column(0, KIND, pa.array([0] * len(whole), pa.int8())) if kinds else whole
    if merges:
        if chained:
            refuse_ties(rule, whole)
        return merge(rule, whole, kinds=kinds, stored=stored)
    if kinds:
        return whole.select([KIND, *rule.columns])
    return whole.filter(pc.is_in(whole[KIND], _ADDS)).select(list(rule.columns))


def _needs_nanos(schema: Schema, rule: MergeRule) -> bool:
    ordering = {*rule.sequence, *(name for group in rule.groups for name in group.sequence), *rule.keys}
    wide = (parse(field.type) for field in schema.fields if field.name in ordering)
    return any(of.root in ("TIMESTAMP", "TIMESTAMP_LTZ") and (of.size or 0) > 6 for of in wide)
