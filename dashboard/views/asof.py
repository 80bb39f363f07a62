"""As of: paste a time or name a point; which snapshot a reader saw then, why, and what lies on both sides."""

from __future__ import annotations

import streamlit as st

from core.asof import AsOf
from core.model import Snapshot
from dashboard import state
from dashboard.present import charts, commands, markup, units, words
from dashboard.present.axis import axis
from dashboard.widgets import details, errors, frame, how, lanes, picker, plans
from dashboard.widgets.frame import Opened


def draw() -> None:
    opened = frame.open_table(state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    picked = picker.pick(words.ASOF_INPUT, opened.heads, name="point", placeholder=words.ASOF_PLACEHOLDER)
    if state.get("point") is None:
        _teach(opened)
    if picked is None:
        return
    with errors.boundary():
        point, found = picked.point, picked.found
        _answer(opened, found)
        _strip(opened, found)
        details.draw(opened, history, found, here="asof")
        plans.command(commands.as_of(opened.ref.location, point, found.branch))


def _teach(opened: Opened) -> None:
    st.html(markup.empty(words.ASOF_INPUT, words.ASOF_TEACH))
    line = opened.heads.main
    examples = ["latest", "earliest"]
    if len(line.snapshots) > 3:
        middle = (line.snapshots[0].time_ms + line.snapshots[-1].time_ms) // 2
        examples = [units.moment(middle, opened.zone)[:16], "latest~3", *examples]
    examples += [f"tag:{tag.name}" for tag in line.tags[:2]]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.ASOF_EXAMPLES, width="content")
        for example in examples:
            st.button(example, key=f"asof.{example}", on_click=_choose, args=(example,), type="tertiary")


def _choose(point: str) -> None:
    state.put(point=point)


def _answer(opened: Opened, found: AsOf) -> None:
    """Three columns: before, the answer, after; under them why."""
    cards = [
        markup.card(words.ASOF_BEFORE, _card(opened, found.before), words.ASOF_NOTHING_BEFORE),
        markup.card(words.ASOF_THIS, _card(opened, found.snapshot), "", strong=True),
        markup.card(words.ASOF_AFTER, _card(opened, found.after), words.ASOF_NOTHING_AFTER),
    ]
    how.beside(markup.cards(cards), words.HOW_ASOF, wide=True)
    lines: list[tuple[str, markup.Piece]] = [(words.ASOF_RULE, found.rule)]
    if found.gap_ms is not None:
        lines.append((words.ASOF_GAP, words.asof_gap(found.gap_ms)))
    if found.engine != found.snapshot.id or found.engine_note:
        text = words.asof_engine(found.engine, found.engine_note, found.snapshot.id)
        lines.append((words.ASOF_ENGINE, markup.in_hue("consumer", text)))
    st.html(markup.facts(lines))


def _card(opened: Opened, snapshot: Snapshot | None) -> list[markup.Piece]:
    if snapshot is None:
        return []
    return [
        markup.mono(snapshot.id),
        words.commit_kind(snapshot.kind),
        units.moment(snapshot.time_ms, opened.zone, exact=True),
        markup.muted(units.ago(snapshot.time_ms, opened.now_ms)),
    ]


def _strip(opened: Opened, found: AsOf) -> None:
    """The same answer on the time axis, with its neighbours, and the time asked for where there is one."""
    asked = found.snapshot.time_ms + found.gap_ms if found.gap_ms is not None else None
    near = [each.time_ms for each in (found.before, found.snapshot, found.after) if each is not None]
    near += [asked] if asked is not None else []
    slack = max((max(near) - min(near)) // 2, 60_000)
    window = (min(near) - slack, max(near) + slack)
    near_it = axis(opened.heads).within(window)
    shown = near_it.of_branch(found.branch) if opened.heads.pointer is None else near_it.filled()
    figure = charts.timeline(
        shown, frame.hues(), opened.zone, chosen={found.point: ""}, asked_ms=asked, window_ms=window
    )
    lanes.draw(figure, charts.legend(shown), "asof.chart", _choose)


draw()
