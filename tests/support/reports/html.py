"""HTML reports: creates all three kinds, parses them as a browser would, and extracts the command they print."""

from __future__ import annotations

import re
import shlex
from html import unescape
from html.parser import HTMLParser

from core.analysis.diff import diff
from core.model import codes
from core.model.actions import Expire
from core.reports import html as report
from core.reports import page as sheet
from core.table import Table, resolve
from tests.support.builders import DAY_MS, START_MS

NOW_MS = START_MS + 40 * DAY_MS + 7


HOSTILE = "<img src=x onerror=alert(1)>\"'&amp;"


TAGS = frozenset(
    "html head meta title style body header main footer section h1 h2 p dl dt dd div table thead tbody tr th td span "
    "code pre".split()
)


ATTRIBUTES = frozenset({"lang", "charset", "http-equiv", "content", "name", "class", "title"})


class Reader(HTMLParser):
    """Parses a report as a browser would: only the page's own tags may appear."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.said.append(data)
        else:
            assert "url(" not in data
            assert "@import" not in data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


def three(table: Table, zone: str = "UTC", speak: sheet.Speak = str) -> dict[str, str]:
    history = table.history()
    a, b = (resolve(history.heads, point) for point in ("2", "8"))
    plan = table.preview(Expire(retain_max=3, retain_min=1, older_than_ms=NOW_MS), NOW_MS, history)
    native = (codes.ENGINE_FAILS(why=HOSTILE),)
    return {
        "plan": report.of_plan(plan, history.heads, HOSTILE, zone=zone, native=native, speak=speak),
        "diff": report.of_diff(diff(history, a, b), history, HOSTILE, zone=zone, speak=speak),
        "state": report.of_table(history, b, HOSTILE, zone=zone, now_ms=NOW_MS, speak=speak),
    }


def commanded(text: str) -> list[str]:
    """Return the words of the command in a plan's report."""
    found = re.search(r"<pre>(snapscope .*?)</pre>", text, re.DOTALL)
    assert found
    return shlex.split(unescape(found[1]))[1:]
