"""Conditional writes on each kind of store: create an object only if its name is free; replace or delete one only if it
is unchanged. Also what a store guarantees, and how it answers for an absent directory.

Invariant: a promise that a server of that kind may break is tested on the server itself (`probe`) before a change
relies on it: some servers accept the condition of a request and ignore it. No change relies on the condition of
replacing and deleting alone: the object is always read just before.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import fsspec
import fsspec.asyn

from core.errors import Conflict, Corrupt, NotFound, SnapscopeError, Unsupported
from core.messages import both, message
from core.storage import file_systems
from core.storage.file_systems import (
    AZURE,
    Versioned,
    described,
    no_listing,
    protocol_of,
    remote,
    unreadable,
    unwritable,
    version_of,
)
from core.storage.hdfs import by_renaming
from core.storage.size_limits import DOCUMENT

LOCAL = ("file", "local")
S3 = ("s3", "s3a")
GCS = ("gs", "gcs")
OSS = ("oss",)
HDFS = ("hdfs", "webhdfs")
fsspec.register_implementation("webhdfs", "core.storage.hdfs.web.WebHdfs", clobber=True)
fsspec.register_implementation("hdfs", "core.storage.hdfs.native.NativeHdfs", clobber=True)
fsspec.register_implementation("oss", "core.storage.oss.Oss", clobber=True)
_TRIES = 3  # to delete a test object
_KEY = "snapscope-create"  # metadata of an object: which call created it
_AZURE_KEY = _KEY.replace("-", "_")  # names of metadata are identifiers there
_UNKNOWN = ("NotImplemented", "501", "InvalidArgument", "InvalidRequest")  # servers of S3 about conditions


@dataclass(frozen=True, slots=True)
class Guarantees:
    """What a kind of store promises.

    `creates`: of two clients that create one name, one is refused. `lists`: a listing has every object, also a new one,
    or fails; some clients take one that is denied for empty. `tests`: its servers differ, so `creates` is tested before
    each change. `renames`: no client's rename replaces a file unless it asks for that. `compares`: it replaces or
    deletes an object only while that has the version that was read, unless its server ignores the condition; elsewhere,
    a change by others between the read and the request is lost.
    """

    creates: bool = False
    lists: bool = False
    tests: bool = False
    renames: bool = False
    compares: bool = False


_TESTED = Guarantees(creates=True, lists=True, tests=True)
_KINDS: Mapping[str, Guarantees] = {
    **dict.fromkeys((*LOCAL, "memory"), Guarantees(creates=True, lists=True)),
    **dict.fromkeys((*S3, *GCS, *AZURE), dataclasses.replace(_TESTED, compares=True)),
    **dict.fromkeys(OSS, _TESTED),
    **dict.fromkeys(HDFS, dataclasses.replace(_TESTED, renames=True)),
}


def of(protocol: str) -> Guarantees:
    """Return what stores of this protocol promise: nothing if they are not known here."""
    return _KINDS.get(protocol, Guarantees())


def is_absent(fs: Any, path: str) -> bool:
    """Return whether nothing is below a path that a client did not find. The listings of object stores answer "not
    found" only where there is no bucket, so a directory is absent there by an empty listing.

    Raises `Corrupt` if the listing is not answered by one, or by "not found" although the bucket can be listed."""
    protocol = protocol_of(fs)
    if protocol not in (*S3, *GCS, *AZURE, *OSS):
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
    if protocol in OSS:
        return bool(fs.has_any(bucket, prefix))
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


def read(fs: Any, path: str, most_bytes: int, start: int | None = None) -> bytes:
    """As `remote`, but a whole document of an object store comes with its version, which clients' own reads omit."""
    ask = _READ.get(protocol_of(fs)) if start is None and most_bytes <= DOCUMENT else None
    own = (lambda end: fsspec.asyn.sync(fs.loop, ask, fs, path, end)) if ask else None
    return remote(fs, path, most_bytes, start, own)


async def _of_s3(fs: Any, path: str, end: int) -> Versioned:
    from s3fs.core import _error_wrapper  # repeats what fails while a body is read, as s3fs does

    bucket, key, _ = fs.split_path(path)

    async def get() -> Versioned:
        answer = await fs._call_s3("get_object", Bucket=bucket, Key=key, Range=f"bytes=0-{end - 1}")
        try:
            return Versioned(await answer["Body"].read(), answer.get("ETag"))
        finally:
            answer["Body"].close()

    found: Versioned = await _error_wrapper(get, retries=fs.retries)
    return found


async def _of_gcs(fs: Any, path: str, end: int) -> Versioned:
    is_zonal = getattr(fs, "_is_zonal_bucket", None)  # read in another protocol, which tells no version
    if is_zonal and await is_zonal(fs.split_path(path)[0]):
        return Versioned(await fs._cat_file(path, start=0, end=end))
    headers, data = await fs._call("GET", fs.url(path), headers={"Range": f"bytes=0-{end - 1}"})
    return Versioned(data, headers.get("X-Goog-Generation"))


async def _of_azure(fs: Any, path: str, end: int) -> Versioned:
    from azure.core.exceptions import ResourceNotFoundError  # installed with adlfs only

    container, name, _ = fs.split_path(path)
    async with fs.service_client.get_blob_client(container, name) as blob:
        try:
            found = await blob.download_blob(offset=0, length=end)
        except ResourceNotFoundError as error:
            raise FileNotFoundError(path) from error
        return Versioned(await found.readall(), found.properties.etag)


_READ = {**dict.fromkeys(S3, _of_s3), **dict.fromkeys(GCS, _of_gcs), **dict.fromkeys(AZURE, _of_azure)}


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


def _write(fs: Any, protocol: str, path: str, data: bytes, own: str, version: str | None = None) -> None:
    """Write an object only if it has this version; None: only if nothing has its name."""
    if protocol in AZURE:  # adlfs sets metadata of its own and takes none
        fsspec.asyn.sync(fs.loop, _upload, fs, path, data, {"is_directory": "false", _AZURE_KEY: own}, version)
    elif protocol in GCS and version:
        fsspec.asyn.sync(fs.loop, _upload_to_gcs, fs, path, data, {_KEY: own}, version)
    elif protocol in GCS:
        fs.pipe_file(path, data, mode="create", metadata={_KEY: own})
    else:
        fs.pipe_file(path, data, Metadata={_KEY: own}, **({"IfMatch": version} if version else {"mode": "create"}))


async def _upload(fs: Any, path: str, data: bytes, metadata: Mapping[str, str], version: str | None) -> None:
    container, name, _ = fs.split_path(path)
    async with fs.service_client.get_blob_client(container, name) as blob:
        await blob.upload_blob(data, overwrite=version is not None, metadata=metadata, **_unmodified(version))


def _unmodified(version: str | None) -> Mapping[str, Any]:
    from azure.core import MatchConditions  # installed with adlfs only

    return {"etag": version, "match_condition": MatchConditions.IfNotModified} if version else {}


async def _upload_to_gcs(fs: Any, path: str, data: bytes, metadata: Mapping[str, str], version: str) -> None:
    from gcsfs.core import simple_upload  # knows no condition but that the name is free

    bucket, key, _ = fs.split_path(path)
    conditionally = functools.partial(fs._call, ifGenerationMatch=version)
    await simple_upload(SimpleNamespace(_location=fs._location, _call=conditionally), bucket, key, data, metadata)


def replace(fs: Any, protocol: str, path: str, data: bytes, was: bytes | None, read: Callable[[], bytes]) -> None:
    """Write an object, replacing any. `read` reads it.

    Raises `Conflict` if it no longer has the version of `was`, where that is known. Where the request fails, the object
    tells whether it is ours, as after a create."""
    if (version := version_of(was)) is None:
        (by_renaming if protocol in HDFS else file_systems).replace(fs, path, data)
        return
    own = uuid.uuid4().hex
    _if_unchanged(
        path,
        version,
        lambda: _write(fs, protocol, path, data, own, version),
        lambda: file_systems.replace(fs, path, data),
        lambda found: found == data and _creator(fs, protocol, path) == own,
        read,
    )


def delete(fs: Any, protocol: str, path: str, was: bytes | None, read: Callable[[], bytes]) -> None:
    """Delete an object. Raises `Conflict` as `replace`, and any error of the client if the object is still there."""
    if (version := version_of(was)) is None:
        fs.rm_file(path)
        return
    _if_unchanged(
        path,
        version,
        lambda: _remove(fs, protocol, path, version),
        lambda: fs.rm_file(path),
        lambda found: found is None,  # a client that repeats a lost request finds nothing
        read,
    )


def _remove(fs: Any, protocol: str, path: str, version: str) -> None:
    bucket, key, _ = fs.split_path(path)
    if protocol in AZURE:
        fsspec.asyn.sync(fs.loop, _delete_blob, fs, bucket, key, version)
    elif protocol in GCS:
        fs.call("DELETE", "b/{}/o/{}", bucket, key, ifGenerationMatch=version)
    else:
        fs.call_s3("delete_object", Bucket=bucket, Key=key, IfMatch=version)


async def _delete_blob(fs: Any, container: str, name: str, version: str) -> None:
    async with fs.service_client.get_blob_client(container, name) as blob:
        await blob.delete_blob(**_unmodified(version))


def _if_unchanged(
    path: str,
    version: str,
    ask: Callable[[], None],
    otherwise: Callable[[], None],
    is_done: Callable[[bytes | None], bool],
    read: Callable[[], bytes],
) -> None:
    """Make a request on the condition that an object has this version; `otherwise` makes it without, for servers that
    reject the condition as unknown. Where a request fails, the object tells what has happened."""
    try:
        ask()
    except Exception as error:  # client libraries raise any type of error
        try:
            found: bytes | None = read()
        except NotFound:
            found = None
        if is_done(found):
            return
        if version_of(found) != version:
            said = message("Another writer changed {path} after it was read.", path=path)
            raise Conflict(said, path=path, remedy=message("Make a new plan.")) from error
        answer = getattr(error.__cause__, "response", None)  # of botocore
        if not isinstance(answer, dict) or answer.get("Error", {}).get("Code") not in _UNKNOWN:
            raise
        otherwise()


def _creator(fs: Any, protocol: str, path: str) -> str | None:
    if protocol in (*S3, *OSS):
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
            remedy=message("Allow deleting in this directory, and delete that object."),
        ) from failed
    if not is_safe:
        raise Unsupported(
            "This store replaced an object that was to be created only if its name is free. Two writers would "
            "overwrite each other's references there.",
            path=directory,
            remedy=message("OSS does so in buckets that keep versions. Make this change with the table's own engine.")
            if protocol in OSS
            else message(
                "Update the server to one with conditional writes, or make this change with the table's own engine."
            ),
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
        way = message("If {path} exists, delete it: it is a test object.", path=path)
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
    if protocol in (*S3, *OSS):
        is_oss = protocol in OSS
        status = fs.versioning(bucket) if is_oss else fs.call_s3("get_bucket_versioning", Bucket=bucket).get("Status")
        return None if status == "Suspended" else status == "Enabled"  # objects of before it was suspended are kept
    if protocol in GCS:
        found = fs.call("GET", "b/{}", bucket, json_out=True)
        seconds = int(found.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
        return bool(found.get("versioning", {}).get("enabled")) or seconds > 0
    return False if protocol in (*LOCAL, "memory") else None
