"""How the rows of one key become one row: the table's options, parsed and checked once. Pure.

Invariant: an option that changes the result is either supported or rejected, and named in the error; none is ignored.
Source: docs/paimon.md §5.4 and Paimon's options of 2.0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import Unsupported
from core.formats.paimon.options import resolved
from core.formats.paimon.types import PaimonType, parse
from core.formats.paimon.ways_out import LEAVE_OUT, OWN_ENGINE
from core.model.references import Schema

DEDUPLICATE, PARTIAL_UPDATE, AGGREGATION, FIRST_ROW = "deduplicate", "partial-update", "aggregation", "first-row"
PRIMARY_KEY, LAST_VALUE, LAST_NON_NULL = "primary-key", "last_value", "last_non_null_value"
_FIELDS, _GROUP = "fields.", ".sequence-group"
_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
_ORDERED = (*_NUMBERS, "DECIMAL", "CHAR", "VARCHAR", "BINARY", "VARBINARY", "BOOLEAN", "DATE", "TIME", "TIMESTAMP",
            "TIMESTAMP_LTZ")  # fmt: skip
_FUNCTIONS: Mapping[str, Sequence[str] | None] = {  # with the types that are supported correctly; None = all
    "sum": (*_NUMBERS, "DECIMAL"),
    "product": _NUMBERS,
    "max": tuple(root for root in _ORDERED if root != "BOOLEAN"),
    "min": tuple(root for root in _ORDERED if root != "BOOLEAN"),
    "bool_and": ("BOOLEAN",),
    "bool_or": ("BOOLEAN",),
    "listagg": ("VARCHAR",),
    "collect": ("ARRAY",),
    "merge_map": ("MAP",),
    LAST_VALUE: None,
    LAST_NON_NULL: None,
    "first_value": None,
    "first_non_null_value": None,
    "first_not_null_value": None,
}


@dataclass(frozen=True, slots=True)
class Function:
    """The aggregate function of one column, with its options. `refusal`: why rows cannot be merged by it."""

    name: str
    ignores_retract: bool = False
    delimiter: str = ","
    distinct: bool = False
    refusal: Unsupported | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A sequence group of a partial update: its sequence columns, and all columns ordered by them, including these.

    `removes`: a delete that is not older removes the whole row.
    """

    sequence: tuple[str, ...]
    fields: tuple[str, ...]
    removes: bool


@dataclass(frozen=True, slots=True)
class MergeRule:
    """Everything that merging needs to know about a table."""

    engine: str
    keys: tuple[str, ...]  # the primary key without partition columns: unique in one bucket
    columns: tuple[str, ...]
    sequence: tuple[str, ...]
    descending: bool
    ignore_delete: bool
    remove_on_delete: bool
    lookup: bool  # rows above level 0 are results of earlier merges
    functions: Mapping[str, Function]  # for an aggregation all columns; for sequence groups the aggregated ones
    groups: tuple[Group, ...]


def merge_rule(schema: Schema, options: Mapping[str, str] | None = None) -> MergeRule:
    """The rule of a primary-key table. Raises `Unsupported`, by name, for what cannot be merged correctly."""
    rule = read_rule(schema, schema.options if options is None else options)
    for function in rule.functions.values():
        if function.refusal is not None:
            raise function.refusal
    return rule


def read_rule(schema: Schema, options: Mapping[str, str]) -> MergeRule:
    """As `merge_rule`, for reading: an unknown aggregate function only refuses the rows that it merges."""
    said = resolved(options)
    engine = said.get("merge-engine", DEDUPLICATE).strip().lower()
    if engine not in (DEDUPLICATE, PARTIAL_UPDATE, AGGREGATION, FIRST_ROW):
        raise Unsupported("Snapscope does not know the merge engine '{engine}'.", engine=engine, remedy=OWN_ENGINE)
    if is_on(said, "sequence.snapshot-ordering"):
        raise Unsupported(
            "The table's option 'sequence.snapshot-ordering' is true; its order is not in its files.", remedy=OWN_ENGINE
        )
    names = tuple(field.name for field in schema.fields)
    keys = tuple(name for name in schema.primary_keys if name not in schema.partition_keys)
    of = {field.name: parse(field.type) for field in schema.fields}
    sequence = _listed(said.get("sequence.field", ""))
    for name in sequence:
        if name not in of or of[name].root not in _ORDERED:
            raise Unsupported(
                (
                    "The table's option 'sequence.field' names '{name}', which is not a column that rows can "
                    "be ordered by."
                ),
                name=name,
                remedy=OWN_ENGINE,
            )
    groups = _groups(said, of) if engine == PARTIAL_UPDATE else ()
    return MergeRule(
        engine=engine,
        keys=keys or schema.primary_keys,
        columns=names,
        sequence=sequence,
        descending=said.get("sequence.field.sort-order", "ascending").strip().lower() == "descending",
        ignore_delete=is_on(said, "ignore-delete"),
        remove_on_delete=is_on(said, f"{engine}.remove-record-on-delete"),
        lookup=engine == FIRST_ROW
        or said.get("changelog-producer", "none").strip().lower() == "lookup"
        or is_on(said, "deletion-vectors.enabled")
        or is_on(said, "force-lookup"),
        functions=_functions(schema, said, of, sequence)
        if engine == AGGREGATION
        else _in_groups(schema, said, of, groups)
        if engine == PARTIAL_UPDATE
        else {},
        groups=groups,
    )


def deciding(schema: Schema) -> set[str]:
    """The columns on which it depends which rows there are, and which of them is the newest."""
    if not schema.primary_keys:
        return set()
    options = schema.options
    groups = [name for name in options if name.startswith(_FIELDS) and name.endswith(_GROUP)]
    listed = (options.get("sequence.field", ""), *(name.removeprefix(_FIELDS).removesuffix(_GROUP) for name in groups))
    return {*schema.primary_keys, *(name for text in listed for name in _listed(text))}


def of_columns(rule: MergeRule, names: Collection[str]) -> MergeRule:
    """The rule for some of the columns, among them the `deciding` ones."""
    return replace(
        rule,
        columns=tuple(name for name in rule.columns if name in names),
        functions={name: function for name, function in rule.functions.items() if name in names},
        groups=tuple(
            replace(group, fields=tuple(name for name in group.fields if name in names)) for group in rule.groups
        ),
    )


def is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").strip().lower() == "true"


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _functions(
    schema: Schema, said: Mapping[str, str], of: Mapping[str, PaimonType], sequence: Sequence[str]
) -> dict[str, Function]:
    found = {}
    for name, type_ in of.items():
        if name in sequence:
            found[name] = _function(name, LAST_VALUE, said, type_)
        elif name in schema.primary_keys:
            found[name] = Function(PRIMARY_KEY, is_on(said, f"fields.{name}.ignore-retract"))
        else:
            found[name] = _function(name, _named(said, name) or LAST_NON_NULL, said, type_)
    return found


def _in_groups(
    schema: Schema, said: Mapping[str, str], of: Mapping[str, PaimonType], groups: Sequence[Group]
) -> dict[str, Function]:
    """The aggregated columns of a partial update; only columns of sequence groups can be aggregated."""
    grouped = {name for group in groups for name in group.fields}
    ordering = {name for group in groups for name in group.sequence}
    found = {}
    for name, type_ in of.items():
        function = _named(said, name)
        if not function or name in ordering or name in schema.primary_keys:
            continue
        if name in grouped:
            found[name] = _function(name, function, said, type_)
        elif function != LAST_NON_NULL:
            raise Unsupported(
                "Column '{name}' of a partial-update table is aggregated by '{function}' outside a sequence group.",
                name=name,
                function=function,
                remedy=OWN_ENGINE,
            )
    return found


def _named(said: Mapping[str, str], name: str) -> str:
    default = said.get("fields.default-aggregate-function", "")
    return said.get(f"fields.{name}.aggregate-function", default).strip().lower()


def _function(name: str, function: str, said: Mapping[str, str], type_: PaimonType) -> Function:
    return Function(
        function,
        is_on(said, f"fields.{name}.ignore-retract"),
        said.get(f"fields.{name}.list-agg-delimiter", ","),
        distinct := is_on(said, f"fields.{name}.distinct"),
        _refusal(name, function, type_, distinct=distinct),
    )


def _refusal(name: str, function: str, type_: PaimonType, *, distinct: bool) -> Unsupported | None:
    if function not in _FUNCTIONS:
        return Unsupported(
            "Column '{name}' is aggregated by '{function}', which Snapscope does not merge.",
            name=name,
            function=function,
            remedy=LEAVE_OUT,
        )
    if function == "collect" and distinct:
        return Unsupported(
            "Column '{name}' is aggregated by '{function}' with 'distinct', whose order is that of Java's hashes.",
            name=name,
            function=function,
            remedy=LEAVE_OUT,
        )
    roots = _FUNCTIONS[function]
    if roots is not None and type_.root not in roots:
        return Unsupported(
            "Snapscope does not merge column '{name}' of type {root} by '{function}'.",
            name=name,
            root=type_.root,
            function=function,
            remedy=LEAVE_OUT,
        )
    return None


def _groups(said: Mapping[str, str], of: Mapping[str, PaimonType]) -> tuple[Group, ...]:
    removing = _listed(said.get("partial-update.remove-record-on-sequence-group", ""))
    found: list[Group] = []
    for option, value in said.items():
        if not (option.startswith(_FIELDS) and option.endswith(_GROUP)):
            continue
        sequence = _listed(option.removeprefix(_FIELDS).removesuffix(_GROUP))
        fields = tuple(dict.fromkeys((*sequence, *_listed(value))))
        for name in fields:
            if name not in of or (name in sequence and of[name].root not in _ORDERED):
                raise Unsupported(
                    "The table's option '{option}' names '{name}', which is not a suitable column.",
                    option=option,
                    name=name,
                    remedy=OWN_ENGINE,
                )
            if any(name in group.fields for group in found):
                raise Unsupported(
                    "Column '{name}' is in two sequence groups ('{option}').",
                    name=name,
                    option=option,
                    remedy=OWN_ENGINE,
                )
        found.append(Group(sequence, fields, any(name in removing for name in sequence)))
    return tuple(found)
