"""Read-only methods of a table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic

import pyarrow as pa

from core.analysis.diff import diff
from core.analysis.file_lifetime import find, lifetime
from core.analysis.schema_history import schema_history
from core.errors import Invalid
from core.model.history import History
from core.model.time_travel import AsOf as Resolved
from core.reports import json as reports
from core.spark.query.bisect import search
from core.spark.read.removed_points import resolved
from core.table import Table as Opened
from core.table import readable, resolve
from snapscope import answers, frames
from snapscope.answers import AsOf, Bisect, Diff, FileLifetime, RowDiff
from snapscope.frames import F
from snapscope.points import Time, duration_s, now_ms, point_of, whole_number
from snapscope.timeline import Timeline


class Questions(Generic[F]):
    """Read-only methods for one branch of a table. Every call reads the table's current state."""

    def __init__(self, opened: Opened, branch: str, zone: str, frame: Callable[[pa.Table], F]) -> None:
        self._table, self._branch, self._zone, self._frame = opened, branch, zone, frame
        self._kept: History | None = None

    @property
    def location(self) -> str:
        """The path, URL or name that the table was opened with."""
        return self._table.location

    @property
    def name(self) -> str:
        """The last component of the location."""
        return self._table.name

    @property
    def format(self) -> str:
        """The table format: `paimon` or `iceberg`."""
        return self._table.capabilities.format

    @property
    def branch(self) -> str:
        """The branch that all queries and plans use."""
        return self._branch

    def snapshots(self) -> F:
        """List the retained snapshots of the branch. For the main branch of an Iceberg table, list all snapshots of the
        table.

        Returns:
            One row per snapshot: `snapshot` (its id), `branch`, `committed_at` (UTC), `kind` (`APPEND`, `COMPACT` …),
            `schema`, `total_rows`, `delta_rows` (rows in files, before rows with the same key are merged),
            `commit_user`, `watermark_ms`, `parent`, `note`, and `problem` if it cannot be read.

        Example:
            >>> table.snapshots().tail(3)
        """
        heads = self._table.heads()
        return self._frame(frames.snapshots(heads, heads.require(self._branch)))

    def tags(self) -> F:
        """List the tags of the branch.

        Returns:
            One row per tag: `tag`, `branch`, `snapshot` (its id), `committed_at` (UTC), `is_snapshot_retained` (False
            if only tags hold the snapshot), `expires_at` (UTC, Iceberg), `expires_wall_clock` (Paimon stores the
            writer's local time without a zone), and `problem` if it cannot be read.

        Example:
            >>> table.tags().query("not is_snapshot_retained")
        """
        heads = self._table.heads()
        return self._frame(frames.tags(heads, heads.require(self._branch)))

    def branches(self) -> F:
        """List the branches of the table.

        Returns:
            One row per branch: `branch`, `snapshot` (the latest), `committed_at` (UTC), `snapshots` (how many are
            listed under this branch only), and for Iceberg the branch retention: `min_snapshots_to_keep`,
            `max_snapshot_age_ms`, `max_ref_age_ms`.

        Example:
            >>> table.branches()["branch"].tolist()
        """
        return self._frame(frames.branches(self._table.heads()))

    def consumers(self) -> F:
        """List the consumers: streaming readers that hold snapshots (Paimon).

        Returns:
            One row per consumer: `consumer`, `branch`, `next_snapshot` (the id of the snapshot it reads next),
            `problem`.

        Example:
            >>> table.consumers()
        """
        return self._frame(frames.consumers(self._table.heads().require(self._branch)))

    def schema(self, at: Time = "latest") -> F:
        """List the columns of the table at a version.

        Returns:
            One row per column: `column`, `id`, `type`, `is_partition_key`, `is_primary_key`, `description`.

        Example:
            >>> table.schema(at="tag:v1")
        """
        heads = self._table.heads()
        return self._frame(frames.schema(readable(heads, point_of(at, heads, self._zone), self._branch).schema))

    def schema_history(self) -> F:
        """List how the columns of the branch changed, and what each change means for readers.

        Returns:
            One row per change: `schema` (its id), `since` (UTC; when the schema was made, or for Iceberg the commit
            time of its first retained snapshot), `id` (of the field), `change` (`added`, `dropped`, `renamed`,
            `retyped`, `not-null`, `nullable`, `default`, `comment`), `column`, `before`, `after`, and `meaning`, in
            sentences.

        Example:
            >>> table.schema_history()["meaning"].tolist()
        """
        history = self._history()
        found = schema_history(history.heads, self._branch, history)
        return self._frame(frames.schema_changes(reports.schemas(found)["changes"]))

    def files(self, at: Time = "latest") -> F:
        """List the current data files of a version, by path. For an Iceberg table, delete files are included.

        Returns:
            One row per file: `path` (relative to the table, or a URL), `size_bytes`, `rows`, `partition`, `content`
            (Iceberg), `bucket`, `level` (Paimon), `schema`, `format`.

        Example:
            >>> table.files(at="tag:v1")["size_bytes"].sum()
        """
        history = self._history()
        return self._frame(frames.files(history, readable(history.heads, self._version(at), self._branch)))

    def as_of(self, at: Time) -> AsOf:
        """Resolve a time or version to a snapshot, and explain the result.

        Example:
            >>> table.as_of("2026-11-20T08:00:00Z")
        """
        return answers.as_of(self._point(at))

    def diff(self, a: Time, b: Time = "latest") -> Diff[F]:
        """Compare two versions: files, totals, schema and options. Call `Diff.rows` to compare rows as well.

        Args:
            a: the version to compare from.
            b: the version to compare to.

        Example:
            >>> table.diff("tag:monday").schema_changes
        """
        history = self._history()
        one, other = (resolved(self._table, history.heads, self._version(each), self._branch) for each in (a, b))
        found = diff(history, one, other)
        return Diff(
            start=answers.as_of(one),
            end=answers.as_of(other),
            summary=dict(found.summary),
            schema_changes=tuple(str(each) for each in found.schema_changes),
            option_changes=tuple(str(each) for each in found.option_changes),
            _of=found,
            _frame=self._frame,
            _rows=functools.partial(self._row_differences, history, one, other),
        )

    def _row_differences(
        self, history: History, one: Resolved, other: Resolved, limit: int, timeout: str
    ) -> RowDiff[F]:
        from core.spark.diff.rows import row_diff

        most, timeout_s = whole_number("limit", limit), duration_s(timeout)
        found = row_diff(self._table, history, one, other, limit=most, timeout_s=timeout_s)
        return answers.row_differences(found, self._frame)

    def costs(self) -> F:
        """List the storage cost of each tag.

        Returns:
            One row per tag: `tag` (as a version: `tag:v1`), `snapshot`, `exclusive_files` and `exclusive_bytes` (what
            deleting only this tag reclaims now), `exclusive_after_policy_bytes` (the same after the table's retention
            has run), `expires` (a sentence). Numbers are null if a version that is kept cannot be read.

        Example:
            >>> table.costs().sort_values("exclusive_bytes", ascending=False).to_csv("costs.csv")
        """
        return self._frame(frames.costs(reports.tag_costs(self._history(), now_ms())))

    def holders(self, path: str) -> FileLifetime:
        """Find the versions that hold a file, the snapshots that added and removed it, and when it can be deleted.

        Args:
            path: a path as listed by `files`, an absolute path, a URL, or a file name that is unique in the table.

        Example:
            >>> table.holders("bucket-0/data-1.parquet").holders
        """
        history = self._history()
        return answers.lifetime(lifetime(history, find(history, path, self._table.store.relative), now_ms()))

    def problems(self) -> F:
        """List the metadata files of all branches that cannot be read. No other method treats them as absent.

        Returns:
            One row per file: `path`, `expected`, `found`, `remedy`. No rows if everything is readable.

        Example:
            >>> assert table.problems().empty
        """
        history = self._history()
        unreadable = [each.problem for line in history.heads.lines for each in line.unreadable]
        return self._frame(frames.problems([*unreadable, *history.problems]))

    def timeline(self, *, theme: str = "light") -> Timeline:
        """Draw snapshots, tags and branches on a time axis (UTC).

        Args:
            theme: `light` or `dark`.

        Example:
            >>> table.timeline().figure().write_html("orders.html")
        """
        if theme not in ("light", "dark"):
            raise Invalid("theme must be light or dark, not {theme!r}.", theme=theme, remedy="Choose one of the two.")
        return Timeline(self._table.heads(), theme)

    def query(
        self,
        sql: str,
        at: Time = "latest",
        *,
        before: Time | None = None,
        since: Time | None = None,
        limit: int = 10_000,
        timeout: str = "60 s",
        engine: str = "plain",
    ) -> F:
        """Run a SELECT statement on a version of the table with a local Spark.

        Args:
            sql: the statement. The table is available as view `t` and under its own name.
            at: the version of `t`.
            before: a second version, available as view `t_before`.
            since: an earlier version; view `t_changes` contains the rows that changed since then (Paimon).
            limit: the maximum number of rows. A larger result is an error; it is never truncated silently.
            timeout: the time limit, such as `5 min`.
            engine: `plain`, or `connector` for the engine's own Spark connector.

        Returns:
            The rows. Duplicate column names are numbered.

        Raises:
            Invalid: the statement fails, is not read-only, takes too long or returns more than `limit` rows.
            Unsupported: plain Spark cannot read this table correctly.

        Example:
            >>> table.query("select count(*) as orders from t", at="tag:v1")
        """
        from core.spark.query.query import query

        found = query(
            self._table,
            sql,
            at=self._version(at),
            before=None if before is None else self._version(before),
            since=None if since is None else self._version(since),
            branch=self._branch,
            row_cap=whole_number("limit", limit),
            timeout_s=duration_s(timeout),
            engine=engine,
            history=self._history(),
        )
        if found.truncated:
            raise Invalid(
                "The answer has more than {limit} rows.",
                limit=f"{limit:,}",
                remedy="Raise limit=, or let the statement return fewer rows.",
            )
        return self._frame(found.named_apart)

    def bisect(
        self,
        condition: str,
        *,
        start: Time | None = None,
        end: Time | None = None,
        every: bool = False,
        timeout: str = "60 s",
    ) -> Bisect[F]:
        """Find the first version at which a condition is true, with log2(n) queries on a local Spark.

        Args:
            condition: a SQL condition on the whole table `t`, such as `count(*) > 1000`.
            start: the first version to search; None means the oldest retained one.
            end: the last version to search; None means the latest.
            every: query every version, to find conditions that changed more than once.
            timeout: the time limit for each query.

        Raises:
            Invalid: `condition` is not a condition.

        Example:
            >>> table.bisect("count_if(amount < 0) > 0").first_true
        """
        found = search(
            self._table,
            condition,
            start=None if start is None else self._version(start),
            end=None if end is None else self._version(end),
            branch=self._branch,
            is_every=every,
            history=self._history(),
            timeout_s=duration_s(timeout),
        )
        return answers.bisected(found, self._frame)

    def __repr__(self) -> str:
        return f"<{self.format} table {self.name} at {self.location}, branch {self._branch}>"

    def _history(self) -> History:
        """Return the history for the current references; rebuild it only if they changed or something was
        unreadable."""
        heads = self._table.heads()
        if self._kept is None or self._kept.incomplete or self._kept.heads.references != heads.references:
            self._kept = self._table.lasting(heads)
        return self._kept

    def _version(self, at: Time) -> str:
        return point_of(at, self._table.heads(), self._zone)

    def _point(self, at: Time) -> Resolved:
        heads = self._table.heads()
        return resolve(heads, point_of(at, heads, self._zone), self._branch)
