"""What docs/ says of the code is so: modules and names exist, words are defined once, records are complete."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.places import ROOT

DOCS = ROOT / "docs"
PATH = re.compile(r"`((?:core|dashboard|snapscope|tests|docs|benchmarks)/[\w./*<>-]*)`")
DEFINED = re.compile(r"`([\w/.]+\.py)`(?: `(\w+)`)?")
PARTS = ("**Context.**", "**Decision.**", "**Costs", "**Rejected.**")


def rows(text: str) -> list[tuple[str, str, str]]:
    """The rows of the glossary: word, meaning, where it is defined."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    found = [(word.strip(), meaning.strip(), where.strip()) for word, meaning, where in cells]
    return [row for row in found if row[0] != "word"]


def names(path: Path) -> set[str]:
    """What a module defines at its top."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def missing(where: str) -> str:
    """What a place in the glossary names and is not there; "" where all is."""
    found = DEFINED.fullmatch(where)
    if found is None:
        return f"{where} is no place"
    path = ROOT / found[1]
    if not path.is_file():
        return f"{found[1]} is not there"
    return f"{found[1]} has no {found[2]}" if found[2] and found[2] not in names(path) else ""


GLOSSARY = rows((DOCS / "glossary.md").read_text())
RECORDS = sorted((DOCS / "adr").glob("[0-9]*.md"))


def test_what_is_missing_is_found() -> None:
    assert missing("`core/model/plan.py` `Plan`") == ""
    assert missing("`core/model/plan.py` `Plane`")
    assert missing("`core/no_such.py`")
    assert missing("somewhere")


def test_every_word_is_defined_where_the_glossary_says() -> None:
    assert len(GLOSSARY) > 40
    assert {word: found for word, _, where in GLOSSARY if (found := missing(where))} == {}


def test_every_word_has_one_meaning() -> None:
    words = Counter(word.lower() for word, _, _ in GLOSSARY)
    assert [word for word, times in words.items() if times > 1] == []
    assert [word for word, meaning, _ in GLOSSARY if not meaning] == []


@pytest.mark.parametrize("path", [each.relative_to(ROOT).as_posix() for each in sorted(DOCS.rglob("*.md"))])
def test_paths_in_the_docs_are_there(path: str) -> None:
    named = [each for each in PATH.findall((ROOT / path).read_text()) if "<" not in each]
    assert [each for each in named if not list(ROOT.glob(each.rstrip("/")))] == []


def test_records_of_decisions_are_numbered_and_complete() -> None:
    numbers = [record.name.partition("-")[0] for record in RECORDS]
    assert len(RECORDS) >= 10
    assert len(set(numbers)) == len(numbers)
    for record in RECORDS:
        text = record.read_text()
        assert text.startswith(f"# {int(record.name.partition('-')[0])}. "), record.name
        assert [part for part in PARTS if part not in text] == [], record.name
