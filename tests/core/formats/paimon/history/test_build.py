"""The history of a table compared with an independent, slow reading: who holds what, what is live, what is deleted with
whom."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt
from core.model import intervals
from core.model.actions import Expire
from core.model.history import History
from core.table import Table, open_table
from tests.support import builders, set_model
from tests.support.builders import DataFile, TableBuilder
from tests.support.depth import tries
from tests.support.formats.in_parts import agrees
from tests.support.formats.paimon.random_tables import FORMATS, STEP, Maker, _at_level
from tests.support.formats.paimon.tables import PUBLIC, REAL, four_commits, list_of, manifest_of, rewrite, strip_sizes
from tests.support.places import TABLES

INDEX_PLACE = "index-file-in-data-file-dir"

ROW = ["path", "bytes", "rows", "partition", "bucket", "level", "schema_id", "source", "format"]


@pytest.fixture(autouse=True)
def in_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every history that a test reads is built in parts, too, and compared."""
    if "changes_while" in request.node.name:
        return
    whole = Table.history

    def both(table: Table, *args: Any, **manner: Any) -> History:
        history = whole(table, *args, **manner)
        agrees(table, history, len(history.objects) % 4 + 2)
        return history

    monkeypatch.setattr(Table, "history", both)


def positions(history: History) -> dict[str, int]:
    return {each.point: number for number, each in enumerate(history.holders) if each.exists}


def freed(history: History, goes: set[str]) -> set[str]:
    after = history.existing.copy()
    for point in goes:
        after[history.position(point)] = False
    chosen = intervals.freed(history.held, history.existing, after)
    return set(history.objects["path"].filter(pa.array(chosen)).to_pylist())


def check(root: Path, *, changelogs: bool = False, seed: int = 0, tries: int = 25) -> History:
    """Everything a history says, against the sets."""
    model = set_model.read(root)
    history = open_table(str(root)).history(changelogs=changelogs)
    assert history.incomplete == {}
    at = positions(history)
    assert set(at) == set(model.holders)
    totals = history.totals
    paths = history.objects["path"].to_pylist()
    for point, position in at.items():
        expected = model.holders[point]
        held = history.held.at(position)
        assert {paths[number] for number in np.flatnonzero(held)} == expected.paths, point
        files = history.files_at(position)
        found = [tuple(row[column] for column in ROW) for row in files.select(ROW).to_pylist()]
        assert found == sorted(found, key=lambda row: row[0])
        assert Counter(found) == Counter(expected.live), point
        assert totals.files[position] == len(expected.live)
        assert totals.bytes[position] == sum(row[1] for row in expected.live)
        assert totals.rows[position] == sum(row[2] for row in expected.live)
    assert sorted(set(paths)) == sorted(paths), "one object for each path"
    assert {path for path, known in zip(paths, _held_by_existing(history), strict=True) if known} == model.paths()
    for row in history.objects.to_pylist():
        if row["path"] not in model.kinds:
            continue
        assert row["kind"] == model.kinds[row["path"]], row
        if row["bytes"] is not None and (root / row["path"]).is_file():
            assert row["bytes"] == (root / row["path"]).stat().st_size, row
    chance = random.Random(seed)
    for path in chance.sample(paths, min(len(paths), 30)):
        assert {holder.point for holder in history.holders_of(path)} == model.holders_of(path), path
    points = sorted(at)
    for _ in range(tries):
        goes = set(chance.sample(points, chance.randint(0, len(points))))
        assert freed(history, goes) == model.freed(goes), goes
    for point in points:
        assert freed(history, {point}) == model.freed({point}), point
    return history


def _held_by_existing(history: History) -> list[bool]:
    answer: list[bool] = history.held.over(history.existing).tolist()
    return answer


# real tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("changelogs", [False, True])
def test_a_real_table_holds_what_the_sets_say(name: str, changelogs: bool) -> None:
    check(TABLES / "paimon" / "default.db" / name, changelogs=changelogs, tries=100)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_table_of_another_project_holds_what_the_sets_say(name: str) -> None:
    if name == "java_0_8_2":  # its manifests are compressed by snappy, which the sets' own reader cannot unpack
        history = open_table(str(TABLES / "paimon_public" / name)).history()
        assert history.incomplete == {}
        assert [history.files_at(at).num_rows for at in positions(history).values()] == [1, 2]
        return
    check(TABLES / "paimon_public" / name)


# made tables ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def scratch() -> Iterator[None]:
    """Examples share one test, so pytest's tmp_path would be one for all of them."""
    global SCRATCH
    SCRATCH = Path(tempfile.mkdtemp(prefix="snapscope-history-"))
    yield
    shutil.rmtree(SCRATCH)


SCRATCH = Path()
OPTIONS = st.sampled_from(
    [
        {},
        {"changelog-producer": "input"},
        {"changelog-producer": "input", "changelog.num-retained.max": "20", "snapshot.num-retained.max": "10"},
        {"data-file.path-directory": "data/files"},
        {"partition.default-name": "nothing here", "bucket": "2"},
        {"index-file-in-data-file-dir": "true"},
    ]
)


@pytest.mark.slow
@tries(60)
@given(st.lists(STEP, min_size=1, max_size=25), OPTIONS, FORMATS, st.booleans())
def test_a_made_table_holds_what_the_sets_say(
    steps: list[tuple[str, int, int]], options: dict[str, str], forms: list[str], changelogs: bool
) -> None:
    root = Path(tempfile.mkdtemp(dir=SCRATCH)) / "default.db" / "t"
    made = Maker(root, options, forms)
    made.main.commit([made.file(made.main, 1, 1)])
    made.run(steps)
    check(root, changelogs=changelogs, tries=8)
    shutil.rmtree(root.parents[1])


# single rules --------------------------------------------------------------------------------------------------------


def kinds(history: History) -> dict[str, str]:
    return dict(zip(history.objects["path"].to_pylist(), history.objects["kind"].to_pylist(), strict=True))


def test_a_changelog_file_is_of_kind_changelog(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t", options={"changelog-producer": "input"})
    made = table.file(prefix="changelog-")
    table.commit([table.file()], changelog=[made])
    history = check(tmp_path / "t")
    assert kinds(history)[f"bucket-0/{made.name}"] == "changelog"


def test_a_changelog_without_producer_holds_appends_and_no_compactions(tmp_path: Path) -> None:
    """The engine frees what compaction wrote when its snapshot expires, and keeps appended files as the changelog."""
    table = TableBuilder(tmp_path / "t", options={"changelog.num-retained.max": "9", "snapshot.num-retained.max": "1"})
    appended, compacted = table.file(), table.file(source=1)
    table.commit([appended])
    table.commit([compacted], [appended], kind="COMPACT")
    table.commit([table.file(source=None)], [compacted], kind="OVERWRITE")
    for number in (1, 2):
        table.keep_changelog(number)
        table.expire([number], free=False)
    history = check(tmp_path / "t")
    held = {
        each: {holder.point for holder in history.holders_of(f"bucket-0/{each.name}")} for each in (appended, compacted)
    }
    assert held == {appended: {"changelog:1", "changelog:2"}, compacted: set()}


# damage --------------------------------------------------------------------------------------------------------------


def problems(root: Path) -> dict[str, list[str]]:
    """Per point the files that could not be read."""
    history = open_table(str(root)).history()
    found = {each.point: position for position, each in enumerate(history.holders)}
    return {point: [problem.path for problem in history.incomplete.get(at, ())] for point, at in found.items()}


def write_list(path: Path, records: Sequence[Mapping[str, Any]], blocks: Sequence[int]) -> list[int]:
    """A manifest list in several blocks; answers the offsets where a block ends."""
    out = io.BytesIO()
    writer = fastavro.write.Writer(out, builders._schema("list"), sync_marker=bytes(16))
    ends = [len(out.getvalue())]
    left = list(records)
    for count in blocks:
        for record in left[:count]:
            writer.write(dict(record))
        left = left[count:]
        writer.flush()
        ends.append(len(out.getvalue()))
    assert not left
    path.write_bytes(out.getvalue())
    return ends


def damages() -> dict[str, Callable[[bytes], bytes | None]]:
    return {
        "gone": lambda data: None,
        "empty": lambda data: b"",
        "cut by one byte": lambda data: data[:-1],
        "cut in half": lambda data: data[: len(data) // 2],
        "header only": lambda data: data[: data.index(bytes(17)) + 17],
        "garbage": lambda data: random.Random(1).randbytes(len(data)),
        "zeros": lambda data: bytes(len(data)),
        "another's content": lambda data: b"Obj\x01" + data[:-4],
        ", more after the period ends": lambda data: data + b"\x02\x02\x00",
    }


DAMAGED = [(what, how) for what in ("manifest", "delta list", "base list", "index manifest") for how in damages()]
# A whole Avro file with fewer index entries cannot be told: their number and size are recorded nowhere.
DAMAGED.remove(("index manifest", "header only"))


@pytest.mark.parametrize(("what", "how"), DAMAGED)
def test_damage_is_told_of_exactly_the_points_that_need_the_file(what: str, how: str, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.commit([], index=[table.index_file(), table.index_file()])
    table.commit([table.file()])
    path, expected = {
        "manifest": (manifest_of(table, 2), {"2", "3", "4", "5", "6", "tag:v"}),
        "delta list": (list_of(table, 2, "delta"), {"2", "tag:v"}),
        "base list": (list_of(table, 4), {"4"}),
        "index manifest": (f"manifest/{table.commits[5].index_manifest}", {"5", "6"}),
    }[what]
    assert not any(problems(root).values())
    content = damages()[how]((root / path).read_bytes())
    (root / path).unlink()
    if content is not None:
        (root / path).write_bytes(content)
    found = problems(root)
    assert {point for point, paths in found.items() if paths} == expected
    assert all(path in paths for point, paths in found.items() if point in expected)
    history = open_table(str(root)).history()
    for point in found:
        if point in expected:
            with pytest.raises(Corrupt) as caught:
                history.require(point)
            assert path.rsplit("/", 1)[-1] in str(caught.value)
        else:
            assert history.require(point) == history.position(point)


def test_a_list_that_lost_whole_blocks_is_told_by_its_rows(tmp_path: Path) -> None:
    """Java before 1.1 writes no sizes of lists; the snapshot's row count is what can tell."""
    root = tmp_path / "t"
    table = four_commits(root)
    one, two, three = table.commits[4].manifests[:-1]
    [_, first, _] = write_list(root / list_of(table, 4), [one, three, two], [2, 1])
    strip_sizes(root)
    assert not problems(root)["4"]
    os.truncate(root / list_of(table, 4), first)
    assert problems(root)["4"] == ["snapshot/snapshot-4"]


def test_a_list_that_lost_whole_blocks_is_told_by_its_size_where_rows_agree(tmp_path: Path) -> None:
    """What is lost brings as many rows as it takes away: b would be freed although snapshot 4 reads it."""
    root = tmp_path / "t"
    table = TableBuilder(root)
    a, b = table.file(rows=10), table.file(rows=10)
    table.commit([a])
    table.commit([b])
    table.commit([], [a], kind="OVERWRITE")
    table.commit([table.file(rows=5)])
    path = root / list_of(table, 4)
    [_, first, whole] = write_list(path, table.commits[4].manifests[:-1], [1, 2])
    document = json.loads((root / "snapshot/snapshot-4").read_bytes())
    (root / "snapshot/snapshot-4").write_text(json.dumps({**document, "baseManifestListSize": whole}))
    assert not problems(root)["4"]
    os.truncate(path, first)
    assert problems(root)["4"] == [list_of(table, 4)]


def test_a_manifest_that_lost_whole_blocks_is_told_by_its_list(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    os.truncate(root / manifest_of(table, 1), header_end(root / manifest_of(table, 1)))
    found = problems(root)
    assert {point for point, paths in found.items() if paths} == {"1", "2", "3", "4", "tag:v"}
    assert manifest_of(table, 1) in found["1"]


def header_end(path: Path) -> int:
    return path.read_bytes().index(bytes(17)) + 17  # the end of the metadata, and the marker


HOSTILE: dict[str, dict[str, Any]] = {
    "climbs": {"_FILE_NAME": "../../other/data.parquet"},
    "absolute": {"_FILE_NAME": "/etc/passwd"},
    "dots": {"_FILE_NAME": ".."},
    "no name": {"_FILE_NAME": ""},
    "zero byte": {"_FILE_NAME": "a\0b"},
    "climbing extra": {"_EXTRA_FILES": ["../../../snapshot/snapshot-4"]},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_manifest_that_names_files_elsewhere_is_told_of_its_points_only(what: str, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    path = rewrite(table, 4, builders._entry(0, table.live()[-1]), **HOSTILE[what])
    found = problems(root)
    assert {point: paths for point, paths in found.items() if paths} == {"4": [path]}


@pytest.mark.parametrize(
    "row", [b"", b"\0", b"\0\0\0\1", bytes(12), bytes(200), b"\0\0\0\2" + bytes(28), b"\xff" * 40], ids=len
)
def test_a_manifest_with_an_unreadable_partition_is_told_of_its_points_only(row: bytes, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, partition_keys=["dt"])
    for day in ("2026-01-01", "2026-01-02"):
        table.commit([table.file(partition=(day,))])
    path = rewrite(table, 2, {**builders._entry(0, table.live()[-1]), "_PARTITION": row})
    assert {point: paths for point, paths in problems(root).items() if paths} == {"2": [path]}


def edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))


def test_one_file_named_as_two_kinds(tmp_path: Path) -> None:
    """Decoded files are kept by name: a list is no manifest, whoever says so."""
    root = tmp_path / "t"
    table = four_commits(root)
    edit(root / "snapshot/snapshot-4", indexManifest=list_of(table, 4).rsplit("/", 1)[-1])
    edit(root / "snapshot/snapshot-3", baseManifestList=manifest_of(table, 1).rsplit("/", 1)[-1])
    found = problems(root)
    assert {point for point, paths in found.items() if paths} == {"3", "4"}


def test_a_list_that_names_itself(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    path = root / list_of(table, 4, "delta")
    own = {**table.commits[4].manifests[-1], "_FILE_NAME": path.name}
    path.write_bytes(builders._avro("list", [own], "null"))
    found = problems(root)
    assert {point for point, paths in found.items() if paths} == {"4"}


def test_manifests_named_elsewhere_are_missing(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    path = root / list_of(table, 4, "delta")
    record = {**table.commits[4].manifests[-1], "_FILE_NAME": "../snapshot/snapshot-1"}
    path.write_bytes(builders._avro("list", [record], "null"))
    assert {point for point, paths in problems(root).items() if paths} == {"4"}


@pytest.mark.parametrize(("in_data_dir", "expected"), [("true", {"2", "3"}), ("false", set())])
def test_an_index_entry_with_an_unreadable_partition(in_data_dir: str, expected: set[str], tmp_path: Path) -> None:
    """Only where index files lie beside the data does their path hang on the partition."""
    root = tmp_path / "t"
    table = TableBuilder(root, partition_keys=["dt"], options={"index-file-in-data-file-dir": in_data_dir})
    table.commit([table.file(partition=("2026-01-01",))])
    table.commit([], index=[table.index_file()])  # its partition has no field
    table.commit([table.file(partition=("2026-01-01",))])
    found = problems(root)
    assert {point for point, paths in found.items() if paths} == expected


def test_a_path_that_is_a_data_file_and_an_extra_file(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root)
    other = table.file(700)
    table.commit([other])
    odd = DataFile(**{**{name: getattr(other, name) for name in DataFile.__dataclass_fields__}, "name": "odd.parquet"})
    both = DataFile(**{**{name: getattr(odd, name) for name in DataFile.__dataclass_fields__}, "extra": (other.name,)})
    (root / "bucket-0" / "odd.parquet").write_bytes(bytes(700))
    table.commit([both])
    table.commit([], [other], kind="OVERWRITE")
    history = check(root)
    path = f"bucket-0/{other.name}"
    assert {holder.point for holder in history.holders_of(path)} == {"1", "2", "3"}
    [row] = [each for each in history.objects.to_pylist() if each["path"] == path]
    assert (row["kind"], row["bytes"]) == ("data", 700)
    assert [each["path"] for each in history.files_at(history.position("3")).to_pylist()] == ["bucket-0/odd.parquet"]


def test_a_file_added_and_deleted_by_one_commit_is_held_and_not_live(tmp_path: Path) -> None:
    """A streaming reader of that commit's delta reads it, so the snapshot holds it; a tag of it does not."""
    root = tmp_path / "t"
    table = TableBuilder(root)
    table.commit([table.file()])
    passing = table.file()
    table.commit([passing])
    path = root / list_of(table, 2, "delta")
    data = builders._avro("entry", [builders._entry(kind, passing) for kind in (0, 1)], "null")
    name = table.commits[2].manifests[-1]["_FILE_NAME"]
    (root / "manifest" / name).write_bytes(data)
    record = {**table.commits[2].manifests[-1], "_FILE_SIZE": len(data), "_NUM_DELETED_FILES": 1}
    path.write_bytes(builders._avro("list", [record], "null"))
    edit(root / "snapshot/snapshot-2", totalRecordCount=10, deltaRecordCount=0)
    strip_sizes(root)
    (root / "tag").mkdir()
    shutil.copy(root / "snapshot/snapshot-2", root / "tag/tag-v")
    history = check(root)
    assert {holder.point for holder in history.holders_of(f"bucket-0/{passing.name}")} == {"2"}
    assert history.files_at(history.position("2")).num_rows == 1


def test_two_branches_share_manifests(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    for name in ("dev", "test"):
        line = table.branch(name, "v")
        line.commit([line.file()])
        line.commit([], line.live()[:1], kind="OVERWRITE")
    table.expire([1, 2, 3])
    table.delete_tag("v")
    history = check(root)
    shared = manifest_of(table, 4, 0)  # the manifest of commit 1
    assert {holder.branch for holder in history.holders_of(shared)} == {"main", "dev", "test"}


def test_two_identities_of_one_path_count_once_as_an_object(tmp_path: Path) -> None:
    """An upgraded file of unknown size on the way: levels differ, the path is held wherever either is."""
    root = tmp_path / "t"
    table = TableBuilder(root)
    low = table.file(extra=[".index"])
    table.commit([low])
    table.commit([_at_level(low, 5)], [low], kind="COMPACT")
    table.commit([], [_at_level(low, 5)], kind="OVERWRITE")
    history = check(root)
    for path in (f"bucket-0/{low.name}", f"bucket-0/{low.name}.index"):
        assert {holder.point for holder in history.holders_of(path)} == {"1", "2"}
        assert history.objects["path"].to_pylist().count(path) == 1
    assert freed(history, {"1"}) & {f"bucket-0/{low.name}", f"bucket-0/{low.name}.index"} == set()


def test_compacted_changelogs_are_windows_into_one_real_file(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"changelog-producer": "lookup"})
    window: dict[str, Any] = {"source": 0, "bucket": 1}
    names = ["compacted-changelog-x$0-100.cc-parquet", "compacted-changelog-x$0-100-100-50.cc-parquet"]
    entries = [DataFile(names[0], 100, 1, bucket=0), DataFile(names[1], 50, 1, **window)]
    table.commit([table.file()], changelog=entries)
    history = open_table(str(root)).history()
    found = {path for path, kind in kinds(history).items() if kind == "changelog"}
    assert found == {f"bucket-0/{names[0]}"}


def test_a_tag_does_not_hold_its_changelog(tmp_path: Path) -> None:
    """Expiry deletes the changelog of a tagged snapshot, so its list dangles in healthy tables."""
    root = tmp_path / "t"
    table = TableBuilder(root, options={"changelog-producer": "input"})
    made = table.file(prefix="changelog-")
    table.commit([table.file()], changelog=[made])
    table.tag("v")
    table.commit([table.file()])
    table.expire([1])
    assert not (root / "bucket-0" / made.name).exists()
    history = check(root)
    assert history.incomplete == {}


@pytest.mark.parametrize("how", ["rollback", "branch"])
def test_a_snapshot_made_again_from_a_tag_has_no_changelog_any_more(tmp_path: Path, how: str) -> None:
    """Its list went when it first expired. It is told, and it is no reason to refuse every plan from then on."""
    root = tmp_path / "t"
    table = TableBuilder(root, options={"changelog-producer": "input"})
    for _ in range(3):
        table.commit([table.file()], changelog=[table.file(prefix="changelog-")])
    table.tag("v", 1)
    table.expire([1])
    if how == "rollback":
        shutil.copy(root / "tag/tag-v", root / "snapshot/snapshot-1")
    else:
        table.branch("dev", "v")
    history = check(root)
    assert history.incomplete == {}
    point = "1" if how == "rollback" else "branch:dev/1"
    assert [problem for problem in history.warnings if "changelog" in problem.expected and point in problem.expected]
    listed = list_of(table, 3, "changelog")
    (root / listed).write_bytes(b"")
    assert problems(root)["3"] == [listed], "one that is there and cannot be read is another matter"


def test_files_without_rows_and_tables_without_anything(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "t")
    empty = open_table(str(tmp_path / "t")).history()
    assert (empty.holders, empty.objects.num_rows, empty.totals.files.tolist()) == ((), 0, [])
    table.commit([])
    assert check(tmp_path / "t").files_at(0).num_rows == 0
    table.commit([table.file(rows=0)])
    table.commit([table.file(0, rows=0)])
    assert check(tmp_path / "t").totals.files.tolist() == [0, 1, 2]


def test_a_table_whose_only_snapshot_is_a_tag(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    table.expire([1, 2, 3, 4])
    history = check(tmp_path / "t")
    assert [holder.point for holder in history.holders] == ["tag:v"]
    assert history.live_now() is None


def test_ids_and_counts_beyond_doubles(tmp_path: Path) -> None:
    """2**53 + 1 is no double: an id that passes through one names another snapshot."""
    root = tmp_path / "t"
    table = TableBuilder(root)
    table.commit([table.file()], id=2**53 + 1)
    table.commit([table.file()], id=2**53 + 2)
    table.tag("v", 2**53 + 1)
    history = check(root)
    assert [holder.point for holder in history.holders] == [str(2**53 + 1), "tag:v", str(2**53 + 2)]
    table.commit([table.file()], id=2**63 - 1)
    assert check(root).holders[-1].name == str(2**63 - 1)


@pytest.mark.parametrize(
    "value", [None, "", "  ", "a/b=c%", "2026-01-01", "ünï", "a b", "x" * 200, "..", ".", "\t", "'"]
)
def test_partition_values_stand_escaped_in_paths(value: str | None, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(partition=(value,), write=False)])
    check(root)


def test_null_and_blank_partitions_share_a_directory_and_stay_two_identities(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, partition_keys=["dt"])
    null, blank = (DataFile("same.parquet", 10, 1, partition=(value,)) for value in (None, ""))
    table.commit([null, blank])
    table.commit([], [blank], kind="OVERWRITE")
    history = check(root)
    assert history.totals.files.tolist() == [2, 1]
    assert {holder.point for holder in history.holders_of("dt=__DEFAULT_PARTITION__/bucket-0/same.parquet")} == {
        "1",
        "2",
    }


@pytest.mark.parametrize(
    "name", ["a b", "ä", "%41", "a,b", "..x", "-", "$", "a'b", "x" * 200, "12", "main2", "a\nb", "dev~1"]
)
def test_branches_and_tags_with_odd_names(name: str, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag(name, 3)
    line = table.branch(name, name)
    line.commit([line.file()])
    table.expire([1, 2, 3])
    check(root)


@pytest.mark.parametrize(
    ("option", "value", "known"),
    [
        ("data-file.path-directory", "data", ["branch:b/2", "branch:b/tag:t", "branch:b/3"]),
        ("partition.default-name", "NOTHING", ["branch:b/2", "branch:b/tag:t", "branch:b/3"]),
        (INDEX_PLACE, "true", ["branch:b/3"]),  # only it has an index
        (INDEX_PLACE, "false", []),
        ("data-file.path-directory", "/", []),
    ],
)
def test_files_of_a_branch_that_keeps_them_elsewhere_are_unknown(
    option: str, value: str, known: list[str], tmp_path: Path
) -> None:
    """By main's options they would be looked for, and deleted, in the wrong place."""
    root = tmp_path / "t"
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(partition=("a",))])
    table.commit([table.file(partition=("a",))])
    table.tag("t", 2)
    line = table.branch("b", "t")
    line.commit([line.file(partition=("b",))], index=[line.index_file(partition=("b",))])
    schema = root / "branch/branch-b/schema/schema-0"
    document = json.loads(schema.read_bytes())
    schema.write_text(json.dumps({**document, "options": {**document["options"], option: value}}))
    opened = open_table(str(root))
    history = opened.history()
    agrees(opened, history, 2)
    assert [history.holders[each].point for each in history.incomplete] == known
    unknown = [problem for each in history.incomplete.values() for problem in each]
    assert all(each.path == "branch/branch-b/schema/schema-0" and option in each.sentence() for each in unknown)
    held = history.held_among(history.objects["path"].to_pylist())
    assert any(path.startswith("dt=b/") for path in held) == (not known)
    assert any(path.startswith("index/") for path in held) == (not known)
    assert any(path.startswith("dt=a/") for path in held), "main has its own files"
    if known:
        with pytest.raises(Corrupt, match=option):
            opened.preview(Expire(retain_max=1, retain_min=1), builders.START_MS * 2)


def test_progress_is_told_and_a_second_reading_decodes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "t"
    four_commits(root)
    table = open_table(str(root))
    told: list[tuple[int, int]] = []
    first = table.history(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)
    told.clear()
    second = table.history(progress=lambda done, total: told.append((done, total)))
    assert told == []
    assert second.objects == first.objects
    assert second.files == first.files


def test_a_table_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading the references and the manifests an expiry took snapshot 1 away, with its files."""
    root = tmp_path / "t"
    made = four_commits(root)
    table = open_table(str(root))
    heads = type(table).heads
    calls: list[Any] = []

    def slow(self: Any, **more: Any) -> Any:
        found = heads(self, **more)
        if not calls:
            made.expire([1])
        calls.append(1)
        return found

    monkeypatch.setattr(type(table), "heads", slow)
    history = table.history()
    assert [holder.point for holder in history.holders] == ["2", "tag:v", "3", "4"]
    assert history.incomplete == {}
    assert len(calls) == 2
