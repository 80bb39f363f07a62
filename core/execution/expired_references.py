"""Delete the snapshots or changelogs of an expiry or of a branch, many at a time. See docs/adr/0047.

Invariant: engines never read a range of snapshots with a gap. Before any snapshot is deleted, the EARLIEST hint names
the oldest one that is kept and LATEST none that expires, and before each batch both are checked again. Where EARLIEST
is lost nevertheless, the snapshot of a tag is deleted only after all older ones: an engine that deletes a tag across a
gap deletes files of every version. With a whole branch, the newest one is hinted at, deleted after all others, and
restored before them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeGuard

from core.errors import Conflict, ErrorCode, NotFound, SnapscopeError
from core.execution.delete_files import BATCH, REMOTE_DELETERS
from core.execution.reference_effects import References
from core.execution.stable_read import read_if_there, read_or_none
from core.formats.paimon import layout
from core.formats.paimon.read import hints
from core.formats.paimon.references import tag_of
from core.formats.paimon.write import publish
from core.messages import message
from core.model.effects import DeleteIfEqual, Effect, OfReference, RaiseHint
from core.storage import presence
from core.storage.size_limits import DOCUMENT
from core.storage.store import Store


def grouped(effects: Sequence[Effect], is_unordered: Callable[[Effect], bool]) -> Iterator[tuple[Effect, ...]]:
    """Yield each effect alone, but a raised hint together with the deletions of the snapshots that it hides, and
    together what is unordered."""
    start = 0
    while start < len(effects):
        first, end = effects[start], start + 1
        if isinstance(first, RaiseHint):
            while end < len(effects) and is_hidden(effects[end], first):
                end += 1
        elif is_unordered(first):
            while end < len(effects) and is_unordered(effects[end]):
                end += 1
        yield tuple(effects[start:end])
        start = end


def is_hidden(effect: Effect, hint: RaiseHint) -> TypeGuard[DeleteIfEqual]:
    """Return whether the effect deletes what the raised hint hides."""
    below = f"{hint.path.rpartition('/')[0]}/"
    return isinstance(effect, DeleteIfEqual) and effect.path.startswith(below) and effect.path != hint.first


def delete(references: References, hint: RaiseHint, expired: Sequence[Effect]) -> None:
    """Raise the hint, then delete these snapshots in batches, oldest first, each if it has the planned bytes."""
    deletions = [each for each in expired if isinstance(each, DeleteIfEqual) and each.path not in references.spares]
    if not deletions:
        return
    deleted_paths, hinted = {each.path for each in deletions}, b""
    for batch in _batches(deletions, _tagged(references.store, hint)):
        hinted = _raised(references.store, hint, deleted_paths, hinted)
        _correct_latest(references.store, hint, int(hinted), deleted_paths)
        delete_batch(references, batch)


def restore(references: References, undoable: Sequence[tuple[OfReference, bytes | None]]) -> list[str]:
    """Write back the snapshots among what an undo has to restore, newest batch first; return their paths.

    They stay hidden until the undo repairs the hint. A tag's snapshot ends a batch: all older ones come after it."""
    restored: list[str] = []
    for hint in reversed([each for each in references.effects if isinstance(each, RaiseHint)]):
        deletions = [each for each, now in undoable if is_hidden(each, hint) and now is None]
        deleted_paths = {each.path for each in references.effects if is_hidden(each, hint)}
        batches = _batches(deletions[::-1], _tagged(references.store, hint)) if deletions else ()
        hinted = b""
        for batch in reversed(list(batches)):
            hinted = _raised(references.store, hint, deleted_paths, hinted)
            each_of(references.store, lambda each: references.store.create(each.path, each.content), batch[::-1])
        restored += [each.path for each in deletions]
    return restored


def _raised(store: Store, hint: RaiseHint, deleted_paths: Collection[str], hinted: bytes) -> bytes:
    """Have the hint name the oldest snapshot that is kept, and return its content.

    Raises `Conflict` if none is kept: someone has rolled back to one that expires."""
    contents = store.read_many([hint.path, hint.first], DOCUMENT)
    now, first = contents[hint.path], contents[hint.first]
    if hinted and now == hinted and not isinstance(first, SnapscopeError):
        return hinted
    directory = hint.path.rpartition("/")[0]
    kept_paths = {f"{directory}/{entry.name}" for entry in store.ls_if_there(directory)}.difference(deleted_paths)
    if not isinstance(first, NotFound):
        kept_paths.add(hint.first)  # a listing may be stale, and what cannot be read exists
    prefix = f"{directory}/{directory.rpartition('/')[2]}-"
    numbers = [each.removeprefix(prefix) for each in kept_paths if each.startswith(prefix)]
    kept_ids = [int(each) for each in numbers if each.isdecimal()]
    if not kept_ids:
        raise Conflict(
            message("{path} no longer exists, and nothing newer does; nothing more was deleted.", path=hint.first),
            path=hint.first,
            remedy="Make a new plan.",
            code=ErrorCode.PLAN_OUTDATED,
        )
    oldest = str(min(kept_ids)).encode()
    if now != oldest:
        store.put(hint.path, oldest)
    return oldest


def _correct_latest(store: Store, hint: RaiseHint, first: int, deleted_paths: Collection[str]) -> None:
    """Have LATEST name the newest snapshot if it names one that expires or no longer exists, as after commits that
    could not write it. Engines trust it once the next id is missing, and then fail or see an empty table."""
    directory = hint.path.rpartition("/")[0]
    path = f"{directory}/{layout.LATEST}"
    content = presence.read_or_none(store, path)
    latest = None if content is None else hints.number(content)
    if latest is not None and int(latest) < first:
        publish.repair_hint(store, path, [f"{directory}/{directory.rpartition('/')[2]}-{first}"], [*deleted_paths])


def _tagged(store: Store, hint: RaiseHint) -> set[int] | None:
    """Return the snapshot ids of a branch's tags; None if they are unknown."""
    directory, _, kind = hint.path.rpartition("/")[0].rpartition("/")
    if kind != layout.SNAPSHOT:
        return set()
    below = f"{directory}/{layout.TAG}" if directory else layout.TAG
    names = [entry.name for entry in store.ls_if_there(below) if entry.name.startswith(f"{layout.TAG}-")]
    found = store.read_many([f"{below}/{name}" for name in names], DOCUMENT)
    ids = set[int]()
    for path, content in found.items():
        try:
            if isinstance(content, SnapscopeError):
                raise content
            ids.add(tag_of(path, content, path).snapshot.id)
        except NotFound:
            continue  # deleted since the listing
        except SnapscopeError:
            return None
    return ids


def _batches(deletions: Sequence[DeleteIfEqual], tagged: Collection[int] | None) -> Iterator[list[DeleteIfEqual]]:
    """Split deletions into batches within which any order is safe: a tagged snapshot begins one."""
    batch: list[DeleteIfEqual] = []
    for each in deletions:
        is_tagged = tagged is None or int(each.path.rpartition("-")[2]) in tagged
        if batch and (is_tagged or len(batch) == BATCH):
            yield batch
            batch = []
        batch.append(each)
    yield batch


def delete_batch(references: References, batch: Sequence[DeleteIfEqual]) -> None:
    """Delete these references, each if it has the planned bytes, in any order where the store is remote."""
    (_together if references.store.deletes_together else _one_by_one)(references, batch)


def _together(references: References, batch: Sequence[DeleteIfEqual]) -> None:
    """Read a batch, and delete by one request what has the planned bytes."""
    found = found_in(references, batch)
    ready = [each for each in batch if references.may_delete(each, found[each.path])]
    deleted = references.store.delete_together({each.path: found[each.path] for each in ready})
    references.deleted += [each.path for each in ready if each.path in deleted]
    remaining = [each for each in ready if each.path not in deleted]
    _one_by_one(references, remaining)
    # These were deleted at once, and the answer was lost.
    unanswered = {each.path for each in remaining}.difference(references.deleted)
    references.deleted += [path for path in sorted(unanswered) if read_or_none(references.table, path) is None]


def found_in(references: References, batch: Sequence[DeleteIfEqual]) -> dict[str, bytes | None]:
    """Read these references at once; None for those that are absent. Raises the error of one that is unknown."""
    found: dict[str, bytes | None] = {}
    for path, content in references.store.read_many([each.path for each in batch], DOCUMENT).items():
        if isinstance(content, SnapscopeError) and not isinstance(content, NotFound):
            raise content
        found[path] = None if isinstance(content, SnapscopeError) else content
    missing = [each.path for each in batch if found[each.path] is None and not each.while_planned]
    for path in presence.listed(references.store, missing):
        found[path] = read_if_there(references.table, path)
    return found


def _one_by_one(references: References, batch: Sequence[DeleteIfEqual]) -> None:
    """Delete a batch by single requests."""
    each_of(references.store, references.delete, batch)


def each_of(store: Store, act: Callable[[DeleteIfEqual], None], batch: Sequence[DeleteIfEqual]) -> None:
    """Act on each reference of a batch: in this order on a local disk, several at a time on a remote store."""
    if store.is_local or len(batch) < 2:
        for each in batch:
            act(each)
        return
    with ThreadPoolExecutor(min(REMOTE_DELETERS, len(batch))) as pool:
        try:
            for _ in pool.map(act, batch):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
