"""A small S3 server in memory that answers each request after a fixed time, for benchmarks and tests of latency.

    with serving({"t/snapshot/snapshot-1": b"…"}, delay_s=0.03) as server:
        server.lead(monkeypatch)
        Store("s3://lake/t")
        server.taken()         # the requests since the last call

It knows what clients ask of one bucket: GET of whole objects, HEAD, ListObjectsV2, PUT (also only if the name is free),
DELETE and DeleteObjects (all three also only if the object is unchanged). It checks no signatures. Requests wait at the
same time, however many there are.
"""

from __future__ import annotations

import asyncio
import bisect
import functools
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote_plus, unquote
from xml.sax.saxutils import escape, unescape

if TYPE_CHECKING:
    import pytest

BUCKET = "lake"
PAGE = 1000  # names in one page of a listing, as in S3
PATIENCE_S = 30.0  # before requests that are to wait for others are answered alone
_KEYS = re.compile(b"<Key>(.*?)</Key>(?:<ETag>(.*?)</ETag>)?")
_IF_SAME = re.compile(rb"(?i)\r\nif-match: *([^\r]*)")
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_IF_FREE = re.compile(rb"(?i)\r\nif-none-match: *\*")
_METADATA = re.compile(rb"(?i)\r\n(x-amz-meta-[^:]+): *([^\r]*)")
_TIME = "Thu, 01 Jan 2026 00:00:00 GMT"
Answer = tuple[int, list[tuple[str, str]], bytes]


@dataclass
class Server:
    """What the server holds, and what it was asked: (method, path with query)."""

    objects: dict[str, bytes]
    delay_s: float
    url: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    metadata: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()  # keys that a client may not delete
    knows_conditions: bool = True  # else it rejects requests about unchanged objects
    loses: Callable[[str, str], bool] = lambda method, target: False  # requests that are done and never answered
    together: tuple[str, int] = ("", 0)  # requests with this in their target are answered when so many of them wait
    most_at_once: int = 0  # requests that waited at the same time
    _waiting: int = 0
    _held: list[Callable[[], None]] = field(default_factory=list)
    _open: set[asyncio.Transport] = field(default_factory=set)
    _names: list[str] | None = None

    @property
    def leads(self) -> Mapping[str, str]:
        """The environment that leads clients here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def lead(self, environment: pytest.MonkeyPatch) -> None:
        """Lead the clients of this process here."""
        for name, value in self.leads.items():
            environment.setenv(name, value)

    def taken(self) -> list[tuple[str, str]]:
        """Return the requests since the last call."""
        found, self.seen = self.seen, []
        return found

    def names(self) -> list[str]:
        if self._names is None:
            self._names = sorted(self.objects)
        return self._names

    def let_go(self) -> None:
        """Answer what is held, and hold nothing any more."""
        self.together = ("", 0)
        while self._held:
            self._held.pop()()

    def answer(self, method: str, target: str, head: bytes, body: bytes) -> Answer:
        path, _, query = target.partition("?")
        key = unquote(path).removeprefix(f"/{BUCKET}").removeprefix("/")
        asked = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
        if method == "GET" and not key:
            return self._listed(asked) if "list-type" in asked else (404, [], _error("NoSuchConfiguration"))
        if method == "POST" and "delete" in asked:
            return self._deleted_many(body)
        if method in ("GET", "HEAD"):
            return self._got(key)
        if same := _IF_SAME.search(head):
            if not self.knows_conditions:
                return 501, [], _error("NotImplemented")
            if key not in self.objects or same[1].decode() != _etag(self.objects[key]):
                return 412, [], _error("PreconditionFailed")
        if method == "PUT":
            if key in self.objects and _IF_FREE.search(head):
                return 412, [], _error("PreconditionFailed")
            self._names = None
            self.objects[key] = body
            self.metadata[key] = [(name.decode(), value.decode()) for name, value in _METADATA.findall(head)]
            return 200, [("ETag", _etag(body))], b""
        if method == "DELETE":
            if key in self.refuses:
                return 403, [], _error("AccessDenied")
            self._names = None
            self.objects.pop(key, None)
            return 204, [], b""
        return 501, [], _error("NotImplemented")

    def _got(self, key: str) -> Answer:
        data = self.objects.get(key)
        if data is None:
            return 404, [], _error("NoSuchKey")
        return 200, [("ETag", _etag(data)), ("Last-Modified", _TIME), *self.metadata.get(key, [])], data

    def _deleted_many(self, body: bytes) -> Answer:
        answer = []
        for key, tag in ((unescape(name.decode()), unescape(tag.decode())) for name, tag in _KEYS.findall(body)):
            is_changed = bool(tag) and tag != _etag(self.objects.get(key, b""))
            if key in self.refuses or is_changed:
                code = "PreconditionFailed" if is_changed else "AccessDenied"
                answer.append(f"<Error><Key>{escape(key)}</Key><Code>{code}</Code><Message>no</Message></Error>")
                continue
            self._names = None
            self.objects.pop(key, None)
            if b"<Quiet>true" not in body:
                answer.append(f"<Deleted><Key>{escape(key)}</Key></Deleted>")
        return 200, [("Content-Type", "application/xml")], f"<DeleteResult>{''.join(answer)}</DeleteResult>".encode()

    def _listed(self, asked: Mapping[str, str]) -> Answer:
        prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
        is_encoded = asked.get("encoding-type") == "url"
        spelled: Callable[[str], str] = (lambda name: quote_plus(name, "/")) if is_encoded else escape
        most = min(int(asked.get("max-keys", PAGE)), PAGE)
        names, token = self.names(), asked.get("continuation-token")
        after = asked.get("start-after", "") if token is None else bytes.fromhex(token).decode()
        at = max(bisect.bisect_left(names, prefix), bisect.bisect_right(names, after))
        found: list[str] = []
        while at < len(names) and names[at].startswith(prefix) and len(found) < most:
            name = names[at]
            cut = name.find(delimiter, len(prefix)) if delimiter else -1
            if cut >= 0:
                common = name[: cut + 1]
                found.append(f"<CommonPrefixes><Prefix>{spelled(common)}</Prefix></CommonPrefixes>")
                after = f"{common}\U0010ffff"
                at = bisect.bisect_left(names, after)
            else:
                data = self.objects[name]
                found.append(
                    f"<Contents><Key>{spelled(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                    f"<ETag>{escape(_etag(data))}</ETag><Size>{len(data)}</Size></Contents>"
                )
                after, at = name, at + 1
        more = at < len(names) and names[at].startswith(prefix)
        token = f"<NextContinuationToken>{after.encode().hex()}</NextContinuationToken>" if more else ""
        inner = f"{'<EncodingType>url</EncodingType>' if is_encoded else ''}{''.join(found)}"
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><Prefix>{spelled(prefix)}</Prefix><KeyCount>{len(found)}</KeyCount>"
            f"<MaxKeys>{most}</MaxKeys><IsTruncated>{str(more).lower()}</IsTruncated>{token}{inner}</ListBucketResult>"
        )
        return 200, [("Content-Type", "application/xml")], text.encode()


class _Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self.server, self.buffer = server, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server._open.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, rest = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(rest) < size:
            if b"100-continue" in head.lower() and not rest:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        self.buffer = rest[size:]
        method, target, _ = head.partition(b"\r\n")[0].decode().split(" ")
        server = self.server
        server.seen.append((method, target))
        server._waiting += 1
        server.most_at_once = max(server.most_at_once, server._waiting)
        answer = functools.partial(self._send, method, target, head, rest[:size])
        part, count = server.together
        if not count or part not in target:
            asyncio.get_running_loop().call_later(server.delay_s, answer)
            return
        if not server._held:
            asyncio.get_running_loop().call_later(PATIENCE_S, server.let_go)
        server._held.append(answer)
        if len(server._held) >= count:
            server.let_go()

    def _send(self, method: str, target: str, head: bytes, body: bytes) -> None:
        self.server._waiting -= 1
        status, headers, answer = self.server.answer(method, target, head, body)
        if self.server.loses(method, target):
            self.transport.abort()
            return
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers)]
        if status != 204:
            lines.append(f"Content-Length: {len(answer)}")
        self.transport.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if method == "HEAD" else answer))


@contextmanager
def serving(objects: Mapping[str, bytes], delay_s: float = 0.0) -> Iterator[Server]:
    """Serve these objects on a free port of this machine, in a thread; the calling thread may run an event loop."""
    server = Server(dict(objects), delay_s)
    loop = asyncio.new_event_loop()

    async def begin() -> asyncio.Server:
        return await loop.create_server(lambda: _Connection(server), "127.0.0.1", 0, backlog=1024)

    async def end() -> None:
        listening.close()
        for transport in list(server._open):
            transport.abort()
        while server._open:
            await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@functools.lru_cache(65_536)
def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
