"""Command-line options of actions, and parsing of what was typed; both from the action's definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from core.cli import arguments
from core.cli.arguments import Choice, flag
from core.procedures.definition import Argument, option_names
from core.procedures.registry import BY_COMMAND, PAIMON, TABLES
from core.procedures.units import NUMBER, SWITCH

FINDS_ALONE = "orphans"  # it lists what it finds unless told to delete it, so there is no separate plan command

ON_SPARK = ("expire", "delete-tag", "orphans")  # planned from sums over files alone


def names() -> Sequence[str]:
    return list(BY_COMMAND)


def plan_names() -> Sequence[str]:
    return [name for name in BY_COMMAND if name != FINDS_ALONE]


def help_of(name: str) -> str:
    return BY_COMMAND[name].help


def options(name: str) -> list[click.Parameter]:
    """The options of an action."""
    return [_parameter(each) for each in BY_COMMAND[name].arguments]


def _parameter(field: Argument) -> click.Parameter:
    help = field.help or ""
    if field.unit is SWITCH:
        return flag(field.dest, *field.options, help=help, group=field.group)
    metavar = field.metavar or field.unit.metavar
    if not field.options:
        return arguments.argument(field.name, help, metavar, required=field.is_needed, many=bool(field.gather))
    how: dict[str, Any] = {"metavar": metavar, "required": field.is_needed, "multiple": bool(field.gather)}
    if field.choices:
        how |= {"type": Choice(field.choices), "metavar": None}
    elif field.unit is NUMBER:
        how |= {"type": int, "metavar": metavar or "N"}
    example = field.example or (field.choices[0] if field.choices else "")
    return arguments.option(field.dest, *field.options, help=help, example=example, group=field.group, **how)


def engine_names() -> Sequence[str]:
    """Paimon's procedures, which are also commands under their own names."""
    return [name for name in TABLES[PAIMON] if "_" in name]


def engine_options(name: str) -> list[click.Parameter]:
    """The arguments of a procedure as options, with every name that the procedure accepts."""
    return [
        arguments.option(each.call, *option_names(each), help=f"the argument {each.call}", required=each.is_needed,
                         metavar=each.unit.metavar or "VALUE", example=each.example or "…")
        for each in TABLES[PAIMON][name].arguments
    ]  # fmt: skip
