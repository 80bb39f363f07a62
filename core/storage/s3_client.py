"""List and read objects of S3, many at once through obstore, with the credentials and endpoint that s3fs found.

Invariant: this is only a faster way to the same answers. Names outside `PLAIN`, clients with settings of their own and
every error but a rejected size or a missing answer are left to s3fs, so that errors are judged in one place.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import math
import os
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fsspec import asyn  # noqa: TID251  # part of the same door to files

from core.errors import SnapscopeError
from core.storage import time_limits
from core.storage.file_systems import TooLarge, too_large

if TYPE_CHECKING:
    from obstore import ListResult, ObjectMeta
    from obstore.store import ClientConfig, S3Credential, S3Store

IN_FLIGHT = 256  # requests at a time
PLAIN = re.compile(r"[A-Za-z0-9_.=+-]+(/[A-Za-z0-9_.=+-]+)*")  # names that no client quotes, decodes or normalises
RENEW = dt.timedelta(minutes=5)  # how long credentials of a role are used before the session is asked again
REST_S = 60.0  # how long s3fs answers alone after an error
_KNOWN_SETTINGS = {"endpoint_url", "region_name"}  # of the client; any other changes how requests are made
T = TypeVar("T")


def client(fs: Any, root: str) -> S3Client | None:
    """Return a client for an s3fs file system; None for any other. Raises `ImportError` without obstore."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    return S3Client(fs, root.partition("/")[0]) if {"s3", "s3a"}.intersection(protocols) else None


class S3Client:
    """Reads from one bucket. `fs` is the s3fs file system that knows how to reach it. Nothing is asked yet."""

    def __init__(self, fs: Any, bucket: str) -> None:
        import obstore.exceptions  # installed with s3fs only
        import obstore.store

        self._obstore, self._fs, self.bucket = obstore, fs, bucket
        self._client: S3Store | None = None
        self._rests_until = 0.0
        if (
            fs.client_kwargs.keys() - _KNOWN_SETTINGS or fs.config_kwargs or fs.requester_pays or fs.version_aware
            or fs.s3_additional_kwargs
        ):  # fmt: skip
            self._rests_until = math.inf

    @property
    def usable(self) -> bool:
        return time.monotonic() >= self._rests_until

    def read(self, names: Mapping[str, str], most_bytes: int, together: int) -> dict[str, bytes | SnapscopeError]:
        """Read whole objects, by name; `names` has them by path, which begins with the bucket. Stops after `together`
        bytes. A name that is not answered in time has `Corrupt`; nothing is known about names that are left out.
        """
        plain = [path for path in names if PLAIN.fullmatch(path)] if self.usable else []
        if not plain:
            return {}
        found = self._run(lambda seconds: self._all(plain, most_bytes, together, seconds))
        return {names[path]: answer for path, answer in found.items()}

    def ls(self, path: str) -> list[dict[str, Any]] | None:
        """List what is directly below a path, as s3fs does; None if s3fs must be asked.

        An empty list means that no object's name begins with that path and a slash, or only the directory's marker.
        """
        if not self.usable or not PLAIN.fullmatch(path):
            return None
        return self._run(lambda seconds: self._listed(path, seconds))

    def _run(self, work: Callable[[float], Coroutine[Any, Any, T]]) -> T:
        """Run requests in an event loop of their own: the caller's thread may have one."""
        seconds = min(time_limits.limit_s(), time_limits.call_s())

        def requests() -> T:
            with contextlib.suppress(Exception):  # raised again by the first request, which `_answer` judges
                time_limits.calling(self._store)  # connecting blocks the event loop, so no limit there ends it
            return asyncio.run(work(seconds))

        return time_limits.begin(self._url, seconds, requests).answer()

    @property
    def _url(self) -> str:
        return f"s3://{self.bucket}"

    def _store(self) -> S3Store:
        if self._client is None:
            meta = self._fs.s3.meta  # connects, which finds the endpoint and the region
            how: ClientConfig = {"allow_http": meta.endpoint_url.startswith("http:"), "connect_timeout": "10s"}
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
        key, secret, token = (
            (self._fs.key, self._fs.secret, self._fs.token)
            if self._fs.key
            else asyn.sync(self._fs.loop, self._of_the_session)
        )
        until = dt.datetime.now(dt.UTC) + RENEW
        return {"access_key_id": key, "secret_access_key": secret, "token": token, "expires_at": until}

    async def _of_the_session(self) -> tuple[str, str, str | None]:
        found = await (await self._fs.session.get_credentials()).get_frozen_credentials()
        return found.access_key, found.secret_key, found.token

    async def _answer(self, asked: Awaitable[T], seconds: float) -> T | None:
        """Return what obstore answers; None if s3fs must be asked: for what was not found, and after any error."""
        try:
            return await asyncio.wait_for(asked, None if math.isinf(seconds) else seconds)
        except TooLarge:
            raise
        except TimeoutError as error:  # no more are asked here: s3fs limits how many may go unanswered
            self._rests_until = time.monotonic() + REST_S
            raise time_limits.silent(self._url, seconds) from error
        except self._obstore.exceptions.NotFoundError:
            return None
        except Exception:  # noqa: BLE001  # s3fs makes the same request next, and its error is the one that counts
            self._rests_until = time.monotonic() + REST_S
            return None

    async def _listed(self, path: str, seconds: float) -> list[dict[str, Any]] | None:
        key = path.partition("/")[2]
        found = await self._answer(self._list(key), seconds)
        if found is None:
            return None
        files = [{"name": each["path"], "size": each["size"], "type": "file", "LastModified": each["last_modified"],
                  "ETag": each["e_tag"]} for each in found["objects"]]  # fmt: skip
        directories = [{"name": each.rstrip("/"), "size": 0, "type": "directory"} for each in found["common_prefixes"]]
        if not all(PLAIN.fullmatch(str(each["name"])) for each in files + directories):
            return None
        return [each | {"name": f"{self.bucket}/{each['name']}"} for each in files + directories]

    async def _list(self, key: str) -> ListResult[Sequence[ObjectMeta]]:
        return await self._obstore.list_with_delimiter_async(self._store(), key or None)

    async def _all(
        self, paths: Sequence[str], most_bytes: int, together: int, seconds: float
    ) -> dict[str, bytes | SnapscopeError]:
        waiting, answers, total = iter(paths), dict[str, bytes | SnapscopeError](), 0

        async def several(some: Iterator[str]) -> None:
            nonlocal total
            for path in some:  # all share one iterator
                if not self.usable or total > together:
                    return
                try:
                    content = await self._answer(self._get(path, most_bytes), seconds)
                except TooLarge as error:
                    answers[path] = too_large(error, most_bytes, path)
                    continue
                except SnapscopeError as error:
                    answers[path] = error
                    continue
                if content is not None:
                    answers[path] = content
                    total += len(content)

        await asyncio.gather(*(several(waiting) for _ in range(min(IN_FLIGHT, len(paths)))))
        return answers

    async def _get(self, path: str, most_bytes: int) -> bytes:
        found = await self._obstore.get_async(self._store(), path.partition("/")[2])
        if found.meta["size"] > most_bytes:
            raise TooLarge(found.meta["size"])
        return bytes(await found.bytes_async())
