"""The catalogues of all languages but English: their required content, and how they are updated.

python -m tests.catalogues    writes dashboard/languages/*.po (`make messages`): new texts have no translation yet,
                              changed ones are fuzzy, unused ones are dropped
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeGuard

from babel.messages import pofile
from babel.messages.catalog import Catalog

from tests.support.places import ROOT

LANGUAGES = ROOT / "dashboard" / "languages"
UNSEEN = re.compile(  # texts that no page shows: English only, for shells and logs
    "core/(cli/|serve|demo/(?!stories)|formats/paimon/write/alter|spark/write/(?!analyze|compact|footers))"
)
LABELS, NAMED = frozenset("section facts table page".split()), ("remedy", "what")
ERRORS = frozenset("NotFound Invalid TimedOut Conflict Corrupt Unsupported SnapscopeError Unknown Silent".split())
DATED = re.compile(rb'"(POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Translator|Report-Msgid-Bugs-To): .*\n')


class Text(NamedTuple):
    """A text of the code, as in catalogues. `many` is the plural form, if the text has a count."""

    text: str
    many: str = ""
    context: str = ""


@cache
def messages() -> Mapping[Text, Sequence[str]]:
    """Return every translatable text, with the files that contain it."""
    found: dict[Text, list[str]] = {}
    for package, texts in (("dashboard", of_dashboard), ("core", of_core)):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not UNSEEN.search(name):
                for text in texts(ast.parse(path.read_text())):
                    if text.text and name not in found.setdefault(text, []):
                        found[text].append(name)
    return found


# what the dashboard says ---------------------------------------------------------------------------------------------


def of_dashboard(tree: ast.AST) -> Iterator[Text]:
    """Return the literals passed to `N_`, `_` and `ngettext`, and the nouns that `units.plural` counts."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
        named = [each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)
                 and each.arg == "context"]  # fmt: skip
        match name, given:
            case (("N_" | "_"), [str() as text, *_rest]):
                yield Text(text, context=str([*given[1:], *named, ""][0] or ""))
            case (("N_" | "_"), _given) if isinstance(call.args[0], ast.JoinedStr | ast.BinOp):
                raise AssertionError(f"line {call.lineno}: not a literal: {ast.unparse(call)}")
            case "ngettext", [str() as one, str() as many, *_rest]:
                yield Text(one, many)
            case (("plural" | "signed_plural"), [_, str() as noun, *nouns]):
                yield counted_noun(noun, nouns)
            case "noun", [str() as noun]:
                yield counted_noun(noun, [])


def counted_noun(noun: str, nouns: Sequence[object]) -> Text:
    return Text(f"{{count}} {noun}", f"{{count}} {nouns[0] if nouns else noun + 's'}")


# what the core says --------------------------------------------------------------------------------------------------


def of_core(tree: ast.AST) -> Iterator[Text]:
    """Return the literals that `message`, `counted`, codes, errors and report labels are made from, directly or through
    a local name."""
    for nodes in (list(outside_functions(tree)), *(list(ast.walk(each)) for each in functions(tree))):
        named = [node for node in nodes if is_named(node)]
        for call in nodes:
            name = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
            if not isinstance(call, ast.Call) or name not in ERRORS | LABELS | {
                "message",
                "counted",
                "Code",
                "literal",
            }:
                continue
            if name == "counted":
                yield from pairs(call.args[1:], named)
                continue
            if name == "Code":
                texts = [*literals(call.args[1]), *(text for each in call.args[2:] for text in literals(each))]
                yield Text(*reversed(texts)) if len(texts) > 1 else Text(texts[0])
                continue
            sentences = [*call.args, *(each.value for each in call.keywords if each.arg in NAMED)]
            for asked in sentences if name not in ("message", "literal") else call.args:
                asked = asked.value if isinstance(asked, ast.Starred) else asked
                for given in assigned(asked, named) if name not in ERRORS else [asked]:
                    yield from (Text(text.removeprefix("#") if name in LABELS else text) for text in literals(given))


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the functions and methods that are not nested in another function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        else:
            yield from functions(node)


def outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from outside_functions(node)


def pairs(args: Sequence[ast.expr], named: Sequence[ast.Assign]) -> Iterator[Text]:
    """Return singular and plural, from two literals or from a name that was assigned both."""
    if len(args) == 2:
        yield Text(*(text for each in args for text in literals(each)))
    elif len(args) == 1 and isinstance(args[0], ast.Starred):
        for given in assigned(args[0].value, named):
            match list(literals(given)):
                case [one, many]:
                    yield Text(one, many)


def assigned(asked: ast.expr, named: Sequence[ast.Assign]) -> Sequence[ast.expr]:
    """Resolve a local name of the function; anything else is returned unchanged."""
    found = [node.value for node in named if isinstance(asked, ast.Name) and ast.unparse(node.targets[0]) == asked.id]
    return found or [asked]


def literals(given: ast.expr) -> Iterator[str]:
    match given:
        case ast.Constant(value=str() as text):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*literals(body), *literals(orelse))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            yield from (text for each in values for text in literals(each))


def is_named(node: ast.AST) -> TypeGuard[ast.Assign]:
    """Find `name = "text"`, or a pair of texts, or a choice of two."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant | ast.Tuple | ast.IfExp)
    )


# catalogues ----------------------------------------------------------------------------------------------------------


def template() -> Catalog:
    """Create a catalogue of all texts, without translations."""
    made = Catalog()
    for text, paths in messages().items():
        made.add((text.text, text.many) if text.many else text.text,
                 locations=[(path, 0) for path in paths], context=text.context or None)  # fmt: skip
    return made


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return pofile.read_po(file)


def written(catalog: Catalog) -> bytes:
    """Format a catalogue as a file: sorted by source file, without dates and line numbers, so that it only changes with
    a text."""
    for message in catalog:
        message.locations = sorted({(path, 0) for path, _line in message.locations})
    file = BytesIO()
    pofile.write_po(file, catalog, width=120, sort_by_file=True, ignore_obsolete=True, include_lineno=False)
    return DATED.sub(b"", file.getvalue())


def main() -> None:
    for path in sorted(LANGUAGES.glob("*.po")):
        catalog = read(path)
        catalog.update(template())
        path.write_bytes(written(catalog))
        left = sum(not message.string or not all(message.string) or message.fuzzy for message in catalog if message.id)
        print(f"{path.relative_to(ROOT)}: {len(catalog)} texts, {left} without a translation or fuzzy")


if __name__ == "__main__":
    main()
