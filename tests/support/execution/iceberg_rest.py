"""A REST catalog in this process: the protocol on top of a SQL catalog, which commits. It can drop responses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table import CommitTableRequest


@dataclass
class Server:
    """A server. `drops`: lose the responses of this many commits after they were done; `before`: call this before a
    commit."""

    uri: str
    backing: str
    drops: int = 0
    before: Callable[[], object] | None = None
    commits: list[dict[str, Any]] = field(default_factory=list)
    lends: Callable[[], dict[str, str]] = dict
    """What it says about a table's store, for each answer."""

    files: Callable[[str], Path] = lambda location: Path(location.removeprefix("file://"))
    """Where on this machine a file lies that the metadata names."""

    properties: dict[str, str] = field(default_factory=dict)
    """How it reaches the store itself."""

    ignores: tuple[str, ...] = ()
    """Updates that it leaves out of a commit, by their action, and says nothing of it."""

    overrides: dict[str, str] = field(default_factory=dict)
    """What it says of itself."""

    def backend(self) -> SqlCatalog:
        return SqlCatalog("lake", uri=self.backing, **self.properties)


@contextmanager
def serving(backing: str) -> Iterator[Server]:
    """Start a server on a free local port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(self._found)

        def do_POST(self) -> None:
            self._answer(self._committed)

        def _answer(self, act: Callable[[], Any]) -> None:
            try:
                answer = act()
            except CommitFailedException as error:
                self._say(409, {"error": {"message": str(error), "type": "CommitFailedException", "code": 409}})
            except NoSuchTableError as error:
                self._say(404, {"error": {"message": str(error), "type": "NoSuchTableException", "code": 404}})
            else:
                if answer is not None:
                    self._say(200, answer)

        def _found(self) -> Any:
            words = self.path.partition("?")[0].strip("/").split("/")
            with server.backend() as lake:
                match words:
                    case ["v1", "config"]:
                        return {"defaults": {}, "overrides": server.overrides}
                    case ["v1", "namespaces"]:
                        is_inner = "parent=" in self.path
                        return {"namespaces": [] if is_inner else [list(each) for each in lake.list_namespaces()]}
                    case ["v1", "namespaces", namespace, "tables"]:
                        listed = lake.list_tables(namespace)
                        return {"identifiers": [{"namespace": list(each[:-1]), "name": each[-1]} for each in listed]}
                    case ["v1", "namespaces", namespace, "tables", name]:
                        return self._table(lake.load_table((namespace, name)).metadata_location)
            raise NoSuchTableError(self.path)

        def _table(self, location: str) -> Any:
            own = json.loads(server.files(location).read_bytes())
            return {"metadata-location": location, "metadata": own, "config": server.lends()}

        def _committed(self) -> Any:
            words = self.path.strip("/").split("/")
            text = self.rfile.read(int(self.headers["Content-Length"]))
            if server.before is not None:
                act, server.before = server.before, None
                act()
            request = CommitTableRequest.model_validate_json(text)
            with server.backend() as lake:
                table = lake.load_table((words[2], words[4]))
                updates = tuple(each for each in request.updates if each.action not in server.ignores)
                done = lake.commit_table(table, request.requirements, updates)
            server.commits.append(json.loads(text))
            if server.drops:
                server.drops -= 1
                self.close_connection = True
                return None
            return self._table(done.metadata_location)

        def _say(self, status: int, document: Any) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None: ...

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listener.server_address[1]}", backing)
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join(30)
