"""What is said of an action once: its command, how each field is given to it, and the engines' CALLs. Pure.

Law: the flags of the command line, the command that is shown, and CALLs that are read or shown come from this alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from core.model.actions import Change
from core.model.references import MAIN
from core.procedures.requests import Request
from core.procedures.units import SWITCH, TEXT, Constant, Unit

Given = Mapping[str, Any]  # ARGS of a CALL by their names, read; what was not given is None
Said = Mapping[str, Constant]
Gather = Callable[[Iterable[Any]], tuple[Any, ...]]


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


@dataclass(frozen=True, slots=True)
class Argument:
    """A field of an action: an option of its command, or words by position; an argument of CALLs (`call`, `also`).

    What the action has no such field for is heeded by the command itself.
    """

    name: str
    unit: Unit = TEXT
    option: str | tuple[str, ...] = ()
    help: str | None = None
    _: KW_ONLY
    metavar: str | None = None
    example: str = ""  # a value that its help shows
    choices: tuple[str, ...] | None = None
    is_needed: bool = False
    gather: Gather | None = None  # of what may be given more than once
    gives: Any = True  # what a switch says
    group: str = ""  # of one group only one is given
    is_always_shown: bool = False
    call: str = ""
    also: tuple[str, ...] = ()
    is_also_option: bool = False  # the command knows the names that CALLs know

    @property
    def options(self) -> tuple[str, ...]:
        """Every spelling; the first is the one that is shown."""
        own = (self.option,) if isinstance(self.option, str) else self.option
        return distinct([*own, *spelled(self)]) if self.is_also_option else own

    @property
    def dest(self) -> str:
        """What the parser of the command line calls it."""
        return self.options[0].removeprefix("--").replace("-", "_") if self.options else self.name

    def read(self, given: Any) -> Any:
        """From what the parser of the command line found."""
        if self.unit is SWITCH:
            return self.gives
        if self.gather is None:
            return self.unit.read(given)
        return self.gather(self.unit.read(each) for each in given)

    def words(self, value: Any) -> list[str]:
        if self.unit is SWITCH:
            return [self.options[0]] if value is self.gives else []
        if value is None:
            return []
        values = [value] if self.gather is None else value
        return [word for each in values for word in self._given(self.unit.word(each))]

    def _given(self, word: str) -> list[str]:
        if not self.options:
            return [word]
        if word.startswith("-") and " " not in word:  # by itself it would be read as an option
            return [f"{self.options[0]}={word}"]
        return [self.options[0], word]


def spelled(field: Argument) -> tuple[str, ...]:
    """The options by which an engine's action takes an argument; words of theirs may be joined by dashes, too."""
    names = [f"--{name}" for name in (field.call, *field.also)]
    return distinct([*names, *(name.replace("_", "-") for name in names)])


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure of an engine. Its arguments, after the table, are fields of what it asks `of`; where they are not,
    `asks` says what is asked for on a branch at a moment, and `tells` which arguments say a change (None: none do).
    Of the fields in `without` the engine knows nothing."""

    name: str
    of: type[Request]
    arguments: tuple[Argument, ...] = ()
    _: KW_ONLY
    asks: Callable[[Given, str, int], Request] | None = None
    tells: Callable[[Any, int, Mapping[str, str]], Said | None] | None = None
    without: tuple[str, ...] = ()
    is_shown: bool = True

    def asked(self, given: Given, branch: str, now_ms: int) -> Request:
        if self.asks is not None:
            return self.asks(given, branch, now_ms)
        found = {each.name: given[each.call] for each in self.arguments if given[each.call] is not None}
        return self.of(**{"branch": branch, **{name: value for name, value in found.items() if name}})

    def told(self, change: Change, now_ms: int, options: Mapping[str, str]) -> Said | None:
        """The arguments by which it does just what the change does, else None; `options` are the table's."""
        if type(change) is not self.of or not self.is_shown:
            return None
        if self.tells is not None:
            return self.tells(change, now_ms, options)
        told = {"branch", *self.without, *(each.name for each in self.arguments)}
        more = [each for each in dataclasses.fields(change) if each.name not in told]
        if any(getattr(change, each.name) != each.default for each in more):
            return None
        return said_of(self.arguments, change)


def said_of(fields: Sequence[Argument], change: Change) -> Said | None:
    """The arguments that say these fields of a change; None where one of its values cannot be said."""
    said: dict[str, Constant] = {}
    for each in fields:
        value = getattr(change, each.name, None)
        if value is None or value == ():
            continue
        constant = each.unit.constant(value)
        if constant is None:
            return None
        said[each.call] = constant
    return said


@dataclass(frozen=True, slots=True)
class Definition:
    """An action: its command and fields, the procedures of Paimon and of Iceberg that ask for it; `statement` is
    Iceberg's own SQL where that is no CALL."""

    of: type[Change]
    command: str
    help: str
    arguments: tuple[Argument, ...] = ()
    _: KW_ONLY
    paimon: tuple[Procedure, ...] = ()
    iceberg: tuple[Procedure, ...] = ()
    statement: Callable[[Any, str], str | None] | None = None

    def read(self, given: Mapping[str, Any]) -> Change:
        """The action that the words of a command line ask for, as their parser found them."""
        own = {each.name for each in dataclasses.fields(self.of)}
        values = {"branch": given["branch"]}
        for each in self.arguments:
            found = given[each.dest]
            if each.name in own and found is not None and found is not False and found != []:
                values[each.name] = each.read(found)
        return self.of(**values)

    def words(self, change: Change, location: str) -> list[str]:
        """The words of the command line that reads back as this action."""
        usual = {each.name: each.default for each in dataclasses.fields(change)}
        spoken = [self.command, location]
        for each in self.arguments:
            if each.is_always_shown:
                spoken += each.options[:1]
            elif each.name in usual and (value := getattr(change, each.name)) != usual[each.name]:
                spoken += each.words(value)
        return spoken + (["--branch", change.branch] if change.branch != MAIN else [])
