"""The result of a query: versions and figures, rows page by page or as a chart, and downloads."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pyarrow as pa
import streamlit as st

from core.model.history import History
from core.model.query_answer import QueryAnswer
from core.model.time_travel import AsOf
from dashboard import url_state, words
from dashboard.charts import query_plot, timeline
from dashboard.components import explain_figure, grid
from dashboard.components.frame import hues
from dashboard.formatting import cells, exports, markup, units
from dashboard.view_models.files import live_files

_PAGE, _VIEW, _CHART = "query.page", "query.view", "query.chart"


def draw(answer: QueryAnswer, history: History, id: str, count: Callable[[], None]) -> None:
    """Draw a result; `id` is the run that produced it, and a new run starts at its first page. `count` draws the button
    that counts all rows of a truncated result."""
    explain_figure.html(markup.note("info", words.query_note(answer)), words.HOW_ANSWER)
    st.html(markup.facts(_facts(answer, history)))
    for each in (*map(words.left_out, answer.left_out), *map(words.sentence, answer.differs)):
        st.html(markup.note("info", each))
    if answer.truncated:
        st.html(markup.note("warning", words.cut_off(answer.table.num_rows)))
        count()
    if not answer.table.num_rows:
        st.html(markup.note("info", words.NO_ROWS))
        return
    with st.container(horizontal=True, vertical_alignment="center", key="query_shown"):
        view = _view()
        _downloads(answer.table)
    if view == "chart":
        _chart(answer.table)
    else:
        _rows(answer.table, id, cut=answer.truncated)


def _facts(answer: QueryAnswer, history: History) -> list[tuple[str, markup.Piece]]:
    points = [(words.ANSWER_AT, answer.point)] + ([(words.ANSWER_BEFORE, answer.before)] if answer.before else [])
    live = sum(int(history.totals.bytes[history.position(point.point)]) for _, point in points)
    data, deletes = map(sum, zip(*(live_files(history, point.point) for _, point in points), strict=True))
    held = markup.join([markup.size(live), *(markup.muted(each) for each in words.live_files(data, deletes))], " · ")
    read = []
    if answer.files_read is not None and answer.bytes_read is not None:
        files_read = markup.muted(units.plural(answer.files_read, "file"))
        read.append((words.ANSWER_READ, markup.join([markup.size(answer.bytes_read), files_read], " · ")))
    return [*((label, _point(point)) for label, point in points), (words.ANSWER_LIVE, held), *read]


def _point(found: AsOf) -> markup.Html:
    moment = markup.moment(found.snapshot.time_ms, url_state.zone(), url_state.now_ms())
    return markup.join([markup.mono(found.point), moment, markup.muted(found.rule)], " · ")


def _view() -> str:
    if _VIEW not in st.session_state:
        st.session_state[_VIEW] = "chart" if url_state.get("chart") else "rows"
    st.segmented_control(
        words.ANSWER_VIEW,
        list(words.ANSWER_VIEWS),
        key=_VIEW,
        format_func=words.ANSWER_VIEWS.__getitem__,
        label_visibility="collapsed",
        required=True,
        on_change=lambda: url_state.put(chart=url_state.get("chart") if st.session_state[_VIEW] == "chart" else None),
    )
    return str(st.session_state[_VIEW] or "rows")


def _downloads(table: pa.Table) -> None:
    for label, make, ending, mime in (
        (words.DOWNLOAD_CSV, exports.rows_csv, "csv", "text/csv"),
        (words.DOWNLOAD_PARQUET, exports.parquet, "parquet", "application/vnd.apache.parquet"),
    ):
        st.download_button(
            label,
            functools.partial(make, table),
            file_name=f"{words.RESULT_NAME}.{ending}",
            mime=mime,
            key=f"query.rows.{ending}",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
            help=words.DOWNLOAD_HELP,
        )


def _rows(table: pa.Table, id: str, *, cut: bool) -> None:
    if st.session_state.get(f"{_PAGE}.of") != id:
        st.session_state[f"{_PAGE}.of"], st.session_state[_PAGE] = id, 0
    rows = cells.page_rows(table.num_columns)
    last = (table.num_rows - 1) // rows
    page = min(int(st.session_state[_PAGE]), last)
    part = table.slice(page * rows, rows)
    most = cells.most_shown(part.num_rows, part.num_columns)
    shown = cells.frame(part, most)
    exact = [name for name, column in zip(shown.columns, part.columns, strict=True) if _is_exact(column.type)]
    columns = {name: st.column_config.Column(alignment="right") for name in exact}
    grid.plain(shown, f"query.rows.{page}", columns=columns)
    with st.container(horizontal=True, vertical_alignment="center", key="query_pages"):
        if last:
            for label, step, icon in ((words.EARLIER_ROWS, -1, "left"), (words.LATER_ROWS, 1, "right")):
                st.button(
                    label,
                    key=f"query.page{step}",
                    icon=f":material/chevron_{icon}:",
                    type="tertiary",
                    disabled=not 0 <= page + step <= last,
                    on_click=_turn,
                    args=(page + step,),
                )
        first = page * rows
        st.caption(words.answer_rows(first + 1, first + part.num_rows, table.num_rows, cut=cut), width="content")
        if cells.is_cut(shown, most):
            st.caption(words.values_cut(most), width="content")


def _turn(page: int) -> None:
    st.session_state[_PAGE] = page


def _is_exact(of: pa.DataType) -> bool:
    """Return whether values are exact numbers; True also for types shown as text to keep all digits."""
    return bool(pa.types.is_integer(of) or pa.types.is_decimal(of))


def _chart(table: pa.Table) -> None:
    chart = query_plot.read(url_state.get("chart"), table)
    if chart is None:
        st.html(markup.note("info", words.CHART_NOTHING))
        return
    if url_state.get("chart") is None:
        url_state.put(chart=chart.text())
    names, numbers = cells.distinct(table.column_names), list(query_plot.numeric(table))
    keys = [f"{_CHART}.{part}" for part in ("kind", "x", "ys")]
    for key, value in zip(keys, (chart.kind, chart.x, list(chart.ys)), strict=True):
        st.session_state[key] = value
    with st.container(horizontal=True, vertical_alignment="bottom", key="query_chart"):
        kinds = words.CHART_KINDS
        st.selectbox(
            words.CHART_KIND, list(kinds), key=keys[0], format_func=kinds.__getitem__, width=130, on_change=_put
        )
        st.selectbox(words.CHART_X, names, key=keys[1], width=220, on_change=_put)
        most = query_plot.MOST_SERIES
        st.multiselect(
            words.CHART_Y, numbers, key=keys[2], max_selections=most, placeholder=words.CHOOSE_SEVERAL, width=320,
            on_change=_put,
        )  # fmt: skip
    figure = query_plot.figure(cells.short(table), chart, hues(), url_state.zone())
    st.plotly_chart(figure, key="query.chart.drawn", config=timeline.CONFIG, theme=None)
    if table.num_rows > query_plot.MOST_ROWS:
        st.caption(words.chart_cut(query_plot.MOST_ROWS, table.num_rows))


def _put() -> None:
    kind, x, ys = (st.session_state[f"{_CHART}.{part}"] for part in ("kind", "x", "ys"))
    url_state.put(chart=query_plot.Chart(kind, x, tuple(ys)).text())
