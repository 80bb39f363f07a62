"""The statements in docs/ about the code are true: modules and names exist, terms are defined once, records are
complete.

The site builds without warnings, and loads nothing from other servers.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from core.procedures.registry import BY_COMMAND
from docs import diagrams, generated_pages
from tests import catalogues
from tests.support.places import ROOT

DOCS = ROOT / "docs"
PATH = re.compile(r"`((?:core|dashboard|snapscope|tests|docs|benchmarks)/[\w./*<>-]*)`")
DEFINED = re.compile(r"`([\w/.]+\.py)`(?: `(\w+)`)?")
ON_PAGES = re.compile(r"^\*\*Dashboard:\*\*.*?(?=^$|\Z)", flags=re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
PARTS = ("**Context.**", "**Decision.**", "**Costs", "**Rejected.**")


def rows(text: str) -> list[tuple[str, str, str]]:
    """Return the rows of the glossary: word, meaning, where it is defined."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    found = [(word.strip(), meaning.strip(), where.strip()) for word, meaning, where in cells]
    return [row for row in found if row[0] != "word"]


def names(path: Path) -> set[str]:
    """Return the names that a module defines at top level."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def missing(where: str) -> str:
    """Return what a reference in the glossary names that does not exist; "" if everything exists."""
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


def labels(text: str) -> list[str]:
    """Return the labels in the paragraphs that say where something is on the dashboard; a label may span two lines."""
    return [" ".join(each.split()) for paragraph in ON_PAGES.findall(text) for each in LABEL.findall(paragraph)]


def test_labels_in_the_docs_are_on_the_dashboard() -> None:
    assert labels("**Dashboard:** *Home*, or *Two\nwords* → **bold**.\n\n*No label*") == ["Home", "Two words"]
    known = {each.text for each in catalogues.messages()}
    named = [(page.name, each) for page in sorted(DOCS.glob("howto/*.md")) for each in labels(page.read_text())]
    assert len(named) > 30
    assert [each for each in named if each[1] not in known] == []


def test_records_of_decisions_are_numbered_and_complete() -> None:
    numbers = [record.name.partition("-")[0] for record in RECORDS]
    assert len(RECORDS) >= 10
    assert len(set(numbers)) == len(numbers)
    for record in RECORDS:
        text = record.read_text()
        assert text.startswith(f"# {int(record.name.partition('-')[0])}. "), record.name
        assert [part for part in PARTS if part not in text] == [], record.name


def test_the_reference_has_every_command_with_its_options() -> None:
    commands = {each.name: each for each in generated_pages.described()}
    assert {"tables", "query", "serve", "doctor", "plan"} | set(BY_COMMAND) <= set(commands)
    assert "--retain-max" in " ".join(each.names for each in commands["expire"].options)
    assert [each.name for each in commands.values() if not each.help] == []
    text = generated_pages.page()
    assert [name for name in commands if f"\n### {name}\n" not in text] == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_other_servers(tmp_path: Path) -> None:
    """With `--strict`, a page missing from the menu, and a broken link or anchor, are errors."""
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    made = {page.relative_to(tmp_path / "site").with_suffix("").as_posix() for page in pages}
    assert {f"adr/{record.stem}" for record in RECORDS} | {"reference/cli", "reference/api", "security"} <= made
    loads = re.compile(r"""<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="(?:https?:)?//""")
    assert loads.search('<script src="https://cdn.example/x.js">')
    assert [page.name for page in pages if loads.search(page.read_text())] == []


def test_the_site_draws_every_flowchart_itself() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        drawn = diagrams.drawn(text)
        assert "```mermaid" not in drawn, page
        assert drawn.count("<line ") == text.count(" --> "), page
    below = diagrams.rows([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])
    assert below == [["a", "d"], ["b"], ["c"]]
    with pytest.raises(ValueError, match="circle"):
        diagrams.rows([("a", "b"), ("b", "a")])
