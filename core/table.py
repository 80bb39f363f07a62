"""Opens a table and answers everything that needs its files: references, history, plans with every size filled in.

The calls of the command line and of the dashboard both end here.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import Conflict, Invalid, NotFound, Unsupported
from core.formats.iceberg import references as iceberg_heads
from core.formats.iceberg.catalogs import pyiceberg_catalog as catalogs
from core.formats.iceberg.file_paths import normal
from core.formats.iceberg.format import IcebergTable
from core.formats.iceberg.metadata import parse
from core.formats.iceberg.write.commit import read_current
from core.formats.paimon import consistency, layout
from core.formats.paimon import history as paimon_history
from core.formats.paimon import references as paimon_heads
from core.formats.paimon.file_paths import external_roots
from core.formats.paimon.holder_axis import has_changelogs
from core.formats.paimon.manifests import Manifests
from core.formats.paimon.plan import automatic_tags, commits, engine_differences, orphans, reference_changes
from core.formats.paimon.plan import effects as paimon_effects
from core.formats.paimon.plan import engine_deletion as native
from core.formats.paimon.plan.engine_deletion import Native
from core.formats.paimon.write import commit_base
from core.formats.table_format import Format
from core.messages import counted, told
from core.model.actions import (
    Change,
    CleanOrphans,
    Expire,
    OfBranches,
    OfCommits,
    OfConsumers,
    leaves_changelogs,
)
from core.model.effects import CommitSnapshot
from core.model.history import History
from core.model.plan import Plan
from core.model.references import MAIN, Heads, ObjectKind
from core.planning import outside_roots
from core.planning import reclaim as planning
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import LOCAL, Store

Progress = Callable[[int, int], None]
ATTEMPTS = 20
_EXPIRING_S = (0.05, 0.1, 0.15)


@dataclass(frozen=True)
class Table:
    """One table. Holds no answers, only its store and what was decoded of immutable files.

    `own`: the format of a table that is not Paimon's.
    """

    store: Store
    manifests: Manifests = field(repr=False)
    own: Format | None = None

    @property
    def location(self) -> str:
        return self.own.location if self.own else self.store.location

    @property
    def name(self) -> str:
        return self.store.location.rsplit("/", 1)[-1]

    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        """All references, read now. See `heads.read` of the format for `patience_s` and `gone`."""
        return self.own.heads() if self.own else paimon_heads.read(self.store, patience_s=patience_s, gone=gone)

    def history(
        self, heads: Heads | None = None, progress: Progress | None = None, *, changelogs: bool = False
    ) -> History:
        """Who holds what. `progress` is told (manifests read, manifests to read).

        Given no heads, a table that is changed while it is read is read again: see `lasting`.
        `changelogs` makes room for long-lived changelogs that a plan would leave behind.
        """
        if heads is not None:
            return self._history(heads, progress, changelogs)
        return self.lasting(self.heads(), progress, changelogs=changelogs)

    def lasting(self, heads: Heads, progress: Progress | None = None, *, changelogs: bool = False) -> History:
        """Who holds what by these references; by newer ones where what cannot be read has gone: others expire, too."""
        for _ in range(ATTEMPTS):
            history = self._history(heads, progress, changelogs)
            newer = self.newer(history)
            if newer is None:
                return history
            heads = newer
        raise Conflict("Others kept removing points while they were read.", remedy="Try again.")

    def newer(self, history: History) -> Heads | None:
        """The references of now, where some that could not be read in full are no longer as they were; else None.

        Paimon expires oldest first and deletes a snapshot after its manifests: of the first ones one looks again.
        """
        unread = {history.holders[position].path for position in history.incomplete}
        first = {layout.reference(line.branch, layout.SNAPSHOT, line.earliest.id) for line in history.heads.lines
                 if line.earliest is not None}  # fmt: skip
        for pause_s in (0.0, *(_EXPIRING_S if not self.own and unread & first else ())):
            if not unread:
                return None
            time.sleep(pause_s)
            now = self.heads(patience_s=0.5)
            if any(now.references.get(path) != history.heads.references.get(path) for path in unread):
                return now
        return None

    def _history(self, heads: Heads, progress: Progress | None, changelogs: bool) -> History:
        if self.own:
            return self.own.history(heads, progress)
        wide = changelogs or has_changelogs(heads)
        return paimon_history.build(self.store, heads, self.manifests, changelogs=wide, progress=progress)

    def preview(
        self, change: Change, now_ms: int, history: History | None = None, progress: Progress | None = None
    ) -> Plan:
        """The plan for a change: exactly what it would free, and why the rest stays. Changes nothing."""
        wide = leaves_changelogs(change) and not self.own
        if history is None or (wide and all(holder.exists for holder in history.holders)):
            history = self.history(None if history is None else history.heads, progress, changelogs=wide)
        if self.own is None and isinstance(change, OfBranches | OfConsumers):
            plan = reference_changes.preview(history, change, now_ms)
        elif self.own is None and isinstance(change, OfCommits):
            plan = commits.preview(self.store, history, change, now_ms)
        else:
            plan = planning.preview(history, change, now_ms)
        if self.own:
            plan = self.own.finished(plan, history)
        elif isinstance(change, CleanOrphans):
            frees, notes = orphans.find(self.store, history, change.older_than_ms, change.also)
            plan = dataclasses.replace(plan, frees=frees, warnings=(*plan.warnings, *notes))
            plan = self._undoubted(plan, history)
        elif change.is_of_tags:
            plan = _of_tags(plan, history)
        if len(plan.frees) and self.store.protocol not in (*LOCAL, "memory"):
            note = told("If this store keeps versions of deleted objects, they are billed until those versions expire.")
            plan = dataclasses.replace(plan, warnings=(*plan.warnings, note))
        why = self.lacks(plan)
        if why is None and any(isinstance(each, CommitSnapshot) for each in plan.effects):
            line = history.heads.line(change.branch)
            error = commit_base.unlocked(self.store, change.branch, () if line is None else line.snapshots)
            why = None if error is None else error.message
        if why is not None:
            note = told("{why} So the plan can be shown, and not be run here: use the table's own engine.", why=why)
            plan = dataclasses.replace(plan, warnings=(*plan.warnings, note))
        if unknown := plan.without_size():
            plan = plan.with_sizes({path: self.store.size(path) for path in unknown})
        outer = self.own.roots(history.heads) if self.own else external_roots(history.heads)
        plan = outside_roots.judged(plan, outer, self.store)
        effects = self.own.effects(plan, history.heads) if self.own else paimon_effects.of(plan)
        return dataclasses.replace(plan, effects=effects)

    def _undoubted(self, plan: Plan, history: History) -> Plan:
        """The plan without orphans that may be what a point means: the sweep would refuse them, and stay incomplete."""
        paths = plan.frees["path"].to_pylist()
        doubts = list(map(consistency.doubts(self.store, history, paths).doubt, paths))
        notes = [
            told("Not in this plan, {files}: {why}.", files=counted(count, "{count} file", "{count} files"), why=why)
            for why, count in Counter(each for each in doubts if each is not None).items()
        ]
        frees = plan.frees.filter(pa.array([each is None for each in doubts], pa.bool_()))
        return dataclasses.replace(plan, frees=frees, warnings=(*plan.warnings, *notes))

    def missing_files(self, history: History, point: str) -> list[str]:
        """Files that reading a point needs and that are not there, or not of their size: data files and what lies
        beside them, deletes and indexes, in the table and outside of it, by listing their directories. Raises where a
        place cannot be listed: what nobody could look for is not there."""
        position = history.require(point)
        files = history.files_at(position)
        sizes = history.objects["bytes"].take(files["object"])  # of whole files: many vectors share one
        needed = dict(zip(files["path"].to_pylist(), sizes.to_pylist(), strict=True))
        held = history.objects.filter(pa.array(history.held.at(position)))
        for row in held.filter(pc.equal(held["kind"], ObjectKind.INDEX.value)).to_pylist():
            needed[row["path"]] = row["bytes"]
        for extra in held.filter(pc.is_null(held["bytes"]))["path"].to_pylist():
            if extra.rpartition(".")[0] in needed:
                needed[extra] = None
        listed: dict[str, dict[str, int | None]] = {}
        missing = []
        for path, size in needed.items():
            directory, _, name = path.rpartition("/")
            if directory not in listed:
                is_own = not urls.is_url(path) and not path.startswith("/")
                entries = self.store.ls_if_there(directory) if is_own else Store.named(directory).ls_if_there("")
                listed[directory] = {entry.name: entry.size for entry in entries if not entry.is_dir}
            if name not in listed[directory] or size not in (None, listed[directory][name]):
                missing.append(path)
        return missing

    def lacking(self, history: History, paths: Collection[str]) -> dict[str, list[str]]:
        """Per point that is there: which of these files it holds and the store does not have."""
        held = history.objects["path"].filter(pa.array(history.held.over(history.existing)))
        found: dict[str, list[str]] = {}
        for path in held.filter(pc.is_in(held, value_set=pa.array(list(paths), pa.string()))).to_pylist():
            if self.store.size(path) is None:
                for holder in history.holders_of(path):
                    found.setdefault(holder.point, []).append(path)
        return found

    def lacks(self, plan: Plan) -> str | None:
        """What its store cannot do of what a plan, or taking it back, takes; asks nothing of the store."""
        is_referring = bool(plan.removes or plan.leaves) or isinstance(plan.change, OfCommits)
        creates = is_referring and self.own is None  # the other formats write by commits: see `Format.refuse_apply`
        deletes = bool(len(plan.frees)) or is_referring
        return self.store.lacks(creates=creates, deletes=deletes)

    def refuse_apply(self) -> None:
        """`Unsupported` where plans of this table cannot be carried out here; nothing was changed then."""
        if self.own:
            self.own.refuse_apply()

    def refuse_lacking(self, plan: Plan) -> None:
        """Raises where its store cannot do what this plan, or taking it back, takes; nothing was changed then."""
        if (why := self.lacks(plan)) is not None:
            raise Unsupported(
                "{why} Nothing was changed.",
                why=why,
                path=self.location,
                remedy="Make this change with the table's own engine.",
            )
        paths = [*dict(plan.removes), *plan.leaves] if self.own is None else []
        self.store.probe({path.rpartition("/")[0] for path in paths})

    def native(self, plan: Plan, history: History) -> tuple[str, ...]:
        """In sentences: where the engine's own deletion would differ from this plan, and what it would break."""
        if self.own:
            return self.own.native(plan, history)
        return self.beside_paimon(plan, history, history.heads)[0]

    def beside_paimon(self, plan: Plan, history: History, heads: Heads) -> tuple[tuple[str, ...], dict[str, list[str]]]:
        """The same of Paimon, were these the references; and per point that stays its files that Paimon would take."""
        found = self._by_paimon(plan, heads)
        frees = set(plan.frees["path"].to_pylist())
        held = self._held_after(plan, history, found.paths - frees)
        return engine_differences.differences(found, frees, held), engine_differences.broken(held)

    def _by_paimon(self, plan: Plan, heads: Heads) -> Native:
        change = plan.change
        if isinstance(change, Expire):
            prefix = "tag:" if change.branch == MAIN else f"branch:{change.branch}/tag:"
            named = [verdict.point.removeprefix(prefix) for verdict in plan.goes if verdict.point.startswith(prefix)]
            change = dataclasses.replace(change, drop_tags=tuple(named))
        return native.would_delete(self.store, heads, self.manifests, change, plan.now_ms)

    def _held_after(self, plan: Plan, history: History, paths: Collection[str]) -> dict[str, list[str]]:
        """Per path the points that hold it once the plan was carried out."""
        kept = {verdict.point for verdict in plan.points if verdict.keep}
        return {path: [each.point for each in history.holders_of(path) if each.point in kept] for path in paths}


def _of_tags(plan: Plan, history: History) -> Plan:
    """A plan of Paimon's tags with what its automatic tags make of it."""
    change, line = plan.change, history.heads.line(plan.change.branch)
    assert line is not None
    if change.new_tag is not None and plan.source is not None:
        automatic_tags.refuse_second(line, change.new_tag, change.old_tag, plan.source)
    return dataclasses.replace(plan, warnings=(*plan.warnings, *automatic_tags.unheeded(line.options)))


def open_table(location: str) -> Table:
    """Open the table at a path or URL, or an Iceberg table by one metadata.json or by its name in a catalog (see
    `core.formats.iceberg.catalogs.pyiceberg_catalog`). `NotFound` if nothing is there."""
    if catalogs.is_name(location):
        return _named(catalogs.CatalogTable.of(location))
    above, _, name = location.rstrip("/").rpartition("/")
    if iceberg_heads.is_metadata(name):
        return _pinned(above or ("/" if location.startswith("/") else "."), name)
    store = Store(location)
    if paimon_heads.is_table(store):
        return Table(store, Manifests(store))
    if iceberg_heads.is_table(store):
        return Table(store, Manifests(store), IcebergTable(store))
    try:
        names = {entry.name for entry in store.ls()}
    except NotFound as error:
        raise NotFound(
            "There is no table at {location}.",
            location=location,
            path=location,
            remedy="Check the path; `snapscope tables WAREHOUSE` lists.",
        ) from error
    if any(name.endswith(".db") for name in names):
        raise Invalid(
            "{location} is a warehouse, not a table.",
            location=location,
            remedy=told("Name a table, such as {location}/<db>.db/<table>.", location=location),
        )
    raise NotFound(
        "{location} holds no table: neither Paimon's schema/schema-<N> nor Iceberg's metadata/*.metadata.json.",
        location=location,
        path=location,
    )


def _named(catalog: catalogs.CatalogTable) -> Table:
    """The table of a catalog, where its current metadata says it is."""
    content, path = read_current(lambda: normal(catalog.current()), _read)
    found = parse(content, path)
    store = Store.named(normal(found.location))
    return Table(store, Manifests(store), IcebergTable(store, catalog=catalog))


def _read(path: str) -> bytes:
    directory, _, name = path.rpartition("/")
    return Store.named(directory).read(name, TABLE_METADATA)


def _pinned(directory: str, name: str) -> Table:
    """The Iceberg table of one metadata file; its root is the directory above `metadata`."""
    store, path = Store(directory), name
    if store.location.rpartition("/")[2] == iceberg_heads.DIRECTORY:
        store, path = Store(store.location.rpartition("/")[0] or "/"), f"{iceberg_heads.DIRECTORY}/{name}"
    return Table(store, Manifests(store), IcebergTable(store, path))
