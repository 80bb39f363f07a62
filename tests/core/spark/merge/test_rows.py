"""Merging compared with two other implementations: a plain row-by-row model, and a window in Spark SQL."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from core import decimals
from core.errors import Unsupported
from core.formats.paimon.types import arrow, parse
from core.model.references import Field, Schema
from core.spark.merge.columns import ranks
from core.spark.merge.rows import merge
from core.spark.merge.rules import deciding, merge_rule, of_columns, read_rule
from tests.support.depth import tries

COLUMNS = (
    ("k", "INT NOT NULL"),
    ("j", "STRING NOT NULL"),
    ("a", "INT"),
    ("b", "DOUBLE"),
    ("c", "STRING"),
    ("s", "INT"),
)
ARROW = {"k": pa.int32(), "j": pa.string(), "a": pa.int32(), "b": pa.float64(), "c": pa.string(), "s": pa.int32(),
         "_SEQUENCE_NUMBER": pa.int64(), "_VALUE_KIND": pa.int8(), "_LEVEL": pa.int32()}  # fmt: skip
Row = dict[str, Any]
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "deduplicate": {},
    "by sequence": {"sequence.field": "s"},
    "descending": {"sequence.field": "s,a", "sequence.field.sort-order": "descending"},
    "ignore-delete": {"ignore-delete": "true"},
    "partial": {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
    "partial, ignoring": {"merge-engine": "partial-update", "ignore-delete": "true"},
    "groups": {
        "merge-engine": "partial-update", "fields.s.sequence-group": "b,c",
        "partial-update.remove-record-on-sequence-group": "s",
    },
    "groups, aggregated": {
        "merge-engine": "partial-update", "fields.s.sequence-group": "a,b,c", "fields.a.aggregate-function": "sum",
        "fields.b.aggregate-function": "max", "fields.b.ignore-retract": "true",
        "fields.c.aggregate-function": "listagg", "fields.c.ignore-retract": "true",
    },
    "groups, aggregated, removing": {
        "merge-engine": "partial-update", "fields.s.sequence-group": "a,b,c",
        "partial-update.remove-record-on-sequence-group": "s", "fields.default-aggregate-function": "first_value",
        "fields.a.ignore-retract": "true", "fields.b.aggregate-function": "last_non_null_value",
        "fields.c.aggregate-function": "first_non_null_value", "fields.c.ignore-retract": "true",
    },
    "aggregation": {
        "merge-engine": "aggregation", "fields.a.aggregate-function": "sum", "fields.b.aggregate-function": "max",
        "fields.b.ignore-retract": "true", "fields.c.aggregate-function": "listagg", "fields.c.ignore-retract": "true",
    },
    "aggregation, removing": {
        "merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true",
        "fields.a.aggregate-function": "product", "fields.b.aggregate-function": "min",
        "fields.b.list-agg-delimiter": ";", "fields.c.aggregate-function": "first_non_null_value",
        "fields.s.aggregate-function": "last_value",
    },
    "look-up": {"changelog-producer": "lookup", "merge-engine": "aggregation", "fields.a.aggregate-function": "sum"},
}  # fmt: skip


def schema(options: Mapping[str, str] = {}) -> Schema:
    fields = tuple(Field(number, name, of) for number, (name, of) in enumerate(COLUMNS))
    return Schema(0, fields, (), ("k", "j"), options, 0)


def table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(list(ARROW.items())))


# the model --------------------------------------------------------------------------------------------------------


def model(options: Mapping[str, str], rows: list[Row]) -> list[Row]:
    """Row by row, as the words of the rule say it."""
    names = [name for name, _ in COLUMNS]
    keys: dict[Any, list[Row]] = {}
    for row in rows:
        keys.setdefault((row["k"], row["j"]), []).append(row)
    found = []
    for members in keys.values():
        ordered = sorted(members, key=lambda row: place(options, row))
        if len(ordered) == 1:
            result = None if ordered[0]["_VALUE_KIND"] in (1, 3) else ordered[0]
        else:
            result = one(options, ordered, names)
        if result is not None:
            found.append({name: result[name] for name in names})
    return found


def place(options: Mapping[str, str], row: Row) -> Any:
    sign = -1 if "sequence.field.sort-order" in options else 1
    named = [name for name in options.get("sequence.field", "").split(",") if name]
    user = [(row[name] is not None, sign * (row[name] or 0)) for name in named]
    return (*user, row["_SEQUENCE_NUMBER"], row["_VALUE_KIND"] not in (1, 3))


def one(options: Mapping[str, str], rows: list[Row], names: list[str]) -> Row | None:
    engine = options.get("merge-engine", "deduplicate")
    if options.get("changelog-producer") == "lookup":
        high = min((row["_LEVEL"] for row in rows if row["_LEVEL"] > 0), default=None)
        first = next((row for row in rows if row["_LEVEL"] == high), None)
        rows = [row for row in rows if row["_LEVEL"] == 0 or row is first]
    if engine == "deduplicate":
        left = [row for row in rows if row["_VALUE_KIND"] not in (1, 3) or "ignore-delete" not in options]
        return left[-1] if left and left[-1]["_VALUE_KIND"] not in (1, 3) else None
    if engine == "partial-update":
        return partial(options, rows, names)
    return aggregated(options, rows, names)


def partial(options: Mapping[str, str], rows: list[Row], names: list[str]) -> Row | None:
    state: Row = dict.fromkeys(names)
    deleted, inserted, filled = False, False, False
    group = [name for name in options.get("fields.s.sequence-group", "").split(",") if name]
    default = options.get("fields.default-aggregate-function", "")
    functions = {name: options.get(f"fields.{name}.aggregate-function", default) for name in group}
    started: set[str] = set()
    for row in rows:
        deleted = False
        back, there = row["_VALUE_KIND"] in (1, 3), row["s"] is not None
        if back:
            if not filled:
                state, filled = {name: row[name] for name in names}, True
            if "ignore-delete" in options:
                continue
        newer = there and (state["s"] is None or row["s"] >= state["s"])
        whole = newer if "partial-update.remove-record-on-sequence-group" in options else not group
        if back and whole and row["_VALUE_KIND"] == 3:
            state, deleted = {name: row[name] for name in names}, True
        elif back and there:
            for name in group:
                if "fields." + name + ".ignore-retract" not in options:
                    state[name] = taken_back(functions[name], state[name], row[name], newer)
        elif not back:
            for name in group:
                if there and functions[name]:
                    state[name] = grouped(functions[name], name, state[name], row[name], newer, started)
                elif newer:
                    state[name] = row[name]
            state |= {name: row[name] for name in names if name not in (*group, "s") and row[name] is not None}
            if not group and row["s"] is not None:
                state["s"] = row["s"]
            inserted = filled = True
        if group and newer:
            state["s"] = row["s"]
    return state if inserted and not deleted else None


def taken_back(function: str, have: Any, new: Any, newer: bool) -> Any:
    match function:
        case "sum":
            return have if new is None else (have or 0) - new
        case "last_non_null_value":
            return have if new is None else None
        case _:
            return None if newer else have


def grouped(function: str, name: str, have: Any, new: Any, newer: bool, started: set[str]) -> Any:
    """An older row comes before all that were taken: the engine calls the function with its arguments exchanged."""
    first, then = (have, new) if newer else (new, have)
    match function:
        case "sum":
            return (have or 0) + (new or 0) if have is not None or new is not None else None
        case "max":
            return max((each for each in (have, new) if each is not None), default=None)
        case "listagg":
            if then is None or not then.strip():
                return first
            return then if first is None or not first.strip() else f"{first},{then}"
        case "last_non_null_value":
            return first if then is None else then
        case _:
            if name in started or (function == "first_non_null_value" and then is None):
                return first
            started.add(name)
            return then


def aggregated(options: Mapping[str, str], rows: list[Row], names: list[str]) -> Row | None:
    state: Row = dict.fromkeys(names)
    deleted, taken = False, set()
    for row in rows:
        deleted = row["_VALUE_KIND"] == 3 and "aggregation.remove-record-on-delete" in options
        if deleted:
            state = {name: row[name] for name in names}
            continue
        back = row["_VALUE_KIND"] in (1, 3)
        for name in names:
            function = options.get(f"fields.{name}.aggregate-function", "last_non_null_value")
            have, new = state[name], row[name]
            if name in ("k", "j"):
                state[name] = new
            elif back and f"fields.{name}.ignore-retract" in options:
                continue
            elif function == "last_value":
                state[name] = None if back else new
            elif function == "first_non_null_value":
                if name not in taken and new is not None:
                    taken.add(name)
                    state[name] = new
            elif new is None:
                continue
            elif function == "last_non_null_value":
                state[name] = None if back else new
            elif function == "sum":
                state[name] = (have or 0) + (-new if back else new)
            elif function == "product":
                state[name] = new if have is None else have * new
            elif function == "listagg":
                if new.strip():
                    state[name] = new if have is None or not have.strip() else f"{have},{new}"
            elif have is None or (new > have if function == "max" else new < have):
                state[name] = new
    return None if deleted else state


def rows_of(kinds: list[int]) -> st.SearchStrategy[list[Row]]:
    small = st.one_of(st.none(), st.integers(-3, 3))
    row = st.fixed_dictionaries({
        "k": st.integers(0, 2), "j": st.sampled_from(["x", "y"]), "a": small,
        "b": st.one_of(st.none(), st.sampled_from([0.5, -1.5, 2.0, 1e300])),
        "c": st.one_of(st.none(), st.sampled_from(["", " ", "p", "q"])), "s": small,
        "_SEQUENCE_NUMBER": st.integers(0, 4), "_VALUE_KIND": st.sampled_from(kinds), "_LEVEL": st.integers(0, 3),
    })  # fmt: skip
    # one sequence number of a key stands for at most one addition and one retraction: nothing orders more of them
    return st.lists(
        row, max_size=14, unique_by=lambda r: (r["k"], r["j"], r["_SEQUENCE_NUMBER"], r["_VALUE_KIND"] in (1, 3))
    )


def texts(rows: list[Row]) -> list[str]:
    return sorted(repr({name: row[name] for name, _ in COLUMNS}) for row in rows)


@pytest.mark.parametrize("name", sorted(OPTIONS))
@tries(120)
@given(data=st.data())
def test_merging_is_what_taking_rows_one_by_one_gives(name: str, data: st.DataObject) -> None:
    options = OPTIONS[name]
    takes_back = name != "aggregation, removing"
    rows = data.draw(rows_of([0, 1, 2, 3] if takes_back else [0, 2, 3]))
    found = merge(merge_rule(schema(options)), table(rows))
    assert texts(found.to_pylist()) == texts(model(options, rows))
    audited = merge(merge_rule(schema(options)), table(rows), kinds=True).to_pylist()
    assert texts([row for row in audited if row["_VALUE_KIND"] in (0, 2)]) == texts(found.to_pylist())
    keys = [(row["k"], row["j"]) for row in audited]
    assert len(keys) == len(set(keys))
    assert set(keys) <= {(row["k"], row["j"]) for row in rows}
    asked = deciding(schema(options)) | set(data.draw(st.sets(st.sampled_from([name for name, _ in COLUMNS]))))
    narrow = merge(of_columns(merge_rule(schema(options)), asked), table(rows))
    assert narrow.equals(found.select(narrow.column_names))
    assert asked == set(narrow.column_names)


@pytest.mark.parametrize("seed", range(4))
def test_merging_is_what_a_window_gives(spark: SparkSession, seed: int) -> None:
    choose = random.Random(seed)
    rows = [
        {"k": choose.randrange(200), "j": choose.choice("xy"), "a": choose.choice([None, 1, 2, 3]),
         "b": choose.random(), "c": choose.choice([None, "p", "q"]), "s": choose.choice([None, *range(5)]),
         "_SEQUENCE_NUMBER": number, "_VALUE_KIND": choose.choice([0, 0, 0, 2, 3]), "_LEVEL": 0}
        for number in range(3000)
    ]  # fmt: skip
    choose.shuffle(rows)
    spark.createDataFrame(table(rows)).createOrReplaceTempView("merge_rows")
    by = {"by sequence": "s ASC NULLS FIRST,", "deduplicate": ""}
    for name, user in by.items():
        found = merge(merge_rule(schema(OPTIONS[name])), table(rows))
        order = user.replace("ASC NULLS FIRST", "DESC NULLS LAST")
        window = spark.sql(
            f"SELECT k, j, a, b, c, s FROM (SELECT *, row_number() OVER (PARTITION BY k, j ORDER BY {order} "
            "_SEQUENCE_NUMBER DESC) AS rn FROM merge_rows) WHERE rn = 1 AND _VALUE_KIND IN (0, 2)"
        )
        assert texts(found.to_pylist()) == texts(window.toArrow().to_pylist())
    added = [row for row in rows if row["_VALUE_KIND"] in (0, 2)]
    spark.createDataFrame(table(added)).createOrReplaceTempView("merge_rows")
    partly = merge(merge_rule(schema(OPTIONS["partial"])), table(added))
    last = ", ".join(
        f"max_by({name}, _SEQUENCE_NUMBER) FILTER (WHERE {name} IS NOT NULL) AS {name}" for name in ("a", "b", "c", "s")
    )
    window = spark.sql(f"SELECT k, j, {last} FROM merge_rows GROUP BY k, j")
    assert texts(partly.to_pylist()) == texts(window.toArrow().to_pylist())
    options = {**OPTIONS["groups, aggregated"], "fields.c.aggregate-function": "min"}
    in_groups = merge(merge_rule(schema(options)), table(added))
    there = "FILTER (WHERE s IS NOT NULL OR alone)"  # a key's only row is not merged
    window = spark.sql(
        f"SELECT k, j, cast(sum(a) {there} AS int) AS a, max(b) {there} AS b, min(c) {there} AS c, max(s) AS s "
        "FROM (SELECT *, count(*) OVER (PARTITION BY k, j) = 1 AS alone FROM merge_rows) GROUP BY k, j"
    )
    assert texts(in_groups.to_pylist()) == texts(window.toArrow().to_pylist())
    options = {**OPTIONS["aggregation"], "fields.c.aggregate-function": "max"}
    summed = merge(merge_rule(schema(options)), table(added))
    window = spark.sql(
        "SELECT k, j, cast(sum(a) AS int) AS a, max(b) AS b, max(c) AS c, "
        "max_by(s, _SEQUENCE_NUMBER) FILTER (WHERE s IS NOT NULL) AS s FROM merge_rows GROUP BY k, j"
    )
    assert texts(summed.to_pylist()) == texts(window.toArrow().to_pylist())


def test_a_number_that_does_not_fit_is_refused_not_wrapped() -> None:
    most = {"k": 1, "j": "x", "a": 2**31 - 1, "b": None, "c": None, "s": None, "_VALUE_KIND": 0, "_LEVEL": 0}
    rows = [{**most, "_SEQUENCE_NUMBER": number} for number in (1, 2)]
    for function in ("sum", "product"):
        options = {"merge-engine": "aggregation", "fields.a.aggregate-function": function}
        with pytest.raises(Unsupported, match="does not fit"):
            merge(merge_rule(schema(options)), table(rows))


@pytest.mark.parametrize("engine", ["aggregation", "partial-update"])
def test_an_unknown_function_refuses_merged_rows_and_writers(engine: str) -> None:
    options = {"merge-engine": engine, "fields.s.sequence-group": "a", "fields.a.aggregate-function": "rbm32"}
    with pytest.raises(Unsupported, match="'rbm32'"):
        merge_rule(schema(options))
    rule = read_rule(schema(options), options)
    row = {"j": "x", "a": 7, "b": None, "c": None, "s": 1, "_VALUE_KIND": 0, "_LEVEL": 0}
    alone = [{**row, "k": number, "_SEQUENCE_NUMBER": number} for number in (1, 2)]
    assert merge(rule, table(alone))["a"].to_pylist() == [7, 7]
    with pytest.raises(Unsupported, match="'rbm32'"):
        merge(rule, table([*alone, {**alone[0], "_SEQUENCE_NUMBER": 3}]))


DECIMALS = ("DECIMAL(38, 2)", "DECIMAL(38, 0)", "DECIMAL(19, 9)", "DECIMAL(29, 1)", "DECIMAL(18, 2)", "DECIMAL(9, 0)")


@tries(150)
@given(st.sampled_from(DECIMALS), st.data())
def test_sums_of_decimals_lose_no_digit(of: str, data: st.DataObject) -> None:
    """Beside whole numbers of Python, which have no end; beyond the type the engine's null, or none at all."""
    to = arrow(parse(of))
    most = 10**to.precision - 1
    values = st.none() | st.integers(-most, most) | st.sampled_from([most, -most, 10**28 + 1, 679, 2, -1])
    taken = st.lists(st.tuples(st.integers(0, 2), values.filter(lambda n: n is None or abs(n) <= most),
                               st.sampled_from([0, 0, 0, 3])), min_size=1, max_size=12)  # fmt: skip
    rows = data.draw(taken)
    fields = (Field(0, "k", "INT NOT NULL"), Field(1, "v", of))
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    rule = merge_rule(Schema(0, fields, (), ("k",), options, 0))
    of_key: dict[int, list[tuple[int | None, int]]] = {}
    for key, number, kind in rows:
        of_key.setdefault(key, []).append((number, kind))
    wanted: dict[int, int | None] = {}
    beyond = False
    for key, members in of_key.items():
        total: int | None = None
        for number, kind in members:
            signed = None if number is None else -number if kind else number
            if signed is not None:
                total = signed if total is None else total + signed
                if abs(total) > most:
                    beyond, total = True, None
        if len(members) == 1:
            total = members[0][0]
        if len(members) > 1 or not members[0][1]:
            wanted[key] = total
    given_rows = pa.table({
        "k": pa.array([row[0] for row in rows], pa.int32()),
        "v": pa.array([None if n is None else decimals.number(n, to.scale) for _, n, _ in rows], to),
        "_SEQUENCE_NUMBER": pa.array(range(len(rows)), pa.int64()),
        "_VALUE_KIND": pa.array([row[2] for row in rows], pa.int8()),
        "_LEVEL": pa.array([0] * len(rows), pa.int32()),
    })  # fmt: skip
    if beyond and to.precision <= 18:
        with pytest.raises(Unsupported, match="does not fit"):
            merge(rule, given_rows)
        return
    found = merge(rule, given_rows)
    found.validate(full=True)
    told = {row["k"]: row["v"] for row in found.to_pylist()}
    assert {k: None if v is None else decimals.unscaled(v, to.scale) for k, v in told.items()} == wanted
    if beyond:
        with pytest.raises(
            Unsupported,
            match=(
                ": every reader sees NULL until it is corrected, and once written its rows could no longer be summed"
            ),
        ):
            merge(rule, given_rows, stored=True)
    else:
        merge(rule, given_rows, stored=True)


def test_floats_are_ordered_as_java_orders_them() -> None:
    values = [float("nan"), float("inf"), 1.0, 0.0, -0.0, -1.0, float("-inf"), None]
    found = ranks(pa.array(values, pa.float64())).tolist()
    assert sorted(range(len(values)), key=lambda at: found[at]) == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"merge-engine": "newest"}, "'newest'"),
        ({"sequence.snapshot-ordering": "true"}, "sequence.snapshot-ordering"),
        ({"sequence.field": "gone"}, "'gone'"),
        ({"merge-engine": "aggregation", "fields.a.aggregate-function": "hll_sketch"}, "hll_sketch"),
        ({"merge-engine": "aggregation", "fields.default-aggregate-function": "collect"}, "collect"),
        ({"merge-engine": "aggregation", "fields.c.aggregate-function": "sum"}, "'c'"),
        ({"merge-engine": "partial-update", "fields.a.aggregate-function": "sum"}, "'a'"),
        ({"merge-engine": "partial-update", "fields.default-aggregate-function": "max"}, "'a'"),
        (
            {
                "merge-engine": "partial-update",
                "fields.s.sequence-group": "a",
                "fields.a.aggregate-function": "sum",
                "fields.b.aggregate-function": "sum",
            },
            "'b'",
        ),
        (
            {
                "merge-engine": "partial-update",
                "fields.s.sequence-group": "a",
                "fields.a.aggregate-function": "merge_map",
            },
            "merge_map",
        ),
        (
            {"merge-engine": "partial-update", "fields.s.sequence-group": "a", "fields.b.sequence-group": "a"},
            "'a'",
        ),
        ({"merge-engine": "partial-update", "fields.gone.sequence-group": "a"}, "'gone'"),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(options: Mapping[str, str], says: str) -> None:
    with pytest.raises(Unsupported) as caught:
        merge_rule(schema(options))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"merge-engine": "partial-update"}, "partial-update"),
        ({"merge-engine": "aggregation", "fields.a.aggregate-function": "max"}, "'max'"),
        (
            {
                "merge-engine": "partial-update",
                "fields.s.sequence-group": "a",
                "fields.a.aggregate-function": "max",
                "partial-update.remove-record-on-sequence-group": "s",  # `a` comes before it, and is taken back first
            },
            "'max'",
        ),
    ],
)
def test_a_retraction_that_the_engine_would_not_take_is_refused(options: Mapping[str, str], says: str) -> None:
    row = {"k": 1, "j": "x", "a": 1, "b": None, "c": None, "s": 1, "_LEVEL": 0}
    rows = [{**row, "_SEQUENCE_NUMBER": number, "_VALUE_KIND": kind} for number, kind in ((1, 0), (2, 3))]
    with pytest.raises(Unsupported) as caught:
        merge(merge_rule(schema(options)), table(rows))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [(1, 2, 3, None), (2, 3, 0, 7), (3, 4, 1, 1)]),
        ({"merge-engine": "first-row", "ignore-delete": "true"}, [(1, 0, 0, 5), (2, 1, 2, None), (3, 4, 1, 1)]),
        ({"merge-engine": "partial-update", "ignore-delete": "true"}, [(1, 0, 0, 5), (2, 3, 0, 7), (3, 4, 1, 1)]),
        ({"deduplicate.ignore-delete": "true"}, [(1, 0, 0, 5), (2, 3, 0, 7), (3, 4, 1, 1)]),
        (
            {"deduplicate.ignore-delete": "true", "ignore-delete": "false"},
            [(1, 2, 3, None), (2, 3, 0, 7), (3, 4, 1, 1)],
        ),
        (
            {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
            [(1, 2, 3, None), (2, 3, 0, 7), (3, 4, 1, 1)],
        ),
        (
            {"merge-engine": "aggregation", "fields.a.aggregate-function": "sum"},
            [(1, 2, 0, 5), (2, 3, 0, 7), (3, 4, 1, 1)],
        ),
    ],
)
def test_rows_as_files_hold_them(options: Mapping[str, str], wanted: list[tuple[Any, ...]]) -> None:
    """(key, number, kind, value): of the last row that counts; a key's only row keeps its kind."""
    fields = (Field(0, "k", "INT NOT NULL"), Field(1, "a", "INT"))
    rule = merge_rule(Schema(0, fields, (), ("k",), dict(options), 0))
    rows = {
        "k": [1, 2, 1, 2, 3], "a": [5, None, None, 7, 1], "_SEQUENCE_NUMBER": [0, 1, 2, 3, 4],
        "_VALUE_KIND": [0, 2, 3, 0, 1], "_LEVEL": [0] * 5,
    }  # fmt: skip
    found = merge(rule, pa.table({name: pa.array(each, ARROW[name]) for name, each in rows.items()}), stored=True)
    assert found.column_names == ["_SEQUENCE_NUMBER", "_VALUE_KIND", "k", "a"]
    assert sorted((row["k"], *list(row.values())[:2], row["a"]) for row in found.to_pylist()) == wanted


def test_arrays_are_collected_and_maps_merged() -> None:
    """As Paimon 2.0 does, retractions too: nulls change nothing, and of a sequence group older arrays come last."""
    of = {"type": "ARRAY", "element": "INT"}, {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}
    fields = [Field(0, "k", "INT NOT NULL"), Field(1, "a", of[0]), Field(2, "m", of[1]), Field(3, "s", "INT")]
    functions = {"fields.a.aggregate-function": "collect", "fields.m.aggregate-function": "merge_map"}
    rows = [
        (None, [("x", 1)], 2, 0), ([1, 2, 1], [("x", 2), ("y", 3)], 2, 0), ([], None, 2, 0),
        ([4], [("x", 9), ("z", 4)], 1, 0), ([1, 7], [("y", 0)], 2, 1),
    ]  # fmt: skip
    schema = pa.schema({field.name: arrow(parse(field.type), micros=True) for field in fields})
    for more, count, wanted in (
        ({"merge-engine": "aggregation"}, 4, ([1, 2, 1, 4], {"x": 9, "y": 3, "z": 4})),
        ({"merge-engine": "aggregation"}, 5, ([2, 1, 4], {"x": 9, "z": 4})),
        (
            {"merge-engine": "partial-update", "fields.s.sequence-group": "a,m"},
            4,
            ([1, 2, 1, 4], {"x": 2, "y": 3, "z": 4}),
        ),
    ):
        some = rows[:count]
        table = pa.Table.from_pylist([{"k": 1, "a": a, "m": m, "s": s} for a, m, s, _ in some], schema)
        table = table.append_column("_SEQUENCE_NUMBER", pa.array(range(count), pa.int64()))
        table = table.append_column("_VALUE_KIND", pa.array([kind for *_, kind in some], pa.int8()))
        table = table.append_column("_LEVEL", pa.array([0] * count, pa.int32()))
        rule = merge_rule(Schema(0, tuple(fields), (), ("k",), {**functions, **more}, 0))
        (found,) = merge(rule, table).to_pylist()
        assert (found["a"], dict(found["m"])) == wanted
