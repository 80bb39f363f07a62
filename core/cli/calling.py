"""CALLs and the engines' own action names on the command line: planned, shown, confirmed and run."""

from __future__ import annotations

import dataclasses
from typing import Any

from core.cli import programs, running
from core.cli import text as texts
from core.cli.arguments import Args
from core.cli.output import say
from core.errors import Invalid
from core.procedures import parse as calls
from core.procedures import plans as calling
from core.procedures.parse import Call, ParsedCall
from core.procedures.registry import PAIMON, TABLES
from core.reports import json as answers
from core.table import open_table

Answer = tuple[Any, str]


def call(args: Args) -> Answer:
    """Run CALL sys.NAME(…) on the table it names, at a table's location or in a warehouse."""
    now_ms = running.now_ms(args)
    ref, parsed_call = calling.read(args.sql, now_ms, args.table)
    return _carry_out(args, ref.location, parsed_call, now_ms)


def query(args: Args) -> Answer:
    """Run SQL; for a CALL show its plan first, as for everything that changes a table."""
    if not calls.is_call(args.sql):
        given = [f"--{name}" for name in ("yes", "plan", "now") if getattr(args, name)]
        if given:
            raise Invalid(f"{', '.join(given)} belongs to a CALL, and this is a query.")
        return programs.query(args)
    given = [f"--{name}" for name in ("before", "since", "hold") if getattr(args, name)]
    if given or args.at != "latest":
        raise Invalid(f"{', '.join(given) or '--at'} belongs to a query, and this is a CALL.")
    return call(args)


def action(args: Args) -> Answer:
    """Run an action by the engine's own name: a CALL whose arguments are options."""
    procedure = TABLES[PAIMON][args.command]
    arguments = {each.call: value for each in procedure.arguments if (value := getattr(args, each.call)) is not None}
    places = [place for place in (args.place, args.path) if place is not None]
    parts = [place for place in (args.warehouse, args.database, args.table) if place is not None]
    name, now_ms = args.table or "t", running.now_ms(args)
    if len(places) == 1 and not parts:
        location = places[0]
    elif len(parts) == 3 and not places:
        location = calling.find(args.warehouse, f"{args.database}.{name.partition('$')[0]}").location
    else:
        raise Invalid("No single table was given.", remedy="Give its path, or --warehouse, --database and --table.")
    parsed_call = calls.request_of(Call(PAIMON, args.command, (), {"table": name, **arguments}), now_ms)
    return _carry_out(args, location, parsed_call, now_ms)


def _carry_out(args: Args, location: str, parsed_call: ParsedCall, now_ms: int) -> Answer:
    table = open_table(location)
    history = table.history()
    call_plans = calling.planned(table, history, parsed_call.request, now_ms)
    document = {
        "request": {"type": type(parsed_call.request).__name__, **dataclasses.asdict(parsed_call.request)},
        "told": list(call_plans.notices),
        "plans": [answers.plan(plan) for plan in call_plans.plans],
        "fingerprint": call_plans.fingerprint,
        "receipts": [],
    }
    text = "\n\n".join([*call_plans.notices, *(texts.of_plan(plan) for plan in call_plans.plans)])
    if len(call_plans.plans) > 1:
        text += f"\n\nAll of it is plan {call_plans.fingerprint[:16]}"
    if parsed_call.is_dry:
        return document, text
    if not args.json:
        say(text)
    receipts, result = running.carry_out(args, table, call_plans.plans, call_plans.fingerprint)
    return {**document, "receipts": receipts}, result
