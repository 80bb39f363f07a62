"""Pages that MkDocs makes each time it builds: the command line's, from the program's own parser, and those of the
documents that lie at the root of the repository.

`described` is all that knows which library parses the command line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FROM_ROOT = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
PAGE = "reference/cli.md"
_HEAD = """# Command line

This page is generated from the program's parser. `snapscope COMMAND --help` prints the same.
Exit status: 0 on success, 1 where a command failed or did only a part, 2 where the command line was not understood,
130 after Ctrl+C. With `--json` a command prints exactly one JSON document, errors included.

What a change would do is shown by `snapscope plan CHANGE …`, with the options of `snapscope CHANGE …` that choose what
is changed.

"""


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or an argument that goes by its place."""

    names: str
    help: str


@dataclass(frozen=True, slots=True)
class Described:
    """One command: `name` as it is typed after `snapscope`."""

    name: str
    help: str
    options: tuple[Option, ...]


def described() -> Iterator[Described]:
    """Every command of `snapscope --help`, in its order; the engines' own names of actions are not listed there."""
    from core.cli import _parser

    for action in _parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action._choices_actions:
                yield Described(each.dest, each.help or "", tuple(_options(action.choices[each.dest])))


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for each in parser._actions:
        if not isinstance(each, argparse._HelpAction | argparse._SubParsersAction):
            yield _option(each)


def _option(action: argparse.Action) -> Option:
    value = action.metavar or (None if action.nargs == 0 else (action.dest.upper()))
    value = " ".join(value) if isinstance(value, tuple) else value
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return Option(str(value), action.help or "")
    return Option(", ".join(action.option_strings) + (f" {value}" if value else ""), action.help or "")


def page() -> str:
    parts = [_HEAD]
    for command in described():
        parts.append(f"## {command.name}\n\n{command.help}\n\n")
        if command.options:
            rows = "".join(f"| `{_cell(each.names)}` | {_cell(each.help)} |\n" for each in command.options)
            parts.append(f"| option | what it does |\n|---|---|\n{rows}\n")
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("%%", "%")


def on_files(files: Any, config: Any) -> Any:
    """MkDocs: called with the files it found, answers those it builds."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=page()))
    for name, path in FROM_ROOT.items():
        files.append(File.generated(config, path, content=(ROOT / name).read_text().replace("](docs/", "](")))
    return files
