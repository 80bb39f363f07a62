"""What a command takes: arguments and options with their help, default and example, and how words are parsed.

Invariant: command lines parse as they always have: options in any order and abbreviated to any unambiguous prefix, a
value that looks like an option only after `=`, and everything after `--` verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from types import SimpleNamespace as Args
from typing import Any

import click

from core.units import nearest

__all__ = ["Args", "Choice", "Option", "Positional", "argument", "flag", "option", "ordered"]

TIME, POINT, DURATION, TABLE = "TIME", "VERSION", "DURATION", "TABLE"
EXAMPLES = {
    TIME: "'yesterday 08:00'",
    POINT: "tag:v1",
    DURATION: "'7 d'",
    "PATH": "bucket-0/data-1.parquet",
    "FILE": "report.html",
    "ROOT": "s3://lake/shared",
    "ID": "12",
    "N": "10",
    "NAME": "v1",
    "FINGERPRINT": "3f9a01c2",
    "REGEX": "'flink-.*'",
    "PLACE": "/data/warehouse",
    "WAREHOUSE": "/data/warehouse",
    TABLE: "/data/warehouse/shop.db/orders",
    "RUN": "3f9a01c2d4e5",
}
_DRY = ("--dry-run", "--dryrun", "--dry")
_ELSEWHERE = {"--retain-last": "--retain-min", "--keep": "--retain-max", "--keep-last": "--retain-max"}
_LIKENESS = 0.75  # of an option that is suggested: --drop-ref is no answer to --dry-run
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class Option(click.Option):
    """An option. `example`: a realistic value; of one `group`, only one option may be given.

    `kind`: the kind of its value; by default its metavar.
    """

    def __init__(
        self, declared: Sequence[str], *, example: str = "", group: str = "", kind: str = "", **how: Any
    ) -> None:
        super().__init__(list(declared), **how)
        self.group = group
        self.kind = kind or self.metavar
        self.example = example or ("" if self.is_flag else EXAMPLES.get(self.metavar or "", ""))

    @property
    def words(self) -> int:
        """How many values follow it."""
        return 0 if self.is_flag else self.nargs

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        found = super().get_help_record(ctx)
        if found is None or not self.example:
            return found
        names, text = found
        return names, f"{text}  [example: {self.example}]" if text else f"[example: {self.example}]"


class Positional(click.Argument):
    """A positional argument."""

    def __init__(self, name: str, *, kind: str = "", **how: Any) -> None:
        super().__init__([name], **how)
        self.kind = kind or self.metavar

    def make_metavar(self, ctx: click.Context) -> str:
        name = self.human_readable_name
        more = f"{name} [{name} ...]" if self.nargs == -1 else name
        return more if self.required else f"[{more}]"


class Choice(click.Choice[str]):
    """One of a few words, unabbreviated."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices:
            return str(value)
        return str(self.fail(f"{value!r} is not one of {', '.join(map(str, self.choices))}.", param, ctx))


def option(*names: str, help: str, default: Any = None, example: str = "", group: str = "", **how: Any) -> Option:
    if default is not None:
        how |= {"default": default, "show_default": True}
    return Option(names, help=help, example=example, group=group, **how)


def flag(*names: str, help: str, group: str = "") -> Option:
    return Option(names, is_flag=True, default=False, help=help, group=group)


def argument(
    name: str, help: str, metavar: str | None = None, *, required: bool = True, many: bool = False, kind: str = ""
) -> Positional:
    return Positional(name, required=required, nargs=-1 if many else 1, metavar=metavar, help=help, kind=kind)


def ordered(command: click.Command, ctx: click.Context, words: Sequence[str]) -> list[str]:
    """Reorder the words for click: options with full names and their values first, then `--` and the rest."""
    known = {name: each for each in command.get_params(ctx) if isinstance(each, click.Option) for name in each.opts}
    found: list[str] = []
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            break
        if not _is_option(word, known):
            rest.append(word)
            continue
        name, sign, value = word.partition("=")
        if word[:2] != "--" and word not in known:  # -oFILE
            name, sign, value = word[:2], word[2:3], word[2:].removeprefix("=")
        each = known.get(name) or known[name := _whole(name, known, ctx)]
        wanted = each.words if isinstance(each, Option) else 0
        if sign and not wanted:
            raise click.UsageError(f"option {name} takes no value.", ctx)
        values = [value] if sign else []
        while len(values) < wanted:
            if not left or left[0] == "--" or _is_option(left[0], known):
                raise click.UsageError(f"option {name} needs {'a value' if wanted == 1 else f'{wanted} values'}.", ctx)
            values.append(left.pop(0))
        found += [name, *values]
    return [*found, "--", *rest]


def _is_option(word: str, known: Iterable[str]) -> bool:
    """Whether a word is an option.

    A negative number is a value, and so is a word with a space unless it is `--name=…`.
    """
    if word[:1] != "-" or word == "-" or _NUMBER.fullmatch(word):
        return False
    return " " not in word or word.partition("=")[0] in known


def _whole(name: str, known: Collection[str], ctx: click.Context) -> str:
    """The option that has this prefix. Raises `UsageError` if there is none, or several."""
    fitting = [each for each in known if name[:2] == "--" and each.startswith(name)]
    if len({id(each) for each in fitting}) == 1:
        return fitting[0]
    if fitting:
        raise click.UsageError(f"option {name} could be {' or '.join(sorted(fitting))}.", ctx)
    raise click.UsageError(f"there is no option {name}.{_meant(name, known, ctx)}", ctx)


def _meant(name: str, known: Collection[str], ctx: click.Context) -> str:
    """The option that was probably meant, or the command that does what such an option does elsewhere."""
    root = ctx.find_root().command
    plan = root.get_command(ctx, "plan") if name in _DRY and isinstance(root, click.Group) else None
    if isinstance(plan, click.Group) and ctx.info_name in plan.list_commands(ctx):
        return f" `snapscope plan {ctx.info_name}` shows the plan and changes nothing."
    close = _ELSEWHERE.get(name) if _ELSEWHERE.get(name) in known else nearest(name, list(known), _LIKENESS)
    return f" Did you mean {close}?" if close else ""


def refuse_several(command: click.Command, given: set[str], ctx: click.Context) -> None:
    """Raise `UsageError` if several options of one group were given."""
    groups: dict[str, list[str]] = {}
    for each in command.get_params(ctx):
        if isinstance(each, Option) and each.group and each.name in given:
            groups.setdefault(each.group, []).append(each.opts[0])
    for names in groups.values():
        if len(names) > 1:
            raise click.UsageError(f"{names[1]} cannot be given together with {names[0]}.", ctx)
