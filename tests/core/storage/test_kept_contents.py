"""What is kept of remote files: only under the checksum that a listing shows, and never more than a limit."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest

from core.paths import cache_dir
from core.storage import kept_contents

URL = "s3://lake/t/snapshot/snapshot-1"


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def test_only_the_content_that_is_listed_now_is_found() -> None:
    kept_contents.keep({URL: b"old"}, {URL: md5(b"old")})
    assert kept_contents.find({URL: md5(b"old")}) == {URL: b"old"}
    assert kept_contents.find({URL: md5(b"new")}) == {}
    assert kept_contents.find({f"{URL}1": md5(b"old")}) == {}


def test_what_was_replaced_before_it_was_read_is_not_kept() -> None:
    kept_contents.keep({URL: b"newer"}, {URL: md5(b"as listed")})
    assert kept_contents.find({URL: md5(b"as listed")}) == {}
    assert kept_contents.find({URL: md5(b"newer")}) == {}


def test_a_run_remembers_by_the_listed_checksum_alone() -> None:
    memory = kept_contents.ReadContents()
    memory.keep({"a": b"old", "b": b"newer"}, {"a": md5(b"old"), "b": md5(b"as listed")})
    assert memory.find({"a": md5(b"old"), "b": md5(b"newer")}) == {"a": b"old"}
    assert memory.find({"a": md5(b"new"), "b": md5(b"as listed")}) == {}
    memory.keep({"a": b"new"}, {"a": md5(b"new")})
    assert memory.find({"a": md5(b"new")}) == {"a": b"new"}


def test_a_file_that_is_never_replaced_is_found_by_its_size() -> None:
    kept_contents.keep({URL: b"four"}, {URL: "4"})
    assert kept_contents.find({URL: "4"}) == {URL: b"four"}
    assert kept_contents.find({URL: "5"}) == {}
    kept_contents.keep({f"{URL}1": b"cut"}, {f"{URL}1": "4"})
    assert kept_contents.find({f"{URL}1": "4"}) == {}


def test_a_damaged_cache_costs_reads_only() -> None:
    kept_contents.keep({URL: b"kept"}, {URL: md5(b"kept")})
    path = cache_dir() / "contents.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("update contents set content = ?", (b"other",))
    assert kept_contents.find({URL: md5(b"kept")}) == {}
    path.write_bytes(b"no database" * 1000)
    assert kept_contents.find({URL: md5(b"kept")}) == {}
    kept_contents.keep({URL: b"kept"}, {URL: md5(b"kept")})


@pytest.mark.parametrize("damaged", [b"other", b"{}", b"[1]", b"\xff"])
def test_where_pages_began_is_known_unless_that_is_damaged(damaged: bytes) -> None:
    assert kept_contents.page_starts(URL) == []
    kept_contents.keep_page_starts(URL, ["a", "b"])
    assert kept_contents.page_starts(URL) == ["a", "b"]
    with sqlite3.connect(cache_dir() / "contents.sqlite") as database:
        database.execute("update contents set content = ?", (damaged,))
    assert kept_contents.page_starts(URL) == []


def test_the_older_half_goes_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_contents, "MOST_BYTES", 100_000)
    contents = {f"{URL}{number}": b"%020000d" % number for number in range(8)}
    for url, content in contents.items():
        kept_contents.keep({url: content}, {url: md5(content)})
    found = kept_contents.find({url: md5(content) for url, content in contents.items()})
    assert 0 < len(found) <= 5
    assert f"{URL}7" in found


@pytest.mark.parametrize("etag", ['"5D41402abc4b2a76b9719d911017c592"', "5d41402abc4b2a76b9719d911017c592"])
def test_an_etag_that_is_a_checksum(etag: str) -> None:
    assert kept_contents.checksum(etag) == md5(b"hello")


@pytest.mark.parametrize("etag", [None, "", '"5d41402abc4b2a76b9719d911017c592-2"', '"0x8D4BCC2E4835CD0"'])
def test_an_etag_that_is_none(etag: str | None) -> None:
    assert kept_contents.checksum(etag) is None
