"""Files outside a table's directory: they are only deleted under roots that are named for this plan."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt, Invalid, SnapscopeError, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.execution.recovery import resume
from core.formats.paimon.layout import escape
from core.messages import code_names, sentences
from core.model import codes
from core.model.actions import Change, CreateBranch, CreateTag, DeleteBranches, DeleteTags, Expire
from core.planning import outside_roots as roots
from core.planning.confirmation import danger
from core.storage.store import Store
from core.table import open_table
from tests.support import set_model
from tests.support.builders import DataFile, TableBuilder
from tests.support.command_line import run
from tests.support.depth import first_fast
from tests.support.execution import ground, iceberg_ground, outside_history
from tests.support.iceberg_tables import read_avro, write_avro

NOW_MS = ground.LATE_MS
KEEP_ONE = Expire(retain_max=1, retain_min=1)


class Outer:
    """A table with files under outside roots; each file really exists."""

    def __init__(self, tmp_path: Path, roots: Sequence[Path], spelling: str = "file:") -> None:
        self.root = ground.warehouse(tmp_path / "w")
        self.roots = roots
        named = ",".join(f"{spelling}{each}" for each in roots)
        self.table = TableBuilder(self.root, options={"data-file.external-paths": named}, partition_keys=["dt"])
        self.made = 0

    def file(self, root: Path, directory: str = "dt=1", size: int = 100, **fields: Any) -> DataFile:
        self.made += 1
        place = root / directory / "bucket-0"
        place.mkdir(parents=True, exist_ok=True)
        name = f"data-{self.made}.parquet"
        (place / name).write_bytes(bytes(size))
        return DataFile(name, size, 1, ("1",), external=f"file:{place}/{name}", **fields)


def whole(root: Path) -> None:
    """Check that every file held by any version of the table exists, wherever it is."""
    for path in set_model.read(root).paths():
        place = Path(path.removeprefix("file:")) if path.startswith("file:") else root / path
        assert place.is_file(), path


@pytest.fixture
def outer(tmp_path: Path) -> Outer:
    """Create snapshots 1 to 4 under two roots, with all but the newest's file replaced; tag v on 2; branch b from
    it."""
    made = Outer(tmp_path, [tmp_path / "one", tmp_path / "two"])
    first, second = made.roots
    a, b, c, d, e, f = (made.file(root) for root in (first, second, first, first, second, second))
    made.table.commit([a, b])
    made.table.commit([c], [a], kind="OVERWRITE")
    made.table.tag("v", 2)
    branch = made.table.branch("b", "v")
    branch.commit([made.file(second)])
    made.table.commit([d, f], [b, c], kind="OVERWRITE")
    made.table.commit([e], [d, f], kind="OVERWRITE")
    return made


def test_a_copy_cannot_delete_the_files_of_the_original(outer: Outer, tmp_path: Path) -> None:
    """`cp -r` copies file names, not the files: those of the original are live there."""
    copy = tmp_path / "w" / "default.db" / "copy"
    shutil.copytree(outer.root, copy)
    plan = open_table(str(copy)).preview(KEEP_ONE, NOW_MS)
    assert {each.root for each in plan.outside} == {f"file://{root}" for root in outer.roots}
    for named in ([], [str(outer.roots[0])], [str(tmp_path)]):
        with pytest.raises(Invalid, match="outside the table's directory"):
            apply(open_table(str(copy)), plan, settle_s=0, outside=named)
    whole(outer.root)
    assert ground.disk(copy) == ground.disk(outer.root)


CHANGES: dict[str, Change] = {
    "expire": KEEP_ONE,
    "delete-tag": DeleteTags(("v",)),
    "delete-branch": DeleteBranches(("b",)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_states_what_it_deletes_outside_and_deletes_it_once_named(name: str, outer: Outer) -> None:
    change, table = CHANGES[name], open_table(str(outer.root))
    if name == "delete-tag":
        apply(table, plan := table.preview(CHANGES["delete-branch"], NOW_MS), settle_s=0, outside=_roots(plan))
        apply(table, plan := table.preview(KEEP_ONE, NOW_MS), settle_s=0, outside=_roots(plan))
    plan = table.preview(change, NOW_MS)
    paths = [path for path in plan.frees["path"].to_pylist() if path.startswith("file:")]
    assert paths
    assert sum(each.files for each in plan.outside) == len(paths)
    assert sum(each.bytes for each in plan.outside) == 100 * len(paths)
    assert all(each.root in plan.headline for each in plan.outside)
    asked = danger(plan, "orders")
    assert asked.outside == plan.outside
    assert asked.phrase == f"orders {len(plan.frees)}", "the strongest there is"
    with pytest.raises(Invalid):
        apply(table, plan, settle_s=0)
    receipt = apply(table, plan, settle_s=0, outside=_roots(plan))
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert not any(Path(path.removeprefix("file:")).exists() for path in paths)
    whole(outer.root)


def _roots(plan: Any) -> list[str]:
    return [each.root for each in plan.outside]


def test_the_command_line_wants_each_root_by_name(outer: Outer) -> None:
    asked = ["--retain-max", "1", "--retain-min", "1", "--json", "--yes", "--settle", "0 s"]
    status, said = run("expire", outer.root, *asked)
    assert status == 1
    assert "nobody has confirmed" in json.dumps(said)
    whole(outer.root)
    _, shown = run("plan", "expire", outer.root, "--retain-max", "1", "--retain-min", "1", "--json")
    assert {each["root"] for each in shown["outside"]} == {f"file://{root}" for root in outer.roots}
    assert shown["outside"][0].keys() == {"root", "files", "bytes"}
    one, two = (["--outside", f"file:{root}"] for root in outer.roots)
    assert run("expire", outer.root, *asked, *one)[0] == 1
    status, said = run("expire", outer.root, *asked, *one, *two)
    assert (status, said["receipt"]["outcome"], said["receipt"]["kept_back"]) == (0, "done", [])
    whole(outer.root)


def test_a_root_that_is_pasted_from_a_refusal_stays_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table chooses the name, so it could be crafted to be run by the shell that it is pasted into."""
    made = Outer(tmp_path, [tmp_path / "two words; touch pwned"])
    first, second = (made.file(root) for root in (*made.roots, *made.roots))
    made.table.commit([first])
    made.table.commit([second], [first], kind="OVERWRITE")
    table = open_table(str(made.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    with pytest.raises(Invalid) as refused:
        apply(table, plan, settle_s=0)
    assert shlex.split(str(refused.value.remedy))[-2:] == ["--outside", plan.outside[0].root]
    cut = apply(table, plan, settle_s=0, cancelled=lambda: True, outside=_roots(plan))
    forgets_roots(monkeypatch)
    with pytest.raises(Invalid) as waits:
        resume(cut.run, open_table=open_table, settle_s=0)
    assert f"--outside {shlex.quote(plan.outside[0].root)}" in str(waits.value.remedy)


def test_a_call_wants_them_too(outer: Outer) -> None:
    sql = "CALL sys.expire_snapshots(table => 'default.orders', retain_max => 1, retain_min => 1)"
    given = ["--json", "--yes", "--settle", "0 s"]
    assert run("call", outer.root, sql, *given)[0] == 1
    whole(outer.root)
    before = sum(1 for root in outer.roots for path in root.rglob("*.parquet"))
    named = [word for root in outer.roots for word in ("--outside", str(root))]
    assert run("call", outer.root, sql, *given, *named)[0] == 0
    assert sum(1 for root in outer.roots for path in root.rglob("*.parquet")) < before
    whole(outer.root)


def test_a_resumed_run_goes_on_under_the_roots_it_was_allowed(outer: Outer) -> None:
    table = open_table(str(outer.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    cut = apply(table, plan, settle_s=0, cancelled=lambda: True, outside=_roots(plan))
    assert cut.outcome == "cancelled"
    assert sorted(Journal().run(cut.run).plan["outside"]) == sorted(_roots(plan))
    receipt = resume(cut.run, open_table=open_table, settle_s=0)
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert sum(path.startswith("file:") for path in receipt.deleted) == sum(each.files for each in plan.outside)
    whole(outer.root)


def forgets_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal of a version without roots."""
    told = Journal.run

    def older(journal: Journal, run_id: str) -> Any:
        found = told(journal, run_id)
        object.__setattr__(found, "plan", {key: value for key, value in found.plan.items() if key != "outside"})
        return found

    monkeypatch.setattr(Journal, "run", older)


def test_an_older_journal_knows_no_roots(outer: Outer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its run waits until they are named: ending without them would leave the files there forever."""
    table = open_table(str(outer.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    cut = apply(table, plan, settle_s=0, cancelled=lambda: True, outside=_roots(plan))
    forgets_roots(monkeypatch)
    before = [ground.disk(root) for root in (outer.root, *outer.roots)]
    for named in [], [str(outer.roots[0])]:
        with pytest.raises(Invalid) as told:
            resume(cut.run, open_table=open_table, settle_s=0, outside=named)
        assert [ground.disk(root) for root in (outer.root, *outer.roots)] == before
        assert [f"--outside file://{root}" in str(told.value.remedy) for root in outer.roots] == [not named, True]
        assert Journal().run(cut.run).is_open
    named = [word for word in str(told.value.remedy).replace(",", "").split() if word.startswith("file:")]
    receipt = resume(cut.run, open_table=open_table, settle_s=0, outside=[*named, str(outer.roots[0])])
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert sum(path.startswith("file:") for path in receipt.deleted) == sum(each.files for each in plan.outside)
    whole(outer.root)


def test_an_older_journal_of_an_iceberg_table_knows_no_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "outer"
    root = iceberg(tmp_path / "db" / "t", place, f"file:{place}")
    table = open_table(str(root))
    plan = table.preview(Expire(retain_min=1, older_than_ms=NOW_MS), NOW_MS)
    cut = apply(table, plan, settle_s=0, cancelled=lambda: True, outside=_roots(plan))
    assert cut.outcome == "cancelled"
    forgets_roots(monkeypatch)
    before = ground.disk(place), ground.disk(root)
    with pytest.raises(Invalid, match="nobody has confirmed") as told:
        resume(cut.run, open_table=open_table, settle_s=0)
    assert f"--outside file://{place}" in str(told.value.remedy)
    assert (ground.disk(place), ground.disk(root)) == before
    receipt = resume(cut.run, open_table=open_table, settle_s=0, outside=[str(place)])
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert any(path.startswith("file:") for path in receipt.deleted)


# roots under which nothing is ever deleted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "why"),
    [
        ("file:///", "the root of a file system"),
        ("file:{tmp}", "the table itself is in it"),
        ("file:{tmp}/w", "the table itself is in it"),
        ("file:{tmp}/w/default.db/orders", "the table itself is in it"),
        ("file:{tmp}/link", "the table itself is in it"),
        ("file:{tmp}/w/default.db/orders/inner", "it is inside the table, where its files have other names"),
        ("file:{tmp}/lake", "another table is in it, file://{tmp}/lake/default.db/theirs"),
        ("file:{tmp}/lake/default.db", "another table is in it, file://{tmp}/lake/default.db/theirs"),
        ("file:{tmp}/lake/default.db/theirs", "another table is in it,"),
        ("file:{tmp}/lake/default.db/theirs/data", "it is in another table, {tmp}/lake/default.db/theirs"),
        ("file:{tmp}/ice", "another table is in it, file://{tmp}/ice/t"),
        ("file:{tmp}/ice/t/data", "it is in another table, {tmp}/ice/t"),
    ],
)
def test_a_root_that_is_not_the_tables_alone_is_refused(root: str, why: str, tmp_path: Path) -> None:
    theirs = TableBuilder(tmp_path / "lake" / "default.db" / "theirs")
    theirs.commit([theirs.file()])
    (tmp_path / "ice/t/metadata").mkdir(parents=True)
    (tmp_path / "ice/t/metadata/v1.metadata.json").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "w")
    named = root.format(tmp=tmp_path)
    place = Path(named.removeprefix("file:")) if named != "file:///" else tmp_path
    outer = Outer(tmp_path, [Path(named.removeprefix("file:"))])
    file = outer.file(place)
    outer.table.commit([file])
    outer.table.commit([outer.table.file(partition=("1",))], [file], kind="OVERWRITE")
    table = open_table(str(outer.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert plan.outside == ()
    assert why.format(tmp=tmp_path) in "; ".join(sentences(plan.warnings))
    assert "1 file (100 B) under" in "; ".join(sentences(plan.warnings))
    receipt = apply(table, plan, settle_s=0, outside=[named])
    assert receipt.is_exact
    assert Path(str(file.external).removeprefix("file:")).is_file()


def test_a_link_below_a_root_leads_nowhere(outer: Outer, tmp_path: Path) -> None:
    """A directory under an allowed root that links out of it: the files there belong to somebody else."""
    moved = tmp_path / "elsewhere"
    shutil.move(outer.roots[0] / "dt=1", moved)
    (outer.roots[0] / "dt=1").symlink_to(moved)
    before = ground.disk(moved)
    table = open_table(str(outer.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    receipt = apply(table, plan, settle_s=0, outside=_roots(plan))
    assert ground.disk(moved) == before
    assert codes.LINK_OUT in {why.code for _, why in receipt.kept_back}


def test_a_root_that_became_a_tables_since_is_no_longer_allowed(outer: Outer) -> None:
    table = open_table(str(outer.root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    (outer.roots[1] / "theirs/schema").mkdir(parents=True)
    (outer.roots[1] / "theirs/schema/schema-0").write_text("{}")
    with pytest.raises(SnapscopeError, match="Nothing may be deleted under"):
        apply(table, plan, settle_s=0, outside=_roots(plan))
    whole(outer.root)


def _emptied(tmp_path: Path, root: Path, place: Path, spelling: str = "file:") -> tuple[Any, Path]:
    """Create a table with a root, and the one file that its expiry frees in a directory under that root."""
    outer = Outer(tmp_path, [root], spelling)
    file = outer.file(place)
    file = replace(file, external=str(file.external).replace("file:", spelling, 1))
    outer.table.commit([file])
    outer.table.commit([outer.table.file(partition=("1",))], [file], kind="OVERWRITE")
    return open_table(str(outer.root)), place / "dt=1" / "bucket-0" / file.name


@pytest.mark.parametrize("marker", ["schema/schema-0", "metadata/v1.metadata.json", "metadata/version-hint.text"])
@pytest.mark.parametrize("where", ["a/b/c/d/theirs", "dt=7/theirs", "zz", "bucket-0/theirs", "theirs/dt=1/bucket-0"])
def test_files_in_another_tables_directory_stay_however_deep_it_lies(where: str, marker: str, tmp_path: Path) -> None:
    """The search of the root is limited by depth, by number and at partitions; the files themselves are checked."""
    root = tmp_path / "ext"
    for number in range(70 if where == "zz" else 1):
        (root / f"d{number:03}").mkdir(parents=True)
    theirs = root / where
    place = root / "theirs" if where.startswith("theirs/") else theirs / "data"
    (theirs / marker).parent.mkdir(parents=True)
    (theirs / marker).write_text("{}")
    table, file = _emptied(tmp_path, root, place)
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert plan.outside == ()
    warnings = "; ".join(sentences(plan.warnings))
    assert f"1 file (100 B) under file://{root} are kept and not counted: they are in another table, " in warnings
    assert f"file://{theirs}." in warnings
    assert (f"Not all of file://{root} was searched for other tables." in warnings) == (where == "zz")
    assert apply(table, plan, settle_s=0, outside=[str(root)]).is_exact
    assert file.is_file()


@pytest.mark.parametrize("when", ["before the run", "before it goes on"])
def test_a_table_that_was_made_around_files_since_keeps_them(when: str, tmp_path: Path) -> None:
    root = tmp_path / "ext"
    table, file = _emptied(tmp_path, root, root / "a/b/c/theirs")
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert [each.files for each in plan.outside] == [1]
    cut = None
    if when == "before it goes on":
        cut = apply(table, plan, settle_s=0, cancelled=lambda: True, outside=_roots(plan))
    (root / "a/b/c/theirs/schema").mkdir()
    (root / "a/b/c/theirs/schema/schema-0").write_text("{}")
    if cut is None:
        with pytest.raises(SnapscopeError, match="they are in another table"):
            apply(table, plan, settle_s=0, outside=_roots(plan))
    else:
        receipt = resume(cut.run, open_table=open_table, settle_s=0)
        assert [why for _, why in receipt.kept_back] == [codes.THEIRS(name=f"file://{root}/a/b/c/theirs")]
    assert file.is_file()


def test_a_link_within_a_root_into_another_table_frees_nothing_there(tmp_path: Path) -> None:
    root = tmp_path / "ext"
    (root / "a/b/c/theirs/schema").mkdir(parents=True)
    (root / "a/b/c/theirs/schema/schema-0").write_text("{}")
    (root / "a/b/c/theirs/data").mkdir()
    (root / "mine").symlink_to(root / "a/b/c/theirs/data")
    table, file = _emptied(tmp_path, root, root / "mine")
    assert table.preview(KEEP_ONE, NOW_MS).outside == ()
    assert file.is_file()


@pytest.mark.parametrize("closed", ["lost+found", "", "dt=1/bucket-0/schema"])
def test_what_cannot_be_listed_fails_no_preview(closed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose directories cannot be read is kept; all others are planned, and the plan says so."""
    root = tmp_path / "ext"
    table, file = _emptied(tmp_path, root, root)
    (root / closed).mkdir(exist_ok=True)
    listing = Store.ls

    def ls(store: Store, relative: str = "") -> Any:
        if store.full(relative) == str(root / closed).rstrip("/"):
            raise Corrupt("No permission.", path=str(root / closed))
        return listing(store, relative)

    monkeypatch.setattr(Store, "ls", ls)
    plan = table.preview(KEEP_ONE, NOW_MS)
    where = root / closed
    if closed.endswith("schema"):
        assert plan.outside == ()
        assert any(
            each.values["why"].code == codes.OWNER_UNKNOWN for each in plan.warnings if each.code == codes.ROOT_STAYS
        )
        return
    assert [each.files for each in plan.outside] == [1]
    said = f"Whether other tables are under file://{where} cannot be determined: No permission"
    assert any(each.text.startswith(said) for each in plan.warnings)
    assert apply(table, plan, settle_s=0, outside=_roots(plan)).is_exact
    assert not file.exists()


@pytest.mark.parametrize("spelling", ["file://localhost", "file:/.", "file:///."])
def test_a_root_and_a_file_may_be_spelled_in_any_legal_way(spelling: str, tmp_path: Path) -> None:
    table, file = _emptied(tmp_path, tmp_path / "ext", tmp_path / "ext", spelling)
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert _roots(plan) == [f"file://{tmp_path}/ext"]
    assert apply(table, plan, settle_s=0, outside=[f"{spelling}{tmp_path}/ext"]).is_exact
    assert not file.exists()


def test_a_whole_file_system_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "ext"
    table, _ = _emptied(tmp_path, root, root)
    assert "whole-file-system" not in code_names(table.preview(KEEP_ONE, NOW_MS).warnings)
    monkeypatch.setattr("os.path.ismount", lambda path: str(path) == str(root))
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert codes.WHOLE_FILE_SYSTEM(root=f"file://{root}") in plan.warnings
    assert [each.files for each in plan.outside] == [1]


def test_a_root_that_climbs_is_never_honoured(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    table, file = _emptied(tmp_path, tmp_path / "x" / ".." / "ext", tmp_path / "x" / ".." / "ext")
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert plan.outside == ()
    assert apply(table, plan, settle_s=0, outside=[str(tmp_path / "ext")]).is_exact
    assert file.is_file()


def test_on_a_store_too_files_in_another_tables_directory_stay() -> None:
    """There, directories are listed, because requests for missing files are expensive."""
    place = "judged/ext/a/b/c/theirs"
    Store("memory://judged").make_dirs(["ext/a/b/c/theirs/schema", "ext/dt=1/bucket-0"])
    Store(f"memory://{place}/schema").create("schema-0", b"{}")
    theirs = roots.owners("memory://judged/ext")
    assert theirs(f"memory://{place}/data/") == codes.THEIRS(name=f"memory://{place}")
    assert theirs("memory://judged/ext/dt=1/bucket-0/") is None
    assert theirs("memory://judged/ext/") is None


def test_a_directory_of_a_file_system_with_an_authority_is_no_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDFS names the host before the path, an object store the bucket."""
    monkeypatch.setattr(Store, "named", classmethod(lambda cls, url: _hdfs(url)))
    store = Store(str(tmp_path))
    assert roots.refused("hdfs://nn/ext", store) is None
    assert roots.refused("hdfs://nn", store) == codes.FILE_SYSTEM_ROOT()


def _hdfs(url: str) -> Store:
    return Store("memory://" + url.removeprefix("hdfs://nn"))


def test_plans_without_files_outside_are_as_they_were(tmp_path: Path) -> None:
    """Fingerprint, headline and confirmation are unaffected by roots."""
    root = ground.warehouse(tmp_path / "w")
    ground.small_table(root)
    plan = open_table(str(root)).preview(KEEP_ONE, NOW_MS)
    assert plan.outside == ()
    assert "utside" not in plan.headline
    assert apply(open_table(str(root)), plan, settle_s=0).is_exact


# names that are no URLs ----------------------------------------------------------------------------------------------

VALUES = ["10:00", "a%2Fb", "a b", "ü", "#", "?", "+", "..", "x" * 120, "a=b", "%", "a\\b", "~", "[x]", "'", '"']


@pytest.mark.parametrize("spelling", ["file:", "file://"])
def test_all_files_of_odd_partitions_go_and_nothing_else(spelling: str, tmp_path: Path) -> None:
    """The engine escapes a value once, and nobody decodes it: with `10:00`, two of four files used to be missed."""
    place = tmp_path / "an odd%20one #1"
    outer = Outer(tmp_path, [place], spelling)
    files = [outer.file(place, f"dt={escape(value)}") for value in VALUES]
    decoy = place / "dt=10:00" / "bucket-0" / files[0].name
    decoy.parent.mkdir(parents=True)
    decoy.write_bytes(b"another's")
    outer.table.commit(files)
    outer.table.commit([outer.table.file(partition=("1",))], files, kind="OVERWRITE")
    table = open_table(str(outer.root))
    assert table.missing_files(table.history(), "1") == []
    plan = table.preview(KEEP_ONE, NOW_MS)
    assert [each.files for each in plan.outside] == [len(VALUES)]
    receipt = apply(table, plan, settle_s=0, outside=_roots(plan))
    assert receipt.is_exact
    assert ground.disk(place) == {str(decoy.relative_to(place))}


# Iceberg -------------------------------------------------------------------------------------------------------------


def iceberg(root: Path, place: Path, configured: str) -> Path:
    """Create a table whose data is in `place`, exactly as spelled in its metadata."""
    made = iceberg_ground.java_table("t05_v3", root)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(root / "data", place)
    old, new = f"file://{root}/data/", f"file:{place}/"
    for path in root.glob("metadata/*"):
        if path.suffix == ".avro":
            schema, records, metadata = read_avro(path)
            for each in records:
                if "data_file" in each:
                    each["data_file"]["file_path"] = each["data_file"]["file_path"].replace(old, new)
            write_avro(path, schema, records, metadata)
    iceberg_ground.commit(made, lambda document: document["properties"].update({"write.data.path": configured}))
    return made


def test_iceberg_files_under_a_write_path_want_its_name(tmp_path: Path) -> None:
    place = tmp_path / "outer" / "10%3A00 a#b?c+ü"
    root = iceberg(tmp_path / "db" / "t", place, f"file:{place}")
    table = open_table(str(root))
    history = table.history()
    assert history.incomplete == {}
    newest = history.holders[-1].point
    assert table.missing_files(history, newest) == []
    plan = table.preview(Expire(retain_min=1, older_than_ms=NOW_MS), NOW_MS, history)
    paths = [path for path in plan.frees["path"].to_pylist() if path.startswith("file:")]
    assert [(each.root, each.files) for each in plan.outside] == [(f"file://{place}", len(paths))]
    assert paths
    before = ground.disk(place)
    with pytest.raises(Invalid):
        apply(table, plan, settle_s=0)
    assert ground.disk(place) == before
    receipt = apply(table, plan, settle_s=0, outside=[f"{place}"])
    assert (receipt.outcome, receipt.kept_back) == ("done", ())
    assert before - ground.disk(place) == {path.removeprefix(f"file://{place}/") for path in paths}
    history = table.history()
    assert [table.missing_files(history, each.point) for each in history.holders] == [[] for _ in history.holders]
    kept = next(path for path in history.files_at(len(history.holders) - 1)["path"].to_pylist() if ":" in path)
    Path(kept.removeprefix("file://")).unlink()
    bad = table.preview(CreateTag("bad", int(history.holders[-1].name), verified=True), NOW_MS)
    with pytest.raises(SnapscopeError):
        apply(table, bad, settle_s=0)
    assert "bad" not in iceberg_ground.document(root)["refs"]


@pytest.mark.parametrize("change", [CreateTag, CreateBranch, DeleteTags, Expire], ids=lambda each: each.__name__)
def test_only_an_expiry_deletes_old_metadata_outside(change: Any, tmp_path: Path) -> None:
    """A tag used to be rejected if `write.metadata.path` was elsewhere, because nobody had named its root."""
    place = tmp_path / "old"
    place.mkdir()
    options = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}
    root = iceberg_ground.small_table(tmp_path / "db" / "t", **options, **{"write.metadata.path": f"file://{place}"})

    def logged(document: dict[str, Any]) -> None:
        old = [place / f"v90{number}.metadata.json" for number in range(3)]
        for each in old:
            each.write_text("{}")
        document["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": f"file://{each}"} for each in old]

    iceberg_ground.commit(root, logged)
    table = open_table(str(root))
    newest = table.heads().main.snapshots[-1].id
    asked = {CreateTag: ("new", newest), CreateBranch: ("new", str(newest)), DeleteTags: (("early",),), Expire: ()}[
        change
    ]
    plan = table.preview(change(*asked, **({"drop_tags": ("early",)} if change is Expire else {})), NOW_MS)
    if change is Expire:
        assert plan.outside
        with pytest.raises(Invalid, match="nobody has confirmed"):
            apply(table, plan, settle_s=0)
    else:
        assert plan.outside == ()
        assert [
            each for each in plan.notes if each.text.startswith("3 old metadata files outside the table's directory")
        ]
        assert apply(table, plan, settle_s=0).outcome == "done"
    assert len(ground.disk(place)) == 3


@pytest.mark.parametrize("configured", ["file:{tmp}", "file:///", "file:{tmp}/db"])
def test_an_iceberg_write_path_that_is_not_the_tables_alone_is_refused(configured: str, tmp_path: Path) -> None:
    place = tmp_path / "db" / "data"
    root = iceberg(tmp_path / "db" / "t", place, configured.format(tmp=tmp_path))
    table = open_table(str(root))
    plan = table.preview(Expire(retain_min=1, older_than_ms=NOW_MS), NOW_MS)
    assert plan.outside == ()
    assert "root-stays" in code_names(plan.warnings)
    before = ground.disk(place)
    assert apply(table, plan, settle_s=0).outcome == "done"
    assert ground.disk(place) == before


def test_a_copied_iceberg_table_is_never_changed(tmp_path: Path) -> None:
    """Its metadata shows it: `location` is the original's."""
    root = iceberg_ground.java_table("t05_v3", tmp_path / "db" / "t")
    shutil.copytree(root, copy := tmp_path / "db" / "copy")
    table, before = open_table(str(copy)), ground.disk(tmp_path)
    plan = table.preview(Expire(retain_min=1, older_than_ms=NOW_MS), NOW_MS)
    with pytest.raises(Unsupported, match="moved or copied"):
        apply(table, plan, settle_s=0)
    assert ground.disk(tmp_path) == before


# what a verified tag protects ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["external", "beside it", "of another size", "index", "a store that nobody can ask"])
def test_a_tag_is_verified_with_every_file_wherever_it_lies(what: str, tmp_path: Path) -> None:
    """External files used to be skipped: the tag said "protected" for a version whose files were gone."""
    outer = Outer(tmp_path, [tmp_path / "ext"])
    file = outer.file(outer.roots[0])
    place = Path(str(file.external).removeprefix("file:"))
    beside = replace(file, extra=(f"{file.name}.index",))
    Path(f"{place}.index").write_bytes(b"bits")
    index = outer.table.index_file(90, partition=("1",))
    outer.table.commit([beside], index=[index])
    if what == "a store that nobody can ask":
        outer.table.commit([replace(file, name="x", external="nosuch://bucket/x")])
    table, newest = open_table(str(outer.root)), 2 if what.startswith("a store") else 1
    if newest == 1:
        assert table.missing_files(table.history(), "1") == []
        tag = CreateTag("good", verified=True)
        assert apply(table, table.preview(tag, NOW_MS), settle_s=0).outcome == "done"
    match what:
        case "external":
            place.unlink()
        case "beside it":
            Path(f"{place}.index").unlink()
        case "of another size":
            place.write_bytes(b"less")
        case "index":
            (outer.root / "index" / index.name).unlink()
    with pytest.raises(SnapscopeError):
        apply(table, table.preview(CreateTag("bad", newest, verified=True), NOW_MS), settle_s=0)
    assert not (outer.root / "tag" / "tag-bad").exists()
    assert run("protect", outer.root, str(newest), "--yes", "--json")[0] == 1
    assert {each.name for each in (outer.root / "tag").iterdir()} <= {"tag-good"}


@pytest.mark.parametrize("seed", first_fast(range(3)))
def test_whole_lives_of_tables_in_odd_places(seed: int, tmp_path: Path) -> None:
    """A few of the cases that `tests/proofs/outside.py` tries continuously."""
    assert outside_history.live(tmp_path, seed)["changes"]
