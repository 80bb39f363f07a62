"""SQL on Iceberg tables at a version: tables of pyiceberg, what the JVM reads and what tasks read, and errors."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from core.errors import Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.model.row_diff import RowDiff
from core.spark.diff.rows import row_diff
from core.spark.query.query import query
from core.spark.read.iceberg import footers, scan
from core.spark.read.iceberg import frames as iceberg_read
from core.table import Table, open_table, resolve
from tests.support.depth import sample
from tests.support.iceberg_tables import PYICEBERG, moved, read_avro, write_avro
from tests.support.spark.iceberg_written import Written, arrow_field
from tests.support.webhdfs import serving

IDS = [(1, "id", "long"), (2, "v", "string")]


def frame(spark: SparkSession, table: Table, at: str, **more: Any) -> tuple[scan.IcebergScan, list[dict[str, Any]]]:
    history = table.history()
    of = scan.opened(table, history, resolve(history.heads, at), **more)
    return of, iceberg_read.rows(spark.newSession(), of).frame.toArrow().to_pylist()


def by_hand(root: Path, snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a copy-on-write snapshot, by walking its list and its manifests."""

    def records(location: str) -> list[Any]:
        with open(location.removeprefix("file://"), "rb") as file:
            return list(fastavro.reader(file))

    entries = [each for one in records(snapshot["manifest-list"]) for each in records(one["manifest_path"])]
    files = [each["data_file"]["file_path"].removeprefix("file://") for each in entries if each["status"] != 2]
    return [row for path in files for row in parquet.read_table(path, partitioning=None).to_pylist()]


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)


@pytest.mark.parametrize("name", sample(sorted(path.name for path in PYICEBERG.iterdir() if path.is_dir()), 3))
def test_tables_of_pyiceberg(spark: SparkSession, tmp_path: Path, name: str) -> None:
    root = moved(PYICEBERG / name, tmp_path / name)
    table = open_table(str(root))
    heads = table.heads()
    snapshots = heads.document["snapshots"]
    assert snapshots
    for snapshot in snapshots:
        of, rows = frame(spark, table, str(snapshot["snapshot-id"]))
        assert len(of.native) == of.files > 0
        wanted = by_hand(root, snapshot)
        assert in_order(rows) == in_order(wanted)
        assert len(rows) == int(snapshot["summary"]["total-records"])
    _, in_tasks = frame(spark, table, str(snapshots[-1]["snapshot-id"]), by_jvm=False)
    assert in_order(in_tasks) == in_order(by_hand(root, snapshots[-1]))


def test_points_of_all_kinds(spark: SparkSession, tmp_path: Path) -> None:
    root = moved(PYICEBERG / "tags_branches", tmp_path / "shop")
    table = open_table(str(root))
    history = table.history()
    tags = [ref.name for ref in history.heads.refs if not ref.is_branch]
    both = "select count(*) as n, (select count(*) from shop_before) as m from shop"
    for at, before in (("latest", "branch:audit"), (f"tag:{tags[0]}", "latest~1"), ("time:1900000000000", "earliest")):
        answer = query(table, both, at=at, before=before)
        points = [resolve(table.heads(), each) for each in (at, before)]
        sizes = [len(by_hand(root, each.snapshot.fields)) for each in points]
        assert list(answer.table.to_pylist()[0].values()) == sizes
        assert answer.files_read == answer.files_live > 0
        assert answer.bytes_read == sum(int(history.totals.bytes[history.position(each.point)]) for each in points)
    assert "files" in answer.note


def test_one_metadata_file_by_its_path(spark: SparkSession, tmp_path: Path) -> None:
    root = moved(PYICEBERG / "append_history", tmp_path / "t")
    old = sorted((root / "metadata").glob("*.metadata.json"))[2]
    assert query(open_table(str(old)), "select count(*) as n from t").table.to_pylist() == [{"n": 20}]
    assert query(open_table(str(root)), "select count(*) as n from t").table.to_pylist() == [{"n": 60}]


def test_a_filter_goes_by_the_column_not_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    """Spark hands filters down to a file by name; `v` is another column in the old file."""
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1, 2], "v": ["a", "b"]}))
    table.evolve([(1, "id", "long"), (3, "v", "string"), (2, "old", "string"), (4, "n", "int")])
    table.commit(table.data({"id": [3], "v": ["a"], "old": [None], "n": [1]}))
    opened = open_table(str(table.root))
    of, _ = frame(spark, opened, "latest")
    assert len(of.native) == 2
    for condition, wanted in (
        ("v is null", [1, 2]), ("v = 'a'", [3]), ("old = 'a'", [1]), ("old is null", [3]), ("n is null", [1, 2]),
        ("n = 1 and id > 2", [3]), ("v = 'b'", []),
    ):  # fmt: skip
        found = query(opened, f"select id from t where {condition} order by id").table["id"].to_pylist()
        assert found == wanted, condition


def test_what_the_jvm_reads_is_what_tasks_read(spark: SparkSession, tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [
        {"id": 11, "name": "x", "required": False, "type": "int"},
        {"id": 12, "name": "y", "required": False, "type": "date"}]}  # fmt: skip
    columns = [
        (1, "a", "int"), (2, "b", "float"), (3, "c", "decimal(5,2)"), (4, "d", "date"), (5, "e", "timestamp"),
        (6, "f", "timestamptz"), (7, "g", "fixed[2]"), (8, "h", struct), (10, "k", "boolean"),
        (9, "i", {"type": "list", "element-id": 13, "element-required": False, "element": "int"}),
    ]  # fmt: skip
    table = Written(tmp_path / "t", columns)
    moment = dt.datetime(1960, 1, 1, 1, 2, 3, 4)
    table.commit(table.data({
        "a": [1, None, -1, 1], "b": [0.5, None, float("nan"), -0.0], "c": [None, None, -1, 2], "d": [moment.date()] * 4,
        "e": [moment, None, moment, None], "f": [moment.replace(tzinfo=dt.UTC)] * 4, "g": [b"ab", None, b"\0\0", b"xy"],
        "h": [{"x": 1, "y": None}, None, {"x": None, "y": moment.date()}, None], "i": [[1, None], [], None, [2]],
        "k": [True, False, None, None],
    }))  # fmt: skip
    wider = {1: "long", 2: "double", 3: "decimal(9,2)", 4: "timestamp"}
    more = struct | {"fields": [*struct["fields"][::-1], {"id": 15, "name": "z", "required": False, "type": "int"}]}
    table.evolve([(id, name + "2", wider.get(id, of)) for id, name, of in columns if id != 8] + [(14, "a", "int")])
    table.publish()
    opened = open_table(str(table.root))
    of, by_jvm = frame(spark, opened, "latest")
    assert len(of.native) == 1
    assert repr(frame(spark, opened, "latest", by_jvm=False)[1]) == repr(by_jvm)
    of, by_jvm = frame(spark, opened, "1")
    assert len(of.native) == 1
    assert repr(frame(spark, opened, "1", by_jvm=False)[1]) == repr(by_jvm)
    table.evolve([(8, "h", more)])
    table.publish()
    of, rows = frame(spark, opened, "latest")
    assert not of.native, "the struct has a field that the file may lack"
    assert [row["h"] for row in rows][:2] == [{"y": None, "x": 1, "z": None}, None]


def test_sizes_of_columns_that_a_file_was_rewritten_without(spark: SparkSession, tmp_path: Path) -> None:
    """Manifests may still tell them: the file alone knows. What is missing comes from its partition or a default."""
    inner = {"type": "struct", "fields": [
        {"id": 11, "name": "x", "required": False, "type": "int"},
        {"id": 12, "name": "y", "required": False, "type": "decimal(38,4)"}]}  # fmt: skip
    part = [{"name": "v", "transform": "identity", "source-id": 2, "field-id": 1000},
            {"name": "y", "transform": "identity", "source-id": 12, "field-id": 1001,
             "avro": "decimal(38,4)"}]  # fmt: skip
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "v", "string"), (3, "s", inner)], part, version=3)
    kept = pa.struct([arrow_field(11, "x", "int")])
    x = pa.table([pa.array([1, 2]), pa.array([{"x": 7}, None], kept)],
                 schema=pa.schema([arrow_field(1, "id", "long"),
                                   pa.field("s", kept, metadata={"PARQUET:field_id": "3"})]))  # fmt: skip
    most = Decimal("-9999999999999999999999999999999999.9999")
    table.commit(
        table.data(x, partition={1000: "a", 1001: most}) | {"sizes": [1, 2, 3, 11, 12]},
        table.data({"id": [3], "v": ["b"], "s": [{"x": 1, "y": None}]}, partition={1000: "b", 1001: None}),
    )
    opened = open_table(str(table.root))
    wanted = [{"id": 1, "v": "a", "s": {"x": 7, "y": most}}, {"id": 2, "v": "a", "s": None},
              {"id": 3, "v": "b", "s": {"x": 1, "y": None}}]  # fmt: skip
    for by_jvm in (True, False):
        _, rows = frame(spark, opened, "latest", by_jvm=by_jvm)
        assert sorted(rows, key=lambda row: row["id"]) == wanted
    assert query(opened, "select v from t where v = 'a'").table["v"].to_pylist() == ["a", "a"]
    assert query(opened, "select count(id) n from t").table.to_pylist() == [{"n": 3}]
    table.evolve([(1, "id", "long"), (2, "v", "string"), (5, "d", "int")], {5: 9})
    table.commit(table.data({"id": [4], "v": ["c"]}, partition={1000: "c", 1001: None}) | {"sizes": [1, 2, 5]})
    found = query(opened, "select id, d from t order by id").table["d"].to_pylist()
    assert found == [9, 9, 9, 9], "the default of a column that no file has"


def test_footers_are_read_once_and_of_files_that_are_asked_for(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = [{"name": "v", "transform": "identity", "source-id": 2, "field-id": 1000}]
    table = Written(tmp_path / "t", IDS, part)
    table.commit(*(table.data({"id": [n], "v": [f"v{n}"]}, partition={1000: f"v{n}"}, bounds=[1]) for n in range(4)))
    read: list[str] = []
    look = footers._opened
    monkeypatch.setattr(footers, "_opened", lambda local, path: read.append(path) or look(local, path))
    opened = open_table(str(table.root))

    def ask(sql: str) -> int:
        read.clear()
        query(opened, sql)
        return len(read)

    assert ask("select id from t") == 1, "whether files of the commit have ids"
    assert ask("select v from t where id = 2") == 1 + 1, "another one of the commit, for the ids"
    assert ask("select v from t") == 3, "what was looked at is known"
    assert ask("select * from t") == 0


def test_names_that_mean_something_to_others(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t {a}*?[b]%20", IDS)
    names = ["_hidden.parquet", ".dot.parquet", "k=v,{x}*?[y]^.parquet", "p%3D 1#ü.parquet", "line\nbreak.parquet"]
    (table.root / "data" / "id=7").mkdir()
    files = [table.data({"id": [n], "v": [name]}, name=name) for n, name in enumerate([*names, "id=7/x.parquet"])]
    table.commit(*files, table.positions([(files[3], 0)], referenced=files[3]["path"]))
    table.commit(files[3] | {"sequence": 2}, without=[files[3]])
    opened = open_table(str(table.root))
    for at in ("latest", "1"):
        of, rows = frame(spark, opened, at)
        assert sorted(row["id"] for row in rows) == [0, 1, 2, *([3] if at == "latest" else []), 4, 5]
        assert len(of.native) == (3 if at == "latest" else 2)


def test_all_deletes_in_sql(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, version=3)
    one, two, three = (table.data({"id": [n, n + 1, n + 2], "v": ["a", "b", None]}) for n in (1, 4, 7))
    table.commit(one, two, three)
    table.commit(table.positions([(one, 0), (three, 2)]), table.vector(two, [1]))
    table.commit(table.equality({"v": [None]}), table.data({"id": [10], "v": [None]}))
    found = query(open_table(str(table.root)), "select id, v from t order by id", before="1")
    assert found.table["id"].to_pylist() == [2, 4, 7, 8, 10]
    diff = query(open_table(str(table.root)), "select id from t_before except select id from t", before="1")
    assert sorted(diff.table["id"].to_pylist()) == [1, 3, 5, 6, 9]


def test_rows_that_differ_are_counted_as_whole_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS, version=3)
    one, two, three = (table.data({"id": [n, n, n + 2], "v": ["a", "a", None]}) for n in (1, 4, 7))
    table.commit(one, two, three, table.vector(three, [2]))
    table.commit(table.vector(one, [0]), table.data({"id": [7, 9], "v": ["a", "new"]}))
    opened = open_table(str(table.root))
    history = opened.history()

    def between(a: str, b: str) -> RowDiff:
        return row_diff(opened, history, *(resolve(history.heads, each) for each in (a, b)))

    found = between("1", "2")
    assert (found.files_read, found.files_live, found.key) == (2, 4, ())
    assert [(each.kind, each.after or each.before, each.times) for each in found.changes] == [
        ("removed", {"id": 1, "v": "a"}, 1), ("added", {"id": 7, "v": "a"}, 1), ("added", {"id": 9, "v": "new"}, 1),
    ]  # fmt: skip
    assert found.stat_line == "2 added, 1 removed, 0 changed, 7 unchanged"
    table.commit(table.equality({"id": [4]}))
    table.evolve([(2, "renamed", "string"), (1, "id", "long"), (3, "n", "int")])
    table.publish()
    opened = open_table(str(table.root))
    history = opened.history()
    found = between("2", "latest")
    assert (found.added, found.removed, found.files_read) == (0, 2, 4)
    assert not found.truncated
    assert between("3", "3").unchanged is None, "equality deletes are not counted without reading"


def test_files_that_a_condition_rules_out_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    columns = [
        (1, "id", "long"), (2, "v", "string"), (3, "d", "date"), (4, "e", "decimal(9,2)"), (5, "t", "timestamp"),
        (6, "b", "boolean"), (7, "u", "uuid"),
    ]  # fmt: skip
    table = Written(tmp_path / "t", columns)
    day = dt.datetime(2026, 1, 1)
    files = [
        table.data({
            "id": [10 * n, 10 * n + 1], "v": [f"v{n}", None], "d": [(day + dt.timedelta(n)).date()] * 2,
            "e": [Decimal(n) - 1, None], "t": [None, day + dt.timedelta(hours=n)], "b": [n > 1, n > 1],
            "u": [bytes([n] * 16)] * 2,
        }, bounds=[1, 2, 3, 4, 5, 6])
        for n in range(4)
    ]  # fmt: skip
    table.commit(*files, table.data({"id": [99], "v": ["v9"]}))
    table.commit(table.equality({"id": [10]}), table.positions([(files[2], 0)], referenced=files[2]["path"]))
    opened = open_table(str(table.root))
    history = opened.history()
    for condition, read, ids in (
        ("true", 5, [0, 1, 11, 21, 30, 31, 99]), ("id = 11", 2, [11]), ("id > 20", 3, [21, 30, 31, 99]),
        ("v = 'v2'", 2, []), ("v is null", 5, [1, 11, 21, 31]), ("v like 'v3%'", 2, [30]), ("e = 0", 2, []),
        ("d between '2026-01-02' and '2026-01-03'", 3, [11, 21]), ("e < -0.5", 2, [0]),
        ("b = true and id < 25", 4, [21]),
        ("t >= timestamp_ntz '2026-01-01 03:00:00'", 2, [31]), ("t < timestamp_ntz '2025-01-01'", 1, []),
        ("u = '03030303-0303-0303-0303-030303030303'", 5, [30, 31]), ("id = 11 or v = 'v9'", 2, [11, 99]),
        ("id in (0, 99)", 2, [0, 99]), ("false", 0, []),
    ):  # fmt: skip
        answer = query(opened, f"select id from t where {condition} order by id", history=history)
        assert answer.table["id"].to_pylist() == ids, condition
        assert (answer.files_read, answer.files_live) == (read, 5), condition
        assert bool(answer.bytes_read) == bool(read), condition


def test_its_metadata_tables(spark: SparkSession, tmp_path: Path) -> None:
    root = moved(PYICEBERG / "tags_branches", tmp_path / "t")
    opened = open_table(str(root))
    document = opened.heads().document

    def asked(statement: str, at: str = "latest") -> list[dict[str, Any]]:
        return query(opened, statement, at=at).table.to_pylist()

    assert {row["name"]: (row["type"], row["snapshot_id"]) for row in asked("select * from `t$refs`")} == {
        name: (ref["type"].upper(), ref["snapshot-id"]) for name, ref in document["refs"].items()
    }
    (counts,) = asked(
        "select (select count(*) from `t$snapshots`) s, (select count(*) from `t$history`) h, "
        "(select count(*) from `t$metadata_log_entries`) m, (select count_if(is_current_ancestor) from `t$history`) a"
    )
    logged = [each["snapshot-id"] for each in document["snapshot-log"]]
    assert counts == {
        "s": len(document["snapshots"]), "h": len(logged), "m": len(document["metadata-log"]) + 1, "a": len(logged),
    }  # fmt: skip
    for at in ("latest", "branch:audit", "earliest"):
        point = resolve(opened.heads(), at)
        (sums,) = asked(
            "select (select sum(record_count) from `t$data_files`) d, (select count(*) from `t$delete_files`) e, "
            "(select sum(file_count) from `t$partitions`) p, (select count(*) from `t$files`) f, "
            "(select sum(added_files_count + existing_files_count) from `t$manifests`) m",
            at,
        )
        files = int(point.snapshot.fields["summary"]["total-data-files"])
        assert sums == {"d": point.snapshot.total_rows, "e": 0, "p": files, "f": files, "m": files}
    table = Written(tmp_path / "w", IDS)
    file = table.data({"id": [1], "v": ["a"]})
    table.commit(file, table.positions([(file, 0)], referenced=file["path"]))
    (found,) = query(open_table(str(table.root)), "select * from `w$delete_files`").table.to_pylist()
    assert (found["content"], found["record_count"]) == ("position-deletes", 1)
    assert found["referenced_data_file"] == "data/f1.parquet"
    assert found["sequence_number"] == 1


def test_a_table_over_the_net_is_read_in_tasks(spark: SparkSession, tmp_path: Path) -> None:
    with serving(tmp_path) as at:
        table = Written(tmp_path / "w" / "t", IDS)
        file = table.data({"id": [1, 2, 3], "v": ["a", "b", "c"]})
        table.commit(file, table.positions([(file, 2)]))
        table.commit(table.equality({"v": ["a"]}))
        moved_to(table, f"{at}/w/t")
        opened = open_table(f"{at}/w/t")
        of, rows = frame(spark, opened, "latest")
        assert not of.native
        assert rows == [{"id": 2, "v": "b"}]


def moved_to(table: Written, location: str) -> None:
    """The table as if it had been written under another location."""

    own = str(table.root)
    for path in table.root.glob("metadata/*.avro"):
        schema, records, metadata = read_avro(path)
        write_avro(path, schema, json.loads(json.dumps(records).replace(own, location)), metadata)
    for path in table.root.glob("metadata/*.json"):
        path.write_text(path.read_text().replace(own, location))
    for path in table.root.glob("data/*.parquet"):
        found = parquet.read_table(path, partitioning=None)
        if found.column_names[0] == "file_path":
            renamed = pa.array([each.replace(own, location) for each in found["file_path"].to_pylist()])
            parquet.write_table(found.set_column(0, found.schema.field(0), renamed), path)


# what is refused --------------------------------------------------------------------------------------------------


def test_files_without_ids(spark: SparkSession, tmp_path: Path) -> None:
    """Beside files with ids; by what they are read is told with the answer, unless the table says it."""
    table = Written(tmp_path / "t", IDS)
    bare = table.data({"id": [1], "v": ["a"]}, ids=False)
    table.commit(bare)
    table.commit(table.data({"id": [2], "v": ["b"]}))
    for mapping, first in ({}, "a"), ({"schema.name-mapping.default": '[{"field-id": 1, "names": ["id"]}]'}, None):
        table.properties = mapping
        table.publish()
        answer = query(open_table(str(table.root)), "select * from t order by id")
        assert answer.table.to_pylist() == [{"id": 1, "v": first}, {"id": 2, "v": "b"}]
        assert [("by their place" in each, bare["path"].rpartition("/")[2] in each) for each in answer.differs] == (
            [] if mapping else [(True, True)]
        )


def test_a_column_that_cannot_be_shown_takes_no_other_away(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    file = table.data({"id": [1, 2], "v": ["a", "b"]})
    table.commit(file)
    table.commit(table.data({"id": [3], "v": ["c"]}), table.positions([(file, 0)]))
    table.evolve([*IDS, (3, "odd", "money")])
    table.publish()
    opened = open_table(str(table.root))
    assert query(opened, "select count(*) as n from t").table.to_pylist() == [{"n": 2}]
    assert query(opened, "select id, v from t order by id").table.to_pylist() == [
        {"id": 2, "v": "b"}, {"id": 3, "v": "c"}]  # fmt: skip
    for sql in ("select * from t", "select id from t where odd = 'x'"):
        with pytest.raises(Unsupported, match="Column 'odd' has type money"):
            query(opened, sql)


def test_columns_that_differ_only_in_case(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "a", "long"), (2, "A", "string")])
    table.commit(table.data({"a": [1], "A": ["x"]}))
    opened = open_table(str(table.root))
    assert query(opened, "select * from t").table.to_pylist() == [{"a": 1, "A": "x"}]
    assert query(opened, "select A, a + 1 as b from t where A = 'x'").table.to_pylist() == [{"A": "x", "b": 2}]


def test_a_table_without_snapshots_has_columns_and_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [*IDS, (3, "t", "time"), (4, "x", "variant"), (5, "n", "unknown")])
    table.publish()
    answer = query(open_table(str(table.root)), "select * from t")
    assert answer.table.to_pylist() == []
    assert answer.table.column_names == ["id", "v", "t", "x", "n"]
    assert query(open_table(str(table.root)), "select count(*) as n from t").table.to_pylist() == [{"n": 0}]


def test_times_and_variants(spark: SparkSession, tmp_path: Path) -> None:
    """In files that the JVM reads, and beside deletes."""
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "x", "variant"), (3, "t", "time")])
    variants = [{"value": bytes.fromhex("0561"), "metadata": bytes.fromhex("010000")}, None]
    schema = pa.schema([
        arrow_field(1, "id", "long"),
        pa.field("x", pa.struct([("metadata", pa.binary()), ("value", pa.binary())]), metadata=_id(2)),
        pa.field("t", pa.time64("us"), metadata=_id(3)),
    ])  # fmt: skip
    at = dt.time(1, 2, 3, 4)
    file = table.file(pa.table([[1, 2], variants, [at, None]], schema=schema), 0)
    table.commit(file)
    opened = open_table(str(table.root))
    wanted = [{"id": 1, "x": "a", "t": at}, {"id": 2, "x": None, "t": None}]
    assert query(opened, "select * from t order by id").table.to_pylist() == wanted
    assert query(opened, "select x from t order by id").table.to_pylist() == [{"x": "a"}, {"x": None}]
    assert query(opened, "select id from t where t > time '01:00:00'").table.to_pylist() == [{"id": 1}]
    table.commit(table.positions([(file, 0)]))
    assert query(opened, "select * from t").table.to_pylist() == wanted[1:]


def test_shredded_variants_beside_deletes(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", [(1, "id", "long"), (2, "x", "variant")])
    apart = pa.struct([("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int32())])
    schema = pa.schema([arrow_field(1, "id", "long"), pa.field("x", apart, metadata=_id(2))])
    metadata = bytes.fromhex("010000")
    values = [
        {"metadata": metadata, "value": None, "typed_value": 300},
        {"metadata": metadata, "value": bytes.fromhex("0561"), "typed_value": None},
        None,
    ]
    file = table.file(pa.table([[1, 2, 3], values], schema=schema), 0)
    table.commit(file)
    opened = open_table(str(table.root))
    wanted = [{"id": 1, "x": "300"}, {"id": 2, "x": "a"}, {"id": 3, "x": None}]
    assert query(opened, "select * from t order by id").table.to_pylist() == wanted
    table.commit(table.positions([(file, 1)]))
    assert query(opened, "select * from t order by id").table.to_pylist() == [wanted[0], wanted[2]]


def _id(number: int) -> dict[str, str]:
    return {"PARQUET:field_id": str(number)}


def test_files_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    files = [table.data({"id": [n], "v": ["a"]}) for n in range(2)]
    table.commit(*files)
    deletes = table.positions([(files[0], 0)])
    table.commit(deletes)
    opened = open_table(str(table.root))
    Path(files[1]["path"]).unlink()
    for at in ("1", "2"):
        with pytest.raises(NotFound, match="does not exist") as caught:
            query(opened, "select * from t", at=at)
        assert caught.value.path
    Path(deletes["path"]).unlink()
    with pytest.raises(NotFound, match="does not exist"):
        query(opened, "select * from t")


def test_data_files_that_are_no_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Some writers list their index files as data. Iceberg's own readers reject them as well."""
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1], "v": ["a"]}) | {"format": "PUFFIN"})
    with pytest.raises(Unsupported, match="Files of the format 'puffin' cannot be read here") as caught:
        query(open_table(str(table.root)), "select * from t")
    remedy = str(caught.value.remedy)
    assert "Read it with the engine that wrote it." in remedy
    assert "Iceberg's own runtime" not in remedy


def test_manifests_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    """Engines do not open one in which no file is live, of data or of deletes."""
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1], "v": ["a"]}))
    path = tmp_path / "t" / "metadata" / "snap-1.avro"
    schema, rows, metadata = read_avro(path)
    gone = rows[0] | {"manifest_path": str(path.with_name("gone.avro")), "added_files_count": 0}
    deletes = gone | {"manifest_path": str(path.with_name("gone-deletes.avro")), "content": 1}
    write_avro(path, schema, [*rows, gone, deletes], metadata)
    opened = open_table(str(table.root))
    assert query(opened, "select * from t").table.to_pylist() == [{"id": 1, "v": "a"}]
    write_avro(path, schema, [*rows, gone | {"existing_files_count": 1}], metadata)
    with pytest.raises(Corrupt, match="does not exist"):
        query(open_table(str(table.root)), "select * from t")


@pytest.mark.parametrize(
    ("break_it", "error", "says"),
    [
        (lambda t, f: t.commit(t.vector(f, [0]) | {"records": 2}), Corrupt, "expected 2 rows, found 1"),
        (
            lambda t, f: t.commit(t.positions([(f"file://{f['path']}", 0)])),
            Corrupt,
            (
                r", which the table's manifests write differently \(scheme or host\), so engines that "
                "compare locations as text would bring deleted rows back."
            ),
        ),
        (lambda t, f: t.evolve([*IDS, (3, "x", "money")]) or t.publish(), Unsupported, "money"),
        (lambda t, f: t.commit(t.data({"id": [1]}) | {"format": "LANCE"}), Unsupported, "lance"),
        (lambda t, f: t.evolve([(1, "id", "date")]) or t.publish(), SnapscopeError, "id"),
    ],
)
def test_what_is_refused_is_said_to_who_asks(
    spark: SparkSession, tmp_path: Path, break_it: Any, error: type[SnapscopeError], says: str
) -> None:
    table = Written(tmp_path / "t", IDS)
    file = table.data({"id": [1], "v": ["a"]})
    table.commit(file)
    break_it(table, file)
    with pytest.raises(error, match=says):
        query(open_table(str(table.root)), "select * from t")
    assert query(open_table(str(table.root)), "select * from t", at="1").table.to_pylist() == [{"id": 1, "v": "a"}]


def test_what_only_paimon_has(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    table.commit(table.data({"id": [1], "v": ["a"]}))
    opened = open_table(str(table.root))
    with pytest.raises(Unsupported, match="t_changes"):
        query(opened, "select * from t_changes", since="1")
    with pytest.raises(Unsupported, match="audit_log"):
        query(opened, "select * from `t$audit_log`")
    with pytest.raises(Invalid, match="not an opened table"):
        query(opened, "select * from other")


def test_no_rows_at_all(spark: SparkSession, tmp_path: Path) -> None:
    table = Written(tmp_path / "t", IDS)
    file = table.data({"id": [1], "v": ["a"]})
    table.commit(file)
    table.commit(without=[file])
    answer = query(open_table(str(table.root)), "select count(*) as n, max(v) as v from t")
    assert answer.table.to_pylist() == [{"n": 0, "v": None}]
    assert answer.files_live == 0


def test_tasks_read_only_the_columns_that_a_statement_makes_use_of(spark: SparkSession, tmp_path: Path) -> None:
    """What is not needed may even be unreadable: here a column that a file stores as another type."""
    columns = [*IDS, (3, "n", "long"), (4, "odd", "long")]
    table = Written(tmp_path / "t", columns)
    arrow = pa.schema([arrow_field(*each) for each in (*columns[:3], (4, "odd", "string"))])
    files = [
        table.data(pa.table([[i, i + 1, i + 2], [f"v{i % 2}", "x", "y"], [i, None, 7], ["a", "b", "c"]], schema=arrow))
        for i in range(0, 9, 3)
    ]
    first = table.commit(*files)
    table.commit(table.positions([(files[0], 0)]), table.vector(files[1], [1, 2]), table.equality({"v": ["y"]}))
    opened = open_table(str(table.root))

    def answer(sql: str) -> list[tuple[Any, ...]]:
        rows = query(opened, sql, before=str(first)).table.to_pylist()
        return sorted((tuple(row.values()) for row in rows), key=repr)

    # rows left: (1, x, null) of the first file, (3, v1, 3) of the second, (6, v0, 6) and (7, x, null) of the third
    for sql, wanted in {
        "SELECT count(*) FROM t": [(4,)],
        "SELECT count(n), sum(id) FROM t": [(2, 17)],
        "SELECT id FROM (SELECT * FROM t) WHERE n IS NULL": [(1,), (7,)],
        "SELECT v, count(1) c FROM t GROUP BY v": [("v0", 1), ("v1", 1), ("x", 2)],
        "SELECT DISTINCT v FROM t": [("v0",), ("v1",), ("x",)],
        "SELECT id, v FROM t UNION ALL SELECT n, v FROM t WHERE n > 3": [
            (1, "x"), (3, "v1"), (6, "v0"), (6, "v0"), (7, "x"),
        ],
        "SELECT id, row_number() OVER (PARTITION BY v ORDER BY n DESC, id) r FROM t": [(1, 1), (3, 1), (6, 1), (7, 2)],
        "SELECT b.id FROM t_before b LEFT ANTI JOIN t ON b.id = t.id": [(0,), (2,), (4,), (5,), (8,)],
        "SELECT id FROM t WHERE EXISTS (SELECT * FROM t_before b WHERE b.n = t.id)": [(3,), (6,), (7,)],
        "SELECT (SELECT max(n) FROM t) m, count(*) OVER () c FROM t LIMIT 1": [(6, 4)],
        "SELECT id FROM t ORDER BY v, id DESC LIMIT 2": [(3,), (6,)],
        "WITH w AS (SELECT id, v, n + 1 n FROM t) SELECT n FROM w WHERE v LIKE 'v%'": [(4,), (7,)],
        "SELECT id FROM t WHERE v < cast(current_date() AS string) OR true": [(1,), (3,), (6,), (7,)],
    }.items():  # fmt: skip
        if "current_date" in sql:
            with pytest.raises(Corrupt, match="odd"):  # what the clock says may decide what is needed: all is
                answer(sql)
        else:
            assert answer(sql) == wanted, sql
    for sql in ("SELECT * FROM t", "SELECT count(odd) FROM t", "SELECT id FROM t WHERE odd > 1", "TABLE t"):
        with pytest.raises(Corrupt, match="odd"):
            answer(sql)
