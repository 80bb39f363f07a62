"""Servers that answer byte by byte, and so do not end for minutes: of HTTP, and a Hive Metastore."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAUSE_S = 0.1
SOME = 10_000  # bytes of an answer


class Server(ThreadingHTTPServer):
    """Drips whatever is asked for, in its headers or its body, until `ends` is set."""

    daemon_threads = True

    def __init__(self, where: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.where, self.asked, self.ends = where, list[str](), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        with contextlib.suppress(OSError):
            status = b"500 Broken" if self.server.where == "error" else b"200 OK"
            self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n")
            if self.server.where != "headers":
                self.wfile.write(f"Content-Length: {SOME}\r\n\r\n".encode())
            for _ in range(SOME):
                if self.server.ends.wait(PAUSE_S):
                    break
                self.wfile.write(b"x" if self.server.where == "headers" else b" ")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(where: str) -> Iterator[Server]:
    """Serve until the block ends. `where` is "headers", "body" or "error", the body of one."""
    with Server(where) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.ends.set()
            found.shutdown()
            thread.join()


@contextmanager
def metastore() -> Iterator[tuple[int, list[bytes]]]:
    """Serve one connection by the Metastore's protocol; yield the port and what was asked."""
    with _dripping(struct.pack(">ii", -0x7FFEFFFE, SOME)) as found:  # a reply, and the length of its name
        yield found


@contextmanager
def postgres(*, is_silent: bool) -> Iterator[tuple[int, list[bytes]]]:
    """Serve one connection by PostgreSQL's protocol: a notice without end, or nothing at all if `is_silent`."""
    with _dripping(None if is_silent else b"NN" + struct.pack(">i", SOME)) as found:
        yield found


@contextmanager
def _dripping(begin: bytes | None) -> Iterator[tuple[int, list[bytes]]]:
    ends, asked = threading.Event(), list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError), listening.accept()[0] as connection:
                asked.append(connection.recv(1024))
                connection.sendall(begin or b"")
                while not ends.wait(PAUSE_S):
                    connection.sendall(b"" if begin is None else b"x")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1], asked
        finally:
            ends.set()
    thread.join()
