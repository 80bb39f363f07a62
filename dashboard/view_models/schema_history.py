"""A branch's columns across its schemas as a matrix, and each change in sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from core.analysis.schema_history import REORDERED, Key, SchemaHistory, Version, full_name
from core.model.time_travel import AsOf
from dashboard import words
from dashboard.formatting import markup, units
from dashboard.formatting.markup import Html, Piece

SHOWN = 24  # versions side by side


def marks(found: SchemaHistory, chosen: Mapping[str, AsOf]) -> dict[int, str]:
    """The letters of chosen versions of the table, by the place of the schema that their readers see."""
    letters: dict[int, str] = {}
    for letter, at in chosen.items():
        having = [number for number, each in enumerate(found.versions) if at.schema.id in each.ids]
        own = [n for n in having if any(each.id == at.snapshot.id for each in found.versions[n].snapshots)]
        if having:
            number = (own or having)[-1]
            letters[number] = letters.get(number, "") + letter
    return letters


def matrix(found: SchemaHistory, zone: str, letters: Mapping[int, str]) -> Html:
    """Columns by field id, and versions from left to right, the newest last."""
    start = max(len(found.versions) - SHOWN, 0)
    shown = list(enumerate(found.versions))[start:]
    heads = [_head(each, zone, letters.get(number, "")) for number, each in shown]
    rows = []
    for key in found.keys:
        cells = [_cell(found, number, key, is_first=number == start) for number, _ in shown]
        if any(state for state, *_ in cells):
            rows.append((_name(found, key), cells))
    drawn = markup.matrix(words.SCHEMA_HISTORY, words.COLUMN_NAME, heads, rows)
    if start:
        drawn += markup.note("info", words.newest_schemas(SHOWN, len(found.versions)))
    return drawn


def _head(of: Version, zone: str, letters: str) -> Html:
    lines: list[Piece] = [markup.strong(words.schemas(of.ids))]
    if of.since_ms is not None:
        when = units.moment(of.since_ms, zone)
        lines.append(markup.hint(markup.muted(when[:16]), words.schema_since(when, is_made=of.time_ms is not None)))
    used = units.plural(len(of.snapshots), "snapshot")
    lines.append(markup.muted(words.current(used) if of.is_current else used))
    lines += [markup.strong(words.seen_by(letters))] if letters else []
    return markup.join(lines, Html("<br>"))


def _name(found: SchemaHistory, key: Key) -> Html:
    newest = next(each for each in reversed(found.versions) if key in each.columns)
    name = markup.mono(full_name(newest.columns, key))
    return markup.join([name, markup.muted(words.field_id(key[-1]))])


def _cell(found: SchemaHistory, number: int, key: Key, *, is_first: bool) -> tuple[str, Piece, str]:
    """Its state ("" if the version has no such column), what is written there, and the type for the hover text."""
    of = found.versions[number]
    own = of.columns.get(key)
    type = "" if own is None else words.type_of(own)
    changes = of.changes.get(key, ())
    if changes and not is_first:
        sentences = [markup.in_hue(words.CHANGE_HUES[each.kind], words.schema_change(each)) for each in changes]
        return "off" if own is None else "on", markup.join(sentences, Html("<br>")), type
    if own is None:
        return "", "", ""
    return "on", markup.muted(type) if is_first else "", type


def meanings(found: SchemaHistory, zone: str) -> Html:
    """What each change means for readers, the newest first."""
    parts = []
    for of in reversed(found.versions):
        lines: list[tuple[Piece, Piece]] = [
            (
                markup.join([markup.mono(each.column), markup.in_hue(words.CHANGE_HUES[each.kind], change)]),
                markup.join(markup.code(sentence) for sentence in each.meaning),
            )
            for changes in of.changes.values()
            for each, change in ((each, words.schema_change(each)) for each in changes)
        ]
        if of.is_reordered:
            lines.append((words.MOVED, markup.code(REORDERED)))
        if of.missing:
            lines.append((words.MISSING_SCHEMAS, words.missing_schemas(of.missing)))
        if lines:
            when = "" if of.since_ms is None else units.moment(of.since_ms, zone)
            parts.append(markup.changes(words.schemas(of.ids), when, lines))
    return markup.join(parts, "")
