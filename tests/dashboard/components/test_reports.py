"""Reports on the pages: offered next to what they report on, and made from exactly that."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from core.cli import main
from core.execution.journal import Journal
from core.table import open_table
from dashboard import words
from dashboard.components import reports
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.dashboard.pages import Page
from tests.support.languages import SaidIn
from tests.support.reports.html import HOSTILE, Reader, commanded, three

Made = dict[str, Callable[[], str]]

ZH = SaidIn("zh")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Made:
    """The reports of the last page drawn, by label."""
    found: Made = {}
    whole = reports._button

    def kept(label: str, help: str, made: Callable[[], str], name: str, key: str) -> None:
        assert not set(name) & set("\n\r")
        found[label] = made
        whole(label, help, made, name, key)

    monkeypatch.setattr(reports, "_button", kept)
    return found


@pytest.mark.slow
def test_pages_offer_reports_of_what_they_show(tmp_path: Path, open_page: Callable[..., Page], offered: Made) -> None:
    table = TableBuilder(tmp_path / "w" / "shop.db" / "orders", step_ms=DAY_MS)
    for number in range(6):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
    table.tag("v1 <b>", 2)
    address = {"table": "shop.orders", "tz": "Asia/Tokyo"}

    page = open_page("timeline", tmp_path / "w", point="4", **address)
    assert words.REPORT_OF_TABLE in [each.label for each in page.test.get("download_button")]
    said = Reader(offered[words.REPORT_OF_TABLE]()).text
    assert "shop.orders at 4" in said
    assert "JST" in said
    assert "v1 <b>" in said

    open_page("diff", tmp_path / "w", a="2", b="5", **address)
    assert "from 2 to 5" in Reader(offered[words.REPORT_OF_DIFF]()).text

    open_page("retention", tmp_path / "w", keep_max="2", keep_min="1", **address)
    text = offered[words.REPORT_OF_PLAN]()
    assert "At the next commit, automatically" in Reader(text).text
    spoken = commanded(text)
    assert str(table.root) in spoken
    assert main([*spoken, "--yes", "--settle", "0 s"]) == 0, shlex.join(spoken)
    (run,) = Journal().runs()
    assert run.fingerprint == spoken[spoken.index("--plan") + 1]


def test_reports_are_in_the_readers_language(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "orders", step_ms=DAY_MS, options={"snapshot.time-retained": "1 h"})
    for number in range(8):
        table.commit([table.file(1_000 + number, rows=10)], table.live()[:1])
    table.tag("kept", 2)
    for kind, text in three(open_table(str(table.root)), speak=ZH.spoken).items():
        assert '<html lang="zh-CN">' in text
        said = re.sub(r"<pre>.*?</pre>|<style>.*?</style>|<[^>]+>", "\n", text, flags=re.DOTALL)
        lines = unescape(said).replace(HOSTILE, "").splitlines()
        assert [line for line in lines if re.search(r"[A-Za-z]{3,} [a-z]{2,}", line)] == [], kind
    assert '<html lang="en">' in three(open_table(str(table.root)))["diff"]
