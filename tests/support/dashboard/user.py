"""A user of the dashboard without a browser: opens pages over the websocket that Streamlit's own page uses."""

from __future__ import annotations

import contextlib
import http.client
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

GREATEST = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page as the server sent it. `seconds`: from the question to the end of the page's script."""

    seconds: float
    received: bytes

    def shows(self, text: str) -> bool:
        return text.encode() in self.received


class User:
    """One session of the dashboard at `address`, which includes the secret."""

    def __init__(self, address: str, warehouse: str = "") -> None:
        self._address, self._warehouse = urlsplit(address), warehouse
        self._stack = contextlib.ExitStack()
        self._connection: ClientConnection | None = None

    def __enter__(self) -> Self:
        host = self._address.netloc
        asked = http.client.HTTPConnection(host, timeout=60)
        asked.request("GET", f"/?{self._address.query}")
        cookie = (asked.getresponse().headers["set-cookie"] or "").partition(";")[0]
        asked.close()
        opened = connect(
            f"ws://{host}/_stcore/stream",
            origin=Origin(f"http://{host}"),
            subprotocols=[Subprotocol("streamlit")],
            additional_headers={"Cookie": cookie},
            max_size=GREATEST,
            proxy=None,
        )
        self._connection = self._stack.enter_context(opened)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def open(self, page: str, patience_s: float = 300, **query: str) -> Drawn:
        """Ask for a page, and wait until its script has ended."""
        assert self._connection is not None
        if self._warehouse:
            query["warehouse"] = self._warehouse
        question = BackMsg()
        question.rerun_script.query_string = urlencode(query)
        question.rerun_script.page_name = page
        began = time.monotonic()
        self._connection.send(question.SerializeToString())
        received = []
        while True:
            raw = self._connection.recv(began + patience_s - time.monotonic(), decode=False)
            message = ForwardMsg.FromString(raw)
            if message.WhichOneof("type") != "script_finished":
                received.append(raw)
            elif message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return Drawn(time.monotonic() - began, b"".join(received))
