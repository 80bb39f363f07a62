"""What a real engine deletes for a request, and what that did to the table.

    with copied(table) as copy:
        outcome = act(judge, copy, Expire(retain_max=1, retain_min=1))
        outcome.deleted               # paths relative to the table
        dangling(judge, copy)         # what it broke
        stranded(judge, copy)         # what nothing holds any more

A request is a mapping {"op": …} as `OPERATIONS` reads it, or an action (its class names the operation and
its fields are the mapping's): Expire, DeleteTags.

Invariant: nothing here uses core. Whether a file is there is asked of the directory, what a point needs of the engine.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engines.paimon_java import EngineError, PaimonJudge, Table

MAIN = "main"
RUNS = 200
"""A single run of the engine expires at most `snapshot.expire.limit` (50) snapshots; no table here needs more runs."""


@dataclass(frozen=True)
class Outcome:
    """What an operation did to a directory, and the engine's error if it failed."""

    deleted: frozenset[str]
    added: frozenset[str]
    errors: tuple[str, ...]


def files_of(table: Table) -> frozenset[str]:
    """Return every file of a table, by relative path."""
    root = Path(table)
    return frozenset(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


@contextmanager
def copied(table: Table) -> Iterator[Path]:
    """Yield a temporary copy of the table."""
    with tempfile.TemporaryDirectory(prefix="snapscope-engine-") as directory:
        copy = Path(directory) / "default.db" / Path(table).name
        shutil.copytree(table, copy)
        yield copy


# --- requests ---------------------------------------------------------------------------------------------------------


def _expire(judge: PaimonJudge, table: Table, asked: Mapping[str, Any]) -> None:
    """Repeat until nothing more expires, unless max_deletes is given: each run of the engine has its own limit."""
    for name in asked.get("drop_tags") or ():
        judge.delete_tag(table, name, branch=asked.get("branch"))
    known = ("retain_max", "retain_min", "older_than_ms", "time_retained_ms", "max_deletes", "branch")
    longer = ("changelog_retain_max", "changelog_retain_min", "changelog_time_retained_ms")
    fields = {name: asked.get(name) for name in (*known, *longer)}
    rule = asked.get("rule") or ("changelogs" if asked.get("changelogs_only") else "call")
    if rule == "changelogs":  # the engine's changelog expiry uses the same names for its limits
        fields |= {end: asked.get(f"changelog_{end}", asked.get(end)) for end in ("retain_max", "retain_min")}
    for _ in range(1 if asked.get("max_deletes") is not None else RUNS):
        if judge.expire(table, rule=rule, **fields) <= 0:
            return


def _delete_tags(judge: PaimonJudge, table: Table, asked: Mapping[str, Any]) -> None:
    for name in asked["names"]:
        judge.delete_tag(table, name, branch=asked.get("branch"))


OPERATIONS: dict[str, Callable[[PaimonJudge, Table, Mapping[str, Any]], None]] = {
    "expire": _expire,
    "delete_tags": _delete_tags,
}


def as_request(request: Any) -> dict[str, Any]:
    """Convert a request to a mapping with `op`; the branch main is omitted."""
    if isinstance(request, Mapping):
        asked = dict(request)
    else:
        name = type(request).__name__
        asked = {"op": re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(), **dataclasses.asdict(request)}
    if asked.get("branch") == MAIN:
        del asked["branch"]
    return asked


def act(judge: PaimonJudge, table: Table, request: Any) -> Outcome:
    """Let the engine run a request on this table. Rejections are in `errors`; part of the work may be done."""
    asked = as_request(request)
    before = files_of(table)
    errors = []
    try:
        OPERATIONS[asked["op"]](judge, table, asked)
    except EngineError as error:
        errors.append(str(error))
    after = files_of(table)
    return Outcome(before - after, after - before, tuple(errors))


def engine_deleted(table: Table, request: Any, judge: PaimonJudge) -> frozenset[str]:
    """Return the files that the engine deletes from a copy of the table; compare with a plan's `frees`."""
    with copied(table) as copy:
        return act(judge, copy, request).deleted


# --- points, and what they need ---------------------------------------------------------------------------------------


def points(table: Table) -> dict[str, dict[str, Any]]:
    """Return every version of every branch by its text (`12`, `tag:v1`, `changelog:3`, `branch:dev/12`, …), as the
    judge takes it. Uses only the directory, not the hints."""
    found: dict[str, dict[str, Any]] = {}
    root = Path(table)
    for branch in (None, *(path.name.removeprefix("branch-") for path in sorted(root.glob("branch/branch-*")))):
        home = root if branch is None else root / "branch" / f"branch-{branch}"
        prefix, at = ("", {}) if branch is None else (f"branch:{branch}/", {"branch": branch})
        for id in sorted(int(path.name[9:]) for path in home.glob("snapshot/snapshot-*") if path.name[9:].isdigit()):
            found[f"{prefix}{id}"] = {**at, "snapshot": id}
        for path in sorted(home.glob("tag/tag-*")):
            if path.is_file():
                found[f"{prefix}tag:{path.name[4:]}"] = {**at, "tag": path.name[4:]}
        for id in sorted(
            int(path.name[10:]) for path in home.glob("changelog/changelog-*") if path.name[10:].isdigit()
        ):
            found[f"{prefix}changelog:{id}"] = {**at, "changelog_id": id}
    return found


def needs(judge: PaimonJudge, table: Table, point: Mapping[str, Any]) -> frozenset[str]:
    """Return every file that a reader of a version may open. A snapshot includes its changelog; a tag has none."""
    refs = judge.refs(table, changelog="snapshot" in point, **point)
    return frozenset(path for paths in refs.values() for path in paths)


def dangling(judge: PaimonJudge, table: Table) -> dict[str, list[str]]:
    """Return versions with missing files: the files, or the engine's error if their manifests cannot be read."""
    there = files_of(table)
    broken: dict[str, list[str]] = {}
    for name, point in points(table).items():
        try:
            lacking = sorted(needs(judge, table, point) - there)
        except EngineError as error:
            lacking = [str(error)]
        if lacking:
            broken[name] = lacking
    return broken


def held(judge: PaimonJudge, table: Table) -> frozenset[str]:
    """Return every file that some version needs. Raises `EngineError` if a version cannot be read."""
    return frozenset().union(*(needs(judge, table, point) for point in points(table).values()))


def stranded(judge: PaimonJudge, table: Table) -> frozenset[str]:
    """Return data, changelog, index, statistics and manifest files that no version of any branch needs."""
    return frozenset(path for path in files_of(table) - held(judge, table) if not _is_head(path))


def _is_head(path: str) -> bool:
    """Return whether a path is a reference: snapshot, tag, changelog, schema, consumer or hint, of main or a branch."""
    own = re.sub(r"^branch/branch-[^/]+/", "", path)
    return own.startswith(("snapshot/", "tag/", "changelog/", "schema/", "consumer/"))
