"""Start the dashboard: a server on loopback, in its own process, that answers only requests with its secret.

Invariant: the secret is passed to that process through a pipe and never appears in a process list, an environment or a
file. The port is bound here, before anything starts; a port in use is an error, so that bookmarked addresses stay
valid.
"""

from __future__ import annotations

import contextlib
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
from core.formats.registry import refuse_file

ADDRESS = "127.0.0.1"
WAITING = 128  # the backlog of pending connections
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HOST = re.compile(r"([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Serving:
    """A running dashboard. `address` contains the secret."""

    process: subprocess.Popen[bytes]
    address: str


def _listening(port: int) -> socket.socket:
    """A socket listening on that port; 0 is any free one.

    Raises `Conflict` if it is in use, `Invalid` if it is unusable.
    """
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(WAITING)
    except OverflowError as error:
        listener.close()
        raise Invalid(
            "not a valid port: {port}.", port=port, remedy="Choose one from 1 to 65535 with `--port`."
        ) from error
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            problem, remedy = "Port {port} cannot be used: {error}.", "Choose another one with `--port`."
            raise Invalid(problem, port=port, error=error.strerror, remedy=remedy) from error
        problem = "Port {port} is in use: another program, or another `snapscope serve`, listens there."
        raise Conflict(problem, port=port, remedy="Stop it, or choose another one with `--port`.") from error
    return listener


def _whole(place: str) -> str:
    """An absolute path; a URL unchanged. Raises `NotFound` for a path that does not exist, `Invalid` for a file."""
    if "://" in place or place.startswith("file:"):
        return place
    path = os.path.abspath(place)
    try:
        os.stat(path)
    except FileNotFoundError as error:
        remedy = "Check the path, or build a demo with --demo."
        raise NotFound("This path does not exist.", path=path, remedy=remedy) from error
    refuse_file(path)
    return path


def _host(named: str) -> str:
    """The Host header a browser sends for a host and port that the user named. Raises `Invalid` if it is not one."""
    host = named.strip().lower()
    if not _HOST.fullmatch(host):
        problem = "not a valid host and port: {named!r}."
        remedy = "Write it as in the browser's address bar, without http://: localhost:9000."
        raise Invalid(problem, named=named, remedy=remedy)
    return host


def start(
    places: Sequence[str],
    port: int,
    *,
    is_writing: bool = False,
    hosts: Sequence[str] = (),
    program: Sequence[str] = ("-m", "dashboard.server"),
) -> Serving:
    """Start the dashboard; it accepts connections when this returns. `places` are paths or URLs; the first is opened.

    `is_writing`: users may switch changes on; otherwise pages can change only a demo warehouse. `hosts`: further host
    names and ports under which browsers may reach it, for example with port forwarding. `program` is what Python runs,
    to start the same server in another way. Raises `Conflict` if the port is in use.
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
            process_group=0,  # Ctrl+C is for the parent; the child would print a traceback while importing
        )
        port = int(listener.getsockname()[1])
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:  # it may have ended: its exit status says so
        process.stdin.write(f"{secret}\n".encode())
    return Serving(process, f"http://{ADDRESS}:{port}/?token={secret}")


def serve(
    places: Sequence[str],
    port: int,
    *,
    is_writing: bool = False,
    hosts: Sequence[str] = (),
    extra_programs: Sequence[Sequence[str]] = (),
) -> int:
    """`start` the dashboard, print its address, and run it until it is stopped; return its exit status.

    `extra_programs` are further programs that Python runs meanwhile, as `program`; they end with the server.

    A signal to this process also stops the dashboard and its Spark, however early it arrives, so nothing keeps the
    port.
    """
    stop_requested = False
    processes: list[subprocess.Popen[bytes]] = []

    def stop(*_: object) -> None:
        nonlocal stop_requested
        stop_requested = True
        for each in processes:
            each.terminate()

    handled = [each for each in _ENDINGS if signal.getsignal(each) is not signal.SIG_IGN]  # nohup ignores some
    previous_handlers = {each: signal.signal(each, stop) for each in handled}
    try:
        serving = start(places, port, is_writing=is_writing, hosts=hosts)
        processes.append(serving.process)
        for each in () if stop_requested else extra_programs:
            quiet = subprocess.DEVNULL
            processes.append(
                subprocess.Popen([sys.executable, *each], stdin=quiet, stdout=quiet, stderr=quiet, process_group=0)
            )
        if stop_requested:
            serving.process.terminate()
        else:
            sys.stderr.write(f"Snapscope opens at {serving.address} (stop with Ctrl+C).\n")
        return serving.process.wait()
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
        for process in processes[1:]:
            process.terminate()
            process.wait()
