"""The command line that does the same: every page shows it beside its buttons."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
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
from core.procedures import command_line as speaking
from core.procedures import registry as procedures
from core.procedures.registry import literal, procedure_time
from dashboard.formatting import units

PLAIN = "plain"  # who reads the rows of a query where nobody else is asked


def of(change: Change, location: str, outside: Iterable[str] = ()) -> str:
    """`snapscope expire /path --retain-max 10`: what carries the change out; it prints the plan and asks first."""
    return speaking.command(change, location, outside)


def call(change: Change, title: str, now_ms: int, options: Mapping[str, str]) -> str | None:
    """Paimon's own procedure for the same request, on `database.table`; None where it has none."""
    return procedures.as_call(change, title, now_ms, options)


def iceberg(change: Change, title: str, now_ms: int) -> str | None:
    """Iceberg's own SQL for the same request; None where it has none. The session's zone must be UTC."""
    match change:
        case Expire():
            if change.drop_tags:
                return None
            older = change.older_than_ms
            if change.time_retained_ms is not None:
                older = now_ms - change.time_retained_ms
            at = None if older is None else procedure_time(older)
            if older is not None and at is None:
                return None
            given = [f"table => {literal(title)}"]
            given += [] if at is None else [f"older_than => TIMESTAMP {literal(at)}"]
            given += [] if change.retain_min is None else [f"retain_last => {change.retain_min}"]
            if change.snapshots:
                given.append(f"snapshot_ids => ARRAY({', '.join(map(str, change.snapshots))})")
            return f"CALL system.expire_snapshots({', '.join(given)})"
        case DeleteTags():
            return ";\n".join(f"ALTER TABLE {title} DROP TAG {_quoted(name)}" for name in change.names)
        case CreateTag() | ReplaceTag():
            verb = "CREATE" if isinstance(change, CreateTag) else "REPLACE"
            at = "" if change.snapshot_id is None else f" AS OF VERSION {change.snapshot_id}"
            if change.retained_ms is None:
                kept = ""
            elif change.retained_ms % 60_000:
                return None  # the statement counts in minutes
            else:
                kept = f" RETAIN {change.retained_ms // 60_000} MINUTES"
            return f"ALTER TABLE {title} {verb} TAG {_quoted(change.name)}{at}{kept}"
        case DeleteBranches():
            return ";\n".join(f"ALTER TABLE {title} DROP BRANCH {_quoted(name)}" for name in change.names)
        case FastForward():
            given = [f"{key} => {literal(value)}" for key, value in (("branch", change.branch), ("to", change.name))]
            return f"CALL system.fast_forward({', '.join([f'table => {literal(title)}', *given])})"
        case Rollback():
            if not change.point.isdecimal():
                return None
            name = "set_current_snapshot" if change.any_line else "rollback_to_snapshot"
            return f"CALL system.{name}(table => {literal(title)}, snapshot_id => {change.point})"
        case CreateBranch() | ReplaceBranch():
            return _branch_statement(change, title)
        case RenameTag() | RenameBranch() | ResetConsumer() | ClearConsumers() | CleanOrphans():
            return None
        case DropPartitions() | Truncate() | Compact() | Analyze():
            return None  # of Paimon's tables alone
        case _:
            assert_never(change)


def _branch_statement(change: CreateBranch | ReplaceBranch, title: str) -> str | None:
    """The statement counts in minutes, and names a snapshot by its id."""
    ages = (change.max_ref_age_ms, change.max_snapshot_age_ms)
    has_point = change.point is not None and change.point.isdecimal()
    if (change.point is not None or isinstance(change, ReplaceBranch)) != has_point or any(
        (age or 0) % 60_000 for age in ages
    ):
        return None
    ended, aged = (None if age is None else f"{age // 60_000} MINUTES" for age in ages)
    kept = [] if change.min_snapshots is None else [f"{change.min_snapshots} SNAPSHOTS"]
    kept += [] if aged is None else [aged]
    words = ["CREATE" if isinstance(change, CreateBranch) else "REPLACE", "BRANCH", _quoted(change.name)]
    words += [f"AS OF VERSION {change.point}"] if has_point else []
    words += [] if ended is None else [f"RETAIN {ended}"]
    words += [f"WITH SNAPSHOT RETENTION {' '.join(kept)}"] if kept else []
    return f"ALTER TABLE {title} {' '.join(words)}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def query(
    location: str, sql: str, point: str, before: str | None, held_ms: int | None = None, *, engine: str = PLAIN
) -> str:
    spoken = ["snapscope", "query", location, sql, "--at", point]
    spoken += [] if held_ms is None else ["--hold", units.whole(held_ms)]
    if before:
        spoken += ["--before", before, *(["--since", before] if asks_for_changes(sql) else [])]
    return _line(spoken + ([] if engine == PLAIN else ["--engine", engine]))


def bisect(location: str, condition: str, start: str | None, end: str | None, branch: str, *, is_every: bool) -> str:
    spoken = ["snapscope", "bisect", location, condition]
    for name, value in (("--from", start), ("--to", end), ("--branch", None if branch == MAIN else branch)):
        spoken += [] if value is None else [name, value]
    return _line(spoken + (["--every"] if is_every else []))


def asks_for_changes(sql: str) -> bool:
    """Whether a statement may mean the view of what changed between the two points."""
    return "_changes" in sql.lower()


def of_table(command: str, location: str, branch: str = MAIN) -> str:
    return _line(["snapscope", command, location, *(["--branch", branch] if branch != MAIN else [])])


def call_of(location: str, sql: str) -> str:
    return _line(["snapscope", "call", location, sql])


def as_of(location: str, point: str, branch: str = MAIN) -> str:
    spoken = ["snapscope", "as-of", location, point]
    return _line(spoken + (["--branch", branch] if branch != MAIN else []))


def diff(location: str, a: str, b: str, *, rows: bool = False) -> str:
    return _line(["snapscope", "diff", location, a, b, *(["--rows"] if rows else [])])


def _line(spoken: list[str]) -> str:
    return " ".join(shlex.quote(word) for word in spoken)


def files(location: str, point: str) -> str:
    return _line(["snapscope", "files", location, "--at", point])


def holders(location: str, path: str) -> str:
    return _line(["snapscope", "holders", location, path])


def inside(command: str, location: str, point: str, **given: str | None) -> str:
    """`snapscope health`, `columns` or `manifests` of a point, with what is asked of it."""
    flags = [word for name, value in given.items() if value for word in (f"--{name}", value)]
    return _line(["snapscope", command, location, "--at", point, *flags])


def rewrite(title: str) -> str:
    """Iceberg's own procedure that makes few large files of many small ones."""
    return f"CALL system.rewrite_data_files(table => {literal(title)})"
