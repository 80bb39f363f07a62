"""Delete and restore the snapshots of a branch that is deleted or renamed. See docs/adr/0047.

No snapshot of it stays that a hint could name. So its newest one is hinted at, deleted after all others, and restored
before them, after the schemas without which engines do not open a branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.execution import expired_references
from core.execution.delete_files import BATCH
from core.execution.reference_effects import References
from core.execution.stable_read import read_if_there
from core.formats.paimon import layout
from core.model.effects import DeleteIfEqual, Effect, OfReference, RaiseHint, before


def is_over(references: References, hint: RaiseHint) -> bool:
    """Return whether an earlier attempt has deleted what was to be deleted last, so that no hint can be raised."""
    if references.is_first or not _deletes_first(references, hint):
        return False
    return read_if_there(references.table, hint.first) is None


def delete_left(references: References, hidden: Sequence[Effect]) -> None:
    """Delete what is there of these references one after another: others have created it again."""
    deletions = [each for each in hidden if isinstance(each, DeleteIfEqual)]
    for start in range(0, len(deletions), BATCH):
        batch = deletions[start : start + BATCH]
        contents = expired_references.found_in(references, batch)
        for each in batch:
            if references.may_delete(each, contents[each.path]):
                references.delete(each)


def restore_first(references: References, undoable: Sequence[tuple[OfReference, bytes | None]]) -> list[str]:
    """Write back what the snapshots of a branch need; return the paths. Its tags come after the snapshots."""
    hints = [each for each in references.effects if isinstance(each, RaiseHint) and _deletes_first(references, each)]
    branches = tuple(f"{each.path.rpartition('/')[0].rpartition('/')[0]}/" for each in hints)
    first = [
        (each, now)
        for each, now in undoable
        if isinstance(each, DeleteIfEqual)
        and now is None
        and each.path.startswith(branches)
        and not each.path.rpartition("/")[0].endswith(f"/{layout.TAG}")
        and not any(expired_references.is_hidden(each, hint) for hint in hints)
    ]
    return references.undo(first) if first else []


def clear_temporary(references: References) -> None:
    """Delete the temporary files of an attempt that was killed while it created a branch, where nothing else is: its
    directory would stay, and to engines that is a branch."""
    names: dict[str, list[str]] = {}
    for each in references.of_references:
        directory, _, name = each.path.rpartition("/")
        if before(each) is None and directory.startswith(f"{layout.BRANCH}/"):
            names.setdefault(directory, []).append(f".{name}.")
    for directory, prefixes in names.items():
        entry_names = [entry.name for entry in references.store.ls_if_there(directory)]
        if all(each.startswith(tuple(prefixes)) and each.endswith(".tmp") for each in entry_names):
            for name in entry_names:
                references.store.delete(f"{directory}/{name}")


def _deletes_first(references: References, hint: RaiseHint) -> bool:
    return any(isinstance(each, DeleteIfEqual) and each.path == hint.first for each in references.effects)
