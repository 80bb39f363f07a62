"""Sentences that know how they were made, so that they can be told in another language; and reasons, which are codes
until somebody reads them. Pure.

Law: a program decides by a `Reason`'s code and values, never by a text. A text is made where it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CLAUSE = "{clause}"  # of a sentence that stands within another


class Told(str):
    """A text like any other, with the template it was made from and the values that were put in. A value may be a
    `Told` itself."""

    template: str
    values: Mapping[str, object]


def told(template: str, **values: object) -> Told:
    """`template` with its `{names}` filled in. The template is a literal: other languages know it by its text."""
    shown = {name: value.text if isinstance(value, Reason) else value for name, value in values.items()}
    made = Told(template.format(**shown))
    made.template, made.values = template, shown
    return made


@dataclass(frozen=True, slots=True)
class Code:
    """What a reason, doubt, warning or note says. `name` stays for ever; the template may be worded otherwise. `one`:
    the template where `count` is 1. Called with the template's values it makes a `Reason`."""

    name: str
    template: str
    one: str = ""

    def __call__(self, **values: object) -> Reason:
        return Reason(self, tuple(sorted(values.items())))


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its values. No text: that is made when it is asked for, so that nothing is decided by it."""

    code: Code
    given: tuple[tuple[str, object], ...] = ()

    @property
    def values(self) -> Mapping[str, Any]:
        return dict(self.given)

    @property
    def text(self) -> Told:
        if not self.code.one:
            return told(self.code.template, **self.values)
        count = self.values["count"]
        return told(self.code.one if count == 1 else self.code.template, **{**self.values, "count": f"{count:,}"})

    def __str__(self) -> str:
        return self.text


def sentences(reasons: Iterable[Reason]) -> list[str]:
    """Reasons as they are read."""
    return [reason.text for reason in reasons]


def code_names(reasons: Iterable[Reason]) -> list[str]:
    """The codes of reasons, as programs know them."""
    return [reason.code.name for reason in reasons]


def counted(count: int, one: str, many: str, **values: object) -> Told:
    """`1 file`, `1,204 files`, of `{count} file` and `{count} files`; other languages have the forms they need."""
    return told(one if count == 1 else many, count=f"{count:,}", **values)


def joined(clauses: Sequence[str]) -> str:
    """Clauses with `; ` between; "" of none."""
    first, *rest = clauses or ("",)
    return told("{first}; {rest}", first=first, rest=joined(rest)) if rest else first


def listed(clauses: Sequence[str]) -> str:
    """Clauses with `, ` between; "" of none."""
    first, *rest = clauses or ("",)
    return told("{first}, {rest}", first=first, rest=listed(rest)) if rest else first


def clause(sentence: str) -> Told:
    """A sentence that stands within another: without its full stop."""
    whole = told("{clause}", clause=sentence)
    made = Told(whole.rstrip("."))
    made.template, made.values = CLAUSE, whole.values
    return made


def is_clause(text: str) -> bool:
    """Does a text stand for a sentence of its own, made by `clause`?"""
    return isinstance(text, Told) and text.template == CLAUSE


def literal(sentence: str) -> Told:
    """A sentence that stands in the code as it is: its own template."""
    if isinstance(sentence, Told):
        return sentence
    made = Told(sentence)
    made.template, made.values = sentence, {}
    return made


def both(first: str, second: str) -> Told:
    """One sentence after another."""
    return told("{first} {second}", first=first, second=second)
