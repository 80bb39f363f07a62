"""The command tree: each command runs, each option has a help text, and arguments are parsed as they always were."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator

import click
import pytest

from core.cli import commands, group, main
from core.cli.arguments import Option, Positional
from core.cli.command import Command
from core.execution import protect
from core.units import whole


def every(command: click.Command, path: str = "snapscope") -> Iterator[tuple[str, Command]]:
    """Each command that runs, by what is typed."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from every(found, f"{path} {name}")
    else:
        assert isinstance(command, Command)
        yield path, command


COMMANDS = dict(every(group()))


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_names_a_function_and_explains_itself(path: str) -> None:
    command = COMMANDS[path]
    assert list(inspect.signature(command.function).parameters) == ["args"]
    assert command.help
    assert command.help.endswith(".")
    for each in command.params:
        assert isinstance(each, Option | Positional)
        assert each.help, f"{path}: {each.name}"
        if isinstance(each, Option) and not each.is_flag:
            assert each.example or isinstance(each.type, click.Choice), f"{path}: {each.name}"


def test_commands_that_are_shown_stand_under_one_heading_each() -> None:
    listed = [name for _, names in commands.SECTIONS for name in names]
    assert len(set(listed)) == len(listed)
    root = click.Context(group())
    shown = {name for name in group().list_commands(root) if not group().get_command(root, name).hidden}
    assert shown == set(listed)


def test_a_protection_lasts_as_long_as_protect_says() -> None:
    assert whole(protect.DAYS_MS) == commands.KEPT


# words ---------------------------------------------------------------------------------------------------------------


def read(*words: str) -> dict[str, object]:
    root = group()
    with root.make_context("snapscope", list(words)) as context:
        _, args = root.invoke(context)
    return vars(args)


@pytest.mark.parametrize(
    "words",
    [
        ["expire", "t", "--retain-max", "1", "--snapshot", "2", "--yes"],
        ["expire", "--retain-max=1", "--snapshot=2", "--yes", "t"],
        ["expire", "--yes", "t", "--retain-ma", "1", "--snap", "2"],
        ["expire", "--yes", "--retain-ma=1", "--snap=2", "--", "t"],
    ],
)
def test_options_in_any_order_and_by_any_beginning(words: list[str]) -> None:
    given = read(*words)
    assert (given["table"], given["retain_max"], given["snapshot"], given["yes"]) == ("t", 1, ["2"], True)


def test_values_that_look_like_options() -> None:
    assert read("create-tag", "t", "--name=--yes")["name"] == "--yes"
    assert read("create-tag", "t", "--name", "-- x")["name"] == "-- x"
    assert read("cost", "t", "--now", "-5")["now"] == "-5"
    assert read("delete-branch", "t", "--", "--yes", "-x")["names"] == ["--yes", "-x"]
    assert read("create-branch", "t", "-- x")["name"] == "-- x"
    assert read("report", "t", "-oout.html")["out"] == "out.html"
    assert read("report", "t", "--diff", "1", "latest", "-o", "x")["diff"] == ["1", "latest"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["snapshot", "t"], "Did you mean snapshots?"),
        (["history", "t"], "Did you mean snapshots?"),
        (["plan", "gc", "t"], "Did you mean expire?"),
        (["options", "t"], "unknown command 'options'."),
        (["expire", "t", "--retian-max", "1"], "Did you mean --retain-max?"),
        (["expire", "t", "--dry-run"], "`snapscope plan expire` shows the plan and changes nothing."),
        (["tags", "t", "--dry-run"], "there is no option --dry-run."),
        (["plan", "expire", "t", "--retain-last", "3"], "Did you mean --retain-min?"),
        (["expire", "t", "--retain", "1"], "--retain-max or --retain-min"),
        (["create-tag", "t", "--name", "--yes"], "--name needs a value"),
        (["expire", "t", "--yes=1"], "--yes takes no value"),
        (["report", "t", "-o", "x", "--at", "1", "--diff", "1", "2"], "--diff cannot be given together with --at"),
        (["completion"], "Missing argument 'SHELL'. Choose from: bash, zsh, fish."),
        (["plan", "expire", "t", "--rules", "3"], "not one of newest, 1.x, 0.9"),
    ],
)
def test_a_misuse_says_what_was_probably_meant(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith("snapscope: error: ")
    assert said in error[0]
    assert error[1].startswith("`snapscope")
    assert error[1].endswith("--help` lists what is accepted.")


# help ----------------------------------------------------------------------------------------------------------------


def test_help_is_the_same_however_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*words: str) -> str:
        with contextlib.suppress(SystemExit):
            main(list(words))
        return capsys.readouterr().out

    for path in ([], ["plan"], ["plan", "expire"], ["tags"]):
        assert shown("help", *path) == shown(*path, "--help") == shown(*path, "-h")
    text = shown("help", "protect")
    assert "[default: 7 d]" in text
    assert "[example: 'yesterday 08:00']" in text
    assert shown().count("\n  snapscope ") == 6
    assert main(["help", "nothing"]) == 2


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("snapscope 0.")


@pytest.mark.parametrize("shell", commands.SHELLS)
def test_a_shell_completes_commands_and_options(
    shell: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["completion", shell]) == 0
    assert "_SNAPSCOPE_COMPLETE" in capsys.readouterr().out
    monkeypatch.setenv("_SNAPSCOPE_COMPLETE", f"{shell}_complete")

    def completed(*words: str) -> str:
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
        assert main([]) == 0
        return capsys.readouterr().out

    assert "create-tag" in completed("snapscope", "create-t")
    assert "--retain-max" in completed("snapscope", "plan", "expire", "--retain")
    assert "jsonl" in completed("snapscope", "tags", "-o", "js")
