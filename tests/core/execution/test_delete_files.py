"""Deletions on a store far away: many by one request, and the outcome of each file is known."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest

from core.errors import Corrupt
from core.execution import delete_files, recovery
from core.execution import journal as journals
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.formats.table_format import Examined
from core.model import codes
from core.model.actions import Change, Expire
from core.model.history import HistorySummary
from core.storage.store import Store
from core.table import Table, open_table
from tests.support import memory_s3
from tests.support.builders import TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, MortalJournal
from tests.support.formats.paimon.tables import four_commits

PLACE = f"s3://{memory_s3.BUCKET}/t"
EXPIRE = Expire(retain_max=1, retain_min=1)
REFERENCES = ("snapshot/", "tag/", "branch/", "changelog/", "schema/")


@dataclass
class Lake:
    """A table on the server, and what a run of its plan must delete."""

    server: memory_s3.Server
    objects: dict[str, bytes]

    def run(self, change: Change = EXPIRE, **how: object) -> Receipt:
        table = open_table(PLACE)
        plan = table.preview(change, ground.LATE_MS)
        self.planned = frozenset(plan.frees["path"].to_pylist())
        self.removed = frozenset(path for path, _ in plan.removes)
        self.files = self.planned - self.removed
        assert len(self.files) >= 20
        self.server.taken()
        return apply(table, plan, settle_s=0, **how)  # type: ignore[arg-type]

    def left(self) -> frozenset[str]:
        """The planned files that still exist; everything else must."""
        found = {name.removeprefix("t/") for name in self.server.objects}
        before = {name.removeprefix("t/") for name in self.objects}
        hints = {each for each in found ^ before if each.endswith(("/LATEST", "/EARLIEST"))}
        assert before - found - hints <= self.planned | self.removed
        assert found - before - hints == set()
        return self.planned & found


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    root = ground.small_table(ground.warehouse(tmp_path)).root
    objects = {f"t/{path}": (root / path).read_bytes() for path in ground.disk(root)}
    shutil.rmtree(root)
    with memory_s3.serving(objects) as server:
        server.lead(monkeypatch)
        yield Lake(server, objects)


def of_files(lake: Lake) -> list[str]:
    """The methods of the requests that deleted files: after the hint was written, when all references are deleted."""
    taken = lake.server.taken()
    begin = max((at for at, (method, _) in enumerate(taken) if method == "PUT"), default=0)
    return [
        method
        for method, target in taken[begin:]
        if method == "POST" or (method == "DELETE" and not target.partition("/t/")[2].startswith(REFERENCES))
    ]


def test_the_files_of_a_batch_are_deleted_by_one_request(lake: Lake) -> None:
    receipt = lake.run()
    assert receipt.is_exact
    assert set(receipt.deleted) == lake.planned
    assert of_files(lake) == ["POST"]
    assert lake.left() == frozenset()


def test_a_refused_file_is_named_and_the_run_can_be_resumed(lake: Lake) -> None:
    """In the answer to the one request: the others are deleted all the same."""
    lake.server.refuses = frozenset(name for name in lake.objects if name.endswith(".parquet"))
    receipt = lake.run()
    refused = {path for path in lake.planned if path.endswith(".parquet")}
    assert refused
    assert refused != lake.planned
    assert receipt.outcome == "incomplete"
    assert {path for path, why in receipt.kept_back if "AccessDenied" in why.text} == refused
    assert {str(each.values["path"]) for each in receipt.problems} == refused
    assert set(receipt.deleted) == lake.planned - refused
    assert lake.left() == refused
    lake.server.refuses = frozenset()
    again = recovery.resume(receipt.run, open_table=open_table, settle_s=0)
    assert (again.outcome, frozenset(again.deleted), lake.left()) == ("done", lake.planned, frozenset())


def test_a_refused_reference_does_not_let_the_error_say_that_nothing_was_changed(lake: Lake) -> None:
    """Others are deleted at the same time or before it."""
    lake.server.refuses = frozenset({"t/snapshot/snapshot-2"})
    with pytest.raises(Corrupt, match="AccessDenied") as refused:
        lake.run()
    assert {name for name in lake.objects if "/snapshot-" in name} - {*lake.server.objects}
    assert "nothing was changed" not in str(refused.value)


def test_a_server_that_knows_no_bulk_requests_is_asked_file_by_file(lake: Lake) -> None:
    answer = lake.server.answer
    lake.server.answer = lambda method, *rest: (  # type: ignore[method-assign]
        (501, [], b"<Error><Code>NotImplemented</Code></Error>") if method == "POST" else answer(method, *rest)
    )
    assert lake.run().is_exact
    assert of_files(lake).count("DELETE") == len(lake.files)
    assert lake.left() == frozenset()


@pytest.fixture
def unrepeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients ask once: their repeats only take time where no answer ever comes."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)


@pytest.mark.usefixtures("unrepeated")
def test_a_batch_whose_answer_is_lost_is_not_reported_as_kept(lake: Lake) -> None:
    lake.server.loses = lambda method, target: method == "POST"
    receipt = lake.run()
    assert receipt.is_exact
    assert lake.left() == frozenset()


@pytest.mark.usefixtures("unrepeated")
def test_a_file_whose_answer_is_lost_is_found_to_be_deleted(lake: Lake) -> None:
    """Each single request was done, and no answer ever came: it was reported as not deleted."""
    lake.server.loses = lambda method, target: method in ("POST", "DELETE") and "/t/snapshot/" not in target
    receipt = lake.run()
    assert receipt.is_exact
    assert lake.left() == frozenset()


def test_a_file_that_the_store_does_not_find_to_delete_but_has_is_not_reported_as_gone(lake: Lake) -> None:
    answer, paths = lake.server.answer, [name for name in lake.objects if name.endswith(".parquet")]
    none = b"<Error><Code>NoSuchKey</Code><Message>No.</Message></Error>"
    lake.server.refuses = frozenset(paths)
    lake.server.answer = lambda method, target, *rest: (  # type: ignore[method-assign]
        (404, [], none) if method == "DELETE" and target.endswith(".parquet") else answer(method, target, *rest)
    )
    receipt = lake.run()
    refused = {path for path in lake.planned if path.endswith(".parquet")}
    assert receipt.outcome == "incomplete"
    assert {
        path for path, why in receipt.kept_back if why.code == codes.NOT_DELETED and "it is there" in why.text
    } == refused
    assert lake.left() == refused
    lake.server.answer, lake.server.refuses = answer, frozenset()  # type: ignore[method-assign]
    again = recovery.resume(receipt.run, open_table=open_table, settle_s=0)
    assert (again.outcome, frozenset(again.deleted), lake.left()) == ("done", lake.planned, frozenset())


def test_a_run_killed_between_batches_is_resumed_with_what_is_left(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal has the first batch; the second was deleted and the process died before it was recorded."""
    monkeypatch.setattr(delete_files, "BATCH", 6)

    class Second(Life):
        def effect(self, what: str) -> None:
            if what == f"journal: entry {journals.SWEPT}" and f"journal: written {journals.SWEPT}" in self.log:
                self.left = len(self.log)
            super().effect(what)

    with pytest.raises(Death):
        lake.run(journal=MortalJournal(Journal().path, Second()))
    asked = of_files(lake)
    assert asked == ["POST", "POST"]
    run = Journal().open_run(PLACE)
    assert run is not None
    assert not run.can_undo
    assert len(lake.left()) == len(lake.files) - 12
    known = Journal().deleted(run.id)
    assert len(lake.planned.intersection(known) - lake.removed) == 6
    receipt = recovery.resume(run.id, open_table=open_table, settle_s=0)
    assert of_files(lake) == ["POST"] * -(-(len(lake.files) - 6) // 6)
    assert (receipt.outcome, frozenset(receipt.deleted), lake.left()) == ("done", lake.planned, frozenset())


def test_a_file_that_others_deleted_is_not_reported_as_reclaimed(lake: Lake) -> None:
    """S3 says of an object that does not exist that it deleted it."""
    planned = open_table(PLACE).preview(EXPIRE, ground.LATE_MS).frees.to_pylist()
    theirs = next(each for each in planned if each["path"].endswith(".parquet"))

    def acts() -> None:
        del lake.server.objects[f"t/{theirs['path']}"]
        lake.server._names = None

    with ground.while_settling(acts):
        receipt = lake.run()
    assert receipt.outcome == "done"
    assert [(path, why.code.name) for path, why in receipt.kept_back] == [(theirs["path"], "gone-already")]
    assert set(receipt.deleted) == lake.planned - {theirs["path"]}
    assert receipt.freed_bytes == sum(each["bytes"] for each in planned) - theirs["bytes"]
    assert lake.left() == frozenset()


def test_a_run_is_cancelled_between_batches(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete_files, "BATCH", 6)
    seen: list[tuple[int, int]] = []
    receipt = lake.run(progress=lambda done, of: seen.append((done, of)), cancelled=lambda: len(seen) == 2)
    assert receipt.outcome == "cancelled"
    assert len(lake.left()) == len(lake.files) - 12
    assert set(receipt.deleted) == lake.planned - lake.left()
    assert [done for done, _ in seen][:2] == [len(lake.removed & lake.planned) + each for each in (6, 12)]
    again = recovery.resume(receipt.run, open_table=open_table, settle_s=0)
    assert (again.outcome, lake.left()) == ("done", frozenset())


# references before each batch ----------------------------------------------------------------------------------------


def reads(lake: Lake) -> list[str]:
    """The references that were read since the last call."""
    found = [target.partition("/t/")[2] for method, target in lake.server.taken() if method == "GET"]
    return [each for each in found if each.startswith(REFERENCES) and not each.endswith(("LATEST", "EARLIEST"))]


def between_batches(lake: Lake, acts: Callable[[int], object]) -> Callable[[int, int], None]:
    """A progress that calls `acts` with the number of the batch that ended."""
    ended: list[int] = []

    def progress(done: int, of: int) -> None:
        ended.append(done)
        acts(len(ended))

    return progress


def test_references_that_listings_show_unchanged_are_read_once(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete_files, "BATCH", 6)
    seen: list[list[str]] = []
    assert lake.run(progress=between_batches(lake, lambda _: seen.append(reads(lake)))).is_exact
    assert len(seen) > 3
    kept = [path for path in seen[0] if path.startswith(("branch/", "schema/"))]  # the hint needs the others again
    assert len(kept) == len(set(kept)) >= 5
    assert seen[1:] == [[]] * (len(seen) - 1)


@pytest.mark.parametrize("tag", ['"0123456789abcdef0123456789abcdef"', '"0123456789abcdef0123456789abcdef-2"', None])
def test_references_of_a_store_whose_listings_show_no_checksum_are_read_before_each_batch(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tag: str | None
) -> None:
    """As with encryption by a key of KMS, where a tag looks like an MD5 and is none."""
    monkeypatch.setattr(delete_files, "BATCH", 6)
    listed = lake.server._listed

    def answer(asked: Mapping[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        status, headers, body = listed(asked)
        return status, headers, re.sub(b"<ETag>.*?</ETag>", f"<ETag>{tag}</ETag>".encode() if tag else b"", body)

    monkeypatch.setattr(lake.server, "_listed", answer)
    seen: list[list[str]] = []
    assert lake.run(progress=between_batches(lake, lambda _: seen.append(reads(lake)))).is_exact
    kept = {path for path in seen[1] if path not in lake.removed}
    assert len(kept) >= 3
    assert all(each.count(path) == 2 for each in seen[1:-1] for path in kept)


def test_a_tag_that_is_replaced_under_its_name_between_batches_keeps_its_files(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It now holds a snapshot that expired, some of whose files were not deleted yet."""
    monkeypatch.setattr(delete_files, "BATCH", 6)
    name = next(path for path in sorted(lake.objects) if path.startswith("t/tag/tag-"))
    old = lake.objects["t/snapshot/snapshot-7"]
    files: set[str] = set()

    def acts(batch: int) -> None:
        if batch == 1:
            files.update(lake.left())
            lake.server.objects[name] = old
            lake.server._names = None

    receipt = lake.run(Expire(retain_max=1, retain_min=1), progress=between_batches(lake, acts))
    held = {path for path, why in receipt.kept_back if why.code.name == "held-since"}
    assert held
    assert held == lake.left()
    assert receipt.outcome == "incomplete" or receipt.problems == ()


def test_a_name_that_xml_cannot_have_is_deleted_alone(lake: Lake) -> None:
    store = open_table(PLACE).store
    names = ["data/a b%20ä&<c>.parquet", "data/\x01.parquet"]
    for name in names:
        store.put(name, b"x")
    lake.server.taken()
    assert store.delete_together(dict.fromkeys([*names, "../x", "s3://lake/elsewhere/x"])) == {names[0]}
    assert [method for method, _ in lake.server.taken()] == ["POST"]
    assert f"t/{names[0]}" not in lake.server.objects
    assert store.delete(names[1])
    assert f"t/{names[1]}" not in lake.server.objects


# while files are judged -----------------------------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[TableBuilder, list[Callable[[], object]]]:
    """A table, and what happens once, right after files were judged for the first time in a sweep."""
    table = four_commits(tmp_path / "default.db" / "t")
    acts: list[Callable[[], object]] = []
    examine = Table.examine

    def examined(self: Table, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        found = examine(self, history, frees)
        if acts and not (table.root / "snapshot/snapshot-1").exists():
            acts.pop()()
        return found

    monkeypatch.setattr(Table, "examine", examined)
    return table, acts


def test_a_tag_that_is_created_meanwhile_keeps_its_files(
    judged: tuple[TableBuilder, list[Callable[[], object]]],
) -> None:
    """Of a version whose snapshot was removed, by somebody who had read it before."""
    table, acts = judged
    opened = open_table(str(table.root))
    plan = opened.preview(EXPIRE, ground.LATE_MS)
    acts.append(lambda: table.tag("late", 3))
    receipt = apply(opened, plan, settle_s=0)
    history = opened.history()
    assert not history.incomplete
    assert opened.missing_files(history, "tag:late") == []
    assert {why.code for _, why in receipt.kept_back} == {codes.HELD_SINCE}
    assert receipt.outcome == "done"


def test_a_run_that_is_cancelled_meanwhile_can_be_undone(
    judged: tuple[TableBuilder, list[Callable[[], object]]],
) -> None:
    table, acts = judged
    stopped = Event()
    opened = open_table(str(table.root))
    before = opened.heads().references
    plan = opened.preview(EXPIRE, ground.LATE_MS)
    acts.append(stopped.set)
    receipt = apply(opened, plan, settle_s=0, cancelled=stopped.is_set)
    assert receipt.outcome == "cancelled"
    assert all((table.root / path).exists() for path in plan.frees["path"].to_pylist() if "snapshot" not in path)
    assert Journal().run(receipt.run).can_undo
    recovery.undo(receipt.run, open_table=open_table)
    assert opened.heads().references == before


def test_writers_that_commit_tag_and_expire_meanwhile_do_not_hold_it_up(
    judged: tuple[TableBuilder, list[Callable[[], object]]],
) -> None:
    table, acts = judged
    opened = open_table(str(table.root))
    plan = opened.preview(EXPIRE, ground.LATE_MS)

    def act() -> None:
        table.commit([table.file(3_000)])
        table.tag(f"t{table._last_id}")
        acts.append(act)

    acts.append(act)
    assert apply(opened, plan, settle_s=0).outcome == "done"


def test_a_name_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    """It is in a directory of files to be deleted, and no manifest can name it."""
    table = four_commits(tmp_path / "default.db" / "t")
    odd = os.fsencode(table.root / "manifest") + b"/\xff.tmp"
    with open(odd, "wb"):
        pass
    opened = open_table(str(table.root))
    assert apply(opened, opened.preview(EXPIRE, ground.LATE_MS), settle_s=0).outcome == "done"
    assert os.path.exists(odd)


def test_a_client_that_repeats_a_request_does_not_hide_what_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of Google and Azure repeat a request to delete whose answer was lost, and then hear that there is no such
    file."""
    good = ground.warehouse(tmp_path / "good")
    ground.small_table(good)
    store = Store(f"memory://{tmp_path.name}")
    before = {path: (good / path).read_bytes() for path in ground.disk(good)}
    for path, content in before.items():
        store._fs.pipe_file(store.full(path), content)
    delete = store._fs.rm_file

    def repeated(path: str) -> None:
        delete(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(store._fs, "rm_file", repeated)
    table = ground.open_with(store)
    plan = table.preview(EXPIRE, ground.LATE_MS)
    receipt = apply(table, plan, settle_s=0)
    gone = {path for path in before if store.size(path) is None}
    assert gone >= set(plan.frees["path"].to_pylist())
    assert set(receipt.deleted) == gone
    assert set(Journal().deleted(receipt.run)) == gone
    assert receipt.is_exact
    assert receipt.kept_back == ()
