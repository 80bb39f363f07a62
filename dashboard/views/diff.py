"""Diff: pick two versions and see which files, partitions, columns and options differ, with compaction shown
separately."""

from __future__ import annotations

import pyarrow.compute as pc
import streamlit as st

from core.analysis import diff as differing
from core.analysis import inspection as contents
from core.analysis.diff import Diff
from core.errors import SnapscopeError
from core.model.history import History
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.charts import timeline as charts
from dashboard.components import errors, explain_figure, frame, grid, inputs, paged_table, reports
from dashboard.components import version_picker as picker
from dashboard.components.changes import plan
from dashboard.components.frame import OpenedTable
from dashboard.components.history import row_diff, schema_history, snapshot_details
from dashboard.components.history import timeline as lanes
from dashboard.components.version_picker import PickedVersion
from dashboard.formatting import commands, markup
from dashboard.view_models import change_tree, differences, table_tree
from dashboard.view_models import version_picker as pointing

CHART = "diff.chart"


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    a, b = _pick(opened)
    if history is None or a is None or b is None:
        return
    with errors.boundary():
        _show(opened, history, differing.diff(history, a.found, b.found))


def _pick(opened: OpenedTable) -> tuple[PickedVersion | None, PickedVersion | None]:
    """Draw the clickable timeline and the box of A; B is the version chosen in the heading, latest if none is."""
    a, b = url_state.get("a"), url_state.get("b")
    st.caption(words.DIFF_PICK_A if a is None else words.DIFF_PICK_B if b is None else words.DIFF_TEACH)
    window = lanes.window_of(url_state.get("window"))
    whole = loading.axis(opened.heads)
    shown = whole.within(window)
    chosen: dict[str, str] = {}
    for letter, point in (("A", a), ("B", b or "latest")):
        if point is not None:
            try:
                name = snapshot_details.resolve(opened, point).point
            except SnapscopeError:
                continue  # the line below its box shows the error
            chosen[name] = chosen.get(name, "") + letter
    by_commit = inputs.one_of(words.SPACING, "spacing", words.SPACINGS, "time") == "commit"
    figure = charts.timeline(shown, frame.hues(), opened.zone, chosen=chosen, by_commit=by_commit)
    lanes.draw(figure, charts.legend(shown), CHART, _clicked)
    if window is not None:
        lanes.window_line(window, len(shown.dots), opened.zone)
    with st.container(key="diff_points"):
        first, swap, second = st.columns([10, 2, 10], vertical_alignment="top")
        with first:
            one = picker.pick(words.POINT_A, opened.heads, name="a")
        swap.button(
            words.SWAP, help=words.SWAP_HELP, disabled=not (a or b), on_click=_swap,
            width="stretch",
        )  # fmt: skip
        with second:
            st.html(markup.labelled(words.POINT_B, _second(opened)))
    return one, opened.picked


def _second(opened: OpenedTable) -> str:
    """Describe B; if it cannot be resolved, the line below the box in the heading says why."""
    if (b := opened.picked) is None:
        return words.DETAIL_NONE
    return pointing.resolved(b.text, b.point, b.found, opened.zone, opened.now_ms)


def _clicked(payload: str) -> None:
    if lanes.window_of(payload):
        url_state.put(window=payload)
    else:
        a, b = pointing.next_pair(url_state.get("a"), url_state.get("b"), payload)
        url_state.put(a=a, b=b)


def _swap() -> None:
    url_state.put(a=url_state.get("b") or "latest", b=url_state.get("a"))


def _show(opened: OpenedTable, history: History, found: Diff) -> None:
    explain_figure.html(differences.stat_line(found), words.HOW_DIFF, words.HOW_DIFF_PARTITIONS)
    compacted_rows = differences.compacted_rows(found)
    hide = differences.compacted_files(found) > 0 and inputs.switch(
        words.HIDE_COMPACTION, "hide", words.HIDE_COMPACTION_HELP, default=compacted_rows == 0
    )
    if hide and compacted_rows:
        st.html(markup.note("warning", words.hidden_rows(compacted_rows)))
    if found.is_backwards:
        st.html(markup.note("warning", words.BACKWARDS))
    if missed := differing.deletes(found):
        st.html(markup.note("info", words.spoken(missed)))
    sentence = differences.sentence(found)
    if sentence is not None:
        st.html(markup.note("info", sentence))
    frame.link("query", words.QUERY_BOTH, ":material/terminal:", before=found.a.point, point=found.b.point)
    tabs = inputs.tabs("part", words.DIFF_PARTS)
    with tabs["partitions"]:
        _partitions(found, hide=hide)
    with tabs["files"]:
        _files(found, hide=hide)
    with tabs["rows"]:
        has_rows = row_diff.draw(opened, history, found.a, found.b)
    with tabs["schema"]:
        _settings(opened, history, found)
        schema_history.draw(opened.heads, history, found.b.branch, opened.zone, {"A": found.a, "B": found.b})
    with tabs["commits"]:
        _commits(opened, found)
    plan.command(commands.diff(opened.ref.location, found.a.point, found.b.point, rows=has_rows))
    reports.of_diff(opened, history, found)


def _partitions(found: Diff, *, hide: bool) -> None:
    table = differences.partitions(found, hide_compaction=hide)
    if not len(table):
        if len(found.partitions):
            st.html(markup.note("info", differences.compacted(found)))
        return
    st.html(change_tree.drawn(table))
    as_table = st.expander(words.DIFF_AS_TABLE, key="diff.partitions.table", on_change="rerun")
    if as_table.open:
        columns = {name: grid.number(label) for name, label in words.TREE_COLUMNS.items()}
        columns["partition"] = grid.text(words.COLUMN["partition"], width="large")
        with as_table:
            grid.draw(
                differences.partition_frame(table), "diff.partitions", columns=columns, what=words.PARTITIONS,
                name=f"{_name(found)}-partitions",
            )  # fmt: skip


def _name(found: Diff) -> str:
    return f"diff-{found.a.snapshot.id}-{found.b.snapshot.id}"


def _files(found: Diff, *, hide: bool) -> None:
    listed = differences.listed(found, hide_compaction=hide)
    if not len(listed):
        st.html(
            markup.note("info", differences.compacted(found) if hide and len(found.added) else words.NO_FILE_CHANGE)
        )
        return
    of = f"{found.a.point}.{found.b.point}.{hide}"
    chosen = paged_table.draw(
        listed,
        "diff.files",
        differences.files,
        columns={
            "side": grid.text(words.COLUMN["side"], width="small"),
            "path": grid.text(words.COLUMN["path"], width="large"),
            "partition": grid.text(words.COLUMN["partition"]),
            "content": grid.text(words.FILE_COLUMN["content"]),
            "bucket": grid.number(words.COLUMN["bucket"]),
            "bytes": grid.number(words.COLUMN["bytes"], words.BYTES_HELP),
            "rows": grid.number(words.COLUMN["rows"], words.ROWS_HELP),
            "level": grid.number(words.COLUMN["level"]),
            "change": grid.text(words.COLUMN["change"], words.CHANGE_HELP),
        },
        name=_name(found),
        of=of,
    )
    if chosen is not None:
        url_state.put(row=f"{listed['side'][chosen].as_py()}:{listed['path'][chosen].as_py()}")
    side, _, path = (url_state.get("row") or "").partition(":")
    if pc.any(pc.and_(pc.equal(listed["path"], path), pc.equal(listed["side"], side))).as_py():
        point = found.b.point if side == "added" else found.a.point
        frame.link(
            "files",
            words.life_of(table_tree.inline(path.rsplit("/", 1)[-1])),
            ":material/folder_open:",
            file=path,
            point=point,
        )
    else:
        st.caption(words.CHOOSE_A_FILE)


def _settings(opened: OpenedTable, history: History, found: Diff) -> None:
    """Show changes to columns (by id), options and statistics."""
    table = loading.table(opened.ref.location)
    counted = [contents.analyzed(table, history, point) for point in (found.a, found.b)]
    changes = differences.settings(found, *counted)
    if changes.empty:
        st.html(markup.note("info", words.NO_SCHEMA_CHANGE))
        return
    columns = {"of": grid.text(words.SETTING_OF, width="small"), "changed": grid.text(words.SETTING, width="large")}
    grid.draw(changes, "diff.settings", columns=columns, what=words.CHANGES_NOUN, name=f"{_name(found)}-settings")


def _commits(opened: OpenedTable, found: Diff) -> None:
    if not found.commits:
        st.html(markup.note("info", words.NO_COMMITS_BETWEEN))
        return
    columns = {name: grid.text(label) for name, label in words.COMMIT_COLUMNS.items()}
    columns["delta"] = st.column_config.TextColumn(words.COMMIT_COLUMNS["delta"], alignment="right")
    grid.draw(
        differences.commits(found, opened.zone, opened.now_ms), "diff.commits", columns=columns,
        what=words.COMMITS_NOUN, name=f"{_name(found)}-commits",
    )  # fmt: skip


draw()
