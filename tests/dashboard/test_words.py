"""All words stand in one room, and every word there is shown somewhere."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dashboard.present import language, words
from tests.places import ROOT

WORDS = sorted((ROOT / "dashboard" / "present" / "words").glob("*.py"))
DRAWING = sorted(path for part in ("views", "widgets") for path in (ROOT / "dashboard" / part).glob("*.py"))


def names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def sentences(tree: ast.Module) -> Iterator[str]:
    """Texts with a space between two words that are no docstring: what a reader would take for a sentence."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", node.value):
            yield node.value


def test_the_rule_sees_a_sentence() -> None:
    assert list(sentences(ast.parse('def f():\n    "doc string"\n    st.write("Nothing was found")')))


def test_views_and_widgets_hold_no_sentences() -> None:
    found = {path.name: list(sentences(ast.parse(path.read_text()))) for path in DRAWING}
    logged = {"errors.py": ["Unforeseen error %s"]}
    assert {name: texts for name, texts in found.items() if texts != logged.get(name, [])} == {}


def test_every_word_is_used() -> None:
    own = "\n".join(path.read_text() for path in WORDS)
    others = "\n".join(path.read_text() for path in (ROOT / "dashboard").rglob("*.py") if path not in WORDS)
    unused = [
        name
        for name in names(ast.parse(own))
        if not re.search(rf"\bwords\.{name}\b", others) and len(re.findall(rf"\b{name}\b", own)) < 2
    ]
    assert unused == []


def test_no_word_stands_twice() -> None:
    """Pages say `words.NAME`: of two the later import would win, and say the other page's sentence."""
    found = [name for path in WORDS for name in names(ast.parse(path.read_text())) if not name.startswith("_")]
    assert sorted(found) == sorted(set(found))
    assert set(found) <= set(dir(words)), "a module that the room does not open"


def test_readers_on_threads_do_not_mix_their_languages() -> None:
    """Each run says its own words, whatever another thread has chosen meanwhile."""
    turn = threading.Barrier(4, timeout=60)

    def read(chosen: str) -> set[str]:
        language.choose(chosen)
        said = set()
        for _ in range(50):
            turn.wait()
            said.add(words.REFRESH)
        return said

    with ThreadPoolExecutor(4) as readers:
        assert list(readers.map(read, ("en", "zh", "en", "zh"))) == [{"Refresh"}, {"刷新"}] * 2


def test_the_styles_know_every_hue() -> None:
    """Colours in the style sheet and in charts are told apart by the same names."""
    style = (Path(ROOT) / "dashboard" / "style.css").read_text()
    for hue in ("added", "removed", "compaction", "tag", "branch", "consumer", "freed"):
        assert f".snap-{hue}" in style
        assert f"--snap-{hue}:" in style
