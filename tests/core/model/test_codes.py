"""Codes are stable: programs that read `--json` identify reasons by them."""

from __future__ import annotations

import ast
import string
from pathlib import Path

from core.messages import Code
from core.model import codes
from tests.support.places import ROOT

KNOWN = Path(__file__).with_name("codes.txt").read_text().split()
CODES = {name: code for name, code in vars(codes).items() if isinstance(code, Code)}


def test_no_code_disappears() -> None:
    """New codes are added to codes.txt; lines there are never removed."""
    now = [code.name for code in CODES.values()] + [f"problem:{each}" for each in codes.Fault]
    assert len(now) == len(set(now))
    assert sorted(KNOWN) == sorted(now)


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_reasons_are_made_with_the_values_of_their_templates() -> None:
    """The text of a reason is built late, so a missing value would be noticed late."""
    seen = set()
    for path in (ROOT / "core").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="codes"), attr=name), keywords=given) if (
                    name in CODES
                ):
                    seen.add(name)
                    asked = fields(CODES[name].template) | fields(CODES[name].one)
                    spread = any(each.arg is None for each in given)
                    assert spread or {each.arg for each in given} == asked, f"{path}:{call.lineno} {name}"
    assert len(seen) > 100


def test_a_reason_is_its_code_and_values_and_not_its_words() -> None:
    one, same = codes.CONSUMER(name="a", id=1), codes.CONSUMER(id=1, name="a")
    assert one == same
    assert len({one, same, codes.CONSUMER(name="a", id=2)}) == 2
    assert codes.TAGS_GO(count=1).text == "it deletes 1 tag that someone created on purpose"
    assert codes.TAGS_GO(count=1_000).text == "it deletes 1,000 tags that someone created on purpose"
    assert str(codes.ONLY_PREFIX(id=2, why=one)) == (
        "only the oldest snapshots can expire, and snapshot 2 is kept: consumer a still reads from snapshot 1"
    )
