"""As of: enter a time or version, and see which snapshot a reader saw at that time, why, and its neighbours."""

from __future__ import annotations

import contextlib
from functools import partial

import streamlit as st

from core.analysis.tag_target import tag_target
from core.errors import NotFound, SnapscopeError
from core.model import time_input
from core.model.references import MAIN, Snapshot
from core.model.time_travel import AsOf
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import timeline as charts
from dashboard.components import errors, explain_figure, frame
from dashboard.components.changes import plan
from dashboard.components.frame import OpenedTable
from dashboard.components.history import snapshot_details
from dashboard.components.history import timeline as lanes
from dashboard.formatting import commands, markup, units
from dashboard.url_state import UrlState
from dashboard.view_models import table_tree, version_picker


def draw() -> None:
    opened = _opened(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    picked = opened.picked
    typed = url_state.get("point")
    if typed is None:
        _teach(opened)
        return
    with errors.boundary():
        asked_ms = _requested_ms(opened, typed)
        found = None if picked is None else picked.found
        if asked_ms is not None:
            _roundings(opened, asked_ms, found)
        if picked is None or found is None:
            if asked_ms is None:
                _teach(opened)
            return
        point = picked.point
        _answer(opened, found, asked_ms)
        _strip(opened, found)
        snapshot_details.draw(opened, history, found, here="asof")
        plan.command(commands.as_of(opened.ref.location, point))


def _opened(place: UrlState) -> OpenedTable:
    """Open the table. Where that reads many snapshots, show the one of the requested time meanwhile."""
    slot = st.empty()  # in every run, as in `frame.read_history`
    with contextlib.suppress(SnapscopeError), slot.container():  # what is wrong is shown once all is read
        _show_early(place)
    found = frame.find_table(place)
    slot.empty()
    return frame.with_head(found)


def _show_early(place: UrlState) -> None:
    typed = url_state.get("point")
    if not typed or typed.strip().isdecimal() or not place.warehouse or not place.table:
        return  # digits may be the id of a snapshot
    point, reading = time_input.point(typed, None, place.zone, place.now_ms)
    found = None
    if reading is not None:
        ref, note = loading.find(loading.warehouse(place.warehouse), place.table), st.empty()
        tell = partial(frame.tell, note, "searching", words.ASOF_SEARCHING)
        found = loading.at_time(ref, point, frame.QUIET_S, tell)
        note.empty()
    if found is None:
        return
    st.html(markup.note("info", words.ASOF_EARLY))
    text = version_picker.snapshot_text(found.snapshot, place.zone, place.now_ms)
    st.html(markup.facts([(words.ASOF_THIS, text), (words.ASOF_RULE, found.rule)]))


def _teach(opened: OpenedTable) -> None:
    st.html(markup.empty(words.ASOF_ASKED, words.ASOF_TEACH))
    line = opened.heads.main
    examples = ["latest", "earliest"]
    if len(line.snapshots) > 3:
        middle = (line.snapshots[0].time_ms + line.snapshots[-1].time_ms) // 2
        examples = [units.moment(middle, opened.zone)[:16], "latest~3", *examples]
    examples += [f"tag:{tag.name}" for tag in line.tags[:2]]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.ASOF_EXAMPLES, width="content")
        for example in examples:
            st.button(
                table_tree.inline(example), key=f"asof.{example}", on_click=_choose, args=(example,), type="tertiary"
            )


def _choose(point: str) -> None:
    url_state.put(point=point)


def _requested_ms(opened: OpenedTable, typed: str) -> int | None:
    """Return the requested time and show how it was read. None if no time was entered, or none that can be read: the
    line below the box says why, or asks which of two is meant."""
    try:
        _, reading = time_input.point(typed, opened.heads, opened.zone, opened.now_ms)
    except SnapscopeError:
        return None
    if reading is None:
        return None
    if reading.form != "number":
        _read(opened, reading)
    if reading.ms > opened.now_ms:
        st.html(markup.note("info", words.IN_THE_FUTURE))
    return reading.ms


def _read(opened: OpenedTable, reading: time_input.ParsedTime) -> None:
    utc = units.moment(reading.ms, units.UTC, exact=True)
    own = units.moment(reading.ms, opened.zone, exact=True)
    lines: list[tuple[str, markup.Piece]] = [
        (words.READ_AS, words.read_moment(words.READ_FORMS[reading.form], utc, reading.ms)),
        (words.READ_ZONE, markup.join([words.read_zone(reading.zone, reading.named), markup.muted(own)])),
    ]
    st.html(markup.facts(lines))


def _roundings(opened: OpenedTable, asked_ms: int, found: AsOf | None) -> None:
    """Show both rounding rules side by side, each with the engine's own result and links."""
    if found is None:
        st.html(markup.note("warning", words.TOO_EARLY))
    branch = MAIN if found is None else found.branch
    down, up = st.columns(2, gap="medium")
    with down:
        lines = [] if found is None else _card(opened, found.snapshot, asked_ms, found.engine)
        st.html(markup.cards([markup.card(words.ROUND_DOWN, lines, words.ROUND_DOWN_NONE, strong=True)]))
        if found is not None:
            snapshot_details.links(opened, found, here="asof")
    with up:
        point, engine = _first_after(opened, asked_ms, branch)
        other = None if point is None else snapshot_details.resolve(opened, point)
        lines = [] if other is None else _card(opened, other.snapshot, asked_ms, engine)
        title = words.ROUND_UP
        if not opened.heads.capabilities.makes_tags_from_times:
            title = words.NEXT_COMMIT
            lines += [markup.muted(words.ROUND_UP_ICEBERG)] if lines else []
        st.html(markup.cards([markup.card(title, lines, words.ROUND_UP_NONE)]))
        if other is not None:
            snapshot_details.links(opened, other, here="asof")


def _first_after(opened: OpenedTable, asked_ms: int, branch: str) -> tuple[str | None, int | None]:
    """Return the snapshot that a tag created from this time would name, and the engine's own result. If tags cannot be
    created from a time, return the next commit."""
    if not opened.heads.capabilities.makes_tags_from_times:
        line = opened.heads.main.snapshots
        snapshot = min((each for each in line if each.time_ms >= asked_ms), key=lambda each: each.time_ms, default=None)
        return (None, None) if snapshot is None else (str(snapshot.id), snapshot.id)
    try:
        named = tag_target(opened.heads, time_ms=asked_ms, branch=branch)
    except NotFound:
        return None, None
    own = f"tag:{named.tag}" if named.tag else str(named.snapshot.id)
    return own if branch == MAIN else f"branch:{branch}/{own}", named.engine


def _answer(opened: OpenedTable, found: AsOf, asked_ms: int | None) -> None:
    """Show the previous snapshot, the result (unless already shown above for a time) and the next one, with the reason
    below."""

    def cells(each: Snapshot | None) -> list[markup.Piece]:
        distance = (
            None
            if each is None
            else words.distance_to_snapshot(found.snapshot.id, found.snapshot.time_ms - each.time_ms)
        )
        return _card(opened, each) + ([] if distance is None else [distance])

    after = cells(found.after)
    if found.after is not None and found.after.time_ms < found.snapshot.time_ms:  # main was set back to an older one
        after.append(markup.in_hue("consumer", words.SET_BACK))
    cards = [
        markup.card(words.ASOF_BEFORE, cells(found.before), words.ASOF_NOTHING_BEFORE),
        markup.card(words.ASOF_AFTER, after, words.ASOF_NOTHING_AFTER),
    ]
    if asked_ms is None:
        cards.insert(1, markup.card(words.ASOF_THIS, _card(opened, found.snapshot), "", strong=True))
    explain_figure.html(markup.cards(cards), words.HOW_ASOF, wide=True)
    lines: list[tuple[str, markup.Piece]] = [(words.ASOF_RULE, found.rule)]
    if found.gap_ms is not None:
        lines.append((words.ASOF_GAP, words.asof_gap(found.gap_ms)))
    if found.engine != found.snapshot.id or found.engine_note:
        text = words.asof_engine(found.engine, found.engine_note, found.snapshot.id)
        lines.append((words.ASOF_ENGINE, markup.in_hue("consumer", text)))
    st.html(markup.facts(lines))


def _card(
    opened: OpenedTable, snapshot: Snapshot | None, asked_ms: int | None = None, engine: int | None = None
) -> list[markup.Piece]:
    """Render a snapshot: its distance from the requested time and what the engine's own search returns."""
    if snapshot is None:
        return []
    lines: list[markup.Piece] = [
        markup.mono(snapshot.id),
        words.commit_kind(snapshot.kind),
        units.moment(snapshot.time_ms, opened.zone, exact=True),
        markup.muted(units.ago(snapshot.time_ms, opened.now_ms)),
    ]
    if asked_ms is not None:
        lines.append(words.distance_to_time(asked_ms - snapshot.time_ms))
        if opened.heads.capabilities.makes_tags_from_times:
            text = words.own_search(engine, snapshot.id)
            lines.append(markup.muted(text) if engine == snapshot.id else markup.in_hue("consumer", text))
    return lines


def _strip(opened: OpenedTable, found: AsOf) -> None:
    """Show the result on the time axis, with its neighbours and the requested time, if any."""
    asked_ms = found.snapshot.time_ms + found.gap_ms if found.gap_ms is not None else None
    near = [each.time_ms for each in (found.before, found.snapshot, found.after) if each is not None]
    near += [asked_ms] if asked_ms is not None else []
    slack = max((max(near) - min(near)) // 2, 60_000)
    window = (min(near) - slack, max(near) + slack)
    near_it = loading.axis(opened.heads).within(window)
    shown = near_it.of_branch(found.branch) if opened.heads.capabilities.branches_are_directories else near_it.filled()
    figure = charts.timeline(
        shown, frame.hues(), opened.zone, chosen={found.point: ""}, asked_ms=asked_ms, window_ms=window
    )
    lanes.draw(figure, charts.legend(shown), "asof.chart", _choose)


draw()
