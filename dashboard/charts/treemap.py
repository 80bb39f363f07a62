"""A treemap of folders as the JSON of a figure: one hue, areas by bytes, what is small taken together. Pure.

Law: rectangles are bars, because only marks of that kind can be clicked and reached here; each carries where it leads.
"""

from __future__ import annotations

import re
from itertools import takewhile

import pyarrow as pa
import pyarrow.compute as pc

from core.analysis.file_tree import capped, squarified
from dashboard import words
from dashboard.charts.canvas import FONT, HOVER, Figure
from dashboard.formatting import units
from dashboard.formatting.palette import Palette

WIDTH, HEIGHT = 600, 380  # pixels of a narrow window: what fits there fits in a wide one
SHOWN = 120
FILE, FOLDER = "file:", "folder:"
_LETTER, _LINE = 6.1, 18  # pixels a letter is wide and a line is high


def figure(level: pa.Table, palette: Palette, chosen: str | None = None) -> Figure:
    """Of the rows of `core.analysis.file_tree.level`, greatest first; `chosen` is the path of a file to mark."""
    shown, rest = capped(level, SHOWN)
    rows = shown.to_pylist()
    if len(rest):
        sums = {name: int(pc.sum(rest[name]).as_py() or 0) for name in ("files", "bytes", "rows")}
        rows.append({"name": words.others(len(rest)), "folder": "", "is_file": False, "is_rest": True, **sums})
    boxes = squarified([max(row["bytes"], 1) for row in sorted(rows, key=_order)], WIDTH, HEIGHT)
    rows.sort(key=_order)
    carried = ["" if "is_rest" in row else (FILE if row["is_file"] else FOLDER) + row["folder"] for row in rows]
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
        "customdata": [[to, words.box_hover(row)] for to, row in zip(carried, rows, strict=True)],
        "hovertemplate": HOVER,
        "textfont": {"color": palette.ink, "size": 12},
        "marker": {
            "color": [palette.soft("ink", 0.08 if "is_rest" in row else 0.19) for row in rows],
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
        "uniformtext": {"minsize": 12, "mode": "hide"},  # rather no words than words over one another
        "hovermode": "closest",
        "clickmode": "event+select",
        "dragmode": False,
        "hoverlabel": {
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
    }  # fmt: skip
    return {"data": [bars], "layout": layout}


def _order(row: dict[str, object]) -> tuple[bool, int]:
    """Greatest first, what is taken together last."""
    return "is_rest" in row, -int(str(row["bytes"]))


def _name(row: dict[str, object]) -> str:
    """Of a partition its value: its key is in the way on a box."""
    return str(row["name"]).rpartition("=")[2]


def _shared(names: list[str]) -> str:
    """What all names begin with, up to a dash or the like: `2026-` of dates in one year."""
    if len(names) < 2:
        return ""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return re.sub(r"[^-_/. ]*$", "", "".join(letters[0] for letters in same))


def _fits(width: float) -> int:
    """How many letters."""
    return int((width - 4) / _LETTER)


def _label(row: dict[str, object], start: str, width: float, height: float) -> str:
    """What fits into a box: its name without `start` and its size, one of them, or nothing; all is told on hover."""
    letters = _fits(width)
    if letters < 5 or height < _LINE:
        return ""
    name = _name(row).removeprefix(start)
    name = name if len(name) <= letters else "…" + name[-(letters - 1) :]
    size = units.size(int(str(row["bytes"])))
    return words.plain(name) + (f"<br>{size}" if height >= 2 * _LINE + 4 and len(size) <= letters else "")
