"""A store that refuses, fails half-way, throttles or lists what was: never a wrong delete, and never another error
than ours; once it is well again, the rest of the way leads where a clean run leads.

What a listing may hide: for as long as `settle`, anything; for ever, a snapshot that a hint names. A tag or a branch
that no listing tells of until everything is over cannot be known of by anybody who lists.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import text
from core.errors import Conflict, Corrupt, SnapscopeError, Unsupported
from core.execution import recovery, replanned
from core.execution.apply import apply
from core.formats.paimon import format as paimon
from core.formats.paimon.read import lagging_reads
from core.formats.paimon.write import publish
from core.model import codes
from core.model.actions import (
    Change,
    ClearConsumers,
    CreateTag,
    DeleteTags,
    Expire,
    ResetConsumer,
    Rollback,
)
from core.storage import presence
from dashboard.words import audit
from tests.support.depth import first_fast, sample
from tests.support.execution import ground
from tests.support.execution.lying import HOW, Lies, lying_store, lying_table
from tests.support.execution.lying_runs import (
    CHANGES,
    NOW,
    Stage,
    attempt,
    end_of_a_clean_run,
    finish,
    go,
    hidden,
    made,
)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for listings and reads to agree takes no longer here than a single look."""
    monkeypatch.setattr(presence, "PATIENCE_S", 0.1)
    monkeypatch.setattr(presence, "PAUSE_S", 0.01)
    monkeypatch.setattr(lagging_reads, "LAG_S", 0.1)
    monkeypatch.setattr(paimon, "_EXPIRING_S", (0.01, 0.02))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return made(tmp_path)


# one call goes wrong -------------------------------------------------------------------------------------------------

APART = 13


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_one_call_that_goes_wrong_loses_nothing(name: str, stage: Stage) -> None:
    """Every thirteenth call fails, in each way in turn; `make proof` tries all of them."""
    change = CHANGES[name]
    end, documents, calls = end_of_a_clean_run(stage, change)
    refused = 0
    for number, at in enumerate(range(0, calls, APART)):
        journal, receipt = attempt(stage, change, Lies(at, HOW[number % len(HOW)]))
        refused += receipt is None
        finish(stage.root, change, journal)
        assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end), at
        journal.verify()
    assert refused > calls // APART // 6  # the others were repeated, and succeeded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"), [*(("expire", how) for how in HOW), ("delete-tag", "half"), ("orphans", "unavailable")]
)
def test_a_store_that_throttles_is_asked_again_until_it_is_done(name: str, how: str, stage: Stage) -> None:
    """Calls fail again and again: each attempt gets further, and none loses anything."""
    change = CHANGES[name]
    end, documents, _ = end_of_a_clean_run(stage, change)
    journal = stage.fresh()
    asked = 0
    for _ in range(30):
        lies = Lies(how=how)
        lies.picks = lambda call, path, times, lies=lies, asked=asked: (asked + len(lies.calls)) % 71 == 70
        table = lying_table(stage.root, lies)
        receipt = None
        with contextlib.suppress(SnapscopeError):
            run = next((run.id for run in journal.runs() if run.is_open), None)
            if run is None:
                receipt = go(table, replanned.of_what_is_left(change, table.heads()), journal)
            else:
                receipt = recovery.resume(run, open_table=lambda _, table=table: table, settle_s=0, journal=journal)
        asked += len(lies.calls)
        assert ground.broken(stage.root) == []
        if receipt is not None and receipt.outcome == "done":
            break
    finish(stage.root, change, journal)
    assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("call", ["pipe_file", "rm_file"])
def test_every_write_or_every_delete_goes_wrong(call: str, how: str, stage: Stage) -> None:
    change = CHANGES["expire"]
    end, documents, _ = end_of_a_clean_run(stage, change)
    journal, receipt = attempt(stage, change, Lies(how=how, picks=lambda each, path, times: each == call))
    is_only_told_wrong = how == "half"  # written or deleted, and the answer is lost: the files tell
    assert (receipt is not None) == is_only_told_wrong
    finish(stage.root, change, journal)
    tested = {path for path in ground.disk(stage.root) if path.startswith("snapshot/.snapscope.")}
    assert len(tested) == (call == "rm_file" and how != "half"), "the test object that the store does not delete"
    found = {path: data for path, data in ground.references(stage.root).items() if path not in tested}
    assert (found, ground.disk(stage.root) - tested) == (documents, end)


@pytest.mark.parametrize("how", HOW)
def test_a_tag_on_a_store_that_refuses_writes_is_one_error(how: str, stage: Stage) -> None:
    journal = stage.fresh()
    table = lying_table(stage.root, Lies(how=how, picks=lambda call, path, times: call == "pipe_file"))
    if how == "half":  # it was created and only the answer is lost: the file itself tells
        assert go(table, CreateTag("new"), journal).created == ("tag/tag-new",)
    else:
        with pytest.raises(SnapscopeError):
            go(table, CreateTag("new"), journal)
    assert not any(run.is_open for run in journal.runs())
    made = {"tag/tag-new"} if how == "half" else set()
    assert ground.disk(stage.root) - ground.disk(stage.good) == made


@pytest.mark.parametrize("change", [*CHANGES.values(), CreateTag("new")], ids=[*CHANGES, "create-tag"])
def test_a_store_that_ignores_conditions_is_refused_before_the_first_effect(change: Change, stage: Stage) -> None:
    """A second create replaced the first one's object, and nothing told: two writers' tags of one name, one lost."""
    journal = stage.fresh()
    table = lying_table(stage.root, Lies(ignores_conditions=True))
    if not table.preview(change, NOW).removes and change != CreateTag("new"):
        return  # needs no create, not even to be undone
    with pytest.raises(Unsupported, match="replaced an object"):
        go(table, change, journal)
    assert ground.disk(stage.root) == ground.disk(stage.good)
    assert journal.runs() == []


def test_a_bucket_that_keeps_versions_frees_nothing_and_the_receipt_says_so(stage: Stage) -> None:
    journal = stage.fresh()
    table = lying_table(stage.root, Lies(keeps_versions=True))
    plan = table.preview(CHANGES["expire"], NOW)
    (told,) = (each.text for each in plan.warnings if each.code == codes.VERSIONS_KEPT)
    assert "billed until a lifecycle rule" in told
    receipt = go(table, CHANGES["expire"], journal)
    assert receipt.keeps_versions
    assert [each.code for each in receipt.notes] == [codes.VERSIONS_KEPT]
    said = text.of_receipt(receipt)
    assert "kept as old versions" in said
    assert "reclaimed" not in said
    assert "kept as old versions" in audit.receipt(receipt)
    (run,) = journal.runs()
    assert "kept as old versions" in audit.run_done(run)


def test_a_hint_whose_answer_is_lost_is_a_success(stage: Stage) -> None:
    stage.fresh()
    lies = Lies(how="half", picks=lambda call, path, times: call == "pipe_file")
    lying_store(stage.root, lies).put("snapshot/LATEST", b"5")
    assert (stage.root / "snapshot/LATEST").read_bytes() == b"5"


# half of a file ------------------------------------------------------------------------------------------------------


def test_half_an_answer_is_not_kept_for_good(stage: Stage) -> None:
    """Manifests are cached on local disk by name and size: a truncated one would be served forever."""
    lies = Lies(how="half", picks=lambda call, path, times: call == "cat_file" and path.startswith("manifest/"))
    stage.fresh()
    assert lying_table(stage.root, lies).history().incomplete
    assert not lying_table(stage.root, Lies()).history().incomplete


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_half_an_index_manifest_that_reads_well_frees_nothing(change: Change, stage: Stage) -> None:
    """Cut after a block, it is a valid Avro file with fewer files in it; only its listed size shows that."""
    index = {
        f"manifest/{json.loads(path.read_bytes())['indexManifest']}"
        for path in [*stage.good.glob("*/snapshot-*"), *stage.good.glob("*/tag-*")]
    }
    lies = Lies(how="half", picks=lambda call, path, times: call == "cat_file" and path in index)
    lies.cut = lambda data: data[: data.index(bytes(17)) + 17]
    _, receipt = attempt(stage, change, lies)
    assert receipt is None
    assert ground.disk(stage.root) == ground.disk(stage.good)


# listings that are behind the time -----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", first_fast(CHANGES.values()), ids=list(CHANGES))
def test_what_went_may_be_listed_for_ever(change: Change, stage: Stage) -> None:
    end, documents, _ = end_of_a_clean_run(stage, change)
    journal = stage.fresh()
    seen: dict[str, frozenset[str]] = {}

    def behind(directory: str, names: frozenset[str]) -> frozenset[str]:
        seen[directory] = seen.get(directory, frozenset()) | names
        return seen[directory]

    receipt = go(lying_table(stage.root, Lies(behind=behind)), change, journal)
    assert receipt.outcome == "done"
    finish(stage.root, change, journal)
    assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end)


@dataclasses.dataclass
class Late:
    """Names created after this object are not listed until it `is_over`."""

    root: Path
    is_over: bool = False
    known: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in ground.disk(self.root):
            for above in Path(path).parents:
                self.known[str(above)] = frozenset(os.listdir(self.root / above))

    def behind(self, directory: str, names: frozenset[str]) -> frozenset[str]:
        return names if self.is_over else names & self.known.get(directory, frozenset())

    def end(self) -> None:
        self.is_over = True


def new_tag(root: Path) -> None:
    (root / "tag/tag-new").write_bytes((root / "snapshot/snapshot-2").read_bytes())


def new_branch(root: Path) -> None:
    (root / "branch/branch-new/snapshot").mkdir(parents=True)
    shutil.copytree(root / "schema", root / "branch/branch-new/schema")
    (root / "branch/branch-new/snapshot/snapshot-2").write_bytes((root / "snapshot/snapshot-2").read_bytes())


def snapshot_2_again(root: Path) -> None:
    """A rollback as latest: the newest snapshot reads what an old one read."""
    document = json.loads((root / "snapshot/snapshot-2").read_bytes())
    document |= {"id": 6, "commitKind": "OVERWRITE", "timeMillis": document["timeMillis"] + 1}
    (root / "snapshot/snapshot-6").write_text(json.dumps(document))
    (root / "snapshot/LATEST").write_bytes(b"6")


@pytest.mark.parametrize("make", [new_tag, new_branch, snapshot_2_again], ids=lambda each: each.__name__)
def test_what_listings_hide_until_writers_have_settled_is_kept(make: Callable[[Path], None], stage: Stage) -> None:
    """A reference to an expiring version exists when the plan is made, and no listing shows it until after the grace
    period."""
    journal, late = stage.fresh(), Late(stage.root)
    make(stage.root)
    table = lying_table(stage.root, Lies(behind=late.behind))
    with ground.while_settling(late.end):
        receipt = go(table, CHANGES["expire"], journal)
    assert ground.broken(stage.root) == []
    assert late.is_over
    assert make is snapshot_2_again or any(why == codes.HELD_SINCE() for _, why in receipt.kept_back)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_snapshot_that_a_hint_names_is_known_though_no_listing_tells(change: Change, stage: Stage) -> None:
    """The commit of a writer that took days is old; the hint written after the commit names it at once."""
    journal, late = stage.fresh(), Late(stage.root)
    snapshot_2_again(stage.root)
    with contextlib.suppress(SnapscopeError):
        go(lying_table(stage.root, Lies(behind=late.behind)), change, journal)
    assert ground.broken(stage.root) == []
    assert (stage.root / "snapshot/snapshot-6").is_file()


@pytest.mark.parametrize("change", first_fast(CHANGES.values()), ids=list(CHANGES))
def test_listings_that_change_their_mind_free_nothing(change: Change, stage: Stage) -> None:
    """Every other listing shows a new tag."""
    journal, late = stage.fresh(), Late(stage.root)
    new_tag(stage.root)
    times = Counter[str]()

    def behind(directory: str, names: frozenset[str]) -> frozenset[str]:
        times[directory] += 1
        return names if times[directory] % 2 else late.behind(directory, names)

    with pytest.raises(Conflict, match="kept changing"):
        go(lying_table(stage.root, Lies(behind=behind)), change, journal)
    assert ground.files(stage.root) == ground.files(stage.good)
    finish(stage.root, change, journal)
    assert ground.broken(stage.root) == []


# listed, and not found by reads --------------------------------------------------------------------------------------


REFERENCES = {
    "a tag": "tag/tag-kept",
    "a snapshot that stays": "snapshot/snapshot-5",
    "a branch's snapshot": "branch/branch-b/snapshot/snapshot-4",
    "a branch's tag": "branch/branch-b/tag/tag-kept",
    "a long-lived changelog": "changelog/changelog-1",
    "a consumer": "consumer/consumer-slow",
    "the newest schema": "schema/schema-0",
    "a branch's schema": "branch/branch-b/schema/schema-0",
}


def held_by_all(root: Path) -> None:
    """A changelog and a consumer, in addition to the stage's references."""
    (root / "changelog").mkdir()
    first = (root / "tag/tag-early").read_bytes()
    (root / "changelog/changelog-1").write_bytes(first)
    (root / "consumer").mkdir()
    (root / "consumer/consumer-slow").write_text('{"nextSnapshot": 2}')


def absent(path: str, *, times: int | None = None) -> Lies:
    """Reads of this path do not find it, forever or a number of times; listings show it."""
    return Lies(
        how="absent", picks=lambda call, at, n: call == "cat_file" and at == path and (times is None or n < times)
    )


@pytest.mark.parametrize("path", REFERENCES.values(), ids=list(REFERENCES))
@pytest.mark.parametrize("name", first_fast(sample(CHANGES, 2)))
def test_a_reference_that_is_listed_and_never_found_is_not_taken_for_deleted(
    path: str, name: str, stage: Stage
) -> None:
    journal = stage.fresh()
    held_by_all(stage.root)
    before = ground.disk(stage.root)
    is_free = name != "expire" and "consumer" in path  # only what an expiry may delete depends on a consumer
    if is_free:
        assert go(lying_table(stage.root, absent(path)), CHANGES[name], journal).outcome == "done"
    else:
        with pytest.raises(SnapscopeError) as told:
            go(lying_table(stage.root, absent(path)), CHANGES[name], journal)
        assert path in str(told.value)
        assert "lists this file" in str(told.value)
        assert ground.disk(stage.root) == before
        assert journal.runs() == []
    assert ground.broken(stage.root) == []


@pytest.mark.parametrize("path", ["tag/tag-early", "tag/tag-kept", "snapshot/snapshot-2"])
def test_what_is_listed_and_never_found_cannot_go_and_nobody_is_told_so(path: str, stage: Stage) -> None:
    """A plan used to be shown without its bytes, and applying it always failed, after announcing its tag."""
    journal = stage.fresh()
    table, name = lying_table(stage.root, absent(path)), path.rpartition("-")[2]
    gone = (name,) if path.startswith("tag") else ()
    for change in (Expire(retain_max=1, retain_min=1, drop_tags=gone), DeleteTags(gone), Expire(retain_max=1)):
        if change == DeleteTags(()):
            continue
        with pytest.raises(Corrupt) as told:
            table.preview(change, NOW)
        assert path in str(told.value)
        assert "wait until the store no longer lists it" in f"{told.value} {told.value.remedy}"
        assert "--drop-tag" not in f"{told.value} {told.value.remedy}"
        assert "by name" not in f"{told.value} {told.value.remedy}"
    assert journal.runs() == []


@pytest.mark.parametrize(
    "change",
    [ClearConsumers(), ResetConsumer("slow"), ResetConsumer("slow", 3), Expire(retain_max=1, retain_min=1)],
    ids=lambda each: type(each).__name__,
)
def test_a_consumer_that_is_listed_and_never_found_is_told_of(change: Change, stage: Stage) -> None:
    """Clearing it used to be "nothing to do", and deleting it "no such consumer"."""
    stage.fresh()
    held_by_all(stage.root)
    with pytest.raises(Corrupt, match="lists this file") as told:
        lying_table(stage.root, absent("consumer/consumer-slow")).preview(change, NOW)
    assert "wait until the store no longer lists it" in str(told.value.remedy)


@pytest.mark.parametrize("path", REFERENCES.values(), ids=list(REFERENCES))
def test_a_reference_that_reads_find_at_last_is_like_any_other(
    path: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for waits, name in ((presence, "PATIENCE_S"), (lagging_reads, "LAG_S")):
        monkeypatch.setattr(waits, name, 100.0)  # nobody waits for as long
    stage.fresh()
    held_by_all(stage.root)
    true = lying_table(stage.root, Lies()).heads()
    late = lying_table(stage.root, absent(path, times=2)).heads()
    assert late == true
    assert path in late.references


@pytest.mark.parametrize("path", REFERENCES.values(), ids=list(REFERENCES))
def test_a_reference_that_goes_from_listings_as_well_was_deleted(path: str, stage: Stage) -> None:
    stage.fresh()
    held_by_all(stage.root)

    def deletes(call: str, at: str, n: int) -> bool:
        if call == "cat_file" and at == path:
            (stage.root / path).unlink(missing_ok=True)
        return False

    found = lying_table(stage.root, Lies(picks=deletes)).heads()
    assert path not in found.references
    assert [each for line in found.lines for each in line.unreadable] == []


@pytest.mark.parametrize(
    "path", first_fast(["tag/tag-kept", "branch/branch-b/snapshot/snapshot-4", "snapshot/snapshot-5"])
)
@pytest.mark.parametrize("name", ["expire", "delete-tag"])  # orphans wait for nobody
def test_a_reference_that_reads_lose_while_writers_settle_stops_the_run(path: str, name: str, stage: Stage) -> None:
    """It existed when the plan was made and confirmed: the run stops before any file is deleted, and can be resumed."""
    end, documents, _ = end_of_a_clean_run(stage, CHANGES[name])
    journal, lies = stage.fresh(), Lies(how="absent")
    files = ground.files(stage.root)

    def lie() -> None:
        lies.picks = lambda call, at, n: call == "cat_file" and at == path

    with ground.while_settling(lie), pytest.raises(SnapscopeError) as told:
        go(lying_table(stage.root, lies), CHANGES[name], journal)
    assert path in str(told.value)
    assert ground.files(stage.root) == files
    assert ground.broken(stage.root) == []
    finish(stage.root, CHANGES[name], journal)
    assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end)


# found by reads, and not listed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["snapshot/snapshot-3", "snapshot/snapshot-5", "snapshot/snapshot-2", "branch/branch-b/snapshot/snapshot-4"],
)
def test_a_snapshot_that_its_neighbours_or_a_hint_name_is_known_though_never_listed(path: str, stage: Stage) -> None:
    stage.fresh()
    (stage.root / "branch/branch-b/snapshot/LATEST").write_bytes(b"4")
    true = lying_table(stage.root, Lies()).heads()
    assert path in true.references
    found = lying_table(stage.root, Lies(behind=hidden(path))).heads()
    assert found.references == true.references


@pytest.mark.parametrize("path", ["snapshot/snapshot-5", "snapshot/snapshot-4"])
def test_the_oldest_snapshot_that_stays_is_hinted_at_though_never_listed(path: str, stage: Stage) -> None:
    """The hint used to be deleted or moved past it, so that the next expiry by an engine left it out."""
    count = 6 - int(path[-1])
    change, journal = Expire(retain_max=count, retain_min=count), stage.fresh()
    go(lying_table(stage.root, Lies(behind=hidden(path))), change, journal)
    assert (stage.root / path).is_file()
    assert (stage.root / "snapshot/EARLIEST").read_text() == path[-1]


def test_a_hint_goes_on_naming_a_newest_snapshot_that_is_never_listed(stage: Stage) -> None:
    """Readers know the snapshot by this hint alone, unless it was deleted or cannot be found."""
    stage.fresh()
    hint, path = "snapshot/LATEST", "snapshot/snapshot-5"
    store = lying_store(stage.root, Lies(behind=hidden(path)))
    publish.repair_hint(store, hint)
    assert store.read(hint) == b"5"
    publish.repair_hint(store, hint, deleted=[path])
    assert store.read(hint) == b"4"
    store.put(hint, b"7")
    publish.repair_hint(store, hint)
    assert store.read(hint) == b"4"


def test_a_changelog_between_others_and_the_snapshots_is_known_though_never_listed(stage: Stage) -> None:
    stage.fresh()
    held_by_all(stage.root)
    for number in (2, 3):
        os.rename(stage.root / f"snapshot/snapshot-{number}", stage.root / f"changelog/changelog-{number}")
    true = lying_table(stage.root, Lies()).heads()
    for number in (2, 3):
        found = lying_table(stage.root, Lies(behind=hidden(f"changelog/changelog-{number}"))).heads()
        assert found.references == true.references
    assert [each.id for each in true.main.changelogs] == [1, 2, 3]


def test_a_schema_that_a_snapshot_names_is_known_though_never_listed(stage: Stage) -> None:
    stage.fresh()
    true = lying_table(stage.root, Lies()).heads()
    found = lying_table(stage.root, Lies(behind=hidden("schema/schema-0"))).heads()
    assert found.references == true.references


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_metadata_that_is_never_listed_is_held_all_the_same(change: Change, stage: Stage) -> None:
    """Lists and manifests are missing from listings, one at a time: each is read anyway, or nothing is deleted."""
    end, documents, _ = end_of_a_clean_run(stage, change)
    stage.fresh()
    needed = sorted(path for path in ground.files(stage.root) if path.startswith(("manifest/", "statistics/")))
    for path in sample(needed, 8):
        journal, _ = attempt(stage, change, Lies(behind=hidden(path)))
        finish(stage.root, change, journal)
        assert (ground.references(stage.root), ground.disk(stage.root)) == (documents, end), path


def test_a_rollback_that_its_commit_would_refuse_makes_no_tag_first(stage: Stage) -> None:
    """On an object store, other engines' writers coordinate with a lock that we do not know."""
    journal = stage.fresh()
    table = lying_table(stage.root, Lies())
    plan = table.preview(Rollback("tag:kept"), NOW)
    assert any("was committed by another engine" in each.text for each in plan.warnings)
    before = ground.disk(stage.root)
    with pytest.raises(Unsupported, match="coordinates writers with its catalog's lock"):
        apply(table, plan, settle_s=0, journal=journal)
    assert ground.disk(stage.root) == before
    assert journal.runs() == []
