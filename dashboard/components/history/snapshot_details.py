"""The details of one version, and links from it."""

from __future__ import annotations

import json

import streamlit as st

from core.errors import SnapscopeError
from core.model.history import History
from core.model.references import MAIN, Heads, Snapshot
from core.model.time_travel import AsOf
from core.spark.read import removed_points
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import frame
from dashboard.components.changes import pin_snapshot
from dashboard.components.frame import OpenedTable
from dashboard.formatting import markup
from dashboard.view_models import rows, version_picker


def resolve(opened: OpenedTable, text: str) -> AsOf:
    """Resolve a version from the URL or an input box."""
    table = loading.table(opened.ref.location)
    return removed_points.resolved(
        table,
        opened.heads,
        version_picker.read(text, opened.zone, opened.heads, opened.now_ms),
        url_state.get("branch") or "main",
    )


def draw(opened: OpenedTable, history: History | None, found: AsOf, *, here: str = "timeline") -> None:
    """Draw facts, links, the pin form and all fields."""
    snapshot = found.snapshot
    facts = rows.point_facts(
        opened.heads,
        history,
        found.point,
        found.branch,
        snapshot,
        opened.zone,
        opened.now_ms,
        expiration(opened, found),
    )
    st.html(markup.facts(facts))
    links(opened, found, here=here)
    pin_snapshot.draw(opened, found)
    _fields(opened, snapshot)


def _fields(opened: OpenedTable, snapshot: Snapshot) -> None:
    """Draw all fields, rendered only once opened; they stay open for the next versions."""
    opens = st.expander(words.ALL_FIELDS, key="details.fields", on_change="rerun")
    if not opens.open:
        return
    with opens:
        st.html(markup.facts(rows.every_field(snapshot, opened.zone)))
        st.caption(words.FIELDS_COPY)
        st.code(json.dumps(dict(snapshot.fields), indent=2, ensure_ascii=False), language="json", wrap_lines=True)


def neighbours(opened: OpenedTable, found: AsOf) -> None:
    """Link to the previous and the next commit: on the same branch, by id."""
    with st.container(horizontal=True, gap="small", key="neighbours"):
        for label, icon, other in (
            (words.PREVIOUS, ":material/arrow_back:", found.before),
            (words.NEXT, ":material/arrow_forward:", found.after),
        ):
            st.button(
                label if other is None else words.step_to(label, other.id),
                icon=icon,
                key=f"details.{icon}",
                disabled=other is None,
                type="tertiary",
                on_click=_go,
                args=("" if other is None else _named(opened.heads, other, found.branch),),
            )


def _go(point: str) -> None:
    url_state.put(point=point)


def expiration(opened: OpenedTable, found: AsOf) -> str | None:
    """Describe when a version expires automatically; None if no rule covers it."""
    try:
        end = loading.ends(opened.heads, opened.now_ms).get(found.point)
    except SnapscopeError as error:
        return words.expiration_unknown(error.message)
    return end.words if end is not None else None


def _named(heads: Heads, snapshot: Snapshot, branch: str) -> str:
    """Return the version text of a snapshot: on this branch, or on any branch if snapshots belong to the whole
    table."""
    if not heads.capabilities.branches_are_directories:
        branch = next(line.branch for line in heads.lines if snapshot in line.snapshots)
    return str(snapshot.id) if branch == MAIN else f"branch:{branch}/{snapshot.id}"


def links(opened: OpenedTable, found: AsOf, *, here: str = "timeline") -> None:
    """Draw links to the other pages for this version."""
    point = found.point
    latest = opened.heads.main.latest
    with st.container(horizontal=True, gap="small"):
        if here != "asof":
            frame.link("asof", words.ASOF_HERE, ":material/history:", point=point)
        if here != "timeline":
            frame.link("timeline", words.SHOW_ON_TIMELINE, ":material/timeline:", point=point, window=None)
        if found.before is not None:
            before = _named(opened.heads, found.before, found.branch)
            frame.link("diff", words.DIFF_PREVIOUS, ":material/compare_arrows:", a=before, b=point)
        if latest is not None and latest.id != found.snapshot.id:
            frame.link("diff", words.DIFF_LATEST, ":material/compare_arrows:", a=point, b=str(latest.id))
        frame.link(
            "files", words.FILES_HERE, ":material/folder_open:", point=point, file=None, folder=None, manifest=None
        )
        frame.link("query", words.QUERY_HERE, ":material/terminal:", point=point)
        if point.rsplit("/", 1)[-1].isdigit():
            frame.link("tags", words.TAG_HERE, ":material/bookmark_add:", point=point)
