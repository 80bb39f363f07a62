"""Retention on one screen: choose what may expire by a preset, the curve or the boxes; what that reclaims, the
confirmation and the button stay in sight. What holds storage is a screen of its own."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import Invalid
from core.formats.iceberg import retention
from core.model.actions import Change, DeleteTags, Expire
from core.model.history import History
from core.model.plan import Plan
from core.model.references import MAIN
from dashboard import data as loading
from dashboard import url_state, words
from dashboard.components import errors, frame, inputs, storage_price
from dashboard.components.changes import plan as plans
from dashboard.components.frame import OpenedTable
from dashboard.components.history import recovery_goal, retention_curve
from dashboard.formatting import markup, units

EXPIRE, TAGS, CHANGELOGS, GOAL, STORAGE = "expire", "tags", "changelogs", "goal", "storage"
RULES = ("keep_max", "keep_min", "older", "max_deletes")  # by their names in the address
MORE = ("max_deletes", "rules", "drop", "tags_older", "ended")
AT_ONCE = "0 s"  # an age that every snapshot has

Rules = Mapping[str, str]


def draw() -> None:
    opened = frame.open_table(url_state.here())
    frame.need_snapshots(opened)
    history = frame.history_or_none(opened)
    frame.note_all(opened, history)
    plans.progress(opened)
    has_changelogs = any(line.changelogs for line in opened.heads.lines)
    modes = {EXPIRE: words.MODE_EXPIRE, TAGS: words.MODE_TAGS}
    modes |= {CHANGELOGS: words.MODE_CHANGELOGS} if has_changelogs else {}
    modes |= {GOAL: words.MODE_GOAL, STORAGE: words.MODE_STORAGE}
    with st.container(horizontal=True, vertical_alignment="center", key="retention_modes"):
        mode = inputs.one_of(words.MODE, "mode", modes, EXPIRE)
        if mode == EXPIRE:
            _presets(opened)
        st.space("stretch")
        with errors.boundary():
            storage_price.draw(opened.ref.location)
    if mode in (GOAL, STORAGE):
        if history is not None:
            with errors.boundary():
                _goal_or_storage(opened, history, mode)
        return
    change, plan = None, None
    with errors.boundary():
        change = {EXPIRE: _expire, TAGS: _tags, CHANGELOGS: _changelogs}[mode](opened)
        if change is not None and history is not None:
            plan = loading.plan(history, change, opened.now_ms)
    if change is None and mode == TAGS:
        _teach(opened)
    if history is None:
        return
    branch = change.branch if change is not None else MAIN
    _screen(opened, history, plan, branch, has_curve=mode == EXPIRE)
    if plan is not None:
        with errors.boundary():
            plans.details(opened, plan, history)
            plans.command_of(opened, plan)
    if plan is not None:
        with errors.boundary():
            plans.footer(opened, plan)


def _goal_or_storage(opened: OpenedTable, history: History, mode: str) -> None:
    if mode == GOAL:
        recovery_goal.draw(opened, history)
    else:
        retention_curve.note_unread(history)
        retention_curve.draw(opened, history, inputs.branch(opened.heads))


def _screen(opened: OpenedTable, history: History, plan: Plan | None, branch: str, *, has_curve: bool) -> None:
    """The curve and, beside it, what the plan comes to; where the plan is refused, the curve still chooses another."""
    with st.container(key="retention_split"):
        left, right = st.columns(2, gap="medium") if has_curve else (None, st.container())
        if left is not None:
            with left, errors.boundary():
                retention_curve.slider(opened, history, branch, plan, lambda number: _put(_newest(opened, number)))
        if plan is not None:
            with right, errors.boundary():
                plans.summary(opened, plan)


# presets --------------------------------------------------------------------------------------------------------------


def _newest(opened: OpenedTable, number: int) -> Rules:
    """The rules by which exactly so many snapshots stay."""
    if opened.heads.capabilities.refs_have_retention:
        return {"keep_min": str(number), "older": AT_ONCE}
    return {"keep_max": str(number), "keep_min": str(number)}


def _presets(opened: OpenedTable) -> None:
    """Rules that people ask for by name. Each fills the boxes below it; none is on where these say something else."""
    known: Mapping[str, Rules] = {"policy": {}, "newest": _newest(opened, 5), "older": {"older": "30 d"}}
    now = {name: value for name in RULES if (value := url_state.get(name)) is not None}
    key = "retention.preset"
    st.session_state[key] = next((name for name, rules in known.items() if rules == now), None)
    st.segmented_control(
        words.PRESETS,
        list(known),
        format_func=lambda name: words.PRESET[name],
        key=key,
        on_change=lambda: _put(known.get(st.session_state[key] or "", {})),
        label_visibility="collapsed",
    )


def _put(rules: Rules) -> None:
    """These rules, and no others."""
    url_state.put(**{name: rules.get(name) for name in RULES})


# what is asked for ----------------------------------------------------------------------------------------------------


def _expire(opened: OpenedTable) -> Expire:
    """The expiry asked for; the table's own policy while nothing is. `Invalid` for a text that is neither a length nor
    a time."""
    if opened.heads.capabilities.refs_have_retention:
        return _expire_refs(opened)
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch, keep_max, keep_min, older = _policy(opened)
    is_asked = any(url_state.get(name) for name in MORE)
    more = st.expander(words.MORE_RULES, is_asked, key="retention.more", on_change="rerun")
    most, rules, ended, tags_older_ms = None, "newest", False, None
    dropped: tuple[str, ...] = ()
    if more.open or is_asked:
        with more:
            with st.container(horizontal=True, vertical_alignment="bottom", key="retention_more"):
                most = inputs.whole(words.MAX_DELETES, "max_deletes", words.MAX_DELETES_HELP)
                rules = inputs.one_of(words.RULE_SET, "rules", words.RULE_SETS, "newest")
            dropped, ended, tags_older_ms = _tags_too(opened, branch)
    keep_max, keep_min = _completed(opened, branch, keep_max, keep_min)
    retained_ms, older_than_ms = inputs.age(older, opened.zone, opened.now_ms)
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


def _completed(opened: OpenedTable, branch: str, most: int | None, least: int | None) -> tuple[int | None, int | None]:
    """Where one number alone is given and the table's own option contradicts it, it is both: that is what was meant."""
    options = (opened.heads.line(branch) or opened.heads.main).options
    own_least, own_most = (options.get(f"snapshot.num-retained.{end}", "") for end in ("min", "max"))
    if most is not None and least is None and own_least.isdecimal() and int(own_least) > most:
        st.html(markup.note("info", words.completed(words.KEEP_MIN, most)))
        return most, most
    if least is not None and most is None and own_most.isdecimal() and int(own_most) < least:
        st.html(markup.note("info", words.completed(words.KEEP_MAX, least)))
        return least, least
    return most, least


def _expire_refs(opened: OpenedTable) -> Expire:
    """The same for Iceberg: the whole table at once, each branch by its own rule, refs named to go first."""
    names = [ref.name for ref in opened.heads.refs if ref.name != MAIN]
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        keep_min = inputs.whole(words.KEEP_MIN, "keep_min", words.KEEP_LAST_HELP)
        age_ms = retention.number(opened.heads.main.options, retention.MAX_SNAPSHOT_AGE, retention.FIVE_DAYS_MS)
        older = inputs.text(words.OLDER_THAN, "older", words.CUTOFF_HELP, words.own_age(units.whole(age_ms)))
        dropped = inputs.several(words.REFS_TOO, "drop", names, words.REFS_HINT) if names else ()
    retained_ms, older_than_ms = inputs.age(older, opened.zone, opened.now_ms)
    return Expire(retain_min=keep_min, time_retained_ms=retained_ms, older_than_ms=older_than_ms, drop_tags=dropped)


def _changelogs(opened: OpenedTable) -> Expire:
    """The same for long-lived changelogs."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch, keep_max, keep_min, older = _policy(opened)
    retained_ms, older_than_ms = inputs.age(older, opened.zone, opened.now_ms)
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
    """Choose which tags of the branch to delete in the same plan: by name, expired ones, and those created before a
    time."""
    line = opened.heads.line(branch) or opened.heads.main
    if not line.tags:
        return (), False, None
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_tags"):
        dropped = inputs.several(words.DROP_TOO, "drop", [tag.name for tag in line.tags], words.TAGS_TO_DELETE_HINT)
        older = inputs.text(words.TAGS_OLDER, "tags_older", words.TAGS_OLDER_HELP, words.OLDER_THAN_HINT)
        ended = inputs.switch(words.TAGS_ENDED, "ended", words.TAGS_ENDED_HELP)
    age_ms, moment_ms = inputs.age(older, opened.zone, opened.now_ms)
    return dropped, ended, opened.now_ms - age_ms if age_ms is not None else moment_ms


def _tags(opened: OpenedTable) -> Change | None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="retention_form"):
        branch = inputs.branch(opened.heads)
        line = opened.heads.line(branch) or opened.heads.main
        names = [tag.name for tag in line.tags]
        if not names:
            return None
        chosen = inputs.several(words.TAGS_TO_DELETE, "tags", names, words.TAGS_TO_DELETE_HINT)
    return DeleteTags(chosen, branch) if chosen else None


def _teach(opened: OpenedTable) -> None:
    has_tags = any(line.tags for line in opened.heads.lines)
    st.html(markup.empty(words.PREVIEW_EMPTY_TAGS if has_tags else words.NO_TAGS_TO_DELETE, words.RETENTION_TEACH))


draw()
