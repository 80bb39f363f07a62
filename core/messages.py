"""Translatable sentences, which remember their template and values; and reasons, which are codes until displayed. Pure.

Invariant: programs decide by a `Reason`'s code and values, never by a text. A text is created where it is displayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CLAUSE = "{clause}"  # the template of a sentence used within another


class Message(str):
    """A string that remembers its template and the values filled in. A value may be a `Message` itself."""

    template: str
    values: Mapping[str, object]


def message(template: str, **values: object) -> Message:
    """Fill in the `{names}` of `template`. The template must be a literal: translations look it up by its text."""
    shown = {name: value.text if isinstance(value, Reason) else value for name, value in values.items()}
    made = Message(template.format(**shown))
    made.template, made.values = template, shown
    return made


@dataclass(frozen=True, slots=True)
class Code:
    """What a reason, doubt, warning or note says. Calling it with the template's values makes a `Reason`.

    `name` never changes; the template may be reworded. `one` is the template where `count` is 1.
    """

    name: str
    template: str
    one: str = ""

    def __call__(self, **values: object) -> Reason:
        return Reason(self, tuple(sorted(values.items())))


@dataclass(frozen=True, slots=True)
class Reason:
    """A code with its values. It stores no text, which is created on demand, so that nothing is decided by a text."""

    code: Code
    given: tuple[tuple[str, object], ...] = ()

    @property
    def values(self) -> Mapping[str, Any]:
        return dict(self.given)

    @property
    def text(self) -> Message:
        if not self.code.one:
            return message(self.code.template, **self.values)
        count = self.values["count"]
        return message(self.code.one if count == 1 else self.code.template, **{**self.values, "count": f"{count:,}"})

    def __str__(self) -> str:
        return self.text


def sentences(reasons: Iterable[Reason]) -> list[str]:
    """The texts of reasons."""
    return [reason.text for reason in reasons]


def code_names(reasons: Iterable[Reason]) -> list[str]:
    """The names of the reasons' codes, for programs."""
    return [reason.code.name for reason in reasons]


def counted(count: int, one: str, many: str, **values: object) -> Message:
    """`1 file`, `1,204 files`, from `{count} file` and `{count} files`; other languages use their own plural forms."""
    return message(one if count == 1 else many, count=f"{count:,}", **values)


def joined(clauses: Sequence[str]) -> str:
    """Join clauses with `; `; "" if there are none."""
    first, *rest = clauses or ("",)
    return message("{first}; {rest}", first=first, rest=joined(rest)) if rest else first


def listed(clauses: Sequence[str]) -> str:
    """Join clauses with `, `; "" if there are none."""
    first, *rest = clauses or ("",)
    return message("{first}, {rest}", first=first, rest=listed(rest)) if rest else first


def clause(sentence: str) -> Message:
    """A sentence to be used within another: without its full stop."""
    whole = message("{clause}", clause=sentence)
    made = Message(whole.rstrip("."))
    made.template, made.values = CLAUSE, whole.values
    return made


def is_clause(text: str) -> bool:
    """Whether a text is a full sentence made by `clause`."""
    return isinstance(text, Message) and text.template == CLAUSE


def literal(sentence: str) -> Message:
    """A sentence that is its own template."""
    if isinstance(sentence, Message):
        return sentence
    made = Message(sentence)
    made.template, made.values = sentence, {}
    return made


def both(first: str, second: str) -> Message:
    """Two sentences, one after the other."""
    return message("{first} {second}", first=first, second=second)
