"""One Iceberg table as it was opened: a directory, or exactly one metadata.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.changes import CreateTag, Expire, RenameTag
from core.errors import Unsupported
from core.formats import Edit, Progress
from core.formats.iceberg import commit, edits
from core.formats.iceberg import history as histories
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.catalog import CatalogTable
from core.formats.iceberg.heads import find, heads, read, reference, version_of
from core.formats.iceberg.manifest import DELETED, ENTRY, Manifests
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.places import Place, normal, same
from core.history import History
from core.model import Heads, ObjectKind
from core.planned import FREES, Plan, ordered
from core.refs import cleans_incrementally
from core.store import Store
from core.units import several, size


@dataclass(frozen=True)
class IcebergTable:
    """A `Format`. `pinned`: the path in `store` of the one metadata file that was named; `catalog`: the table as its
    catalog knows it."""

    store: Store
    pinned: str | None = None
    catalog: CatalogTable | None = None
    manifests: Manifests = field(default_factory=Manifests, repr=False)

    @property
    def location(self) -> str:
        if self.catalog:
            return self.catalog.location
        return f"{self.store.location}/{self.pinned}" if self.pinned else self.store.location

    def heads(self) -> Heads:
        if self.catalog is None:
            return read(self.store, self.pinned)[0]
        path = Place.of(self.store, self.store.location, {}).path(self.catalog.current())
        return heads(documents.parse(commit.read_at(self.store, path), path), self.location, (), self.store)

    def history(self, heads: Heads, progress: Progress | None) -> History:
        found = _metadata(heads)
        return histories.build(self.place(found), heads, found, self.manifests, progress)

    def finished(self, plan: Plan, history: History) -> Plan:
        """The plan with the old metadata that goes, and with what plain Java would free only later."""
        plan = self._later(plan, history)
        if plan.removes == () == plan.leaves or (isinstance(plan.change, CreateTag | RenameTag) and history.incomplete):
            return plan  # no commit; or one after which nobody could say what remains
        place, held = self.place(_metadata(history.heads)), set(history.objects["path"].to_pylist())
        old = commit.old_metadata(place, history.heads, held)
        if not old:
            return plan
        kinds = [ObjectKind.METADATA.value] * len(old)
        rows = pa.table([list(old), kinds, list(old.values())], schema=FREES)
        return dataclasses.replace(plan, frees=ordered(pa.concat_tables([plan.frees, rows])))

    def _later(self, plan: Plan, history: History) -> Plan:
        if not isinstance(plan.change, Expire) or not len(plan.frees):
            return plan
        goes = frozenset(int(history.holders[position].name) for position in _going(plan, history))
        if not cleans_incrementally(history.heads, goes, frozenset(plan.change.snapshots)):
            return plan
        later = self.freed_later(plan, history)
        if not len(later):
            return plan
        total = size(pc.sum(later["bytes"]).as_py() or 0)
        warning = (
            f"Of these, plain Java (expireSnapshots().commit()) frees {several(len(later), 'file')} ({total}) only "
            "later: on an unbroken line it deletes a data file when the snapshot that removed it expires, and that "
            "one stays."
        )
        return dataclasses.replace(plan, warnings=(*plan.warnings, warning))

    def freed_later(self, plan: Plan, history: History) -> pa.Table:
        """The freed files that a remaining snapshot has as DELETED entries of a snapshot that stays."""
        after = np.ones(len(history.holders), dtype=np.bool_)
        after[_going(plan, history)] = False
        stays = pa.array([int(history.holders[position].name) for position in np.flatnonzero(after)], pa.int64())
        is_manifest = pc.equal(history.objects["kind"], ObjectKind.MANIFEST.value).to_numpy()
        objects = history.objects.filter(pa.array(history.held.over(after) & is_manifest))
        sizes = dict(zip(objects["path"].to_pylist(), objects["bytes"].to_pylist(), strict=True))
        place = self.place(_metadata(history.heads))
        rows = self.manifests.load(place, list(sizes), ENTRY, sizes).rows
        rows = rows.filter(pc.and_(pc.equal(rows["status"], DELETED), pc.is_in(rows["snapshot_id"], value_set=stays)))
        if not len(rows):
            return plan.frees.slice(0, 0)
        removed = place.paths(rows["path"].combine_chunks())
        return plan.frees.filter(pc.is_in(plan.frees["path"], value_set=removed))

    def refuse_apply(self) -> None:
        why = None
        if self.catalog:
            self.catalog.refuse_commit()
        elif self.pinned:
            why = "One metadata file was named, and only the table's directory or its catalog says which is current"
        elif not self.store.is_local:
            why = f"A table without a catalog is safely changed on a local disk only, not on {self.store.protocol!r}"
        elif version_of(find(self.store)[0]) is None:
            why = "A catalog owns this table (its metadata is named by uuid), and only through it can it be changed"
        if why:
            raise Unsupported(
                f"{why}; nothing was changed.",
                path=self.location,
                remedy="Carry the change out with the table's own engine, such as CALL system.expire_snapshots in "
                "Spark.",
            )

    # changes --------------------------------------------------------------------------------------------------------

    def edit(self, plan: Plan, heads: Heads) -> Edit:
        return edits.edit_of(plan, heads)

    def commit(self, heads: Heads, edit: Edit) -> str | None:
        edits.check(heads, edit)
        found = _metadata(heads)
        if self.catalog:
            return self.catalog.commit(self.store, self.place(found), found, edit)
        return commit.publish(self.store, found, edit)

    def was_made(self, edit: Edit, heads: Heads) -> bool:
        found = _metadata(heads)
        base = dict(edit.beside)[reference("file")].decode()
        return commit.was_made(self.store, self.place(found), found, edit, base)

    def repair(self) -> None:
        if not self.catalog:
            commit.repair_hint(self.store)

    def taken_back(self, heads: Heads, edit: Edit) -> Edit:
        return edits.taken_back(_metadata(heads), heads.references, edit)

    def check_replaced(self, edit: Edit) -> None:
        found = _metadata(self.heads())
        commit.check_replaced(self.store, self.place(found), found, edit)

    def outside(self, heads: Heads, kinds: Mapping[str, str]) -> Callable[[str], str | None]:
        found = _metadata(heads)
        return commit.outside(self.place(found), found, kinds)

    # ----------------------------------------------------------------------------------------------------------------

    def refuse_query(self) -> None:
        raise Unsupported(
            "Rows of Iceberg tables cannot be read here yet.",
            path=self.location,
            remedy="Read them in Spark with the Iceberg runtime: SELECT * FROM … VERSION AS OF <snapshot id>.",
        )

    def place(self, found: Metadata) -> Place:
        """Where this table's files are: where its metadata says, and nowhere else."""
        if same(self.store, found.location):
            return Place.of(self.store, found.location, found.properties)
        if self.pinned:
            return Place.of(Store(normal(found.location)), found.location, found.properties)
        raise Unsupported(
            f"The table was moved or copied: its metadata says it is at {found.location}, and it was opened at "
            f"{self.store.location}, so its files cannot be told apart from those of the other place.",
            path=found.path,
            remedy=f"Open {found.location}, or {found.path} itself to read the files where it says they are; "
            "a copy needs its metadata rewritten.",
        )


def _metadata(heads: Heads) -> Metadata:
    return documents.of(heads.document, heads.references[reference("file")].decode())


def _going(plan: Plan, history: History) -> list[int]:
    gone = {verdict.point for verdict in plan.goes}
    return [position for position, holder in enumerate(history.holders) if holder.point in gone]
