"""Draw the Mermaid flowcharts of the documentation as SVG, so that the site loads no script from another server."""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from typing import Any

BLOCK = re.compile(r"```mermaid\nflowchart TD\n(.*?)```", re.DOTALL)
_ARROW = re.compile(r"\s*([\w.]+) --> ([\w.]+)")
WIDTH, HEIGHT, ACROSS, DOWN = 104, 30, 24, 46  # pixels: a box, and the space between boxes


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """MkDocs: draws the flowcharts of each page."""
    return drawn(markdown)


def drawn(markdown: str) -> str:
    """Replace each `flowchart TD` block by an inline SVG in the text colour of the page."""
    return BLOCK.sub(lambda block: _svg(_ARROW.findall(block[1])), markdown)


def rows(arrows: list[tuple[str, str]]) -> list[list[str]]:
    """Return the boxes from top to bottom: each one below all boxes with an arrow to it."""
    above: dict[str, set[str]] = defaultdict(set)
    for source, target in arrows:
        above[target].add(source)
        above.setdefault(source, set())
    found: list[list[str]] = []
    placed: set[str] = set()
    while len(placed) < len(above):
        row = sorted(name for name, sources in above.items() if name not in placed and sources <= placed)
        if not row:
            raise ValueError(f"arrows run in a circle: {sorted(above.keys() - placed)}")
        found.append(row)
        placed.update(row)
    return found


def _svg(arrows: list[tuple[str, str]]) -> str:
    levels = rows(arrows)
    wide = max(map(len, levels)) * (WIDTH + ACROSS)
    at: dict[str, tuple[float, float]] = {}
    for down, level in enumerate(levels):
        start = (wide - len(level) * (WIDTH + ACROSS) + ACROSS) / 2
        at |= {name: (start + n * (WIDTH + ACROSS), down * (HEIGHT + DOWN) + 4) for n, name in enumerate(level)}
    lines = "".join(
        f'<line x1="{at[a][0] + WIDTH / 2:g}" y1="{at[a][1] + HEIGHT:g}"'
        f' x2="{at[b][0] + WIDTH / 2:g}" y2="{at[b][1]:g}" marker-end="url(#arrow)"/>'
        for a, b in arrows
    )
    boxes = "".join(
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 5:g}" fill="currentColor" stroke="none"'
        f' text-anchor="middle">{escape(name)}</text>'
        for name, (x, y) in at.items()
    )
    tall = len(levels) * (HEIGHT + DOWN) - DOWN + 8
    return (
        f'<svg viewBox="0 0 {wide} {tall}" role="img" aria-label="Packages and their imports" '
        'style="width:100%;font:13px sans-serif">'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
        f'<g stroke="currentColor" stroke-opacity=".45">{lines}</g>'
        '<g fill="var(--md-default-bg-color)" stroke="currentColor">'
        f"{boxes}</g></svg>\n"
    )
