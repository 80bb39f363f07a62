"""Changes of Hadoop tables: each is one commit, loses nothing that the plan did not name, and deletes files only
afterwards."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.cli import main
from core.errors import Conflict, Corrupt, Invalid, SnapscopeError, Unsupported
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.model import codes
from core.model.actions import Change, CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag, Rollback
from core.table import open_table
from tests.support.execution import iceberg_ground as ground
from tests.support.execution.iceberg_ground import LATE_MS, Json, document, ids


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return ground.small_table(tmp_path / "db" / "t")


def changed(root: Path, change: Change, now_ms: int = LATE_MS) -> Receipt:
    table = open_table(str(root))
    return apply(table, table.preview(change, now_ms), settle_s=0)


def test_expire_removes_what_was_shown_and_nothing_else(root: Path) -> None:
    before, old = document(root), ids(root)
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    frees = set(plan.frees["path"].to_pylist())
    there = ground.disk(root)
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert receipt.outcome == "done"
    assert receipt.created == (f"metadata/{ground.newest(root).name}",)
    assert there - ground.disk(root) == frees == set(receipt.deleted)
    assert ids(root) == old[2:]  # the heads of the branch and of main
    assert ground.broken(root) == []
    after = document(root)
    assert set(after["refs"]) == {"main", "work"}
    assert [each["snapshot-id"] for each in after["snapshot-log"]] == old[2:]
    assert after["x-unknown"] == before["x-unknown"]
    assert after["snapshots"] == before["snapshots"][2:], "parents of what stays are as they were"
    assert after["metadata-log"][-1]["metadata-file"].endswith("/metadata/v7.metadata.json")
    assert len(after["metadata-log"]) == len(before["metadata-log"]) + 1
    assert after["last-updated-ms"] >= before["last-updated-ms"]
    assert after.keys() == before.keys()
    assert (root / "metadata/version-hint.text").read_text() == "8"
    assert Journal().open_run(table.location) is None


@pytest.mark.slow
def test_the_names_of_a_tag(root: Path) -> None:
    old = ids(root)
    changed(root, CreateTag("new", old[0], retained_ms=2**60, verified=True))
    assert document(root)["refs"]["new"] == {"type": "tag", "snapshot-id": old[0], "max-ref-age-ms": 2**60}
    changed(root, ReplaceTag("early", old[3]))
    changed(root, RenameTag("early", "late"))
    kept = {"snapshot-id": old[3], "type": "tag", "max-ref-age-ms": 2**62, "owner": "somebody"}
    assert document(root)["refs"]["late"] == kept, "what else is written of a tag stays"
    assert "early" not in document(root)["refs"]
    changed(root, DeleteTags(("late", "new")))
    assert set(document(root)["refs"]) == {"main", "work"}
    assert ids(root) == old
    assert ground.broken(root) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (DeleteTags(("main",)), "is a branch"),
        (DeleteTags(("work",)), "is a branch"),
        (DeleteTags(("nobody",)), "no tag"),
        (CreateTag("early"), "already exists"),
        (CreateTag("main"), "already exists"),
        (ReplaceTag("work"), "is a branch"),
        (ReplaceTag("nobody"), "no tag"),
        (RenameTag("main", "x"), "is a branch"),
        (RenameTag("early", "work"), "already exists"),
        (Expire(drop_tags=("main",)), "Branch main cannot be deleted."),
        (CreateTag("x", 12345), "12345"),
    ],
)
def test_what_nobody_may_do_to_refs(root: Path, change: Change, words: str) -> None:
    before = ground.newest(root)
    with pytest.raises(SnapscopeError, match=words):
        changed(root, change)
    assert ground.newest(root) == before


@pytest.mark.slow
def test_a_tags_time_is_counted_from_its_snapshot(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seven days from the commit would not protect a year-old snapshot; `protect` means seven days from now."""
    now_ms = document(root)["snapshots"][0]["timestamp-ms"] + 365 * 86_400_000
    with pytest.raises(Invalid, match="the next expiry would already delete it"):
        changed(root, CreateTag("new", ids(root)[0], retained_ms=7 * 86_400_000), now_ms)
    assert main(["protect", str(root), str(ids(root)[0]), "--now", f"{now_ms}", "--yes", "--json"]) == 0
    (name,) = document(root)["refs"].keys() - {"main", "early", "work"}
    table = open_table(str(root))
    for days, is_kept in ((6, True), (8, False)):
        plan = table.preview(Expire(), now_ms + days * 86_400_000)
        assert (f"tag:{name}" not in {verdict.point for verdict in plan.deleted_points}) == is_kept


def test_gc_switched_off_refuses_expiry_and_lets_tags_be(tmp_path: Path) -> None:
    root = ground.small_table(tmp_path / "t", **{"gc.enabled": "false"})
    with pytest.raises(Unsupported, match=r"gc\.enabled"):
        changed(root, Expire())
    changed(root, CreateTag("new"))
    assert "new" in document(root)["refs"]


@pytest.mark.slow
def test_gc_switched_off_after_the_preview(root: Path) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(), LATE_MS)
    ground.commit(root, lambda own: own["properties"].update({"gc.enabled": "false"}))
    with pytest.raises(Unsupported, match=r"gc\.enabled"):
        apply(table, plan, settle_s=0)
    assert len(ids(root)) == 4
    assert Journal().open_run(table.location) is None


@pytest.mark.parametrize("change", [CreateTag("new"), RenameTag("early", "late"), Rollback("latest~1")])
def test_headlines_count_the_old_metadata_that_any_commit_deletes(change: Change, tmp_path: Path) -> None:
    plain = open_table(str(ground.small_table(tmp_path / "plain"))).preview(change, LATE_MS)
    assert plain.headline.endswith("; reclaims nothing.")
    options = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2"}
    plan = open_table(str(ground.small_table(tmp_path / "t", **options))).preview(change, LATE_MS)
    files = len(plan.frees)
    assert files > 0
    assert plan.headline.endswith(f" in {files} file{'s' * (files > 1)}.")
    assert "reclaims nothing" not in plan.headline


@pytest.mark.slow
def test_old_metadata_that_falls_out_of_the_log_goes_as_shown(tmp_path: Path) -> None:
    options = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "2",
    }
    root = ground.small_table(tmp_path / "t", **options)
    table = open_table(str(root))
    plan = table.preview(DeleteTags(("early",)), LATE_MS)
    assert plan.by_kind()[0][:2] == ("metadata", 5)
    receipt = apply(table, plan, settle_s=30)  # nobody publishes references to those, so there is nothing to wait for
    assert receipt.is_exact
    left = {path.name for path in root.glob("metadata/v*.metadata.json")}
    assert left == {"v6.metadata.json", "v7.metadata.json", "v8.metadata.json"}
    assert [each["metadata-file"][-16:] for each in document(root)["metadata-log"]] == [
        "v6.metadata.json",
        "v7.metadata.json",
    ]
    assert ground.broken(root) == []


@pytest.mark.slow
def test_statistics_of_what_goes_go_along(root: Path) -> None:
    old = ids(root)

    def with_statistics(own: Json) -> None:
        for name, extra in (
            ("statistics", {"file-footer-size-in-bytes": 1, "blob-metadata": []}),
            ("partition-statistics", {}),
        ):
            own[name] = []
            for number in (0, 3):
                path = f"metadata/{name}-{number}.puffin"
                (root / path).write_bytes(b"12345")
                own[name].append(
                    {
                        "snapshot-id": old[number],
                        "statistics-path": f"{own['location']}/{path}",
                        "file-size-in-bytes": 5,
                        **extra,
                    }
                )

    ground.commit(root, with_statistics)
    receipt = changed(root, Expire())
    assert {f"metadata/{name}-0.puffin" for name in ("statistics", "partition-statistics")} <= set(receipt.deleted)
    after = document(root)
    assert [each["snapshot-id"] for each in after["statistics"]] == [old[3]]
    assert [each["snapshot-id"] for each in after["partition-statistics"]] == [old[3]]
    assert ground.broken(root) == []


def test_metadata_of_before_there_were_refs(tmp_path: Path) -> None:
    root = tmp_path / "t"
    ground.moved(ground.PYICEBERG / "hadoop_path", root)
    ground.commit(root, lambda own: own.pop("refs", None))
    changed(root, CreateTag("new"))
    assert set(document(root)["refs"]) == {"main", "new"}
    assert document(root)["refs"]["main"] == {"snapshot-id": document(root)["current-snapshot-id"], "type": "branch"}


@pytest.mark.slow
def test_a_packed_table_stays_packed(root: Path) -> None:
    ground.commit(root, lambda own: own["properties"].update({"write.metadata.compression-codec": "gzip"}))
    receipt = changed(root, CreateTag("new"))
    assert receipt.created == ("metadata/v9.gz.metadata.json",)
    own = json.loads(gzip.decompress((root / "metadata/v9.gz.metadata.json").read_bytes()))
    assert "new" in own["refs"]
    assert "new" in {ref.name for ref in open_table(str(root)).heads().refs}
    changed(root, DeleteTags(("new",)))
    assert (root / "metadata/v10.gz.metadata.json").is_file()


@pytest.mark.slow
def test_a_version_of_the_other_packing_is_taken(root: Path) -> None:
    """A version counts once, compressed or not."""
    table = open_table(str(root))
    plan = table.preview(CreateTag("new"), LATE_MS)
    own = document(root)
    own["refs"]["theirs"] = own["refs"]["early"]
    (root / "metadata/v8.gz.metadata.json").write_bytes(gzip.compress(json.dumps(own).encode()))
    apply(table, plan, settle_s=0)
    refs = {ref.name for ref in open_table(str(root)).heads().refs}
    assert {"theirs", "new"} <= refs
    assert ground.newest(root).name == "v9.metadata.json"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t05_v3", "t07_v2", "t12_v1"])
def test_random_histories_keep_what_they_need(name: str, tmp_path: Path) -> None:
    root = ground.java_table(name, tmp_path / "t")
    before = document(root)
    table = open_table(str(root))
    tags = tuple(name for name, ref in before["refs"].items() if ref["type"] == "tag")[:1]
    plan = table.preview(Expire(drop_tags=tags, older_than_ms=before["snapshots"][-3]["timestamp-ms"]), LATE_MS)
    goes = {int(path.rpartition("/")[2]) for path, _ in plan.removes if "#snapshots/" in path}
    receipt = apply(table, plan, settle_s=0)
    assert goes
    assert set(receipt.deleted) <= set(plan.frees["path"].to_pylist())
    assert all(why == codes.GONE_ALREADY() for _, why in receipt.kept_back)  # puffin files that never existed
    assert ground.broken(root) == []
    after = document(root)
    assert {each["snapshot-id"] for each in before["snapshots"]} - set(ids(root)) == goes
    changing = {
        "snapshots",
        "refs",
        "snapshot-log",
        "metadata-log",
        "last-updated-ms",
        "statistics",
        "partition-statistics",
    }
    assert {key: value for key, value in after.items() if key not in changing} == {
        key: value for key, value in before.items() if key not in changing
    }


# what is not ours to change --------------------------------------------------------------------------------------


def test_one_metadata_file_is_read_only(root: Path) -> None:
    table = open_table(str(ground.newest(root)))
    with pytest.raises(
        Unsupported,
        match=(
            "You opened a single metadata file, and only the table's directory or its catalog "
            "knows which one is current"
        ),
    ):
        apply(table, table.preview(CreateTag("new"), LATE_MS), settle_s=0)


def test_a_table_that_a_catalog_owns_is_read_only(root: Path) -> None:
    ground.newest(root).rename(root / "metadata/00008-0dc6a7ce-8a30-48f2-9899-8db525fd9713.metadata.json")
    table = open_table(str(root))
    with pytest.raises(Unsupported, match="This table belongs to a catalog"):
        apply(table, table.preview(CreateTag("new"), LATE_MS), settle_s=0)


def test_what_a_crashed_java_left_makes_no_catalog(root: Path) -> None:
    """Its temporary files are named by a uuid, which may start with eight digits."""
    litter = root / "metadata/12345678-8a30-48f2-9899-8db525fd9713.metadata.json"
    litter.write_bytes(ground.newest(root).read_bytes())
    table = open_table(str(root))
    assert not table.heads().main.warnings
    table.refuse_apply()


@pytest.mark.slow
def test_a_newer_format_and_encryption_are_refused_by_name(root: Path) -> None:
    ground.commit(root, lambda own: own.update({"encryption-keys": [{"key-id": "a"}]}))
    with pytest.raises(Unsupported, match="encrypt"):
        changed(root, CreateTag("new"))
    ground.commit(root, lambda own: own.update({"encryption-keys": [], "format-version": 4}))
    with pytest.raises(Unsupported, match="The table has format version 4; Snapscope knows versions 1 to"):
        changed(root, CreateTag("new"))


def test_what_json_cannot_say_is_not_written(root: Path) -> None:
    before = ground.newest(root)
    before.write_text(before.read_text().replace("2.5", "1e999"))
    with pytest.raises(SnapscopeError, match="JSON"):
        changed(root, CreateTag("new"))
    assert ground.newest(root) == before


def test_a_verified_tag_of_a_point_that_lacks_a_file_is_not_made(root: Path) -> None:
    old = ids(root)
    next(iter((root / "data").iterdir())).unlink()
    before = ground.newest(root)
    with pytest.raises(Corrupt, match="could not protect it"):
        changed(root, CreateTag("new", old[3], verified=True))
    assert ground.newest(root) == before
    assert not Journal().runs()


def test_hostile_metadata_names_itself_as_data(root: Path) -> None:
    """A manifest may name any path; metadata, the hint and files elsewhere are kept."""
    own = document(root)
    outside = root.parent / "elsewhere.parquet"
    outside.write_bytes(b"not ours")
    targets = ["metadata/v3.metadata.json", "metadata/version-hint.text", "../elsewhere.parquet"]
    first = own["snapshots"][0]["manifest-list"].removeprefix(own["location"] + "/")
    row = ground.read_avro(root / first)[1][0]
    manifest = root / row["manifest_path"].removeprefix(own["location"] + "/")
    schema, records, metadata = ground.read_avro(manifest)
    entries = [json.loads(json.dumps(records[0], default=lambda value: None)) for _ in targets]
    for entry, target in zip(entries, targets, strict=True):
        entry["data_file"] = {**records[0]["data_file"], "file_path": f"{own['location']}/{target}"}
    from tests.support.iceberg_tables import write_avro

    write_avro(manifest, schema, [*records, *entries], metadata)
    for snapshot in own["snapshots"]:
        path = root / snapshot["manifest-list"].removeprefix(own["location"] + "/")
        schema, rows, metadata = ground.read_avro(path)
        for each in rows:
            if each["manifest_path"] == row["manifest_path"]:
                each["manifest_length"] = manifest.stat().st_size
                each["added_files_count"] = len(records) + len(entries)
        write_avro(path, schema, rows, metadata)

    def only_last(own: Json) -> None:  # so that the hostile manifest goes
        last = root / own["snapshots"][-1]["manifest-list"].removeprefix(own["location"] + "/")
        schema, rows, metadata = ground.read_avro(last)
        write_avro(last, schema, [each for each in rows if each["manifest_path"] != row["manifest_path"]], metadata)
        own["refs"] = {"main": own["refs"]["main"]}

    ground.commit(root, only_last)
    receipt = changed(root, Expire())
    kept = {path for path, why in receipt.kept_back if why.code == codes.NEEDED_METADATA}
    assert kept >= {"metadata/v3.metadata.json", "metadata/version-hint.text"}
    assert outside.is_file()
    assert (root / "metadata/v3.metadata.json").is_file()
    assert ground.broken(root) == []


# the second client -----------------------------------------------------------------------------------------------


def test_a_tag_made_between_preview_and_apply_survives_with_its_files(root: Path) -> None:
    old, there = ids(root), ground.disk(root)
    table = open_table(str(root))
    plan = table.preview(Expire(drop_tags=("early",)), LATE_MS)
    ground.commit(root, lambda own: own["refs"].update({"theirs": {"snapshot-id": old[0], "type": "tag"}}))
    with pytest.raises(Conflict, match="can no longer be deleted:"):
        apply(table, plan, settle_s=0)
    assert ids(root) == old
    assert ground.disk(root) == there
    assert Journal().open_run(table.location) is None


@pytest.mark.slow
def test_new_commits_that_do_not_touch_the_plan_are_no_conflict(root: Path) -> None:
    old = ids(root)
    table = open_table(str(root))
    plan = table.preview(Expire(), LATE_MS)
    ground.commit(root, lambda own: own["refs"].update({"theirs": {"snapshot-id": old[3], "type": "tag"}}))
    receipt = apply(table, plan, settle_s=0)
    assert receipt.is_exact
    assert {"theirs", "main", "early", "work"} == set(document(root)["refs"])
    assert ids(root) == old[1:]


def test_a_tag_whose_own_age_is_over_is_not_left_dangling(root: Path) -> None:
    """A tag created since, which the next expiry would also delete, was in no plan: it is reported, not deleted."""
    old = ids(root)
    table = open_table(str(root))
    plan = table.preview(Expire(), LATE_MS)
    brief = {"snapshot-id": old[0], "type": "tag", "max-ref-age-ms": 1}
    ground.commit(root, lambda own: own["refs"].update({"brief": brief}))
    with pytest.raises(Conflict, match="brief"):
        apply(table, plan, settle_s=0)
    assert ids(root) == old


@pytest.mark.slow
def test_a_plan_is_applied_once(root: Path) -> None:
    table = open_table(str(root))
    plan = table.preview(Expire(), LATE_MS)
    apply(table, plan, settle_s=0)
    with pytest.raises(Conflict, match="deleted after this plan was made"):
        apply(table, plan, settle_s=0)
    assert ground.broken(root) == []


def test_a_plan_of_another_table_is_refused(root: Path, tmp_path: Path) -> None:
    other = ground.small_table(tmp_path / "other")
    with pytest.raises(Invalid, match="This plan is for"):
        apply(open_table(str(other)), open_table(str(root)).preview(Expire(), LATE_MS), settle_s=0)
