"""The dashboard's process, as `snapscope serve` starts it: Streamlit's ASGI app behind the guard, on a socket that is
there already. `python -m dashboard.server SOCKET [HOST…]`, the secret as the only line of what it reads.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import streamlit
import uvicorn

from dashboard import permissions
from dashboard.request_guard import Guard

APP = Path(__file__).with_name("app.py")
MESSAGE_BYTES, PING_S = 200 << 20, 30  # of the stream, as Streamlit's own server has them


def main(arguments: Sequence[str]) -> None:
    """Serve until somebody says stop."""
    number, *hosts = arguments
    secret = sys.stdin.readline().strip()
    listener = socket.socket(fileno=int(number))
    permissions.is_guarded = True
    logging.getLogger("uvicorn.access").disabled = True  # an address may hold the secret; Streamlit gives it handlers
    served = uvicorn.Config(
        Guard(streamlit.App(APP), secret, listener.getsockname()[1], hosts),
        http="h11",
        ws="websockets-sansio",
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_S,
        ws_ping_timeout=PING_S,
        ws_per_message_deflate=False,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,  # Streamlit's, which is there already
    )
    for each in (signal.SIGINT, signal.SIGTERM):  # not before: what is loading dies of them at once, and in silence
        signal.signal(each, _stop)  # uvicorn ends in order and then raises what it was sent
    uvicorn.Server(served).run(sockets=[listener])


def _stop(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
