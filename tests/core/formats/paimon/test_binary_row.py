"""BinaryRow: bytes of real rows, decode as the inverse of encode, and rejection of malformed bytes."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt, Invalid, SnapscopeError, Unsupported
from core.formats.paimon import binary_row

NAIVE = st.datetimes()
WIDE_NULLS = "00000002 0003000000000000 0000000018000000 0000000028000000" + "00" * 24  # places are kept for both

VECTORS: list[tuple[list[str], tuple[Any, ...], str]] = [
    ([], (), "00000000 0000000000000000"),
    (["STRING"], ("p0",), "00000001 00000000 00000000 70300000 00000082"),
    (["DATE"], (dt.date(2024, 1, 1),), "00000001 0000000000000000 0b4d000000000000"),
    (["INT"], (None,), "00000001 0001000000000000 0000000000000000"),
    (["INT"], (-1,), "00000001 0000000000000000 ffffffff00000000"),
    (["STRING"], ("7 bytes",), "00000001 0000000000000000 37206279746573 87"),
    (["STRING"], ("8 bytes!",), "00000001 0000000000000000 08000000 10000000 3820627974657321"),
    (["STRING"], ("",), "00000001 0000000000000000 0000000000000080"),
    (["BOOLEAN"], (True,), "00000001 0000000000000000 0100000000000000"),
    (["DECIMAL(10, 2)"], (Decimal("-1.25"),), "00000001 0000000000000000 83ffffffffffffff"),
    (
        ["DECIMAL(20, 2)"],
        (Decimal("-1.25"),),
        "00000001 0000000000000000 01000000 10000000 83000000000000000000000000000000",
    ),
    (
        ["TIMESTAMP(6)"],
        (dt.datetime(1970, 1, 1, 0, 0, 1, 234567),),
        "00000001 0000000000000000 d8a60800 10000000 d204000000000000",
    ),
    (["TIMESTAMP(3)"], (dt.datetime(1970, 1, 1, 0, 0, 1, 234000),), "00000001 0000000000000000 d204000000000000"),
    (["DECIMAL(20, 2)", "TIMESTAMP(6)"], (None, None), WIDE_NULLS),
]


@pytest.mark.parametrize(("types", "values", "stored"), VECTORS)
def test_known_rows_are_met_byte_for_byte(types: list[str], values: tuple[Any, ...], stored: str) -> None:
    data = bytes.fromhex(stored)
    assert binary_row.encode(values, types) == data
    assert binary_row.decode(data, types) == values


def decimals(size: int, scale: int) -> st.SearchStrategy[Decimal]:
    return st.integers(-(10**size) + 1, 10**size - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-scale))


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BOOLEAN": st.booleans(),
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INT NOT NULL": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "FLOAT": st.floats(width=32, allow_nan=False),
    "DOUBLE": st.floats(allow_nan=False),
    "STRING": st.text(),
    "VARCHAR(20)": st.text(max_size=20),
    "CHAR(3)": st.text(max_size=3),
    "BYTES": st.binary(),
    "BINARY(4)": st.binary(max_size=20),
    "DATE": st.dates(),
    "TIME(3)": st.times().map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)),
    "TIMESTAMP(3)": NAIVE.map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)),
    "TIMESTAMP(6)": NAIVE,
    "TIMESTAMP(9) WITH LOCAL TIME ZONE": st.datetimes(timezones=st.just(dt.UTC)),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": NAIVE.map(lambda at: at.replace(microsecond=0, tzinfo=dt.UTC)),
    "DECIMAL(18, 4)": decimals(18, 4),
    "DECIMAL(38, 10)": decimals(38, 10),
}


@given(st.data())
def test_decode_undoes_encode_for_rows_of_any_arity(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=70))
    values = tuple(data.draw(st.none() | VALUES[of]) for of in types)
    stored = binary_row.encode(values, types)
    assert binary_row.decode(stored, types) == values
    assert binary_row.encode(binary_row.decode(stored, types), types) == stored
    assert len(stored) % 8 == 4


@given(st.binary(max_size=80), st.lists(st.sampled_from(sorted(VALUES)), max_size=4))
def test_arbitrary_bytes_give_values_or_a_sentence(data: bytes, types: list[str]) -> None:
    try:
        values = binary_row.decode(data, types)
    except SnapscopeError as error:
        assert isinstance(error, Corrupt)
        assert error.message.endswith(".")
    else:
        assert len(values) == len(types)


@pytest.mark.parametrize(
    ("stored", "types", "says"),
    [
        ("", ["INT"], "shorter than 4 bytes"),
        ("00000002 0000000000000000 0000000000000000 0000000000000000", ["INT"], "2 fields, expected 1"),
        ("00000001 0000000000000000", ["INT"], "fields need at least 16"),
        ("00000001 0000000000000000 00000000000000ff", ["STRING"], "cannot hold 127 bytes"),
        ("00000001 0000000000000000 0900000010000000 3820627974657321", ["STRING"], "outside the row"),
        ("00000001 0000000000000000 0800000008000000 3820627974657321", ["STRING"], "outside the row"),
        ("00000001 0000000000000000 ff00000000000081", ["STRING"], "utf-8"),
        ("00000001 0000000000000000 0000000018000000 0000000000000000", ["TIMESTAMP(6)"], "outside the row"),
        ("00000001 0000000000000000 005c260500000000", ["TIME"], "no millisecond of a day"),
        ("00000001 0000000000000000 ffffff7f00000000", ["DATE"], "not a valid DATE"),
    ],
)
def test_malformed_rows_are_refused_with_the_reason(stored: str, types: list[str], says: str) -> None:
    with pytest.raises(Corrupt, match=says):
        binary_row.decode(bytes.fromhex(stored), types)


@pytest.mark.parametrize(
    ("value", "of"),
    [
        (128, "TINYINT"),
        ("x", "INT"),
        (1, "STRING"),
        ("false", "BOOLEAN"),
        (Decimal("1.234"), "DECIMAL(10, 2)"),
        (Decimal(123456789), "DECIMAL(10, 2)"),
        (dt.datetime(2024, 1, 1), "TIMESTAMP_LTZ(3)"),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "TIMESTAMP(3)"),
    ],
)
def test_values_that_do_not_fit_are_invalid(value: Any, of: str) -> None:
    with pytest.raises(Invalid):
        binary_row.encode((value,), (of,))


def test_nested_values_are_refused_by_name_and_their_nulls_are_read() -> None:
    assert binary_row.decode(binary_row.encode((None,), ("ARRAY<INT>",)), ("ARRAY<INT>",)) == (None,)
    with pytest.raises(Unsupported, match="ARRAY<INT>"):
        binary_row.encode(([1],), ("ARRAY<INT>",))


# (id, bucket of 2) as Java Paimon 0.9 placed the keys of a real table
PLACED = [(0, 1), (1, 0), (2, 0), (3, 1), (4, 0), (5, 0), (6, 0), (7, 1)]


@pytest.mark.parametrize(("key", "bucket"), PLACED)
def test_keys_hash_into_the_buckets_the_engine_chose(key: int, bucket: int) -> None:
    row = binary_row.encode((key,), ("INT NOT NULL",))[4:]
    assert abs(int(math.fmod(binary_row.bucket_hash(row), 2))) == bucket


@pytest.mark.parametrize("of", ["TIMESTAMP(9)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"])
def test_nanoseconds_are_kept(of: str) -> None:
    zone = dt.UTC if "ZONE" in of else None
    row = binary_row.encode((dt.datetime(2026, 1, 2, 3, 4, 5, 123456, zone),), (of,))
    slot = int.from_bytes(row[12:20], "little")
    finer = row[:12] + (slot + 789).to_bytes(8, "little") + row[20:]
    (value,) = binary_row.decode(finer, (of,))
    assert (value.microsecond, value.nanosecond) == (123456, 789)
    assert binary_row.encode((value,), (of,)) == finer


def test_hash_takes_whole_words_only() -> None:
    with pytest.raises(Invalid, match="multiple of 4"):
        binary_row.bucket_hash(b"abc")


def test_statistics_of_real_files_decode_and_encode_to_the_same_bytes() -> None:
    """Rows written by Java Paimon 0.9: columns INT, STRING, DOUBLE, BIGINT and a partitioned key table."""
    real = bytes.fromhex(
        "00000004000000000000000003010000000000000900000028000000000000000036914003010000000000007666303133376564"
        "6400000000000000"
    )
    types = ["INT", "STRING", "DOUBLE", "BIGINT"]
    values = binary_row.decode(real, types)
    assert values == (259, "vf0137edd", 1101.5, 259)
    assert binary_row.encode(values, types) == real
