"""A stable read: references on which two successive reads agree, while others write."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import Conflict
from core.model.references import Heads
from core.storage import presence
from core.storage.size_limits import DOCUMENT, TABLE_METADATA
from core.table import Table

ATTEMPTS = 20


def read_stable_references(table: Table, deleted: Collection[str] = ()) -> Heads:
    """Read references until two successive reads agree, because a rename can move a file during a listing.

    A table with running writers never stands still. So a new snapshot is no disagreement, and neither is a snapshot
    that vanished, once a direct read confirms it. Everything else that was seen must be seen again, byte for byte.
    References that the caller has deleted (`deleted`) may still be listed. Raises `Conflict` after `ATTEMPTS` reads.
    """
    before = table.heads(patience_s=presence.PATIENCE_S, gone=deleted)
    if not table.capabilities.references_are_files:
        return before  # one document, read at once
    for _ in range(ATTEMPTS):
        after = table.heads(patience_s=presence.PATIENCE_S, gone=deleted)
        if _agree(table, before, after):
            return after
        before = after
    raise Conflict(
        "The table's references kept changing; no file was deleted.", remedy="Retry when fewer writers are active."
    )


def _agree(table: Table, before: Heads, after: Heads) -> bool:
    seen, found = before.references, after.references
    changed = {path for path in seen.keys() | found.keys() if seen.get(path) != found.get(path)}
    changed -= {path for path in changed if table.format.holds_nothing(path)}
    snapshots = table.format.snapshot_paths(before) | table.format.snapshot_paths(after)
    is_new = changed - seen.keys()
    is_gone = changed - found.keys()
    return changed <= snapshots & (is_new | is_gone) and all(read_if_there(table, path) is None for path in is_gone)


def read_if_there(table: Table, path: str) -> bytes | None:
    """See `core.storage.presence`."""
    return presence.read_if_there(table.store, path, _most_bytes(table))


def read_or_none(table: Table, path: str) -> bytes | None:
    """See `core.storage.presence`."""
    return presence.read_or_none(table.store, path, _most_bytes(table))


def _most_bytes(table: Table) -> int:
    return DOCUMENT if table.capabilities.references_are_files else TABLE_METADATA
