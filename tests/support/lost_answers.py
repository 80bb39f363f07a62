"""A relay before a server that can lose the answer to a request: the server has done it, and the client is cut off.

with relaying("127.0.0.1:8020") as relay:     # clients use relay.address
    relay.lose(b"rename2")                    # the next request that contains this gets no answer
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Relay:
    """A relay that is running. `lost`: the requests whose answers were lost."""

    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self._server = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.lost: list[bytes] = []
        self._to_lose: list[bytes] = []

    def lose(self, *requests: bytes) -> None:
        """Lose the answers to the next requests that contain these, one after the other."""
        self._to_lose.extend(requests)

    def serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                cut = threading.Event()
                for pump in (self._pass_requests, self._pass_answers):
                    threading.Thread(target=pump, args=(client, server, cut), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _pass_requests(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with contextlib.suppress(OSError), server:
            while data := client.recv(1 << 16):
                if self._to_lose and self._to_lose[0] in data:
                    cut.set()
                    self.lost.append(self._to_lose.pop(0))
                server.sendall(data)

    def _pass_answers(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with contextlib.suppress(OSError), client:
            while (data := server.recv(1 << 16)) and not cut.is_set():
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def relaying(server: str) -> Iterator[Relay]:
    """Yield a relay before a server at `host:port`."""
    relay = Relay(server)
    threading.Thread(target=relay.serve, daemon=True).start()
    try:
        yield relay
    finally:
        relay.close()
