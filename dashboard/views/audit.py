"""Audit: all changes made from this machine, who made them, what was planned and what was done, file by file.

The URL holds the filters and the selected run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.errors import SnapscopeError
from core.execution import journal_versions
from core.execution.journal import Journal, Run
from core.execution.table_lock import is_running
from core.procedures import command_line
from core.table import open_table
from dashboard import url_state, words
from dashboard.components import errors, explain_figure, frame, grid, inputs
from dashboard.components.changes import plan, running_change
from dashboard.formatting import exports, markup, units
from dashboard.url_state import UrlState
from dashboard.view_models import audit, rows

GRID = "audit.grid"
SHOWN = 500
EVERY_TABLE = "all"
_PICKED = "audit.picked"


@st.cache_resource(max_entries=2, show_spinner=False)
def _read(path: str, grown: tuple[int, ...]) -> tuple[list[Run], str | SnapscopeError]:
    """Return all runs, newest first, and the head of the hash chain or why it is broken; re-read whenever the journal
    grows."""
    journal = Journal()
    try:
        head: str | SnapscopeError = journal.verify()
    except SnapscopeError as error:
        head = error
    return journal.runs(), head


def _grown(journal: Journal) -> tuple[int, ...]:
    """Return a key that changes with every write to the journal, by this process or another one."""
    found = [journal.entries()]
    for path in (journal.path, journal.path.with_name(f"{journal.path.name}-wal")):
        try:
            seen = os.stat(path)
        except FileNotFoundError:
            continue
        found += [seen.st_mtime_ns, seen.st_size]
    return tuple(found)


def draw() -> None:
    place = url_state.here()
    st.html(markup.head("", words.PAGES["audit"][0], words.AUDIT_SUMMARY))
    own = None
    if place.table:
        with errors.boundary():  # a table that cannot be read has a history of changes, too
            opened = frame.find_table(place)
            own = open_table(opened.ref.location).location
            running_change.draw(opened)
    with errors.boundary():
        journal = Journal()
        runs, head = _read(str(journal.path), _grown(journal))
        if not runs:
            st.html(markup.empty(words.AUDIT_EMPTY, words.AUDIT_EMPTY_NEXT))
            return
        of = url_state.get("of") or own or EVERY_TABLE
        table_runs = [run for run in runs if of in (EVERY_TABLE, run.table)]
        _verdict(table_runs, head, journal)
        _elsewhere([run for run in runs if run.is_open and run.table != own])
        found = audit.filtered(runs, _filter(runs, own, place.zone))
        if table_runs:
            _list(place, journal, runs, found, of)
        else:
            st.html(markup.empty(words.AUDIT_NONE_HERE, words.AUDIT_NONE_HERE_NEXT))
        plan.command(command_line.line("audit", *([] if of == EVERY_TABLE else [of])))


def _verdict(runs: Sequence[Run], head: str | SnapscopeError, journal: Journal) -> None:
    """Show how many plans were matched exactly, and whether the journal is intact."""
    same, ended = audit.badge(runs)
    if ended:
        explain_figure.html(markup.headline(words.audit_exact(same, ended)), words.HOW_EXACT)
    if isinstance(head, SnapscopeError):
        errors.show(head)
    else:
        explain_figure.html(markup.note("info", words.audit_verified(journal.entries(), head)), words.HOW_CHAIN)


def _elsewhere(found: Sequence[Run]) -> None:
    """List the unfinished runs of other tables; the current table's is offered above."""
    if not found:
        return
    with st.expander(words.audit_open(len(found))):
        for run in found[:SHOWN]:
            state = "" if is_running(run.table, run.id) else f" {words.run_state(run)}"  # else `ways` says it
            st.html(markup.note("warning", f"{run.table}: {words.CHANGE_NAMES[run.change_kind]}.{state}"))
            running_change.ways(run)


def _filter(runs: Sequence[Run], own: str | None, zone: str) -> audit.RunFilter:
    """Read the filters from the URL. Without a table of the reader's, `own`, all changes are shown at first."""
    kinds = {run.change_kind: words.CHANGE_NAMES.get(run.change_kind, run.change_kind) for run in runs}
    tables = {} if own is None else {EVERY_TABLE: words.AUDIT_ALL}
    named = audit.titles([*filter(None, [own]), *(run.table for run in runs)])
    tables |= {table: name for table, name in named.items() if table != own}
    with st.container(horizontal=True, vertical_alignment="bottom", key="audit_filters"):
        of = inputs.pick(words.AUDIT_OF, "of", tables, words.AUDIT_ALL if own is None else named[own])
        kind = inputs.pick(words.AUDIT_COLUMNS["change"], "kind", kinds, words.AUDIT_ANY)
        people = {each: each for run in runs for each in audit.people(run)}
        who = inputs.pick(words.AUDIT_COLUMNS["who"], "who", people, words.AUDIT_ANY)
        came = inputs.pick(words.AUDIT_COLUMNS["outcome"], "outcome", words.AUDIT_OUTCOMES, words.AUDIT_ANY)
        text = inputs.text(words.AUDIT_TEXT, "text", words.AUDIT_TEXT_HELP, words.AUDIT_TEXT_HINT)
        since = inputs.text(words.AUDIT_SINCE, "since", words.AUDIT_TIME_HELP, words.AUDIT_TIME_HINT, width=132)
        until = inputs.text(words.AUDIT_UNTIL, "until", words.AUDIT_TIME_HELP, words.AUDIT_TIME_HINT, width=132)
    table = None if of == EVERY_TABLE else of or own  # of all tables if that is None, too
    return audit.RunFilter(table, kind, who, came, _moment(since, zone), _moment(until, zone), text)


def _moment(text: str | None, zone: str) -> int | None:
    return None if text is None else inputs.moment(text, zone, url_state.now_ms())


def _list(place: UrlState, journal: Journal, runs: Sequence[Run], found: Sequence[Run], of: str) -> None:
    if not found:
        st.html(markup.empty(words.AUDIT_NONE, words.AUDIT_NONE_NEXT))
        _exports(place, journal, found)
        return
    st.caption(words.audit_shown(len(found), len(runs)))
    columns: dict[str, Any] = {name: grid.text(label) for name, label in words.AUDIT_COLUMNS.items()}
    columns |= {name: grid.number(words.AUDIT_COLUMNS[name]) for name in ("files", "bytes")}
    shown_runs = audit.frame(found[: grid.SHOWN_ROWS], place.zone)
    if of != EVERY_TABLE:
        shown_runs = shown_runs.drop(columns="table")  # the same on every row
    ids = [run.id for run in found]
    picked = grid.choose(shown_runs, GRID, columns=columns, names=ids)
    if picked is not None:
        url_state.put(run=ids[picked])
    elif st.session_state.get(_PICKED) == ids:
        url_state.put(run=None)  # the row was deselected
    st.session_state[_PICKED] = None if picked is None else ids
    _exports(place, journal, found)
    shown = next((run for run in runs if run.id == url_state.get("run")), None)
    if shown is None:
        st.caption(words.AUDIT_PICK)
    else:
        _one(place, journal, shown)


def _exports(place: UrlState, journal: Journal, found: Sequence[Run]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        download = partial(st.download_button, icon=":material/download:", on_click="ignore", type="tertiary")
        if found:
            to_csv = partial(_csv, found, place.zone)
            download(words.AUDIT_CSV, to_csv, file_name="runs.csv", mime="text/csv", key="audit.runs")
        for style in ("csv", "json"):
            whole = partial(journal.export, style)
            download(words.audit_export(style), whole, file_name=f"journal.{style}", key=f"audit.{style}")


def _csv(found: Sequence[Run], zone: str) -> bytes:
    return exports.csv(audit.frame(found, zone))


# one run --------------------------------------------------------------------------------------------------------------


def _one(place: UrlState, journal: Journal, run: Run) -> None:
    st.html(markup.panel_title(f"{words.CHANGE_NAMES.get(run.change_kind, run.change_kind)}: {audit.title(run.table)}"))
    st.html(markup.facts(_facts(place, run)))
    if run.problem:
        st.html(markup.note("problem", run.problem))
    if run.is_open:
        running_change.ways(run)
    st.caption(words.AUDIT_COMMAND)
    st.code(
        command_line.exactly(
            run.change, run.table, int(run.plan["now_ms"]), run.fingerprint, run.plan.get("outside", ())
        ),
        language="bash",
        wrap_lines=True,
    )
    files = audit.planned(run, journal.frees(run.id), journal.deleted(run.id))
    points, events, warned = run.plan["points"], journal.events(run.id), run.plan.get("warnings", [])
    labels = {
        "versions": words.audit_points(len(points)),
        "files": words.audit_files(len(files)),
        "entries": words.audit_entries(len(events)),
        "steps": words.STEPS,
    }
    tabs = inputs.tabs("tab", labels | ({"warnings": words.audit_warnings(len(warned))} if warned else {}))
    with tabs["versions"]:
        columns = {name: grid.text(label) for name, label in words.AUDIT_POINT_COLUMNS.items()}
        name = f"run-{run.id}-points"
        grid.draw(audit.points(run), f"audit.points.{run.id}", columns=columns, what=words.POINTS_NOUN, name=name)
    with tabs["files"]:
        columns = {name: grid.text(label) for name, label in words.AUDIT_FILE_COLUMNS.items()}
        columns["bytes"] = grid.number(words.AUDIT_FILE_COLUMNS["bytes"])
        grid.draw(files, f"audit.files.{run.id}", columns=columns, what=words.FILES_NOUN, name=f"run-{run.id}")
    with tabs["entries"]:
        columns = {name: grid.text(label) for name, label in words.AUDIT_EVENT_COLUMNS.items()}
        entries, name = audit.entries(events, place.zone), f"run-{run.id}-entries"
        grid.draw(entries, f"audit.entries.{run.id}", columns=columns, what=words.AUDIT_ENTRIES_NOUN, name=name)
    with tabs["steps"]:
        effects = journal_versions.effects_of(run, journal.removed(run.id), journal.frees(run.id))
        st.html(markup.table(words.STEP_HEADS, rows.effects(effects), numbers=(0,)))
    if "warnings" in tabs:
        with tabs["warnings"]:
            st.html("".join(markup.note("warning", each) for each in warned))


def _facts(place: UrlState, run: Run) -> list[tuple[str, markup.Piece]]:
    receipt = run.receipt or {}
    duration = "—" if run.ended_ms is None else units.duration(run.ended_ms - run.started_ms)
    found: list[tuple[str, markup.Piece]] = [
        (words.AUDIT_COLUMNS["run"], markup.mono(run.id)),
        (words.AUDIT_COLUMNS["table"], markup.mono(run.table)),
        (words.AUDIT_COLUMNS["who"], words.people(run)),
        (words.AUDIT_COLUMNS["started"], markup.moment(run.started_ms, place.zone, place.now_ms)),
        (words.AUDIT_ENDED, markup.moment(run.ended_ms, place.zone, place.now_ms)),
        (words.AUDIT_TOOK, duration),
        (words.AUDIT_COLUMNS["outcome"], words.run_state(run)),
        (words.AUDIT_COLUMNS["planned"], str(run.plan["headline"])),
        (words.AUDIT_DONE, words.run_done(run) if receipt else "—"),
    ]
    if audit.is_exact(run) is not None:
        found.append((words.AUDIT_EXACTLY, words.AUDIT_OUTCOMES[audit.outcome(run)]))
    if created := receipt.get("created"):
        found.append((words.AUDIT_CREATED, markup.join((markup.mono(each) for each in created), ", ")))
    return [*found, (words.RULES, str(run.plan["rules"])), (words.AUDIT_FINGERPRINT, markup.mono(run.fingerprint))]


draw()
