"""Small read-only pieces of HTML: tiles, facts, tables, chips, notes. Text in, escaped HTML out.

Law: tags stand in the templates beside this module alone, and everything that is put into them is escaped there, so
names written by others stay text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from core import safe_text as cells
from dashboard import words
from dashboard.formatting import units
from dashboard.formatting.palette import SIGNS

Html = Markup  # finished HTML, not to be escaped again
Piece = str | Html


def _said(value: object) -> object:
    """A text as it is shown; what the core says, in the language of the reader."""
    if isinstance(value, Html) or not isinstance(value, str):
        return value
    return cells.shortened(words.spoken(value), cells.SAID)


@cache
def templates() -> Environment:
    """The templates of this directory. What they show is said and escaped by them; `Html` is neither."""
    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_said)


@cache
def _macros() -> object:
    return templates().get_template("markup.html").module


def _piece(name: str, *values: object) -> Html:
    made: Html = getattr(_macros(), name)(*values)
    return made


def join(pieces: Iterable[Piece], between: str = " ") -> Html:
    return Html(between).join(str(_said(piece)) if not isinstance(piece, Html) else piece for piece in pieces)


def mono(text: object) -> Html:
    """An id or a path."""
    return _piece("mono", str(text))


def muted(text: str) -> Html:
    return _piece("muted", text)


def hint(shown: Piece, exact: str) -> Html:
    """Something rounded, with the exact figure on hover."""
    return _piece("hint", shown, exact)


def size(value: int | None, *, at_least: bool = False) -> Html:
    """`71.3 GB`, exact on hover; `≥` in front of a lower bound."""
    return hint(("≥ " if at_least else "") + units.size(value), units.exact_bytes(value))


def moment(ms: int | None, zone: str, now_ms: int) -> Html:
    """An absolute time with its zone, how long ago in grey, epoch milliseconds on hover."""
    if ms is None:
        return Html("—")
    return join([hint(units.moment(ms, zone), f"{ms} ms since 1970 UTC"), muted(f"({units.ago(ms, now_ms)})")])


def chip(meaning: str, text: str) -> Html:
    """A name in the hue of its meaning, with the sign of that meaning in front."""
    return _piece("chip", meaning, SIGNS[meaning], text)


def strong(text: str) -> Html:
    return _piece("strong", text)


def in_hue(meaning: str, text: Piece) -> Html:
    return _piece("in_hue", meaning, text)


def tiles(found: Sequence[tuple[str, Piece, Piece]]) -> Html:
    """`(label, value, what stands under it)` side by side."""
    return _piece("tiles", found)


def facts(found: Iterable[tuple[str, Piece]]) -> Html:
    """`(name, value)` below one another."""
    return _piece("facts", found)


def table(heads: Sequence[str], rows: Iterable[Sequence[Piece]], numbers: Iterable[int] = ()) -> Html:
    """A small table; `numbers` are the columns set flush right."""
    return _piece("table", heads, rows, set(numbers))


def bar(meaning: str, share: float, amount: int) -> Html:
    """A size with a bar as long as its share of the largest one."""
    return _piece("bar", meaning, max(2, round(share * 100)), units.size(amount), units.exact_bytes(amount))


def headline(text: str) -> Html:
    return _piece("headline", text)


def card(title: str, lines: Sequence[Piece], otherwise: str, *, strong: bool = False) -> Html:
    """One of several things side by side; `otherwise` stands where there are no lines."""
    return _piece("card", title, lines, otherwise, strong)


def cards(found: Iterable[Html]) -> Html:
    return _piece("cards", found)


_GLYPHS = {
    "circle": "●",
    "circle-open": "○",
    "diamond": "◆",
    "square": "■",
    "x-thin-open": "✕",
    "triangle-down": "▼",
    "triangle-up": "▲",
    "triangle-left": "◀",
    "line": "└",
    "path": "━",
    "band": "",
}


def legend(entries: Iterable[tuple[str, str, str]]) -> Html:
    """`(marker, hue, word)`: what the marks of a chart mean. A marker `letter:X` is that letter in a frame."""
    parts = [(marker.partition(":"), hue, word) for marker, hue, word in entries]
    return _piece("legend", [(kind, letter or _GLYPHS[kind], hue, word) for (kind, _, letter), hue, word in parts])


def stack(parts: Sequence[tuple[str, str, int]]) -> Html:
    """One bar of `(hue, word, bytes)`, what each part is under it."""
    total = sum(amount for _, _, amount in parts) or 1
    shares = [f"{amount / total * 100:.2f}%" if amount else "" for _, _, amount in parts]
    found = zip(parts, shares, strict=True)
    return _piece(
        "stack",
        [(hue, word, share, units.size(amount), units.exact_bytes(amount)) for (hue, word, amount), share in found],
    )


def note(level: str, text: Piece) -> Html:
    """One line worth knowing; `level` is info, warning or problem."""
    sign = {"info": "i", "warning": "!", "problem": "✕"}[level]
    return _piece("note", level, sign, text if isinstance(text, Html) else code(text))


def mode(name: str, help: str) -> Html:
    """That nothing can be changed: a frame with a sign."""
    return _piece("mode", name, help)


def rule(parts: Sequence[str], names: Sequence[str]) -> Html:
    """How a figure is computed: its name, then each part of the rule under the name of that part."""
    return _piece("rule", parts[0], facts(zip(names, parts[1:], strict=True)))


def picked(text: str, level: str = "") -> Html:
    """The quiet line under a box that names a point; `level` is problem where it names none."""
    return _piece("picked", text, code(text), level)


def empty(title: str, text: str) -> Html:
    """A place with nothing to show: what that means and what to do next."""
    return _piece("empty", title, code(text))


def error(title: str, message: str, found: Iterable[tuple[str, Piece]]) -> Html:
    """An error: what, then file, what still works, what to do."""
    return _piece("error", title, code(message), facts(found))


def head(database: str, name: str, summary: str) -> Html:
    """The first line of a table's page."""
    return _piece("head", database, name, summary)


def code(text: str) -> Html:
    """Escaped text in which `…` is set as code."""
    return _piece("code", str(_said(text)).split("`"))


def panel_title(text: str) -> Html:
    return _piece("panel_title", text)


def column_name(text: str) -> Html:
    return _piece("column_name", text)


def grid_head(columns: Sequence[tuple[str, str]]) -> Html:
    """Names of Home's columns, each with what it means on hover."""
    return _piece("grid_head", columns)


def news(text: Piece) -> Html:
    """What is new in a table, under its line."""
    return _piece("news", text)


def grid_line(cells: Sequence[Piece], below: Piece) -> Html:
    """One line of Home: cells in columns; under them `below`."""
    return _piece("grid_line", cells, below)


def stat(parts: Sequence[Piece]) -> Html:
    """Figures on one line."""
    return _piece("stat", parts)


def story(steps: Sequence[str], question: str, answer: str) -> Html:
    """Steps below one another; the answer to a question on request."""
    return _piece("story", [code(each) for each in steps], question, code(answer))


def tree(heads: Sequence[str], lines: Piece) -> Html:
    return _piece("tree", heads, lines)


def folder(line: Html, inner: Html, *, is_open: bool) -> Html:
    """A line of a tree that opens and closes."""
    return _piece("folder", line, inner, is_open)


def tree_line(depth: int, name: Piece, cells: Sequence[Piece]) -> Html:
    """One line of a tree; only its name is set in by its depth, so that figures stand below figures."""
    return _piece("tree_line", f"{depth * 1.1:.1f}", name, cells)
