"""A reader's language: from the URL, else from the browser; kept on every page, in fragments and callbacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.context import ContextProxy

from dashboard import words
from dashboard.formatting import language
from tests.support.languages import PSEUDO, SaidIn, write_pseudo

ZH = SaidIn("zh")
PAGES = tuple(words.PAGES)
STATES = ("tag on an expired snapshot", "two tags on one snapshot", "id gap", "wrong hints", "one snapshot")

# Four words in a row, except commands and SQL: a sentence that was not translated.
ENGLISH = re.compile(r"(?<![\w/.-])[A-Za-z]+ [a-z]+ [a-z]+ [a-z]+")
TYPED = re.compile(r"(snapscope|CALL|SELECT|select|FROM|ALTER TABLE) .*|`[^`]*`|:material/\w+:")


def shown(page: Any) -> list[str]:
    """Return HTML, captions, labels, help texts and cells, line by line."""
    return [line.strip() for text in texts(page) for line in text.splitlines() if line.strip()]


def texts(page: Any) -> list[str]:
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
    return found


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
    """A Chinese browser gets Chinese until the URL says otherwise; the switch writes it into the URL."""
    warehouse = built("one snapshot")
    assert words.ZONE in open_page("asof", warehouse).text
    assert ZH.ZONE in open_page("asof", warehouse, lang="zh").text
    monkeypatch.setattr(ContextProxy, "locale", property(lambda self: "zh-Hans-CN"))
    page = open_page("asof", warehouse)
    assert ZH.ZONE in page.text
    assert "InputInstructions" in page.text, "Streamlit's own hint, which is English, is hidden"
    assert "lang" not in page.test.query_params
    english = open_page("asof", warehouse, lang="en").text
    assert words.ZONE in english
    assert "InputInstructions" not in english
    box = next(each for each in page.test.selectbox if each.key == "frame.language")
    box.set_value("en").run()
    page.check()
    assert words.ZONE in page.text
    assert page.test.query_params["lang"] == "en"


def test_a_run_that_does_not_begin_at_the_top_asks_for_its_language() -> None:
    """The run of a fragment: no language was chosen on its thread."""
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


# a pseudo-language generated from the English texts ----------------------------------------------------------------

DATA = re.compile(  # nobody's sentence: commands and SQL, paths and ids, numbers with units, what Plotly fills in,
    r"(?s:```.*?```)|\b[0-9a-f]{16}\b|\S*[/_=$]\S*|\btag:\S*|\b\w+-\d[\w.-]*"
    r"|\b\d[\w.,]*( [kMGT]?B\b)?|\b[a-z]+(-[a-z]+)+\b|%\{[^}]*\}"
    r"|(?m:^\s*[a-z]+\s*$)"  # a single lower-case word: a name or a check
    r"|\b(default|orders|main|latest|builder|audit|release|English|UTC|Linux|PATH|partition)\b"  # names of the tables
    r"|\b(state\d+|s3fs|gcsfs|adlfs|ossfs)\b"  # folders of the tests, what the doctor looks for
    r"|\b(SQL|NULL|GROUP BY|ORDER BY|DESC|rules|newest|local disk|Snapscope|(Apache )?(Paimon|Iceberg))\b"
)


def left_over(text: str) -> str:
    """Return the untranslated part of a text: without bracketed text, commands and data."""
    while (inner := re.sub("⟦[^⟦⟧]*⟧", " ", text)) != text:
        text = inner
    return DATA.sub(" ", TYPED.sub(" ", text)).strip()


def drawn(page: Any) -> list[str]:
    """Return everything displayed, including the texts of charts, menus and column headings."""
    found = texts(page)
    for chart in page.test.get("plotly_chart"):
        figure = json.loads(chart.proto.spec)
        found += [text for part in (figure["data"], figure["layout"]) for text in said_in_chart(part)]
    for kind in ("selectbox", "multiselect", "segmented_control"):
        found += [str(option) for each in page.test.get(kind) for option in getattr(each, "options", ())]
    for frame in page.test.dataframe:
        found += [str(each.get("label", "")) for each in json.loads(frame.proto.columns or "{}").values()]
    return [re.sub("<[^>]*>", " ", unescape(line)) for line in found]


def said_in_chart(part: Any, name: str = "") -> Iterator[str]:
    """Return the texts of a chart: titles, names, hovers and labels."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from said_in_chart(value, name if key.isdigit() else key)
    elif isinstance(part, list):
        for value in part:
            yield from said_in_chart(value, name)
    elif isinstance(part, str) and name in ("text", "hovertext", "hovertemplate", "name", "ticktext", "title"):
        yield part


@pytest.fixture
def pseudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A language in a single file in its own folder, as a translator would have it."""
    write_pseudo(tmp_path)
    monkeypatch.setenv(language.MORE, str(tmp_path))
    language._loaded.cache_clear()
    return PSEUDO


@pytest.mark.slow
def test_a_language_costs_one_file(pseudo: str, open_page: Callable[..., Any], built: Callable[[str], Path]) -> None:
    assert list(language.languages()) == ["en", pseudo, "zh"]
    page = open_page("overview", built("one snapshot"), lang=pseudo)
    (menu,) = (each for each in page.test.selectbox if each.key == "frame.language")
    assert list(menu.options) == ["English", pseudo, "中文"]
    assert "⟦" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_text_of_a_page_is_in_the_catalogues(
    page: str, pseudo: str, open_page: Callable[..., Any], built: Callable[[str], Path]
) -> None:
    left: set[str] = set()
    for state in STATES:
        opened = open_page(page, built(state), lang=pseudo, keep_max="1", point="1", a="1", b="latest")
        left |= {text for text in map(left_over, drawn(opened)) if re.search("[A-Za-z]{3,}", text)}
    assert left == set()
