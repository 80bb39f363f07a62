"""One method for each action, which answers with its plan.

Law: the methods and their arguments are those of the table of actions (core/procedures/definitions); a test compares
them. Arguments are read exactly as the command line reads the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import pyarrow as pa

from core.model.history import History
from core.procedures.asked import asked
from core.procedures.definition import Argument
from core.procedures.registry import BY_COMMAND
from core.procedures.units import SWITCH, TIME
from core.table import Table as Opened
from snapscope.frames import F
from snapscope.plans import Plan, planned
from snapscope.points import Duration, Time, now_ms, point_of, time_ms, word_of


class Plans(Generic[F]):
    """Plans for one branch of a table, one method for each action; `Table.plan` is one of these.

    Times are `datetime` values with a zone, or text such as `2026-11-20T08:00:00Z` or `3 days ago`. Durations are
    `timedelta` values, or text such as `7 d`, `36 h` or `90 min`. What is None is the table's own option, or else the
    engine's default. Every method raises `Invalid` for a request that contradicts itself or names what is not there,
    `Unsupported` for an action that the table's format does not have, and `Corrupt` where metadata that decides it
    cannot be read.
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
        drop_tags: Sequence[str] = (),
        snapshots: Sequence[str] = (),
        expired_tags: bool = False,
        tags_older_than: Time | None = None,
        changelogs_only: bool = False,
        changelog_retain_max: int | None = None,
        changelog_retain_min: int | None = None,
        changelog_time_retained: Duration | None = None,
    ) -> Plan[F]:
        """Expire snapshots: by retention, or exactly those that are named.

        Args:
            retain_max: snapshots to keep at most (`retain_max`).
            retain_min: snapshots to keep at least (`retain_min`).
            older_than: expire only snapshots that were committed before this.
            time_retained: expire only snapshots older than this.
            max_deletes: snapshots to expire at most.
            rules: the engine version whose rules decide, such as `newest`.
            drop_tags: also delete these tags; of an Iceberg table also branches.
            snapshots: expire exactly these, which must be the oldest ones.
            expired_tags: also delete tags whose own retention has passed.
            tags_older_than: also delete tags that were created before this.
            changelogs_only: expire long-lived changelogs (Paimon) instead of snapshots.
            changelog_retain_max: changelogs to keep at most.
            changelog_retain_min: changelogs to keep at least.
            changelog_time_retained: expire only changelogs older than this.

        Example:
            >>> table.plan.expire(retain_min=5, time_retained="7 d")
        """
        return self._planned("expire", locals())

    def delete_tags(self, names: Sequence[str]) -> Plan[F]:
        """Delete tags, and the files that only they keep.

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
        """Create a tag, which keeps a snapshot.

        Args:
            name: the tag's name.
            snapshot: the snapshot's id; None is the newest one, unless `time` or `watermark` is given.
            time: instead of an id: the first snapshot at or after this time (Paimon).
            watermark: instead of an id: the first snapshot whose watermark is at or after this, in ms (Paimon).
            time_retained: how long the engine keeps the tag; None is for ever.
            verified: check that every file of the snapshot is there, and withdraw the tag if not.

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
        """Move a tag to another snapshot, and delete the files that only its old one kept.

        Args:
            name: the tag's name.
            snapshot: the snapshot's id; None is the newest one, unless `time` or `watermark` is given.
            time: instead of an id: the first snapshot at or after this time (Paimon).
            watermark: instead of an id: the first snapshot whose watermark is at or after this, in ms (Paimon).
            time_retained: how long the engine keeps the tag; None is for ever.

        Example:
            >>> table.plan.replace_tag("stable", snapshot="42")
        """
        return self._planned("replace-tag", locals())

    def rename_tag(self, name: str, to: str) -> Plan[F]:
        """Rename a tag.

        Args:
            name: its name now.
            to: its new name.

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
            name: the branch's name.
            at: the version where it starts, such as `tag:v1`; None as the engine does.
            min_snapshots: snapshots that the branch keeps (Iceberg).
            max_snapshot_age: how old a snapshot of the branch may become (Iceberg).
            max_ref_age: how old the branch itself may become (Iceberg).

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
        """Move a branch, or change its retention (Iceberg). What is None stays as it is.

        Args:
            name: the branch's name.
            at: the version it moves to.
            min_snapshots: snapshots that the branch keeps.
            max_snapshot_age: how old a snapshot of the branch may become.
            max_ref_age: how old the branch itself may become.

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
            name: its name now.
            to: its new name.

        Example:
            >>> table.plan.rename_branch("dev", to="staging")
        """
        return self._planned("rename-branch", locals())

    def fast_forward(self, name: str) -> Plan[F]:
        """Fast-forward the table's branch (`main`) to another branch.

        Args:
            name: the branch to fast-forward to.

        Example:
            >>> table.plan.fast_forward("dev")
        """
        return self._planned("fast-forward", locals())

    def rollback(self, at: str, *, destructive: bool = False, any_line: bool = False) -> Plan[F]:
        """Roll the branch back to an earlier version.

        Args:
            at: the version to return to, such as `41` or `tag:v1`.
            destructive: remove the snapshots and tags after it (Paimon), instead of committing the old content again.
            any_line: also to a snapshot that is no ancestor of the branch (Iceberg).

        Example:
            >>> table.plan.rollback("tag:before-backfill")
        """
        return self._planned("rollback", locals())

    def reset_consumer(self, name: str, next_snapshot: str | None = None) -> Plan[F]:
        """Set a streaming reader back, or forget it (Paimon).

        Args:
            name: the consumer's id.
            next_snapshot: the id of the snapshot that it reads next; None forgets the consumer.

        Example:
            >>> table.plan.reset_consumer("etl", "41")
        """
        return self._planned("reset-consumer", locals())

    def clear_consumers(self, *, including: str | None = None, excluding: str | None = None) -> Plan[F]:
        """Forget streaming readers (Paimon).

        Args:
            including: a regular expression that the whole name matches; None is any.
            excluding: a regular expression of names to leave out.

        Example:
            >>> table.plan.clear_consumers(including="test-.*")
        """
        return self._planned("clear-consumers", locals())

    def drop_partitions(self, partitions: Sequence[str]) -> Plan[F]:
        """Delete all rows of partitions, by a commit (Paimon).

        Args:
            partitions: each by some or all of its keys: `dt=2026-11-01,region=EU`.

        Example:
            >>> table.plan.drop_partitions(["dt=2026-11-01"])
        """
        return self._planned("drop-partition", locals())

    def truncate(self) -> Plan[F]:
        """Delete all rows, by a commit (Paimon).

        Example:
            >>> table.plan.truncate()
        """
        return self._planned("truncate", locals())

    def compact(self, *, partitions: Sequence[str] = (), min_files: int | None = None) -> Plan[F]:
        """Rewrite small files as large ones, by a commit; rows stay as they are (Paimon).

        Args:
            partitions: only these, each by some or all of its keys.
            min_files: how many small files become one.

        Example:
            >>> table.plan.compact(partitions=["dt=2026-11-01"])
        """
        return self._planned("compact", locals())

    def analyze(self, *, columns: Sequence[str] = (), all_columns: bool = False) -> Plan[F]:
        """Count rows, and commit the statistics (Paimon).

        Args:
            columns: count these columns too.
            all_columns: count every column.

        Example:
            >>> table.plan.analyze(columns=["amount"])
        """
        return self._planned("analyze", locals())

    def clean_orphans(self, *, older_than: Time | None = None, also: Sequence[str] = ()) -> Plan[F]:
        """Delete files that no version of any branch names (Paimon).

        Args:
            older_than: only files last written before this; None is a day ago.
            also: directories of partitions that no snapshot mentions, to be cleaned as well.

        Example:
            >>> table.plan.clean_orphans(older_than="2026-11-01T00:00:00Z").files()
        """
        return self._planned("orphans", locals())

    def _planned(self, command: str, given: Mapping[str, Any]) -> Plan[F]:
        """The plan of an action, its arguments read exactly as the command line reads the same words."""
        of, clock_ms, history = BY_COMMAND[command], now_ms(), self._history()
        history.heads.require(self._branch)
        judged_ms = clock_ms if self._now_ms is None else self._now_ms
        words = {each.dest: self._word(each, given[keyword(each)]) if each.name else None for each in of.arguments}
        change, target = asked(of, {"branch": self._branch, **words}, history.heads, judged_ms, clock_ms)
        found = self._table.preview(change, judged_ms, history)
        return planned(found, history, target.sentences() if target else [], self._frame)

    def _word(self, argument: Argument, value: Any) -> Any:
        """An argument as the word of the command line."""
        if argument.unit is SWITCH or value is None:
            return value
        if argument.gather is not None:
            return [word_of(each) for each in ([value] if isinstance(value, str) else value)]
        if argument.unit is TIME:
            return str(time_ms(value, self._zone))
        return point_of(value, self._history().heads, self._zone) if argument.name == "point" else word_of(value)


KEYWORDS = {"point": "at", "retained_ms": "time_retained"}


def keyword(argument: Argument) -> str:
    """What an argument of an action is called here: as its field, without the unit that its value brings along."""
    if argument.gives is not True:
        return argument.dest
    return KEYWORDS.get(argument.name) or argument.name.removesuffix("_ms").removesuffix("_id")
