"""Starts the dashboard: a server on loopback, in a process of its own, that answers whoever knows its secret.

Law: the secret goes to that process by a pipe, and stands in no list of processes, environment or file. The port is
taken here, before anything starts: one that is in use is an error, for what stands in an address must stay true.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from core.errors import Conflict, Invalid, NotFound

ADDRESS = "127.0.0.1"
WAITING = 128  # connections that may wait to be taken
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HOST = re.compile(r"([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Serving:
    """A dashboard that runs. `address` holds the secret."""

    process: subprocess.Popen[bytes]
    address: str


def _listening(port: int) -> socket.socket:
    """A socket that takes connections on that port; 0 is any free one."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(WAITING)
    except OverflowError as error:
        listener.close()
        raise Invalid("{port} is no port.", port=port, remedy="Name one from 1 to 65535 with `--port`.") from error
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            said, remedy = "Port {port} cannot be used: {error}.", "Name another one with `--port`."
            raise Invalid(said, port=port, error=error.strerror, remedy=remedy) from error
        said = "Port {port} is in use: another program, or another `snapscope serve`, listens there."
        raise Conflict(said, port=port, remedy="Stop it, or name another one with `--port`.") from error
    return listener


def _whole(place: str) -> str:
    """A path as it is from any directory; a URL as it is."""
    return place if "://" in place or place.startswith("file:") else os.path.abspath(place)


def _host(named: str) -> str:
    """What a browser sends of an address whose host and port somebody named."""
    host = named.strip().lower()
    if not _HOST.fullmatch(host):
        said = "{named!r} is no host and port."
        remedy = "Write it as it stands in the browser's address bar, without http://: localhost:9000."
        raise Invalid(said, named=named, remedy=remedy)
    return host


def start(
    places: Sequence[str],
    port: int,
    *,
    is_writing: bool = False,
    hosts: Sequence[str] = (),
    program: Sequence[str] = ("-m", "dashboard.server"),
) -> Serving:
    """Start the dashboard; it can be connected to from here on. `places` are paths or URLs; the first is open.

    `is_writing`: readers may switch changes on; without it only a demo warehouse can be changed from the pages.
    `hosts`: under which further names and ports a browser may ask for it, as where a port is forwarded.
    `Conflict` where the port is in use. `program` is what Python runs: another start of the same server.
    """
    named = [_host(each) for each in hosts]
    spec = find_spec("dashboard")
    if spec is None or not spec.submodule_search_locations:
        raise NotFound("The dashboard is not installed.", remedy="Install Snapscope with its dashboard package.")
    folder = Path(spec.submodule_search_locations[0]).parent
    environment = dict(os.environ)
    if places:
        environment["SNAPSCOPE_WAREHOUSE"] = "\n".join(map(_whole, places))
    environment["SNAPSCOPE_WRITE"] = "1" if is_writing else "0"
    secret = secrets.token_urlsafe(32)
    with _listening(port) as listener:
        process = subprocess.Popen(
            [sys.executable, *program, str(listener.fileno()), *named],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            process_group=0,  # a Ctrl+C is for who started it: Python would print where it broke off loading itself
        )
        port = int(listener.getsockname()[1])
    assert process.stdin is not None
    process.stdin.write(f"{secret}\n".encode())
    process.stdin.close()
    return Serving(process, f"http://{ADDRESS}:{port}/?token={secret}")


def serve(places: Sequence[str], port: int, *, is_writing: bool = False, hosts: Sequence[str] = ()) -> int:
    """`start` the dashboard, say where it opens, and run it until it is stopped; returns its exit status.

    Whoever asks us to end ends it, and with it its Spark, however early: nothing keeps the port.
    """
    asked = False
    processes: list[subprocess.Popen[bytes]] = []

    def stop(*_: object) -> None:
        nonlocal asked
        asked = True
        for each in processes:
            each.terminate()

    heeded = [each for each in _ENDINGS if signal.getsignal(each) is not signal.SIG_IGN]  # as nohup has it
    before = {each: signal.signal(each, stop) for each in heeded}
    try:
        serving = start(places, port, is_writing=is_writing, hosts=hosts)
        processes.append(serving.process)
        if asked:
            serving.process.terminate()
        else:
            sys.stderr.write(f"Snapscope opens at {serving.address} (stop with Ctrl+C).\n")
        return serving.process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
