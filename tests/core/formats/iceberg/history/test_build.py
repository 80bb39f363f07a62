"""Who holds what in Iceberg tables, compared with plain sets read by another Avro reader; damaged files; odd
manifests."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core import cli
from core.analysis.diff import diff
from core.analysis.inspection import statistics
from core.errors import Corrupt, SnapscopeError
from core.messages import code_names
from core.model import codes
from core.model.actions import Expire
from core.model.history import History
from core.table import Table, open_table, resolve
from tests.support.depth import sample
from tests.support.formats.in_parts import agrees
from tests.support.iceberg_documents import Json, document, snapshot
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, as_if_there, moved, read_avro, write_avro

TABLES = sorted(path for folder in (JAVA_RANDOM, PYICEBERG) for path in folder.iterdir() if path.is_dir())


@pytest.fixture(autouse=True)
def in_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every history that a test reads is built in parts, too, and compared; of those with random damage the first."""
    if "damage_of_any_kind" in request.node.name and "[0]" not in request.node.name:
        return
    whole = Table.history

    def both(table: Table, *args: Any, **manner: Any) -> History:
        history = whole(table, *args, **manner)
        agrees(table, history, len(history.objects) % 4 + 2)
        return history

    monkeypatch.setattr(Table, "history", both)


def by_sets(root: Path) -> tuple[dict[str, set[str]], dict[str, set[tuple[Any, ...]]]]:
    """Per snapshot id: all paths it holds, and its live files as (content, path, offset)."""
    path = max(root.glob("metadata/*.metadata.json"), key=lambda path: int(re.findall(r"\d+", path.name)[0]))
    found = json.loads(path.read_bytes())
    base = found["location"]

    def own(location: str) -> str:
        assert location.startswith(f"{base}/")
        return location[len(base) + 1 :]

    held: dict[str, set[str]] = {}
    live: dict[str, set[tuple[Any, ...]]] = {}
    for each in found["snapshots"]:
        holds, files = {own(each["manifest-list"])}, set()
        for row in read_avro(root / own(each["manifest-list"]))[1]:
            holds.add(own(row["manifest_path"]))
            for entry in read_avro(root / own(row["manifest_path"]))[1]:
                if entry["status"] != 2:
                    file = entry["data_file"]
                    files.add((file.get("content") or 0, own(file["file_path"]), file.get("content_offset")))
        for name in ("statistics", "partition-statistics"):
            for told in found.get(name) or ():
                if told["snapshot-id"] == each["snapshot-id"]:
                    holds.add(own(told["statistics-path"]))
        held[str(each["snapshot-id"])] = holds | {name for _, name, _ in files}
        live[str(each["snapshot-id"])] = files
    return held, live


@pytest.mark.parametrize("root", TABLES, ids=lambda path: path.name)
def test_every_object_has_its_holders(root: Path) -> None:
    history = as_if_there(root)[0]
    assert history.incomplete == {}
    held, live = by_sets(root)
    assert {holder.name for holder in history.holders} == set(held)
    for position, holder in enumerate(history.holders):
        own = history.objects["path"].filter(history.held.at(position)).to_pylist()
        assert set(own) == held[holder.name]
        assert len(own) == len(set(own))
        rows = history.files_at(position).to_pylist()
        contents = {"data": 0, "position-deletes": 1, "equality-deletes": 2}
        assert {(contents[row["content"]], row["path"], row["offset"]) for row in rows} == live[holder.name]
    assert all(history.objects["ours"].to_pylist())


@pytest.mark.parametrize("root", [path for path in TABLES if path.parent == PYICEBERG], ids=lambda path: path.name)
def test_what_is_live_is_on_disk_with_its_size(root: Path) -> None:
    """Of every point of every table with data; what pyiceberg's expiry left behind is nobody's."""
    history = as_if_there(root)[0]
    on_disk = {path.relative_to(root).as_posix(): path.stat().st_size for path in root.rglob("*") if path.is_file()}
    told = dict(zip(history.objects["path"].to_pylist(), history.objects["bytes"].to_pylist(), strict=True))
    assert told.items() <= on_disk.items()
    nobodys = {path for path in on_disk.keys() - told.keys() if not path.endswith((".json", ".text"))}
    assert len(nobodys) == (3 if root.name == "expired" else 0)


def test_totals_are_of_data() -> None:
    history = as_if_there(JAVA_RANDOM / "t05_v3")[0]
    for position, holder in enumerate(history.holders):
        assert holder.snapshot is not None
        assert history.totals.rows[position] == holder.snapshot.total_rows
    assert (history.files.filter(history.files["content"].to_numpy() != "data")["rows"].to_numpy() == 0).all()


# a copy that is damaged -----------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return moved(PYICEBERG / "overwrite_delete", tmp_path / "t")


def manifest_of(root: Path) -> tuple[Path, str]:
    """A manifest of the newest snapshot, and that snapshot's id."""
    heads = open_table(str(root)).heads()
    latest = heads.main.latest
    assert latest is not None
    listed = read_avro(Path(latest.fields["manifest-list"].removeprefix("file://")))[1]
    return Path(listed[0]["manifest_path"].removeprefix("file://")), str(latest.id)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def unlink(path: Path) -> None:
    path.unlink()


def lose_entries(path: Path) -> None:
    schema, records, metadata = read_avro(path)
    write_avro(path, schema, records[1:], metadata)


def other_status(path: Path) -> None:
    schema, records, metadata = read_avro(path)
    records[0]["status"] = 7
    write_avro(path, schema, records, metadata)


def relative(path: Path) -> None:
    schema, records, metadata = read_avro(path)
    records[0]["data_file"]["file_path"] = "../../etc/passwd"
    write_avro(path, schema, records, metadata)


def negative(path: Path) -> None:
    schema, records, metadata = read_avro(path)
    records[0]["data_file"]["file_size_in_bytes"] = -5
    write_avro(path, schema, records, metadata)


def encrypted(path: Path) -> None:
    path.write_bytes(b"AGS1" + path.read_bytes()[4:])


DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (cut, "cut off or damaged"),
    (unlink, "does not exist"),
    (lose_entries, "entries according to its manifest list, found"),
    (other_status, "must be 0, 1 or 2, not"),
    (relative, "not an absolute location"),
    (negative, "negative"),
    (encrypted, "encrypted"),
]


@pytest.mark.parametrize(("damage", "says"), DAMAGE, ids=lambda each: getattr(each, "__name__", None))
def test_a_manifest_that_cannot_be_read_makes_its_points_incomplete(
    table: Path, damage: Callable[[Path], None], says: str
) -> None:
    path, latest = manifest_of(table)
    damage(path)
    opened = open_table(str(table))
    history = opened.history()
    needing = {holder.name for holder in history.holders_of(f"metadata/{path.name}")}
    assert {history.holders[position].name for position in history.incomplete} == needing
    assert all(says in problem.found for problem in history.problems)
    with pytest.raises(Corrupt, match="cannot be read in full"):
        history.require(latest)
    with pytest.raises(
        Corrupt, match="is kept, but it cannot be read in full, so the files it still needs cannot be determined:"
    ):
        opened.preview(Expire(older_than_ms=0), 0, history)


def recount(table: Path, longer: int, counts: Callable[[Any], dict[str, int]]) -> str:
    """Have the newest list state other counts, and lengths by that many bytes longer; return its snapshot."""
    _, latest = manifest_of(table)
    snapshots = open_table(str(table)).heads().main.snapshots
    name = next(each.fields["manifest-list"] for each in snapshots if str(each.id) == latest)
    path = Path(name.removeprefix("file://"))
    schema, records, metadata = read_avro(path)
    for record in records:
        own = table / "metadata" / record["manifest_path"].rpartition("/")[2]
        record |= {"manifest_length": own.stat().st_size + longer, **counts(record)}
    write_avro(path, schema, records, metadata)
    return latest


@pytest.mark.parametrize(("more", "is_as_long"), [(1, True), (-1, False)])
def test_a_list_that_counts_wrong_is_told_and_harms_nothing(table: Path, more: int, is_as_long: bool) -> None:
    """The manifest is as long as its list says, or has more entries: nothing of it is lost."""
    latest = recount(
        table, 0 if is_as_long else 1, lambda record: {"added_files_count": record["added_files_count"] + more}
    )
    history = open_table(str(table)).history()
    assert history.incomplete == {}
    harmless = "Harmless: only the count in the list is wrong; the manifest lacks no entry."
    assert any(harmless in each.remedy for each in history.warnings)
    assert len(history.files_at(history.require(latest)))


@pytest.mark.parametrize("added", [-1, 0])
def test_an_entry_too_many_does_not_stand_for_one_that_is_lost(table: Path, added: int) -> None:
    lost = "existing_files_count"
    recount(table, 1, lambda record: {lost: record[lost] + 1, "added_files_count": added})
    assert open_table(str(table)).history().incomplete


@pytest.mark.parametrize("damage", [cut, unlink, None])
@pytest.mark.parametrize("counts", [(0, 0), (0, None), (None, 0)])
def test_a_manifest_in_which_no_file_is_live_is_not_needed(
    table: Path, damage: Callable[[Path], None] | None, counts: tuple[int | None, int | None]
) -> None:
    """Engines never open it. A list of version 1 need not count its entries, and then it is opened."""
    first, latest = manifest_of(table)
    history = open_table(str(table)).history()
    wanted = _names(history, history.require(latest))
    idle = first.with_name("idle-m0.avro")
    schema, entries, metadata = read_avro(first)
    write_avro(idle, schema, [each | {"status": 2} for each in entries], metadata)
    names = ("added_files_count", "existing_files_count", "deleted_files_count")
    own = dict(zip(names, (*counts, len(entries)), strict=True))
    (path,) = table.glob(f"metadata/snap-{latest}-*.avro")
    schema, rows, metadata = read_avro(path)
    for each in schema["fields"]:
        each["type"] = ["null", "int"] if each["name"] in names else each["type"]
    row = rows[0] | own | {"manifest_path": f"file://{idle}", "manifest_length": idle.stat().st_size}
    write_avro(path, schema, [*rows, row], metadata)
    if damage is not None:
        damage(idle)
    history = open_table(str(table)).history()
    is_needed = damage is not None and None in counts
    assert bool(history.incomplete) == is_needed
    skipped = [each.path for each in history.warnings if "readers skip it" in each.remedy]
    assert skipped == ([] if is_needed or damage is None else [f"metadata/{idle.name}"])
    if not is_needed:
        position = history.require(latest)
        assert _names(history, position) == wanted
        opened = open_table(str(table))
        assert statistics(opened, history, resolve(history.heads, latest), history.files_at(position))


@pytest.mark.parametrize("is_live_in", [0, 1])
def test_a_manifest_is_needed_if_any_list_counts_live_files_in_it(table: Path, is_live_in: int) -> None:
    first, _ = manifest_of(table)
    live = first.with_name("live-m0.avro")
    shutil.copy(first, live)
    snapshots = [each.id for each in open_table(str(table)).heads().main.snapshots]
    for number, at in enumerate((snapshots[0], snapshots[-1])):
        (path,) = table.glob(f"metadata/snap-{at}-*.avro")
        schema, rows, metadata = read_avro(path)
        counts = {"added_files_count": int(number == is_live_in), "existing_files_count": 0}
        own = {"manifest_path": f"file://{live}", "manifest_length": live.stat().st_size}
        write_avro(path, schema, [*rows, rows[0] | own | counts], metadata)
    live.unlink()
    history = open_table(str(table)).history()
    with pytest.raises(Corrupt, match=r"live-m0\.avro"):
        history.require(str(snapshots[-is_live_in]))


def _names(history: History, position: int) -> list[str]:
    return sorted(path.rpartition("/")[2] for path in history.files_at(position)["path"].to_pylist())


def test_a_list_that_cannot_be_read_makes_its_point_incomplete(table: Path) -> None:
    heads = open_table(str(table)).heads()
    old = heads.main.snapshots[0]
    Path(old.fields["manifest-list"].removeprefix("file://")).unlink()
    opened = open_table(str(table))
    history = opened.history()
    assert [history.holders[position].name for position in history.incomplete] == [str(old.id)]
    plan = opened.preview(Expire(snapshots=(old.id,), older_than_ms=0), 10**15, history)
    assert "lower-bound" in code_names(plan.warnings)
    with pytest.raises(Corrupt, match=f"--snapshot {old.id}"):
        opened.preview(Expire(snapshots=(heads.main.snapshots[1].id,), older_than_ms=0), 10**15, history)


def test_a_file_elsewhere_is_named_in_full_and_not_ours(table: Path) -> None:
    path, _ = manifest_of(table)
    schema, records, metadata = read_avro(path)
    other = "file:/somewhere/else/a%20b.parquet"
    old, records[0]["data_file"]["file_path"] = records[0]["data_file"]["file_path"], other
    write_avro(path, schema, records, metadata)
    history = open_table(str(table)).history()
    ours = dict(zip(history.objects["path"].to_pylist(), history.objects["ours"].to_pylist(), strict=True))
    assert old
    assert ours["file:///somewhere/else/a%20b.parquet"] is False
    assert sum(not each for each in ours.values()) == 1


def test_a_configured_path_is_ours(table: Path) -> None:
    manifests = (path for path in sorted(table.glob("metadata/*.avro")) if not path.name.startswith("snap-"))
    path = next(path for path in manifests if len(read_avro(path)[1]) > 1)
    schema, records, metadata = read_avro(path)
    for each in records:
        each["status"] = 1
    records[0]["data_file"]["file_path"] = "file:/somewhere/else/a.parquet"
    records[1]["data_file"]["file_path"] = "file:/somewhere/else/../b.parquet"
    write_avro(path, schema, records, metadata)
    for file in table.glob("metadata/*.metadata.json"):
        found = json.loads(file.read_bytes())
        found["properties"]["write.data.path"] = "file:///somewhere/else"
        file.write_text(json.dumps(found))
    history = open_table(str(table)).history()
    ours = dict(zip(history.objects["path"].to_pylist(), history.objects["ours"].to_pylist(), strict=True))
    assert ours["file:///somewhere/else/a.parquet"] is True
    assert ours["file:///somewhere/else/../b.parquet"] is False


# tables made by hand --------------------------------------------------------------------------------------------------

LISTED = [
    ("manifest_path", 500, "string"), ("manifest_length", 501, "long"), ("partition_spec_id", 502, "int"),
    ("content", 517, "int"), ("sequence_number", 515, "long"), ("added_snapshot_id", 503, "long"),
    ("added_data_files_count", 504, ["null", "int"]), ("existing_data_files_count", 505, ["null", "int"]),
    ("deleted_data_files_count", 506, ["null", "int"]),
]  # fmt: skip


def record(name: str, fields: list[tuple[str, int, Any]]) -> Json:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": own, "type": kind, "field-id": number} for own, number, kind in fields],
    }


def entry_schema(partition: list[tuple[str, int, Any]]) -> Json:
    file = [
        ("content", 134, "int"), ("file_path", 100, "string"), ("file_format", 101, "string"),
        ("partition", 102, record("r102", partition)), ("record_count", 103, "long"),
        ("file_size_in_bytes", 104, "long"),
    ]  # fmt: skip
    own = [("status", 0, "int"), ("snapshot_id", 1, ["null", "long"]), ("sequence_number", 3, ["null", "long"])]
    return record("manifest_entry", [*own, ("data_file", 2, record("r2", file))])


def entry(name: str, root: Path, partition: Json, status: int = 1) -> Json:
    own = {"content": 0, "file_path": f"file:{root}/data/{name}", "file_format": "PARQUET", "partition": partition}
    data = {**own, "record_count": 1, "file_size_in_bytes": 10}
    return {"status": status, "snapshot_id": None, "sequence_number": None, "data_file": data}


def table_of(root: Path, partition: list[tuple[str, int, Any]], values: list[Json], spec: list[Json]) -> Table:
    """One snapshot with a file for each partition; counts under their old names, and not told."""
    location = f"file:{root}"
    (root / "metadata").mkdir(parents=True)
    found = document(2, location)
    found |= {
        "current-snapshot-id": 1,
        "refs": {},
        "snapshots": [snapshot(1, None, 1000, location)],
        "snapshot-log": [{"timestamp-ms": 1000, "snapshot-id": 1}],
        "partition-specs": [{"spec-id": 0, "fields": spec}],
    }
    (root / "metadata" / "v1.metadata.json").write_text(json.dumps(found))
    entries = [entry(f"f{number}", root, each) for number, each in enumerate(values)]
    write_avro(root / "metadata" / "m0.avro", entry_schema(partition), entries, {})
    row = dict.fromkeys((name for name, _, _ in LISTED), 0) | {
        "manifest_path": f"{location}/metadata/m0.avro", "added_snapshot_id": 1, "sequence_number": 5,
        "added_data_files_count": None, "existing_data_files_count": None, "deleted_data_files_count": None,
    }  # fmt: skip
    write_avro(root / "metadata" / "snap-1.avro", record("manifest_file", LISTED), [row], {})
    return open_table(str(root))


PARTITIONS: list[tuple[str, Any, Any, str, str]] = [
    ("text", ["null", "string"], "a/b=c", "identity", "a/b=c"),
    ("text", ["null", "string"], None, "identity", "null"),
    ("number", ["null", "int"], -3, "bucket[4]", "-3"),
    ("big", ["null", "long"], 2**60, "identity", str(2**60)),
    ("flag", ["null", "boolean"], True, "identity", "true"),
    ("real", ["null", "double"], 1.5, "identity", "1.5"),
    ("day", ["null", {"type": "int", "logicalType": "date"}], dt.date(2026, 2, 3), "day", "2026-02-03"),
    ("day", ["null", "int"], 20000, "day", "2024-10-04"),
    ("month", ["null", "int"], 671, "month", "2025-12"),
    ("year", ["null", "int"], 56, "year", "2026"),
    ("hour", ["null", "int"], 490000, "hour", "2025-11-24T16"),
    ("raw", ["null", "bytes"], b"\x00\xff", "identity", "00ff"),
    ("id", ["null", {"type": "fixed", "size": 2, "name": "f2"}], b"\x01\x02", "identity", "0102"),
    (
        "amount",
        ["null", {"type": "fixed", "size": 4, "name": "d4", "logicalType": "decimal", "precision": 9, "scale": 2}],
        Decimal("-12.50"),
        "identity",
        "-12.50",
    ),
    ("moment", ["null", {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}],
     dt.datetime(2026, 1, 2, 3, 4, 5), "identity", "2026-01-02T03:04:05"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "value", "transform", "shown"), PARTITIONS)
def test_partitions_as_people_write_them(
    tmp_path: Path, name: str, kind: Any, value: Any, transform: str, shown: str
) -> None:
    spec = [{"name": name, "transform": transform, "source-id": 1, "field-id": 1000}]
    history = table_of(tmp_path / "t", [(name, 1000, kind)], [{name: value}], spec).history()
    assert history.incomplete == {}
    assert history.files["partition"].to_pylist() == [f"{name}={shown}"]
    assert history.files["sequence"].to_pylist() == [5]


def test_many_partition_fields_and_none(tmp_path: Path) -> None:
    spec = [{"name": name, "transform": "identity", "source-id": 1, "field-id": number}
            for name, number in (("a", 1000), ("b", 1001))]  # fmt: skip
    kinds: list[tuple[str, int, Any]] = [("a", 1000, ["null", "string"]), ("b", 1001, ["null", "int"])]
    history = table_of(tmp_path / "t", kinds, [{"a": "x", "b": 1}, {"a": None, "b": 2}], spec).history()
    assert sorted(history.files["partition"].to_pylist()) == ["a=null/b=2", "a=x/b=1"]
    history = table_of(tmp_path / "nulls", kinds[:1], [{"a": None}, {"a": "null"}, {"a": '"null"'}], spec[:1]).history()
    assert sorted(history.files["partition"].to_pylist()) == ['a=""null""', 'a="null"', "a=null"]
    history = table_of(tmp_path / "whole", [], [{}, {}], []).history()
    assert history.incomplete == {}
    assert history.files["partition"].to_pylist() == ["", ""]


def test_a_name_that_would_be_a_query_is_damage(tmp_path: Path) -> None:
    odd = "a'] as x from t; --"
    table = table_of(tmp_path / "t", [("a", 1000, "int")], [{"a": 1}], [])
    path = tmp_path / "t" / "metadata" / "m0.avro"
    path.write_bytes(path.read_bytes().replace(b'"name": "a", ', b'"name": "%s", ' % odd.encode()))
    history = table.history()
    assert len(history.incomplete) == 1


def test_version_1_may_name_manifests_without_a_list(tmp_path: Path) -> None:
    table_of(tmp_path / "t", [], [{}], [])
    file = tmp_path / "t" / "metadata" / "v1.metadata.json"
    found = document(1, f"file:{tmp_path}/t")
    own = {"snapshot-id": 1, "timestamp-ms": 1000, "manifests": [f"file:///{tmp_path}/t/metadata/m0.avro"]}
    found |= {"current-snapshot-id": 1, "refs": {}, "snapshots": [own]}
    file.write_text(json.dumps(found))
    history = open_table(str(tmp_path / "t")).history()
    assert history.incomplete == {}
    assert set(history.objects["path"].to_pylist()) == {"metadata/m0.avro", "data/f0"}
    assert history.files["sequence"].to_pylist() == [0]


# diff ---------------------------------------------------------------------------------------------------------------


def between(history: History, a: str, b: str) -> dict[str, set[tuple[str, str]]]:
    found = diff(history, resolve(history.heads, a), resolve(history.heads, b))
    return {
        side: {(row["path"], row["change"]) for row in files.to_pylist()}
        for side, files in (("added", found.added), ("removed", found.removed))
    }


@pytest.mark.parametrize("name", ["t05_v3", "t08_v3", "t07_v2", "t12_v1"])
def test_a_difference_is_of_live_files(name: str) -> None:
    root = JAVA_RANDOM / name
    if not root.is_dir():
        root = JAVA_RANDOM / "t05_v3"
    history = as_if_there(root)[0]
    live = by_sets(root)[1]
    ids = [each.id for each in history.heads.main.snapshots]
    for a, b in pairwise(ids):
        found = diff(history, resolve(history.heads, str(a)), resolve(history.heads, str(b)))
        old, new = ({(path, offset) for _, path, offset in live[str(each)]} for each in (a, b))
        for files, wanted in ((found.added, new - old), (found.removed, old - new)):
            assert {(row["path"], row["offset"]) for row in files.to_pylist()} == wanted
            if history.heads.main.snapshots[ids.index(b)].kind == "replace":
                assert set(files["change"].to_pylist()) <= {"compaction"}
        assert sum(found.partitions["added_files"].to_pylist()) == len(found.added)
        assert (
            found.summary["net_rows"]
            == history.totals.rows[history.position(str(b))] - (history.totals.rows[history.position(str(a))])
        )
        assert [each.id for each in found.commits] == [b]
        assert not found.is_backwards


def test_deletes_of_a_whole_partition_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One position-delete file of no named data file, then an equality delete in its place: no sum of rows moves."""
    root = tmp_path / "t"
    table_of(root, [], [{}, {}], [])
    location, schema = f"file:{root}", entry_schema([])
    for number, content in ((1, 1), (2, 2)):
        own = entry(f"deletes-{number}.parquet", root, {}, 1)
        own = {**own, "data_file": own["data_file"] | {"content": content}, "snapshot_id": 1, "sequence_number": 6}
        write_avro(root / "metadata" / f"d{number}.avro", schema, [own], {})
    own, rows, _ = read_avro(root / "metadata" / "snap-1.avro")
    for number in (1, 2):
        listed = {**rows[0], "manifest_path": f"{location}/metadata/d{number}.avro", "content": 1}
        write_avro(root / "metadata" / f"snap-{number}.avro", own, [rows[0], listed], {})
    (root / "metadata" / "v2.metadata.json").write_text(json.dumps(document(3, location)))
    history = open_table(str(root)).history()
    assert history.incomplete == {}
    assert between(history, "1", "2") == {
        "added": {("data/deletes-2.parquet", "deletes")},
        "removed": {("data/deletes-1.parquet", "deletes")},
    }
    assert cli.main(["diff", str(root), "1", "2"]) == 0
    assert "1 delete file added, 1 delete file removed" in capsys.readouterr().out


def test_a_vector_written_anew_is_a_change_of_deletes(tmp_path: Path) -> None:
    """Two vectors in one Puffin file, for two data files; then one of them anew in another place of it."""
    root = tmp_path / "t"
    table_of(root, [], [{}, {}], [])
    location, schema = f"file:{root}", entry_schema([])
    schema["fields"][3]["type"]["fields"] += record("", [
        ("referenced_data_file", 143, ["null", "string"]), ("content_offset", 144, ["null", "long"]),
        ("content_size_in_bytes", 145, ["null", "long"]),
    ])["fields"]  # fmt: skip

    def vector(of: str, offset: int, status: int) -> Json:
        own = entry("dv.puffin", root, {}, status)
        told = {"referenced_data_file": f"{location}/data/{of}", "content_offset": offset, "content_size_in_bytes": 7}
        file = own["data_file"] | told | {"content": 1, "file_format": "PUFFIN", "file_size_in_bytes": 99}
        return {**own, "data_file": file, "snapshot_id": 1, "sequence_number": 6}

    write_avro(root / "metadata" / "d1.avro", schema, [vector("f0", 4, 1), vector("f1", 11, 1)], {})
    write_avro(
        root / "metadata" / "d2.avro", schema, [vector("f0", 18, 1), vector("f1", 11, 0), vector("f0", 4, 2)], {}
    )
    own, rows, _ = read_avro(root / "metadata" / "snap-1.avro")
    for number in (1, 2):
        deletes = {**rows[0], "manifest_path": f"{location}/metadata/d{number}.avro", "content": 1}
        write_avro(root / "metadata" / f"snap-{number}.avro", own, [rows[0], deletes], {})
    (root / "metadata" / "v2.metadata.json").write_text(json.dumps(document(3, location)))
    table = open_table(str(root))
    history = table.history()
    assert history.incomplete == {}
    assert between(history, "1", "2") == {
        "added": {("data/dv.puffin", "deletes")},
        "removed": {("data/dv.puffin", "deletes")},
    }
    assert history.totals.bytes.tolist() == [10 + 10 + 7 + 7] * 2
    whole = dict(zip(history.objects["path"].to_pylist(), history.objects["bytes"].to_pylist(), strict=True))
    assert whole["data/dv.puffin"] == 99
    plan = table.preview(Expire(older_than_ms=5000, drop_tags=("v1",)), 6000, history)
    assert [verdict.point for verdict in plan.deleted_points] == ["1", "tag:v1"]
    assert "data/dv.puffin" not in plan.frees["path"].to_pylist()
    (said,) = table.native(plan, history)
    assert "would delete 1 file that 1 remaining snapshot still needs, such as data/dv.puffin:" in said.text


def test_a_list_that_lost_a_manifest_is_told_before_anything_is_freed(table: Path) -> None:
    opened = open_table(str(table))
    latest = opened.heads().main.latest
    assert latest is not None
    path = Path(latest.fields["manifest-list"].removeprefix("file://"))
    asked = Expire(older_than_ms=10**14)
    assert "fewer-files" not in code_names(opened.preview(asked, 10**15).warnings)
    schema, rows, metadata = read_avro(path)
    live = [row for row in rows if row["added_files_count"] or row["existing_files_count"]]
    write_avro(path, schema, [row for row in rows if row is not live[0]], metadata)
    plan = open_table(str(table)).preview(asked, 10**15)
    (said,) = [warning for warning in plan.warnings if warning.code == codes.FEWER_FILES]
    assert str(latest.id) in said.text


@pytest.mark.parametrize("key", [b'"name"', b'"type"', b'"field-id"', b'"fields"'])
def test_a_header_without_one_of_its_keys_is_damage(table: Path, key: bytes) -> None:
    """One flipped bit in the schema; each of its places in turn."""
    path, _ = manifest_of(table)
    whole = path.read_bytes()
    end = whole.index(b"avro.codec")
    at = whole.find(key)
    while 0 <= at < end:
        path.write_bytes(whole[: at + 2] + bytes([whole[at + 2] ^ 1]) + whole[at + 3 :])
        assert open_table(str(table)).history().holders
        at = whole.find(key, at + 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sample(range(3), 1))
def test_damage_of_any_kind_is_an_error_of_ours(tmp_path: Path, seed: int) -> None:
    """Bits flipped and ends cut off, anywhere in the metadata: told, and never anything but our own errors."""
    root = moved(PYICEBERG / "tags_branches", tmp_path / "t")
    newest = max(root.glob("metadata/*.metadata.json"))
    files = [newest, *sorted(root.glob("metadata/*.avro"))]
    chance, told = random.Random(seed), 0
    for _ in range(80):
        path = chance.choice(files)
        whole = path.read_bytes()
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        path.write_bytes(broken[: chance.randrange(len(broken))] if chance.random() < 0.2 else broken)
        try:
            opened = open_table(str(root))
            history = opened.history()
            told += bool(history.incomplete)
            opened.preview(Expire(older_than_ms=10**13), 10**13 + 1, history)
        except SnapscopeError:
            told += 1
        path.write_bytes(whole)
    assert told > 30
