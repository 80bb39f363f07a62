"""Limits how long a catalog may take to answer one question, in total.

A connection's own time limit starts again with each byte, so a server that answers byte by byte holds it without end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from core.errors import Corrupt
from core.messages import message
from core.storage import time_limits

T = TypeVar("T")


def ask(name: str, location: str, question: Callable[[], T]) -> T:
    """Return the answer to a question. `name` is the catalog's own, `location` its location.

    Raises `Corrupt` with the catalog's name after `time_limits.call_s`; a question that was given up keeps its thread.
    """
    if time_limits.stuck().get(location, 0) >= time_limits.MOST_STUCK:
        raise Corrupt(
            "The catalog {name} has not yet answered earlier questions.",
            name=name,
            path=location,
            remedy=(
                "Check its settings and the connection. It is asked again as soon as one of them has ended, or after "
                "a restart of Snapscope."
            ),
        )
    try:
        return time_limits.in_own_thread(location, question)
    except time_limits.Silent as error:
        if error.path != location:
            raise
        raise Corrupt(
            "The catalog {name} did not answer within {seconds:g} s.",
            name=name,
            seconds=time_limits.call_s(),
            path=location,
            remedy=message(
                "Check its settings and the connection, then try again. If it needs longer, set {variable}.",
                variable=time_limits.VARIABLE,
            ),
        ) from error
