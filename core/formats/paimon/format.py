"""An open Paimon table: a directory whose snapshots, tags and branches are separate files."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar, Self

import pyarrow as pa

from core import settings_file
from core.errors import Unsupported
from core.formats.paimon import (
    consistency,
    disk_check,
    expiration_dates,
    inspection,
    layout,
    new_holders,
    next_commit,
    references,
    schema_evolution,
    time_search,
    time_travel,
)
from core.formats.paimon.capabilities import PAIMON
from core.formats.paimon.file_paths import external_roots
from core.formats.paimon.history import build as histories
from core.formats.paimon.history.parts import PaimonInParts
from core.formats.paimon.manifests import PaimonManifests
from core.formats.paimon.options import resolved
from core.formats.paimon.plan import (
    automatic_tags,
    effects,
    engine_deletion,
    engine_differences,
    expiry,
    orphans,
    reference_changes,
)
from core.formats.paimon.plan.engine_deletion import Native
from core.formats.paimon.read.holder_axis import has_changelogs
from core.formats.table_format import Examined, FilesAt, Listing, Progress, TableFormat
from core.messages import Reason, message
from core.model.actions import (
    Change,
    CleanOrphans,
    Expire,
    OfBranches,
    OfCommits,
    OfConsumers,
)
from core.model.capabilities import Capabilities
from core.model.column_bounds import Bounds
from core.model.effects import CommitSnapshot, Effect
from core.model.expiry import Forecast
from core.model.history import History, HistorySummary
from core.model.plan import Plan
from core.model.references import MAIN, Heads, Line
from core.model.time_travel import AsOf
from core.storage.kept_contents import ReadContents
from core.storage.store import Store
from core.units import is_true, number, parse_size_bytes

_EXPIRING_S = (0.05, 0.1, 0.15)


@dataclass(frozen=True)
class PaimonFormat(TableFormat):
    """A Paimon table. `manifests` caches its decoded manifests, which never change."""

    capabilities: ClassVar[Capabilities] = PAIMON
    sign: ClassVar[str] = message("Paimon's schema/schema-<N>")

    store: Store
    manifests: PaimonManifests = field(repr=False)
    name: str | None = None
    """The table's name in the catalog that commits to it, if only that may change the table."""
    memory: ReadContents | None = field(default=None, repr=False)
    """The references that a change has read from the store."""
    local: references.LocalReferences | None = field(default=None, repr=False)
    """The references that this process has read of a table on the local disk; None for changes."""

    resolve = staticmethod(time_travel.resolve)
    unwritten = staticmethod(time_travel.unwritten)
    conversion = staticmethod(schema_evolution.conversion)
    expiring = staticmethod(expiry.expiring)
    expiries = staticmethod(expiration_dates.expiries)

    @staticmethod
    def target_size(options: Mapping[str, str], *, keyed: bool) -> tuple[int, float]:
        usual = (128 if keyed else 256) * 1024**2
        target = parse_size_bytes(options.get("target-file-size", str(usual)))
        return target, number(options, "compaction.small-file-ratio", 0.7)

    @classmethod
    def of(cls, opened: TableFormat) -> PaimonFormat:
        """Return an open table as a Paimon table, for code that reads Paimon's files."""
        assert isinstance(opened, cls)
        return opened

    @classmethod
    def is_table(cls, store: Store) -> bool:
        return references.is_table(store)

    @classmethod
    def at(cls, store: Store) -> PaimonFormat:
        return cls(store, PaimonManifests(store), local=references.LocalReferences(store.root))

    @classmethod
    def opened(cls, location: str) -> PaimonFormat:
        """Open a table by its name in a catalog."""
        store, name = _catalogs().opened(location)
        return cls(store, PaimonManifests(store), name, local=references.LocalReferences(store.root))

    def reread(self) -> Self:
        manifests = PaimonManifests(self.store, is_kept=False)
        return dataclasses.replace(self, manifests=manifests, memory=ReadContents(), local=None)

    @classmethod
    def listed(cls, location: str) -> Listing:
        found: Listing = _catalogs().listed(location)
        return found

    @classmethod
    def places(cls, named: Sequence[str]) -> tuple[str, ...]:
        found: tuple[str, ...] = _catalogs().places(named) if settings_file.current().catalogs else ()
        return found

    # --- reading

    @property
    def location(self) -> str:
        return self.name or self.store.location

    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        found = references.read(self.store, patience_s=patience_s, gone=gone, memory=self.memory, local=self.local)
        return dataclasses.replace(found, location=self.location) if self.name else found

    def at_time(self, branch: str, time_ms: int) -> AsOf | None:
        return None if self.store.is_local else time_search.find(self.store, branch, time_ms)

    def has_snapshot(self, id: int) -> bool:
        return time_search.has_snapshot(self.store, id)

    def history(self, heads: Heads, progress: Progress | None, *, changelogs: bool = False) -> History:
        wide = changelogs or has_changelogs(heads)
        return histories.build(self.store, heads, self.manifests, changelogs=wide, progress=progress)

    def in_parts(self, heads: Heads, *, changelogs: bool = False) -> PaimonInParts:
        return PaimonInParts(self.store, heads, changelogs=changelogs or has_changelogs(heads))

    def pauses_s(self, heads: Heads, unread: Collection[str]) -> Sequence[float]:
        """Return waits if the oldest snapshot of a branch is unreadable.

        Paimon expires the oldest snapshots first and deletes a snapshot file after its manifests, so an expiry may be
        running.
        """
        first = {layout.reference(line.branch, layout.SNAPSHOT, line.earliest.id) for line in heads.lines
                 if line.earliest is not None}  # fmt: skip
        return _EXPIRING_S if first.intersection(unread) else ()

    def roots(self, heads: Heads) -> tuple[str, ...]:
        return external_roots(heads)

    # --- inspecting one version

    def manifest_list(self, history: History, point: AsOf) -> pa.Table:
        return inspection.manifests(self.manifests, point.snapshot)

    def manifest_entries(self, history: History, point: AsOf, manifest: Mapping[str, Any]) -> pa.Table:
        is_index = manifest["list"] == inspection.INDEX_KIND
        return inspection.entries(self.manifests, history.heads, manifest["path"], is_index=is_index)

    def statistics(self, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
        line = history.heads.line(point.branch) or history.heads.main
        schemas = {**history.heads.main.schemas, **line.schemas}
        return inspection.statistics(self.manifests, point.snapshot, files, point.schema, schemas)

    def health_of(self, history: History, point: AsOf, files: pa.Table) -> FilesAt:
        keyed = bool(point.schema.primary_keys)
        # rows without keys are deleted only by deletion vectors
        files_with_keys = files if keyed else files.slice(0, 0)
        deleted_rows = inspection.retractions(self.manifests, history.heads, point.snapshot, files_with_keys)
        return FilesAt(point.schema.options, keyed, deleted_rows)

    def analyzed(self, history: History, point: AsOf) -> dict[str, str]:
        return inspection.analyzed_in_words(self.store, point.snapshot)

    # --- planning

    def plan(self, history: History, change: Change, now_ms: int) -> Plan:
        if isinstance(change, OfBranches | OfConsumers):
            return reference_changes.preview(history, change, now_ms)
        if isinstance(change, OfCommits):
            commit: Plan = _commits().preview(self.store, history, change, now_ms)
            return commit
        return self.plan_deletion(history, change, now_ms)

    def plan_deletion(self, history: HistorySummary, change: Change, now_ms: int) -> Plan:
        plan = expiry.preview(history, change, now_ms)
        if isinstance(change, CleanOrphans):
            frees, notes = orphans.find(self.store, history, change.older_than_ms, change.also)
            return dataclasses.replace(plan, frees=frees, warnings=(*plan.warnings, *notes))
        return _of_tags(plan, history) if change.is_of_tags else plan

    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        return effects.of(plan, heads)

    def why_not_here(self, plan: Plan, history: HistorySummary) -> str | None:
        if (managed := self._why_managed(refresh=False)) is not None:
            return managed
        if not any(isinstance(each, CommitSnapshot) for each in plan.effects):
            return None
        why: str | None = _commits().why_not_here(self.store, plan, history)
        return why

    def why_elsewhere(self, change: Change) -> str | None:
        why: str | None = _catalogs().why_elsewhere(self.name, change) if self.name else None
        return why

    def refuse_apply(self) -> None:
        if (why := self._why_managed(refresh=True)) is not None:
            raise Unsupported(
                "{why} Nothing was changed.",
                why=why,
                path=self.location,
                remedy="Make the change with the table's own engine, through its catalog.",
            )

    def why_taken_over(self) -> str | None:
        return self._why_managed(refresh=True)

    def _why_managed(self, *, refresh: bool) -> str | None:
        """Return why only a catalog may change this table; None without one."""
        settings = settings_file.current()
        if not (self.name or settings.catalogs or settings.unasked or settings.unread):
            return None
        why: str | None = _catalogs().why_not_here(self.store, self.name, refresh=refresh)
        return why

    # --- running plans

    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        assert isinstance(history, History)
        found = consistency.examine(self.store, history, self.manifests, list(frees))
        return Examined(found.problems, found.doubts.of, found.doubts.gone)

    def doubt(self, history: HistorySummary, frees: Mapping[str, str]) -> Callable[[str], Reason | None]:
        assert isinstance(history, History)
        return disk_check.doubts(self.store, history, list(frees)).of

    def snapshot_paths(self, heads: Heads) -> set[str]:
        return {
            layout.reference(line.branch, layout.SNAPSHOT, each.id) for line in heads.lines for each in line.snapshots
        }

    def adds_holders(self, before: Heads, after: Heads) -> bool:
        return new_holders.are_added(before, after)

    def holds_nothing(self, path: str) -> bool:
        return f"/{layout.CONSUMER}/" in f"/{path}"

    def may_be_empty(self, heads: Heads, deleted: Sequence[str]) -> Sequence[str]:
        """Return bucket directories if the table's options ask for it; partition directories are their parents."""
        if not is_true(resolved(heads.main.options).get("snapshot.clean-empty-directories")):
            return ()
        return sorted({path.rpartition("/")[0] for path in deleted if "/bucket-" in f"/{path}"}, reverse=True)

    # --- Paimon's own deletion

    def next_commit(self, history: History, now_ms: int, line: Line) -> Forecast | None:
        return next_commit.forecast(self.engine_deletion, history, now_ms, line)

    def engine_differences(self, plan: Plan, history: History) -> tuple[Reason, ...]:
        return self.engine_deletion(plan, history, history.heads)[0]

    def engine_deletion(
        self, plan: Plan, history: History, heads: Heads
    ) -> tuple[tuple[Reason, ...], dict[str, list[str]]]:
        """Return how Paimon's own deletion would differ given these references, and what it would break.

        The second value maps each version that is kept to the paths of its files that Paimon would delete.
        """
        found = self._by_paimon(plan, heads)
        frees = set(plan.frees["path"].to_pylist())
        held = _held_after(plan, history, found.paths - frees)
        return engine_differences.differences(found, frees, held), engine_differences.broken(held)

    def _by_paimon(self, plan: Plan, heads: Heads) -> Native:
        change = plan.change
        if isinstance(change, Expire):
            prefix = "tag:" if change.branch == MAIN else f"branch:{change.branch}/tag:"
            named = [
                verdict.point.removeprefix(prefix)
                for verdict in plan.deleted_points
                if verdict.point.startswith(prefix)
            ]
            change = dataclasses.replace(change, drop_tags=tuple(named))
        return engine_deletion.would_delete(self.store, heads, self.manifests, change, plan.now_ms)


def _commits() -> ModuleType:
    """Import the planner of commits when one is planned: it encodes manifests, with a library that loads slowly."""
    return importlib.import_module("core.formats.paimon.plan.commits")


def _catalogs() -> ModuleType:
    """Import what reaches catalogs when one is named."""
    return importlib.import_module("core.formats.paimon.catalogs.discovery")


def _held_after(plan: Plan, history: History, paths: Collection[str]) -> dict[str, list[str]]:
    """Return for each path the versions that still hold it after the plan was run."""
    kept = {verdict.point for verdict in plan.points if verdict.keep}
    return {path: [each.point for each in history.holders_of(path) if each.point in kept] for path in paths}


def _of_tags(plan: Plan, history: HistorySummary) -> Plan:
    """Check a plan that changes tags against the table's automatic tags, and add the resulting warnings."""
    change, line = plan.change, history.heads.line(plan.change.branch)
    assert line is not None
    if change.new_tag is not None and plan.source is not None:
        automatic_tags.refuse_second(line, change.new_tag, change.old_tag, plan.source)
    return dataclasses.replace(plan, warnings=(*plan.warnings, *automatic_tags.unheeded(line.options)))
