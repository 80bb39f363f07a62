"""Ports of servers that must be told theirs."""

from __future__ import annotations

import itertools
import os
import socket

_next = itertools.count(10_000 + os.getpid() % 1_000 * 20)


def free_port() -> int:
    """A port of 127.0.0.1 that stays free until its server takes it: out of a stretch of this process's own, below
    those that systems hand out to whoever connects or asks for any."""
    for port in itertools.islice(_next, 20):
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("none of this process's twenty ports is free")
