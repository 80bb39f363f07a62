"""HDFS over HTTP (WebHDFS, HttpFS), with failures as errors where fsspec's own class passes them over.

Source: the WebHDFS REST API of Hadoop 3.4, whose renames and deletes answer `false` if they did nothing. A NameNode
that is a standby answers 403 with the name of an exception.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import requests
from fsspec.implementations.webhdfs import WebHDFS
from requests.adapters import HTTPAdapter
from urllib3.exceptions import NewConnectionError

from core.storage.file_systems import refuse_directory
from core.storage.hdfs import hadoop_settings, refusals

_CONNECTIONS = 64  # kept open to a host; as many as a read has threads
_CONNECT_S = 5.0  # a machine that is off does not answer at all
_PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0)  # before all NameNodes are asked again; in these, a standby becomes active
_SPNEGO = "requests-kerberos"
_NO_USER = "SecurityException"  # of a server that takes tokens only, or whose token has expired
_NOT_NOW = ("StandbyException", "RetriableException")


class WebHdfs(WebHDFS):  # type: ignore[misc]  # fsspec has no types
    """HDFS over HTTP: one request and its redirect for each file. `host` may be a nameservice."""

    url: str

    def __init__(self, host: str, port: int | str | None = None, use_https: bool = False, **more: Any) -> None:
        own = hadoop_settings.of_hadoop(more)
        rest = {name: value for name, value in more.items() if name not in own}
        settings = hadoop_settings.read(own)
        kind = hadoop_settings.HTTPS if use_https else hadoop_settings.HTTP
        self.addresses = [] if port else list(hadoop_settings.nodes(settings, host, kind).values())
        is_kerberos = settings.get(refusals.SECURITY) == "kerberos" and not rest.get("token")
        self._lacks = _SPNEGO if is_kerberos and find_spec(_SPNEGO.replace("-", "_")) is None else None
        if is_kerberos and not self._lacks:
            rest = {name: value for name, value in rest.items() if name != "user"} | {"kerberos": True}
        first, _, its_port = self.addresses[0].rpartition(":") if self.addresses else (host, "", port)
        given = {"port": its_port} if its_port else {}
        super().__init__(first, use_https=use_https, **given, **rest)
        self.place = host if self.addresses else urlsplit(self.url).netloc

    def _connect(self) -> None:
        super()._connect()
        self.session.hooks["response"] += [_refuse_standby, self._refuse_stranger]
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, _Adapter(pool_maxsize=_CONNECTIONS))

    def _call(self, op: str, method: str = "get", path: str | None = None, **more: Any) -> Any:
        """Ask the active NameNode, which may have become another one. Nothing is repeated that may have been done."""
        asked = self.url
        for pause_s in _PAUSES_S if self.addresses else ():
            time.sleep(pause_s)
            for _ in self.addresses:
                asked = self.url
                try:
                    return super()._call(op, method, path, **more)
                except _NotActive:
                    pass
                except requests.ConnectionError as error:
                    if method != "get" and not _was_not_sent(error):
                        raise
                self._leave(asked)
        try:
            return super()._call(op, method, path, **more)
        except _NotActive as error:
            raise refusals.no_active(self.place, path or "") from error

    def _refuse_stranger(self, answer: requests.Response, **_: Any) -> None:
        """Raise for an answer that asks who we are, unless Kerberos is about to tell."""
        is_asked = answer.status_code == requests.codes.unauthorized and not self.kerb
        if is_asked or _exception(answer).get("exception") == _NO_USER:
            answer.close()
            raise refusals.not_identified(self.place, "", self._lacks)

    def _leave(self, url: str) -> None:
        """Ask another NameNode from now on, unless another thread has decided that already."""
        parts = urlsplit(url)
        if self.url == url:
            place = self.addresses.index(parts.netloc) + 1
            self.url = parts._replace(netloc=self.addresses[place % len(self.addresses)]).geturl()

    def unstrip_protocol(self, name: str) -> str:
        return f"webhdfs://{self.place}{self._strip_protocol(name)}"

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
        part: dict[str, Any] = {} if end is None else {"length": end - (start or 0)}
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
        headers = {"content-type": "application/octet-stream"}
        answer = self.session.put(address, data=value, headers=headers)
        if not answer.ok:
            raise OSError(_exception(answer).get("message") or f"{answer.status_code} {answer.reason}")

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


class _NotActive(Exception):
    """The NameNode that was asked cannot answer now, and has done nothing."""


class _Adapter(HTTPAdapter):
    """Waits for a connection only so long that another NameNode can be asked in time."""

    def send(self, *arguments: Any, **more: Any) -> requests.Response:
        return super().send(*arguments, **{**more, "timeout": more.get("timeout") or (_CONNECT_S, None)})


def _refuse_standby(answer: requests.Response, **_: Any) -> None:
    if answer.status_code == requests.codes.forbidden:
        name = _exception(answer).get("exception")
        if name in _NOT_NOW:
            raise _NotActive(name)


def _exception(answer: requests.Response) -> Mapping[str, Any]:
    """Return what an answer says of a failure; empty if it is not one of Hadoop's."""
    if answer.ok:
        return {}
    try:
        found: Mapping[str, Any] = answer.json()["RemoteException"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found


def _was_not_sent(error: requests.ConnectionError) -> bool:
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(error, requests.ConnectTimeout) or isinstance(reason, NewConnectionError)


def _done(answer: Any) -> bool:
    return bool(json.loads(answer.content)["boolean"])
