"""Commits, tags and branches of append tables: what they publish, and what they leave behind when rejected."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import io
import itertools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Conflict, Corrupt, Invalid, NotFound, SnapscopeError, Unsupported
from core.formats.paimon import binary_row, references
from core.formats.paimon.write import commit, documents, manifest_encoding, publish
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import NewDataFile
from core.formats.table_format import Unknown
from core.model.references import Snapshot
from core.storage.store import Store
from tests.support.builders import TableBuilder
from tests.support.depth import tries
from tests.support.formats.paimon.commits import COLUMNS, T0, Uuids, avro, file, live, stamp


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(str(tmp_path / "default.db" / "t"))
    publish.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
    return store


def names(files: Sequence[NewDataFile]) -> set[str]:
    return {each.path.rsplit("/", 1)[-1] for each in files}


def all_files(store: Store) -> set[str]:
    root = Path(store.root)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


# what is written --------------------------------------------------------------------------------------------------


def test_the_first_schema_is_what_the_engine_would_print(store: Store) -> None:
    assert (
        store.read("schema/schema-0").decode()
        == """{
  "version" : 3,
  "id" : 0,
  "fields" : [ {
    "id" : 0,
    "name" : "id",
    "type" : "BIGINT"
  }, {
    "id" : 1,
    "name" : "note",
    "type" : "STRING"
  }, {
    "id" : 2,
    "name" : "dt",
    "type" : "STRING"
  } ],
  "highestFieldId" : 2,
  "partitionKeys" : [ "dt" ],
  "primaryKeys" : [ ],
  "options" : {
    "bucket" : "-1"
  },
  "timeMillis" : 1700000000000
}"""
    )


def test_a_commit_is_a_snapshot_of_todays_shape_with_its_lists_and_hints(store: Store) -> None:
    one = file(store)
    snapshot = commit.append(store, [one], Stamp(T0 + 5, Uuids("n"), user="ada", identifier=7, watermark=99))
    assert store.read("snapshot/snapshot-1").decode() == snapshot.content.decode()
    assert list(snapshot.fields) == [
        "version", "uuid", "id", "schemaId", "baseManifestList", "baseManifestListSize", "deltaManifestList",
        "deltaManifestListSize", "commitUser", "writerVersion", "commitIdentifier", "commitKind", "timeMillis",
        "totalRecordCount", "deltaRecordCount", "watermark", "nextRowId", "operation",
    ]  # fmt: skip
    assert snapshot.fields["baseManifestList"] == "manifest-list-n0-0"
    assert snapshot.fields["deltaManifestListSize"] == store.size("manifest/manifest-list-n0-1")
    assert (snapshot.commit_user, snapshot.commit_identifier, snapshot.time_ms) == ("ada", 7, T0 + 5)
    assert (snapshot.total_rows, snapshot.delta_rows, snapshot.watermark) == (10, 10, 99)
    assert store.read("snapshot/LATEST") == store.read("snapshot/EARLIEST") == b"1"
    assert avro(store, "manifest-list-n0-0") == []
    (listed,) = avro(store, "manifest-list-n0-1")
    assert listed["_FILE_NAME"] == "manifest-n0-0"
    assert listed["_FILE_SIZE"] == store.size("manifest/manifest-n0-0")
    assert (listed["_NUM_ADDED_FILES"], listed["_NUM_DELETED_FILES"]) == (1, 0)
    assert listed["_PARTITION_STATS"]["_MIN_VALUES"] == one.partition
    assert listed["_PARTITION_STATS"]["_NULL_COUNTS"] == [0]
    (entry,) = avro(store, "manifest-n0-0")
    assert (entry["_PARTITION"], entry["_BUCKET"], entry["_TOTAL_BUCKETS"]) == (one.partition, 0, -1)
    told = entry["_FILE"]
    assert (told["_FILE_SIZE"], told["_ROW_COUNT"], told["_MAX_SEQUENCE_NUMBER"]) == (10, 10, 9)
    columns = ("BIGINT", "STRING", "STRING")
    assert binary_row.decode(told["_VALUE_STATS"]["_MIN_VALUES"], columns) == (1, "a", "d1")
    assert binary_row.decode(told["_VALUE_STATS"]["_MAX_VALUES"], columns) == (9, "z", "d1")
    assert told["_CREATION_TIME"] == dt.datetime.fromtimestamp(T0 / 1000, dt.UTC)
    assert (told["_FILE_SOURCE"], told["_VALUE_STATS_COLS"]) == (0, None)


def test_the_same_names_and_changes_give_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for place in ("a", "b"):
        store = Store(str(tmp_path / place))
        publish.create_table(store, COLUMNS, partition_keys=["dt"], time_ms=T0)
        path = "dt=d1/bucket-0/data-same-0.parquet"
        store.create(path, b"")
        row = binary_row.encode(("d1",), ("STRING",))
        commit.append(store, [NewDataFile(row, path, 0, 0, 0, None, 0, T0)], Stamp(T0, Uuids("n")))
        contents.append({name: store.read(name) for name in all_files(store)})
    assert contents[0] == contents[1]


@tries(30)
@given(st.data())
def test_every_snapshot_keeps_what_a_plain_dictionary_keeps(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    store = Store(str(tmp_path_factory.mktemp("model") / "t"))
    options = {"manifest.merge-min-count": str(data.draw(st.integers(2, 5)))}
    publish.create_table(store, COLUMNS, partition_keys=["dt"], options=options, time_ms=T0)
    model: dict[str, tuple[str | None, int]] = {}
    history: list[tuple[Snapshot, set[str]]] = []
    days = st.sampled_from(["d1", "d2", "", None])
    for step in range(data.draw(st.integers(1, 9))):
        kind = data.draw(st.sampled_from(["append", "overwrite", "compact"]))
        at = stamp(T0 + step)
        if kind == "append":
            new = [file(store, day, 3) for day in data.draw(st.lists(days, max_size=3))]
            history.append((commit.append(store, new, at), set()))
        elif kind == "overwrite":
            day = data.draw(days)
            new = [file(store, day, 5) for _ in range(data.draw(st.integers(0, 2)))]
            model = {name: about for name, about in model.items() if about[0] != day}
            history.append((commit.overwrite(store, new, [{"dt": day}], at), set()))
        else:
            records = commit.live_entries(store, publish.read_head(store).snapshot)
            gone = data.draw(st.lists(st.sampled_from(records), unique_by=id)) if records else []
            new = [file(store, "d1", sum(each["_FILE"]["_ROW_COUNT"] for each in gone))] if gone else []
            for each in gone:
                del model[each["_FILE"]["_FILE_NAME"]]
            history.append((commit.compact(store, gone, new, at), set()))
        for each in new:
            values = binary_row.decode(each.partition, ("STRING",))
            model[each.path.rsplit("/", 1)[-1]] = (values[0], each.rows)
        history[-1][1].update(model)
        assert history[-1][0].total_rows == sum(rows for _, rows in model.values())
    assert [snapshot.id for snapshot, _ in history] == list(range(1, len(history) + 1))
    for snapshot, kept in history:
        assert live(store, snapshot) == kept


def test_manifests_are_merged_once_there_are_thirty(store: Store) -> None:
    for number in range(32):
        commit.append(store, [file(store, f"d{number}")], stamp(T0 + number))
    head = publish.read_head(store).snapshot
    assert head is not None
    base = avro(store, head.fields["baseManifestList"])
    assert [listed["_NUM_ADDED_FILES"] for listed in base] == [30, 1]
    stats = base[0]["_PARTITION_STATS"]
    assert binary_row.decode(stats["_MIN_VALUES"], ("STRING",)) == ("d0",)
    assert binary_row.decode(stats["_MAX_VALUES"], ("STRING",)) == ("d9",)
    assert len(live(store)) == 32


@pytest.mark.parametrize("form", ["orc", "parquet"])
def test_manifests_in_another_format_are_left_to_their_engine(form: str, tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "default.db" / "t", partition_keys=["dt"], forms=[form])
    table.commit([table.file(partition=("d1",))])
    store = Store(str(table.root))
    before = all_files(store)
    with pytest.raises(Unsupported, match="ORC or Parquet") as caught:
        commit.overwrite(store, [], [{"dt": "d1"}], stamp())
    assert str(caught.value.path).startswith("manifest/manifest-list-")
    assert all_files(store) == before


def test_statistics_and_watermark_are_carried_over_and_properties_are_a_commits_own(store: Store) -> None:
    first = commit.append(store, [file(store)], stamp(watermark=50, properties={"a": "b"}))
    assert first.fields["properties"] == {"a": "b"}
    document = {**first.fields, "statistics": "stat-x-0", "indexManifest": "index-x-0", "nextRowId": 7}
    store.put("snapshot/snapshot-1", documents.pretty(document))
    with pytest.raises(NotFound, match="stat-x-0"):
        commit.append(store, [file(store)], stamp())
    store.put("statistics/stat-x-0", b'{"schemaId": 0}')
    second = commit.append(store, [file(store)], stamp(watermark=20))
    assert (second.watermark, second.fields["nextRowId"]) == (50, 7)
    assert second.fields["statistics"] == "stat-x-0"
    assert "properties" not in second.fields
    assert second.fields["indexManifest"] == "index-x-0"
    publish.add_column(store, "more", "INT", time_ms=T0)
    third = commit.append(store, [file(store)], stamp())
    assert "statistics" not in third.fields  # they speak of the schema before
    with pytest.raises(Unsupported, match="index files"):
        commit.overwrite(store, [], [{"dt": "d1"}], stamp())


def test_overwrite_takes_named_partitions_and_nothing_else(store: Store) -> None:
    commit.append(store, [file(store, "d1"), file(store, "d1"), file(store, "d2"), file(store, None)], stamp())
    kept = live(store)
    new = file(store, "d1", 4)
    snapshot = commit.overwrite(store, [new], [{"dt": "d1"}], stamp())
    assert (snapshot.kind, snapshot.delta_rows, snapshot.total_rows) == ("OVERWRITE", 4 - 20, 24)
    assert len(live(store) & kept) == 2
    commit.overwrite(store, [], [{"dt": None}], stamp())
    assert len(live(store)) == 2
    commit.overwrite(store, [], [{}], stamp())
    assert live(store) == set()


def test_overwrite_refuses_rows_elsewhere_and_unknown_keys_and_takes_its_files_away(store: Store) -> None:
    commit.append(store, [file(store, "d1")], stamp())
    before = all_files(store)
    with pytest.raises(Invalid, match="outside"):
        commit.overwrite(store, [file(store, "d2")], [{"dt": "d1"}], stamp())
    with pytest.raises(Invalid, match="'day' is not a partition key of this table; its keys are"):
        commit.overwrite(store, [], [{"day": "d1"}], stamp())
    with pytest.raises(Invalid, match="No partition"):
        commit.overwrite(store, [], [], stamp())
    assert all_files(store) == before


# races and failures -----------------------------------------------------------------------------------------------


class Meddled(Store):
    """A store in which something happens at the moment one path is created."""

    def __init__(self, location: str, path: str, meddle: Callable[[], object], *, after: bool = False) -> None:
        super().__init__(location)
        self.path, self.meddle, self.after, self.met = path, meddle, after, 0

    def create(self, relative: str, data: bytes) -> None:
        is_now = relative == self.path and not self.met
        if is_now and not self.after:
            self.met += 1
            self.meddle()
        super().create(relative, data)
        if is_now and self.after:
            self.met += 1
            self.meddle()


def test_a_lost_race_is_repeated_on_top_of_the_winner(store: Store) -> None:
    commit.append(store, [file(store)], stamp())
    winner, ours = file(store, "d2"), file(store, "d3")
    meddled = Meddled(store.root, "snapshot/snapshot-2", lambda: commit.append(store, [winner], stamp()))
    snapshot = commit.append(meddled, [ours], Stamp(T0, Uuids("race")))
    assert meddled.met == 1
    assert (snapshot.id, snapshot.total_rows) == (3, 30)
    assert names([winner, ours]) < live(store)
    assert "manifest/manifest-race0-0" not in all_files(store)  # the first attempt's metadata is gone


def test_an_overwrite_that_lost_replaces_what_the_winner_added_too(store: Store) -> None:
    commit.append(store, [file(store)], stamp())
    meddled = Meddled(store.root, "snapshot/snapshot-2", lambda: commit.append(store, [file(store)], stamp()))
    new = file(store)
    assert commit.overwrite(meddled, [new], [{"dt": "d1"}], stamp()).id == 3
    assert live(store) == names([new])


def test_a_compaction_of_files_that_were_replaced_meanwhile_is_a_conflict(store: Store) -> None:
    first = commit.append(store, [file(store), file(store)], stamp())
    gone = commit.live_entries(store, first)
    meddled = Meddled(store.root, "snapshot/snapshot-2", lambda: commit.overwrite(store, [], [{"dt": "d1"}], stamp()))
    new = file(store, rows=20)
    before = all_files(store)
    with pytest.raises(Conflict, match="is no longer a current file; another commit replaced it"):
        commit.compact(meddled, gone, [new], stamp())
    assert new.path not in all_files(store)
    assert {path for path in all_files(store) - before if not path.startswith(("snapshot/", "manifest/"))} == set()
    assert publish.read_head(store).snapshot.id == 2


def test_a_snapshot_replaced_right_after_publishing_is_a_conflict_and_nothing_is_deleted(store: Store) -> None:
    ours = file(store)
    meddled = Meddled(
        store.root, "snapshot/snapshot-1", lambda: store.put("snapshot/snapshot-1", b'{"id": 1}'), after=True
    )
    with pytest.raises(Conflict, match="replaced"):
        commit.append(meddled, [ours], stamp())
    assert ours.path in all_files(store)


def test_an_engine_about_to_rename_over_a_snapshot_is_waited_for(store: Store) -> None:
    """It had looked before ours was there: its temporary file tells, until it is moved."""
    temporary = Path(store.root) / "snapshot/.snapshot-1.0e1c.tmp"
    temporary.parent.mkdir()
    temporary.write_bytes(b'{"id": 1}')
    looks = itertools.count(1)

    class Watched(Store):
        def ls(self, relative: str = "") -> Any:
            if relative == "snapshot" and (Path(self.root) / "snapshot/snapshot-1").exists() and next(looks) == 3:
                temporary.rename(Path(self.root) / "snapshot/snapshot-1")
            return super().ls(relative)

    with pytest.raises(Conflict, match="replaced"):
        commit.append(Watched(store.root), [file(store)], stamp())


def test_what_a_crashed_engine_left_does_not_stop_commits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "RIVAL_S", 0.01)
    store.put("snapshot/.snapshot-1.0e1c.tmp", b'{"id": 1}')
    assert commit.append(store, [file(store)], stamp()).id == 1


def test_an_error_after_the_snapshot_got_there_is_a_commit(store: Store) -> None:
    def fail() -> None:
        raise OSError("the connection broke")

    meddled = Meddled(store.root, "snapshot/snapshot-1", fail, after=True)
    assert commit.append(meddled, [file(store)], stamp()).id == 1


class Doubtful(Store):
    """A store whose answer to the first snapshots is lost: a write was not carried out, was, or comes late."""

    def __init__(self, location: str, becomes: str, times: int = 1) -> None:
        super().__init__(location)
        self.becomes, self.times = becomes, times
        self.late: dict[str, bytes] = {}
        self.lost = False

    def create(self, relative: str, data: bytes) -> None:
        for path, content in list(self.late.items()):
            super().create(path, content)  # it arrives before whatever is written next
            del self.late[path]
        if not relative.startswith("snapshot/") or not self.times:
            return super().create(relative, data)
        self.times -= 1
        self.lost = True
        if self.becomes == "done":
            super().create(relative, data)
        elif self.becomes == "late":
            self.late[relative] = data
        raise OSError("the connection broke")

    def read(self, relative: str, *limits: Any) -> bytes:
        if relative.startswith("snapshot/") and self.lost:
            self.lost = False
            raise Corrupt("the connection broke", path=relative)
        return super().read(relative, *limits)


@pytest.mark.parametrize("becomes", ["never", "done", "late"])
def test_a_commit_whose_answer_was_lost_lands_once(store: Store, becomes: str) -> None:
    commit.append(store, [file(store)], stamp())
    ours = file(store)
    snapshot = commit.append(Doubtful(store.root, becomes), [ours], stamp())
    assert (snapshot.id, snapshot.total_rows) == (2, 20)
    assert publish.read_head(store).snapshot == snapshot
    assert len(live(store)) == 2
    assert names([ours]) < set(live(store))


def test_where_the_outcome_is_not_known_nothing_is_deleted(store: Store) -> None:
    options = json.loads(store.read("schema/schema-0"))
    options["options"] |= {"commit.max-retries": "2", "commit.max-retry-wait": "1 ms"}
    store.put("schema/schema-0", json.dumps(options).encode())
    ours = file(store)
    with pytest.raises(Conflict, match="cannot be determined whether"):
        commit.append(Doubtful(store.root, "never", times=9), [ours], Stamp(T0, Uuids("lost")))
    assert {ours.path, "manifest/manifest-lost0-0", "manifest/manifest-list-lost0-1"} < all_files(store)


def test_a_numbered_change_lands_once_however_often_it_is_tried(store: Store) -> None:
    def batch(number: int, new: NewDataFile, user: str = "stream") -> Snapshot:
        return commit.append(store, [new], stamp(user=user, identifier=number))

    one = file(store)
    assert [batch(1, one).id, batch(2, file(store)).id] == [1, 2]
    before = all_files(store)
    again = file(store)
    assert (batch(2, again).id, batch(1, file(store, "late")).id) == (2, 2)
    assert again.path not in all_files(store)  # what was written for it is taken away
    assert batch(2, one).id == 2
    assert before <= all_files(store), "the files of the commit that landed stay"
    assert batch(1, file(store), "another").id == 3
    assert commit.overwrite(store, [], [{}], stamp(user="stream", identifier=2)).id == 4, "another kind of commit"
    assert commit.append(store, [file(store)], stamp()).id == commit.append(store, [file(store)], stamp()).id - 1
    meddled = Meddled(store.root, "snapshot/snapshot-7", lambda: batch(3, file(store, "twin")))
    assert commit.append(meddled, [file(store)], stamp(user="stream", identifier=3)).id == 7
    assert publish.read_head(store).snapshot.id == 7


class Silent(Store):
    """A store that does not answer what is in one directory, or what stands in the files of one kind."""

    silent = ""

    def ls_if_there(self, relative: str = "", splits: Sequence[str] = ()) -> Any:
        if relative == self.silent:
            raise Corrupt("the connection broke", path=relative)
        return super().ls_if_there(relative, splits)

    def read(self, relative: str, *limits: Any) -> bytes:
        if relative.startswith(f"{self.silent}-"):
            raise Corrupt("the connection broke", path=relative)
        return super().read(relative, *limits)


@pytest.mark.parametrize("silent", ["schema", "snapshot", "manifest/manifest"])
def test_a_numbered_change_that_landed_and_fails_when_tried_again_loses_nothing(store: Store, silent: str) -> None:
    """Its answer was lost, and so it comes again with the same files; the store breaks before that is known."""
    one, other = file(store), file(store)
    commit.append(store, [one], stamp(user="stream", identifier=1))
    before = all_files(store)
    broken = Silent(store.root)
    broken.silent = silent
    with pytest.raises(Corrupt):
        commit.append(broken, [one], stamp(user="stream", identifier=1))
    assert all_files(store) == before
    wrong = dataclasses.replace(other, schema_id=9)
    with pytest.raises(NotFound):
        commit.append(store, [wrong], stamp(user="stream", identifier=2))
    assert all_files(store) == before - {other.path}, "what has not landed is taken away"
    commit.append(store, [file(store)], stamp())
    store.delete("snapshot/snapshot-1")
    with pytest.raises(NotFound):
        commit.append(store, [one, wrong], stamp(user="stream", identifier=1))
    assert one.path in all_files(store), "its snapshot has expired, and it is live"


def test_rows_that_do_not_fit_a_schema_made_meanwhile_are_a_conflict(store: Store) -> None:
    ours = file(store)
    document = json.loads(store.read("schema/schema-0"))
    document["id"], document["fields"][0]["type"] = 1, "SMALLINT"
    store.put("schema/schema-1", json.dumps(document).encode())
    with pytest.raises(Conflict, match="'id' was changed from BIGINT to SMALLINT"):
        commit.append(store, [ours], stamp())
    assert ours.path not in all_files(store)


def test_a_dynamic_overwrite_replaces_what_it_touches_and_nothing_without_files(store: Store, tmp_path: Path) -> None:
    commit.append(store, [file(store, "d1"), file(store, "d2"), file(store, None)], stamp())
    assert commit.overwrite_touched(store, [], stamp()) is None
    snapshot = commit.overwrite_touched(store, [file(store, "d1", 3), file(store, None, 4)], stamp())
    assert snapshot is not None
    assert (snapshot.id, snapshot.kind, snapshot.total_rows) == (2, "OVERWRITE", 17)
    plain = Store(str(tmp_path / "plain"))
    publish.create_table(plain, COLUMNS, time_ms=T0)
    commit.append(plain, [dataclasses.replace(file(plain), partition=binary_row.EMPTY)], stamp())
    emptied = commit.overwrite_touched(plain, [], stamp())
    assert emptied is not None
    assert emptied.total_rows == 0


@pytest.mark.parametrize(("target", "manifests"), [("64 kb", 1), ("1 b", 5)])
def test_old_deletions_are_carried_out_where_they_fill_the_manifests(store: Store, target: str, manifests: int) -> None:
    """All small ones become one; large ones that no deletion speaks of stay as they are."""
    document = json.loads(store.read("schema/schema-0"))
    document["options"] |= {"manifest.target-file-size": target, "manifest.full-compaction-threshold-size": "1 b"}
    store.put("schema/schema-0", json.dumps(document).encode())
    for number in range(6):
        commit.append(store, [file(store, f"d{number}")], stamp())
    commit.overwrite(store, [], [{"dt": "d1"}], stamp())
    kept = live(store)
    head = commit.append(store, [file(store)], stamp())
    base = avro(store, head.fields["baseManifestList"])
    assert (len(base), sum(listed["_NUM_ADDED_FILES"] for listed in base)) == (manifests, 5)
    assert sum(listed["_NUM_DELETED_FILES"] for listed in base) == 0
    assert kept < live(store)


def test_object_stores_are_left_to_engines_that_take_turns_by_a_lock(store: Store) -> None:
    class Remote(Store):
        @property
        def is_local(self) -> bool:
            return False

        def create(self, relative: str, data: bytes) -> None:
            Store(store.root).create(relative, data)

    remote = Remote(store.root)
    first = commit.append(remote, [file(store)], stamp())
    assert commit.append(remote, [file(store)], stamp()).id == 2
    store.put("snapshot/snapshot-1", documents.pretty({**first.fields, "writerVersion": "java-2.0.0"}))
    with pytest.raises(Unsupported, match=r"Snapshot 1 was committed by another engine \(java-2.0.0\)"):
        commit.append(remote, [file(store)], stamp())


def test_a_failure_before_publishing_leaves_nothing_behind(store: Store) -> None:
    def fail() -> None:
        raise OSError("the disk is full")

    before = all_files(store)
    meddled = Meddled(store.root, "manifest/manifest-list-full0-1", fail)
    with pytest.raises(OSError, match="full"):
        commit.append(meddled, [file(store)], Stamp(T0, Uuids("full")))
    assert all_files(store) == before


def test_what_cannot_be_deleted_is_told_with_the_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Store, relative: str) -> bool:
        raise Corrupt("No.", path=relative)

    ours = file(store, "d2")
    monkeypatch.setattr(Store, "delete", refuse)
    with pytest.raises(Invalid) as caught:
        commit.overwrite(store, [ours], [{"dt": "d1"}], stamp())
    assert any(ours.path in note for note in caught.value.__notes__)


def test_a_commit_whose_hints_cannot_be_written_is_a_commit(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: Store, relative: str, data: bytes) -> None:
        raise OSError("read-only")

    monkeypatch.setattr(Store, "put", refuse)
    monkeypatch.setattr(logging.getLogger(commit.__name__), "disabled", False)  # another test's tool may silence it
    with caplog.at_level(logging.WARNING):
        assert commit.append(store, [file(store)], stamp()).id == 1
    assert "hints could not be written" in caplog.text


# refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"primaryKeys": ["id"]}, "primary key"),
        ({"options": {"bucket": "4"}}, "'bucket' = '4'"),
        ({"options": {"deletion-vectors.enabled": "true"}}, "deletion-vectors.enabled"),
        ({"options": {"row-tracking.enabled": "true"}}, "row-tracking.enabled"),
        ({"options": {"file.format": "orc"}}, "'file.format' = 'orc'"),
        ({"options": {"metadata.stats-mode": "full"}}, "'metadata.stats-mode' = 'full'"),
        ({"options": {"something.new": "1"}}, "something.new"),
        ({"options": {"commit.callbacks": "com.example.Tell"}}, "commit.callbacks"),
        ({"options": {"write.sequence-number-init-mode": "snapshot"}}, "write.sequence-number-init-mode"),
        ({"version": 2}, "'file.format' = 'orc'"),
        ({"fields": [{"id": 0, "name": "dt", "type": "TIMESTAMP(3)"}]}, "TIMESTAMP(3)"),
        ({"fields": [{"id": 0, "name": "dt", "type": "DOUBLE"}]}, "Partition key 'dt' of type"),
        ({"fields": [{"id": 0, "name": "dt", "type": {"type": "ARRAY", "element": "TIME"}}]}, "TIME"),
    ],
)
def test_tables_that_would_be_written_wrongly_are_refused_by_name(
    store: Store, change: Mapping[str, Any], says: str
) -> None:
    ours = file(store)
    schema = json.loads(store.read("schema/schema-0"))
    store.put("schema/schema-0", json.dumps({**schema, **change}).encode())
    with pytest.raises(Unsupported) as caught:
        commit.append(store, [ours], stamp())
    assert says in str(caught.value)
    assert ours.path not in all_files(store)


def test_options_of_housekeeping_and_reading_are_taken(tmp_path: Path) -> None:
    options = {"snapshot.num-retained.max": "10", "tag.default-time-retained": "30 d", "file.compression": "snappy"}
    options |= {"deletion-vectors.enabled": "false", "data-file.prefix": "rows-", "commit.timeout": "1 h"}
    schema = publish.create_table(Store(str(tmp_path / "t")), COLUMNS, options=options, time_ms=T0)
    assert schema.options == {"bucket": "-1", **options}


def test_metadata_with_fields_unknown_here_is_not_written_anew(store: Store) -> None:
    first = commit.append(store, [file(store)], stamp())
    path = f"manifest/{first.fields['deltaManifestList']}"
    reader: Any = fastavro.reader(io.BytesIO(store.read(path)))
    records, schema = list(reader), copy.deepcopy(reader.writer_schema)
    schema["fields"].append({"name": "_FROM_THE_FUTURE", "type": ["null", "int"], "default": None})
    out = io.BytesIO()
    fastavro.writer(out, schema, records)
    store.put(path, out.getvalue())
    with pytest.raises(Unsupported, match="_FROM_THE_FUTURE"):
        commit.append(store, [file(store)], stamp())


def test_a_damaged_manifest_stops_whoever_needs_it(store: Store) -> None:
    first = commit.append(store, [file(store)], stamp())
    (listed,) = avro(store, first.fields["deltaManifestList"])
    path = f"manifest/{listed['_FILE_NAME']}"
    store.put(path, store.read(path)[:200])
    with pytest.raises(Corrupt) as caught:
        commit.overwrite(store, [], [{"dt": "d1"}], stamp())
    assert caught.value.path == path
    assert commit.append(store, [file(store)], stamp()).id == 2  # appends do not need it


def test_entries_of_old_writers_are_taken_over_with_null_for_what_they_lack(store: Store) -> None:
    first = commit.append(store, [file(store), file(store, "d2")], stamp())
    (listed,) = avro(store, first.fields["deltaManifestList"])
    path = f"manifest/{listed['_FILE_NAME']}"
    reader: Any = fastavro.reader(io.BytesIO(store.read(path)))
    records, schema = list(reader), copy.deepcopy(reader.writer_schema)
    inner = schema["fields"][-1]["type"]
    inner["fields"] = inner["fields"][:16]  # Paimon 0.9 ends at _FILE_SOURCE
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec="zstandard")
    store.put(path, out.getvalue())
    second = commit.overwrite(store, [], [{"dt": "d2"}], stamp())
    (delta,) = avro(store, second.fields["deltaManifestList"])
    (entry,) = avro(store, delta["_FILE_NAME"])
    assert (entry["_KIND"], entry["_FILE"]["_EXTERNAL_PATH"], entry["_FILE"]["_FILE_SOURCE"]) == (1, None, 0)
    assert len(live(store)) == 1


# schemas, tags, branches --------------------------------------------------------------------------------------------


def test_added_columns_get_new_ids_and_unknown_fields_of_the_schema_survive(store: Store) -> None:
    document = json.loads(store.read("schema/schema-0"))
    store.put("schema/schema-0", json.dumps({**document, "new in 9.0": [1]}).encode())
    row = {"type": "ROW", "fields": [{"id": 0, "name": "x", "type": "INT"}, {"id": 0, "name": "y", "type": "INT"}]}
    second = publish.add_column(store, "place", row, time_ms=T0 + 1)
    third = publish.add_column(store, "last", "DATE", time_ms=T0 + 2)
    assert [field.id for field in third.fields] == [0, 1, 2, 3, 6]
    document = json.loads(store.read("schema/schema-1"))
    assert [field["id"] for field in document["fields"][-1]["type"]["fields"]] == [4, 5]
    assert (document["new in 9.0"], document["highestFieldId"], document["timeMillis"]) == ([1], 5, T0 + 1)
    assert (second.id, third.id) == (1, 2)
    for name, of in (("id", "INT"), ("  ", "INT"), ("x", "INT NOT NULL")):
        with pytest.raises(Invalid):
            publish.add_column(store, name, of, time_ms=T0)


def test_a_lost_race_for_a_schema_is_repeated_on_top_of_the_winner(store: Store) -> None:
    meddled = Meddled(store.root, "schema/schema-1", lambda: publish.add_column(store, "theirs", "INT", time_ms=T0))
    schema = publish.add_column(meddled, "ours", "INT", time_ms=T0)
    assert [field.name for field in schema.fields][3:] == ["theirs", "ours"]
    assert schema.id == 2


def test_a_table_is_created_once(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Conflict):
        publish.create_table(store, COLUMNS, time_ms=T0)
    empty = Store(str(tmp_path / "x"))
    for columns, keys in (((), ()), ((("a", "INT"), ("a", "INT")), ()), (COLUMNS, ("day",)), (COLUMNS, ("dt", "dt"))):
        with pytest.raises(Invalid):
            publish.create_table(empty, columns, partition_keys=keys, time_ms=T0)
    with pytest.raises(NotFound):
        commit.append(empty, [], stamp())


def test_a_tag_is_its_snapshots_bytes(store: Store) -> None:
    first = commit.append(store, [file(store)], stamp())
    second = commit.append(store, [file(store)], stamp())
    assert publish.create_tag(store, "v1", snapshot_id=1) == first.content == store.read("tag/tag-v1")
    assert publish.create_tag(store, "newest") == second.content
    store.delete("snapshot/snapshot-1")  # expired: other tags may still be cut from the one that holds it
    assert publish.create_tag(store, "again", snapshot_id=1) == first.content
    for name, number in (("v1", 2), ("x", 9)):
        with pytest.raises((Conflict, NotFound)):
            publish.create_tag(store, name, snapshot_id=number)


@pytest.mark.parametrize(
    ("created", "retained_ms", "ends"),
    [
        (
            dt.datetime(2026, 11, 21, 0, 51, 37, 552723),
            129_600_000,
            '"tagCreateTime" : [ 2026, 11, 21, 0, 51, 37, 552723000 ],\n  "tagTimeRetained" : 129600.000000000\n}',
        ),
        (
            dt.datetime(2026, 11, 21, 10, 5),
            1_500,
            '"tagCreateTime" : [ 2026, 11, 21, 10, 5 ],\n  "tagTimeRetained" : 1.500000000\n}',
        ),
        (
            dt.datetime(2026, 11, 21, 10, 5, 0, 1000),
            0,
            '"tagCreateTime" : [ 2026, 11, 21, 10, 5, 0, 1000000 ],\n  "tagTimeRetained" : 0.0\n}',
        ),
    ],
)
def test_a_retention_stands_at_the_end_of_the_tag(
    store: Store, created: dt.datetime, retained_ms: int, ends: str
) -> None:
    snapshot = commit.append(store, [file(store)], stamp())
    content = publish.create_tag(store, "v1", created=created, retained_ms=retained_ms)
    assert content.decode().endswith(ends)
    tag = references.tag_of("v1", content, "")
    assert (tag.created, tag.retained) == (created, dt.timedelta(milliseconds=retained_ms))
    assert json.loads(documents.untagged(content)) == snapshot.fields


def test_a_tag_whose_snapshot_goes_while_it_is_made_is_withdrawn(store: Store) -> None:
    commit.append(store, [file(store)], stamp())
    meddled = Meddled(store.root, "tag/tag-v1", lambda: store.delete("snapshot/snapshot-1"))
    with pytest.raises(Conflict, match="was deleted after it was read"):
        publish.create_tag(meddled, "v1")
    assert "tag/tag-v1" not in all_files(store)


@pytest.mark.parametrize(
    "name", ["", " ", " a", "a/b", "../x", "a,b", "a\n", ".hidden", "x" * 201, "success-file", "a\\b"]
)
def test_tag_names_that_no_engine_could_list_or_delete_are_refused(store: Store, name: str) -> None:
    commit.append(store, [file(store)], stamp())
    with pytest.raises(Invalid):
        publish.create_tag(store, name)


def test_a_branch_holds_copies_and_commits_on_its_own(store: Store) -> None:
    commit.append(store, [file(store)], stamp())
    publish.add_column(store, "more", "INT", time_ms=T0)
    second = commit.append(store, [file(store)], stamp())
    publish.create_tag(store, "v2")
    commit.append(store, [file(store)], stamp())
    publish.create_branch(store, "dev", "v2")
    assert store.read("branch/branch-dev/tag/tag-v2") == store.read("tag/tag-v2")
    assert store.read("branch/branch-dev/snapshot/snapshot-2") == second.content
    assert store.read("branch/branch-dev/schema/schema-1") == store.read("schema/schema-1")
    own = commit.append(store, [file(store)], stamp(branch="dev"))
    assert (own.id, own.total_rows) == (3, 30)
    assert publish.read_head(store).snapshot.fields != own.fields
    assert store.read("branch/branch-dev/snapshot/LATEST") == b"3"
    for name, tag in (("dev", "v2"), ("x", "nothing"), ("main", "v2"), ("12", "v2")):
        with pytest.raises(SnapscopeError):
            publish.create_branch(store, name, tag)


def test_a_branch_can_be_cut_from_a_tag_whose_snapshot_expired(store: Store) -> None:
    first = commit.append(store, [file(store)], stamp())
    commit.append(store, [file(store)], stamp())
    publish.create_tag(store, "v1", snapshot_id=1, created=dt.datetime(2026, 1, 1), retained_ms=1000)
    store.delete("snapshot/snapshot-1")
    publish.create_branch(store, "dev", "v1")
    assert json.loads(store.read("branch/branch-dev/snapshot/snapshot-1")) == first.fields
    assert commit.append(store, [file(store)], stamp(branch="dev")).id == 2


def test_a_branch_whose_tag_goes_while_it_is_cut_is_withdrawn(store: Store) -> None:
    commit.append(store, [file(store)], stamp())
    publish.create_tag(store, "v1")
    before = all_files(store)
    path = "branch/branch-dev/snapshot/snapshot-1"
    meddled = Meddled(store.root, path, lambda: store.delete("tag/tag-v1"))
    with pytest.raises(Conflict, match="was deleted after it was read"):
        publish.create_branch(meddled, "dev", "v1")
    assert all_files(store) == before - {"tag/tag-v1"}
    assert [entry.name for entry in store.ls("") if entry.name == "branch"] == []


# statistics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "greatest", "kept"),
    [
        ("a", "b", ("a", "b")),
        ("x" * 16, "x" * 16, ("x" * 16, "x" * 16)),
        ("x" * 17, "x" * 17, ("x" * 16, "x" * 15 + "y")),
        ("a", "b" + "\U0010ffff" * 20, ("a", "c")),
        ("a", "\U0010ffff" * 17, (None, None)),
        ("a", "x" * 15 + "\ud7ff!", ("a", "x" * 15 + "\ue000")),
        (b"a" * 20, b"b\xff" * 20, (b"a" * 16, b"b\xff" * 7 + b"c")),
        (b"a", b"\xff" * 17, (None, None)),
        (1, 2, (1, 2)),
        (None, None, (None, None)),
    ],
)
def test_long_texts_are_cut_and_rounded_up_in_statistics(least: Any, greatest: Any, kept: Any) -> None:
    assert manifest_encoding.shortened(least, greatest) == kept


@given(st.text(max_size=40), st.text(max_size=40))
def test_cut_statistics_still_bound_the_values(a: str, b: str) -> None:
    low, high = manifest_encoding.shortened(min(a, b), max(a, b))
    if high is not None:
        assert low <= min(a, b)
        assert high >= max(a, b)
        assert max(len(low), len(high)) <= 16


# many at once ---------------------------------------------------------------------------------------------------------


def test_writers_at_the_same_time_lose_nothing(store: Store) -> None:
    """Each thread appends, and sometimes compacts what it finds; every file is live exactly once in the end."""

    def work(number: int) -> list[str]:
        own = Store(store.root)
        added: list[Any] = []
        for step in range(6):
            new = file(own, f"d{number}")
            commit.append(own, [new], stamp(T0 + step))
            added += names([new])
        return added

    with ThreadPoolExecutor(4) as pool:
        added = [name for names_ in pool.map(work, range(4)) for name in names_]
    snapshot = publish.read_head(store).snapshot
    assert snapshot is not None
    assert (snapshot.id, snapshot.total_rows) == (24, 240)
    assert live(store) == set(added)
    named = {path for path in all_files(store) if path.startswith("manifest/")}
    known = set()
    for number in range(1, 25):
        document = json.loads(store.read(f"snapshot/snapshot-{number}"))
        for which in ("base", "delta"):
            known.add(f"manifest/{document[f'{which}ManifestList']}")
            known |= {f"manifest/{each['_FILE_NAME']}" for each in avro(store, document[f"{which}ManifestList"])}
    assert named == known  # attempts that lost left nothing


# refusals just before publishing --------------------------------------------------------------------------------------


def test_a_commit_that_is_refused_before_it_is_published_leaves_nothing(store: Store) -> None:
    new, before = file(store), {each.name for each in store.ls_if_there("manifest")}

    def refuse() -> None:
        raise Conflict("taken over")

    with pytest.raises(Conflict, match="taken over"):
        commit.append(store, [new], dataclasses.replace(stamp(), refuse=refuse))
    assert {each.name for each in store.ls_if_there("manifest")} == before
    with pytest.raises(NotFound):
        store.read(new.path)


@pytest.mark.parametrize("error", [Conflict("taken over"), KeyboardInterrupt()])
def test_whatever_ends_a_commit_after_a_try_whose_outcome_is_unknown_is_no_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    new, asked = file(store), list[str]()

    def refuse() -> None:
        asked.append("refuse")
        if len(asked) > 1:
            raise error

    def lost(*_: object) -> bool:
        raise Unknown("no answer")

    monkeypatch.setattr(commit, "publish", lost)
    with pytest.raises(Unknown, match="no answer"):
        commit.append(store, [new], dataclasses.replace(stamp(), refuse=refuse))
    assert len(asked) == 2
    store.read(new.path)  # nothing is deleted
