"""One HTML page out of titles, facts and tables: a file that needs nothing else, to be read, printed and sent on.

Law: every text is escaped here, and what no one can print is written as an escape, so names that others gave steer
neither the page nor its reader. The page loads and runs nothing; its own policy forbids it too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.errors import Invalid
from core.messages import literal, told
from core.safe_text import SAID, shortened
from core.units import printable
from core.units import size as rounded

UTC = "UTC"
_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1d2433, #dfe4ec); --muted: light-dark(#5d6878, #98a3b5);
  --line: light-dark(#dde2e9, #2b3340); --paper: light-dark(#ffffff, #12161d); --panel: light-dark(#f5f7f9, #181e27);
  --freed: light-dark(#c62436, #ff7582); --warn: light-dark(#8f6100, #f0c04f); --kept: light-dark(#087a6f, #3fd0bf); }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
h1 { font-size: 1.45rem; line-height: 1.35; margin: 0.2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; padding-bottom: 0.2rem; border-bottom: 1px solid var(--line); }
p { margin: 0.4rem 0; overflow-wrap: anywhere; } .lead, .small, footer { color: var(--muted); }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 0.6rem; font-size: 0.87rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 1rem; margin: 0.5rem 0; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; } .wide + .wide { margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
th { text-align: left; color: var(--muted); font-weight: 500; } th, td { padding: 0.22rem 0.8rem 0.22rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; font-variant-numeric: tabular-nums; }
td:first-child, td:last-child { overflow-wrap: anywhere; } .num { text-align: right; white-space: nowrap; }
code, pre { font-family: ui-monospace, "Source Code Pro", Consolas, monospace; font-size: 0.92em; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.7rem 0.9rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.note { border-left: 4px solid var(--warn); padding: 0.2rem 0 0.2rem 0.8rem; }
.note.problem { border-color: var(--freed); }
.goes { color: var(--freed); } .stays { color: var(--kept); }
td:last-child:not(.num) { min-width: 7rem; }
@page { size: landscape; margin: 14mm; }
@media print { :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 10.5pt; }
  thead { display: table-header-group; } tr, .note, pre { break-inside: avoid; } h2 { break-after: avoid; } }
"""


Speak = Callable[[str], str]


class Tag(str):
    """Finished HTML, not to be escaped again."""


class Whole(str):
    """A text that is no use without its end."""


@dataclass(frozen=True, slots=True)
class Html:
    """Tags, and texts that are still to be said in a language and escaped."""

    parts: tuple[str, ...] = ()


Piece = str | Html


def html(*pieces: Piece) -> Html:
    """One piece after another."""
    return Html(tuple(part for piece in pieces for part in (piece.parts if isinstance(piece, Html) else (piece,))))


def _text(value: str, speak: Speak) -> str:
    """Escaped text in which no character is invisible or turns the line around."""
    if isinstance(value, Tag):
        return value
    said = speak(value)
    return escape(printable(said if isinstance(value, Whole) else shortened(said, SAID)))


def _in(tag: str, *pieces: Piece, kind: str = "") -> Html:
    return html(Tag(f'<{tag} class="{kind}">' if kind else f"<{tag}>"), *pieces, Tag(f"</{tag}>"))


def mono(value: object) -> Html:
    """An id, a name or a path. The digits of a number stay on one line."""
    return _in("code", str(value), kind="num" if str(value).isdecimal() else "")


def marked(kind: str, value: str) -> Html:
    """A word in the hue of what it says: `goes` or `stays`."""
    return _in("span", value, kind=kind)


def count(value: int | None, *, at_least: bool = False) -> str:
    return "—" if value is None else f"{'≥ ' if at_least else ''}{value:,}".replace("-", "−")


def signed(value: int | None) -> str:
    return "—" if value is None else f"{value:+,}".replace("-", "−")


def size(value: int | None, *, at_least: bool = False) -> Html:
    """`71.3 GB`, and the exact number of bytes on hover."""
    if value is None:
        return html("—")
    shown = ("≥ " if at_least else "") + ("−" if value < 0 else "") + rounded(abs(value))
    return html(Tag('<span title="'), told("{bytes:,} bytes", bytes=value), Tag('">'), shown, Tag("</span>"))


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


def section(title: str, *parts: Html) -> Html:
    """A heading with what stands under it; nothing where nothing stands there."""
    body = html(*parts)
    return _in("section", _in("h2", literal(title)), body) if body.parts else body


def sentence(value: Piece, kind: str = "") -> Html:
    return _in("p", value, kind=kind)


def note(value: str, kind: str = "warning") -> Html:
    return _in("p", value, kind=f"note {kind}")


def command(value: str) -> Html:
    return _in("pre", Whole(value))


def facts(pairs: Iterable[tuple[str, Piece]]) -> Html:
    return _in(
        "dl", *(_in(tag, piece) for name, value in pairs for tag, piece in (("dt", literal(name)), ("dd", value)))
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[Piece]], *, of: int | None = None, what: str = "") -> Html:
    """A table; a head that begins with `#` is of numbers. `of` is how many `what` there are where not all are shown."""
    if not rows:
        return Html()
    kinds = ["num" if head.startswith("#") else "" for head in heads]

    def line(tag: str, cells: Iterable[Piece]) -> Html:
        return _in("tr", *(_in(tag, cell, kind=kind) for cell, kind in zip(cells, kinds, strict=True)))

    head = _in("thead", line("th", [literal(each.removeprefix("#")) for each in heads]))
    made = _in("div", _in("table", head, _in("tbody", *(line("td", row) for row in rows))), kind="wide")
    if not of or of <= len(rows):
        return made
    less = told("The first {shown:,} of {all:,} {what} are listed.", shown=len(rows), all=of, what=literal(what))
    return html(made, note(less))


def page(title: str, lead: str, parts: Iterable[Html], foot: str, speak: Speak = str) -> str:
    """The whole document. `lead` stands under the title, `foot` at the end; `speak` says what is told in a language."""
    body = html(
        _in("header", _in("h1", title), _in("p", literal(lead), kind="lead")), _in("main", *parts), _in("footer", foot)
    )
    return (
        f'<!doctype html>\n<html lang="{_text(told("en"), speak)}"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title, speak)}</title><style>{_STYLE}</style></head><body>"
        f"{''.join(_text(part, speak) for part in body.parts)}</body></html>\n"
    )
