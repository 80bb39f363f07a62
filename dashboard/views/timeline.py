"""Timeline: everything the table still knows, on a true time axis; click a point for all its commit says."""

from __future__ import annotations

import streamlit as st

from core.errors import SnapscopeError
from core.model.history import History
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import timeline as charts
from dashboard.charts import trends
from dashboard.charts.time_axis import MAX_POINTS, Axis, axis
from dashboard.components import errors, explain_figure, frame, grid, reports, version_picker
from dashboard.components.frame import OpenedTable
from dashboard.components.history import snapshot_details
from dashboard.components.history import timeline as lanes
from dashboard.formatting import markup
from dashboard.view_models import rows

CHART = "timeline.chart"
_CLICKED = "timeline.clicked"
_ANCHOR = "timeline.anchor"


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    _body(opened, history)


@st.fragment
def _body(opened: OpenedTable, history: History | None) -> None:
    with errors.boundary():
        whole = axis(opened.heads)
        window = lanes.window_of(url_state.get("window"))
        shown = whole.within(window)
        teach = words.DENSE if len(shown.dots) > MAX_POINTS else words.CLICK_A_POINT
        lanes.shown_line(window, shown, opened.zone, teach)
        with st.container(key="timeline_split"):
            left, right = st.columns([7, 3], gap="medium")
            with left:
                _chart(opened, history, shown, window)
                lanes.windows(whole, window, _chosen_ms(opened), opened.zone)
                _points(opened, history, shown)
            with right:
                _detail(opened, history)


def _chosen_ms(opened: OpenedTable) -> int | None:
    """When the point of the address was committed."""
    try:
        point = url_state.get("point")
        return None if point is None else snapshot_details.resolve(opened, point).snapshot.time_ms
    except SnapscopeError:
        return None  # the panel beside the chart says why


def _chart(opened: OpenedTable, history: History | None, shown: Axis, window: tuple[int, int] | None) -> None:
    trend = rows.trend(opened.heads, history).within(window)
    due = _due(opened)
    figure = charts.timeline(
        shown, frame.hues(), opened.zone, trend=trend, chosen=_ring(opened), due=due, window_ms=window
    )
    legend = charts.legend(
        shown, due, words.LEGEND_DUE["commit" if opened.heads.capabilities.writers_expire else "expiry"]
    )
    lanes.draw(figure, legend, CHART, _clicked, words.HOW_TREND, words.HOW_DUE)


def _points(opened: OpenedTable, history: History | None, shown: Axis) -> None:
    """The same points for keyboards and screen readers, made once somebody opens them."""
    opens = st.expander(words.POINTS_TABLE, icon=":material/table_rows:", key="timeline.table", on_change="rerun")
    if not opens.open:
        return
    with opens:
        st.caption(words.POINTS_TEACH)
        table = trends.points(shown, history, opened.zone)
        grid.pick(
            table, "timeline.points", words.POINT_COLUMNS, _clicked, name=f"{opened.ref.title}-points", first="point"
        )


def _due(opened: OpenedTable) -> frozenset[str]:
    try:
        return rows.due(loading.ends(opened.heads, opened.now_ms), opened.now_ms)
    except SnapscopeError:
        return frozenset()  # the panel beside the chart says why


def _ring(opened: OpenedTable) -> dict[str, str]:
    """A ring round the point of the address. A click's own highlight is the browser's: the figure stays as it is, so
    zoom survives a click."""
    point = url_state.get("point")
    if point != st.session_state.get(_CLICKED):
        st.session_state[_ANCHOR] = point
        st.session_state[_CLICKED] = point
    anchor = st.session_state.get(_ANCHOR)
    if not anchor:
        return {}
    try:
        return {snapshot_details.resolve(opened, anchor).point: ""}
    except SnapscopeError:
        return {}  # the panel beside the chart says why


def _clicked(carried: str) -> None:
    if lanes.window_of(carried):
        url_state.put(window=carried)
    else:
        st.session_state[_CLICKED] = carried
        url_state.put(point=carried)


def _detail(opened: OpenedTable, history: History | None) -> None:
    newest = "latest" if opened.heads.main.snapshots else None
    picked = version_picker.pick(words.COLUMN["point"], opened.heads, name="point", default=newest, hidden=True)
    if picked is None:
        return
    found = picked.found
    explain_figure.beside(markup.panel_title(words.point_title(found)), words.HOW_TREND, words.HOW_DUE)
    snapshot_details.neighbours(opened, found)
    snapshot_details.draw(opened, history, found)
    if history is not None:
        reports.of_table(opened, history, found)


draw()
