"""Report downloads, created when their button is pressed: a table's state, a diff or a plan."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from core.analysis.diff import Diff
from core.model.history import History
from core.model.plan import Plan
from core.model.time_travel import AsOf
from core.reports import html as report
from dashboard import data as loading
from dashboard import words
from dashboard.components.frame import OpenedTable


def of_table(opened: OpenedTable, history: History, at: AsOf) -> None:
    speak = words.speaker()  # the reader's language: the download is created on another thread

    def build() -> str:
        return report.of_table(history, at, opened.ref.title, zone=opened.zone, now_ms=opened.now_ms, speak=speak)

    _button(words.REPORT_OF_TABLE, words.REPORT_OF_TABLE_HELP, build, f"{opened.ref.title}-{at.point}", "table")


def of_diff(opened: OpenedTable, history: History, found: Diff) -> None:
    speak = words.speaker()

    def build() -> str:
        return report.of_diff(found, history, opened.ref.title, zone=opened.zone, speak=speak)

    name = f"{opened.ref.title}-{found.a.point}-{found.b.point}"
    _button(words.REPORT_OF_DIFF, words.REPORT_OF_DIFF_HELP, build, name, "diff")


def of_plan(opened: OpenedTable, plan: Plan) -> None:
    speak = words.speaker()

    def build() -> str:
        history = loading.history(opened.heads)
        coming = loading.forecast(history, plan.now_ms, plan.change.branch) if plan.change.is_expiry else None
        native = loading.native(history, plan)
        return report.of_plan(
            plan, opened.heads, opened.ref.title, zone=opened.zone, native=native, coming=coming, speak=speak
        )

    name = f"plan-{opened.ref.title}-{plan.fingerprint[:12]}"
    _button(words.REPORT_OF_PLAN, words.REPORT_OF_PLAN_HELP, build, name, plan.fingerprint)


def _button(label: str, help: str, build: Callable[[], str], name: str, key: str) -> None:
    st.download_button(
        label,
        lambda: build().encode(),
        file_name=f"{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}.html",
        mime="text/html",
        icon=":material/description:",
        help=help,
        key=f"report.{key}",
        on_click="ignore",
        type="tertiary",
    )
