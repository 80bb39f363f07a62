"""Changes through a real Hive Metastore: its lock, its pointer; restarts in between; a second client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.catalog import list_tables
from core.errors import Conflict, SnapscopeError
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import CreateBranch, CreateTag, DeleteTags, Expire, FastForward, RenameTag, ReplaceTag, Rollback
from core.table import open_table
from tests.engines.java import Missing, find_java
from tests.engines.metastore import Metastore
from tests.support.execution.ground import while_settling
from tests.support.execution.iceberg_ground import LATE_MS
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home

__all__ = ["home"]  # a fixture

pytestmark = [pytest.mark.slow, pytest.mark.engines]


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    try:
        find_java()
    except Missing as lack:
        pytest.skip(f"engines: {lack}")
    with Metastore(tmp_path_factory.mktemp("hive") / "metastore") as running:
        yield running


class HiveLake(Lake):
    """The same table, registered in Hive. The Metastore is its catalog; tests leave nothing there."""

    def __init__(self, directory: Path, metastore: Metastore) -> None:
        self.hive = metastore.uri
        super().__init__(directory)
        (directory / ".pyiceberg.yaml").write_text(
            f"catalog:\n  lake:\n    type: hive\n    uri: {self.hive}\n    warehouse: file://{directory}/wh\n"
        )

    def client(self) -> Any:
        from pyiceberg.catalog.hive import HiveCatalog

        return HiveCatalog("lake", uri=self.hive, warehouse=f"file://{self.directory}/wh")


@pytest.fixture
def lake(tmp_path: Path, metastore: Metastore) -> Iterator[HiveLake]:
    made = HiveLake(tmp_path, metastore)
    yield made
    with made.client() as client:
        client.drop_table("shop.orders")
        client.drop_namespace("shop")


def expiry(lake: Lake) -> Expire:
    return Expire(drop_tags=tuple(name for name in lake.document()["refs"] if name != "main"))


def test_listed_read_tagged_and_rolled_back(lake: HiveLake) -> None:
    assert NAME in [each.location for each in list_tables("iceberg://lake").tables]
    table, old = open_table(NAME), lake.ids()
    for change in (CreateTag("new", old[0]), ReplaceTag("new", old[1]), RenameTag("new", "newer")):
        apply(table, table.preview(change, LATE_MS), settle_s=0)
    with lake.client() as client:
        assert client.load_table("shop.orders").refs()["newer"].snapshot_id == old[1]
    line = [each.id for each in table.heads().main.snapshots]
    for change in (DeleteTags(("newer",)), CreateBranch("there"), Rollback(str(line[0])), FastForward("there")):
        apply(table, table.preview(change, LATE_MS), settle_s=0)
    with lake.client() as client:
        seen = client.load_table("shop.orders")
        assert [each.snapshot_id for each in seen.history()][-2:] == [line[0], line[-1]]
        assert seen.refs().keys() == lake.document()["refs"].keys() >= {"main", "there"}
    assert "newer" not in lake.document()["refs"]


def test_hive_can_still_query_the_table(lake: HiveLake) -> None:
    """Its storage descriptor names Iceberg's classes for Hive."""
    with lake.client()._client as thrift:
        before = thrift.get_table("shop", "orders")
        before.sd.inputFormat = "org.apache.iceberg.mr.hive.HiveIcebergInputFormat"
        before.sd.cols[0].comment = "as Hive shows it"
        thrift.alter_table("shop", "orders", before)
        before = thrift.get_table("shop", "orders")
    table = open_table(NAME)
    apply(table, table.preview(CreateTag("new", lake.ids()[0]), LATE_MS), settle_s=0)
    with lake.client()._client as thrift:
        after = thrift.get_table("shop", "orders")
    assert after.parameters["metadata_location"] != before.parameters["metadata_location"]
    assert after.sd == before.sd


def test_expiry_and_another_client_afterwards(lake: HiveLake) -> None:
    table = open_table(NAME)
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    assert apply(table, plan, settle_s=0).is_exact
    assert there - lake.files() == set(plan.frees["path"].to_pylist())
    assert lake.broken() == []
    lake.tag("theirs", lake.ids()[0])
    assert "theirs" in {ref.name for ref in table.heads().refs}


def test_a_tag_between_preview_and_apply_survives(lake: HiveLake) -> None:
    table, old = open_table(NAME), lake.ids()
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    lake.tag("theirs", old[0])
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert (lake.ids(), lake.files()) == (old, there)


def test_a_tag_in_the_very_moment_of_the_commit_survives(lake: HiveLake, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.catalog.hive import HiveCatalog

    table, old = open_table(NAME), lake.ids()
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    commit_table, waiting = HiveCatalog.commit_table, [lambda: lake.tag("theirs", old[0])]

    def late(self: HiveCatalog, *args: Any) -> Any:
        if waiting:
            waiting.pop()()
        return commit_table(self, *args)

    monkeypatch.setattr(HiveCatalog, "commit_table", late)
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert "theirs" in lake.document()["refs"]
    assert (lake.ids(), lake.files()) == (old, there)
    assert Journal().open_run(NAME) is None


def test_the_metastore_is_restarted_in_between(lake: HiveLake, metastore: Metastore) -> None:
    """It stops after the commit and before the sweep: nothing is deleted, and resume continues once it is back."""
    table = open_table(NAME)
    plan, there = table.preview(expiry(lake), LATE_MS), lake.files()
    with while_settling(metastore.stop), pytest.raises(SnapscopeError, match="did not answer"):
        apply(table, plan, settle_s=0)
    assert lake.files() == there
    metastore.start()
    run = Journal().open_run(NAME)
    assert run is not None
    assert recovery.resume(run.id, open_table=open_table, settle_s=0).is_exact
    assert lake.broken() == []
