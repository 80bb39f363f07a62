"""Architecture rules, checked automatically.

Layers are defined in pyproject.toml (import-linter). This module checks what an import graph cannot show. Every rule is
a function from parsed source to complaints, and is tested on source that violates it, because a rule that cannot fail
checks nothing.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.support import trees
from tests.support.places import ROOT
from tests.support.trees import nodes, parsed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = sorted(path for package in ("core", "dashboard", "snapscope") for path in (ROOT / package).rglob("*.py"))

LONGEST = 400

PURE_IMPORTS = frozenset(
    "__future__ abc bisect calendar collections contextlib dataclasses datetime decimal difflib enum fractions "
    "functools html hashlib heapq itertools json math operator re shlex string struct textwrap types typing "
    "unicodedata zoneinfo numpy pyarrow sqlglot urllib.parse".split()
)
CLOCKS = frozenset({"now", "utcnow", "today", "random", "urandom"})
SWALLOWS = frozenset({"exists", "lexists", "isdir", "isfile", "glob", "find", "walk", "rmdir", "rm", "mv"})
PRESENTATION = re.compile(r"dashboard/(charts|formatting|view_models|words)/")
WRITES = frozenset({"create", "put", "delete", "make_dirs"})
WRITERS = re.compile(
    r"core/(storage/store|execution/\w+|demo/(build|iceberg_twin)|formats/\w+/write/(commit|publish)|spark/write/append)\.py"
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


PURE = re.compile(
    r"core/((model|procedures)/[\w/]+|planning/(?!outside_roots)\w+|(errors|messages|units)"
    r"|analysis/(?!inspection)\w+|formats/(paimon|iceberg)/(retention|time_travel|expiration_dates|capabilities|plan/\w+)"
    r"|spark/merge/\w+|demo/data)\.py"
)
"""Values in, values out: no files, no clock, no randomness."""


def pure_modules() -> list[Path]:
    return [path for path in SOURCES if PURE.fullmatch(relative(path))]


# --- rules: from a parsed file to complaints -------------------------------------------------------------------------


def imported(tree: ast.AST) -> Iterator[str]:
    """Return every module that a file imports, anywhere in it, including by `import_module`."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "." * node.level
        elif isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__") and node.args:
            yield str(getattr(node.args[0], "value", "a computed name"))


def last_name(node: ast.AST) -> str:
    """Return `c` for `a.b.c`, `c` and `a.c()`; "" if there is no name."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Call(func=function):
            return last_name(function)
        case _:
            return ""


def calls(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """Return every method call: the receiver's last name, the called name, the call."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield last_name(node.func.value), node.func.attr, node


def impure(tree: ast.AST) -> Iterator[str]:
    """Find imports other than arithmetic and values; clocks; randomness."""
    for name in imported(tree):
        if not {name, name.split(".")[0]} & (PURE_IMPORTS | {"core"}):
            yield f"imports {name}"
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            yield f"line {node.lineno} reads a clock or chance: .{node.attr}"
        if isinstance(node, ast.Name) and node.id in ("open", "print", "input"):
            yield f"line {node.lineno} uses {node.id}"


def file_system_outside_the_store(tree: ast.AST) -> Iterator[str]:
    for name in imported(tree):
        if name.split(".")[0] in ("fsspec", "s3fs", "gcsfs", "adlfs", "ossfs"):
            yield f"imports {name}"


def swallowing(tree: ast.AST) -> Iterator[str]:
    """Find calls that return "absent" when they could not look, or that delete more than one file."""
    for receiver, called, call in calls(tree):
        if called in SWALLOWS and re.search(r"(^|_)(fs|filesystem)$", receiver):
            yield f"line {call.lineno} calls {receiver}.{called}"
        if any(word.arg == "recursive" for word in call.keywords) and called in ("rm", "delete"):
            yield f"line {call.lineno} deletes recursively"


def column_chunks(tree: ast.AST) -> Iterator[str]:
    """Find where column chunks are asked for, which ends the process if a Parquet file's footer contradicts itself."""
    for receiver, called, call in calls(tree):
        if called == "row_group":
            yield f"line {call.lineno} calls {receiver}.row_group"


def writing(tree: ast.AST) -> Iterator[str]:
    for receiver, called, call in calls(tree):
        if called in WRITES and re.search(r"(^|_)store$", receiver):
            yield f"line {call.lineno} writes by {receiver}.{called}"


def vague_names(tree: ast.AST) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef) and re.search(r"Manager|Helper|Util|Service", node.name):
            yield f"line {node.lineno} names a class {node.name}"


def streamlit(tree: ast.AST) -> Iterator[str]:
    yield from (f"imports {name}" for name in imported(tree) if name.split(".")[0] == "streamlit")


def words_at_import(tree: ast.AST) -> Iterator[str]:
    """Find texts that are translated at import time, or in a default or decorator: the reader's language is not known
    then."""
    if isinstance(tree, ast.Attribute) and last_name(tree.value) == "words":
        yield f"line {tree.lineno} says words.{tree.attr} at import"
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        early = [*tree.args.defaults, *filter(None, tree.args.kw_defaults), *getattr(tree, "decorator_list", [])]
    elif isinstance(tree, ast.AnnAssign):  # annotations are not evaluated by anyone
        early = [tree.value] if tree.value else []
    else:
        early = list(ast.iter_child_nodes(tree))
    yield from (said for each in early for said in words_at_import(each))


ROUNDING = frozenset("quantize scaleb fma to_integral_value to_integral_exact remainder_near normalize".split())


def is_decimal(node: ast.AST | None) -> bool:
    """Return whether an annotation is `Decimal`, `Decimal | None` or `Decimal(…)`."""
    if isinstance(node, ast.BinOp):
        return is_decimal(node.left) or is_decimal(node.right)
    return node is not None and last_name(node) == "Decimal"


def decimals_of(scope: ast.AST) -> Iterator[str]:
    """Return names that are annotated as decimals or made from one."""
    for node in ast.walk(scope):
        match node:
            case ast.arg(arg=name, annotation=of) if is_decimal(of):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=of) if is_decimal(of):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made) if is_decimal(made):
                yield name


def rounding_decimals(tree: ast.AST) -> Iterator[str]:
    """Find arithmetic on decimals: Python rounds it to 28 digits, even for `abs`, `-d` and `+d`. Parsing, comparing and
    printing do not round."""
    for name in imported(tree):
        if name.split(".")[0] in ("_decimal", "_pydecimal"):
            yield f"imports {name}"
    for node in nodes(tree):
        if isinstance(node, ast.Import) and any(each.name == "decimal" for each in node.names):
            yield f"line {node.lineno} imports all of decimal"
        if isinstance(node, ast.ImportFrom) and node.module == "decimal":
            yield from (f"line {node.lineno} imports {each.name}" for each in node.names if each.name != "Decimal")
    for receiver, called, call in calls(tree):
        if called in ROUNDING and receiver != "unicodedata":
            yield f"line {call.lineno} calls .{called}"
    if not any(isinstance(each, ast.Name | ast.Attribute) and last_name(each) == "Decimal" for each in nodes(tree)):
        return
    functions: list[ast.AST] = [
        each for each in nodes(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for scope in functions or [tree]:
        names = set(decimals_of(scope))
        for node in ast.walk(scope):
            operands: list[ast.expr]
            match node:
                case ast.BinOp(left=one, right=other) | ast.AugAssign(target=one, value=other):
                    operands = [one, other]
                case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=one):
                    operands = [one]
                case ast.Call(func=ast.Name(id="abs" | "sum" | "round" | "divmod" | "pow"), args=args):
                    operands = args
                case _:
                    continue
            for each in operands:
                is_made = isinstance(each, ast.Call) and is_decimal(each)
                if is_made or (isinstance(each, ast.Name) and each.id in names):
                    yield f"line {each.lineno} computes with a decimal"


Rule = Callable[[ast.AST], Iterator[str]]
BREAKS: list[tuple[Rule, str]] = [
    (impure, "import os"),
    (impure, "from time import time"),
    (impure, "import importlib"),
    (impure, "def f():\n    from pathlib import Path"),
    (impure, "import datetime as dt\nnow = dt.datetime.now(dt.UTC)"),
    (impure, "import datetime as dt\nread = dt.date.today"),
    (impure, "import numpy as np\nnp.random.default_rng()"),
    (impure, "open('x')"),
    (file_system_outside_the_store, "def f():\n    from fsspec.core import url_to_fs"),
    (file_system_outside_the_store, "import importlib\nimportlib.import_module('s3fs')"),
    (swallowing, "self._fs.exists(path)"),
    (swallowing, "fs.glob('*')"),
    (swallowing, "fs.delete(path, recursive=True)"),
    (column_chunks, "file.metadata.row_group(0).column(1)"),
    (column_chunks, "group = metadata.row_group(0)\nchunk = group.column(1)"),
    (writing, "table.store.delete('snapshot/snapshot-1')"),
    (writing, "self._store.put(name, data)"),
    (rounding_decimals, "import decimal"),
    (rounding_decimals, "from decimal import Decimal, getcontext"),
    (rounding_decimals, "def f(value):\n    return value.quantize(one)"),
    (rounding_decimals, "from decimal import Decimal\nx = -Decimal(text)"),
    (rounding_decimals, "def f(value: Decimal | None):\n    return abs(value)"),
    (rounding_decimals, "def f(text):\n    value = Decimal(text)\n    value += 1"),
    (rounding_decimals, "def f(value: Decimal):\n    return 10 * value"),
    (vague_names, "class TagManager: ..."),
    (vague_names, "class PathUtils: ..."),
    (streamlit, "def f():\n    import streamlit.components.v1"),
    (words_at_import, "MODES = {'a': words.MODE}"),
    (words_at_import, "class Job:\n    stage: str = words.STARTING"),
    (words_at_import, "def f(otherwise=words.NONE): ..."),
    (words_at_import, "@named(words.PAGE)\ndef f(): ..."),
]


@pytest.mark.parametrize(("rule", "source"), BREAKS)
def test_every_rule_sees_what_breaks_it(rule: Rule, source: str) -> None:
    assert list(rule(ast.parse(source)))


@pytest.fixture(scope="module", autouse=True)
def forget_the_trees() -> Iterator[None]:
    yield
    trees.forget()


def complaints(rule: Rule, paths: list[Path]) -> list[str]:
    assert paths, "the rule looks at no file"
    return [f"{relative(path)}: {said}" for path in paths for said in rule(parsed(path))]


# --- the rules kept --------------------------------------------------------------------------------------------------


def test_layers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    outcome = lint_imports(no_cache=True)
    assert outcome == 0, capsys.readouterr().out.rpartition("Broken contracts")[2]


def test_every_directory_of_code_is_a_package() -> None:
    """Without `__init__.py` the layers would not be checked there. In tests, one would hide the real `core`."""
    assert [relative(path.parent) for path in SOURCES if not (path.parent / "__init__.py").is_file()] == []
    assert [relative(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


def test_the_pure_core_is_pure() -> None:
    names = {path.stem for path in pure_modules()}
    assert {"errors", "references", "intervals", "time_travel", "reclaim"} <= names
    assert complaints(impure, pure_modules()) == []


def test_only_the_store_knows_file_systems() -> None:
    names = ("store", "s3/connection", "conditional", "file_systems", "hdfs/web", "hdfs/native", "oss")
    doors = [f"core/storage/{name}.py" for name in names]
    others = [path for path in SOURCES if relative(path) not in doors]
    assert complaints(file_system_outside_the_store, others) == []


def test_nothing_swallows_errors_into_absent() -> None:
    assert complaints(swallowing, SOURCES) == []


def test_column_chunks_are_asked_for_only_in_files_just_written() -> None:
    """See SECURITY.md, "Files of tables"."""
    writers = ("core/spark/write/footers.py", "core/demo/iceberg_twin.py")
    assert complaints(column_chunks, [path for path in SOURCES if relative(path) not in writers]) == []
    asks = re.compile(r"core\.spark\.write(\.footers| import .*\bfooters\b)")
    callers = {relative(path) for path in SOURCES if asks.search(path.read_text(encoding="utf-8"))}
    assert callers == {"core/spark/write/append.py", "core/spark/write/key_files.py"}


def test_only_apply_and_commit_write() -> None:
    assert complaints(writing, [path for path in SOURCES if not WRITERS.fullmatch(relative(path))]) == []


def test_decimals_are_computed_with_in_one_place() -> None:
    assert complaints(rounding_decimals, [path for path in SOURCES if relative(path) != "core/decimals.py"]) == []


def test_words_and_charts_are_drawn_by_nobody() -> None:
    """They convert values to values, so that they can be tested and read without a browser."""
    assert complaints(streamlit, [path for path in SOURCES if PRESENTATION.match(relative(path))]) == []


def test_words_are_said_in_the_language_of_a_reader() -> None:
    assert complaints(words_at_import, [path for path in SOURCES if "dashboard/words/" not in relative(path)]) == []


def test_names_say_what_a_thing_does() -> None:
    assert complaints(vague_names, SOURCES) == []
    vague = re.compile(r"(utils?|helpers?|managers?|services?|common|misc)(\.py)?")
    assert [relative(path) for path in SOURCES if any(vague.fullmatch(part) for part in path.parts)] == []


def test_no_dashboard_file_hides_a_module() -> None:
    """Streamlit puts dashboard/ first on the import path, so a file there shadows any module of that name."""
    taken = (sys.stdlib_module_names | packages_distributions().keys()) - {"core", "dashboard", "snapscope"}
    assert [path.name for path in (ROOT / "dashboard").iterdir() if path.stem in taken] == []


def test_no_dependency_ships_a_package_of_ours() -> None:
    """The wheel installs three top-level packages; another distribution's of that name would overwrite or hide one."""
    found = packages_distributions()
    ours = {
        name: set(found.get(name, ())) - {PROJECT["project"]["name"]} for name in ("core", "dashboard", "snapscope")
    }
    assert ours == {"core": set(), "dashboard": set(), "snapscope": set()}
    assert found["streamlit"] == ["streamlit"], "what is installed is seen"


def test_files_have_one_job() -> None:
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST} == {}
