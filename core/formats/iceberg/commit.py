"""Commits: a new metadata document, made of the raw one, put in the place of exactly the one it was made from.

Law: whatever the edit does not name stays as it is, unknown fields included. What a removed snapshot leaves behind
(statistics, its part of the snapshot-log) goes with it; no ref that stays may name it. Of a Hadoop table one writer
wins each version; what became of a write is read back, never assumed.
Source: `TableMetadata` and `HadoopTableOperations` of Iceberg 1.11.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from core.changes import CreateTag, RenameTag, ReplaceTag
from core.errors import Conflict, Invalid, NotFound, SnapscopeError, Unsupported
from core.formats import Edit
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.heads import (
    DIRECTORY,
    HINT,
    TEMPORARY,
    canonical,
    find,
    is_metadata,
    reference,
    references,
    version_of,
)
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.places import Place
from core.model import MAIN, Heads, ObjectKind
from core.planned import Plan
from core.refs import PREVIOUS_MAX, number, trimmed
from core.refs import old_metadata as fallen
from core.store import Store

RIVAL_S = 10.0
STATISTICS = ("statistics", "partition-statistics")
_PARTS = ("snapshot-log", *STATISTICS)
AGAIN = "Plan again."
_CODEC = "write.metadata.compression-codec"


# the edit, pure --------------------------------------------------------------------------------------------------


def edit_of(plan: Plan, heads: Heads) -> Edit:
    """What carries a plan out. A tag that is replaced or renamed keeps what else is written of it."""
    change, refs = plan.change, heads.document.get("refs") or {}
    sets: list[tuple[str, bytes]] = []
    if isinstance(change, CreateTag | ReplaceTag):
        assert plan.source is not None
        own = refs[change.name] if isinstance(change, ReplaceTag) else {"type": "tag"}
        own = {**own, "snapshot-id": plan.source.id}
        if change.retained_ms is not None:
            own["max-ref-age-ms"] = change.retained_ms
        sets = [(path, canonical(own)) for path in plan.leaves]
    elif isinstance(change, RenameTag):
        sets = [(path, canonical(refs[change.name])) for path in plan.leaves]
    edit = Edit(plan.removes, tuple(sets))
    names = ("file", *(_PARTS if removed_snapshots(edit) else ()))
    parts = ((reference(name), heads.references.get(reference(name))) for name in names)
    return dataclasses.replace(edit, beside=tuple((path, content) for path, content in parts if content is not None))


def check(heads: Heads, edit: Edit) -> None:
    """`Conflict` where a reference is not as the edit expects it."""
    for path, content in edit.removes:
        if heads.references.get(path) != content:
            raise Conflict(f"{path} is gone or was rewritten since; nothing was changed.", path=path, remedy=AGAIN)
    for path in dict(edit.sets).keys() - dict(edit.removes).keys():
        if path in heads.references and part(path)[0] not in _PARTS:
            raise Conflict(f"{path} was made by another hand since; nothing was changed.", path=path, remedy=AGAIN)


def part(path: str) -> tuple[str, str]:
    """What a reference is a part of: ("snapshots", its id), ("refs", its name), or (its field, "")."""
    field, _, name = path.removeprefix(reference("")).partition("/")
    return field, name


def removed_snapshots(edit: Edit) -> frozenset[int]:
    """Ids of the snapshots that an edit takes away."""
    return frozenset(int(name) for field, name in map(part, dict(edit.removes)) if field == "snapshots")


def edited(found: Metadata, edit: Edit, now_ms: int) -> dict[str, Any]:
    """The document with the edit, as the next version. `Conflict` where a ref that stays names a snapshot that goes."""
    document = dict(found.document)
    sets = {part(path): json.loads(content) for path, content in edit.sets}
    gone = removed_snapshots(edit) - {int(name) for field, name in sets if field == "snapshots"}
    refs = _refs(found, edit, sets)
    named = {name: ref["snapshot-id"] for name, ref in refs.items() if ref["snapshot-id"] in gone}
    if named or found.current in gone:
        name = min(named, default=MAIN)
        raise Conflict(
            f"{name} names snapshot {named.get(name, found.current)}, which was to go; nothing was changed.",
            path=found.path,
            remedy=AGAIN,
        )
    there = (found.snapshots.keys() | {int(name) for field, name in sets if field == "snapshots"}) - gone
    for (field, name), value in sets.items():
        if field == "refs" and value["snapshot-id"] not in there:
            raise Conflict(f"The snapshot {value['snapshot-id']} of {name} is gone since; nothing was changed.")
    if "refs" in document or set(refs) - {MAIN}:
        document["refs"] = refs
    back = [value for (field, _), value in sets.items() if field == "snapshots"]
    if gone or back:
        left = [each for each in document["snapshots"] if each["snapshot-id"] not in gone]
        document["snapshots"] = _in_order(left, back)
    if gone:
        log = trimmed(found.log, found.snapshots.keys() - gone)
        document["snapshot-log"] = list(document.get("snapshot-log") or ())[len(found.log) - len(log) :]
        for name in STATISTICS:
            if document.get(name):
                document[name] = [each for each in document[name] if each["snapshot-id"] not in gone]
    document |= {field: value for (field, _), value in sets.items() if field in _PARTS}
    document["metadata-log"] = metadata_log(found)
    document["last-updated-ms"] = max(now_ms, found.updated_ms)
    return document


def metadata_log(found: Metadata) -> list[Mapping[str, Any]]:
    """The metadata-log of the next version: as long as the table allows, the replaced file last."""
    most = max(1, number(found.properties, PREVIOUS_MAX, 100))
    before = list(found.document.get("metadata-log") or ())
    kept = before[max(0, len(before) + 1 - most) :]
    file = found.path if documents.ABSOLUTE.match(found.path) else f"{found.location.rstrip('/')}/{found.path}"
    return [*kept, {"timestamp-ms": found.updated_ms, "metadata-file": file}]


def taken_back(found: Metadata, heads: Mapping[str, bytes], edit: Edit) -> Edit:
    """The edit that brings back exactly what `edit` changed. `Invalid` where that cannot be exact any more."""
    before, after = dict(edit.removes), dict(edit.sets)
    sets: list[tuple[str, bytes]] = []
    removes: list[tuple[str, bytes]] = []
    for path in dict.fromkeys((*before, *after)):
        now = heads.get(path)
        if now == before.get(path):
            continue
        if now != after.get(path):
            raise Invalid(
                f"It cannot be taken back exactly: {path} is another's by now. Nothing was changed.",
                path=found.path,
                remedy="Resume the run instead.",
            )
        if now is not None:
            removes.append((path, now))
        if path in before:
            sets.append((path, before[path]))
    restored = {int(name) for field, name in (part(path) for path, _ in sets) if field == "snapshots"}
    if restored:
        sets += _beside(found, dict(edit.beside), restored)
    return Edit(tuple(removes), tuple(sets))


def _beside(found: Metadata, beside: Mapping[str, bytes], restored: set[int]) -> list[tuple[str, bytes]]:
    """The log and the statistics as they were, with what came since."""
    sets = []
    for name in _PARTS:
        if reference(name) not in beside:
            continue
        then = json.loads(beside[reference(name)]) or []
        now = list(found.document.get(name) or ())
        if name in STATISTICS:
            whole = [*(each for each in then if each["snapshot-id"] in restored and each not in now), *now]
        else:
            old = [(each["timestamp-ms"], each["snapshot-id"]) for each in then]
            kept = len(trimmed(old, set(found.snapshots)))
            if now[:kept] != then[len(then) - kept :]:
                raise Invalid(
                    "It cannot be taken back exactly: the snapshot-log was changed by another hand since. "
                    "Nothing was changed.",
                    path=found.path,
                    remedy="Resume the run instead.",
                )
            entries = [(each["timestamp-ms"], each["snapshot-id"]) for each in (*then, *now[kept:])]
            left = len(trimmed(entries, found.snapshots.keys() | restored))  # others may have expired some since
            whole = [*then, *now[kept:]][len(entries) - left :]
        sets.append((reference(name), json.dumps(whole).encode()))
    return sets


def _refs(found: Metadata, edit: Edit, sets: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    refs = dict(found.document.get("refs") or {})
    if MAIN not in refs and found.current is not None:  # metadata of before there were refs
        refs = {MAIN: {"snapshot-id": found.current, "type": "branch"}, **refs}
    for field, name in map(part, dict(edit.removes)):
        if field == "refs":
            del refs[name]
    return refs | {name: value for (field, name), value in sets.items() if field == "refs"}


def _in_order(left: Sequence[Any], back: Iterable[Any]) -> list[Any]:
    """Snapshots with others put back where they were: by sequence number, then by time."""

    def place(each: Mapping[str, Any]) -> tuple[int, int]:
        return each.get("sequence-number") or 0, each["timestamp-ms"]

    whole = list(left)
    for each in sorted(back, key=place):
        at = next((index for index, other in enumerate(whole) if place(other) > place(each)), len(whole))
        whole.insert(at, each)
    return whole


def written(document: Mapping[str, Any], path: str) -> bytes:
    """The bytes of a document, read again as a reader will. `Unsupported` for what JSON cannot say."""
    try:
        content = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise Unsupported(
            f"The metadata holds what JSON cannot say ({error}), so it is not written anew.",
            path=path,
            remedy="Make this change with the table's own engine.",
        ) from error
    documents.parse(content, path)
    return content


# afterwards ----------------------------------------------------------------------------------------------------------


def check_replaced(store: Store, place: Place, found: Metadata, edit: Edit) -> None:
    """`Conflict` where a ref that the plan did not know named a snapshot that the commit took away.

    The metadata that was replaced is the newest one in the log that still has one of them.
    """
    gone = removed_snapshots(edit) - found.snapshots.keys()
    known = {name for field, name in map(part, dict(edit.removes)) if field == "refs"}
    for _, file in reversed(found.metadata_log) if gone else ():
        try:
            before = _version(store, place, file)
        except SnapscopeError as error:
            raise Conflict(
                f"The metadata that the commit replaced cannot be read, so nobody knows what it took away ({error}); "
                "no file was deleted.",
                path=file,
                remedy="Undo this run, or restore the file and resume.",
            ) from error
        if before.snapshots.keys() & gone:
            if lost := [ref.name for ref in before.refs.values() if ref.snapshot_id in gone and ref.name not in known]:
                raise Conflict(
                    f"{', '.join(lost)} named a snapshot that goes, and was made while the commit ran; no file was "
                    "deleted.",
                    path=file,
                    remedy="Undo this run; then plan again.",
                )
            return
    if gone:
        raise Conflict(
            "The metadata-log does not name the metadata that the commit replaced, so nobody knows what it took away; "
            "no file was deleted.",
            path=found.path,
            remedy="Undo this run; then plan again.",
        )


def was_made(store: Store, place: Place, found: Metadata, edit: Edit, base: str) -> bool:
    """Did any version after `base` have the edit? True as well where that cannot be known: what is there stays then."""
    removes = dict(edit.removes).keys() - dict(edit.sets).keys()
    version, files = found, [file for _, file in found.metadata_log]
    while version.path != base:
        refs = references(version)
        if all(refs.get(path) == content for path, content in edit.sets) and not removes & refs.keys():
            return True
        if not files:
            return True
        try:
            version = _version(store, place, files.pop())
        except NotFound:
            return True
    return False


def _version(store: Store, place: Place, file: str) -> Metadata:
    path = place.path(file)
    return documents.parse(read_at(store, path), path)


def at(store: Store, path: str) -> tuple[Store, str]:
    """The store of a file of the table, or of one elsewhere by its whole URI, and its path there."""
    if not documents.ABSOLUTE.match(path):
        return store, path
    directory, _, name = path.rpartition("/")
    return Store(directory), name


def read_at(store: Store, path: str) -> bytes:
    where, name = at(store, path)
    return where.read(name)


def old_metadata(place: Place, heads: Heads, held: Collection[str]) -> dict[str, int]:
    """Paths and bytes of the metadata files that fall out of the log with the next commit and are deleted then."""
    paths = [place.path(each) for each in fallen(heads)]
    mine = place.ours(pa.array(paths, pa.string())).to_pylist()
    names = [path for path, own in zip(paths, mine, strict=True) if own and path not in held and _is_named(path)]
    return place.sizes(list(dict.fromkeys(names)))


def outside(place: Place, found: Metadata, kinds: Mapping[str, str]) -> Callable[[str], str | None]:
    """Why a path is none of the table's files: hostile metadata may name anything, the metadata itself too."""
    needed = {place.path(file) for _, file in found.metadata_log} | {found.path, f"{DIRECTORY}/{HINT}"}

    def why_not(path: str) -> str | None:
        if path in needed or (_is_named(path) and kinds.get(path) != ObjectKind.METADATA):
            return "it is metadata that the table needs, or is named like it"
        return None if place.ours(pa.array([path]))[0].as_py() else "it lies where no table keeps its files"

    return why_not


def _is_named(path: str) -> bool:
    return is_metadata(path.rpartition("/")[2])


def is_packed(found: Metadata) -> bool:
    """Does the table want its metadata packed?"""
    packed = found.properties.get(_CODEC, "none").lower()
    if packed not in ("none", "gzip"):
        raise Unsupported(f"{_CODEC} is {packed!r}, which no engine knows.", path=found.path)
    return packed == "gzip"


# Hadoop tables -------------------------------------------------------------------------------------------------------


def publish(store: Store, found: Metadata, edit: Edit) -> str | None:
    """Write the next version of a Hadoop table; its path, None where another writer has that version.

    `Conflict` where it is not known whether it was written, or where another wrote over it.
    """
    version = version_of(found.path)
    assert version is not None, found.path
    version += 1
    content = written(edited(found, edit, time.time_ns() // 1_000_000), found.path)
    path = f"{DIRECTORY}/v{version}{'.gz' if is_packed(found) else ''}.metadata.json"
    if is_packed(found):
        content = gzip.compress(content, mtime=0)
    if any(version_of(f"{DIRECTORY}/{entry.name}") == version for entry in store.ls(DIRECTORY)):
        return None
    failed: BaseException | None = None
    try:
        store.create(path, content)
    except Conflict:
        return None
    except (SnapscopeError, OSError) as error:
        failed = error
    _read_back(store, path, content, failed)
    return path


def repair_hint(store: Store) -> None:
    """Let the hint name the newest version: one that names a version that is gone ends readers."""
    store.put(f"{DIRECTORY}/{HINT}", str(version_of(find(store)[0])).encode())


def _read_back(store: Store, path: str, content: bytes, failed: BaseException | None) -> None:
    try:
        if failed is None:
            _outwait(store)
        now = store.read(path)
    except SnapscopeError as error:
        raise Conflict(
            f"It is not known whether {path} was written ({failed or error}); no file was deleted.",
            path=store.location,
            remedy="Look at the table again; then resume or undo this run.",
        ) from (failed or error)
    if now != content:
        raise Conflict(
            f"Another writer wrote over {path} right after it was published; no file was deleted.",
            path=store.location,
            remedy="Look at the table again; then resume or undo this run.",
        )


def _outwait(store: Store) -> None:
    """Wait for writers that may yet rename over what was just published.

    Java writes `<uuid>.metadata.json`, looks whether the version is free, and renames: on a local disk over whatever
    came in between. Who looked before we came has such a file here until it is done; one left by a crash is waited
    for in vain.
    """

    def rivals() -> set[str]:
        return {entry.name for entry in store.ls(DIRECTORY) if TEMPORARY.fullmatch(entry.name)}

    deadline = time.monotonic() + RIVAL_S
    left = rivals()
    while left and time.monotonic() < deadline:
        time.sleep(0.002)
        left &= rivals()
