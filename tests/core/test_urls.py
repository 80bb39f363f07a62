"""Locations that a person types."""

from __future__ import annotations

import pytest

from core.errors import Invalid
from core.urls import may_be_below, place, typed


@pytest.mark.parametrize("location", ["s3://AKIA:HUNTER2@bucket/x", "http://user:HUN/TER2@h/x", "foo://u:HUNTER2@h"])
def test_a_location_with_a_password_is_not_used_and_not_shown(location: str) -> None:
    with pytest.raises(Invalid, match="contains a password") as refused:
        typed(location)
    assert "TER2" not in str(refused.value)


@pytest.mark.parametrize(
    "location",
    ["abfs://c@account/x", "hdfs://user@host:8020/x", "s3://b/a@b:c@d", "hdfs://host:8020/a@b/t", "/a:b@c", "a:b@c"],
)
def test_other_locations_are_used_as_they_are(location: str) -> None:
    assert typed(location) == location


SAME = [
    ("s3://b/t", "s3a://b/t/"),
    ("gs://b/t", "gcs://b/t"),
    ("abfs://c@account.dfs.core.windows.net/t", "abfss://c@account.dfs.core.windows.net/t"),
    ("az://c/t", "abfs://c/t"),
    ("hdfs://name:8020/t", "webhdfs://name:9870/t"),
    ("/t", "/t/"),
]
NOT_COMPARABLE = [
    ("abfss://c/t", "abfss://c@account.dfs.core.windows.net/t"),
    ("hdfs://nameservice/t", "webhdfs://name:9870/t"),
]
OTHERS = [
    ("s3://b/t", "s3://b/t2"),
    ("s3://b/t", "gs://b/t"),
    ("s3://b/t", "s3://b2/t"),
    ("abfs://c@one.dfs.core.windows.net/t", "abfs://c@two.dfs.core.windows.net/t"),
    ("hdfs://name/t", "hdfs://name/u/t"),
    ("/t", "s3://t"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_every_spelling_of_a_location_has_one_lock_and_one_history_of_changes(one: str, other: str) -> None:
    assert place(one) == place(other)


@pytest.mark.parametrize(("one", "other"), [*SAME, *NOT_COMPARABLE])
def test_what_may_be_one_place_is_taken_for_one(one: str, other: str) -> None:
    assert may_be_below(one, other, is_root=True)
    assert may_be_below(f"{one}/x", other)
    assert not may_be_below(f"{one}x", other)
    assert not may_be_below(f"{one}/x", other, is_root=True)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_places_are_others(one: str, other: str) -> None:
    assert place(one) != place(other)
    assert not may_be_below(one, other, is_root=True)
    assert not may_be_below(other, one, is_root=True)
