"""The lifetime chart of a file on the table's time axis: when the file was current, and below it its holders. Pure."""

from __future__ import annotations

from core.analysis.file_lifetime import FileLifetime, Stretch
from core.model.references import MAIN, HolderKind
from dashboard import words
from dashboard.charts.canvas import FONT, Canvas, Figure, times
from dashboard.formatting.palette import Palette

ROW_PX, AXIS_PX = 34, 56
SINGLE = 60  # up to this many holders in a row are drawn individually
FURTHER = 1.0  # an expiration date is drawn to scale up to this many axis lengths past the end


def figure(found: FileLifetime, palette: Palette, zone: str, span_ms: tuple[int, int]) -> Figure:
    """Build the chart; the axis starts at `span_ms`, the table's first and last commit."""
    first, last = span_ms
    canvas = Canvas(palette, zone)
    rows = [words.LIFE_LIVE, *dict.fromkeys(_row(each) for each in found.stretches)]
    height = {name: -place for place, name in enumerate(rows)}
    if found.born is not None:
        end = found.removed.time_ms if found.removed else last if found.is_live else _last_seen(found, last)
        start = min(found.born.time_ms, end)
        canvas.line([start, end], [0, 0], words.life_live_hover(found), color=canvas.hue("ink"), width=9)
        mark = "circle" if found.is_exact else "triangle-left"
        canvas.marks([start], [0], [""], [words.life_added(found, zone)], mode="markers",
                     marker={"symbol": mark, "size": 15, "color": canvas.hue("added"),
                             "line": {"color": palette.paper, "width": 1.5}})  # fmt: skip
        if found.removed is not None:
            canvas.marks([end], [0], [""], [words.life_removed(found, zone)], mode="markers",
                         marker={"symbol": "diamond", "size": 15, "color": canvas.hue("removed"),
                                 "line": {"color": palette.paper, "width": 1.5}})  # fmt: skip
    for each in found.stretches:
        _stretch(canvas, each, height[_row(each)])
    until = last
    if found.life.not_before_ms is not None:
        until = _earliest(canvas, found.life.not_before_ms, last, max(last - first, 60_000), -(len(rows) - 1))
    slack = max((until - first) // 40, 60_000)
    _dress(canvas, rows, (first - slack, until + slack))
    return canvas.finished()


def _row(each: Stretch) -> str:
    return words.life_row(each.kind.value, each.branch)


def _last_seen(found: FileLifetime, otherwise: int) -> int:
    times = [holder.snapshot.time_ms for each in found.stretches for holder in each.holders if holder.snapshot]
    return max(times, default=otherwise)


def _stretch(canvas: Canvas, each: Stretch, height: float) -> None:
    known = [(holder, holder.snapshot.time_ms) for holder in each.holders if holder.snapshot is not None]
    if not known:
        return
    hue = "tag" if each.kind is HolderKind.TAG else "compaction" if each.kind is HolderKind.CHANGELOG else "ink"
    hue = "branch" if each.branch != MAIN and hue == "ink" else hue
    times = [time_ms for _, time_ms in known]
    hover = words.stretch_hover(each)
    canvas.line([min(times), max(times)], [height, height], hover, color=canvas.palette.soft(hue, 0.35), width=9)
    shown = known if len(known) <= SINGLE else [known[0], known[-1]]
    canvas.marks(
        [time_ms for _, time_ms in shown],
        [height] * len(shown),
        [holder.point for holder, _ in shown],
        [words.holder_hover(holder, canvas.zone) for holder, _ in shown],
        mode="markers",
        marker={
            "symbol": "triangle-down" if each.kind is HolderKind.TAG else "circle",
            "size": 10 if len(shown) <= 30 else 7,
            "color": canvas.hue(hue),
        },
    )


def _earliest(canvas: Canvas, at_ms: int, last: int, length: int, bottom: float) -> int:
    """Mark the earliest time at which the file can be deleted, and return the end of the axis. A distant date is drawn
    at the edge."""
    is_near = at_ms - last <= length * FURTHER
    shown = at_ms if is_near else last + length // 4
    colour = canvas.hue("freed")
    canvas.line([shown, shown], [0.4, bottom - 0.4], None, color=colour, width=2, dash="dash")
    text = words.life_deletable(at_ms, canvas.zone) if is_near else words.life_deletable_later(at_ms, canvas.zone)
    canvas.marks([shown], [0.4], [""], [text], mode="markers",
                 marker={"symbol": "x", "size": 11, "color": colour})  # fmt: skip
    return max(shown, last)


def _dress(canvas: Canvas, rows: list[str], range_ms: tuple[int, int]) -> None:
    palette = canvas.palette
    canvas.layout.update(
        xaxis={
            "type": "date", "tickformatstops": words.date_ticks(),
            "showgrid": True, "gridcolor": palette.grid, "zeroline": False, "automargin": True,
            "tickfont": {"size": 12}, "range": times(range_ms, canvas.zone),
            "title": {"text": words.axis_time(canvas.zone), "font": {"size": 12, "color": palette.muted},
                      "standoff": 4},
        },
        yaxis={
            "range": [-(len(rows) - 1) - 0.6, 0.6], "tickvals": [-place for place in range(len(rows))],
            "ticktext": [words.plain(name) for name in rows], "showgrid": False, "zeroline": False,
            "fixedrange": True, "automargin": True, "tickfont": {"size": 12},
        },
        height=len(rows) * ROW_PX + AXIS_PX,
        margin={"l": 8, "r": 12, "t": 4, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": palette.ink, "size": 13, "family": FONT},
        showlegend=False,
        hovermode="closest",
        dragmode=False,
        hoverlabel={
            "align": "left", "bgcolor": palette.paper, "bordercolor": palette.muted,
            "font": {"color": palette.ink, "size": 13, "family": FONT},
        },
    )  # fmt: skip


def legend(found: FileLifetime) -> list[tuple[str, str, str]]:
    """List the legend entries, only for marks that occur."""
    marks: list[tuple[str, str, str]] = []
    if found.born is not None:
        exact = found.is_exact
        marks.append(("circle" if exact else "triangle-left", "added", words.LIFE_BORN if exact else words.LIFE_BEFORE))
        if found.removed is not None:
            marks.append(("diamond", "removed", words.LIFE_REMOVED))
    if any(each.kind is HolderKind.TAG for each in found.stretches):
        marks.append(("triangle-down", "tag", words.LEGEND_TAG))
    if found.life.not_before_ms is not None:
        marks.append(("x-thin-open", "freed", words.LIFE_EARLIEST))
    return marks
