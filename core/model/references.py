"""Values used by every part of Snapscope: frozen, without I/O, the same for every table format.

Times are epoch milliseconds (UTC) and end in `_ms`; sizes are bytes and end in `_bytes` or are named `bytes`. Ids are
Python integers here and strings wherever a browser reads them (they exceed 2**53).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.errors import ErrorCode, NotFound
from core.messages import both, is_clause, message
from core.model.capabilities import Capabilities
from core.model.codes import Fault
from core.model.ref_names import branches_there

MAIN = "main"
NO_BRANCH = "(no branch)"  # what Iceberg's snapshots on no branch are listed under


def point_in_words(point: str) -> str:
    """A version in a sentence: `5 (on no branch)` instead of `branch:(no branch)/5`, which names no branch."""
    own = point.removeprefix(f"branch:{NO_BRANCH}/")
    return point if own == point else message("{id} (on no branch)", id=own)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the table that could not be read or is wrong.

    `path` is relative to the table. `expected` and `found` are phrases, `remedy` is a sentence. Code decides by `code`
    and, where it has some, by the `ids` concerned.
    """

    path: str
    expected: str
    found: str
    remedy: str = ""
    code: Fault = Fault.UNREADABLE
    ids: tuple[int, ...] = ()

    def sentence(self) -> str:
        """The problem as a sentence for a page or a terminal."""
        parts = {"path": self.path, "expected": self.expected, "found": self.found}
        if is_clause(self.found):  # it is a full sentence by itself
            sentence = message("{path}: expected {expected}. {found}.", **parts)
        else:
            sentence = message("{path}: expected {expected}, found {found}.", **parts)
        return both(sentence, self.remedy) if self.remedy else sentence


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One commit as described by its JSON file. `fields` keeps the whole document, unknown fields included."""

    id: int
    time_ms: int
    kind: str  # APPEND, COMPACT, OVERWRITE, ANALYZE
    schema_id: int
    commit_user: str
    commit_identifier: int
    total_rows: int | None  # rows in live files, before any merge
    delta_rows: int | None  # rows in files added minus rows in files removed by this commit
    watermark: int | None  # None also where the file contains Long.MIN_VALUE
    fields: Mapping[str, Any] = field(repr=False, hash=False, compare=False)
    content: bytes = field(repr=False)  # the exact bytes of the file; in Iceberg, of its part of the metadata
    parent_id: int | None = None  # only where the format records it (Iceberg)
    note: str = ""  # what a reader should know about it: staged, rolled back, cherry-picked …
    state: str = ""  # the note in one word (Iceberg): rolled-back, published, staged, orphaned, picked


@dataclass(frozen=True, slots=True)
class Tag:
    """A name that keeps a snapshot readable. Times are the writer's wall clock, without a zone (Paimon stores none)."""

    name: str
    snapshot: Snapshot
    created: dt.datetime | None
    retained: dt.timedelta | None
    ends_ms: int | None = None  # in Iceberg: when the next expiry deletes it, by the age of its snapshot

    @property
    def expires(self) -> dt.datetime | None:
        """When the engine deletes the tag; None = never. In the wall clock of the writer's zone; Iceberg: UTC."""
        if self.ends_ms is not None:
            try:
                return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=self.ends_ms)  # noqa: DTZ001  # see above
            except OverflowError:
                return None
        if self.created is None or self.retained is None:
            return None
        try:
            return self.created + self.retained
        except OverflowError:
            return None


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch or tag of an Iceberg table, with its own retention.

    It holds no file: it decides which snapshots stay.
    """

    name: str
    is_branch: bool
    snapshot_id: int  # may be missing among the snapshots
    min_snapshots: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    """A streaming reader's progress: `next_snapshot` and all later snapshots must stay."""

    name: str
    next_snapshot: int


@dataclass(frozen=True, slots=True)
class Field:
    """A column. `type` is the format's own type: a string such as `BIGINT NOT NULL`, or a mapping for nested types.

    Defaults as text: `initial_default` is what rows of files without the column have, `write_default` what writers fill
    in. None is NULL.
    """

    id: int
    name: str
    type: str | Mapping[str, Any]
    description: str | None = None
    initial_default: str | None = None
    write_default: str | None = None


def literal(value: Any) -> str | None:
    """A default value as text; None if there is none."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


class Conversion(StrEnum):
    """What readers do with the values of older files after the type of a column was changed."""

    EXACT = "exact"  # every value is a value of the new type
    CAST = "cast"  # some may change or be rejected
    NONE = "none"  # the format does not convert them
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Schema:
    """One version of the table's columns and options."""

    id: int
    fields: tuple[Field, ...]
    partition_keys: tuple[str, ...]
    primary_keys: tuple[str, ...]
    options: Mapping[str, str]
    time_ms: int
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A snapshot, tag, changelog, consumer or schema file that exists but could not be understood."""

    kind: str  # snapshot, tag, changelog, consumer, schema
    name: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class Line:
    """One branch: everything its own directories contain. Tuples are ascending by id, tags by (snapshot id, name).

    Iceberg: the snapshots from the oldest ancestor to the head that are on no earlier line, in that order. Tags belong
    to the table: main has them all, whichever line their snapshots are on.
    """

    branch: str
    snapshots: tuple[Snapshot, ...]
    tags: tuple[Tag, ...]
    changelogs: tuple[Snapshot, ...]  # long-lived changelogs: expired snapshots whose changelog is kept
    consumers: tuple[Consumer, ...]
    schemas: Mapping[int, Schema] = field(repr=False)
    unreadable: tuple[Unreadable, ...] = ()
    warnings: tuple[Problem, ...] = ()  # health: hints, gaps, stray files; never a reason to refuse on their own
    head: Snapshot | None = None  # of an Iceberg branch, whichever line it is on
    current_schema: int | None = None  # where the format names it (Iceberg)

    @property
    def latest(self) -> Snapshot | None:
        return self.head or (self.snapshots[-1] if self.snapshots else None)

    @property
    def earliest(self) -> Snapshot | None:
        return self.snapshots[0] if self.snapshots else None

    @property
    def schema(self) -> Schema | None:
        """The newest schema of this branch; its options are the table's options."""
        if self.current_schema is not None:
            return self.schemas[self.current_schema]
        return self.schemas[max(self.schemas)] if self.schemas else None

    @property
    def options(self) -> Mapping[str, str]:
        return self.schema.options if self.schema else {}


@dataclass(frozen=True, slots=True)
class Heads:
    """All references of one table, read without opening a manifest. Each read lists them; for a page, a local file
    that has not changed is not opened again.

    `references` maps each reference file's path (relative to the table) to its exact bytes; a plan's fingerprint is
    computed from it. An Iceberg table has one such file, so each of its parts is listed as `metadata.json#PART`.
    """

    location: str  # as the user gave it, without a trailing slash
    capabilities: Capabilities  # of its format
    lines: tuple[Line, ...]  # main first, then the other branches by name; in Iceberg, snapshots on no branch are last
    references: Mapping[str, bytes] = field(repr=False)
    refs: tuple[Ref, ...] = ()  # Iceberg: main first, then by name
    pointer: tuple[tuple[int, int], ...] = ()  # Iceberg: what main pointed to, (time in ms, id), as logged
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False, compare=False)  # Iceberg's

    @property
    def format(self) -> str:
        return self.capabilities.format

    @property
    def name(self) -> str:
        return self.location.rstrip("/").rsplit("/", 1)[-1]

    @property
    def main(self) -> Line:
        return self.lines[0]

    @property
    def branches(self) -> tuple[str, ...]:
        """Names of the branches other than main. An Iceberg line of snapshots on no branch is not one."""
        if self.capabilities.branches_are_directories:
            return tuple(line.branch for line in self.lines[1:])
        return tuple(ref.name for ref in self.refs if ref.is_branch and ref.name != MAIN)

    def line(self, branch: str) -> Line | None:
        return next((line for line in self.lines if line.branch == branch), None)

    def require(self, branch: str) -> Line:
        """The line of a branch. Raises `NotFound`, listing the existing branches, if there is none."""
        if (line := self.line(branch)) is not None:
            return line
        raise NotFound(
            "There is no branch {branch!r}.",
            branch=branch,
            path=self.location,
            remedy=branches_there(branch, [each.branch for each in self.lines]),
            code=ErrorCode.NO_BRANCH,
        )

    def listed_with(self, line: Line) -> tuple[Line, ...]:
        """The lines whose snapshots a list for this branch shows.

        For main that is all lines, if snapshots belong to the table and a branch only names one of them.
        """
        is_of_all = line.branch == MAIN and not self.capabilities.branches_are_directories
        return self.lines if is_of_all else (line,)

    def retained(self, line: Line) -> frozenset[int]:
        """Ids of the existing snapshots that the tags of a line can name; in Iceberg, those of the whole table."""
        lines = (line,) if self.capabilities.branches_are_directories else self.lines
        return frozenset(snapshot.id for each in lines for snapshot in each.snapshots)


class HolderKind(StrEnum):
    """The kinds of names that keep files."""

    SNAPSHOT = "snapshot"
    CHANGELOG = "changelog"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class Holder:
    """A name that keeps objects: one position on the axis of intervals.

    A holder without `exists` represents the long-lived changelog that an expiry would leave behind.
    """

    kind: HolderKind
    branch: str
    name: str  # the snapshot id or tag name, as text
    snapshot: Snapshot | None  # None where the file could not be read
    path: str  # of its own JSON, relative to the table
    exists: bool = True

    @property
    def point(self) -> str:
        """The version as a user writes it: `12`, `tag:v1`, `changelog:3`, `branch:dev/12`, `branch:dev/tag:v1`."""
        own = self.name if self.kind is HolderKind.SNAPSHOT else f"{self.kind}:{self.name}"
        return own if self.branch == MAIN else f"branch:{self.branch}/{own}"


class ObjectKind(StrEnum):
    """The kind of a physical file; printed lists follow this order."""

    DATA = "data"
    DELETES = "deletes"  # Iceberg: position and equality deletes, Puffin files of deletion vectors
    CHANGELOG = "changelog"
    INDEX = "index"
    STATISTICS = "statistics"
    MANIFEST = "manifest"
    MANIFEST_LIST = "manifest-list"
    SNAPSHOT = "snapshot"
    TAG = "tag"
    CHANGELOG_JSON = "changelog-json"
    METADATA = "metadata"  # Iceberg: an old metadata.json
