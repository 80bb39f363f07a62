"""What a commit changes in a metadata document, and what undoes it. Pure.

Invariant: everything that the edit does not name is unchanged, including unknown fields. What belongs to a removed
snapshot (statistics, its part of the snapshot-log) is removed too; no remaining ref may name it. Source:
`TableMetadata` of Iceberg 1.11.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.errors import Conflict, Invalid, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import ABSOLUTE
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import canonical, reference, references
from core.formats.iceberg.retention import PREVIOUS_MAX, number, trimmed
from core.messages import message
from core.model.actions import Change, CreateBranch, CreateTag, ReplaceBranch, ReplaceTag
from core.model.effects import SwapMetadata
from core.model.plan import Plan
from core.model.references import MAIN, Heads

STATISTICS = ("statistics", "partition-statistics")
_PARTS = ("snapshot-log", *STATISTICS)
AGAIN = message("Make a new plan.")


def edit_of(plan: Plan, heads: Heads) -> SwapMetadata:
    """Return the edit of a plan. A ref that is replaced or renamed keeps its other fields."""
    sets: list[tuple[str, bytes]] = []
    if plan.leaves:
        new = {"type": "tag" if isinstance(plan.change, CreateTag) else "branch"}
        own: dict[str, Any] = json.loads(plan.removes[0][1]) if plan.removes else new
        own |= {} if plan.source is None else {"snapshot-id": plan.source.id}
        sets = [(path, canonical(own | _retention(plan.change))) for path in plan.leaves]
    edit = SwapMetadata(plan.removes, tuple(sets))
    names = ("file", *(_PARTS if removed_snapshots(edit) else ()))
    parts = ((reference(name), heads.references.get(reference(name))) for name in names)
    return dataclasses.replace(edit, beside=tuple((path, content) for path, content in parts if content is not None))


def _retention(change: Change) -> dict[str, int]:
    """Return the requested retention of a ref, as in metadata."""
    match change:
        case CreateTag() | ReplaceTag():
            given = {"max-ref-age-ms": change.retained_ms}
        case CreateBranch() | ReplaceBranch():
            given = {
                "min-snapshots-to-keep": change.min_snapshots,
                "max-snapshot-age-ms": change.max_snapshot_age_ms,
                "max-ref-age-ms": change.max_ref_age_ms,
            }
        case _:
            given = {}
    return {name: value for name, value in given.items() if value is not None}


def check(heads: Heads, edit: SwapMetadata) -> None:
    """Raise `Conflict` if a reference is not as the edit expects it."""
    for path, content in edit.removes:
        if heads.references.get(path) != content:
            raise Conflict(
                message("{path} was deleted or rewritten in the meantime; nothing was changed.", path=path),
                path=path,
                remedy=AGAIN,
            )
    for path in dict(edit.sets).keys() - dict(edit.removes).keys():
        if path in heads.references and part(path)[0] not in _PARTS:
            raise Conflict(
                message("Another writer has created {path} in the meantime; nothing was changed.", path=path),
                path=path,
                remedy=AGAIN,
            )


def part(path: str) -> tuple[str, str]:
    """Split a reference's name: ("snapshots", its id), ("refs", its name), or (its field, "")."""
    field, _, name = path.removeprefix(reference("")).partition("/")
    return field, name


def removed_snapshots(edit: SwapMetadata) -> frozenset[int]:
    """Return the ids of the snapshots that an edit removes."""
    return frozenset(int(name) for field, name in map(part, dict(edit.removes)) if field == "snapshots")


def edited(found: Metadata, edit: SwapMetadata, now_ms: int) -> dict[str, Any]:
    """Return the document's next version, with the edit. Raises `Conflict` if a ref would name a removed snapshot."""
    document = dict(found.document)
    sets = {part(path): json.loads(content) for path, content in edit.sets}
    removed = removed_snapshots(edit) - {int(name) for field, name in sets if field == "snapshots"}
    refs = _refs(found, edit, sets)
    named = {name: ref["snapshot-id"] for name, ref in refs.items() if ref["snapshot-id"] in removed}
    if named or found.current in removed:
        name = min(named, default=MAIN)
        raise Conflict(
            "{name} points to snapshot {named}, which was to expire; nothing was changed.",
            name=name,
            named=named.get(name, found.current),
            path=found.path,
            remedy=AGAIN,
        )
    existing = (found.snapshots.keys() | {int(name) for field, name in sets if field == "snapshots"}) - removed
    for (field, name), value in sets.items():
        if field == "refs" and value["snapshot-id"] not in existing:
            raise Conflict(
                "Snapshot {snapshot_id} of {name} no longer exists; nothing was changed.",
                snapshot_id=value["snapshot-id"],
                name=name,
            )
    main = sets.get(("refs", MAIN))
    if "refs" in document or set(refs) - {MAIN} or main is not None:
        document["refs"] = refs
    restored = [value for (field, _), value in sets.items() if field == "snapshots"]
    if removed or restored:
        remaining = [each for each in document["snapshots"] if each["snapshot-id"] not in removed]
        document["snapshots"] = _in_order(remaining, restored)
    if removed:
        log = trimmed(found.log, found.snapshots.keys() - removed)
        document["snapshot-log"] = list(document.get("snapshot-log") or ())[len(found.log) - len(log) :]
        for name in STATISTICS:
            if document.get(name):
                document[name] = [each for each in document[name] if each["snapshot-id"] not in removed]
    document |= {field: value for (field, _), value in sets.items() if field in _PARTS}
    document["metadata-log"] = metadata_log(found)
    document["last-updated-ms"] = max(now_ms, found.updated_ms)
    if main is not None:  # Java logs every change of main, even of its retention alone
        document["current-snapshot-id"] = main["snapshot-id"]
        entry = {"timestamp-ms": document["last-updated-ms"], "snapshot-id": main["snapshot-id"]}
        document["snapshot-log"] = [*(document.get("snapshot-log") or ()), entry]
    return document


def metadata_log(found: Metadata) -> list[Mapping[str, Any]]:
    """Return the metadata-log of the next version, within the table's limit, with the replaced file last."""
    most = max(1, number(found.properties, PREVIOUS_MAX, 100))
    before = list(found.document.get("metadata-log") or ())
    kept = before[max(0, len(before) + 1 - most) :]
    file = found.path if ABSOLUTE.match(found.path) else f"{found.location.rstrip('/')}/{found.path}"
    return [*kept, {"timestamp-ms": found.updated_ms, "metadata-file": file}]


def taken_back(found: Metadata, heads: Mapping[str, bytes], edit: SwapMetadata) -> SwapMetadata:
    """Return the edit that exactly undoes `edit`. Raises `Invalid` if that is no longer possible."""
    before, after = dict(edit.removes), dict(edit.sets)
    sets: list[tuple[str, bytes]] = []
    removes: list[tuple[str, bytes]] = []
    for path in dict.fromkeys((*before, *after)):
        now = heads.get(path)
        if now == before.get(path):
            continue
        if now != after.get(path):
            raise Invalid(
                message(
                    (
                        "This run cannot be undone exactly: another writer has changed {path} since. Nothing was "
                        "changed."
                    ),
                    path=path,
                ),
                path=found.path,
                remedy="Resume the run instead.",
            )
        if now is not None:
            removes.append((path, now))
        if path in before:
            sets.append((path, before[path]))
    restored = {int(name) for field, name in (part(path) for path, _ in sets) if field == "snapshots"}
    there = found.snapshots.keys() | restored
    for path, content in sets:
        field, name = part(path)
        if field == "refs" and (named := json.loads(content)["snapshot-id"]) not in there:
            raise Invalid(
                "Snapshot {snapshot_id} of {name} no longer exists; nothing was changed.",
                snapshot_id=named,
                name=name,
                path=found.path,
                remedy="Resume the run instead.",
            )
    if restored:
        sets += _restored_parts(found, dict(edit.beside), restored)
    return SwapMetadata(tuple(removes), tuple(sets))


def _restored_parts(found: Metadata, old_parts: Mapping[str, bytes], restored: set[int]) -> list[tuple[str, bytes]]:
    """Return the log and the statistics as they were, with what was added since."""
    sets = []
    for name in _PARTS:
        if reference(name) not in old_parts:
            continue
        then = json.loads(old_parts[reference(name)]) or []
        now = list(found.document.get(name) or ())
        if name in STATISTICS:
            whole = [*(each for each in then if each["snapshot-id"] in restored and each not in now), *now]
        else:
            old = [(each["timestamp-ms"], each["snapshot-id"]) for each in then]
            kept = len(trimmed(old, set(found.snapshots)))
            if now[:kept] != then[len(then) - kept :]:
                raise Invalid(
                    "This run cannot be undone exactly: another writer has changed the snapshot-log since. "
                    "Nothing was changed.",
                    path=found.path,
                    remedy="Resume the run instead.",
                )
            entries = [(each["timestamp-ms"], each["snapshot-id"]) for each in (*then, *now[kept:])]
            left = len(trimmed(entries, found.snapshots.keys() | restored))  # others may have expired some
            whole = [*then, *now[kept:]][len(entries) - left :]
        sets.append((reference(name), json.dumps(whole).encode()))
    return sets


def _refs(found: Metadata, edit: SwapMetadata, sets: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    refs = dict(found.document.get("refs") or {})
    if MAIN not in refs and found.current is not None:  # metadata from before refs existed
        refs = {MAIN: {"snapshot-id": found.current, "type": "branch"}, **refs}
    for field, name in map(part, dict(edit.removes)):
        if field == "refs":
            del refs[name]
    return refs | {name: value for (field, name), value in sets.items() if field == "refs"}


def _in_order(remaining: Sequence[Any], restored: Iterable[Any]) -> list[Any]:
    """Insert snapshots where they were: by sequence number, then by time."""

    def place(each: Mapping[str, Any]) -> tuple[int, int]:
        return each.get("sequence-number") or 0, each["timestamp-ms"]

    whole = list(remaining)
    for each in sorted(restored, key=place):
        at = next((index for index, other in enumerate(whole) if place(other) > place(each)), len(whole))
        whole.insert(at, each)
    return whole


def written(document: Mapping[str, Any], path: str) -> bytes:
    """Encode a document and check that it can be read again. Raises `Unsupported` for what JSON cannot express."""
    try:
        content = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise Unsupported(
            "The metadata contains what JSON cannot express ({error}), so it was not written again.",
            error=error,
            path=path,
            remedy="Make this change with the table's own engine.",
        ) from error
    documents.parse(content, path)
    return content


def has(found: Metadata, edit: SwapMetadata) -> bool:
    """Return whether everything that an edit removes is absent, and everything that it sets is present."""
    refs, removes = references(found), dict(edit.removes).keys() - dict(edit.sets).keys()
    return all(refs.get(path) == content for path, content in edit.sets) and not removes & refs.keys()


def has_none(found: Metadata, before: Metadata, edit: SwapMetadata) -> bool:
    """Return whether everything that an edit names is as it was before."""
    now, then = references(found), references(before)
    return all(now.get(path) == then.get(path) for path, _ in (*edit.removes, *edit.sets))
