"""Doctor: checks Java, Spark, packages, stores, catalogs, directories and versions, each with a remedy if it fails.

Quick checks are shown one after the other; Spark only starts on a click.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from core import doctor
from core.doctor import Finding
from core.procedures.command_line import line
from dashboard import background_jobs, url_state, words
from dashboard.components import spark_job
from dashboard.components.changes import plan
from dashboard.formatting import markup

LOOKED_TTL_S = 60
_JOB = "doctor.job"
_SIGNS = {doctor.OK: "kept", doctor.WARNING: "consumer", doctor.PROBLEM: "freed"}


@st.cache_resource(ttl=LOOKED_TTL_S, max_entries=64, show_spinner=False)
def _looked(group: str, places: tuple[str, ...]) -> tuple[Finding, ...]:
    return doctor.of_group(group, places)


def draw() -> None:
    st.html(markup.head("", words.PAGES["doctor"][0], ""))
    verdict = st.empty()
    verdict.html(markup.headline(words.DOCTOR_LOOKING))
    places = tuple(url_state.known())
    with st.container(horizontal=True):
        st.button(words.DOCTOR_AGAIN, icon=":material/refresh:", on_click=_looked.clear, type="tertiary")
        st.button(
            words.DOCTOR_SPARK,
            icon=":material/play_arrow:",
            help=words.DOCTOR_SPARK_HELP,
            on_click=_start,
            key="doctor.spark",
        )
    spark_job.follow(st.session_state.get(_JOB), "doctor", words.DOCTOR_STOPPED, _table)
    found: list[Finding] = []
    with st.container(key="doctor"):
        for group in doctor.GROUPS:
            st.html(markup.panel_title(words.DOCTOR_GROUPS[group]))
            own = _looked(group, places)  # keep earlier results in place meanwhile, so that nothing jumps
            found += own
            st.html(_lines(own) if own else markup.note("info", words.DOCTOR_NO_PLACES))
    problems, warnings = (sum(each.level == level for each in found) for level in (doctor.PROBLEM, doctor.WARNING))
    verdict.html(markup.headline(words.doctor_verdict(problems, warnings)))
    plan.command(line("doctor", *places, "--json"))


def _start() -> None:
    id = f"doctor-{time.monotonic_ns()}"
    background_jobs.submit(id, "doctor", "spark", lambda _: doctor.spark())
    st.session_state[_JOB] = id


def _table(found: Sequence[Finding]) -> None:
    st.html(_lines(found))


def _sign(found: Finding) -> markup.Html:
    if found.level == doctor.OK and found.remedy:  # missing, but not needed here
        return markup.muted(words.DOCTOR_ABSENT)
    return markup.chip(_SIGNS[found.level], words.DOCTOR_LEVELS[found.level])


def _lines(found: Sequence[Finding]) -> str:
    """Render the findings of a group, worst first."""
    ordered = sorted(found, key=lambda each: doctor.LEVELS.index(each.level))
    rows = [
        (
            _sign(each),
            each.name,
            markup.join([each.found, markup.muted(f"→ {words.spoken(each.remedy)}")] if each.remedy else [each.found]),
        )
        for each in ordered
    ]
    return markup.table(words.DOCTOR_HEADS, rows)


draw()
