"""Redundant metadata: no table of an engine is doubted, and each kind of contradiction is found."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import Corrupt
from core.execution.apply import apply
from core.formats.paimon import consistency
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import ENTRY, KNOWN, LIST
from core.formats.paimon.write import manifest_encoding
from core.messages import Reason
from core.model.actions import Expire
from core.storage.store import Store
from core.table import open_table
from tests.support import builders
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.formats.in_parts import agrees
from tests.support.formats.manifest_bytes import FORMS
from tests.support.formats.paimon.tables import (
    PUBLIC,
    REAL,
    Record,
    avro,
    four_commits,
    list_of,
    manifest_of,
    strip_sizes,
)  # fmt: skip
from tests.support.places import TABLES


def examined(root: Path, frees: set[str] | None = None) -> tuple[dict[str, str], dict[str, Reason]]:
    """Doubts per point and per place, where everything that is held (or `frees`) would go."""
    table = open_table(str(root))
    history = table.history()
    paths = history.objects["path"].to_pylist() if frees is None else sorted(frees)
    found = consistency.examine(table.store, history, PaimonFormat.of(table.format).manifests, paths)
    assert not history.incomplete
    agrees(table, history, 3)
    return {history.holders[position].point: problem.sentence() for position, problem in found.problems.items()}, dict(
        found.doubts.unsure
    )


def document(path: Path, **fields: Any) -> None:
    """Change fields of a JSON document; None takes a field away."""
    kept = {key: value for key, value in (json.loads(path.read_bytes()) | fields).items() if value is not None}
    path.write_text(json.dumps(kept))


# what engines write --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_no_table_of_an_engine_is_doubted(name: str) -> None:
    assert examined(TABLES / "paimon" / "default.db" / name) == ({}, {})


@pytest.mark.parametrize("name", PUBLIC)
def test_no_table_of_another_project_is_doubted(name: str) -> None:
    assert examined(TABLES / "paimon_public" / name) == ({}, {})


def with_windows(root: Path) -> None:
    """A compacted changelog: its entries tell the sizes of windows, no entry that of the file."""
    table = TableBuilder(root)
    names = ["compacted-changelog-x$0-100.cc-parquet", "compacted-changelog-x$0-100-100-50.cc-parquet"]
    windows = [replace(table.file(100 - 50 * number, write=False), name=name) for number, name in enumerate(names)]
    table._sparse(f"bucket-0/{names[0]}", 150)
    table.commit([table.file()], changelog=windows)
    table.commit([table.file()])


def late_counts(root: Path) -> None:
    """A newer release goes on with a table whose snapshots told no rows: it counts from zero."""
    table = four_commits(root)
    table.expire([1, 2], free=False)
    (root / "tag/tag-v").unlink()
    for path in root.glob("snapshot/snapshot-*"):
        document(path, totalRecordCount=json.loads(path.read_bytes())["totalRecordCount"] - 17)


def without_sizes(root: Path) -> None:
    four_commits(root)
    strip_sizes(root)


def named_user(root: Path) -> None:
    """A job may call itself anything."""
    table = TableBuilder(root)
    table.commit([table.file()], user="manifest-0a1b2c3d-0a1b-nightly")
    document(root / "snapshot/snapshot-1", properties={"made.from": table.file(write=False).name})


def reused_ids(root: Path) -> None:
    """After a rollback the same writer gives the same numbers to other commits, at another time."""
    table = TableBuilder(root)
    table.commit([table.file()])
    table.commit([table.file()])
    table.branch("b", None)
    table.tag("old", 2)
    kept = (root / "tag/tag-old").read_bytes()
    ground.roll_back(table, 1)
    table.commit([table.file()])
    (root / "tag/tag-old").write_bytes(kept)


def leftovers(root: Path) -> None:
    """A changelog whose snapshot went names a list that nothing holds any more, and that lies there still."""
    table = TableBuilder(root, options={"changelog-producer": "input"})
    table.commit([table.file()], changelog=[table.file(prefix="changelog-")])
    table.commit([table.file()], changelog=[table.file(prefix="changelog-")])
    table.keep_changelog(1)
    table.commit([table.file()], table.live(), kind="OVERWRITE")
    (root / manifest_of(table, 1)).unlink()
    for number in (1, 2, 3):
        if number < 3:
            (root / f"snapshot/snapshot-{number}").unlink()
    avro(root / list_of(table, 3), lambda records: records.clear())
    avro(root / list_of(table, 3, "delta"), lambda records: records.clear())
    live = json.loads((root / "snapshot/snapshot-3").read_bytes())
    sizes = {f"{kind}ManifestListSize": os.path.getsize(root / list_of(table, 3, kind)) for kind in ("base", "delta")}
    (root / "snapshot/snapshot-3").write_text(json.dumps(live | sizes | {"totalRecordCount": 0, "deltaRecordCount": 0}))


WRITTEN = [with_windows, late_counts, without_sizes, named_user, reused_ids, leftovers]


@pytest.mark.parametrize("make", WRITTEN, ids=lambda make: make.__name__)
def test_nothing_that_a_writer_may_do_is_doubted(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "t")
    assert examined(tmp_path / "t") == ({}, {})


# contradictions ------------------------------------------------------------------------------------------------------


def subject(root: Path) -> TableBuilder:
    """Four commits, the last a compaction; tag v on 2; an index and statistics from 3 on; lists' sizes are not told."""
    table = TableBuilder(root)
    files = [table.file(1_000 + number, rows=10 + number) for number in range(4)]
    table.commit(files[:2])
    table.commit(files[2:3], index=[table.index_file()])
    table.tag("v", 2)
    table.commit(files[3:], index=[table.index_file(), table.index_file()], statistics=True)
    table.commit([table.file(5_000, rows=46, source=1)], files, kind="COMPACT")
    strip_sizes(root)
    return table


def key_renamed(root: Path, table: TableBuilder) -> None:
    name = json.loads((root / "tag/tag-v").read_bytes())["indexManifest"]
    (root / "snapshot/snapshot-2").unlink()
    document(root / "tag/tag-v", indexManifest=None, indexManifes=name)


def key_nested(root: Path, table: TableBuilder) -> None:
    """A newer release may keep its files in a list or a map."""
    document(root / "tag/tag-v", newFiles={"parts": [{"at": f"index/{table.index_file().name}"}]})


def data_named(root: Path, table: TableBuilder) -> None:
    document(root / "snapshot/snapshot-4", newFiles=[table.file().name])


def list_lost(root: Path, table: TableBuilder) -> None:
    document(root / "snapshot/snapshot-1", baseManifestList=None, baseManifestListSize=500)


def copy_differs(root: Path, table: TableBuilder) -> None:
    document(root / "tag/tag-v", indexManifest=table.commits[3].index_manifest)


def copy_lost_its_index(root: Path, table: TableBuilder) -> None:
    document(root / "tag/tag-v", indexManifest=None)


def counts_swapped(root: Path, table: TableBuilder) -> None:
    def change(records: list[Record]) -> None:
        records[0] |= {"_NUM_ADDED_FILES": 1, "_NUM_DELETED_FILES": 1}

    avro(root / list_of(table, 3), change)


def other_size(root: Path, table: TableBuilder) -> None:
    def change(records: list[Record]) -> None:
        records[0]["_FILE_SIZE"] += 1

    avro(root / list_of(table, 3), change)


def named_twice(root: Path, table: TableBuilder) -> None:
    def change(records: list[Record]) -> None:
        records[1] = records[0]

    avro(root / list_of(table, 4), change)
    document(root / "snapshot/snapshot-4", totalRecordCount=None, deltaRecordCount=None)


def other_rows_of_one_file(root: Path, table: TableBuilder) -> None:
    """What is deleted had another number of rows than what was added: one of them is another file."""

    def change(records: list[Record]) -> None:
        records[0]["_FILE"]["_ROW_COUNT"] += 1
        records[1]["_FILE"]["_ROW_COUNT"] -= 1

    avro(root / manifest_of(table, 4), lambda records: change([each for each in records if each["_KIND"] == 1]))


def other_delta(root: Path, table: TableBuilder) -> None:
    number = json.loads((root / "snapshot/snapshot-3").read_bytes())["deltaRecordCount"]
    document(root / "snapshot/snapshot-3", deltaRecordCount=number + 1)


def more_rows(root: Path, table: TableBuilder) -> None:
    """A list that lost a manifest with more deleted than added rows leaves a view of more rows than told."""
    number = json.loads((root / "snapshot/snapshot-4").read_bytes())["totalRecordCount"]
    document(root / "snapshot/snapshot-4", totalRecordCount=number - 3)


CONTRADICTIONS: Mapping[Callable[[Path, TableBuilder], None], tuple[set[str], str]] = {
    key_renamed: ({"tag:v"}, "under an unknown key"),
    key_nested: ({"tag:v"}, "under an unknown key"),
    data_named: ({"4"}, "under an unknown key"),
    list_lost: ({"1"}, ", because its size is given"),
    copy_differs: ({"2", "tag:v"}, "a copy of the same snapshot"),
    copy_lost_its_index: ({"2", "tag:v"}, "a copy of the same snapshot"),
    counts_swapped: ({"3"}, "as many ADD entries"),
    other_size: (
        {"3"},
        ("as many bytes as its list states"),
    ),
    named_twice: ({"4"}, "each manifest once"),
    other_rows_of_one_file: ({"1", "2", "3", "4", "tag:v"}, "other manifests"),
    other_delta: ({"3"}, "deltaRecordCount"),
    more_rows: ({"4"}, "totalRecordCount"),
}


@pytest.mark.parametrize("damage", CONTRADICTIONS, ids=lambda damage: damage.__name__)
def test_a_contradiction_is_told_of_the_points_that_say_it(
    damage: Callable[[Path, TableBuilder], None], tmp_path: Path
) -> None:
    table = subject(tmp_path / "t")
    assert examined(tmp_path / "t") == ({}, {})
    damage(tmp_path / "t", table)
    points, phrase = CONTRADICTIONS[damage]
    doubts, _ = examined(tmp_path / "t")
    assert doubts.keys() == points
    assert all(phrase in each and "restore" in each for each in doubts.values()), doubts


@pytest.mark.parametrize("damage", CONTRADICTIONS, ids=lambda damage: damage.__name__)
def test_what_contradicts_itself_stops_an_apply_unless_it_goes(
    damage: Callable[[Path, TableBuilder], None], tmp_path: Path
) -> None:
    root = ground.warehouse(tmp_path)
    damage(root, subject(root))
    points, _ = CONTRADICTIONS[damage]
    before = ground.disk(root)
    opened = open_table(str(root))
    tags = [tag.name for tag in opened.heads().main.tags]
    for change in (Expire(retain_max=1, retain_min=1), Expire(retain_max=1, retain_min=1, drop_tags=tuple(tags))):
        shown = opened.preview(change, ground.LATE_MS)
        stays = {verdict.point for verdict in shown.points if verdict.keep}
        if stays & points:
            with pytest.raises(Corrupt, match="contradicts itself"):
                apply(opened, shown, settle_s=0)
            assert ground.disk(root) == before
            continue
        assert apply(opened, shown, settle_s=0).outcome == "done"
        assert not ground.broken(root)
        return


# fields of a newer engine --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["list", "entry", "file", "index"])
def test_a_field_that_nobody_knows_is_read_over_and_stops_deletions(
    form: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may name a file that a version needs, as `_EXTERNAL_PATH` and `_EXTRA_FILES` did when they were new."""
    usual = builders._schema

    def later(which: str) -> Any:
        schema = copy.deepcopy(usual(which))
        fields = schema["fields"]
        if where == "file" and which == "entry":
            fields = fields[-1]["type"]["fields"]
        if which == {"file": "entry"}.get(where, where):
            fields.append({"name": "_SIDE_FILE", "type": ["null", "string"], "default": None})
        return schema

    root = ground.warehouse(tmp_path)
    table = four_commits(root, forms=(form,))
    monkeypatch.setattr(builders, "_schema", later)
    table.commit([table.file()], index=[table.index_file(50)])
    opened = open_table(str(root))
    history = opened.history()
    assert history.files_at(history.require("5")).num_rows == 4
    doubts, _ = examined(root)
    assert set(doubts) == {"5"}
    assert "_SIDE_FILE" in doubts["5"]
    before = ground.disk(root)
    plan = opened.preview(Expire(retain_max=1, retain_min=1), ground.LATE_MS)
    with pytest.raises(Corrupt, match=r"cannot be read in full.*_SIDE_FILE"):
        apply(opened, plan, settle_s=0)
    assert ground.disk(root) == before


def test_a_list_that_no_listing_shows_yet_is_examined_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may list late; the history asks for such a file by its name, and so must its examination."""
    usual, ls = builders._schema, Store.ls_if_there

    def later(which: str) -> Any:
        schema = copy.deepcopy(usual(which))
        if which == "entry":
            schema["fields"].append({"name": "_SIDE_FILE", "type": ["null", "string"], "default": None})
        return schema

    root = ground.warehouse(tmp_path)
    table = four_commits(root)
    monkeypatch.setattr(builders, "_schema", later)
    table.commit([table.file()])
    hidden = json.loads((root / "snapshot/snapshot-5").read_text())["deltaManifestList"]
    monkeypatch.setattr(Store, "ls_if_there", lambda self, *at: [each for each in ls(self, *at) if each.name != hidden])
    assert set(examined(root)[0]) == {"5"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("has_sidecar", [True, False])
def test_a_sidecar_of_a_manifest_stops_deletions(
    form: str, has_sidecar: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Manifest lists of no release name one; our own have the field, without a value."""
    usual, manifest = builders._schema, TableBuilder._manifest

    def later(which: str) -> Any:
        schema = copy.deepcopy(usual(which))
        if which == "list":
            kind = ["null", {"type": "array", "items": "string"}]
            schema["fields"].append({"name": "_EXTRA_FILES", "type": kind, "default": None})
        return schema

    def written(self: TableBuilder, *entries: Any) -> dict[str, Any]:
        row = dict(manifest(self, *entries))
        return row | {"_EXTRA_FILES": [f"{row['_FILE_NAME']}.sidecar"] if has_sidecar else None}

    root = ground.warehouse(tmp_path)
    table = four_commits(root, forms=(form,))
    monkeypatch.setattr(builders, "_schema", later)
    monkeypatch.setattr(TableBuilder, "_manifest", written)
    table.commit([table.file()])
    doubts, _ = examined(root)
    assert {point: "_EXTRA_FILES" in said for point, said in doubts.items()} == ({"5": True} if has_sidecar else {})


def test_all_fields_that_are_written_are_known() -> None:
    def names(fields: list[Record]) -> set[str]:
        return {each["name"] for each in fields}

    assert names(manifest_encoding._LIST_FIELDS) == KNOWN[LIST]
    file = {f"_FILE.{name}" for name in names(manifest_encoding._FILE_FIELDS)}
    assert names(manifest_encoding._ENTRY_FIELDS) | file == KNOWN[ENTRY]
