"""Ports for servers that do not choose one themselves."""

from __future__ import annotations

import itertools
import os
import socket
import sys

_next = itertools.count(10_000 + os.getpid() % 1_000 * 20)
_TRIES = 1_000


def free_port() -> int:
    """Return a port of 127.0.0.1, below the system's ephemeral ones, that is free and that no other process of tests
    is given before this one ends."""
    for port in itertools.islice(_next, _TRIES):
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
                _reserve(port)
            except OSError:
                continue
            return port
    raise OSError(f"none of {_TRIES} ports is free")


def _reserve(port: int) -> None:
    """Keep other processes from the port for as long as this one runs. A name that is no file lasts until then, and
    processes see each other's if they see each other's ports. Raises `OSError` if another process has it."""
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_UNIX) as name:
        name.bind(f"\0snapscope-tests-port-{port}")
        name.detach()
