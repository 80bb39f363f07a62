"""Retention: what each setting would reclaim, storage by holder, and what the engine does itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.analysis.expiration_dates import ExpirationDate, calendar
from core.errors import Invalid
from core.messages import sentences
from core.model.history import History
from core.model.plan import Plan
from dashboard import data as loading
from dashboard import settings, words
from dashboard.charts.timeline import CONFIG
from dashboard.components import errors, explain_figure, grid, inputs
from dashboard.components.frame import OpenedTable, hues
from dashboard.components.history import holder_sets, timeline
from dashboard.formatting import markup
from dashboard.view_models import retention_curve


def slider(opened: OpenedTable, history: History, branch: str, plan: Plan | None, keep: Callable[[int], None]) -> None:
    """The curve of every retention; a click on it is told to `keep`."""
    price = settings.price(opened.ref.location)
    chosen = None if plan is None else retention_curve.kept_snapshots(plan, branch)
    look = branch, hues(), chosen, price
    figure = loading.figure(history.heads, history, look, lambda: retention_curve.curve(history, *look))
    note_unread(history)
    if figure is None:
        st.html(markup.note("info", words.LAB_NO_CURVE))
        return
    key = f"lab.curve.{branch}"

    def clicked() -> None:
        if (number := timeline.clicked_payload(st.session_state.get(key))) is not None:
            keep(int(number))

    st.plotly_chart(
        timeline.Drawn(figure), key=key, theme=None, config=CONFIG, on_select=clicked, selection_mode="points",
        alt=words.CURVE_ALT,
    )  # fmt: skip
    explain_figure.caption(words.LAB_CURVE_HELP, words.HOW_CURVE)
    table = st.expander(words.LAB_AS_TABLE, key="lab.as_table", on_change="rerun")
    if table.open:
        columns = {
            "keep": grid.number(words.CURVE_X),
            "files": grid.number(words.LAB_FILES),
            "bytes": grid.number(words.COLUMN["bytes"], words.BYTES_HELP),
            "money": grid.text(words.COST),
        }
        found, name = retention_curve.curve_table(history, branch, price), f"retention-{opened.ref.name}"
        with table:
            grid.draw(found, "lab.table", columns=columns, what=words.POINTS_NOUN, name=name)


def note_unread(history: History) -> None:
    if history.incomplete:
        st.html(markup.note("problem", words.LAB_UNREAD))


@st.fragment
def draw(opened: OpenedTable, history: History, branch: str) -> None:
    """The sets of holders, the best tags to drop, and the table's own policy: what is open of these.

    Switching tabs redraws only this component, not the page.
    """
    panes: Mapping[str, Callable[[], None]] = {
        "holders": lambda: holder_sets.draw(opened, history),
        "drops": lambda: _drops(opened, history, branch),
        "own": lambda: _own(opened, history, branch),
    }
    for name, tab in inputs.tabs("lab", words.LAB_PARTS).items():
        if tab.open:
            with tab, errors.boundary():
                panes[name]()


def _own(opened: OpenedTable, history: History, branch: str) -> None:
    next_commit(opened, history, branch)
    expirations = loading.ends(opened.heads, opened.now_ms)
    _calendar(opened, calendar(history, expirations, opened.now_ms))
    explain_figure.caption(words.LAB_ENDS_HELP, words.HOW_DUE)
    grid.draw(
        retention_curve.ends(history, expirations, branch),
        "lab.ends",
        columns={
            "point": grid.text(words.COLUMN["point"]),
            "expires": grid.text(words.LAB_ENDS, words.LAB_ENDS_HELP, width="large"),
        },
        what=words.POINTS_NOUN,
        name=f"ends-{opened.ref.name}",
    )


def _calendar(opened: OpenedTable, days: Sequence[ExpirationDate]) -> None:
    """List what expires by date, on all branches. Draws nothing if everything depends on commits or consumers, or never
    expires."""
    if not days:
        st.html(markup.note("info", words.CALENDAR_NONE))
        return
    explain_figure.caption(words.CALENDAR_HELP, words.HOW_CALENDAR)
    figure = retention_curve.calendar(days, opened.now_ms, hues(), opened.zone)
    st.plotly_chart(figure, key="lab.calendar", theme=None, config=CONFIG)
    table = st.expander(words.LAB_AS_TABLE, key="lab.calendar_table", on_change="rerun")
    if table.open:
        columns = {
            "date": grid.text(words.CALENDAR_DATE),
            "points": grid.text(words.CALENDAR_POINTS, width="large"),
            "files": grid.number(words.LAB_FILES),
            "bytes": grid.number(words.LAB_FREES, words.BYTES_HELP),
            "total": grid.number(words.CALENDAR_TOTAL, words.BYTES_HELP),
        }
        with table:
            found, name = retention_curve.calendar_table(days, opened.zone), f"calendar-{opened.ref.name}"
            grid.draw(found, "lab.calendar_rows", columns=columns, what=words.CALENDAR_NOUN, name=name)


def _drops(opened: OpenedTable, history: History, branch: str) -> None:
    is_later = not opened.heads.capabilities.tags_hold_files
    try:
        found = retention_curve.drops(history, opened.now_ms, branch)
    except Invalid as error:  # too many tags to choose from; the rest of the page still works
        st.html(markup.note("info", str(error)))
        return
    if found.empty:
        has_tags = is_later and opened.heads.main.tags
        st.html(markup.note("info", words.TAGS_KEEP_NOTHING if has_tags else words.NO_TAGS_TO_DELETE))
        return
    explain_figure.caption(words.LAB_DROPS_LATER if is_later else words.LAB_DROPS_HELP, words.HOW_DROPS)
    columns = {
        "count": grid.number(words.LAB_COUNT),
        "tags": grid.text(words.LAB_DROP_TAGS, width="large"),
        "files": grid.number(words.LAB_FILES),
        "bytes": grid.number(words.LAB_FREES, words.BYTES_HELP),
    }
    grid.draw(found, "lab.drops", columns=columns, what=words.LAB_SETS_NOUN, name=f"drops-{opened.ref.name}")


def next_commit(opened: OpenedTable, history: History, branch: str) -> None:
    """Show what the next commit to a branch expires automatically, what that breaks, and how to prevent it."""
    coming = loading.forecast(history, opened.now_ms, branch)
    if coming is None:
        st.html(markup.note("info", words.LAB_KEEPS_ALL))
        return
    st.html(markup.note("info", words.lab_next(coming.branch, coming.headline, sentences(coming.prevented_by))))
    for each in coming.breaks:
        st.html(markup.note("warning", each.text))


def engine_differences(history: History, plan: Plan) -> None:
    """Show where Paimon's own deletion would differ from this plan. It is computed separately from the plan."""
    found = loading.native(history, plan)
    if not found:
        st.html(markup.note("info", words.NATIVE_SAME))
    for each in found:
        st.html(markup.note("warning", each.text))
