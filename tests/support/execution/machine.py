"""Random life cycles of a table: writers, tags, branches and rollbacks by other engines, our changes and their crashes.

The model is a dictionary from version to the set of files it holds, updated by simple rules for each step. After every
step the disk must match the model exactly (every file of every version exists, and nothing else was deleted), and
`set_model`, which reads the table independently, must find the same versions and files.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.errors import Conflict, Invalid
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.paimon.format import PaimonFormat
from core.formats.paimon.manifests import PaimonManifests
from core.model import codes
from core.model.actions import Change, CleanOrphans, CreateTag, DeleteTags, Expire, RenameTag, ReplaceTag
from core.model.plan import Plan
from core.storage.store import Store
from core.table import Table
from tests.support import builders, set_model
from tests.support.builders import HOUR_MS, START_MS, DataFile, TableBuilder
from tests.support.execution import ground
from tests.support.execution.dying import Death, Life, MortalJournal, MortalStore

Point = tuple[str, str, str]  # branch, "snapshot" or "tag", name
NUMBERS = st.integers(0, 1_000_000)
FEW = st.integers(0, 3)


@dataclasses.dataclass
class Crash:
    """A change that died: what it was going to do, and what others have created since under names that it was going to
    remove."""

    run: str
    plan: Plan
    made_since: set[str] = dataclasses.field(default_factory=set)


class TableLife(RuleBasedStateMachine):
    seen: ClassVar[Counter[str]] = Counter()
    """How often each kind of event occurred, over all life cycles."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="snapscope-life-"))
        self.merge_after = builders.MERGE_AFTER
        builders.MERGE_AFTER = 5  # so that manifests are merged, and versions do not share all of them
        self.crash: Crash | None = None
        self.views: dict[Point, frozenset[str]] = {}
        self.library: dict[bytes, Any] = {}  # bytes of every snapshot that ever existed → its commit
        self.loose: set[str] = set()
        self.named = 0
        self.late: set[str] = set()  # tags that another engine created during a grace period

    def teardown(self) -> None:
        builders.MERGE_AFTER = self.merge_after
        shutil.rmtree(self.directory)

    @initialize(partitions=st.booleans(), clean=st.booleans(), shapes=st.lists(NUMBERS, min_size=2, max_size=7))
    def create(self, partitions: bool, clean: bool, shapes: list[int]) -> None:
        root = ground.warehouse(self.directory)
        options = {"snapshot.clean-empty-directories": "true"} if clean else {}
        self.main = TableBuilder(root, partition_keys=["dt"] if partitions else [], options=options)
        self.partitions = [("2026-01-01",), ("2026-01-02",)] if partitions else [()]
        self.lines = {"main": self.main}
        self.manifests = PaimonManifests(Store(str(root)))  # kept throughout, because reused names must not confuse it
        self.journal = Journal(self.directory / "journal.sqlite")
        for shape in shapes:
            if shape % 4 == 0:
                self.compact(0, shape // 4)
            elif shape % 4 == 1:
                self.their_tag(0, shape)
            else:
                self.append(0, 1 + shape % 2, shape)

    # judges -------------------------------------------------------------------------------------------------------

    @invariant()
    def disk_is_what_the_model_says(self) -> None:
        held = frozenset().union(*self.views.values())
        on_disk = ground.files(self.main.root)
        assert held <= on_disk, f"lost: {sorted(held - on_disk)}"
        assert on_disk == held | self.loose, sorted(on_disk ^ (held | self.loose))
        assert not self.loose & held

    @invariant()
    def an_independent_reading_agrees(self) -> None:
        read = set_model.read(self.main.root).holders
        expected = {self.text(point): files | {self.document(point)} for point, files in self.views.items()}
        assert {point: holder.paths for point, holder in read.items()} == expected

    # names ---------------------------------------------------------------------------------------------------------

    def text(self, point: Point) -> str:
        branch, kind, name = point
        own = name if kind == "snapshot" else f"tag:{name}"
        return own if branch == "main" else f"branch:{branch}/{own}"

    def document(self, point: Point) -> str:
        branch, kind, name = point
        return f"{'' if branch == 'main' else f'branch/branch-{branch}/'}{kind}/{kind}-{name}"

    def line(self, number: int) -> TableBuilder:
        return list(self.lines.values())[number % len(self.lines)]

    def new_name(self) -> str:
        self.named += 1
        return f"n{self.named}"

    def table(self, life: Life | None = None) -> Table:
        place = str(self.main.root)
        return Table(PaimonFormat(Store(place) if life is None else MortalStore(place, life), self.manifests))

    def held(self) -> frozenset[str]:
        return frozenset().union(*self.views.values())

    def drop(self, points: list[Point]) -> None:
        """Remove versions that another engine deleted without freeing any file."""
        before = self.held()
        for point in points:
            del self.views[point]
        self.loose |= before - self.held()

    def put(self, line: TableBuilder, kind: str, name: str) -> None:
        """Add a reference that a writer or another engine created."""
        commit = line.commits[int(name)] if kind == "snapshot" else line.tags[name]
        point = (line.branch_name, kind, name)
        path = self.document(point)
        self.library[(self.main.root / path).read_bytes()] = commit
        self.views[point] = self.files_of(kind, commit)
        self.loose -= self.views[point]
        if self.crash:
            self.crash.made_since.add(path)

    @staticmethod
    def files_of(kind: str, commit: Any) -> frozenset[str]:
        return commit.paths | commit.changelog_paths if kind == "snapshot" else commit.paths

    # writers -------------------------------------------------------------------------------------------------------

    def commit(self, line: TableBuilder, adds: list[DataFile], deletes: list[DataFile], **fields: Any) -> None:
        self.put(line, "snapshot", str(line.commit(adds, deletes, **fields)))

    @rule(which=NUMBERS, shapes=st.lists(NUMBERS, min_size=1, max_size=3))
    def appends(self, which: int, shapes: list[int]) -> None:
        for shape in shapes:
            self.append(which, 1, shape)

    @rule(which=NUMBERS, count=st.integers(1, 3), shape=NUMBERS)
    def append(self, which: int, count: int, shape: int) -> None:
        line = self.line(which)
        partition = self.partitions[shape % len(self.partitions)]
        extra = (".index",) if shape % 3 == 0 else ()
        adds = [
            line.file(1_000 + shape % 997 + n, rows=1 + shape % 89 + n, partition=partition, extra=extra)
            for n in range(count)
        ]
        changelog = [line.file(50, rows=1, partition=partition, prefix="changelog-")] if shape % 4 == 0 else []
        index = [line.index_file(40 + shape % 7, partition=partition)] if shape % 5 == 0 else None
        self.commit(line, adds, [], changelog=changelog, index=index, statistics=shape % 6 == 0 and line is self.main)
        self.seen["commits"] += 1

    @rule(which=NUMBERS, shape=NUMBERS)
    def overwrite(self, which: int, shape: int) -> None:
        line = self.line(which)
        partition = self.partitions[shape % len(self.partitions)]
        gone = [file for file in line.live() if file.partition == partition]
        adds = [] if shape % 3 == 0 else [line.file(2_000 + shape % 991, rows=5 + shape % 83, partition=partition)]
        if gone or adds:
            self.commit(line, adds, gone, kind="OVERWRITE")
            self.seen["overwrites"] += 1

    @rule(which=NUMBERS, shape=NUMBERS)
    def compact(self, which: int, shape: int) -> None:
        line = self.line(which)
        partition = self.partitions[shape % len(self.partitions)]
        gone = [file for file in line.live() if file.partition == partition]
        if not gone:
            return
        if shape % 2:  # an upgrade: the same file at the next level
            upgraded = [dataclasses.replace(file, level=file.level + 1) for file in gone[:2]]
            self.commit(line, upgraded, gone[:2], kind="COMPACT")
            self.seen["upgrades"] += 1
        else:
            rows = sum(file.rows for file in gone)
            packed = line.file(3_000 + shape % 983, rows=rows, partition=partition, source=1, level=gone[0].level)
            self.commit(line, [packed], gone, kind="COMPACT")
            self.seen["compactions"] += 1

    # other engines ---------------------------------------------------------------------------------------------------

    @rule(which=NUMBERS, snapshot=NUMBERS)
    def their_tag(self, which: int, snapshot: int) -> None:
        line = self.line(which)
        if line.commits:
            name, number = self.new_name(), sorted(line.commits)[snapshot % len(line.commits)]
            line.tag(name, number)
            self.put(line, "tag", name)
            self.seen["their tags"] += 1

    @precondition(lambda self: len(self.lines) < 3 and self.main.tags)
    @rule(which=NUMBERS)
    def branch(self, which: int) -> None:
        tag = sorted(self.main.tags)[which % len(self.main.tags)]
        name = f"b{len(self.lines)}{self.new_name()}"
        made = self.lines[name] = self.main.branch(name, tag)
        (number,) = made.commits
        if number not in self.main.commits:  # an expired snapshot's changelog is gone, including its list
            self.without_changelog(made, number, made.tags[tag])
        self.put(made, "tag", tag)
        self.put(made, "snapshot", str(number))
        self.seen["branches"] += 1

    @rule(which=NUMBERS, to=NUMBERS)
    def roll_back(self, which: int, to: int) -> None:
        """Roll back to a snapshot or tag: newer snapshot and tag files are deleted, data is not, and ids are reused."""
        line = self.line(which)
        expired = self.expired_tags(line)
        if expired and to % 3 == 0:
            self.roll_back_to(line, expired[to % len(expired)])
        elif len(line.commits) > 1:
            self.roll_back_to(line, sorted(line.commits)[-2 - to % min(3, len(line.commits) - 1)])

    @staticmethod
    def expired_tags(line: TableBuilder) -> list[str]:
        first = min(line.commits, default=0)
        return sorted(name for name, made in line.tags.items() if made.document["id"] < first)

    def roll_back_to(self, line: TableBuilder, to: int | str) -> None:
        made = line.tags[to] if isinstance(to, str) else line.commits[to]
        number = int(made.document["id"])
        above = sorted((each for each in line.commits if each > number), reverse=True)
        newer = [name for name, each in line.tags.items() if each.document["id"] > number]
        for each in above:
            (line.path / f"snapshot/snapshot-{each}").unlink()
            del line.commits[each]
        for name in newer:
            (line.path / f"tag/tag-{name}").unlink()
            del line.tags[name]
        if isinstance(to, str):
            self.without_changelog(line, number, made)
            self.put(line, "snapshot", str(number))
            line.hints(earliest=number)
            self.seen["rollbacks to expired tags"] += 1
        elif self.crash:
            self.crash.made_since.add(f"a rollback to {number}")
        line._last, line._last_id = line.commits[number], number
        line.hints(latest=number)
        branch = line.branch_name
        self.drop([(branch, "snapshot", str(each)) for each in above] + [(branch, "tag", name) for name in newer])
        self.seen["rollbacks"] += 1

    @staticmethod
    def without_changelog(line: TableBuilder, number: int, tagged: Any) -> None:
        document = {**tagged.document, "changelogManifestList": None}
        line.commits[number] = dataclasses.replace(tagged, document=document, changelog_paths=frozenset())
        line._json(f"snapshot/snapshot-{number}", document)

    @rule(which=NUMBERS, reads=NUMBERS)
    def consumer(self, which: int, reads: int) -> None:
        line = self.line(which)
        if line.commits:
            if reads % 3:
                (line.path / "consumer/consumer-c").unlink(missing_ok=True)
            else:
                line.consumer("c", max(line.commits) - reads % 5)
                self.seen["consumers"] += 1

    @rule(which=NUMBERS, kind=FEW)
    def leftovers(self, which: int, kind: int) -> None:
        """Leave files behind as a crashed writer does."""
        line = self.line(which)
        if kind == 0:
            made = line.file(123, partition=self.partitions[0], extra=(".index",))
            paths = line._paths_of(made)
        elif kind == 1:
            paths = [f"index/{line.index_file(77).name}"]
        else:
            never = line.file(99, write=False, partition=self.partitions[0])
            paths = [f"manifest/{line._manifest([(0, never)])['_FILE_NAME']}"]
        self.loose |= set(paths)
        self.seen["leftovers"] += 1

    # ours ----------------------------------------------------------------------------------------------------------

    @rule(
        which=NUMBERS, most=st.integers(1, 5), least=st.integers(1, 3), age_h=st.sampled_from([0, 0, 1, 4]),
        at_most=st.sampled_from([None, None, 1, 2]), tag=NUMBERS, dies=st.none() | st.integers(0, 40),
        is_late=st.booleans(),
    )  # fmt: skip
    def expire(
        self,
        which: int,
        most: int,
        least: int,
        age_h: int,
        at_most: int | None,
        tag: int,
        dies: int | None,
        is_late: bool,
    ) -> None:
        line = self.line(which)
        names = sorted(line.tags)
        dropped = (names[tag % len(names)],) if names and tag % 2 else ()
        change = Expire(
            branch=line.branch_name, retain_max=max(most, least), retain_min=least, time_retained_ms=age_h * HOUR_MS,
            max_deletes=at_most, drop_tags=dropped,
        )  # fmt: skip
        retained = sorted(line.commits)
        plan = self.change(line, change, dies, is_late=is_late)
        if plan is None:
            return
        snapshots = (path.rpartition("snapshot/snapshot-") for path, _ in plan.removes)
        goes = sorted(int(number) for _, kind, number in snapshots if kind)
        assert goes == retained[: len(goes)], "only a prefix goes"
        assert len(retained) - len(goes) >= min(least, len(retained)), "the newest stay"
        self.seen["expiries"] += 1
        self.seen["snapshots expired"] += len(goes)

    @rule(
        which=NUMBERS, tag=NUMBERS, count=st.integers(1, 2), dies=st.none() | st.integers(0, 30), is_late=st.booleans()
    )
    def delete_tags(self, which: int, tag: int, count: int, dies: int | None, is_late: bool) -> None:
        line = self.line(which)
        names = sorted(line.tags)
        if names:
            chosen = tuple(dict.fromkeys(names[(tag + n) % len(names)] for n in range(count)))
            self.change(line, DeleteTags(chosen, line.branch_name), dies, is_late=is_late)
            self.seen["tags deleted"] += 1

    @rule(which=NUMBERS, tag=NUMBERS, snapshot=NUMBERS, kind=FEW, dies=st.none() | st.integers(0, 20))
    def our_tags(self, which: int, tag: int, snapshot: int, kind: int, dies: int | None) -> None:
        line = self.line(which)
        numbers, names = sorted(line.commits), sorted(line.tags)
        if not numbers:
            return
        number = numbers[snapshot % len(numbers)]
        change: Change = CreateTag(self.new_name(), number, branch=line.branch_name)
        if kind == 1 and names:
            change = RenameTag(names[tag % len(names)], self.new_name(), line.branch_name)
        elif kind >= 2 and names:
            change = ReplaceTag(names[tag % len(names)], number, branch=line.branch_name)
        self.change(line, change, dies)
        self.seen["our tags"] += 1

    @rule(dies=st.none() | st.integers(0, 20))
    def clean_orphans(self, dies: int | None) -> None:
        ground.age(self.main.root, self.loose, START_MS / 1000)
        plan = self.change(self.main, CleanOrphans(older_than_ms=START_MS + 1), dies)
        if plan is not None:
            self.seen["orphans cleaned"] += len(plan.frees)

    def change(self, line: TableBuilder, change: Change, dies: int | None, *, is_late: bool = False) -> Plan | None:
        """Plan and run a change; None if an unfinished run prevents it. Checks the plan and the result against the
        model.

        `is_late`: an engine that read an expiring snapshot earlier publishes a tag on it after all references were
        removed.
        """
        now = max(each.next_ms for each in self.lines.values()) + HOUR_MS
        life = Life()
        table = self.table(life)
        plan = table.preview(change, now)
        self.judge(plan)
        if self.crash is not None:
            if isinstance(change, CreateTag | RenameTag):
                return None
            with_refusal = Journal(self.journal.path)
            try:
                apply(table, plan, settle_s=0, journal=with_refusal)
            except Conflict as refused:
                assert self.crash.run in str(refused)
                self.seen["refused meanwhile"] += 1
                return None
            raise AssertionError("an unfinished run was overlooked")
        life.left = dies
        before, references = ground.disk(self.main.root), ground.references(self.main.root)
        self.late.clear()

        def tag_late() -> None:
            if is_late and not life.is_over:
                name = self.new_name()
                path = line.path / f"tag/tag-{name}"
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(plan.removes[0][1])
                self.late.add(path.relative_to(self.main.root).as_posix())
                self.seen["late tags"] += 1

        try:
            with ground.while_settling(tag_late):
                receipt = apply(table, plan, settle_s=0, journal=MortalJournal(self.journal.path, life))
        except Death:
            unfinished = self.journal.open_run(table.location)
            self.follow(plan, references, before)
            if unfinished is not None:
                self.crash = Crash(unfinished.id, plan)
                self.seen["crashes"] += 1
            return plan
        vanished = before - ground.disk(self.main.root)
        planned = {plan_source(plan)} if isinstance(change, RenameTag) else set(plan.frees["path"].to_pylist())
        assert receipt.outcome == "done"
        assert set(receipt.deleted) == vanished
        self.follow(plan, references, before)
        assert vanished == planned - self.held()
        assert {path for path, _ in receipt.kept_back} == planned & self.held()
        return plan

    def going(self, plan: Plan) -> list[Point]:
        goes = {verdict.point for verdict in plan.deleted_points}
        return [point for point in self.views if self.text(point) in goes]

    def judge(self, plan: Plan) -> None:
        """Check that a plan frees exactly what only the expiring versions hold; for orphans, what nothing holds."""
        goes = self.going(plan)
        assert len(goes) == len(plan.deleted_points)
        frees = set(plan.frees["path"].to_pylist())
        if isinstance(plan.change, CleanOrphans):
            left = {path.partition("/bucket-")[0] for path in self.loose - frees}  # in no metadata
            assert frees <= self.loose
            assert not [path for path in self.held() if path.partition("/bucket-")[0] in left]
            assert not left or codes.PARTITIONS_STAY in [each.code for each in plan.warnings]
        else:
            stays = frozenset().union(*(files for point, files in self.views.items() if point not in goes))
            held = frozenset().union(*(self.views[point] for point in goes))
            expected = (held - stays) | ({self.document(point) for point in goes} - set(plan.leaves))
            assert frees == expected, sorted(frees ^ expected)
        assert plan.freed_bytes == sum((self.main.root / path).stat().st_size for path in frees)
        self.seen["freed files planned"] += len(frees)

    def follow(self, plan: Plan, before: dict[str, bytes], files: frozenset[str]) -> None:
        """Update the model after a complete or interrupted change to references; fails if it did anything that is not
        allowed."""
        now = ground.references(self.main.root)
        removes = dict(plan.removes)
        may_change = {*removes, *plan.leaves, *self.late} | (
            {plan_source(plan)} if isinstance(plan.change, RenameTag) else set()
        )
        changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        assert changed <= may_change, sorted(changed - may_change)
        assert plan.source is None or {now[p] for p in changed if p in now} <= {plan.source.content, *removes.values()}
        held = self.held()
        for name, line in self.lines.items():
            prefix = line.path.relative_to(self.main.root).as_posix() + "/" if name != "main" else ""
            line.commits = self.commits_of(now, f"{prefix}snapshot/snapshot-", int)
            line.tags = self.commits_of(now, f"{prefix}tag/tag-", str)
            assert line._last is None or line._last_id in line.commits, "a line keeps its newest snapshot"
        self.views = {
            (name, kind, str(each)): self.files_of(kind, commit)
            for name, line in self.lines.items()
            for kind, commits in (("snapshot", line.commits), ("tag", line.tags))
            for each, commit in commits.items()
        }
        gone = {path for path in files if not (self.main.root / path).exists()}
        assert gone <= {*plan.frees["path"].to_pylist(), *may_change}
        self.loose = (self.loose | held) - self.held() - gone

    def commits_of(self, references: dict[str, bytes], prefix: str, key: Any) -> dict[Any, Any]:
        found = {
            key(path.removeprefix(prefix)): content for path, content in references.items() if path.startswith(prefix)
        }
        return {name: self.library[found[name]] for name in sorted(found)}

    # after a crash ---------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.crash is not None)
    @rule(which=NUMBERS, kind=FEW)
    def grab(self, which: int, kind: int) -> None:
        """Let others use what a dead run was going to remove, or reuse its names."""
        assert self.crash is not None
        line = self.lines[self.crash.plan.change.branch]
        going = [point for point in self.going(self.crash.plan) if point[0] == line.branch_name]
        snapshots = [int(name) for _, what, name in going if what == "snapshot" and int(name) in line.commits]
        expired = self.expired_tags(line)
        if kind == 0 and snapshots:
            name = self.new_name()
            line.tag(name, snapshots[which % len(snapshots)])
            self.put(line, "tag", name)
        elif kind == 1 and snapshots:
            self.roll_back_to(line, snapshots[which % len(snapshots)])
        elif expired:
            self.roll_back_to(line, expired[which % len(expired)])
        else:
            return
        self.seen["grabbed after a crash"] += 1

    @precondition(lambda self: self.crash is not None)
    @rule(dies=st.none() | st.integers(0, 20), which=NUMBERS, grabs=st.none() | FEW)
    def resume(self, dies: int | None, which: int, grabs: int | None) -> None:
        assert self.crash is not None
        if grabs is not None:
            self.grab(which, grabs)
        crash, life = self.crash, Life(dies)
        references, files = ground.references(self.main.root), ground.disk(self.main.root)
        try:
            receipt = recovery.resume(
                crash.run, open_table=lambda _: self.table(life), settle_s=0,
                journal=MortalJournal(self.journal.path, life),
            )  # fmt: skip
        except Death:
            self.seen["crashes in a resume"] += 1
            self.crash = crash if self.journal.run(crash.run).is_open else None
        except Conflict:
            assert isinstance(crash.plan.change, CreateTag | RenameTag | ReplaceTag), "only a tag meets another"
            assert crash.made_since
            self.seen["resumes refused"] += 1
        else:
            assert receipt.outcome == "done"
            self.seen["resumed"] += 1
            self.crash = None
        self.others_are_safe(crash, references)
        self.follow(crash.plan, references, files)
        if self.crash is None:
            left = ground.files(self.main.root) & set(crash.plan.frees["path"].to_pylist())
            assert left <= self.held(), "everything planned is gone unless somebody holds it"
        self.ended(crash.run)

    @precondition(lambda self: self.crash is not None)
    @rule(dies=st.none() | st.integers(0, 10), which=NUMBERS, grabs=st.none() | FEW)
    def undo(self, dies: int | None, which: int, grabs: int | None) -> None:
        assert self.crash is not None
        if grabs is not None:
            self.grab(which, grabs)
        crash, life = self.crash, Life(dies)
        references, files = ground.references(self.main.root), ground.disk(self.main.root)
        can = self.journal.run(crash.run).can_undo
        try:
            recovery.undo(
                crash.run, open_table=lambda _: self.table(life), journal=MortalJournal(self.journal.path, life)
            )
        except Death:
            self.seen["crashes in an undo"] += 1
            self.crash = crash if self.journal.run(crash.run).is_open else None
        except Invalid:
            assert not can
        except Conflict:
            assert crash.made_since
            self.seen["undos refused"] += 1
        else:
            assert can
            self.seen["undone"] += 1
            self.crash = None
            if not crash.made_since:
                now = ground.references(self.main.root)
                assert {path: now.get(path) for path, _ in crash.plan.removes} == dict(crash.plan.removes)
        assert newest(ground.references(self.main.root)) == newest(references), (
            "nothing that was brought back is the newest"
        )
        assert ground.files(self.main.root) == {path for path in files if path in ground.files(self.main.root)}
        self.others_are_safe(crash, references)
        self.follow(crash.plan, references, files)
        self.ended(crash.run)

    def others_are_safe(self, crash: Crash, before: dict[str, bytes]) -> None:
        """Check that what others created since, under a name in the plan, is untouched, unless it is the planned
        document itself."""
        now = ground.references(self.main.root)
        planned = dict(crash.plan.removes)
        own = {crash.plan.source.content} if crash.plan.source else set()
        for path in crash.made_since & before.keys():
            if before[path] != planned.get(path) and before[path] not in own:
                assert now.get(path) == before[path], path

    def ended(self, run: str) -> None:
        self.journal.verify()
        assert self.journal.run(run).is_open is (self.crash is not None)


def newest(references: Iterable[str]) -> dict[str, int]:
    """Return the highest id of every branch, by its snapshot directory."""
    found: dict[str, int] = {}
    for path in references:
        directory, name, number = path.rpartition("snapshot-")
        if name and number.isdecimal() and directory.endswith("snapshot/"):
            found[directory] = max(found.get(directory, 0), int(number))
    return found


def plan_source(plan: Plan) -> str:
    assert isinstance(plan.change, RenameTag)
    prefix = "" if plan.change.branch == "main" else f"branch/branch-{plan.change.branch}/"
    return f"{prefix}tag/tag-{plan.change.name}"
