"""The Doctor page: all groups with their findings, a remedy for each problem, and Spark only on a click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core import doctor
from core.doctor import Finding
from dashboard import words
from tests.support.dashboard.pages import Page, newest_job


def test_the_page_says_what_the_command_does(
    open_page: Callable[..., Page], built: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = built("one snapshot")
    page = open_page("doctor", warehouse)
    assert words.doctor_verdict(0, 0) in page.text
    for finding in doctor.examine():
        assert finding.name in page.text
    assert "1 table, listed in" in page.text
    assert f"snapscope doctor {warehouse} --json" in page.text
    assert newest_job("doctor") is None, "Spark is not started unasked"

    monkeypatch.setenv("SNAPSCOPE_CONNECTORS", "nonsense")
    answer = (Finding("engine", "spark started", doctor.PROBLEM, "the JVM ended <at once>", "Give it memory."),)
    monkeypatch.setattr(doctor, "spark", lambda: answer)
    next(each for each in page.test.button if each.label == words.DOCTOR_AGAIN).click()
    page.run()
    assert words.doctor_verdict(1, 0) in page.text
    page.test.button(key="doctor.spark").click()
    page.run()
    job = newest_job("doctor")
    assert job is not None
    assert job.wait(300)
    assert "the JVM ended <at once>" in page.run().text
