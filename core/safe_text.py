"""Foreign texts made safe to display or export: short enough for a page, harmless in a spreadsheet. Pure.

Invariants:
- A shortened display says how long the text is. A download is complete.
- No name turns the text around it.
- No text in a CSV of the dashboard or the audit is a formula: no value, no name, and no part of one after a semicolon,
  tab or line break at which a spreadsheet may split. Numbers stay numbers. `-o csv` is for programs, and has texts as
  they are.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from core.units import size

LONGEST_VALUE = 1_000  # characters of a value in a table
LONGEST_TEXT = 4_000  # characters of a text anywhere else on a page
_UNSEEN = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\u200b-\\u200f\\u2060\\ufeff]*"  # what a spreadsheet may drop first
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # embeds, overrides and isolates, and their ends
_SIGNS = "=+@＝＋－＠-"
_BEGINS = re.compile(rf"{_UNSEEN}[\t\r\n{_SIGNS}]")
_INSIDE = re.compile(rf"([;\t\r\n])(?={_UNSEEN}[{_SIGNS}])")
_PLAIN = (int, float, Decimal, np.number, np.bool_, np.datetime64, dt.date, dt.time)


def shortened(text: str, most: int = LONGEST_VALUE) -> str:
    """The text; if it is too long, its beginning and its total size."""
    return text if len(text) <= most else f"{text[:most]}{rest(len(text.encode(errors='replace')))}"


def escape_direction_marks(text: str) -> str:
    """The text with the characters escaped that would turn the direction of what follows: `evil\\u202egpj.exe` must not
    look like `evilexe.jpg`, nor turn the sentence around it."""
    return text if text.isascii() else _TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def rest(of_bytes: int) -> str:
    """The suffix of a shortened text."""
    return f"… ({size(of_bytes)})"


def brief(value: object, most: int) -> str:
    """The beginning of `str(value)` for lists, structs and maps, without rendering all of it."""
    match value:
        case bytes():
            return value[: most // 2 + 1].hex()[:most]
        case str():
            return repr(value[:most])[:most]
        case Mapping():
            return _joined("{", (f"{key!r}: " for key in value), value.values(), "}", most)
        case list() | tuple():
            opened, closed = ("[", "]") if isinstance(value, list) else ("(", ")")
            return _joined(opened, ("" for _ in value), value, closed, most)
        case _:
            return str(value)[:most]


def _joined(opened: str, names: object, values: object, closed: str, most: int) -> str:
    text = opened
    for name, value in zip(names, values, strict=True):  # type: ignore[call-overload]
        if len(text) > most:
            return text[:most]
        text += ("" if text == opened else ", ") + name + brief(value, most - len(text) + 1)
    return (text + closed)[:most]


def harmless(value: object) -> object:
    """A value safe for a CSV: text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if value is None or isinstance(value, _PLAIN):
        return value
    text = str(value)
    safe = ("'" if _BEGINS.match(text) else "") + _INSIDE.sub(r"\1'", text)
    return safe if isinstance(value, str) or safe != text else value
