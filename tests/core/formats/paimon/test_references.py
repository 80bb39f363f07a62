"""References: every snapshot, tag, changelog, consumer and schema of every branch, readable or reported as
unreadable."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.catalog import DEMO_MARKER, is_demo, list_tables
from core.errors import Corrupt, Invalid, NotFound
from core.formats.paimon import references
from core.model.actions import DeleteBranches, DeleteTags, Expire, RenameTag, ResetConsumer
from core.model.codes import Fault
from core.model.references import Heads, Line
from core.storage.store import Store
from core.table import open_table
from tests.support.builders import START_MS, TableBuilder
from tests.support.places import TABLES

REAL = sorted(path.name for path in (TABLES / "paimon" / "default.db").iterdir())


def read(root: Path, **more: Any) -> Heads:
    return references.read(Store(str(root)), **more)


def unreadable(line: Line) -> set[tuple[str, str]]:
    return {(each.kind, each.name) for each in line.unreadable}


def warned(line: Line) -> set[str]:
    return {problem.path for problem in line.warnings}


@pytest.fixture
def table(tmp_path: Path) -> TableBuilder:
    made = TableBuilder(tmp_path / "t", partition_keys=["dt"])
    for number in range(3):
        made.commit([made.file(partition=(f"2026-01-0{number + 1}",))])
    made.tag("v", 2)
    made.consumer("reader", 3)
    made.keep_changelog(1)
    return made


FILES = {
    "snapshot": "snapshot/snapshot-2",
    "tag": "tag/tag-v",
    "changelog": "changelog/changelog-1",
    "consumer": "consumer/consumer-reader",
    "schema": "schema/schema-0",
}


# whole ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_read_without_loss(name: str) -> None:
    """Every reference file is there with its bytes, and every field of its document."""
    root = TABLES / "paimon" / "default.db" / name
    found = read(root)
    kinds = ("snapshot", "tag", "changelog", "consumer", "schema")
    on_disk = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*-*")
        if path.is_file() and path.parent.name in kinds and path.name.startswith(f"{path.parent.name}-")
    }
    assert dict(found.references) == on_disk
    for line in found.lines:
        assert line.unreadable == ()
        for snapshot in (*line.snapshots, *line.changelogs, *(tag.snapshot for tag in line.tags)):
            assert snapshot.fields == json.loads(snapshot.content)
        assert [each.id for each in line.snapshots] == sorted(each.id for each in line.snapshots)


def test_fields_of_a_snapshot(table: TableBuilder) -> None:
    watermark, rest = 1_700_000_000_000, {"uuid": "u", "operation": "WRITE", "nextRowId": 2**60, "ours": {"deep": [1]}}
    table.commit([], watermark=watermark, fields=rest, kind="ANALYZE", user="me", time_ms=5)
    snapshot = read(table.root).main.snapshots[-1]
    assert (snapshot.id, snapshot.kind, snapshot.commit_user, snapshot.time_ms) == (4, "ANALYZE", "me", 5)
    assert (snapshot.watermark, snapshot.commit_identifier) == (watermark, 2**63 - 1)
    assert {name: snapshot.fields[name] for name in rest} == rest
    assert snapshot.content == (table.root / "snapshot/snapshot-4").read_bytes()


@pytest.mark.parametrize("watermark", [None, -(2**63)])
def test_no_watermark_is_written_in_two_ways(table: TableBuilder, watermark: int | None) -> None:
    edit(table.root / "snapshot/snapshot-1", watermark=watermark)
    assert read(table.root).main.snapshots[0].watermark is None


def test_old_snapshots_lack_fields(table: TableBuilder) -> None:
    """Version 2 and before knows no version, no changelog list and no record counts."""
    path = table.root / "snapshot/snapshot-1"
    document = json.loads(path.read_bytes())
    for field in ("version", "changelogManifestList", "totalRecordCount", "deltaRecordCount", "logOffsets"):
        del document[field]
    path.write_text(json.dumps({**document, "totalRecordCount": None}))
    snapshot = read(table.root).main.snapshots[0]
    assert (snapshot.total_rows, snapshot.delta_rows) == (None, None)


def test_a_repeated_key_counts_as_the_engine_counts_it(table: TableBuilder) -> None:
    """The last one wins, there as here."""
    path = table.root / "snapshot/snapshot-1"
    path.write_text(path.read_text().rstrip("}\n ") + ', "timeMillis": 1, "timeMillis": 2}')
    assert read(table.root).main.snapshots[0].time_ms == 2


# tags ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([2024, 1, 2, 3, 4], dt.datetime(2024, 1, 2, 3, 4)),
        ([2024, 1, 2, 3, 4, 5], dt.datetime(2024, 1, 2, 3, 4, 5)),
        ([2024, 1, 2, 3, 4, 5, 999_999_999], dt.datetime(2024, 1, 2, 3, 4, 5, 999_999)),
        ([2024, 1, 2, 0, 0, 0, 1], dt.datetime(2024, 1, 2)),
        ("2024-01-02T03:04:05.123456789", dt.datetime(2024, 1, 2, 3, 4, 5, 123_456)),
        ("2024-01-02T03:04", dt.datetime(2024, 1, 2, 3, 4)),
        (None, None),
    ],
)
def test_creation_times(table: TableBuilder, written: Any, expected: dt.datetime | None) -> None:
    edit(table.root / "tag/tag-v", tagCreateTime=written, tagTimeRetained=90)
    [tag] = read(table.root).main.tags
    assert tag.created == expected
    assert tag.expires == (None if expected is None else expected + dt.timedelta(seconds=90))


@pytest.mark.parametrize(
    "written",
    [
        [],
        [2024],
        [2024, 1, 2, 3],
        [2024, 1, 2, 3, 4, 5, 6, 7],
        [2024, 13, 1, 0, 0],
        [2024, 2, 30, 0, 0],
        [2024, 1, 1, 24, 0],
        [0, 1, 1, 0, 0],
        [10000, 1, 1, 0, 0],
        [2024, 1, 1, 0, 0, 0, 10**9],
        [2024, 1, 1, 0, 0, 0, -1],
        [2024.0, 1, 1, 0, 0],
        ["2024", 1, 1, 0, 0],
        [True, 1, 1, 0, 0],
        [10**30, 1, 1, 0, 0],
        "yesterday",
        "",
        1_700_000_000_000,
        {},
        True,
    ],
    ids=str,
)
def test_creation_times_that_are_none(table: TableBuilder, written: Any) -> None:
    edit(table.root / "tag/tag-v", tagCreateTime=written)
    line = read(table.root).main
    assert unreadable(line) == {("tag", "v")}
    assert "tagCreateTime" in line.unreadable[0].problem.sentence()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("3600", 3600),
        ("86400.0", 86400),
        ("129600.000000000", 129600),
        ("8.64E+4", 86400),
        ("0.0", 0),
        ("-5", -5),
        ("0.5", 0.5),
    ],
)
def test_retentions(table: TableBuilder, written: str, seconds: float) -> None:
    path = table.root / "tag/tag-v"
    path.write_text(path.read_text().rstrip("}\n ") + f', "tagTimeRetained" : {written}}}')
    assert read(table.root).main.tags[0].retained == dt.timedelta(seconds=seconds)


@pytest.mark.parametrize("written", ["1e300", "9" * 40, "1e20"])
def test_a_retention_beyond_all_times_never_ends(table: TableBuilder, written: str) -> None:
    path = table.root / "tag/tag-v"
    more = f', "tagCreateTime": [2024, 1, 1, 0, 0], "tagTimeRetained" : {written}}}'
    path.write_text(path.read_text().rstrip("}\n ") + more)
    [tag] = read(table.root).main.tags
    assert tag.expires is None


def test_a_tag_is_read_with_its_own_document_and_not_the_snapshot_of_its_id(table: TableBuilder) -> None:
    """Ids are used again after a rollback: the tag still names the content it was cut from."""
    edit(table.root / "snapshot/snapshot-2", commitUser="after the rollback")
    line = read(table.root).main
    assert line.tags[0].snapshot.commit_user == "builder"
    assert line.snapshots[1].commit_user == "after the rollback"


def test_names_that_listings_of_engines_do_not_show(table: TableBuilder) -> None:
    """A tag `a/b` is a file in a directory `tag-a`: readable there, listed nowhere, and protected here."""
    nested = table.root / "tag/tag-a"
    nested.mkdir()
    shutil.copy(table.root / "tag/tag-v", nested / "b")
    line = read(table.root).main
    assert [tag.name for tag in line.tags] == ["a/b", "v"]
    assert "tag/tag-a/b" in read(table.root).references
    (nested / "c").mkdir()
    shutil.copy(table.root / "tag/tag-v", nested / "c" / "d")
    assert {tag.name for tag in read(table.root).main.tags} | {
        name for _, name in unreadable(read(table.root).main)
    } >= {
        "a/b",
        "v",
        "a/c/d",
    }


def test_the_directory_of_success_files_is_no_tag(table: TableBuilder) -> None:
    (table.root / "tag/tag-success-file").mkdir()
    (table.root / "tag/tag-success-file/v_SUCCESS").touch()
    line = read(table.root).main
    assert [tag.name for tag in line.tags] == ["v"]
    assert line.unreadable == ()
    assert not any("success" in path for path in warned(line))


def test_a_tag_named_like_that_directory_is_a_tag(table: TableBuilder) -> None:
    shutil.copy(table.root / "tag/tag-v", table.root / "tag/tag-success-file")
    assert [tag.name for tag in read(table.root).main.tags] == ["success-file", "v"]


@pytest.mark.parametrize(
    "name", ["", " ", "12", "a,b", "%41", "ä", "a b", ".x", "x.tmp", "a\nb", "x" * 240, "latest", "-1"]
)
def test_odd_tag_names_are_tags(table: TableBuilder, name: str) -> None:
    shutil.copy(table.root / "tag/tag-v", table.root / f"tag/tag-{name}")
    assert {tag.name for tag in read(table.root).main.tags} == {"v", name}


def test_names_with_a_colon_are_told_and_can_be_renamed_and_deleted(table: TableBuilder) -> None:
    """With one of them, the engine (2.0.0) fails to list, and its commits silently expire nothing more."""
    shutil.copy(table.root / "tag/tag-v", table.root / "tag/tag-a:b")
    table.consumer("c:d", 2)
    shutil.copytree(table.root / "schema", table.root / "branch/branch-e:f/schema")
    found = read(table.root)
    told = {each.path: each for line in found.lines for each in line.warnings if each.code == Fault.REF_UNLISTABLE}
    assert set(told) == {"tag/tag-a:b", "consumer/consumer-c:d", "branch/branch-e:f"}
    assert "delete-tag" in told["tag/tag-a:b"].sentence()
    opened = open_table(str(table.root))
    for change in (DeleteTags(("a:b",)), RenameTag("a:b", "b"), DeleteBranches(("e:f",)), ResetConsumer("c:d")):
        assert opened.preview(change, START_MS + 10**11).effects


def test_a_name_that_is_no_text(table: TableBuilder) -> None:
    path = os.fsencode(table.root / "tag") + b"/tag-\xff"
    shutil.copy(os.fsencode(table.root / "tag/tag-v"), path)
    found = read(table.root)
    assert {tag.name for tag in found.main.tags} == {"v", "\\xff"}
    assert "tag/tag-\\xff" in found.references
    history = open_table(str(table.root)).history()
    assert "tag:\\xff" in {holder.point for holder in history.holders_of("manifest/" + first_list(table, 2))}


def test_a_name_with_a_backslash_is_told_and_not_damaged(table: TableBuilder) -> None:
    """Nothing is to be restored: the engine has to rename or delete it. Until then nothing may be deleted."""
    shutil.copy(table.root / "tag/tag-v", table.root / "tag/tag-a\\b")
    (unread,) = read(table.root).main.unreadable
    assert (unread.name, unread.problem.code) == ("a\\b", Fault.UNSUPPORTED)
    assert "has a backslash" in unread.problem.found
    opened = open_table(str(table.root))
    for change in (Expire(retain_max=1, retain_min=1), DeleteTags(("a\\b",))):
        with pytest.raises(Corrupt, match="has a backslash") as refused:
            opened.preview(change, START_MS + 10**11)
        assert "Restore" not in str(refused.value)
        assert "delete it with the table's own engine" in str(refused.value)


def first_list(table: TableBuilder, number: int) -> str:
    name: str = table.commits[number].document["baseManifestList"]
    return name


@pytest.mark.parametrize("kind", FILES)
def test_half_a_character_is_no_text(table: TableBuilder, kind: str) -> None:
    """JSON can say it, no file system and no other reader can write it."""
    path = table.root / FILES[kind]
    path.write_bytes(path.read_bytes().rstrip(b"} \n") + rb', "x": "\uD800"}')
    assert unreadable(read(table.root).main) == {(kind, path.name.split("-", 1)[1])}
    path.write_bytes(path.read_bytes().replace(rb"\uD800", rb"\ud83d\ude00"))
    assert read(table.root).main.unreadable == ()


# damaged -------------------------------------------------------------------------------------------------------------


def edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **fields}))


@pytest.mark.parametrize("kind", FILES)
def test_a_reference_cut_at_every_byte_is_unreadable(table: TableBuilder, kind: str) -> None:
    path = table.root / FILES[kind]
    whole = path.read_bytes()
    name = path.name.split("-", 1)[1]
    step = max(len(whole) // 60, 1)
    for end in [*range(0, len(whole), step), len(whole) - 1]:
        path.write_bytes(whole[:end])
        found = read(table.root)
        assert unreadable(found.main) == {(kind, name)}, end
        assert found.references[FILES[kind]] == whole[:end]
    path.write_bytes(whole)
    assert read(table.root).main.unreadable == ()


GARBAGE: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"   \n",
    "zeros": bytes(400),
    "null": b"null",
    "list": b"[]",
    "text": b'"snapshot"',
    "number": b"12",
    "empty object": b"{}",
    "html": b"<html>504 Gateway Time-out</html>",
    "no UTF-8": b'{"id": "\xff\xfe"}',
    "two documents": b"{}{}",
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a number of many digits": b'{"id": ' + b"9" * 10_000 + b"}",
    "single quotes": b"{'id': 1}",
    "comment": b"{} // end",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_is_unreadable(table: TableBuilder, kind: str, what: str) -> None:
    path = table.root / FILES[kind]
    path.write_bytes(GARBAGE[what])
    line = read(table.root).main
    assert unreadable(line) == {(kind, path.name.split("-", 1)[1])}
    [problem] = [each.problem for each in line.unreadable]
    assert problem.path == FILES[kind]
    assert problem.remedy


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_python_takes_for_json_and_nobody_else_does(table: TableBuilder, constant: str) -> None:
    """It would be printed as JSON again, which no other reader takes."""
    path = table.root / "snapshot/snapshot-2"
    path.write_text(path.read_text().rstrip("}\n ") + f', "later": {constant}}}')
    assert unreadable(read(table.root).main) == {("snapshot", "2")}


WRONG = [None, True, 1.5, "7", [], {}, [1], {"a": 1}]
REQUIRED = {
    "snapshot": ["id", "schemaId", "deltaManifestList", "commitUser", "commitIdentifier", "commitKind", "timeMillis"],
    "tag": ["id", "schemaId", "deltaManifestList", "commitUser", "commitIdentifier", "commitKind", "timeMillis"],
    "changelog": ["id", "schemaId", "deltaManifestList", "commitUser", "commitIdentifier", "commitKind", "timeMillis"],
    "consumer": ["nextSnapshot"],
    "schema": ["id", "fields"],
}
TEXTS = {"deltaManifestList", "commitUser", "commitKind"}


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind, fields in REQUIRED.items() for field in fields])
def test_a_required_field_that_is_missing_or_of_another_type(table: TableBuilder, kind: str, field: str) -> None:
    path = table.root / FILES[kind]
    document = json.loads(path.read_bytes())
    expected = {(kind, path.name.split("-", 1)[1])}
    for wrong in WRONG:
        if field in TEXTS and isinstance(wrong, str):
            continue
        if field == "fields" and wrong == []:
            continue  # a schema may have no column; its partition key has none then
        path.write_text(json.dumps({**document, field: wrong}))
        line = read(table.root).main
        assert unreadable(line) == expected, wrong
        assert field in line.unreadable[0].problem.sentence() or field == "fields"
    path.write_text(json.dumps({name: value for name, value in document.items() if name != field}))
    line = read(table.root).main
    assert unreadable(line) == expected
    assert "no such field" in line.unreadable[0].problem.found


OPTIONAL: dict[str, list[Any]] = {
    "baseManifestList": [1, [], {}, True, "", ".", "..", "a/b", "../x", "a\\b", "\0"],
    "changelogManifestList": [1, [], "a/b", "../snapshot/snapshot-1"],
    "indexManifest": [1, {}, "", "../../x"],
    "statistics": [1, "../manifest/x"],
    "deltaManifestList": ["", "..", "x/y"],
    "totalRecordCount": ["1", 1.0, [], True],
    "deltaRecordCount": ["1", 1.0, {}],
    "watermark": ["now", 1.5, []],
}


@pytest.mark.parametrize("kind", ["snapshot", "tag"])
@pytest.mark.parametrize("field", OPTIONAL)
def test_an_optional_field_of_another_type_or_a_name_that_points_elsewhere(
    table: TableBuilder, kind: str, field: str
) -> None:
    path = table.root / FILES[kind]
    document = json.loads(path.read_bytes())
    for wrong in OPTIONAL[field]:
        path.write_text(json.dumps({**document, field: wrong}))
        assert unreadable(read(table.root).main) == {(kind, path.name.split("-", 1)[1])}, wrong


def test_a_document_of_another_id_is_unreadable(table: TableBuilder) -> None:
    shutil.copy(table.root / "snapshot/snapshot-1", table.root / "snapshot/snapshot-9")
    line = read(table.root).main
    assert unreadable(line) == {("snapshot", "9")}
    assert "9" in line.unreadable[0].problem.sentence()


BAD_SCHEMAS: dict[str, Mapping[str, Any]] = {
    "a column that is none": {"fields": [1]},
    "a column without id": {"fields": [{"name": "dt", "type": "STRING"}]},
    "a column without name": {"fields": [{"id": 1, "type": "STRING"}]},
    "a column without type": {"fields": [{"id": 1, "name": "dt"}]},
    "a column of an odd type": {"fields": [{"id": 1, "name": "dt", "type": 7}]},
    "a description that is none": {"fields": [{"id": 1, "name": "dt", "type": "STRING", "description": 1}]},
    "keys that are no list": {"partitionKeys": "dt"},
    "a key that is no column": {"partitionKeys": ["day"]},
    "a key that is no text": {"partitionKeys": [1]},
    "a key that is a list": {"partitionKeys": [["dt"]]},
    "a key that is an object": {"primaryKeys": [{"a": 1}]},
    "options that are none": {"options": []},
    "a version that is text": {"version": "3"},
    "a comment that is none": {"comment": 7},
    "a time that is text": {"timeMillis": "now"},
}


@pytest.mark.parametrize("what", BAD_SCHEMAS)
def test_schemas_that_are_none(table: TableBuilder, what: str) -> None:
    edit(table.root / "schema/schema-0", **BAD_SCHEMAS[what])
    line = read(table.root).main
    assert unreadable(line) == {("schema", "0")}
    assert line.schema is None


def test_options_that_are_no_text_read_as_the_engine_reads_them(table: TableBuilder) -> None:
    """Its reader turns plain values into text: true is "true"."""
    options = {"a": True, "b": False, "c": 5, "d": "text", "e": 1.5}
    edit(table.root / "schema/schema-0", options=options)
    assert read(table.root).main.options == {"a": "true", "b": "false", "c": "5", "d": "text", "e": "1.5"}


@pytest.mark.parametrize(
    ("version", "added"),
    [
        (1, {"bucket": "1", "file.format": "orc"}),
        (2, {"file.format": "orc"}),
        (3, {}),
        (None, {"bucket": "1", "file.format": "orc"}),
    ],
)
def test_what_old_schemas_leave_unsaid(table: TableBuilder, version: int | None, added: dict[str, str]) -> None:
    edit(table.root / "schema/schema-0", version=version, options={})
    assert read(table.root).main.options == added


# what else lies there ------------------------------------------------------------------------------------------------

STRAY = [
    "snapshot/.snapshot-5.0b1f.tmp",
    "snapshot/snapshot-5.tmp",
    "snapshot/snapshot-",
    "snapshot/snapshot-x",
    "snapshot/snapshot-1.5",
    "snapshot/snapshot-12345678901234567890",
    "snapshot/old",
    "schema/schema-0.bak",
    "tag/.tag-v.0b1f.tmp",
    "tag/notes.txt",
    "consumer/.consumer-x.tmp",
    "changelog/changelog-x",
]


@pytest.mark.parametrize("path", STRAY)
def test_stray_files_are_told_and_harm_nothing(table: TableBuilder, path: str) -> None:
    before = read(table.root)
    (table.root / path).write_bytes(b"junk")
    after = read(table.root)
    assert path in warned(after.main)
    assert after.main.unreadable == ()
    assert after.references == before.references
    (table.root / path).unlink()
    (table.root / path).mkdir()
    assert path in warned(read(table.root).main)


def test_a_directory_named_like_a_snapshot_is_stray(table: TableBuilder) -> None:
    (table.root / "snapshot/snapshot-9").mkdir()
    line = read(table.root).main
    assert [each.id for each in line.snapshots] == [1, 2, 3]
    assert "snapshot/snapshot-9" in warned(line)


def test_ids_as_engines_parse_them(table: TableBuilder) -> None:
    shutil.move(table.root / "snapshot/snapshot-3", table.root / "snapshot/snapshot-003")
    assert [each.id for each in read(table.root).main.snapshots] == [1, 2, 3]


def test_a_link_to_nowhere_is_an_unreadable_tag(table: TableBuilder) -> None:
    """It is listed and cannot be opened. To take it for deleted would free what it keeps."""
    (table.root / "tag/tag-archived").symlink_to("/no/such/volume/tag-archived")
    assert unreadable(read(table.root).main) == {("tag", "archived")}


def test_a_directory_that_cannot_be_listed_refuses_everything(table: TableBuilder) -> None:
    shutil.rmtree(table.root / "tag")
    (table.root / "tag").symlink_to("/no/such/volume")
    with pytest.raises(Corrupt):
        read(table.root)


# hints ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earliest", "latest", "told"),
    [
        ("1", "3", set()),
        ("1\n", "3\n", set()),
        (None, "3", set()),
        ("1", None, {"LATEST"}),
        ("0", "3", {"EARLIEST"}),
        ("-8", "3", {"EARLIEST"}),
        ("2", "3", {"EARLIEST"}),
        ("99", "3", {"EARLIEST"}),
        ("1", "2", {"LATEST"}),
        ("1", "99", {"LATEST"}),
        ("1", "-1", {"LATEST"}),
        ("", "", {"EARLIEST", "LATEST"}),
        ("abc", " 3", {"EARLIEST", "LATEST"}),
        ("9" * 40, "\xff\xfe", {"EARLIEST", "LATEST"}),
    ],
)
def test_hints_are_only_hints(table: TableBuilder, earliest: str | None, latest: str | None, told: set[str]) -> None:
    for name, text in (("EARLIEST", earliest), ("LATEST", latest)):
        path = table.root / "snapshot" / name
        path.unlink()
        if text is not None:
            path.write_bytes(text.encode("latin-1"))
    line = read(table.root).main
    assert [each.id for each in line.snapshots] == [1, 2, 3]
    assert warned(line) == {f"snapshot/{name}" for name in told}
    assert line.unreadable == ()


def test_a_hint_that_stops_the_engine_says_so(table: TableBuilder) -> None:
    table.hints(latest=99)
    [problem] = read(table.root).main.warnings
    assert "fails" in problem.remedy
    table.hints(latest=3, earliest=2)
    [problem] = read(table.root).main.warnings
    assert "does not see the older snapshots" in problem.remedy


def test_a_stale_hint_before_a_gap_hides_what_follows(table: TableBuilder) -> None:
    """LATEST says 3 and there is no 4, so the engine takes 3 for the newest although 5 is there."""
    table.commit([], id=5, hints=False)
    [hint] = [problem for problem in read(table.root).main.warnings if problem.path.endswith("LATEST")]
    assert "Harmless" not in hint.remedy


def test_a_hint_that_is_a_directory(table: TableBuilder) -> None:
    (table.root / "snapshot/LATEST").unlink()
    (table.root / "snapshot/LATEST").mkdir()
    line = read(table.root).main
    assert "snapshot/LATEST" in warned(line)
    assert len(line.snapshots) == 3


@pytest.mark.parametrize("protocol", ["file", "memory", "s3"])
def test_a_gap_costs_few_reads(protocol: str, table: TableBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where listings may lag, its ends are asked; up to 100 of its ids had been, at every look."""
    there = {1, 2, 3, 5000, 9000, 9002}
    for number in (5000, 9000, 9002):
        table.commit(id=number)
    store, asked, read_many = Store(str(table.root)), list[str](), Store.read_many
    store.protocol = protocol

    def counted(store: Store, paths: Sequence[str], *rest: Any) -> Any:
        asked.extend(paths)
        return read_many(store, paths, *rest)

    monkeypatch.setattr(Store, "read_many", counted)
    found = references.read(store)
    assert {each.id for each in found.main.snapshots} == there
    names = sorted(int(each.rpartition("-")[2]) for each in asked if each.startswith("snapshot/snapshot-"))
    missing = [4, 5, 4998, 4999, 5001, 5002, 8998, 8999, 9001] if protocol == "s3" else []
    assert sorted({*names} - there) == missing
    assert len(asked) <= 12 + len(missing)


def test_gaps_are_told(table: TableBuilder) -> None:
    table.commit([], id=7)
    table.commit([], id=8)
    table.commit([], id=10)
    sentences = [problem.sentence() for problem in read(table.root).main.warnings]
    assert [("4 to 6" in each, "snapshot 9" in each) for each in sentences] == [(True, False), (False, True)]


def test_an_unreadable_snapshot_is_no_gap(table: TableBuilder) -> None:
    (table.root / "snapshot/snapshot-2").write_bytes(b"")
    assert warned(read(table.root).main) == set()


# branches ------------------------------------------------------------------------------------------------------------


def test_branches_are_lines_of_their_own(table: TableBuilder) -> None:
    dev = table.branch("dev", "v")
    dev.commit([])
    table.branch("empty")
    found = read(table.root)
    assert [line.branch for line in found.lines] == ["main", "dev", "empty"]
    assert found.line("dev") is found.lines[1]
    assert found.line("nothing") is None
    assert [each.id for each in found.lines[1].snapshots] == [2, 3]
    assert [tag.name for tag in found.lines[1].tags] == ["v"]
    assert found.lines[2].latest is None
    assert "branch/branch-dev/tag/tag-v" in found.references


def test_a_branch_whose_name_has_a_slash(table: TableBuilder) -> None:
    """No engine lists it, its snapshots can be read, and here they count as holders."""
    line = table.branch("x", "v")
    line.commit([])
    (table.root / "branch/branch-team").mkdir()
    shutil.move(table.root / "branch/branch-x", table.root / "branch/branch-team/x")
    (table.root / "branch/branch-team/other/empty").mkdir(parents=True)
    found = read(table.root)
    assert [line.branch for line in found.lines] == ["main", "team/x"]
    assert [each.id for each in found.line("team/x").snapshots] == [2, 3]
    assert "branch/branch-team/x/snapshot/snapshot-3" in found.references
    history = open_table(str(table.root)).history()
    assert "branch:team/x/3" in {holder.point for holder in history.holders}


def test_a_branch_linked_from_elsewhere(table: TableBuilder, tmp_path: Path) -> None:
    table.branch("dev", "v").commit([])
    shutil.move(table.root / "branch/branch-dev", tmp_path / "moved")
    (table.root / "branch/branch-dev").symlink_to(tmp_path / "moved")
    assert [line.branch for line in read(table.root).lines] == ["main", "dev"]


def test_a_branch_directory_that_is_main_is_refused(table: TableBuilder) -> None:
    """Engines never make one; what it names cannot be told from main's own."""
    table.branch("x", "v").commit([])
    shutil.move(table.root / "branch/branch-x", table.root / "branch/branch-main")
    with pytest.raises(Corrupt, match="main"):
        read(table.root)


# patience ------------------------------------------------------------------------------------------------------------


def test_half_a_tag_is_read_again_while_there_is_time(table: TableBuilder) -> None:
    path = table.root / "tag/tag-v"
    whole = path.read_bytes()
    path.write_bytes(whole[:50])
    thread = threading.Timer(0.15, lambda: path.write_bytes(whole))
    thread.start()
    found = read(table.root, patience_s=300.0)
    thread.join()
    assert found.main.unreadable == ()
    assert found.references["tag/tag-v"] == whole


def test_patience_ends(table: TableBuilder) -> None:
    (table.root / "tag/tag-v").write_bytes(b"{")
    started = time.monotonic()
    assert unreadable(read(table.root, patience_s=0.2).main) == {("tag", "v")}
    assert time.monotonic() - started > 0.15


def test_a_file_that_vanishes_between_listing_and_reading_is_gone(
    table: TableBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(table.root))
    listing = store.ls

    def late(relative: str) -> Any:
        found = listing(relative)
        if relative == "tag":
            (table.root / "tag/tag-v").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(store, "ls", late)
    found = references.read(store)
    assert found.main.tags == ()
    assert found.main.unreadable == ()
    assert "tag/tag-v" not in found.references


# tables and warehouses -----------------------------------------------------------------------------------------------


def test_a_table_is_known_by_its_schema(tmp_path: Path) -> None:
    table = TableBuilder(tmp_path / "w" / "default.db" / "t")
    assert open_table(str(table.root)).name == "t"
    assert open_table(f"{table.root}/").location == str(table.root)
    with pytest.raises(NotFound, match="no table"):
        open_table(str(tmp_path / "nothing"))
    with pytest.raises(Invalid, match="warehouse"):
        open_table(str(tmp_path / "w"))
    with pytest.raises(NotFound, match="schema"):
        open_table(str(tmp_path / "w" / "default.db"))
    (tmp_path / "ice" / "metadata").mkdir(parents=True)
    with pytest.raises(NotFound, match="Iceberg"):
        open_table(str(tmp_path / "ice"))
    (table.root / "schema/schema-0").rename(table.root / "schema/schema-x.tmp")
    (table.root / "schema/schema-1").mkdir()
    assert references.is_table(Store(str(table.root))), "a name that begins like a schema counts"
    (table.root / "schema/schema-x.tmp").rename(table.root / "schema/other")
    with pytest.raises(NotFound):
        open_table(str(table.root))


def test_a_file_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(Invalid, match="is a file"):
        open_table(str(tmp_path / "f"))
    with pytest.raises(Invalid, match="is a file"):
        list_tables(str(tmp_path / "f"))


def test_a_warehouse_lists_databases_and_tables(tmp_path: Path) -> None:
    assert list_tables(str(tmp_path)).tables == ()
    for name in ("b.db/t2", "a.db/t1", "b.db/t1"):
        TableBuilder(tmp_path / name)
    (tmp_path / "a.db/no table").mkdir()
    (tmp_path / "a.db/file").touch()
    (tmp_path / "file.db").touch()
    (tmp_path / "other").mkdir()
    found = list_tables(str(tmp_path))
    assert [each.title for each in found.tables] == ["a.t1", "b.t1", "b.t2"]
    assert found.problems == ()
    for each in found.tables:
        assert open_table(each.location).name == each.name
    assert [each.title for each in list_tables(str(tmp_path / "b.db")).tables] == ["b.t1", "b.t2"]
    assert [each.title for each in list_tables(str(tmp_path / "b.db/t1")).tables] == ["b.t1"]
    with pytest.raises(NotFound):
        list_tables(str(tmp_path / "nothing"))


def test_one_broken_table_hides_no_other(tmp_path: Path) -> None:
    for name in ("a", "z"):
        TableBuilder(tmp_path / "d.db" / name)
    (tmp_path / "d.db/m").mkdir()
    (tmp_path / "d.db/m/schema").symlink_to(tmp_path / "d.db/m/schema")
    found = list_tables(str(tmp_path))
    assert [each.name for each in found.tables] == ["a", "z"]
    [problem] = found.problems
    assert "d.db/m" in problem.path


def test_a_linked_table_is_listed(tmp_path: Path) -> None:
    TableBuilder(tmp_path / "real" / "t")
    (tmp_path / "w/d.db").mkdir(parents=True)
    (tmp_path / "w/d.db/t").symlink_to(tmp_path / "real/t")
    assert [each.title for each in list_tables(str(tmp_path / "w")).tables] == ["d.t"]


def test_the_demo_is_known_by_its_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = TableBuilder(tmp_path / "w/default.db/t").root
    other = TableBuilder(tmp_path / "real/default.db/t").root
    assert not is_demo(str(table))
    (tmp_path / "w" / DEMO_MARKER).touch()
    for location in (table, table.parent, table.parent.parent, f"{table}/", f"file://{table}"):
        assert is_demo(str(location)), location
    assert not is_demo(str(other))
    assert not is_demo(str(tmp_path))
    monkeypatch.chdir(table.parent)
    assert is_demo("t")
    assert is_demo("./t")
    assert not is_demo("../../real/default.db/t")
    assert not is_demo(str(table / ".." / ".." / ".." / "real" / "default.db" / "t"))


def test_a_link_inside_the_demo_does_not_make_a_real_table_a_demo(tmp_path: Path) -> None:
    """Deleting goes through the link: what counts is where the table is."""
    other = TableBuilder(tmp_path / "real/default.db/t").root
    (tmp_path / "w/default.db").mkdir(parents=True)
    (tmp_path / "w" / DEMO_MARKER).touch()
    (tmp_path / "w/default.db/t").symlink_to(other)
    assert not is_demo(str(tmp_path / "w/default.db/t"))
