"""Build one HTML page from titles, facts and tables: a self-contained file to read, print and pass on.

Invariant: tags appear only in `page.html`, and every text is escaped there. Unprintable characters are written as
escapes, so foreign names cannot affect the page or its reader. The page loads and runs nothing, and its content
security policy enforces that.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from core.messages import literal, message
from core.model.time_input import zone_of
from core.safe_text import LONGEST_TEXT, shortened
from core.units import printable
from core.units import size as rounded

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context

Speak = Callable[[str], str]


class Whole(str):
    """A text that must not be shortened."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of `page.html` by its kind, with its content; texts are translated and escaped later."""

    kind: str = ""
    holds: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kind)


Piece = str | Fragment


def html(*pieces: Piece) -> Fragment:
    """Join pieces."""
    return Fragment("all", pieces)


@cache
def _template() -> Template:
    """The template: texts are translated for the reader, and invisible or direction-changing characters escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context  # slow, and only reports need it

    @pass_context
    def rendered(context: Context, value: object) -> object:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        text = context["speak"](value)
        return printable(text if isinstance(value, Whole) else shortened(text, LONGEST_TEXT))

    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=rendered)
    return environment.get_template("page.html")


def mono(value: object) -> Fragment:
    """An id, a name or a path. The digits of a number stay on one line."""
    return Fragment("mono", (str(value),))


def marked(kind: str, value: str) -> Fragment:
    """A word in the colour of its meaning: `goes` or `stays`."""
    return Fragment("marked", (Markup(kind), value))


def count(value: int | None, *, at_least: bool = False) -> str:
    return "—" if value is None else f"{'≥ ' if at_least else ''}{value:,}".replace("-", "−")


def signed(value: int | None) -> str:
    return "—" if value is None else f"{value:+,}".replace("-", "−")


def size(value: int | None, *, at_least: bool = False) -> Fragment:
    """`71.3 GB`, with the exact number of bytes on hover."""
    if value is None:
        return html("—")
    shown = ("≥ " if at_least else "") + ("−" if value < 0 else "") + rounded(abs(value))
    return Fragment("hint", (message("{bytes:,} bytes", bytes=value), shown))


def exact(value: int, *, at_least: bool = False) -> str:
    """`71.3 GB (71,312,345,678 bytes)`, because paper has no hover."""
    shown = ("≥ " if at_least else "") + rounded(value)
    return message("{size} ({bytes:,} bytes)", size=shown, bytes=value)


def moment(ms: int | None, zone: str) -> str:
    """`2026-01-03 08:00:00 CST`; a number outside the calendar stays a number."""
    if ms is None:
        return "—"
    try:
        at = (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)).astimezone(zone_of(zone))
    except (OverflowError, ValueError):
        return f"{ms} ms since 1970 UTC"
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname() or zone}"


def section(title: str, *parts: Fragment) -> Fragment:
    """A heading with its content; empty if there is no content."""
    body = [each for each in parts if each]
    return Fragment("section", (literal(title), *body)) if body else Fragment()


def sentence(value: Piece, kind: str = "") -> Fragment:
    return Fragment("sentence", (Markup(kind), value))


def note(value: str, kind: str = "warning") -> Fragment:
    return sentence(value, f"note {kind}")


def command(value: str) -> Fragment:
    return Fragment("command", (Whole(value),))


def facts(pairs: Iterable[tuple[str, Piece]]) -> Fragment:
    return Fragment("facts", tuple((literal(name), value) for name, value in pairs))


def table(heads: Sequence[str], rows: Sequence[Sequence[Piece]], *, of: int | None = None, what: str = "") -> Fragment:
    """A table. A heading with a leading `#` marks a numeric column.

    `of`: the total number of `what` if not all are shown.
    """
    if not rows:
        return Fragment()
    numbers = [head.startswith("#") for head in heads]
    assert all(len(row) == len(heads) for row in rows)
    shown = Fragment("table", ([literal(each.removeprefix("#")) for each in heads], numbers, rows))
    if not of or of <= len(rows):
        return shown
    less = message("The first {shown:,} of {all:,} {what} are listed.", shown=len(rows), all=of, what=literal(what))
    return html(shown, note(less))


def page(title: str, lead: str, parts: Iterable[Fragment], foot: str, speak: Speak = str) -> str:
    """The whole document. `lead` follows the title, `foot` ends the page; `speak` translates texts."""
    return _template().render(
        lang=message("en"), title=title, lead=literal(lead), parts=list(parts), foot=foot, speak=speak
    )
