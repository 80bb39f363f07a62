"""All words stand in one room, and every word there is shown somewhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from core.errors import Corrupt
from core.messages import clause, told
from core.model.references import Problem
from dashboard import words
from dashboard.formatting import language, units
from dashboard.words import zh
from tests.support.places import ROOT

WORDS = sorted((ROOT / "dashboard" / "words").glob("*.py"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
LETTERS = re.compile(r"^(?!:material/).*[A-Za-z]{2,}")
SAME = frozenset(  # names of products, hues and options, examples of what is typed, texts of others
    "PRODUCT FORMATS SQL NULL RESULT_NAME ROW_CHANGES_NAME HUES RULE_SETS LANGUAGES TAG_NAME_HINT "
    "TAG_TIME_HINT OLDER_THAN_HINT ASOF_PLACEHOLDER "
    "plain capitalized window_text flag_label trend_template became row_count table_help bucket_step".split()
)
DRAWING = sorted(path for part in ("views", "components") for path in (ROOT / "dashboard" / part).rglob("*.py"))


def names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def sentences(tree: ast.Module) -> Iterator[str]:
    """Texts with a space between two words that are no docstring: what a reader would take for a sentence.

    `DD HH` is a form of dates.
    """
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
        if re.search(r"[A-Za-z][a-z]+ [A-Za-z]{2,}", node.value):
            yield node.value


def test_the_rule_sees_a_sentence() -> None:
    assert list(sentences(ast.parse('def f():\n    "doc string"\n    st.write("Nothing was found")')))


def test_views_and_widgets_hold_no_sentences() -> None:
    found = {
        str(path.relative_to(ROOT / "dashboard")): list(sentences(ast.parse(path.read_text()))) for path in DRAWING
    }
    logged = {"components/errors.py": ["Unforeseen error %s"]}
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


def said(module: str) -> dict[str, Any]:
    """The public names that a module of words makes itself."""
    found = vars(importlib.import_module(f"dashboard.words.{module}"))
    tree = ast.parse((ROOT / "dashboard/words" / f"{module.replace('.', '/')}.py").read_text())
    return {name: found[name] for name in names(tree) if not name.startswith("_")}


def texts(word: object) -> list[str]:
    """The sentences of a word that is no function, in order; keys, icons and hues are not among them."""
    match word:
        case str():
            return [word]
        case Mapping():
            return [text for value in word.values() for text in texts(value)]
        case tuple():
            return [text for value in word for text in texts(value)]
        case _:
            return []


def parts(text: str) -> list[str]:
    """What must stand in both languages: bold, commands and options in backticks, tags, icons, placeholders."""
    return sorted(re.findall(r"`[^`]*`|\*\*|<[/a-z]+>|:material/\w+:|%\{[^}]*\}", text))


def constants(function: Any) -> str:
    """The texts in a function's body, without its docstring and the nouns that `units` tells in both languages."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    told = tree.body[0].body  # type: ignore[attr-defined]  # the source of a function
    told = told[1:] if isinstance(told[0], ast.Expr) else told
    found = (node.value for each in told for node in ast.walk(each) if isinstance(node, ast.Constant))
    return " ".join(value for value in found if isinstance(value, str) and value not in units.IN_CHINESE)


@pytest.mark.parametrize("module", [path.stem for path in WORDS if path.stem != "__init__"])
def test_every_word_stands_in_chinese(module: str) -> None:
    """The same names of the same kinds, with the same keys, parameters and markup, and really in Chinese."""
    english, chinese = said(module), said(f"zh.{module}")
    assert sorted(english) == sorted(chinese)
    for name, ours in english.items():
        theirs = chinese[name]
        assert type(theirs) is type(ours), name
        if inspect.isfunction(ours):
            assert str(inspect.signature(theirs)) == str(inspect.signature(ours)), name
            speaks = re.search(r"[A-Za-z]{3,}", constants(ours))
            assert name in SAME or not speaks or CHINESE.search(constants(theirs)), name
        else:
            assert not isinstance(ours, Mapping) or name == "HUES" or list(theirs) == list(ours), name
            assert len(texts(theirs)) == len(texts(ours)), name
            for here, there in zip(texts(ours), texts(theirs), strict=True):
                assert parts(there) == parts(here), name
                assert CHINESE.search(there) or name in SAME or (here == there and not LETTERS.search(here)), name


UNSEEN = (
    "core/(cli/|serve|demo/(?!stories)|formats/paimon/write/alter|spark/write/(?!analyze|compact|footers))"  # by pages
)
LABELS, NAMED = frozenset("section facts table page".split()), ("remedy", "what")
ERRORS = frozenset("NotFound Invalid Conflict Corrupt Unsupported SnapscopeError Unknown".split())


def templates(tree: ast.AST) -> Iterator[str]:
    """The literals that `told`, `counted`, codes, errors and labels of reports are made with, at once or by a name of
    the same function."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.Module):
            continue
        named = [node for node in ast.walk(function) if is_named(node)]
        for call in ast.walk(function):
            name = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
            if not isinstance(call, ast.Call) or name not in ERRORS | LABELS | {"told", "counted", "Code"}:
                continue
            sentences = [
                *call.args[name in ("counted", "Code") :],
                *(each.value for each in call.keywords if each.arg in NAMED),
            ]
            for asked in sentences if name != "told" else call.args:
                asked = asked.value if isinstance(asked, ast.Starred) else asked
                is_name = isinstance(asked, ast.Name) and name not in ERRORS
                for given in [
                    node.value for node in named if is_name and ast.unparse(node.targets[0]) == ast.unparse(asked)
                ] or [asked]:
                    yield from (text.removeprefix("#") if name in LABELS else text for text in literals(given))


def literals(given: ast.expr) -> Iterator[str]:
    match given:
        case ast.Constant(value=str() as text):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*literals(body), *literals(orelse))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            yield from (text for each in values for text in literals(each))


def is_named(node: ast.AST) -> TypeGuard[ast.Assign]:
    """`name = "text"`, or a pair of texts, or one of two."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant | ast.Tuple | ast.IfExp)
    )


def test_what_the_core_says_is_said_in_chinese() -> None:
    """Each template that a sentence of the core is made from, with the same values, and none that is no more."""
    known = importlib.import_module("dashboard.words.zh.told")._TOLD
    paths = [path for path in (ROOT / "core").rglob("*.py") if not re.search(UNSEEN, str(path.relative_to(ROOT)))]
    made = {text for path in paths for text in templates(ast.parse(path.read_text()))}
    assert made == known.keys()
    for english, chinese in known.items():
        ours, theirs = (set(re.findall(r"{[^}]*}", text)) - {"{s}", "{them}"} for text in (english, chinese))
        assert ours == theirs, english
        assert CHINESE.search(chinese) or not re.search(r"[A-Za-z]{3,}", re.sub(r"{[^}]*}", "", english)), english


def test_a_reason_is_told_with_its_values_and_names_of_others_are_left_alone() -> None:
    own = told("consumer {name} reads on from snapshot {id}", name="it was", id=7)
    why = told("only a prefix may go, and snapshot {id} stays: {why}", id=3, why=own)

    def read(chosen: str) -> list[str]:
        language.choose(chosen)
        return [words.spoken(why), words.spoken("it was"), words.listing([own, "it was"])]

    with ThreadPoolExecutor(1) as reader:
        assert reader.submit(read, "en").result()[:2] == [str(why), "it was"]
        assert reader.submit(read, "zh").result() == [
            "只能从最早的开始连续删除，而快照 3 留下：消费者 it was 将从快照 7 继续读取",
            "it was",
            "消费者 it was 将从快照 7 继续读取；it was",
        ]


def test_a_problem_says_what_was_found_as_a_sentence_of_its_own() -> None:
    """An error knows its literal, its values, and the error within it; what was found is one sentence, not half."""
    inner = ValueError(told("the header is cut off"))
    error = Corrupt("A whole Avro file was expected; this one of {data} bytes is cut off or damaged ({error}).",
                    data=24, error=inner, remedy="Check access to it.")  # fmt: skip
    found = Problem("m", told("a readable manifest"), clause(error.message), error.remedy or "").sentence()
    assert found == (
        "m: expected a readable manifest. A whole Avro file was expected; this one of 24 bytes is cut off or damaged "
        "(the header is cut off). Check access to it."
    )
    assert zh.spoken(found) == (
        "m：应为可读的清单。应为完整的 Avro 文件；这个 24 字节的文件不完整或已损坏（文件头不完整）。"
        "请检查对它的访问权限。"
    )


def test_readers_on_threads_do_not_mix_their_languages() -> None:
    """Each run says its own words, whatever another thread has chosen meanwhile."""
    turn = threading.Barrier(4, timeout=300)

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
