"""Plans: what they free compared with plain sets, what they reject, and their texts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
import random
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import _registry
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Corrupt, Invalid, NotFound
from core.execution.apply import apply
from core.formats.paimon.plan.engine_deletion import Native
from core.formats.paimon.plan.engine_differences import differences
from core.formats.paimon.plan.expiry import expiring, preview
from core.messages import Reason, code_names, sentences
from core.model import codes
from core.model.actions import CreateTag, DeleteTags, Expire, ReplaceTag
from core.model.plan import Plan
from core.model.time_travel import in_words
from core.reports import json as answers
from core.table import open_table, resolve
from tests.support import set_model
from tests.support.builders import DataFile, TableBuilder
from tests.support.depth import first_fast, tries
from tests.support.formats.paimon.random_tables import STEP, Maker
from tests.support.formats.paimon.tables import NOW_MS, four_commits, list_of, manifest_of, replaced_four_times
from tests.support.places import TABLES

KEEP_ONE = Expire(retain_max=1, retain_min=1)
KINDS = ["data", "changelog", "index", "statistics", "manifest", "manifest-list", "snapshot", "tag", "changelog-json"]


def plan(root: Path, change: Any, now_ms: int = NOW_MS) -> Plan:
    return open_table(str(root)).preview(change, now_ms)


def frees(found: Plan) -> dict[str, int]:
    return dict(zip(found.frees["path"].to_pylist(), found.frees["bytes"].to_pylist(), strict=True))


def goes(found: Plan) -> set[str]:
    return {verdict.point for verdict in found.deleted_points}


def test_the_last_that_keeps_an_expired_snapshot_is_told(tmp_path: Path) -> None:
    """Two tags and a branch keep expired files: the last of them shows what is lost with it."""
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag("w", 2)

    def told(change: Expire | DeleteTags | ReplaceTag) -> list[Reason]:
        return [each for each in plan(root, change).warnings if each.code == codes.LAST_KEPT and each.values["id"] == 2]

    assert not told(DeleteTags(("v", "w"))), "the snapshot itself is there"
    assert not told(dataclasses.replace(KEEP_ONE, drop_tags=("v",)))
    assert told(dataclasses.replace(KEEP_ONE, drop_tags=("v", "w"))), "it expires in the same plan"
    opened = open_table(str(root))
    apply(opened, opened.preview(KEEP_ONE, NOW_MS), settle_s=0)
    assert not told(DeleteTags(("v",)))
    (said,) = told(DeleteTags(("v", "w")))
    at = in_words(opened.heads().main.tags[0].snapshot.time_ms)
    assert said == codes.LAST_KEPT(id=2, at=at)
    assert said.text == f"Nothing else keeps snapshot 2 (committed {at}): it cannot be read again afterwards."
    apply(opened, opened.preview(DeleteTags(("w",)), NOW_MS), settle_s=0)
    assert told(ReplaceTag("v", 4))
    table.branch("dev", "v")
    assert not told(DeleteTags(("v",))), "a branch has a copy of it"


# freed = goes − stays ------------------------------------------------------------------------------------------------


def check(root: Path, change: Expire | DeleteTags, model: set_model.Model) -> Plan:
    """A plan on a healthy table equals the set algebra, file by file and byte by byte."""
    found = plan(root, change)
    kept = {verdict.point for verdict in found.points if verdict.keep}
    assert goes(found) | kept == set(model.holders)
    expected = {path for path in model.freed(goes(found)) if not path.startswith("file:")}
    assert set(frees(found)) == expected
    assert not set(frees(found)) & model.live_paths(kept)
    for path, size in frees(found).items():
        assert size == (root / path).stat().st_size, path
    assert found.freed_bytes == sum(frees(found).values())
    rows = found.frees.to_pylist()
    assert rows == sorted(rows, key=lambda row: (KINDS.index(row["kind"]), row["path"]))
    assert {(row["path"], row["kind"]) for row in rows} <= set(model.kinds.items())
    assert sum(files for _, files, _ in found.by_kind()) == len(rows)
    assert sum(size for _, _, size in found.by_kind()) == found.freed_bytes
    assert {path for path, _ in found.removes} == {
        path
        for path, kind in model.kinds.items()
        if path in frees(found) and kind in ("snapshot", "tag", "changelog-json")
    }
    for path, content in found.removes:
        assert content == (root / path).read_bytes()
    assert all(verdict.reasons and all(map(str, verdict.reasons)) for verdict in found.points)
    return found


@pytest.mark.slow
@tries(50)
@given(st.lists(STEP, max_size=16), st.integers(0, 10**6))
def test_any_plan_on_any_table(steps: list[tuple[str, int, int]], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "t"
        made = Maker(root, {})
        made.main.commit([made.file(made.main, 1, 1)])
        made.run(steps)
        model = set_model.read(root)
        chance = random.Random(seed)
        heads = open_table(str(root)).heads()
        for line in heads.lines:
            names = [tag.name for tag in line.tags]
            drops = tuple(chance.sample(names, chance.randint(0, len(names))))
            keep = chance.randint(1, max(len(line.snapshots), 1))
            check(root, Expire(line.branch, keep, keep), model)
            check(root, Expire(line.branch, keep, keep, drop_tags=drops), model)
            if drops:
                found = check(root, DeleteTags(drops, line.branch), model)
                prefix = "" if line.branch == "main" else f"branch:{line.branch}/"
                assert goes(found) == {f"{prefix}tag:{name}" for name in drops}


@pytest.mark.parametrize("name", first_fast(sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())))
def test_any_plan_on_a_real_table(name: str) -> None:
    root = TABLES / "paimon" / "default.db" / name
    model = set_model.read(root)
    chance = random.Random(name)
    for line in open_table(str(root)).heads().lines:
        names = [tag.name for tag in line.tags]
        for _ in range(4):
            keep = chance.randint(1, max(len(line.snapshots), 1))
            drops = tuple(chance.sample(names, chance.randint(0, len(names))))
            check(root, Expire(line.branch, keep, keep, drop_tags=drops), model)
            if drops:
                check(root, DeleteTags(drops, line.branch), model)


def test_two_tags_on_one_snapshot_free_nothing_alone(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    table.tag("w", 2)
    table.expire([1, 2])
    root, model = tmp_path / "t", set_model.read(tmp_path / "t")
    for name in ("v", "w"):
        assert set(frees(check(root, DeleteTags((name,)), model))) == {f"tag/tag-{name}"}
    assert len(frees(check(root, DeleteTags(("v", "w")), model))) > 2


def test_a_changelog_that_is_left_behind_keeps_its_files(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"changelog-producer": "input"})
    made = table.file(prefix="changelog-")
    table.commit([table.file()], changelog=[made])
    table.commit([], table.live(), kind="OVERWRITE")
    coupled, decoupled = plan(root, KEEP_ONE), plan(root, Expire(retain_max=1, retain_min=1, changelog_retain_max=9))
    path = f"bucket-0/{made.name}"
    assert path in frees(coupled)
    assert path not in frees(decoupled)
    assert decoupled.leaves == ("changelog/changelog-1",)
    assert set(frees(coupled)) - set(frees(decoupled)) == {
        path,
        list_of(table, 1, "changelog"),
        *(f"manifest/{each}" for each in names_in(root, list_of(table, 1, "changelog"))),
    }


def names_in(root: Path, path: str) -> list[str]:
    return [record["_FILE_NAME"] for record in set_model._records(root / path)]


def test_an_option_above_its_snapshot_counterpart_leaves_changelogs(tmp_path: Path) -> None:
    """The engine's rule: an option that is set and not greater keeps nothing longer."""
    for number, (options, leaves) in enumerate(
        [
            ({"changelog.num-retained.max": "9", "snapshot.num-retained.max": "3"}, True),
            ({"changelog.num-retained.max": "3", "snapshot.num-retained.max": "3"}, False),
            ({"changelog.num-retained.min": "9", "snapshot.num-retained.min": "3"}, True),
            ({"changelog.time-retained": "2 h"}, True),
            ({"changelog.time-retained": "1 h"}, False),
            ({}, False),
        ]
    ):
        table = TableBuilder(tmp_path / str(number), options={"changelog-producer": "input", **options})
        table.commit([table.file()], changelog=[table.file(prefix="changelog-")])
        table.commit([table.file()])
        found = plan(tmp_path / str(number), KEEP_ONE)
        assert bool(found.leaves) is leaves, options


# refusals ------------------------------------------------------------------------------------------------------------


def test_a_kept_point_that_cannot_be_read_names_the_file_and_the_way_out(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag("w", 4)
    table.expire([1, 2])
    (root / list_of(table, 4, "delta")).unlink()
    with pytest.raises(Corrupt) as caught:
        plan(root, KEEP_ONE)
    assert list_of(table, 4, "delta") in str(caught.value)
    assert caught.value.path == list_of(table, 4, "delta")
    assert "4 is kept" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "way"),
    [(KEEP_ONE, "--drop-tag v"), (DeleteTags(("w",)), "--name v")],
)
def test_a_kept_tag_that_cannot_be_read_can_go_in_the_same_plan(tmp_path: Path, change: Any, way: str) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag("w", 4)
    table.expire([1, 2])
    (root / "tag/tag-v").write_bytes(b"{")
    with pytest.raises(Corrupt) as caught:
        plan(root, change)
    assert "tag/tag-v" in str(caught.value)
    assert way in str(caught.value)
    taken = dataclasses.replace(
        change, **({"drop_tags": ("v",)} if isinstance(change, Expire) else {"names": ("v", "w")})
    )
    found = plan(root, taken)
    assert "tag:v" in goes(found)
    assert ("lower-bound", "tag:v") in [(each.code.name, each.values.get("point")) for each in found.warnings]
    assert "tag/tag-v" in frees(found)


def test_all_tags_that_must_go_are_named_at_once(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag("w", 2)
    for name in ("v", "w"):
        (root / f"tag/tag-{name}").write_bytes(b"")
    with pytest.raises(Corrupt, match="--drop-tag v --drop-tag w"):
        plan(root, KEEP_ONE)


def test_an_unreadable_point_of_another_branch_refuses_too(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.branch("dev", "v")
    (root / "branch/branch-dev/tag/tag-v").write_bytes(b"")
    for change in (KEEP_ONE, DeleteTags(("v",))):
        with pytest.raises(Corrupt, match="branch-dev/tag/tag-v"):
            plan(root, change)


@pytest.mark.parametrize("damage", ["list", "document"])
def test_a_going_point_that_cannot_be_read_gives_a_lower_bound(tmp_path: Path, damage: str) -> None:
    """What is known of it is deleted; nothing is guessed, and everything that a kept version holds stays."""
    root = tmp_path / "t"
    table = four_commits(root)
    table.delete_tag("v")
    whole = set(frees(plan(root, KEEP_ONE)))
    broken = {"list": list_of(table, 2), "document": "snapshot/snapshot-2"}[damage]
    (root / broken).write_bytes(b"")
    found = plan(root, KEEP_ONE)
    assert ("lower-bound", "2") in [(each.code.name, each.values.get("point")) for each in found.warnings]
    assert set(frees(found)) <= whole
    assert {"snapshot/snapshot-1", "snapshot/snapshot-2", "snapshot/snapshot-3"} <= set(frees(found))
    assert dict(found.removes)["snapshot/snapshot-2"] == (root / "snapshot/snapshot-2").read_bytes()


def test_a_lost_manifest_that_a_kept_point_needs_refuses(tmp_path: Path) -> None:
    """Every later list names it."""
    root = tmp_path / "t"
    table = four_commits(root)
    (root / manifest_of(table, 1)).unlink()
    with pytest.raises(Corrupt, match="4 is kept"):
        plan(root, KEEP_ONE)


def test_an_unreadable_snapshot_that_age_would_judge_stops_the_expiry(tmp_path: Path) -> None:
    root = tmp_path / "t"
    four_commits(root)
    (root / "snapshot/snapshot-2").write_bytes(b"")
    with pytest.raises(Corrupt, match="snapshot-2"):
        plan(root, Expire(retain_min=1))


def test_an_unreadable_consumer_refuses_an_expiry_and_no_tag_deletion(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.consumer("job", 2)
    (root / "consumer/consumer-job").write_bytes(b"{}")
    with pytest.raises(Corrupt, match="consumer-job") as caught:
        plan(root, KEEP_ONE)
    assert "job" in str(caught.value)
    assert goes(plan(root, DeleteTags(("v",)))) == {"tag:v"}


def test_a_consumer_of_another_branch_does_not_count(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.branch("dev", "v").consumer("job", 1)
    assert "1" in goes(plan(root, KEEP_ONE))
    (root / "branch/branch-dev/consumer/consumer-job").write_bytes(b"")
    assert "1" in goes(plan(root, KEEP_ONE))


def test_an_unreadable_schema_refuses(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.schema(options={})
    table.branch("dev", "v")
    for path in ("schema/schema-1", "schema/schema-0", "branch/branch-dev/schema/schema-0"):
        whole = (root / path).read_bytes()
        (root / path).write_bytes(whole[:20])
        for change in (KEEP_ONE, DeleteTags(("v",))):
            with pytest.raises(Corrupt, match=path):
                plan(root, change)
        (root / path).write_bytes(whole)


def test_unknown_names(tmp_path: Path) -> None:
    root = tmp_path / "t"
    four_commits(root)
    with pytest.raises(Invalid, match="Tags: v"):
        plan(root, DeleteTags(("v", "nothing")))
    with pytest.raises(Invalid, match="nothing"):
        plan(root, Expire(retain_max=1, retain_min=1, drop_tags=("nothing",)))
    with pytest.raises(Invalid, match="No tag"):
        plan(root, DeleteTags(()))
    for change in (Expire("dev"), DeleteTags(("v",), "dev"), CreateTag("x", branch="dev")):
        with pytest.raises(NotFound, match="Branches: main"):
            plan(root, change)


@pytest.mark.parametrize(
    "change",
    [
        Expire(retain_min=0),
        Expire(retain_max=0, retain_min=0),
        Expire(retain_max=1, retain_min=2),
        Expire(max_deletes=0),
        Expire(time_retained_ms=-1),
        Expire(older_than_ms=-1),
        Expire(rules="2.x"),
        Expire(changelogs_only=True, changelog_retain_min=0),
        Expire(changelogs_only=True, retain_max=1),
        Expire(changelogs_only=True, retain_min=1),
        Expire(changelogs_only=True, time_retained_ms=1),
        Expire(changelogs_only=True, snapshots=(1,)),
        Expire(snapshots=(1,), retain_max=1),
        Expire(snapshots=(1,), retain_min=1),
        Expire(snapshots=(1,), older_than_ms=1),
        Expire(snapshots=(1,), time_retained_ms=1),
        Expire(snapshots=(1,), max_deletes=1),
    ],
    ids=str,
)
def test_requests_that_cannot_be(tmp_path: Path, change: Expire) -> None:
    four_commits(tmp_path / "t")
    with pytest.raises(Invalid):
        plan(tmp_path / "t", change)


def test_a_table_without_snapshots_frees_nothing(tmp_path: Path) -> None:
    TableBuilder(tmp_path / "t")
    found = plan(tmp_path / "t", KEEP_ONE)
    assert (frees(found), found.points, found.headline) == ({}, (), "Nothing is deleted, so nothing is reclaimed.")


# what is not ours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("configured", "stored", "is_ours"),
    [
        ("file:///ext", "file:///ext/b/x.parquet", True),
        ("file:///ext/", "file:///ext/x.parquet", True),
        ("file:///ext", "file:/ext/x.parquet", True),
        ("file:/ext", "file:///ext/x.parquet", True),
        ("cosn://one/a, cosn://two/b", "cosn://two/b/x.parquet", True),
        ("", "file:///ext/x.parquet", False),
        ("file:///ext", "file:///extra/x.parquet", False),
        ("file:///ext", "file:///ext/../etc/x.parquet", False),
        ("cosn://one/a", "s3://one/a/x.parquet", False),
        ("cosn://one/a", "cosn://other/a/x.parquet", False),
        ("cosn://one/a", "/a/x.parquet", False),
        ("/ext", "/ext/x.parquet", False),
    ],
)
def test_external_files_are_ours_under_a_configured_root_only(
    tmp_path: Path, configured: str, stored: str, is_ours: bool
) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"data-file.external-paths": configured} if configured else {})
    table.commit([DataFile("x.parquet", 7, 1, external=stored)])
    table.commit([], table.live(), kind="OVERWRITE")
    found = plan(root, KEEP_ONE)
    assert (frees(found).get(stored) == 7) is is_ours
    assert ("foreign" in code_names(found.warnings)) is not is_ours


def test_an_external_file_and_what_lies_beside_it_are_sized_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "ext").mkdir()
    (tmp_path / "ext/x.parquet").write_bytes(bytes(7))
    (tmp_path / "ext/x.parquet.index").write_bytes(bytes(5))
    table = TableBuilder(tmp_path / "t", options={"data-file.external-paths": f"file://{tmp_path}/ext"})
    url = f"file://{tmp_path}/ext/x.parquet"
    table.commit([DataFile("x.parquet", 7, 1, extra=("x.parquet.index",), external=url)])
    table.commit([], table.live(), kind="OVERWRITE")
    found = frees(plan(tmp_path / "t", KEEP_ONE))
    assert (found[url], found[f"{url}.index"]) == (7, 5)


def test_a_data_directory_outside_the_table_is_not_ours(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"data-file.path-directory": "../elsewhere"})
    table.commit([table.file(write=False)])
    table.commit([], table.live(), kind="OVERWRITE")
    found = plan(root, KEEP_ONE)
    assert not any(".." in path for path in frees(found))
    assert "foreign" in code_names(found.warnings)


def test_an_extra_file_that_is_gone_is_not_freed(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root)
    table.commit([table.file(extra=[".index"])])
    table.commit([], table.live(), kind="OVERWRITE")
    [extra] = root.glob("bucket-0/*.index")
    assert f"bucket-0/{extra.name}" in frees(plan(root, KEEP_ONE))
    extra.unlink()
    assert f"bucket-0/{extra.name}" not in frees(plan(root, KEEP_ONE))


# beside the engine ---------------------------------------------------------------------------------------------------


def beside(root: Path, change: Expire) -> tuple[Reason, ...]:
    table = open_table(str(root))
    history = table.history()
    return table.native(table.preview(change, NOW_MS, history), history)


def test_named_snapshots_are_compared_as_named(tmp_path: Path) -> None:
    replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "1"})
    assert beside(tmp_path / "t", Expire(snapshots=(1, 2))) == ()


def test_tags_that_go_by_their_age_go_in_the_engine_too(tmp_path: Path) -> None:
    table = replaced_four_times(tmp_path / "t", {"snapshot.num-retained.min": "9"})
    table.tag("old", 2, created=dt.datetime(2026, 1, 1), retained_s=60)
    table.expire([1, 2])
    for change in (Expire(expired_tags=True), Expire(tags_older_than_ms=NOW_MS)):
        assert goes(plan(tmp_path / "t", change)) == {"tag:old"}
        assert beside(tmp_path / "t", change) == ()


def test_a_tag_without_an_age_says_so(tmp_path: Path) -> None:
    four_commits(tmp_path / "t")
    points = {each.point: each for each in plan(tmp_path / "t", Expire(tags_older_than_ms=NOW_MS)).points}
    assert points["tag:v"].keep
    assert points["tag:v"].reasons == (codes.TAG_AGE_UNKNOWN(),)


def decoupled(root: Path, producer: str) -> TableBuilder:
    """Create five commits, three of which have expired and left their changelogs behind."""
    changelog = {"snapshot.num-retained.min": "1", "changelog.num-retained.min": "9", "changelog-producer": producer}
    table = TableBuilder(root, options=changelog)
    for _ in range(5):
        own = [table.file(prefix="changelog-")] if producer == "input" else []
        table.commit([table.file()], table.live(), kind="OVERWRITE", changelog=own)
    apply(open_table(str(root)), plan(root, Expire(retain_max=2, retain_min=2)), settle_s=0)
    return table


@pytest.mark.parametrize("producer", ["input", "none"])
def test_long_lived_changelogs_go_as_the_engine_takes_them(tmp_path: Path, producer: str) -> None:
    decoupled(tmp_path / "t", producer)
    change = Expire(changelogs_only=True, changelog_retain_max=3, changelog_retain_min=3)
    assert goes(plan(tmp_path / "t", change)) == {"changelog:1", "changelog:2"}
    assert beside(tmp_path / "t", change) == ()
    (tmp_path / "t/changelog/changelog-2").unlink()
    told, *_ = beside(tmp_path / "t", dataclasses.replace(change, changelog_retain_max=2, changelog_retain_min=2))
    assert told.code == codes.ENGINE_FAILS
    assert told.text == "Paimon itself would fail: it needs changelog 2, which does not exist."


def test_points_are_named_in_their_order() -> None:
    broken = {f"f{number}": [str(number)] for number in (10, 9, 2)}
    told = differences(Native(frozenset(broken)), set(), broken)
    assert [each.values["point"] for each in told] == ["2", "9", "10"]


# words and values ----------------------------------------------------------------------------------------------------


def test_headlines(tmp_path: Path) -> None:
    root = tmp_path / "t"
    four_commits(root)
    assert plan(root, Expire(retain_min=4)).headline == "Nothing is deleted, so nothing is reclaimed."
    assert plan(root, CreateTag("x")).headline == "Creates tag x at snapshot 4; reclaims nothing."
    found = plan(root, KEEP_ONE)
    assert found.headline.startswith(
        f"Expires 3 snapshots (1–3), reclaims {found.freed_bytes / 1000:.1f} kB in {len(frees(found))} files."
    )
    assert "of the expired snapshots." in found.headline
    one = plan(root, Expire(retain_max=3, retain_min=3))
    assert "Expires 1 snapshot (1)" in one.headline
    assert plan(root, ReplaceTag("v", 1, 129_600_000)).headline == (
        "Moves tag v to snapshot 1 for 1 d 12 h; reclaims nothing."
    )


def test_what_tags_keep_is_counted_apart(tmp_path: Path) -> None:
    """a and the metadata of 2 are held by expiring snapshots and, among the kept holders, only by the tag."""
    root = tmp_path / "t"
    four_commits(root)
    found, model = plan(root, KEEP_ONE), set_model.read(root)
    going = frozenset().union(*(model.holders[point].paths for point in goes(found)))
    expected = (going & model.holders["tag:v"].paths) - model.holders["4"].paths
    assert found.tags_keep_bytes == sum((root / path).stat().st_size for path in expected)
    assert found.kept_bytes == sum(
        (root / path).stat().st_size for path in model.holders["tag:v"].paths | model.holders["4"].paths
    )


def test_references_go_tags_first_and_oldest_first(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.tag("a", 1)
    found = plan(root, Expire(retain_max=1, retain_min=1, drop_tags=("v", "a")))
    assert [path for path, _ in found.removes] == [
        "tag/tag-a",
        "tag/tag-v",
        "snapshot/snapshot-1",
        "snapshot/snapshot-2",
        "snapshot/snapshot-3",
    ]


def test_reasons_say_which_rule_decided(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.branch("dev", "v")
    table.consumer("job", 3)
    said = {verdict.point: verdict.reasons for verdict in plan(root, Expire(retain_max=1, retain_min=1)).points}
    assert said["1"] == (codes.BEYOND_NEWEST(most=1),)
    assert said["3"] == (codes.CONSUMER(name="job", id=3),)
    assert said["4"] == (codes.AMONG_NEWEST(least=1),)
    assert said["tag:v"] == (codes.UNASKED(),)
    assert said["branch:dev/2"] == (codes.OF_BRANCH(name="dev"),)
    dev = {verdict.point: verdict.reasons for verdict in plan(root, DeleteTags(("v",), "dev")).points}
    assert dev["tag:v"] == (codes.OF_MAIN(),)
    assert dev["branch:dev/tag:v"] == (codes.NAMED_TO_DELETE(),)


def test_warnings(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"changelog-producer": "input"})
    for _ in range(60):
        table.commit([])
    table.commit([], id=70)
    said = plan(root, Expire(retain_max=1, retain_min=1)).warnings
    assert said[0] == codes.ENGINE_RUNS(runs=2)
    assert code_names(said) == ["engine-runs", "gap", "changelogs-freed"]
    assert "engine-runs" not in code_names(plan(root, Expire(retain_max=20, retain_min=20)).warnings)
    assert codes.ENGINE_RUNS(runs=6) in plan(root, Expire(retain_max=1, retain_min=1, rules="0.9")).warnings


def test_the_tables_own_limit_ends_a_plan_and_is_told(tmp_path: Path) -> None:
    root = tmp_path / "t"
    options = {"changelog-producer": "input", "snapshot.expire.limit": "2"}
    table = TableBuilder(root, options=options)
    for _ in range(9):
        table.commit([])
    found = plan(root, Expire(retain_max=4, retain_min=2))
    assert [verdict.point for verdict in found.deleted_points] == ["1", "2"]
    assert codes.LATER_RUNS(count=5, most=2) in found.warnings
    said = {verdict.point: verdict.reasons for verdict in found.points}
    assert said["3"] == (codes.EXPIRE_LIMIT(most=2),)
    assert said["9"] == (codes.AMONG_NEWEST(least=2),)
    asked = plan(root, Expire(retain_max=4, retain_min=2, max_deletes=4))
    assert [verdict.point for verdict in asked.deleted_points] == ["1", "2", "3", "4"]
    assert code_names(asked.warnings) == ["changelogs-freed"]
    named = plan(root, Expire(snapshots=(1, 2, 3)))
    assert codes.ENGINE_RUNS(runs=2) in named.warnings
    table.schema(options=options | {"snapshot.expire.limit": "0"})
    assert not plan(root, Expire(retain_max=4, retain_min=2)).deleted_points
    table.schema(options=options | {"snapshot.expire.limit": "7"})
    assert "later-runs" not in code_names(plan(root, Expire(retain_max=4, retain_min=2)).warnings)


def test_what_stays_after_the_own_policy_does_not_depend_on_its_limit(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root, options={"snapshot.num-retained.min": "2", "snapshot.expire.limit": "1"})
    for _ in range(6):
        table.commit([])
    opened = open_table(str(root))
    history = opened.history()
    going = expiring(history, NOW_MS)
    assert [history.holders[at].point for at in np.flatnonzero(going)] == ["1", "2", "3", "4"]


class Bucket(LocalFileSystem):
    """A store that looks like anything but a local disk."""

    protocol = "bucket"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(LocalFileSystem._strip_protocol(path.removeprefix("bucket://")))


def test_a_bucket_may_go_on_billing_for_what_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_registry, "bucket", Bucket)
    table = four_commits(tmp_path / "t")
    told = codes.VERSIONS_BILLED()
    there = open_table(f"bucket://{table.root}")
    found = there.preview(KEEP_ONE, NOW_MS)
    assert told in found.warnings
    (cannot,) = (each for each in found.warnings if each.code == codes.NOT_RUN_HERE)
    assert cannot.values["why"] == "Files cannot be created exclusively on 'bucket' stores."
    assert frees(found) == frees(plan(table.root, KEEP_ONE))
    assert told not in there.preview(CreateTag("x"), NOW_MS).warnings, "nothing is deleted"
    assert told not in plan(table.root, KEEP_ONE).warnings, "a disk keeps no versions"


def test_a_plan_is_a_value(tmp_path: Path) -> None:
    root = tmp_path / "t"
    four_commits(root)
    first, second = plan(root, KEEP_ONE), plan(root, KEEP_ONE)
    assert first == second
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.kept_bytes = 0


def test_the_fingerprint_is_of_content(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    table.branch("dev", "v")
    table.consumer("job", 4)
    table.keep_changelog(1)
    first = plan(root, KEEP_ONE).fingerprint

    for path in sorted(root.rglob("*")):
        os.utime(path, (1, 1))
    table.hints(earliest=3, latest=99)
    (root / "snapshot/stray").write_bytes(b"x")
    assert plan(root, KEEP_ONE).fingerprint == first, "neither times nor hints nor strays count"

    seen = {first}
    for path in (
        "snapshot/snapshot-4",
        "snapshot/snapshot-1",
        "tag/tag-v",
        "consumer/consumer-job",
        "schema/schema-0",
        "changelog/changelog-1",
        "branch/branch-dev/snapshot/snapshot-2",
        "branch/branch-dev/tag/tag-v",
        "branch/branch-dev/schema/schema-0",
    ):
        content = (root / path).read_bytes()
        (root / path).write_bytes(content + b" ")
        seen.add(plan(root, KEEP_ONE).fingerprint)
        (root / path).write_bytes(content)
    assert len(seen) == 10, "every reference counts, to the byte"
    assert plan(root, KEEP_ONE).fingerprint == first
    others = [
        plan(root, Expire(retain_max=2, retain_min=1)),
        plan(root, Expire(retain_max=1, retain_min=1, rules="0.9")),
        plan(root, DeleteTags(("v",))),
        plan(root, KEEP_ONE, NOW_MS + 1),
    ]
    assert len({first, *(each.fingerprint for each in others)}) == 5


# tags ----------------------------------------------------------------------------------------------------------------


def test_creating_a_tag_is_planned(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = four_commits(root)
    found = plan(root, CreateTag("x", 2))
    assert (found.leaves, found.removes, frees(found)) == (("tag/tag-x",), (), {})
    assert all(verdict.keep for verdict in found.points)
    table.branch("dev", "v")
    assert plan(root, CreateTag("x", branch="dev")).leaves == ("branch/branch-dev/tag/tag-x",)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a/b",
        "../x",
        "..",
        "a\\b",
        "a\0",
        "a\nb",
        " a",
        "a ",
        "a,b",
        ".x",
        "12",
        "v",
        "x" * 300,
        "success-file",
        "\x7f",
        "watermark-5",
        "tag:v",
        "release 08:00",
    ],
)
def test_tag_names_that_would_not_be_found_again(tmp_path: Path, name: str) -> None:
    four_commits(tmp_path / "t")
    with pytest.raises(Invalid):
        plan(tmp_path / "t", CreateTag(name))


def test_a_tag_that_loses_its_end_says_so(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    table.tag("ends", 2, created=dt.datetime(2026, 1, 1), retained_s=86_400)
    (told,) = plan(tmp_path / "t", ReplaceTag("ends", 3)).warnings
    assert told == codes.TAG_LOSES_END(name="ends", at="2026-01-02 00:00:00")
    assert plan(tmp_path / "t", ReplaceTag("ends", 3, 1_000)).warnings == ()
    assert plan(tmp_path / "t", ReplaceTag("v", 3)).warnings == ()


@pytest.mark.parametrize("name", ["main", "latest", "rollback", "dev"])
def test_names_that_mean_something_elsewhere_are_tags_like_any(tmp_path: Path, name: str) -> None:
    """The engine accepts them, and every version text states the kind of name."""
    four_commits(tmp_path / "t").branch("dev", "v")
    table = open_table(str(tmp_path / "t"))
    apply(table, table.preview(CreateTag(name, 1), NOW_MS))
    heads = table.heads()
    assert resolve(heads, f"tag:{name}").snapshot.id == 1
    assert (resolve(heads, "branch:main").snapshot.id, resolve(heads, "latest").snapshot.id) == (4, 4)
    assert goes(table.preview(DeleteTags((name,)), NOW_MS)) == {f"tag:{name}"}


def test_a_tag_that_cannot_be_read_still_has_its_name(tmp_path: Path) -> None:
    four_commits(tmp_path / "t")
    (tmp_path / "t/tag/tag-v").write_bytes(b"")
    with pytest.raises(Invalid, match="already exists"):
        plan(tmp_path / "t", CreateTag("v"))


def test_a_tag_of_nothing(tmp_path: Path) -> None:
    table = four_commits(tmp_path / "t")
    with pytest.raises(NotFound):
        plan(tmp_path / "t", CreateTag("x", 99))
    with pytest.raises(Invalid):
        plan(tmp_path / "t", CreateTag("x", retained_ms=0))
    table.expire([1, 2, 3, 4])
    with pytest.raises(NotFound):
        plan(tmp_path / "t", CreateTag("x"))
    shown = plan(tmp_path / "t", CreateTag("x", 2))  # expired, and kept by another tag
    assert (shown.source and shown.source.id, shown.source_tag) == (2, "v")
    with pytest.raises(NotFound, match="tag:v"):  # a tag cannot be its own source
        plan(tmp_path / "t", ReplaceTag("v", 2))


# as JSON -------------------------------------------------------------------------------------------------------------

ISSUED = [
    "table",
    "change",
    "rules",
    "fingerprint",
    "now_ms",
    "points",
    "frees",
    "freed_bytes",
    "kept_bytes",
    "warnings",
]


@pytest.mark.parametrize("change", [KEEP_ONE, DeleteTags(("v",)), CreateTag("x")], ids=lambda each: type(each).__name__)
def test_a_plan_as_json(tmp_path: Path, change: Any) -> None:
    root = tmp_path / "t"
    four_commits(root)
    found = plan(root, change)
    document: Mapping[str, Any] = json.loads(json.dumps(answers.plan(found)))
    assert [key for key in document if key in ISSUED] == ISSUED
    assert document["points"] == [
        {
            "point": each.point,
            "keep": each.keep,
            "reasons": sentences(each.reasons),
            "codes": code_names(each.reasons),
        }
        for each in found.points
    ]
    assert document["frees"] == found.frees.to_pylist()
    assert [list(row) for row in document["frees"]] == [["path", "kind", "bytes"]] * len(document["frees"])
    assert not any(row["path"].startswith("/") for row in document["frees"])
    assert document["freed_bytes"] == sum(row["bytes"] for row in document["frees"])
    assert document["now_ms"] == NOW_MS
    assert document["table"] == str(root)


def test_the_pure_plan_has_no_sizes_it_cannot_know(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = TableBuilder(root)
    table.commit([table.file(extra=[".index"])])
    table.commit([], table.live(), kind="OVERWRITE")
    history = open_table(str(root)).history()
    found = preview(history, KEEP_ONE, NOW_MS)
    [unsized] = found.without_size()
    assert unsized.endswith(".index")
    assert found.frees.schema == pa.schema([("path", pa.string()), ("kind", pa.string()), ("bytes", pa.int64())])
    sized = found.with_sizes({unsized: 5})
    assert frees(sized)[unsized] == 5
    assert sized.freed_bytes == found.freed_bytes + 5
    assert unsized not in frees(found.with_sizes({unsized: None}))
    shutil.rmtree(root)
