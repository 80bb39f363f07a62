"""Orphans of Iceberg tables that its own Spark runtime wrote, compared with those that its own procedure finds."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from core.execution.apply import apply
from core.model.actions import CleanOrphans
from core.spark.query import connector
from core.table import open_table
from tests.engines.connectors import iceberg_runtime
from tests.engines.java import Missing
from tests.support.depth import sample
from tests.support.iceberg_tables import PYICEBERG, SMALL, moved

DAY_S, OLD_S = 86_400, 1_600_000_000
LAYOUTS = {
    "plain": ("", {"format-version": "2"}),
    "partitioned, with position deletes": (
        "PARTITIONED BY (k, bucket(4, id))",
        {"format-version": "2", "write.delete.mode": "merge-on-read", "write.parquet.compression-codec": "gzip"},
    ),
    "deletion vectors": ("PARTITIONED BY (k)", {"format-version": "3", "write.delete.mode": "merge-on-read"}),
    "hashed paths": ("PARTITIONED BY (k)", {"format-version": "2", "write.object-storage.enabled": "true"}),
    "ORC, compressed metadata": (
        "",
        {"format-version": "2", "write.format.default": "orc", "write.metadata.compression-codec": "gzip"},
    ),
    "Avro, version 1, few old versions": (
        "PARTITIONED BY (truncate(1, k))",
        {"format-version": "1", "write.format.default": "avro", "write.metadata.previous-versions-max": "2"},
    ),
    "data at a place of its own": ("", {"format-version": "2", "write.data.path": "{root}/inner/rows"}),
}


@pytest.fixture
def catalog(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A catalog of the runtime on the directory of this test."""
    try:
        monkeypatch.setenv(connector.SETTING, str(iceberg_runtime()))
    except Missing as lack:
        pytest.skip(f"engines: {lack}")
    connector.loaded(spark, "iceberg")
    name = f"c{uuid.uuid4().hex}"
    for key, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": f"file://{tmp_path}/wh",
        ".cache-enabled": "false",
    }.items():
        spark.conf.set(f"spark.sql.catalog.{name}{key}", value)
    return name


def written(spark: SparkSession, catalog: str, root: Path, layout: str) -> None:
    """Appends and an expiry; then four commits: of deletes, statistics, rows and a rewrite."""
    partitions, properties = LAYOUTS[layout]
    said = ", ".join(f"'{key}' = '{value.format(root=root)}'" for key, value in properties.items())
    spark.sql(f"CREATE TABLE {catalog}.db.t (id INT, k STRING) USING iceberg {partitions} TBLPROPERTIES ({said})")
    for number in range(3):
        rows = ", ".join(f"({number * 10 + each}, '{each % 3} %2F/='" + ")" for each in range(6))
        spark.sql(f"INSERT INTO {catalog}.db.t VALUES {rows}")
    oldest = spark.sql(f"SELECT snapshot_id FROM {catalog}.db.t.snapshots ORDER BY committed_at").first()
    assert oldest is not None
    spark.sql(f"CALL {catalog}.system.expire_snapshots(table => 'db.t', snapshot_ids => array({oldest[0]}L))").collect()
    spark.sql(f"DELETE FROM {catalog}.db.t WHERE id = 11")
    spark.sql(f"CALL {catalog}.system.compute_table_stats(table => 'db.t')").collect()
    spark.sql(f"INSERT INTO {catalog}.db.t VALUES (100, 'z')")
    rewrite = "system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))"
    spark.sql(f"CALL {catalog}.{rewrite}").collect()


def forget_commits(root: Path, count: int) -> None:
    """Take the newest versions of the table away: what they alone named was left behind, as by a crash."""
    for _ in range(count):
        newest = max(root.glob("metadata/v*.metadata.json"), key=lambda path: int(path.name[1:].partition(".")[0]))
        newest.unlink()
        number = int(newest.name[1:].partition(".")[0])
    (root / "metadata/version-hint.text").write_text(str(number - 1))
    for hidden in root.glob("metadata/.*.crc"):
        hidden.unlink()


def aged(root: Path) -> None:
    for path in root.rglob("*"):
        os.utime(path, (OLD_S, OLD_S))


def theirs(spark: SparkSession, catalog: str, root: Path) -> set[str]:
    """What the engine's own procedure would delete of files that are more than five days old."""
    call = f"CALL {catalog}.system.remove_orphan_files(table => 'db.t', dry_run => true, older_than => "
    rows = spark.sql(f"{call} TIMESTAMP '2020-10-01 00:00:00')").collect()
    return {row[0].removeprefix("file:").replace("//", "/").removeprefix(f"{root}/") for row in rows}


def ours(root: Path) -> set[str]:
    table = open_table(str(root))
    plan = table.preview(CleanOrphans(1_601_500_000_000), 2_000_000_000_000)
    return set(plan.frees["path"].to_pylist())


def delete(root: Path) -> None:
    table = open_table(str(root))
    assert apply(table, table.preview(CleanOrphans(1_601_500_000_000), 2_000_000_000_000), settle_s=0).is_exact


@pytest.mark.parametrize("layout", sample([*LAYOUTS], 3))
def test_what_lost_commits_left_behind(spark: SparkSession, catalog: str, tmp_path: Path, layout: str) -> None:
    root = tmp_path / "wh/db/t"
    written(spark, catalog, root, layout)
    aged(root)
    if layout != "Avro, version 1, few old versions":  # whose metadata forgets older versions
        assert theirs(spark, catalog, root) == set() == ours(root)
    forget_commits(root, 4)
    aged(root)
    count = spark.sql(f"SELECT count(*) FROM {catalog}.db.t").collect()
    expected = theirs(spark, catalog, root)
    assert len(expected) > 5
    assert ours(root) == expected
    delete(root)
    assert ours(root) == set() == theirs(spark, catalog, root)
    assert spark.sql(f"SELECT count(*) FROM {catalog}.db.t").collect() == count
    held = spark.sql(f"SELECT file_path FROM {catalog}.db.t.all_files").collect()
    assert held
    assert [row[0] for row in held if not Path(row[0].removeprefix("file:")).is_file()] == []


@pytest.mark.parametrize(
    "name", ["hadoop_path", "java_random/t01_v1_linear", "java_random/t05_v3", "java_random/t12_v1"]
)
def test_among_other_files_ours_are_some_of_the_engines(
    spark: SparkSession, catalog: str, tmp_path: Path, name: str
) -> None:
    """The engine also deletes what no writer of Iceberg names like that, and other tables inside the directory."""
    root = tmp_path / "wh/db/t"
    root.parent.mkdir(parents=True)
    if name == "hadoop_path":
        moved(PYICEBERG / name, root)
    else:
        moved(SMALL / name, root)
    for stray in ("history.txt", "expected.json"):
        (root / stray).unlink(missing_ok=True)
    orphan = f"data/00000-0-{uuid.uuid4()}-00001.parquet"
    manifest = f"metadata/{uuid.uuid4()}-m0.avro"
    left = {"data/part-1.parquet", "README.md", f"backup/{uuid.uuid4()}.parquet", f"data/inner/data/{uuid.uuid4()}.orc"}
    hidden = {f"data/_tmp/{uuid.uuid4()}.parquet", f"data/.{uuid.uuid4()}.parquet"}
    for path in (orphan, manifest, *left, *hidden, "data/inner/metadata/v1.metadata.json"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"x")
    aged(root)
    young = f"data/00000-0-{uuid.uuid4()}-00002.parquet"
    (root / young).write_bytes(b"x")
    found, expected = ours(root), theirs(spark, catalog, root)
    assert {orphan, manifest} <= found <= expected
    assert expected - found <= left | {"data/inner/metadata/v1.metadata.json"}
    assert left <= expected
    assert young not in expected
