"""All texts are in one package, and every text in it is used."""

from __future__ import annotations

import ast
import re
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt, Invalid
from core.formats.paimon.retention import policy
from core.messages import clause, message
from core.model.references import Problem
from dashboard import words
from dashboard.formatting import language
from tests import catalogues
from tests.support.languages import KEPT, SaidIn
from tests.support.places import ROOT

WORDS = sorted((ROOT / "dashboard" / "words").glob("*.py"))
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SAME = frozenset(  # names, and what users type
    {
        "2026-11-01 08:00, time:2026-11-01T00:00:00Z, tag:v1, 12, latest~3, branch:dev, watermark:1700000000000",
        "watermarks",
        "Watermark",
    }
)
DRAWING = sorted(path for part in ("views", "components") for path in (ROOT / "dashboard" / part).rglob("*.py"))


def names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Tuple(elts=several)]):
                yield from (each.id for each in several if isinstance(each, ast.Name))


def sentences(tree: ast.Module) -> Iterator[str]:
    """Find texts with a space between two words that are not docstrings: what a reader would take for a sentence.

    `DD HH` is a date format.
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
    used, times = set(re.findall(r"\bwords\.(\w+)", others)), Counter(re.findall(r"\w+", own))
    assert [name for name in names(ast.parse(own)) if name not in used and times[name] < 2] == []


def test_no_word_stands_twice() -> None:
    """Pages use `words.NAME`: of two modules with the same name, the later import would win and show the other page's
    text."""
    found = [name for path in WORDS for name in names(ast.parse(path.read_text())) if not name.startswith("_")]
    assert sorted(found) == sorted(set(found))
    assert set(found) <= set(dir(words)), "a module that the room does not open"


# every language -------------------------------------------------------------------------------------------------------


def parts(text: str) -> list[str]:
    """Return what must be the same in every language: values, bold, commands and options in backticks, tags, icons."""
    values = set(re.findall(r"(?<!\{)\{[^{}]*\}(?!\})", text))
    return sorted(values) + sorted(re.findall(r"`[^`]*`|\*\*|</?(?:b|br|i|code)>|:material/\w+:|%\{[^}]*\}", text))


def texts(of: Any) -> list[str]:
    return [of or ""] if isinstance(of, str | None) else list(of)


CATALOGUES = sorted(catalogues.LANGUAGES.glob("*.po"))


def test_there_is_chinese() -> None:
    assert "zh" in {path.stem for path in CATALOGUES}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_says_what_the_code_says(path: Path) -> None:
    """The catalogue has every text of the code, no obsolete or fuzzy one, and each with the same values and markup.

    If this fails: run `make messages`, then add the missing translations to the file.
    """
    catalog, wanted = catalogues.read(path), catalogues.template()
    said, code = (
        {(str(entry.context or ""), *texts(entry.id)): entry for entry in each if entry.id}
        for each in (catalog, wanted)
    )
    assert sorted(code.keys() - said.keys()) == [], "missing"
    assert sorted(said.keys() - code.keys()) == [], "said nowhere"
    assert [key for key, entry in said.items() if entry.fuzzy or not all(texts(entry.string))] == []
    for (_context, *english), entry in said.items():
        for theirs in texts(entry.string):
            assert parts(theirs) == parts(english[-1]), english
        assert len(texts(entry.string)) == (catalog.num_plurals if len(english) > 1 else 1), english
    assert catalogues.written(catalog) == path.read_bytes(), "make entrys would write it otherwise"


def test_a_catalogue_that_is_wrong_is_found() -> None:
    assert parts("{a} of `x` **{b:,}** {{") == ["{a}", "{b:,}", "**", "**", "`x`"]
    with pytest.raises(AssertionError, match="not a literal"):
        list(catalogues.of_dashboard(ast.parse('_(f"{a} files")')))


def test_every_word_is_really_in_chinese() -> None:
    """A translation without a Chinese character is of a text without words, or of one that is the same in every
    language."""
    for entry in catalogues.read(catalogues.LANGUAGES / "zh.po"):
        english, chinese = texts(entry.id)[0], texts(entry.string)[0]
        words_in_it = re.search(r"(?!and)[A-Za-z]{3,}", KEPT.sub("", english))
        assert CHINESE.search(chinese) or not words_in_it or english in SAME, english


def test_code_holds_english_only() -> None:
    """Other languages are in catalogues only; times can also be typed as in Chinese logs."""
    paths = [path for package in ("core", "dashboard") for path in (ROOT / package).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in paths if CHINESE.search(path.read_text())}
    assert found == {"core/model/time_input.py"}


def test_words_are_said_where_functions_use_them() -> None:
    """A constant in a function body stays English until `_` translates it."""
    bare = []
    for path in WORDS:
        tree = ast.parse(path.read_text())
        constants = {name for name in names(tree) if isinstance(vars(words).get(name), language.Word)}
        for function in tree.body:
            if isinstance(function, ast.FunctionDef):
                said = {id(each) for call in ast.walk(function) if isinstance(call, ast.Call)
                        and getattr(call.func, "id", "") == "_" for each in ast.walk(call)}  # fmt: skip
                bare += [f"{path.stem}.{function.name}: {node.id}" for node in ast.walk(function)
                         if isinstance(node, ast.Name) and node.id in constants and id(node) not in said]  # fmt: skip
    assert bare == []


def test_templates_of_pages_hold_no_texts() -> None:
    """They get their texts as arguments, so that each is in a catalogue."""
    for path in (*(ROOT / "dashboard").rglob("*.html"), *(ROOT / "core").rglob("*.html")):
        shown = re.sub(r"(?s)<style.*?</style>|{#.*?#}|{%.*?%}|{{.*?}}|<[^>]*>", " ", path.read_text())
        assert set(re.findall("[A-Za-z]{3,}", shown)) <= {"nbsp", "Snapscope"}, path


def test_a_reason_is_told_with_its_values_and_names_of_others_are_left_alone() -> None:
    own = message("consumer {name} still reads from snapshot {id}", name="it was", id=7)
    why = message("only the oldest snapshots can expire, and snapshot {id} is kept: {why}", id=3, why=own)

    def read(chosen: str) -> list[str]:
        language.choose(chosen)
        return [words.spoken(why), words.spoken("it was"), words.listing([own, "it was"])]

    with ThreadPoolExecutor(1) as reader:
        assert reader.submit(read, "en").result()[:2] == [str(why), "it was"]
        assert reader.submit(read, "zh").result() == [
            "只能从最旧的快照开始过期，而快照 3 会保留：消费者 it was 将从快照 7 继续读取",
            "it was",
            "消费者 it was 将从快照 7 继续读取；it was",
        ]


def test_a_problem_says_what_was_found_as_a_sentence_of_its_own() -> None:
    """An error knows its literal, its values, and the nested error; the message found is a whole sentence."""
    inner = ValueError(message("the header is cut off"))
    error = Corrupt("Expected a complete Avro file; this one of {data} bytes is cut off or damaged ({error}).",
                    data=24, error=inner, remedy="Check that you have access to it.")  # fmt: skip
    found = Problem("m", message("a readable manifest"), clause(error.message), error.remedy or "").sentence()
    assert found == (
        "m: expected a readable manifest. Expected a complete Avro file; this one of 24 bytes is cut off or damaged "
        "(the header is cut off). Check that you have access to it."
    )
    assert SaidIn("zh").spoken(found) == (
        "m：应为可读的清单。应为完整的 Avro 文件；这个 24 字节的文件不完整或已损坏（文件头不完整）。"
        "请检查对它的访问权限。"
    )


def test_an_error_is_told_in_full_with_the_reason_of_its_number() -> None:
    """What stands beside a number in parentheses is translated too."""
    with pytest.raises(Invalid) as failed:
        policy({"snapshot.num-retained.max": "5"}, now_ms=0)
    assert SaidIn("zh").spoken(failed.value.message) == "retain-max（5）小于 retain-min（10，引擎的默认值）。"


def test_readers_on_threads_do_not_mix_their_languages() -> None:
    """Each run uses its own language, whatever another thread has chosen meanwhile."""
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


def test_cells_have_their_hue_in_every_language() -> None:
    def read(chosen: str) -> list[str | None]:
        language.choose(chosen)
        return [words.hue(each) for each in (words.GOES, words.SIDES["removed"], words.CHANGES["compaction"], "other")]

    with ThreadPoolExecutor(1) as reader:
        for each in ("en", "zh"):
            assert reader.submit(read, each).result() == ["freed", "removed", "compaction", None], each


def test_the_styles_know_every_hue() -> None:
    """Style sheet and charts use the same names for colours."""
    style = (Path(ROOT) / "dashboard" / "style.css").read_text()
    for hue in ("added", "removed", "compaction", "tag", "branch", "consumer", "freed"):
        assert f".snap-{hue}" in style
        assert f"--snap-{hue}:" in style


def test_no_line_of_a_summary_begins_with_a_dot() -> None:
    """Each dot keeps to the words before it, wherever the line breaks."""
    summary = words.table_summary(37, 3, 1, 0, 60_000, "UTC", branch_tags=1)
    assert summary.count("\u00a0·") == summary.count("·") == 3
