"""Commands and command groups: parsed by click, and run by functions that are imported only when needed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

import click

from core.cli.arguments import Args, Option, Positional, ordered, refuse_several
from core.units import nearest

WIDTH = 100
ELSEWHERE = {  # names that other tools give to commands
    **dict.fromkeys(("list", "ls"), "tables"),
    **dict.fromkeys(("history", "log", "timeline"), "snapshots"),
    **dict.fromkeys(("refs", "branch"), "branches"),
    **dict.fromkeys(("sql", "select"), "query"),
    **dict.fromkeys(("schema", "describe"), "columns"),
    **dict.fromkeys(("runs", "journal"), "audit"),
    **dict.fromkeys(("clean", "cleanup", "gc", "expire-snapshots"), "expire"),
    **dict.fromkeys(("vacuum", "remove-orphan-files"), "orphans"),
    **dict.fromkeys(("dashboard", "ui", "run"), "serve"),
}
Sections = Sequence[tuple[str, Sequence[str]]]  # headings with the names of commands
Answer = tuple[Any, str]  # the JSON document and the text of an answer


def shows_colours(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose user wants colours (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Formatter(click.HelpFormatter):
    """Help that starts with `usage: snapscope …`, as it always has."""

    def __init__(self) -> None:
        super().__init__(max_width=WIDTH)
        self.is_coloured = shows_colours(sys.stdout)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(self._styled(prog, "cyan"), args, self._styled("usage: "))

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{self._styled(heading)}:\n")

    def _styled(self, text: str, colour: str | None = None) -> str:
        return click.style(text, bold=True, fg=colour) if self.is_coloured else text


class Context(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        return Formatter()


class Command(click.Command):
    """A command.

    `run`: `module:function` below core.cli; the function takes the arguments as a namespace and returns a document and
    a text. `rows`: the key of the document whose list `-o csv` and `-o jsonl` print. `set`: values passed to the
    function in addition to those typed.
    """

    context_class = Context

    def __init__(
        self,
        name: str,
        run: str,
        help: str,
        params: Sequence[click.Parameter] = (),
        *,
        rows: str = "",
        set: Mapping[str, Any] | None = None,
        epilog: str | None = None,
        hidden: bool = False,
    ) -> None:
        super().__init__(
            name,
            params=list(params),
            help=help,
            epilog=epilog,
            hidden=hidden,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self.run, self.rows, self.given = run, rows, dict(set or {})

    @property
    def function(self) -> Callable[[Args], Answer]:
        module, _, name = self.run.partition(":")
        found: Callable[[Args], Answer] = getattr(importlib.import_module(f"core.cli.{module}"), name)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            args = ordered(self, ctx, args)
        rest = super().parse_args(ctx, args)
        source = click.core.ParameterSource.COMMANDLINE
        refuse_several(self, {name for name in ctx.params if ctx.get_parameter_source(name) is source}, ctx)
        return rest

    def invoke(self, ctx: click.Context) -> tuple[Command, Args]:
        """Return the command and its arguments; the caller runs it."""
        return self, self.values(ctx)

    def values(self, ctx: click.Context) -> Args:
        """The arguments by name; those that may be given several times as a list."""
        found = {name: list(value) if isinstance(value, tuple) else value for name, value in ctx.params.items()}
        return Args(**{**self.given, **found})

    def named(self, kind: str) -> list[tuple[str, str]]:
        """Name and spelling of the parameters with this kind of value."""
        return [
            (str(each.name), each.opts[0] if isinstance(each, Option) else str(each.metavar or each.name))
            for each in self.params
            if isinstance(each, Option | Positional) and each.kind == kind
        ]


class CommandGroup(click.Group):
    """Commands by heading, in the order of the help. `find` returns a command by name and imports what it needs."""

    context_class = Context

    def __init__(
        self,
        name: str,
        help: str,
        sections: Sections,
        find: Callable[[str], click.Command | None],
        names: Callable[[], Sequence[str]],
        epilog: str | None = None,
    ) -> None:
        super().__init__(name, help=help, epilog=epilog, no_args_is_help=False,
                         context_settings={"help_option_names": ["-h", "--help"]})  # fmt: skip
        self.sections, self.find, self.names = sections, find, names
        self.subcommand_metavar = "COMMAND [ARGUMENT ...]"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.names())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.find(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            names = self.list_commands(ctx)
            close = ELSEWHERE.get(name) if ELSEWHERE.get(name) in names else nearest(name, names, 0.75)
            meant = f" Did you mean {close}?" if close else ""
            raise click.UsageError(f"unknown command {name!r}.{meant}", ctx)
        return name, command, args[1:]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.help:
            formatter.write_paragraph()
            formatter.write(f"{self.help}\n")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = {name: command for name in self.list_commands(ctx) if (command := self.find(name)) is not None}
        widest = max((len(name) for name, each in found.items() if not each.hidden), default=0)
        for heading, names in self.sections:
            rows = [(f"{name:<{widest}}", found[name].get_short_help_str(80)) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(self.epilog)
