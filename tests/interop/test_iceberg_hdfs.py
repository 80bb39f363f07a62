"""Hadoop tables in HDFS, changed by us and by Iceberg's Java core: one writer wins each version, no commit is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Conflict, Unsupported
from core.execution.apply import apply
from core.formats.table_format import Unknown
from core.model.actions import CreateTag, DeleteTags, Expire, Rollback
from core.storage.store import Store
from core.table import open_table
from tests.engines import hdfs_server, iceberg_java
from tests.engines.hdfs_server import Hdfs
from tests.engines.iceberg_java import IcebergJudge
from tests.engines.java import Missing
from tests.support.depth import sample
from tests.support.interop import iceberg_race

pytestmark = [pytest.mark.slow, pytest.mark.engines, pytest.mark.hdfs]
NOW = 1_700_000_000_000
DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HADOOP_USER_NAME", hdfs_server.USER)
        try:
            with hdfs_server.running(tmp_path_factory.mktemp("hdfs")) as found:
                yield found
        except Missing as lack:
            pytest.skip(f"engines: {lack}")


@pytest.fixture(scope="module")
def judge(hdfs: Hdfs) -> Iterator[IcebergJudge]:
    if lack := iceberg_java.missing():
        pytest.skip(f"engines: {lack}")
    with IcebergJudge() as judge:
        yield judge


@pytest.fixture
def table(judge: IcebergJudge, hdfs: Hdfs, tmp_path: Path) -> str:
    table = f"hdfs://{hdfs.native}/lake/{tmp_path.name}"
    judge.create(table, [("id", "long"), ("p", "string")], partition_by=[("p", "identity")], now=NOW)
    made = [append(judge, table, name, NOW + day * DAY_MS) for day, name in enumerate("abcd")]
    judge.change(table, {"do": "create_tag", "name": "early", "snapshot": made[1]}, now=NOW + 5 * DAY_MS)
    judge.change(table, {"do": "delete", "where": ["p", "xa"]}, now=NOW + 6 * DAY_MS)
    return table


def append(judge: IcebergJudge, table: str, name: str, now: int | None) -> int:
    change = {"do": "append", "fast": True, "name": name, "rows": [[ord(name), f"x{name}"]]}
    return int(judge.change(table, change, now=now)[0])


def test_an_expiry_of_ours_leaves_what_java_reads_and_writes_on(judge: IcebergJudge, table: str) -> None:
    now = NOW + 20 * DAY_MS
    ours = open_table(table)
    wanted = judge.expire(table, now=now, older_than_ms=NOW + 4 * DAY_MS, drop_refs=["early"])
    rows = judge.rows(table)
    plan = ours.preview(Expire(older_than_ms=NOW + 4 * DAY_MS, drop_tags=("early",)), now)
    receipt = apply(ours, plan, settle_s=0)
    assert receipt.is_exact
    assert {f"{table}/{path}" for path in receipt.deleted} == set(wanted["action"])
    assert judge.rows(table) == rows
    assert judge.state(table)["refs"].keys() == {"main"}
    append(judge, table, "z", None)
    assert len(judge.rows(table)) == len(rows) + 1
    apply(ours, ours.preview(CreateTag("mine"), now), settle_s=0)
    apply(ours, ours.preview(Rollback("latest~1"), now), settle_s=0)
    assert judge.rows(table) == rows
    apply(ours, ours.preview(DeleteTags(("mine",)), now), settle_s=0)
    assert judge.state(table)["refs"].keys() == {"main"}
    left = [entry.name for entry in Store(table).ls("metadata")]
    assert not [name for name in left if name.endswith(".tmp")]


def test_java_commits_between_our_plan_and_our_commit(judge: IcebergJudge, table: str) -> None:
    """An append is no conflict; a tag on a snapshot that expires is."""
    now = NOW + 20 * DAY_MS
    ours = open_table(table)
    plan = ours.preview(Expire(older_than_ms=NOW + 4 * DAY_MS), now)
    assert plan.deleted_points
    append(judge, table, "m", NOW + 7 * DAY_MS)
    assert apply(ours, plan, settle_s=0).outcome == "done"
    assert len(judge.rows(table)) == 4
    gone = judge.state(table)["snapshots"][0]["id"]
    plan = ours.preview(Expire(older_than_ms=NOW + 7 * DAY_MS, drop_tags=("early",)), now)
    judge.change(table, {"do": "create_tag", "name": "theirs", "snapshot": gone})
    before = judge.state(table)
    with pytest.raises(Conflict, match="can no longer be deleted"):
        apply(ours, plan, settle_s=0)
    assert judge.state(table) == before


def test_java_commits_the_same_version_between_our_look_and_our_rename(
    judge: IcebergJudge, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name was free when we looked; our rename fails, and we commit on top of Java's version."""
    create, raced = Store.create, list[str]()

    def late(store: Store, relative: str, data: bytes) -> None:
        if relative.endswith(".metadata.json") and not raced:
            raced.append(relative)
            judge.change(table, {"do": "create_branch", "name": "theirs", "snapshot": head})
        create(store, relative, data)

    head = judge.state(table)["current"]
    monkeypatch.setattr(Store, "create", late)
    ours = open_table(table)
    receipt = apply(ours, ours.preview(CreateTag("mine"), NOW), settle_s=0)
    assert receipt.created != (raced[0],)
    assert judge.state(table)["refs"].keys() == {"main", "early", "theirs", "mine"}


def test_java_changes_the_codec_between_our_look_and_our_rename(
    judge: IcebergJudge, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then both versions have names of their own: nobody is told that the commit is done, and no file is deleted."""
    create, raced = Store.create, list[str]()

    def late(store: Store, relative: str, data: bytes) -> None:
        if relative.endswith(".metadata.json") and not raced:
            raced.append(relative)
            judge.change(table, {"do": "properties", "set": {"write.metadata.compression-codec": "gzip"}})
        create(store, relative, data)

    monkeypatch.setattr(Store, "create", late)
    ours = open_table(table)
    plan = ours.preview(Expire(older_than_ms=NOW + 4 * DAY_MS, drop_tags=("early",)), NOW + 20 * DAY_MS)
    data = {entry.name for entry in Store(table).ls("metadata") if entry.name.endswith(".avro")}
    with pytest.raises(Unknown, match="at the same time"):
        apply(ours, plan, settle_s=0)
    assert data <= {entry.name for entry in Store(table).ls("metadata")}


@pytest.mark.parametrize("packing", sample(["gzip", "none"], 1))
def test_no_commit_is_lost_where_both_write_at_once(judge: IcebergJudge, table: str, packing: str) -> None:
    """A commit takes seconds here, for Java gets ahead of several of its attempts: half of the usual number will do."""
    iceberg_race.run(judge, table, packing, NOW, tries=iceberg_race.TRIES // 2)


def test_over_webhdfs_a_table_of_another_location_is_read_only(judge: IcebergJudge, hdfs: Hdfs, table: str) -> None:
    """Its metadata names hdfs://, where engines look."""
    name = table.rpartition("/")[2]
    ours = open_table(f"webhdfs://{hdfs_server.USER}@{hdfs.http}/lake/{name}")
    with pytest.raises(Unsupported, match="moved or copied"):
        apply(ours, ours.preview(CreateTag("mine"), NOW), settle_s=0)
