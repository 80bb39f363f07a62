"""Paimon's REST catalog: which tables a server lists, where each of them lies, and the newest snapshot it knows.

A table's files are reached by its path, with the options that the settings file has for that location, or with
credentials that the server lends (`data-token.enabled`). Which changes go through the server: see `served_tables`.
Source: `RESTApi`, `ResourcePaths`, `ConfigResponse`, `GetTableResponse`, `GetTableSnapshotResponse` of Paimon 1.4.

Invariant: requests are sent only to the server that the settings file names; a redirect is an error, because
it would take the token elsewhere. The token is a bearer token; with an access key, requests are signed (`dlf`).
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any, cast
from urllib.parse import quote

from core.credentials import masked
from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.formats import catalog_answers
from core.formats.paimon.catalogs import dlf
from core.messages import message
from core.settings_file import NamedCatalog
from core.storage import time_limits
from core.units import is_true

TYPE = "paimon-rest"
TIMEOUT_S = 20.0  # without a byte
MOST_BYTES = 64 << 20  # of one answer
_MOST_REFUSED = 1 << 20  # and of one that is an error
MOST_PAGES = 100_000
_JSON = {"Content-Type": "application/json"}
_AT_ONCE = 1 << 16  # bytes
_MORE_S = 1.0
_MOST_SAID = 300  # characters of a server's message
_MISSING = ("DATABASE", "TABLE", "SNAPSHOT")  # types of resources that an answer may say do not exist
_REJECTIONS = (400, 401, 403, 404)  # after other statuses, a request may have taken effect
_HEADER = "header."
_LENDS, _DATA_TOKEN = "data-token-enabled", "data-token.enabled"
_CHECK = message("Check its uri, warehouse and token in the settings file, and the connection.")


@dataclass(frozen=True, slots=True)
class ServedTable:
    """A table as a server describes it. `is_external`: its writers commit without asking the server."""

    id: str
    path: str
    schema_id: int
    is_external: bool


class NotCommitted(Corrupt):
    """The server rejected a request and did nothing."""

    kind = Corrupt.__name__


class Client:
    """A client of one server; opening it requests the server's configuration."""

    def __init__(self, catalog: NamedCatalog) -> None:
        self._catalog, self._uri = catalog, catalog.text("uri").rstrip("/")
        if not self._uri.startswith(("http://", "https://")):
            raise Unsupported(
                "The uri of the catalog {name} is not an http:// or https:// URL.",
                name=catalog.name,
                path=self._uri,
                remedy=_CHECK,
            )
        self._opener = urllib.request.build_opener(_NoRedirect())
        self._headers: dict[str, str] = {}
        warehouse = catalog.text("warehouse")
        found = self._get("/v1/config", {"warehouse": warehouse} if warehouse else {})
        own = catalog.options.get(_LENDS)
        own_headers = {} if own is None else {_DATA_TOKEN: str(own).lower()}
        self.options = options = {**_texts(found, "defaults"), **own_headers, **_texts(found, "overrides")}
        self._headers = {
            name.removeprefix(_HEADER): value
            for name, value in options.items()
            if name.startswith(_HEADER) and value.isprintable()
        }
        self._base = "/".join(["/v1", *([quote(prefix, safe="")] if (prefix := options.get("prefix")) else [])])

    def databases(self) -> list[str]:
        return sorted(self._names(f"{self._base}/databases", "databases"))

    def tables(self, database: str) -> list[str]:
        """Return the names of a database's tables. Raises `NotFound` if there is no such database."""
        return sorted(self._names(f"{self._base}/databases/{quote(database, safe='')}/tables", "tables"))

    def table(self, database: str, name: str) -> ServedTable:
        """Return what the server says of a table. Raises `NotFound` if there is no such table."""
        where = self._of_table(database, name)
        found = self._get(where)
        path, schema = found.get("path"), found.get("schemaId")
        if not isinstance(path, str) or not path or type(schema) is not int:
            raise self._odd(where, message("a table with its path and schemaId"))
        return ServedTable(str(found.get("id") or ""), path, schema, found.get("isExternal") is True)

    def newest_snapshot(self, database: str, name: str) -> Mapping[str, Any]:
        """Return the newest snapshot of a table, or of a branch (`TABLE$branch_NAME`), as the fields of its file.

        Raises `NotFound` if it has none, or if there is no such table.
        """
        where = f"{self._of_table(database, name)}/snapshot"
        found = self._get(where).get("snapshot")
        snapshot = found.get("snapshot") if isinstance(found, dict) else None
        if not isinstance(snapshot, dict) or type(snapshot.get("id")) is not int:
            raise self._odd(where, message("a snapshot with its id"))
        return snapshot

    def commit(self, database: str, name: str, document: Mapping[str, Any]) -> bool:
        """Ask the server to publish a snapshot; False if another commit came first.

        Raises `NotFound` or `NotCommitted` if it certainly did not; after any other error, that is unknown.
        """
        where = f"{self._of_table(database, name)}/commit"
        is_done = self._asked(where, {}, json.dumps(document).encode()).get("success")
        if type(is_done) is not bool:
            raise self._odd(where, message("whether it has published the snapshot"))
        return is_done

    @property
    def lends(self) -> bool:
        """Whether the server lends credentials for tables (`data-token.enabled`)."""
        return is_true(self.options.get(_DATA_TOKEN))

    def token(self, database: str, name: str) -> tuple[dict[str, str], int]:
        """Return the options that reach a table's files, and when their credentials expire, in milliseconds."""
        where = f"{self._of_table(database, name)}/token"
        found = self._get(where)
        until = found.get("expiresAtMillis")
        if not isinstance(found.get("token"), dict) or type(until) is not int:
            raise self._odd(where, message("a token with its expiresAtMillis"))
        return _texts(found, "token"), until

    def paths(self, database: str) -> list[tuple[str, str]]:
        """Return the names and paths of a database's tables, without external ones.

        Raises `NotFound` if there is no such database.
        """
        where = f"{self._base}/databases/{quote(database, safe='')}/table-details"
        found = []
        for each in self._pages(where, "tableDetails"):
            name, path = (each.get("name"), each.get("path")) if isinstance(each, dict) else (None, None)
            if not isinstance(name, str) or not isinstance(path, str):
                raise self._odd(where, message("tables with their names and paths"))
            if each.get("isExternal") is not True:
                found.append((name, path))
        return found

    def _of_table(self, database: str, name: str) -> str:
        return f"{self._base}/databases/{quote(database, safe='')}/tables/{quote(name, safe='')}"

    def _names(self, where: str, key: str) -> Iterator[str]:
        for each in self._pages(where, key):
            if not isinstance(each, str):
                raise self._odd(where, message("a list of names"))
            yield each

    def _pages(self, where: str, key: str) -> Iterator[Any]:
        page, seen = "", set[str]()
        for _ in range(MOST_PAGES):
            found = self._get(where, {"pageToken": page} if page else {})
            some = found.get(key) or []
            if not isinstance(some, list):
                raise self._odd(where, message("a list of names"))
            yield from some
            page = found.get("nextPageToken") or ""
            if not page:
                return
            if not isinstance(page, str) or page in seen:
                raise self._odd(where, message("another page of names"))
            seen.add(page)
        raise self._odd(where, message("an end of the pages"))

    def _get(self, where: str, parameters: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        return self._asked(where, parameters or {}, None)

    def _asked(self, where: str, parameters: Mapping[str, str], body: bytes | None) -> Mapping[str, Any]:
        """Send a request, a POST if it has a body, and return the answer."""
        query = {name: quote(value, safe="") for name, value in parameters.items()}
        pairs = "&".join(f"{name}={value}" for name, value in query.items())
        url = f"{self._uri}{where}" + (f"?{pairs}" if pairs else "")
        headers = {**self._headers, "Accept": "application/json"} | ({} if body is None else _JSON)
        request = urllib.request.Request(url, body, headers)
        for name, value in self._login(where, query, body).items():
            request.add_unredirected_header(name, value)
        content = catalog_answers.ask(self._catalog.name, self._catalog.location, lambda: self._content(request, url))
        try:
            found = json.loads(content) if len(content) <= MOST_BYTES else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self._odd(where, message("a JSON object"))
        return found

    def _login(self, where: str, query: Mapping[str, str], body: bytes | None) -> Mapping[str, str]:
        """Return the headers that identify the user."""
        if dlf.is_used(self._catalog):
            return dlf.headers(self._catalog, where, query, body)
        if "token" in self._catalog.options:
            return {"Authorization": f"Bearer {self._catalog.text('token')}"}
        return {}

    def _content(self, request: urllib.request.Request, url: str) -> bytes:
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                return _within(answer, time_limits.call_s() + _MORE_S, MOST_BYTES)
        except urllib.error.HTTPError as error:
            raise self._refused(error, url) from error
        except (OSError, HTTPException, ValueError) as error:
            raise Corrupt(
                "The catalog {name} did not answer: {error}.",
                name=self._catalog.name,
                error=masked(str(getattr(error, "reason", None) or error)),
                path=url,
                remedy=_CHECK,
            ) from error

    def _refused(self, error: urllib.error.HTTPError, url: str) -> SnapscopeError:
        with error:
            try:
                found = json.loads(_within(cast(HTTPResponse, error.fp), time_limits.call_s() + _MORE_S, _MOST_REFUSED))
            except (OSError, HTTPException, ValueError, RecursionError):
                found = None
        text = str(found.get("message") or "") if isinstance(found, dict) else ""
        if error.code == 404 and isinstance(found, dict) and found.get("resourceType") in _MISSING:
            return NotFound(
                "The catalog {name} answers: {said}", name=self._catalog.name, said=masked(text[:_MOST_SAID]), path=url
            )
        return (NotCommitted if error.code in _REJECTIONS else Corrupt)(
            "The catalog {name} rejected the request: HTTP {status} {said}",
            name=self._catalog.name,
            status=error.code,
            said=masked(text[:_MOST_SAID] or str(error.reason)),
            path=url,
            remedy=_CHECK,
        )

    def _odd(self, where: str, expected: str) -> Corrupt:
        return Corrupt(
            "The catalog {name} did not answer as a Paimon REST catalog: expected {expected}.",
            name=self._catalog.name,
            expected=expected,
            path=f"{self._uri}{where}",
            remedy=_CHECK,
        )


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _within(answer: HTTPResponse, seconds: float, most: int) -> bytes:
    """Read an answer, a little beyond `most` bytes at most. Whoever asked has given up before `seconds` have passed:
    only the connection is to end."""
    ends, size, found = time.monotonic() + seconds, answer.length, bytearray()
    while len(found) <= most and len(found) != size:
        some = answer.read1(_AT_ONCE if size is None else min(_AT_ONCE, size - len(found)))
        if not some and size is not None:
            raise IncompleteRead(bytes(found), size - len(found))
        if not some:
            break
        found += some
        if time.monotonic() > ends:
            raise TimeoutError
    return bytes(found)


def _texts(found: Mapping[str, Any], key: str) -> dict[str, str]:
    values = found.get(key) or {}
    return {name: each for name, each in values.items() if isinstance(each, str)} if isinstance(values, dict) else {}
