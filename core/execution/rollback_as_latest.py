"""Rollback as latest (Paimon): a tag keeps an old snapshot, then a new one is committed with its content.

Law: the commit stands on exactly the newest snapshot that was shown, and lands once, however often it is tried. Before
it, the tag can be taken away again; after it, there is a new snapshot, and the way back is another rollback.
"""

from __future__ import annotations

import dataclasses
import functools
import time
import uuid
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Corrupt, Invalid
from core.execution import journal as journals
from core.execution.apply import NewTag, verify
from core.execution.delete_files import Receipt
from core.execution.journal import Journal, Run
from core.execution.stable_read import read_if_there
from core.formats.paimon import layout, references
from core.formats.paimon.write import commit, documents
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.commit_base import refuse_unlocked
from core.formats.paimon.write.publish import Head, read_head
from core.formats.table_format import Unknown
from core.messages import counted, told
from core.model.actions import CreateTag
from core.model.plan import Plan
from core.model.references import MAIN, Snapshot
from core.storage.store import Store
from core.table import Table

ONCE = 1  # the number of a commit that is its user's only one


@dataclass(frozen=True, slots=True)
class Restoration:
    """What a plan comes to: `source` is the reference that holds the old snapshot, `newest` the one to stand on."""

    branch: str
    source: str
    expected: bytes
    newest: str
    newest_bytes: bytes
    user: str
    tag: NewTag | None  # made first; None where a tag was named

    @classmethod
    def of(cls, plan: Plan) -> Restoration:
        (source, expected), (newest, newest_bytes) = plan.guards
        tag = None
        if len(plan.leaves) > 1:
            name = plan.leaves[0].rpartition(f"/{layout.TAG}-")[2]
            content, path = documents.untagged(expected), plan.leaves[0]
            prefix = "" if plan.change.branch == MAIN else f"branch:{plan.change.branch}/"
            tag = NewTag(CreateTag.__name__, path, content, source, expected, b"", f"{prefix}tag:{name}", False)
        user = f"rollback-to-as-latest-{plan.fingerprint[:32]}"
        return cls(plan.change.branch, source, expected, newest, newest_bytes, user, tag)

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("branch", "source", "newest", "user")},
            **{name: b64encode(getattr(self, name)).decode() for name in ("expected", "newest_bytes")},
            "tag": None if self.tag is None else self.tag.to_json(),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Restoration:
        content = {name: b64decode(kept[name]) for name in ("expected", "newest_bytes")}
        tag = None if kept["tag"] is None else NewTag.from_json(kept["tag"])
        return cls(**{**kept, **content, "tag": tag})

    def landed(self, store: Store) -> Snapshot | None:
        """The snapshot that was committed, if it was."""
        return commit.landed(store, "OVERWRITE", self._stamp())

    def carry_out(self, table: Table) -> list[str]:
        """The tag, then the snapshot; what is there already is not made again. What was made."""
        if self.tag is not None and (now := read_if_there(table, self.tag.path)) != self.tag.content:
            if now is not None:
                raise Conflict(
                    told("{path} is another's by now.", path=self.tag.path), path=self.tag.path, remedy="Undo this run."
                )
            self.tag.publish(table.store)
        target = references.snapshot_of(None, documents.untagged(self.expected), self.source)
        stands = functools.partial(self._stands, table)
        change = commit.Change("OVERWRITE", None, (), stands, refuse=lambda _: None, restores=target)
        made = commit.run(table.store, change, self._stamp())
        snapshot = layout.reference(self.branch, layout.SNAPSHOT, made.id)
        return [*([] if self.tag is None else [self.tag.path]), snapshot]

    def take_back(self, table: Table) -> list[str]:
        """The tag goes. `Invalid` once the snapshot is there."""
        if (made := self.landed(table.store)) is not None:
            raise Invalid(
                "Snapshot {id} was committed, and others may stand on it: it is not taken away again.",
                id=made.id,
                remedy="Resume this run; then roll back to where the table was.",
            )
        if self.tag is None or read_if_there(table, self.tag.path) != self.tag.content:
            return []
        table.store.delete(self.tag.path)
        return [self.tag.path]

    def _stands(self, table: Table, head: Head, _: object) -> list[Any]:
        if self.tag is None and read_if_there(table, self.source) != self.expected:
            raise Conflict(
                "{source} was changed by another hand.", source=self.source, path=self.source, remedy="Plan again."
            )
        if head.snapshot is None or head.snapshot.content != self.newest_bytes:
            raise Conflict(
                "Others have committed since the rollback was planned, and it would undo that too; nothing was "
                "committed.",
                path=self.newest,
                remedy="Plan again.",
            )
        return []

    def _stamp(self) -> Stamp:
        clock_ms = time.time_ns() // 1_000_000
        return Stamp(clock_ms, lambda: str(uuid.uuid4()), user=self.user, identifier=ONCE, branch=self.branch)


def apply(table: Table, plan: Plan, document: dict[str, Any], journal: Journal) -> Receipt:
    """Carry out a plan that was just confirmed; nothing is left of it after a `Conflict`."""
    _refuse_missing(table, plan)
    refuse_unlocked(table.store, read_head(table.store, plan.change.branch))  # before the tag: the commit would
    restoration = Restoration.of(plan)
    kept = {**document, "restoration": restoration.to_json()}
    run = journal.start(table.location, type(plan.change).__name__, kept, (), ())
    try:
        made = restoration.carry_out(table)
    except BaseException as error:
        undone = False
        if isinstance(error, Conflict) and not isinstance(error, Unknown):
            restoration.take_back(table)
            undone = True
        journal.failed(run, journals.UNDONE if undone else journals.FAILED, error)
        raise
    return _finished(table, run, plan.fingerprint, made, journal)


def resume(table: Table, run: Run, journal: Journal) -> Receipt:
    """Finish a run that was cut off; `Conflict` where others have committed since: it can be undone."""
    restoration = Restoration.from_json(run.plan["restoration"])
    tag = restoration.tag
    if tag is not None and read_if_there(table, tag.path) == tag.content and restoration.landed(table.store) is None:
        verify(table, tag)  # its source may have gone just before it came
    made = restoration.carry_out(table)
    return _finished(table, run.id, run.fingerprint, made, journal)


def take_back(table: Table, run: Run) -> list[str]:
    return Restoration.from_json(run.plan["restoration"]).take_back(table)


def _finished(table: Table, run: str, fingerprint: str, made: list[str], journal: Journal) -> Receipt:
    receipt = Receipt(run, table.location, fingerprint, "done", tuple(made), (), 0, 0, 0, (), (), "")
    return dataclasses.replace(receipt, journal_head=journal.add(run, journals.DONE, dataclasses.asdict(receipt)))


def _refuse_missing(table: Table, plan: Plan) -> None:
    """`Corrupt` where a file of the old snapshot is not there: the newest one would be broken."""
    history = table.history()
    point = next(each.point for each in history.holders if each.path == plan.guards[0][0])
    if missing := table.missing_files(history, point):
        raise Corrupt(
            "{missing} of {point} are not there, so it is no point to go back to; nothing was changed.",
            missing=counted(len(missing), "{count} data file", "{count} data files"),
            point=point,
            path=missing[0],
        )
