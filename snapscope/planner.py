"""One method per action; each returns a plan.

Invariant: the methods and their arguments match the action definitions in core/procedures/definitions; a test compares
them. Arguments are parsed exactly as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import pyarrow as pa

from core.errors import Invalid
from core.model.history import History
from core.procedures.change_input import read_change
from core.procedures.definition import Argument
from core.procedures.registry import BY_COMMAND
from core.procedures.units import NUMBER, SWITCH, TIME
from core.table import Table as Opened
from snapscope.frames import F
from snapscope.plans import Plan, planned
from snapscope.points import Duration, Time, now_ms, point_of, time_ms, whole_number, word_of


class Plans(Generic[F]):
    """Make plans for one branch of a table, with one method per action; `Table.plan` returns an instance.

    Times are timezone-aware `datetime` values, or text such as `2026-11-20T08:00:00Z` or `3 days ago`. Durations are
    `timedelta` values, or text such as `7 d`, `36 h` or `90 min`. None means the table option, or the engine's default
    if the table does not set it. Every method raises `Invalid` if the request contradicts itself or names something
    that does not exist, `Unsupported` if the table format does not have the action, and `Corrupt` if metadata that the
    plan depends on cannot be read. A list without which a plan takes everything must not be empty.
    """

    def __init__(
        self,
        table: Opened,
        history: Callable[[], History],
        branch: str,
        zone: str,
        frame: Callable[[pa.Table], F],
        now_ms: int | None = None,
    ) -> None:
        self._table, self._history, self._branch, self._zone = table, history, branch, zone
        self._frame, self._now_ms = frame, now_ms

    def expire(
        self,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than: Time | None = None,
        time_retained: Duration | None = None,
        max_deletes: int | None = None,
        rules: str | None = None,
        drop_tags: Sequence[str] | None = None,
        snapshots: Sequence[str] | None = None,
        expired_tags: bool = False,
        tags_older_than: Time | None = None,
        changelogs_only: bool = False,
        changelog_retain_max: int | None = None,
        changelog_retain_min: int | None = None,
        changelog_time_retained: Duration | None = None,
    ) -> Plan[F]:
        """Expire snapshots, by retention or by id.

        Args:
            retain_max: the maximum number of snapshots to keep (`retain_max`).
            retain_min: the minimum number of snapshots to keep (`retain_min`).
            older_than: expire only snapshots committed before this time.
            time_retained: expire only snapshots older than this duration.
            max_deletes: the maximum number of snapshots to expire; by default `snapshot.expire.limit` if it is set.
            rules: the engine version whose expiry rules apply, such as `newest`.
            drop_tags: also delete these tags; for an Iceberg table, branches too.
            snapshots: expire exactly these snapshots, which must be the oldest ones.
            expired_tags: also delete tags whose own retention has passed.
            tags_older_than: also delete tags created before this time.
            changelogs_only: expire long-lived changelogs (Paimon) instead of snapshots.
            changelog_retain_max: the maximum number of changelogs to keep.
            changelog_retain_min: the minimum number of changelogs to keep.
            changelog_time_retained: expire only changelogs older than this duration.

        Example:
            >>> table.plan.expire(retain_min=5, time_retained="7 d")
        """
        return self._planned("expire", locals())

    def delete_tags(self, names: Sequence[str]) -> Plan[F]:
        """Delete tags and the files that only they hold.

        Args:
            names: the tags to delete.

        Example:
            >>> table.plan.delete_tags(["2026-10-01", "2026-10-02"])
        """
        return self._planned("delete-tag", locals())

    def create_tag(
        self,
        name: str,
        *,
        snapshot: str | None = None,
        time: Time | None = None,
        watermark: int | None = None,
        time_retained: Duration | None = None,
        verified: bool = False,
    ) -> Plan[F]:
        """Create a tag. A tagged snapshot's files are kept when the snapshot expires.

        Args:
            name: the name of the tag.
            snapshot: the snapshot id; None means the latest snapshot, unless `time` or `watermark` is given.
            time: tag the first snapshot committed at or after this time (Paimon).
            watermark: tag the first snapshot whose watermark is at or after this value, in ms (Paimon).
            time_retained: how long the engine keeps the tag; None means forever.
            verified: check that every file of the snapshot exists, and delete the tag again if one is missing.

        Example:
            >>> table.apply(table.plan.create_tag("before-backfill", snapshot="41"))
        """
        return self._planned("create-tag", locals())

    def replace_tag(
        self,
        name: str,
        *,
        snapshot: str | None = None,
        time: Time | None = None,
        watermark: int | None = None,
        time_retained: Duration | None = None,
    ) -> Plan[F]:
        """Move a tag to another snapshot, and delete the files that only the old tag held.

        Args:
            name: the name of the tag.
            snapshot: the snapshot id; None means the latest snapshot, unless `time` or `watermark` is given.
            time: tag the first snapshot committed at or after this time (Paimon).
            watermark: tag the first snapshot whose watermark is at or after this value, in ms (Paimon).
            time_retained: how long the engine keeps the tag; None means forever.

        Example:
            >>> table.plan.replace_tag("stable", snapshot="42")
        """
        return self._planned("replace-tag", locals())

    def rename_tag(self, name: str, to: str) -> Plan[F]:
        """Rename a tag.

        Args:
            name: the current name.
            to: the new name.

        Example:
            >>> table.plan.rename_tag("v1", to="release-1")
        """
        return self._planned("rename-tag", locals())

    def create_branch(
        self,
        name: str,
        at: str | None = None,
        *,
        min_snapshots: int | None = None,
        max_snapshot_age: Duration | None = None,
        max_ref_age: Duration | None = None,
    ) -> Plan[F]:
        """Create a branch.

        Args:
            name: the name of the branch.
            at: the version to branch from, such as `tag:v1`; None means the engine's default.
            min_snapshots: the minimum number of snapshots that the branch keeps (Iceberg).
            max_snapshot_age: the age at which snapshots of the branch may expire (Iceberg).
            max_ref_age: the age at which the branch itself expires (Iceberg).

        Example:
            >>> table.plan.create_branch("dev", "tag:v1")
        """
        return self._planned("create-branch", locals())

    def replace_branch(
        self,
        name: str,
        at: str | None = None,
        *,
        min_snapshots: int | None = None,
        max_snapshot_age: Duration | None = None,
        max_ref_age: Duration | None = None,
    ) -> Plan[F]:
        """Move a branch, or change its retention (Iceberg). None leaves a setting unchanged.

        Args:
            name: the name of the branch.
            at: the version to move the branch to.
            min_snapshots: the minimum number of snapshots that the branch keeps.
            max_snapshot_age: the age at which snapshots of the branch may expire.
            max_ref_age: the age at which the branch itself expires.

        Example:
            >>> table.plan.replace_branch("audit", max_ref_age="30 d")
        """
        return self._planned("replace-branch", locals())

    def delete_branches(self, names: Sequence[str]) -> Plan[F]:
        """Delete branches.

        Args:
            names: the branches to delete.

        Example:
            >>> table.plan.delete_branches(["dev"])
        """
        return self._planned("delete-branch", locals())

    def rename_branch(self, name: str, to: str) -> Plan[F]:
        """Rename a branch.

        Args:
            name: the current name.
            to: the new name.

        Example:
            >>> table.plan.rename_branch("dev", to="staging")
        """
        return self._planned("rename-branch", locals())

    def fast_forward(self, name: str) -> Plan[F]:
        """Fast-forward this branch (`main` by default) to another branch.

        Args:
            name: the branch to fast-forward to.

        Example:
            >>> table.plan.fast_forward("dev")
        """
        return self._planned("fast-forward", locals())

    def rollback(self, at: str, *, destructive: bool = False, any_line: bool = False) -> Plan[F]:
        """Roll the branch back to an earlier version.

        Args:
            at: the version to roll back to, such as `41` or `tag:v1`.
            destructive: delete the later snapshots and tags instead of committing the old content as a new snapshot
                (Paimon).
            any_line: also allow a snapshot that is not an ancestor of the branch (Iceberg).

        Example:
            >>> table.plan.rollback("tag:before-backfill")
        """
        return self._planned("rollback", locals())

    def reset_consumer(self, name: str, next_snapshot: str | None = None) -> Plan[F]:
        """Set the next snapshot of a consumer, or delete the consumer (Paimon).

        Args:
            name: the consumer id.
            next_snapshot: the id of the snapshot that the consumer reads next; None deletes the consumer.

        Example:
            >>> table.plan.reset_consumer("etl", "41")
        """
        return self._planned("reset-consumer", locals())

    def clear_consumers(self, *, including: str | None = None, excluding: str | None = None) -> Plan[F]:
        """Delete consumers (Paimon).

        Args:
            including: a regular expression that the whole consumer id must match; None matches all.
            excluding: a regular expression for consumer ids to leave out.

        Example:
            >>> table.plan.clear_consumers(including="test-.*")
        """
        return self._planned("clear-consumers", locals())

    def drop_partitions(self, partitions: Sequence[str]) -> Plan[F]:
        """Commit the deletion of all rows in the given partitions (Paimon).

        Args:
            partitions: the partitions, each given by some or all of its keys: `dt=2026-11-01,region=EU`.

        Example:
            >>> table.plan.drop_partitions(["dt=2026-11-01"])
        """
        return self._planned("drop-partition", locals())

    def truncate(self) -> Plan[F]:
        """Commit the deletion of all rows (Paimon).

        Example:
            >>> table.plan.truncate()
        """
        return self._planned("truncate", locals())

    def compact(self, *, partitions: Sequence[str] | None = None, min_files: int | None = None) -> Plan[F]:
        """Commit a compaction: rewrite small files as large ones without changing any row (Paimon).

        Args:
            partitions: compact only these partitions, each given by some or all of its keys.
            min_files: the minimum number of small files to combine; None means the table option.

        Example:
            >>> table.plan.compact(partitions=["dt=2026-11-01"])
        """
        return self._planned("compact", locals())

    def analyze(self, *, columns: Sequence[str] | None = None, all_columns: bool = False) -> Plan[F]:
        """Commit table statistics: row counts and, optionally, column statistics (Paimon).

        Args:
            columns: also compute statistics for these columns.
            all_columns: also compute statistics for every column.

        Example:
            >>> table.plan.analyze(columns=["amount"])
        """
        return self._planned("analyze", locals())

    def clean_orphans(self, *, older_than: Time | None = None, also: Sequence[str] | None = None) -> Plan[F]:
        """Delete orphan files: files that no version on any branch references.

        Args:
            older_than: only delete files last modified before this time; None means one day ago, for Iceberg three.
            also: also search these partition directories, which no snapshot mentions.

        Example:
            >>> table.plan.clean_orphans(older_than="2026-11-01T00:00:00Z").files()
        """
        return self._planned("orphans", locals())

    def _planned(self, command: str, given: Mapping[str, Any]) -> Plan[F]:
        """Plan an action, with its arguments parsed exactly as on the command line."""
        of, clock_ms, history = BY_COMMAND[command], now_ms(), self._history()
        history.heads.require(self._branch)
        judged_ms = clock_ms if self._now_ms is None else self._now_ms
        words = {each.dest: self._word(each, given[keyword(each)]) if each.name else None for each in of.arguments}
        change, target = read_change(of, {"branch": self._branch, **words}, history.heads, judged_ms, clock_ms)
        found = self._table.preview(change, judged_ms, history)
        return planned(found, history, target.sentences() if target else [], self._frame)

    def _word(self, argument: Argument, value: Any) -> Any:
        """Convert an argument to its command-line form."""
        name = keyword(argument)
        if value is None and argument.is_needed:
            raise Invalid("{name} is missing.", name=name, remedy="Give a value.")
        if value is None:
            return None
        if argument.unit is SWITCH:
            if not isinstance(value, bool):
                raise Invalid(
                    "{name} must be true or false, not {value!r}.", name=name, value=value, remedy="Give a bool."
                )
            return value
        if argument.unit is NUMBER:
            return str(whole_number(name, value))
        if argument.gather is not None:
            return [word_of(each) for each in _several(name, value, may_be_empty=argument.name in _ADDING)]
        if argument.unit is TIME:
            return str(time_ms(value, self._zone))
        return point_of(value, self._history().heads, self._zone) if argument.name == "point" else word_of(value)


_ADDING = ("drop_tags", "also")  # arguments that add to what a plan does anyway; of others, none given means all


def _several(name: str, value: Any, *, may_be_empty: bool) -> list[Any]:
    """Return the values of an argument that takes several. An empty list is refused where leaving the argument out may
    mean everything, which who named what was left of a filter never meant."""
    try:
        values = [value] if isinstance(value, str) else list(value)
    except TypeError as error:
        raise Invalid(
            "{name} must be a list of texts, not {value!r}.", name=name, value=value, remedy="Give a list."
        ) from error
    if not values and not may_be_empty:
        raise Invalid(
            "{name} is empty.", name=name, remedy="Give at least one value, or None (if allowed) to leave it out."
        )
    return values


KEYWORDS = {"point": "at", "retained_ms": "time_retained"}


def keyword(argument: Argument) -> str:
    """Return the keyword for an action's argument: its field name without the unit, because the values here carry their
    own."""
    if argument.gives is not True:
        return argument.dest
    return KEYWORDS.get(argument.name) or argument.name.removesuffix("_ms").removesuffix("_id")
