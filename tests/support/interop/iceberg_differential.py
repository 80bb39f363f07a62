"""Compares our results on a random history of an Iceberg table with those of Iceberg's Java core.

Invariant: they are equal, except for proven differences. Java skips a delete file whose bounds show that it deletes
nothing in a data file. For a time, it uses the last listed entry of a log that is not in order. On a linear history,
its plain expiry deletes a Puffin file together with the first of its vectors, even if another one is live.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from core.analysis.diff import diff
from core.errors import Invalid, NotFound
from core.execution.apply import apply
from core.formats.iceberg import expiration_dates, retention
from core.formats.iceberg import references as iceberg_heads
from core.formats.iceberg.file_paths import TableLocation
from core.formats.iceberg.format import IcebergFormat
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.plan import expiry as refs
from core.formats.iceberg.plan.expiry import preview
from core.messages import code_names
from core.model.actions import Expire
from core.model.history import History as Held
from core.model.lineage import members
from core.model.plan import Plan
from core.model.references import Heads, HolderKind, ObjectKind
from core.storage.store import Store
from core.table import open_table, resolve
from core.units import several
from tests.engines.iceberg_java import EngineError, IcebergJudge
from tests.support.iceberg_scan import scan
from tests.support.iceberg_tables import read_avro
from tests.support.interop.iceberg_history import DAY_MS, History, requests, times

PATH_ID, POSITION_ID = 2147483546, 2147483545
"""The columns of a position delete file."""


@dataclass
class Beside:
    """A history as we and the engine see it."""

    judge: IcebergJudge
    history: History
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def state(self) -> dict[str, Any]:
        return self.judge.state(self.history.address)

    @cached_property
    def heads(self) -> Heads:
        return open_table(self.history.address).heads()

    @cached_property
    def found(self) -> Metadata:
        return iceberg_heads.read(Store(str(self.history.table)))[1]

    @cached_property
    def held(self) -> Held:
        return open_table(self.history.address).history(self.heads)

    @cached_property
    def place(self) -> TableLocation:
        return TableLocation.of(Store(str(self.history.table)), self.found.location, self.found.properties)

    def paths(self, paths: Iterable[str]) -> set[str]:
        return {self.place.path(path) for path in paths}

    @cached_property
    def points(self) -> dict[int, int]:
        """Positions by snapshot id."""
        return {
            int(holder.name): at for at, holder in enumerate(self.held.holders) if holder.kind is HolderKind.SNAPSHOT
        }

    @cached_property
    def reached(self) -> dict[int, dict[str, int]]:
        """Size by path of the files that each snapshot reaches, including statistics, according to the engine."""
        found = self.judge.files(self.history.address)
        every = {
            id: {path: size for kind in kinds.values() for path, size in kind.items()} for id, kinds in found.items()
        }
        for id, path, size in (*self.state["statistics"], *self.state["partition_statistics"]):
            every[id][path] = size
        return {id: {self.place.path(path): size for path, size in files.items()} for id, files in every.items()}

    # What there is.

    def compare_heads(self) -> None:
        state = self.state
        assert open_table(str(self.history.table)).heads().references == self.heads.references, "either spelling is it"
        assert {each.id for line in self.heads.lines for each in line.snapshots} == {
            each["id"] for each in state["snapshots"]
        }
        assert [list(entry) for entry in self.heads.pointer or ()] == state["log"]
        ours = {
            ref.name: {
                "snapshot": ref.snapshot_id,
                "type": "branch" if ref.is_branch else "tag",
                "min_snapshots_to_keep": ref.min_snapshots,
                "max_snapshot_age_ms": ref.max_snapshot_age_ms,
                "max_ref_age_ms": ref.max_ref_age_ms,
            }
            for ref in self.heads.refs
        }
        assert ours == state["refs"]
        known = members(self.heads)
        for each in state["snapshots"]:
            own = known[each["id"]]
            assert (own.parent_id, own.time_ms, own.commit_identifier) == (each["parent"], each["ms"], each["sequence"])
            assert own.schema_id == (self.state["schema"] if each["schema"] is None else each["schema"])
        self.counts["snapshots"] += len(known)

    def compare_old_metadata(self) -> None:
        """Check the deletion of old metadata by the last commit against our forecast from the previous one."""
        if len(self.state["metadata_log"]) < 1:
            return
        before = self.state["metadata_log"][-1][1]
        was = self.judge.state(None, metadata=before)
        named = {file for _, file in was["metadata_log"]}
        gone = named - {file for _, file in self.state["metadata_log"]}
        foretold = retention.old_metadata(open_table(before).heads())
        there = {str(path) for path in self.history.table.glob("metadata/*.json")}
        if self.state["properties"].get(retention.DELETE_OLD) != "true":
            assert foretold == ()
            assert {_local(file) for file in gone} <= there
        else:
            assert set(foretold) == gone
            assert not {_local(file) for file in gone} & there
        self.counts["old metadata"] += len(gone)

    # As of.

    def compare_as_of(self) -> None:
        asked = times(self.state)
        log = self.state["log"]
        for time_ms, answer in zip(asked, self.judge.as_of(self.history.address, asked), strict=True):
            if isinstance(answer, str):
                with pytest.raises(NotFound, match="it starts at" if log else "snapshot-log is empty"):
                    resolve(self.heads, f"time:{time_ms}")
                self.counts["times before all"] += 1
                continue
            ours = resolve(self.heads, f"time:{time_ms}")
            assert ours.engine == answer, (self.history.table.name, time_ms)
            if ours.snapshot.id != answer:
                later = max(ms for ms, _ in log if ms <= time_ms)
                assert [id for ms, id in log if ms == later][-1] == ours.snapshot.id
                assert ours.engine_note
                assert log != sorted(log, key=lambda entry: entry[0]), "only in a log that is not in order"
                self.counts["times in disorder"] += 1
            self.counts["times"] += 1
        for name, ref in self.state["refs"].items():
            point = f"branch:{name}" if ref["type"] == "branch" else f"tag:{name}"
            found = resolve(self.heads, point)
            assert found.snapshot.id == ref["snapshot"]
            columns = self.judge.scan(self.history.address, ref=name)["columns"]
            assert _columns(found.schema) == columns, (self.history.table.name, point)
            self.counts["refs"] += 1

    # Files.

    def compare_scans(self) -> None:
        assert self.held.incomplete == {}
        for id, at in self.points.items():
            theirs = self.judge.scan(self.history.address, snapshot=id)
            point = resolve(self.heads, str(id))
            assert _columns(point.schema) == theirs["columns"], (self.history.table.name, id)
            told = {self.place.path(file["path"]): file for file in theirs["files"]}
            ours = scan(self.place, self.found, point.schema.id, id)
            assert {data["path"] for data, _ in ours} == told.keys()
            for data, deletes in ours:
                file = told[data["path"]]
                ours_is = data["bytes"], data["rows"], data["sequence"]
                assert ours_is == (file["bytes"], file["records"], file["sequence"]), (
                    self.history.table.name,
                    id,
                    data,
                )
                mine = {(each["content"].replace("-", "_").upper(), each["path"], each["offset"]) for each in deletes}
                java = {(content, self.place.path(path), offset) for content, path, offset in file["deletes"]}
                assert java <= mine, (self.history.table.name, id, data["path"], java - mine)
                for content, path, _ in mine - java:
                    self._deletes_nothing(content, path, data["path"])
                    self.counts["deletes that Java leaves out"] += 1
                self.counts["deletes"] += len(java)
            self.counts["data files"] += len(ours)
            objects = self.held.objects.filter(self.held.held.at(at))
            reached = dict(zip(objects["path"].to_pylist(), objects["bytes"].to_pylist(), strict=True))
            assert reached == self.reached[id], (self.history.table.name, id)

    def _deletes_nothing(self, content: str, deletes: str, data: str) -> None:
        """Check that a delete file names no row of a data file (real rows)."""
        assert self.history.is_real, ("files in metadata alone have no bounds", deletes, data)
        rows = _by_id(self.history.table / deletes)
        if content == "POSITION_DELETES":
            assert data not in self.paths(rows[PATH_ID])
        else:
            keys = set(zip(*rows.values(), strict=True))
            own = _by_id(self.history.table / data)
            missing = [None] * len(next(iter(own.values())))
            assert not keys & set(zip(*(own.get(id, missing) for id in rows), strict=True))

    # Diffs.

    def compare_diffs(self, many: int = 6) -> None:
        """Check that the difference between two versions equals the difference of their scans."""
        rng, ids = random.Random(self.history.seed), sorted(self.points, key=self.points.__getitem__)
        kinds = ("data", "position_deletes", "equality_deletes")
        for _ in range(many if len(ids) > 1 else 0):
            a, b = rng.sample(ids, 2)
            told = diff(self.held, resolve(self.heads, str(a)), resolve(self.heads, str(b)))
            before, after = ({self.place.path(path) for path in self.live(id, *kinds)} for id in (a, b))
            story = (self.history.table.name, a, b)
            vectors = {path for path in before & after if path.endswith(".puffin")}  # one Puffin file, many vectors
            assert set(told.added["path"].to_pylist()) - vectors == after - before, story
            assert set(told.removed["path"].to_pylist()) - vectors == before - after, story
            self.counts["diffs"] += 1

    def live(self, id: int, *kinds: str) -> set[str]:
        found = self.judge.files(self.history.address, snapshots=[id])[id]
        return {path for kind in kinds for path in found.get(kind, {})}

    # Expiry.

    def compare_expiries(self, many: int = 10) -> None:
        for request in requests(self.history, self.state, many):
            self.compare_expiry(request)

    def compare_expiry(self, request: Mapping[str, Any]) -> None:
        story = (self.history.table.name, request)
        change = _change(request)
        try:
            theirs = self.judge.expire(self.history.address, **request)
        except EngineError as error:
            if "Still referenced by refs" in error.message:
                with pytest.raises(Invalid, match="still referenced by"):
                    preview(self.held, change, request["now"])
                self.counts["refused by both"] += 1
            else:
                assert not self.state["log"], (story, error)
                assert error.name == "java.util.NoSuchElementException"
                self.counts["empty log"] += 1
            return
        plan = open_table(self.history.address).preview(change, request["now"], self.held)
        goes, gone_refs = _split(plan)
        assert goes == set(theirs["removed_snapshots"]), story
        assert gone_refs == {*theirs["removed_refs"], *request.get("drop_refs", ())}, story
        is_old = pc.equal(plan.frees["kind"], ObjectKind.METADATA.value)
        self._compare_replaced(set(plan.frees.filter(is_old)["path"].to_pylist()), theirs["state"], story)
        plan = dataclasses.replace(plan, frees=plan.frees.filter(pc.invert(is_old)))
        frees = set(plan.frees["path"].to_pylist())
        assert frees == self.paths(theirs["reachable"]), story
        assert frees == self.paths(theirs["action"]), story
        left = {each["id"] for each in theirs["state"]["snapshots"]}
        log = self.heads.pointer or ()
        assert [list(entry) for entry in (retention.trimmed(log, left) if goes else log)] == theirs["state"]["log"], (
            story
        )
        self._compare_sizes(plan, goes, story)
        self._compare_cleanup(plan, goes, theirs, request, story)
        self.counts["expiries"] += 1
        self.counts["expiries that delete data files"] += any(path.startswith("data/") for path in frees)
        self.counts["snapshots expired"] += len(goes)
        if request.keys() == {"now"}:
            self._compare_ends(plan, request["now"], story)

    def _compare_replaced(self, ours: set[str], after: Mapping[str, Any], story: Any) -> None:
        """Check the metadata that the commit drops from the log and, if the table is configured so, deletes."""
        before = {file for _, file in self.state["metadata_log"]}
        gone = self.paths(before - {file for _, file in after["metadata_log"]})
        assert ours == (gone if self.state["properties"].get(retention.DELETE_OLD) == "true" else set()), story
        self.counts["expiries that delete metadata"] += bool(ours)

    def _compare_sizes(self, plan: Plan, goes: set[int], story: Any) -> None:
        sizes = {path: size for id in goes for path, size in self.reached[id].items()}
        told = dict(zip(plan.frees["path"].to_pylist(), plan.frees["bytes"].to_pylist(), strict=True))
        assert told == {path: sizes[path] for path in told}, story

    def _compare_cleanup(self, plan: Plan, goes: set[int], theirs: dict[str, Any], request: Any, story: Any) -> None:
        """Check which files the plain API leaves for later, that we report them, and what it deletes wrongly."""
        ids = frozenset(request.get("snapshots", ()))
        if theirs["incremental"] is not None and goes:
            assert retention.cleans_incrementally(self.heads, frozenset(goes), ids) == theirs["incremental"], story
        deleted, reachable = self.paths(theirs["deleted"]), self.paths(theirs["reachable"])
        table = open_table(self.history.address).format
        assert isinstance(table, IcebergFormat)
        is_incremental = bool(theirs["incremental"] and goes)
        told = table.freed_later(plan, self.held) if is_incremental else (plan.frees[:0], plan.frees[:0])
        later, never = (set(found["path"].to_pylist()) for found in told)
        assert later | never == reachable - deleted, (story, (later | never) ^ (reachable - deleted))
        assert ("java-later" in code_names(plan.warnings)) == bool(later), story
        assert ("java-never" in code_names(plan.warnings)) == bool(never), story
        # With one of its vectors the engine deletes the whole Puffin file, even if another one is live; we report that.
        broken = deleted - reachable
        # Files that an earlier plain Java expiry left behind belong to no version; they are deleted with their remover.
        strays = broken - {path for files in self.reached.values() for path in files}
        broken -= strays
        assert not strays or is_incremental, (story, strays)
        assert all(path.endswith(".puffin") for path in broken), (story, broken)
        assert is_incremental or not broken, story
        said = table.engine_differences(plan, self.held)
        assert len(said) == bool(broken), (story, broken, said)
        assert not broken or f"would delete {several(len(broken), 'file')} that" in said[0].text, (story, broken, said)
        left = {path for id, files in self.reached.items() if id not in goes for path in files}
        assert broken <= left, (story, broken - left)
        self.counts["expiries that Java cleans incrementally"] += is_incremental
        self.counts["deleted only later by Java"] += len(later)
        self.counts["live Puffin files that Java deletes"] += len(broken)
        self.counts["files of no point that Java deletes"] += len(strays)

    def _compare_ends(self, plan: Plan, now: int, story: Any) -> None:
        """Check that a snapshot expires, under the table's own rules, with the first expiry after its end, and not
        before."""
        ends, going = (
            expiration_dates.ends(self.heads, self.history.clock_ms),
            {verdict.point for verdict in plan.deleted_points},
        )
        for point, (end, words, _) in ends.items():
            if end is not None:
                assert (point in going) == (end < now), (story, point, end, words)
                self.counts["ends"] += 1

    def compare_marginals(self) -> None:
        """Check the cost of a single ref under the table's own rules, now and much later."""
        sizes = {path: size for files in self.reached.values() for path, size in files.items()}
        for now in (self.history.clock_ms, self.history.clock_ms + 40 * DAY_MS):
            if not self.state["log"]:
                continue  # Java cannot expire these
            kept = self._freed(now)
            for name in sorted(set(self.state["refs"]) - {"main"}):
                costs = [sizes[path] for path in self._freed(now, drop_refs=[name]) - kept]
                told = refs.marginal(self.held, [ref for ref in self.held.heads.refs if ref.name != name], now)
                assert told == (len(costs), sum(costs)), (self.history.table.name, name, now)
                self.counts["marginals"] += bool(costs)

    def _freed(self, now: int, **more: Any) -> set[str]:
        return self.paths(self.judge.expire(self.history.address, now=now, **more)["reachable"])

    # After our own expiry.

    def compare_applied(self) -> None:
        """Check that the engine finds the table as after its own expiry, reads the remaining versions as before, and
        can commit."""
        asked = requests(self.history, self.state)
        for request in (asked[1], asked[3], asked[-1]):
            if not self.history.is_real or not self.state["log"]:
                return  # files that only exist in metadata cannot be deleted
            with put_back(self.history.table):
                self._apply(request)

    def _apply(self, request: Mapping[str, Any]) -> None:
        story, address = (self.history.table.name, request), self.history.address
        try:
            theirs = self.judge.expire(address, **request)["state"]
        except EngineError:
            return
        table = open_table(address)
        plan = table.preview(_change(request), request["now"])
        if plan.removes == ():
            return
        left = [each["id"] for each in theirs["snapshots"]]
        before, rows = _on_disk(self.history.table), {id: self.judge.rows(address, snapshot=id) for id in left[::3]}
        receipt = apply(table, plan, settle_s=0)
        assert receipt.is_exact, (story, receipt)
        assert before - _on_disk(self.history.table) == set(plan.frees["path"].to_pylist()), story
        state = self.judge.state(address)
        for part in ("current", "snapshots", "log", "refs", "schemas", "specs", "properties"):
            assert state[part] == theirs[part], (story, part)
        for part in ("statistics", "partition_statistics"):
            assert sorted(state[part]) == sorted(theirs[part]), (story, part)
        logs = ([(ms, self.place.path(file)) for ms, file in each["metadata_log"]] for each in (state, theirs))
        assert next(logs) == next(logs), story
        for id in left[::3]:
            assert self.judge.rows(address, snapshot=id) == rows[id], (story, id)
        self.judge.files(address)  # every remaining list and manifest is readable
        self.judge.change(address, {"do": "properties", "set": {"after": "us"}}, now=state["updated_ms"] + 1000)
        assert self.judge.state(address)["properties"]["after"] == "us"
        self.counts["applied"] += 1
        self.counts["files deleted by us"] += len(plan.frees)
        self.counts["rows read after our apply"] += sum(map(len, rows.values()))


def compare(judge: IcebergJudge, history: History) -> Counter[str]:
    """Compare everything about a history; raises AssertionError with the details."""
    both = Beside(judge, history)
    both.compare_heads()
    both.compare_old_metadata()
    both.compare_as_of()
    both.compare_scans()
    both.compare_diffs()
    both.compare_expiries()
    both.compare_marginals()
    both.compare_applied()
    return both.counts


@contextmanager
def put_back(table: Path) -> Iterator[None]:
    """Undo all changes to a table afterwards; it cannot be copied, because its metadata contains its location."""
    with tempfile.TemporaryDirectory(prefix="snapscope-aside-") as aside:
        shutil.copytree(table, Path(aside) / "t")
        try:
            yield
        finally:
            shutil.rmtree(table)
            shutil.copytree(Path(aside) / "t", table)


def _on_disk(table: Path) -> set[str]:
    return {str(path.relative_to(table)) for path in table.rglob("*") if path.is_file()}


def _change(request: Mapping[str, Any]) -> Expire:
    return Expire(
        older_than_ms=request.get("older_than_ms"),
        retain_min=request.get("retain_last"),
        snapshots=tuple(request.get("snapshots", ())),
        drop_tags=tuple(request.get("drop_refs", ())),
    )


def _split(plan: Plan) -> tuple[set[int], set[str]]:
    """Return the snapshots and the refs that expire."""
    snapshots, names = set[int](), set[str]()
    for verdict in plan.deleted_points:
        _, _, tag = verdict.point.partition("tag:")
        last = verdict.point.rpartition("/")[2]
        if tag or not last.isdecimal():
            names.add(tag or verdict.point.removeprefix("branch:"))
        else:
            snapshots.add(int(last))
    return snapshots, names


def _columns(schema: Any) -> list[str]:
    return [f"{each.id}:{each.name}:{str(each.type).removesuffix(' NOT NULL')}" for each in schema.fields]


def _local(path: str) -> str:
    return "/" + path.removeprefix("file:").lstrip("/")


def _by_id(path: Path) -> dict[int, list[Any]]:
    """Return the columns of a Parquet, ORC or Avro file by field id, whatever the file is called."""
    if path.read_bytes()[:3] == b"Obj":
        schema, rows, _ = read_avro(path)
        return {each["field-id"]: [row[each["name"]] for row in rows] for each in schema["fields"]}
    is_orc = path.read_bytes()[:3] == b"ORC"
    table = orc.ORCFile(path).read() if is_orc else pq.ParquetFile(path).read()
    key = b"iceberg.id" if is_orc else b"PARQUET:field_id"
    return {
        int(field.metadata[key]): table[field.name].to_pylist()
        for field in table.schema
        if field.metadata and key in field.metadata
    }
