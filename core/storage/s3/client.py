"""Read, measure and delete objects of one bucket of S3, many at once; `ListingClient` lists them.

Invariant: names outside `PLAIN`, and whatever obstore does not answer, are left to s3fs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from core.errors import Corrupt, SnapscopeError
from core.storage import request_slots, time_limits
from core.storage.file_systems import TooLarge, Versioned, too_large
from core.storage.s3.connection import REST_S
from core.storage.s3.listing import PLAIN, ListingClient

_IN_XML = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")  # names that a body in XML can have


class S3Client(ListingClient):
    """Reads from one bucket. `fs` is the s3fs file system for it. Creating a client sends no request."""

    @classmethod
    def of(cls, fs: Any, root: str) -> S3Client | None:
        """Return a client for an s3fs file system; None for any other. Raises `ImportError` without obstore."""
        protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
        return cls(fs, root.partition("/")[0]) if {"s3", "s3a"}.intersection(protocols) else None

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

    def _size(self, path: str) -> int | None:
        return self._answer(lambda: self._obstore.head(self._store(), path.partition("/")[2])["size"])

    def _get(self, path: str, most_bytes: int) -> bytes | None:
        def get() -> bytes:
            found = self._obstore.get(self._store(), path.partition("/")[2])
            if found.meta["size"] > most_bytes:
                raise TooLarge(found.meta["size"])
            return Versioned(found.bytes(), found.meta["e_tag"])

        return self._answer(get)
