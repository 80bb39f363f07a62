"""The small JSON files that refer to everything else: read the newest ones, publish new schemas, tags and branches.

Invariants: a reference is published whole, by exclusive create, and read back: it is ours or `Conflict` is raised. A
reference to existing files is published only if its source is unchanged when read again afterwards; otherwise it is
withdrawn. Copies keep their bytes.
"""

from __future__ import annotations

import datetime as dt
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import Conflict, Corrupt, NotFound, SnapscopeError
from core.formats.paimon import layout, references
from core.formats.paimon.read import hints
from core.formats.paimon.types import Source
from core.formats.paimon.write import alter as alters
from core.formats.paimon.write import catalog_commits, documents
from core.formats.paimon.write.alter import SchemaChange
from core.formats.table_format import Unknown
from core.messages import message
from core.model.ref_names import refuse_name
from core.model.references import MAIN, Schema, Snapshot
from core.storage.size_limits import HINT
from core.storage.store import Store

_log = logging.getLogger(__name__)
ATTEMPTS = 10
RIVAL_S = 10.0
_NUMBER = re.compile(r"\d{1,19}")


@dataclass(frozen=True, slots=True)
class Head:
    """What the next commit of a branch is based on: its newest schema and its newest snapshot, if there is one."""

    branch: str
    schema: Schema
    snapshot: Snapshot | None

    @property
    def types(self) -> dict[str, Source]:
        return {column.name: column.type for column in self.schema.fields}

    @property
    def partition_types(self) -> list[Source]:
        return [self.types[key] for key in self.schema.partition_keys]


def read_head(store: Store, branch: str = MAIN) -> Head:
    """Read the newest schema and snapshot of a branch, by listing.

    Raises `NotFound` if there is no such table or branch, `Conflict` if the newest snapshot kept changing.
    """
    number = _latest(store, branch, layout.SCHEMA)
    if number is None:
        what = message("a table") if branch == MAIN else message("a branch '{branch}'", branch=branch)
        raise NotFound("There is no schema file, so this is not {what}.", what=what, path=store.location)
    schema = read_schema(store, number, branch)
    for _ in range(ATTEMPTS):
        newest = _latest(store, branch, layout.SNAPSHOT)
        if newest is None:
            return Head(branch, schema, None)
        path = layout.reference(branch, layout.SNAPSHOT, newest)
        try:
            return Head(branch, schema, references.snapshot_of(str(newest), store.read(path), path))
        except NotFound:
            continue  # rolled back since the listing
    raise Conflict(
        "The newest snapshot kept disappearing while it was being read.", path=store.location, remedy="Try again."
    )


def read_schema(store: Store, number: int, branch: str = MAIN) -> Schema:
    """Read one schema of a branch."""
    path = layout.reference(branch, layout.SCHEMA, number)
    return references.schema_of(str(number), store.read(path), path)


def snapshot_ids(store: Store, branch: str = MAIN) -> list[int]:
    """Return the ids of all retained snapshots of a branch, ascending."""
    return _numbers(store, branch, layout.SNAPSHOT)


def _latest(store: Store, branch: str, kind: str) -> int | None:
    return max(_numbers(store, branch, kind), default=None)


def _numbers(store: Store, branch: str, kind: str) -> list[int]:
    names = (entry.name for entry in store.ls_if_there(f"{layout.branch_dir(branch)}{kind}") if not entry.is_dir)
    suffixes = (name[len(kind) + 1 :] for name in names if name.startswith(f"{kind}-"))
    return sorted(int(suffix) for suffix in suffixes if _NUMBER.fullmatch(suffix))


# schemas --------------------------------------------------------------------------------------------------------


def create_table(
    store: Store,
    columns: Sequence[tuple[str, Source]],
    *,
    time_ms: int,
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    comment: str | None = None,
    primary_keys: Sequence[str] = (),
) -> Schema:
    """Create a table by publishing its first schema.

    Raises `Conflict` if it exists, `Invalid` or `Unsupported` for a schema that cannot be written here.
    """
    document = documents.first_schema(columns, partition_keys, options or {}, time_ms, comment, primary_keys)
    content = documents.pretty(document)
    path = layout.reference(MAIN, layout.SCHEMA, 0)
    schema = references.schema_of("0", content, path)
    (documents.refuse_unwritable_keyed if primary_keys else documents.refuse_unwritable)(schema)
    if references.is_table(store):
        raise Conflict("A table already exists at this location.", path=store.location)
    store.create(path, content)
    return schema


def add_column(store: Store, name: str, type_: Source, *, time_ms: int, branch: str = MAIN) -> Schema:
    """Publish the next schema with a nullable column added at the end."""
    return alter(store, [alters.AddColumn(name, type_)], time_ms=time_ms, branch=branch)


def alter(store: Store, changes: Sequence[SchemaChange], *, time_ms: int, branch: str = MAIN) -> Schema:
    """Publish the next schema on top of the newest one: all changes or none.

    Raises `Invalid` or `Unsupported`, with the reason, for what the engine would reject or what is not written here;
    `Conflict` if other schema changes kept coming first.
    """
    catalog_commits.refuse_served(store)
    for _ in range(ATTEMPTS):
        number = _latest(store, branch, layout.SCHEMA)
        if number is None:
            raise NotFound("There is no schema file, so this is not a table.", path=store.location)
        path = layout.reference(branch, layout.SCHEMA, number)
        previous = references.document(store.read(path), path)
        content = documents.pretty(alters.altered(previous, changes, time_ms))
        path = layout.reference(branch, layout.SCHEMA, number + 1)
        schema = references.schema_of(str(number + 1), content, path)
        if not schema.primary_keys:
            documents.refuse_unwritable(schema)
        if publish(store, path, content):
            return schema
    raise Conflict("Other schema changes kept getting in first.", path=store.location, remedy="Try again.")


# tags and branches ------------------------------------------------------------------------------------------------


def create_tag(
    store: Store,
    name: str,
    *,
    snapshot_id: int | None = None,
    branch: str = MAIN,
    created: dt.datetime | None = None,
    retained_ms: int | None = None,
) -> bytes:
    """Tag a snapshot (the newest by default); return the tag's content.

    A snapshot that has expired is copied from another tag that holds it. The source is read again after publishing: if
    it is missing or differs, the tag is withdrawn and `Conflict` raised.
    """
    refuse_name("tag", name)
    source, snapshot = _tag_source(store, snapshot_id, branch)
    content = documents.tag(documents.untagged(snapshot), created, retained_ms)
    copy(store, source, snapshot, layout.reference(branch, layout.TAG, name), content)
    return content


def copy(store: Store, source: str, expected: bytes, path: str, content: bytes) -> None:
    """Publish `content`, derived from the reference `source`, under a new name.

    Raises `Conflict` if the source is not as expected before and after; nothing is left behind then.
    """
    _recheck(store, source, expected, [])
    store.create(path, content)
    _recheck(store, source, expected, [path])


def create_branch(store: Store, name: str, tag: str) -> None:
    """Create a branch from a tag of main: its schemas, its tag and its snapshot are copied byte for byte.

    No data is copied: the branch shares all files. Raises `Conflict` if the name is taken or the tag changes
    meanwhile.
    """
    refuse_name("branch", name)
    catalog_commits.refuse_served(store)
    used_names = {entry.name for entry in store.ls_if_there(layout.BRANCH)}
    if f"{layout.BRANCH}-{name}" in used_names:
        raise Conflict("Branch '{name}' already exists.", name=name, path=store.location)
    source = layout.reference(MAIN, layout.TAG, tag)
    content = store.read(source)
    cut = references.tag_of(tag, content, source).snapshot
    copies = {}
    for number in range(cut.schema_id + 1):
        path = layout.reference(MAIN, layout.SCHEMA, number)
        copies[layout.reference(name, layout.SCHEMA, number)] = store.read(path)
    copies[layout.reference(name, layout.TAG, tag)] = content
    copies[layout.reference(name, layout.SNAPSHOT, cut.id)] = _branch_snapshot(store, cut, content)
    written: list[str] = []
    try:
        for path, data in copies.items():
            store.create(path, data)
            written.append(path)
    except BaseException as error:
        _withdraw(store, written, error)
        raise
    _recheck(store, source, content, written)


def _branch_snapshot(store: Store, cut: Snapshot, tag: bytes) -> bytes:
    """Return the snapshot file if it is still the tagged one, else the snapshot inside the tag."""
    untagged = documents.untagged(tag)
    try:
        content = store.read(layout.reference(MAIN, layout.SNAPSHOT, cut.id))
    except NotFound:
        return untagged
    return content if references.document(content, "") == references.document(untagged, "") else untagged


def _tag_source(store: Store, snapshot_id: int | None, branch: str) -> tuple[str, bytes]:
    if snapshot_id is None:
        head = read_head(store, branch).snapshot
        if head is None:
            raise NotFound("The table has no snapshot to tag.", path=store.location)
        return layout.reference(branch, layout.SNAPSHOT, head.id), head.content
    path = layout.reference(branch, layout.SNAPSHOT, snapshot_id)
    try:
        return path, store.read(path)
    except NotFound:
        line = references.read(store).line(branch)
        for tag in () if line is None else line.tags:
            if tag.snapshot.id == snapshot_id:
                return layout.reference(branch, layout.TAG, tag.name), tag.snapshot.content
        raise


def _recheck(store: Store, source: str, content: bytes, published: Sequence[str]) -> None:
    try:
        found: bytes | None = store.read(source)
    except NotFound:
        found = None
    if found == content:
        return
    fate = message("was deleted") if found is None else message("was replaced")
    error = Conflict(
        "{source} {fate} after it was read; no new reference was left behind.",
        source=source,
        fate=fate,
        path=store.location,
        remedy="Re-check the table.",
    )
    _withdraw(store, published, error)
    raise error


def _withdraw(store: Store, published: Sequence[str], error: BaseException) -> None:
    for path in reversed(published):
        try:
            store.delete(path)
        except SnapscopeError as left:
            error.add_note(f"{path} was left behind: {left}")
    if any(path.startswith(f"{layout.BRANCH}/") for path in published):  # an empty branch directory is a branch
        parents = {"/".join(path.split("/")[:depth]) for path in published for depth in (1, 2, 3)}
        for directory in sorted(parents, key=len, reverse=True):
            store.remove_empty_dir(directory)


# publishing -----------------------------------------------------------------------------------------------------


def publish(store: Store, path: str, content: bytes) -> bool:
    """Create a reference: True if it exists with our content, False if another writer took the name.

    Raises `Conflict` if another writer replaced ours, `Unknown` if the outcome is unknown.
    """
    failed: BaseException | None = None
    try:
        store.create(path, content)
    except (SnapscopeError, OSError) as error:
        failed = error  # taken, perhaps by our own repeated request, or unknown
    try:
        if failed is None:
            _outwait(store, path)
        found = store.read(path)
    except SnapscopeError as error:
        raise Unknown(
            message(
                "It cannot be determined whether {path} was published ({failed}); nothing was deleted.",
                path=path,
                failed=str(failed or error),
            ),
            path=store.location,
            remedy=message("Re-check the table before repeating the change."),
        ) from (failed or error)
    if found == content:
        return True
    if failed is None:
        raise Conflict(
            message("Another writer replaced {path} right after it was published.", path=path), path=store.location
        )
    return False


def advance_hints(store: Store, path: str, *, is_first: bool) -> None:
    """Let a branch's hints name a new snapshot. They are never trusted: without them engines find it by listing."""
    directory, _, number = path.rpartition(f"/{layout.SNAPSHOT}-")
    try:
        for name in (layout.LATEST, *([layout.EARLIEST] if is_first else [])):
            store.put(f"{directory}/{name}", number.encode())
    except (SnapscopeError, OSError) as error:
        _log.warning("Snapshot %s is committed; its hints could not be written: %s", number, error)


def repair_hint(store: Store, path: str, created: Sequence[str] = (), deleted: Sequence[str] = ()) -> None:
    """Write a hint to match the directory, even if the listing lags behind; delete it if nothing is left. The snapshot
    that it names now exists, listed or not, unless reading it says otherwise. On a full disk a hint that matches
    already is enough, or none: then engines list."""
    directory, _, name = path.rpartition("/")
    prefix = f"{directory}/{directory.rpartition('/')[2]}-"
    there = {f"{directory}/{entry.name}" for entry in store.ls_if_there(directory)}.union(created)
    now = hints.number(store.read_many([path], HINT)[path])
    named = f"{prefix}{now}"
    if now is not None and named not in there and not isinstance(store.read_many([named])[named], NotFound):
        there.add(named)
    found = [each.removeprefix(prefix) for each in there.difference(deleted) if each.startswith(prefix)]
    numbers = [int(each) for each in found if each.isdecimal()]
    if numbers:
        content = str(max(numbers) if name == layout.LATEST else min(numbers)).encode()
        try:
            store.put(path, content)
        except Corrupt:
            if (current := store.read_many([path])[path]) != content and not isinstance(current, NotFound):
                raise
    else:
        store.delete(path)


def _outwait(store: Store, path: str) -> None:
    """Wait for writers that may still replace what was just published.

    On a local disk, an engine writes `.NAME.UUID.tmp`, checks that NAME is free, and renames over it, replacing
    whatever was created in between. A writer that checked before us has such a file until it is done. A file left by a
    crash is waited for in vain, once, for 10 s.
    """
    directory, _, name = path.rpartition("/")

    def rivals() -> set[str]:
        names = {entry.name for entry in store.ls(directory)}
        return {each for each in names if each.startswith(f".{name}.") and each.endswith(".tmp")}

    deadline = time.monotonic() + RIVAL_S
    remaining = rivals()
    while remaining and time.monotonic() < deadline:
        time.sleep(0.002)
        remaining &= rivals()
