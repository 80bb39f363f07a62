"""The language one reader reads in. It is chosen for each run, on the run's own thread: readers never mix.

A run that does not begin at the top (a fragment's, a callback's) has chosen nothing yet: it asks `otherwise`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

ENGLISH, CHINESE = "en", "zh"
LANGUAGES = (ENGLISH, CHINESE)

_chosen: ContextVar[str | None] = ContextVar("snapscope.language", default=None)
_ask: Callable[[], str] = lambda: ENGLISH  # noqa: E731


def choose(language: str) -> None:
    """From here on this thread's run speaks that language."""
    _chosen.set(language)


def otherwise(ask: Callable[[], str]) -> None:
    """Who is asked for the language of a run that has not chosen one."""
    global _ask
    _ask = ask


def chosen() -> str:
    """The language of this run."""
    found = _chosen.get()
    if found is None:
        choose(found := _ask())
    return found
