"""Open a table and answer everything that needs its files: references, history, plans with all sizes filled in.

The command line and the dashboard both use these calls.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from core import units, urls
from core.errors import Conflict, Invalid, NotFound, Unsupported
from core.formats import registry, table_format
from core.formats.iceberg import locations as iceberg_locations
from core.formats.paimon import locations as paimon_locations
from core.formats.table_format import Examined, TableFormat
from core.messages import Reason, counted
from core.model import codes
from core.model.actions import Change, CleanOrphans, OfCommits, leaves_changelogs
from core.model.capabilities import Capabilities
from core.model.expiry import Forecast
from core.model.history import History, HistorySummary
from core.model.plan import Plan
from core.model.references import MAIN, Heads, ObjectKind
from core.model.time_travel import UNWRITTEN, AsOf, parse_time_ms
from core.planning import outside_roots
from core.storage import presence
from core.storage.store import Store

Progress = table_format.Progress
H = TypeVar("H", bound=HistorySummary)
ATTEMPTS = 20


@dataclass(frozen=True)
class Table:
    """One table of any format. It caches no answers.

    batches_together: how many batches of files a run deletes before it reads references again
    on_spark: whether Spark reads the metadata, which may not fit into one process
    """

    format: TableFormat

    batches_together: ClassVar[int] = 1
    on_spark: ClassVar[bool] = False

    @property
    def store(self) -> Store:
        return self.format.store

    @property
    def capabilities(self) -> Capabilities:
        return self.format.capabilities

    @property
    def location(self) -> str:
        return self.format.location

    @property
    def name(self) -> str:
        """The table's name in its catalog, which may keep it in a directory of another name; else its directory's."""
        is_in_catalog = iceberg_locations.is_name(self.location) or paimon_locations.is_name(self.location)
        last = (self.location if is_in_catalog else self.store.location).rsplit("/", 1)[-1]
        return unquote(last) if is_in_catalog else last

    def reread(self) -> Table:
        """The same table, whose history is made from its store alone: what a change is decided by."""
        return dataclasses.replace(self, format=self.format.reread())

    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        """All references, read now. See `TableFormat.heads` for `patience_s` and `gone`."""
        return self.format.heads(patience_s=patience_s, gone=gone)

    def as_of(self, point: str, branch: str = MAIN) -> AsOf:
        """What `point` names on `branch`. For a time on a remote store, as few snapshots are read as decide it."""
        text = point.strip()
        if text.startswith("branch:") and "/" in text:
            branch, _, text = text.removeprefix("branch:").partition("/")
        return self.at_time(text, branch) or resolve(self.heads(), point, branch)

    def at_time(self, point: str, branch: str = MAIN) -> AsOf | None:
        """The snapshot of a time (`time:…`), by reading few of many on a remote store; None if all must be read."""
        text = point.strip()
        return self.format.at_time(branch, parse_time_ms(text[len("time:") :])) if text.startswith("time:") else None

    def has_snapshot(self, id: int) -> bool:
        """Whether a snapshot of any branch has this id. Reads as few of them as decide it."""
        found = self.format.has_snapshot(id)
        if found is None:
            return any(each.id == id for line in self.heads().lines for each in line.snapshots)
        return found

    def history(
        self, heads: Heads | None = None, progress: Progress | None = None, *, changelogs: bool = False
    ) -> History:
        """Which holders hold which files. `progress` is called with (manifests read, manifests to read).

        Without `heads`, a table that changes while it is being read is read again: see `lasting`. `changelogs` adds
        positions for long-lived changelogs that a plan would leave behind.
        """
        if heads is not None:
            return self.format.history(heads, progress, changelogs=changelogs)
        return self.lasting(self.heads(), progress, changelogs=changelogs)

    def lasting(self, heads: Heads, progress: Progress | None = None, *, changelogs: bool = False) -> History:
        """Who holds what by these references, or by newer ones: see `until_unchanged`."""
        return self.until_unchanged(heads, lambda heads: self.format.history(heads, progress, changelogs=changelogs))

    def summary(self, heads: Heads, change: Change | None = None) -> HistorySummary:
        """What a run needs to know of the history by exactly these references, and plans `change` again by."""
        return self.history(heads)

    def until_unchanged(self, heads: Heads, read: Callable[[Heads], H]) -> H:
        """Read by these references, or by newer ones if others delete something while it is being read.

        Raises `Conflict` after `ATTEMPTS` attempts.
        """
        for _ in range(ATTEMPTS):
            history = read(heads)
            newer = self.newer(history)
            if newer is None:
                return history
            heads = newer
        raise Conflict("Other writers kept deleting snapshots while they were being read.", remedy="Try again.")

    def newer(self, history: HistorySummary) -> Heads | None:
        """The current references if some that could not be read in full have changed since; else None."""
        unread = {history.holders[position].path for position in history.incomplete}
        for pause_s in (0.0, *self.format.pauses_s(history.heads, unread)):
            if not unread:
                return None
            time.sleep(pause_s)
            now = self.heads(patience_s=0.5)
            if any(now.references.get(path) != history.heads.references.get(path) for path in unread):
                return now
        return None

    def preview(
        self, change: Change, now_ms: int, history: HistorySummary | None = None, progress: Progress | None = None
    ) -> Plan:
        """The plan for an action: exactly what it would free, and why the rest is kept. Changes nothing.

        From sums over files, it can be an expiry or a deletion of tags or of orphans.
        """
        if history is not None and not isinstance(history, History):
            return self._shown(
                self._without_doubtful(self.format.plan_deletion(history, change, now_ms), history), history
            )
        wide = self.is_wide(change)
        if history is None or (wide and all(holder.exists for holder in history.holders)):
            history = self.history(None if history is None else history.heads, progress, changelogs=wide)
        return self._shown(self._without_doubtful(self.format.plan(history, change, now_ms), history), history)

    def is_wide(self, change: Change) -> bool:
        """Whether planning an action needs positions for the changelogs that it leaves behind."""
        return leaves_changelogs(change) and self.capabilities.has_changelogs

    def _without_doubtful(self, plan: Plan, history: HistorySummary) -> Plan:
        """Drop orphans that a version may refer to: the run would keep them back and remain incomplete."""
        if not (isinstance(plan.change, CleanOrphans) and len(plan.frees)):
            return plan
        frees = dict(zip(plan.frees["path"].to_pylist(), plan.frees["kind"].to_pylist(), strict=True))
        doubts = list(map(self.doubt(history, frees), frees))
        notes = [
            codes.DOUBTFUL(files=counted(count, "{count} file", "{count} files"), why=why)
            for why, count in Counter(each for each in doubts if each is not None).items()
        ]
        frees = plan.frees.filter(pa.array([each is None for each in doubts], pa.bool_()))
        return dataclasses.replace(plan, frees=frees, warnings=(*plan.warnings, *notes))

    def doubt(self, history: HistorySummary, frees: Mapping[str, str]) -> Callable[[str], Reason | None]:
        """As `TableFormat.doubt`."""
        return self.format.doubt(history, frees)

    def _shown(self, plan: Plan, history: HistorySummary) -> Plan:
        """Add notes, sizes that only the store knows, what is outside the table, and the steps."""
        if len(plan.frees) and (is_kept := self.store.keeps_versions()) is not False:
            note = codes.VERSIONS_KEPT(size=units.size(plan.freed_bytes)) if is_kept else codes.VERSIONS_BILLED()
            plan = dataclasses.replace(plan, warnings=(*plan.warnings, note))
        if (why := self.lacks(plan) or self.format.why_not_here(plan, history)) is not None:
            plan = dataclasses.replace(plan, warnings=(*plan.warnings, codes.NOT_RUN_HERE(why=why)))
        if unknown := plan.without_size():
            plan = plan.with_sizes(presence.sizes(self.store, list(unknown)))
        plan = outside_roots.judged(plan, self.format.roots(history.heads), self.store)
        return dataclasses.replace(plan, effects=self.format.effects(plan, history.heads))

    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        """Look for contradictions in what `summary` returned, and near the files to be deleted (path → kind)."""
        return self.format.examine(history, frees)

    def missing_files(self, history: History, point: str) -> list[str]:
        """Files needed to read a version that do not exist or have another size, found by listing their directories.

        Covers data files and the deletes and indexes that belong to them, inside and outside the table. Raises if a
        directory cannot be listed, because then nobody knows.
        """
        position = history.require(point)
        files = history.files_at(position)
        sizes = history.objects["bytes"].take(files["object"])  # sizes of whole files: many deletion vectors share one
        needed = dict(zip(files["path"].to_pylist(), sizes.to_pylist(), strict=True))
        held = history.objects.filter(pa.array(history.held.at(position)))
        for row in held.filter(pc.equal(held["kind"], ObjectKind.INDEX.value)).to_pylist():
            needed[row["path"]] = row["bytes"]
        for extra in held.filter(pc.is_null(held["bytes"]))["path"].to_pylist():
            if extra.rpartition(".")[0] in needed:
                needed[extra] = None
        return self.absent(needed)

    def absent(self, needed: Mapping[str, int | None]) -> list[str]:
        """Those of these files that do not exist, or have another size than the given one, by listing their
        directories. Raises if one cannot be listed."""
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

    def lacking(self, history: HistorySummary, paths: Collection[str]) -> dict[str, list[str]]:
        """Per existing version: which of these files it holds although the store does not have them."""
        held = history.held_among(paths)
        found: dict[str, list[str]] = {}
        for path, size in presence.sizes(self.store, list(held)).items():
            for position in held[path] if size is None else ():
                found.setdefault(history.holders[position].point, []).append(path)
        return found

    def lacks(self, plan: Plan) -> str | None:
        """What the store cannot do of what a plan, or undoing it, needs, or why only an engine can; None if it is done
        here. Does not access the store."""
        is_referring = bool(plan.removes or plan.leaves) or isinstance(plan.change, OfCommits)
        creates = is_referring and self.capabilities.references_are_files  # others commit: see `refuse_apply`
        deletes = bool(len(plan.frees)) or is_referring
        return self.format.why_elsewhere(plan.change) or self.store.lacks(creates=creates, deletes=deletes)

    def refuse_apply(self) -> None:
        """Raise `Unsupported` if plans of this table cannot be run here, `Invalid` if the journal could not name it;
        nothing was changed then."""
        if not urls.is_text(self.location):
            raise Invalid(
                "The location {location} is not valid UTF-8, so the journal cannot record a change of this table.",
                location=urls.shown(self.location),
                path=urls.shown(self.location),
                remedy="Rename the directory, or make this change with the table's own engine.",
            )
        self.format.refuse_apply()

    def refuse_lacking(self, plan: Plan) -> None:
        """Raise `Unsupported` if the store cannot do what this plan, or undoing it, needs; nothing was changed then."""
        if (why := self.lacks(plan)) is not None:
            raise Unsupported(
                "{why} Nothing was changed.",
                why=why,
                path=self.location,
                remedy="Make this change with the table's own engine.",
            )
        paths = [*dict(plan.removes), *plan.leaves] if self.capabilities.references_are_files else []
        self.store.probe({path.rpartition("/")[0] for path in paths})

    def next_commit(self, history: History, now_ms: int, branch: str = MAIN) -> Forecast | None:
        """What the next commit of a writer to a branch expires automatically; None if nothing."""
        line = history.heads.line(branch)
        if line is None:
            raise NotFound("There is no branch {branch!r}.", branch=branch, path=self.location)
        return self.format.next_commit(history, now_ms, line)

    def native(self, plan: Plan, history: History) -> tuple[Reason, ...]:
        """Where the engine's own deletion would differ from this plan, and what it would break."""
        return self.format.engine_differences(plan, history)


def open_table(location: str) -> Table:
    """Open the table at a path or URL, or by a name that its format understands. Raises `NotFound` if there is none."""
    return Table(registry.opened(location))


def readable(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
    """As `resolve`, and `latest` of a table without snapshots: its current columns and no rows."""
    return unwritten(heads, point, branch) or resolve(heads, point, branch)


def unwritten(heads: Heads, point: str, branch: str = MAIN) -> AsOf | None:
    """What `latest` is in a table without snapshots, where that can be read; None for all else."""
    return registry.of(heads).unwritten(heads) if (point, branch) == (UNWRITTEN, MAIN) else None


def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
    """What `point` names on `branch`, by the rules of the table's format."""
    return registry.of(heads).resolve(heads, point, branch)
