"""References of Iceberg tables: which metadata is read, branches, tags, notes, versions, times, plans, table
locations."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.analysis.expiration_dates import expiries, life
from core.catalog import list_tables
from core.errors import Corrupt, Invalid, NotFound, Unsupported
from core.formats.iceberg.metadata import of
from core.formats.iceberg.references import heads as read_heads
from core.formats.iceberg.references import is_table
from core.messages import code_names
from core.model import codes
from core.model.actions import CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag
from core.model.references import Heads
from core.model.time_travel import AsOf
from core.storage.store import Store
from core.table import Table, open_table, resolve
from tests.support import memory_s3
from tests.support.iceberg_documents import Json, document, snapshot
from tests.support.iceberg_tables import PYICEBERG, as_if_there, moved

SCENARIOS = json.loads((PYICEBERG / "scenarios.json").read_bytes())


def labels(name: str) -> dict[str, int]:
    return dict(SCENARIOS[name]["labels"])


def heads_of(name: str) -> Heads:
    return as_if_there(PYICEBERG / name)[0].heads


def write(root: Path, name: str, found: Json) -> None:
    path = root / "metadata" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(found).encode()
    path.write_bytes(gzip.compress(content) if ".gz" in name else content)


def made(root: Path, **more: Any) -> Heads:
    write(root, "v1.metadata.json", document(2, f"file:{root}", **more))
    return open_table(str(root)).heads()


# is it a table --------------------------------------------------------------------------------------------------------

MANIFESTS = [f"t/metadata/{number:08x}-m0.avro" for number in range(0, 1 << 32, 1 << 20)]


@pytest.mark.parametrize(
    ("names", "requests"),
    [
        (["00007-a.metadata.json"], 1),  # a catalog's name comes first
        ([*MANIFESTS, "00007-a.metadata.json"], 1),
        ([*MANIFESTS, "v7.metadata.json"], 3),  # the page, the hint, the file
        ([*MANIFESTS, "v7.gz.metadata.json"], 5),  # a file that is absent takes two requests
    ],
)
def test_a_long_listing_is_not_needed_to_see_a_table(
    names: list[str], requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = {f"t/metadata/{name.rpartition('/')[2]}": b"{}" for name in names}
    with memory_s3.serving({**objects, "t/metadata/version-hint.text": b"7"}) as server:
        server.lead(monkeypatch)
        assert is_table(Store(f"s3://{memory_s3.BUCKET}/t"))
        assert len(server.taken()) == requests


@pytest.mark.parametrize("hint", [b"6", b"", None])
def test_what_the_first_page_and_the_hint_do_not_show_is_listed(
    hint: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints = {} if hint is None else {"t/metadata/version-hint.text": hint}
    with memory_s3.serving(dict.fromkeys([*MANIFESTS, "t/metadata/v7.metadata.json"], b"{}") | hints) as server:
        server.lead(monkeypatch)
        assert is_table(Store(f"s3://{memory_s3.BUCKET}/t"))
        del server.objects["t/metadata/v7.metadata.json"]
        server._names = None
        assert not is_table(Store(f"s3://{memory_s3.BUCKET}/t"))


# which metadata -------------------------------------------------------------------------------------------------------


def read_version(root: Path) -> int:
    """What the metadata that is read says of itself."""
    return int(open_table(str(root)).heads().document["last-updated-ms"])


@pytest.mark.parametrize(
    ("names", "hint", "version"),
    [
        (["v1.metadata.json", "v2.metadata.json"], "2\n", 2),
        (["v1.metadata.json", "v2.metadata.json"], "1", 2),  # a stale hint: on as long as there is a next one
        (["v1.metadata.json", "v3.metadata.json"], "1", 1),  # and no further
        (["v1.metadata.json", "v3.metadata.json"], None, 3),
        (["v1.metadata.json", "v3.metadata.json"], "three", 3),
        (["v9.metadata.json", "v10.metadata.json"], None, 10),
        (["v1.gz.metadata.json"], "1", 1),
        (["v1.metadata.json", "v2.metadata.json.gz"], "1\nrubbish", 2),
    ],
)
def test_a_bare_directory_is_read_as_java_reads_it(
    tmp_path: Path, names: list[str], hint: str | None, version: int
) -> None:
    for name in names:
        number = int("".join(char for char in name.split(".")[0] if char.isdigit()))
        write(tmp_path, name, document(2, f"file:{tmp_path}", **{"last-updated-ms": number}))
    if hint is not None:
        (tmp_path / "metadata" / "version-hint.text").write_text(hint)
    assert read_version(tmp_path) == version
    warned = [problem.path for problem in open_table(str(tmp_path)).heads().main.warnings]
    assert ("metadata/version-hint.text" in warned) == (hint in (None, "three"))


def test_a_hint_to_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    write(tmp_path, "v1.metadata.json", document(2, f"file:{tmp_path}"))
    (tmp_path / "metadata" / "version-hint.text").write_text("7")
    with pytest.raises(Corrupt, match="The hint says version 7, but v") as caught:
        open_table(str(tmp_path)).heads()
    assert "v1.metadata.json" in str(caught.value.remedy)


def test_the_newest_of_a_catalogs_files_is_read_and_said_to_be_perhaps_old(tmp_path: Path) -> None:
    for number, own in ((2, "b"), (10, "c"), (10, "a")):
        found = document(2, f"file:{tmp_path}", **{"last-updated-ms": number * 10 + (own == "a")})
        write(tmp_path, f"{number:05d}-{own}.metadata.json", found)
    heads = open_table(str(tmp_path)).heads()
    assert heads.document["last-updated-ms"] == 101
    said = [problem.sentence() for problem in heads.main.warnings]
    assert any("This table belongs to a catalog" in each for each in said)
    assert any("00010-c.metadata.json: expected a single metadata file of version 10" in each for each in said)
    with pytest.raises(Unsupported, match="nothing was changed"):
        open_table(str(tmp_path)).refuse_apply()


def test_one_metadata_file_is_a_table(tmp_path: Path) -> None:
    root = moved(PYICEBERG / "rollback", tmp_path / "t")
    older = sorted(root.glob("metadata/*.metadata.json"))[3]
    table = open_table(f"{older}")
    heads = table.heads()
    assert heads.location == str(older) == table.location
    assert open_table(heads.location).heads().references == heads.references
    assert table.history().incomplete == {}
    assert [ref.title for ref in list_tables(str(older)).tables] == [f"{tmp_path.name}.t"]
    with pytest.raises(Unsupported, match="nothing was changed"):
        table.refuse_apply()
    with pytest.raises(NotFound):
        open_table(f"{older}".replace("0000", "0009")).heads()


def test_a_moved_table_is_told_and_read_where_it_is(tmp_path: Path) -> None:
    shutil.copytree(PYICEBERG / "append_history", tmp_path / "t")
    table = open_table(str(tmp_path / "t"))
    heads = table.heads()
    said = next(problem.remedy for problem in heads.main.warnings if "moved or copied" in problem.remedy)
    assert "read only" in said
    assert f"{tmp_path}/t" in said
    assert resolve(heads, "latest").snapshot.id == labels("append_history")["s6"]
    history = table.history()
    assert history.incomplete == {}
    assert not any(table.missing_files(history, holder.point) for holder in history.holders)
    plan = table.preview(Expire(older_than_ms=10**15, retain_min=1), 10**15, history)
    assert len(plan.frees)
    with pytest.raises(Unsupported, match=r"moved or copied.*rewrite_table_path.*nothing was changed"):
        table.refuse_apply()


def test_a_moved_table_without_its_manifest_lists(tmp_path: Path) -> None:
    shutil.copytree(PYICEBERG / "append_history", tmp_path / "t")
    for each in (tmp_path / "t" / "metadata").glob("snap-*"):
        each.unlink()
    table = open_table(str(tmp_path / "t"))
    assert any("moved or copied" in problem.remedy for problem in table.heads().main.warnings)
    with pytest.raises(Unsupported, match="says it is at file:///warehouse/demo/append_history"):
        table.history()


def test_a_link_to_a_table_is_that_table(tmp_path: Path) -> None:
    moved(PYICEBERG / "append_history", tmp_path / "t")
    (tmp_path / "link").symlink_to(tmp_path / "t")
    assert open_table(str(tmp_path / "link")).history().incomplete == {}


def test_a_copy_of_a_file_elsewhere_reads_what_it_names(tmp_path: Path) -> None:
    root = moved(PYICEBERG / "append_history", tmp_path / "t")
    newest = max(root.glob("metadata/*.metadata.json"))
    (tmp_path / "here").mkdir()
    shutil.copy(newest, tmp_path / "here" / newest.name)
    table = open_table(str(tmp_path / "here" / newest.name))
    history = table.history()
    assert history.incomplete == {}
    assert all(":" not in path for path in history.objects["path"].to_pylist())


# lines and notes ------------------------------------------------------------------------------------------------------


def test_lines_follow_parents() -> None:
    own = labels("tags_branches")
    heads = heads_of("tags_branches")
    lines = {line.branch: [each.id for each in line.snapshots] for line in heads.lines}
    assert lines["main"] == [own[name] for name in ("m1", "m2", "m3", "m4", "m5", "m6", "m7_delete")]
    branches = {ref.name for ref in heads.refs if ref.is_branch}
    assert set(lines) == branches | {"(no branch)"}
    assert own["x1_unreferenced"] in lines["(no branch)"]
    every = [number for line in lines.values() for number in line]
    assert len(every) == len(set(every)) == len(heads.document["snapshots"])


def test_what_is_on_no_branch_says_what_it_is() -> None:
    own, heads = labels("rollback"), heads_of("rollback")
    notes = {each.id: each.note for line in heads.lines for each in line.snapshots}
    assert notes[own["s5"]] == ""
    assert notes[own["w_staged"]] == "staged as wap-1 (wap.id), not published"
    assert notes[own["s4_after_rollback"]].startswith("rolled back")
    assert cherry_picked() == ["on no branch or tag, published as 2", "cherry-picked from 1"]
    x1 = labels("tags_branches")["x1_unreferenced"]
    lost = {each.id: each.note for line in heads_of("tags_branches").lines for each in line.snapshots}
    assert lost[x1].startswith("orphaned")


def cherry_picked() -> list[str]:
    found = document(2, refs={"main": {"snapshot-id": 2, "type": "branch"}})
    found["snapshot-log"] = found["snapshot-log"][1:]
    del found["snapshots"][1]["parent-snapshot-id"]
    found["snapshots"][1]["summary"]["source-snapshot-id"] = "1"
    lines = read_heads(of(found, "m"), "t").lines
    notes = {each.id: each.note for line in lines for each in line.snapshots}
    return [notes[1], notes[2]]


def test_what_led_to_a_snapshot_that_main_left_was_left_with_it() -> None:
    """Of a transaction only the last snapshot is in the log."""
    found = document(2, refs={"main": {"snapshot-id": 3, "type": "branch"}}) | {"current-snapshot-id": 3}
    found["snapshots"].append(snapshot(3, None, 3000, "file:/tmp/t"))
    found["snapshot-log"] = [{"timestamp-ms": 2000, "snapshot-id": 2}, {"timestamp-ms": 3000, "snapshot-id": 3}]
    lines = read_heads(of(found, "m"), "t").lines
    assert [each.note[:11] for each in lines[1].snapshots] == ["rolled back", "rolled back"]


def test_tags_end_by_the_age_of_their_snapshot(tmp_path: Path) -> None:
    refs = {
        "main": {"snapshot-id": 2, "type": "branch"},
        "short": {"snapshot-id": 1, "type": "tag", "max-ref-age-ms": 5000},
        "long": {"snapshot-id": 1, "type": "tag", "max-ref-age-ms": 2**63 - 1},
    }
    heads = made(tmp_path / "a", refs=refs)
    assert {tag.name: tag.ends_ms for tag in heads.main.tags} == {"short": 6000, "long": None}
    heads = made(tmp_path / "b", refs=refs, properties={"history.expire.max-ref-age-ms": "7000"})
    assert {tag.name: tag.ends_ms for tag in heads.main.tags} == {"short": 6000, "long": None}
    heads = made(tmp_path / "c", properties={"history.expire.max-ref-age-ms": "7000"})
    assert [(tag.name, tag.ends_ms) for tag in heads.main.tags] == [("v1", 8000)]
    assert expiries(heads, 0)["tag:v1"].not_before_ms == 8000


def test_odd_refs_are_told(tmp_path: Path) -> None:
    refs = {
        "main": {"snapshot-id": 2, "type": "branch"},
        "17": {"snapshot-id": 1, "type": "tag"},
        "gone": {"snapshot-id": 99, "type": "tag"},
        "lost": {"snapshot-id": 99, "type": "branch"},
    }
    heads = made(tmp_path, refs=refs)
    said = " ".join(problem.sentence() for problem in heads.main.warnings)
    assert "SQL cannot reach it: VERSION AS OF reads it as an id." in said
    assert "tag gone" in said
    for point in ("tag:gone", "branch:lost"):
        with pytest.raises(Corrupt, match="points to snapshot 99, which the table does not have"):
            resolve(heads, point)
    assert resolve(heads, "tag:17").snapshot.id == 1


# points ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["append_history", "v1_upgraded", "hadoop_path"])
def test_every_label_is_a_point(name: str) -> None:
    heads = heads_of(name)
    for number in labels(name).values():
        assert resolve(heads, str(number)).snapshot.id == number
    chain = [each.id for each in heads.main.snapshots]
    assert [resolve(heads, f"latest~{back}").snapshot.id for back in range(len(chain))] == chain[::-1]
    assert resolve(heads, "earliest").snapshot.id == chain[0]


def test_ids_and_tags_are_the_tables_and_branches_have_heads() -> None:
    heads = heads_of("tags_branches")
    for ref in heads.refs:
        found = resolve(heads, f"{'branch' if ref.is_branch else 'tag'}:{ref.name}")
        assert found.snapshot.id == ref.snapshot_id
        assert found.point == ref_point(heads, ref.snapshot_id)
    x1 = labels("tags_branches")["x1_unreferenced"]
    assert resolve(heads, str(x1)).point == f"branch:(no branch)/{x1}"
    assert resolve(heads, f"branch:(no branch)/{x1}").snapshot.id == x1
    assert "orphaned" in resolve(heads, str(x1)).rule


def ref_point(heads: Heads, number: int) -> str:
    line = next(line for line in heads.lines if number in {each.id for each in line.snapshots})
    return str(number) if line.branch == "main" else f"branch:{line.branch}/{number}"


def test_a_branch_with_slashes_and_one_that_stands_on_main(tmp_path: Path) -> None:
    refs = {
        "main": {"snapshot-id": 2, "type": "branch"},
        "a/b": {"snapshot-id": 1, "type": "branch"},
        "a": {"snapshot-id": 2, "type": "branch"},
    }
    heads = made(tmp_path, refs=refs)
    assert resolve(heads, "branch:a/b").snapshot.id == 1
    assert resolve(heads, "branch:a/b/latest").point == "1"
    assert resolve(heads, "branch:a/latest~1").snapshot.id == 1
    assert heads.line("a/b") is not None
    with pytest.raises(NotFound, match="no branch 'c'"):
        resolve(heads, "branch:c")


def with_two_schemas(root: Path, **own: Any) -> Heads:
    found = document(2, f"file:{root}")
    more = json.loads(json.dumps(found["schemas"][0]))
    more["schema-id"] = 1
    more["fields"].append({"id": 3, "name": "new", "required": False, "type": "int"})
    return made(root, **{"schemas": [found["schemas"][0], more], "current-schema-id": 1}, **own)


def test_which_schema_a_point_is_read_with(tmp_path: Path) -> None:
    """The table's current one for the head and for branches, the snapshot's own for ids, tags and times."""
    heads = with_two_schemas(tmp_path)
    told = {
        point: resolve(heads, point).schema.id for point in ("latest", "branch:main", "2", "tag:v1", "time:2000", "1")
    }
    assert told == {"latest": 1, "branch:main": 1, "2": 0, "tag:v1": 0, "time:2000": 0, "1": 0}


def test_the_head_of_a_branch_has_the_current_schema_however_it_is_named(tmp_path: Path) -> None:
    location = f"file:{tmp_path}"
    snapshots = [snapshot(number, number - 1 or None, 1000 * number, location) for number in (1, 2, 3, 4)]
    refs = {name: {"snapshot-id": number, "type": "branch"} for name, number in (("main", 2), ("dev", 3))}
    heads = with_two_schemas(tmp_path, snapshots=snapshots, refs=refs)
    told = {
        point: resolve(heads, point, "dev").schema.id for point in ("latest", "latest~0", "latest~1", "3", "earliest")
    }
    assert told == {"latest": 1, "latest~0": 1, "latest~1": 0, "3": 0, "earliest": 0}
    for point in ("branch:dev", "branch:dev/latest"):
        assert resolve(heads, point) == resolve(heads, "latest", "dev")
    assert resolve(heads, "branch:dev/3").schema.id == 0
    assert str(resolve(heads, "latest~1", "dev").rule).startswith("1 ancestor before snapshot ")
    assert "no branch" in resolve(heads, "earliest", "(no branch)").rule
    assert "ancestor" not in resolve(heads, "earliest", "(no branch)").rule
    nowhere = resolve(heads, "latest", "(no branch)")
    assert nowhere == resolve(heads, "branch:(no branch)")
    assert (nowhere.snapshot.id, nowhere.schema.id) == (4, 0)
    assert "current schema" not in nowhere.rule


def test_an_error_says_in_words_that_a_snapshot_is_on_no_branch(tmp_path: Path) -> None:
    location = f"file:{tmp_path}"
    snapshots = [snapshot(1, None, 1000, location), snapshot(2, 1, 2000, location)]
    refs = {"main": {"snapshot-id": 1, "type": "branch"}}
    made(tmp_path, snapshots=snapshots, refs=refs, **{"current-snapshot-id": 1})
    known = open_table(str(tmp_path)).history()
    with pytest.raises(Corrupt, match=r"^2 \(on no branch\) cannot be read in full"):
        known.require("branch:(no branch)/2")


def test_a_schema_that_was_cleaned_away_is_told(tmp_path: Path) -> None:
    location = f"file:{tmp_path}"
    snapshots = [snapshot(1, None, 1000, location, **{"schema-id": 9}), snapshot(2, 1, 2000, location)]
    heads = made(tmp_path, snapshots=snapshots)
    with pytest.raises(
        Corrupt, match=r"was written with schema 9, which is no longer in the metadata \(it was cleaned up\)"
    ):
        resolve(heads, "1")


@pytest.mark.parametrize("point", ["watermark:3", "latest~x", "7.5", "tag:", "snapshot:1", ""])
def test_what_is_no_point(tmp_path: Path, point: str) -> None:
    with pytest.raises(Invalid):
        resolve(made(tmp_path), point)


def test_what_is_not_there(tmp_path: Path) -> None:
    heads = made(tmp_path)
    for point, says in (
        ("9", "no snapshot 9: it is not in the table's metadata"),
        ("tag:v9", "no tag 'v9'"),
        ("latest~2", "goes back further than the 2 existing snapshots on"),
    ):
        with pytest.raises(NotFound, match=says):
            resolve(heads, point)
    empty = made(tmp_path, **{"snapshots": [], "refs": {}, "current-snapshot-id": None, "snapshot-log": []})
    with pytest.raises(NotFound, match="no current snapshot"):
        resolve(empty, "latest")


# times ----------------------------------------------------------------------------------------------------------------


def log(root: Path, *entries: tuple[int, int]) -> Heads:
    return made(root, **{"snapshot-log": [{"timestamp-ms": at, "snapshot-id": number} for at, number in entries]})


def test_a_time_asks_what_main_pointed_to() -> None:
    """After a rollback the newest snapshot of that time is not what main was."""
    own, heads = labels("rollback"), heads_of("rollback")
    found = resolve(heads, f"time:{own['rollback_to_s1_at_ms'] + 1}")
    assert found.snapshot.id == own["s1"]
    assert "The snapshot itself was committed" in found.rule
    newest = max(
        (each for line in heads.lines for each in line.snapshots if each.time_ms <= own["rollback_to_s1_at_ms"]),
        key=lambda each: each.time_ms,
    )
    assert newest.id == own["s3"]


def test_of_a_tie_the_last_listed_counts(tmp_path: Path) -> None:
    found = resolve(log(tmp_path, (1000, 1), (2000, 1), (2000, 2)), "time:2500")
    assert (found.snapshot.id, found.engine, found.gap_ms) == (2, 2, 500)
    assert "Several entries have that time; the last listed one counts, because it stayed in effect." in found.rule
    assert found.engine_note == "Java after 1.11 finds 1: of entries with the same time it takes the first."


def test_clocks_that_went_back(tmp_path: Path) -> None:
    """The greatest time counts; Java takes the last listed."""
    found = resolve(log(tmp_path, (1000, 1), (3000, 2), (2000, 1)), "time:5000")
    assert (found.snapshot.id, found.engine) == (2, 1)
    assert found.engine_note is not None
    assert found.engine_note.startswith("Java up to 1.11 finds 1: it takes the last listed entry that fits.")
    assert "not in order of time" in found.rule


def test_times_without_an_answer(tmp_path: Path) -> None:
    heads = log(tmp_path / "a", (1000, 1), (2000, 2))
    assert resolve(heads, "time:1000").snapshot.id == 1
    with pytest.raises(NotFound, match=r"it starts at 1970-01-01 00:00:01\.000 UTC"):
        resolve(heads, "time:999")
    with pytest.raises(NotFound, match="snapshot-log is empty"):
        resolve(log(tmp_path / "b"), "time:5000")
    gone = log(tmp_path / "c", (1000, 9), (2000, 2))
    with pytest.raises(NotFound, match="main pointed to snapshot 9, which has expired"):
        resolve(gone, "time:1500")
    with pytest.raises(NotFound, match="it has expired; main once pointed to it"):
        resolve(gone, "9")
    with pytest.raises(Invalid, match="A time finds what main pointed to, so it cannot be used with branch"):
        resolve(heads_of("tags_branches"), "branch:(no branch)/time:5000")


def test_an_expired_entry_answers_no_other_snapshot() -> None:
    """pyiceberg's expiry leaves the log as it was; the state before is not the answer."""
    own, heads = labels("expired"), heads_of("expired")
    for at, number in heads.pointer or ():
        if number in {own["s1"], own["s3"], own["s4"]}:
            with pytest.raises(NotFound, match="has expired"):
                resolve(heads, f"time:{at}")
        else:
            assert resolve(heads, f"time:{at}").snapshot.id == number


# plans ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return open_table(str(moved(PYICEBERG / "tags_branches", tmp_path / "t")))


NOW = 1_800_000_000_000


def test_removing_a_tag_frees_nothing_now_and_tells_its_cost(table: Table) -> None:
    history = table.history()
    for tag in history.heads.main.tags:
        plan = table.preview(DeleteTags((tag.name,)), NOW, history)
        assert (len(plan.frees), [verdict.point for verdict in plan.deleted_points]) == (0, [f"tag:{tag.name}"])
        kept = table.preview(Expire(), NOW, history).freed_bytes
        expiry = table.preview(Expire(drop_tags=(tag.name,)), NOW, history)
        without = expiry.freed_bytes
        (said,) = [warning for warning in plan.warnings if warning.code == codes.FREED_NEXT]
        assert ("reclaims 0 files (0 B) more" in said.text) == (without == kept)
        lost = [(each.code, each.values.get("id")) for each in (*plan.warnings, *expiry.warnings)]
        left = [each.text for each in plan.warnings if each.code == codes.NOTHING_ELSE_HOLDS]
        is_last = any(str(tag.snapshot.id) in each for each in left)
        assert ((codes.LAST_KEPT_LATER, tag.snapshot.id) in lost) is is_last
        is_going = str(tag.snapshot.id) in [verdict.point for verdict in expiry.deleted_points]
        assert ((codes.LAST_KEPT, tag.snapshot.id) in lost) is is_going
    with pytest.raises(Invalid, match="no tag 'nope'"):
        table.preview(DeleteTags(("nope",)), NOW, history)
    with pytest.raises(Invalid, match="'main' is a branch"):
        table.preview(DeleteTags(("main",)), NOW, history)


def test_the_last_tag_of_a_snapshot_says_what_is_lost_with_it(table: Table) -> None:
    """Main was set back: the newest snapshot is kept by a tag alone."""
    members = sorted(table.heads().main.snapshots, key=lambda each: each.time_ms)
    first, last = members[0].id, members[-1].id
    refs = {"main": {"snapshot-id": first, "type": "branch"}, "lone": {"snapshot-id": last, "type": "tag"}}
    for path in Path(table.location).glob("metadata/*.metadata.json"):
        found = json.loads(path.read_bytes())
        path.write_text(json.dumps({**found, "current-snapshot-id": first, "refs": refs}))
    plan = open_table(table.location).preview(DeleteTags(("lone",)), NOW)
    (said,) = [each for each in plan.warnings if each.code == codes.LAST_KEPT_LATER]
    assert said.values["id"] == last


def test_tags_that_are_made_moved_and_renamed(table: Table) -> None:
    history = table.history()
    tag = history.heads.main.tags[0]
    latest: AsOf = resolve(history.heads, "latest")
    for name in ("new", "release 08:00"):  # refs are entries of a document, not files: a colon is only a character
        plan = table.preview(CreateTag(name), NOW, history)
        assert (plan.source, plan.leaves, plan.deleted_points) == (latest.snapshot, (f"metadata.json#refs/{name}",), ())
    plan = table.preview(ReplaceTag(tag.name, latest.snapshot.id), NOW, history)
    assert [path for path, _ in plan.removes] == [f"metadata.json#refs/{tag.name}"]
    plan = table.preview(RenameTag(tag.name, "other"), NOW, history)
    assert plan.source == tag.snapshot
    for change in (CreateTag(tag.name), CreateTag("main"), RenameTag(tag.name, "main"), CreateTag("12")):
        with pytest.raises(Invalid):
            table.preview(change, NOW, history)


def test_the_fingerprint_is_of_every_part(table: Table) -> None:
    first = table.preview(Expire(), NOW)
    assert table.preview(Expire(), NOW) == first or table.preview(Expire(), NOW).fingerprint == first.fingerprint
    for path in Path(table.location).glob("metadata/*.metadata.json"):
        found = json.loads(path.read_bytes())
        found["properties"]["a"] = "b"
        path.write_text(json.dumps(found))
    assert table.preview(Expire(), NOW).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        Expire(retain_max=3),
        Expire(max_deletes=1),
        Expire(branch="dev"),
        Expire(tags_older_than_ms=1),
        Expire(changelogs_only=True),
        Expire(older_than_ms=1, time_retained_ms=1),
        Expire(drop_tags=("main",)),
        Expire(drop_tags=("nope",)),
        Expire(snapshots=(5,)),
        Expire(retain_min=0),
    ],
)
def test_what_an_expiry_cannot_be_asked(table: Table, change: Expire) -> None:
    with pytest.raises(Invalid):
        table.preview(change, NOW)


def with_properties(table: Table, **properties: str) -> Table:
    for path in Path(table.location).glob("metadata/*.metadata.json"):
        found = json.loads(path.read_bytes())
        found["properties"] |= {name.replace("_", "."): value for name, value in properties.items()}
        found["properties"] |= {"write.metadata.previous-versions-max": "2"}
        path.write_text(json.dumps(found))
    return open_table(table.location)


def test_a_table_whose_files_are_not_its_own_does_not_expire(table: Table) -> None:
    table = with_properties(table, gc_enabled="false")
    with pytest.raises(Unsupported, match=r"gc\.enabled = false"):
        table.preview(Expire(), NOW)
    name = table.heads().main.tags[0].name
    assert "expiry-off" in code_names(table.preview(DeleteTags((name,)), NOW).warnings)


def test_old_metadata_that_a_commit_deletes_is_listed(table: Table) -> None:
    quiet = table.preview(CreateTag("new"), NOW)
    assert "old-metadata" not in code_names(quiet.warnings)
    for path in Path(table.location).glob("metadata/*.metadata.json"):
        found = json.loads(path.read_bytes())
        found["properties"] |= {
            "write.metadata.previous-versions-max": "2",
            "write.metadata.delete-after-commit.enabled": "true",
        }
        path.write_text(json.dumps(found))
    heads = open_table(table.location).heads()
    log = [each["metadata-file"] for each in heads.document["metadata-log"]]
    (said,) = [
        each.text
        for each in open_table(table.location).preview(CreateTag("new"), NOW).warnings
        if each.code == codes.OLD_METADATA
    ]
    assert log[0] in said
    assert str(len(log) - 1) in said


def test_why_a_file_is_kept(table: Table) -> None:
    history = table.history()
    latest = history.heads.main.latest
    assert latest is not None
    path = history.files_at(history.position(str(latest.id)))["path"][0].as_py()
    found = life(history, path, NOW)
    assert found is not None
    assert "never while" in found.words


# where tables are found -----------------------------------------------------------------------------------------------


def test_tables_are_listed_beside_each_other(tmp_path: Path) -> None:
    for place in ("a.db/one", "b/two", "three", "b/.hidden/four", "_tmp/five"):
        write(tmp_path / place, "v1.metadata.json", document(2, f"file:{tmp_path / place}"))
    (tmp_path / "a.db" / "paimon" / "schema").mkdir(parents=True)
    (tmp_path / "a.db" / "paimon" / "schema" / "schema-0").write_text("{}")
    (tmp_path / "a.db" / "paimon" / "metadata").mkdir()
    (tmp_path / "plain" / "data").mkdir(parents=True)
    found = list_tables(str(tmp_path))
    assert sorted(ref.title for ref in found.tables) == ["a.one", "a.paimon", "b.two", "three"]
    assert found.problems == ()
    for ref in found.tables:
        if ref.name != "paimon":
            assert open_table(ref.location).heads().format == "iceberg"
    assert [ref.title for ref in list_tables(str(tmp_path / "b" / "two")).tables] == ["b.two"]


def test_a_directory_of_odd_metadata_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "current.metadata.json", document(2, f"file:{tmp_path}"))
    with pytest.raises(Unsupported, match="no metadata file named by version"):
        open_table(str(tmp_path)).heads()
    assert open_table(str(tmp_path / "metadata" / "current.metadata.json")).heads().format == "iceberg"
