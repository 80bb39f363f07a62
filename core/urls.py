"""Locations as table metadata names them. Pure text.

Invariant: what metadata names is taken literally. No engine decodes a percent sign, a question mark or a hash in it
(`org.apache.paimon.fs.Path`, Hadoop's Path, Iceberg's FileIO), so a partition `hh=10%3A00` is a directory of exactly
that name. Only the location of a table that a person types is a URL: see `core.storage.store.Store`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from core.errors import Invalid
from core.messages import message

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/@:]*:(?!\d+/)[^@]*@")  # not a port
_KINDS = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "az": "abfs"}
ELSEWHERE = r":|^/|(^|/)\.\.(/|$)"
"""Matches what is not a path within a table, for `pyarrow.compute.match_substring_regex`."""


def is_url(path: str) -> bool:
    """Whether it is an absolute location, independent of the table that names it."""
    return _URL.match(path) is not None


def is_text(name: str) -> bool:
    """Return whether the name is valid UTF-8. Other bytes in a file name are decoded to lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    """Return a name as text. Non-UTF-8 bytes are escaped; such a file is read and kept but cannot be addressed."""
    if name.isascii() or is_text(name):
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_object_store(location: str) -> bool:
    """Whether Paimon takes the store of a location for an object store, where writers lock by default.

    Source: `ResolvingFileIO.isObjectStore`, `FileIOUtils.isObjectStore` of Paimon 1.4.
    """
    scheme, separator, _ = location.partition("://")
    return bool(separator) and scheme.lower() not in ("file", "hdfs", "webhdfs", "viewfs")


def climbs(path: str) -> bool:
    """Whether it contains a parent step (`..`), or a character that some systems treat as one."""
    return ".." in path.split("/") or "\\" in path or "\0" in path


def spelled(url: str) -> str:
    """Return one canonical spelling of a location.

    That is `file:///a/b` for `file:/a/b`, `FILE:/a/b`, `file:////a//b/`, `file:/a/./b`, `file://localhost/a/b` and
    `/a/b`. Others stay as they are, without a trailing slash.
    """
    if url.startswith("/"):
        url = f"file:{url}"
    scheme, _, rest = url.partition(":")
    if scheme.lower() != "file":
        return url.rstrip("/") if rest.startswith("//") else f"{scheme}://{rest.strip('/')}"
    if rest.startswith("//localhost/"):
        rest = rest.removeprefix("//localhost")
    if rest.startswith("//") and not rest.startswith("///"):
        return url.rstrip("/")  # on another machine
    return f"file:///{'/'.join(step for step in rest.split('/') if step not in ('', '.'))}"


def local_path(url: str) -> str | None:
    """The path on this machine that a `file:` URL in metadata names; None for any other location."""
    whole = spelled(url)
    return whole.removeprefix("file://") if whole.startswith("file:///") else None


def is_below(path: str, root: str) -> bool:
    """Whether a file is below a root, judging by the texts. Never if its path contains a parent step."""
    whole, above = spelled(path), spelled(root)
    return whole.startswith(f"{above.rstrip('/')}/") and not climbs(path)


def plain(location: str) -> str:
    """A location without a trailing slash, each kind of store under one name."""
    protocol, separator, path = location.partition("://")
    return f"{_KINDS.get(protocol, protocol)}{separator}{path}".rstrip("/")


def place(location: str) -> str:
    """Return one text for all spellings of a location that can be recognised as the same: for locks, and for the runs
    of a table. HDFS has other ports over HTTP, so ports do not count there."""
    kind, name, path = _divided(location)
    return f"{kind}://{name.partition(':')[0]}/{path}" if kind == "hdfs" else plain(location)


def may_be_below(location: str, root: str, *, is_root: bool = False) -> bool:
    """Whether a location may be below a root (`is_root`: may be that root) that is spelled otherwise: names of HDFS's
    servers cannot be compared, nor an Azure account with none."""
    (kind, name, path), (other_kind, other_name, other_path) = _divided(location), _divided(root)
    if kind == "abfs" and not ("@" in name and "@" in other_name):
        name, other_name = name.partition("@")[0], other_name.partition("@")[0]
    if kind != other_kind or (kind != "hdfs" and name != other_name):
        return False
    return path == other_path if is_root else not other_path or f"{path}/".startswith(f"{other_path}/")


def _divided(location: str) -> tuple[str, str, str]:
    """The kind of store, the name of the server or bucket, and the path of a location; of a local one only the path."""
    protocol, separator, rest = plain(location).partition("://")
    if not separator:
        return "", "", location.rstrip("/")
    name, _, path = rest.partition("/")
    return "hdfs" if protocol == "webhdfs" else protocol, name, path


def host(url: str) -> str:
    """The host of a URL with its port, without a user."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def typed(location: str) -> str:
    """A location that a person typed: a `file:` URL as its path, any other as it is. Raises `Invalid`."""
    remedy = message("Give a path or an fsspec URL.")
    if not location.strip():
        raise Invalid("The location is blank.", remedy=remedy)
    location = typed_path(location) if location.startswith("file:") else location
    if "\0" in location:
        raise Invalid("The location contains a NUL character.", remedy=remedy)
    if _PASSWORD.match(location):
        raise Invalid(
            "The location contains a password.",
            path=_PASSWORD.sub(r"\1…@", location),
            remedy=message("Leave it out, and give credentials in the environment or in the settings file."),
        )
    return location


def typed_path(url: str) -> str:
    """The path of a `file:` URL that a person typed, with its escapes decoded."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        remedy = "Give a path or an fsspec URL."
        raise Invalid("not a valid URL: {url!r} ({error}).", url=url, error=error, remedy=remedy) from error
    if parts.netloc not in ("", "localhost") or not parts.path.strip("/") or parts.query or parts.fragment:
        raise Invalid(
            "{url!r} is not a path on this machine.", url=url, remedy="Write file:///path, with ? and # as %3F and %23."
        )
    return unquote(parts.path)
