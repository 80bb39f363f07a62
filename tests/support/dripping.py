"""An HTTP server that answers byte by byte, and so does not end for minutes."""

from __future__ import annotations

import contextlib
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
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            if self.server.where == "body":
                self.wfile.write(f"Content-Length: {SOME}\r\n\r\n".encode())
            for _ in range(SOME):
                if self.server.ends.wait(PAUSE_S):
                    break
                self.wfile.write(b" " if self.server.where == "body" else b"x")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(where: str) -> Iterator[Server]:
    """Serve until the block ends. `where` is "headers" or "body"."""
    with Server(where) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.ends.set()
            found.shutdown()
            thread.join()
