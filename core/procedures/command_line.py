"""The command line of a change, as text: what carries it out; it prints the plan and asks first. Pure.

Law: read back by the command line, the text is the very change, so at the same `--now` it is the same plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from core.model.actions import Change
from core.procedures.registry import definition
from core.units import iso


def command(change: Change, location: str, outside: Iterable[str] = ()) -> str:
    """`snapscope expire /path --retain-max 10`, with the roots outside the table under which it may delete."""
    return line(*words(change, location), *_flagged("--outside", outside))


def exactly(change: Change, location: str, now_ms: int, fingerprint: str, outside: Iterable[str] = ()) -> str:
    """The command that carries out one very plan or refuses: judged at the plan's moment, under its fingerprint."""
    judged = ("--now", iso(now_ms), "--plan", fingerprint)
    return line(*words(change, location), *_flagged("--outside", outside), *judged)


def line(*spoken: str) -> str:
    """A command line that a shell reads back word for word."""
    return shlex.join(["snapscope", *spoken])


def words(change: Change, location: str) -> list[str]:
    """What stands after `snapscope`."""
    return definition(change).words(change, location)


def _flagged(flag: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (flag, value)]
