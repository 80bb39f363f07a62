"""One HTML page out of titles, facts and tables: a file that needs nothing else, to be read, printed and sent on.

Law: tags stand in `page.html` alone and every text is escaped there. What no one can print is written as an escape, so
names that others gave steer neither the page nor its reader. The page loads and runs nothing; its policy says so, too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup

from core.errors import Invalid
from core.messages import literal, told
from core.safe_text import SAID, shortened
from core.units import printable
from core.units import size as rounded

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.runtime import Context

UTC = "UTC"
Speak = Callable[[str], str]


class Whole(str):
    """A text that is no use without its end."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of `page.html` by its kind, and what it holds: texts are still to be said in a language and escaped."""

    kind: str = ""
    holds: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kind)


Piece = str | Fragment


def html(*pieces: Piece) -> Fragment:
    """One piece after another."""
    return Fragment("all", pieces)


@cache
def _template() -> Template:
    """The page: every text told in its reader's language, with no character that is invisible or turns it around."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context  # slow, and only reports need it

    @pass_context
    def said(context: Context, value: object) -> object:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        text = context["speak"](value)
        return printable(text if isinstance(value, Whole) else shortened(text, SAID))

    loader = FileSystemLoader(Path(__file__).parent)
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=said)
    return made.get_template("page.html")


def mono(value: object) -> Fragment:
    """An id, a name or a path. The digits of a number stay on one line."""
    return Fragment("mono", (str(value),))


def marked(kind: str, value: str) -> Fragment:
    """A word in the hue of what it says: `goes` or `stays`."""
    return Fragment("marked", (Markup(kind), value))


def count(value: int | None, *, at_least: bool = False) -> str:
    return "—" if value is None else f"{'≥ ' if at_least else ''}{value:,}".replace("-", "−")


def signed(value: int | None) -> str:
    return "—" if value is None else f"{value:+,}".replace("-", "−")


def size(value: int | None, *, at_least: bool = False) -> Fragment:
    """`71.3 GB`, and the exact number of bytes on hover."""
    if value is None:
        return html("—")
    shown = ("≥ " if at_least else "") + ("−" if value < 0 else "") + rounded(abs(value))
    return Fragment("hint", (told("{bytes:,} bytes", bytes=value), shown))


def exact(value: int, *, at_least: bool = False) -> str:
    """`71.3 GB (71,312,345,678 bytes)`: paper has no hover."""
    shown = ("≥ " if at_least else "") + rounded(value)
    return told("{size} ({bytes:,} bytes)", size=shown, bytes=value)


def moment(ms: int | None, zone: str) -> str:
    """`2026-01-03 08:00:00 CST`; the bare number where no calendar holds it."""
    if ms is None:
        return "—"
    try:
        at = (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)).astimezone(_zone(zone))
    except (OverflowError, ValueError):
        return f"{ms} ms since 1970 UTC"
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname() or zone}"


def _zone(name: str) -> dt.tzinfo:
    try:
        return dt.UTC if name == UTC else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid(
            "There is no time zone {name!r}.", name=name, remedy="Write one such as Asia/Shanghai."
        ) from error


def section(title: str, *parts: Fragment) -> Fragment:
    """A heading with what stands under it; nothing where nothing stands there."""
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
    """A table; a head that begins with `#` is of numbers. `of` is how many `what` there are where not all are shown."""
    if not rows:
        return Fragment()
    numbers = [head.startswith("#") for head in heads]
    assert all(len(row) == len(heads) for row in rows)
    made = Fragment("table", ([literal(each.removeprefix("#")) for each in heads], numbers, rows))
    if not of or of <= len(rows):
        return made
    less = told("The first {shown:,} of {all:,} {what} are listed.", shown=len(rows), all=of, what=literal(what))
    return html(made, note(less))


def page(title: str, lead: str, parts: Iterable[Fragment], foot: str, speak: Speak = str) -> str:
    """The whole document. `lead` stands under the title, `foot` at the end; `speak` says what is told in a language."""
    return _template().render(
        lang=told("en"), title=title, lead=literal(lead), parts=list(parts), foot=foot, speak=speak
    )
