"""Shows errors, in one place for all pages: what happened, which file, what still works and what to do. Never a
traceback.

Invariant: errors from core are shown with their own message. Any other exception is a bug in Snapscope: it is logged
with a reference that the reader can quote, and the page says that nothing was changed only if that is true.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Iterator

import streamlit as st

from core.errors import SnapscopeError
from dashboard import words
from dashboard.formatting import markup

log = logging.getLogger("snapscope.dashboard")


@contextlib.contextmanager
def boundary() -> Iterator[None]:
    """Show errors raised inside the block where they occur; everything drawn before stays."""
    try:
        yield
    except SnapscopeError as error:
        show(error)
    except Exception as error:  # noqa: BLE001 - the last place before the reader would see a traceback
        show(error)


def show(error: Exception) -> None:
    """Show one error."""
    if isinstance(error, SnapscopeError):
        found: list[tuple[str, markup.Piece]] = []
        if error.path:
            found.append((words.ERROR_FILE, markup.mono(error.path)))
        found.append((words.STILL_WORKS, words.ERROR_WORKS[error.kind]))
        found.append((words.NEXT_STEP, error.remedy or words.ERROR_NEXT[error.kind]))
        title = words.ERROR_TITLES.get(type(error).__name__, words.ERROR_TITLES[error.kind])
        st.html(markup.error(title, error.message, found))
        return
    reference = secrets.token_hex(4)
    log.error("Unforeseen error %s", reference, exc_info=error)
    st.html(markup.error(words.UNEXPECTED, words.unexpected(type(error).__name__, reference), []))
