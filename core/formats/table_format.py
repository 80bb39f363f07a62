"""The interface of a table format.

Each format package reads its files into the shared model, plans its changes and states what its engine would do. No
format imports another. `core.formats.registry` lists them.

Invariant: shared code asks only for values that every format provides. Where formats differ, the difference is a method
here or a field of `Capabilities`, never a test for a particular format.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pyarrow as pa

from core.errors import Conflict, ErrorCode, NotFound, Unsupported
from core.formats.parts import InParts
from core.messages import Reason
from core.model.actions import Change
from core.model.capabilities import Capabilities
from core.model.column_bounds import Bounds
from core.model.effects import Effect, SwapMetadata
from core.model.expiry import Expiry, Forecast
from core.model.history import History, HistorySummary
from core.model.intervals import Mask
from core.model.plan import Plan
from core.model.references import MAIN, Conversion, Field, Heads, Line, Problem
from core.model.time_travel import AsOf
from core.storage.store import Store

Progress = Callable[[int, int], None]


class Unknown(Conflict):
    """It is unknown whether a commit succeeded: nothing may be deleted, and the run stays unfinished."""

    kind = Conflict.__name__


@dataclass(frozen=True, slots=True)
class TableRef:
    """The name and location of a table that has not been opened yet."""

    database: str
    name: str
    location: str
    format: str  # `Capabilities.format`

    @property
    def title(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True, slots=True)
class Listing:
    """The tables under a location that only one format understands. `directory`: its directory in a store, if any."""

    location: str
    tables: tuple[TableRef, ...]
    problems: tuple[Problem, ...] = ()
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class FilesAt:
    """What the health figures of a version's files are based on.

    The table's `options` at that version, whether its rows have keys, and the number of rows that only delete
    others.
    """

    options: Mapping[str, str]
    keyed: bool = False
    retractions: int | None = 0


@dataclass(frozen=True, slots=True)
class Examined:
    """The result of a consistency check.

    `problems`: position → a contradiction found there. `doubt`: for the path of a file to be deleted, the reason to
    keep it after all, or None if it may be deleted. `gone`: those of these files that are not listed any more.
    """

    problems: Mapping[int, Problem]
    doubt: Callable[[str], Reason | None]
    gone: frozenset[str] = frozenset()


class TableFormat(Protocol):
    """One table, opened by its format. It caches only what was decoded from files that never change.

    Class methods and static methods need no open table: they find tables, or derive answers from references and
    histories.
    """

    capabilities: ClassVar[Capabilities]
    sign: ClassVar[str]
    """What makes a directory a table of this format, in words for error messages."""
    mark: ClassVar[str | None] = None
    """The directory that identifies a table anywhere in a warehouse. None: tables lie only in `<database>.db`."""

    store: Store

    # --- finding and opening

    def reread(self) -> Self:
        """Return the same table as if just opened, which reads its store and neither uses nor writes what is kept on
        the local disk. A format that keeps nothing returns itself."""
        return self

    @classmethod
    @abstractmethod
    def is_table(cls, store: Store) -> bool:
        """Return whether this directory is a table of this format."""

    @classmethod
    @abstractmethod
    def at(cls, store: Store) -> TableFormat:
        """Open the table in this directory."""

    @classmethod
    def opened(cls, location: str) -> TableFormat:
        raise NotFound("There is no table at {location}.", location=location, path=location, code=ErrorCode.NO_TABLE)

    @classmethod
    def listed(cls, location: str) -> Listing:
        return Listing(location, ())

    @classmethod
    def places(cls, named: Sequence[str]) -> tuple[str, ...]:
        """Return locations that are known without being configured, in addition to the given ones."""
        return ()

    # --- answers from references and histories alone: pure

    @staticmethod
    @abstractmethod
    def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
        """Resolve `point` on `branch`.

        Raises `Invalid` for an invalid version, `NotFound` (with the nearest ones) if it does not exist.
        """

    @staticmethod
    def unwritten(heads: Heads) -> AsOf | None:
        """Return the state of a table without snapshots if it can be read: its columns and no rows."""
        return None

    @staticmethod
    def conversion(old: Field, new: Field) -> Conversion:
        """Return what readers do with the values of older files after a column's type was changed."""
        return Conversion.UNKNOWN

    @staticmethod
    def expiring(history: HistorySummary, now_ms: int) -> Mask:
        """Mask the positions that the table's own retention would expire at `now_ms`; none if undecidable."""
        return np.zeros(len(history.holders), dtype=np.bool_)

    @staticmethod
    def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
        """Return when each readable snapshot and tag of every branch expires automatically, by version."""
        return {}

    @staticmethod
    def target_size(options: Mapping[str, str], *, keyed: bool) -> tuple[int, float]:
        """Return the target file size in bytes, and the fraction of it below which compaction picks a file.

        Both follow the table's options. `keyed`: rows have keys. Raises `Invalid` for an invalid size or number.
        """
        return 128 * 1024**2, 0.75

    @staticmethod
    def by_tags(history: HistorySummary, now_ms: int) -> tuple[HistorySummary, Mask]:
        """Return a history with a position for each tag whose deletion reclaims files, and the mask of what remains.

        Where a tag only delays an expiry, the mask is the state after the table's own retention has run.
        """
        return history, history.existing

    # --- reading

    @property
    def location(self) -> str:
        """The location by which the user named the table, which opens it again."""
        return self.store.location

    @abstractmethod
    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        """Read all references now.

        A file that is still being written is read again for up to `patience_s` seconds. Paths in `gone` were deleted by
        the caller and may still be listed.
        """

    @abstractmethod
    def history(self, heads: Heads, progress: Progress | None, *, changelogs: bool = False) -> History:
        """Compute which positions hold which files, from exactly these references.

        `changelogs` adds positions for the long-lived changelogs that a plan would create.
        """

    def at_time(self, branch: str, time_ms: int) -> AsOf | None:
        """Resolve a time without reading all references; None if `resolve` must do it from all of them."""
        return None

    def has_snapshot(self, id: int) -> bool | None:
        """Return whether a snapshot of any branch has this id; None if that needs reading all references."""
        return None

    def in_parts(self, heads: Heads, *, changelogs: bool = False) -> InParts:
        """Return the same history to be built in parts, for a table whose files do not fit into one process."""
        raise Unsupported(
            "Metadata of {format} tables is not read in parts.",
            format=self.capabilities.title,
            path=self.location,
            remedy="Read it in one process.",
        )

    def pauses_s(self, heads: Heads, unread: Collection[str]) -> Sequence[float]:
        """Return the waits in seconds before checking again whether unreadable references are being deleted."""
        return ()

    def roots(self, heads: Heads) -> tuple[str, ...]:
        """Return the directories in which table properties place files, also outside the table's directory."""
        return ()

    # --- inspecting one version

    def manifest_list(self, history: History, point: AsOf) -> pa.Table:
        """Return every manifest in the manifest lists of a version.

        Columns: list, list_path, list_bytes, path, bytes, added, deleted, existing, schema_id. Null where the format
        has no value. Raises `Unsupported` if the format does not expose manifests.
        """
        raise Unsupported(
            "Snapscope shows no manifests for {format} tables.",
            format=self.capabilities.title,
            path=self.location,
            remedy="Read them with the table's own engine.",
        )

    def manifest_entries(self, history: History, point: AsOf, manifest: Mapping[str, Any]) -> pa.Table:
        """Return the entries of one manifest, given as a row of `manifest_list`.

        Columns: change, kind, path, bytes, rows, partition, bucket, level, min_sequence, max_sequence, schema_id,
        source, delete_rows. Raises `Unsupported` if the format does not expose manifests.
        """
        raise Unsupported(
            "Snapscope shows no manifests for {format} tables.",
            format=self.capabilities.title,
            path=self.location,
            remedy="Read them with the table's own engine.",
        )

    def statistics(self, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
        """Return the column statistics that metadata stores for these files of a version."""
        return ()

    def health_of(self, history: History, point: AsOf, files: pa.Table) -> FilesAt:
        """Return what the health figures of a version's files are based on."""
        return FilesAt(history.heads.main.options)

    def analyzed(self, history: History, point: AsOf) -> dict[str, str]:
        """Return the results of the last ANALYZE that a version refers to, by name; empty if it refers to none."""
        return {}

    # --- planning

    @abstractmethod
    def plan(self, history: History, change: Change, now_ms: int) -> Plan:
        """Plan `change` at `now_ms`.

        Raises `Invalid` for a contradictory request, `Corrupt` if a version that is kept could not be read
        completely.
        """

    def plan_deletion(self, history: HistorySummary, change: Change, now_ms: int) -> Plan:
        """Plan an expiry or a deletion of tags or orphans, for which sums over files suffice. Errors as of `plan`."""
        raise Unsupported(
            "Deletions of {format} tables are planned in one process only.",
            format=self.capabilities.title,
            path=self.location,
            remedy="Plan it without Spark.",
        )

    @abstractmethod
    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        """Return everything a finished plan does, in order."""

    def why_not_here(self, plan: Plan, history: HistorySummary) -> str | None:
        """Return why a plan can be shown but not run here although the store supports it; None if it can be run."""
        return None

    def why_elsewhere(self, change: Change) -> str | None:
        """Return why only an engine can make this change, through the table's catalog; None if it is made here."""
        return None

    def refuse_apply(self) -> None:
        """Raise if plans for this table cannot be run here. Nothing has been changed at that point."""
        return

    def why_taken_over(self) -> str | None:
        """Return why only a catalog may now change this table, although it was opened without one; else None."""
        return None

    # --- running plans

    @abstractmethod
    def examine(self, history: HistorySummary, frees: Mapping[str, str]) -> Examined:
        """Check every existing version, and the files to be deleted (`frees`: path → kind), for contradictions.

        A history in parts is given only if its `HolderFrame` has no `examination`.
        """

    def doubt(self, history: HistorySummary, frees: Mapping[str, str]) -> Callable[[str], Reason | None]:
        """Return what says why one of the files to be deleted may belong to a version after all; None if not."""
        return self.examine(history, frees).doubt

    def snapshot_paths(self, heads: Heads) -> set[str]:
        """Return references that commits create and expiries delete at any time, so a change is no read error."""
        return set()

    def adds_holders(self, before: Heads, after: Heads) -> bool:
        """Return whether references were added that may hold what none of `before` held, besides newer commits."""
        return False

    def holds_nothing(self, path: str) -> bool:
        """Return whether this reference holds no files itself, such as a consumer's progress."""
        return False

    def may_be_empty(self, heads: Heads, deleted: Sequence[str]) -> Sequence[str]:
        """Return the directories to remove if deleting these files leaves them empty, each before its parents."""
        return ()

    # --- comparison with the engine

    def next_commit(self, history: History, now_ms: int, line: Line) -> Forecast | None:
        """Forecast what the next commit of a writer expires; None if writers expire nothing automatically."""
        return None

    def engine_differences(self, plan: Plan, history: History) -> tuple[Reason, ...]:
        """Return where the engine's own procedure would differ from this plan, and what it would break."""
        return ()


class Format(TableFormat, Protocol):
    """A format whose references are parts of one document: see `Capabilities.references_are_files`."""

    @abstractmethod
    def edit(self, plan: Plan, heads: Heads) -> SwapMetadata:
        """Return the metadata edit that a plan consists of."""

    @abstractmethod
    def commit(self, heads: Heads, edit: SwapMetadata) -> str | None:
        """Replace exactly these references by the edited ones; return the new document.

        None if another commit came first. Raises `Unknown` if the outcome is not known; after any other error nothing
        was changed.
        """

    @abstractmethod
    def was_made(self, edit: SwapMetadata, heads: Heads) -> bool:
        """Return whether this edit was committed, whatever happened since. True if that can no longer be determined."""

    @abstractmethod
    def repair(self) -> None:
        """Update what points readers to the new metadata after a commit."""

    @abstractmethod
    def taken_back(self, heads: Heads, edit: SwapMetadata) -> SwapMetadata:
        """Return the edit that undoes another. Raises `Invalid` if it cannot be undone exactly."""

    @abstractmethod
    def check_replaced(self, edit: SwapMetadata) -> None:
        """Raise `Conflict` if the commit replaced other references than it was based on and lost one of them."""
