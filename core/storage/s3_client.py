"""List, read and delete objects of S3, many at once. Reads go through obstore, as s3fs has found the bucket.

Invariants:
- This is only a faster way to the same answers. Names outside `PLAIN`, clients with settings of their own and every
  error but a rejected size or a missing answer are left to s3fs, so that errors are judged in one place.
- Both clients take an answer without names for the end of a listing. So each page that s3fs reads must be one, and
  after a listing of several pages the store must say that its last name is the last (`is_whole`).
"""

from __future__ import annotations

import datetime as dt
import math
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fsspec import asyn  # noqa: TID251  # part of the same door to files

from core.errors import Corrupt, SnapscopeError
from core.storage import request_slots, time_limits
from core.storage.file_systems import (
    TooLarge,
    Versioned,
    no_listing,
    read_page,
    server,
    too_large,
    unreadable,
)

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Credential, S3Store

PLAIN = re.compile(r"[A-Za-z0-9_.=+-]+(/[A-Za-z0-9_.=+-]+)*")  # names that no client quotes, decodes or normalises
_IN_XML = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")  # names that a body in XML can have
RENEW = dt.timedelta(minutes=5)  # how long credentials of a role are used before the session is asked again
REQUEST_S = 30.0  # limit of one request here, whoever waits for it
REST_S = 60.0  # how long s3fs answers alone after an error
_KNOWN_SETTINGS = {"endpoint_url", "region_name"}  # of the client; any other changes how requests are made
_PAGE = 1000  # names in one answer of S3
_FIRST_PAGE = 100  # names in the first one, which botocore parses: 0.15 ms each, 20 times what obstore takes
_AFTER_ALL = "/\U0010ffff"  # after a directory's name: the names of what is in it come before
_SAME_STYLE: tuple[Mapping[str, Any], ...] = (
    {},
    {"s3": {"addressing_style": "path"}},
)
"""Configurations under which s3fs addresses objects as obstore does here."""
T = TypeVar("T")


def client(fs: Any, root: str) -> S3Client | None:
    """Return a client for an s3fs file system; None for any other. Raises `ImportError` without obstore."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    return S3Client(fs, root.partition("/")[0]) if {"s3", "s3a"}.intersection(protocols) else None


class S3Client:
    """Reads from one bucket. `fs` is the s3fs file system for it. Creating a client sends no request."""

    def __init__(self, fs: Any, bucket: str) -> None:
        import aiobotocore.session  # installed with s3fs only
        import obstore.exceptions
        import obstore.store

        self._obstore, self._fs, self.bucket = obstore, fs, bucket
        self._client: S3Store | None = None
        self._paused_until = 0.0
        fs.session = fs.session or aiobotocore.session.AioSession(**fs.kwargs)  # as s3fs makes it to connect
        for when, act in (("before-parse", read_page), ("after-call", _check_page)):  # once for each session
            fs.session.register(f"{when}.s3.ListObjectsV2", act, unique_id=f"{__name__} {when}")
        if (
            fs.client_kwargs.keys() - _KNOWN_SETTINGS or fs.config_kwargs not in _SAME_STYLE or fs.requester_pays
            or fs.version_aware or fs.s3_additional_kwargs
        ):  # fmt: skip
            self._paused_until = math.inf

    @property
    def usable(self) -> bool:
        return time.monotonic() >= self._paused_until

    def read(self, names: Mapping[str, str], most_bytes: int, together: int) -> dict[str, bytes | SnapscopeError]:
        """Read whole objects, by name; `names` has them by path, which begins with the bucket. Stops after `together`
        bytes. A name that is not answered in time has `Corrupt`; nothing is known about names that are left out.
        """
        plain = [path for path in names if PLAIN.fullmatch(path)] if self.usable else []
        if not plain or not self._with_time_limit(lambda: True):
            return {}
        answers, total = dict[str, bytes | SnapscopeError](), 0

        def one(path: str) -> None:
            nonlocal total
            if not self.usable or total > together:
                return
            try:
                content = time_limits.calling(self._get, path, most_bytes)
            except TooLarge as error:
                answers[path] = too_large(error, most_bytes, path)
                return
            if content is not None:
                answers[path] = content
                total += len(content)

        def unanswered(path: str, error: Corrupt) -> None:
            self._paused_until = time.monotonic() + REST_S  # no more are asked here: s3fs limits how many go unanswered
            answers[path] = error

        request_slots.read_each(plain, one, request_slots.slots_of(self._url), self._seconds(), len(plain), unanswered)
        return {names[path]: answer for path, answer in dict(answers).items()}

    def ls(self, path: str, splits: Sequence[str] = ()) -> list[dict[str, Any]] | None:
        """List what is directly below a path, as s3fs does; None if s3fs must be asked.

        An empty list means that no object's name begins with that path and a slash, or only the directory's marker.
        If there are more names than one page has, the parts between `splits`, in ascending order, are listed at the
        same time.
        """
        if not self.usable or not PLAIN.fullmatch(path):
            return None
        return self._with_time_limit(lambda: self._listed(path, splits))

    def names_after(self, below: str, after: str) -> tuple[list[dict[str, Any]], bool] | None:
        """Return the objects of one page of all names that begin with `below`, those after a name, in the order of
        names, and whether no more follow; None if that is not certain."""

        def list_page() -> tuple[list[dict[str, Any]], bool] | None:
            top, begin = below.partition("/")[2], after.partition("/")[2]
            try:
                page = self._page(top, StartAfter=begin, MaxKeys=_PAGE)
            except Corrupt:  # the listing of a single directory judges
                return None
            if page is None or "KeyCount" not in page:
                return None
            found = [each | {"name": f"{self.bucket}/{each['name']}"} for each in _objects(page)]
            names = [after, *(each["name"] for each in found)]
            is_end = not page["IsTruncated"]
            is_certain = (found or is_end) and all(one < other for one, other in pairwise(names))
            return (found, is_end) if is_certain else None

        if self._paused_until == math.inf or below.partition("/")[2][:1] == "/":
            return None
        return self._with_time_limit(list_page)

    def is_last(self, below: str, before: str, name: str) -> bool:
        """Return whether the store says that of all names that begin with `below` just this one follows `before`."""
        top, *names = (each.partition("/")[2] for each in (below, before, name))
        page = self._with_time_limit(lambda: self._page(top, StartAfter=names[0], MaxKeys=2))
        return page is not None and [each["name"] for each in _objects(page)] == names[1:] and not page["IsTruncated"]

    def is_whole(self, path: str, found: Iterable[Mapping[str, Any]]) -> bool:
        """Return whether the store says that exactly the last of these entries of a directory follows the one before,
        or lists not after a name. Raises `Corrupt` if it does not answer."""
        key = path.partition("/")[2]
        below = f"{key}/" if key else ""
        listed = [(each["name"].partition("/")[2], each["type"]) for each in found if each["name"].rstrip("/") != path]
        ends = sorted(f"{name}{_AFTER_ALL if kind == 'directory' else ''}" for name, kind in listed)
        if not ends:
            return True
        before = ends[-2] if len(ends) > 1 else below
        if (page := self._page(below, Delimiter="/", StartAfter=before, MaxKeys=2)) is None:
            return False
        names = {*(each["Key"] for each in page.get("Contents", ()))}
        names |= {each["Prefix"] for each in page.get("CommonPrefixes", ())}
        names = {each for each in names if each.rstrip("/") != key}  # its own markers
        is_last = names == {ends[-1].removesuffix(_AFTER_ALL[1:])} and not page["IsTruncated"]
        return is_last or any(below < each <= before for each in names)

    def sizes(self, names: Mapping[str, str]) -> dict[str, int]:
        """Return the sizes of objects, by name; what is left out was not found or not answered: s3fs must be asked."""
        plain, found = [path for path in names if PLAIN.fullmatch(path)] if self.usable else [], dict[str, int]()
        if not plain or not self._with_time_limit(lambda: True):
            return {}

        def one(path: str) -> None:
            size = time_limits.calling(self._size, path) if self.usable else None
            if size is not None:
                found[names[path]] = size

        def unanswered(path: str, error: Corrupt) -> None:
            self._paused_until = time.monotonic() + REST_S

        request_slots.read_each(plain, one, request_slots.slots_of(self._url), self._seconds(), len(plain), unanswered)
        return dict(found)

    def delete(self, paths: Mapping[str, str | None]) -> set[str]:
        """Delete at most 1,000 objects by one request of s3fs, each only if it has its version, where that is known;
        return those that the store says are deleted.

        The others are left to single requests, which may be repeated: their errors are the ones that count.
        """
        paths_by_key = {key: path for path in paths if _IN_XML.fullmatch(key := path.partition("/")[2])}
        objects = [{"Key": key, **({"ETag": paths[path]} if paths[path] else {})} for key, path in paths_by_key.items()]
        request = {"Objects": objects, "Quiet": False}
        try:
            found = self._fs.call_s3("delete_objects", Bucket=self.bucket, Delete=request) if paths_by_key else {}
        except Exception:  # noqa: BLE001  # refused, not known to this server, or not answered
            return set()
        return {paths_by_key[each["Key"]] for each in found.get("Deleted", ()) if each.get("Key") in paths_by_key}

    def _with_time_limit(self, call: Callable[[], T]) -> T | None:
        """Connect and make one call, within the time limit; None if s3fs must be asked."""

        def connected() -> T | None:
            try:
                self._store()
            except Exception:  # noqa: BLE001  # s3fs connects next, and its error is the one that counts
                self._paused_until = time.monotonic() + REST_S
                return None
            return call()

        try:
            return time_limits.within(self._url, self._seconds(), lambda: time_limits.calling(connected))
        except Corrupt:
            self._paused_until = time.monotonic() + REST_S
            raise

    def _seconds(self) -> float:
        return min(time_limits.limit_s(), time_limits.call_s())

    @property
    def _url(self) -> str:
        return server(self._fs, f"s3://{self.bucket}")

    def _store(self) -> S3Store:
        if self._client is None:
            meta = self._fs.s3.meta  # connects, which finds the endpoint and the region
            how: ClientConfig = {"allow_http": meta.endpoint_url.startswith("http:"), "connect_timeout": "10s"}
            how["timeout"] = f"{min(REQUEST_S, time_limits.call_s()):g}s"  # it then gives its slot back
            if trusted := os.environ.get("AWS_CA_BUNDLE"):
                how["root_certificate"] = Path(trusted).read_bytes()
            self._client = self._obstore.store.S3Store(
                self.bucket,
                endpoint=meta.endpoint_url,
                region=meta.region_name or "us-east-1",
                virtual_hosted_style_request=False,
                skip_signature=bool(self._fs.anon),
                client_options=how,
                retry_config={"max_retries": 4, "retry_timeout": dt.timedelta(seconds=20)},
                credential_provider=None if self._fs.anon else self._credentials,
            )
        return self._client

    def _credentials(self) -> S3Credential:
        """Return the credentials that s3fs uses; those of a session are asked again every few minutes."""
        key, secret, token, ends = (
            (self._fs.key, self._fs.secret, self._fs.token, None)
            if self._fs.key
            else asyn.sync(self._fs.loop, self._of_the_session)
        )
        until = dt.datetime.now(dt.UTC) + RENEW
        until = until if ends is None else min(until, ends)
        return {"access_key_id": key, "secret_access_key": secret, "token": token, "expires_at": until}

    async def _of_the_session(self) -> tuple[str, str, str | None, dt.datetime | None]:
        session = await self._fs.session.get_credentials()
        found = await session.get_frozen_credentials()
        return found.access_key, found.secret_key, found.token, getattr(session, "_expiry_time", None)

    def _answer(self, ask: Callable[[], T]) -> T | None:
        """Return what obstore answers; None if s3fs must be asked: for what was not found, and after any error."""
        try:
            return ask()
        except TooLarge:
            raise
        except self._obstore.exceptions.NotFoundError:
            return None
        except BaseException as error:  # s3fs makes the same request next, and its error is the one that counts
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of Rust
                raise
            self._paused_until = time.monotonic() + REST_S
            return None

    def _listed(self, path: str, splits: Sequence[str]) -> list[dict[str, Any]] | None:
        key = path.partition("/")[2]
        below = f"{key}/" if key else ""
        if (page := self._first_page(below, "" if splits else "/")) is None:
            return None
        objects, prefixes, is_only = page
        if not is_only and (splits or not prefixes):  # a directory of many files has no others
            if (rest := self._after(below, objects, splits)) is None:
                return None
            objects += rest
        elif not is_only:
            found = self._answer(lambda: self._obstore.list_with_delimiter(self._store(), key or None))
            if found is None or len(found["objects"]) + len(found["common_prefixes"]) <= len(objects) + len(prefixes):
                return None
            objects = [_entry(**each) for each in found["objects"] if each["path"].startswith(below)]  # not its marker
            prefixes = found["common_prefixes"]
        inner = {each["name"] for each in objects if "/" in each["name"].removeprefix(below)}
        prefixes = {*prefixes, *(f"{below}{name.removeprefix(below).partition('/')[0]}" for name in inner)}
        directories = [{"name": each.rstrip("/"), "size": 0, "type": "directory"} for each in sorted(prefixes)]
        found_all = [each for each in objects if each["name"] not in inner] + directories
        if not all(PLAIN.fullmatch(each["name"]) for each in found_all):
            return None
        found_all = [each | {"name": f"{self.bucket}/{each['name']}"} for each in found_all]
        return found_all if is_only or self.is_whole(path, found_all) else None

    def _page(self, below: str, **parameters: object) -> Mapping[str, Any] | None:
        """Ask s3fs for one page of a listing; None if there is no bucket. Raises `Corrupt` if the answer is none."""
        try:
            page: Mapping[str, Any] = self._fs.call_s3(
                "list_objects_v2", Bucket=self.bucket, Prefix=below, **parameters, **self._fs.req_kw
            )
        except FileNotFoundError:
            return None
        except SnapscopeError:
            raise
        except Exception as error:
            raise unreadable(f"{self.bucket}/{below}", error) from error
        return page

    def _first_page(self, below: str, delimiter: str) -> tuple[list[dict[str, Any]], Collection[str], bool] | None:
        """List the objects and prefixes of the first page, and whether there are no more. None if that is not certain.

        obstore would take an answer that is no listing for an empty one. A page without a count is of a server that
        only knows the first version of this request.
        """
        page = self._page(below, Delimiter=delimiter, MaxKeys=_FIRST_PAGE)
        if page is None:
            return None
        if "KeyCount" not in page:
            self._paused_until = time.monotonic() + REST_S
            return None
        objects = [each for each in _objects(page) if each["name"] != below]  # the directory's own marker
        return objects, [each["Prefix"] for each in page.get("CommonPrefixes", ())], not page["IsTruncated"]

    def _after(self, below: str, page: list[dict[str, Any]], splits: Sequence[str]) -> list[dict[str, Any]] | None:
        """List the objects after the first page, the parts between `splits` at the same time; None if the server lists
        in no order, or not after a name."""
        names = [each["name"] for each in page]
        if not names or names != sorted(names):
            return None
        ends = [end for end in (f"{below}{each}" for each in splits) if end > names[-1]]
        calls = [partial(self._part, below, *each) for each in pairwise((names[-1], *ends, None))]
        found = list[dict[str, Any]]()
        is_end = False
        for part in time_limits.together(self._url, [partial(self._answer, each) for each in calls]):
            if part is None or (is_end and part[0]):  # a part that said that nothing follows it
                return None
            found += part[0]
            is_end |= part[1]
        return found

    def _part(self, below: str, begin: str, end: str | None) -> tuple[list[dict[str, Any]], bool] | None:
        """List the objects after `begin`, up to `end`, and whether there are no more; None if they come in another
        order."""
        found, last = list[Any](), begin
        for page in self._obstore.list(self._store(), below.rstrip("/"), offset=begin, chunk_size=_PAGE):
            names = [str(each["path"]) for each in page]
            if names != sorted(names) or (names and names[0] <= last):
                return None
            found += [_entry(**each) for each in page if end is None or each["path"] <= end]
            last = names[-1] if names else last
            if end is not None and last > end:
                return found, False
        return found, True

    def _size(self, path: str) -> int | None:
        return self._answer(lambda: self._obstore.head(self._store(), path.partition("/")[2])["size"])

    def _get(self, path: str, most_bytes: int) -> bytes | None:
        def get() -> bytes:
            found = self._obstore.get(self._store(), path.partition("/")[2])
            if found.meta["size"] > most_bytes:
                raise TooLarge(found.meta["size"])
            return Versioned(found.bytes(), found.meta["e_tag"])

        return self._answer(get)


def _check_page(http_response: Any, parsed: Mapping[str, Any], **_: object) -> None:
    """Raise `Corrupt` if botocore has read something else than a page of a listing, such as the page of a proxy, or one
    that does not say how to ask for the names that follow."""
    is_only = parsed.get("MaxKeys", _PAGE) < _PAGE  # as asked: nobody reads on, and old servers do not say how
    is_page = "IsTruncated" in parsed and (not parsed["IsTruncated"] or "NextContinuationToken" in parsed or is_only)
    if http_response.status_code < 300 and not is_page:
        raise no_listing(http_response.url.partition("?")[0])


def _objects(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Describe the objects of a page of a listing."""
    return [
        _entry(each["Key"], each["Size"], each["LastModified"].astimezone(dt.UTC), each.get("ETag"))
        for each in page.get("Contents", ())
    ]


def _entry(path: str, size: int, last_modified: dt.datetime, e_tag: str | None, **_: object) -> dict[str, Any]:
    """Describe an object as s3fs does."""
    return {"name": path, "size": size, "type": "file", "LastModified": last_modified, "ETag": e_tag}
