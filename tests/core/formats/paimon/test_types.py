"""Paimon's types: both written forms, the Spark and Arrow names, and rejection by name."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt, Unsupported
from core.formats.paimon import types
from core.formats.paimon.types import PaimonType, RowField


@pytest.mark.parametrize(
    ("written", "canonical", "spark", "arrow"),
    [
        ("BOOLEAN", "BOOLEAN", "boolean", pa.bool_()),
        ("tinyint", "TINYINT", "tinyint", pa.int8()),
        ("SMALLINT", "SMALLINT", "smallint", pa.int16()),
        ("INT NOT NULL", "INT NOT NULL", "int", pa.int32()),
        ("INTEGER NULL", "INT", "int", pa.int32()),
        ("BIGINT", "BIGINT", "bigint", pa.int64()),
        ("FLOAT", "FLOAT", "float", pa.float32()),
        ("DOUBLE PRECISION", "DOUBLE", "double", pa.float64()),
        ("DATE", "DATE", "date", pa.date32()),
        ("STRING", "STRING", "string", pa.string()),
        ("VARCHAR(2147483647)", "STRING", "string", pa.string()),
        ("VARCHAR(20) NOT NULL", "VARCHAR(20) NOT NULL", "string", pa.string()),
        ("VARCHAR", "VARCHAR(1)", "string", pa.string()),
        ("CHAR(3)", "CHAR(3)", "string", pa.string()),
        ("BYTES", "BYTES", "binary", pa.binary()),
        ("BINARY(4)", "BINARY(4)", "binary", pa.binary()),
        ("VARBINARY(9)", "VARBINARY(9)", "binary", pa.binary()),
        ("DECIMAL", "DECIMAL(10, 0)", "decimal(10,0)", pa.decimal128(10, 0)),
        ("DECIMAL(12)", "DECIMAL(12, 0)", "decimal(12,0)", pa.decimal128(12, 0)),
        ("NUMERIC( 38 , 18 )", "DECIMAL(38, 18)", "decimal(38,18)", pa.decimal128(38, 18)),
        ("TIMESTAMP", "TIMESTAMP(6)", "timestamp_ntz", pa.timestamp("us")),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)", "timestamp_ntz", pa.timestamp("ms")),
        ("TIMESTAMP(9) NOT NULL", "TIMESTAMP(9) NOT NULL", "timestamp_ntz", pa.timestamp("ns")),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "timestamp", pa.timestamp("ms", "UTC")),
        (
            "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL",
            "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL",
            "timestamp",
            pa.timestamp("us", "UTC"),
        ),
        ("ARRAY<INT NOT NULL>", "ARRAY<INT NOT NULL>", "array<int>", None),
        ("MAP<STRING, ARRAY<DOUBLE>>", "MAP<STRING, ARRAY<DOUBLE>>", "map<string,array<double>>", None),
        ("MULTISET<STRING>", "MULTISET<STRING>", "map<string,int>", None),
        (
            "ROW<`a b` INT 'it''s', c STRING NOT NULL> NOT NULL",
            "ROW<`a b` INT 'it''s', `c` STRING NOT NULL> NOT NULL",
            "struct<`a b`:int,`c`:string>",
            None,
        ),
    ],
)
def test_text_is_parsed_and_named_in_spark_and_arrow(written: str, canonical: str, spark: str, arrow: Any) -> None:
    parsed = types.parse(written)
    assert types.text(parsed) == canonical
    assert types.spark(parsed) == spark
    assert arrow is None or types.arrow(parsed) == arrow
    assert types.parse(parsed) is parsed


def test_objects_of_a_schema_file_keep_ids_names_and_descriptions() -> None:
    written = {
        "type": "ROW NOT NULL",
        "fields": [
            {"id": 7, "name": "a", "type": "INT", "description": "first"},
            {"id": 9, "name": "m", "type": {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"}},
            {"id": 10, "name": "l", "type": {"type": "ARRAY", "element": {"type": "MULTISET", "element": "DATE"}}},
        ],
    }
    parsed = types.parse(written)
    assert not parsed.nullable
    told = [(field.id, field.name, field.description) for field in parsed.fields]
    assert told == [(7, "a", "first"), (9, "m", None), (10, "l", None)]
    assert types.to_json(parsed) == written
    assert types.arrow(parsed).field("m").type == pa.map_(pa.string(), pa.int64())


SIMPLE = st.sampled_from(
    [
        *(PaimonType(root) for root in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")),
        *(PaimonType(root) for root in ("VARIANT", "BLOB")),
        PaimonType("VARCHAR", size=types.MAX_LENGTH),
        PaimonType("VARBINARY", size=12),
        PaimonType("CHAR", size=3),
        PaimonType("DECIMAL", size=20, scale=5),
        PaimonType("TIME", size=3),
        PaimonType("TIMESTAMP", size=0),
        PaimonType("TIMESTAMP_LTZ", size=9),
    ]
)


def nested(inner: st.SearchStrategy[PaimonType]) -> st.SearchStrategy[PaimonType]:
    fields = st.lists(st.tuples(st.text(min_size=1), inner, st.none() | st.text()), max_size=4).map(
        lambda drawn: tuple(RowField(at, name, of, text) for at, (name, of, text) in enumerate(drawn))
    )
    return (
        st.tuples(st.sampled_from(["ARRAY", "MULTISET"]), inner).map(lambda a: PaimonType(a[0], args=(a[1],)))
        | st.tuples(inner, inner).map(lambda a: PaimonType("MAP", args=a))
        | inner.map(lambda a: PaimonType("VECTOR", size=8, args=(a,)))
        | fields.map(lambda drawn: PaimonType("ROW", fields=drawn))
    )


TYPES = st.recursive(
    st.tuples(SIMPLE, st.booleans()).map(lambda a: PaimonType(a[0].root, a[1], a[0].size, a[0].scale)),
    nested,
    max_leaves=8,
)


@given(TYPES)
def test_both_written_forms_parse_back_to_the_same_type(of: PaimonType) -> None:
    assert types.parse(types.text(of)) == of
    assert types.parse(json.loads(json.dumps(types.to_json(of)))) == of


@pytest.mark.parametrize("name", ["GEOMETRY", "INTERVAL", "UNKNOWN_THING(3)", "ARRAY<GEOMETRY>"])
def test_unknown_types_are_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(name)):
        types.parse(name)


@pytest.mark.parametrize(
    "broken",
    ["", "  ", "INT NOT", "DECIMAL(", "DECIMAL(a)", "ARRAY<INT", "MAP<INT>", "INT)", "12", "ROW<a>", "CHAR(3) X", "é"],
)
def test_text_that_is_no_type_is_corrupt(broken: str) -> None:
    with pytest.raises(Corrupt):
        types.parse(broken)


@pytest.mark.parametrize(
    "broken", [{}, {"type": 3}, {"type": "ARRAY"}, {"type": "ROW", "fields": 1}, {"type": "MAP X"}, 7]
)
def test_objects_that_are_no_type_are_corrupt(broken: Any) -> None:
    with pytest.raises(Corrupt):
        types.parse(broken)


@pytest.mark.parametrize("name", ["VARIANT", "BLOB", "TIME(3)", "VECTOR<FLOAT, 4>"])
def test_what_spark_cannot_read_is_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(name)):
        types.spark(types.parse(name))
