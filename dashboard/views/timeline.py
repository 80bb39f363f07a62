"""Timeline: all snapshots, tags and branches on a true time axis; click a version for its commit details."""

from __future__ import annotations

import uuid

import streamlit as st

from core.analysis.commit_sentences import attention_sentence
from core.errors import SnapscopeError
from core.model.history import History
from core.model.references import MAIN
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import bisect_steps, trends
from dashboard.charts import timeline as charts
from dashboard.charts.time_axis import MAX_POINTS, Axis
from dashboard.components import errors, explain_figure, frame, grid, inputs, once, reports
from dashboard.components.frame import OpenedTable
from dashboard.components.history import commit_change, compare, schema_history, snapshot_details
from dashboard.components.history import timeline as lanes
from dashboard.formatting import markup
from dashboard.view_models import rows

CHART = "timeline.chart"
_CLICKED = "timeline.clicked"
_ANCHOR = "timeline.anchor"
_PAIR = "timeline.pair"
DOUBLE_CLICK_S = 0.5  # Plotly takes two clicks within 0.3 s for a double click


def draw() -> None:
    opened = frame.find_table(url_state.here())
    st.session_state.pop(_PAIR, None)
    page = st.container()
    waiting = page.empty()
    if loading.kept_history(opened.heads) is None:  # reading may take long, and the heading is drawn after it
        with waiting:
            frame.name_line(opened)
    history, problem = None, None
    try:
        history = frame.read_history(opened.heads)
    except SnapscopeError as error:
        problem = error
    waiting.empty()
    with page:
        _page(opened, history, problem)


@st.fragment
def _page(opened: OpenedTable, history: History | None, problem: SnapscopeError | None) -> None:
    """Draw the page from its heading on: a click redraws this, and does not read the table again."""
    opened = frame.with_head(opened)
    frame.need_snapshots(opened)
    if problem is not None:
        errors.show(problem)
    frame.note_all(opened, history)
    _body(opened, history)


def _body(opened: OpenedTable, history: History | None) -> None:
    with errors.boundary():
        if _PAIR in st.session_state:
            _leave(opened)
        whole = loading.axis(opened.heads)
        window = lanes.window_of(url_state.get("window"))
        shown = whole.within(window)
        teach = words.DENSE if len(shown.dots) > MAX_POINTS else words.CLICK_A_POINT
        lanes.shown_line(window, shown, opened.zone, teach)
        spacing = inputs.one_of(words.SPACING, "spacing", words.SPACINGS, "time")
        _bisected()
        with st.container(key="timeline_split"):
            left, right = st.columns([7, 3], gap="medium")
            with left:
                _chart(opened, history, shown, window, by_commit=spacing == "commit")
                lanes.windows(whole, window, _chosen_ms(opened), opened.zone)
                _points(opened, history, shown)
                _schemas(opened, history)
            with right:
                _detail(opened, history)


def _bisected() -> None:
    """Say what the marks of a bisect are, with a way to search again and one to hide them."""
    found = bisect_steps.parse(url_state.get("bisect"))
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="timeline_bisect"):
        st.html(markup.note("info", words.bisect_drawn(found.condition, len(found.steps))), width="stretch")
        frame.link("query", words.BISECT_AGAIN, ":material/manage_search:", ask="bisect", condition=found.condition)
        st.button(
            words.BISECT_HIDE, icon=":material/close:", type="tertiary", on_click=lambda: url_state.put(bisect=None)
        )


def _chosen_ms(opened: OpenedTable) -> int | None:
    """Return the commit time of the version in the URL."""
    try:
        point = url_state.get("point")
        return None if point is None else snapshot_details.resolve(opened, point).snapshot.time_ms
    except SnapscopeError:
        return None  # the panel next to the chart shows the error


def _chart(
    opened: OpenedTable, history: History | None, shown: Axis, window: tuple[int, int] | None, *, by_commit: bool
) -> None:
    trend = loading.trend(opened.heads, history).within(window)
    due = _due(opened)
    unusual = _unusual(opened, history)
    hues, ring, bisected = frame.hues(), _ring(opened), url_state.get("bisect")
    figure = loading.figure(
        opened.heads,
        history,
        ("timeline", hues, opened.zone, tuple(ring.items()), due, window, by_commit, bisected),
        lambda: charts.timeline(
            shown,
            hues,
            opened.zone,
            trend=trend,
            chosen=ring,
            due=due,
            unusual=unusual,
            window_ms=window,
            by_commit=by_commit,
            bisected=bisect_steps.parse(bisected),
        ),
    )
    due_words = words.LEGEND_DUE["commit" if opened.heads.capabilities.writers_expire else "expiry"]
    legend = charts.legend(shown, due, due_words, unusual)
    rules = (words.HOW_TREND, words.HOW_DUE, words.HOW_USUAL)
    lanes.draw(figure, legend, CHART, _clicked, *rules, compared=_compared)


def _unusual(opened: OpenedTable, history: History | None) -> dict[str, list[str]]:
    """Why commits need attention, by point. Nothing where the manifests have not been read: it is not known then."""
    found: dict[str, list[str]] = {}
    if history is None:
        return found
    for line in opened.heads.lines:
        for each in loading.unusual(history, line.branch):
            own = str(each.change.snapshot.id)
            point = own if line.branch == MAIN else f"branch:{line.branch}/{own}"
            found.setdefault(point, []).append(words.spoken(attention_sentence(each)))
    return found


def _points(opened: OpenedTable, history: History | None, shown: Axis) -> None:
    """List the same versions for keyboards and screen readers, rendered only once opened."""
    opens = st.expander(words.POINTS_TABLE, icon=":material/table_rows:", key="timeline.table", on_change="rerun")
    if not opens.open:
        return
    with opens:
        st.caption(words.POINTS_TEACH)
        table = trends.points(shown, history, opened.zone)
        grid.pick(
            table, "timeline.points", words.POINT_COLUMNS, _clicked, name=f"{opened.ref.title}-points", first="point"
        )


def _schemas(opened: OpenedTable, history: History | None) -> None:
    """The schema history of the chosen version's branch, rendered only once opened."""
    at = None if opened.picked is None else opened.picked.found
    branch = MAIN if at is None else at.branch
    label = words.schema_history(schema_history.changes(opened.heads, branch))
    is_open = url_state.get("schemas") is not None
    opens = st.expander(
        label, expanded=is_open, icon=":material/view_column:", key="timeline.schemas", on_change="rerun"
    )
    if opens.open != is_open:
        url_state.put(schemas="1" if opens.open else None)
    if opens.open:
        with opens:
            schema_history.draw(opened.heads, history, branch, opened.zone, {})


def _due(opened: OpenedTable) -> frozenset[str]:
    try:
        return rows.due(loading.ends(opened.heads, opened.now_ms), opened.now_ms)
    except SnapscopeError:
        return frozenset()  # the panel next to the chart shows the error


def _ring(opened: OpenedTable) -> dict[str, str]:
    """Draw a ring around the version in the URL. The highlight of a click is done in the browser: the figure itself
    does not change, so the zoom survives a click."""
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
        return {}  # the panel next to the chart shows the error


def _clicked(payload: str) -> None:
    if lanes.window_of(payload):
        url_state.put(window=payload)
    elif compare.is_open():
        _compared(url_state.get("point") or "latest", payload)
    else:
        st.session_state[_CLICKED] = payload
        url_state.put(point=payload)


def _compared(one: str, other: str) -> None:
    """Remember two versions to compare: a page can only be left while it is drawn, not while it hears a click."""
    st.session_state[_PAIR] = one, other, uuid.uuid4().hex


def _leave(opened: OpenedTable) -> None:
    """Leave for the diff once no second click can make this a double click. Plotly sends an event for that one too,
    and an event from a page that has been left makes Streamlit clear the new page."""
    one, other, name = st.session_state[_PAIR]
    if once.after(DOUBLE_CLICK_S, name, "timeline.leave"):
        del st.session_state[_PAIR]
        compare.to_diff(opened, one, other)


def _detail(opened: OpenedTable, history: History | None) -> None:
    if opened.picked is None:
        return
    found = opened.picked.found
    explain_figure.html(markup.panel_title(words.point_title(found)), words.HOW_TREND, words.HOW_DUE)
    snapshot_details.neighbours(opened, found)
    commit_change.draw(opened, history, found)
    compare.draw(opened, found)
    snapshot_details.draw(opened, history, found)
    if history is not None:
        reports.of_table(opened, history, found)


draw()
