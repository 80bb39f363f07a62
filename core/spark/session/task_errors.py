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
