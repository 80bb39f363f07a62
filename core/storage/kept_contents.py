"""A cache of small remote files: on the local disk while listings show them unchanged, and in memory for one run.

Invariant: a content is returned only if it fits the mark that a listing made just now shows for that file: its MD5, or,
for files that are never replaced, its size. So it is what a read would return. A cache that cannot be used costs reads,
never an answer.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing

from core.paths import cache_dir, private

MOST_BYTES = 1 << 30
_AT_ONCE = 500  # names in one statement
_MD5 = re.compile("[0-9a-f]{32}")
_STARTS = "page starts"  # in place of an MD5
_TABLE = "create table if not exists contents (url text, md5 text, content blob, primary key (url, md5))"


def checksum(etag: object) -> str | None:
    """Return the MD5 that an object's etag is; None where it is something else, as for uploads in several parts."""
    text = str(etag or "").strip('"').lower()
    return text if _MD5.fullmatch(text) else None


class ReadContents:
    """What one run has read, by path and MD5, for as long as listings show that MD5. It trusts no file of this machine.

    A store whose listings show no MD5, or another tag, is read each time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bytes]] = {}

    def find(self, wanted: Mapping[str, str]) -> dict[str, bytes]:
        """As `find` of this module."""
        known = ((path, md5, self._known.get(path)) for path, md5 in wanted.items())
        return {path: kept[1] for path, md5, kept in known if kept is not None and kept[0] == md5}

    def keep(self, contents: Mapping[str, bytes], listed: Mapping[str, str]) -> None:
        """As `keep` of this module."""
        fit = {path: content for path, content in contents.items() if _fits(content, listed[path])}
        self._known |= {path: (listed[path], content) for path, content in fit.items()}


def find(wanted: Mapping[str, str]) -> dict[str, bytes]:
    """Return the kept contents by URL; `wanted` has the mark that each must fit: an MD5, or a size as text."""
    found: dict[str, bytes] = {}
    urls = list(wanted)
    try:
        with closing(_opened()) as database:
            for begin in range(0, len(urls), _AT_ONCE):
                some = urls[begin : begin + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = database.execute(f"select url, md5, content from contents where url in ({marks})", some)
                found |= {url: content for url, md5, content in rows if md5 == wanted[url] and _fits(content, md5)}
    except (sqlite3.Error, OSError):  # the store is read instead
        return {}
    return found


def keep(contents: Mapping[str, bytes], listed: Mapping[str, str]) -> None:
    """Keep those contents that fit the listed mark: others were replaced between the listing and the read."""
    rows = [(url, listed[url], content) for url, content in contents.items() if _fits(content, listed[url])]
    try:
        with closing(_opened()) as database, database:
            database.executemany("insert or replace into contents values (?, ?, ?)", rows)
            if _used_bytes(database) > MOST_BYTES:  # drop the older half
                middle = "select (min(rowid) + max(rowid)) / 2 from contents"
                database.execute(f"delete from contents where rowid <= ({middle})")
    except (sqlite3.Error, OSError):  # the store is read again next time
        return


def page_starts(directory: str) -> list[str]:
    """Return the names at which pages of a directory began when it was last listed; none if that is not known."""
    try:
        with closing(_opened()) as database:
            row = database.execute("select content from contents where url = ? and md5 = ?", (directory, _STARTS))
            found = json.loads(kept[0]) if (kept := row.fetchone()) else []
    except (sqlite3.Error, OSError, ValueError):  # the pages are listed one after another
        return []
    return found if isinstance(found, list) and all(isinstance(each, str) for each in found) else []


def keep_page_starts(directory: str, names: Sequence[str]) -> None:
    """Keep what `page_starts` returns. It only tells what to request at the same time, so any names will do."""
    try:
        with closing(_opened()) as database, database:
            row = (directory, _STARTS, json.dumps(names))
            database.execute("insert or replace into contents values (?, ?, ?)", row)
    except (sqlite3.Error, OSError):  # the next listing takes longer
        return


def _used_bytes(database: sqlite3.Connection) -> int:
    """Return the size of the database, without pages that are free again: adding up all contents would read them."""
    pages, free, page = (
        int(database.execute(f"pragma {each}").fetchone()[0]) for each in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * page


def _fits(content: bytes, mark: str) -> bool:
    if _MD5.fullmatch(mark):
        return hashlib.md5(content, usedforsecurity=False).hexdigest() == mark
    return str(len(content)) == mark


def _opened() -> sqlite3.Connection:
    path = private(cache_dir()) / "contents.sqlite"
    database = sqlite3.connect(path, timeout=5)
    path.chmod(0o600)
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = normal")  # after a power loss the last ones may be missing, none is wrong
    database.execute(_TABLE)
    return database
