"""The test of a store before a change: what it leaves behind when the store is busy. What counts as absent."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fsspec import asyn

from core.errors import Corrupt, Unsupported
from core.storage import conditional
from core.storage.file_systems import version_of
from tests.support.execution.lying import HOW, Lies, lying_store

CALLS = ("pipe_file", "metadata", "rm_file", "cat_file")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("number", [0, 1])
def test_a_busy_store_keeps_no_test_object(call: str, how: str, number: int, tmp_path: Path) -> None:
    lies = Lies(how=how)
    seen = {"calls": 0}

    def picks(name: str, path: str, times: int) -> bool:
        seen["calls"] += name == call
        return name == call and seen["calls"] == number + 1

    lies.picks = picks
    try:
        lying_store(tmp_path, lies).probe(["."])
    except Corrupt as error:
        assert error.remedy
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_never_deletes_is_refused_and_keeps_its_own_test_object(tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="created but not deleted"):
        lying_store(tmp_path, Lies(picks=lambda call, path, times: call == "rm_file")).probe(["."])
    assert len(list(tmp_path.iterdir())) == 1


def test_a_test_object_that_stays_because_the_test_failed_is_named(tmp_path: Path) -> None:
    """It was created, then neither read nor deleted."""
    with pytest.raises(Corrupt) as refused:
        lying_store(tmp_path, Lies(picks=lambda call, path, times: call != "pipe_file")).probe(["."])
    (left,) = tmp_path.iterdir()
    assert left.name in (refused.value.remedy or "")


def test_a_store_that_replaces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="replaced an object"):
        lying_store(tmp_path, Lies(ignores_conditions=True)).probe(["."])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "keeps"), [("Enabled", True), ("Suspended", None), (None, False)])
def test_a_bucket_whose_versions_are_suspended_may_keep_older_ones(status: str | None, keeps: bool | None) -> None:
    answer = {} if status is None else {"Status": status}
    fs = SimpleNamespace(call_s3=lambda method, Bucket: answer)  # as boto calls it
    assert conditional.keeps_versions(fs, "s3", "lake/t") is keeps


LISTING = {"kind": "storage#objects"}


@pytest.mark.parametrize(
    ("below", "bucket", "found"),
    [
        (LISTING, LISTING, True),
        (LISTING | {"items": [{}]}, LISTING, False),
        (LISTING | {"nextPageToken": "more"}, LISTING, False),
        (None, None, True),  # there is no bucket
        (None, LISTING, "can be listed"),
        ({}, LISTING, "not a listing"),
        (None, {}, "not a listing"),
        ("<html>", LISTING, "could not read"),
    ],
)
def test_a_directory_of_an_object_store_is_absent_by_an_empty_listing_only(
    below: Any, bucket: Any, found: bool | str
) -> None:
    def call(method: str, path: str, name: str, *, prefix: str, **_: object) -> Any:
        assert (method, path, name) == ("GET", "b/{}/o", "lake")
        answer = below if prefix == "t/tag/" else bucket
        if answer is None:
            raise FileNotFoundError(name)
        if answer == "<html>":
            raise ValueError("no JSON")
        return answer

    fs = SimpleNamespace(protocol=("gs", "gcs"), call=call)
    if isinstance(found, bool):
        assert conditional.is_absent(fs, "lake/t/tag") is found
    else:
        with pytest.raises(Corrupt, match=found) as refused:
            conditional.is_absent(fs, "lake/t/tag")
        assert refused.value.path in ("lake/t/tag", "lake")


def test_other_stores_say_themselves_that_a_directory_is_absent() -> None:
    for protocol in ("file", "memory", "hdfs", "webhdfs"):
        assert conditional.is_absent(SimpleNamespace(protocol=protocol), "/t/tag")


@pytest.mark.parametrize("is_zonal", [False, True])
def test_a_zonal_bucket_of_google_is_read_by_its_client_and_tells_no_version(is_zonal: bool) -> None:
    async def answers(bucket: str) -> bool:
        return is_zonal

    async def cat_file(path: str, start: int, end: int) -> bytes:
        assert is_zonal
        return b"x"

    async def call(method: str, url: str, headers: object) -> tuple[dict[str, str], bytes]:
        assert not is_zonal
        return {"X-Goog-Generation": "7"}, b"x"

    fs = SimpleNamespace(protocol=("gs", "gcs"), loop=asyn.get_loop(), split_path=lambda path: path.split("/"), url=str,
                         _is_zonal_bucket=answers, _cat_file=cat_file, _call=call)  # fmt: skip
    found = conditional.read(fs, "lake/tag", 10)
    assert (found, version_of(found)) == (b"x", None if is_zonal else "7")
