"""Read bytes from a remote file system, never more than were requested, and list its directories.

Invariant: memory is bounded by what the caller requested, whatever size a listing or `stat` reports. Files grow, and a
link may lead to a device without an end.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from fsspec import asyn  # noqa: TID251  # part of the same door to files

from core.credentials import masked
from core.errors import Corrupt, ErrorCode, Invalid, Unsupported
from core.installation import EXTRAS, extra_command
from core.messages import message
from core.storage.kept_contents import checksum

AZURE = ("abfs", "abfss", "az")
_TRACE = "\n\tat "
_TAKEN_APART = re.compile("[?#\\x00-\\x20\\x7f]")
_MARKS = ("ino", "mtime", "created", "ETag", "etag", "LastModified", "last_modified", "updated")
_OUT_OF_RANGE = re.compile("(?i)range|416")


for _library in ("fsspec", "s3fs", "gcsfs", "adlfs", "azure"):  # else Python prints their warnings and stack traces
    logging.getLogger(_library).addHandler(logging.NullHandler())


class DirectoryEntry(NamedTuple):
    """One directory entry. `size` is in bytes, None for directories; `modified_s` is epoch seconds, `md5` the checksum
    of the content, where known; `mark` all that a listing shows of a file and that changes with its content."""

    name: str
    size: int | None
    is_dir: bool
    modified_s: float | None = None
    md5: str | None = None
    mark: str | None = None


class TooLarge(Exception):
    """A file has more bytes than were requested. `size` is its size in bytes, None if unknown."""

    def __init__(self, size: int | None = None) -> None:
        super().__init__(size)
        self.size = size


def protocol_of(fs: Any) -> str:
    protocol: str = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    return protocol


class Versioned(bytes):
    """A document, with what its store calls this version of the object: an ETag, or a generation. None if unknown."""

    version: str | None

    def __new__(cls, data: Any, version: str | None = None) -> Versioned:
        made = super().__new__(cls, data)
        made.version = version
        return made


def version_of(content: bytes | None) -> str | None:
    """Return the version that an object had when this was read from it; None if that is unknown."""
    return content.version if isinstance(content, Versioned) else None


def remote(
    fs: Any, path: str, most_bytes: int, start: int | None = None, read: Callable[[int], Versioned] | None = None
) -> bytes:
    """Read a whole file of a remote file system, or at most `most_bytes` bytes from offset `start`. `read` reads that
    many bytes of a whole one in the client's place.

    Raises `TooLarge` if a whole file is larger than `most_bytes`.
    """
    end = (start or 0) + most_bytes + (start is None)
    try:
        data = read(end) if read else bytes(fs.cat_file(path, start=start or 0, end=end))
    except FileNotFoundError:
        raise
    except Exception as error:
        if _OUT_OF_RANGE.search(str(error)) and fs.info(path)["size"] <= (start or 0):  # an empty one has no byte 0
            return b""
        raise
    if start is None and len(data) > most_bytes:
        raise TooLarge
    return data if read else data[:most_bytes]


def ls(fs: Any, path: str) -> Any:
    """List a directory as the client does, one of Azure by our own request.

    Azure's client also reads all directories whose names begin alike and lists one with a marker twice. It takes one
    whose name ends with a space for empty, and one beside a file of the same name for that file."""
    if protocol_of(fs) not in AZURE:
        return fs.ls(path, detail=True)
    if (found := asyn.sync(fs.loop, _of_container, fs, path)) or "/" not in path:
        return found
    info = fs.info(path)
    return [] if info["type"] == "directory" else [info]


async def _of_container(fs: Any, path: str) -> list[Mapping[str, Any]]:
    from azure.core.exceptions import ResourceNotFoundError  # installed with adlfs only

    container, _, key = path.partition("/")
    async with fs.service_client.get_container_client(container=container) as client:
        blobs = client.walk_blobs(name_starts_with=f"{key}/" if key else "", include=["metadata"])
        try:
            found = await fs._details([each async for each in blobs])
        except ResourceNotFoundError as error:
            raise FileNotFoundError(container) from error
    own = [each | ({"type": "directory"} if each["name"] == path else {}) for each in found]
    return list({(each["name"], each["type"]): each for each in own}.values())


def server(fs: Any, location: str) -> str:
    """Return the bucket, container or host of a location, with the server that its options name, if they do: what its
    requests wait for. Two servers may have containers of one name."""
    protocol, _, rest = location.partition("://")
    named = (getattr(fs, "client_kwargs", None) or {}).get("endpoint_url")
    named = named or getattr(fs, "endpoint_url", None) or getattr(fs, "account_name", None)
    place = f"{protocol}://{rest.partition('/')[0]}" if rest else location
    return masked(f"{place} ({named})" if named else place)


def addresses(fs: Any, path: str) -> bool:
    """Return whether requests for a full path reach the object of exactly that name. Clients of S3 and Azure cut a
    version off its end, and Azure's drops line breaks and tabs and moves what follows a `#`."""
    if not _TAKEN_APART.search(path):
        return True
    split = getattr(fs, "split_path", None)
    return path == ("/".join(split(path)[:2]) if split else fs._strip_protocol(path))


def replace(fs: Any, path: str, data: bytes) -> None:
    """Write an object. If only the answer was lost, its content shows that it was written."""
    try:
        fs.pipe_file(path, data)
    except Exception:
        with contextlib.suppress(TooLarge):  # another content
            if remote(fs, path, len(data)) == data:
                return
        raise


def refuse_directory(fs: Any, path: str) -> None:
    """Raise `IsADirectoryError` for a directory of HDFS, where reading one fails as if it did not exist."""
    if fs.info(path)["type"] == "directory":
        raise IsADirectoryError(path)


def too_large(error: TooLarge, most_bytes: int, path: str) -> Corrupt:
    found = message("more") if error.size is None else f"{error.size:,}"
    return Corrupt(
        "This file may be at most {most_bytes:,} bytes; it has {found}.",
        most_bytes=most_bytes,
        found=found,
        path=path,
        remedy="No engine writes such a file: restore it, or move it away if nothing needs it.",
    )


def unaddressed(path: str) -> Unsupported:
    return Unsupported(
        "{url!r} cannot be addressed exactly on its store, so nothing is read or deleted there.",
        url=path,
        path=path,
        remedy="Make this change with the table's own engine.",
    )


def climbing(path: str) -> Invalid | Unsupported:
    """The error for a path that leads elsewhere. Some systems take a backslash for a slash, so none is followed."""
    steps = path.replace("\\", "/").split("/")
    if "\0" in path or not steps[0] or ".." in steps:
        return Invalid("The path {relative!r} leaves the table's directory.", relative=path, path=path)
    return Unsupported(
        "The name {relative!r} has a backslash, which some systems take for a slash, so it is not read or deleted.",
        relative=path,
        path=path,
        remedy="Rename or delete it with the table's own engine.",
    )


def no_directory(relative: str, path: str) -> Corrupt:
    return Corrupt(
        "A directory was expected at {relative}, found a file.",
        relative=relative,
        path=path,
        remedy="Move the file away, or give the directory you mean.",
    )


def _leads_to_directory(link: str) -> bool:
    return os.path.isdir(link)  # noqa: TID251  # a listing's own entry: a dangling link is a file, refused when read


def entries(found: Iterable[Mapping[str, Any]], path: str) -> Iterable[DirectoryEntry]:
    """Yield what a file system listed in a directory, without the directory's own marker."""
    for info in found:
        name = str(info["name"]).rstrip("/").rsplit("/", 1)[-1]
        if str(info["name"]).rstrip("/") == path:
            continue  # object stores list the directory's own marker
        is_dir = info["type"] == "directory" or (bool(info.get("islink")) and _leads_to_directory(info["name"]))
        size = None if is_dir else int(info.get("size") or 0)
        yield DirectoryEntry(
            name, size, is_dir, modified_s(info), checksum(info.get("ETag")), None if is_dir else _mark(info)
        )


def read_page(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Read the objects of a page of a listing of S3 where botocore would take several times as long. It reads all else,
    and all of a page with anything unusual."""
    try:
        page = ElementTree.fromstring(response_dict["body"])
        own = {each: {_tag(one): one.text or "" for one in each} for each in page if _tag(each) == "Contents"}
        objects: list[dict[str, Any]] = [
            {"Key": each["Key"], "Size": int(each["Size"]), "ETag": each.get("ETag"),
             "LastModified": dt.datetime.fromisoformat(each["LastModified"])}
            for each in own.values()
        ]  # fmt: skip
    except (ElementTree.ParseError, KeyError, TypeError, ValueError):
        return
    is_usual = objects and all(each["Key"] and each["LastModified"].tzinfo for each in objects)
    if is_usual and _tag(page) == "ListBucketResult":
        page[:] = [each for each in page if each not in own]
        response_dict["body"] = ElementTree.tostring(page)
        customized_response_dict["Contents"] = objects


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _mark(info: Mapping[str, Any]) -> str | None:
    """Return the size of a file with its identity, its times and its tag; None if only the size is known, or of a link,
    whose target may change."""
    if info.get("islink"):
        return None
    known = [str(info[key]) for key in _MARKS if info.get(key) is not None]
    return " ".join([str(info.get("size")), *known]) if known else None


def modified_s(info: Mapping[str, Any]) -> float | None:
    """Return the time of the last modification in epoch seconds, or None if the file system reports none."""
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = info.get(key)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, dt.datetime) and value.tzinfo is not None:
            return value.timestamp()
    return None


def described(error: Exception) -> str:
    """What a client library said, without the stack trace of a server in Java."""
    return masked(f"{type(error).__name__}: {str(error).partition(_TRACE)[0]}")


def unwritable(path: str, error: Exception) -> Corrupt:
    return Corrupt(
        "The store could not write this file: {error}.",
        error=described(error),
        path=path,
        remedy="Free a few kilobytes on that disk, then try again: a change writes small files before it deletes any."
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        else "Check free space and access, then try again.",
    )


def unreadable(path: str, error: Exception) -> Corrupt:
    return Corrupt(
        "The store could not read this path: {error}.",
        error=described(error),
        path=path,
        remedy="Check access and the connection, then try again.",
    )


def no_listing(path: str) -> Corrupt:
    return Corrupt(
        "The store's answer is not a listing of this path.",
        path=path,
        remedy="Check the endpoint, and whether a proxy answers in its place.",
    )


def no_file_system(location: str, error: Exception) -> Unsupported:
    """The error for URLs of an unsupported protocol, with the package to install."""
    remedy = message("Install the fsspec package of that protocol.")
    if extra := EXTRAS.get(location.partition("://")[0]):
        remedy = message("Install its package: {command}", command=extra_command(extra))
    return Unsupported(
        "No file system for {location!r}: {error}.",
        location=location,
        error=masked(str(error)),
        remedy=remedy,
        code=ErrorCode.EXTRA_MISSING,
    )


def wrong_settings(location: str, error: Exception) -> Invalid:
    """The error for a file system that is installed and cannot be made with these settings."""
    return Invalid(
        "The store of {location!r} cannot be opened: {error}.",
        location=masked(location),
        error=masked(str(error)),
        remedy="Check its credentials and options, in the environment or in the settings file.",
    )
