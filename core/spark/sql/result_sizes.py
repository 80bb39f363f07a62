"""Estimate from a statement's text how large function results and generated rows can get. Pure.

Invariant: a column counts as one, and so do all rows of an opened table. So this limits what the text of a statement
can request, not what data makes of it; the rest is limited by the query's time limit and the JVM's memory.

Calls are nodes of core/spark/sql/spark_plans.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from core.spark.sql.allowed import SIZED
from core.spark.sql.spark_plans import is_a

LARGEST_ANSWER = 10_000  # characters or elements that one call may produce
LONGEST_SEQUENCE = 1_000_000  # elements of a sequence; enough for a year of minutes
MOST_ROWS = 1_000_000_000  # rows that ranges, sequences and lists may generate in combination
_EQUALS = ("expressions.EqualTo", "expressions.EqualNullSafe")
_DAY_US = 86_400e6
_MONTH_DAYS = 28


def requested_size(name: str, arguments: list[Any]) -> tuple[float, int]:
    """(characters or elements that the call requests, the allowed number); 1 for a function without a size argument."""
    if name == "sequence":
        return _steps(arguments), LONGEST_SEQUENCE
    position = SIZED.get(name)
    if position is None or position >= len(arguments):
        return 1.0, LARGEST_ANSWER
    return _magnitude(arguments[position]), LARGEST_ANSWER


def plain_format(arguments: list[Any]) -> bool:
    """Whether the first argument is a literal printf pattern without a width or precision of five or more digits."""
    value = arguments[0]["of"][0] if arguments and is_a(arguments[0], "expressions.Literal") else None
    return isinstance(value, dict) and not re.search(r"%[^a-zA-Z%]*\d{5,}", str(value["of"][0]))


def check_rows(node: Any) -> None:
    """Raise TooManyRows for an analyzed plan that generates more rows than anybody reads."""
    _bounded(rows(node))


def rows(node: Any, named: dict[str, float] | None = None, keys: int = 0) -> float:
    """The maximum number of rows in any part of an analyzed plan, with all rows of an opened table counted as one.

    A join by a key yields as many rows as its larger side. `named`: the sizes of the enclosing WITH names. `keys`: how
    many joins directly below are by a key that a filter above states.
    """
    named = {} if named is None else named
    if isinstance(node, list):
        return max((rows(each, named) for each in node), default=1.0)
    if not isinstance(node, dict):
        return 1.0
    parts = node["of"]
    match node["is"].rpartition("catalyst.plans.logical.")[2]:
        case "View":
            return 1.0
        case "Range":
            return max(0.0, float(math.ceil((parts[1] - parts[0]) / parts[2])))
        case "LocalRelation":
            return float(len(parts[1]))
        case "Generate":
            return rows(parts[5], named) * _elements(parts[0])
        case "Filter":
            return max(rows(parts[0], named), rows(parts[1], named, keys + _keys(parts[0])))
        case "Join":
            own = keys + _keys(parts[3])
            left, right = rows(parts[0], named, max(0, own - 1)), rows(parts[1], named)
            return max(left, right) if own else _product(left, right)
        case "LateralJoin":
            return _product(rows(parts[0], named), rows(parts[1], named))
        case "Union":
            return sum(rows(each, named) for each in parts[0])
        case "Expand":
            return rows(parts[2], named) * len(parts[0])
        case "Aggregate" if not parts[0]:
            return min(1.0, _bounded(rows(parts[2], named)))
        case "GlobalLimit" | "LocalLimit":
            most = _literal(parts[0])
            return min(_bounded(rows(parts[1], named)), math.inf if most is None else most)
        case "WithCTE":
            for each in parts[1]:
                named[str(each["of"][1])] = rows(each["of"][0], named)
            return rows(parts[0], named)
        case "CTERelationRef":
            return named.get(str(parts[0]), 1.0)
        case _:
            return max((rows(each, named) for each in parts), default=1.0)


class TooManyRows(Exception):
    """The number of rows is its argument."""


def _bounded(made: float) -> float:
    """Check rows before a limit or aggregate reduces them: they are generated first."""
    if made > MOST_ROWS:
        raise TooManyRows(made)
    return made


def _product(left: float, right: float) -> float:
    """The product; an empty side counts as one row."""
    return max(1.0, left) * max(1.0, right)


def _keys(condition: Any) -> int:
    """The number of conjuncts that test columns for equality with columns."""
    if is_a(condition, "expressions.And"):
        return sum(map(_keys, condition["of"]))
    sides = condition["of"] if any(is_a(condition, each) for each in _EQUALS) else []
    return int(len(sides) == 2 and all(any(_parts_of(side, "AttributeReference")) for side in sides))


def _elements(node: Any) -> float:
    """The maximum number of rows that a generator makes of one, as far as the text shows."""
    made = 1.0
    for sequence in _parts_of(node, "Sequence"):
        made *= max(1.0, _steps([_uncast(each) for each in sequence["of"][:3] if each is not None]))
    for repeated in _parts_of(node, "ArrayRepeat"):
        made *= _magnitude(repeated["of"][1])
    return made * max([1, *(len(each["of"][0]) for each in _parts_of(node, "CreateArray"))])


def _parts_of(node: Any, name: str) -> Iterator[Any]:
    """Every expression of that name in an expression, including itself."""
    if isinstance(node, list):
        for each in node:
            yield from _parts_of(each, name)
    elif isinstance(node, dict):
        if is_a(node, f"expressions.{name}"):
            yield node
        yield from _parts_of(node["of"], name)


def _uncast(node: Any) -> Any:
    return _uncast(node["of"][0]) if is_a(node, "expressions.Cast") else node


def _steps(arguments: list[Any]) -> float:
    """Elements of `sequence(first, last[, step])`: counted if all are literals, else bounded by their numbers."""
    values = [_literal(argument) for argument in arguments]
    if len(values) < 2 or values[0] is None or values[1] is None:
        return max((_magnitude(argument) for argument in arguments[:2]), default=1.0)
    span, step = abs(values[1] - values[0]), 1.0
    kinds = [_type(argument) for argument in arguments]
    if kinds[0].startswith("Date"):
        span *= _DAY_US
    if kinds[0].startswith(("Date", "Timestamp")):
        step = _DAY_US
    if len(values) > 2:
        step = abs(values[2] or 0) or 1.0
        if kinds[2].startswith("YearMonth"):
            step *= _MONTH_DAYS * _DAY_US
    return span / step + 1


def _literal(node: Any) -> float | None:
    """The signed number of a literal. Dates are in days, times and day-time intervals in microseconds."""
    if is_a(node, "expressions.UnaryMinus"):
        value = _literal(node["of"][0])
        return None if value is None else -value
    if not is_a(node, "expressions.Literal"):
        return None
    value = node["of"][0]
    if isinstance(value, dict):
        value = value["of"][0]
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def _type(node: Any) -> str:
    return str(node["of"][1]["is"]).rsplit(".", 1)[-1] if is_a(node, "expressions.Literal") else ""


def _magnitude(node: Any) -> float:
    """The product of all numbers in an expression: an upper bound of any sum or product of them."""
    if isinstance(node, list):
        return math.prod(_magnitude(item) for item in node)
    if not isinstance(node, dict):
        return 1.0
    if is_a(node, "expressions.Literal"):
        value = None if _type(node).startswith(("Date", "Timestamp", "DayTime", "YearMonth")) else _literal(node)
        return 1.0 if value is None else max(1.0, abs(value))
    return _magnitude(node["of"])
