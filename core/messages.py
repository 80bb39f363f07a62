"""Sentences that know how they were made, so that they can be told in another language. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CLAUSE = "{clause}"  # of a sentence that stands within another


class Told(str):
    """A text like any other, with the template it was made from and the values that were put in. A value may be a
    `Told` itself."""

    template: str
    values: Mapping[str, object]


def told(template: str, **values: object) -> Told:
    """`template` with its `{names}` filled in. The template is a literal: other languages know it by its text."""
    made = Told(template.format(**values))
    made.template, made.values = template, values
    return made


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
