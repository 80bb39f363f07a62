"""Counts what makes the code hard to understand, and fails if a count grows.

    python -m tests.structure            prints each count with its limit; exit status 1 if one is exceeded
    python -m tests.structure --lower    writes the current counts as new limits where they are lower
    python -m tests.structure --diagram  writes the diagram of packages in docs/architecture.md

The limits are in tests/structure.json. They should only go down: a change that needs a higher one explains why in its
commit and raises the limit by hand.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache

from tests.support.places import ROOT
from tests.support.trees import nodes, parsed

LIMITS = ROOT / "tests" / "structure.json"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- diagram: python -m tests.structure --diagram -->", "<!-- /diagram -->"
PACKAGES = ("core", "dashboard", "snapscope")
SURFACE = "snapscope"  # its names are those of core on purpose, and it loads nothing until it is used
LONGEST_FILE = 400
LARGEST_PACKAGE = 20
SLOW_LIBRARIES = frozenset({"pyspark", "py4j"})  # takes half a second; code that can do without loads them on first use
ACTIONS = "core/model/actions.py"
TEXTS = re.compile(r"dashboard/words/|core/messages.py")
LOOKING = frozenset("startswith endswith find index count fullmatch match search split partition rpartition".split())
OF_MESSAGES = frozenset({"sentence", "message", "remedy", "headline", "template"})
OF_OTHERS = {
    ("core/spark/session/refusals.py", "doesn't contain any field Ids"),
    ("core/spark/session/task_errors.py", "Traceback (most"),
    ("core/spark/session/cluster.py", ". Check driver logs"),
    ("core/spark/query/bisect.py", " Did you mean"),
    ("core/spark/session/gateway.py", 'Exception in thread "main"'),
    ("core/storage/hdfs/refusals.py", "RPC listener disconnected"),
    ("core/demo/stories.py", "in cents"),
    ("core/demo/stories.py", "rolled back"),
}
"""English texts of Spark, Java and clients, where no class or code identifies an error, and names with a space."""


@cache
def sources() -> dict[str, ast.Module]:
    """Return every module of the product by path."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): parsed(path) for path in paths}


@cache
def imports() -> Mapping[str, Mapping[str, bool]]:
    """Return for each module the product modules that it imports, and whether it does so inside a function."""
    names = {module_name(path) for path in sources()}
    found: dict[str, dict[str, bool]] = {name: {} for name in names}
    for path, tree in sources().items():
        at_top = set(tree.body)
        for node in nodes(tree):
            for target in imported(node, names):
                if target != module_name(path):
                    late = node not in at_top
                    found[module_name(path)][target] = found[module_name(path)].get(target, True) and late
    return found


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(node: ast.AST, names: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield from (name for name in (whole if whole in names else node.module,) if name in names)


# --- counts: each answers with the places it found -------------------------------------------------------------------


def format_branches() -> list[str]:
    """Find code outside core/formats that checks which format a table has."""
    return [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        if not path.startswith("core/formats/")
        for node in nodes(tree)
        if isinstance(node, ast.expr) and _asks_for_the_format(node)
    ]


def _asks_for_the_format(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "own"
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        names = [_name(side) for side in (node.left, *node.comparators)]
        texts = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
        return bool({"paimon", "iceberg"} & {str(text) for text in texts}) or ("pointer" in names and None in texts)
    return False


def _name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def mentions_of_one_action() -> list[str]:
    """Return the files that name the action that is named in most files, except texts."""
    actions = [node.name for node in sources()[ACTIONS].body if isinstance(node, ast.ClassDef)]
    of: dict[str, list[str]] = defaultdict(list)
    for path, tree in sources().items():
        named = {_name(node) for node in nodes(tree)}
        for action in actions:
            if action in named and not TEXTS.match(path):
                of[action].append(f"{path} ({action})")
    return max(of.values(), key=len)


def cycles() -> list[str]:
    """Find import cycles, including imports inside functions; one line per cycle."""
    graph, order, seen = imports(), list[str](), set[str]()

    def visit(name: str, edges: Callable[[str], Iterator[str]], out: list[str]) -> None:
        stack = [(name, edges(name))]
        seen.add(name)
        while stack:
            at, rest = stack[-1]
            following = next((each for each in rest if each not in seen), None)
            if following is None:
                out.append(at)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, edges(following)))

    for name in sorted(graph):
        if name not in seen:
            visit(name, lambda each: iter(graph[each]), order)
    back: dict[str, list[str]] = defaultdict(list)
    for name, targets in graph.items():
        for target in targets:
            back[target].append(name)
    seen.clear()
    groups = []
    for name in reversed(order):
        if name not in seen:
            group: list[str] = []
            visit(name, lambda each: iter(back[each]), group)
            groups.append(sorted(group))
    return [" <-> ".join(group) for group in groups if len(group) > 1]


def late_imports() -> list[str]:
    """Find imports of our own modules inside functions, or only for type checkers, that are not deferred because of
    Spark.

    An import is deferred because of Spark if it loads PySpark and the module has not already loaded it.
    """
    return [
        f"{name} -> {target}"
        for name, targets in imports().items()
        for target, late in targets.items()
        if name != SURFACE and late and (not loads_a_slow_library(target) or loads_a_slow_library(name))
    ]


@cache
def loads_a_slow_library(name: str) -> bool:
    """Return whether importing a module loads a slow library, directly or indirectly."""
    loaded, waiting = {name}, [name]
    while waiting:
        at = waiting.pop()
        if SLOW_LIBRARIES & at_top()[at]:
            return True
        packages = {at[: dot.start()] for dot in re.finditer(r"\.", at)} & at_top().keys()  # their __init__ runs first
        following = packages | {target for target, late in imports()[at].items() if not late}
        waiting += following - loaded
        loaded |= following
    return False


@cache
def at_top() -> Mapping[str, frozenset[str]]:
    """Return for each module the libraries loaded with it, by top-level name."""
    found = {}
    for path, tree in sources().items():
        names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
        found[module_name(path)] = frozenset(name.partition(".")[0] for name in names)
    return found


def layer_exceptions() -> list[str]:
    """Return imports that violate the layers and are allowed in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    return sorted({f"{a} -> {b}" for a, b in re.findall(r'"(core[\w.]+) -> (core[\w.]+)"', text)})


def decisions_on_sentences() -> list[str]:
    """Places where a text of several words, or any text that a message holds, is compared, looked for, taken apart or
    used as a key: rewording it would change what the program does."""
    return [
        f"{path}:{each.lineno} {ast.unparse(each)}"
        for path, tree in sources().items()
        if not TEXTS.match(path)
        for each in decided_on(tree)
        if (path, _text(each)) not in OF_OTHERS
    ]


def decided_on(tree: ast.Module) -> Iterator[ast.expr]:
    """Return the sentences in a module that program logic depends on."""
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes(tree):
        sides: list[ast.expr] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call(func=ast.Attribute(value=whole, attr=name), args=given) if name in LOOKING:
                sides = [*given, *([whole] if _is_of_a_message(whole) else [])]
            case ast.MatchValue(value=value) | ast.Subscript(slice=value):
                sides = [value]
            case ast.Dict(keys=keys):
                sides = [key for key in keys if key is not None]
        for side in sides:
            parts = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            meant = [named.get(each.id, each) if isinstance(each, ast.Name) else each for each in parts]
            yield from (each for each in meant if _is_sentence(_text(each)) or _is_of_a_message(each))


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(each) or "0" for each in parts)
        case _:
            return ""


def _is_of_a_message(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)):
            return name in OF_MESSAGES
        case _:
            return False


def _is_sentence(text: str) -> bool:
    """Return whether a text has several words, or one with a trailing space: neither a name nor a pattern."""
    words = re.findall(r"[A-Za-z]?[a-z]{2,}", text)
    is_pattern = re.search(r"[|\[\\]", text) is not None
    return not is_pattern and ((len(words) > 1 and " " in text.strip()) or [text] == [f"{word} " for word in words])


def large_packages() -> list[str]:
    count = Counter(path.rpartition("/")[0] for path in sources() if not path.endswith("__init__.py"))
    return [f"{package}: {modules} modules" for package, modules in count.items() if modules > LARGEST_PACKAGE]


def long_files() -> list[str]:
    lines = {path: len((ROOT / path).read_text().splitlines()) for path in sources()}
    return [f"{path}: {count} lines" for path, count in lines.items() if count > LONGEST_FILE]


def names_of_several_classes() -> list[str]:
    """Find public classes that share a name."""
    of: dict[str, list[str]] = defaultdict(list)
    for path, tree in sources().items():
        if path.startswith(f"{SURFACE}/"):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                of[node.name].append(path)
    return [f"{name}: {', '.join(paths)}" for name, paths in sorted(of.items()) if len(paths) > 1]


def tests_imported_by_tests() -> list[str]:
    """Find tests and conftests that another file imports, including in code in strings: helpers belong in
    tests/support."""
    return [
        f"{path.relative_to(ROOT).as_posix()} -> {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for name in tests_named_by_imports(path.read_text())
    ]


def tests_named_by_imports(text: str) -> list[str]:
    """Search the text, not the syntax tree, because programs that tests start are strings."""
    found = re.findall(r"^[\s\"']*(?:from|import) (tests(?:\.\w+)+)(?: import ([\w, ]+))?", text, re.MULTILINE)
    names = [f"{module}.{name.strip()}" for module, listed in found for name in (listed or "").split(",")]
    return [name.rstrip(".") for name in names if re.search(r"\.(test_\w+|conftest)(\.|$)", name)]


def tests_named_after_no_module() -> list[str]:
    """Find tests in tests/core and tests/dashboard whose path does not show which module they test."""
    return [path for path in mirrored_tests() if not modules_of(path, sources())]


def modules_without_a_test() -> list[str]:
    """Find modules, except texts, that no test is named after; many are tested through the modules that use them."""
    named = {module for path in mirrored_tests() for module in modules_of(path, sources())}
    return [
        path for path in sources() if path not in named and not path.endswith("__init__.py") and not TEXTS.match(path)
    ]


def mirrored_tests() -> list[str]:
    paths = sorted(path for package in PACKAGES for path in (ROOT / "tests" / package).rglob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in paths]


def modules_of(test: str, modules: Collection[str]) -> list[str]:
    """Return the modules that a test is named after: tests/core/x/test_y.py and test_y_somehow.py test core/x/y.py;
    test_x.py there tests the whole package."""
    place, _, name = test.removeprefix("tests/").removesuffix(".py").rpartition("/test_")
    if place.rpartition("/")[2] == name:
        return [path for path in modules if path.rpartition("/")[0] == place]
    words = name.split("_")
    names = ["_".join(words[:end]) for end in range(len(words), 0, -1)]
    return next(([path] for each in names if (path := f"{place}/{each}.py") in modules), [])


COUNTS: dict[str, Callable[[], list[str]]] = {
    "questions which format a table has, outside core/formats": format_branches,
    "files that name one action": mentions_of_one_action,
    "circles of imports": cycles,
    "imports inside functions that no slow library explains": late_imports,
    "imports against the layers": layer_exceptions,
    "decisions that depend on a sentence": decisions_on_sentences,
    f"packages of more than {LARGEST_PACKAGE} modules": large_packages,
    f"files of more than {LONGEST_FILE} lines": long_files,
    "class names with several meanings": names_of_several_classes,
    "imports of one test by another": tests_imported_by_tests,
    "tests named after no module": tests_named_after_no_module,
    "modules that no test is named after": modules_without_a_test,
}


# --- the diagram -----------------------------------------------------------------------------------------------------


def diagram() -> str:
    """Return the packages of core and their imports as Mermaid: one arrow per pair, without implied arrows."""
    edges: dict[str, set[str]] = defaultdict(set)
    allowed = {tuple(each.split(" -> ")) for each in layer_exceptions()}
    for name, targets in imports().items():
        for target in targets:
            here, there = _box(name), _box(target)
            if here and there and here != there and (name, target) not in allowed:
                edges[here].add(there)
    reach: dict[str, set[str]] = {}

    def below(box: str) -> set[str]:
        if box not in reach:
            reach[box] = set()
            reach[box] = edges[box].union(*(below(each) for each in edges[box]))
        return reach[box]

    lines = ["```mermaid", "flowchart TD"]
    for box in sorted(edges):
        direct = edges[box] - {each for other in edges[box] for each in below(other)}
        lines += [f"    {box} --> {each}" for each in sorted(direct)]
    return "\n".join([*lines, "```"])


def _box(name: str) -> str:
    parts = name.split(".")
    return parts[0] if parts[0] in ("dashboard", SURFACE) else parts[1] if len(parts) > 1 else ""


def written(text: str) -> str:
    """Return a document with the current diagram."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{diagram()}\n{END}{rest.split(END)[1]}"


# --- the command -----------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--diagram", action="store_true")
    parser.add_argument("--where", action="store_true", help="list the places")
    asked = parser.parse_args()
    if asked.diagram:
        ARCHITECTURE.write_text(written(ARCHITECTURE.read_text()))
        return 0
    limits = json.loads(LIMITS.read_text())
    found = {name: count() for name, count in COUNTS.items()}
    if asked.lower:
        lower = {name: min(len(places), limits.get(name, len(places))) for name, places in found.items()}
        LIMITS.write_text(json.dumps(lower, indent=2) + "\n")
        limits = lower
    grown = {name: places for name, places in found.items() if len(places) > limits.get(name, 0)}
    for name, places in found.items():
        print(f"{len(places):5,}  of at most {limits.get(name, 0):5,}  {name}")
        if asked.where or name in grown:
            print(*(f"         {place}" for place in places), sep="\n")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
