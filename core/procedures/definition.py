"""The definition of an action, in one place: its command, how each field is given, and the engines' CALLs. Pure.

Invariant: the flags of the command line, the command that is displayed, and the CALLs that are parsed or displayed are
derived only from this.
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

Given = Mapping[str, Any]  # arguments of a CALL by name, parsed; missing ones are None
Constants = Mapping[str, Constant]
Gather = Callable[[Iterable[Any]], tuple[Any, ...]]


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


@dataclass(frozen=True, slots=True)
class Argument:
    """A field of an action: an option of its command or a positional word, and an argument of CALLs (`call`, `also`).

    An argument that is not a field of the action is handled by the command itself.
    """

    name: str
    unit: Unit = TEXT
    option: str | tuple[str, ...] = ()
    help: str | None = None
    _: KW_ONLY
    metavar: str | None = None
    example: str = ""  # a value shown in its help
    choices: tuple[str, ...] | None = None
    is_needed: bool = False
    gather: Gather | None = None  # combines the values of what may be given more than once
    gives: Any = True  # the value that a switch sets
    group: str = ""  # only one argument of a group may be given
    is_always_shown: bool = False
    call: str = ""
    also: tuple[str, ...] = ()
    is_also_option: bool = False  # the command also accepts the names used in CALLs

    @property
    def options(self) -> tuple[str, ...]:
        """Every spelling; the first is the one that is displayed."""
        own = (self.option,) if isinstance(self.option, str) else self.option
        return distinct([*own, *option_names(self)]) if self.is_also_option else own

    @property
    def dest(self) -> str:
        """Its name in the command-line parser."""
        return self.options[0].removeprefix("--").replace("-", "_") if self.options else self.name

    def read(self, given: Any) -> Any:
        """Convert what the command-line parser found."""
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
        if word.startswith("-") and " " not in word:  # alone it would be parsed as an option
            return [f"{self.options[0]}={word}"]
        return [self.options[0], word]


def option_names(argument: Argument) -> tuple[str, ...]:
    """The options by which an engine's action takes an argument, with underscores or dashes."""
    names = [f"--{name}" for name in (argument.call, *argument.also)]
    return distinct([*names, *(name.replace("_", "-") for name in names)])


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure of an engine.

    Its arguments, after the table, are fields of `of`. If they are not, `make_request` builds the request from the
    arguments, a branch and a time, and `make_arguments` returns the arguments for an action (None: impossible).
    `without`: fields of the action that the engine does not have.
    """

    name: str
    of: type[Request]
    arguments: tuple[Argument, ...] = ()
    _: KW_ONLY
    make_request: Callable[[Given, str, int], Request] | None = None
    make_arguments: Callable[[Any, int, Mapping[str, str]], Constants | None] | None = None
    without: tuple[str, ...] = ()
    is_shown: bool = True

    def request(self, given: Given, branch: str, now_ms: int) -> Request:
        if self.make_request is not None:
            return self.make_request(given, branch, now_ms)
        values = {each.name: given[each.call] for each in self.arguments if given[each.call] is not None}
        return self.of(**{"branch": branch, **{name: value for name, value in values.items() if name}})

    def arguments_of(self, change: Change, now_ms: int, options: Mapping[str, str]) -> Constants | None:
        """Return the arguments that make the procedure do exactly what the action does; None if there are none.

        `options` are the table's."""
        if type(change) is not self.of or not self.is_shown:
            return None
        if self.make_arguments is not None:
            return self.make_arguments(change, now_ms, options)
        covered = {"branch", *self.without, *(each.name for each in self.arguments)}
        others = [field for field in dataclasses.fields(change) if field.name not in covered]
        if any(getattr(change, field.name) != field.default for field in others):
            return None
        return constants_of(self.arguments, change)


def constants_of(arguments: Sequence[Argument], change: Change) -> Constants | None:
    """The arguments that express these fields of an action; None if one of its values cannot be expressed."""
    constants: dict[str, Constant] = {}
    for each in arguments:
        value = getattr(change, each.name, None)
        if value is None or value == ():
            continue
        constant = each.unit.constant(value)
        if constant is None:
            return None
        constants[each.call] = constant
    return constants


@dataclass(frozen=True, slots=True)
class Definition:
    """An action: its command and fields, and the procedures of Paimon and of Iceberg that request it.

    `statement` returns Iceberg's own SQL if that is not a CALL.
    """

    of: type[Change]
    command: str
    help: str
    arguments: tuple[Argument, ...] = ()
    _: KW_ONLY
    paimon: tuple[Procedure, ...] = ()
    iceberg: tuple[Procedure, ...] = ()
    statement: Callable[[Any, str], str | None] | None = None

    def read(self, given: Mapping[str, Any]) -> Change:
        """The action requested on a command line, from the values that the parser found."""
        own = {each.name for each in dataclasses.fields(self.of)}
        values = {"branch": given["branch"]}
        for each in self.arguments:
            value = given[each.dest]
            if each.name in own and value is not None and value is not False and value != []:
                values[each.name] = each.read(value)
        return self.of(**values)

    def words(self, change: Change, location: str) -> list[str]:
        """The words of the command line that parses back to this action."""
        defaults = {each.name: each.default for each in dataclasses.fields(change)}
        command_words = [self.command, location]
        for each in self.arguments:
            if each.is_always_shown:
                command_words += each.options[:1]
            elif each.name in defaults and (value := getattr(change, each.name)) != defaults[each.name]:
                command_words += each.words(value)
        return command_words + (["--branch", change.branch] if change.branch != MAIN else [])
