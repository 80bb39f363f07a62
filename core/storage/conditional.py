"""What each kind of store promises, what it says of an absent directory, and creating an object only if nothing has its
name.

Invariant: a promise that a server of that kind may break is tested on the server itself (`probe`) before a change
relies on it: some servers accept the condition of a request and ignore it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import fsspec
import fsspec.asyn

from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.messages import both, told
from core.storage import by_renaming
from core.storage.file_systems import described, no_listing, unreadable, unwritable

LOCAL = ("file", "local")
S3 = ("s3", "s3a")
GCS = ("gs", "gcs")
AZURE = ("abfs", "abfss", "az")
HDFS = ("hdfs", "webhdfs")
fsspec.register_implementation("webhdfs", "core.storage.web_hdfs.WebHdfs", clobber=True)
fsspec.register_implementation("hdfs", "core.storage.native_hdfs.NativeHdfs", clobber=True)
_TRIES = 3  # to delete a test object
_KEY = "snapscope-create"  # metadata of an object: which call created it
_AZURE_KEY = _KEY.replace("-", "_")  # names of metadata are identifiers there


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What a kind of store promises.

    `creates`: of two clients that create one name, one is refused. `lists`: a new object is listed at once. `tests`:
    its servers differ, so `creates` is tested before each change. `renames`: no client's rename replaces a file unless
    it asks for that. None replaces or deletes only what is unchanged in one request here: the object is read just
    before.
    """

    creates: bool = False
    lists: bool = False
    tests: bool = False
    renames: bool = False


_TESTED = Guarantees(creates=True, lists=True, tests=True)
_KINDS: Mapping[str, Guarantees] = {
    **dict.fromkeys((*LOCAL, "memory"), Guarantees(creates=True, lists=True)),
    **dict.fromkeys((*S3, *GCS, *AZURE), _TESTED),
    **dict.fromkeys(HDFS, dataclasses.replace(_TESTED, renames=True)),
}


def of(protocol: str) -> Guarantees:
    """Return what stores of this protocol promise: nothing if they are not known here."""
    return _KINDS.get(protocol, Guarantees())


def is_absent(fs: Any, path: str) -> bool:
    """Return whether nothing is below a path that a client did not find. The listings of object stores answer "not
    found" only where there is no bucket, so a directory is absent there by an empty listing.

    Raises `Corrupt` if the listing is not answered by one, or by "not found" although the bucket can be listed."""
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    if protocol not in (*S3, *GCS, *AZURE):
        return True
    bucket, _, key = path.partition("/")
    try:
        with contextlib.suppress(FileNotFoundError):
            return not _has_any(fs, protocol, bucket, f"{key}/" if key else "")
        with contextlib.suppress(FileNotFoundError):
            _has_any(fs, protocol, bucket, "")
            raise Corrupt(
                "The store answers that it does not know the bucket of this directory, but the bucket can be listed. "
                "So it is unknown what the directory holds.",
                path=path,
                remedy="Check the store, and whether a proxy answers in its place; then try again.",
            )
    except SnapscopeError:
        raise
    except Exception as error:  # client libraries raise any type of error
        raise unreadable(path, error) from error
    return True


def _has_any(fs: Any, protocol: str, bucket: str, prefix: str) -> bool:
    """Return whether the name of any object begins with a prefix. Raises `FileNotFoundError` without the bucket."""
    path = f"{bucket}/{prefix}".rstrip("/")
    if protocol in S3:
        page = fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=1, **fs.req_kw)
        return bool(page.get("Contents") or page["IsTruncated"])
    if protocol in GCS:
        page = fs.call("GET", "b/{}/o", bucket, prefix=prefix, maxResults=1, json_out=True)
        if page.get("kind") != "storage#objects":
            raise no_listing(path)
        return bool(page.get("items") or page.get("nextPageToken"))
    found: bool = fsspec.asyn.sync(fs.loop, _has_blob, fs, bucket, prefix)
    return found


async def _has_blob(fs: Any, container: str, prefix: str) -> bool:
    from azure.core.exceptions import ResourceNotFoundError  # installed with adlfs only

    async with fs.service_client.get_container_client(container=container) as client:
        try:
            async for _ in client.list_blobs(name_starts_with=prefix, results_per_page=1):
                return True
        except ResourceNotFoundError as error:
            raise FileNotFoundError(container) from error
    return False


def can_delete(kind: type) -> bool:
    """Return whether a class of file systems has its own implementation of deleting a file."""
    bases = (fsspec.spec.AbstractFileSystem, fsspec.asyn.AsyncFileSystem)
    ways = {name: [getattr(base, name, None) for base in bases] for name in ("rm_file", "_rm", "_rm_file")}
    return any(getattr(kind, name, None) not in (*defaults, None) for name, defaults in ways.items())


def create(fs: Any, protocol: str, path: str, data: bytes, read: Callable[[], bytes]) -> None:
    """Create an object by one conditional request, a file of HDFS by renaming. `read` reads it.

    Raises `FileExistsError` if it is another's. Where the request fails, the object tells whether it is ours: the
    answer may have been lost, so that the next try found our own object, and servers word "taken" differently."""
    if protocol in HDFS:
        by_renaming.create(fs, path, data)
        return
    own = uuid.uuid4().hex
    try:
        _write(fs, protocol, path, data, own)
    except Exception as error:  # client libraries raise any type of error
        try:
            found = read()
        except NotFound:
            raise unwritable(path, error) from error
        if found != data or _creator(fs, protocol, path) != own:  # the same bytes may be another's tag
            raise FileExistsError from error


def _write(fs: Any, protocol: str, path: str, data: bytes, own: str) -> None:
    if protocol in AZURE:  # adlfs sets metadata of its own and takes none
        fsspec.asyn.sync(fs.loop, _upload, fs, path, data, {"is_directory": "false", _AZURE_KEY: own})
    elif protocol in GCS:
        fs.pipe_file(path, data, mode="create", metadata={_KEY: own})
    else:
        fs.pipe_file(path, data, mode="create", Metadata={_KEY: own})


async def _upload(fs: Any, path: str, data: bytes, metadata: Mapping[str, str]) -> None:
    container, name, _ = fs.split_path(path)
    async with fs.service_client.get_blob_client(container, name) as blob:
        await blob.upload_blob(data, overwrite=False, metadata=metadata)


def _creator(fs: Any, protocol: str, path: str) -> str | None:
    if protocol in S3:
        found = fs.metadata(path)
    else:
        found = fs.info(path).get("metadata") or {}
    creator: str | None = found.get(_AZURE_KEY if protocol in AZURE else _KEY)
    return creator


def probe(fs: Any, protocol: str, directory: str, read: Callable[[str], bytes]) -> None:
    """Raise unless objects can be created, read and deleted below `directory`, and one that exists is not replaced by
    a create. `read` reads an object. Leaves nothing behind if it may delete."""
    path = f"{directory}/.snapscope.{uuid.uuid4()}.tmp"
    try:
        create(fs, protocol, path, b"1", lambda: read(path))
        is_safe = _refuses(lambda: create(fs, protocol, path, b"2", lambda: read(path)))
    except SnapscopeError as error:
        raise _cleared(fs, path, error) from error.__cause__
    except Exception as error:  # client libraries raise any type of error
        raise _cleared(fs, path, unwritable(path, error)) from error
    if failed := _removed(fs, path):
        raise Corrupt(
            "A test object could be created but not deleted: {error}.",
            error=described(failed),
            path=path,
            remedy=told("Allow deleting in this directory, and delete that object."),
        ) from failed
    if not is_safe:
        raise Unsupported(
            "This store replaced an object that was to be created only if its name is free. Two writers would "
            "overwrite each other's references there.",
            path=directory,
            remedy="Update the server to one with conditional writes, or make this change with the table's own engine.",
        )


def _refuses(again: Callable[[], None]) -> bool:
    try:
        again()
    except FileExistsError:
        return True
    return False


def _cleared(fs: Any, path: str, error: SnapscopeError) -> SnapscopeError:
    """Delete the test object of a test that failed; the error says so if the object may still be there."""
    if _removed(fs, path):
        way = told("If {path} exists, delete it: it is a test object.", path=path)
        error.remedy = both(error.remedy, way) if error.remedy else way
    return error


def _removed(fs: Any, path: str) -> Exception | None:
    """Delete an object, and return why it is still there: a store that is busy is asked again."""
    failed: Exception | None = None
    for _ in range(_TRIES):
        try:
            fs.rm_file(path)
        except Exception as error:  # client libraries raise any type of error; the caller decides
            failed = error
        else:
            return None
    return None if isinstance(failed, FileNotFoundError) else failed


def keeps_versions(fs: Any, protocol: str, path: str) -> bool | None:
    """Return whether the bucket keeps deleted objects for a time; None if it does not say. Raises any error."""
    bucket = path.partition("/")[0]
    if protocol in S3:
        status = fs.call_s3("get_bucket_versioning", Bucket=bucket).get("Status")
        return None if status == "Suspended" else status == "Enabled"  # objects of before it was suspended are kept
    if protocol in GCS:
        found = fs.call("GET", "b/{}", bucket, json_out=True)
        seconds = int(found.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
        return bool(found.get("versioning", {}).get("enabled")) or seconds > 0
    return False if protocol in (*LOCAL, "memory") else None
