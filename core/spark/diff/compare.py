"""Compare two versions lazily: which columns correspond, and which rows differ.

The invariants are in core/spark/diff/rows.py, which runs the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from core.errors import SnapscopeError, Unsupported
from core.formats.paimon import schema_evolution, types
from core.formats.paimon.types import PaimonType, parse
from core.messages import clause, message
from core.model import lineage
from core.model.references import Field, Schema
from core.model.row_diff import ADDED, CHANGED, REMOVED, RowChange
from core.spark.diff.shared_files import alike, paths_of, rows_of
from core.spark.merge.rules import read_rule
from core.spark.read.paimon import frames as read
from core.spark.read.paimon import merge_on_read, points
from core.spark.read.paimon.points import PaimonScan
from core.spark.read.paimon.shown_columns import stored_id

IN_A_QUERY = message("Read both versions in one query instead: --at and --before.")
SAME = "same"  # in addition to the kinds of rows that differ


# columns ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column of the comparison: its name, its field at each version, and their common type."""

    name: str
    before: Field | None
    after: Field | None
    type: PaimonType
    is_key: bool = False

    def of(self, field_: Field | None) -> Expression:
        if field_ is None:
            return F.lit(None).cast(types.spark(self.type))
        return read.converted(F.col(types.quoted(field_.name)), parse(field_.type), self.type)


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """The columns of two versions: those that are compared, and by id and name those that are not, with the reason."""

    compared: tuple[ComparedColumn, ...]
    left_out: Mapping[int, tuple[str, SnapscopeError]]

    @property
    def notes(self) -> list[str]:
        return [
            message(
                "Column '{name}' is not compared, so rows that differ only in it count as equal: {why}",
                name=name,
                why=clause(why.message),
            )
            for name, why in self.left_out.values()
        ]


def columns_of(a: Schema, b: Schema, refused: Mapping[int, SnapscopeError]) -> ComparedColumns:
    """The columns of `b` in order, then those that only `a` has; without those that do not compare at one of them.

    `refused`: by id those that are known not to. Raises `Unsupported` if one of them is of the key.
    """
    old, new = ({stored_id(each): each for each in schema.fields} for schema in (a, b))
    keys = set(key_ids(b)) if key_ids(a) == key_ids(b) else set()
    found: list[ComparedColumn] = []
    left_out: dict[int, tuple[str, SnapscopeError]] = {}
    names = {each.name for each in b.fields}
    for id in (*new, *(id for id in old if id not in new)):
        before, after = old.get(id), new.get(id)
        newest = after or old[id]
        name = f"{newest.name} (dropped)" if after is None and newest.name in names else newest.name
        try:
            if id in refused:
                raise refused[id]
            found.append(ComparedColumn(name, before, after, _common(before, newest), id in keys))
        except SnapscopeError as error:
            if id in keys:
                raise _of_key(name, error) from error
            left_out[id] = name, error
    return ComparedColumns(tuple(found), left_out)


def _of_key(name: str, error: SnapscopeError) -> SnapscopeError:
    return Unsupported(
        "Rows are compared by their key, and its column '{name}' cannot be compared: {why}.",
        name=name,
        why=clause(error.message),
        remedy=IN_A_QUERY,
    )


def columns_between(a: PaimonScan, b: PaimonScan) -> ComparedColumns:
    """As `columns_of`, for two opened versions."""
    ours = _numbered(a, b)
    sides = [(a, ours), (b, b.schema)]
    refused = {
        stored_id(field): point.refused[field.name]
        for point, schema in sides
        for field in schema.fields
        if field.name in point.refused
    }
    for point, schema in (*sides, *((each.other, each.other.schema) for each in (a, b) if each.other is not None)):
        if any(each["merges"] for each in point.plan.work):
            functions = read_rule(point.schema, point.schema.options).functions
            refused |= {
                stored_id(field): why
                for field in schema.fields
                if field.name in functions and (why := functions[field.name].refusal) is not None
                if stored_id(field) not in refused
            }
    return columns_of(ours, b.schema, refused)


def _numbered(a: PaimonScan, b: PaimonScan) -> Schema:
    """The schema of `a` as `lineage.apart` numbers it, with its own columns in place of the texts of `readable`."""
    fields = tuple(replace(each, id=stored_id(each)) for each in a.schema.fields)
    return lineage.apart(replace(a.schema, fields=fields), a.schemas, b.schemas)


def key_ids(schema: Schema) -> list[int]:
    ids = {each.name: each.id for each in schema.fields}
    return sorted(ids[name] for name in schema.primary_keys)


def _common(before: Field | None, after: Field) -> PaimonType:
    """The wider of two types; when comparing back to an older version, that is the first one.

    Raises `Unsupported` for types that cannot be compared.
    """
    have, wanted = parse((before or after).type), parse(after.type)
    for each in (have, wanted):
        types.spark(each)  # refuses by the type's name
    try:
        schema_evolution.check(after.name, have, wanted)
        return wanted
    except Unsupported:
        if not schema_evolution.widens(wanted, have):
            raise
        return have


def canonical(value: Expression, of: PaimonType) -> Expression:
    """The value in a form that Spark can compare and group by: maps, also nested ones, as sorted entries."""
    if not _has_map(of):
        return value
    if of.root == "ARRAY":
        return F.transform(value, lambda each: canonical(each, of.args[0]))
    if of.root == "ROW":
        inside = [canonical(value.getField(each.name), each.type).alias(f"f{n}") for n, each in enumerate(of.fields)]
        return F.when(value.isNotNull(), F.struct(*inside))
    own = [*of.args, PaimonType("INT")][:2]

    def entry(each: Expression) -> Expression:
        return F.struct(
            *(canonical(each[name], to).alias(name) for name, to in zip(("key", "value"), own, strict=True))
        )

    return F.array_sort(F.transform(F.map_entries(value), entry))


def _has_map(of: PaimonType) -> bool:
    return of.root in ("MAP", "MULTISET") or any(map(_has_map, (*of.args, *(each.type for each in of.fields))))


# rows -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """Two versions side by side, lazily. `frame` has one row per key, or per distinct row:

    kind; times (the number of such rows); same (rows at both versions); doubled (a version has the key twice); k0, k1 …
    (the key); a, b (structs of the other columns c0, c1 …, null where the version has no such row and where nothing
    differs); which (numbers of the columns that changed). `not_read`: the number of rows in files that were not read,
    None where metadata does not determine it.
    """

    frame: DataFrame
    columns: tuple[ComparedColumn, ...]
    left_out: Mapping[int, tuple[str, SnapscopeError]]
    files_read: int
    files_live: int
    not_read: int | None
    notes: tuple[str, ...]

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The names of columns in which a difference does not count."""
        dropped = (each.name for each in self.columns if each.after is None)
        return (*(name for name, _ in self.left_out.values()), *dropped)

    def in_order(self, frame: DataFrame) -> DataFrame:
        """Order by key, or by the rows themselves."""
        if keys := [f"k{number}" for number, column in enumerate(self.columns) if column.is_key]:
            return frame.orderBy(*keys)
        row = F.coalesce("b", "a")
        return frame.orderBy(*(canonical(row[f"c{n}"], each.type) for n, each in enumerate(self.columns)), "kind")

    def changes(self, rows: pa.Table) -> Iterable[RowChange]:
        """Convert rows of the frame to `RowChange` values."""
        names = {f"c{number}": column for number, column in enumerate(self.columns) if not column.is_key}
        for row in rows.to_pylist():
            key = {column.name: row[f"k{n}"] for n, column in enumerate(self.columns) if column.is_key}
            before, after = (
                {column.name: row[side][c] for c, column in names.items() if _is_of(column, side)} if row[side] else {}
                for side in "ab"
            )
            same: Mapping[str, object] = {}
            if row["kind"] == CHANGED:
                changed = [self.columns[number].name for number in row["which"]]
                same = {name: value for name, value in after.items() if name not in changed}
                before, after = ({name: side.get(name) for name in changed} for side in (before, after))
            yield RowChange(row["kind"], key, before, after, row["times"], same)


def _is_of(column: ComparedColumn, side: str) -> bool:
    return (column.before if side == "a" else column.after) is not None


def compare(
    spark: SparkSession,
    a: PaimonScan,
    b: PaimonScan,
    *,
    plans: tuple[merge_on_read.ReadPlan, merge_on_read.ReadPlan] | None = None,
) -> Compared:
    """The rows of two opened versions side by side, without files that both have unchanged.

    `plans` with fewer files may replace the versions' own if they contain all requested rows of both.
    """
    columns = columns_between(a, b)
    same = alike(a, b, {each.after.id for each in columns.compared if each.after is not None})
    frames = []
    read_paths: set[str] = set()
    for point, schema, plan in zip((a, b), (_numbered(a, b), b.schema), plans or (a.plan, b.plan), strict=True):
        plan = merge_on_read.only(plan, paths_of(plan) - same)
        read_paths |= paths_of(plan)
        frames.append(points.rows(spark, point, plan, columns=_read(columns, schema)).frame)
    notes: list[str] = [message("Left out: {each}", each=each) for point in (a, b) for each in point.plan.left_out]
    notes += dict.fromkeys(each for point in (a, b) for each in point.differs)
    live = {*a.files["path"].to_pylist(), *b.files["path"].to_pylist()}
    return side_by_side(columns, frames, (len(read_paths), len(live)), rows_of(b, same), notes)


def _read(columns: ComparedColumns, schema: Schema) -> list[int]:
    """The numbers of the columns to read."""
    return [number for number, each in enumerate(schema.fields) if stored_id(each) not in columns.left_out]


def side_by_side(
    between: ComparedColumns,
    frames: Sequence[DataFrame],
    files: tuple[int, int],
    not_read: int | None,
    notes: Sequence[str],
) -> Compared:
    """Compare the rows of two versions. `files`: the number of files read, and of all files."""
    columns = between.compared
    sides = []
    for number, rows in enumerate(frames):
        values = (
            each.of(each.after if number else each.before).alias(f"{'k' if each.is_key else 'c'}{at}")
            for at, each in enumerate(columns)
        )
        sides.append(rows.select(F.lit(number).alias("side"), *values))
    both = sides[0].unionAll(sides[1])
    frame = _by_key(both, columns) if any(each.is_key for each in columns) else _by_row(both, columns)
    more = between.notes
    if dropped := [each.name for each in columns if each.after is None]:
        more.append(
            message("Not compared, because only the first version has them: {dropped}", dropped=", ".join(dropped))
        )
    if not_read is None:
        more.append(
            message("Unchanged rows are not counted: rows of files that were not read are known only after merging")
        )
    return Compared(
        frame=frame,
        columns=columns,
        left_out=between.left_out,
        files_read=files[0],
        files_live=files[1],
        not_read=not_read,
        notes=tuple(dict.fromkeys((*notes, *more))),
    )


def _by_key(both: DataFrame, columns: tuple[ComparedColumn, ...]) -> DataFrame:
    keys = [f"k{number}" for number, each in enumerate(columns) if each.is_key]
    others = {number: each for number, each in enumerate(columns) if not each.is_key}
    row = _row(others)
    grouped = both.groupBy(*keys).agg(
        *(F.count_if(F.col("side") == side).alias(f"n{side}") for side in (0, 1)),
        *(F.first(F.when(F.col("side") == side, row), ignorenulls=True).alias(name) for side, name in enumerate("ab")),
    )
    differs = [
        F.when(
            ~canonical(F.col("a")[f"c{number}"], each.type).eqNullSafe(canonical(F.col("b")[f"c{number}"], each.type)),
            F.lit(number),
        )
        for number, each in others.items()
        if each.after is not None
    ]
    which = F.array_compact(F.array(*differs)) if differs else F.array().cast("array<int>")
    judged = grouped.withColumn("which", which).withColumn(
        "kind",
        F.when(F.col("n0") == 0, ADDED)
        .when(F.col("n1") == 0, REMOVED)
        .when(F.size("which") > 0, CHANGED)
        .otherwise(SAME),
    )
    return _shown(judged, keys, F.lit(1), (F.col("kind") == SAME).cast("long"), (F.col("n0") > 1) | (F.col("n1") > 1))


def _by_row(both: DataFrame, columns: tuple[ComparedColumn, ...]) -> DataFrame:
    row = _row(range(len(columns)))
    compared = {number: each for number, each in enumerate(columns) if each.after is not None}
    by = [canonical(F.col(f"c{number}"), each.type).alias(f"g{number}") for number, each in compared.items()]
    grouped = both.groupBy(*by).agg(
        *(F.count_if(F.col("side") == side).alias(f"n{side}") for side in (0, 1)),
        *(F.first(F.when(F.col("side") == side, row), ignorenulls=True).alias(name) for side, name in enumerate("ab")),
    )
    more = F.col("n1") - F.col("n0")
    judged = grouped.withColumn("which", F.array().cast("array<int>")).withColumn(
        "kind", F.when(more > 0, ADDED).when(more < 0, REMOVED).otherwise(SAME)
    )
    return _shown(judged, [], F.abs(more), F.least("n0", "n1"), F.lit(False))


def _row(numbers: Iterable[int]) -> Expression:
    """The columns with these numbers; never empty, because Arrow has no struct without fields."""
    names = [f"c{number}" for number in numbers]
    return F.struct(*names) if names else F.struct(F.lit(None).cast("boolean").alias("none"))


def _shown(judged: DataFrame, keys: list[str], times: Expression, same: Expression, doubled: Expression) -> DataFrame:
    """Drop what is not shown: equal rows are only counted, an added row needs only `b`, a removed one only `a`."""
    sides = (
        F.when(F.col("kind").isin(*kinds), F.col(name)).alias(name)
        for name, kinds in (("a", (REMOVED, CHANGED)), ("b", (ADDED, CHANGED)))
    )
    return judged.select(
        "kind", times.alias("times"), same.alias("same"), doubled.alias("doubled"), *keys, *sides, "which"
    )
