"""Run one command line: parse it, read its times, run its command, print the answer or the error."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Sequence

import click

from core import settings_file
from core.cli import arguments, commands, parameters
from core.cli import output as printing
from core.cli.arguments import Args
from core.cli.command import Answer, Command, Context
from core.errors import ErrorCode, Invalid, NotFound, SnapscopeError
from core.units import nearest

COMPLETE = "_SNAPSCOPE_COMPLETE"
PLACES = (arguments.TABLE, "WAREHOUSE", "PLACE")  # kinds of values that may begin with a name of the settings file
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
            version = _version()
            printing.show({"version": version}, f"snapscope {version}", form)
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
        _read_names(command, args)
        _read_times(command, args)
        document, text = _loaded(command)(args)
    except SnapscopeError as error:
        return _fail(_with_name_nearby(error, command, args), form)
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


def _read_names(command: Command, args: Args) -> None:
    """Replace names of the settings file by the locations they name."""
    for name, _ in (each for kind in PLACES for each in command.named(kind)):
        given = getattr(args, name)
        if isinstance(given, list):
            setattr(args, name, [settings_file.location(each) for each in given])
        elif given is not None:
            setattr(args, name, settings_file.location(given))


def _read_times(command: Command, args: Args) -> None:
    """Turn times as people write them into moments; the parser is imported only if an argument could be one."""
    kinds = (arguments.TIME, arguments.POINT)
    if any(getattr(args, name) not in (None, [], "latest") for kind in kinds for name, _ in command.named(kind)):
        importlib.import_module("core.cli.typed_times").read(command, args)


def _with_name_nearby(error: SnapscopeError, command: Command, args: Args) -> SnapscopeError:
    """If there is nothing at a path, suggest the name that was probably meant: of a table, or of a warehouse."""
    place = getattr(args, "table", None)
    if not isinstance(error, NotFound):
        return error
    close = _file_nearby(place) if place and "://" not in place and not os.path.lexists(place) else None
    if not (close := close or _warehouse_nearby(command, args)):
        return error
    remedy = f"Did you mean {close}?"
    return type(error)(error.message, path=error.path, remedy=remedy, code=error.code)


def _file_nearby(place: str) -> str | None:
    parent, name = os.path.split(os.path.abspath(place))
    try:
        with os.scandir(parent) as entries:
            close = nearest(name, [each.name for each in entries if each.is_dir()])
    except (OSError, ValueError):
        return None
    return os.path.join(parent, close) if close else None


def _warehouse_nearby(command: Command, args: Args) -> str | None:
    """The name in the settings file that is like the only word given as a place; None without such a file."""
    given = [getattr(args, name) for kind in PLACES for name, _ in command.named(kind)]
    words = [each for value in given for each in (value if isinstance(value, list) else [value]) if each]
    if len(words) != 1 or os.path.lexists(words[0]):
        return None
    first, slash, below = words[0].partition("/")
    try:
        close = nearest(first, list(settings_file.current().warehouses)) if first else None
    except SnapscopeError:
        return None
    return f"{close}{slash}{below}" if close else None


def _sentence(error: click.UsageError) -> str:
    text = " ".join(error.format_message().split())  # click lists choices in lines of their own
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
