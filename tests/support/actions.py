"""Random actions, and every text shown for each: the command line and the engines' own statements."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from core.cli import group
from core.cli.arguments import Option
from core.model.actions import KINDS, Change
from dashboard.formatting import commands
from tests.support.builders import HOUR_MS, START_MS
from tests.support.places import ROOT

NOW_MS = START_MS + 30 * 24 * HOUR_MS
TITLE, LOCATION = "d.t", "/a place/d.db/t"
SHOWN: Path = ROOT / "tests" / "core" / "procedures" / "shown.json"
NAMES = ("v1", "it's", "a b", "-- x", "名字", "month-2026-08", "`q`", "$x")
POINTS = (
    "7",
    "3055729675574597004",
    "tag:v1",
    "tag:it's",
    "time:1767225600000",
    "latest~2",
    "branch:dev/3",
    "earliest",
)
PARTITIONS = ("dt=2026-11-01", "dt=2026-11-02,region=EU", "p=it's")
FACTS = ("times", "required", "choices", "type", "repeated", "not with others of")
ABSENT = (0.3, 0.8)  # probabilities of leaving out an optional value
SAMPLES = {"Expire": 30, "Rollback": 40}  # samples per kind of action; fewer for all others


def some(kind: str, seed: int) -> Change:
    """Return an action of this kind, with values that depend only on the seed."""
    chance = random.Random(f"{kind} {seed}")
    of: Any = KINDS[kind]
    given = {each.name: _value(chance, kind, each, ABSENT[seed % 2]) for each in dataclasses.fields(of)}
    if kind == "Rollback" and given["destructive"]:
        given["any_line"] = False  # only one of the two formats has each, and the command line accepts only one
    made: Change = of(**given)
    return made


def _value(chance: random.Random, kind: str, each: dataclasses.Field[Any], absent: float) -> Any:
    may_be_left_out = each.default is not dataclasses.MISSING
    if may_be_left_out and chance.random() < absent:
        return each.default
    name = each.name
    if name in ("names", "drop_tags", "columns"):
        return tuple(chance.sample(NAMES, chance.randint(1, 3)))
    if name in ("partitions", "also"):
        return tuple(chance.sample(PARTITIONS, chance.randint(1, 2)))
    if name == "snapshots":
        return tuple(sorted(chance.sample(range(1, 99), chance.randint(1, 3))))
    if name == "point":
        return chance.choice(POINTS)
    if name in ("snapshot_id", "next_snapshot"):
        return chance.choice((1, 12, 3_055_729_675_574_597_004))
    if name == "rules":
        return chance.choice(("newest", "1.x"))
    if name.endswith("older_than_ms"):
        return START_MS + chance.choice((0, 5, 1_000, 86_400_000))
    if name.endswith("_ms"):
        return chance.choice((1, 250, 90_000, 3_600_000, 7 * 86_400_000, 60_000 * chance.randint(1, 10_000)))
    if str(each.type).startswith("bool"):
        return chance.random() < 0.5
    if str(each.type).startswith("int"):
        return chance.randint(1, 30)
    if name in ("including", "excluding"):
        return chance.choice(("a.*", "it's|x", "[0-9]+"))
    if name == "branch":
        return chance.choice(("dev", "b 1"))
    assert str(each.type).startswith("str"), (kind, each)
    return chance.choice(NAMES)


def shown(change: Change, options: dict[str, str]) -> dict[str, str | None]:
    """Return every text shown next to an action's buttons."""
    return {
        "command": commands.of(change, LOCATION),
        "paimon": commands.call(change, TITLE, NOW_MS, options),
        "iceberg": commands.iceberg(change, TITLE, NOW_MS),
    }


def options(seed: int) -> dict[str, str]:
    return {"snapshot.num-retained.min": "2"} if seed % 4 < 2 else {}


def flags() -> dict[str, list[str]]:
    """List every command, including the kinds of `plan`, with all arguments: spelling, number and values."""
    return dict(sorted(_flags(group(), "")))


def _flags(command: click.Command, prefix: str) -> Iterator[tuple[str, list[str]]]:
    context = click.Context(command)
    groups = list(dict.fromkeys(each.group for each in command.params if isinstance(each, Option) and each.group))
    yield prefix, sorted([*(_told(each, groups) for each in command.params), '-h --help {"times": 0}'])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _flags(found, f"{prefix} {name}".strip())


def _told(each: click.Parameter, groups: Sequence[str]) -> str:
    told: dict[str, Any] = {}
    if isinstance(each, Option):
        spelled = " ".join(each.opts)
        told["times"] = 0 if each.is_flag else each.nargs if each.nargs > 1 else None
        told["required"] = each.required or None
        told["repeated"] = each.multiple or None
        told["not with others of"] = groups.index(each.group) if each.group else None
    else:
        spelled = f"<{each.metavar or each.name}>"
        told["times"] = {(1, False): "?", (-1, True): "+", (-1, False): "*"}.get((each.nargs, each.required))
        told["required"] = True if each.required else None
    told["choices"] = list(each.type.choices) if isinstance(each.type, click.Choice) else None
    told["type"] = "int" if each.type is click.INT else None
    facts = {name: value for name in FACTS if (value := told.get(name)) is not None}
    return f"{spelled} {json.dumps(facts)}" if facts else spelled


def recorded() -> dict[str, Any]:
    """Return the content of tests/core/procedures/shown.json: the texts of random actions, and the flags of every
    command."""
    return {
        "shown": {
            f"{kind} {seed}": {"action": repr(some(kind, seed)), **shown(some(kind, seed), options(seed))}
            for kind in KINDS
            for seed in range(SAMPLES.get(kind, 8))
        },
        "flags": flags(),
    }


if __name__ == "__main__":
    SHOWN.write_text(json.dumps(recorded(), indent=1, ensure_ascii=False) + "\n")
