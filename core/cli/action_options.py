"""Actions on the command line: their options, and what was typed as an action; both from the action's definition."""

from __future__ import annotations

import argparse
from typing import Any

from core.model.actions import Change
from core.procedures.definition import Argument, Definition
from core.procedures.registry import BY_COMMAND
from core.procedures.units import NUMBER, SWITCH

Args = argparse.Namespace


def add(sub: argparse.ArgumentParser, of: Definition) -> None:
    """The options of an action."""
    groups = {
        name: sub.add_mutually_exclusive_group() for name in dict.fromkeys(each.group for each in of.arguments) if name
    }
    for each in of.arguments:
        (groups[each.group] if each.group else sub).add_argument(*(each.options or [each.name]), **_settings(each))
    sub.add_argument("--now", metavar="TIME", help="judge ages at this time (default: now)")


def _settings(field: Argument) -> dict[str, Any]:
    if field.unit is SWITCH:
        return {"action": "store_true", "help": field.help}
    settings: dict[str, Any] = {"metavar": field.metavar or field.unit.metavar, "help": field.help}
    if field.unit is NUMBER:
        settings["type"] = int  # what is no number is a misuse of the command, with an exit status of its own
    if not field.options:
        times = "+" if field.gather else None if field.is_needed else "?"
        return settings | ({} if times is None else {"nargs": times})
    if field.choices:
        settings["choices"] = field.choices
    if field.gather:
        settings |= {"action": "append", "default": []}
    return settings | {"required": field.is_needed}


def asked(args: Args) -> Change:
    """The action that was typed."""
    return BY_COMMAND[args.change if args.command == "plan" else args.command].read(vars(args))
