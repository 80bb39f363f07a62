"""How values are parsed and written: as words of a command line, and as constants in a CALL. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import Invalid, Unsupported
from core.model import time_input
from core.model.time_travel import parse_time_ms
from core.units import iso, parse_duration_ms, parse_user_duration_ms, whole


class Sql(str):
    """A constant that is already SQL."""

    __slots__ = ()


Constant = str | int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Unit:
    """How to convert a kind of value.

    `read` and `word`: from and to one word of a command line. `argument` and `constant`: from and to a CALL, given the
    argument's name; `constant` returns None for a value that no CALL can express.
    """

    read: Callable[[str], Any]
    word: Callable[[Any], str]
    argument: Callable[[str, Any], Any]
    constant: Callable[[Any], Constant | None]
    metavar: str | None = None


# arguments of a CALL -------------------------------------------------------------------------------------------------


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid("The argument {name} must be a string, not {value!r}.", name=name, value=value)
    return value


def _number(name: str, value: Any) -> int:
    """A number, also as a string, because the engines' actions pass all arguments as strings."""
    if isinstance(value, bool) or not str(value).strip().lstrip("-").isdecimal():
        raise Invalid("The argument {name} must be a whole number, not {value!r}.", name=name, value=value)
    return int(value)


def _flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise Invalid("The argument {name} must be true or false, not {value!r}.", name=name, value=value)
    return str(value).lower() == "true"


def _never(name: str, value: Any) -> None:
    if _flag(name, value):
        raise Unsupported("ignoreIfExists: an existing branch is never taken for the requested one.")


def _silent(name: str, value: Any) -> Any:
    raise Invalid("The argument {name} has no effect here.", name=name, remedy="Leave it out, or give null.")


def _names(name: str, value: Any) -> tuple[str, ...]:
    return _some(name, tuple(dict.fromkeys(each.strip() for each in _text(name, value).split(",") if each.strip())))


def _partitions(name: str, value: Any) -> tuple[str, ...]:
    """Parse `dt=2026-11-01,region=EU;dt=2026-11-02`."""
    return _some(name, tuple(each.strip() for each in _text(name, value).split(";") if each.strip()))


def _moment(name: str, value: Any) -> int:
    """Epoch milliseconds. A time without a zone is UTC; an engine reads it in the zone of its own JVM.

    Relative times are refused, because a CALL may be kept and run again.
    """
    return time_input.moment(str(value), time_input.UTC).ms


def _ids(name: str, value: Any) -> tuple[int, ...]:
    return _some(name, tuple(_number(name, each) for each in (value if isinstance(value, tuple) else (value,))))


def _some(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse an empty list: without the argument, a procedure takes everything."""
    if not values:
        raise Invalid("The argument {name} names nothing.", name=name, remedy="Name at least one, or leave it out.")
    return values


def _version(text: str) -> str:
    return text if text.isdecimal() else f"tag:{text}"


# constants of a CALL -------------------------------------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str | None:
    """Names as one constant; None if an engine would split one of them or trim it."""
    return ",".join(names) if all("," not in name and name == name.strip() for name in names) else None


def literal(value: Constant) -> str:
    """A constant as SQL."""
    match value:
        case Sql() | int():
            return str(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return f"ARRAY({', '.join(map(str, value))})"


def quoted(name: str) -> str:
    """A name as SQL."""
    return "`" + name.replace("`", "``") + "`"


def _time(time_ms: int) -> str | None:
    """A time as Paimon's procedures take it, in UTC; None for a number outside the calendar."""
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=time_ms)
    except OverflowError:
        return None
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _timestamp(time_ms: int) -> Sql | None:
    at = _time(time_ms)
    return None if at is None else Sql(f"TIMESTAMP {literal(at)}")


def _snapshot_of(point: str) -> int | None:
    return int(point) if point.isdecimal() else None


def _tag_of(point: str) -> str | None:
    return point.removeprefix("tag:") if point.startswith("tag:") else None


# words of a command line ---------------------------------------------------------------------------------------------


def _snapshot_id(text: str) -> int:
    if not text.isdecimal() or len(text) > 19:
        raise Invalid("not a valid snapshot id: {text!r}.", text=text, remedy="`snapscope snapshots TABLE` lists them.")
    return int(text)


TEXT = Unit(str, str, _text, str)
NUMBER = Unit(int, str, _number, int)
ID = Unit(_snapshot_id, str, _number, int, "ID")
IDS = Unit(_snapshot_id, str, _ids, tuple, "ID")
NAMES = Unit(str, str, _names, _listed, "NAME")
PARTITIONS = Unit(str, str, _partitions, ";".join, "KEY=VALUE[,KEY=VALUE…]")
DURATION = Unit(
    parse_user_duration_ms, whole, lambda _, value: parse_duration_ms(str(value)), "{} ms".format, "DURATION"
)
TIME = Unit(parse_time_ms, iso, _moment, _time, "TIME")
TIMESTAMP = Unit(parse_time_ms, iso, _moment, _timestamp, "TIME")  # the same in Iceberg's CALLs
SWITCH = Unit(str, str, _flag, str)
SNAPSHOT_POINT = Unit(str, str, lambda name, value: str(_number(name, value)), _snapshot_of, "VERSION")
TAG_POINT = Unit(str, str, lambda name, value: f"tag:{_text(name, value)}", _tag_of, "VERSION")
VERSION_POINT = Unit(str, str, lambda _, value: _version(str(value)), str, "VERSION")
SILENT = Unit(str, str, _silent, str)  # an argument accepted only for its position
NEVER = Unit(str, str, _never, str)
