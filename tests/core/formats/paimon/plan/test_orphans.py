"""A live file is not an orphan, wherever the current options would put it."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from pathlib import Path
from typing import Any

import pytest

from core.errors import Invalid, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.messages import Reason, code_names, sentences
from core.model import codes
from core.model.actions import CleanOrphans, Expire
from core.model.plan import fingerprint
from core.table import open_table
from tests.support import memory_s3
from tests.support.builders import DAY_MS, TableBuilder
from tests.support.execution import ground

NOW_MS = 4_000_000_000_000


@pytest.mark.parametrize("option", ["data-file.path-directory", "partition.default-name"])
def test_options_that_move_paths_orphan_nothing(option: str, tmp_path: Path) -> None:
    root = tmp_path / "w" / "default.db" / "t"
    table = TableBuilder(root, partition_keys=["dt"]) if option.startswith("partition") else TableBuilder(root)
    partition: dict[str, Any] = {"partition": (None,)} if option.startswith("partition") else {}
    table.commit([table.file(10, rows=1, **partition)])
    path = max((root / "schema").iterdir())
    schema = json.loads(path.read_text())
    schema["options"][option] = "elsewhere"
    path.write_text(json.dumps(schema))
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - 1), NOW_MS)
    assert plan.frees.num_rows == 0


@pytest.mark.parametrize("of", ["format-table", "object-table", "lance-table", "iceberg-table", "Format-Table", "table",
                                "materialized-table"])  # fmt: skip
def test_files_that_no_manifest_tracks_are_no_orphans(of: str, tmp_path: Path) -> None:
    """Of a format table, files in directories are the rows; its Paimon metadata is a schema and nothing else."""
    root = ground.warehouse(tmp_path)
    TableBuilder(root, options={"type": of})
    (root / "bucket-0").mkdir()
    (root / "bucket-0/data-1.csv").write_text("1,a")
    os.utime(root / "bucket-0/data-1.csv", (1, 1))
    opened = open_table(str(root))
    if of in ("table", "materialized-table"):
        assert opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS).headline
        return
    with pytest.raises(Unsupported, match=f"The type of this table is {of}"):
        opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)


def test_what_a_killed_job_of_ours_staged_goes_and_nothing_beside_it(tmp_path: Path, state_dir: Path) -> None:
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    staged = [f".snapscope-staging-1/{name}" for name in ("__partition=ab/part-0.parquet", "_temporary/0/x")]
    others = [".other-staging/part-0.parquet", "archive/part-0.parquet"]
    for path in (*staged, *others):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"rows")
    opened = open_table(str(root))
    plan = opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
    assert sorted(plan.frees["path"].to_pylist()) == staged
    before = ground.disk(root)
    apply(opened, plan, settle_s=0)
    assert before - ground.disk(root) == set(staged)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"bucket-0/data-\xff.parquet", r"bucket-0/data-\xff.parquet"),
        (b"manifest/manifest-\xff", r"manifest/manifest-\xff"),
        (b".snapscope-staging-1/part-\xff", r".snapscope-staging-1/part-\xff"),
        (b".snapscope-staging-\xff/part", r".snapscope-staging-\xff/part"),
        (b"inner/\xff/x", None),
        (b"\xff/x", None),
    ],
)
def test_names_that_are_no_text_are_named_and_kept(
    path: bytes, shown: str | None, tmp_path: Path, state_dir: Path
) -> None:
    """They cannot be recorded in the journal, and no manifest can name them."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    orphan = table.file(20, rows=1)
    odd = os.path.join(os.fsencode(root), path)
    os.makedirs(os.path.dirname(odd), exist_ok=True)
    Path(os.fsdecode(odd)).write_bytes(b"rows")
    opened = open_table(str(root))
    plan = opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
    assert plan.frees["path"].to_pylist() == [f"bucket-0/{orphan.name}"]
    if shown is not None:
        assert codes.NO_TEXT_STAYS(count=1, named=shown) in plan.warnings
        assert "not valid UTF-8" in sentences(plan.warnings)[0]
    "".join(sentences(plan.warnings)).encode()
    apply(opened, plan, settle_s=0)
    assert os.path.exists(odd)
    assert not (root / "bucket-0" / orphan.name).exists()


def test_names_that_requests_cannot_name_are_named_and_kept(
    tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client of S3 cuts a version off: deleting such an object by a request of its own would delete a live file."""
    table = TableBuilder(tmp_path / "t")
    live = table.file(10, rows=1)
    table.commit([live])
    orphan = table.file(20, rows=1)
    odd = f"bucket-0/{live.name}?versionId=1"
    objects = {
        f"t/{path.relative_to(table.root)}": path.read_bytes() for path in table.root.rglob("*") if path.is_file()
    }
    with memory_s3.serving({**objects, f"t/{odd}": b"rows"}) as server:
        server.lead(monkeypatch)
        opened = open_table(f"s3://{memory_s3.BUCKET}/t")
        plan = opened.preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
        assert plan.frees["path"].to_pylist() == [f"bucket-0/{orphan.name}"]
        assert codes.NO_TEXT_STAYS(count=1, named=odd) in plan.warnings
        assert apply(opened, plan, settle_s=0).outcome == "done"
        assert objects.keys() - server.objects.keys() == {f"t/bucket-0/{orphan.name}"}
        assert server.objects[f"t/{odd}"] == b"rows"


def test_a_partition_whose_name_is_no_text_cannot_be_named(tmp_path: Path) -> None:
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(10, rows=1, partition=("2026-01-01",))])
    odd = os.fsdecode(b"dt=\xff")
    (root / odd / "bucket-0").mkdir(parents=True)
    (root / odd / "bucket-0" / "data-1.parquet").write_bytes(b"rows")
    with pytest.raises(Invalid, match=r"The name of the directory dt=\\xff is not valid UTF-8"):
        open_table(str(root)).preview(CleanOrphans(NOW_MS - DAY_MS, also=(odd,)), NOW_MS)


def test_young_orphans_are_warned_of(tmp_path: Path) -> None:
    """A file that a writer has not committed yet is named by nothing, either."""
    root = tmp_path / "w" / "default.db" / "t"
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    young, old = (
        open_table(str(root)).preview(CleanOrphans(NOW_MS - age_ms), NOW_MS).warnings for age_ms in (1, DAY_MS)
    )
    assert young == (codes.YOUNG_ORPHANS(),)
    assert old == ()


@pytest.mark.parametrize("place", ["inner", "x=1", "dt=2026-01-02"])
def test_a_table_in_a_tables_directory_is_another_table(place: str, tmp_path: Path) -> None:
    """Nothing of the outer one names the inner one's files: they are live all the same."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    table.commit([table.file(10, rows=1, partition=("2026-01-01",))])
    orphan = table.file(20, rows=1, partition=("2026-01-01",))
    keys = ["dt"] if place == "x=1" else []
    inner = TableBuilder(root / place, partition_keys=keys)
    inner._shared.random.seed(11)  # its files have other names
    inner.commit([inner.file(10, rows=1, partition=("2026-01-02",) * len(keys))])
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - 1), NOW_MS)
    assert plan.frees["path"].to_pylist() == [f"dt=2026-01-01/bucket-0/{orphan.name}"]


def test_what_a_newer_engine_keeps_beside_manifests_stays(tmp_path: Path) -> None:
    """A live manifest's sidecar is named by a field of its list that is not known here."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root)
    table.commit([table.file(10, rows=1)])
    manifest = next(path.name for path in (root / "manifest").iterdir() if not path.name.startswith("manifest-list"))
    (root / "manifest" / f"{manifest}.avro.sidecar").write_bytes(b"bounds")
    crashed = f"manifest/manifest-{uuid.UUID(int=1)}-0"
    (root / crashed).write_bytes(b"entries")
    plan = open_table(str(root)).preview(CleanOrphans(NOW_MS - DAY_MS), NOW_MS)
    assert plan.frees["path"].to_pylist() == [crashed]
    assert plan.warnings[-1] == codes.FILES_STAY(count=1, why=codes.ODD_NAMES())


# neighbours ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def parted(tmp_path: Path, state_dir: Path) -> TableBuilder:
    """A table by day whose history knows two partitions."""
    table = TableBuilder(ground.warehouse(tmp_path), partition_keys=["dt"])
    table.commit([table.file(10, rows=1, partition=(day,)) for day in ("a", "b")])
    return table


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(bytes(10))


def cleaned(root: Path, *also: str) -> tuple[set[str], tuple[Reason, ...]]:
    """What a clean-up planned, which must be exactly what it then deletes, and what it said."""
    table, before = open_table(str(root)), ground.disk(root)
    plan = table.preview(CleanOrphans(NOW_MS - DAY_MS, also=also), NOW_MS)
    planned = set(plan.frees["path"].to_pylist())
    receipt = apply(table, plan, settle_s=0)
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert before - ground.disk(root) == planned
    return planned, plan.warnings


def data(number: int) -> str:
    return f"data-{uuid.UUID(int=number)}-0.parquet"


NEIGHBOURS = (
    f"dt=a.bak/bucket-0/{data(1)}",  # a copy somebody made, or a partition that a crashed writer began: nobody knows
    f"dt=10:00/bucket-0/{data(2)}",  # the engine escapes a colon
    f"dt=a/bucket-0.bak/{data(3)}",
    f"dt=a/bucket-0/old/{data(4)}",
    f"dt=a/copy/bucket-0/{data(5)}",
    f"x=1/bucket-0/{data(6)}",
    f"bucket-0/{data(7)}",
    f"archive/bucket-0/{data(8)}",
    "dt=b/notes.txt",
    f"dt=a/inner/metadata/{data(9)}",
    "dt=c/metadata/v1.metadata.json",  # an Iceberg table in the directory of a partition
    "dt=c/metadata/version-hint.text",
    f"dt=c/bucket-0/{data(10)}",
    f"dt=d/schema/{data(11)}",
    f"dt=d/bucket-0/{data(12)}",
    "dt=a/bucket-1/metadata/v1.metadata.json",
    f"dt=a/bucket-1/{data(13)}",
    f"dt=b/schema/{data(14)}",  # in that of a known one
    f"dt=b/bucket-0/{data(15)}",
)


def test_what_a_clean_up_plans_it_deletes_and_neighbours_stay(parted: TableBuilder) -> None:
    """`dt=10:00` was planned and then refused, for ever; a user's copies and tables within went."""
    own = f"dt=a/bucket-0/{data(99)}"
    put(parted.root, own, *NEIGHBOURS)
    planned, warnings = cleaned(parted.root)
    assert planned == {own}
    said = " ".join(sentences(warnings))
    for directory in ("dt=a.bak", "dt=10:00", "dt=a/bucket-0.bak", "dt=a/bucket-0/old", "dt=a/copy", "x=1", "archive"):
        assert directory in said, said
    assert "directories of other tables are kept: dt=a/bucket-1, dt=b, dt=c, dt=d." in said
    assert Journal().open_run(str(parted.root)) is None


@pytest.mark.slow
def test_a_partition_that_nothing_mentions_goes_once_it_is_named(parted: TableBuilder) -> None:
    """A crashed writer's first files of a new day look like a copy of yesterday's."""
    put(parted.root, *NEIGHBOURS, f"dt=new/bucket-0/{data(98)}", "dt=new/bucket-0/notes.txt")
    assert cleaned(parted.root)[0] == set()
    assert cleaned(parted.root, "dt=new", "./dt=a.bak/")[0] == {f"dt=new/bucket-0/{data(98)}", NEIGHBOURS[0]}
    for wrong in ("archive", "dt=c", "dt=d", "dt=10:00", "", "..", "dt=a/bucket-0", "/", "snapshot", "x=1", "bucket-0"):
        with pytest.raises(Invalid, match="is not a partition directory of this table, so it was not searched"):
            cleaned(parted.root, wrong)


def test_the_plan_of_an_orphan_clean_up_keeps_its_fingerprint(parted: TableBuilder) -> None:
    heads = open_table(str(parted.root)).heads()
    plain, named = (fingerprint(heads, CleanOrphans(1, also=also), codes.PAIMON_2(), 2) for also in ((), ("dt=x",)))
    digest = hashlib.sha256()
    for path, content in sorted(heads.references.items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    rules = "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run"
    asked = {"change": "CleanOrphans", "older_than_ms": 1, "branch": "main", "rules": rules, "now_ms": 2}
    digest.update(json.dumps(asked, sort_keys=True).encode())
    assert plain == digest.hexdigest() != named


def test_an_index_that_lies_beside_data_is_found(parted: TableBuilder) -> None:
    """`index-file-in-data-file-dir`: a crashed writer leaves it in a bucket."""
    index = f"dt=a/bucket-0/index-{uuid.UUID(int=5)}-3"
    put(parted.root, index, "dt=a/bucket-0/index-of-mine")
    planned, warnings = cleaned(parted.root)
    assert planned == {index}
    assert codes.FILES_STAY(count=1, why=codes.ODD_NAMES()) in warnings


def test_a_link_out_of_the_table_is_not_planned(parted: TableBuilder, tmp_path: Path) -> None:
    """What the deletion refuses was planned, and left the run incomplete and the table blocked."""
    other = tmp_path / "other disk" / "bucket-1"
    put(other, data(1))
    (parted.root / "dt=a" / "bucket-1").symlink_to(other)
    assert cleaned(parted.root)[0] == set()
    assert (other / data(1)).exists()


@pytest.mark.parametrize("prefix", ["", "inner/data"])
def test_odd_values_are_this_tables_own(prefix: str, tmp_path: Path, state_dir: Path) -> None:
    values = ["10:00", "a%2Fb", "a b", "ü", "#", "?", "+", "..", "x" * 120, "a=b", None]
    options = {"data-file.path-directory": prefix} if prefix else {}
    table = TableBuilder(ground.warehouse(tmp_path), partition_keys=["dt"], options=options)
    table.commit([table.file(10, rows=1, partition=(value,), write=False) for value in values])
    opened = open_table(str(table.root))
    paths = opened.history().files["path"].to_pylist()
    assert all(path.startswith(prefix) for path in paths)
    put(table.root, *paths)
    orphans = [f"{path.rpartition('/')[0]}/{data(number)}" for number, path in enumerate(paths)]
    put(table.root, *orphans)
    planned, warnings = cleaned(table.root)
    assert planned == set(orphans)
    assert {"partitions-stay", "tables-stay", "others-stay"}.isdisjoint(code_names(warnings))


def test_an_orphan_beside_a_live_file_that_is_missing_is_not_planned(tmp_path: Path) -> None:
    """The sweep refuses it, for a point may mean it: planned, the run stayed open and blocked the table."""
    root = ground.warehouse(tmp_path)
    table = TableBuilder(root, partition_keys=["dt"])
    lost, other = table.file(10, rows=1, partition=("1",)), table.file(10, rows=1, partition=("2",))
    table.commit([lost, other])
    table.commit([table.file(10, rows=1, partition=("2",))])
    orphans = [f"dt={value}/bucket-0/data-{uuid.uuid4()}-0.parquet" for value in "12"]
    for orphan in orphans:
        (root / orphan).write_bytes(b"x")
    (root / "dt=1/bucket-0" / lost.name).unlink()
    opened = open_table(str(root))
    plan = opened.preview(CleanOrphans(NOW_MS - 1), NOW_MS)
    assert plan.frees["path"].to_pylist() == orphans[1:]
    (said,) = (each for each in plan.warnings if each.code == codes.DOUBTFUL)
    assert (str(said.values["files"]), said.values["why"].code) == ("1 file", codes.MAY_BE_THIS)
    receipt = apply(opened, plan, settle_s=0)
    assert receipt.is_exact
    assert (root / orphans[0]).is_file()
    assert apply(opened, opened.preview(Expire(retain_max=1, retain_min=1), NOW_MS), settle_s=0).outcome == "done"
