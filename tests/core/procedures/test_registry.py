"""One table says an action everywhere: its flags, the command that is shown, the engines' statements; all of it is read
back as the same action, and is what it has always been."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import Any

import pytest

from core.cli import changes, group
from core.formats.paimon.capabilities import PAIMON
from core.model.actions import KINDS, Change, CleanOrphans, CreateTag, DeleteBranches, DeleteTags, Expire
from core.model.references import Heads
from core.procedures import command_line, statements
from core.procedures.parse import parse, request_of
from core.procedures.registry import BY_COMMAND, DEFINITIONS, definition
from tests.support import actions
from tests.support.actions import LOCATION, NOW_MS, SHOWN, TITLE, some

SEEDS = range(100, 140)
NO_TABLE = Heads(LOCATION, PAIMON, (), {})  # no value here comes from a table's times
RECORDED = json.loads(SHOWN.read_text(encoding="utf-8"))


def test_every_action_has_one_definition() -> None:
    assert {each.of for each in DEFINITIONS} == set(KINDS.values())
    assert len(BY_COMMAND) == len(DEFINITIONS) == len(KINDS)


@pytest.mark.parametrize("name", RECORDED["shown"])
def test_what_is_shown_of_an_action_is_what_has_always_been_shown(name: str) -> None:
    kind, seed = name.split()
    change = some(kind, int(seed))
    assert {"action": repr(change), **actions.shown(change, actions.options(int(seed)))} == RECORDED["shown"][name]


def test_commands_take_the_flags_that_they_have_always_taken() -> None:
    assert actions.flags() == RECORDED["flags"]


# there and back ------------------------------------------------------------------------------------------------------


def typed(command: str) -> Change:
    """Parse a command as the command line does."""
    root = group()
    with root.make_context("snapscope", [*shlex.split(command)[1:], "--now", str(NOW_MS)]) as context:
        _, args = root.invoke(context)
    change, target = changes._requested(args, NO_TABLE)
    assert target == {}
    return change


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_that_is_shown_is_read_back_as_the_same_action(kind: str) -> None:
    for seed in SEEDS:
        change = some(kind, seed)
        assert typed(command_line.command(change, LOCATION)) == change


@pytest.mark.parametrize("change", [CreateTag("-x"), DeleteTags(("-x", "--y", "a")), Expire(drop_tags=("-",))])
def test_names_that_look_like_options_are_read_back_too(change: Change) -> None:
    assert typed(command_line.command(change, LOCATION)) == change


@pytest.mark.parametrize("name", ["a,b", ",", "a\\,b", "a\\", " v1", "v1 ", "\t\tv1", "v1\\ ", "a, b", "\\\\"])
def test_a_name_that_looks_like_several_or_is_padded_is_read_back_as_itself(name: str) -> None:
    """As two names it would delete two other tags."""
    for change in (DeleteTags((name,)), DeleteTags((name, "a", "b")), DeleteBranches((name, "a"))):
        assert typed(command_line.command(change, LOCATION)) == change
        if "," in name or name != name.strip():
            assert statements.of_paimon(change, TITLE, NOW_MS, {}) is None, "the engine would split or trim it"


def test_names_with_commas_between_are_several() -> None:
    (names,) = (each for each in definition(DeleteTags(("a",))).arguments if each.name == "names")
    assert names.read(["a, b,,c ", "a", "d\\e"]) == ("a", "b", "c", "d\\e")


@pytest.mark.parametrize("kind", KINDS)
def test_the_call_that_is_shown_is_read_back_as_the_same_action(kind: str) -> None:
    shown = 0
    for seed in SEEDS:
        change = some(kind, seed)
        sql = statements.of_paimon(change, TITLE, NOW_MS, {})
        if sql is not None:
            found = request_of(parse(sql), NOW_MS).request
            assert found == sayable(change, definition(change).paimon[0].without)
            assert statements.of_paimon(found, TITLE, NOW_MS, {}) == sql
            shown += 1
    assert bool(shown) == (kind in TOLD_BY_PAIMON)


TOLD_BY_PAIMON = {of.of.__name__ for of in DEFINITIONS if of.paimon}


def sayable(change: Change, without: tuple[str, ...]) -> Change:
    """Return the change without what the engine does not know, in whole seconds."""
    usual: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(change) if each.name in without}
    if isinstance(change, CleanOrphans):
        return dataclasses.replace(change, older_than_ms=change.older_than_ms // 1_000 * 1_000, **usual)
    if isinstance(change, Expire):
        ages = [] if change.time_retained_ms is None else [NOW_MS - change.time_retained_ms]
        ages += [] if change.older_than_ms is None else [change.older_than_ms]
        most, least = change.retain_max, change.retain_min
        return Expire(
            branch=change.branch,
            retain_max=most,
            retain_min=most if least is None and most is not None and most < 10 else least,
            older_than_ms=min(ages) // 1_000 * 1_000 if ages else None,
            max_deletes=change.max_deletes,
        )
    return dataclasses.replace(change, **usual)


SAID_TO_ICEBERG = {
    "CleanOrphans": (),
    "Expire": ("retain_min", "snapshots"),
    "FastForward": ("name", "branch"),
    "Rollback": ("point", "any_line"),
}


@pytest.mark.parametrize(("kind", "fields"), SAID_TO_ICEBERG.items())
def test_icebergs_call_is_read_back_as_the_same_action(kind: str, fields: tuple[str, ...]) -> None:
    shown = 0
    for seed in SEEDS:
        change = some(kind, seed)
        sql = statements.of_iceberg(change, TITLE, NOW_MS)
        if sql is not None:
            found = request_of(parse(sql), NOW_MS).request
            assert isinstance(found, Change)
            assert [getattr(found, name) for name in fields] == [getattr(change, name) for name in fields]
            assert statements.of_iceberg(found, TITLE, NOW_MS) == sql
            shown += 1
    assert shown
