"""A user of the dashboard without a browser: opens pages over the websocket that Streamlit's own page uses."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

PATIENCE_S = 300
GREATEST = 256 * 1024 * 1024  # bytes of a message


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page as the server sent it. `seconds`: from the request to the end of the page's script."""

    seconds: float
    received: bytes

    def shows(self, text: str) -> bool:
        return text.encode() in self.received


@dataclass(frozen=True, slots=True)
class User:
    """One session of the dashboard."""

    connection: ClientConnection

    def open(self, page: str, **query: str) -> Drawn:
        """Ask for a page, and wait until its script has ended."""
        request = BackMsg()
        request.rerun_script.query_string = urlencode(query)
        request.rerun_script.page_name = page
        began = time.monotonic()
        self.connection.send(request.SerializeToString())
        received = []
        while True:
            raw = self.connection.recv(began + PATIENCE_S - time.monotonic(), decode=False)
            message = ForwardMsg.FromString(raw)
            if message.WhichOneof("type") != "script_finished":
                received.append(raw)
            elif message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return Drawn(time.monotonic() - began, b"".join(received))


@contextlib.contextmanager
def session(address: str) -> Iterator[User]:
    """Open a session of the dashboard at an address that includes the secret, as a browser does."""
    asked = urlsplit(address)
    entry = http.client.HTTPConnection(asked.netloc, timeout=60)
    entry.request("GET", f"/?{asked.query}")
    cookie = (entry.getresponse().headers["set-cookie"] or "").partition(";")[0]
    entry.close()
    with connect(
        f"ws://{asked.netloc}/_stcore/stream",
        origin=Origin(f"http://{asked.netloc}"),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers={"Cookie": cookie},
        max_size=GREATEST,
        proxy=None,
    ) as connection:
        yield User(connection)
