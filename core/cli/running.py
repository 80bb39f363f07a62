"""Run a plan on the command line: show, confirm, run, report. Also several plans that form one run."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.cli import text as texts
from core.cli.arguments import Args
from core.cli.output import say
from core.cli.text import NOT_AS_PLANNED
from core.errors import Conflict, ErrorCode, Invalid
from core.execution import recovery
from core.execution.apply import apply, refuse_unfinished
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.model.expiry import Forecast
from core.model.plan import Plan
from core.model.time_travel import parse_time_ms
from core.planning.confirmation import Danger, of_all
from core.planning.outside_roots import refuse_unnamed
from core.reports import json as answers
from core.table import Table
from core.units import parse_user_duration_ms, several
from core.urls import spelled

Answer = tuple[Any, str]

FEWEST_DIGITS = 8  # of a plan's fingerprint


def now_ms(args: Args) -> int:
    return clock_ms() if args.now is None else parse_time_ms(args.now)


def clock_ms() -> int:
    return time.time_ns() // 1_000_000


def run(args: Args, table: Table, shown: Plan, coming: Forecast | None = None) -> Answer:
    """Show the plan, ask, and apply it."""
    if not args.json:
        say(texts.of_plan(shown, coming=coming))
    receipts, text = carry_out(args, table, [shown], shown.fingerprint)
    return {**answers.plan(shown, coming=coming), "receipt": receipts[0] if receipts else None}, text


def carry_out(args: Args, table: Table, plans: Sequence[Plan], fingerprint: str) -> tuple[list[Any], str]:
    """Apply plans that were shown, in order, with one confirmation; return the receipts as documents and as text.

    If one does not finish, the following ones are left for the next run.
    """
    settle_s = parse_user_duration_ms(args.settle) / 1000
    if args.plan is not None and not (len(args.plan) >= FEWEST_DIGITS and fingerprint.startswith(args.plan)):
        raise Conflict(
            f"This plan is {fingerprint[:16]}, not {args.plan}; nothing was changed.",
            remedy="Show the plan again: the table has changed since, or --now and the rules differ from then.",
            code=ErrorCode.PLAN_OUTDATED,
        )
    effective = [plan for plan in plans if plan.removes or plan.leaves or len(plan.frees)]
    if not effective:
        refuse_unfinished(table, Journal())  # an interrupted run may leave nothing to plan and still much to finish
        return [], "Nothing to do."
    named_roots = list(args.outside)
    if not args.yes:
        named_roots += confirm(args, of_all(effective, table.name), named_roots)
    for plan in effective:  # all of them, before the first one runs
        refuse_unnamed(plan, named_roots)
    outcomes = []
    with interruptible(table.location) as cancelled:
        for plan in effective:
            options = {"settle_s": settle_s, "cancelled": cancelled, "outside": named_roots, **progress_callbacks(args)}
            receipt = apply(table, plan, **options)
            outcomes.append(ended(args, receipt))
            if receipt.outcome != "done":
                break
    return [document for document, _ in outcomes], "\n".join(text for _, text in outcomes)


def ended(args: Args, receipt: Receipt) -> Answer:
    """The receipt and, if the run did not finish, how to finish it."""
    if receipt.outcome != "done" or receipt.problems:
        args.partly = NOT_AS_PLANNED
    lines = [texts.of_receipt(receipt)]
    if receipt.outcome != "done":
        run = Journal().run(receipt.run)
        on_spark = getattr(args, "on_spark", False)
        lines.append(f"Resume it: {recovery.how_to_resume(run, on_spark=on_spark)}")
        lines += [f"Or undo it: {recovery.how_to_undo(run, on_spark=on_spark)}"] if run.can_undo else []
    return answers.receipt(receipt), "\n".join(lines)


@contextmanager
def interruptible(location: str | None = None) -> Iterator[Callable[[], bool]]:
    """Make Ctrl-C stop a run between two files, and a second one stop the process at once.

    The second one also prints what is left to do for the table at `location`.
    """
    stop_requested = threading.Event()

    def on_interrupt(*_: object) -> None:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        stop_requested.set()
        print("Stopping after the current file; press Ctrl-C again to stop at once.", file=sys.stderr)

    previous_handler = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop_requested.is_set
    except KeyboardInterrupt:
        if location is not None:
            _say_what_is_left(location)
        raise
    finally:
        signal.signal(signal.SIGINT, previous_handler)


def _say_what_is_left(location: str) -> None:
    run = Journal().open_run(location)
    if run is not None:
        undo = f", or undo it: {recovery.how_to_undo(run)}" if run.can_undo else ""
        say(f"Run {run.id} is unfinished. Finish it: {recovery.how_to_resume(run)}{undo}", sys.stderr)


def confirm(args: Args, danger: Danger, named_roots: Sequence[str]) -> list[str]:
    """Ask the user to type what the danger requires; return the typed roots that are not yet in `named`."""
    if args.json or not sys.stdin.isatty():
        raise Invalid(
            "stdin is not a terminal, so the change cannot be confirmed; nothing was changed.",
            remedy="Pass --yes to run it without asking.",
            code=ErrorCode.NOT_CONFIRMED,
        )
    for reason in danger.why:
        say(f"Warning: {reason}.")
    known_roots = {spelled(each) for each in named_roots}
    roots = [root for root in dict.fromkeys(each.root for each in danger.outside) if root not in known_roots]
    for phrase in (*roots, danger.phrase or "yes"):
        try:
            typed = input(f"Type {phrase} to go ahead: ").strip()
        except EOFError:
            typed = ""
        if typed != phrase:
            raise Invalid("Not confirmed; nothing was changed.", code=ErrorCode.NOT_CONFIRMED)
    return roots


def progress_callbacks(args: Args) -> dict[str, Any]:
    """Progress callbacks for a run; none if the answer is a document."""
    return {} if args.json else {"progress": _progress, "waits": _waits}


def _waits(seconds: float) -> None:
    print(f"References deleted. Waiting {seconds:g} s for running writers before any file is deleted.", file=sys.stderr)


def count(args: Args, done: int, total: int, noun: str) -> None:
    """Show the progress of a command over many things on a terminal; the line is erased at the end."""
    if not args.json and sys.stderr.isatty():
        line = f"{done:,} of {several(total, noun)}"
        print(f"\r{line}", end=f"\r{' ' * len(line)}\r" if done == total else "", file=sys.stderr, flush=True)


def begin_search(args: Args) -> None:
    """Say on a terminal that a search for orphans begins: it may take minutes, and changes nothing."""
    if not args.json and sys.stderr.isatty():
        print("Searching for orphans; press Ctrl-C to stop.", file=sys.stderr, flush=True)


def _progress(done: int, total: int) -> None:
    """Overwrite one line on a terminal; in a log, print a line per hundred files."""
    if sys.stderr.isatty():
        line = f"\rDeleted {done:,} of {several(total, 'file')} ({done * 100 // total} %)"
        print(line, end="\n" if done == total else "", file=sys.stderr, flush=True)
    elif done % 100 == 0 or done == total:
        print(f"{done:,} of {several(total, 'file')}", file=sys.stderr)
