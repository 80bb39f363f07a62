"""Small read-only pieces of HTML: tiles, facts, tables, chips, notes. Text in, escaped HTML out.

Invariant: HTML tags occur only in the templates next to this module, and everything inserted into them is escaped
there, so names written by others stay text.
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

Html = Markup  # finished HTML that is not escaped again
Piece = str | Html


def _printable(value: object) -> object:
    """Convert a value to text; messages from core are translated."""
    if isinstance(value, Html) or not isinstance(value, str):
        return value
    return cells.escape_direction_marks(cells.shortened(words.spoken(value), cells.LONGEST_TEXT))


@cache
def templates() -> Environment:
    """Load the templates of this directory. They translate and escape all values except `Html`."""
    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_printable)


@cache
def _macros() -> object:
    return templates().get_template("markup.html").module


def _piece(name: str, *values: object) -> Html:
    html: Html = getattr(_macros(), name)(*values)
    return html


def join(pieces: Iterable[Piece], between: str = " ") -> Html:
    return Html(between).join(str(_printable(piece)) if not isinstance(piece, Html) else piece for piece in pieces)


def mono(text: object) -> Html:
    """Render an id or a path."""
    return _piece("mono", str(text))


def muted(text: str) -> Html:
    return _piece("muted", text)


def hint(shown: Piece, exact: str) -> Html:
    """Render a rounded value, with the exact one on hover."""
    return _piece("hint", shown, exact)


def size(value: int | None, *, at_least: bool = False) -> Html:
    """Render `71.3 GB`, exact on hover, with `≥` for a lower bound."""
    return hint(("≥ " if at_least else "") + units.size(value), units.exact_bytes(value))


def moment(ms: int | None, zone: str, now_ms: int) -> Html:
    """Render an absolute time with its zone, its age in grey, and epoch milliseconds on hover."""
    if ms is None:
        return Html("—")
    return join([hint(units.moment(ms, zone), f"{ms} ms since 1970 UTC"), muted(f"({units.ago(ms, now_ms)})")])


def chip(meaning: str, text: str) -> Html:
    """Render a name in the colour of its meaning, preceded by the sign of that meaning."""
    return _piece("chip", meaning, SIGNS[meaning], text)


def strong(text: str) -> Html:
    return _piece("strong", text)


def in_hue(meaning: str, text: Piece) -> Html:
    return _piece("in_hue", meaning, text)


def tiles(found: Sequence[tuple[str, Piece, Piece]]) -> Html:
    """Render `(label, value, text below)` tiles side by side."""
    return _piece("tiles", found)


def facts(found: Iterable[tuple[str, Piece]]) -> Html:
    """Render `(name, value)` pairs as a list."""
    return _piece("facts", found)


def table(heads: Sequence[str], rows: Iterable[Sequence[Piece]], numbers: Iterable[int] = ()) -> Html:
    """Render a small table; `numbers` are the right-aligned columns."""
    return _piece("table", heads, rows, set(numbers))


def matrix(
    what: str, corner: str, heads: Sequence[Piece], rows: Iterable[tuple[Piece, Sequence[tuple[str, Piece, str]]]]
) -> Html:
    """Render a matrix: each row has a name and cells `(state, text, hover text)`; an empty state is an empty place."""
    return _piece("matrix", what, corner, heads, rows)


def changes(title: str, when: str, lines: Sequence[tuple[Piece, Piece]]) -> Html:
    """Render what changed at one time: each change with what it means."""
    return _piece("changes", title, when, lines)


def bar(meaning: str, share: float, amount: int) -> Html:
    """Render a size with a bar, whose length is the share of the largest size."""
    return _piece("bar", meaning, max(2, round(share * 100)), units.size(amount), units.exact_bytes(amount))


def headline(text: str) -> Html:
    return _piece("headline", text)


def card(title: str, lines: Sequence[Piece], otherwise: str, *, strong: bool = False) -> Html:
    """Render one of several cards side by side; `otherwise` is shown if there are no lines."""
    return _piece("card", title, lines, otherwise, strong)


def cards(found: Iterable[Html]) -> Html:
    return _piece("cards", found)


_GLYPHS = {
    "circle": "●",
    "circle-open": "○",
    "diamond": "◆",
    "diamond-open": "◇",
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
    """Render a chart legend of `(marker, colour, label)`. A marker `letter:X` is that letter in a frame."""
    parts = [(marker.partition(":"), hue, word) for marker, hue, word in entries]
    return _piece("legend", [(kind, letter or _GLYPHS[kind], hue, word) for (kind, _, letter), hue, word in parts])


def scale(name: str, least: str, most: str) -> Html:
    """What the shades of a chart mean: from the palest to the darkest."""
    return _piece("scale", name, least, most)


def stack(parts: Sequence[tuple[str, str, int]]) -> Html:
    """Render a stacked bar of `(colour, label, bytes)`, with labels below."""
    total = sum(amount for _, _, amount in parts) or 1
    shares = [f"{amount / total * 100:.2f}%" if amount else "" for _, _, amount in parts]
    found = zip(parts, shares, strict=True)
    return _piece(
        "stack",
        [(hue, word, share, units.size(amount), units.exact_bytes(amount)) for (hue, word, amount), share in found],
    )


def note(level: str, text: Piece) -> Html:
    """Render a notice; `level` is info, warning or problem."""
    sign = {"info": "i", "warning": "!", "problem": "✕"}[level]
    return _piece("note", level, sign, text if isinstance(text, Html) else code(text))


def stepper(what: str, steps: Sequence[tuple[str, str]]) -> Html:
    """A heading and its steps side by side: `(done, now or next, words)`."""
    signs = {"done": SIGNS["kept"], "now": "●", "next": "○"}
    return _piece("stepper", what, [(state, signs[state], text) for state, text in steps])


def mode(name: str, help: str) -> Html:
    """Render the read-only badge."""
    return _piece("mode", name, help)


def rule(parts: Sequence[str], names: Sequence[str]) -> Html:
    """Render how a figure is computed: its name, then each part of the rule under its heading."""
    return _piece("rule", parts[0], facts(zip(names, parts[1:], strict=True)))


def labelled(label: str, text: str) -> Html:
    """Render a value that is chosen elsewhere like a box of its own: its label, then the value."""
    return _piece("labelled", label, text)


def picked(text: str, level: str = "") -> Html:
    """Render the small line below a version picker; `level` is problem if the text does not resolve."""
    return _piece("picked", text, code(text), level)


def empty(title: str, text: str) -> Html:
    """Render an empty state: what it means and what to do next."""
    return _piece("empty", title, code(text))


def error(title: str, message: str, found: Iterable[tuple[str, Piece]]) -> Html:
    """Render an error: the message, then the file, what still works and what to do."""
    return _piece("error", title, code(message), facts(found))


def head(database: str, name: str, summary: str) -> Html:
    """Render the first line of a table's page."""
    return _piece("head", database, name, summary)


def code(text: str) -> Html:
    """Render escaped text in which `…` is set as code."""
    return _piece("code", str(_printable(text)).split("`"))


def panel_title(text: str) -> Html:
    return _piece("panel_title", text)


def column_name(text: str) -> Html:
    return _piece("column_name", text)


def grid_head(columns: Sequence[tuple[str, str]]) -> Html:
    """Render the column heads of Home, each with an explanation on hover."""
    return _piece("grid_head", columns)


def news(text: Piece) -> Html:
    """Render what is new in a table, below its row."""
    return _piece("news", text)


def grid_line(cells: Sequence[Piece], below: Piece) -> Html:
    """Render a row of Home: cells in columns, with `below` under them."""
    return _piece("grid_line", cells, below)


def stat(parts: Sequence[Piece]) -> Html:
    """Render figures on one line."""
    return _piece("stat", parts)


def story(steps: Sequence[str], question: str, answer: str) -> Html:
    """Render a list of steps, with the answer to a question on request."""
    return _piece("story", [code(each) for each in steps], question, code(answer))


def tree(heads: Sequence[str], lines: Piece) -> Html:
    return _piece("tree", heads, lines)


def folder(line: Html, inner: Html, *, is_open: bool) -> Html:
    """Render an expandable tree node."""
    return _piece("folder", line, inner, is_open)


def tree_line(depth: int, name: Piece, cells: Sequence[Piece]) -> Html:
    """Render a tree row; only its name is indented, so that figures stay aligned."""
    return _piece("tree_line", f"{depth * 1.1:.1f}", name, cells)
