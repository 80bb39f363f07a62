"""Options of locations: the nearest directory's, for S3 under any of its names, and for nothing beside it."""

from __future__ import annotations

import pytest

from core.errors import SnapscopeError
from core.storage import location_options
from core.storage.store import Store

LENT = {
    "s3.access-key-id": "lent", "s3.secret-access-key": "marker-secret", "s3.session-token": "for an hour",
    "s3.endpoint": "http://127.0.0.1:1", "s3.region": "eu-west-3", "uri": "sqlite://",
}  # fmt: skip


@pytest.fixture(autouse=True)
def none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location_options, "_known", {})


def test_a_catalogs_settings_reach_the_store_of_its_table_only() -> None:
    location_options.learn("s3://lake/wh/t", location_options.of_iceberg("s3://lake/wh/t", LENT))
    for place in ("s3://lake/wh/t", "s3a://lake/wh/t/data", "s3n://lake/wh/t/"):
        fs = Store(place.replace("s3n", "s3"))._fs
        assert (fs.key, fs.secret, fs.token) == ("lent", "marker-secret", "for an hour")
        assert (fs.endpoint_url, fs.client_kwargs) == ("http://127.0.0.1:1", {"region_name": "eu-west-3"})
        assert location_options.of(place)
    for place in ("s3://lake/wh/t2", "s3://lake/wh", "s3://other/wh/t", "/wh/t"):
        assert location_options.of(place) == {}
        assert Store(place)._fs.__dict__.get("key") is None


def test_newer_credentials_replace_those_before() -> None:
    for key in ("first", "second"):
        location_options.learn("s3://lake/t", {"key": key})
    assert location_options.of("s3://lake/t/metadata") == {"key": "second"}


def test_what_was_lent_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "5")
    location_options.learn("s3://lake/t", location_options.of_iceberg("s3://lake/t", LENT))
    store = Store("s3://lake/t")
    with pytest.raises(SnapscopeError) as told:  # nothing listens there
        store.ls()
    assert "marker-secret" not in f"{told.value!r} {told.value} {store.location} {store.url('a')} {vars(told.value)}"


def test_other_stores_take_none() -> None:
    assert location_options.of_iceberg("/lake/t", LENT) == {}
    assert location_options.of_iceberg("s3://lake/t", {"uri": "x"}) == {}
