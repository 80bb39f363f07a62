"""Locate the files of a moved or copied table, whose metadata states another location than it was opened at.

Invariants: a directory is a copy if its manifest lists are where they would be after moving the directory unchanged.
Its files are read there, by rebasing every location below the old one in memory. A copy is never changed, because
engines use the other location. A single metadata file reads the files at the locations it states, as long as they
exist.
"""

from __future__ import annotations

from collections.abc import Callable

from core import urls
from core.errors import SnapscopeError
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import TableLocation, normal, same
from core.formats.iceberg.metadata import Metadata
from core.messages import Message, message
from core.storage.store import Store


def rebased(store: Store, found: Metadata, pinned: str | None) -> TableLocation | None:
    """Return where the files of a copy are; None if the table is at the location in its metadata, or is not a copy.

    `pinned`: the path in `store` of the metadata file that was opened.
    """
    if same(store, found.location):
        return None
    lists = _lists(found)
    if pinned and normal(found.location).startswith("/") and lists and _has(Store.named(normal(found.location)), lists):
        return None
    for root in _roots(store, pinned, lists):
        if not lists or _has(root, lists):
            return TableLocation.of(root, found.location, found.properties)
    return None


def why_read_only(store: Store, found: Metadata) -> Message | None:
    """Return why nothing may be committed to the table at the location where it was opened; None if it may."""
    if found.is_encrypted:
        return message("The table is encrypted, and a commit would need its keys")
    if not found.is_strict:
        return message(
            "Iceberg's own library rejects the table's metadata (a snapshot id of more than 63 bits, or version 3 "
            "without next-row-id)"
        )
    if same(store, found.location):
        return None
    return message(
        "The table was moved or copied: its metadata names files at {location}, so engines look there (Spark's "
        "rewrite_table_path and register_table make a copy a table of its own)",
        location=found.location,
    )


def above(store: Store, pinned: str, place: Callable[[Metadata], TableLocation]) -> tuple[Store, str]:
    """Return the root of a table whose metadata file is in a separate directory (write.metadata.path), and its path."""
    if "/" in pinned or not store.is_local or store.size(pinned) is None:
        return store, pinned
    try:
        root = place(documents.read(store, pinned)).store
    except SnapscopeError:  # reported when the file is read
        return store, pinned
    own = f"{root.location}/"
    if not root.is_local or not store.location.startswith(own):
        return store, pinned
    return root, f"{store.location.removeprefix(own)}/{pinned}"


def _lists(found: Metadata) -> list[str]:
    """Return up to three of the table's manifest lists, as paths below its location; empty if there are none."""
    named = TableLocation(Store("."), normal(found.location))
    newest = sorted(found.snapshots.values(), key=lambda each: -each.time_ms)
    known = [each.manifest_list for each in newest if each.manifest_list is not None] or [
        path for each in newest for path in each.manifests
    ]
    return [path for each in known[:3] if not urls.is_url(path := named.path(each)) and not path.startswith("/")]


def _roots(store: Store, pinned: str | None, lists: list[str]) -> list[Store]:
    """Return possible roots of the copy: where it was opened, or above the directory of its metadata."""
    roots = [store]
    if pinned is not None and lists:
        directory = store.full(pinned).rpartition("/")[0]
        inside = lists[0].rpartition("/")[0]
        if inside and directory.endswith(f"/{inside}"):
            roots.append(Store(directory.removesuffix(f"/{inside}")))
    return roots


def _has(root: Store, lists: list[str]) -> bool:
    try:
        return any(root.size(path) is not None for path in lists)
    except SnapscopeError:  # files cannot be read from a location that cannot be accessed
        return False
