"""Commands that change a table: plan, show, confirm, apply."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from core.catalog import list_tables
from core.cli import on_spark, reports, running
from core.cli import text as texts
from core.cli.arguments import Args
from core.cli.output import UNREAD, grid, paragraph, say
from core.errors import Invalid, SnapscopeError
from core.execution import journal_versions
from core.execution import protect as protecting
from core.execution.journal import Journal, Run
from core.execution.recovery import resume as carry_on
from core.execution.recovery import undo as take_back
from core.messages import sentences
from core.model.actions import Change
from core.model.expiry import Forecast
from core.model.history import History
from core.model.plan import Plan
from core.model.references import Heads
from core.model.time_travel import in_words
from core.procedures.change_input import read_change
from core.procedures.registry import BY_COMMAND
from core.reports import html as report
from core.reports import json as answers
from core.reports import references_json
from core.table import Table, open_table, resolve
from core.units import parse_user_duration_ms, several, size
from core.urls import place

Answer = tuple[Any, str]


def _requested(args: Args, heads: Heads) -> tuple[Change, dict[str, Any]]:
    """The action that was typed.

    For a tag created from a time or a watermark, also prints which snapshot it names and what time travel returns, and
    returns both for the document.
    """
    action = BY_COMMAND[args.change if args.command == "plan" else args.command]
    change, target = read_change(action, vars(args), heads, running.now_ms(args), running.clock_ms())
    if target is None:
        return change, {}
    if not args.json:
        say("\n".join(target.sentences()))
    return change, {"source": answers.tag_target(target)}


def protect(args: Args) -> Answer:
    """Create a verified tag with a retention."""
    table = open_table(args.table)
    point = resolve(table.heads(), args.point, args.branch)
    now_ms = running.now_ms(args)
    tag = protecting.protection(table, point, parse_user_duration_ms(args.time_retained), now_ms)
    return running.run(args, table, table.preview(tag, now_ms))


def plan(args: Args) -> Answer:
    if args.all is not None:
        if args.table is not None:
            raise Invalid("Both a table and --all were given.", remedy="Give a table, or a warehouse with --all.")
        if args.report is not None:
            raise Invalid("--report works for one table only.", remedy="Give the table instead of --all.")
        if args.on_spark:
            raise Invalid("--on-spark works for one table only.", remedy="Give the table instead of --all.")
        return _plan_all(args)
    if args.table is None:
        raise Invalid("No table was given.", remedy="Give a table, or a warehouse with --all.")
    table = open_table(args.table)
    history = on_spark.history_unless_spark(args, table)
    if history is None:
        return _plan_on_spark(args)
    change, rounded = _requested(args, history.heads)
    shown = table.preview(change, running.now_ms(args), history)
    native, coming = table.native(shown, history), _coming(table, history, shown)
    document, text = {**answers.plan(shown, native, coming), **rounded}, texts.of_plan(shown, native, coming)
    if args.report is not None:
        path = reports.written(
            args.report, report.of_plan(shown, history.heads, table.name, native=native, coming=coming)
        )
        return {**document, "report": path}, f"{text}\nWritten to {path}."
    return document, text


def _plan_on_spark(args: Args) -> Answer:
    """A plan whose metadata Spark reads. What the engine would do is not compared."""
    with on_spark.table(args.table) as table:
        change, rounded = _requested(args, table.heads())
        history = on_spark.history(table, change)
        shown = table.preview(change, running.now_ms(args), history)
    document, text = {**on_spark.known_fields(answers.plan(shown)), **rounded}, texts.of_plan(shown)
    if args.report is not None:
        path = reports.written(args.report, report.of_plan(shown, history.heads, table.name))
        return {**document, "report": path}, f"{text}\nWritten to {path}."
    return document, f"{text}\n{on_spark.sentence()}"


def _coming(table: Table, history: History, shown: Plan) -> Forecast | None:
    """For an expiry plan: what the next commit would delete anyway."""
    return table.next_commit(history, shown.now_ms, shown.change.branch) if shown.change.is_expiry else None


def _plan_all(args: Args) -> Answer:
    """Plan all tables of a warehouse, one row per table.

    A table that cannot be planned reports why without hiding others, and makes the exit status nonzero.
    """
    document, rows = [], []
    listing = list_tables(args.all)
    for problem in listing.problems:
        document.append({"table": problem.path, **references_json.problem(problem)})
        rows.append((problem.path, "", "", "", problem.sentence()))
    for number, each in enumerate(listing.tables, 1):
        running.count(args, number, len(listing.tables), "table")
        try:
            table = open_table(each.location)
            history = table.history()
            shown = table.preview(_requested(args, history.heads)[0], running.now_ms(args), history)
            coming = _coming(table, history, shown)
        except SnapscopeError as error:
            document.append({"table": each.location, **references_json.error(error)})
            rows.append((each.title, "", "", "", str(error)))
            continue
        document.append(answers.plan(shown, coming=coming))
        frees = f"{len(shown.frees):,}", size(shown.freed_bytes), size(shown.kept_bytes)
        expiring = f"; the next commit expires {len(coming.expired)} automatically" if coming and coming.expired else ""
        rows.append((each.title, *frees, f"{shown.deletions}{expiring}"))
    args.partly = UNREAD if any("error" in each for each in document) else ""
    return document, grid(("table", "files reclaimed", "bytes reclaimed", "bytes kept", ""), rows)


def change(args: Args) -> Answer:
    table = open_table(args.table)
    history = on_spark.history_unless_spark(args, table)
    if history is None:
        return _change_on_spark(args)
    change, rounded = _requested(args, history.heads)
    shown = table.preview(change, running.now_ms(args), history)
    document, text = running.run(args, table, shown, _coming(table, history, shown))
    return {**document, **rounded}, text


def _change_on_spark(args: Args) -> Answer:
    """As `change`; the run, too, decides by what Spark reads."""
    with on_spark.table(args.table) as table:
        change, rounded = _requested(args, table.heads())
        shown = table.preview(change, running.now_ms(args), on_spark.history(table, change))
        if not args.json:
            say(on_spark.sentence())
        document, text = running.run(args, table, shown)
    return {**on_spark.known_fields(document), **rounded}, text


def orphans(args: Args) -> Answer:
    running.begin_search(args)
    if args.delete:
        return change(args)
    table = open_table(args.table)
    history = on_spark.history_unless_spark(args, table)
    if history is None:
        with on_spark.table(args.table) as table:
            requested = _requested(args, table.heads())[0]
            shown = table.preview(requested, running.now_ms(args), on_spark.history(table, requested))
        return on_spark.known_fields(answers.plan(shown)), f"{_of_orphans(shown)}\n{on_spark.sentence()}"
    shown = table.preview(_requested(args, history.heads)[0], running.now_ms(args), history)
    return answers.plan(shown), _of_orphans(shown)


def _of_orphans(shown: Plan) -> str:
    rows = [(each["path"], each["kind"], size(each["bytes"])) for each in shown.frees.to_pylist()]
    return paragraph(
        [
            shown.headline,
            grid(("path", "kind", "bytes"), rows),
            *sentences(shown.warnings),
            f"Ages as of {in_words(shown.now_ms)}. Plan {shown.fingerprint[:16]}",
        ]
    )


def resume(args: Args) -> Answer:
    settle_s = parse_user_duration_ms(args.settle) / 1000
    with (
        on_spark.opener() if args.on_spark else nullcontext(open_table) as opened,
        running.interruptible(Journal().run(args.run_id).table) as cancelled,
    ):
        receipt = carry_on(
            args.run_id,
            open_table=opened,
            settle_s=settle_s,
            cancelled=cancelled,
            outside=args.outside,
            **running.progress_callbacks(args),
        )
    document, text = running.ended(args, receipt)
    return ({**document, **on_spark.metadata_reader()}, text) if args.on_spark else (document, text)


def undo(args: Args) -> Answer:
    with on_spark.opener() if args.on_spark else nullcontext(open_table) as opened:
        restored = take_back(args.run_id, open_table=opened)
    document = {"run": args.run_id, "restored": list(restored), **(on_spark.metadata_reader() if args.on_spark else {})}
    return document, f"Restored {several(len(restored), 'reference')}."


def audit(args: Args) -> Answer:
    if args.table is not None and (args.verify or args.export):
        raise Invalid(
            "--export and --verify are for the whole journal, whose entries are one chain, not for one table.",
            remedy="Leave out the table; `snapscope audit TABLE --json` lists the changes of one table.",
        )
    if args.export == "csv" and args.json:
        raise Invalid("Both --export csv and --json were given.", remedy="Leave out one of them.")
    journal = Journal()
    if args.verify:
        head = journal.verify()
        return {"head": head, "intact": True}, f"The journal is intact; its head is {head or 'empty'}."
    if args.export:
        text = journal.export(args.export)
        return (journal.events(), text)
    if args.run_id:
        run = journal.run(args.run_id)
        if args.table is not None and place(run.table) != place(open_table(args.table).location):
            raise Invalid(
                f"Run {run.id} is of {run.table}, not of {args.table}.",
                remedy=f"Leave out the table: `snapscope audit --run {run.id}`.",
            )
        deleted = journal.deleted(run.id)
        effects = journal_versions.effects_of(run, journal.removed(run.id), journal.frees(run.id))
        lines = [f"Run {run.id}: {run.change_kind} on {run.table} by {_people(run)}, {run.state}."]
        lines += [*texts.of_effects(effects), *deleted]
        return {**answers.run(run), "deleted": deleted, "events": journal.events(run.id)}, "\n".join(lines)
    runs = journal.runs(open_table(args.table).location if args.table else None)
    rows = [
        (run.id, in_words(run.started_ms), _people(run), run.change_kind, run.table, run.state, run.plan["headline"])
        for run in runs
    ]
    return [answers.run(run) for run in runs], grid(("run", "started", "who", "change", "table", "state", "plan"), rows)


def _people(run: Run) -> str:
    """Who started a run and who else resumed, cancelled or undid it."""
    return ", then ".join((run.who, *run.others))
