"""HDFS over HTTP: which NameNode is asked, and what is repeated."""

from __future__ import annotations

import json
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
            self.connection.close()
            return
        standby = {"RemoteException": {"exception": "StandbyException", "message": "not here"}}
        body = json.dumps(standby if does == "standby" else {"boolean": True, **STATUS}).encode()
        self.send_response(403 if does == "standby" else 200)
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
    pair[0].does[:] = ["standby"]
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
        each.does[:] = ["standby"] * 9
    with pytest.raises(Corrupt, match="No NameNode of Ns is active"):
        Store("webhdfs://Ns/lake").size("a")
