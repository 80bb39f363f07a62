"""A server that answers as it is told, such as a Paimon REST catalog of a few tables."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = Callable[[str, dict[str, str]], tuple[int, Any]]
Post = Callable[[str, Any], tuple[int, Any]]


class Server(ThreadingHTTPServer):
    """Answers by `answer`, and POSTs of documents by `post`; `asked` are (method, path with query, headers).

    Status 0: the connection ends without an answer."""

    daemon_threads = True
    answer: Answer
    post: Post

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        parts = urlsplit(self.path)
        query = {name: each[0] for name, each in parse_qs(parts.query).items()}
        self.send(*self.server.answer(parts.path, query))

    def do_POST(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        self.send(*self.server.post(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

    def send(self, status: int, found: Any) -> None:
        if not status:
            return
        content = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        if status == 307:
            self.send_header("Location", found)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """Serve until the block ends. `answer` has a path and its query, and returns a status and a document."""
    with Server() as found:
        found.answer = answer
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()
