"""Errors on a page: their title says what kind of thing happened."""

from __future__ import annotations

import pytest
import streamlit as st

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, TimedOut, Unsupported
from core.formats.table_format import Unknown
from dashboard import words
from dashboard.components import errors


@pytest.mark.parametrize(
    ("of", "title"),
    [
        (TimedOut, "Stopped at the time limit"),
        (Invalid, "Invalid request"),
        (Unknown, "The table has changed"),
        *((of, words.ERROR_TITLES[of.__name__]) for of in (NotFound, Conflict, Corrupt, Unsupported)),
    ],
)
def test_an_error_is_titled_by_what_happened(
    monkeypatch: pytest.MonkeyPatch, of: type[SnapscopeError], title: str
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "html", lambda text: shown.append(str(text)))
    errors.show(of("It took too long.", remedy="Try a smaller one."))
    assert f'<div class="snap-title">{title}</div>' in shown[0]
    assert words.ERROR_WORKS[of("").kind] in shown[0]
    assert of("").kind in ("NotFound", "Invalid", "Conflict", "Corrupt", "Unsupported"), "what programs see"


def test_what_to_do_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(st, "html", lambda text: shown.append(str(text)))
    errors.show(Invalid("There is no column of that name."))
    assert shown[0].count("Correct the request") == 1
