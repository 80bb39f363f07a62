"""Delete the tags of a run, many at a time.

Invariant: a tag that exists again after it was deleted belongs to another writer, even with the same bytes. One after
another, the order tells; here the journal has each tag's size and time as listed before the first effect, and a resumed
run deletes a tag only while a listing still shows them. Where a store lists no times, the order tells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from core.execution import expired_references
from core.execution.delete_files import BATCH
from core.execution.reference_effects import References
from core.formats.paimon import layout
from core.model.effects import DeleteIfEqual, Effect, OfReference
from core.storage.store import Store

Marks = Mapping[str, Sequence[float | None]]


def marks(store: Store, effects: Sequence[Effect]) -> Marks:
    """Return the size and time of each tag that is to be deleted; of none where they are deleted one by one."""
    tags = {each.path for each in effects if isinstance(each, DeleteIfEqual) and _is_tag(each) and each.while_planned}
    if len(tags) < 2 or (store.is_local and not store.deletes_together):
        return {}
    return listed(store, tags)


def listed(store: Store, paths: Collection[str]) -> Marks:
    """Return the size and time of those of these files that listings show with a time."""
    return {
        f"{directory}/{entry.name}": [entry.size, entry.modified_s]
        for directory in {path.rpartition("/")[0] for path in paths}
        for entry in store.ls_if_there(directory)
        if entry.modified_s is not None and f"{directory}/{entry.name}" in paths
    }


def is_unordered(effect: Effect, known: Marks) -> bool:
    """Return whether the effect deletes a tag of which nobody has to know when it was deleted."""
    return isinstance(effect, DeleteIfEqual) and _is_tag(effect) and (not effect.while_planned or effect.path in known)


def delete(references: References, tags: Sequence[DeleteIfEqual]) -> None:
    """Delete these tags in batches, in any order within one, each if it has the planned bytes."""
    waiting = [each for each in tags if each.path not in references.spares]
    for start in range(0, len(waiting), BATCH):
        expired_references.delete_batch(references, waiting[start : start + BATCH])


def restore(references: References, undoable: Sequence[tuple[OfReference, bytes | None]], known: Marks) -> list[str]:
    """Write back the deleted tags among what an undo has to restore, many at a time; return their paths."""
    tags = [
        each for each, now in undoable if isinstance(each, DeleteIfEqual) and now is None and is_unordered(each, known)
    ]
    expired_references.each_of(references.store, lambda each: references.store.create(each.path, each.content), tags)
    return [each.path for each in tags]


def _is_tag(effect: DeleteIfEqual) -> bool:
    return not effect.is_alone and effect.path.rpartition("/")[0].rpartition("/")[2] == layout.TAG
