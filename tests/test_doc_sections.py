"""The format rules that code and docs cite are in docs/paimon.md and docs/iceberg.md, under the cited number."""

from __future__ import annotations

import re

import pytest

from tests.support.places import ROOT

RULES = {name: ROOT / "docs" / f"{name}.md" for name in ("paimon", "iceberg")}
CITATION = re.compile(r"docs/(paimon|iceberg)\.md((?:,? (?:and )?§[\d.]*\d)+)")
LINK = re.compile(r"\[(?:Paimon|Iceberg) §([\d.]*\d)\]\((?:\.\./)?(paimon|iceberg)\.md#([\w-]+)\)")
CITING = sorted(
    path
    for folder in ("core", "dashboard", "tests", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".md") and path.name != "test_doc_sections.py"
)


def sections(name: str) -> dict[str, str]:
    """Return the numbered sections of a page, each with its text up to the next heading of its level or above."""
    text = RULES[name].read_text()
    found = list(re.finditer(r"^(##+) ([\d.]*\d)\.? (.+)$", text, flags=re.MULTILINE))
    return {
        each[2]: text[
            each.start() : next(
                (n.start() for n in found if n.start() > each.start() and len(n[1]) <= len(each[1])), len(text)
            )
        ]
        for each in found
    }


def cited(text: str) -> set[tuple[str, str]]:
    """Citations may be split across two lines of a docstring."""
    flat = re.sub(r"\s*\n[ #]*", " ", text)
    return {
        (page, number) for page, numbers in CITATION.findall(flat) for number in re.findall(r"§([\d.]*\d)", numbers)
    }


def test_citations_are_found() -> None:
    assert cited("(docs/paimon.md §4.2, §4.3)") == {("paimon", "4.2"), ("paimon", "4.3")}
    assert cited("Source: docs/paimon.md §9 and §12, Paimon 2.1.") == {("paimon", "9"), ("paimon", "12")}
    assert cited("    # as docs/iceberg.md\n    # §1.2.") == {("iceberg", "1.2")}


def test_code_cites_sections_that_are_there() -> None:
    there = {(page, number) for page in RULES for number in sections(page)}
    named = {(path.relative_to(ROOT).as_posix(), *each) for path in CITING for each in cited(path.read_text())}
    assert len(named) > 10
    assert sorted(each for each in named if each[1:] not in there) == []


def test_nothing_cites_a_document_that_is_not_here() -> None:
    unknown = re.compile(r"\bspec §?\d")
    assert [path.name for path in CITING if unknown.search(path.read_text())] == []


@pytest.mark.parametrize("page", RULES)
def test_each_rule_names_its_source_and_code(page: str) -> None:
    leaves = {
        number: text for number, text in sections(page).items() if not re.search(r"^###", text[4:], flags=re.MULTILINE)
    }
    assert len(leaves) > 10
    # A section that only lists options or describes a container states what its subsections are about.
    told = {number for number, text in leaves.items() if "Source:" in text and "Code:" in text}
    assert len(told) >= len(leaves) - 3
    assert sorted(set(leaves) - told, key=str) == {"paimon": ["4.1", "7.1"], "iceberg": ["2.1"]}[page]


def test_links_to_sections_lead_to_their_number() -> None:
    links = [(path.name, *found) for path in CITING if path.suffix == ".md" for found in LINK.findall(path.read_text())]
    assert len(links) > 8
    assert [each for each in links if not each[3].startswith(each[1].replace(".", "") + "-")] == []
