"""Row differences between two versions: started by a button, computed in a background job."""

from __future__ import annotations

import uuid

import streamlit as st

from core.model.history import History
from core.model.row_diff import RowDiff
from core.model.time_travel import AsOf
from dashboard import background_jobs, words
from dashboard import data as loading
from dashboard.components import grid, inputs, spark_job
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup
from dashboard.view_models import differences

KIND = "rows"
SHOWN = 1_000
TIMEOUT_S = 300


def draw(opened: OpenedTable, history: History, a: AsOf, b: AsOf) -> bool:
    """Draw the button and the result for exactly these two versions. Returns whether rows were requested."""
    versions = tuple((each.point, each.snapshot.content, each.schema.id) for each in (a, b))
    key = f"rows.job.{opened.ref.title}.{hash(versions)}"
    job = background_jobs.find(st.session_state.get(key))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            words.COMPARE_ROWS,
            key="rows.compare",
            icon=":material/compare_arrows:",
            disabled=job is not None and job.is_awaited,
            on_click=_submit,
            args=(opened, history, a, b, key),
        )
        st.caption(words.COMPARE_ROWS_HELP)
    spark_job.follow(st.session_state.get(key), "rows", words.COMPARING_CANCELLED, _show)
    return job is not None


def _submit(opened: OpenedTable, history: History, a: AsOf, b: AsOf, key: str) -> None:
    id, table = str(uuid.uuid4()), loading.table(opened.ref.location)

    def work(job: background_jobs.Job) -> object:
        from core.spark.diff import rows as rowdiff  # Spark is slow to import, and only needed here

        on_progress = spark_job.progress(job)
        return rowdiff.row_diff(
            table, history, a, b, limit=SHOWN, timeout_s=TIMEOUT_S, query_id=id, on_progress=on_progress
        )

    job = background_jobs.submit(id, KIND, opened.ref.location, work)
    st.session_state[key] = id
    job.wait(spark_job.QUICK_S)


def _show(found: RowDiff) -> None:
    st.html(differences.row_stat(found))
    st.html(markup.note("info", words.rows_note(found)))
    for note in found.notes:
        st.html(markup.note("info", words.sentence(note)))
    if not found.changes:
        st.html(markup.note("info", words.no_row_change(found)))
        return
    if found.truncated:
        st.html(markup.note("warning", words.rows_capped(len(found.changes))))
    kinds = {kind: label for kind, label in words.ROW_SIDES.items() if getattr(found, kind)}
    chosen = inputs.kinds(words.ROW_KINDS_SHOWN, "kinds", kinds, words.ROW_KINDS_HELP) if len(kinds) > 1 else ()
    frame, meanings, labels = differences.rows(found, chosen)
    if frame.empty:
        st.html(markup.note("info", words.NO_ROW_OF_KIND))
        return
    columns = {name: grid.text(label) for name, label in labels.items()}
    columns["times"] = st.column_config.TextColumn(words.TIMES, alignment="right")
    grid.draw(
        frame, "rows.grid", columns=columns, what=words.ROWS_NOUN, name=words.ROW_CHANGES_NAME, tall=True,
        meanings=meanings,
    )  # fmt: skip
