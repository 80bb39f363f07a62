"""Pages that MkDocs makes each time it builds: the command line's, from the program's own parser, and those of the
documents that lie at the root of the repository.

`described` is all that knows which library parses the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
FROM_ROOT = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
PAGE, RECORDS = "reference/cli.md", "Decision records"
_HEAD = """# Command line

This page is generated from the program's parser. `snapscope COMMAND --help` prints the same.
Exit status: 0 on success, 1 where a command failed or did only a part, 2 where the command line was not understood,
130 after Ctrl+C. With `--json` a command prints exactly one JSON document, errors included, each with a stable
[code](api.md#errors); `-o csv` and `-o jsonl` print rows.

What a change would do is shown by `snapscope plan CHANGE …`, with the options of `snapscope CHANGE …` that choose what
is changed.

"""


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or a positional argument."""

    names: str
    help: str


@dataclass(frozen=True, slots=True)
class Described:
    """One command: `name` as it is typed after `snapscope`, `heading` its group in the help."""

    heading: str
    name: str
    help: str
    options: tuple[Option, ...]


def described() -> Iterator[Described]:
    """Every command of `snapscope --help` in its order, and each change that `snapscope plan` shows after `plan`."""
    from core.cli import group

    commands = group()
    for heading, names in commands.sections:
        for name in names:
            command = commands.get_command(click.Context(commands), name)
            yield _described(heading, name, command)
            if isinstance(command, click.Group):
                within = click.Context(command)
                for each in command.list_commands(within):
                    found = command.get_command(within, each)
                    if found is not None and not found.hidden:
                        yield _described(heading, f"{name} {each}", found)


def _described(heading: str, name: str, command: click.Command) -> Described:
    context = click.Context(command, info_name=name)
    rows = [each.get_help_record(context) for each in command.params]
    options = [Option(*row) for row in rows if row is not None]
    return Described(heading, name, command.get_short_help_str(limit=200), tuple(options))


def page() -> str:
    parts, last = [_HEAD], ""
    for command in described():
        if command.heading != last:
            last = command.heading
            parts.append(f"## {last}\n\n")
        parts.append(f"### {command.name}\n\n{command.help}\n\n")
        if command.options:
            rows = "".join(f"| `{_cell(each.names)}` | {_cell(each.help)} |\n" for each in command.options)
            parts.append(f"| argument or option | what it does |\n|---|---|\n{rows}\n")
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("%%", "%")


def records() -> list[str]:
    """Decision records, as paths within docs/."""
    return [path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))]


def on_config(config: Any) -> Any:
    """MkDocs: the menu as mkdocs.yml has it, with the decision records below their page."""
    for entry in config.nav:
        for below in next(iter(entry.values())) if isinstance(entry, dict) else ():
            if isinstance(below, dict) and RECORDS in below:
                below[RECORDS] = [*below[RECORDS], *records()]
    return config


def on_files(files: Any, config: Any) -> Any:
    """MkDocs: called with the files it found, answers those it builds."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=page()))
    for name, path in FROM_ROOT.items():
        files.append(File.generated(config, path, content=(ROOT / name).read_text().replace("](docs/", "](")))
    return files
