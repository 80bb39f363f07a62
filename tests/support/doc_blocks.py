"""Finds the code blocks in README and docs, and runs them as a reader would: line by line, in one directory per page.

Invariant: a shell, Python or SQL block is run unless the line before it gives a reason: `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

RUN = ("sh", "python", "sql")
SHOWN = ("text", "json", "toml", "mermaid")  # program output, a document, a settings file, a picture
PAGES = [
    *(ROOT / name for name in ("README.md", "README.zh.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?(?P<indent> *)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    flags=re.MULTILINE | re.DOTALL,
)
NOT_RUN, TABLE = "not run: ", "table: "
ENTRY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["snapscope"]


@dataclass(frozen=True, slots=True)
class Block:
    """A code block. `note` is the HTML comment on the line before it, or ""."""

    page: Path
    line: int
    language: str
    text: str
    note: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str:
        """Return why the block is not run; "" if it is."""
        return self.note.removeprefix(NOT_RUN) if self.note.startswith(NOT_RUN) else ""

    @property
    def is_run(self) -> bool:
        return self.language in RUN and not self.reason


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text[: found.start("text")].count("\n"), found["language"], found["text"], found["note"] or "")
        for found in BLOCK.finditer(text)
    ]


def snapscope(words: list[str]) -> int:
    """Run the installed program's entry point in this process."""
    module, _, name = ENTRY.partition(":")
    status: int = getattr(import_module(module), name)(words)
    return status


def commands(text: str) -> list[list[str]]:
    """Split a block into commands if all lines are plain calls of `snapscope`; otherwise return nothing, because it
    needs a shell."""
    if re.search(
        r"[$|;&<>`]|^(?!snapscope |#|$)", re.sub(r"'[^']*'|\"[^\"$`]*\"", "_", text.replace("\\\n", " ")), re.MULTILINE
    ):
        return []
    lines = [shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines()]
    return [words[1:] for words in lines if words]


def run(block: Block, names: dict[str, Any], programs: Path) -> None:
    """Run a block in the current directory. A failure raises an AssertionError that names the block.

    `names` are the page's Python variables; `programs` is a directory that contains `snapscope` for shells.
    """
    match block.language:
        case "python":
            exec(compile(block.text, block.place, "exec"), names)
        case "sql":
            table = block.note.removeprefix(TABLE) if block.note.startswith(TABLE) else "demo/sales.db/orders"
            sure = ["--yes"] if block.text.lstrip().upper().startswith("CALL") else []
            assert snapscope(["query", table, block.text, *sure]) == 0, block.place
        case _:
            if not (called := commands(block.text)):
                in_shell(block, {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"})
            for words in called:
                assert snapscope(words) == 0, f"{block.place}: snapscope {shlex.join(words)}"


def in_shell(block: Block, settings: Mapping[str, str]) -> None:
    """Run a block in a shell that exits at the first failure, including failures within a pipe."""
    words = ["bash", "-euo", "pipefail", "-c", block.text]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    done = subprocess.run(
        words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{block.place}: {done.stdout}\n{done.stderr}"


def make_program(directory: Path) -> Path:
    """Create a directory with a `snapscope` executable for this checkout and this Python."""
    module, _, name = ENTRY.partition(":")
    program = directory / "snapscope"
    code = f"import sys; from {module} import {name}; sys.exit({name}())"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n')
    program.chmod(0o755)
    python = directory / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    return directory
