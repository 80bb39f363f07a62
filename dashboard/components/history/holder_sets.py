"""Storage by holder: which sets of names hold how much, and what deleting ticked ones reclaims, now and later."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.analysis.storage_cost import HISTORY, LIVE, deleting
from core.formats import registry
from core.model.history import History
from dashboard import data as loading
from dashboard import settings, url_state, words
from dashboard.charts import holder_sets
from dashboard.charts.timeline import CONFIG
from dashboard.components import explain_figure, frame, grid, inputs
from dashboard.components.frame import OpenedTable
from dashboard.components.history import timeline
from dashboard.formatting import markup, units
from dashboard.formatting.prices import price_suffix
from dashboard.view_models import recovery_goal, retention_curve

TAG = "tag:"
SETS = "sets"


def draw(opened: OpenedTable, history: History) -> None:
    explain_figure.caption(words.LAB_HOLDERS_HELP, words.HOW_HOLDERS)
    has_files = opened.heads.capabilities.tags_hold_files
    shown_history, kept = (history, None) if has_files else registry.of(opened.heads).by_tags(history, opened.now_ms)
    found = retention_curve.holders(shown_history)
    if found.empty:
        st.html(markup.note("info", words.NO_FILES_HERE))
        return
    rows = list(zip(found["holders"], found["files"].map(int), found["bytes"].map(int), strict=True))
    options = [holders for holders, _, _ in rows]
    ticked = inputs.several(words.SETS_TICKED, SETS, options, words.SETS_TICKED_HINT, holder_sets.label)
    _chart(rows, ticked)
    if ticked:
        names = list(dict.fromkeys(name for each in ticked for name in holder_sets.members(each)))
        after = (
            recovery_goal.kept(history, loading.plan(history, recovery_goal.own_policy(history), opened.now_ms))
            if kept is None
            else kept
        )
        later = deleting(shown_history, names, after)
        price = settings.price(opened.ref.location)
        tiles = [
            (words.SETS_NOW, deleting(shown_history, names, shown_history.existing)) if has_files else None,
            (words.SETS_LATER, later),
        ]
        st.html(markup.headline(words.deleting_names([words.holder_name(name) for name in names if name != LIVE])))
        st.html(
            markup.tiles(
                [
                    (label, markup.size(cost.bytes), units.plural(cost.files, "file") + price_suffix(cost.bytes, price))
                    for label, cost in filter(None, tiles)
                ]
            )
        )
        _plan(opened, [name for name in names if name != LIVE])
    columns = {
        "holders": grid.text(words.LAB_HELD_BY, width="large"),
        "files": grid.number(words.LAB_FILES),
        "bytes": grid.number(words.COLUMN["bytes"], words.BYTES_HELP),
    }
    table = st.expander(words.LAB_AS_TABLE, key="lab.holders_table", expanded=True)
    with table:
        shown = found.assign(holders=[holder_sets.label(each) for each in found["holders"]])
        grid.draw(shown, "lab.holders", columns=columns, what=words.LAB_SETS_NOUN, name=f"holders-{opened.ref.name}")


def _chart(rows: Sequence[tuple[str, int, int]], ticked: Sequence[str]) -> None:
    key = "lab.holder_sets"

    def clicked() -> None:
        if (place := timeline.clicked_payload(st.session_state.get(key))) is not None:
            chosen = rows[int(place)][0]
            rest = [each for each in ticked if each != chosen]
            url_state.put(**{SETS: url_state.joined([*rest, *([] if chosen in ticked else [chosen])])})

    figure = timeline.Drawn(holder_sets.figure(rows, ticked, frame.hues()))
    st.plotly_chart(
        figure, key=key, theme=None, config=CONFIG, on_select=clicked, selection_mode="points", alt=words.SETS_ALT
    )


def _plan(opened: OpenedTable, names: Sequence[str]) -> None:
    """The link to the plan that deletes these names; which page does, where Retention does not."""
    tags = [name.removeprefix(TAG) for name in names if name.startswith(TAG)]
    others = [name for name in names if not name.startswith(TAG) and name != HISTORY]
    if others or not names:
        st.html(markup.note("info", words.sets_elsewhere([words.holder_name(name) for name in others])))
        return
    is_of_refs = opened.heads.capabilities.refs_have_retention
    chosen = url_state.joined(tags) or None
    rules: dict[str, str | None] = dict.fromkeys(
        (
            *("branch", "keep_max", "keep_min", "older", "max_deletes", "rules"),
            *("tags", "drop", "ended", "tags_older", "mode"),
        )
    )
    if HISTORY not in names and not is_of_refs:
        rules |= {"mode": "tags", "tags": chosen}
    else:
        rules |= {"drop": chosen}
    if HISTORY in names:
        rules |= {"keep_min": "1", "older": "0 s"} if is_of_refs else {"keep_max": "1", "keep_min": "1"}
    frame.link("retention", words.PLAN_THIS, ":material/auto_delete:", **rules)
