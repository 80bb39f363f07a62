"""The connection to one bucket of S3, as s3fs has found it: obstore's client, its credentials, and when it rests.

Invariant: this is only a faster way to the same answers. Clients with settings of their own and every error but a
rejected size or a missing answer are left to s3fs, so that errors are judged in one place.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fsspec import asyn  # noqa: TID251  # part of the same door to files

from core.errors import Corrupt
from core.storage import time_limits
from core.storage.file_systems import TooLarge, server

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Credential, S3Store

RENEW = dt.timedelta(minutes=5)  # how long credentials of a role are used before the session is asked again
REQUEST_S = 30.0  # limit of one request here, whoever waits for it
REST_S = 60.0  # how long s3fs answers alone after an error
_KNOWN_SETTINGS = {"endpoint_url", "region_name"}  # of the client; any other changes how requests are made
_SAME_STYLE: tuple[Mapping[str, Any], ...] = (
    {},
    {"s3": {"addressing_style": "path"}},
)
"""Configurations under which s3fs addresses objects as obstore does here."""
T = TypeVar("T")


class Connection:
    """Connects to one bucket when first used. `fs` is the s3fs file system for it."""

    def __init__(self, fs: Any, bucket: str) -> None:
        import aiobotocore.session  # installed with s3fs only
        import obstore.store

        self._obstore, self._fs, self.bucket = obstore, fs, bucket
        self._client: S3Store | None = None
        self._paused_until = 0.0
        fs.session = fs.session or aiobotocore.session.AioSession(**fs.kwargs)  # as s3fs makes it to connect
        if (
            fs.client_kwargs.keys() - _KNOWN_SETTINGS or fs.config_kwargs not in _SAME_STYLE or fs.requester_pays
            or fs.version_aware or fs.s3_additional_kwargs
        ):  # fmt: skip
            self._paused_until = math.inf

    @property
    def usable(self) -> bool:
        return time.monotonic() >= self._paused_until

    def _with_time_limit(self, call: Callable[[], T]) -> T | None:
        """Connect and make one call, within the time limit; None if s3fs must be asked."""

        def connected() -> T | None:
            try:
                self._store()
            except Exception:  # noqa: BLE001  # s3fs connects next, and its error is the one that counts
                self._paused_until = time.monotonic() + REST_S
                return None
            return call()

        try:
            return time_limits.within(self._url, self._seconds(), lambda: time_limits.calling(connected))
        except Corrupt:
            self._paused_until = time.monotonic() + REST_S
            raise

    def _seconds(self) -> float:
        return min(time_limits.limit_s(), time_limits.call_s())

    @property
    def _url(self) -> str:
        return server(self._fs, f"s3://{self.bucket}")

    def _store(self) -> S3Store:
        if self._client is None:
            meta = self._fs.s3.meta  # connects, which finds the endpoint and the region
            how: ClientConfig = {"allow_http": meta.endpoint_url.startswith("http:"), "connect_timeout": "10s"}
            how["timeout"] = f"{min(REQUEST_S, time_limits.call_s()):g}s"  # it then gives its slot back
            if trusted := os.environ.get("AWS_CA_BUNDLE"):
                how["root_certificate"] = Path(trusted).read_bytes()
            self._client = self._obstore.store.S3Store(
                self.bucket,
                endpoint=meta.endpoint_url,
                region=meta.region_name or "us-east-1",
                virtual_hosted_style_request=False,
                skip_signature=bool(self._fs.anon),
                client_options=how,
                retry_config={"max_retries": 4, "retry_timeout": dt.timedelta(seconds=20)},
                credential_provider=None if self._fs.anon else self._credentials,
            )
        return self._client

    def _credentials(self) -> S3Credential:
        """Return the credentials that s3fs uses; those of a session are asked again every few minutes."""
        key, secret, token, ends = (
            (self._fs.key, self._fs.secret, self._fs.token, None)
            if self._fs.key
            else asyn.sync(self._fs.loop, self._of_the_session)
        )
        until = dt.datetime.now(dt.UTC) + RENEW
        until = until if ends is None else min(until, ends)
        return {"access_key_id": key, "secret_access_key": secret, "token": token, "expires_at": until}

    async def _of_the_session(self) -> tuple[str, str, str | None, dt.datetime | None]:
        session = await self._fs.session.get_credentials()
        found = await session.get_frozen_credentials()
        return found.access_key, found.secret_key, found.token, getattr(session, "_expiry_time", None)

    def _answer(self, ask: Callable[[], T | None]) -> T | None:
        """Return what obstore answers; None if s3fs must be asked: for what was not found, and after any error."""
        try:
            return ask()
        except TooLarge:
            raise
        except FileNotFoundError:  # as obstore raises it; its own `NotFoundError` is another class
            return None
        except BaseException as error:  # s3fs makes the same request next, and its error is the one that counts
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of Rust
                raise
            self._paused_until = time.monotonic() + REST_S
            return None
