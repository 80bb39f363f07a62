"""Orphans of Iceberg tables: exactly the litter, whatever is beside it, and nothing where anything may hold it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest

from core.errors import Corrupt, Invalid, SnapscopeError, Unsupported
from core.execution.apply import apply
from core.messages import code_names
from core.model.actions import CleanOrphans, Expire
from core.model.plan import Plan
from core.table import open_table
from tests.support.execution import iceberg_ground as ground
from tests.support.formats.iceberg.orphans import LITTER, NOW_MS, lost, paths, planned, unique
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home
from tests.support.iceberg_tables import JAVA_RANDOM, PYICEBERG, moved, read_avro, write_avro

__all__ = ["home"]  # a fixture


def stays(plan: Plan) -> dict[str, int]:
    """Why how many files stay."""
    found = [each.values for each in plan.warnings if each.code.name == "files-stay"]
    return {each["why"].code.name: each["count"] for each in found}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table without a catalog: four appends, a tag and a branch."""
    return ground.small_table(tmp_path / "db" / "t")


KINDS = {
    "data": 4,
    "deletes": 2,
    "manifest-list": 1,
    "manifest": 1,
    "statistics": 2,
}


def test_exactly_the_litter_is_found_and_deleted(root: Path) -> None:
    before = ground.disk(root)
    assert paths(planned(root)) == []
    for path in LITTER.values():
        lost(root, path)
    plan = planned(root)
    assert paths(plan) == sorted(LITTER.values())
    kinds = plan.frees["kind"].value_counts().to_pylist()
    assert {each["values"]: each["counts"] for each in kinds} == KINDS
    assert (plan.freed_bytes, plan.removes, plan.deleted_points) == (5 * len(LITTER), (), ())
    receipt = apply(open_table(str(root)), plan, settle_s=0)
    assert (receipt.is_exact, receipt.freed_bytes) == (True, 5 * len(LITTER))
    assert ground.disk(root) == before
    assert ground.broken(root) == []


@pytest.mark.parametrize("name", ["t01_v1_linear", "t05_v3", "t07_v2", "t12_v1"])
def test_nothing_that_a_real_table_needs_is_an_orphan(tmp_path: Path, name: str) -> None:
    root = ground.java_table(name, tmp_path / "db" / "t")
    lost(root, LITTER["data"])
    needed = ground.needed(root)
    plan = planned(root)
    assert LITTER["data"] in paths(plan)
    assert not needed.keys() & set(paths(plan))
    apply(open_table(str(root)), plan, settle_s=0)
    assert ground.broken(root) == []


def test_what_an_expiry_elsewhere_has_left_behind_is_found(root: Path, tmp_path: Path) -> None:
    """It is what our own expiry of the same snapshots deletes."""
    shutil.copytree(root, tmp_path / "kept")
    table = open_table(str(root))
    freed = paths(table.preview(Expire(drop_tags=("early", "work")), NOW_MS))
    apply(table, table.preview(Expire(drop_tags=("early", "work")), NOW_MS), settle_s=0)
    for path in freed:
        shutil.copy(tmp_path / "kept" / path, root / path)
    assert freed
    assert paths(planned(root)) == sorted(path for path in freed if not path.endswith(".metadata.json"))


def test_what_is_young_oddly_named_hidden_or_elsewhere_stays(root: Path) -> None:
    """And is told, except where engines do not look either."""
    lost(root, LITTER["data"], is_young=True)
    lost(root, LITTER["manifest"], is_young=True)
    for odd in ("data/part-00000.parquet", f"data/{unique(20)}.csv", "README.md", "metadata/notes.avro"):
        lost(root, odd)
    lost(root, f"dt=1/part-00000-{unique(26)}.c000.snappy.parquet")  # of a table of Hive at the same place
    lost(root, f"metadata/{'0' * 32}-{'1' * 32}-00000-0-1-00001.avro")  # Flink's, which its checkpoints may name
    for hidden in ("data/_temporary/x", "data/.x", ".trash/x"):
        lost(root, f"{hidden}-{unique(21)}.parquet")
    lost(root, f"backup/{unique(24)}.parquet")
    lost(root, f"data/_dt=1/{unique(25)}.parquet")
    plan = planned(root)
    assert paths(plan) == [f"data/_dt=1/{unique(25)}.parquet"]
    assert stays(plan) == {"may-be-committed": 2, "odd-names": 6}
    (others,) = (each.values for each in plan.warnings if each.code.name == "others-stay")
    assert others == {"count": 1, "named": "backup"}


@pytest.mark.parametrize("sign", ["metadata/x", "_delta_log/x", ".hoodie/x", "00001-x.metadata.json"])
def test_tables_inside_are_not_entered(root: Path, sign: str) -> None:
    for place in ("data/inner", "data/dt=1/inner", "dt=1"):
        lost(root, f"{place}/{sign}")
        lost(root, f"{place}/data/{unique(30)}.parquet")
    plan = planned(root)
    assert paths(plan) == []
    (tables,) = (each.values for each in plan.warnings if each.code.name == "tables-stay")
    assert tables["count"] == 3


def test_names_that_no_plan_can_have_do_not_stop_the_search(root: Path) -> None:
    """Iceberg escapes what it makes directories of, but anything may be there."""
    good = [f"data/k={name}/{unique(27)}.parquet" for name in ("a b", "a%20b", "a\nb", "ä", "a#b", "a?b", "..x")]
    for path in (*good, f"data/k=a\\b/{unique(28)}.parquet", f"data/x\\{unique(28)}.parquet"):
        lost(root, path)
    lost(root, f"k=a\\b/{unique(28)}.parquet")
    undecodable = root / "data" / os.fsdecode(b"k=\xff")
    undecodable.mkdir()
    (undecodable / f"{unique(28)}.parquet").touch()
    plan = planned(root)
    assert paths(plan) == sorted(good)
    (odd,) = (each.values for each in plan.warnings if each.code.name == "no-text-stays")
    assert odd["count"] == 4
    assert "others-stay" not in code_names(plan.warnings)
    assert apply(open_table(str(root)), plan, settle_s=0).is_exact


def test_links_to_directories_are_not_entered(root: Path, tmp_path: Path) -> None:
    """Two that lead back have more paths than anybody can list; one may lead to any other place."""
    lost(root, LITTER["data"])
    lost(tmp_path / "elsewhere", f"{unique(31)}.parquet")
    for name, target in {"a": root / "data", "b": root / "data", "c": tmp_path / "elsewhere"}.items():
        (root / "data" / name).symlink_to(target)
    plan = planned(root)
    assert paths(plan) == [LITTER["data"]]
    (others,) = (each.values for each in plan.warnings if each.code.name == "others-stay")
    assert others == {"count": 3, "named": "data/a, data/b, data/c"}


def test_a_file_that_metadata_names_at_another_place_stays(root: Path) -> None:
    """After a move of the store: the same files, by another scheme, bucket or host."""
    table = open_table(str(root))
    (held,) = table.history().files_of(str(table.heads().refs[0].snapshot_id))["path"].to_pylist()[:1]
    for manifest in root.glob("metadata/*-m*.avro"):
        schema, records, metadata = read_avro(manifest)
        for each in records:
            if each["data_file"]["file_path"].endswith(held):
                each["data_file"]["file_path"] = f"hdfs://before:8020/lake/{held}"
        write_avro(manifest, schema, records, metadata)
    lost(root, LITTER["data"])
    assert paths(planned(root)) == [LITTER["data"]]
    assert (root / held).is_file()


def test_statistics_of_a_snapshot_that_is_gone_stay(root: Path) -> None:
    named = lost(root, LITTER["statistics"])
    lost(root, LITTER["statistics of partitions"])

    def name(document: ground.Json) -> None:
        about = {"snapshot-id": 1, "statistics-path": f"{document['location']}/{named}", "file-size-in-bytes": 5}
        document["statistics"] = [{**about, "file-footer-size-in-bytes": 1, "blob-metadata": []}]

    ground.commit(root, name)
    assert paths(planned(root)) == [LITTER["statistics of partitions"]]


# refusals -------------------------------------------------------------------------------------------------------------


def test_a_table_whose_files_may_be_shared_is_not_searched(tmp_path: Path) -> None:
    root = ground.small_table(tmp_path / "db" / "t", **{"gc.enabled": "false"})
    with pytest.raises(Unsupported, match=r"gc\.enabled"):
        planned(root)


@pytest.mark.parametrize(
    ("sign", "file"),
    [
        ("_delta_log/00000000000000000000.json", f"dt=1/{unique(32)}.c000.snappy.parquet"),
        (".hoodie/hoodie.properties", f"dt=1/{unique(33)}-0_0-1-2_20260101.parquet"),
        ("schema/schema-0", f"dt=1/bucket-0/data-{unique(34)}-0.parquet"),
    ],
)
def test_a_table_that_is_also_one_of_another_format_is_not_searched(lake: Lake, sign: str, file: str) -> None:
    """Delta, Hudi and Paimon tables have Iceberg metadata of some of their versions, for other readers."""
    lost(lake.root, sign)
    lost(lake.root, file)
    with pytest.raises(Unsupported, match=sign.partition("/")[0]):
        planned(NAME)
    (lake.root / sign).unlink()
    (lake.root / sign).parent.rmdir()
    assert file in paths(planned(NAME))


@pytest.mark.parametrize("kind", ["snap-*.avro", "*-m0.avro"])
def test_nothing_is_searched_while_anything_cannot_be_read(root: Path, kind: str) -> None:
    gone = next(root.glob(f"metadata/{kind}"))
    gone.unlink()
    lost(root, LITTER["data"])
    with pytest.raises(Corrupt, match=re.escape(gone.name)):
        planned(root)


@pytest.mark.parametrize("total", ["total-data-files", "total-delete-files"])
def test_a_list_that_lost_entries_makes_no_orphans(root: Path, total: str) -> None:
    """What it does not list is there, and named like an orphan."""

    def more(document: ground.Json) -> None:
        document["snapshots"][-1]["summary"][total] = "99"

    ground.commit(root, more)
    lost(root, LITTER["data"])
    with pytest.raises(Corrupt, match=f"{total}: 99"):
        planned(root)


@pytest.mark.parametrize("name", ["t05_v3", "t07_v2", "t12_v1"])
def test_any_row_that_a_list_lost_stops_the_search(tmp_path: Path, name: str) -> None:
    """Of a manifest with files that are still needed: of deletes, too."""
    root = ground.java_table(name, tmp_path / "db" / "t")
    for path in root.glob("metadata/snap-*.avro"):
        whole = path.read_bytes()
        schema, rows, metadata = read_avro(path)
        for lost_row in rows:
            if lost_row["added_files_count"] or lost_row["existing_files_count"]:
                write_avro(path, schema, [row for row in rows if row is not lost_row], metadata)
                with pytest.raises(Corrupt, match="fewer files"):
                    planned(root)
        path.write_bytes(whole)


def test_what_has_no_meaning_here_is_refused(root: Path) -> None:
    with pytest.raises(Invalid, match="All partitions"):
        planned(root, CleanOrphans(0, also=("dt=1",)))
    with pytest.raises(Invalid, match="in the past"):
        planned(root, CleanOrphans(NOW_MS + 1))
    assert "young-orphans" in code_names(planned(root, CleanOrphans(NOW_MS)).warnings)


def test_only_who_knows_the_current_metadata_searches(root: Path, tmp_path: Path) -> None:
    """Not a single metadata file, a copy, or the directory of a table of a catalog."""
    catalog = moved(PYICEBERG / "tags_branches", tmp_path / "catalog")
    copy = shutil.copytree(root, tmp_path / "copy")
    for place in (ground.newest(root), copy, catalog):
        with pytest.raises(Unsupported):
            planned(place)


# through a catalog ----------------------------------------------------------------------------------------------------


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_through_a_catalog(lake: Lake) -> None:
    """Its unnamed metadata is deleted if it is older; a version that the catalog went back from stops the search."""
    before = lake.files()
    for path in LITTER.values():
        lost(lake.root, path)
    current = Path(lake.location().removeprefix("file://"))
    document = json.loads(current.read_bytes())
    failed = current.with_name(f"00001-{unique(50)}.metadata.json")
    failed.write_text(json.dumps(document | {"last-updated-ms": document["last-updated-ms"] - 1}))
    there = {path.name for path in lake.root.glob("metadata/*.metadata.json")}
    plan = planned(NAME)
    assert set(paths(plan)) >= {*LITTER.values(), f"metadata/{failed.name}"}
    assert apply(open_table(NAME), plan, settle_s=0).is_exact
    assert lake.files() == before
    assert lake.broken() == []
    left = {path.name for path in lake.root.glob("metadata/*.metadata.json")}
    assert left == there - {path.removeprefix("metadata/") for path in paths(plan)}
    assert current.name in left
    with lake.client() as client:
        table = client.load_table("shop.orders")
        lake.tag("mine", table.metadata.snapshots[0].snapshot_id)
        client.drop_table("shop.orders")
        client.register_table("shop.orders", f"file://{current}")
    with pytest.raises(Unsupported, match="newer than the table's current one"):
        planned(NAME)


def test_what_is_committed_between_plan_and_run_stays(lake: Lake) -> None:
    """A file that looked orphaned when the plan was made, and that a writer then adds."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    path = f"data/00000-0-{unique(60)}-00001.parquet"
    (lake.root / "data").mkdir(exist_ok=True)
    with lake.client() as client:
        table = client.load_table("shop.orders")
        rows = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema().as_arrow()})
    parquet.write_table(rows, lake.root / path)
    lost(lake.root, LITTER["manifest"])
    plan = planned(NAME)
    assert set(paths(plan)) == {path, LITTER["manifest"]}
    with lake.client() as client:
        client.load_table("shop.orders").add_files([f"file://{lake.root / path}"])
    receipt = apply(open_table(NAME), plan, settle_s=0)
    assert receipt.deleted == (LITTER["manifest"],)
    assert [kept for kept, _ in receipt.kept_back] == [path]
    assert lake.broken() == []


def test_what_is_committed_by_another_spelling_before_the_run_stays(root: Path) -> None:
    """By the name node's own address, of a store that is opened by the name of its service."""
    lost(root, LITTER["data"])
    lost(root, LITTER["manifest"])
    plan = planned(root)
    first = ground.needed(root).keys() & {f"metadata/{path.name}" for path in root.glob("metadata/*-m*.avro")}
    manifest = root / min(first)
    schema, records, metadata = read_avro(manifest)
    records[0]["data_file"]["file_path"] = f"hdfs://before:8020/lake/{LITTER['data']}"
    write_avro(manifest, schema, records, metadata)
    receipt = apply(open_table(str(root)), plan, settle_s=0)
    assert receipt.deleted == (LITTER["manifest"],)
    assert [(path, why.code.name) for path, why in receipt.kept_back] == [(LITTER["data"], "held-since")]


@pytest.mark.parametrize("seed", range(4))
def test_damage_makes_no_orphan_of_what_is_needed(tmp_path: Path, seed: int) -> None:
    """Any metadata file with some bits turned: the search fails, or finds nothing that the table needs."""
    chance = random.Random(seed)
    root = ground.java_table(chance.choice(sorted(path.name for path in JAVA_RANDOM.iterdir())), tmp_path / "db" / "t")
    lost(root, LITTER["data"])
    needed = ground.needed(root)
    files = sorted(path for path in root.glob("metadata/*") if path.is_file())
    found = 0
    for _ in range(15):
        damaged = chance.choice(files)
        whole = damaged.read_bytes()
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        damaged.write_bytes(broken)
        try:
            plan = planned(root)
        except SnapscopeError:
            plan = None
        if plan is not None:
            found += 1
            assert not needed.keys() & set(paths(plan)), damaged.name
        damaged.write_bytes(whole)
    assert found
