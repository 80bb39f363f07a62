"""An open Iceberg table: a directory, a table in a catalog, or exactly one metadata.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core import urls
from core.errors import Unsupported
from core.formats.iceberg import discovery, expiration_dates, inspection, moved_copy, time_travel, types
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.iceberg.catalogs.pyiceberg_catalog import CatalogTable
from core.formats.iceberg.file_paths import DIRECTORY, TableLocation, normal, same
from core.formats.iceberg.history import build as histories
from core.formats.iceberg.history import file_index
from core.formats.iceberg.history.parts import IcebergInParts
from core.formats.iceberg.locations import is_name
from core.formats.iceberg.manifests import IcebergManifests
from core.formats.iceberg.metadata import Metadata, signed
from core.formats.iceberg.plan import effects, expiry, orphans, tag_costs
from core.formats.iceberg.references import find, heads, is_table, read, reference, version_of
from core.formats.iceberg.retention import cleans_incrementally
from core.formats.iceberg.write import commit, edits
from core.formats.table_format import Examined, Format, Listing, Progress, TableFormat
from core.messages import Reason, counted, message
from core.model import codes
from core.model.actions import Change, CleanOrphans, Expire
from core.model.capabilities import Capabilities
from core.model.column_bounds import Bounds
from core.model.effects import Effect, SwapMetadata
from core.model.history import History, HistorySummary
from core.model.intervals import Mask
from core.model.plan import FREES, Plan, ordered
from core.model.references import Heads, ObjectKind
from core.model.time_travel import AsOf
from core.storage import location_options
from core.storage.decoded_files import flat
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store
from core.units import parse_size_bytes, several, size


@dataclass(frozen=True)
class IcebergFormat(Format):
    """An Iceberg table. `pinned`: the path in `store` of the one metadata file named; `catalog`: its catalog entry."""

    capabilities: ClassVar[Capabilities] = ICEBERG
    sign: ClassVar[str] = message("Iceberg's metadata/*.metadata.json")
    mark: ClassVar[str | None] = DIRECTORY

    store: Store
    pinned: str | None = None
    catalog: CatalogTable | None = None
    manifests: IcebergManifests = field(default_factory=IcebergManifests, repr=False)

    resolve = staticmethod(time_travel.resolve)
    conversion = staticmethod(types.conversion)
    unwritten = staticmethod(time_travel.unwritten)
    expiring = staticmethod(expiry.expiring)
    expiries = staticmethod(expiration_dates.expiries)
    by_tags = staticmethod(tag_costs.by_tags)

    @staticmethod
    def target_size(options: Mapping[str, str], *, keyed: bool) -> tuple[int, float]:
        return parse_size_bytes(options.get("write.target-file-size-bytes", str(512 * 1024**2))), 0.75

    @classmethod
    def of(cls, opened: TableFormat) -> IcebergFormat:
        """Return an open table as an Iceberg table, for code that reads Iceberg's files."""
        assert isinstance(opened, cls)
        return opened

    @classmethod
    def is_table(cls, store: Store) -> bool:
        return is_table(store)

    @classmethod
    def at(cls, store: Store) -> IcebergFormat:
        return cls(store)

    @classmethod
    def opened(cls, location: str) -> IcebergFormat:
        """Open the table of one metadata file, or a catalog's table at the location in its current metadata."""
        if not is_name(location):
            opened = cls(*discovery.pinned(location))
            return cls(*moved_copy.above(opened.store, opened.pinned or "", opened.place))
        catalog = CatalogTable.of(location)
        content, path = commit.read_current(lambda: normal(catalog.current()), _read)
        found = documents.parse(content, path)
        location_options.learn(found.location, location_options.of(path))
        return cls(Store.named(normal(found.location)), catalog=catalog)

    def reread(self) -> Self:
        return dataclasses.replace(self, manifests=IcebergManifests(is_kept=False))

    @classmethod
    def listed(cls, location: str) -> Listing:
        return discovery.listed(location)

    @classmethod
    def places(cls, named: Sequence[str]) -> tuple[str, ...]:
        return discovery.places(named)

    # --- reading

    @property
    def location(self) -> str:
        if self.catalog:
            return self.catalog.location
        return f"{self.store.location}/{self.pinned}" if self.pinned else self.store.location

    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        if self.catalog is None:
            return read(self.store, self.pinned)[0]
        place, current = TableLocation.of(self.store, self.store.location, {}), self.catalog.current
        content, path = commit.read_current(
            lambda: place.path(current()), lambda path: commit.read_at(self.store, path)
        )
        return heads(documents.parse(content, path), self.location, (), self.store)

    def history(self, heads: Heads, progress: Progress | None, *, changelogs: bool = False) -> History:
        found = _metadata(heads)
        return histories.build(self.place(found), heads, found, self.manifests, progress)

    def in_parts(self, heads: Heads, *, changelogs: bool = False) -> IcebergInParts:
        found = _metadata(heads)
        return IcebergInParts(self.place(found), heads, found)

    # --- inspecting one version

    def manifest_list(self, history: History, point: AsOf) -> pa.Table:
        found = _metadata(history.heads)
        return inspection.manifests(self.manifests, self.place(found), found, point.snapshot.id)

    def manifest_entries(self, history: History, point: AsOf, manifest: Mapping[str, Any]) -> pa.Table:
        found = _metadata(history.heads)
        return inspection.entries(self.manifests, self.place(found), found, point.snapshot.id, manifest["path"])

    def statistics(self, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
        found, data = _metadata(history.heads), files.filter(pc.equal(files["content"], "data"))
        return inspection.statistics(self.manifests, self.place(found), found, point.snapshot.id, data, point.schema)

    def analyzed(self, history: History, point: AsOf) -> dict[str, str]:
        """Return the snapshot's Puffin files with statistics, by name, and their sizes."""
        listed = _metadata(history.heads).statistics
        return {path.rpartition("/")[2]: f"{size:,} bytes" for id, path, size in listed if id == point.snapshot.id}

    # --- planning

    def plan(self, history: History, change: Change, now_ms: int) -> Plan:
        return self.finished(self._previewed(history, change, now_ms), history)

    def finished(self, plan: Plan, history: History) -> Plan:
        """Add the old metadata files that the commit deletes, and warnings about what plain Java deletes later.

        A plan that deletes no data did not check which roots belong to the table alone, so metadata outside it is
        kept."""
        return self._with_old_metadata(self._later(plan, history), history)

    def plan_deletion(self, history: HistorySummary, change: Change, now_ms: int) -> Plan:
        return self._with_old_metadata(self._previewed(history, change, now_ms), history)

    def _previewed(self, history: HistorySummary, change: Change, now_ms: int) -> Plan:
        plan = expiry.preview(history, change, now_ms)
        if not isinstance(change, CleanOrphans):
            return plan
        self.refuse_apply()  # which metadata is current, and so which files are held, is known only where it may change
        place = self.place(_metadata(history.heads))
        return orphans.searched(plan, change, history, place, lambda: _metadata(self.heads()))

    def _with_old_metadata(self, plan: Plan, history: HistorySummary) -> Plan:
        if plan.removes == () == plan.leaves or (plan.change.names_a_reference and history.incomplete):
            return plan  # no commit, or afterwards it would be unclear which files remain
        old = commit.old_metadata(self.place(_metadata(history.heads)), history)
        if not isinstance(plan.change, Expire) and (outer := [path for path in old if urls.is_url(path)]):
            note = codes.OLD_METADATA_STAYS(
                files=counted(len(outer), "{count} old metadata file", "{count} old metadata files"),
                named=", ".join(outer[:5]) + (" …" if len(outer) > 5 else ""),
            )
            plan = dataclasses.replace(plan, notes=(*plan.notes, note))
            old = {path: size for path, size in old.items() if path not in outer}
        if not old:
            return plan
        kinds = [ObjectKind.METADATA.value] * len(old)
        rows = pa.table([list(old), kinds, list(old.values())], schema=FREES)
        return dataclasses.replace(plan, frees=ordered(pa.concat_tables([plan.frees, rows])))

    def _later(self, plan: Plan, history: History) -> Plan:
        if not len(plan.frees) or not self._is_incremental(plan, history):
            return plan
        later, never = self.freed_later(plan, history)
        warnings = list(plan.warnings)
        if len(later):
            warnings.append(codes.JAVA_LATER(files=_so_many(later)))
        if len(never):
            warnings.append(codes.JAVA_NEVER(files=_so_many(never)))
        return dataclasses.replace(plan, warnings=tuple(warnings))

    def freed_later(self, plan: Plan, history: History) -> tuple[pa.Table, pa.Table]:
        """Return the freed files that plain Java deletes only later, and those it never deletes.

        Later: removed only by a snapshot that is kept, and deleted when that expires. Never: skipped together with the
        snapshots that hold or removed them."""
        by_stays, by_gone = self._removed(plan, history)
        paths, kinds = plan.frees["path"], plan.frees["kind"]
        is_left = pc.invert(pc.is_in(paths, value_set=by_gone))
        is_later = pc.and_(is_left, pc.is_in(paths, value_set=by_stays))
        seen = history.objects["path"].filter(pa.array(history.held.over(self._judged(plan, history))))
        is_content = pc.is_in(kinds, value_set=pa.array([ObjectKind.DATA.value, ObjectKind.DELETES.value]))
        is_own = pc.is_in(kinds, value_set=pa.array([ObjectKind.MANIFEST.value, ObjectKind.MANIFEST_LIST.value]))
        is_skipped = pc.or_(
            pc.and_(pc.and_(is_content, is_left), pc.invert(is_later)),
            pc.and_(is_own, pc.invert(pc.is_in(paths, value_set=seen))),
        )
        return plan.frees.filter(is_later), plan.frees.filter(is_skipped)

    def engine_differences(self, plan: Plan, history: History) -> tuple[Reason, ...]:
        """Return what plain Java's own expiry of these snapshots would delete although it is still needed."""
        if not self._is_incremental(plan, history):
            return ()
        after = _after(plan, history)
        held = history.objects["path"].filter(pa.array(history.held.over(after)))
        broken = held.filter(pc.is_in(held, value_set=self._removed(plan, history)[1])).to_pylist()
        if not broken:
            return ()
        points = {holder.point for path in broken for holder in history.holders_of(path)}
        points -= {verdict.point for verdict in plan.deleted_points}
        return (
            codes.JAVA_BREAKS(
                files=counted(len(broken), "{count} file", "{count} files"),
                points=counted(
                    len(points), "{count} remaining snapshot still needs", "{count} remaining snapshots still need"
                ),
                first=broken[0],
            ),
        )

    def _is_incremental(self, plan: Plan, history: History) -> bool:
        """Return whether plain Java would clean up after this plan without checking what is still reachable."""
        if not isinstance(plan.change, Expire):
            return False
        expired = frozenset(int(history.holders[position].name) for position in _deleted_positions(plan, history))
        return bool(expired) and cleans_incrementally(history.heads, expired, frozenset(plan.change.snapshots))

    def _removed(self, plan: Plan, history: History) -> tuple[pa.Array, pa.Array]:
        """Return the paths of the DELETED entries that plain Java sees, by kept snapshots and by all others."""
        after = _after(plan, history)
        own = (signed(int(history.holders[position].name)) for position in np.flatnonzero(after))
        kept_ids = pa.array(list(own), pa.int64())
        place = self.place(_metadata(history.heads))
        is_manifest = pc.equal(history.objects["kind"], ObjectKind.MANIFEST.value).to_numpy()

        def removed(by: Mask) -> pa.Table:
            chosen = history.objects.filter(pa.array(history.held.over(by) & is_manifest))
            there = chosen.filter(pc.is_valid(chosen["bytes"]))
            sizes = dict(zip(there["path"].to_pylist(), there["bytes"].to_pylist(), strict=True))
            return file_index.removed(self.manifests, place, sizes)

        kept, every = removed(after), removed(self._judged(plan, history))
        by_kept = kept.filter(pc.is_in(kept["snapshot_id"], value_set=kept_ids))
        by_others = every.filter(pc.invert(pc.is_in(every["snapshot_id"], value_set=kept_ids)))
        return flat(by_kept["path"]), flat(by_others["path"])

    def _judged(self, plan: Plan, history: History) -> Mask:
        """Mask the positions whose files plain Java considers if main has an unbroken history.

        All but expiring snapshots that an ancestor of main cherry-picked, or that are themselves cherry-picks
        (`IncrementalFileCleanup`, 1.11)."""
        known = _metadata(history.heads).snapshots.values()
        sources = {each.id: each.summary.get("source-snapshot-id") for each in known}
        picked = {int(source) for source in sources.values() if source is not None}
        after = _after(plan, history)
        own = [int(holder.name) for holder in history.holders]
        return after | np.array([sources[each] is None and each not in picked for each in own], dtype=np.bool_)

    def refuse_apply(self) -> None:
        why = None
        if self.catalog:
            self.catalog.refuse_commit()
        elif self.pinned:
            why = message(
                "You opened a single metadata file, and only the table's directory or its catalog knows "
                "which one is current"
            )
        elif not (self.store.is_local or self.store.guarantees.renames):
            why = message(
                "A table without a catalog can be changed safely on a local disk or in HDFS only, not on {protocol!r}",
                protocol=self.store.protocol,
            )
        elif moved := moved_copy.why_read_only(self.store, read(self.store)[1]):
            why = moved
        elif version_of(find(self.store)[0]) is None:
            why = message(
                "This table belongs to a catalog (its metadata files are named by uuid) and can be "
                "changed only through it"
            )
        if why:
            raise Unsupported(
                "{why}; nothing was changed.",
                why=why,
                path=self.location,
                remedy="Make the change with the table's own engine, such as CALL system.expire_snapshots in Spark.",
            )

    # changes --------------------------------------------------------------------------------------------------------

    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        return effects.of(plan, edits.edit_of(plan, heads))

    def edit(self, plan: Plan, heads: Heads) -> SwapMetadata:
        return edits.edit_of(plan, heads)

    def commit(self, heads: Heads, edit: SwapMetadata) -> str | None:
        edits.check(heads, edit)
        found = _metadata(heads)
        if self.catalog:
            return self.catalog.commit(self.store, self.place(found), found, edit)
        return commit.publish(self.store, found, edit)

    def was_made(self, edit: SwapMetadata, heads: Heads) -> bool:
        found = _metadata(heads)
        base = dict(edit.beside)[reference("file")].decode()
        return commit.was_made(self.store, self.place(found), found, edit, base)

    def repair(self) -> None:
        if not self.catalog:
            commit.repair_hint(self.store)

    def taken_back(self, heads: Heads, edit: SwapMetadata) -> SwapMetadata:
        return edits.taken_back(_metadata(heads), heads.references, edit)

    def check_replaced(self, edit: SwapMetadata) -> None:
        found = _metadata(self.heads())
        commit.check_replaced(self.store, self.place(found), found, edit)

    def roots(self, heads: Heads) -> tuple[str, ...]:
        return self.place(_metadata(heads)).written

    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        found = _metadata(history.heads)
        return Examined({}, commit.outside(self.place(found), found, frees))

    # ----------------------------------------------------------------------------------------------------------------

    def place(self, found: Metadata) -> TableLocation:
        """Return where this table's files are: at the location in its metadata, or in a complete copy."""
        if same(self.store, found.location):
            return TableLocation.of(self.store, found.location, found.properties)
        if not self.catalog and (copied := moved_copy.rebased(self.store, found, self.pinned)):
            return copied
        if self.pinned:
            return TableLocation.of(Store.named(normal(found.location)), found.location, found.properties)
        raise Unsupported(
            "The table was moved or copied: its metadata says it is at {location}, but it was opened "
            "at {opened}, which does not contain its manifest lists.",
            location=found.location,
            opened=self.store.location,
            path=found.path,
            remedy=message(
                "Open {location}, or open {path} itself to read the files at the locations it contains; "
                "a copy needs rewritten metadata.",
                location=found.location,
                path=found.path,
            ),
        )


def _read(path: str) -> bytes:
    directory, _, name = path.rpartition("/")
    return Store.named(directory).read(name, TABLE_METADATA)


def _metadata(heads: Heads) -> Metadata:
    return documents.of(heads.document, heads.references[reference("file")].decode())


def _so_many(files: pa.Table) -> str:
    return f"{several(len(files), 'file')} ({size(pc.sum(files['bytes']).as_py() or 0)})"


def _deleted_positions(plan: Plan, history: History) -> list[int]:
    deleted = {verdict.point for verdict in plan.deleted_points}
    return [position for position, holder in enumerate(history.holders) if holder.point in deleted]


def _after(plan: Plan, history: History) -> Mask:
    after = np.ones(len(history.holders), dtype=np.bool_)
    after[_deleted_positions(plan, history)] = False
    return after
