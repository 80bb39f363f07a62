"""The lifetime of a file: facts, a chart on the table's time axis, and its holders as a table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from core.analysis import file_lifetime as lives
from core.model.history import History
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import file_lifetime as lifebar
from dashboard.charts import timeline as charts
from dashboard.components import explain_figure, grid
from dashboard.components.changes import plan
from dashboard.components.frame import OpenedTable, hues
from dashboard.components.history import timeline as lanes
from dashboard.formatting import commands, markup
from dashboard.view_models import files as places


def draw(opened: OpenedTable, history: History, text: str, live: pa.Table | None) -> None:
    """Draw the lifetime of the file that `text` names; `live` are the files of the version shown."""
    path = named(opened, history, text)
    course = lives.lifetime(history, path, opened.now_ms)
    with st.container(border=True, key="files_life"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(markup.panel_title(path.rsplit("/", 1)[-1]), width="stretch")
            explain_figure.note(words.HOW_LIFE)
            st.button(
                words.CLOSE_FILE, key="life.close", icon=":material/close:", type="tertiary",
                on_click=lambda: url_state.put(file=None),
            )  # fmt: skip
        facts, life = st.columns([2, 3], gap="medium")
        facts.html(markup.facts(places.file_facts(history, path)))
        life.html(markup.facts(places.life_facts(course, opened.zone, opened.now_ms)))
        is_data = pc.is_in(pa.array([path]), value_set=history.files["path"].combine_chunks())[0].as_py()
        if is_data and live is not None and pc.index(live["path"], path).as_py() < 0:
            st.html(markup.note("info", words.LIFE_NOT_HERE))
        _chart(opened, course)
        columns = {name: grid.text(label) for name, label in words.LIFE_HEADS.items()}
        found = places.stretches(course, opened.zone)
        grid.draw(found, "life.holders", columns=columns, what=words.STRETCHES_NOUN, name="holders")
        plan.command(commands.holders(opened.ref.location, path))


def named(opened: OpenedTable, history: History, text: str) -> str:
    """Return the path that a text refers to."""
    return lives.find(history, text, loading.table(opened.ref.location).store.relative)


def _chart(opened: OpenedTable, course: lives.FileLifetime) -> None:
    span = loading.axis(opened.heads).span_ms
    if span is None or not course.stretches:
        return
    figure = lifebar.figure(course, hues(), opened.zone, span)
    st.html(markup.legend(lifebar.legend(course)))
    st.plotly_chart(lanes.Drawn(figure), key="life.chart", theme=None, config=charts.CONFIG, alt=words.LIFE_ALT)
