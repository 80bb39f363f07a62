"""The dashboard's server process, as started by `snapscope serve`: Streamlit's ASGI app behind the guard, on an
existing socket. Run as `python -m dashboard.server SOCKET [HOST…]`; the secret is the only line on stdin."""

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
MESSAGE_BYTES, PING_S = 200 << 20, 30  # websocket limits, the same as in Streamlit's own server


def main(arguments: Sequence[str]) -> None:
    """Serve until stopped."""
    number, *hosts = arguments
    secret = sys.stdin.readline().strip()
    listener = socket.socket(fileno=int(number))
    permissions.is_guarded = True
    logging.getLogger("uvicorn.access").disabled = True  # it would log URLs, which may hold the secret
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
        log_config=None,  # keep Streamlit's logging
    )
    for each in (signal.SIGINT, signal.SIGTERM):  # not during startup: then a signal exits at once
        signal.signal(each, _stop)  # uvicorn shuts down and then re-raises the signal
    uvicorn.Server(served).run(sockets=[listener])


def _stop(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
