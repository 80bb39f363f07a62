"""Ports for servers that do not choose one themselves."""

from __future__ import annotations

import itertools
import os
import socket

_next = itertools.count(10_000 + os.getpid() % 1_000 * 20)


def free_port() -> int:
    """Return a port of 127.0.0.1 that stays free until its server takes it. It comes from a range reserved for this
    process, below the system's ephemeral ports."""
    for port in itertools.islice(_next, 20):
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("none of this process's twenty ports is free")
