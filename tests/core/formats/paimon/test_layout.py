"""Names and paths: escaping, partition directories, buckets, valid file names, and names that point elsewhere."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt
from core.formats.paimon import layout
from tests.support.depth import tries


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
