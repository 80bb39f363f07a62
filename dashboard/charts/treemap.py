"""A treemap of folders as plotly JSON: one colour, areas by bytes, small entries combined. Pure.

Invariant: rectangles are bar marks, because only those can be clicked and reached by keyboard; each carries its link
target.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.file_tree import capped, squarified
from dashboard import words
from dashboard.charts.canvas import FONT, HOVER, Figure
from dashboard.formatting import units
from dashboard.formatting.palette import Palette

WIDTH, HEIGHT = 600, 380  # pixels in a narrow window; whatever fits there also fits in a wide one
SHOWN = 120
SHADE, PALEST, DARKEST = "added", 0.1, 0.62  # words on the darkest are still read
FILE, FOLDER = "file:", "folder:"
_LETTER, _LINE = 6.1, 18  # pixel width of a character and height of a line


def figure(level: pa.Table, palette: Palette, chosen: str | None = None, shades: Sequence[float | None] = ()) -> Figure:
    """Of the rows of `core.analysis.file_tree.level`, greatest first; `chosen` is the path of a file to mark. `shades`
    is what each row is coloured by: the more, the darker; a row without one stays grey."""
    shown, rest = capped(level, SHOWN)
    rows = shown.to_pylist()
    for row, value in zip(rows, shades, strict=False):
        row["shade"] = value
    known = [row["shade"] for row in rows if row.get("shade") is not None]
    if len(rest):
        sums = {name: int(pc.sum(rest[name]).as_py() or 0) for name in ("files", "bytes", "rows")}
        rows.append({"name": words.others(len(rest)), "folder": "", "is_file": False, "is_rest": True, **sums})
    boxes = squarified([max(row["bytes"], 1) for row in sorted(rows, key=_order)], WIDTH, HEIGHT)
    rows.sort(key=_order)
    targets = ["" if "is_rest" in row else (FILE if row["is_file"] else FOLDER) + row["folder"] for row in rows]
    named = [(_name(row), box) for row, box in zip(rows, boxes, strict=True) if "is_rest" not in row]
    start = _shared([name for name, _ in named]) if any(len(name) > _fits(box.width) for name, box in named) else ""
    edges = [palette.ink if row["is_file"] and row["folder"] == chosen else palette.paper for row in rows]
    bars = {
        "type": "bar",
        "x": [box.x + box.width / 2 for box in boxes],
        "y": [box.height for box in boxes],
        "base": [box.y for box in boxes],
        "width": [box.width for box in boxes],
        "text": [_label(row, start, box.width, box.height) for row, box in zip(rows, boxes, strict=True)],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "inside",
        "customdata": [[to, words.box_hover(row)] for to, row in zip(targets, rows, strict=True)],
        "hovertemplate": HOVER,
        "textfont": {"color": palette.ink, "size": 12},
        "marker": {
            "color": [_colour(row, palette, min(known, default=0.0), max(known, default=0.0)) for row in rows],
            "line": {"color": edges, "width": 2},
        },
        "selected": {"marker": {"opacity": 1.0}},
        "unselected": {"marker": {"opacity": 1.0}, "textfont": {"color": palette.ink}},
    }
    hidden = {"visible": False, "fixedrange": True}
    layout = {
        "xaxis": {**hidden, "range": [0, WIDTH]},
        "yaxis": {**hidden, "range": [HEIGHT, 0]},
        "height": HEIGHT,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": palette.ink},
        "showlegend": False,
        "barmode": "overlay",
        "uniformtext": {"minsize": 12, "mode": "hide"},  # hide labels rather than let them overlap
        "hovermode": "closest",
        "clickmode": "event+select",
        "dragmode": False,
        "hoverlabel": {
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
    }  # fmt: skip
    return {"data": [bars], "layout": layout}


def _colour(row: dict[str, Any], palette: Palette, least: float, most: float) -> str:
    value = row.get("shade")
    if value is None:
        return palette.soft("ink", 0.08 if "is_rest" in row else 0.19)
    share = (value - least) / (most - least) if most > least else 0.0
    return palette.soft(SHADE, round(PALEST + (DARKEST - PALEST) * share, 3))


def _order(row: dict[str, object]) -> tuple[bool, int]:
    """Sort largest first, combined entries last."""
    return "is_rest" in row, -int(str(row["bytes"]))


def _name(row: dict[str, object]) -> str:
    """Return the label: for a partition only its value, because the key would waste space."""
    return str(row["name"]).rpartition("=")[2]


def _shared(names: list[str]) -> str:
    """Return the common prefix of all names, up to a dash or similar: `2026-` for dates within one year."""
    if len(names) < 2:
        return ""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return re.sub(r"[^-_/. ]*$", "", "".join(letters[0] for letters in same))


def _fits(width: float) -> int:
    """Return how many characters fit."""
    return int((width - 4) / _LETTER)


def _label(row: dict[str, object], start: str, width: float, height: float) -> str:
    """Return the label that fits into a box: name without `start` and size, only one of them, or nothing. Hovering
    shows all."""
    letters = _fits(width)
    if letters < 5 or height < _LINE:
        return ""
    name = _name(row).removeprefix(start)
    name = name if len(name) <= letters else "…" + name[-(letters - 1) :]
    size = units.size(int(str(row["bytes"])))
    return words.plain(name) + (f"<br>{size}" if height >= 2 * _LINE + 4 and len(size) <= letters else "")
