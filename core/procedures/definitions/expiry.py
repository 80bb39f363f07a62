"""Expiring snapshots and changelogs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from core.formats.paimon.retention import LEAST, RULES, UNBOUNDED
from core.model.actions import Expire
from core.procedures.definition import Argument, Constants, Definition, Given, Procedure, constants_of
from core.procedures.units import DURATION, IDS, NUMBER, SILENT, SWITCH, TEXT, TIME, TIMESTAMP

_FOREVER_MS = 10**15

_MOST = Argument("retain_max", NUMBER, "--retain-max", "keep at most so many snapshots (retain_max)", call="retain_max")
_LEAST = Argument(
    "retain_min", NUMBER, "--retain-min", "keep at least so many snapshots (retain_min)", call="retain_min"
)
_OLDER = Argument(
    "older_than_ms", TIME, "--older-than", "expire only snapshots older than this (older_than)", call="older_than"
)
_DELETES = Argument(
    "max_deletes", NUMBER, "--max-deletes", "expire at most so many snapshots (max_deletes)", call="max_deletes"
)
_SNAPSHOTS = Argument(
    "snapshots", IDS, "--snapshot", "expire exactly this snapshot; those named must be the oldest", gather=tuple
)
_DROPPED = "also delete this tag; of an Iceberg table, a branch as well"
_PAIMON = (_MOST, _LEAST, _OLDER, _DELETES)
_ICEBERG = (
    dataclasses.replace(_OLDER, unit=TIMESTAMP),
    dataclasses.replace(_LEAST, call="retain_last"),
    Argument("", SILENT, call="max_concurrent_deletes"),
    Argument("", SILENT, call="stream_results"),
    dataclasses.replace(_SNAPSHOTS, call="snapshot_ids"),
)


def _by_paimon(change: Expire, now_ms: int, options: Mapping[str, str]) -> Constants | None:
    """Paimon's arguments.

    A retain-max below the engine's default retain-min needs a retain-min, or the engine refuses it.
    """
    takes_tags = change.drop_tags or change.expired_tags or change.tags_older_than_ms is not None
    if change.changelogs_only or change.snapshots or takes_tags:
        return None
    ages = [] if change.time_retained_ms is None else [now_ms - change.time_retained_ms]
    older = min([*ages, *([] if change.older_than_ms is None else [change.older_than_ms])], default=None)
    least = change.retain_min
    if least is None and change.retain_max is not None and "snapshot.num-retained.min" not in options:
        least = change.retain_max if change.retain_max < LEAST else None
    return constants_of(_PAIMON, dataclasses.replace(change, older_than_ms=older, retain_min=least))


def _by_iceberg(change: Expire, now_ms: int, _: object) -> Constants | None:
    if change.drop_tags:
        return None
    older = change.older_than_ms if change.time_retained_ms is None else now_ms - change.time_retained_ms
    return constants_of(_ICEBERG, dataclasses.replace(change, older_than_ms=older))


def _changelogs(given: Given, branch: str, _: int) -> Expire:
    """Expire changelogs by the engine's defaults, never the table's options; without an age, none expires by age."""
    return Expire(
        branch,
        older_than_ms=given["older_than"],
        max_deletes=given["max_deletes"] or UNBOUNDED,
        changelog_retain_max=given["retain_max"] or UNBOUNDED,
        changelog_retain_min=given["retain_min"] or 1,
        changelog_time_retained_ms=_FOREVER_MS if given["older_than"] is None else None,
        changelogs_only=True,
    )


EXPIRE = Definition(
    Expire,
    "expire",
    "Expire snapshots by count, age or id; delete what only they kept.",
    (
        _MOST,
        _LEAST,
        _OLDER,
        Argument("time_retained_ms", DURATION, "--time-retained", "keep snapshots younger than this"),
        _DELETES,
        Argument("rules", TEXT, "--rules", "the Paimon version whose expiry rules apply", choices=tuple(RULES)),
        Argument("drop_tags", TEXT, ("--drop-tag", "--drop-ref"), _DROPPED, metavar="NAME", gather=tuple),
        _SNAPSHOTS,
        Argument("expired_tags", SWITCH, "--expired-tags", "also delete tags whose retention has passed"),
        Argument("tags_older_than_ms", TIME, "--tags-older-than", "also delete tags created before this"),
        Argument("changelogs_only", SWITCH, "--changelog", "expire long-lived changelogs instead of snapshots"),
        Argument("changelog_retain_max", NUMBER, "--changelog-retain-max", "keep at most so many changelogs"),
        Argument("changelog_retain_min", NUMBER, "--changelog-retain-min", "keep at least so many changelogs"),
        Argument(
            "changelog_time_retained_ms", DURATION, "--changelog-time-retained", "keep changelogs younger than this"
        ),
    ),
    paimon=(
        Procedure("expire_snapshots", Expire, _PAIMON, make_arguments=_by_paimon),
        Procedure("expire_changelogs", Expire, _PAIMON, make_request=_changelogs, is_shown=False),
    ),
    iceberg=(Procedure("expire_snapshots", Expire, _ICEBERG, make_arguments=_by_iceberg),),
)
