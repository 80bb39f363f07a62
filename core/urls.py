"""Places as metadata names them. Pure text.

Law: what metadata names is taken literally. No engine decodes a percent sign, a question mark or a hash in it
(`org.apache.paimon.fs.Path`, Hadoop's Path, Iceberg's FileIO), so a partition `hh=10%3A00` is a directory of just that
name. Only what a person types as the place of a table is a URL: see `core.storage.store.Store`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from core.errors import Invalid

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
ELSEWHERE = r":|^/|(^|/)\.\.(/|$)"
"""Matches what is no path within a table, as `pyarrow.compute.match_substring_regex` takes it."""


def is_url(path: str) -> bool:
    """Does it name a place by itself, whatever table names it?"""
    return _URL.match(path) is not None


def climbs(path: str) -> bool:
    """Does it hold a step that leads up, or a sign that some system takes for one?"""
    return ".." in path.split("/") or "\\" in path or "\0" in path


def spelled(url: str) -> str:
    """One spelling of a place: `file:///a/b` however it was written (`file:/a/b`, `file:////a//b/`, `file:/a/./b`,
    `file://localhost/a/b`, `/a/b`); others as they are, without a slash at the end."""
    if url.startswith("/"):
        url = f"file:{url}"
    scheme, _, rest = url.partition(":")
    if scheme != "file":
        return url.rstrip("/") if rest.startswith("//") else f"{scheme}://{rest.strip('/')}"
    if rest.startswith("//localhost/"):
        rest = rest.removeprefix("//localhost")
    if rest.startswith("//") and not rest.startswith("///"):
        return url.rstrip("/")  # of another machine
    return f"file:///{'/'.join(step for step in rest.split('/') if step not in ('', '.'))}"


def local_path(url: str) -> str | None:
    """The path on this machine that a `file:` URL in metadata names; None for any other place."""
    whole = spelled(url)
    return whole.removeprefix("file://") if whole.startswith("file:///") else None


def is_below(path: str, root: str) -> bool:
    """Does a file lie below a root, by their texts? Never where its path climbs."""
    whole, above = spelled(path), spelled(root)
    return whole.startswith(f"{above.rstrip('/')}/") and not climbs(path)


def typed_path(url: str) -> str:
    """The path of a `file:` URL that a person typed, its escapes decoded."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        remedy = "Give a path or an fsspec URL."
        raise Invalid("{url!r} is no URL: {error}.", url=url, error=error, remedy=remedy) from error
    if parts.netloc not in ("", "localhost") or not parts.path.strip("/") or parts.query or parts.fragment:
        raise Invalid(
            "{url!r} names no path on this machine.", url=url, remedy="Write file:///path, with ? and # as %3F and %23."
        )
    return unquote(parts.path)
