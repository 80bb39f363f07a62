"""Planned snapshot commits (Paimon): drop partitions, truncate, compact, analyze, and roll back as latest.

Invariant: the commit is based on exactly the newest snapshot that was shown and ends exactly the files that were shown.
It happens once, however often it is tried. Afterwards there is a new snapshot, and the way back is a rollback.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict, Invalid, SnapscopeError
from core.formats.paimon import layout, references
from core.formats.paimon.manifests import DELETE
from core.formats.paimon.plan import commits
from core.formats.paimon.write import commit, documents
from core.formats.paimon.write import commit_base as newest
from core.formats.paimon.write.commit import Stamp
from core.formats.paimon.write.manifest_encoding import Record
from core.formats.paimon.write.publish import Head, read_head, repair_hint
from core.messages import message
from core.model.actions import Analyze, Change, Compact, DropPartitions, Rollback, Truncate
from core.model.effects import CommitSnapshot
from core.model.references import Snapshot
from core.storage.presence import read_if_there
from core.storage.store import Store

_log = logging.getLogger(__name__)
ONCE = 1  # the commit identifier, because each user commits only once
_KINDS: Mapping[type[Change], str] = {
    Rollback: "OVERWRITE",
    DropPartitions: "OVERWRITE",
    Truncate: "OVERWRITE",
    Compact: "COMPACT",
    Analyze: "ANALYZE",
}


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit effect and the action that asks for it. `is_kept`: the run's own tag holds what is restored.

    `refuse` is called directly before the snapshot is published."""

    store: Store
    effect: CommitSnapshot
    change: Change
    is_kept: bool = False
    refuse: Callable[[], None] = lambda: None

    def landed(self) -> Snapshot | None:
        """The committed snapshot, or None."""
        return commit.landed(self.store, _KINDS[type(self.change)], self._stamp())

    def run(self) -> Snapshot:
        """Commit, unless that has already happened; then write the hint, which may be missing."""
        if (done := self.landed()) is not None:
            try:
                repair_hint(self.store, layout.hint(self.effect.branch, layout.LATEST))
            except (SnapscopeError, OSError) as error:  # as after any commit: engines find it by listing
                _log.warning("Snapshot %s is committed; its hint could not be written: %s", done.id, error)
            return done
        store, change, restores = self.store, self.change, self.effect.restores
        if restores is not None and self.effect.restored_content is not None:
            target = references.snapshot_of(None, documents.untagged(self.effect.restored_content), restores)
            restoring = commit.CommitChange(
                "OVERWRITE", None, (), self._restored, refuse=lambda _: None, restores=target
            )
            return commit.run(store, restoring, self._stamp())
        head = read_head(store, self.effect.branch)
        self._refuse_newer(head)
        match change:
            case DropPartitions() | Truncate():
                emptying = commit.CommitChange("OVERWRITE", "TRUNCATE", (), self._ended, refuse=commits.refuse)
                return commit.run(store, emptying, self._stamp())
            case Compact():
                snapshot = self._compacted(change, head)
            case Analyze():
                from core.spark.session import session
                from core.spark.write import analyze

                snapshot = analyze.analyze(store, self._stamp(), spark=session.get(), columns=change.columns)
            case _:
                raise AssertionError(f"{type(change).__name__} commits no snapshot")
        if snapshot is None:
            raise Conflict("Nothing is left to do.", path=store.location, remedy="Make a new plan.")
        return snapshot

    def created(self, snapshot: Snapshot) -> list[str]:
        """The snapshot's reference, and the files that were added with it."""
        path = layout.reference(self.effect.branch, layout.SNAPSHOT, snapshot.id)
        if self.effect.restores is not None:
            return [path]
        schema = read_head(self.store, self.effect.branch).schema
        added = [entry for entry in newest.delta_entries(self.store, snapshot) if entry["_KIND"] != DELETE]
        moved = {each.rpartition("/")[2] for each in self.effect.files}  # a compaction moves some files up a level
        files = [commits.path_of(schema, entry) for entry in added if entry["_FILE"]["_FILE_NAME"] not in moved]
        return [path, *sorted(files)]

    def refuse_landed(self) -> None:
        """Raise `Invalid` once the snapshot is committed."""
        if (snapshot := self.landed()) is not None:
            raise Invalid(
                "Snapshot {id} was committed, and others may build on it; it is not removed.",
                id=snapshot.id,
                remedy="Resume this run, then roll back to the snapshot from before.",
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
        self._refuse_newer(head)
        files = frozenset(self.effect.files)
        return [entry for entry in live if commits.path_of(head.schema, entry) in files]

    def _restored(self, head: Head, _: object) -> list[Record]:
        source = self.effect.restores
        if source and not self.is_kept and read_if_there(self.store, source) != self.effect.restored_content:
            raise Conflict("Another writer changed {source}.", source=source, path=source, remedy="Make a new plan.")
        self._refuse_newer(head)
        return []

    def _refuse_newer(self, head: Head) -> None:
        if head.snapshot is None or head.snapshot.content != self.effect.newest_content:
            raise Conflict(
                message("Others have committed since the rollback was planned, and it would undo their commits "
"too; nothing was committed.")
                if self.effect.restores
                else message("Others have committed since this was planned; nothing was committed."),
                path=self.effect.newest,
                remedy="Make a new plan.",
            )  # fmt: skip

    def _stamp(self) -> Stamp:
        clock_ms = time.time_ns() // 1_000_000
        return Stamp(clock_ms, lambda: str(uuid.uuid4()), user=self.effect.user, identifier=ONCE,
                     branch=self.effect.branch, refuse=self.refuse)  # fmt: skip
