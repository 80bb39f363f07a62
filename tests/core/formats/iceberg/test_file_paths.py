"""Where a table's files are: spellings of a location, what is inside, what is ours, stores other than local disks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from core.catalog import list_tables
from core.errors import Invalid
from core.formats.iceberg.file_paths import TableLocation, normal, same
from core.model.actions import Expire
from core.storage.store import Store
from core.table import open_table
from tests.support.iceberg_tables import JAVA_RANDOM, moved


@pytest.mark.parametrize(
    ("location", "plain"),
    [
        ("file:/a/b", "/a/b"),
        ("file:///a/b/", "/a/b"),
        ("/a//b", "/a/b"),
        ("file:/a b/c%20d", "/a b/c%20d"),
        ("s3a://bucket/t", "s3://bucket/t"),
        ("s3n://bucket/t/", "s3://bucket/t"),
        ("s3://bucket//t", "s3://bucket//t"),
        ("hdfs://nn:8020/t", "hdfs://nn:8020/t"),
        ("/", "/"),
        ("file://localhost/a/b", "/a/b"),
        ("file://localhosts/a/b", "/localhosts/a/b"),
    ],
)
def test_one_place_has_one_spelling(location: str, plain: str) -> None:
    assert normal(location) == plain


def test_a_location_that_is_no_text_is_refused(tmp_path: Path) -> None:
    moved(JAVA_RANDOM / "t12_v1", tmp_path / "t").rename(tmp_path / os.fsdecode(b"n\xff"))
    with pytest.raises(Invalid, match=r"/n\\xff is not valid UTF-8"):
        open_table(str(tmp_path / os.fsdecode(b"n\xff"))).heads()


@pytest.mark.parametrize(
    ("location", "path", "ours"),
    [
        ("file:/w/t/data/a.parquet", "data/a.parquet", True),
        ("file:///w/t/data//a.parquet", "data/a.parquet", True),
        ("/w/t/data/a.parquet", "data/a.parquet", True),
        ("file:/w/t2/a.parquet", "file:///w/t2/a.parquet", False),
        ("file:/w/t/../t2/a.parquet", "file:///w/t/../t2/a.parquet", False),
        ("file:/w/t/a\\b", "file:///w/t/a\\b", False),
        ("file:/other/place/a.parquet", "file:///other/place/a.parquet", True),
        ("file:/other/place/../a.parquet", "file:///other/place/../a.parquet", False),
        ("s3://bucket/a.parquet", "s3://bucket/a.parquet", False),
        ("s3a://mine/x/a.parquet", "s3://mine/x/a.parquet", True),
        ("file:/w/t", "file:///w/t", False),
        ("file:/an odd%20one/a b.parquet", "file:///an odd%20one/a b.parquet", False),
    ],
)
def test_paths_are_relative_or_whole(tmp_path: Path, location: str, path: str, ours: bool) -> None:
    properties = {"write.data.path": "file:/other/place/", "write.object-storage.path": "s3://mine/x"}
    place = TableLocation.of(Store(str(tmp_path)), "file:/w/t/", properties)
    found = place.path(location)
    if "\\" not in location:
        assert found == path
    assert place.ours(pa.array([found])).to_pylist() == [ours]


def test_a_location_with_signs_is_the_same_place(tmp_path: Path) -> None:
    root = tmp_path / "a b%20c"
    root.mkdir()
    assert same(Store(str(root)), f"file:{root}")
    assert same(Store(str(root)), f"file://{root}/")
    assert not same(Store(str(root)), f"file:{tmp_path}/a b c")
    (tmp_path / "link").symlink_to(root)
    assert same(Store(str(root)), f"file:{tmp_path}/link")


def test_a_table_in_such_a_place_is_read(tmp_path: Path) -> None:
    root = moved(JAVA_RANDOM / "t05_v3", tmp_path / "a b%20c" / "t")
    assert open_table(str(root)).history().incomplete == {}


@pytest.fixture
def in_memory(tmp_path: Path) -> str:
    """A table on a store that is no local disk, naming itself there."""
    location = f"memory://lake-{tmp_path.name}/db/t"
    root = moved(JAVA_RANDOM / "t05_v3", tmp_path / "t", location)
    fs = fsspec.filesystem("memory")
    fs.put(str(root), location.removeprefix("memory:/"), recursive=True)
    return location


def test_a_table_on_another_store(in_memory: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SNAPSCOPE_CACHE", str(tmp_path / "cache"))
    assert [ref.location for ref in list_tables(in_memory.rpartition("/db/")[0]).tables] == [in_memory]
    table = open_table(in_memory)
    history = table.history()
    assert history.incomplete == {}
    assert history.objects["ours"].to_numpy(zero_copy_only=False).all()
    answers = json.loads((JAVA_RANDOM / "t05_v3" / "expected.json").read_bytes())
    for each in answers:
        request, answer = each["request"], each["answer"]
        if request["op"] == "expire" and "error" not in answer and "drop_refs" not in request:
            asked = Expire(
                older_than_ms=request.get("older_than"),
                retain_min=request.get("retain_last"),
                snapshots=tuple(request.get("ids", ())),
            )
            plan = table.preview(asked, request["now"], history)
            freed = {path for path in plan.frees["path"].to_pylist() if not path.startswith("data/")}
            there = {path for path in answer["spark_action_deleted"] if path.endswith(".avro")}
            assert there <= freed
    pinned = open_table(f"{in_memory}/metadata/v23.metadata.json")
    assert pinned.history().incomplete == {}
    assert list((tmp_path / "cache").iterdir())


def test_relative_locations_start_where_the_tables_own_does(tmp_path: Path) -> None:
    """A file imported from beside the table, as its metadata names it: below the directory that the writer ran in."""
    store = Store(str(tmp_path / "lake" / "shop" / "orders"))
    named = pa.array(["lake/shop/orders/data/a.parquet", "lake/old/b.parquet", "lake/../../etc/c", "/abs/d.parquet"])
    place = TableLocation.of(store, "lake/shop/orders", {})
    assert place.is_named(named).to_pylist() == [True, True, False, True]
    found = place.paths(named.filter(place.is_named(named)))
    beside = f"file://{tmp_path}/lake/old/b.parquet"
    assert found.to_pylist() == ["data/a.parquet", beside, "file:///abs/d.parquet"]
    assert place.ours(found).to_pylist() == [True, False, False], "what is outside is never deleted"
    moved_away = TableLocation.of(Store(str(tmp_path / "copy")), "lake/shop/orders", {})
    assert moved_away.is_named(named).to_pylist() == [True, False, False, True], "nobody knows where they start"
