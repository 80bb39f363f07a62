"""Credentials that a catalog lends; a server that rejects others is asked in tests/interop."""

from __future__ import annotations

import asyncio
import datetime as dt
import pickle
import time
from typing import Any

import pytest

from core.credentials import masked
from core.storage import lent_credentials
from core.storage.lent_credentials import Lent

NOW: dict[str, Any] = {"key": "k1", "secret": "marker-secret-1", "token": "marker-token-1", "endpoint_url": "http://s3"}


def soon(seconds: float) -> int:
    return int((time.time() + seconds) * 1000)


def held(session: Any) -> tuple[str, str, str]:
    """What the session signs its next request with."""

    async def ask() -> Any:
        return await (await session.get_credentials()).get_frozen_credentials()

    found = asyncio.run(ask())
    return found.access_key, found.secret_key, found.token


def pass_seconds(session: Any, seconds: float) -> None:
    """Set the clock of a session forward. Its credentials compare their end with the answers of this function."""
    credentials = session._credentials
    then = credentials._time_fetcher() + dt.timedelta(seconds=seconds)
    credentials._time_fetcher = lambda: then


def test_without_an_end_options_stay_as_they_are() -> None:
    assert lent_credentials.renewed((NOW, None), lambda: pytest.fail("not asked")) == NOW
    assert lent_credentials.renewed(({"endpoint_url": "x"}, soon(9)), lambda: pytest.fail("not asked")) == {
        "endpoint_url": "x"
    }


def test_the_catalog_is_asked_before_the_end() -> None:
    asked: list[float] = []

    def later() -> Lent:
        asked.append(time.time())
        number = len(asked) + 1
        return {"key": f"k{number}", "secret": f"marker-secret-{number}", "token": None}, soon(600)

    found = lent_credentials.renewed((NOW, soon(60)), later)
    assert found.keys() == {"endpoint_url", "session"}
    assert held(found["session"]) == ("k1", "marker-secret-1", "marker-token-1")
    assert asked == []
    pass_seconds(found["session"], 32)
    assert held(found["session"])[:2] == ("k2", "marker-secret-2")
    assert held(found["session"])[:2] == ("k2", "marker-secret-2")
    assert len(asked) == 1
    assert masked("marker-secret-2 marker-token-1") == "… …"
    assert "marker" not in repr(found)


def test_without_an_answer_the_credentials_last_until_their_end() -> None:
    def gone() -> Lent:
        raise OSError("no catalog")

    found = lent_credentials.renewed((NOW, soon(60)), gone)["session"]
    pass_seconds(found, 32)
    assert held(found)[0] == "k1"
    pass_seconds(found, 29)
    with pytest.raises(OSError, match="no catalog"):
        held(found)


def test_another_process_gets_the_credentials_of_now() -> None:
    found = lent_credentials.renewed((NOW, soon(600)), lambda: pytest.fail("not asked"))["session"]
    assert held(pickle.loads(pickle.dumps(found))) == ("k1", "marker-secret-1", "marker-token-1")
