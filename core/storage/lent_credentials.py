"""Credentials that a catalog lends for a while: options of fsspec whose S3 session asks for new ones in time.

Invariant: the catalog is asked again before the credentials expire, by whoever makes the next request. If it does not
answer, those that are left are used until they expire; then the request fails with the catalog's error.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Callable, Mapping
from typing import Any

from core.credentials import conceal

AHEAD_S = 300.0  # before the end, or half of the time that is left if that is less
Lent = tuple[Mapping[str, Any], int | None]
"""Options of fsspec, and when their credentials expire in milliseconds; None if that is not known."""
_PARTS = {"key": "access_key", "secret": "secret_key", "token": "token"}


def renewed(lent: Lent, ask: Callable[[], Lent]) -> dict[str, Any]:
    """Return options that stay valid: as they are, or with a session that calls `ask` for later ones."""
    options, until_ms = dict(lent[0]), lent[1]
    for name in ("secret", "token"):
        conceal(str(options.get(name) or ""))
    if until_ms is None or not (options.get("key") and options.get("secret")):
        return options
    return {**{name: each for name, each in options.items() if name not in _PARTS}, "session": _session(lent, ask)}


def _session(lent: Lent, ask: Callable[[], Lent]) -> Any:
    from aiobotocore.credentials import AioRefreshableCredentials

    async def refreshed() -> dict[str, Any]:
        lent_again = await asyncio.to_thread(ask)
        for name in ("secret", "token"):
            conceal(str(lent_again[0].get(name) or ""))
        return _metadata(lent_again)

    own = _metadata(lent)
    ahead_s = min(AHEAD_S, max(0.0, ((lent[1] or 0) / 1000 - time.time()) / 2))
    session = _kind()()
    session._credentials = AioRefreshableCredentials(
        *(own[name] for name in _PARTS.values()),
        dt.datetime.fromisoformat(own["expiry_time"]),
        refreshed,
        "catalog",
        advisory_timeout=ahead_s,
        mandatory_timeout=ahead_s / 2,
    )
    return session


def _metadata(lent: Lent) -> dict[str, Any]:
    """Return credentials as botocore takes them. Without a known end, they are asked for again in an hour."""
    options, until_ms = lent
    until = dt.datetime.fromtimestamp(until_ms / 1000 if until_ms else time.time() + 3600, dt.UTC)
    return {**{theirs: options.get(ours) for ours, theirs in _PARTS.items()}, "expiry_time": until.isoformat()}


def _kind() -> Any:
    """Return the class of sessions, whose library is loaded on first use."""
    from aiobotocore.session import AioSession

    class LentSession(AioSession):  # type: ignore[misc]
        """A session that another process gets with the credentials of now: it cannot ask for others."""

        def __reduce__(self) -> tuple[Any, ...]:
            held = self._credentials
            return _fixed, (held._access_key, held._secret_key, held._token)

    return LentSession


def _fixed(key: str, secret: str, token: str | None) -> Any:
    from aiobotocore.session import AioSession

    session = AioSession()
    session.set_credentials(key, secret, token)
    return session
