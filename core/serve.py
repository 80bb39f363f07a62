"""Starts the dashboard: Streamlit on loopback, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from core.errors import Conflict, NotFound

PORTS_TRIED = 50


def _free(port: int) -> int:
    """The first port from `port` on that nothing listens on."""
    for candidate in range(port, port + PORTS_TRIED):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return candidate
    raise Conflict(f"The ports {port} to {port + PORTS_TRIED - 1} are all taken.", remedy="Name another with --port.")


def _whole(place: str) -> str:
    """A path as it is from any directory; a URL as it is."""
    return place if "://" in place or place.startswith("file:") else os.path.abspath(place)


def serve(places: Sequence[str], port: int, *, is_writing: bool = False) -> int:
    """Run the dashboard until it is stopped; returns its exit status. `places` are paths or URLs; the first is open.

    `is_writing`: readers may switch changes on; without it only a demo warehouse can be changed from the pages.
    Where the port is taken the next free one is used, and said.
    """
    port = _free(port)
    spec = find_spec("dashboard")
    if spec is None or not spec.submodule_search_locations:
        raise NotFound("The dashboard is not installed.", remedy="Install Snapscope with its dashboard package.")
    app = Path(spec.submodule_search_locations[0]) / "app.py"
    environment = dict(os.environ)
    if places:
        environment["SNAPSCOPE_WAREHOUSE"] = "\n".join(map(_whole, places))
    environment["SNAPSCOPE_WRITE"] = "1" if is_writing else "0"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(app),
        "--server.address=127.0.0.1",
        f"--server.port={port}",
        "--browser.gatherUsageStats=false",
    ]
    sys.stderr.write(f"Snapscope opens at http://127.0.0.1:{port} (stop with Ctrl+C).\n")
    return _until_it_ends(subprocess.Popen(command, env=environment, cwd=app.parent.parent))


def _until_it_ends(process: subprocess.Popen[bytes]) -> int:
    """Its exit status; whoever asks us to end ends it, and with it its Spark: nothing keeps the port."""

    def ask(*_: object) -> None:
        process.terminate()  # a Ctrl+C in the terminal has reached it already; to be asked twice harms nothing

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
