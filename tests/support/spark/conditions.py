"""Random values and conditions for a table with all types."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import Any

COLUMNS: list[tuple[str, Any]] = [
    ("id", "BIGINT"), ("text", "STRING"), ("num", "INT"), ("ratio", "DOUBLE"), ("money", "DECIMAL(36, 4)"),
    ("day", "DATE"), ("at", "TIMESTAMP(6)"), ("seen", "TIMESTAMP_LTZ(3)"), ("ok", "BOOLEAN"), ("raw", "BYTES"),
    ("p", "STRING"),
]  # fmt: skip


LONG = "a text of more than sixteen characters"


PARTS = ["a", "b", None]


def value(choose: random.Random, name: str) -> Any:
    if choose.random() < 0.15:
        return None
    number = choose.randrange(8)
    match name:
        case "text" | "title" | "more":
            return choose.choice(["", "a", "b", LONG, LONG + "!", "größer", "\U0010ffff" * 20, chr(97 + number) * 3])
        case "num":
            return number - 4
        case "ratio":
            return choose.choice([0.0, -0.0, math.nan, number / 4, -math.inf])
        case "money":
            most = "9999999999999999999999999999999"  # 31 digits: Python's default decimal context keeps 28
            return choose.choice([Decimal(number) / 2 - 1, Decimal(f"{most}{number}.5"), Decimal(f"-{most}{number}.5")])
        case "day":
            return dt.date(1969, 12, 28) + dt.timedelta(days=number)
        case "at":
            start = choose.choice([dt.datetime(1969, 12, 31, 23, 59, 59, 999_996), dt.datetime(1, 1, 1)])
            last = dt.datetime(9999, 12, 31, 23, 59, 59, 999_999) - dt.timedelta(microseconds=number)
            return choose.choice([start + dt.timedelta(microseconds=number), last])
        case "seen":
            return dt.datetime(2026, 3, 29, 1, 30, 0, number * 1000, tzinfo=dt.UTC)
        case "ok":
            return number < 4
        case _:
            return bytes([number])


def literal(of: str, value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case float():
            return f"double('{value}')"
        case bytes():
            return f"X'{value.hex()}'"
        case dt.datetime():
            kind = "timestamp" if value.tzinfo else "timestamp_ntz"
            return f"{kind}'{value.replace(tzinfo=None)}{' UTC' if value.tzinfo else ''}'"
        case dt.date():
            return f"date'{value}'"
        case str():
            return "'" + value.replace("'", "\\'") + "'"
        case _:
            return f"{value}" if of != "ok" else str(value).lower()


def condition(choose: random.Random, names: list[str], depth: int = 2) -> str:
    if depth and choose.random() < 0.5:
        parts = [condition(choose, names, depth - 1) for _ in range(choose.choice((2, 3)))]
        joined = f" {choose.choice(('AND', 'OR'))} ".join(f"({part})" for part in parts)
        return f"NOT ({joined})" if choose.random() < 0.15 else joined
    name = choose.choice(names)

    def one() -> str:
        if name == "id":
            return str(choose.randrange(-2, 60))
        found = choose.choice(PARTS) if name == "p" else value(choose, name)
        return literal(name, found)

    match choose.randrange(9):
        case 0:
            return f"{name} IS {choose.choice(('', 'NOT '))}NULL"
        case 1:
            return f"{name} IN ({', '.join(one() for _ in range(choose.choice((1, 3, 14))))})"
        case 2:
            return f"{name} <=> {one()}"
        case 3 if name in ("text", "title", "more", "p"):
            return f"{name} LIKE '{choose.choice(('a', LONG[:17], LONG, 'grö', ''))}%'"
        case 4:
            return f"{name} BETWEEN {one()} AND {one()}"
        case 5 if name == "ok":
            return name
        case 6:
            return f"{one()} {choose.choice(('<', '<=', '>', '>=', '=', '<>'))} {name}"
        case _:
            return f"{name} {choose.choice(('<', '<=', '>', '>=', '='))} {one()}"
