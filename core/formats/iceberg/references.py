"""Find a table's metadata.json and read every reference from it.

Invariant: a bare directory is read by the rule of Java's `HadoopTableOperations`: the hint's first line, or the listing
if there is none, then the following versions as long as they exist. Metadata named by UUID belongs to a catalog, and
only that knows the current one: the newest is read, with a warning that it may not be current."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Corrupt, NotFound, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg import moved_copy, reference_warnings
from core.formats.iceberg.capabilities import ICEBERG
from core.formats.iceberg.file_paths import DIRECTORY, SPLITS, same
from core.formats.iceberg.locations import is_metadata
from core.formats.iceberg.metadata import Member, Metadata
from core.formats.iceberg.retention import max_ref_age_ms
from core.messages import joined, message
from core.model import codes
from core.model.codes import Fault
from core.model.lineage import ancestors
from core.model.references import MAIN, NO_BRANCH, Heads, Line, Problem, Ref, Snapshot, Tag
from core.storage import listings, presence, size_limits
from core.storage.store import Store

HINT = "version-hint.text"
LAG_S = 0.2  # minimum time that a listing or read is assumed to be stale
_VERSION = re.compile(r"[+-]?\d{1,9}")
_HADOOP = re.compile(r"v(\d{1,18})(?:\.gz)?\.metadata\.json(?:\.gz)?")
_CATALOG = re.compile(r"(\d{1,18})-[^/]*?(?:\.gz)?\.metadata\.json(?:\.gz)?")
TEMPORARY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.gz)?\.metadata\.json")
"""What Java's Hadoop tables write before they rename it to a version; left behind by a crash."""


def version_of(path: str) -> int | None:
    """Return N of `vN.metadata.json`; None for any other file."""
    match = _HADOOP.fullmatch(path.rpartition("/")[2])
    return int(match[1]) if match else None


def is_table(store: Store) -> bool:
    """Return whether this is an Iceberg table: its metadata directory has at least one metadata file.

    Catalogs' names are on the first page of a long listing; the hint leads to those of Hadoop tables, which are on the
    last.
    """
    names, are_all = listings.first_names(store, DIRECTORY)
    if are_all or any(map(is_metadata, names)):
        return any(map(is_metadata, names))
    version = hinted_version(store) if names else None
    if version is not None and any(store.size(f"{DIRECTORY}/{name}") is not None for name in _spelled(version)):
        return True
    return any(map(is_metadata, listings.names(store, DIRECTORY, SPLITS)))


def find(store: Store) -> tuple[str, tuple[Problem, ...]]:
    """Return the path of the current metadata file of a bare directory, and warnings about the choice."""
    ends = time.monotonic() + LAG_S
    while True:
        hint = _hint(store)  # before the listing, so that what it names exists then
        try:
            return _found(store, hint)
        except (Corrupt, NotFound):
            # Replaced and deleted between two reads (write.metadata.delete-after-commit.enabled), or really damaged.
            if time.monotonic() > ends and _hint(store) == hint:
                raise
        time.sleep(presence.PAUSE_S)


def _found(store: Store, hint: bytes | None) -> tuple[str, tuple[Problem, ...]]:
    names = set(listings.names(store, DIRECTORY, SPLITS))
    hadoop: dict[int, str] = {}
    for name in sorted(names, reverse=True):  # a plain file before its compressed twin, as in Java
        if match := _HADOOP.fullmatch(name):
            hadoop[int(match[1])] = name
    own = (name for name in names if not TEMPORARY.fullmatch(name))
    catalog = [(int(match[1]), name) for name in own if (match := _CATALOG.fullmatch(name))]
    if catalog:
        return _newest(store, [*catalog, *hadoop.items()])
    if not hadoop:
        raise Unsupported(
            ("The metadata directory has no metadata file named by version (v<N>.metadata.json) or by a catalog."),
            path=f"{DIRECTORY}/",
            remedy="Open one metadata.json by its path.",
        )
    version, problems = _hinted(hint, hadoop)
    if version not in hadoop:
        hadoop |= _unlisted(store, version)
    if version not in hadoop:
        raise Corrupt(
            "The hint says version {version}, but v{version}.metadata.json does not exist.",
            version=version,
            path=f"{DIRECTORY}/{HINT}",
            remedy=message(
                "Restore the file, or open {directory}/{hadoop} by its path.",
                directory=DIRECTORY,
                hadoop=hadoop[max(hadoop)],
            ),
        )
    while version + 1 in hadoop:
        version += 1
    return f"{DIRECTORY}/{hadoop[version]}", problems


def _unlisted(store: Store, version: int) -> dict[int, str]:
    """Return this version and those that follow without a gap, although no listing shows them."""
    found: dict[int, str] = {}
    while name := next((name for name in _spelled(version) if store.size(f"{DIRECTORY}/{name}") is not None), None):
        found[version] = name
        version += 1
    return found


def _spelled(version: int) -> tuple[str, ...]:
    return f"v{version}.metadata.json", f"v{version}.gz.metadata.json", f"v{version}.metadata.json.gz"


def _hint(store: Store) -> bytes | None:
    try:
        return store.read(f"{DIRECTORY}/{HINT}", size_limits.HINT)
    except NotFound:
        return None


def hinted_version(store: Store) -> int | None:
    """Return the version that the hint of a Hadoop table names; None without a valid one."""
    first = _first_line(_hint(store) or b"")
    return int(first) if _VERSION.fullmatch(first) else None


def _first_line(hint: bytes) -> str:
    return hint.decode("utf-8", "replace").split("\n")[0].rstrip("\r")


def _hinted(hint: bytes | None, hadoop: Mapping[int, str]) -> tuple[int, tuple[Problem, ...]]:
    listed = max(hadoop)
    found: str = message("no file")
    if hint is not None:
        first = _first_line(hint)
        if _VERSION.fullmatch(first):
            return int(first), ()
        found = f"{first[:40]!r}"
    odd = Problem(
        f"{DIRECTORY}/{HINT}",
        message("the version {listed}", listed=listed),
        found,
        message("Harmless: Snapscope listed the directory instead."),
        Fault.HINT,
    )
    return listed, (odd,)


def _newest(store: Store, numbered: Sequence[tuple[int, str]]) -> tuple[str, tuple[Problem, ...]]:
    newest = max(number for number, _ in numbered)
    tied = sorted(name for number, name in numbered if number == newest)
    chosen = tied[0]
    if len(tied) > 1:  # a lost compare-and-swap leaves an past one
        updated = {name: documents.read(store, f"{DIRECTORY}/{name}").updated_ms for name in tied}
        chosen = max(tied, key=lambda name: (updated[name], name))
    problems = [
        Problem(
            f"{DIRECTORY}/{chosen}",
            message("the catalog's current metadata"),
            message("the newest file"),
            codes.CATALOG_OWNED().text,
            Fault.CATALOG_OWNED,
        )
    ]
    problems += [
        Problem(
            f"{DIRECTORY}/{name}",
            message("a single metadata file of version {newest}", newest=newest),
            message("another one"),
            message("Snapscope read the one that was written later."),
            Fault.VERSION_TIED,
        )
        for name in tied
        if name != chosen
    ]
    return f"{DIRECTORY}/{chosen}", tuple(problems)


def read(store: Store, pinned: str | None = None) -> tuple[Heads, Metadata]:
    """Return all references of the table in `store`, or of exactly the metadata file `pinned` (a path in `store`)."""
    path, problems = (pinned, ()) if pinned else find(store)
    ends = time.monotonic() + LAG_S
    while (content := presence.read_or_none(store, path, size_limits.TABLE_METADATA)) is None:
        is_late = time.monotonic() > ends
        if path in presence.listed(store, [path]):
            if is_late:
                raise presence.unread(path)
        elif pinned:
            raise NotFound("There is no file {relative}.", relative=path, path=store.full(path))
        time.sleep(presence.PAUSE_S)
        before, (path, problems) = path, (pinned, ()) if pinned else find(store)
        ends = ends if path == before else time.monotonic() + LAG_S  # overwritten between listing and reading
    found = documents.parse(content, path)
    return heads(found, f"{store.location}/{pinned}" if pinned else store.location, problems, store), found


def heads(found: Metadata, location: str, problems: Sequence[Problem] = (), store: Store | None = None) -> Heads:
    """Return the references in a metadata document."""
    warnings = [*problems, *reference_warnings.problems_of(found)]
    if store is not None and not same(store, found.location):
        warnings.append(_moved(found, store, location))
    parts = references(found)
    lines = _lines(found, _snapshots(found, parts), tuple(warnings))
    refs = tuple(found.refs.values())
    return Heads(location, ICEBERG, lines, parts, refs, found.log, found.document)


def _moved(found: Metadata, store: Store, location: str) -> Problem:
    pinned = location.removeprefix(f"{store.location}/") if location != store.location else None
    copied = moved_copy.rebased(store, found, pinned)
    expected = message("the table at {location}", location=store.location)
    named = message("the location {location}", location=found.location)
    if copied is None:
        explanation = message(
            "The table was moved or copied: its metadata refers to files at the other location, and "
            "no engine looks for them here."
        )
        return Problem(found.path, expected, named, explanation, Fault.MOVED)
    return Problem(
        found.path,
        expected,
        named,
        message(
            "The table was moved or copied, and is opened to read only: its files are read at {here}, where every path "
            "under {location} was rebased to. Engines look at the other place.",
            here=copied.store.location,
            location=found.location,
        ),
        Fault.MOVED,
    )


def references(found: Metadata) -> dict[str, bytes]:
    """Return each part of the document under its own name as canonical JSON, and the name of the file."""
    parts: dict[str, bytes] = {reference("file"): found.path.encode()}
    for key, value in found.document.items():
        if key == "snapshots":
            parts |= {_of_snapshot(each): canonical(each.fields) for each in found.snapshots.values()}
        elif key == "refs" and isinstance(value, Mapping):
            parts |= {reference(f"refs/{name}"): canonical(ref) for name, ref in value.items()}
        else:
            parts[reference(key)] = canonical(value)
    for ref in found.refs.values():  # main, if only current-snapshot-id gives it
        parts.setdefault(reference(f"refs/{ref.name}"), canonical({"snapshot-id": ref.snapshot_id, "type": "branch"}))
    return parts


def reference(part: str) -> str:
    """Name a part of the document: the file changes with each commit, but most of its parts do not."""
    return f"metadata.json#{part}"


def _of_snapshot(member: Member) -> str:
    return reference(f"snapshots/{member.id}")


def canonical(value: Any) -> bytes:
    """Encode a part of the document in canonical form."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


# branches ------------------------------------------------------------------------------------------------------------


def _lines(found: Metadata, snapshots: Mapping[int, Snapshot], warnings: tuple[Problem, ...]) -> tuple[Line, ...]:
    placed: set[int] = set()
    members: dict[str, list[Snapshot]] = {MAIN: []}
    branches = [ref for ref in found.refs.values() if ref.is_branch]
    for ref in branches:
        chain = [] if ref.snapshot_id not in snapshots else list(ancestors(snapshots, ref.snapshot_id))
        own = [each for each in reversed(chain) if each.id not in placed]
        members[ref.name] = own
        placed |= {each.id for each in own}
    rest = sorted((each for each in snapshots.values() if each.id not in placed), key=lambda each: each.time_ms)
    if rest:
        nowhere = NO_BRANCH
        while nowhere in members:
            nowhere = f"({nowhere})"
        members[nowhere] = rest
    tags = [
        _tag(found, ref, snapshots[ref.snapshot_id])
        for ref in found.refs.values()
        if not ref.is_branch and ref.snapshot_id in snapshots
    ]
    heads_of = {ref.name: snapshots.get(ref.snapshot_id) for ref in branches}
    return tuple(
        Line(
            branch=branch,
            snapshots=tuple(own),
            tags=tuple(sorted(tags, key=lambda tag: (tag.snapshot.time_ms, tag.name))) if branch == MAIN else (),
            changelogs=(),
            consumers=(),
            schemas=found.schemas,
            warnings=warnings if branch == MAIN else (),
            head=heads_of.get(branch),
            current_schema=found.current_schema,
        )
        for branch, own in members.items()
    )


def _tag(found: Metadata, ref: Ref, snapshot: Snapshot) -> Tag:
    age_ms = max_ref_age_ms(ref, found.properties)
    try:
        retained = None if age_ms is None else dt.timedelta(milliseconds=age_ms)
    except OverflowError:
        retained, age_ms = None, None
    return Tag(ref.name, snapshot, None, retained, None if age_ms is None else snapshot.time_ms + age_ms)


def _snapshots(found: Metadata, parts: Mapping[str, bytes]) -> dict[int, Snapshot]:
    """Return all snapshots by id, each with its note and state. `parts`: those of the document (`references`)."""
    members = found.snapshots
    on_refs = {
        each.id
        for ref in found.refs.values()
        if ref.snapshot_id in members
        for each in (ancestors(members, ref.snapshot_id) if ref.is_branch else [members[ref.snapshot_id]])
    }
    on_main = set() if found.current is None else {each.id for each in ancestors(members, found.current)}
    past: set[int] = set()  # in main's log, or ancestors of those, but no longer on main
    for _, number in reversed(found.log):
        for each in ancestors(members, number):
            if each.id in on_main or each.id in past:
                break
            past.add(each.id)
    published = _published(found)
    return {
        each.id: _snapshot(found, each, parts[_of_snapshot(each)], *_note(each, past, on_refs, published.get(each.id)))
        for each in members.values()
    }


def _published(found: Metadata) -> dict[int, int]:
    """Map each staged snapshot to the one that published it: by cherry-picking it, or with its wap.id."""
    staged = {each.summary["wap.id"]: each.id for each in found.snapshots.values() if "wap.id" in each.summary}
    published = {}
    for each in found.snapshots.values():
        source = _number(each.summary.get("source-snapshot-id")) or staged.get(each.summary.get("published-wap-id", ""))
        if source is not None and source != each.id:
            published[source] = each.id
    return published


def _note(member: Member, past: set[int], on_refs: set[int], published: int | None) -> tuple[str, str]:
    """Return the note on a snapshot, and its state in one word."""
    notes, state = [], ""
    if (source := member.summary.get("source-snapshot-id")) is not None:
        state = "picked"
        notes.append(message("cherry-picked from {id}", id=source))
    if member.id in past:
        state = "rolled-back"
        notes.append(message("rolled back: main was here and was moved to another line"))
    elif member.id not in on_refs:
        wap = member.summary.get("wap.id")
        own = message("on no branch or tag") if wap is None else message("staged as {wap} (wap.id)", wap=wap)
        state = "orphaned" if wap is None else "staged"
        if published is not None:
            state = "published"
            notes.append(message("{own}, published as {id}", own=own, id=published))
        elif wap is not None:
            notes.append(message("{own}, not published", own=own))
        else:
            notes.append(message("orphaned or staged: on no branch or tag, and not in main's log"))
    return joined(notes), state


def _snapshot(found: Metadata, member: Member, content: bytes, note: str, state: str) -> Snapshot:
    added, deleted = (_number(member.summary.get(key)) for key in ("added-records", "deleted-records"))
    return Snapshot(
        id=member.id,
        time_ms=member.time_ms,
        kind=member.summary.get("operation", "unknown"),
        schema_id=found.current_schema if member.schema_id is None else member.schema_id,
        commit_user=member.summary.get("engine-name", ""),
        commit_identifier=member.sequence,
        total_rows=_number(member.summary.get("total-records")),
        delta_rows=None if added is None and deleted is None else (added or 0) - (deleted or 0),
        watermark=None,
        fields=member.fields,
        content=content,
        parent_id=member.parent_id,
        note=note,
        state=state,
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,18}", text) else None
