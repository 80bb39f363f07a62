"""Branches and rollback: creating, replacing, renaming, deleting, fast-forwarding; rolling back."""

from __future__ import annotations

import dataclasses

from core.errors import Invalid
from core.model.actions import (
    CreateBranch,
    DeleteBranches,
    FastForward,
    RenameBranch,
    ReplaceBranch,
    Rollback,
)
from core.procedures.definition import Argument, Constants, Definition, Given, Procedure, distinct
from core.procedures.requests import BackToWatermark
from core.procedures.units import (
    DURATION,
    NAMES,
    NEVER,
    NUMBER,
    SNAPSHOT_POINT,
    SWITCH,
    TAG_POINT,
    TEXT,
    VERSION_POINT,
    quoted,
)

REF = "ref:"  # prefix of a name that may be a tag or a branch

_NAME = Argument(
    "name", TEXT, help="the branch", metavar="NAME", is_needed=True, call="branch", also=("branch_name", "branchName")
)
_NAMES = dataclasses.replace(_NAME, name="names", unit=NAMES, gather=distinct)
_TAG = Argument("point", TAG_POINT, call="tag", also=("tag_name",))
_FORWARDED = Argument("branch", TEXT, is_needed=True, call="branch")
_KEEPS = (
    Argument(
        "min_snapshots",
        NUMBER,
        "--min-snapshots-to-keep",
        "Iceberg: keep at least so many of its snapshots",
        metavar="N",
    ),
    Argument("max_snapshot_age_ms", DURATION, "--max-snapshot-age", "Iceberg: older snapshots of it may expire"),
    Argument("max_ref_age_ms", DURATION, "--max-ref-age", "Iceberg: an expiry deletes the branch at this age"),
)


def _at(help_: str) -> Argument:
    return Argument("point", TEXT, help=help_, metavar="VERSION")


def _alter(verb: str, change: CreateBranch | ReplaceBranch, title: str) -> str | None:
    """Iceberg's ALTER TABLE, if it can express the change: it counts in minutes, and names a snapshot by its id."""
    ages = (change.max_ref_age_ms, change.max_snapshot_age_ms)
    has_point = change.point is not None and change.point.isdecimal()
    if (change.point is not None or verb == "REPLACE") != has_point or any((age or 0) % 60_000 for age in ages):
        return None
    ended, aged = (None if age is None else f"{age // 60_000} MINUTES" for age in ages)
    kept = [] if change.min_snapshots is None else [f"{change.min_snapshots} SNAPSHOTS"]
    kept += [] if aged is None else [aged]
    words = [verb, "BRANCH", quoted(change.name)]
    words += [f"AS OF VERSION {change.point}"] if has_point else []
    words += [] if ended is None else [f"RETAIN {ended}"]
    words += [f"WITH SNAPSHOT RETENTION {' '.join(kept)}"] if kept else []
    return f"ALTER TABLE {title} {' '.join(words)}"


CREATE = Definition(
    CreateBranch,
    "create-branch",
    "Create a branch at a snapshot or tag.",
    (_NAME, _at("where it starts (default: as the engine does)"), *_KEEPS),
    paimon=(
        Procedure(
            "create_branch",
            CreateBranch,
            (_NAME, _TAG, Argument("", NEVER, call="ignoreIfExists", also=("ignore_if_exists",))),
            without=tuple(each.name for each in _KEEPS),
        ),
    ),
    statement=lambda change, title: _alter("CREATE", change, title),
)
REPLACE = Definition(
    ReplaceBranch,
    "replace-branch",
    "Move an Iceberg branch, or change its retention.",
    (_NAME, _at("where the branch moves to (default: it stays)"), *_KEEPS),
    statement=lambda change, title: _alter("REPLACE", change, title),
)
DELETE = Definition(
    DeleteBranches,
    "delete-branch",
    "Delete branches.",
    (_NAMES,),
    paimon=(Procedure("delete_branch", DeleteBranches, (_NAMES,)),),
    statement=lambda change, title: ";\n".join(
        f"ALTER TABLE {title} DROP BRANCH {quoted(each)}" for each in change.names
    ),
)
RENAME = Definition(
    RenameBranch,
    "rename-branch",
    "Rename a branch.",
    (_NAME, Argument("to", TEXT, help="its new name", metavar="TO", is_needed=True)),
    paimon=(
        Procedure(
            "rename_branch",
            RenameBranch,
            (
                Argument("name", TEXT, is_needed=True, call="from_branch"),
                Argument("to", TEXT, is_needed=True, call="to_branch"),
            ),
        ),
    ),
)
FORWARD = Definition(
    FastForward,
    "fast-forward",
    "Fast-forward main to a branch.",
    (dataclasses.replace(_NAME, help="the branch that main (or --branch) is moved to"),),
    paimon=(Procedure("fast_forward", FastForward, (_NAME,)),),
    iceberg=(Procedure("fast_forward", FastForward, (_FORWARDED, dataclasses.replace(_NAME, call="to", also=()))),),
)


# rollback ------------------------------------------------------------------------------------------------------------

_SNAPSHOT = Argument("point", SNAPSHOT_POINT, call="snapshot", also=("snapshot_id",))
_VERSION = Argument("point", VERSION_POINT, call="version")
_ID = Argument("point", SNAPSHOT_POINT, is_needed=True, call="snapshot_id")


def _one(given: Given) -> str:
    """The single version that a rollback names. Raises `Invalid` unless there is exactly one."""
    named = [given[name] for name in ("version", "snapshot", "tag") if given.get(name) is not None]
    if len(named) != 1:
        raise Invalid("A rollback takes exactly one of version, snapshot and tag.")
    return str(named[0])


def _back(given: Given, branch: str, _: int) -> Rollback:
    return Rollback(_one(given), destructive=True, branch=branch)


def _point_constants(change: Rollback, *_: object) -> Constants | None:
    if not change.destructive:
        return None
    named = {each.call: each.unit.constant(change.point) for each in (_SNAPSHOT, _TAG)}
    return {name: value for name, value in named.items() if value is not None} or None


def _current(given: Given, branch: str, _: int) -> Rollback:
    number, ref = given["snapshot_id"], given["ref"]
    if (number is None) == (ref is None):
        raise Invalid("set_current_snapshot takes a snapshot_id or a ref.")
    return Rollback(number or (ref if ":" in ref else f"{REF}{ref}"), any_line=True, branch=branch)


def _current_constants(change: Rollback, *_: object) -> Constants | None:
    number = SNAPSHOT_POINT.constant(change.point)
    return {"snapshot_id": number} if change.any_line and number is not None else None


ROLLBACK = Definition(
    Rollback,
    "rollback",
    "Roll main back to an earlier snapshot or tag.",
    (
        Argument("point", TEXT, help="the snapshot, tag or time to go back to", metavar="VERSION", is_needed=True),
        Argument(
            "destructive",
            SWITCH,
            "--destructive",
            "Paimon: delete the later snapshots instead of committing a new one",
            group="how",
        ),
        Argument("any_line", SWITCH, "--set", "Iceberg: allow a snapshot that is not an ancestor of main", group="how"),
    ),
    paimon=(
        Procedure(
            "rollback", Rollback, (_VERSION, _SNAPSHOT, _TAG), make_request=_back, make_arguments=_point_constants
        ),
        Procedure("rollback_to", Rollback, (_TAG, _SNAPSHOT, _VERSION), make_request=_back, is_shown=False),
        Procedure(
            "rollback_to_timestamp",
            Rollback,
            (Argument("", NUMBER, is_needed=True, call="timestamp"),),
            make_request=lambda given, branch, _: Rollback(
                f"time:{given['timestamp']}", destructive=True, branch=branch
            ),
            is_shown=False,
        ),
        Procedure(
            "rollback_to_as_latest",
            Rollback,
            (_TAG, _SNAPSHOT),
            make_request=lambda given, branch, _: Rollback(_one(given), branch=branch),
            is_shown=False,
        ),
    ),
    iceberg=(
        Procedure("rollback_to_snapshot", Rollback, (_ID,), without=("destructive",)),
        Procedure(
            "set_current_snapshot",
            Rollback,
            (dataclasses.replace(_ID, is_needed=False), Argument("", TEXT, call="ref")),
            make_request=_current,
            make_arguments=_current_constants,
        ),
    ),
)
REQUESTS = (
    Procedure(
        "rollback_to_watermark", BackToWatermark, (Argument("watermark", NUMBER, is_needed=True, call="watermark"),)
    ),
)
