"""Carry an error of ours out of a Spark task to the caller: Spark passes on only text.

Invariant: class, code, message, path and remedy arrive unchanged.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Iterator

from core.errors import Conflict, Corrupt, ErrorCode, Invalid, NotFound, SnapscopeError, Unsupported

_KINDS = {each.__name__: each for each in (Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported)}
_BRIDGE = re.compile(r"\AAn error occurred while calling \S+(?: Trace:)?\s+(?:: )?(?:[\w$]+\.)+[\w$]+: ")  # of py4j
_PATTERN = re.compile(r"snapscope error ([A-Za-z0-9+/=]+);")


@contextlib.contextmanager
def forwarding_errors() -> Iterator[None]:
    """Inside a task: raise an error of ours as one whose text carries it."""
    try:
        yield
    except SnapscopeError as error:
        raise RuntimeError(carried(error)) from error


def carried(error: SnapscopeError) -> str:
    """The text that carries an error of ours through Spark."""
    content = json.dumps([error.kind, error.code, error.message, error.path, error.remedy])
    return f"snapscope error {base64.b64encode(content.encode()).decode()};"


def received(text: str) -> SnapscopeError | None:
    """The error of ours carried by a Spark failure, or None."""
    found = _PATTERN.search(text)
    if found is None:
        return None
    kind, code, message, path, remedy = json.loads(base64.b64decode(found[1]))
    return _KINDS[kind](message, path=path, remedy=remedy, code=ErrorCode(code))


def error_text(error: BaseException) -> str:
    """What Spark reports as wrong: its first message with an error class, else the first line.

    Of an exception in a Python worker, its own message. Without the error class, the SQL state, plans and stack traces;
    with the position in the user's SQL if Spark knows it, and without advice to change a setting, which a user's SQL
    may not do.
    """
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001  # py4j asks the JVM for it, which may be gone
        text = ""
    if "Traceback (most" in text and (raised := re.search(r"^  .*\n([\w.]+): (.+)$", text, re.MULTILINE)):
        words = f"{raised[1].rpartition('.')[2]}: {raised[2].strip()}"
    elif found := re.search(r"\[[A-Z][A-Z0-9_.]+\] (.+?)(?= SQLSTATE:|\n|$)", text):
        words = re.sub(r" If necessary set \S+ to \S+ to bypass this error\.", "", found[1]).strip()
        if place := re.search(r"line (\d+),? pos(ition)? (\d+)", text[found.end() : found.end() + 200]):
            column = int(place[3]) + (0 if place[2] else 1)  # Spark's `pos` counts from 0, its `position` from 1
            words = f"{words.rstrip('.')} (line {place[1]}, position {column})."
    else:
        words = (_BRIDGE.sub("", text).splitlines() or [type(error).__name__])[0].strip()
    return words if words.endswith((".", "!", "?")) else words + "."
