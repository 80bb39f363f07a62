"""The client of one bucket: which file systems have one, and what it reads, measures and deletes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.errors import SnapscopeError
from core.storage.s3.client import S3Client
from core.storage.store import Store
from tests.support import memory_s3

TOP = f"{memory_s3.BUCKET}/t"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Client]:
    with memory_s3.serving({"t/a": b"one", "t/b": b"three", "t/c d": b""}) as server:
        server.lead(monkeypatch)
        found = Store(f"s3://{TOP}").many
        assert found is not None
        yield found


def test_a_file_system_of_another_kind_has_none() -> None:
    assert Store("memory://t").many is None


def test_it_answers_for_plain_names_that_exist(client: S3Client) -> None:
    names = {f"{TOP}/{name}": name for name in ("a", "b", "c d", "none")}
    assert client.read(names, 10, 100) == {"a": b"one", "b": b"three"}
    assert client.sizes(names) == {"a": 3, "b": 5}


def test_what_is_too_large_is_an_error(client: S3Client) -> None:
    found = client.read({f"{TOP}/b": "b"}, 4, 100)
    assert isinstance(found["b"], SnapscopeError)


def test_it_deletes_only_versions_that_are_still_there(client: S3Client) -> None:
    paths: dict[str, str | None] = {f"{TOP}/a": None, f"{TOP}/b": '"another"'}
    assert client.delete(paths) == {f"{TOP}/a"}
    assert client.sizes({path: path for path in paths}) == {f"{TOP}/b": 5}
