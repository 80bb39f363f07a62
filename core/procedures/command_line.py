"""The command line of an action, as text; when run, it prints the plan and asks first. Pure.

Invariant: parsed again, the text gives the same action, so with the same `--now` it gives the same plan.
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
    """The command that runs exactly one plan or refuses: with the plan's `--now` and fingerprint."""
    guard = ("--now", iso(now_ms), "--plan", fingerprint)
    return line(*words(change, location), *_flagged("--outside", outside), *guard)


def line(*words: str) -> str:
    """A command line that a shell parses back into exactly these words."""
    return shlex.join(["snapscope", *words])


def words(change: Change, location: str) -> list[str]:
    """The words after `snapscope`."""
    return definition(change).words(change, location)


def _flagged(flag: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (flag, value)]
