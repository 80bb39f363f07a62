"""The command line of a change, as text: what carries it out; it prints the plan and asks first. Pure.

Law: read back by the command line, the text is the very change, so at the same `--now` it is the same plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import assert_never

from core.model.actions import (
    Analyze,
    Change,
    CleanOrphans,
    ClearConsumers,
    Compact,
    CreateBranch,
    CreateTag,
    DeleteBranches,
    DeleteTags,
    DropPartitions,
    Expire,
    FastForward,
    RenameBranch,
    RenameTag,
    ReplaceBranch,
    ReplaceTag,
    ResetConsumer,
    Rollback,
    Truncate,
)
from core.model.references import MAIN
from core.units import iso, whole


def command(change: Change, location: str, outside: Iterable[str] = ()) -> str:
    """`snapscope expire /path --retain-max 10`, with the roots outside the table under which it may delete."""
    return line(*words(change, location), *_flagged("--outside", outside))


def exactly(change: Change, location: str, now_ms: int, fingerprint: str, outside: Iterable[str] = ()) -> str:
    """The command that carries out one very plan or refuses: judged at the plan's moment, under its fingerprint."""
    judged = ("--now", iso(now_ms), "--plan", fingerprint)
    return line(*words(change, location), *_flagged("--outside", outside), *judged)


def line(*spoken: str) -> str:
    """A command line that a shell reads back word for word."""
    return shlex.join(["snapscope", *spoken])


def words(change: Change, location: str) -> list[str]:
    """What stands after `snapscope`."""
    spoken: list[str] = []
    match change:
        case Expire():
            spoken = ["expire", location]
            for name, value in (("--retain-max", change.retain_max), ("--retain-min", change.retain_min)):
                spoken += [name, str(value)] if value is not None else []
            spoken += ["--older-than", iso(change.older_than_ms)] if change.older_than_ms is not None else []
            if change.time_retained_ms is not None:
                spoken += ["--time-retained", whole(change.time_retained_ms)]
            spoken += ["--max-deletes", str(change.max_deletes)] if change.max_deletes is not None else []
            spoken += ["--rules", change.rules] if change.rules != "newest" else []
            for name in change.drop_tags:
                spoken += ["--drop-tag", name]
            for number in change.snapshots:
                spoken += ["--snapshot", str(number)]
            spoken += ["--expired-tags"] if change.expired_tags else []
            if change.tags_older_than_ms is not None:
                spoken += ["--tags-older-than", iso(change.tags_older_than_ms)]
            spoken += ["--changelog"] if change.changelogs_only else []
            for name, value in (
                ("--changelog-retain-max", change.changelog_retain_max),
                ("--changelog-retain-min", change.changelog_retain_min),
            ):
                spoken += [name, str(value)] if value is not None else []
            if change.changelog_time_retained_ms is not None:
                spoken += ["--changelog-time-retained", whole(change.changelog_time_retained_ms)]
        case DeleteTags():
            spoken = ["delete-tag", location]
            for name in change.names:
                spoken += ["--name", name]
        case CreateTag():
            spoken = ["create-tag", location, "--name", change.name]
            spoken += ["--snapshot", str(change.snapshot_id)] if change.snapshot_id is not None else []
            spoken += ["--time-retained", whole(change.retained_ms)] if change.retained_ms is not None else []
            spoken += ["--verify"] if change.verified else []
        case ReplaceTag():
            spoken = ["replace-tag", location, "--name", change.name]
            spoken += ["--snapshot", str(change.snapshot_id)] if change.snapshot_id is not None else []
            spoken += ["--time-retained", whole(change.retained_ms)] if change.retained_ms is not None else []
        case RenameTag():
            spoken = ["rename-tag", location, "--name", change.name, "--to", change.to]
        case CreateBranch() | ReplaceBranch():
            kind = "create-branch" if isinstance(change, CreateBranch) else "replace-branch"
            spoken = [kind, location, change.name, *([] if change.point is None else [change.point])]
            spoken += ["--min-snapshots-to-keep", str(change.min_snapshots)] if change.min_snapshots is not None else []
            for name, age in (
                ("--max-snapshot-age", change.max_snapshot_age_ms),
                ("--max-ref-age", change.max_ref_age_ms),
            ):
                spoken += [name, whole(age)] if age is not None else []
        case DeleteBranches():
            spoken = ["delete-branch", location, *change.names]
        case RenameBranch():
            spoken = ["rename-branch", location, change.name, change.to]
        case FastForward():
            spoken = ["fast-forward", location, change.name]
        case Rollback():
            spoken = ["rollback", location, change.point]
            spoken += ["--destructive"] if change.destructive else ["--set"] if change.any_line else []
        case ResetConsumer():
            at = change.next_snapshot
            spoken = ["reset-consumer", location, change.name, *([] if at is None else [str(at)])]
        case ClearConsumers():
            spoken = ["clear-consumers", location]
            spoken += ["--including", change.including] if change.including is not None else []
            spoken += ["--excluding", change.excluding] if change.excluding is not None else []
        case CleanOrphans():
            spoken = ["orphans", location, "--older-than", iso(change.older_than_ms), "--delete"]
            spoken += _flagged("--also", change.also)
        case DropPartitions():
            spoken = ["drop-partition", location, *_flagged("--partition", change.partitions)]
        case Truncate():
            spoken = ["truncate", location]
        case Compact():
            spoken = ["compact", location, *_flagged("--partition", change.partitions)]
            spoken += ["--min-files", str(change.min_files)] if change.min_files is not None else []
        case Analyze():
            spoken = ["analyze", location, *_flagged("--column", change.columns or ())]
            spoken += ["--all-columns"] if change.columns is None else []
        case _:
            assert_never(change)
    return spoken + (["--branch", change.branch] if change.branch != MAIN else [])


def _flagged(flag: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (flag, value)]
