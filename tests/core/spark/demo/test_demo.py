"""The demo as a user gets it: complete, of the documented size, and with a history that answers each question."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from core.catalog import DEMO_MARKER, list_tables
from core.demo import build as demo
from core.demo import progress, stories
from core.demo.stories import Story
from core.errors import Conflict, Invalid, Unsupported
from core.model.actions import Expire
from core.model.history import History
from core.model.references import HolderKind, ObjectKind
from core.spark.query.query import query
from core.spark.read.iceberg import files as iceberg_files
from core.spark.read.iceberg import scan
from core.table import Table, open_table, resolve

NOW_MS = 1_795_229_061_027  # 2026-11-21T02:44:21Z
TABLES = ("crm.customers", "events.clicks", "sales.orders", "sales.orders_iceberg")
TWIN = "sales.orders_iceberg"


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], float]:
    """The warehouse, what was told while it was made, and the seconds it took."""
    directory, told, began = tmp_path_factory.mktemp("demo") / "warehouse", list[str](), time.monotonic()
    demo.build(str(directory), told.append, now_ms=NOW_MS)
    return directory, told, time.monotonic() - began


@pytest.fixture(scope="module")
def tables(built: tuple[Path, list[str], float]) -> Mapping[str, Table]:
    return {each.title: open_table(each.location) for each in list_tables(str(built[0])).tables}


@pytest.fixture(scope="module")
def told(built: tuple[Path, list[str], float]) -> Mapping[str, Story]:
    assert json.loads((built[0] / DEMO_MARKER).read_text())["created_ms"] == NOW_MS
    return {each.table: each for each in stories.what_happened(list_tables(str(built[0])))}


def one(table: Table, sql: str, at: str) -> tuple[Any, ...]:
    (row,) = query(table, sql, at=at).table.to_pylist()
    return tuple(row.values())


def test_four_tables_of_some_ten_megabytes(built: tuple[Path, list[str], float], tables: Mapping[str, Table]) -> None:
    directory, told, seconds = built
    assert tuple(sorted(tables)) == TABLES
    assert list_tables(str(directory)).is_demo
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    assert 5e6 < size < 15e6
    assert len(told) == 6
    assert seconds < 600  # promised: less than a minute on a quiet machine
    assert [path.name for path in directory.parent.iterdir()] == ["warehouse"]


def test_the_history_is_believable_and_whole(tables: Mapping[str, Table]) -> None:
    snapshots = 0
    for table in (each for name, each in tables.items() if name != TWIN):
        history = table.history()
        assert history.problems == ()
        assert history.warnings == ()
        line = history.heads.main
        assert line.warnings == ()
        times = [snapshot.time_ms for snapshot in line.snapshots]
        assert times == sorted(times)
        assert times[-1] < NOW_MS
        assert {snapshot.kind for snapshot in line.snapshots} <= {"APPEND", "OVERWRITE", "COMPACT"}
        snapshots += len(times)
        on_disk = {
            str(path.relative_to(table.location)): path.stat().st_size
            for path in Path(table.location).rglob("*")
            if path.is_file()
        }
        told = zip(history.objects["path"].to_pylist(), history.objects["bytes"].to_pylist(), strict=True)
        known = {path: size for path, size in told if history.holders_of(path)}
        assert all(size in (None, on_disk[path]) for path, size in known.items())
        others = {path for path in on_disk if path not in known}
        assert all(re.search(r"(^|/)(schema/|snapshot/(EARLIEST|LATEST)|consumer/)", path) for path in others)
    assert 40 <= snapshots <= 62


def test_orders_show_every_kind_of_point(tables: Mapping[str, Table]) -> None:
    orders = tables["sales.orders"]
    history: History = orders.history()
    main, branch = history.heads.main, history.heads.line("price-test")
    assert branch is not None
    assert main.earliest is not None
    expired = [tag for tag in main.tags if tag.snapshot.id < main.earliest.id]
    assert expired
    assert all(tag.name.startswith("month-") for tag in main.tags)
    assert {tag.retained is None for tag in main.tags} == {True, False}
    assert len(main.schemas) == 2
    assert {"COMPACT", "OVERWRITE", "APPEND"} <= {snapshot.kind for snapshot in main.snapshots}
    assert len(branch.snapshots) == 2
    only_tags = [
        path
        for path in history.objects["path"].to_pylist()
        if path.endswith(".parquet") and {each.kind for each in history.holders_of(path)} == {HolderKind.TAG}
    ]
    assert only_tags  # data that only history keeps
    for tag in expired:
        assert one(orders, "select count(*) from t", f"tag:{tag.name}") == (tag.snapshot.total_rows,)
    on_branch = one(orders, "select count(*), count(channel) > 0 from t", "branch:price-test")
    assert on_branch == (branch.snapshots[-1].total_rows, True)


def in_paimon(table: Table, history: History, point: str) -> pa.Table:
    """The rows of an append table: those of its live files."""
    paths = [f"{table.location}/{path}" for path in history.files_at(history.position(point))["path"].to_pylist()]
    return pa.concat_tables([parquet.read_table(path, partitioning=None) for path in paths], promote_options="default")


def in_iceberg(table: Table, history: History, point: str) -> pa.Table:
    """The rows as our own reader makes them, deletes applied."""
    of = scan.opened(table, history, resolve(history.heads, point), by_jvm=False)
    parts = [part for unit in of.work for part in iceberg_files.rows(of.place, of.columns, of.keys, unit, of.names)]
    return pa.concat_tables(parts)


def test_the_twin_has_the_rows_of_its_paimon_table(tables: Mapping[str, Table]) -> None:
    paimon, twin = tables["sales.orders"].history(), tables[TWIN].history()
    of = {each.time_ms: str(each.id) for each in twin.heads.main.snapshots}
    kept = paimon.heads.main.snapshots
    points = {str(each.id): of[each.time_ms] for each in kept}  # each commit that is still there has its match
    masked = {
        point
        for point in of.values()
        if twin.files_at(twin.position(point)).num_rows
        and any(
            kind == ObjectKind.DELETES
            for kind in twin.objects["kind"].filter(pa.array(twin.held.at(twin.position(point)))).to_pylist()
        )
    }
    assert masked
    repair = next(str(each.id) for each in kept if each.commit_user == "repair")
    chosen = [
        *list(points)[::9],
        str(int(repair) - 1),
        repair,
        str(kept[-1].id),
        next(p for p in points if points[p] in masked),
    ]
    pairs = {each: points[each] for each in chosen} | {
        f"tag:{tag.name}": f"tag:{tag.name}" for tag in paimon.heads.main.tags
    }
    branch = paimon.heads.line("price-test")
    assert branch is not None
    pairs[f"branch:price-test/{branch.snapshots[-1].id}"] = "branch:price-test"
    for here, there in pairs.items():
        rows, same = in_paimon(tables["sales.orders"], paimon, here), in_iceberg(tables[TWIN], twin, there)
        if "channel" not in rows.column_names and "channel" in same.column_names:
            rows = rows.append_column("channel", pa.nulls(len(rows), pa.string()))
        keys = [("order_id", "ascending"), ("amount", "ascending")]
        rows = rows.select(same.column_names).cast(same.schema)
        assert rows.sort_by(keys).equals(same.sort_by(keys)), (here, there)


def test_the_twin_has_what_only_iceberg_has(tables: Mapping[str, Table], told: Mapping[str, Story]) -> None:
    twin = tables[TWIN]
    twin.refuse_apply()  # a Hadoop table: actions may run
    history = twin.history()
    heads = history.heads
    assert (history.problems, history.warnings, heads.main.warnings) == ((), (), ())
    assert [line.branch for line in heads.lines] == ["main", "price-test", "(no branch)"]
    notes = [each.note.split(" ")[0] for line in heads.lines for each in line.snapshots if each.note]
    assert notes == ["cherry-picked", "staged", "rolled", "staged"]
    assert {each.kind for each in heads.main.snapshots} == {"append", "overwrite", "replace"}
    assert len(heads.main.schemas) == 2
    assert heads.pointer is not None
    assert len(heads.pointer) == len(heads.main.snapshots) + 2  # to the delete, and back
    assert {tag.retained is None for tag in heads.main.tags} == {True, False}
    plan = twin.preview(Expire(), NOW_MS, history)
    assert {ObjectKind.DATA, ObjectKind.MANIFEST, ObjectKind.METADATA} <= set(plan.frees["kind"].to_pylist())
    lost = resolve(heads, told[TWIN].point)
    assert lost.snapshot.kind == "delete"
    on_disk = {path.relative_to(twin.location).as_posix() for path in Path(twin.location).rglob("*") if path.is_file()}
    unknown = on_disk - set(history.objects["path"].to_pylist())
    assert all(re.fullmatch(r"metadata/(v\d+\.metadata\.json|version-hint\.text)", path) for path in unknown)


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"\b\d+\b", text)]


def test_the_bad_tuesday_is_found_and_its_repair(tables: Mapping[str, Table], told: Mapping[str, Story]) -> None:
    asked = told["sales.orders"]
    day = re.findall(r"Tuesday (\S+)\.", asked.question)[0]
    bad, fix = numbers(asked.answer)
    sql = f"select sum(amount) from t where dt = '{day}'"
    (wrong,), (before,), (right,) = (one(tables["sales.orders"], sql, str(at)) for at in (bad, fix - 1, fix))
    assert wrong == before == 100 * right
    assert len(asked.clicks) == 4


def test_the_doubled_day_is_found(tables: Mapping[str, Table], told: Mapping[str, Story]) -> None:
    asked = told["events.clicks"]
    day = re.findall(r"does (\S+) have", asked.question)[0]
    again, first = numbers(asked.answer)
    sql = f"select count(*), count(distinct event_id) from t where dt = '{day}'"
    count, ids = one(tables["events.clicks"], sql, str(first))
    assert count == ids
    assert one(tables["events.clicks"], sql, str(again)) == (2 * count, ids)
    assert tables["events.clicks"].heads().main.consumers[0].name == "fraud-check"
    late = "select count(*) > 0 from t where received_at > happened_at + interval 1 day"
    assert one(tables["events.clicks"], late, "latest") == (True,)


def test_the_lost_region_is_found(tables: Mapping[str, Table], told: Mapping[str, Story]) -> None:
    asked = told["crm.customers"]
    lost = numbers(asked.answer)[0]
    sql = "select count(*) > 300 from t where region = 'Nordics'"
    assert [one(tables["crm.customers"], sql, str(at)) for at in (lost - 1, lost)] == [(True,), (False,)]
    valid = "select count(*) from t where valid_to <= valid_from"
    assert one(tables["crm.customers"], valid, "latest") == (0,)
    assert len(asked.clicks) == 4


def test_nothing_that_exists_is_touched(
    built: tuple[Path, list[str], float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Conflict, match="not empty"):
        demo.build(str(built[0]), now_ms=NOW_MS)
    with pytest.raises(Unsupported, match="local disk"):
        demo.build("memory://demo", now_ms=NOW_MS)

    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    (tmp_path / "empty").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(demo, "_customers", fail)
        with pytest.raises(Invalid, match="disk is full"):
            demo.build(str(tmp_path / "empty"), now_ms=NOW_MS)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_a_build_that_fails_keeps_its_finished_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(demo, "_clicks", fail)
    with pytest.raises(Invalid, match="disk is full"):
        demo.build(str(tmp_path), now_ms=NOW_MS)
    assert [path.name for path in tmp_path.glob("*.db/*")] == ["customers"]
    (count,) = one(open_table(str(tmp_path / "crm.db" / "customers")), "select count(*) from t", "latest")
    assert count > 300
    left = progress.read(str(tmp_path))
    assert left is not None
    assert set(left.told) == {"crm.customers"}
