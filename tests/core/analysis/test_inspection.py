"""What metadata states about files and columns, compared with the files themselves and with the history."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from core import cli
from core.analysis import inspection as contents
from core.analysis.file_health import health, small
from core.errors import Invalid, NotFound
from core.formats.iceberg.inspection import bound
from core.formats.iceberg.types import IcebergType, spelled
from core.formats.iceberg.write import manifest_encoding
from core.model.column_bounds import CUT, Bounds, Column, FileBounds, cut_length, merged
from core.model.history import History
from core.model.time_travel import AsOf
from core.table import Table, open_table, resolve
from tests.support.builders import TableBuilder
from tests.support.iceberg_tables import PYICEBERG, moved
from tests.support.places import TABLES

PAIMON = sorted(TABLES.glob("paimon/default.db/*"))
ICEBERG = sorted(path for path in PYICEBERG.iterdir() if path.is_dir())


def opened(path: Path) -> tuple[Table, History, AsOf]:
    table = open_table(str(path))
    history = table.history()
    return table, history, resolve(history.heads, "latest", "main")


def plain(value: Any) -> Any:
    """Convert a value of a Parquet file to the form that bounds have."""
    return value.encode() if isinstance(value, str) else value


def check_entries(table: Table, history: History, at: AsOf) -> None:
    """Added minus removed over all manifests of a version equals its live files; list entries count what manifests
    hold."""
    live: Counter[tuple[Any, ...]] = Counter()
    gone = set()
    for row in contents.manifests(table, history, at).to_pylist():
        found = contents.entries(table, history, at, row["path"])
        counted = Counter(found["change"].to_pylist())
        if row["added"] is not None:
            assert counted["added"] == row["added"]
            assert counted["removed"] == row["deleted"]
        if row["list"] in ("changelog", "index"):
            continue
        for each in found.to_pylist():
            key = (each["path"], each["partition"], each["bucket"], each["level"], each["bytes"], each["rows"])
            if each["change"] != "removed":
                live[key] += 1
            elif not table.capabilities.deletes_are_files:
                gone.add(key)
    names = ("path", "partition", "bucket", "level", "bytes", "rows")
    files = history.files_at(history.require(at.point))
    wanted = Counter(zip(*(files[name].to_pylist() for name in names), strict=True))
    assert Counter({key: number for key, number in live.items() if key not in gone}) == wanted


def check_statistics(table: Table, history: History, at: AsOf, root: Path) -> int:
    """Bounds contain every value of a file, and are tight unless truncated; null counts are exact."""
    told = 0
    files = history.files_at(history.require(at.point))
    if "content" in files.column_names:
        files = files.filter(pc.equal(files["content"], "data"))
    line = history.heads.line(at.branch) or history.heads.main
    for number in range(min(len(files), 12)):
        one = files.slice(number, 1)
        path, form, schema_id = (one[name][0].as_py() for name in ("path", "format", "schema_id"))
        if form != "parquet" or not (root / path).is_file():
            continue
        rows = pq.read_table(root / path)
        written = None if schema_id is None else {each.id: each.name for each in line.schemas[schema_id].fields}
        for said in contents.statistics(table, history, at, one):
            name = said.column.name if written is None else written.get(said.column.id)
            if name is None:
                assert (said.nulls, said.files_with_bounds) == (len(rows), 1)
            elif said.files_with_bounds and name in rows.column_names:
                values = rows[name]
                assert said.nulls in (None, values.null_count)
                if values.null_count < len(values) and not pa.types.is_nested(values.type):
                    least, most = (plain(pc.min_max(values)[side].as_py()) for side in ("min", "max"))
                    low, high = plain(said.low), plain(said.high)
                    assert low <= least
                    assert high >= most
                    assert said.low_cut or low == least
                    assert said.high_cut or high == most
                    told += 1
    return told


@pytest.mark.slow
@pytest.mark.parametrize("path", PAIMON, ids=lambda path: path.name)
def test_paimon(path: Path) -> None:
    table, history, at = opened(path)
    check_entries(table, history, at)
    told = check_statistics(table, history, at, path)
    assert told or path.name.endswith("_py") or not any(path.rglob("*.parquet"))
    found = contents.health(table, history, at)
    assert sum(found.partitions["small_files"].to_pylist()) == found.small_files <= found.files


@pytest.mark.slow
@pytest.mark.parametrize("path", ICEBERG, ids=lambda path: path.name)
def test_iceberg(path: Path, tmp_path: Path) -> None:
    root = moved(path, tmp_path / path.name)
    table, history, at = opened(root)
    check_entries(table, history, at)
    check_statistics(table, history, at, root)
    assert contents.health(table, history, at).level0 is None


def test_a_manifest_of_another_point(tmp_path: Path) -> None:
    made = TableBuilder(tmp_path / "t")
    made.commit([made.file(1)])
    table, history, at = opened(tmp_path / "t")
    with pytest.raises(NotFound, match="has no manifest"):
        contents.entries(table, history, at, "manifest/manifest-of-nobody")
    many = pa.concat_tables([history.files] * (contents.MOST_FILES + 1))
    with pytest.raises(Invalid, match="at most"):
        contents.statistics(table, history, at, many)


# pure ----------------------------------------------------------------------------------------------------------------

TEXT = Column(1, "c", "STRING")


def of(*files: tuple[int, FileBounds | None]) -> Bounds:
    return merged([TEXT], [(rows, {} if said is None else {1: said}) for rows, said in files], {})[0]


def test_what_is_not_written_is_not_nothing() -> None:
    found = of((5, None), (7, FileBounds("a", "b", 2)))
    assert (found.low, found.high, found.nulls, found.files) == ("a", "b", 2, 2)
    assert (found.files_with_bounds, found.files_with_null_count) == (1, 1)
    assert of((5, None)).nulls is None
    all_null = of((5, FileBounds(None, None, 5)))
    assert (all_null.low, all_null.nulls, all_null.files_with_bounds) == (None, 5, 1)
    assert of((5, FileBounds(None, None, 3))).files_with_bounds == 0


def test_bounds_of_a_type_that_a_column_has_no_more_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = moved(PYICEBERG / "append_history", tmp_path / "t")
    newest = max(root.glob("metadata/*.metadata.json"))
    document = json.loads(newest.read_text())
    for schema in document["schemas"]:
        schema["fields"][0]["type"] = "date"  # four bytes, but longs are written
    newest.write_text(json.dumps(document))
    table, history, at = opened(root)
    changed, kept, *_ = contents.statistics(table, history, at, history.files)
    assert (changed.low, changed.high, changed.files_with_bounds, changed.unreadable) == (None, None, 0, changed.files)
    assert changed.nulls == 0, "counts have no type"
    assert (kept.unreadable, kept.files_with_bounds) == (0, kept.files)
    assert cli.main(["columns", str(root)]) == 0
    assert capsys.readouterr().out.count("written, but not of this type") == 2


def test_long_texts_may_be_cut() -> None:
    found = of((1, FileBounds("a" * CUT, "b" * (CUT - 1), 0)))
    assert (found.low_cut, found.high_cut) == (True, False)
    assert [cut_length(mode) for mode in (None, "full", "truncate(8)", "truncate(32)")] == [CUT, CUT, 8, CUT]


def test_texts_go_by_their_bytes_and_nan_is_above_all() -> None:
    assert (
        of((1, FileBounds("\uffff", "\uffff", 0)), (1, FileBounds("\U0001f600", "\U0001f600", 0))).high == "\U0001f600"
    )
    number = merged([TEXT], [(1, {1: FileBounds(1.0, float("nan"), 0)}), (1, {1: FileBounds(0.5, 9.0, 0)})], {})[0]
    assert number.low == 0.5
    assert number.high != number.high


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (IcebergType("boolean"), b"\1", True),
        (IcebergType("long"), b"\5\0\0\0", 5),  # it was an int at that time
        (IcebergType("double"), b"\0\0\x80\x3f", 1.0),
        (IcebergType("date"), b"\1\0\0\0", dt.date(1970, 1, 2)),
        (
            IcebergType("decimal", 38, 2),
            (-(10**38 - 1)).to_bytes(16, "big", signed=True),
            Decimal("-" + "9" * 36 + ".99"),
        ),
        (IcebergType("timestamp"), (1_500_000).to_bytes(8, "little"), dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)),
        (IcebergType("time"), (3_600_000_001).to_bytes(8, "little"), dt.time(1, 0, 0, 1)),
        (IcebergType("timestamp_ns"), (1_999_999).to_bytes(8, "little"), dt.datetime(1970, 1, 1, 0, 0, 0, 1_999)),
        (
            IcebergType("timestamptz_ns"),
            (-1).to_bytes(8, "little", signed=True),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC),
        ),
        (IcebergType("geometry"), bytes(16), None),
        (IcebergType("string"), "é".encode()[:1], "\ufffd"),
    ],
)
def test_bounds_of_iceberg(kind: IcebergType, stored: bytes, value: object) -> None:
    assert bound(stored, kind) == value


def test_all_digits_of_a_decimal_are_kept() -> None:
    long = "-" + "9" * 36 + ".99"
    assert str(spelled(long, IcebergType("decimal", 38, 2))) == long, "a partition's value"
    assert bound(manifest_encoding.stored(Decimal(long), "decimal(38, 2)"), IcebergType("decimal", 38, 2)) == Decimal(
        long
    )


def test_health_of_made_files() -> None:
    """Create two buckets: one with two sorted runs of level 0 and one of level 5, the other with a large file."""
    files = pa.table(
        {
            "path": ["a", "b", "c", "d"],
            "bytes": [10, 20, 30, 200],
            "rows": [1, 2, 3, 94],
            "partition": ["p=1", "p=1", "p=1", "p=2"],
            "bucket": pa.array([0, 0, 0, 0], pa.int32()),
            "level": pa.array([0, 0, 5, 5], pa.int32()),
        }
    )
    found = health(files, "paimon", {"target-file-size": "100 b"}, keyed=True, retractions=10)
    assert (found.small.below_bytes, found.small_files, found.small_bytes) == (70, 3, 60)
    assert (found.places, found.median_files, found.median_bytes) == (2, 2.0, 130.0)
    assert (found.fullest.partition, found.fullest.amount) == ("p=1", 3)
    assert (found.largest.partition, found.skew) == ("p=2", 200 / 130)
    assert (found.level0, found.runs.amount, found.trigger) == (2, 3, 5)
    assert found.delete_ratio == 0.1
    assert found.partitions.to_pylist()[0] == {
        "partition": "p=1", "files": 3, "bytes": 60, "small_files": 3, "small_bytes": 60,
    }  # fmt: skip
    nothing = health(files.slice(0, 0), "paimon", {})
    assert (nothing.skew, nothing.fullest) == (None, None)
    with pytest.raises(Invalid, match="not a number"):
        small("paimon", {"compaction.small-file-ratio": "half"})
