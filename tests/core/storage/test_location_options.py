"""Options of locations: the nearest directory's, for S3 under any of its names, and for nothing beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import settings_file
from core.errors import SnapscopeError
from core.storage import location_options
from core.storage.file_systems import unreadable
from core.storage.store import Store
from tests.support import memory_s3

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
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    location_options.learn("s3://lake/t", location_options.of_iceberg("s3://lake/t", LENT))
    store = Store("s3://lake/t")
    with pytest.raises(SnapscopeError) as told:  # nothing listens there
        store.ls()
    assert "marker-secret" not in f"{told.value!r} {told.value} {store.location} {store.url('a')} {vars(told.value)}"


def test_servers_spell_a_region_and_a_path_style_their_own_way() -> None:
    """Java servers, such as Polaris, answer with `client.region`; pyiceberg knows both."""
    said = {"client.region": "eu-west-3", "s3.path-style-access": "true"}
    expected = {"client_kwargs": {"region_name": "eu-west-3"}, "config_kwargs": {"s3": {"addressing_style": "path"}}}
    assert location_options.of_iceberg("s3://lake/t", said) == expected
    assert location_options.of_iceberg("s3://lake/t", {**said, "s3.region": "a"})["client_kwargs"]["region_name"] == "a"
    assert location_options.of_iceberg("s3://lake/t", {"s3.path-style-access": "false"}) == {}


def test_other_stores_take_none() -> None:
    assert location_options.of_iceberg("/lake/t", LENT) == {}
    assert location_options.of_iceberg("s3://lake/t", {"uri": "x"}) == {}


# named warehouses -----------------------------------------------------------------------------------------------------


def name_warehouse(text: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[warehouse.a]\n{text}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("location = 's3a://lake'\nprofile = 'p'\npath-style = true",
         {"profile": "p", "config_kwargs": {"s3": {"addressing_style": "path"}}}),
        ("location = 's3://lake'\npath-style = false", {"config_kwargs": {"s3": {"addressing_style": "virtual"}}}),
        ("location = 's3://lake'\nanonymous = true\nendpoint = 'http://127.0.0.1:1'",
         {"anon": True, "endpoint_url": "http://127.0.0.1:1"}),
        ("location = 's3://lake'\nanonymous = false", {}),
        ("location = 'gs://lake'\nanonymous = true", {"token": "anon"}),
        ("location = 'gcs://lake'\ncredentials-file = '/k.json'", {"token": "/k.json"}),
        ("location = 'az://lake'\naccount = 'x'\nsas-token = 'marker-secret'",
         {"account_name": "x", "sas_token": "marker-secret"}),
        ("location = 'oss://lake'\nendpoint = 'e'\naccess-key = 'k'\nsecret-key = 'marker-secret'",
         {"endpoint": "e", "key": "k", "secret": "marker-secret"}),
    ],
)  # fmt: skip
def test_options_of_a_named_warehouse_are_those_of_its_store(text: str, expected: dict[str, object]) -> None:
    name_warehouse(text)
    place = settings_file.current().warehouses["a"].location
    assert location_options.of(f"{place}/db.db/t") == expected
    assert location_options.of(f"{place}s/db.db/t") == {}


def test_a_named_warehouse_is_reached_by_its_own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by the client for many small files, and not by what the environment says."""
    with memory_s3.serving({"wh/a": b"1", "wh/b": b"2"}) as server:
        for name, value in server.leads.items():
            monkeypatch.setenv(name, "http://127.0.0.1:1" if name == "AWS_ENDPOINT_URL" else value)
        name_warehouse(
            f"location = 's3://lake/wh'\nendpoint = '{server.url}'\nregion = 'eu-west-3'\npath-style = true\n"
            "access-key = 'me'\nsecret-key = 'marker-secret'"
        )
        store = Store("s3://lake/wh")
        assert store._fs.secret == "marker-secret"
        assert [each.name for each in store.ls()] == ["a", "b"]
        assert store.read_many(["a", "b"]) == {"a": b"1", "b": b"2"}
        assert store.many is not None
        assert store.many.usable


def test_a_catalogs_nearer_settings_come_first() -> None:
    name_warehouse("location = 's3://lake'\nregion = 'a'")
    location_options.learn("s3://lake/t", {"key": "lent"})
    assert location_options.of("s3://lake/t/x") == {"key": "lent"}
    assert location_options.of("s3://lake/u") == {"client_kwargs": {"region_name": "a"}}


def test_a_secret_of_the_file_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPSCOPE_READ_TIMEOUT", "5")
    name_warehouse(
        "location = 'az://lake'\nconnection-string = 'AccountName=a;AccountKey=bWFya2VyLXNlY3JldA==;marker-secret'"
    )
    with pytest.raises(SnapscopeError) as told:
        raise unreadable("az://lake/t", ValueError(location_options.of("az://lake/t")["connection_string"]))
    assert "…" in str(told.value)
    assert "marker-secret" not in f"{told.value!r} {told.value} {vars(told.value)}"
