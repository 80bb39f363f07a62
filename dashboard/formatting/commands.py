"""The equivalent command lines, which pages show next to their buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from core.model.actions import Change
from core.model.references import MAIN
from core.procedures import command_line as speaking
from core.procedures import statements
from core.procedures.units import literal
from dashboard.formatting import units

PLAIN = "plain"  # the default engine for reading the rows of a query


def of(change: Change, location: str, outside: Iterable[str] = ()) -> str:
    """Return the command that runs a change, such as `snapscope expire /path --retain-max 10`; it prints the plan and
    asks first."""
    return speaking.command(change, location, outside)


def call(change: Change, title: str, now_ms: int, options: Mapping[str, str]) -> str | None:
    """Return Paimon's own procedure for the same change on `database.table`; None if it has none."""
    return statements.of_paimon(change, title, now_ms, options)


def iceberg(change: Change, title: str, now_ms: int, options: Mapping[str, str] | None = None) -> str | None:
    """Return Iceberg's own SQL for the same change; None if it has none. The session time zone must be UTC."""
    return statements.of_iceberg(change, title, now_ms)


def query(
    location: str, sql: str, point: str, before: str | None, held_ms: int | None = None, *, engine: str = PLAIN
) -> str:
    spoken = ["query", location, sql, "--at", point]
    spoken += [] if held_ms is None else ["--hold", units.whole(held_ms)]
    if before:
        spoken += ["--before", before, *(["--since", before] if asks_for_changes(sql) else [])]
    return speaking.line(*spoken, *([] if engine == PLAIN else ["--engine", engine]))


def bisect(location: str, condition: str, start: str | None, end: str | None, branch: str, *, is_every: bool) -> str:
    spoken = ["bisect", location, condition]
    for name, value in (("--from", start), ("--to", end), ("--branch", None if branch == MAIN else branch)):
        spoken += [] if value is None else [name, value]
    return speaking.line(*spoken, *(["--every"] if is_every else []))


def names_both(sql: str, table: str) -> bool:
    """Return whether a statement names the second version, so that it has one answer, of both."""
    return any(f"{name}_{of}" in sql.lower() for name in ("t", table.lower()) for of in ("before", "changes"))


def asks_for_changes(sql: str) -> bool:
    """Return whether a statement may use the view of changes between two versions."""
    return "_changes" in sql.lower()


def of_table(command: str, location: str, branch: str = MAIN) -> str:
    return speaking.line(command, location, *(["--branch", branch] if branch != MAIN else []))


PROCEDURES: Mapping[str, Callable[[Change, str, int, Mapping[str, str]], str | None]] = {"sys": call, "system": iceberg}
"""The engine's own statement for a change, by the namespace of its procedures."""


def call_of(location: str, sql: str) -> str:
    return speaking.line("call", location, sql)


def as_of(location: str, point: str) -> str:
    """Return the command for a point. A point that is not on main contains its branch, so no --branch is added."""
    return speaking.line("as-of", location, point)


def diff(location: str, a: str, b: str, *, rows: bool = False) -> str:
    return speaking.line("diff", location, a, b, *(["--rows"] if rows else []))


def files(location: str, point: str) -> str:
    return speaking.line("files", location, "--at", point)


def holders(location: str, path: str) -> str:
    return speaking.line("holders", location, path)


def inside(command: str, location: str, point: str, **given: str | None) -> str:
    """Return `snapscope health`, `columns` or `manifests` for a version, with its arguments."""
    flags = [word for name, value in given.items() if value for word in (f"--{name}", value)]
    return speaking.line(command, location, "--at", point, *flags)


def rewrite(title: str) -> str:
    """Return Iceberg's own procedure for rewriting small files as large ones."""
    return f"CALL system.rewrite_data_files(table => {literal(title)})"


def remove_orphans(title: str) -> str:
    """Iceberg's own procedure that lists files no metadata names."""
    return f"CALL system.remove_orphan_files(table => {literal(title)}, dry_run => true)"


def set_options(title: str, options: Mapping[str, str]) -> str:
    """The statement that sets options of a table."""
    settings = ",\n  ".join(f"{literal(name)} = {literal(value)}" for name, value in options.items())
    return f"ALTER TABLE {title} SET TBLPROPERTIES (\n  {settings}\n)"
