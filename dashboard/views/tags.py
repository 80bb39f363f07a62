"""Tags: what each one holds and what deleting it would reclaim; create and delete tags and branches with a plan."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis.tag_target import tag_target
from core.model.actions import CreateTag, DeleteTags, RenameTag, ReplaceTag
from core.model.references import MAIN, Line
from core.units import parse_user_duration_ms
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors, explain_figure, frame, grid, inputs, version_picker
from dashboard.components.changes import automatic_tags, branches
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.components.history import snapshot_details
from dashboard.formatting import markup, units
from dashboard.view_models import rows, table_tree
from dashboard.view_models import version_picker as pointing

GRID = "tags.grid"


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    plans.progress(opened)
    branch = inputs.branch(opened.heads)
    line = opened.heads.line(branch) or opened.heads.main
    chosen = None
    if line.tags:
        chosen = _chosen(line, loading.tag_rows(line, history, opened.heads, opened.zone, opened.now_ms), opened)
    else:
        earliest = line.earliest
        horizon = earliest.time_ms if earliest else None
        st.html(markup.empty(words.NO_TAGS, words.no_tags_next(horizon, opened.zone)))
    if chosen is not None and history is not None:
        with errors.boundary():
            _one(opened, line, chosen)
            plan = loading.plan(history, DeleteTags((chosen,), branch), opened.now_ms)
            label = words.delete_tag(table_tree.inline(chosen), plan.freed_bytes, len(plan.frees))
            with st.expander(label, icon=":material/auto_delete:"):
                plans.draw(opened, plan, history)
                plans.carry_out(opened, plan)
                plans.command_of(opened, plan)
        _replace(opened, line, chosen)  # though a deletion cannot be planned
        _rename(opened, line, chosen)
    with errors.boundary():
        _create(opened, line)
    if history is not None and opened.heads.capabilities.writers_expire:
        automatic_tags.draw(opened, history, line.branch)
    branches.draw(opened, line)


def _chosen(line: Line, frame_: pd.DataFrame, opened: OpenedTable) -> str | None:
    """Draw the list and return the name in the selected row."""
    if len(frame_) > 1:
        st.html(markup.note("info", words.dearest(rows.dearest(frame_, "cost"), rows.dearest(frame_, "later"))))
    ends = "clock" if opened.heads.capabilities.tag_ends_are_wall_clock else "age"
    explain_figure.caption(words.TAG_CHOOSE, words.HOW_TAG_COST, words.HOW_TAG_LATER, words.HOW_ROWS)
    event = grid.choose(
        frame_,
        GRID,
        columns={
            "name": grid.whole(words.COLUMN["tag"], frame_["name"]),
            "snapshot": grid.text(
                words.COLUMN["snapshot"], width="small" if opened.heads.capabilities.ids_are_ordered else "medium"
            ),
            "standing": grid.text(words.COLUMN["standing"]),
            "committed": grid.text(words.COLUMN["committed"]),
            "rows": grid.number(words.COLUMN["rows"], words.ROWS_HELP),
            "retained": grid.text(words.TAG_RETAINED, words.TAG_RETAINED_HELP, width="small"),
            "expires": grid.text(words.COLUMN["expires"], words.TAG_EXPIRES_HELP[ends]),
            "cost": grid.number(words.TAG_COST, words.TAG_COST_HELP),
            "later": grid.number(words.TAG_LATER, words.TAG_LATER_HELP),
        },
        names=[opened.ref.location, line.branch, *frame_["name"]],
    )
    return None if event is None else str(frame_.iloc[event]["name"])


def _one(opened: OpenedTable, line: Line, name: str) -> None:
    st.html(markup.panel_title(f"tag:{name}"))
    before = "" if line.branch == MAIN else f"branch:{line.branch}/"
    snapshot_details.links(opened, snapshot_details.resolve(opened, f"{before}tag:{name}"), here="tags")


def _replace(opened: OpenedTable, line: Line, name: str) -> None:
    """Move an existing tag. That reclaims what only the old tag held, so it is a plan to confirm."""
    retained = next(tag.retained for tag in line.tags if tag.name == name)
    own = "" if retained is None else units.whole(round(retained.total_seconds() * 1_000))
    with st.expander(words.replace_tag(table_tree.inline(name)), icon=":material/swap_horiz:"), errors.boundary():
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label = words.TAG_REPLACE_POINT
            picked = version_picker.pick(
                label, opened.heads, key=_key(opened, f"replace.{name}"), line=line, width=inputs.ROOMY
            )
            kept = st.text_input(
                words.TAG_RETAINED,
                own,
                key=_key(opened, f"replace.kept.{name}"),
                help=words.TAG_KEPT_HELP,
                placeholder=words.TAG_RETAINED_HINT,
                width=200,
            )
        if picked is not None:
            history = frame.read_history(opened.heads)
            change = ReplaceTag(name, picked.found.snapshot.id, _retained_ms(kept), line.branch)
            plan = loading.plan(history, change, opened.now_ms)
            plans.draw(opened, plan, history)
            plans.carry_out(opened, plan)
            plans.command_of(opened, plan)


def _rename(opened: OpenedTable, line: Line, name: str) -> None:
    with st.expander(words.rename_tag(table_tree.inline(name)), icon=":material/edit:"), errors.boundary():
        key = _key(opened, f"rename.{name}")
        to = (st.text_input(words.TAG_RENAME_TO, key=plans.cleared(key)) or "").strip()
        if to:
            plan = loading.plan(frame.read_history(opened.heads), RenameTag(name, to, line.branch), opened.now_ms)
            plans.brief(plan)
            plans.carry_out(opened, plan, clears=key)
            plans.command_of(opened, plan, is_brief=True)


def _create(opened: OpenedTable, line: Line) -> None:
    """Draw the form for a new tag; its plan is shown before the tag is created."""
    if not line.snapshots:
        return
    st.html(markup.panel_title(words.TAG_CREATE))
    with st.container(horizontal=True, vertical_alignment="bottom", key="tag_form"):
        name_key = _key(opened, "name")
        name = (
            st.text_input(words.TAG_NAME, key=plans.cleared(name_key), placeholder=words.TAG_NAME_HINT, width=220) or ""
        )
        point = _to_tag(opened, line)
        kept = st.text_input(
            words.TAG_RETAINED,
            key=_key(opened, "kept"),
            help=words.TAG_RETAINED_HELP,
            placeholder=words.TAG_RETAINED_HINT,
            width=190,
        )
        time = ""
        if opened.heads.capabilities.makes_tags_from_times:
            time = st.text_input(
                words.TAG_TIME,
                key=_key(opened, "time"),
                help=words.TAG_TIME_HELP,
                placeholder=words.TAG_TIME_HINT,
                width=220,
            )
        verified = st.checkbox(words.TAG_VERIFY, value=True, key=_key(opened, "verify"), help=words.TAG_VERIFY_HELP)
    if not name.strip():
        st.caption(words.TAG_CREATE_TEACH)
        return
    if point is None:
        return
    if time and time.strip():
        found = tag_target(opened.heads, time_ms=inputs.moment(time, opened.zone, opened.now_ms), branch=line.branch)
        point = found.snapshot.id
        for each in found.sentences():
            st.html(markup.note("info", each))
    change = CreateTag(name.strip(), point, _retained_ms(kept), line.branch, verified)
    plan = loading.plan(frame.read_history(opened.heads), change, opened.now_ms)
    plans.brief(plan)
    plans.carry_out(opened, plan, clears=name_key)
    plans.command_of(opened, plan, is_brief=True)


def _to_tag(opened: OpenedTable, line: Line) -> int | None:
    """Show the snapshot that a new tag gets: the chosen version, else the newest of the branch. None if there is none
    on this branch."""
    found = None if opened.picked is None else opened.picked.found
    if url_state.get("point") is None:
        snapshot = line.latest
    elif found is None:
        snapshot = None  # the line below the box in the heading says why
    elif opened.heads.capabilities.branches_are_directories and found.branch != line.branch:
        st.html(markup.picked(words.elsewhere(found.branch, line.branch), "problem"), width="content")
        return None
    else:
        snapshot = found.snapshot
    description = (
        words.DETAIL_NONE if snapshot is None else pointing.snapshot_text(snapshot, opened.zone, opened.now_ms)
    )
    st.html(markup.labelled(words.TAG_POINT, description), width="content")
    return None if snapshot is None else snapshot.id


def _key(opened: OpenedTable, name: str) -> str:
    return inputs.of_table(f"tags.{name}", opened.ref.location)


def _retained_ms(kept: str | None) -> int | None:
    return parse_user_duration_ms(kept) if kept and kept.strip() else None


draw()
