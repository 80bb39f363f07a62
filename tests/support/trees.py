"""The source files as syntax trees: parsed and walked once, however many rules look at them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    gc.disable()  # it looks for garbage after every few nodes, and all are kept: three times as long
    try:
        return ast.parse(path.read_text())
    finally:
        gc.enable()


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


def forget() -> None:
    """Trees are large, and many tests follow those that look at them."""
    parsed.cache_clear()
    nodes.cache_clear()
