"""What a procedure asks for, and how its arguments are read. Pure; the procedures are in `registry`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Invalid
from core.model.actions import Change
from core.model.references import MAIN
from core.model.time_travel import parse_time_ms
from core.units import parse_duration_ms


@dataclass(frozen=True, slots=True)
class TagFrom:
    """A tag made from a time or a watermark, rounded up."""

    name: str
    time_ms: int | None = None
    watermark: int | None = None
    retained_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class ExpireTags:
    """Tags whose time is over, or that were made before `older_than_ms`."""

    older_than_ms: int | None = None
    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class AutoTag:
    """The tags that are due by the table's own options."""

    branch: str = MAIN


@dataclass(frozen=True, slots=True)
class BackToWatermark:
    """A destructive rollback to the last snapshot whose watermark is at or before this."""

    watermark: int
    branch: str = MAIN


Request = Change | TagFrom | ExpireTags | AutoTag | BackToWatermark
Given = Mapping[str, Any]  # arguments by Spark's names, read; what was not given is None
Told = Mapping[str, str | int | None]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    read: Callable[[str, Any], Any]
    is_needed: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Procedure:
    """`asks`: what it asks for on a branch, at `now_ms`. `tells`: the arguments of a change that is just this, else
    None."""

    name: str
    parameters: tuple[Parameter, ...]
    asks: Callable[[Given, str, int], Request]
    tells: Callable[[Change, int, Mapping[str, str]], Told | None] = lambda *_: None


# arguments -----------------------------------------------------------------------------------------------------------


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid("The argument {name} was expected to be a text, found {value!r}.", name=name, value=value)
    return value


def number(name: str, value: Any) -> int:
    """A number, or one in a text: actions give all their arguments as text."""
    if isinstance(value, bool) or not str(value).strip().lstrip("-").isdecimal():
        raise Invalid("The argument {name} was expected to be a whole number, found {value!r}.", name=name, value=value)
    return int(value)


def flag(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise Invalid("The argument {name} was expected to be true or false, found {value!r}.", name=name, value=value)
    return str(value).lower() == "true"


def silent(name: str, value: Any) -> Any:
    """Of an argument that is there for the place it takes."""
    raise Invalid("The argument {name} has no say here.", name=name, remedy="Leave it out, or give null.")


def names(name: str, value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.strip() for each in text(name, value).split(",") if each.strip()))


def parts(name: str, value: Any) -> tuple[str, ...]:
    """Partitions: `dt=2026-11-01,region=EU;dt=2026-11-02`."""
    return tuple(each.strip() for each in text(name, value).split(";") if each.strip())


def duration(name: str, value: Any) -> int:
    return parse_duration_ms(str(value))


def moment(name: str, value: Any) -> int:
    """Epoch milliseconds. Without a zone it is UTC: an engine reads it in the zone of its own JVM."""
    text = str(value).strip()
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return parse_time_ms(text)
    return parse_time_ms((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).isoformat())


def ids(name: str, value: Any) -> tuple[int, ...]:
    return tuple(number(name, each) for each in (value if isinstance(value, tuple) else (value,)))
