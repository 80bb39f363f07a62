"""The guard for users' SQL: Spark's own parser, then lists of what may pass.

Invariants:
- What is not on a list in core/spark/sql/allowed.py is refused; there is no list of what is bad.
- Tables are the opened views and the statement's own WITH names, as one-part names; nothing else is accessible.
- The plan that was checked is the plan that runs: the text is parsed once (with Spark Connect a second time, by a
  server of the same version with the same settings; see core/spark/session/connect.py). Its analyzed form is checked
  again, down to the opened views: anything else that reads data is refused there, however it got in.
- Whatever cannot be understood (too long, too deep, too large, unknown) is refused.

This protects honest users from mistakes, and keeps curious ones away from the machine's files, environment and shell.
It is not a sandbox: run queries of untrusted people under a separate operating-system user.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from core.errors import Invalid
from core.messages import message
from core.spark.session import connect
from core.spark.session.task_errors import error_text
from core.spark.sql import allowed, result_sizes, spark_plans, stand_ins
from core.units import nearest

MOST_CHARACTERS = 20_000
MOST_RELATIONS = 500  # counted with every WITH name expanded, as Spark does
MOST_GROUPINGS = 4_096
MOST_RECURSION = 100
_BEGINNINGS = frozenset({"select", "with", "values", "table", "from", "map", "reduce"})  # of Spark's queries
_MISSPELT = 0.75  # `form` is that like `from`; `delete` is less like `select`
LARGEST_BULK = 10_000_000  # characters or elements that calls inside calls may be told to make


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A query that may run. `frame` is lazy and contains the checked plan; `reads` are the views it reads."""

    sql: str
    frame: DataFrame = field(repr=False)
    reads: frozenset[str]


def check(session: SparkSession, sql: str, views: Collection[str]) -> CheckedPlan:
    """Check and analyze a query over the session's temporary views named in `views`; nothing runs.

    Raises Invalid with a sentence that names what is refused, and what is allowed; also for SQL that Spark cannot parse
    or resolve. View names are compared case-insensitively, as Spark does.
    """
    names = frozenset(view.lower() for view in views)
    remedy = _remedy(names)
    checker = connect.checker(session)
    jsession: Any = checker._jsparkSession
    try:
        _check_text(sql)
        plan = jsession.sessionState().sqlParser().parsePlan(sql)
        _Judge(names).statement(spark_plans.read(checker, plan, analyzed=False))
        if checker is not session:
            stand_ins.replace(checker, session, views)
        frame = _frame(checker, plan)
        analyzed: Any = frame._jdf.queryExecution().analyzed()
        nodes = spark_plans.read(checker, analyzed, analyzed=True)
        reads = _check_analyzed(nodes, names)
        _check_rows(nodes)
        if checker is not session:
            frame = session.sql(sql)
    except _Refused as refused:
        raise Invalid("The query was rejected: {refused}.", refused=refused.args[0], remedy=remedy) from None
    except RecursionError:
        raise Invalid("The query was rejected: it is nested too deeply.", remedy=remedy) from None
    except (PySparkException, Py4JError) as error:
        raise Invalid(_sentence(error)) from error
    return CheckedPlan(sql=sql, frame=frame, reads=reads)


def check_text(sql: str, views: Collection[str]) -> None:
    """Refuse texts that cannot be a query, before Spark is started for them; `check` does the full check.

    Raises Invalid. A text that starts with a comment, a bracket or anything but a plain word is left to `check`.
    """
    word = re.match(r"[ \t\r\n]*([A-Za-z]+)\b", sql)
    try:
        _check_text(sql)
        if word is not None and word[1].lower() not in _BEGINNINGS:
            if meant := nearest(word[1].lower(), sorted(_BEGINNINGS), _MISSPELT):
                raise _misspelt(sql, word, meant, views)
            raise _Refused(message("{words} is not allowed in a read-only query", words=word[1].lower()))
    except _Refused as refused:
        raise Invalid(
            "The query was rejected: {refused}.",
            refused=refused.args[0],
            remedy=_remedy({each.lower() for each in views}),
        ) from None


def _misspelt(sql: str, word: re.Match[str], meant: str, views: Collection[str]) -> Invalid:
    """A word at the beginning that is nearly one that a query may begin with; where it stands, as Spark counts."""
    before = sql[: word.start(1)]
    return Invalid(
        "Syntax error at {word} (line {line}, position {position}): did you mean {meant}?",
        word=f"'{word[1]}'",
        line=before.count("\n") + 1,
        position=len(before) - (before.rfind("\n") + 1) + 1,
        meant=meant.upper(),
        remedy=_remedy({each.lower() for each in views}),
    )


def _remedy(names: Collection[str]) -> str:
    over = ", ".join(sorted(names)) if names else message("values only (no table is open)")
    return message("Only one query is allowed (SELECT, WITH, VALUES, TABLE or FROM …), over {over}.", over=over)


class _Refused(Exception):
    """What is refused and why, as the second half of a sentence."""


def _sentence(error: Exception) -> str:
    text = str(error)
    if "StackOverflowError" in text or spark_plans.TOO_DEEP in text:
        return message("The query was rejected: it is nested too deeply.")
    if spark_plans.TOO_LARGE in text:
        return message(
            "The query was rejected: it has more than {most_nodes:,} parts.", most_nodes=spark_plans.MOST_NODES
        )
    if "SQL_SCRIPTING" in text:
        return message("The query was rejected: it is a script, and only one query may run at a time.")
    if "OutOfMemoryError" in text:
        return message("The query was rejected: it needs more memory than Spark has before it even runs.")
    return message("Spark cannot run this query. {said}", said=error_text(error))


def _check_text(sql: str) -> None:
    if len(sql) > MOST_CHARACTERS:
        raise _Refused(
            message(
                "it is {sql:,} characters long; the limit is {most_characters:,}",
                sql=len(sql),
                most_characters=MOST_CHARACTERS,
            )
        )
    if "${" in sql:
        raise _Refused(message("`${{` is how Spark inserts settings and the environment into SQL"))
    if "\0" in sql:
        raise _Refused(message("it contains a NUL character"))


def _frame(session: SparkSession, plan: Any) -> DataFrame:
    """The analyzed, lazy DataFrame of a parsed plan. A command would run right here; none has passed the checks."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    jvm: Any = session._jvm
    return ClassicDataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


# ---------------------------------------------------------------------------------------------------- the parsed plan


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a part of the statement expands to: relations read, and elements that one value may contain."""

    relations: int = 0
    bulk: float = 1.0

    def beside(self, other: _Cost) -> _Cost:
        return _Cost(self.relations + other.relations, max(self.bulk, other.bulk))


_NOTHING = _Cost()


class _Judge:
    """Walks a parsed statement. Raises _Refused at the first thing that is not allowed."""

    def __init__(self, views: frozenset[str]) -> None:
        self._views = views
        self._groupings = 1

    def statement(self, node: Any) -> None:
        relations = self._visit(node, {}).relations
        if relations > MOST_RELATIONS:
            raise _Refused(
                message(
                    ("with every WITH name expanded it reads {relations:,} relations; the limit is {most_relations}"),
                    relations=relations,
                    most_relations=MOST_RELATIONS,
                )
            )

    def _visit(self, node: Any, scope: Mapping[str, int]) -> _Cost:
        """Check a node. `scope` maps the WITH names visible here to the number of relations that each reads."""
        if isinstance(node, list):
            return self._all(node, scope)
        if not isinstance(node, dict):
            return _NOTHING
        name, parts = node["is"], node["of"]
        short = name.removeprefix(spark_plans.CATALYST)
        match short:
            case "analysis.UnresolvedRelation":
                return self._relation(parts, scope)
            case "analysis.UnresolvedFunction":
                return self._function(parts, scope)
            case "analysis.UnresolvedTableValuedFunction":
                return self._call(parts[0], parts[1], allowed.TABLE_FUNCTIONS, parts[2:], scope)
            case "analysis.UnresolvedGenerator":
                identifier = [part for part in reversed(parts[0]["of"]) if part is not None]
                return self._call(identifier, parts[1], allowed.TABLE_FUNCTIONS, parts[2:], scope)
            case "plans.logical.UnresolvedWith":
                return self._with(parts, scope)
            case "plans.logical.UnresolvedHint":
                if parts[0].lower() not in allowed.HINTS:
                    raise _Refused(message("the hint {parts} is not allowed; only join hints are", parts=parts[0]))
            case "expressions.Cube":
                self._grouped(2 ** len(parts[0]))
            case "expressions.Rollup":
                self._grouped(len(parts[0]) + 1)
            case "expressions.GroupingSets":
                self._grouped(len(parts[0]))
            case _ if short in allowed.PLANS or short in allowed.EXPRESSIONS or short in allowed.PARTS:
                pass
            case _ if name in allowed.VALUES or name.startswith(allowed.VALUE_PACKAGES):
                pass
            case _:
                raise _Refused(message("{words} is not allowed in a read-only query", words=_words(name)))
        return self._all(parts, scope)

    def _all(self, nodes: Iterable[Any], scope: Mapping[str, int]) -> _Cost:
        cost = _NOTHING
        for node in nodes:
            cost = cost.beside(self._visit(node, scope))
        return cost

    def _relation(self, parts: list[Any], scope: Mapping[str, int]) -> _Cost:
        names, options, streaming = parts
        if len(names) != 1 or (names[0].lower() not in scope and names[0].lower() not in self._views):
            raise _Refused(message("`{names}` is not an opened table", names=".".join(names)))
        if streaming or options["of"] != [0]:
            raise _Refused(
                message("`{names}` can only be read as it is, without STREAM and without options", names=names[0])
            )
        return _Cost(relations=scope.get(names[0].lower(), 1))

    def _with(self, parts: list[Any], scope: Mapping[str, int]) -> _Cost:
        child, definitions, recursive = parts
        inner = dict(scope)
        bulk = 1.0
        for definition in definitions:
            name, body, levels = definition["of"]
            if levels is not None and levels > MOST_RECURSION:
                raise _Refused(
                    message(
                        "it asks for {levels:,} levels of recursion; the limit is {most_recursion}",
                        levels=levels,
                        most_recursion=MOST_RECURSION,
                    )
                )
            cost = self._visit(body, inner | {name.lower(): 1} if recursive else inner)
            inner[name.lower()] = max(1, cost.relations)
            bulk = max(bulk, cost.bulk)
        return self._visit(child, inner).beside(_Cost(bulk=bulk))

    def _function(self, parts: list[Any], scope: Mapping[str, int]) -> _Cost:
        names, arguments, _distinct, where, _ignore_nulls, within, internal = parts
        if internal:
            raise _Refused(message("{names} is a Spark function", names=".".join(names)))
        return self._call(names, arguments, allowed.FUNCTIONS, [where, within], scope)

    def _call(
        self, names: list[str], arguments: list[Any], listed: frozenset[str], rest: list[Any], scope: Mapping[str, int]
    ) -> _Cost:
        name = names[0].lower() if len(names) == 1 else ".".join(names)
        if name not in listed:
            raise _Refused(message("the function {name} is not on the list of allowed functions", name=name))
        if len(arguments) > allowed.MOST_ARGUMENTS.get(name, len(arguments)):
            raise _Refused(
                message(
                    "{name} is allowed with at most {most_arguments} arguments",
                    name=name,
                    most_arguments=allowed.MOST_ARGUMENTS[name],
                )
            )
        if name in allowed.FORMATS and not result_sizes.plain_format(arguments):
            raise _Refused(
                message(
                    "{name} is allowed only with a plain pattern, with widths below {largest_answer:,}",
                    name=name,
                    largest_answer=result_sizes.LARGEST_ANSWER,
                )
            )
        size, most = result_sizes.requested_size(name, arguments)
        if size > most:
            raise _Refused(
                message(
                    "{name} would create up to {size:,.0f} elements; the limit is {most:,}",
                    name=name,
                    size=size,
                    most=most,
                )
            )
        costs = [self._visit(argument, scope) for argument in arguments]
        bulk = max((cost.bulk for cost in costs), default=1.0)
        if any(spark_plans.is_a(argument, "expressions.LambdaFunction") for argument in arguments):
            bulk = math.prod(cost.bulk for cost in costs)
        bulk *= size
        if bulk > LARGEST_BULK:
            raise _Refused(
                message(
                    "{name} would create up to {bulk:,.0f} elements; the limit is {largest_bulk:,}",
                    name=name,
                    bulk=bulk,
                    largest_bulk=LARGEST_BULK,
                )
            )
        return _Cost(sum(cost.relations for cost in costs), bulk).beside(self._all(rest, scope))

    def _grouped(self, sets: int) -> None:
        self._groupings *= max(1, sets)
        if self._groupings > MOST_GROUPINGS:
            raise _Refused(
                message(
                    "GROUP BY has {groupings:,} grouping sets; the limit is {most_groupings:,}",
                    groupings=self._groupings,
                    most_groupings=MOST_GROUPINGS,
                )
            )


def _words(class_name: str) -> str:
    """`…logical.InsertIntoStatement` → `insert into statement`."""
    short = class_name.rsplit(".", 1)[-1].split("$", 1)[0]
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+", short)).lower() or class_name


# the analyzed plan -------------------------------------------------------------------------------------------------


def _check_analyzed(node: Any, views: frozenset[str]) -> frozenset[str]:
    """The views that the analyzed plan reads. Refuses what reads outside them, calls code or reveals the machine."""
    if isinstance(node, list):
        reads: frozenset[str] = frozenset()
        for item in node:
            reads |= _check_analyzed(item, views)
        return reads
    if not isinstance(node, dict):
        return frozenset()
    name, parts = node["is"], node["of"]
    short = name.removeprefix(spark_plans.CATALYST)
    if short == "plans.logical.View":
        table, temporary = parts
        if not temporary or table.lower() not in views:
            raise _Refused(message("`{table}` is not an opened table", table=table))
        return frozenset({table.lower()})
    if short.startswith("plans.logical.") and short not in allowed.ANALYZED_PLANS:
        raise _Refused(message("{words} is not allowed in a read-only query", words=_words(name)))
    if name in allowed.REFUSED_EXPRESSIONS:
        raise _Refused(message("{words} reads from or acts on the machine, not the table", words=_words(name)))
    if not name.startswith(allowed.ANALYZED_PACKAGES):
        raise _Refused(message("{words} reads outside the opened tables", words=_words(name)))
    return _check_analyzed(parts, views)


def _check_rows(node: Any) -> None:
    """Refuse plans that generate more rows than anybody reads."""
    try:
        result_sizes.check_rows(node)
    except result_sizes.TooManyRows as error:
        made, most = error.args[0], result_sizes.MOST_ROWS
        raise _Refused(
            message("it generates up to {made:,.0f} rows; the limit is {most:,}", made=made, most=most)
        ) from None
