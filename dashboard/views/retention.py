"""Retention: choose what may expire; see exactly what that frees and why the rest stays, before anything happens."""

from __future__ import annotations

import streamlit as st

from core.errors import Invalid
from core.formats.iceberg import retention
from core.model import time_input
from core.model.actions import Change, DeleteTags, Expire
from core.model.references import MAIN
from core.units import parse_duration_ms
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors, frame, inputs
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.components.history import retention_curve
from dashboard.formatting import markup, units

MILLISECONDS_DIGITS = 12  # a shorter number is a count of something else
EXPIRE, TAGS, CHANGELOGS = "expire", "tags", "changelogs"


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    plans.progress(opened)
    has_changelogs = any(line.changelogs for line in opened.heads.lines)
    modes = {EXPIRE: words.MODE_EXPIRE, TAGS: words.MODE_TAGS}
    modes |= {CHANGELOGS: words.MODE_CHANGELOGS} if has_changelogs else {}
    mode = inputs.one_of(words.MODE, "mode", modes, EXPIRE)
    with errors.boundary():
        change = {EXPIRE: _expire, TAGS: _tags, CHANGELOGS: _changelogs}[mode](opened)
        if change is None:
            _teach(opened, mode)
        elif history is not None:
            plan = loading.plan(history, change, opened.now_ms)
            plans.draw(opened, plan, history)
            plans.carry_out(opened, plan)
            plans.command_of(opened, plan)
        if history is not None:
            st.html(markup.panel_title(words.LAB))
            branch = change.branch if change is not None else MAIN
            retention_curve.draw(
                opened, history, branch, loading.plan(history, change, opened.now_ms) if change else None
            )


def _expire(opened: OpenedTable) -> Expire | None:
    """The expiry asked for, None while no rule is set. `Invalid` for a text that is neither a length nor a time."""
    if opened.heads.capabilities.refs_have_retention:
        return _expire_refs(opened)
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch, keep_max, keep_min, older = _policy(opened)
        most = inputs.whole(words.MAX_DELETES, "max_deletes", words.MAX_DELETES_HELP)
        rules = inputs.one_of(words.RULE_SET, "rules", words.RULE_SETS, "newest")
    dropped, ended, tags_older_ms = _tags_too(opened, branch)
    if keep_max is None and keep_min is None and older is None:
        return None
    retained_ms, older_than_ms = _age(older, opened.zone, opened.now_ms)
    return Expire(
        branch=branch,
        retain_max=keep_max,
        retain_min=keep_min,
        time_retained_ms=retained_ms,
        older_than_ms=older_than_ms,
        max_deletes=most,
        rules=rules,
        drop_tags=dropped,
        expired_tags=ended,
        tags_older_than_ms=tags_older_ms,
    )


def _expire_refs(opened: OpenedTable) -> Expire | None:
    """The same for Iceberg: the whole table at once, each branch by its own rule, refs named to go first."""
    names = [ref.name for ref in opened.heads.refs if ref.name != MAIN]
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        keep_min = inputs.whole(words.KEEP_MIN, "keep_min", words.KEEP_LAST_HELP)
        age_ms = retention.number(opened.heads.main.options, retention.MAX_SNAPSHOT_AGE, retention.FIVE_DAYS_MS)
        older = inputs.text(words.OLDER_THAN, "older", words.CUTOFF_HELP, words.own_age(units.whole(age_ms)))
        dropped = inputs.several(words.REFS_TOO, "drop", names, words.REFS_HINT) if names else ()
    if keep_min is None and older is None and not dropped:
        return None
    retained_ms, older_than_ms = _age(older, opened.zone, opened.now_ms)
    return Expire(retain_min=keep_min, time_retained_ms=retained_ms, older_than_ms=older_than_ms, drop_tags=dropped)


def _changelogs(opened: OpenedTable) -> Expire | None:
    """The same for long-lived changelogs."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch, keep_max, keep_min, older = _policy(opened)
    if keep_max is None and keep_min is None and older is None:
        return None
    retained_ms, older_than_ms = _age(older, opened.zone, opened.now_ms)
    if older_than_ms is not None:
        raise Invalid(words.CHANGELOG_AGE, remedy=words.CHANGELOG_AGE_NEXT)
    return Expire(
        branch=branch,
        changelogs_only=True,
        changelog_retain_max=keep_max,
        changelog_retain_min=keep_min,
        changelog_time_retained_ms=retained_ms,
    )


def _policy(opened: OpenedTable) -> tuple[str, int | None, int | None, str | None]:
    return (
        inputs.branch(opened.heads),
        inputs.whole(words.KEEP_MAX, "keep_max", words.KEEP_MAX_HELP),
        inputs.whole(words.KEEP_MIN, "keep_min", words.KEEP_MIN_HELP),
        inputs.text(words.OLDER_THAN, "older", words.OLDER_THAN_HELP, words.OLDER_THAN_HINT),
    )


def _tags_too(opened: OpenedTable, branch: str) -> tuple[tuple[str, ...], bool, int | None]:
    """What of the branch's tags goes in the same plan: named ones, those past their own time, those made before."""
    line = opened.heads.line(branch) or opened.heads.main
    if not line.tags:
        return (), False, None
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_tags"):
        dropped = inputs.several(words.DROP_TOO, "drop", [tag.name for tag in line.tags], words.TAGS_TO_DELETE_HINT)
        older = inputs.text(words.TAGS_OLDER, "tags_older", words.TAGS_OLDER_HELP, words.OLDER_THAN_HINT)
        ended = inputs.switch(words.TAGS_ENDED, "ended", words.TAGS_ENDED_HELP)
    age_ms, moment_ms = _age(older, opened.zone, opened.now_ms)
    return dropped, ended, opened.now_ms - age_ms if age_ms is not None else moment_ms


def _age(text: str | None, zone: str, now_ms: int) -> tuple[int | None, int | None]:
    """`(length in ms, None)`, `(None, time in ms)` or neither."""
    if text is None:
        return None, None
    if not text.isdecimal():
        try:
            return parse_duration_ms(text), None
        except Invalid:
            pass  # then it has to be a time
    found = time_input.moment(text, zone, now_ms)
    if found.form == "number" and len(text) < MILLISECONDS_DIGITS:
        raise Invalid(words.older_than_unread(text), remedy=words.OLDER_THAN_NEXT)
    inputs.told_of(text, found)
    return None, found.ms


def _tags(opened: OpenedTable) -> Change | None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch = inputs.branch(opened.heads)
        line = opened.heads.line(branch) or opened.heads.main
        names = [tag.name for tag in line.tags]
        if not names:
            return None
        chosen = inputs.several(words.TAGS_TO_DELETE, "tags", names, words.TAGS_TO_DELETE_HINT)
    return DeleteTags(chosen, branch) if chosen else None


def _teach(opened: OpenedTable, mode: str) -> None:
    if mode != TAGS:
        st.html(markup.empty(words.PREVIEW_EMPTY_EXPIRE, words.RETENTION_TEACH))
        return
    has_tags = any(line.tags for line in opened.heads.lines)
    st.html(markup.empty(words.PREVIEW_EMPTY_TAGS if has_tags else words.NO_TAGS_TO_DELETE, words.RETENTION_TEACH))


draw()
