"""What a statement requires of single columns, as pushed down to the table by Spark's own optimizer.

Invariants: a row that does not pass its filter cannot affect any answer of the statement, so a file with only such rows
need not be read. A column that appears nowhere in the optimized plan cannot affect any either. What is not understood
is no condition: every row passes, and every column is needed.

Method: the statement is planned over empty stand-ins for the opened views. Their column names encode the version and
the column, so that the conditions directly above them in the optimized plan can be identified. The optimizer knows
nothing about the stand-ins' content, so what it pushes down is valid for any content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from core.formats.paimon import types
from core.formats.paimon.types import PaimonType, parse
from core.model.references import Schema
from core.spark.session import connect
from core.spark.sql import guard, spark_plans, stand_ins

_COLUMN = re.compile(r"__(\d+)_(\d+)")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_COMPARISONS = {
    "EqualTo": "=", "EqualNullSafe": "=", "LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}  # fmt: skip
# The statement is planned once here and once to run: what depends on the clock may differ.
_CLOCK = re.compile(r"\.(Current(?!Row\b)\w*|Now|LocalTimestamp\w*)\$?$")
_CLOCK_TEXT = re.compile(r"\bcurrent_time\b|['\"]\s*(now|today|yesterday|tomorrow)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Check:
    """A condition on one column, by its number.

    `is_`: `=` one of the values, `<` `<=` `>` `>=` the value, `prefix` (starts with it), `null`, `not null`. Values are
    in the form of `comparable`.
    """

    column: int
    is_: str
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any_:
    parts: tuple[Condition, ...]


Condition: TypeAlias = "Check | All | Any_"
EVERYTHING, NOTHING = All(()), Any_(())


@dataclass(frozen=True, slots=True)
class Pushdown:
    """The part of a table that a statement can use: rows that meet the condition, and columns by number (None: all)."""

    condition: Condition
    columns: frozenset[int] | None = None


ALL = Pushdown(EVERYTHING)


def renumbered(condition: Condition, numbers: Mapping[int, int]) -> Condition:
    """The condition with other column numbers; conditions on columns without one are dropped."""
    match condition:
        case Check(column):
            return replace(condition, column=numbers[column]) if column in numbers else EVERYTHING
        case All(parts):
            return All(tuple(renumbered(each, numbers) for each in parts))
        case Any_(parts):
            return Any_(tuple(renumbered(each, numbers) for each in parts))


def kind(of: PaimonType) -> str:
    """How values of a type are compared: types with the same kind compare with each other; "" if not compared here.

    Not FLOAT and DOUBLE: statistics differ on NaN and the sign of zero. Not BINARY: Spark does not print its values.
    Not nanoseconds: Spark reads microseconds.
    """
    match of.root:
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" | "DECIMAL":
            return "number"
        case "CHAR" | "VARCHAR":
            return "text"
        case "TIMESTAMP" | "TIMESTAMP_LTZ" if (of.size or 0) <= 6:
            return of.root
        case "DATE" | "BOOLEAN":
            return of.root
        case _:
            return ""


def wanted(
    session: SparkSession, statement: str, known: Collection[str], tables: Sequence[tuple[Collection[str], Schema]]
) -> list[Condition]:
    """For each (view names, schema), the rows that the statement can use: see `pushdowns`."""
    return [each.condition for each in pushdowns(session, statement, known, tables)]


def pushdowns(
    session: SparkSession,
    statement: str,
    known: Collection[str],
    tables: Sequence[tuple[Collection[str], Schema]],
    ddl: Sequence[Sequence[str] | None] | None = None,
) -> list[Pushdown]:
    """For each (view names, schema), what the statement can use of it; rows `NOTHING` if it reads none.

    `ddl`: for each table its columns' Spark types, where they do not follow from the schema.

    Replaces the session's views of these names with stand-ins. Raises `Invalid` for what core/spark/sql/guard.py
    refuses.
    """
    checker = connect.checker(session)
    if checker is not session:
        own = {name for names, _ in tables for name in names}
        stand_ins.replace(checker, session, [name for name in known if name not in own])
    session = checker
    for number, (names, schema) in enumerate(tables):
        frame = _stand_in(session, number, schema, ddl[number] if ddl else None)
        for name in names:
            frame.createOrReplaceTempView(types.quoted(name))
    checked: Any = guard.check(session, statement, known).frame
    execution = checked._jdf.queryExecution()
    found: list[list[Condition]] = [[] for _ in tables]
    kinds = [[kind(parse(field.type)) for field in schema.fields] for _, schema in tables]
    try:
        if _CLOCK_TEXT.search(statement) or _reads_clock(
            spark_plans.read(session, execution.analyzed(), analyzed=True)
        ):
            return [ALL] * len(tables)
        plan = spark_plans.read(session, execution.optimizedPlan(), analyzed=False)
        _walk(plan, (), found, kinds)
        used: list[set[int] | None] = [set() for _ in tables]
        _use(plan, used, is_named=False)
    except (Py4JError, RecursionError):  # too large to analyze; if it cannot be planned, running it fails
        return [ALL] * len(tables)
    conditions = [parts[0] if len(parts) == 1 else Any_(tuple(parts)) for parts in found]
    return [
        Pushdown(condition, None if columns is None else frozenset(columns))
        for condition, columns in zip(conditions, used, strict=True)
    ]


def _stand_in(session: SparkSession, number: int, schema: Schema, own: Sequence[str] | None) -> Any:
    kinds = own or [types.spark(parse(field.type)) for field in schema.fields]
    ddl = ", ".join(f"__{number}_{at} {of}" for at, of in enumerate(kinds))
    jvm: Any = session._jvm
    rows = stand_ins.of_struct(session, jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl))
    return rows.toDF(*(field.name for field in schema.fields))


def _reads_clock(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_reads_clock, node))
    return isinstance(node, dict) and (_CLOCK.search(node["is"]) is not None or _reads_clock(node["of"]))


def _walk(
    node: Any, above: tuple[Condition, ...], found: list[list[Condition]], kinds: Sequence[Sequence[str]]
) -> None:
    """Find the stand-ins, with the conditions directly above them."""
    if isinstance(node, list):
        for each in node:
            _walk(each, (), found, kinds)
        return
    if not isinstance(node, dict):
        return
    name, parts = node["is"].rsplit(".", 1)[-1], node["of"]
    match name:
        case "Filter":
            condition, child = parts
            _walk(condition, (), found, kinds)  # conditions may contain subqueries
            _walk(child, (*above, _condition(condition, kinds)), found, kinds)
        case "Project" if all(_column(each) is not None for each in parts[0]):
            _walk(parts[1], above, found, kinds)
        case "LogicalRDD":
            if (column := next(iter(map(_column, parts[0])), None)) is not None:
                found[column[0]].append(All(above))
        case _:
            _walk(parts, (), found, kinds)


def _use(node: Any, used: list[set[int] | None], *, is_named: bool) -> None:
    """Record the stand-ins' columns that are used. `is_named`: the node above names every column it uses from here."""
    if isinstance(node, list):
        for each in node:
            _use(each, used, is_named=False)
        return
    if not isinstance(node, dict):
        return
    name, parts = node["is"].rsplit(".", 1)[-1], node["of"]
    match name:
        case "LogicalRDD":
            table = next(iter(map(_column, parts[0])), None)
            if table is not None and not is_named:
                used[table[0]] = None
        case "AttributeReference":
            column = _column(node)
            if column is not None and column[0] < len(used) and (known := used[column[0]]) is not None:
                known.add(column[1])
        case "Project" | "Aggregate" | "Filter":
            child = {"Project": 1, "Aggregate": 2, "Filter": 1}[name]
            for place, each in enumerate(parts):
                _use(each, used, is_named=place == child and (is_named or name != "Filter"))
        case _:
            _use(parts, used, is_named=False)


def _column(node: Any) -> tuple[int, int] | None:
    """(table, column) of a reference to a stand-in's column."""
    if isinstance(node, dict) and node["is"].endswith(".AttributeReference") and isinstance(node["of"][0], str):
        match_ = _COLUMN.fullmatch(node["of"][0])
        return (int(match_[1]), int(match_[2])) if match_ else None
    return None


def _condition(node: Any, kinds: Sequence[Sequence[str]]) -> Condition:
    """The condition, or a weaker one: parts that are not understood let every row pass."""
    name, parts = node["is"].rsplit(".", 1)[-1], node["of"]
    if name == "And":
        return All(tuple(_condition(each, kinds) for each in parts[:2]))
    if name == "Or":
        return Any_(tuple(_condition(each, kinds) for each in parts[:2]))
    column = _column(parts[0]) if parts else None
    if name in ("IsNull", "IsNotNull") and column is not None:
        return Check(column[1], "null" if name == "IsNull" else "not null")
    if name in _COMPARISONS:
        sign, other = _COMPARISONS[name], parts[1]
        if column is None:
            column, other, sign = _column(parts[1]), parts[0], _FLIPPED[sign]
        return _test(column, sign, [_literal(other)], kinds)
    if name == "StartsWith":
        return _test(column, "prefix", [_literal(parts[1])], kinds)
    if name == "In":
        return _test(column, "=", [_literal(each) for each in parts[1]], kinds)
    if name == "InSet" and isinstance(parts[1], list):
        return _test(column, "=", parts[1], kinds)
    return EVERYTHING


def _literal(node: Any) -> Any:
    """The value of a literal; None for null and for what is not a literal."""
    return node["of"][0] if isinstance(node, dict) and node["is"].endswith(".expressions.Literal") else None


def _test(column: tuple[int, int] | None, sign: str, raw: Sequence[Any], kinds: Sequence[Sequence[str]]) -> Condition:
    if column is None:
        return EVERYTHING
    values = [_value(each, kinds[column[0]][column[1]]) for each in raw]
    if any(value is None for value in values):  # null equals nothing, but `<=>` finds it
        return EVERYTHING
    return Check(column[1], sign, tuple(values))


def _value(raw: Any, of: str) -> Any:
    """Convert Spark's form of a value to that of `comparable`; None if it is not understood."""
    if isinstance(raw, dict):
        short, text = raw["is"].rsplit(".", 1)[-1], str(raw["of"][0])
        if short == "Decimal" and of == "number":
            return Decimal(text)
        return text.encode() if short == "UTF8String" and of == "text" else None
    if isinstance(raw, bool):
        return raw if of == "BOOLEAN" else None
    return raw if isinstance(raw, int) and of in ("number", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ") else None
