"""Names in HDFS are taken literally, and fsspec's own options are no settings of Hadoop."""

from __future__ import annotations

import pytest

from core.storage.store import Store


@pytest.mark.parametrize("name", ["x;y", "x?y", "x#y", "50%25", "a b"])
def test_a_name_is_the_whole_name(name: str) -> None:
    store = Store("hdfs://127.0.0.1:1/lake")
    url = f"hdfs://127.0.0.1:1/lake/{name}"
    assert store.relative(url) == name
    assert store.url(name) == url
    assert Store.named(url).root == f"/lake/{name}"
