"""Parse `CALL sys.NAME(…)` with a SQL parser and match it against the table of procedures. Pure.

Invariant: a CALL is one statement with constants as arguments, by position or by name; an argument that would have no
effect is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.errors import Invalid, Unsupported
from core.messages import message
from core.model.references import MAIN
from core.procedures.definition import Procedure
from core.procedures.registry import MISSING, TABLE, TABLES
from core.procedures.requests import Request
from core.storage.size_limits import STATEMENT


@dataclass(frozen=True, slots=True)
class Call:
    """A CALL as written: the procedure, its namespace, positional and named arguments."""

    namespace: str
    name: str
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """What a CALL requests, and for which table, as the CALL names it."""

    table: str
    request: Request
    is_dry: bool = False  # nothing is to be changed


@functools.cache
def _dialect() -> Any:
    """Spark's SQL with a doubled quote as an escaped one, as in Spark since 4.0 and in Flink."""
    from sqlglot.dialects.spark import Spark

    class Calls(Spark):
        class Tokenizer(Spark.Tokenizer):
            STRING_ESCAPES: ClassVar = ["\\", "'"]

    return Calls


def is_call(sql: str) -> bool:
    """Whether this statement is a CALL. False for invalid SQL, which is reported when it is run."""
    from sqlglot import tokenize
    from sqlglot.errors import SqlglotError

    try:
        tokens = tokenize(sql, read=_dialect())
    except SqlglotError:
        return False
    return bool(tokens) and tokens[0].text.upper() == "CALL"


def parse(sql: str) -> Call:
    """Parse a single CALL with constants as arguments. Raises `Invalid` for anything else."""
    from sqlglot import exp, parse_one, tokenize
    from sqlglot.errors import SqlglotError

    if len(sql) > STATEMENT:
        raise Invalid(
            "A statement may have at most {most:,} characters; this one has {found:,}.", most=STATEMENT, found=len(sql)
        )
    try:
        tokens = [each for each in tokenize(sql, read=_dialect()) if each.text != ";"]
        if len(tokens) != 2 or tokens[0].text.upper() != "CALL":
            raise Invalid("Expected one CALL.", remedy="Write CALL sys.create_tag(table => 'db.t', tag => 'v1').")
        found: Any = parse_one(tokens[1].text, read=_dialect())
    except RecursionError:
        raise Invalid("The CALL is nested too deeply.", remedy="Its arguments must be constants.") from None
    except SqlglotError as error:
        problem = str(error).splitlines()[0]
        raise Invalid(
            "The CALL cannot be parsed: {said}", said=problem, remedy="Write CALL sys.NAME(name => value, …)."
        ) from None
    function = found.expression if isinstance(found, exp.Dot) else None
    if not isinstance(function, exp.Anonymous):
        raise Invalid(
            "The CALL has no procedure name.", remedy="Write CALL sys.NAME(…), or system.NAME(…) for Iceberg."
        )
    positional, named = [], dict[str, Any]()
    for each in function.expressions:
        if isinstance(each, exp.Kwarg):
            if each.name in named:
                raise Invalid("The argument {name} is given twice.", name=each.name)
            named[each.name] = _constant(each.expression)
        elif named:
            raise Invalid("A positional argument follows a named one.", remedy="Name all of them.")
        else:
            positional.append(_constant(each))
    namespace = found.this.name if isinstance(found.this, exp.Identifier) else found.this.expression.name
    return Call(namespace.lower(), function.name.lower(), tuple(positional), named)


def _constant(value: Any) -> Any:
    from sqlglot import exp

    match value:
        case exp.Literal():
            return value.name if value.is_string else int(value.name) if value.name.isdecimal() else value.name
        case exp.Neg() if isinstance(value.this, exp.Literal) and value.this.name.isdecimal():
            return -int(value.this.name)
        case exp.Boolean():
            return bool(value.this)
        case exp.Null():
            return None
        case exp.Cast() if isinstance(value.this, exp.Literal):
            return value.this.name
        case exp.Array():
            return tuple(_constant(each) for each in value.expressions)
        case _:
            raise Invalid(
                "{value} is not a constant.",
                value=value.sql(dialect="spark"),
                remedy="Give a string, a number or a boolean.",
            )


def request_of(call: Call, now_ms: int) -> ParsedCall:
    """What a CALL requests.

    Raises `Invalid` for wrong arguments, `Unsupported` for procedures without an action here.
    """
    procedures = TABLES.get(call.namespace)
    if procedures is None:
        raise Invalid(
            "There is no namespace {namespace!r}.",
            namespace=call.namespace,
            remedy="Use sys for Paimon and system for Iceberg.",
        )
    if why := MISSING.get((call.namespace, call.name)):
        raise Unsupported(
            "CALL {namespace}.{name} is not supported here: {why}", namespace=call.namespace, name=call.name, why=why
        )
    if call.name not in procedures:
        raise Invalid(
            "There is no procedure {namespace}.{name}.",
            namespace=call.namespace,
            name=call.name,
            remedy=message("Known procedures: {known}.", known=", ".join(procedures)),
        )
    procedure = procedures[call.name]
    arguments = _matched(procedure, call)
    table, _, branch = arguments.pop("table").partition("$branch_")
    return ParsedCall(table, procedure.request(arguments, branch or MAIN, now_ms), bool(arguments.get("dry_run")))


def _matched(procedure: Procedure, call: Call) -> dict[str, Any]:
    accepted = (TABLE, *procedure.arguments)
    names = {name.lower(): each for each in accepted for name in (each.call, *each.also)}
    names_shown = ", ".join(each.call for each in accepted)
    if len(call.positional) > len(accepted):
        raise Invalid(
            "{procedure} takes at most {count} arguments.",
            procedure=procedure.name,
            count=len(accepted),
            remedy=message("Its arguments: {listed}.", listed=names_shown),
        )
    values = {each.call: value for each, value in zip(accepted, call.positional, strict=False)}
    for name, value in call.named.items():
        each = names.get(name.lower())
        if each is None:
            raise Invalid(
                "{procedure} has no argument {name!r}, or it has no effect here.",
                procedure=procedure.name,
                name=name,
                remedy=message("Available: {listed}.", listed=names_shown),
            )
        if each.call in values:
            raise Invalid(
                "The argument {name} of {procedure} is given twice.", name=each.call, procedure=procedure.name
            )
        values[each.call] = value
    for each in accepted:
        if each.is_needed and values.get(each.call) is None:
            raise Invalid(
                "{procedure} needs the argument {name}.",
                procedure=procedure.name,
                name=each.call,
                remedy=message("Available: {listed}.", listed=names_shown),
            )
        if not each.is_needed and values.get(each.call) == "":  # Flink 1.18 has no named arguments: '' omits one
            values[each.call] = None
    return {
        each.call: None if (value := values.get(each.call)) is None else each.unit.argument(each.call, value)
        for each in accepted
    }
