"""HDFS over HTTP (WebHDFS, HttpFS), with failures as errors where fsspec's own class passes them over.

Source: the WebHDFS REST API of Hadoop 3.4, whose renames and deletes answer `false` if they did nothing.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from fsspec.implementations.webhdfs import WebHDFS
from requests.adapters import HTTPAdapter

from core.storage.file_systems import refuse_directory

_CONNECTIONS = 64  # kept open to a host; as many as a read has threads


class WebHdfs(WebHDFS):  # type: ignore[misc]  # fsspec has no types
    """HDFS over HTTP: one request and its redirect for each file."""

    def _connect(self) -> None:
        super()._connect()
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, HTTPAdapter(pool_maxsize=_CONNECTIONS))

    def unstrip_protocol(self, name: str) -> str:
        return f"webhdfs://{urlsplit(self.url).netloc}{self._strip_protocol(name)}"

    def ls(self, path: str, detail: bool = False, **more: Any) -> list[Any]:
        """A file is listed by its own name."""
        found = super().ls(path, detail=True, **more)
        for each in found:
            each["name"] = each["name"].rstrip("/")
            each["mtime"] = each["modificationTime"] / 1000
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().info(path, **more)
        return found | {"mtime": found["modificationTime"] / 1000}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        part = {} if end is None else {"length": end - (start or 0)}
        try:
            answer = self._call("OPEN", path=path, offset=start or 0, **part)
        except FileNotFoundError:
            refuse_directory(self, path)
            raise
        content: bytes = answer.content
        return content

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: Any) -> None:
        overwrites = "true" if mode == "overwrite" else "false"
        redirect = self._call("CREATE", "put", path, redirect=False, overwrite=overwrites)
        address = self._apply_proxy(redirect.headers["Location"])
        self.session.put(address, data=value, headers={"content-type": "application/octet-stream"}).raise_for_status()

    def rm_file(self, path: str, **more: Any) -> None:
        if not _done(self._call("DELETE", "delete", path=path, recursive="false")):
            raise FileNotFoundError(path)

    def remove_empty_dir(self, path: str) -> None:
        self.rm_file(path)  # of a directory with entries it is an error

    def rename(self, old: str, new: str, *, replace: bool) -> None:
        options = {"renameoptions": "OVERWRITE"} if replace else {}
        answer = self._call("RENAME", "put", path=old, destination=new, **options)
        if not replace and not _done(answer):  # with options, what fails is an error
            self.info(old)
            raise FileExistsError(new)


def _done(answer: Any) -> bool:
    return bool(json.loads(answer.content)["boolean"])
