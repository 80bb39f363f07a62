"""An HTTP server between a client and a real one: counts and delays requests, and breaks those it is told to.

with between("http://127.0.0.1:9000") as proxy:
    proxy.rule = lambda method, path: "truncate" if "manifest" in path else None
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Answer = tuple[int, list[tuple[str, str]], bytes]
Rule = Callable[[str, str], int | str | Answer | None]
Guard = Callable[[Mapping[str, str]], bool]
_OF_THE_HOP = {"connection", "keep-alive", "transfer-encoding", "date", "server"}


@dataclass
class Proxy:
    """`rule` is asked for each request by method and path. It answers None (pass on), a status or a whole answer to
    send instead, `reset` (close the connection), `truncate` (send half of the body), `lose` (do it, and close the
    connection) or `deny` (do it, and call a failed condition a success)."""

    backend: str
    url: str = ""
    rule: Rule = lambda _method, _path: None
    delay_s: float = 0.0
    guard: Guard = lambda _headers: True
    """Whether a request with these headers, in small letters, is let in; others are answered 403."""
    seen: list[tuple[str, str]] = field(default_factory=list)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    proxy: Proxy


def throttling() -> Rule:
    """Answer every request that may change something by 503 when it is sent for the first time."""
    sent = set[tuple[str, str]]()

    def rule(method: str, path: str) -> int | None:
        is_first = method in ("PUT", "POST", "DELETE") and (method, path) not in sent
        sent.add((method, path))
        return 503 if is_first else None

    return rule


@contextmanager
def between(backend: str) -> Iterator[Proxy]:
    """Yield a proxy of `backend` on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.proxy = Proxy(backend, f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its header
    server: _Server

    def _pass_on(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        proxy.seen.append((self.command, self.path))
        time.sleep(proxy.delay_s)
        is_let_in = proxy.guard({name.lower(): each for name, each in self.headers.items()})
        fault = proxy.rule(self.command, self.path) if is_let_in else 403
        if isinstance(fault, int):
            self._send(fault, [("Content-Type", "application/xml")], b"")
            return
        if isinstance(fault, tuple):
            self._send(*fault)
            return
        if fault == "reset":
            self.close_connection = True
            return
        status, headers, answer = _ask(proxy.backend, self.command, self.path, dict(self.headers.items()), body)
        if fault == "deny" and status in (409, 412):
            status = 201
        if fault == "lose":
            self.close_connection = True
            return
        self._send(status, headers, answer, cut=fault == "truncate")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # names of the base class

    def _send(self, status: int, headers: list[tuple[str, str]], body: bytes, *, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in _OF_THE_HOP and (name.lower() != "content-length" or self.command == "HEAD"):
                self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has gone
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def _ask(
    backend: str, method: str, path: str, headers: dict[str, str], body: bytes
) -> tuple[int, list[tuple[str, str]], bytes]:
    where = urlsplit(backend)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 80, timeout=60)
    try:
        connection.request(method, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    finally:
        connection.close()
