"""A file system that returns wrong results, below a store that treats it as an object store.

Every call is counted. One of them (`Lies.at`), or all that a rule selects, fails in one of the ways in `HOW`. Directory
listings may be stale for as long as `Lies.behind` says so.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import fsspec.asyn

from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.storage.store import Store
from core.table import Table

HOW = ("forbidden", "unavailable", "connection lost", "half", "absent")


class ConnectionLost(Exception):
    """A client library's own error, of an unknown class."""


@dataclass
class Lies:
    """What goes wrong, and the calls so far: (call, path)."""

    at: int | None = None
    how: str = "unavailable"
    picks: Callable[[str, str, int], bool] = lambda call, path, times: False
    behind: Callable[[str, frozenset[str]], frozenset[str]] = lambda directory, names: names
    ignores_conditions: bool = False  # a create replaces what is there
    keeps_versions: bool = False
    cut: Callable[[bytes], bytes] = lambda data: data[: len(data) // 2]
    calls: list[tuple[str, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_wrong(self, call: str, path: str) -> bool:
        with self._lock:
            number = len(self.calls)
            times = self.calls.count((call, path))
            self.calls.append((call, path))
        return number == self.at or self.picks(call, path, times)

    def tell(self, path: str) -> None:
        match self.how:
            case "forbidden":
                raise PermissionError(errno.EACCES, "403 Forbidden", path)
            case "unavailable":
                raise OSError(errno.EIO, "503 Slow Down", path)
            case "connection lost":
                raise ConnectionLost(path)
            case "absent":
                raise FileNotFoundError(errno.ENOENT, "404 Not Found", path)


class LyingFiles:
    """The few calls that a store makes, on a local directory."""

    protocol = "s3"
    retries = 1

    def __init__(self, root: str, lies: Lies) -> None:
        self._true = Store(root)._fs
        self.lies = lies
        self.root = root
        self.loop = fsspec.asyn.get_loop()
        self.req_kw: Mapping[str, str] = {}
        self._metadata: dict[str, Mapping[str, str]] = {}  # path: what was written with it through this client

    def _is_half(self, call: str, path: str) -> bool:
        """Return False if the call is to succeed, True if it is to return a partial result; raises otherwise."""
        if not self.lies.is_wrong(call, os.path.relpath(path, self.root)):
            return False
        self.lies.tell(path)
        return True

    def ls(self, path: str, detail: bool = True) -> list[Mapping[str, Any]]:
        is_half = self._is_half("ls", path)
        found = sorted(self._true.ls(path, detail=True), key=lambda info: str(info["name"]))
        by_name = {os.path.basename(info["name"]): info for info in found}
        told = self.lies.behind(os.path.relpath(path, self.root), frozenset(by_name))
        nothing = {"size": 100, "type": "file", "mtime": 0.0}
        listed = [by_name.get(name, {**nothing, "name": os.path.join(path, name)}) for name in sorted(told)]
        return listed[: len(listed) // 2] if is_half else listed

    def info(self, path: str) -> Mapping[str, Any]:
        if self._is_half("info", path):
            raise OSError(errno.EIO, "half an answer", path)
        found: Mapping[str, Any] = self._true.info(path)
        return found

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        is_half = self._is_half("cat_file", path)
        data: bytes = self._true.cat_file(path, start, end)
        return self.lies.cut(data) if is_half else data

    def split_path(self, path: str) -> tuple[str, str, None]:
        bucket, _, key = path.partition("/")
        return bucket, key, None

    async def _call_s3(self, method: str, *, Bucket: str, Key: str, Range: str) -> Mapping[str, Any]:
        assert method == "get_object"
        data = await asyncio.to_thread(self.cat_file, f"{Bucket}/{Key}", 0, int(Range.partition("-")[2]) + 1)

        async def read() -> bytes:
            return data

        return {"Body": SimpleNamespace(read=read, close=lambda: None), "ETag": etag(data)}

    def _require(self, path: str, version: str | None) -> None:
        """Refuse what another has changed, as S3 does; in two steps, so a caller that races needs a real server."""
        if version is not None and not self.lies.ignores_conditions and etag(self._true.cat_file(path)) != version:
            raise OSError(errno.EINVAL, "412 Precondition Failed", path)

    def pipe_file(
        self,
        path: str,
        data: bytes,
        mode: str = "overwrite",
        Metadata: Mapping[str, str] | None = None,
        IfMatch: str | None = None,
    ) -> None:
        """Write or delete, then fail: it was done, but the caller does not know."""
        is_half = self._is_half("pipe_file", path)
        self._require(path, IfMatch)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        is_exclusive = mode == "create" and not self.lies.ignores_conditions
        with open(path, "xb" if is_exclusive else "wb") as file:
            file.write(data)
        self._metadata[path] = dict(Metadata or {})
        if is_half:
            raise OSError(errno.EIO, "half an answer", path)

    def call_s3(self, method: str, **given: Any) -> Mapping[str, Any]:
        if method == "list_objects_v2":  # whether a directory is there
            return {"IsTruncated": False, "Contents": os.path.isdir(f"{given['Bucket']}/{given['Prefix']}")}
        if method == "delete_object":
            self.rm_file(f"{given['Bucket']}/{given['Key']}", given["IfMatch"])
            return {}
        assert method == "get_bucket_versioning"
        return {"Status": "Enabled"} if self.lies.keeps_versions else {}

    def metadata(self, path: str) -> Mapping[str, str]:
        if self._is_half("metadata", path):
            raise OSError(errno.EIO, "half an answer", path)
        return self._metadata.get(path, {})

    def rm_file(self, path: str, version: str | None = None) -> None:
        is_half = self._is_half("rm_file", path)
        self._require(path, version)
        os.unlink(path)
        if is_half:
            raise OSError(errno.EIO, "half an answer", path)

    def unstrip_protocol(self, path: str) -> str:
        return f"lying://{path}"


def etag(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def lying_store(root: object, lies: Lies) -> Store:
    store: Any = object.__new__(Store)
    store._fs, store.protocol = LyingFiles(str(root), lies), "s3"
    store.root = store.location = str(root)
    made: Store = store
    return made


def lying_table(root: object, lies: Lies) -> Table:
    """Open a table on this file system, with nothing decoded yet."""
    store = lying_store(root, lies)
    return Table(PaimonFormat(store, PaimonManifests(store)))
