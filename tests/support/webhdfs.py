"""Serves a directory over WebHDFS, like Hadoop's name and data nodes: a remote store that fsspec supports directly.

    with serving(tmp_path) as at:              # webhdfs://127.0.0.1:PORT/
        open_table(f"{at}/default.db/t")

Only implements what reading needs: GETFILESTATUS, LISTSTATUS and OPEN with its redirect.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_API = "/webhdfs/v1"


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Yield the URL of `root`, readable by every process of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Node", (_Node,), {"root": root}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"webhdfs://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Node(BaseHTTPRequestHandler):
    root: Path
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its header

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        what = {name: values[0] for name, values in parse_qs(asked.query).items()}
        path = self.root / unquote(asked.path).removeprefix(_API).strip("/")
        try:
            match what["op"]:
                case "GETFILESTATUS":
                    self._answer(200, {"FileStatus": _status(path)})
                case "LISTSTATUS":
                    listed = sorted(path.iterdir()) if path.is_dir() else [path]
                    found = [{**_status(each), "pathSuffix": each.name if path.is_dir() else ""} for each in listed]
                    self._answer(200, {"FileStatuses": {"FileStatus": found}})
                case "OPEN" if "datanode" not in what:
                    path.stat()
                    self.send_response(307)
                    self.send_header("Location", f"http://{self.headers['Host']}{self.path}&datanode=1")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                case "OPEN":
                    start = int(what.get("offset", 0))
                    content = path.read_bytes()[start:]
                    self._send(200, content[: int(what.get("length", len(content)))], "application/octet-stream")
        except FileNotFoundError as error:
            said = {"exception": "FileNotFoundException", "message": f"File does not exist: {error.filename}"}
            self._answer(404, {"RemoteException": said})

    def _answer(self, status: int, document: Any) -> None:
        self._send(status, json.dumps(document).encode(), "application/json")

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: a failed test shows what went wrong."""


def _status(path: Path) -> dict[str, Any]:
    found = path.stat()
    kind = "DIRECTORY" if path.is_dir() else "FILE"
    return {"type": kind, "length": found.st_size, "modificationTime": int(found.st_mtime * 1000), "pathSuffix": ""}
