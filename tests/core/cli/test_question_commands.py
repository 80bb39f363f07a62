"""Commands that ask: each answers in every format."""

from __future__ import annotations

import click
import pytest

from core.cli.command import Command
from core.cli.parameters import FORMS
from core.cli.question_commands import QUESTIONS


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_takes_o_and_json(name: str) -> None:
    command = QUESTIONS[name]()
    assert isinstance(command, Command)
    named = {spelled: each for each in command.params for spelled in each.opts}
    assert {"-o", "--output", "--json"} <= named.keys()
    output = named["-o"]
    if isinstance(output.type, click.Choice):
        assert tuple(output.type.choices) == FORMS
    else:
        assert all(form in str(getattr(output, "help", "")) for form in FORMS)
