"""Rows of Iceberg tables as tasks read them, without Spark: which columns a file's are, which deletes reach which rows.

Tables are written by the words of the specification (iceberg_written.py); what they hold is known.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
import operator
import struct
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest

from core import decimals
from core.errors import Corrupt, NotFound, SnapscopeError, Unsupported
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg import prune as iceberg_prune
from core.spark.read.iceberg import scan
from core.spark.sql.filters import Check
from core.table import open_table, resolve
from tests.support.spark.iceberg_written import Entry, Written, arrow_field

FORMS = ("parquet", "orc", "avro")
IDS = [(1, "id", "long"), (2, "v", "string")]
BY_V = [{"name": "v", "transform": "identity", "source-id": 2, "field-id": 1000}]
P = {"source-id": 2, "field-id": 1000}


def rows(table: Written, at: str = "latest", *, by_jvm: bool = False) -> list[dict[str, Any]]:
    """All rows of a point; with `by_jvm` those alone that the JVM would not read."""
    opened = open_table(str(table.root))
    history = opened.history()
    point = scan.opened(opened, history, resolve(history.heads, at), by_jvm=by_jvm)
    parts = [
        part
        for unit in point.work
        for part in iceberg_files.rows(
            point.place, point.columns, point.keys, json.loads(json.dumps(unit)), point.names
        )
    ]
    return [row for part in parts for row in part.to_pylist()]


def ids(table: Written, at: str = "latest") -> list[int]:
    return sorted(row["id"] for row in rows(table, at))


@pytest.fixture
def table(tmp_path: Path) -> Written:
    return Written(tmp_path / "t", IDS)


def some(table: Written, *numbers: int, **more: Any) -> Entry:
    return table.data({"id": list(numbers), "v": [f"v{each}" for each in numbers]}, **more)


# columns ----------------------------------------------------------------------------------------------------------


def test_a_column_is_its_id(table: Written) -> None:
    table.commit(some(table, 1))
    table.evolve([(2, "id", "string"), (3, "v", "string"), (1, "n", "long")])
    table.commit(table.data({"id": ["x"], "v": ["y"], "n": [2]}))
    assert rows(table, "1") == [{"id": 1, "v": "v1"}]
    assert sorted(rows(table), key=lambda row: row["n"]) == [
        {"id": "v1", "v": None, "n": 1},
        {"id": "x", "v": "y", "n": 2},
    ]


def test_a_head_is_read_with_the_current_schema_and_an_id_with_its_own(table: Written) -> None:
    table.commit(some(table, 1))
    table.evolve([(1, "id", "long"), (2, "renamed", "string")])
    table.publish()
    assert rows(table) == [{"id": 1, "renamed": "v1"}]
    assert rows(table, "1") == [{"id": 1, "v": "v1"}]


def test_every_type(tmp_path: Path) -> None:
    inner = {"type": "struct", "fields": [
        {"id": 20, "name": "u", "required": False, "type": "uuid"},
        {"id": 21, "name": "m", "required": False, "type": {
            "type": "map", "key-id": 22, "key": "string", "value-id": 23, "value-required": False, "value": {
                "type": "list", "element-id": 24, "element-required": False, "element": "int"}}}]}  # fmt: skip
    columns = [
        (1, "a", "boolean"), (2, "b", "int"), (3, "c", "long"), (4, "d", "float"), (5, "e", "double"),
        (6, "f", "decimal(9,2)"), (7, "g", "date"), (8, "h", "timestamp"), (9, "i", "timestamptz"), (10, "j", "string"),
        (11, "k", "uuid"), (12, "l", "fixed[3]"), (13, "m", "binary"), (14, "n", inner),
        (15, "o", {"type": "list", "element-id": 25, "element-required": False, "element": inner | {"fields": [
            {"id": 26, "name": "x", "required": False, "type": "date"}]}}),
    ]  # fmt: skip
    table = Written(tmp_path / "t", columns)
    own = uuid.UUID(int=7)
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, 1)
    values = {
        "a": True, "b": -1, "c": 2**40, "d": 0.5, "e": 1e300, "f": Decimal("-1.50"), "g": dt.date(1, 1, 1), "h": moment,
        "i": moment.replace(tzinfo=dt.UTC), "j": "ü", "k": own.bytes, "l": b"abc", "m": b"",
        "n": {"u": own.bytes, "m": [("k", [1, None])]}, "o": [{"x": dt.date(2026, 1, 1)}, None],
    }  # fmt: skip
    table.commit(table.data({name: [value, None] for name, value in values.items()}))
    expected = values | {"k": str(own), "n": {"u": str(own), "m": [("k", [1, None])]}}
    assert rows(table) == [expected, dict.fromkeys(values)]


def test_times_of_96_bits_before_1970(tmp_path: Path) -> None:
    """Their writers count nanoseconds below zero there, which Arrow takes for times 584 years later. Spark and Iceberg
    (`ParquetUtil.extractTimestampInt96`) cut the nanoseconds of a day off towards zero."""
    inner = {"type": "struct", "fields": [{"id": 3, "name": "t", "required": False, "type": "timestamp"}]}
    table = Written(tmp_path / "t", [(1, "t", "timestamp"), (2, "s", inner), (4, "z", "timestamptz")])
    nanos = [-1, -1_500, -86_400 * 10**9 - 1, 0, 999, 10**18 + 1, -(10**18) - 1, None]
    column = pa.array(nanos, pa.timestamp("ns"))

    def numbered(name: str, id: int, of: pa.DataType) -> pa.Field:
        return pa.field(name, of, metadata={"PARQUET:field_id": f"{id}"})

    fields = [numbered("t", 3, column.type)]
    inside = pa.StructArray.from_arrays([column], fields=fields)
    schema = pa.schema([numbered("t", 1, column.type), numbered("s", 2, inside.type), numbered("z", 4, column.type)])
    entry = table.data(pa.table([column, inside, column], schema=schema))
    path = Path(entry["path"])
    parquet.write_table(
        parquet.read_table(path), path, use_deprecated_int96_timestamps=True, use_dictionary=False, compression="none",
        write_statistics=False,
    )  # fmt: skip
    content = path.read_bytes()
    for each in filter(None, nanos):
        day, within = divmod(each, 86_400 * 10**9)
        written, below = (
            of.to_bytes(8, "little", signed=True) + at.to_bytes(4, "little")
            for of, at in ((within, 2_440_588 + day), (within - 86_400 * 10**9, 2_440_589 + day))
        )
        assert content.count(written) == 3
        content = content.replace(written, below)
    path.write_bytes(content)
    table.commit(entry | {"bytes": len(content)})
    start = dt.datetime(1970, 1, 1)
    day_us = 86_400 * 10**6

    def cut(each: int) -> dt.timedelta:
        days = each // (1_000 * day_us) + 1
        return dt.timedelta(microseconds=days * day_us - (days * 1_000 * day_us - each) // 1_000 if each else 0)

    times = [None if each is None else start + cut(each) for each in nanos]
    zoned = [each and each.replace(tzinfo=dt.UTC) for each in times]
    expected = [{"t": t, "s": {"t": t}, "z": z} for t, z in zip(times, zoned, strict=True)]
    assert rows(table) == expected


def test_types_that_grew(tmp_path: Path) -> None:
    old = [(1, "a", "int"), (2, "b", "float"), (3, "c", "decimal(5,2)"), (4, "d", "date")]
    table = Written(tmp_path / "t", old)
    table.commit(table.data({"a": [1], "b": [0.5], "c": [Decimal("1.25")], "d": [dt.date(2026, 1, 2)]}))
    table.evolve([(1, "a", "long"), (2, "b", "double"), (3, "c", "decimal(9,2)"), (4, "d", "timestamp")])
    table.publish()
    assert rows(table) == [{"a": 1, "b": 0.5, "c": Decimal("1.25"), "d": dt.datetime(2026, 1, 2)}]
    table.evolve([(1, "a", "string")])
    table.publish()
    with pytest.raises(Corrupt, match="Column 'a' should be string; the file has int32"):
        rows(table)


def test_what_is_in_structs_evolves_by_id(tmp_path: Path) -> None:
    def of(*fields: tuple[int, str, str]) -> dict[str, Any]:
        inner = [{"id": id, "name": name, "required": False, "type": type_} for id, name, type_ in fields]
        return {"type": "list", "element-id": 2, "element-required": False,
                "element": {"type": "struct", "fields": inner}}  # fmt: skip

    table = Written(tmp_path / "t", [(1, "s", of((3, "a", "int"), (4, "b", "int")))])
    table.commit(table.data({"s": [[{"a": 1, "b": 2}, None], None]}))
    table.evolve([(1, "s", of((4, "a", "long"), (5, "b", "int")))])
    table.publish()
    assert rows(table) == [{"s": [{"a": 2, "b": None}, None]}, {"s": None}]


def test_a_default_fills_what_older_files_lack(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "s", _struct((3, "a", "int", None)))], version=3)
    table.commit(table.data({"id": [1], "s": [{"a": 1}]}))
    wider = _struct((3, "a", "int", None), (4, "b", "string", "inside"))
    table.evolve([(1, "id", "long"), (2, "s", wider), (5, "d", "decimal(4,1)")], {5: "2.5"})
    table.commit(table.data({"id": [2], "s": [None], "d": [None]}))
    assert sorted(rows(table), key=lambda row: row["id"]) == [
        {"id": 1, "s": {"a": 1, "b": "inside"}, "d": Decimal("2.5")},
        {"id": 2, "s": None, "d": None},
    ]


def _struct(*fields: tuple[int, str, str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": [
        {"id": id, "name": name, "required": False, "type": of} | ({} if value is None else {"initial-default": value})
        for id, name, of, value in fields]}  # fmt: skip


def test_a_partition_column_that_the_file_lacks_comes_from_its_partition(tmp_path: Path) -> None:
    spec = [
        {"name": "p", "transform": "identity", "source-id": 2, "field-id": 1000, "avro": "date"},
        {"name": "b", "transform": "bucket[4]", "source-id": 1, "field-id": 1001, "avro": "int"},
    ]
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "p", "date")], spec)
    day = dt.date(2026, 1, 2)
    table.commit(
        table.data({"id": [1]}, partition={1000: day, 1001: 3}),
        table.data({"id": [2]}, partition={1000: None, 1001: 3}),
        table.data({"id": [3], "p": [day]}, partition={1000: day, 1001: 3}),
    )
    found = sorted(rows(table), key=lambda row: row["id"])
    assert [(row["id"], row["p"]) for row in found] == [(1, day), (2, None), (3, day)]
    table.commit(table.equality({"p": [day]}, partition={1000: day, 1001: 3}))
    assert ids(table) == [2]


@pytest.mark.parametrize(
    ("of", "value", "read"),
    [
        ("uuid", uuid.UUID(int=200).bytes, str(uuid.UUID(int=200))),
        ("fixed[3]", b"\x80\0a", b"\x80\0a"),
        ("decimal(5,2)", Decimal("-1.50"), Decimal("-1.50")),
        ("timestamp", dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 1)),
        ("boolean", False, False),
        ("double", -0.5, -0.5),
        ("string", "a=b/c", "a=b/c"),
        ("long", -(2**60), -(2**60)),
    ],
)
def test_partitions_of_every_type(tmp_path: Path, of: str, value: Any, read: Any) -> None:
    spec = [{"name": "p", "transform": "identity", "source-id": 2, "field-id": 1000, "avro": of}]
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "p", of)], spec)
    table.commit(*(table.data({"id": [n, 7]}, partition={1000: each}) for n, each in ((1, value), (2, None))))
    table.commit(table.equality({"id": [7]}, partition={1000: value}))
    assert sorted(rows(table), key=lambda row: row["id"]) == [
        {"id": 1, "p": read},
        {"id": 2, "p": None},
        {"id": 7, "p": None},
    ]


def test_the_jvm_gets_only_files_that_have_it_all(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, BY_V)
    whole = some(table, 1, partition={1000: "v1"})
    lacking = table.data({"id": [2]}, partition={1000: "v2"})
    silent = some(table, 3, partition={1000: "v3"}, name="silent.parquet") | {"sizes": None}
    hidden = some(table, 4, partition={1000: "v4"}, name="_4.parquet")
    table.commit(whole, lacking, silent, hidden)
    assert sorted(row["id"] for row in rows(table, by_jvm=True)) == [2, 3, 4]
    assert ids(table) == [1, 2, 3, 4]


def test_a_file_that_is_listed_twice_is_read_twice(table: Written) -> None:
    one = some(table, 1)
    table.commit(one)
    table.live.append(one | {"sequence": 2})
    table.commit()
    assert ids(table) == [1, 1]


def test_manifests_that_version_1_names_itself(tmp_path: Path) -> None:
    spec = {"name": "v", "transform": "identity", "source-id": 2, "field-id": 1000}
    table = Written(tmp_path / "t", IDS, [spec], version=1)
    table.commit(table.data({"id": [1]}, partition={1000: "a"}))
    (manifest,) = (str(path) for path in (table.root / "metadata").glob("m*.avro"))
    del table.snapshots[0]["manifest-list"]
    table.snapshots[0]["manifests"] = [manifest]
    table.publish()
    assert rows(table) == [{"id": 1, "v": "a"}]
    table.specs.append({"spec-id": 1, "fields": []})
    table.publish()
    with pytest.raises(Unsupported, match="', and its manifest does not say which spec partitions it"):
        rows(table, by_jvm=True)


def test_a_file_on_another_store_is_not_for_the_jvm(table: Written) -> None:
    table.commit(some(table, 1), some(table, 2) | {"path": "s3://elsewhere/2.parquet"})
    opened = open_table(str(table.root))
    history = opened.history()
    point = scan.opened(opened, history, resolve(history.heads, "latest"))
    assert [path for path, _ in point.native] == ["data/f1.parquet"]
    assert [file["path"] for unit in point.work for file in unit["files"]] == ["s3://elsewhere/2.parquet"]


# deletes ----------------------------------------------------------------------------------------------------------


def test_position_deletes_reach_files_of_their_commit_and_before(table: Written) -> None:
    first, second = some(table, 1, 2, 3), some(table, 4, 5)
    table.commit(first)
    table.commit(second, table.positions([(first, 0), (second, 1)]))
    assert ids(table) == [2, 3, 4]
    again = first | {"sequence": 3}
    table.commit(again, without=[first])
    assert ids(table) == [1, 2, 3, 4], "what was added again is newer than the delete"


def test_position_deletes_reach_their_partition(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, BY_V)
    a, b = (some(table, number, 10 + number, partition={1000: f"v{number}"}) for number in (1, 2))
    table.commit(a, b)
    table.commit(table.positions([(a, 0), (b, 0)], partition={1000: "v1"}))
    assert ids(table) == [2, 11, 12], "a delete file of one partition says nothing of another's files"
    table.commit(table.positions([(b, 1)], partition={1000: "v2"}, referenced=b["path"]))
    assert ids(table) == [2, 11]
    table.commit(table.positions([(b, 0)], partition={1000: "v1"}, referenced=b["path"]))
    with pytest.raises(Corrupt, match="another partition"):
        rows(table)


def test_a_partition_is_the_same_however_its_day_is_spelled(tmp_path: Path) -> None:
    spec = {"name": "d", "transform": "day", "source-id": 2, "field-id": 1000}
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "d", "date")], [spec | {"avro": "date"}])
    file = table.data({"id": [1, 2], "d": [dt.date(1970, 1, 3)] * 2}, partition={1000: dt.date(1970, 1, 3)})
    table.commit(file)
    table.specs[0]["fields"] = [spec | {"avro": "int"}]
    deletes = table.positions([(file, 1)], partition={1000: 2}) | {"sequence": 2}
    manifest = table._manifest(0, True, [(deletes, True)], 2)
    table.specs[0]["fields"] = [spec | {"avro": "date"}]
    _commit_with(table, manifest)
    assert ids(table) == [1]


def _commit_with(table: Written, manifest: dict[str, Any]) -> None:
    """A commit that names one more manifest."""
    from tests.support.spark import iceberg_written

    table.commit()
    path = Path(table.snapshots[-1]["manifest-list"])
    own = table._manifest(0, False, [(each, False) for each in table.live], 2)
    iceberg_written._write(path, iceberg_written._LIST, [own, manifest])


@pytest.mark.parametrize("value", ["x\x1fb", "\x1f", "\x1e", "\x1d", "\x1d.", "\x1f1001=5", "=", ""])
def test_a_partition_may_be_any_text(tmp_path: Path, value: str) -> None:
    spec = [*BY_V, {"name": "w", "transform": "identity", "source-id": 3, "field-id": 1001}]
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "v", "string"), (3, "w", "string")], spec)
    own = {1000: value, 1001: "w"}
    table.commit(
        table.data({"id": [1, 7]}, partition=own),
        table.data({"id": [2, 7]}, partition={**own, 1000: None}),
    )
    table.commit(table.equality({"id": [7]}, partition=own))
    assert sorted(rows(table), key=lambda row: row["id"]) == [
        {"id": 1, "v": value, "w": "w"},
        {"id": 2, "v": None, "w": "w"},
        {"id": 7, "v": None, "w": "w"},
    ]
    history = open_table(str(table.root)).history()
    assert set(history.files["partition"].to_pylist()) == {f"v={value}/w=w", "v=null/w=w"}


def test_a_partition_may_be_nan(tmp_path: Path) -> None:
    spec = [{"name": "d", "transform": "identity", "source-id": 2, "field-id": 1000, "avro": "double"}]
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "d", "double")], spec)
    table.commit(table.data({"id": [1, 2]}, partition={1000: math.nan}))
    table.commit(table.equality({"id": [1]}, partition={1000: math.nan}))
    found = rows(table)
    assert [row["id"] for row in found] == [2]
    assert math.isnan(found[0]["d"])


def test_equality_deletes_reach_older_files_and_compare_null_with_null(table: Written) -> None:
    table.commit(table.data({"id": [1, 2, None, None], "v": ["a", None, None, "b"]}))
    table.commit(table.equality({"id": [None, 2], "v": [None, None]}), some(table, 2))
    assert sorted((row["id"] or 0, row["v"] or "") for row in rows(table)) == [(0, "b"), (1, "a"), (2, "v2")]
    table.commit(table.equality({"v": ["v2"]}), table.equality({"id": [None]}))
    assert rows(table) == [{"id": 1, "v": "a"}]


def test_equality_deletes_without_partition_reach_all_others_their_own(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, BY_V)
    table.specs.append({"spec-id": 1, "fields": [{**BY_V[0], "transform": "void"}]})
    a, b = (some(table, 1, 2, 3, partition={1000: part}) for part in ("a", "b"))
    table.commit(a, b)
    table.commit(table.equality({"id": [1]}, partition={1000: "a"}))
    assert ids(table) == [1, 2, 2, 3, 3]
    table.commit(table.equality({"id": [2]}, spec=1, partition={1000: None}))
    assert ids(table) == [1, 3, 3]


def test_equality_deletes_by_a_column_that_was_renamed_widened_or_dropped(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "k", "int")])
    table.commit(table.data({"id": [1, 2, 3], "k": [1, 2, 3]}))
    table.commit(table.equality({"k": [1]}))
    table.evolve([(1, "id", "long"), (2, "key", "long")])
    table.commit(table.equality({"key": [2]}))
    assert ids(table) == [3]
    table.evolve([(1, "id", "long")])
    table.publish()
    assert ids(table) == [3]
    assert rows(table) == [{"id": 3}]


def test_equality_of_floats_is_that_of_java(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "f", "double")])
    table.commit(table.data({"id": [1, 2, 3, 4], "f": [0.0, -0.0, math.nan, None]}))
    other_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    table.commit(table.equality({"f": [-0.0, other_nan]}))
    assert ids(table) == [1, 4]


def test_many_keys_are_looked_up_one_by_one(tmp_path: Path) -> None:
    columns = [(id, f"c{id}", "long") for id in range(1, 8)]
    table = Written(tmp_path / "t", columns)
    numbers = list(range(3_000))
    table.commit(table.data({name: [(n * id) % 2_999 for n in numbers] for id, name, _ in columns}))
    gone = [n for n in numbers if n % 3 == 0]
    wanted = {tuple((n * id) % 2_999 for id, _, _ in columns) for n in gone}
    table.commit(table.equality({name: [(n * id) % 2_999 for n in gone] for id, name, _ in columns}))
    assert all(tuple(row.values()) not in wanted for row in rows(table))
    assert len(rows(table)) == sum(tuple((n * id) % 2_999 for id, _, _ in columns) not in wanted for n in numbers)


def test_a_vector_takes_the_place_of_position_deletes(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, version=3)
    file, other = some(table, 1, 2, 3), some(table, 4)
    table.commit(file, other, table.positions([(file, 0), (other, 0)]))
    assert ids(table) == [2, 3]
    table.commit(table.vector(file, [1]), table.equality({"id": [3]}))
    assert ids(table) == [1]


def test_deleted_rows_are_counted_over_batches(table: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iceberg_files, "BATCH_ROWS", 7)
    file = some(table, *range(100))
    gone = [0, 6, 7, 13, 50, 99]
    table.commit(file)
    table.commit(table.positions([(file, row) for row in gone]), table.equality({"id": [1, 70]}))
    assert ids(table) == [each for each in range(100) if each not in (*gone, 1, 70)]


# what is refused --------------------------------------------------------------------------------------------------

Make = Callable[[Written, Entry], Entry]


def _broken(at: int, byte: int) -> Make:
    def make(table: Written, file: Entry) -> Entry:
        found = table.vector(file, [0, 2])
        path = Path(found["path"])
        content = bytearray(path.read_bytes())
        content[at] ^= byte
        path.write_bytes(bytes(content))
        return found

    return make


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_broken(8, 1), "it starts with"),
        (_broken(20, 1), "checksum"),
        (_broken(7, 1), "bytes"),
        (lambda table, file: table.vector(file, [0, 2]) | {"records": 3}, "expected 3 rows, found 2"),
        (lambda table, file: table.vector(file, [0, 2]) | {"length": 20}, "bytes"),
        (lambda table, file: table.vector(file, [0, 3]), "Row 3 is deleted in a file that has only 3 rows"),
        (lambda table, file: table.positions([(file, 3)]), "Row 3 is deleted in a file that has only 3 rows"),
        (lambda table, file: table.positions([(file, -1)]), "negative"),
        (
            lambda table, file: table.positions([(f"file:{file['path']}", 0)]),
            (
                r", which the table's manifests write differently \(scheme or host\), so engines that "
                "compare locations as text would bring deleted rows back."
            ),
        ),
        (
            lambda table, file: table.positions([(file, 0)], referenced=f"file://{file['path']}"),
            (
                r", which the table's manifests write differently \(scheme or host\), so engines that "
                "compare locations as text would bring deleted rows back."
            ),
        ),
        (lambda table, file: table.vector(file, [0]) | {"referenced": None}, "does not name its data file"),
        (
            lambda table, file: table.equality({"id": [1]}) | {"equality_ids": None},
            "An equality delete file lists no columns to compare.",
        ),
    ],
)
def test_deletes_that_cannot_be_right(table: Written, make: Make, says: str) -> None:
    file = some(table, 1, 2, 3)
    table.commit(file)
    table.commit(make(table, file))
    with pytest.raises(Corrupt, match=says) as caught:
        rows(table)
    assert caught.value.path
    assert ids(table, "1") == [1, 2, 3], "other points are not affected"


def test_two_vectors_of_one_file(table: Written) -> None:
    file = some(table, 1, 2, 3)
    table.commit(file, table.vector(file, [0]), table.vector(file, [1]))
    with pytest.raises(Corrupt, match="more than one deletion vector"):
        rows(table)


def test_a_vector_older_than_its_file(table: Written) -> None:
    file = some(table, 1, 2, 3)
    table.commit(table.vector(file, [0]))
    table.commit(file)
    with pytest.raises(Corrupt, match="later 2"):
        rows(table)


def test_a_file_without_ids_is_read_by_the_name_mapping(tmp_path: Path) -> None:
    """At every level, by any of the names, whatever the columns are called today; what has no name is not there."""
    inner = {"type": "list", "element-id": 4, "element-required": False, "element": {
        "type": "struct", "fields": [{"id": 5, "name": "x", "required": False, "type": "int"}]}}  # fmt: skip
    mapping = [
        {"field-id": 1, "names": ["ID", "id"]},
        {"field-id": 3, "names": ["l"], "fields": [
            {"field-id": 4, "names": ["element"], "fields": [{"field-id": 5, "names": ["a"]}]}]},
        {"names": ["nobody"]},
    ]  # fmt: skip
    lists = pa.array([[{"a": 7, "b": 8}], None], pa.list_(pa.struct([("a", pa.int32()), ("b", pa.int32())])))
    old = pa.table({"l": lists, "v": ["x", "y"], "id": pa.array([1, 2], pa.int64())})
    for form in FORMS:
        named = {"schema.name-mapping.default": json.dumps(mapping)}
        table = Written(tmp_path / form, [(1, "key", "long"), (2, "v", "string"), (3, "l", inner)], properties=named)
        table.commit(table.file(old, 0, form=form, ids=False), table.data({"key": [3], "v": ["z"]}, form=form))
        assert sorted(map(repr, rows(table))) == sorted(map(repr, [
            {"key": 1, "v": None, "l": [{"x": 7}]}, {"key": 2, "v": None, "l": None}, {"key": 3, "v": "z", "l": None},
        ])), form  # fmt: skip


def test_times_of_every_year_in_orc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In several stripes. Arrow counts them in nanoseconds, which end in 2262."""
    inside = {"type": "list", "element-id": 5, "element-required": False, "element": "timestamp"}
    columns = [(1, "id", "long"), (2, "t", "timestamp"), (3, "z", "timestamptz"), (4, "l", inside)]
    table = Written(tmp_path / "t", columns)
    far, near = dt.datetime(9999, 12, 31, 23, 59, 59), dt.datetime(2026, 1, 2, 3, 4, 5, 678_901)
    moments = [dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(1, 1, 1), None, near] * 40_000 + [far]
    zoned = [each and each.replace(tzinfo=dt.UTC) for each in reversed(moments)]
    schema = pa.schema([arrow_field(*each) for each in columns])
    lists = [each and [each, None] for each in moments]
    whole = pa.table({"id": range(len(moments)), "t": moments, "z": zoned, "l": lists}, schema=schema)
    monkeypatch.setattr(orc, "write_table", functools.partial(orc.write_table, stripe_size=1 << 16))
    file = table.file(whole, 0, form="orc")
    assert orc.ORCFile(file["path"]).nstripes > 1
    table.commit(file)
    found = rows(table)
    assert [each["t"] for each in found] == moments
    assert [each["z"] for each in found] == zoned
    assert [each["l"] for each in found] == lists


@pytest.mark.parametrize(("form", "v"), [("parquet", "by place"), ("orc", "by name"), ("avro", "by name")])
def test_a_file_without_ids_and_without_a_mapping(table: Written, form: str, v: str) -> None:
    """As the engines' readers do: of Parquet the second column is the one with the id 2, of ORC and Avro that name."""
    own = pa.table({"id": pa.array([1], pa.int64()), "x": ["by place"], "v": ["by name"]})
    table.commit(table.file(own, 0, form=form, ids=False))
    assert rows(table) == [{"id": 1, "v": v}]


def test_a_partition_value_comes_before_a_column_matched_by_its_place(tmp_path: Path) -> None:
    """Hive and Dremio leave partition columns out of files, so the file's first column is matched with one of them."""
    spec = [{"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000, "avro": "string"}]
    table = Written(tmp_path / "t", [(1, "p", "string"), (2, "a", "long"), (3, "b", "long")], spec)
    for own in (pa.table({"a": ["not p"], "b": [1]}), pa.table({"a": [0], "b": [1]})):
        table.commit(table.file(own, 0, ids=False, partition={1000: "x"}))
    assert rows(table) == [{"p": "x", "a": 1, "b": None}] * 2


def test_a_partition_value_that_the_manifest_leaves_out_is_null(tmp_path: Path) -> None:
    """Dremio writes records of partitions without fields that were added later."""
    spec = [{"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000, "avro": "string"},
            {"name": "q", "transform": "identity", "source-id": 2, "field-id": 1001, "avro": "string"}]  # fmt: skip
    table = Written(tmp_path / "t", [(1, "p", "string"), (2, "q", "string"), (3, "a", "long")], spec[:1])
    own = pa.table({"a": [1], "b": [2]})
    table.commit(table.file(own, 0, ids=False, partition={1000: "x"}))
    table.specs[0]["fields"] = spec
    table.publish()
    assert rows(table) == [{"p": "x", "q": None, "a": None}]


def test_a_name_mapping_that_is_none(tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, properties={"schema.name-mapping.default": '[{"field-id": "1"}]'})
    table.commit(some(table, 1))
    with pytest.raises(Corrupt, match="name mapping"):
        rows(table)


def test_a_file_that_is_not_there(table: Written) -> None:
    file = some(table, 1)
    table.commit(file)
    Path(file["path"]).unlink()
    with pytest.raises(NotFound, match="does not exist"):
        rows(table)


def test_a_vector_that_is_not_there(table: Written) -> None:
    file = some(table, 1)
    vector = table.vector(file, [0])
    table.commit(file, vector)
    Path(vector["path"]).unlink()
    with pytest.raises(NotFound, match="does not exist"):
        rows(table)


def test_a_file_that_is_no_parquet(table: Written) -> None:
    file = some(table, 1)
    table.commit(file)
    Path(file["path"]).write_bytes(b"x" * 100)
    with pytest.raises(Corrupt, match="cannot be read"):
        rows(table)


def test_other_formats(table: Written) -> None:
    table.commit(some(table, 1) | {"format": "LANCE"})
    with pytest.raises(Unsupported, match="lance"):
        rows(table)


@pytest.mark.parametrize("magic", [b"PARE", b"AGS1"])
def test_a_file_that_is_encrypted(table: Written, magic: bytes) -> None:
    file = some(table, 1) | {"key": b"k"}
    table.commit(file)
    assert ids(table) == [1], "a key alone encrypts nothing"
    Path(file["path"]).write_bytes(magic + Path(file["path"]).read_bytes()[4:])
    with pytest.raises(Unsupported, match="encrypted"):
        rows(table)


MOMENT = dt.datetime(2020, 2, 3, 4, 5, 6, 789012)
VARIANT = {"value": bytes.fromhex("0561"), "metadata": bytes.fromhex("010000")}


@pytest.mark.parametrize(
    ("of", "stored", "read"),
    [
        ("time", pa.array([dt.time(1, 2, 3, 4)], pa.time64("us")), dt.time(1, 2, 3, 4)),
        ("timestamp_ns", pa.array([1_580_702_706_789_012_999], pa.timestamp("ns")), MOMENT),
        ("timestamptz_ns", pa.array([-1], pa.timestamp("ns", "UTC")), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)),
        ("geometry(srid:4326)", pa.array([b"wkb"]), b"wkb"),
        ("geography", pa.array([b"wkb"]), b"wkb"),
        ("variant", pa.array([VARIANT]), VARIANT),
    ],
)
def test_types_that_spark_shows_in_its_own_way(table: Written, of: str, stored: pa.Array, read: Any) -> None:
    schema = pa.schema([arrow_field(1, "id", "long"), pa.field("odd", stored.type, metadata={"PARQUET:field_id": "3"})])
    table.evolve([*IDS, (3, "odd", of)])
    table.commit(table.file(pa.table([pa.array([1], pa.int64()), stored], schema=schema), 0), some(table, 2))
    found = {row["id"]: row["odd"] for row in rows(table)}
    assert found[2] is None
    own = found[1].replace(tzinfo=None) if isinstance(found[1], dt.datetime) else found[1]
    assert (own.isoformat() if of == "time" else own) == (read.isoformat() if of == "time" else read)


def test_a_type_that_nobody_knows_takes_its_own_column_alone(table: Written) -> None:
    table.commit(some(table, 1))
    odd = {"type": "struct", "fields": [{"id": 4, "name": "x", "required": False, "type": "money"}]}
    table.evolve([*IDS, (3, "odd", odd), (5, "nothing", "unknown")])
    table.publish()
    opened = open_table(str(table.root))
    history = opened.history()
    point = scan.opened(opened, history, resolve(history.heads, "latest"), by_jvm=False)
    shown = [each for each in point.columns if each.name != "odd"]
    (unit,) = point.work
    (part,) = iceberg_files.rows(point.place, shown, (), json.loads(json.dumps(unit)), None)
    assert part.to_pylist() == [{"id": 1, "v": "v1", "nothing": None}]
    with pytest.raises(Unsupported, match="Column 'x' has type money"):
        rows(table)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([], "no columns"),
        ([(1, "a", "decimal(50,2)")], "no decimal"),
        ([(1, "a", {"type": "struct"})], "fields"),
    ],
)
def test_odd_schemas(tmp_path: Path, columns: list[Any], says: str) -> None:
    table = Written(tmp_path / "t", [(1, "a", "long")])
    table.commit(table.data({"a": [1]}))
    table.evolve(columns)
    table.publish()
    with pytest.raises(SnapscopeError, match=says):
        rows(table)


def test_a_default_of_another_kind(table: Written) -> None:
    table.commit(some(table, 1))
    table.evolve([*IDS, (3, "d", "date")], {3: "soon"})
    table.publish()
    with pytest.raises(Corrupt, match="'d' is not a valid date"):
        rows(table)


def test_equality_by_a_column_nobody_knows_any_more(table: Written) -> None:
    table.commit(some(table, 1))
    table.commit(table.equality({"id": [1]}) | {"equality_ids": [77]})
    with pytest.raises(Unsupported, match="77"):
        rows(table)


def test_position_deletes_whose_path_is_null_delete_nothing(table: Written) -> None:
    file = some(table, 1, 2, 3)
    table.commit(file)
    table.commit(table.positions([(None, 0), (file, 1), (None, 2)]))
    assert len(rows(table)) == 2


@pytest.mark.parametrize(("id", "name"), [(9, "x"), (2147483545, "pos")])
def test_a_delete_file_without_its_columns(table: Written, id: int, name: str) -> None:
    file = some(table, 1)
    table.commit(file)
    odd = pa.table([pa.array([1], pa.int64())], schema=pa.schema([arrow_field(id, name, "long")]))
    table.commit(table.file(odd, 1))
    with pytest.raises(Corrupt, match="without a path or a position"):
        rows(table)


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_of_many_digits_rule_out_no_row(tmp_path: Path, sign: int) -> None:
    """Beside whole numbers: rounded to 28 digits, the bounds of one file would be those of the next."""
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "d", "decimal(38,4)")])
    unscaled = [sign * (10**38 - 1 - n) for n in range(4)]
    table.commit(
        *(table.data({"id": [n], "d": [decimals.number(each, 4)]}, bounds=[1, 2]) for n, each in enumerate(unscaled))
    )
    opened = open_table(str(table.root))
    history = opened.history()
    point = scan.opened(opened, history, resolve(history.heads, "latest"), by_jvm=False)
    passes: dict[str, Callable[[int, int], bool]] = {
        "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    }  # fmt: skip
    for value in (*unscaled, unscaled[-1] - 1, 0):
        for is_, does in passes.items():
            left = iceberg_prune.only(point, Check(1, is_, (decimals.number(value, 4),)))
            found = sorted(row["name"] for unit in left.work for row in unit["files"])
            wanted = [entry["path"] for entry, each in zip(table.live, unscaled, strict=True) if does(each, value)]
            assert found == sorted(wanted), (is_, value)
