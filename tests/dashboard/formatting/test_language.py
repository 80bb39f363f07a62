"""A reader's language: by the address, else by the browser; kept on every page, in fragments and callbacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.context import ContextProxy

from dashboard import words
from tests.support.languages import SaidIn

ZH = SaidIn("zh")
PAGES = tuple(words.PAGES)
STATES = ("tag on an expired snapshot", "two tags on one snapshot", "id gap", "wrong hints", "one snapshot")

# Four words in a row, commands and SQL left out: a sentence that nobody told in Chinese.
ENGLISH = re.compile(r"(?<![\w/.-])[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+")
TYPED = re.compile(r"(snapscope|CALL|SELECT|select|FROM|ALTER TABLE) .*|`[^`]*`|:material/\w+:")


def shown(page: Any) -> list[str]:
    """What is drawn as HTML, captions, labels, helps and cells."""
    found = [
        re.sub(r"<[^>]+>", "\n", each.proto.body) for each in page.test.get("html") if "<style" not in each.proto.body
    ]
    for kind in (
        "markdown",
        "caption",
        "button",
        "text_input",
        "selectbox",
        "multiselect",
        "toggle",
        "tabs",
        "checkbox",
    ):
        for each in page.test.get(kind):
            found += [str(getattr(each, name, "") or "") for name in ("label", "help", "placeholder")]
            found.append(str(each.value) if kind in ("markdown", "caption") else "")
    found += [str(cell) for frame in page.test.dataframe for cell in frame.value.to_numpy().ravel()]
    return [line.strip() for text in found for line in text.splitlines() if line.strip()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_in_chinese_says_nothing_in_english(
    page: str, open_page: Callable[..., Any], built: Callable[[str], Path]
) -> None:
    left = {}
    for state in STATES:
        opened = open_page(page, built(state), lang="zh", keep_max="1", point="1", a="1", b="latest")
        left[state] = [line for line in shown(opened) if ENGLISH.search(TYPED.sub("", line))]
    assert {state: lines for state, lines in left.items() if lines} == {}


def test_the_language_of_the_browser_and_of_the_address(
    open_page: Callable[..., Any], built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Chinese browser reads Chinese until the address says otherwise; the switch writes it there."""
    warehouse = built("one snapshot")
    assert words.ZONE in open_page("asof", warehouse).text
    assert ZH.ZONE in open_page("asof", warehouse, lang="zh").text
    monkeypatch.setattr(ContextProxy, "locale", property(lambda self: "zh-Hans-CN"))
    page = open_page("asof", warehouse)
    assert ZH.ZONE in page.text
    assert "lang" not in page.test.query_params
    assert words.ZONE in open_page("asof", warehouse, lang="en").text
    box = next(each for each in page.test.get("button_group") if each.key == "frame.language")
    box.set_value("en").run()
    page.check()
    assert words.ZONE in page.text
    assert page.test.query_params["lang"] == "en"


def test_a_run_that_does_not_begin_at_the_top_asks_for_its_language() -> None:
    """A fragment's run: nothing was chosen on its thread."""
    from streamlit.testing.v1 import AppTest

    def script() -> None:
        import streamlit as st

        from dashboard import url_state as state
        from dashboard import words
        from dashboard.formatting import language

        language.otherwise(state.language)
        st.caption(words.REFRESH)

    test = AppTest.from_function(script)
    test.query_params["lang"] = "zh"
    assert [each.value for each in test.run().caption] == [ZH.REFRESH]
    del test.query_params["lang"]
    assert [each.value for each in test.run().caption] == [words.REFRESH]


def test_what_is_kept_for_one_reader_is_told_to_another_in_his_own_language(
    open_page: Callable[..., Any], built: Callable[[str], Path]
) -> None:
    warehouse = built("id gap")
    said = {lang: shown(open_page("overview", warehouse, lang=lang)) for lang in ("en", "zh", "en")}
    assert not [line for line in said["zh"] if ENGLISH.search(TYPED.sub("", line))]
    assert not [line for line in said["en"] if re.search("[\u4e00-\u9fff]", line.replace("中文", ""))]
