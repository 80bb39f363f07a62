"""Catalogs that Spark's settings define."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import doctor, settings_file, spark_catalogs
from core.catalog import list_tables, places
from core.credentials import masked
from core.errors import SnapscopeError, Unsupported
from core.execution.apply import apply
from core.model.actions import CreateTag
from core.table import open_table
from tests.support.formats.paimon.tables import four_commits

PAIMON, ICEBERG = "org.apache.paimon.spark.SparkCatalog", "org.apache.iceberg.spark.SparkCatalog"
SECRET = "a-secret-of-spark"


@pytest.fixture
def spark_conf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """`spark-defaults.conf`, without catalogs as yet."""
    for name in ("SNAPSCOPE_SPARK_CONF", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    (tmp_path / "conf").mkdir()
    return tmp_path / "conf" / "spark-defaults.conf"


def _of(name: str, kind: str, **options: str) -> dict[str, str]:
    return {f"spark.sql.catalog.{name}": kind} | {
        f"spark.sql.catalog.{name}.{key.replace('__', '-').replace('_', '.')}": value for key, value in options.items()
    }


def _write(file: Path, *catalogs: dict[str, str]) -> None:
    lines = [f"{key} {value}" for each in catalogs for key, value in each.items()]
    file.write_text("\n".join(lines))
    os.utime(file, ns=(len(lines), file.stat().st_mtime_ns + 1))


_DLF = {"metastore": "rest", "uri": "http://h", "token_provider": "dlf"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"metastore": "hive", "uri": "thrift://h:9083"}, {"type": "paimon-hive", "uri": "thrift://h:9083"}),
        ({"metastore": "hive"}, {"type": "paimon-hive", "uri": "thrift://site:9083"}),
        (
            {"metastore": "hive", "uri": "thrift://h:1", "lock_enabled": "true", "warehouse": "s3://b/w"},
            {"type": "paimon-hive", "uri": "thrift://h:1", "lock-enabled": True, "warehouse": "s3://b/w"},
        ),
        (
            {"metastore": "jdbc", "uri": "jdbc:sqlite:/x", "warehouse": "/w", "jdbc_user": "u", "jdbc_password": "p"},
            {"type": "paimon-jdbc", "uri": "jdbc:sqlite:/x", "warehouse": "/w", "user": "u", "password": "p"},
        ),
        (
            {"metastore": "rest", "uri": "http://h", "token_provider": "bear", "token": "t", "warehouse": "w"},
            {"type": "paimon-rest", "uri": "http://h", "token": "t", "warehouse": "w"},
        ),
        (
            {**_DLF, "dlf_region": "r", "dlf_access__key__id": "i", "dlf_access__key__secret": "s"},
            {"type": "paimon-rest", "uri": "http://h", "region": "r", "access-key": "i", "secret-key": "s"},
        ),
        (
            {**_DLF, "dlf_token__path": "/k", "dlf_access__key__id": "i", "dlf_signing__algorithm": "default"},
            {"type": "paimon-rest", "uri": "http://h", "credentials-file": "/k"},
        ),
    ],
)
def test_catalogs_of_paimon(options: dict[str, str], expected: dict[str, object]) -> None:
    servers = {"spark.hadoop.hive.metastore.uris": "thrift://site:9083"}
    assert spark_catalogs.of(_of("c", PAIMON, **options) | servers).catalogs == {"c": expected}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"type": "rest", "uri": "http://h", "credential": "i:s"},
            {"type": "rest", "uri": "http://h", "credential": "i:s"},
        ),
        (
            {"catalog__impl": "org.apache.iceberg.rest.RESTCatalog", "uri": "http://h", "io__impl": "a.java.Class"},
            {"type": "rest", "uri": "http://h"},
        ),
        ({}, {"type": "hive", "uri": "thrift://site:9083"}),
        ({"type": "glue", "warehouse": "s3://b/w"}, {"type": "glue", "warehouse": "s3://b/w"}),
        (
            {"type": "jdbc", "uri": "jdbc:sqlite:file:/tmp/x.db", "warehouse": "/w"},
            {"type": "sql", "uri": "sqlite:////tmp/x.db", "warehouse": "/w"},
        ),
    ],
)
def test_catalogs_of_iceberg(options: dict[str, str], expected: dict[str, str]) -> None:
    servers = {"spark.hadoop.hive.metastore.uris": "thrift://site:9083"}
    assert spark_catalogs.of(_of("c", ICEBERG, **options) | servers).iceberg == {"c": expected}


def test_other_catalogs_are_left_out_with_the_reason_or_ignored() -> None:
    found = spark_catalogs.of({
        **_of("dlf", PAIMON, **_DLF),
        **_of("ecs", PAIMON, **_DLF, dlf_token__loader="ecs"),
        **_of("v4", PAIMON, **_DLF, dlf_token__path="/k", dlf_signing__algorithm="openapi-v4"),
        **_of("other", PAIMON, metastore="rest", uri="http://h", token_provider="other", token="t"),
        **_of("new", PAIMON, metastore="unheard", uri="http://h"),
        **_of("bare", PAIMON, metastore="hive"),
        **_of("nowhere", PAIMON),
        **_of("nessie", ICEBERG, type="nessie", uri="http://h"),
        **_of("own", ICEBERG, catalog__impl="com.example.Own"),
        **_of("delta", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    })  # fmt: skip
    assert {**found.catalogs, **found.warehouses, **found.iceberg} == {}
    assert sorted(found.left_out) == ["bare", "dlf", "ecs", "nessie", "new", "nowhere", "other", "own", "v4"]
    assert "com.example.Own" in found.left_out["own"]
    assert found.unasked == {"dlf", "ecs", "v4", "other", "new"}, "whose servers may commit by themselves"


def test_a_warehouse_is_listed_and_opened_by_its_name(spark_conf: Path, tmp_path: Path) -> None:
    table = four_commits(tmp_path / "lake" / "shop.db" / "orders")
    _write(spark_conf, _of("lake", PAIMON, warehouse=f"file:{tmp_path}/lake", s3_endpoint="http://unused"))
    place = settings_file.location("lake")
    assert place == str(tmp_path / "lake")
    assert [each.name for each in list_tables(place).tables] == ["orders"]
    assert place in places([])
    open_table(str(table.root)).preview(CreateTag("t", 1), 2_000_000_000_000)
    _write(spark_conf)
    assert settings_file.location("lake") == "lake", "the file is read again when it changes"


def test_options_of_the_store_come_along_and_secrets_in_no_message(
    spark_conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # nobody is there: the usual ten attempts take ten seconds
    options = {"s3_endpoint": "http://127.0.0.1:1", "s3_access__key": "k", "s3_secret__key": SECRET}
    _write(spark_conf, _of("far", PAIMON, warehouse="s3://bucket/w", s3_path_style_access="true", **options))
    found = settings_file.current().warehouses["far"]
    assert {key: str(value) for key, value in found.options.items()} == {
        "endpoint": "http://127.0.0.1:1", "access-key": "k", "path-style": "True",
        "secret-key": "Secret(in the settings file)",
    }  # fmt: skip
    with pytest.raises(SnapscopeError) as failed:
        list_tables(found.location)
    assert SECRET not in f"{failed.value} {failed.value.remedy}"
    assert masked(f"<{SECRET}>") == "<…>"


def test_the_settings_file_takes_precedence(spark_conf: Path, tmp_path: Path) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(f"[warehouse.lake]\nlocation = '{tmp_path}/ours'\n")
    _write(spark_conf, _of("lake", PAIMON, warehouse="/theirs"), _of("more", PAIMON, warehouse="/more"))
    assert {name: each.location for name, each in settings_file.current().warehouses.items()} == {
        "lake": f"{tmp_path}/ours", "more": "/more",
    }  # fmt: skip


@pytest.mark.parametrize("place", ["paimon://odd", "iceberg://odd/a/t"])
def test_what_is_left_out_is_told_where_it_is_asked_for(spark_conf: Path, place: str) -> None:
    _write(spark_conf, _of("odd", ICEBERG, type="nessie", uri="http://h"))
    with pytest.raises(Unsupported, match="Spark's settings define the catalog odd"):
        list_tables(place)
    assert any(each.level == doctor.PROBLEM and "nessie" in each.found for each in doctor.of_group("catalogs"))


def test_a_catalog_that_cannot_be_asked_may_own_a_table(spark_conf: Path, tmp_path: Path) -> None:
    table = four_commits(tmp_path / "orders")
    _write(spark_conf, _of("dlf", PAIMON, metastore="rest", uri="http://h", token_provider="dlf"))
    found = open_table(str(table.root))
    with pytest.raises(Unsupported, match=r"cannot be determined whether .* the catalog dlf.*token\.provider=dlf"):
        apply(found, found.preview(CreateTag("t", 1), 0), settle_s=0)


def test_an_unusable_catalog_is_left_out_alone(spark_conf: Path, tmp_path: Path) -> None:
    four_commits(tmp_path / "lake" / "shop.db" / "orders")
    _write(spark_conf, _of("lake", PAIMON, warehouse=f"{tmp_path}/lake"), _of("rel", PAIMON, warehouse="relative"))
    found = settings_file.current()
    assert [*found.warehouses] == ["lake"]
    assert "an absolute path" in found.left_out["rel"]


def test_settings_that_cannot_be_read_may_define_any_catalog(spark_conf: Path, tmp_path: Path) -> None:
    table = four_commits(tmp_path / "orders")
    spark_conf.write_bytes(b"spark.sql.catalog.x \xff")
    found = open_table(str(table.root))
    with pytest.raises(
        Unsupported, match=r"whether a catalog of Spark's settings commits to this table: .*cannot be read"
    ):
        apply(found, found.preview(CreateTag("t", 1), 0), settle_s=0)
    assert any(each.level == doctor.PROBLEM and "cannot be read" in each.found for each in doctor.of_group("catalogs"))


def test_a_hadoop_catalog_of_iceberg_is_a_warehouse(spark_conf: Path, tmp_path: Path) -> None:
    metadata = tmp_path / "lake" / "shop" / "orders" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "v1.metadata.json").write_text("{}")
    _write(spark_conf, _of("ice", ICEBERG, type="hadoop", warehouse=f"{tmp_path}/lake"))
    (found,) = list_tables(settings_file.location("ice")).tables
    assert (found.database, found.name) == ("shop", "orders")
