"""Commits of snapshots that were planned (Paimon): partitions dropped, a table emptied, files compacted, statistics
counted, and an old snapshot's content brought back.

Law: the commit stands on exactly the newest snapshot that was shown and ends exactly the files that were shown; it
lands once, however often it is tried. After it, there is a new snapshot, and the way back is a rollback.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Invalid
from core.formats.paimon import layout, references
from core.formats.paimon.manifests import DELETE
from core.formats.paimon.plan import commits
from core.formats.paimon.write import commit, documents
from core.formats.paimon.write import commit_base as newest
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import Record
from core.formats.paimon.write.publish import Head, read_head
from core.messages import told
from core.model.actions import Analyze, Change, Compact, DropPartitions, Rollback, Truncate
from core.model.effects import CommitSnapshot
from core.model.references import Snapshot
from core.storage.presence import read_if_there
from core.storage.store import Store

ONCE = 1  # the number of a commit that is its user's only one
_KINDS: Mapping[type[Change], str] = {
    Rollback: "OVERWRITE",
    DropPartitions: "OVERWRITE",
    Truncate: "OVERWRITE",
    Compact: "COMPACT",
    Analyze: "ANALYZE",
}


@dataclass(frozen=True, slots=True)
class Commit:
    """One effect on one table, and the change that asks for it. `is_kept`: a tag of its own holds what is restored."""

    store: Store
    effect: CommitSnapshot
    change: Change
    is_kept: bool = False

    def landed(self) -> Snapshot | None:
        """The snapshot that was committed, if it was."""
        return commit.landed(self.store, _KINDS[type(self.change)], self._stamp())

    def run(self) -> Snapshot:
        """Commit, unless that was done before."""
        if (done := self.landed()) is not None:
            return done
        store, change, restores = self.store, self.change, self.effect.restores
        if restores is not None and self.effect.restored_content is not None:
            target = references.snapshot_of(None, documents.untagged(self.effect.restored_content), restores)
            brought = commit.CommitChange("OVERWRITE", None, (), self._restored, refuse=lambda _: None, restores=target)
            return commit.run(store, brought, self._stamp())
        head = read_head(store, self.effect.branch)
        self._stands(head)
        match change:
            case DropPartitions() | Truncate():
                emptied = commit.CommitChange("OVERWRITE", "TRUNCATE", (), self._ended, refuse=commits.refuse)
                return commit.run(store, emptied, self._stamp())
            case Compact():
                made = self._compacted(change, head)
            case Analyze():
                from core.spark.session import session
                from core.spark.write import analyze

                made = analyze.analyze(store, self._stamp(), spark=session.get(), columns=change.columns)
            case _:
                raise AssertionError(f"{type(change).__name__} commits no snapshot")
        if made is None:
            raise Conflict("There is nothing to do any more.", path=store.location, remedy="Plan again.")
        return made

    def created(self, made: Snapshot) -> list[str]:
        """The snapshot's reference, and the files that came with it."""
        path = layout.reference(self.effect.branch, layout.SNAPSHOT, made.id)
        if self.effect.restores is not None:
            return [path]
        schema = read_head(self.store, self.effect.branch).schema
        came = [entry for entry in newest.delta_entries(self.store, made) if entry["_KIND"] != DELETE]
        moved = {each.rpartition("/")[2] for each in self.effect.files}  # a compaction lets some files move a level up
        files = [commits.path_of(schema, entry) for entry in came if entry["_FILE"]["_FILE_NAME"] not in moved]
        return [path, *sorted(files)]

    def refuse_landed(self) -> None:
        """`Invalid` once the snapshot is there."""
        if (made := self.landed()) is not None:
            raise Invalid(
                "Snapshot {id} was committed, and others may stand on it: it is not taken away again.",
                id=made.id,
                remedy="Resume this run; then roll back to where the table was.",
            )

    def _compacted(self, change: Compact, head: Head) -> Snapshot | None:
        from core.spark.session import session
        from core.spark.write import append as write
        from core.spark.write import compact

        given: dict[str, Any] = {
            "spark": session.get(),
            "partitions": commits.named(head.schema, change.partitions),
            "only": frozenset(path.rpartition("/")[2] for path in self.effect.files),
        }
        if head.schema.primary_keys:
            return compact.compact(self.store, self._stamp(), **given)
        return write.compact(self.store, self._stamp(), min_files=change.min_files, **given)

    def _ended(self, head: Head, live: list[Record]) -> list[Record]:
        self._stands(head)
        files = frozenset(self.effect.files)
        return [entry for entry in live if commits.path_of(head.schema, entry) in files]

    def _restored(self, head: Head, _: object) -> list[Record]:
        source = self.effect.restores
        if source and not self.is_kept and read_if_there(self.store, source) != self.effect.restored_content:
            raise Conflict("{source} was changed by another hand.", source=source, path=source, remedy="Plan again.")
        self._stands(head)
        return []

    def _stands(self, head: Head) -> None:
        if head.snapshot is None or head.snapshot.content != self.effect.newest_content:
            raise Conflict(
                told("Others have committed since the rollback was planned, and it would undo that too; nothing was "
                     "committed.")
                if self.effect.restores
                else told("Others have committed since this was planned; nothing was committed."),
                path=self.effect.newest,
                remedy="Plan again.",
            )  # fmt: skip

    def _stamp(self) -> Stamp:
        clock_ms = time.time_ns() // 1_000_000
        return Stamp(clock_ms, lambda: str(uuid.uuid4()), user=self.effect.user, identifier=ONCE,
                     branch=self.effect.branch)  # fmt: skip
