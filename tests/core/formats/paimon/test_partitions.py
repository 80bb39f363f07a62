"""Partition directories. tests/interop/test_partition_names.py compares their names with the engine's."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pytest

from core.errors import Unsupported
from core.formats.paimon import binary_row, partitions
from core.formats.paimon.partitions import UNNAMED

UTC = dt.UTC
CLOCK = "TIMESTAMP(6)"
FINE = binary_row.Nano(2026, 1, 2, 3, 4, 5, 123456)
FINE.nanosecond = 700

LEGACY: list[tuple[str, Any, str]] = [
    ("STRING", "v", "v"),
    ("BOOLEAN", True, "true"),
    ("BOOLEAN", False, "false"),
    ("INT", -5, "-5"),
    ("BIGINT", 2**63 - 1, "9223372036854775807"),
    ("DATE", dt.date(1970, 1, 1), "0"),
    ("DATE", dt.date(2024, 1, 1), "19723"),
    ("DATE", dt.date(1969, 12, 31), "-1"),
    ("DATE", dt.date(1, 1, 1), "-719162"),
    ("TIME(3)", dt.time(0, 0), "0"),
    ("TIME(3)", dt.time(23, 59, 59, 999000), "86399999"),
    (CLOCK, dt.datetime(2024, 1, 1), "2024-01-01T00:00"),
    (CLOCK, dt.datetime(2024, 1, 1, 9, 8, 7), "2024-01-01T09:08:07"),
    (CLOCK, dt.datetime(2024, 1, 1, 0, 0, 0, 120000), "2024-01-01T00:00:00.120"),
    (CLOCK, dt.datetime(2024, 1, 1, 0, 0, 0, 1), "2024-01-01T00:00:00.000001"),
    ("TIMESTAMP(9)", FINE, "2026-01-02T03:04:05.123456700"),
    ("TIMESTAMP(3) WITH LOCAL TIME ZONE", dt.datetime(2024, 1, 1, 9, 8, 7, tzinfo=UTC), "2024-01-01T09:08:07"),
    ("DECIMAL(5, 2)", decimal.Decimal("1.50"), "1.50"),
    ("DECIMAL(38, 10)", decimal.Decimal("1E-10"), "0.0000000001"),
    ("DOUBLE", 1.0, "1.0"),
    ("DOUBLE", 0.001, "0.001"),
    ("DOUBLE", 9999999.0, "9999999.0"),
    ("DOUBLE", 1e7, "1.0E7"),
    ("DOUBLE", 1e-5, "1.0E-5"),
    ("DOUBLE", -0.0, "-0.0"),
    ("DOUBLE", float("nan"), "NaN"),
    ("DOUBLE", float("-inf"), "-Infinity"),
    ("FLOAT", 1 / 3, "0.33333334"),
    ("FLOAT", 16777216.0, "1.6777216E7"),
    ("FLOAT", 1e-4, "1.0E-4"),
]

SQL: list[tuple[str, Any, str]] = [
    ("DATE", dt.date(2024, 1, 1), "2024-01-01"),
    ("DATE", dt.date(7, 1, 1), "0007-01-01"),
    ("TIMESTAMP(0)", dt.datetime(2024, 1, 1, 9, 8, 7), "2024-01-01 09:08:07"),
    ("TIMESTAMP(3)", dt.datetime(7, 1, 1), "0007-01-01 00:00:00.000"),
    ("TIMESTAMP(6)", dt.datetime(2024, 1, 1, 9, 8, 7, 120000), "2024-01-01 09:08:07.120000"),
    ("TIMESTAMP(9)", FINE, "2026-01-02 03:04:05.123456700"),
    ("TIME(0)", dt.time(9, 8, 7), "09:08:07"),
    ("TIME(3)", dt.time(9, 8, 0), "09:08:00.0"),
    ("TIME(3)", dt.time(9, 8, 7, 120000), "09:08:07.12"),
    ("INT", 5, "5"),
    ("BOOLEAN", True, "true"),
    ("STRING", "x", "x"),
    ("BYTES", b"ab", "ab"),
]


def name(of: str, value: Any, **options: Any) -> str:
    """The value stored, read back and named."""
    (stored,) = binary_row.decode(binary_row.encode((value,), (of,)), (of,))
    return partitions.path(["k"], [of], [stored], **options).removeprefix("k=").replace("%3A", ":")


@pytest.mark.parametrize(("of", "value", "text"), LEGACY)
def test_values_stand_as_java_prints_them(of: str, value: Any, text: str) -> None:
    assert name(of, value) == text


@pytest.mark.parametrize(("of", "value", "text"), SQL)
def test_values_cast_to_text_where_legacy_names_are_off(of: str, value: Any, text: str) -> None:
    assert name(of, value, is_legacy=False) == text


@pytest.mark.parametrize(
    ("of", "value", "is_legacy"),
    [
        ("BYTES", b"ab", True),
        ("BINARY(2)", b"ab", True),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", dt.datetime(2024, 1, 1, tzinfo=UTC), False),
    ],
)
def test_a_name_made_of_more_than_the_value_is_refused(of: str, value: Any, is_legacy: bool) -> None:
    with pytest.raises(Unsupported, match=", and the metadata does not record that"):
        name(of, value, is_legacy=is_legacy)
    assert name(of, None, is_legacy=is_legacy) == UNNAMED


def test_null_and_blank_share_the_default_directory() -> None:
    blanks = [None, "", " ", "  \t\n", "\x0b\x0c\x1c\x1d\x1e\x1f", "\u3000", "\u2028"]
    assert {name("STRING", value) for value in blanks} == {UNNAMED}
    assert name("STRING", "", unnamed="none") == "none"


@pytest.mark.parametrize("text", ["\xa0", "\x85", "\u2007", "\u202f", "\ufeff", "\u200b"])
def test_what_java_does_not_call_whitespace_is_a_value(text: str) -> None:
    """Python strips more than Java: such a directory would be looked for under another name."""
    assert name("STRING", text) == text


def test_paths() -> None:
    text = ["STRING", "STRING"]
    assert partitions.path([], [], []) == ""
    assert partitions.path(["dt"], text[:1], ["2026-01-01"]) == "dt=2026-01-01"
    assert partitions.path(["a=b", "c"], text, ["x/y", None]) == f"a%3Db=x%2Fy/c={UNNAMED}"
    assert partitions.path(["d"], text[:1], [None], unnamed="a/b") == "d=a%2Fb"
    with pytest.raises(ValueError, match="shorter"):
        partitions.path(["a", "b"], text, ["x"])
