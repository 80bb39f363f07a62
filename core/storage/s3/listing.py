"""List the objects of one bucket of S3: a directory, in parts at the same time if it is large, or pages of names.

Invariant: both clients take an answer without names for the end of a listing. So each page that s3fs reads must be one,
and after a listing of several pages the store must say that its last name is the last (`is_whole`).
"""

from __future__ import annotations

import datetime as dt
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from core.errors import Corrupt, SnapscopeError
from core.storage import kept_contents, time_limits
from core.storage.file_systems import no_listing, read_page, unreadable
from core.storage.s3.connection import REST_S, Connection

PLAIN = re.compile(r"[A-Za-z0-9_.=+-]+(/[A-Za-z0-9_.=+-]+)*")  # names that no client quotes, decodes or normalises
_PAGE = 1000  # names in one answer of S3
_FIRST_PAGE = 100  # names in the first one, which botocore parses: 0.15 ms each, 20 times what obstore takes
_LAST_PAGE = 50  # names in the last one, which botocore parses, if pages begin where they began before
_AFTER_ALL = "/\U0010ffff"  # after a directory's name: the names of what is in it come before


class ListingClient(Connection):
    """Lists what a bucket has."""

    def __init__(self, fs: Any, bucket: str) -> None:
        super().__init__(fs, bucket)
        for when, act in (("before-parse", read_page), ("after-call", _check_page)):  # once for each session
            fs.session.register(f"{when}.s3.ListObjectsV2", act, unique_id=f"{__name__} {when}")

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
        if self._paused_until == math.inf or below.partition("/")[2][:1] == "/":
            return None
        page = self._with_time_limit(lambda: self._page_after(*(each.partition("/")[2] for each in (below, after))))
        return page and ([each | {"name": f"{self.bucket}/{each['name']}"} for each in page[0]], page[1])

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

    def _listed(self, path: str, splits: Sequence[str]) -> list[dict[str, Any]] | None:
        key = path.partition("/")[2]
        below = f"{key}/" if key else ""
        starts = kept_contents.page_starts(f"{self._url}/{key}") if splits else []
        found = (self._pages(below, starts) if starts else None) or self._one_or_more(below, splits)
        if found is None:
            return None
        objects, prefixes, is_certain = found
        inner = {each["name"] for each in objects if "/" in each["name"].removeprefix(below)}
        prefixes |= {f"{below}{name.removeprefix(below).partition('/')[0]}" for name in inner}
        directories = [{"name": each.rstrip("/"), "size": 0, "type": "directory"} for each in sorted(prefixes)]
        found_all = [each for each in objects if each["name"] not in inner] + directories
        if not all(PLAIN.fullmatch(each["name"]) for each in found_all):
            return None
        found_all = [each | {"name": f"{self.bucket}/{each['name']}"} for each in found_all]
        if not is_certain and not self.is_whole(path, found_all):
            return None
        if splits and starts != (now := _page_starts([each["name"] for each in objects])):
            kept_contents.keep_page_starts(f"{self._url}/{key}", now)
        return found_all

    def _one_or_more(self, below: str, splits: Sequence[str]) -> tuple[list[dict[str, Any]], set[str], bool] | None:
        """List the first page and, if there are more names, all the others; as `_first_page`."""
        if (page := self._first_page(below, "" if splits else "/")) is None:
            return None
        objects, prefixes, is_only = page
        if is_only:
            return page
        if splits or not prefixes:  # a directory of many files has no others
            rest = self._after(below, objects, splits)
            return None if rest is None else (objects + rest, prefixes, False)
        found = self._answer(lambda: self._obstore.list_with_delimiter(self._store(), below.rstrip("/") or None))
        if found is None or len(found["objects"]) + len(found["common_prefixes"]) <= len(objects) + len(prefixes):
            return None
        objects = [_entry(**each) for each in found["objects"] if each["path"].startswith(below)]  # not its marker
        return objects, set(found["common_prefixes"]), False

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

    def _first_page(self, below: str, delimiter: str) -> tuple[list[dict[str, Any]], set[str], bool] | None:
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
        return objects, {each["Prefix"] for each in page.get("CommonPrefixes", ())}, not page["IsTruncated"]

    def _page_after(self, below: str, after: str) -> tuple[list[dict[str, Any]], bool] | None:
        """List one page as `names_after`, by names without the bucket."""
        try:
            page = self._page(below, StartAfter=after, MaxKeys=_PAGE)
        except Corrupt:  # the listing of a single directory judges
            return None
        if page is None or "KeyCount" not in page:
            return None
        found, is_end = _objects(page), not page["IsTruncated"]
        is_certain = (found or is_end) and _is_ascending([after, *(each["name"] for each in found)])
        return (found, is_end) if is_certain else None

    def _pages(self, below: str, starts: Sequence[str]) -> tuple[list[dict[str, Any]], set[str], bool] | None:
        """List the objects between the names at which pages began when this was last listed, all at the same time, and
        those after the last of them by a page that says where the listing ends; None if any of that is not certain."""
        parts = [partial(self._part, below, *each) for each in pairwise((below, *starts))]
        calls = [*(partial(self._answer, each) for each in parts), partial(self._page_after, below, starts[-1])]
        *found, end = time_limits.together(self._url, calls)
        if not (end and end[0] and end[1]) or any(part is None or part[1] for part in found):
            return None
        objects = [each for part in (*found, end) if part for each in part[0]]
        return (objects, set(), True) if _is_ascending([each["name"] for each in objects]) else None

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
            if end is not None and last >= end:
                return found, False
        return found, True


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


def _is_ascending(names: Sequence[str]) -> bool:
    return all(one < other for one, other in pairwise(names))


def _page_starts(names: Sequence[str]) -> list[str]:
    """Return the names after which pages of equal size begin, the last one before a short page; none for one page."""
    if (count := len(names) - _LAST_PAGE) <= _PAGE - _LAST_PAGE:
        return []
    pages = -(-count // (_PAGE - 1))
    ordered = sorted(names)
    return [ordered[count * number // pages - 1] for number in range(1, pages + 1)]
