"""Values of a column whose type was changed, as Paimon casts them when it reads the files of before. Pure.

Invariant: the answer of Paimon 2.0 for every value, in the zone UTC. A value that it rejects raises an error here; one
that it makes null is null. (A time before 1970 as a DATE is the day it is on; 2.0.0 answers the next one, later builds
do not.) Each distinct value is cast once.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from core import decimals
from core.errors import Unsupported
from core.formats.paimon import types
from core.formats.paimon.types import PaimonType, text

_Cast: TypeAlias = Callable[[Any], Any]
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_WHOLE = re.compile(r"[+-]?\d*(\.\d*)?", re.ASCII)
_REAL = re.compile(r"([+-]?)(?:(NaN|Infinity)|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?)", re.ASCII)
_HEX = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fFdD]?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?", re.ASCII)
_NUMBER = re.compile(r"-?\d+", re.ASCII)
_TIME = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?", re.ASCII)
_EPOCH = dt.date(1970, 1, 1)
_DAY_NS = 86_400 * 10**9
_FARTHEST_NS = 2**63 * 1000  # in microseconds, the finest unit that reaches


def cast(column: Any, have: PaimonType, wanted: PaimonType) -> pa.Array:
    """An array of the old type as one of the new. `Unsupported` naming a value that Paimon does not cast."""
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    one = _cast(have, wanted)
    coded = flat.dictionary_encode()
    with np.errstate(over="ignore"):  # of floats to infinity
        made = [None if value is None else _made(one, value, have, wanted) for value in _plain(coded.dictionary)]
    return _stored(made, wanted).take(coded.indices)


def _made(one: _Cast, value: Any, have: PaimonType, wanted: PaimonType) -> Any:
    try:
        found = one(value)
        if wanted.root in ("TIMESTAMP", "TIMESTAMP_LTZ") and abs(found) > _FARTHEST_NS:
            raise OverflowError(found)
        return found
    except (ValueError, ArithmeticError) as error:
        raise Unsupported(
            "The column was changed from {have} to {wanted}, and Paimon does not cast the value {value!r} of an older "
            "file.",
            have=text(have),
            wanted=text(wanted),
            value=f"{value}"[:80],
            remedy="Read a version before the change, or leave the column out.",
        ) from error


def _plain(values: pa.Array) -> list[Any]:
    """Times as nanoseconds and dates as days since 1970, however far away; all else as Python has it."""
    if pa.types.is_timestamp(values.type):
        unit = _UNITS[values.type.unit]
        return [None if each is None else each * unit for each in values.cast(pa.int64()).to_pylist()]
    return list((values.cast(pa.int32()) if pa.types.is_date(values.type) else values).to_pylist())


def _stored(values: list[Any], of: PaimonType) -> pa.Array:
    to = types.arrow(of)
    if pa.types.is_timestamp(to):
        if to.unit == "ns" and any(each is not None and not -(2**63) <= each < 2**63 for each in values):
            to = pa.timestamp("us", to.tz)
        unit = _UNITS[to.unit]
        return pa.array([None if each is None else each // unit for each in values], pa.int64()).cast(to)
    return pa.array(values, pa.int32()).cast(to) if pa.types.is_date(to) else pa.array(values, to)


def _cast(have: PaimonType, wanted: PaimonType) -> _Cast:
    to, size = wanted.root, wanted.size or 0
    match have.root:
        case "CHAR" | "VARCHAR":
            return _of_text(wanted)
        case "BINARY" | "VARBINARY":
            return (lambda v: _sized(v, wanted)) if to in ("BINARY", "VARBINARY") else bytes.decode
        case "DATE":
            return _day_text if to in ("CHAR", "VARCHAR") else lambda v: v * _DAY_NS
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return _of_time(have.size or 0, wanted)
        case _:
            pass
    match to:
        case "CHAR" | "VARCHAR":
            shown = _shown(have)
            return lambda v: _fitted(shown(v), wanted)
        case "BOOLEAN":
            return lambda v: v != 0
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return lambda v: v * 10**9
        case "DECIMAL":
            if have.root in ("FLOAT", "DOUBLE"):
                return lambda v: decimals.rounded(Decimal(repr(_finite(v))), wanted.scale or 0, size)
            return lambda v: decimals.rounded(Decimal(v), wanted.scale or 0, size)
        case "FLOAT":
            return (lambda v: np.float32(np.int64(v))) if have.root in _BITS else lambda v: np.float32(float(v))
        case "DOUBLE":
            return float
        case _:
            if have.root in ("FLOAT", "DOUBLE"):
                return lambda v: _wrapped(_saturated(v, max(_BITS[to], 32)), _BITS[to])
            return lambda v: _wrapped(_wrapped(int(v), 64), _BITS[to])


# from texts -------------------------------------------------------------------------------------------------------


def _of_text(wanted: PaimonType) -> _Cast:
    to = wanted.root
    match to:
        case "CHAR" | "VARCHAR":
            return lambda v: _fitted(v, wanted)
        case "BINARY" | "VARBINARY":
            return lambda v: _sized(v.encode(), wanted)
        case "BOOLEAN":
            return _truth
        case "DECIMAL":
            return lambda v: decimals.rounded(_matched(_DECIMAL, v, Decimal), wanted.scale or 0, wanted.size or 0)
        case "FLOAT":
            return lambda v: _narrow(v.strip(_BLANKS))
        case "DOUBLE":
            return lambda v: _real(v.strip(_BLANKS))
        case "DATE":
            return _day
        case "TIMESTAMP":
            return lambda v: _moment(v, wanted.size or 0, by_number=True)
        case "TIMESTAMP_LTZ":
            return lambda v: _moment(v, wanted.size or 0, by_number=False)
        case _:
            return lambda v: _whole(v, _BITS[to])


_BLANKS = "".join(map(chr, range(33)))  # what Java trims


def _matched(pattern: re.Pattern[str], value: str, then: _Cast) -> Any:
    if not pattern.fullmatch(value):
        raise ValueError(value)
    return then(value)


def _whole(value: str, bits: int) -> int:
    if value in ("", "+", "-") or not _WHOLE.fullmatch(value):
        raise ValueError(value)
    sign, digits = (value[0], value[1:]) if value[0] in "+-" else ("", value)
    number = int(sign + (digits.partition(".")[0] or "0"))
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise ValueError(value)
    return number


def _truth(value: str) -> bool:
    if (low := value.lower()) not in _TRUE + _FALSE:
        raise ValueError(value)
    return low in _TRUE


def _real(value: str) -> float:
    if _HEX.fullmatch(value):
        return float.fromhex(value.rstrip("fFdD") if not value[-1].isdigit() else value)
    found = _REAL.fullmatch(value)
    if found is None:
        raise ValueError(value)
    sign, word, number = found.groups()
    return float(sign + {"NaN": "nan", "Infinity": "inf", None: number}[word])


def _narrow(value: str) -> Any:
    """The nearest float, not by way of the nearest double."""
    wide = _real(value)
    near = np.float32(wide)
    if not math.isfinite(wide) or wide == 0 or float(near) == wide or _HEX.fullmatch(value):
        return near
    found = _REAL.fullmatch(value)
    assert found is not None  # `_real` has read it
    exact = Fraction(found[1] + found[3])
    around = {np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)} | {near}
    if not all(np.isfinite(each) for each in around):
        return near
    return min(around, key=lambda each: (abs(Fraction(float(each)) - exact), each.view(np.uint32) & 1))


def _day(value: str) -> int:
    if _NUMBER.fullmatch(value):
        return _whole(value, 32)
    date = value[: value.index(" ")] if value.find(" ") > 0 else value
    parts = [each.strip(_BLANKS) for each in date.split("-", 2)]
    if not all(each.isascii() and each.isdigit() for each in parts):
        raise ValueError(value)
    year, month, day = (*map(int, parts), 1, 1)[:3]
    return (dt.date(year, month, day) - _EPOCH).days


def _moment(value: str, digits: int, *, by_number: bool) -> int:
    if by_number and _NUMBER.fullmatch(value):
        if digits not in (0, 3, 6, 9):
            raise ValueError(value)
        return int(_whole(value, 64) * 10 ** (9 - digits))
    found = _TIME.fullmatch(value)
    if found is None:
        raise ValueError(value)
    year, month, day, *clock = (int(each or 0) for each in found.groups()[:6])
    last = 31 if month in (1, 3, 5, 7, 8, 10, 12) else 30 if month != 2 else 29 if _is_leap(year) else 28
    if day > 31:
        raise ValueError(value)
    hours, minutes, seconds = clock
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(value)
    days = (dt.date(year, month, min(day, last)) - _EPOCH).days
    nanos = int((found[7] or "").ljust(9, "0")[:digits].ljust(9, "0"))
    return (days * 86_400 + hours * 3_600 + minutes * 60 + seconds) * 10**9 + nanos


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# from times -------------------------------------------------------------------------------------------------------


def _of_time(digits: int, wanted: PaimonType) -> _Cast:
    match wanted.root:
        case "CHAR" | "VARCHAR":
            return lambda v: _time_text(v, digits)
        case "DATE":
            return lambda v: v // _DAY_NS
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return lambda v: _cut(v, wanted.size or 0) if (wanted.size or 0) < digits else v
        case to:
            return lambda v: _wrapped(_towards_zero(v // 10**6, 1000), _BITS[to])


def _cut(nanos: int, digits: int) -> int:
    """Round to fewer digits: whole milliseconds towards 1970, as Paimon does, the rest down."""
    if digits <= 3:
        unit = int(10 ** (3 - digits))
        return _towards_zero(nanos // 10**6, unit) * unit * 10**6
    unit = int(10 ** (9 - digits))
    return nanos // unit * unit


def _towards_zero(number: int, unit: int) -> int:
    return abs(number) // unit * (1 if number >= 0 else -1)


def _time_text(nanos: int, digits: int) -> str:
    days, rest = divmod(nanos, _DAY_NS)
    seconds, fraction = divmod(rest, 10**9)
    kept = f"{fraction:09}"
    while len(kept) > digits and kept.endswith("0"):
        kept = kept[:-1]
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{_day_text(days)} {clock}{'.' if kept else ''}{kept}"


def _day_text(days: int) -> str:
    return (_EPOCH + dt.timedelta(days=days)).isoformat()


# from and to numbers ----------------------------------------------------------------------------------------------


def _shown(of: PaimonType) -> _Cast:
    match of.root:
        case "BOOLEAN":
            return lambda v: "true" if v else "false"
        case "FLOAT":
            return lambda v: _java(v, np.float32)
        case "DOUBLE":
            return lambda v: _java(v, np.float64)
        case "DECIMAL":
            return lambda v: f"{v:f}"
        case _:
            return str


def _java(value: float, of: Any) -> str:
    """As Java prints a number: 1.0E7 and beyond, and below 0.001, with an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return str(np.format_float_positional(of(value), unique=True, trim="0"))
    shown = np.format_float_scientific(of(value), unique=True, trim="0", exp_digits=1)
    return str(shown).replace("e+", "E").replace("e", "E")


def _fitted(value: str, of: PaimonType) -> str:
    size = of.size or 0
    return value[:size].ljust(size) if of.root == "CHAR" else value[:size]


def _sized(value: bytes, of: PaimonType) -> bytes:
    size = of.size or 0
    return value[:size].ljust(size, b"\0") if of.root == "BINARY" else value[:size]


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(value)
    return value


def _saturated(value: float, bits: int) -> int:
    if math.isnan(value):
        return 0
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return least if value <= least else most if value >= most else int(value)


def _wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (half + half) - half
