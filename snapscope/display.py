"""Render results as HTML for notebooks (light and dark themes) and as plain text for shells."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from core.units import printable, several, size

SHOWN = 12  # maximum number of list items shown


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: a label, a number of files and their size, and whether they are reclaimed."""

    label: str
    files: int
    size_bytes: int
    is_reclaimed: bool = False


def when(moment: dt.datetime | None) -> str:
    """Format a time to the second, with its zone."""
    if moment is None:
        return "unknown"
    return f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname() or ''}".rstrip()


def card(headline: str, *parts: str) -> str:
    """Render a headline and the parts below it. The text keeps the notebook's own colour, so it is readable on any
    background."""
    return (
        '<div style="font-family:sans-serif;max-width:60em;padding:.3em 0">'
        f'<div style="font-weight:600;margin-bottom:.4em">{escape(headline)}</div>{"".join(parts)}</div>'
    )


def bars(found: Sequence[Bar]) -> str:
    """Render bars on a common scale, labelled with bytes and file counts. Reclaimed bars are hatched as well as red."""
    longest = max((each.size_bytes for each in found), default=0) or 1
    return "".join(_bar(each, 100 * each.size_bytes / longest) for each in found)


def _bar(bar: Bar, percent: float) -> str:
    hatched = "repeating-linear-gradient(135deg,#d64550 0 5px,#e88a91 5px 9px)"
    fill = hatched if bar.is_reclaimed else "#5b7fa6"
    return (
        '<div style="display:flex;align-items:center;gap:.6em;margin:.15em 0">'
        f'<span style="width:13em;text-align:right">{escape(bar.label)}</span>'
        '<span style="flex:1;background:rgba(128,128,128,.18);border-radius:3px">'
        f'<span style="display:block;height:1em;border-radius:3px;width:{percent:.1f}%;'
        f'min-width:{2 if bar.size_bytes else 0}px;background:{fill}"></span></span>'
        f'<span style="width:13em;font-variant-numeric:tabular-nums">{size(bar.size_bytes)} in '
        f"{several(bar.files, 'file')}</span></div>"
    )


def text_bars(found: Sequence[Bar], width: int = 24) -> list[str]:
    """Render the same bars as plain text."""
    longest = max((each.size_bytes for each in found), default=0) or 1
    return [
        f"  {each.label:<22} {size(each.size_bytes):>10}  {several(each.files, 'file'):>14}  "
        + ("×" if each.is_reclaimed else "=") * (each.size_bytes and max(1, each.size_bytes * width // longest))
        for each in found
    ]


def note(text: str) -> str:
    return f'<div style="opacity:.75;margin-top:.3em">{escape(text)}</div>'


def warning(text: str) -> str:
    return f'<div style="margin-top:.3em;border-left:3px solid #d08700;padding-left:.5em">Warning: {escape(text)}</div>'


def items(found: Iterable[str]) -> str:
    """Render a list of sentences, at most `SHOWN` of them."""
    every = list(found)
    shown = "".join(f"<li>{escape(each)}</li>" for each in every[:SHOWN])
    rest = f"<li>… and {len(every) - SHOWN:,} more</li>" if len(every) > SHOWN else ""
    return f'<ul style="margin:.3em 0">{shown}{rest}</ul>' if every else ""


def lines(*parts: str) -> str:
    """Join lines of plain text, with terminal control characters escaped."""
    return "\n".join(printable(part) for part in parts if part)
