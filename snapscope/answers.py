"""Results that are more than a DataFrame: time travel, diffs, bisects and file lifetimes."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

import pyarrow as pa

from core.analysis import diff as differences
from core.analysis import file_lifetime
from core.model import row_diff, time_travel
from core.spark.query.bisect import Found
from core.units import several, size
from snapscope import display, frames
from snapscope.frames import COUNT, FLAG, TEXT, TIME, F


@dataclass(frozen=True)
class AsOf:
    """The snapshot that a time or version resolves to, and why.

    Attributes:
        snapshot: the snapshot id.
        version: the snapshot in the form accepted by every `at` argument: `12`, `tag:v1`, `branch:dev/12`.
        branch: the branch that was searched.
        committed_at: the commit time (UTC).
        why: the rule that selected this snapshot, as a sentence.
        before: the id of the previous retained snapshot, or None.
        after: the id of the next retained snapshot, or None.
        distance: the time from the snapshot's commit to the requested time; None if no time was requested.
        engine_snapshot: the snapshot id that the engine's own time travel returns, or None if it returns none.
        engine_note: why the engine returns a different snapshot; None if it returns the same one.

    Example:
        >>> table.as_of("2026-11-20T08:00:00Z").why
    """

    snapshot: str
    version: str
    branch: str
    committed_at: dt.datetime | None
    why: str
    before: str | None
    after: str | None
    distance: dt.timedelta | None
    engine_snapshot: str | None
    engine_note: str | None

    def __repr__(self) -> str:
        return display.lines(self._headline, self.why, self.engine_note or "")

    def _repr_html_(self) -> str:
        return display.card(self._headline, display.note(self.why), display.note(self.engine_note or ""))

    @property
    def _headline(self) -> str:
        return f"Snapshot {self.snapshot}, committed {display.when(self.committed_at)}"


def as_of(found: time_travel.AsOf) -> AsOf:
    before, after = found.before, found.after
    return AsOf(
        snapshot=str(found.snapshot.id),
        version=found.point,
        branch=found.branch,
        committed_at=frames.moment(found.snapshot.time_ms),
        why=str(found.rule),
        before=str(before.id) if before else None,
        after=str(after.id) if after else None,
        distance=None if found.gap_ms is None else dt.timedelta(milliseconds=found.gap_ms),
        engine_snapshot=frames.id_text(found.engine),
        engine_note=found.engine_note and str(found.engine_note),
    )


CHANGED = {
    "side": TEXT, "cause": TEXT, "path": TEXT, "size_bytes": COUNT, "rows": COUNT, "partition": TEXT, "bucket": COUNT,
}  # fmt: skip


@dataclass(frozen=True)
class Diff(Generic[F]):
    """Changes between two versions.

    Attributes:
        start: the earlier side of the comparison.
        end: the later side of the comparison.
        summary: totals: `added_files`, `removed_files`, `net_files`, the same for `bytes` and `rows`, and how much of
            each comes from compaction alone. Rows are counted per file, before rows with the same key are merged.
        schema_changes: one sentence per column change.
        option_changes: one sentence per table option change.

    Example:
        >>> table.diff("tag:monday", "latest").summary["net_rows"]
    """

    start: AsOf
    end: AsOf
    summary: Mapping[str, int]
    schema_changes: tuple[str, ...]
    option_changes: tuple[str, ...]
    _of: differences.Diff = field(repr=False)
    _frame: Callable[[pa.Table], F] = field(repr=False)
    _rows: Callable[[int, str], RowDiff[F]] = field(repr=False)

    def files(self) -> F:
        """List the files that are current in only one of the two versions.

        Returns:
            One row per file: `side` (`added`, `removed`), `cause` (`data`, `compaction`, `deletes`), `path`,
            `size_bytes`, `rows`, `partition`, `bucket`.

        Example:
            >>> table.diff("12", "latest").files()
        """
        sides = [
            frames.shaped(
                found.rename_columns([{"change": "cause"}.get(name, name) for name in found.column_names]), CHANGED
            ).set_column(0, "side", pa.repeat(pa.scalar(side, TEXT), len(found)))
            for side, found in (("added", self._of.added), ("removed", self._of.removed))
        ]
        return self._frame(pa.concat_tables(sides))

    def partitions(self) -> F:
        """Sum up the changes per partition and bucket.

        Returns:
            One row per bucket: `partition`, `bucket`, `added_files`, `added_bytes`, `added_rows`, `removed_files`,
            `removed_bytes`, `removed_rows`.

        Example:
            >>> table.diff("12", "latest").partitions()
        """
        return self._frame(self._of.partitions)

    def rows(self, *, limit: int = 1000, timeout: str = "5 min") -> RowDiff[F]:
        """Compare the rows themselves with Spark, by primary key if the table has one.

        Args:
            limit: the maximum number of differing rows to return; the totals always count all rows.
            timeout: the time limit for the comparison, such as `90 s`.

        Raises:
            Unsupported: the columns of the two versions cannot be compared, or Spark cannot read the table.
            Invalid: the comparison took longer than `timeout`.

        Example:
            >>> table.diff("12", "13").rows(limit=20).changes
        """
        return self._rows(limit, timeout)

    def __repr__(self) -> str:
        return display.lines(self._headline, *self._totals, *self.schema_changes, *self.option_changes)

    def _repr_html_(self) -> str:
        return display.card(
            self._headline,
            *map(display.note, self._totals),
            display.items((*self.schema_changes, *self.option_changes)),
        )

    @property
    def _headline(self) -> str:
        net_bytes = self.summary["net_bytes"]
        changed = f"{'+' if net_bytes >= 0 else '-'}{size(abs(net_bytes))}"
        return f"{self.start.version} to {self.end.version}: {self.summary['net_rows']:+,} rows in files, {changed}"

    @property
    def _totals(self) -> list[str]:
        return [
            f"{side.capitalize()}: {several(self.summary[f'{side}_files'], 'file')}, "
            f"{size(self.summary[f'{side}_bytes'])}, {self.summary[f'{side}_rows']:,} rows "
            f"(compaction: {several(self.summary[f'compaction_{side}_files'], 'file')})"
            for side in ("added", "removed")
        ]


@dataclass(frozen=True)
class RowDiff(Generic[F]):
    """Rows that differ between two versions.

    Attributes:
        added: the number of rows that exist only in the later version.
        removed: the number of rows that exist only in the earlier version.
        changed: the number of rows with the same primary key but different values.
        unchanged: the number of identical rows; None if counting them would require reading files that both versions
            share.
        changes: the differing rows, one row per differing column: `row` (numbered within this result), `kind` (`added`,
            `removed`, `changed`), `times` (number of occurrences, if the table has no primary key), `column`, and
            `before` and `after` as text, null for NULL or absent.
        is_truncated: True if `changes` does not list all differing rows; the totals still count all of them.
        notes: remarks on this result.

    Example:
        >>> table.diff("12", "13").rows().changed
    """

    added: int
    removed: int
    changed: int
    unchanged: int | None
    changes: F = field(repr=False)
    is_truncated: bool
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return display.lines(self._headline, *self.notes)

    def _repr_html_(self) -> str:
        return display.card(self._headline, *map(display.note, self.notes))

    @property
    def _headline(self) -> str:
        rest = "" if self.unchanged is None else f", {self.unchanged:,} unchanged"
        cut = " (not all of them are listed)" if self.is_truncated else ""
        return f"{self.added:,} rows added, {self.removed:,} removed, {self.changed:,} changed{rest}{cut}"


ROW_CHANGES = {"row": COUNT, "kind": TEXT, "times": COUNT, "column": TEXT, "before": TEXT, "after": TEXT}


def row_differences(found: row_diff.RowDiff, frame: Callable[[pa.Table], F]) -> RowDiff[F]:
    rows = [
        {
            "row": number, "kind": each.kind, "times": each.times, "column": name,
            "before": _text(each.key.get(name, each.before.get(name))) if each.kind != row_diff.ADDED else None,
            "after": _text(each.key.get(name, each.after.get(name))) if each.kind != row_diff.REMOVED else None,
        }
        for number, each in enumerate(found.changes)
        for name in dict.fromkeys((*each.key, *each.before, *each.after))
    ]  # fmt: skip
    return RowDiff(
        found.added, found.removed, found.changed, found.unchanged, frame(frames.of_rows(rows, ROW_CHANGES)),
        found.truncated, tuple(str(each) for each in found.notes),
    )  # fmt: skip


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


PROBES = {"version": TEXT, "snapshot": TEXT, "committed_at": TIME, "value": FLAG, "seen": TEXT, "problem": TEXT}


@dataclass(frozen=True)
class Bisect(Generic[F]):
    """The first version at which a condition is true.

    Attributes:
        outcome: `turned` (first false, later true), `already` (true at the first readable version), `never`, `back`
            (true first and false last: search for `not (…)` instead), `unknown` (no version could be read).
        first_true: the first version at which the condition is true, or None.
        last_false: the last version before `first_true` at which the condition is false, or None.
        is_exact: True if no expired or unreadable snapshot lies between `last_false` and `first_true`.
        probes: the versions that were queried, in commit order: `version`, `snapshot`, `committed_at` (UTC), `value`
            (null if unknown), `seen` (the value that was compared), `problem`.
        contradictions: pairs of versions: the condition is true at the first and false again at the second, later one.

    Example:
        >>> table.bisect("count_if(amount < 0) > 0").first_true
    """

    outcome: str
    first_true: str | None
    last_false: str | None
    is_exact: bool
    probes: F = field(repr=False)
    contradictions: tuple[tuple[str, str], ...]
    _condition: str = field(repr=False)

    def __repr__(self) -> str:
        return display.lines(self._headline, *self._more)

    def _repr_html_(self) -> str:
        return display.card(self._headline, *map(display.note, self._more))

    @property
    def _headline(self) -> str:
        headlines = {"turned": f"First true at {self.first_true}, false at {self.last_false}",
                     "already": f"Already true at {self.first_true}, the first version that could be read",
                     "never": "Not true at any checked version",
                     "back": "True at the first version and false at the last",
                     "unknown": "No checked version gave a result"}  # fmt: skip
        return f"{headlines[self.outcome]}: {self._condition}"

    @property
    def _more(self) -> list[str]:
        found = [
            f"It changed more than once: true at {one}, false again at {other}." for one, other in self.contradictions
        ]
        if self.first_true is not None and not self.is_exact:
            found.append("The change may be earlier: snapshots in between have expired or could not be read.")
        return found


def bisected(found: Found, frame: Callable[[pa.Table], F]) -> Bisect[F]:
    answer = found.answer

    def version(place: int | None) -> str | None:
        return None if place is None else found.places[place].point

    rows = [
        {
            "version": found.places[each.place].point, "snapshot": str(found.places[each.place].id),
            "committed_at": found.places[each.place].time_ms, "value": each.value, "seen": each.seen,
            "problem": each.problem,
        }
        for each in sorted(found.probes, key=lambda each: each.place)
    ]  # fmt: skip
    return Bisect(
        outcome=str(answer.outcome),
        first_true=version(answer.first_true),
        last_false=version(answer.last_false),
        is_exact=answer.first_true is not None and not answer.unknown and not found.is_after_gap,
        probes=frame(frames.of_rows(rows, PROBES)),
        contradictions=tuple((found.places[a].point, found.places[b].point) for a, b in answer.contradictions),
        _condition=found.condition.text,
    )


@dataclass(frozen=True)
class FileLifetime:
    """The versions that hold a file, and how long.

    Attributes:
        path: the path relative to the table, or a URL if the file is outside the table's directory.
        kind: the kind of file: `data`, `manifest`, `snapshot` …
        size_bytes: the file size; None if the metadata does not record it.
        holders: the versions that currently hold the file.
        last_holder: the holder that expires last; None if there is none.
        not_before: the earliest time at which `last_holder` can expire (UTC); None if it does not expire automatically.
        why: the reason for `not_before`, as a sentence.
        added_by: the id of the snapshot that added the file, or of the oldest retained snapshot that contains it if
            `is_added_by_exact` is False.
        is_added_by_exact: whether `added_by` is the snapshot that added the file.
        removed_by: the id of the snapshot that removed the file from the newest version, or None if unknown.
        is_current: whether the newest version reads the file; None if that version is unreadable.

    Example:
        >>> table.holders("bucket-0/data-1.parquet").why
    """

    path: str
    kind: str
    size_bytes: int | None
    holders: tuple[str, ...]
    last_holder: str | None
    not_before: dt.datetime | None
    why: str
    added_by: str | None
    is_added_by_exact: bool
    removed_by: str | None
    is_current: bool | None

    def __repr__(self) -> str:
        return display.lines(self._headline, self._held, self.why)

    def _repr_html_(self) -> str:
        return display.card(self._headline, display.note(self._held), display.note(self.why))

    @property
    def _headline(self) -> str:
        return f"{self.path}: {self.kind}, {'unknown size' if self.size_bytes is None else size(self.size_bytes)}"

    @property
    def _held(self) -> str:
        shown = ", ".join(itertools.islice(self.holders, display.SHOWN))
        more = len(self.holders) - display.SHOWN
        return f"Held by {shown or 'no readable version'}{f' and {more:,} more' if more > 0 else ''}."


def lifetime(found: file_lifetime.FileLifetime) -> FileLifetime:
    life = found.life
    return FileLifetime(
        path=life.path,
        kind=str(life.kind),
        size_bytes=life.bytes,
        holders=life.holders,
        last_holder=life.last,
        not_before=None if life.not_before_ms is None else frames.moment(life.not_before_ms),
        why=str(life.words),
        added_by=str(found.born.id) if found.born else None,
        is_added_by_exact=found.is_exact,
        removed_by=str(found.removed.id) if found.removed else None,
        is_current=found.is_live,
    )
