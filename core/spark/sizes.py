"""How large a function call is told to make its answer, as far as the numbers in the text give it away.

Law: pure; a column counts as one, so this bounds what a statement can say, not what data makes of it. What remains is
bounded by the JVM's memory, and a query that exceeds it fails alone.

Calls come as nodes of core/spark/plans.py.
"""

from __future__ import annotations

import math
import re
from typing import Any

from core.spark.allowed import SIZED
from core.spark.plans import is_a

LARGEST_ANSWER = 10_000  # characters or elements one call may be told to make
LONGEST_SEQUENCE = 1_000_000  # elements of a sequence: a year of minutes passes
_DAY_US = 86_400e6
_MONTH_DAYS = 28


def told(name: str, arguments: list[Any]) -> tuple[float, int]:
    """(characters or elements the call is told to make, how many are allowed); 1 for a function that makes no more."""
    if name == "sequence":
        return _steps(arguments), LONGEST_SEQUENCE
    position = SIZED.get(name)
    if position is None or position >= len(arguments):
        return 1.0, LARGEST_ANSWER
    return _magnitude(arguments[position]), LARGEST_ANSWER


def plain_format(arguments: list[Any]) -> bool:
    """Whether the first argument is a literal pattern, as for printf, without a width or precision of five digits."""
    value = arguments[0]["of"][0] if arguments and is_a(arguments[0], "expressions.Literal") else None
    return isinstance(value, dict) and not re.search(r"%[^a-zA-Z%]*\d{5,}", str(value["of"][0]))


def _steps(arguments: list[Any]) -> float:
    """Elements of `sequence(first, last[, step])`: counted where all are literals, else bounded by their numbers."""
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
    """The number a literal stands for, with its sign. Dates are days, times and day-time intervals microseconds."""
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
    """The product of all numbers in an expression: no sum or product of them is larger, and no one needs more."""
    if isinstance(node, list):
        return math.prod(_magnitude(item) for item in node)
    if not isinstance(node, dict):
        return 1.0
    if is_a(node, "expressions.Literal"):
        value = None if _type(node).startswith(("Date", "Timestamp", "DayTime", "YearMonth")) else _literal(node)
        return 1.0 if value is None else max(1.0, abs(value))
    return _magnitude(node["of"])
