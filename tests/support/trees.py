"""The source files as syntax trees: parsed and walked once, however many rules look at them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


def forget() -> None:
    """Trees are large, and many tests follow those that look at them."""
    parsed.cache_clear()
    nodes.cache_clear()
