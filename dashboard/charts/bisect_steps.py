"""The steps of a bisect on a lane below the others: what was checked, what is left, and the commit that was found.

Invariant: a link holds the answers that its author got; nothing here checks them. Points are quoted in it, so that no
name of a tag can end one.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from dashboard import words
from dashboard.charts.canvas import Canvas
from dashboard.charts.time_axis import Axis, Dot

_LETTERS = {True: "t", False: "f", None: "u"}
_VALUES = {letter: value for value, letter in _LETTERS.items()}
MOST = 200  # steps that a link holds


@dataclass(frozen=True, slots=True)
class Checked:
    """A version that was checked, and the answer; None if it is unknown."""

    point: str
    value: bool | None


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a bisect in the order in which they were made."""

    condition: str
    steps: tuple[Checked, ...]

    def spelled(self) -> str:
        """Return the steps as one text for an address."""
        codes = [f"{_LETTERS[each.value]}{quote(each.point, safe='')}" for each in self.steps[:MOST]]
        return ";".join([quote(self.condition, safe=""), *codes])


def parse(text: str | None) -> Steps | None:
    """Parse the text of an address; None if it is not one."""
    condition, *codes = (text or "").split(";")
    if not codes or any(each[:1] not in _VALUES for each in codes):
        return None
    return Steps(unquote(condition), tuple(Checked(unquote(each[1:]), _VALUES[each[0]]) for each in codes[:MOST]))


def ends(axis: Axis, steps: Steps) -> tuple[Dot | None, Dot | None]:
    """Return the last commit known to be false before the first known to be true, and that one."""
    placed = [(dot, step.value) for step in steps.steps if (dot := axis.dot(step.point)) is not None]
    placed.sort(key=lambda each: (each[0].time_ms, each[0].id))
    first = next((number for number, (_, value) in enumerate(placed) if value is True), len(placed))
    last = next((dot for dot, value in reversed(placed[:first]) if value is False), None)
    return last, placed[first][0] if first < len(placed) else None


def draw(canvas: Canvas, axis: Axis, steps: Steps, height: float) -> None:
    """Draw the lane at a height: false up to here, true from there, and the part in between that is not known yet."""
    last, first = ends(axis, steps)
    known = [dot for step in steps.steps if (dot := axis.dot(step.point)) is not None]
    if not known:
        return
    known.sort(key=lambda dot: dot.time_ms)
    for start, end, hue, width in (
        (known[0], last, "removed", 3),
        (last, first, "muted", 9),
        (first, known[-1], "tag", 3),
    ):
        if start is not None and end is not None:
            wide = {"color": canvas.palette.soft(hue, 0.35 if hue == "muted" else 1.0), "width": width}
            canvas.line([start.time_ms, end.time_ms], [height, height], None, **wide)
    if first is not None:
        at = canvas.at([first.time_ms])[0]
        found = words.bisect_found(first.point, was_false=last is not None)
        canvas.line([first.time_ms] * 2, [height, -first.lane], None, color=canvas.hue("tag"), width=1.5, dash="dot")
        canvas.layout.setdefault("annotations", []).append(
            {
                "x": at, "y": height, "xref": "x", "yref": "y", "text": found,
                "showarrow": False, "yshift": -17, "font": {"size": 12, "color": canvas.hue("tag")},
            }
        )  # fmt: skip
    _marks(canvas, axis, steps, height, first)


def _marks(canvas: Canvas, axis: Axis, steps: Steps, height: float, first: Dot | None) -> None:
    """Mark each version that was checked; the newest steps lie on top."""
    placed = [
        (number, step, dot)
        for number, step in enumerate(steps.steps, start=1)
        if (dot := axis.dot(step.point)) is not None
    ]
    hues = [canvas.hue(words.BISECT_HUES[step.value]) for _, step, _ in placed]
    canvas.marks(
        [dot.time_ms for _, _, dot in placed],
        [height] * len(placed),
        [step.point for _, step, _ in placed],
        [words.bisect_hover(number, step.point, step.value, dot.time_ms, canvas.zone) for number, step, dot in placed],
        mode="markers+text",
        text=[f"<b>{words.BISECT_SIGNS[step.value]}</b>" for _, step, _ in placed],
        textfont={"size": 10, "color": hues},
        marker={
            "symbol": "circle",
            "size": [19 if dot == first else 15 for _, _, dot in placed],
            "color": canvas.palette.paper,
            "line": {"color": hues, "width": [3 if dot == first else 1.5 for _, _, dot in placed]},
        },
    )
