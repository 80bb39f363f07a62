"""Print answers to the terminal: text, coloured on a terminal, JSON, JSON lines, CSV.

Invariant: names from a table cannot control the terminal, and the terminal's encoding never rejects any.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from core.cli.command import shows_colours
from core.units import printable

TABLE, JSON, CSV, LINES, HTML = "table", "json", "csv", "jsonl", "html"
UNREAD = "Not everything could be read; the rest is above."
HEADING = "\x1e"  # starts a grid's heading line
_NUMBER = re.compile(r"[+\-±~≥]?[\d,]+(\.\d+)?( ([kMGTP]?B|s|ms|%))?|—?|NULL")
_STYLES = (  # of parts of a line
    (r"\bGOES\b", "red"),
    (r"\bstays\b", "green"),
    (r"^(snapscope: error:|PROBLEM)", "bold red"),
    (r"^(Warning|Unreadable|Note|Mind|WARNING)\b:?", "yellow"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [A-Z]{2,5}\b", "cyan"),
    (r"\bNULL\b", "dim"),
)


def show(found: Any, text: str, form: str, rows: str = "") -> None:
    """Print an answer in the requested format. `rows`: the key of the document whose list CSV and JSON lines print."""
    if form == JSON:
        document(found)
    elif form == LINES:
        for each in _rows(found, rows):
            document(each)
    elif form == CSV:
        columns = found.get("columns", ()) if rows == "rows" and isinstance(found, Mapping) else ()
        say(_as_csv(_rows(found, rows), columns), is_data=True)
    elif form == HTML:
        encoding = sys.stdout.encoding or "utf-8"
        say(text.encode(encoding, "xmlcharrefreplace").decode(encoding), is_data=True)
    elif text:
        say(text)


def document(found: Any) -> None:
    """Print one document on one line, in ASCII where the terminal does not support Unicode; control characters never
    as such."""
    is_ascii = "utf" not in (sys.stdout.encoding or "").lower()
    try:
        line = json.dumps(found, ensure_ascii=is_ascii, default=value_text, allow_nan=False)
    except ValueError:
        line = json.dumps(_finite(found), ensure_ascii=is_ascii, default=value_text, allow_nan=False)
    if not line.isprintable():
        line = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
    say(line, is_data=True)


def _rows(found: Any, key: str) -> list[Any]:
    if isinstance(found, list):
        return found
    rows = found.get(key) if isinstance(found, Mapping) and key else None
    return list(rows) if isinstance(rows, list | tuple) else [found]


def _as_csv(rows: Sequence[Any], columns: Sequence[str] = ()) -> str:
    """One column per key, in the order of first appearance, after the known ones; nested values become JSON."""
    names = list(dict.fromkeys([*columns, *(name for row in rows if isinstance(row, Mapping) for name in row)]))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names or ["value"])
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names] if isinstance(row, Mapping) else [_cell(row)])
    return text.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping() | list() | tuple() | bytes() | dt.timedelta():
            return value_text(value)
        case _:
            return value


def value_text(value: object) -> str:
    """Return a value of a query as text: binaries in hexadecimal digits, intervals as Spark writes them."""
    match value:
        case None:
            return "NULL"
        case Mapping() | list() | tuple():
            return json.dumps(_finite(value), ensure_ascii=False, default=value_text)
        case bytes():
            return value.hex()
        case dt.timedelta():
            size = abs(value)
            hours, rest = divmod(size.seconds, 3600)
            part = f".{size.microseconds:06}".rstrip("0") if size.microseconds else ""
            sign = "-" if value < dt.timedelta(0) else ""
            text = f"{sign}{size.days} {hours:02}:{rest // 60:02}:{rest % 60:02}{part}"
            return f"INTERVAL '{text}' DAY TO SECOND"
        case _:
            return str(value)


def _finite(value: Any) -> Any:
    """Replace NaN and infinities, which JSON does not have, by their names."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case _:
            return value


def say(text: str, stream: TextIO | None = None, *, is_data: bool = False) -> None:
    """Print text, escaping what the terminal cannot show; text that is not data is coloured on a terminal."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    shown = text
    if not is_data or stream.isatty():  # a program gets data as it is
        shown = "\n".join(printable(line.removeprefix(HEADING)) for line in text.split("\n"))
    shown = shown.encode(encoding, "backslashreplace").decode(encoding)
    if is_data or not shows_colours(stream):
        print(shown, file=stream)
        return
    headings = [line.startswith(HEADING) for line in text.split("\n")]
    _colour(zip(shown.split("\n"), headings, strict=True), stream)


def _colour(lines: Iterable[tuple[str, bool]], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, soft_wrap=True, highlight=False)
    for line, is_heading in lines:
        written = Text(line, "bold" if is_heading else "")
        for pattern, style in _STYLES:
            written.highlight_regex(pattern, style)
        console.print(written)


def one_line(text: str) -> str:
    """Escape line breaks, too: a name with one must not look like another line of an answer."""
    return printable(text).replace("\n", "\\n")


def paragraph(lines: Iterable[str]) -> str:
    """Join lines and grids."""
    return "\n".join(each if each.startswith(HEADING) else one_line(each) for each in lines)


def grid(header: tuple[str, ...], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as needed; numbers are right-aligned."""
    cells = [tuple(map(one_line, row)) for row in rows]
    widths = [max(len(row[index]) for row in (header, *cells)) for index in range(len(header))]
    columns = [[row[at] for row in cells] for at in range(len(header))]
    right = [any(column) and all(map(_NUMBER.fullmatch, column)) for column in columns]

    def line(row: Sequence[str]) -> str:
        parts = zip(row, widths, right, strict=True)
        placed = (cell.rjust(width) if is_right else cell.ljust(width) for cell, width, is_right in parts)
        return "  ".join(placed).rstrip()

    return "\n".join([HEADING + line(header), *map(line, cells)])


def number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
