"""Commits that were planned: partitions dropped, a table emptied, files compacted, statistics counted (Paimon).

Law: the commit stands on exactly the newest snapshot that was shown and ends exactly the files that were shown; it
lands once, however often it is tried. Nothing but it is made, so nothing is to be taken back before it is there; after
it, the way back is a rollback.
"""

from __future__ import annotations

import dataclasses
import time
import uuid
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Invalid
from core.execution import journal as journals
from core.execution.delete_files import Receipt
from core.execution.journal import Journal, Run
from core.formats.paimon import layout
from core.formats.paimon.manifests import DELETE
from core.formats.paimon.plan import commits
from core.formats.paimon.write import commit
from core.formats.paimon.write import commit_base as newest
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import Record
from core.formats.paimon.write.publish import Head, read_head
from core.formats.table_format import Unknown
from core.model.actions import Analyze, Compact, DropPartitions, OfCommits, Truncate
from core.model.plan import Plan
from core.model.references import Snapshot
from core.storage.store import Store
from core.table import Table

ONCE = 1  # the number of a commit that is its user's only one
_KINDS: Mapping[type[OfCommits], str] = {
    DropPartitions: "OVERWRITE",
    Truncate: "OVERWRITE",
    Compact: "COMPACT",
    Analyze: "ANALYZE",
}


@dataclass(frozen=True, slots=True)
class Commitment:
    """What a plan comes to: `newest` is the snapshot to stand on, `files` are the live files that end."""

    change: OfCommits
    newest: str
    newest_bytes: bytes
    files: frozenset[str]
    user: str

    @classmethod
    def of(cls, plan: Plan) -> Commitment:
        assert isinstance(plan.change, OfCommits)
        [(path, content)] = plan.guards
        files = frozenset(plan.leaving["path"].to_pylist())
        return cls(plan.change, path, content, files, f"{type(plan.change).__name__.lower()}-{plan.fingerprint[:32]}")

    def to_json(self) -> dict[str, Any]:
        content = b64encode(self.newest_bytes).decode()
        return {"newest": self.newest, "newest_bytes": content, "files": sorted(self.files), "user": self.user}

    @classmethod
    def from_json(cls, change: OfCommits, kept: Mapping[str, Any]) -> Commitment:
        content = b64decode(kept["newest_bytes"])
        return cls(change, kept["newest"], content, frozenset(kept["files"]), kept["user"])

    def landed(self, store: Store) -> Snapshot | None:
        """The snapshot that was committed, if it was."""
        return commit.landed(store, _KINDS[type(self.change)], self._stamp())

    def carry_out(self, table: Table) -> Snapshot:
        """Commit, unless that was done before."""
        store, change = table.store, self.change
        if (done := self.landed(store)) is not None:
            return done
        head = read_head(store, change.branch)
        self._stands(head)
        match change:
            case DropPartitions() | Truncate():
                emptied = commit.Change("OVERWRITE", "TRUNCATE", (), self._choose, refuse=commits.refuse)
                return commit.run(store, emptied, self._stamp())
            case Compact():
                made = self._compacted(store, head)
            case _:
                from core.spark.session import session
                from core.spark.write import analyze

                made = analyze.analyze(store, self._stamp(), spark=session.get(), columns=change.columns)
        if made is None:
            raise Conflict("There is nothing to do any more.", path=store.location, remedy="Plan again.")
        return made

    def _compacted(self, store: Store, head: Head) -> Snapshot | None:
        from core.spark.session import session
        from core.spark.write import append as write
        from core.spark.write import compact

        assert isinstance(self.change, Compact)
        given: dict[str, Any] = {
            "spark": session.get(),
            "partitions": commits.named(head.schema, self.change.partitions),
            "only": frozenset(path.rpartition("/")[2] for path in self.files),
        }
        if head.schema.primary_keys:
            return compact.compact(store, self._stamp(), **given)
        return write.compact(store, self._stamp(), min_files=self.change.min_files, **given)

    def _choose(self, head: Head, live: list[Record]) -> list[Record]:
        self._stands(head)
        return [entry for entry in live if commits.path_of(head.schema, entry) in self.files]

    def _stands(self, head: Head) -> None:
        if head.snapshot is None or head.snapshot.content != self.newest_bytes:
            raise Conflict(
                "Others have committed since this was planned; nothing was committed.",
                path=self.newest,
                remedy="Plan again.",
            )

    def _stamp(self) -> Stamp:
        clock_ms = time.time_ns() // 1_000_000
        return Stamp(clock_ms, lambda: str(uuid.uuid4()), user=self.user, identifier=ONCE, branch=self.change.branch)


def apply(table: Table, plan: Plan, document: dict[str, Any], journal: Journal) -> Receipt:
    """Carry out a plan that was just confirmed. The run stays open only where nobody knows whether it has landed."""
    commitment = Commitment.of(plan)
    kept = {**document, "commit": commitment.to_json(), "leaving": plan.leaving.to_pylist()}
    run = journal.start(table.location, type(plan.change).__name__, kept, (), ())
    try:
        made = commitment.carry_out(table)
    except BaseException as error:
        is_undone = not isinstance(error, Unknown) and commitment.landed(table.store) is None
        journal.failed(run, journals.UNDONE if is_undone else journals.FAILED, error)
        raise
    return _finished(table, run, plan.fingerprint, commitment, made, journal)


def resume(table: Table, run: Run, change: OfCommits, journal: Journal) -> Receipt:
    """Finish a run that was cut off; `Conflict` where others have committed since: it can be undone."""
    commitment = Commitment.from_json(change, run.plan["commit"])
    return _finished(table, run.id, run.fingerprint, commitment, commitment.carry_out(table), journal)


def take_back(table: Table, run: Run, change: OfCommits) -> list[str]:
    """Nothing is there to be taken back; `Invalid` once the snapshot is."""
    if (made := Commitment.from_json(change, run.plan["commit"]).landed(table.store)) is not None:
        raise Invalid(
            "Snapshot {id} was committed, and others may stand on it: it is not taken away again.",
            id=made.id,
            remedy="Resume this run; then roll back to where the table was.",
        )
    return []


def _finished(
    table: Table, run: str, fingerprint: str, commitment: Commitment, made: Snapshot, journal: Journal
) -> Receipt:
    """The receipt, with the snapshot and the files that came with it."""
    schema = read_head(table.store, commitment.change.branch).schema
    came = [entry for entry in newest.delta_entries(table.store, made) if entry["_KIND"] != DELETE]
    moved = {path.rpartition("/")[2] for path in commitment.files}  # a compaction lets some files move a level up
    paths = [commits.path_of(schema, entry) for entry in came if entry["_FILE"]["_FILE_NAME"] not in moved]
    created = (layout.reference(commitment.change.branch, layout.SNAPSHOT, made.id), *sorted(paths))
    receipt = Receipt(run, table.location, fingerprint, "done", created, (), 0, 0, 0, (), (), "")
    return dataclasses.replace(receipt, journal_head=journal.add(run, journals.DONE, dataclasses.asdict(receipt)))
