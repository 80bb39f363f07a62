"""HDFS over HTTP: which NameNode is asked, and what is repeated."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.errors import Corrupt
from core.storage.hdfs import web
from core.storage.location_options import learn
from core.storage.store import Store

STATUS = {"FileStatus": {"type": "FILE", "length": 3, "modificationTime": 5_000}}


class Node(BaseHTTPRequestHandler):
    """A NameNode. `does`: what it does with the next requests; afterwards it answers all."""

    does: list[str]
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.command)
        does = self.does.pop(0) if self.does else "answer"
        if does == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        refused = {"RemoteException": {"exception": does, "message": "not here"}}
        body = json.dumps({"boolean": True, **STATUS} if does == "answer" else refused).encode()
        self.send_response({"answer": 200, "AuthenticationException": 401}.get(does, 403))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type[Node]]]:
    """Two NameNodes of the nameservice `Ns`."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setattr(web, "_PAUSES_S", (0.0, 0.01))
    nodes = [type("One", (Node,), {"does": [], "asked": []}) for _ in range(2)]
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), each) for each in nodes]
    for each in servers:
        threading.Thread(target=each.serve_forever, args=(0.01,), daemon=True).start()
    settings = {"dfs.ha.namenodes.Ns": "a,b"} | {
        f"dfs.namenode.http-address.Ns.{name}": f"127.0.0.1:{each.server_port}"
        for name, each in zip("ab", servers, strict=True)
    }
    learn("webhdfs://Ns", settings)
    yield nodes
    for each in servers:
        each.shutdown()
        each.server_close()


def test_the_other_name_node_is_asked_and_then_remains(pair: list[type[Node]]) -> None:
    pair[0].does[:] = ["StandbyException"]
    store = Store("webhdfs://Ns/lake")
    assert store.size("a") == store.size("b") == 3
    assert (len(pair[0].asked), len(pair[1].asked)) == (1, 2)


def test_a_read_whose_answer_is_lost_is_repeated_and_a_write_is_not(pair: list[type[Node]]) -> None:
    pair[0].does[:] = ["drop"]
    store = Store("webhdfs://Ns/lake")
    assert store.size("a") == 3
    pair[1].does[:] = ["drop"]
    with pytest.raises(OSError, match="Connection"):
        store._fs.rename("/lake/a", "/lake/b", replace=False)
    assert pair[1].asked[1:] == ["PUT"]
    assert len(pair[0].asked) == 1


def test_no_active_name_node_is_an_error(pair: list[type[Node]]) -> None:
    for each in pair:
        each.does[:] = ["StandbyException"] * 9
    with pytest.raises(Corrupt, match="No NameNode of Ns is active"):
        Store("webhdfs://Ns/lake").size("a")


@pytest.mark.parametrize("exception", ["SecurityException", "AuthenticationException"])
def test_a_name_node_that_asks_who_we_are_is_asked_once(pair: list[type[Node]], exception: str) -> None:
    pair[0].does[:] = [exception]
    with pytest.raises(Corrupt, match="asks for Kerberos over HTTP"):
        Store("webhdfs://Ns/lake").size("a")
    assert len(pair[0].asked) + len(pair[1].asked) == 1
