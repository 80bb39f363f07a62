"""Names and paths: escaping, partition directories, buckets, what is a file name and what points elsewhere."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt
from core.formats.paimon import layout
from tests.core.depth import tries


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("", ""),
        ("plain-2026_01.x", "plain-2026_01.x"),
        ("a/b=c%", "a%2Fb%3Dc%25"),
        ("\"#%'*/:=?\\{}[]^", "%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%7D%5B%5D%5E"),
        ("\0\t\n\r\x1f\x7f", "%00%09%0A%0D%1F%7F"),
        (" <>|&+,;@!~`$()", " <>|&+,;@!~`$()"),
        ("ünï 日本 😀", "ünï 日本 😀"),
        ("%2F", "%252F"),
        ("\x80\x9f\xa0", "\x80\x9f\xa0"),
    ],
)
def test_escaping(text: str, escaped: str) -> None:
    assert layout.escape(text) == escaped


@tries(200)
@given(st.text())
def test_escaping_can_be_undone_and_names_one_directory(text: str) -> None:
    escaped = layout.escape(text)
    assert not set(escaped) & (set("/\\\"#'*:=?{}[]^") | {chr(code) for code in range(0x20)})
    assert re.sub(r"%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), escaped) == text
    if text.isascii():
        assert unquote(escaped) == text


UTC = dt.UTC
LEGACY: list[tuple[Any, str]] = [
    ("v", "v"),
    (True, "true"),
    (False, "false"),
    (0, "0"),
    (-5, "-5"),
    (2**63 - 1, "9223372036854775807"),
    (dt.date(1970, 1, 1), "0"),
    (dt.date(2024, 1, 1), "19723"),
    (dt.date(1969, 12, 31), "-1"),
    (dt.date(1, 1, 1), "-719162"),
    (dt.time(0, 0), "0"),
    (dt.time(23, 59, 59, 999_000), "86399999"),
    (dt.datetime(2024, 1, 1), "2024-01-01T00:00"),
    (dt.datetime(2024, 1, 1, 0, 0, 5), "2024-01-01T00:00:05"),
    (dt.datetime(2024, 1, 1, 0, 0, 0, 120_000), "2024-01-01T00:00:00.120"),
    (dt.datetime(2024, 1, 1, 0, 0, 0, 123_456), "2024-01-01T00:00:00.123456"),
    (dt.datetime(2024, 1, 1, 9, 8, tzinfo=UTC), "2024-01-01T09:08"),
    (dt.datetime(7, 1, 1), "0007-01-01T00:00"),
    (dt.datetime(999, 12, 31, 23, 59, 59), "0999-12-31T23:59:59"),
    (decimal.Decimal("1.10"), "1.10"),
    (decimal.Decimal("1E+3"), "1000"),
    (decimal.Decimal("-0.00000001"), "-0.00000001"),
    (1.0, "1.0"),
    (1e10, "1.0E10"),
    (1.5e-5, "1.5E-5"),
    (0.001, "0.001"),
    (9999999.0, "9999999.0"),
    (1e7, "1.0E7"),
    (-0.0, "-0.0"),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    (b"ab", "ab"),
]


@pytest.mark.parametrize(("value", "text"), LEGACY, ids=[repr(value) for value, _ in LEGACY])
def test_values_stand_as_java_prints_them(value: Any, text: str) -> None:
    assert layout.partition_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.date(2024, 1, 1), "2024-01-01"),
        (dt.date(7, 1, 1), "0007-01-01"),
        (dt.datetime(2024, 1, 1, 9, 8, 7), "2024-01-01 09:08:07"),
        (dt.datetime(7, 1, 1), "0007-01-01 00:00:00"),
        (dt.time(9, 8, 7), "09:08:07"),
        (5, "5"),
        (True, "true"),
        ("x", "x"),
    ],
)
def test_values_cast_to_text_where_legacy_names_are_off(value: Any, text: str) -> None:
    assert layout.partition_text(value, legacy=False) == text


def test_null_and_blank_share_the_default_directory() -> None:
    blanks = [None, "", " ", "  \t\n", "\x0b\x0c\x1c\x1d\x1e\x1f", "\u3000", "\u2028"]
    assert {layout.partition_text(value) for value in blanks} == {"__DEFAULT_PARTITION__"}
    assert layout.partition_text("", default_name="none") == "none"


@pytest.mark.parametrize("text", ["\xa0", "\x85", "\u2007", "\u202f", "\ufeff", "\u200b"])
def test_what_java_does_not_call_whitespace_is_a_value(text: str) -> None:
    """Python strips more than Java: such a directory would be looked for under another name."""
    assert layout.partition_text(text) == text


def test_partition_paths() -> None:
    assert layout.partition_path([], []) == ""
    assert layout.partition_path(["dt"], ["2026-01-01"]) == "dt=2026-01-01"
    assert layout.partition_path(["a=b", "c"], ["x/y", None]) == "a%3Db=x%2Fy/c=__DEFAULT_PARTITION__"
    assert layout.partition_path(["d"], [None], default_name="a/b") == "d=a%2Fb"
    with pytest.raises(ValueError, match="shorter"):
        layout.partition_path(["a", "b"], ["x"])


def test_buckets() -> None:
    assert [layout.bucket_dir(number) for number in (0, 7, -2)] == ["bucket-0", "bucket-7", "bucket-postpone"]


def test_references_and_hints_of_branches() -> None:
    assert layout.reference("main", "snapshot", 12) == "snapshot/snapshot-12"
    assert layout.reference("dev", "tag", "v1") == "branch/branch-dev/tag/tag-v1"
    assert layout.hint("main", "LATEST") == "snapshot/LATEST"
    assert layout.hint("dev", "EARLIEST", "changelog") == "branch/branch-dev/changelog/EARLIEST"


NO_NAMES = ["", ".", "..", "a/b", "/a", "a/", "../a", "a\\b", "a\0", "\0", "a/../b"]
NAMES = ["a", "...", "..a", "a..", ".a", "a b", "ä", "%2F", "manifest-1-0", "a:b", "a\nb", "-"]


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_points_elsewhere_is_no_file_name(name: str) -> None:
    with pytest.raises(Corrupt, match="elsewhere") as caught:
        layout.plain_name(name, "snapshot/snapshot-1")
    assert caught.value.path == "snapshot/snapshot-1"
    assert re.search(layout.NO_FILE_NAME, name)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_a_file_name(name: str) -> None:
    assert layout.plain_name(name, "x") == name
    assert not re.search(layout.NO_FILE_NAME, name)


@pytest.mark.parametrize(
    ("name", "bucket", "real"),
    [
        ("changelog-1-0.parquet", 3, ("changelog-1-0.parquet", 3)),
        ("compacted-changelog-ab$0-100.cc-parquet", 0, ("compacted-changelog-ab$0-100.cc-parquet", 0)),
        ("compacted-changelog-ab$0-100-100-50.cc-parquet", 4, ("compacted-changelog-ab$0-100.cc-parquet", 0)),
        ("compacted-changelog-ab$12-1-2-3.cc-orc", 4, ("compacted-changelog-ab$12-1.cc-orc", 12)),
        ("compacted-changelog-a$b$2-1-2-3.cc-orc", 4, ("compacted-changelog-a$b$2-1.cc-orc", 2)),
        ("compacted-changelog-ab$x-100.cc-parquet", 4, ("compacted-changelog-ab$x-100.cc-parquet", 4)),
    ],
)
def test_compacted_changelogs_lie_in_one_real_file(name: str, bucket: int, real: tuple[str, int]) -> None:
    assert layout.physical_changelog(name, bucket) == real


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("data-1-0.parquet", "parquet"),
        ("data-1-0.orc", "orc"),
        ("data-1-0.zstd.parquet", "parquet"),
        ("data-1-0.json.gz", "json"),
        ("data-1-0.csv.zst", "csv"),
        ("data-1-0.gz", "gz"),
        ("data-1-0", ""),
        ("data-1-0.", ""),
        ("data-1-0.vector.lance", "lance"),
        ("data-1-0.blob", "blob"),
    ],
)
def test_formats_stand_in_names(name: str, of: str) -> None:
    assert layout.file_format(name) == of
