"""Small read-only pieces of HTML: tiles, facts, tables, chips, notes. Text in, escaped HTML out.

Law: everything that is not one of these functions' own tags is escaped here, so names written by others stay text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as escaped

from core import safe_text as cells
from dashboard import words
from dashboard.formatting import units
from dashboard.formatting.palette import SIGNS


@dataclass(frozen=True, slots=True)
class Html:
    """Finished HTML, not to be escaped again."""

    text: str

    def __str__(self) -> str:
        return self.text


Piece = str | Html


def escape(text: str) -> str:
    """Text as HTML; what the core says, in the language of the reader."""
    return escaped(cells.shortened(words.spoken(text), cells.SAID))


def _of(piece: Piece) -> str:
    return piece.text if isinstance(piece, Html) else escape(piece)


def join(pieces: Iterable[Piece], between: str = " ") -> Html:
    return Html(between.join(_of(piece) for piece in pieces))


def mono(text: object) -> Html:
    """An id or a path."""
    return Html(f'<span class="snap-mono">{escape(str(text))}</span>')


def muted(text: str) -> Html:
    return Html(f'<span class="snap-muted">{escape(text)}</span>')


def hint(shown: Piece, exact: str) -> Html:
    """Something rounded, with the exact figure on hover."""
    return Html(f'<span title="{escape(exact)}">{_of(shown)}</span>')


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
    return Html(f'<span class="snap-chip snap-{meaning}" title="{escape(text)}">{SIGNS[meaning]} {escape(text)}</span>')


def in_hue(meaning: str, text: Piece) -> Html:
    return Html(f'<b class="snap-{meaning}">{_of(text)}</b>')


def tiles(found: Sequence[tuple[str, Piece, Piece]]) -> str:
    """`(label, value, what stands under it)` side by side."""
    cells = "".join(
        f'<div class="snap-tile"><div class="snap-label">{escape(label)}</div>'
        f'<div class="snap-value">{_of(value)}</div><div class="snap-sub">{_of(below)}</div></div>'
        for label, value, below in found
    )
    return f'<div class="snap-tiles">{cells}</div>'


def facts(found: Iterable[tuple[str, Piece]]) -> str:
    """`(name, value)` below one another."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{_of(value)}</dd>" for name, value in found)
    return f'<dl class="snap-facts">{rows}</dl>'


def table(heads: Sequence[str], rows: Iterable[Sequence[Piece]], numbers: Iterable[int] = ()) -> str:
    """A small table; `numbers` are the columns set flush right."""
    right = set(numbers)

    def cells(tag: str, row: Sequence[Piece]) -> str:
        classes = [' class="snap-num"' if place in right else "" for place in range(len(row))]
        return "".join(f"<{tag}{kind}>{_of(cell)}</{tag}>" for kind, cell in zip(classes, row, strict=True))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<thead><tr>{cells('th', heads)}</tr></thead>"
    return f'<div class="snap-scroll"><table class="snap-table">{head}<tbody>{body}</tbody></table></div>'


def bar(meaning: str, share: float, amount: int) -> Html:
    """A size with a bar as long as its share of the largest one."""
    width = max(2, round(share * 100))
    return Html(
        f'<span class="snap-bar snap-{meaning}" title="{units.exact_bytes(amount)}">'
        f'<i style="width:{width}%"></i><span>{units.size(amount)}</span></span>'
    )


def headline(text: str) -> str:
    return f'<div class="snap-headline">{escape(text)}</div>'


def card(title: str, lines: Sequence[Piece], otherwise: str, *, strong: bool = False) -> Html:
    """One of several things side by side; `otherwise` stands where there are no lines."""
    body = "".join(f"<div>{_of(line)}</div>" for line in lines) or f'<div class="snap-muted">{escape(otherwise)}</div>'
    kind = " snap-strong" if strong else ""
    return Html(f'<div class="snap-card{kind}"><div class="snap-label">{escape(title)}</div>{body}</div>')


def cards(found: Iterable[Html]) -> str:
    return f'<div class="snap-cards">{"".join(each.text for each in found)}</div>'


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


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """`(marker, hue, word)`: what the marks of a chart mean. A marker `letter:X` is that letter in a frame."""
    parts = ""
    for marker, hue, word in entries:
        kind, _, letter = marker.partition(":")
        parts += f'<span><i class="snap-{hue} snap-glyph-{kind}">{letter or _GLYPHS[kind]}</i>{escape(word)}</span>'
    return f'<div class="snap-legend">{parts}</div>'


def stack(parts: Sequence[tuple[str, str, int]]) -> str:
    """One bar of `(hue, word, bytes)`, what each part is under it."""
    total = sum(amount for _, _, amount in parts) or 1
    bar, keys = "", ""
    for hue, word, amount in parts:
        exact = units.exact_bytes(amount)
        if amount:
            share = f"{amount / total * 100:.2f}%"
            bar += f'<i class="snap-{hue}" style="width:{share}" title="{escape(word)}: {exact}"></i>'
        size = f'<b title="{exact}">{units.size(amount)}</b>'
        keys += f'<span><i class="snap-{hue}"></i>{escape(word)} {size}</span>'
    return f'<div class="snap-stack">{bar}</div><div class="snap-stack-keys">{keys}</div>'


def note(level: str, text: Piece) -> str:
    """One line worth knowing; `level` is info, warning or problem."""
    sign = {"info": "i", "warning": "!", "problem": "✕"}[level]
    body = text.text if isinstance(text, Html) else code(text)
    return f'<div class="snap-note {level}"><span class="snap-sign">{sign}</span><span>{body}</span></div>'


def mode(name: str, help: str) -> str:
    """That nothing can be changed: a frame with a sign."""
    return f'<div class="snap-mode" title="{escape(help)}">{escape(name)}</div>'


def rule(parts: Sequence[str], names: Sequence[str]) -> str:
    """How a figure is computed: its name, then each part of the rule under the name of that part."""
    return f'<div class="snap-rule"><b>{escape(parts[0])}</b>{facts(zip(names, parts[1:], strict=True))}</div>'


def picked(text: str, level: str = "") -> str:
    """The quiet line under a box that names a point; `level` is problem where it names none."""
    return f'<div class="snap-picked {level}" title="{escape(text)}">{code(text)}</div>'


def empty(title: str, text: str) -> str:
    """A place with nothing to show: what that means and what to do next."""
    return f'<div class="snap-empty"><div class="snap-title">{escape(title)}</div><div>{code(text)}</div></div>'


def error(title: str, message: str, found: Iterable[tuple[str, Piece]]) -> str:
    """An error: what, then file, what still works, what to do."""
    return (
        f'<div class="snap-error" role="alert"><div class="snap-title">{escape(title)}</div>'
        f"<div>{code(message)}</div>{facts(found)}</div>"
    )


def head(database: str, name: str, summary: str) -> str:
    """The first line of a table's page."""
    before = f'<span class="snap-db">{escape(database)}.</span>' if database else ""
    return (
        f'<h1 class="snap-head" style="padding:0"><span class="snap-name">{before}{escape(name)}</span>'
        f'<span class="snap-muted" style="font-size:0.95rem;font-weight:400">{escape(summary)}</span></h1>'
    )


def code(text: str) -> str:
    """Escaped text in which `…` is set as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def panel_title(text: str) -> str:
    return f'<h2 class="snap-panel-title" style="padding:0">{escape(text)}</h2>'


def column_name(text: str) -> str:
    return f'<div class="snap-row-name">{escape(text)}</div>'


def grid_head(columns: Sequence[tuple[str, str]]) -> str:
    """Names of Home's columns, each with what it means on hover."""
    cells = "".join(f'<span title="{escape(help)}">{escape(name)}</span>' for name, help in columns)
    return f'<div class="snap-row snap-row-head">{cells}</div>'


def news(text: Piece) -> str:
    """What is new in a table, under its line."""
    return f'<div class="snap-news">{_of(text)}</div>'


def grid_line(cells: Sequence[Piece], below: str) -> str:
    """One line of Home: cells in columns; under them `below`, finished HTML."""
    inner = "".join(f"<span>{_of(cell)}</span>" for cell in cells)
    return f'<div class="snap-row">{inner}</div>{below}'
