"""Retention by what must stay recoverable: the tags a goal takes, what is missing, and both steps as plans."""

from __future__ import annotations

import hashlib

import streamlit as st

from core.model.history import History
from core.model.intervals import freed
from core.model.plan import Plan
from core.planning import recovery_goal
from core.planning.recovery_goal import DAY, HOUR, MONTH, WEEK, Proposal, Tier
from dashboard import data as loading
from dashboard import settings, url_state, words
from dashboard.components import grid, inputs
from dashboard.components.changes import plan as plans
from dashboard.components.changes import plan_sequence
from dashboard.components.frame import OpenedTable
from dashboard.formatting import commands, markup, units
from dashboard.formatting.prices import Price, price_suffix
from dashboard.view_models import recovery_goal as goals

BOXES = {HOUR: "hourly", DAY: "daily", WEEK: "weekly", MONTH: "monthly"}  # by their names in the address
USUAL = {"daily": "30", "monthly": "12"}
NEWEST = 10


def draw(opened: OpenedTable, history: History) -> None:
    st.html(markup.note("info", words.GOAL_TEACH))
    if not any(url_state.get(name) for name in BOXES.values()):
        url_state.put(**USUAL)
    with st.container(horizontal=True, vertical_alignment="bottom", key="goal_form"):
        branch = inputs.branch(opened.heads)
        counts = {unit: inputs.whole(words.GOAL_BOXES[unit], name, words.GOAL_BOX_HELP) for unit, name in BOXES.items()}
        newest = inputs.whole(words.GOAL_NEWEST, "newest", words.GOAL_NEWEST_HELP) or NEWEST
    tiers = [Tier(unit, count) for unit, count in counts.items() if count]
    if not tiers:
        return  # nothing is asked for, so nothing meets it; GOAL_TEACH says what to enter
    plan = loading.plan(history, goals.expiry(history, branch, newest), opened.now_ms)
    found = recovery_goal.propose(history, branch, goals.kept(history, plan), tiers, opened.now_ms)
    price = settings.price(opened.ref.location)
    required = len(found.met) + len(found.missing)
    goal = words.goal_in_words([(tier.unit, tier.count) for tier in tiers])
    st.html(markup.headline(words.goal_headline(goal, len(found.tags), len(found.met), required)))
    _figures(history, found, required, price)
    if found.missing:
        with st.expander(words.missing_versions(len(found.missing))):
            st.html(markup.muted(", ".join(words.stretch(each) for each in found.missing)))
    planned = _tags(opened, history, found, branch, tiers)
    st.html(markup.panel_title(words.GOAL_STEP_EXPIRE))
    if found.tags:
        st.html(markup.note("info", words.GOAL_TAGS_FIRST))
        if planned:
            _footer(opened, planned, words.goal_creates(len(planned), found.bytes) + price_suffix(found.bytes, price))
        return
    plans.summary(opened, plan)
    plans.details(opened, plan, history)
    plans.command_of(opened, plan)
    plans.footer(opened, plan)


def _figures(history: History, found: Proposal, required: int, price: Price | None) -> None:
    is_in_table = history.objects["ours"].to_numpy()
    reclaimed_bytes = history.bytes_of(freed(history.held, history.existing, found.after) & is_in_table)
    with st.container(key="goal_figures"):
        st.html(
            markup.tiles(
                [
                    (words.GOAL_MET, units.count(len(found.met)), words.of_required(required)),
                    (words.GOAL_MISSING, units.count(len(found.missing)), words.GOAL_MISSING_BELOW),
                    (words.GOAL_TAGS, units.count(len(found.tags)), words.GOAL_TAGS_BELOW),
                    (words.GOAL_HOLDS, markup.size(found.bytes), price_suffix(found.bytes, price).removeprefix(" · ")),
                    (
                        words.GOAL_RECLAIMS,
                        markup.size(reclaimed_bytes),
                        words.GOAL_RECLAIMS_BELOW + price_suffix(reclaimed_bytes, price),
                    ),
                ]
            )
        )


def _footer(opened: OpenedTable, planned: list[Plan], text: str) -> None:
    """What the first step creates, its confirmation and its button, in sight wherever the page is scrolled to."""
    fingerprint = hashlib.sha256("".join(each.fingerprint for each in planned).encode()).hexdigest()
    with st.container(key="plan_footer"):
        st.html(markup.stat([markup.strong(text)]))
        plan_sequence.carry_out(opened, planned, fingerprint, words.GOAL_CREATE)


def _tags(opened: OpenedTable, history: History, found: Proposal, branch: str, tiers: list[Tier]) -> list[Plan]:
    """The first step: its tags, their plans, which are returned, and the engine's statements for them."""
    st.html(markup.panel_title(words.GOAL_STEP_TAGS))
    if not found.tags:
        st.html(markup.note("info", words.GOAL_NO_TAGS))
    tags = goals.tags(history, found, branch, opened.now_ms)
    planned = [loading.plan(history, each, opened.now_ms) for each in tags]
    if tags:
        columns = {name: grid.text(label) for name, label in words.GOAL_COLUMNS.items()}
        name, shown = f"goal-{opened.ref.name}", goals.rows(history, found, tags, opened.zone)
        grid.draw(shown, "goal.tags", columns=columns, what=words.POINTS_NOUN, name=name)
        plan_sequence.summary(planned)
    with st.expander(words.GOAL_STATEMENTS):
        to_statement = commands.PROCEDURES.get(opened.heads.capabilities.procedures)
        statements = [to_statement(each, opened.ref.title, opened.now_ms, {}) for each in tags] if to_statement else []
        if any(statements):
            st.code(";\n".join(each for each in statements if each), language="sql", wrap_lines=True)
        if opened.heads.capabilities.writers_expire and (options := goals.options(tiers)):
            st.caption(words.GOAL_OPTIONS)
            st.code(commands.set_options(opened.ref.title, options), language="sql", wrap_lines=True)
    return planned
