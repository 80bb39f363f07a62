"""What a table's format answers. Each package beside this reads its own files into the shared model, plans its own
changes and tells what its own engine would do; no format imports another. `core.formats.registry` lists them.

Law: what all formats share is asked of the values they answer; where two answer differently, that is a method here or
a name in `Capabilities`, never a question which format it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from core.errors import Conflict, NotFound, Unsupported
from core.messages import Reason
from core.model.actions import Change
from core.model.capabilities import Capabilities
from core.model.column_bounds import Bounds
from core.model.effects import Effect, SwapMetadata
from core.model.expiry import Expiry, Forecast
from core.model.history import History
from core.model.intervals import Mask
from core.model.plan import Plan
from core.model.references import MAIN, Heads, Line, Problem
from core.model.time_travel import AsOf
from core.storage.store import Store

Progress = Callable[[int, int], None]


class Unknown(Conflict):
    """It is not known whether a commit happened: nothing may be deleted, and the run stays open."""

    kind = Conflict.__name__


@dataclass(frozen=True, slots=True)
class TableRef:
    """Where a table is, without having opened it."""

    database: str
    name: str
    location: str
    format: str  # `Capabilities.format`

    @property
    def title(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name


@dataclass(frozen=True, slots=True)
class Listing:
    """The tables under a location that only its format understands. `directory`: where it lies in a store, if so."""

    location: str
    tables: tuple[TableRef, ...]
    problems: tuple[Problem, ...] = ()
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class FilesAt:
    """`options` that a point was written under; whether its rows have keys, and how many rows only take rows away."""

    options: Mapping[str, str]
    keyed: bool = False
    retractions: int | None = 0


@dataclass(frozen=True, slots=True)
class Examined:
    """What cross-examination found. `problems`: position → a contradiction in what it says. `doubt`: per path of a file
    that shall go why it stays after all, None where it may go."""

    problems: Mapping[int, Problem]
    doubt: Callable[[str], Reason | None]


class TableFormat(Protocol):
    """One table as its format opened it. It keeps only what was decoded of files that never change.

    What is asked of the class needs no open table: finding tables, and what references and histories alone tell.
    """

    capabilities: ClassVar[Capabilities]
    sign: ClassVar[str]
    """What makes a directory a table of this format, for whoever looks for one."""
    mark: ClassVar[str | None] = None
    """The directory that tells a table wherever it lies in a warehouse; None: tables lie in `<database>.db` alone."""

    store: Store

    # --- finding and opening

    @classmethod
    @abstractmethod
    def is_table(cls, store: Store) -> bool:
        """Is this directory a table of this format?"""

    @classmethod
    @abstractmethod
    def at(cls, store: Store) -> TableFormat:
        """The table in this directory."""

    @classmethod
    def is_name(cls, location: str) -> bool:
        """Is this a name in a catalog of the format, and no place in a store?"""
        return False

    @classmethod
    def claims(cls, location: str) -> bool:
        """Does the format alone understand this location? `opened` and `listed` are asked of such ones only."""
        return False

    @classmethod
    def opened(cls, location: str) -> TableFormat:
        raise NotFound("There is no table at {location}.", location=location, path=location)

    @classmethod
    def listed(cls, location: str) -> Listing:
        return Listing(location, ())

    @classmethod
    def places(cls, named: Sequence[str]) -> tuple[str, ...]:
        """Locations that are known without being named, beside these."""
        return ()

    # --- what references and histories alone tell: pure

    @staticmethod
    @abstractmethod
    def resolve(heads: Heads, point: str, branch: str = MAIN) -> AsOf:
        """What `point` names on `branch`. `Invalid` for a text that is no point, `NotFound` with the nearest ones."""

    @staticmethod
    def unwritten(heads: Heads) -> AsOf | None:
        """The state of a table without any snapshot, where it can be read: its columns, and no rows."""
        return None

    @staticmethod
    def expiring(history: History, now_ms: int) -> Mask:
        """Positions that the table's own policy would expire at `now_ms`; nothing where it cannot be judged."""
        return np.zeros(len(history.holders), dtype=np.bool_)

    @staticmethod
    def expiries(heads: Heads, now_ms: int, rules: str = "newest") -> dict[str, Expiry]:
        """Of every readable snapshot and tag of every branch, by point: when it goes by itself."""
        return {}

    @staticmethod
    def target_size(options: Mapping[str, str], *, keyed: bool) -> tuple[int, float]:
        """How large the table's options want a file, in bytes, and below which part of that a compaction takes it.
        `keyed`: rows have keys. `Invalid` for what is no size or number."""
        return 128 * 1024**2, 0.75

    @staticmethod
    def tag_costs(history: History, now_ms: int) -> dict[str, int]:
        """Where tags hold no files: per tag the bytes that an expiry by the table's own rules frees only without it."""
        return {}

    @staticmethod
    def by_tags(history: History, now_ms: int) -> tuple[History, Mask]:
        """A history in which each tag that frees something by going has a position of its own; and what stays when
        the table's own rules have run, where only that lets tags free anything."""
        return history, history.existing

    # --- reading

    @property
    def location(self) -> str:
        """As the user named the table: what opens it again."""
        return self.store.location

    @abstractmethod
    def heads(self, *, patience_s: float = 0.0, gone: Collection[str] = ()) -> Heads:
        """All references, read now. A file that is being written is read again for up to `patience_s`; what whoever
        asks has deleted (`gone`) may still be listed."""

    @abstractmethod
    def history(self, heads: Heads, progress: Progress | None, *, changelogs: bool = False) -> History:
        """Who holds what, by exactly these references. `changelogs` makes room for those that a plan would leave."""

    def pauses_s(self, heads: Heads, unread: Collection[str]) -> Sequence[float]:
        """How long to wait before looking again whether references that could not be read in full are about to go."""
        return ()

    def roots(self, heads: Heads) -> tuple[str, ...]:
        """Where properties of the table let its files lie, outside its directory too."""
        return ()

    # --- looking inside of one point

    def manifest_list(self, history: History, point: AsOf) -> pa.Table:
        """Every manifest that a point's lists name: list, list_path, list_bytes, path, bytes, added, deleted, existing,
        schema_id. What the format does not tell is null."""
        raise Unsupported("{format} tables tell no manifests.", format=self.capabilities.title, path=self.location)

    def manifest_entries(self, history: History, point: AsOf, manifest: Mapping[str, Any]) -> pa.Table:
        """The entries of one of these, a row of that list: change, kind, path, bytes, rows, partition, bucket, level,
        min_sequence, max_sequence, schema_id, source, delete_rows."""
        raise Unsupported("{format} tables tell no manifests.", format=self.capabilities.title, path=self.location)

    def statistics(self, history: History, point: AsOf, files: pa.Table) -> tuple[Bounds, ...]:
        """What is written of the point's columns in these files of it."""
        return ()

    def health_of(self, history: History, point: AsOf, files: pa.Table) -> FilesAt:
        """What the figures of a point's files go by."""
        return FilesAt(history.heads.main.options)

    def analyzed(self, history: History, point: AsOf) -> dict[str, str]:
        """What the last ANALYZE that a point names has counted, by name; empty where it names none."""
        return {}

    # --- planning

    @abstractmethod
    def plan(self, history: History, change: Change, now_ms: int) -> Plan:
        """The plan of `change` at `now_ms`. `Invalid` for a request that contradicts itself, `Corrupt` where a
        remaining point is not wholly known."""

    @abstractmethod
    def effects(self, plan: Plan, heads: Heads) -> tuple[Effect, ...]:
        """All that a finished plan does, in order."""

    def why_not_here(self, plan: Plan, history: History) -> str | None:
        """Why a plan can be shown and not be carried out here, though the store could."""
        return None

    def refuse_apply(self) -> None:
        """Raise where plans of this table cannot be carried out here; nothing was changed then."""
        return

    # --- carrying out

    @abstractmethod
    def examine(self, history: History, frees: Mapping[str, str]) -> Examined:
        """Cross-examine every point that is there, and the files (by path, with their kinds) that shall go."""

    def snapshot_paths(self, heads: Heads) -> set[str]:
        """References that come with commits and go with expiries at any time, so that none is a sign of a bad read."""
        return set()

    def holds_nothing(self, path: str) -> bool:
        """Does this reference keep nothing itself, such as a reader's progress?"""
        return False

    def may_be_empty(self, heads: Heads, deleted: Sequence[str]) -> Sequence[str]:
        """Directories that go where the deletion of these files left them empty, each with those above it."""
        return ()

    # --- the engine beside ours

    def next_commit(self, history: History, now_ms: int, line: Line) -> Forecast | None:
        """What the next commit of a writer expires; None where writers expire nothing by themselves."""
        return None

    def engine_differences(self, plan: Plan, history: History) -> tuple[Reason, ...]:
        """Where the engine's own deletion would differ from this plan, and what it would break."""
        return ()


class Format(TableFormat, Protocol):
    """A format whose references are parts of one document: see `Capabilities.references_are_files`."""

    @abstractmethod
    def edit(self, plan: Plan, heads: Heads) -> SwapMetadata:
        """What carries a plan out."""

    @abstractmethod
    def commit(self, heads: Heads, edit: SwapMetadata) -> str | None:
        """Put references with this edit in the place of exactly these; what was written, None where another commit came
        first. `Unknown` where what became of it is not known; after any other error nothing was done."""

    @abstractmethod
    def was_made(self, edit: SwapMetadata, heads: Heads) -> bool:
        """Was this edit committed, whatever others made of it since? True where that cannot be known any more."""

    @abstractmethod
    def repair(self) -> None:
        """After a commit: what points readers to it follows."""

    @abstractmethod
    def taken_back(self, heads: Heads, edit: SwapMetadata) -> SwapMetadata:
        """The edit that undoes another. `Invalid` where that cannot be exact."""

    @abstractmethod
    def check_replaced(self, edit: SwapMetadata) -> None:
        """`Conflict` where the commit replaced other references than it was made on, and lost one of them."""
