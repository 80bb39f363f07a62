"""Run one command line: parse it, read its times, run its command, print the answer or the error."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence

import click

from core.cli import arguments, commands, parameters
from core.cli import output as printing
from core.cli.arguments import Args
from core.cli.command import Answer, Command, Context
from core.errors import ErrorCode, Invalid, NotFound, SnapscopeError
from core.units import nearest

COMPLETE = "_SNAPSCOPE_COMPLETE"
IN_ENGINES = ("--warehouse", "--database", "--path")  # options by which the engines' own actions name a table


def run(given: Sequence[str]) -> int:
    """Run a command line and return its exit status."""
    if COMPLETE in os.environ:
        return _completed(os.environ[COMPLETE])
    form = _form(given)
    words = [word for word in given if word != "--json"]
    if not words and form == printing.TABLE:
        print(_help([]))
        return 2  # as for any command line without a command
    try:
        if words[:1] == ["help"] and not {"-h", "--help"} & set(words):
            print(_help(words[1:]))
            return 0
        if words == ["--version"]:
            print(f"snapscope {_version()}")
            return 0
        return _run(_as_engine(words), form)
    except click.exceptions.Exit as end:  # raised by --help
        raise SystemExit(end.exit_code) from None
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "snapscope"
        remedy = f"`{path} --help` lists what is accepted."
        return _fail(Invalid(_sentence(error), remedy=remedy, code=ErrorCode.USAGE), form, 2)


def _run(words: Sequence[str], form: str) -> int:
    root = commands.group()
    command: Command
    args: Args
    with root.make_context("snapscope", list(words)) as top:
        command, args = root.invoke(top)
    if form == printing.TABLE:
        given = getattr(args, "output", getattr(args, "out", None))
        form = given if given in parameters.REPORTED else form
    args.output, args.json = form, form != printing.TABLE
    args.partly = ""  # set by the command if its answer is incomplete: not a success
    try:
        _read_times(command, args)
        document, text = _loaded(command)(args)
    except SnapscopeError as error:
        return _fail(_with_name_nearby(error, args), form)
    printing.show(document, text, form, command.rows)
    if args.partly and form != printing.JSON:
        printing.say(args.partly, sys.stderr)
    return int(bool(args.partly))


def _loaded(command: Command) -> Callable[[Args], Answer]:
    """Import and return the command's function.

    What importing creates stays alive, so garbage collection finds nothing; without it, imports take 5 % less time.
    """
    gc.disable()
    try:
        return command.function
    finally:
        gc.enable()


def _fail(error: SnapscopeError, form: str, status: int = 1) -> int:
    """Print an error, with its remedy on a separate line; return the exit status."""
    if form in (printing.JSON, printing.LINES):
        printing.document(importlib.import_module("core.reports.references_json").error(error))
    else:
        where = f" File: {error.path}." if error.path and error.path not in error.message.values.values() else ""
        lines = [f"snapscope: error: {error.message}{where}", *([error.remedy] if error.remedy else [])]
        printing.say("\n".join(lines), sys.stderr)
    return status


def _read_times(command: Command, args: Args) -> None:
    """Turn times as people write them into moments; the parser is imported only if an argument could be one."""
    kinds = (arguments.TIME, arguments.POINT)
    if any(getattr(args, name) not in (None, [], "latest") for kind in kinds for name, _ in command.named(kind)):
        importlib.import_module("core.cli.typed_times").read(command, args)


def _with_name_nearby(error: SnapscopeError, args: Args) -> SnapscopeError:
    """If there is nothing at the table's path, suggest the name that was probably meant."""
    place = getattr(args, "table", None)
    if not isinstance(error, NotFound) or not place or "://" in place or os.path.lexists(place):
        return error
    parent, name = os.path.split(os.path.abspath(place))
    try:
        close = nearest(name, os.listdir(parent))
    except (OSError, ValueError):
        return error
    if not close:
        return error
    remedy = f"Did you mean {os.path.join(parent, close)}?"
    return type(error)(error.message, path=error.path, remedy=remedy, code=error.code)


def _sentence(error: click.UsageError) -> str:
    text = error.format_message().strip()
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _form(given: Sequence[str]) -> str:
    """The output format by which even errors are printed, found before anything is parsed."""
    if "--json" in given:
        return printing.JSON
    for at, word in enumerate(given):
        name, sign, value = word.partition("=")
        if name in ("-o", "--out", "--output"):
            found = value if sign else "".join(given[at + 1 : at + 2])
            return found if found in parameters.FORMS else printing.TABLE
    return printing.TABLE


def _as_engine(given: Sequence[str]) -> Sequence[str]:
    """Map `create-tag --warehouse W …` to `create_tag`: naming a table as engines do selects the engine's action."""
    name = given[0].replace("-", "_") if given else ""
    is_apart = any(word.partition("=")[0] in IN_ENGINES for word in given)
    return [name, *given[1:]] if is_apart and name in commands.engine_names() else given


def _help(words: Sequence[str]) -> str:
    """The help of a command, or of all."""
    root = commands.group()
    command: click.Command = root
    context = Context(root, info_name="snapscope", **root.context_settings)
    for word in words:
        if not isinstance(command, click.Group):
            break
        name, found, _ = command.resolve_command(context, [word])
        assert found is not None
        command, context = found, Context(found, info_name=name, parent=context, **found.context_settings)
    return command.get_help(context)


def _version() -> str:
    from importlib.metadata import version

    return version("snapscope")


def completion(args: Args) -> Answer:
    """The completion script for a shell. The shell's version is not queried, because that would start the shell."""
    from click.shell_completion import get_completion_class

    of = get_completion_class(args.shell)
    assert of is not None  # the shell is one of SHELLS
    made = of(commands.group(), {}, "snapscope", COMPLETE)
    text = str(made.source_template % made.source_vars())
    return {"shell": args.shell, "script": text}, text


def _completed(instruction: str) -> int:
    from click.shell_completion import shell_complete

    return shell_complete(commands.group(), {}, "snapscope", COMPLETE, instruction)
