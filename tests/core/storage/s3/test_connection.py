"""The connection to a bucket: it ends at the time limit."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import Corrupt
from core.storage.s3.client import S3Client


class Silent(SimpleNamespace):
    """An s3fs whose credentials come from something that does not answer."""

    @property
    def s3(self) -> Any:
        self.answers.wait()
        raise OSError("too late")


def test_credentials_that_never_come_end_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "1")
    settings: dict[str, Any] = {"client_kwargs": {}, "config_kwargs": {}, "s3_additional_kwargs": {}}
    answers = threading.Event()
    session = SimpleNamespace(register=lambda *_, **__: None)
    fs = Silent(answers=answers, session=session, requester_pays=False, version_aware=False, anon=False, **settings)
    found: list[Exception] = []

    def ask() -> None:
        try:
            S3Client(fs, "bucket").ls("bucket/t")
        except Exception as error:  # noqa: BLE001 - judged below
            found.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(30)
    try:
        assert [isinstance(error, Corrupt) for error in found] == [True]
        assert "did not answer within 1 s" in str(found[0])
    finally:
        answers.set()
