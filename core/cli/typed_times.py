"""Times on a command line: read in this machine's zone, echoed with the interpretation, clarified if ambiguous."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from core.cli import output as printing
from core.cli.arguments import POINT, TIME, Args
from core.cli.command import Command
from core.errors import Invalid
from core.model import time_input
from core.model.time_input import AmbiguousTime, ParsedTime
from core.table import open_table

_DIGITS = re.compile(r"\d{10,16}")
_MILLISECONDS = 12  # digits: a shorter number is a count of something else
_AGE = re.compile(r"\d+\s*[a-z]+", re.IGNORECASE)


def read(command: Command, args: Args) -> None:
    """Turn every TIME into epoch milliseconds, and every VERSION that is a time into `time:` and its moment.

    `3 days ago` is relative to --now, if given; older than `3 days` means older than `3 days ago`.
    """
    zone, now_ms = local_zone(), time.time_ns() // 1_000_000
    for name, spelled in sorted(command.named(TIME), key=lambda each: each[0] != "now"):
        text = getattr(args, name)
        if text is None:
            continue
        found = (_age(text.strip(), zone, now_ms) if spelled.endswith("older-than") else None) or _asked(
            args, text, zone, now_ms
        )
        _told(args, spelled, text, found)
        setattr(args, name, str(found.ms))
        now_ms = found.ms if name == "now" else now_ms
    for name, spelled in command.named(POINT):
        given = getattr(args, name)
        if isinstance(given, list):
            setattr(args, name, [_point(args, spelled, each, zone, now_ms) for each in given])
        elif given is not None:
            setattr(args, name, _point(args, spelled, given, zone, now_ms))


def _point(args: Args, spelled: str, text: str, zone: str, now_ms: int) -> str:
    is_asked = _DIGITS.fullmatch(text.strip()) is not None
    if is_asked and open_table(args.table).has_snapshot(int(text)):
        return text.strip()
    try:
        point, found = time_input.point(text, None, zone, now_ms)
    except AmbiguousTime as error:
        point, found = f"time:{_chosen(args, error)}", None
    if found is not None and found.is_plain and text.startswith("time:"):
        return text  # as it appears in a plan
    if found is not None:
        _told(args, spelled, text.removeprefix("time:"), found, is_point=is_asked)
    return point


def _age(text: str, zone: str, now_ms: int) -> ParsedTime | None:
    """The moment at which this age begins; None if the text is no age. Raises `Invalid` for a number without a unit,
    which would be milliseconds since 1970."""
    if text.isdecimal() and len(text) < _MILLISECONDS:
        raise Invalid("{text} has no unit.", text=text, remedy='Write an age, such as "7 d", or a time.')
    try:
        return time_input.moment(f"{text} ago", zone, now_ms) if _AGE.fullmatch(text) else None
    except Invalid:
        return None


def _asked(args: Args, text: str, zone: str, now_ms: int) -> ParsedTime:
    try:
        return time_input.moment(text, zone, now_ms)
    except AmbiguousTime as error:
        return time_input.moment(_chosen(args, error), zone)


def _chosen(args: Args, error: AmbiguousTime) -> str:
    """The moment that a user at the terminal selects; without a terminal, the error is raised again."""
    if args.json or not sys.stdin.isatty():
        raise error
    printing.say(error.message)
    for number, (text, words) in enumerate(error.choices, 1):
        printing.say(f"  {number}. {words}, {text}")
    try:
        typed = input("Which one? ").strip()
    except EOFError:
        typed = ""
    if typed not in map(str, range(1, len(error.choices) + 1)):
        raise error
    return error.choices[int(typed) - 1][0]


def _told(args: Args, spelled: str, text: str, found: ParsedTime, *, is_point: bool = False) -> None:
    if args.json or (found.is_plain and not is_point):
        return
    said = time_input.sentence(text.strip(), found, is_point=is_point)
    printing.say(f"{spelled}: {said}" if spelled.startswith("--") else said, sys.stderr)


def local_zone() -> str:
    """The name of this machine's time zone: $TZ, else the target of /etc/localtime.

    UTC if that names no known zone; answers state in which zone a time was read.
    """
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named:
        _, _, named = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")
    try:
        time_input.zone_of(named)
    except Invalid:
        return time_input.UTC
    return named
