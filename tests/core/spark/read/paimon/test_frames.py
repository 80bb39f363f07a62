"""Files as rows: by field id, with the partition values of the manifest, and exactly the requested files."""

from __future__ import annotations

import datetime as dt
import os
import zipfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from core.errors import Corrupt, NotFound, Unsupported
from core.formats.paimon import binary_row
from core.model.references import Field, Schema
from core.spark.query.query import query
from core.spark.read.paimon import arrow_files, python_files
from core.spark.read.paimon import frames as read
from core.spark.session.refusals import refusal
from core.spark.session.task_errors import received
from core.storage.store import Store
from core.table import open_table
from tests.support.spark.stored import Stored

UTC = dt.UTC
Column = tuple[int, str, Any]


def schema(number: int, *columns: Column, partition: Sequence[str] = (), **more: Any) -> Schema:
    fields = tuple(Field(*column) for column in columns)
    return Schema(number, fields, tuple(partition), more.get("primary", ()), more.get("options", {}), 0)


class Table:
    """A directory of files and the list of them."""

    def __init__(self, root: Path, *schemas: Schema) -> None:
        self.root, self.schemas = root, {each.id: each for each in schemas}
        self.rows: list[dict[str, Any]] = []

    def add(self, path: str, content: pa.Table, schema_id: int = 0, partition: tuple[Any, ...] = ()) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(content, full)
        self.named(path, schema_id, partition)

    def named(self, path: str, schema_id: int = 0, partition: tuple[Any, ...] = ()) -> None:
        of = self.schemas[schema_id]
        types = [next(f.type for f in of.fields if f.name == key) for key in of.partition_keys]
        stored = binary_row.encode(partition, types)
        form = path.rpartition(".")[2]
        row = {"path": path, "schema_id": schema_id, "format": form, "partition_bytes": stored}
        self.rows.append({**row, "bytes": (self.root / path).stat().st_size if (self.root / path).exists() else 1})

    def frame(self, spark: SparkSession, at: int | None = None, store: Store | None = None, **more: Any) -> Any:
        files = pa.Table.from_pylist(
            self.rows,
            pa.schema(
                {
                    "path": pa.string(),
                    "schema_id": pa.int64(),
                    "format": pa.string(),
                    "partition_bytes": pa.binary(),
                    "bytes": pa.int64(),
                }
            ),
        )
        point = self.schemas[max(self.schemas) if at is None else at]
        return read.frame(spark, store or Store(str(self.root)), point, self.schemas, files, **more)


def tuples(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_columns_are_found_by_their_id(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(
        tmp_path,
        schema(0, (0, "id", "INT"), (1, "a", "STRING"), (2, "b", "INT"), (3, "c", "DOUBLE"), (4, "x.y", "INT")),
        # a renamed to b, b dropped, c dropped and added again as another column, one new column, id widened
        schema(1, (6, "new", "DATE"), (0, "id", "BIGINT"), (1, "b", "STRING"), (5, "c", "DOUBLE"), (4, "x.y", "INT")),
    )
    old = {"id": pa.array([1, 2], pa.int32()), "a": ["one", "two"], "b": pa.array([7, 8], pa.int32())}
    table.add("bucket-0/o.parquet", pa.table({**old, "c": [0.1, 0.2], "x.y": pa.array([5, 6], pa.int32())}), 0)
    new = {"id": [3], "new": [dt.date(2026, 1, 1)], "b": ["three"], "c": [0.3], "x.y": pa.array([7], pa.int32())}
    table.add("bucket-0/n.parquet", pa.table(new), 1)
    found = table.frame(spark)
    assert found.columns == ["new", "id", "b", "c", "x.y"]
    assert dict(found.dtypes)["id"] == "bigint"
    assert tuples(found) == [
        (None, 1, "one", None, 5),
        (None, 2, "two", None, 6),
        (dt.date(2026, 1, 1), 3, "three", 0.3, 7),
    ]
    table.rows.pop()
    assert tuples(table.frame(spark, 0)) == [(1, "one", 7, 0.1, 5), (2, "two", 8, 0.2, 6)]


@pytest.mark.parametrize(
    ("old", "new", "stored", "found"),
    [
        ("TINYINT", "SMALLINT", pa.array([1], pa.int8()), 1),
        ("INT", "DECIMAL(12, 2)", pa.array([5], pa.int32()), Decimal("5.00")),
        ("INT", "DOUBLE", pa.array([5], pa.int32()), 5.0),
        ("FLOAT", "DOUBLE", pa.array([0.5], pa.float32()), 0.5),
        ("DECIMAL(5, 2)", "DECIMAL(20, 4)", pa.array([Decimal("1.25")]), Decimal("1.2500")),
        ("CHAR(3)", "STRING", pa.array(["abc"]), "abc"),
        ("BINARY(2)", "BYTES", pa.array([b"ab"]), bytearray(b"ab")),
        ("BIGINT", "STRING", pa.array([5]), "5"),
        ("BOOLEAN", "STRING", pa.array([True]), "true"),
        ("DATE", "STRING", pa.array([dt.date(2026, 1, 2)]), "2026-01-02"),
        ("DATE", "TIMESTAMP(6)", pa.array([dt.date(2026, 1, 2)]), dt.datetime(2026, 1, 2)),
        (
            "TIMESTAMP(3)",
            "TIMESTAMP(6)",
            pa.array([dt.datetime(2026, 1, 2)], pa.timestamp("ms")),
            dt.datetime(2026, 1, 2),
        ),
    ],
)
def test_widened_columns_are_converted(
    spark: SparkSession, tmp_path: Path, old: str, new: str, stored: Any, found: Any
) -> None:
    table = Table(tmp_path, schema(0, (0, "v", old)), schema(1, (0, "v", new)))
    table.add("bucket-0/f.parquet", pa.table({"v": stored}))
    assert tuples(table.frame(spark)) == [(found,)]


@pytest.mark.parametrize(
    ("old", "new"),
    [("STRING", "INT"), ("BIGINT", "INT"), ("DOUBLE", "STRING"), ("BIGINT", "DOUBLE"), ("ARRAY<INT>", "ARRAY<BIGINT>")],
)
def test_other_changes_of_type_are_refused_by_name(spark: SparkSession, tmp_path: Path, old: str, new: str) -> None:
    table = Table(tmp_path, schema(0, (0, "odd", old)), schema(1, (0, "odd", new)))
    table.named("bucket-0/f.parquet")
    with pytest.raises(Unsupported) as caught:
        table.frame(spark)
    assert f"'odd' was changed from {old} to {new}" in str(caught.value)


def row(*fields: Column) -> dict[str, Any]:
    return {"type": "ROW", "fields": [{"id": i, "name": n, "type": t} for i, n, t in fields]}


def test_fields_of_nested_rows_are_found_by_their_id(spark: SparkSession, tmp_path: Path) -> None:
    inner = row((3, "p", "INT"), (4, "q", "INT"))
    changed = row((4, "p", "BIGINT"), (5, "q", "INT"))
    table = Table(
        tmp_path,
        schema(0, (0, "r", row((1, "a", "STRING"), (2, "n", inner)))),
        schema(1, (0, "r", row((2, "n", changed), (1, "b", "STRING")))),
    )
    stored = [{"a": "x", "n": {"p": 1, "q": 2}}, None, {"a": None, "n": None}]
    of = pa.struct({"a": pa.string(), "n": pa.struct({"p": pa.int32(), "q": pa.int32()})})
    table.add("bucket-0/f.parquet", pa.table({"r": pa.array(stored, of)}))
    found = [None if each.r is None else each.r.asDict(recursive=True) for each in table.frame(spark).collect()]
    assert found == [{"n": {"p": 2, "q": None}, "b": "x"}, None, {"n": None, "b": None}]


def test_partition_values_come_from_the_manifest(spark: SparkSession, tmp_path: Path) -> None:
    columns: list[Column] = [(0, "id", "INT"), (1, "dt", "DATE"), (2, "p", "STRING")]
    table = Table(tmp_path, schema(0, *columns, partition=["p", "dt"]))
    day = dt.date(2026, 1, 2)
    ids = {"id": pa.array([1], pa.int32())}
    table.add("p=wrong/dt=1/bucket-0/a.parquet", pa.table(ids), 0, ("right", day))  # migrated: no such columns
    table.add("p=x/dt=2/bucket-0/b.parquet", pa.table({**ids, "p": ["also wrong"], "dt": [day]}), 0, ("", None))
    table.add("p=x/dt=2/bucket-0/c.parquet", pa.table(ids), 0, (None, day))  # shares its directory
    table.add("p=a{b}*?[c],d e%/dt=2/bucket-0/d.parquet", pa.table(ids), 0, ("a{b}*?[c],d e%", day))
    assert tuples(table.frame(spark).select("id", "p", "dt")) == sorted(
        [(1, "right", day), (1, "", None), (1, None, day), (1, "a{b}*?[c],d e%", day)], key=repr
    )


def test_a_filter_on_the_partition_opens_no_other_file(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path, schema(0, (0, "id", "INT"), (1, "p", "STRING"), partition=["p"]))
    table.add("p=a/bucket-0/a.parquet", pa.table({"id": pa.array([1], pa.int32())}), 0, ("a",))
    (tmp_path / "p=b/bucket-0").mkdir(parents=True)
    (tmp_path / "p=b/bucket-0/b.parquet").write_bytes(b"no Parquet at all")
    table.named("p=b/bucket-0/b.parquet", 0, ("b",))
    assert tuples(table.frame(spark).where("p = 'a'")) == [(1, "a")]


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_both_zeros_are_found_by_a_filter(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """Statistics of files tell 0.0 from -0.0, a comparison does not: files are not left out by them."""
    inner = row((3, "y", "FLOAT"))
    table = Table(tmp_path, schema(0, (0, "id", "INT"), (1, "x", "DOUBLE"), (2, "r", inner)))
    (tmp_path / "bucket-0").mkdir()
    for id, zero in ((1, -0.0), (2, 0.0)):
        content = pa.table({
            "id": pa.array([id], pa.int32()), "x": [zero],
            "r": pa.array([{"y": zero}], pa.struct({"y": pa.float32()})),
        })  # fmt: skip
        path = f"bucket-0/{id}.{form}"
        (parquet.write_table if form == "parquet" else orc.write_table)(content, tmp_path / path)
        table.named(path)
    for column in ("x", "r.y"):
        for condition in (">= 0", "= 0", "<= double('-0.0')", "IN (0.0)"):
            assert tuples(table.frame(spark).where(f"{column} {condition}").select("id")) == [(1,), (2,)], condition


def test_exactly_the_named_files_are_read_and_making_the_frame_reads_none(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path, schema(0, (0, "id", "INT")))
    for number in range(100):
        table.add(f"bucket-0/{number}.parquet", pa.table({"id": pa.array([number], pa.int32())}))
    stray = tmp_path / "bucket-0" / "stray.parquet"
    os.link(tmp_path / "bucket-0" / "0.parquet", stray)
    context = spark.sparkContext
    context.setJobGroup("listing", "making the frame")
    found = table.frame(spark)
    jobs = context.statusTracker().getJobIdsForGroup("listing")
    context.setJobGroup("", "")
    assert list(jobs) == []
    assert tuples(found) == sorted([(number,) for number in range(100)], key=repr)


def test_what_is_not_there_or_would_be_left_out_is_told(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path, schema(0, (0, "id", "INT")))
    content = pa.table({"id": pa.array([1], pa.int32())})
    table.add("bucket-0/a.parquet", content)
    table.named("bucket-0/gone.parquet")
    with pytest.raises(NotFound) as caught:
        table.frame(spark)
    assert str(caught.value.path).endswith("bucket-0/gone.parquet")
    for name, says in (("bucket-0/_hidden.parquet", "hidden"), ("bucket-0/a\nb.parquet", "line break")):
        table.rows.pop()
        table.add(name, content)
        with pytest.raises(Unsupported, match=says):
            table.frame(spark)
    table.rows.pop()
    table.rows[0]["schema_id"] = 9
    with pytest.raises(Corrupt, match="schema 9"):
        table.frame(spark)
    table.rows.clear()
    assert tuples(table.frame(spark)) == []


def test_files_outside_of_the_table_are_read_where_they_lie(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path / "t", schema(0, (0, "id", "INT")))
    table.add("../else where/50%/a.parquet", pa.table({"id": pa.array([1], pa.int32())}))
    table.rows[0]["path"] = f"file:{tmp_path}/else where/50%/a.parquet"
    assert tuples(table.frame(spark)) == [(1,)]
    table.rows[0]["path"] = f"FILE:{tmp_path}/else where/50%/a.parquet"
    assert tuples(table.frame(spark)) == [(1,)]


def test_files_on_another_store_are_read_there(spark: SparkSession, tmp_path: Path) -> None:
    """In Python, which is told to look at that store; those beside them by the JVM."""
    table = Table(tmp_path / "t", schema(0, (0, "id", "INT")))
    table.add("a.parquet", pa.table({"id": pa.array([1], pa.int32())}))
    archive = tmp_path / "outside.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(tmp_path / "t" / "a.parquet", "b.parquet")
    elsewhere = Store(f"zip://::file://{archive}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "named", lambda url: elsewhere)
        found = python_files.source(Store(str(tmp_path / "t")), "s3://bucket/b.parquet")
    assert found == (tmp_path / "t" / "a.parquet").read_bytes()
    assert python_files.local_path(Store(str(tmp_path / "t")), "s3://bucket/b.parquet") is None
    table.rows.append({**table.rows[0], "path": "nosuch://bucket/b.parquet"})
    with pytest.raises(PythonException) as caught:
        tuples(table.frame(spark))
    assert isinstance(refusal(caught.value), Unsupported)
    assert "nosuch://bucket" in str(refusal(caught.value))


# other formats and stores -------------------------------------------------------------------------------------------

TYPES: tuple[Column, ...] = (
    (0, "a", "BOOLEAN"), (1, "b", "TINYINT"), (2, "c", "INT"), (3, "d", "BIGINT"), (4, "e", "FLOAT"),
    (5, "f", "DOUBLE"), (6, "g", "DECIMAL(20, 4)"), (7, "h", "STRING"), (8, "i", "BYTES"), (9, "j", "DATE"),
    (10, "k", "TIMESTAMP(3)"), (11, "l", "TIMESTAMP(6)"), (12, "m", "TIMESTAMP_LTZ(6)"), (13, "p", "STRING"),
)  # fmt: skip
VALUES: dict[str, Any] = {
    "a": True, "b": -3, "c": 7, "d": 2**40, "e": 0.5, "f": -0.25, "g": Decimal("-12345678901.2345"), "h": "Grüße",
    "i": b"\x00\xff", "j": dt.date(1500, 2, 28), "k": dt.datetime(2026, 3, 29, 2, 30, 0, 123000),
    "l": dt.datetime(2026, 3, 29, 2, 30, 0, 123456), "m": dt.datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=UTC),
}  # fmt: skip
ARROW = pa.schema(
    {
        "a": pa.bool_(), "b": pa.int8(), "c": pa.int32(), "d": pa.int64(), "e": pa.float32(), "f": pa.float64(),
        "g": pa.decimal128(20, 4), "h": pa.string(), "i": pa.binary(), "j": pa.date32(), "k": pa.timestamp("ms"),
        "l": pa.timestamp("us"), "m": pa.timestamp("us", "UTC"),
    }
)  # fmt: skip


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    parquet.write_table(pa.Table.from_pylist(list(rows), ARROW), path)


def write_orc(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    orc.write_table(pa.Table.from_pylist(list(rows), ARROW), path)


def write_avro(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """As Paimon does: a TIMESTAMP without a zone is marked like one with a zone."""
    logical: dict[str, Any] = {
        "a": "boolean", "b": "int", "c": "int", "d": "long", "e": "float", "f": "double", "h": "string", "i": "bytes",
        "g": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4},
        "j": {"type": "int", "logicalType": "date"}, "k": {"type": "long", "logicalType": "timestamp-millis"},
        "l": {"type": "long", "logicalType": "timestamp-micros"},
        "m": {"type": "long", "logicalType": "timestamp-micros"},
    }  # fmt: skip
    fields = [{"name": name, "type": ["null", of], "default": None} for name, of in logical.items()]
    stored = [{k: v.replace(tzinfo=UTC) if isinstance(v, dt.datetime) else v for k, v in each.items()} for each in rows]
    with open(path, "wb") as file:
        fastavro.writer(file, {"type": "record", "name": "record", "fields": fields}, stored, codec="zstandard")


@pytest.mark.parametrize("is_inside", [False, True])
def test_days_before_1582_in_orc(spark: SparkSession, tmp_path: Path, is_inside: bool) -> None:
    """Which Spark's own reader would move to another calendar."""
    days = [dt.date(1, 1, 1), dt.date(1500, 3, 1), dt.date(1582, 10, 10), dt.date(2026, 1, 1)]
    of = {"type": "ARRAY", "element": "DATE"} if is_inside else "DATE"
    table = Table(tmp_path, schema(0, (0, "d", of)))
    values = [[day] for day in days] if is_inside else days
    orc.write_table(
        pa.table({"d": pa.array(values, pa.list_(pa.date32()) if is_inside else pa.date32())}), tmp_path / "a.orc"
    )
    table.named("a.orc")
    assert [row["d"] for row in table.frame(spark).orderBy("d").collect()] == values


WRITERS = {"parquet": write_parquet, "orc": write_orc, "avro": write_avro}


def mixed(root: Path, form: str) -> Table:
    table = Table(root, schema(0, *TYPES, partition=["p"]))
    for part in ("x", None):
        (root / f"p={part}").mkdir(parents=True)
        path = f"p={part}/f.{form}"
        WRITERS[form](root / path, [VALUES, dict.fromkeys(VALUES)])
        table.named(path, 0, (part,))
    return table


def expected() -> list[tuple[Any, ...]]:
    naive = {**VALUES, "i": bytearray(VALUES["i"]), "m": VALUES["m"].replace(tzinfo=None)}
    full, empty = tuple(naive.values()), tuple(None for _ in naive)
    return sorted([(*values, part) for values in (full, empty) for part in ("x", None)], key=repr)


def in_utc(frame: Any) -> list[tuple[Any, ...]]:
    """Rows with instants as wall clocks of UTC: `collect` would show them in this machine's zone."""
    return tuples(frame.withColumn("m", frame.m.cast("timestamp_ntz")))


@pytest.mark.parametrize("form", WRITERS)
def test_every_format_gives_the_same_rows(spark: SparkSession, tmp_path: Path, form: str) -> None:
    assert in_utc(mixed(tmp_path, form).frame(spark)) == expected()


@pytest.mark.parametrize("form", WRITERS)
def test_files_on_other_stores_are_read_in_python(spark: SparkSession, tmp_path: Path, form: str) -> None:
    table = mixed(tmp_path, form)
    store = ReadAway(str(table.root))
    assert in_utc(table.frame(spark, store=store)) == expected()


class ReadAway(Store):
    """A store that says of itself that it is no local disk."""

    @property
    def is_local(self) -> bool:
        return False


def test_no_data_column_at_all_still_counts_rows(spark: SparkSession, tmp_path: Path) -> None:
    for form in WRITERS:
        table = mixed(tmp_path / form, form)
        table.schemas = {0: table.schemas[0], 1: schema(1, (13, "p", "STRING"), (20, "n", "INT"), partition=["p"])}
        for store in (None, ReadAway(str(table.root))):
            assert tuples(table.frame(spark, store=store)) == [("x", None)] * 2 + [(None, None)] * 2


def test_other_formats_are_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path, schema(0, (0, "list", "ARRAY<INT>")))
    table.named("bucket-0/f.lance")
    with pytest.raises(Unsupported, match="'lance'"):
        table.frame(spark)


@pytest.mark.parametrize("store", [None, ReadAway])
def test_types_that_are_only_shown(spark: SparkSession, tmp_path: Path, store: Any) -> None:
    of = schema(0, (0, "t", "TIME(3)"), (1, "j", "VARIANT"), (2, "f", "VECTOR<FLOAT, 2>"), (3, "m", "MULTISET<STRING>"),
                (4, "b", "BLOB"))  # fmt: skip
    table = Table(tmp_path, of)
    variant = {"value": bytes.fromhex("0c05"), "metadata": bytes.fromhex("010000")}
    descriptor = b"\x02CSEDBOLB" + (1).to_bytes(4, "little") + b"u" + bytes([3, *[0] * 7, 4, *[0] * 7])
    table.add("bucket-0/f.parquet", pa.table({
        "t": pa.array([3_723_004, None], pa.time32("ms")),
        "j": pa.array([variant, None]),
        "f": pa.array([[0.5, 1.5], None], pa.list_(pa.float32(), 2)),
        "m": pa.array([[("a", 2)], None], pa.map_(pa.string(), pa.int32())),
        "b": pa.array([descriptor, b"abc"], pa.binary()),
    }))  # fmt: skip
    frame = table.frame(spark, store=None if store is None else store(str(tmp_path)))
    found = frame.selectExpr("cast(t as string)", "cast(j as string)", "f", "map_entries(m)", "b.*").toArrow()
    assert [list(row.values()) for row in found.to_pylist()] == [
        ["01:02:03.004", "5", [0.5, 1.5], [{"key": "a", "value": 2}], "u", 3, 4], [None, None, None, None, "", 0, 3],
    ]  # fmt: skip
    assert frame.count() == 2


@pytest.mark.parametrize("store", [None, ReadAway])
def test_shredded_variants(spark: SparkSession, tmp_path: Path, store: Any) -> None:
    """Also inside of other columns, where a cast would drop the part that stands apart."""
    table = Table(
        tmp_path, schema(0, (0, "j", "VARIANT"), (1, "a", "ARRAY<VARIANT>"), (2, "r", row((3, "j", "VARIANT"))))
    )
    apart = {"metadata": bytes.fromhex("010000"), "value": None, "typed_value": 5}
    of = pa.struct([("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int32())])
    table.add("bucket-0/f.parquet", pa.table({
        "j": pa.array([apart, None], of),
        "a": pa.array([[apart, None], None], pa.list_(of)),
        "r": pa.array([{"j": apart}, {"j": None}], pa.struct([("j", of)])),
    }))  # fmt: skip
    frame = table.frame(spark, store=None if store is None else store(str(tmp_path)))
    found = frame.selectExpr("to_json(j)", "to_json(a[0])", "to_json(a[1])", "size(a)", "to_json(r.j)").toArrow()
    assert [list(each.values()) for each in found.to_pylist()] == [
        ["5", "5", None, 2, "5"], [None, None, None, None, None],
    ]  # fmt: skip


def test_a_variant_that_cannot_be_put_together(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(tmp_path, schema(0, (0, "j", "VARIANT")))
    odd = {"metadata": bytes.fromhex("010000"), "value": b"\x00", "typed_value": 5}
    of = pa.struct([("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int32())])
    table.add("bucket-0/f.parquet", pa.table({"j": pa.array([odd], of)}))
    with pytest.raises(Exception, match="snapscope error") as caught:
        table.frame(spark, store=ReadAway(str(tmp_path))).collect()
    error = received(str(caught.value))
    assert error is not None
    assert "a value of a variant is stored twice" in error.message
    assert error.path == "bucket-0/f.parquet"


def test_columns_inside_others_are_cast_too(spark: SparkSession, tmp_path: Path) -> None:
    columns = [
        (0, "p", "INT"), (1, "a", "ARRAY<STRING>"), (2, "m", "MAP<STRING, BIGINT>"), (3, "r", row((4, "x", "DOUBLE"))),
    ]  # fmt: skip
    newer = [
        (0, "p", "INT"), (1, "a", "ARRAY<INT>"), (2, "m", "MAP<STRING, STRING>"),
        (3, "r", row((5, "y", "INT"), (4, "z", "INT"))),
    ]  # fmt: skip
    old, new = schema(0, *columns), schema(1, *newer)
    content = pa.table({
        "p": pa.array([1, 2], pa.int32()), "a": pa.array([["7", None], None]),
        "m": pa.array([[("k", 5)], None], pa.map_(pa.string(), pa.int64())), "r": pa.array([{"x": 2.9}, None]),
    })  # fmt: skip
    parquet.write_table(content, tmp_path / "f.parquet")
    source = (tmp_path / "f.parquet").read_bytes()
    found = arrow_files.read(source, "parquet", old, new, (), "f.parquet")
    assert found.to_pylist() == [
        {"p": 1, "a": [7, None], "m": [("k", "5")], "r": {"y": None, "z": 2}},
        {"p": 2, "a": None, "m": None, "r": None},
    ]
    with pytest.raises(Unsupported, match=r"'m.value' was changed from BIGINT to DATE"):
        arrow_files.read(source, "parquet", old, schema(1, (2, "m", "MAP<STRING, DATE>")), (), "f.parquet")


def test_one_bad_value_leaves_the_other_columns(spark: SparkSession, tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("id", "INT"), ("v", "STRING")])
    table.commit([table.file([{"id": 1, "v": "12"}, {"id": 2, "v": "twelve"}])])
    table.schema([(0, ("id", "INT")), (1, ("v", "INT"))])
    table.commit([table.file([{"id": 3, "v": 13}])])
    opened = table.opened()
    assert query(opened, "select sum(id) as s, count(*) as n from t").table.to_pylist() == [{"s": 6, "n": 3}]
    with pytest.raises(Unsupported, match="does not cast the value 'twelve'"):
        query(opened, "select v from t")
    assert query(opened, "select v from t", at="1").table.num_rows == 2


def test_statistics_of_values_before_a_cast_hide_no_row(spark: SparkSession, tmp_path: Path) -> None:
    table = Stored(tmp_path / "t", [("v", "BIGINT"), ("w", "DECIMAL(10, 2)")])
    table.commit([table.file([{"v": 2**32 + 5, "w": Decimal("99999.49")}])])
    table.schema([(0, ("v", "INT")), (1, ("w", "DECIMAL(6, 1)"))])
    table.commit([table.file([{"v": 7, "w": Decimal("1.0")}])])
    opened = table.opened()
    for where, count in (("v = 5", 1), ("v < 6", 1), ("v > 6", 1), ("w = 99999.5", 1), ("w is null", 0)):
        found = query(opened, f"select count(*) as n from t where {where}").table.to_pylist()
        assert found == [{"n": count}], where


# refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "more", "options", "says"),
    [
        ([(0, "id", "INT")], {"primary": ("id",)}, {}, "primary key (id)"),
        ([(0, "id", "INT")], {"options": {"deletion-vectors.enabled": "true"}}, {}, "deletion-vectors.enabled"),
        ([(0, "id", "INT")], {}, {"data-evolution.enabled": "true"}, "data-evolution.enabled"),
        ([(0, "id", "INT")], {}, {"query-auth.enabled": "true"}, "query-auth.enabled"),
        ([(0, "id", "INT")], {}, {"chain-table.unheard-of": "1"}, "chain-table.unheard-of"),
        ([(0, "id", "INT")], {}, {"type": "format-table"}, "format-table"),
        ([(0, "id", "INT"), (1, "ID", "INT")], {}, {}, "' differs from another column only in case."),
    ],
)
def test_tables_whose_rows_are_not_simply_those_of_their_files_are_refused(
    spark: SparkSession, tmp_path: Path, columns: Any, more: Any, options: Any, says: str
) -> None:
    table = Table(tmp_path, schema(0, *columns, **more))
    table.named("bucket-0/f.parquet")
    with pytest.raises(Unsupported) as caught:
        table.frame(spark, options=options)
    assert says in str(caught.value)


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_fallback_branch_that_came_later_is_said(spark: SparkSession, tmp_path: Path, keys: list[str]) -> None:
    """Paimon reads the past with today's options, and adds the partitions that only that branch has."""
    columns: list[tuple[str, Any]] = [("id", "INT NOT NULL"), ("v", "STRING")]
    table = Stored(tmp_path / "t", columns, primary_keys=keys, options={"bucket": "1"})
    table.commit([table.file([{"id": 1, "v": "a"}])])
    assert "fallback" not in query(table.opened(), "select * from t").note
    table.schema(list(enumerate(columns)), {"bucket": "1", "scan.fallback-branch": "dev"})
    found = query(table.opened(), "select * from t", at="1")
    assert found.table.to_pylist() == [{"id": 1, "v": "a"}]
    assert "today's 'scan.fallback-branch' (dev); this answer uses the version's own (not set)" in found.note


def test_rows_show_what_each_schema_change_is_said_to_mean(spark: SparkSession, shared_tables: Path) -> None:
    table = open_table(str(shared_tables / "paimon" / "default.db" / "schema_evolved"))
    history = table.history()
    counts = {each.id: each.total_rows or 0 for each in history.heads.main.snapshots}

    def row(sql: str, at: str) -> dict[str, object]:
        (found,) = query(table, sql, at=at, history=history, timeout_s=300).table.to_pylist()
        return dict(found)

    found = row("SELECT count(*) n, count(a2) a2, count(b) b, count(c) c, min(typeof(id)) id, min(typeof(b)) t FROM t",
                "latest")  # fmt: skip
    assert found == {
        "n": counts[14], "a2": counts[14], "id": "bigint", "t": "string",
        "c": counts[14] - counts[2],  # added after 2: rows of older files have NULL
        "b": counts[14] - counts[10],  # dropped after 6 and added again after 10: the old values do not come back
    }  # fmt: skip
    older = row("SELECT count(a) a, count(b) b, min(typeof(id)) id, min(typeof(b)) t FROM t", "4")
    assert older == {"a": counts[4], "b": counts[4], "id": "int", "t": "int"}  # an older snapshot has its own schema
