"""Procedures of the engines: which of our changes each asks for, and the CALL that does just what a change does. Pure.

Law: one table says it both ways, with all the names its arguments go by: Spark's, Flink's, the actions', the first
proposal's. What has no counterpart here is named with what is missing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from core.errors import Invalid, Unsupported
from core.formats.paimon.retention import LEAST, UNBOUNDED
from core.model.actions import (
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceTag,
    ResetConsumer,
    Rollback,
)
from core.model.references import MAIN
from core.procedures.arguments import (
    AutoTag,
    BackToWatermark,
    ExpireTags,
    Given,
    Parameter,
    Procedure,
    TagFrom,
    Told,
    duration,
    flag,
    ids,
    moment,
    names,
    number,
    parts,
    silent,
    text,
)

DAY_MS = 86_400_000
FOREVER_MS = 10**15
REF = "ref:"  # before the name of a tag or branch, whichever there is
PAIMON, ICEBERG = "sys", "system"  # the namespaces procedures are called in


# telling -------------------------------------------------------------------------------------------------------------


def as_call(change: Change, title: str, now_ms: int, options: Mapping[str, str]) -> str | None:
    """Paimon's own CALL for a change of `database.table`; None where no procedure does just that. Ages are counted back
    from `now_ms`, times are written as UTC."""
    for of in TABLES[PAIMON].values():
        if (arguments := of.tells(change, now_ms, options)) is not None:
            return spoken(of.name, title, change.branch, arguments)
    return None


def spoken(name: str, title: str, branch: str = MAIN, arguments: Told | None = None) -> str:
    """A CALL of Paimon's, on a branch of `database.table`."""
    given = {"table": title if branch == MAIN else f"{title}$branch_{branch}", **(arguments or {})}.items()
    return f"CALL sys.{name}({', '.join(f'{key} => {literal(value)}' for key, value in given if value is not None)})"


def literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def procedure_time(time_ms: int) -> str | None:
    """As procedures take a time, in UTC; None for a number that no calendar holds."""
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=time_ms)
    except OverflowError:
        return None
    return f"{moment:%Y-%m-%d %H:%M:%S}"


# the table -----------------------------------------------------------------------------------------------------------

_TABLE = Parameter("table", text, True, ("table_id", "identifier"))
_TAG = Parameter("tag", text, True, ("tag_name", "tagName", "name"))
_SNAPSHOT = Parameter("snapshot", number, False, ("snapshot_id",))
_KEPT = Parameter("time_retained", duration, False, ("timeRetained",))
_OLDER = Parameter("older_than", moment)
_BRANCH = Parameter("branch", text, True, ("branch_name", "branchName"))


def _create_tag(change: Change, *_: object) -> Told | None:
    return _tag(change) if isinstance(change, CreateTag) else None


def _replace_tag(change: Change, *_: object) -> Told | None:
    return _tag(change) if isinstance(change, ReplaceTag) else None


def _tag(change: CreateTag | ReplaceTag) -> Told:
    kept = None if change.retained_ms is None else f"{change.retained_ms} ms"
    return {"tag": change.name, "snapshot": change.snapshot_id, "time_retained": kept}


def _expire_snapshots(change: Change, now_ms: int, options: Mapping[str, str]) -> Told | None:
    """A retain-max below the engine's default of retain-min brings its own retain-min: the engine would refuse it."""
    if not isinstance(change, Expire):
        return None
    takes_tags = change.drop_tags or change.expired_tags or change.tags_older_than_ms is not None
    if change.changelogs_only or change.snapshots or takes_tags:
        return None
    ages = [] if change.time_retained_ms is None else [now_ms - change.time_retained_ms]
    older = min([*ages, *([] if change.older_than_ms is None else [change.older_than_ms])], default=None)
    at = None if older is None else procedure_time(older)
    if older is not None and at is None:
        return None
    least = change.retain_min
    if least is None and change.retain_max is not None and "snapshot.num-retained.min" not in options:
        least = change.retain_max if change.retain_max < LEAST else None
    return {
        "retain_max": change.retain_max,
        "retain_min": least,
        "older_than": at,
        "max_deletes": change.max_deletes,
    }


def _expire_changelogs(given: Given, branch: str, _: int) -> Expire:
    """What is not given comes from the engine's own defaults here, never from the table: no age protects nothing."""
    forever = FOREVER_MS if given["older_than"] is None else None
    least, most = given["retain_min"] or 1, given["retain_max"] or UNBOUNDED
    return Expire(
        branch,
        older_than_ms=given["older_than"],
        max_deletes=given["max_deletes"],
        changelog_retain_max=most,
        changelog_retain_min=least,
        changelog_time_retained_ms=forever,
        changelogs_only=True,
    )


def _create_branch(given: Given, branch: str, _: int) -> CreateBranch:
    if given["ignoreIfExists"]:
        raise Unsupported("ignoreIfExists: a branch that is there is never taken for the one that was asked for.")
    return CreateBranch(given["branch"], None if given["tag"] is None else f"tag:{given['tag']}", branch=branch)


def _created_branch(change: Change, *_: object) -> Told | None:
    if not isinstance(change, CreateBranch):
        return None
    kind, __, tag = (change.point or "tag:").partition(":")
    return {"branch": change.name, "tag": tag or None} if kind == "tag" else None


def _point(given: Given) -> str:
    """The one point a rollback names."""
    version = given.get("version")
    named = [
        *([] if version is None else [version if version.isdecimal() else f"tag:{version}"]),
        *([] if given["snapshot"] is None else [str(given["snapshot"])]),
        *([] if given["tag"] is None else [f"tag:{given['tag']}"]),
    ]
    if len(named) != 1:
        raise Invalid("A rollback names exactly one of version, snapshot and tag.")
    return named[0]


def _rolled_back(change: Change, *_: object) -> Told | None:
    if not isinstance(change, Rollback) or not change.destructive:
        return None
    kind, __, value = change.point.partition(":")
    return {"snapshot": int(kind)} if kind.isdecimal() else {"tag": value} if kind == "tag" else None


def _orphans(given: Given, branch: str, now_ms: int) -> CleanOrphans:
    older_ms = given["older_than"]
    return CleanOrphans(now_ms - DAY_MS if older_ms is None else older_ms, branch)


def _current(given: Given, branch: str, _: int) -> Rollback:
    number, ref = given["snapshot_id"], given["ref"]
    if (number is None) == (ref is None):
        raise Invalid("set_current_snapshot names a snapshot_id or a ref.")
    point = str(number) if ref is None else ref if ":" in ref else f"{REF}{ref}"
    return Rollback(point, any_line=True, branch=branch)


def _of(*procedures: Procedure) -> Mapping[str, Procedure]:
    return {each.name: each for each in procedures}


_EXPIRY = tuple(Parameter(name, number) for name in ("retain_max", "retain_min"))
_MOST = Parameter("max_deletes", number)
_TAG_OR_SNAPSHOT = (Parameter("tag", text, False, ("tag_name",)), _SNAPSHOT)
_PAIMON = _of(
    Procedure(
        "create_tag",
        (_TABLE, _TAG, _SNAPSHOT, _KEPT),
        lambda given, branch, _: CreateTag(given["tag"], given["snapshot"], given["time_retained"], branch),
        _create_tag,
    ),
    Procedure(
        "replace_tag",
        (_TABLE, _TAG, _SNAPSHOT, _KEPT),
        lambda given, branch, _: ReplaceTag(given["tag"], given["snapshot"], given["time_retained"], branch),
        _replace_tag,
    ),
    Procedure(
        "create_tag_from_timestamp",
        (_TABLE, _TAG, Parameter("timestamp", number, True), _KEPT),
        lambda given, branch, _: TagFrom(given["tag"], given["timestamp"], None, given["time_retained"], branch),
    ),
    Procedure(
        "create_tag_from_watermark",
        (_TABLE, _TAG, Parameter("watermark", number, True), _KEPT),
        lambda given, branch, _: TagFrom(given["tag"], None, given["watermark"], given["time_retained"], branch),
    ),
    Procedure(
        "rename_tag",
        (_TABLE, _TAG, Parameter("target_tag", text, True, ("target_tag_name", "targetTagName"))),
        lambda given, branch, _: RenameTag(given["tag"], given["target_tag"], branch),
        lambda change, *_: {"tag": change.name, "target_tag": change.to} if isinstance(change, RenameTag) else None,
    ),
    Procedure(
        "delete_tag",
        (_TABLE, Parameter("tag", names, True, _TAG.also)),
        lambda given, branch, _: DeleteTags(given["tag"], branch),
        lambda change, *_: {"tag": ",".join(change.names)} if isinstance(change, DeleteTags) else None,
    ),
    Procedure("expire_tags", (_TABLE, _OLDER), lambda given, branch, _: ExpireTags(given["older_than"], branch)),
    Procedure("trigger_tag_automatic_creation", (_TABLE,), lambda _, branch, __: AutoTag(branch)),
    Procedure(
        "expire_snapshots",
        (_TABLE, *_EXPIRY, _OLDER, _MOST),
        lambda given, branch, _: Expire(
            branch,
            retain_max=given["retain_max"],
            retain_min=given["retain_min"],
            older_than_ms=given["older_than"],
            max_deletes=given["max_deletes"],
        ),
        _expire_snapshots,
    ),
    Procedure("expire_changelogs", (_TABLE, *_EXPIRY, _OLDER, _MOST), _expire_changelogs),
    Procedure(
        "rollback",
        (_TABLE, Parameter("version", lambda name, value: text(name, str(value))), _SNAPSHOT, _TAG_OR_SNAPSHOT[0]),
        lambda given, branch, _: Rollback(_point(given), destructive=True, branch=branch),
        _rolled_back,
    ),
    Procedure(
        "rollback_to",
        (_TABLE, *_TAG_OR_SNAPSHOT, Parameter("version", lambda name, value: text(name, str(value)))),
        lambda given, branch, _: Rollback(_point(given), destructive=True, branch=branch),
    ),
    Procedure(
        "rollback_to_timestamp",
        (_TABLE, Parameter("timestamp", number, True)),
        lambda given, branch, _: Rollback(f"time:{given['timestamp']}", destructive=True, branch=branch),
    ),
    Procedure(
        "rollback_to_watermark",
        (_TABLE, Parameter("watermark", number, True)),
        lambda given, branch, _: BackToWatermark(given["watermark"], branch),
    ),
    Procedure(
        "rollback_to_as_latest",
        (_TABLE, *_TAG_OR_SNAPSHOT),
        lambda given, branch, _: Rollback(_point(given), branch=branch),
    ),
    Procedure(
        "create_branch",
        (_TABLE, _BRANCH, _TAG_OR_SNAPSHOT[0], Parameter("ignoreIfExists", flag, False, ("ignore_if_exists",))),
        _create_branch,
        _created_branch,
    ),
    Procedure(
        "delete_branch",
        (_TABLE, Parameter("branch", names, True, _BRANCH.also)),
        lambda given, branch, _: DeleteBranches(given["branch"], branch),
        lambda change, *_: {"branch": ",".join(change.names)} if isinstance(change, DeleteBranches) else None,
    ),
    Procedure(
        "rename_branch",
        (_TABLE, Parameter("from_branch", text, True), Parameter("to_branch", text, True)),
        lambda given, branch, _: RenameBranch(given["from_branch"], given["to_branch"], branch),
        lambda change, *_: (
            {"from_branch": change.name, "to_branch": change.to} if isinstance(change, RenameBranch) else None
        ),
    ),
    Procedure(
        "fast_forward",
        (_TABLE, _BRANCH),
        lambda given, branch, _: FastForward(given["branch"], branch),
        lambda change, *_: {"branch": change.name} if isinstance(change, FastForward) else None,
    ),
    Procedure(
        "reset_consumer",
        (
            _TABLE,
            Parameter("consumerId", text, True, ("consumer_id",)),
            Parameter("nextSnapshotId", number, False, ("next_snapshot_id", "next_snapshot")),
        ),
        lambda given, branch, _: ResetConsumer(given["consumerId"], given["nextSnapshotId"], branch),
        lambda change, *_: (
            {"consumerId": change.name, "nextSnapshotId": change.next_snapshot}
            if isinstance(change, ResetConsumer)
            else None
        ),
    ),
    Procedure(
        "clear_consumers",
        (
            _TABLE,
            Parameter("includingConsumers", text, False, ("including_consumers",)),
            Parameter("excludingConsumers", text, False, ("excluding_consumers",)),
        ),
        lambda given, branch, _: ClearConsumers(given["includingConsumers"], given["excludingConsumers"], branch),
        lambda change, *_: (
            {"includingConsumers": change.including, "excludingConsumers": change.excluding}
            if isinstance(change, ClearConsumers)
            else None
        ),
    ),
    Procedure(
        "compact",
        (_TABLE, Parameter("partitions", parts)),
        lambda given, branch, _: Compact(branch, given["partitions"] or ()),
        lambda change, *_: (
            {"partitions": ";".join(change.partitions) or None}
            if isinstance(change, Compact) and change.min_files is None
            else None
        ),
    ),
    Procedure(
        "remove_orphan_files",
        (_TABLE, _OLDER, Parameter("dry_run", flag)),
        _orphans,
        lambda change, *_: (
            {"older_than": at}
            if isinstance(change, CleanOrphans) and (at := procedure_time(change.older_than_ms))
            else None
        ),
    ),
)
_ID = Parameter("snapshot_id", number, True)
_ICEBERG = _of(
    Procedure(
        "expire_snapshots",
        (
            _TABLE,
            _OLDER,
            Parameter("retain_last", number),
            Parameter("max_concurrent_deletes", silent),
            Parameter("stream_results", silent),
            Parameter("snapshot_ids", ids),
        ),
        lambda given, branch, _: Expire(
            branch,
            older_than_ms=given["older_than"],
            retain_min=given["retain_last"],
            snapshots=given["snapshot_ids"] or (),
        ),
    ),
    Procedure(
        "rollback_to_snapshot",
        (_TABLE, _ID),
        lambda given, branch, _: Rollback(str(given["snapshot_id"]), branch=branch),
    ),
    Procedure(
        "set_current_snapshot",
        (_TABLE, Parameter("snapshot_id", number), Parameter("ref", text)),
        _current,
    ),
    Procedure(
        "fast_forward",
        (_TABLE, Parameter("branch", text, True), Parameter("to", text, True)),
        lambda given, _, __: FastForward(given["to"], given["branch"]),
    ),
)
TABLES: Mapping[str, Mapping[str, Procedure]] = {PAIMON: _PAIMON, ICEBERG: _ICEBERG}
