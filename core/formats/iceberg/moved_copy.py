"""Where a table's files are, if its metadata names another place than it was opened at: a moved or copied table.

Laws: a copy is one whose manifest lists lie where they would if the directory had been moved as it is. Its files are
read there, by rebasing every location under the old one in memory; nothing is ever changed there, because engines look
at the other place. One metadata file alone reads the files where it says they are, as long as they are there.
"""

from __future__ import annotations

from collections.abc import Callable

from core import urls
from core.errors import SnapscopeError
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import TableLocation, normal, same
from core.formats.iceberg.metadata import Metadata
from core.messages import Told, told
from core.storage.store import Store


def rebased(store: Store, found: Metadata, pinned: str | None) -> TableLocation | None:
    """Where the files of a copy are; None where the table is at the place its metadata names, or is no copy.

    `pinned`: the path in `store` of the one metadata file that was opened."""
    if same(store, found.location):
        return None
    lists = _lists(found)
    if pinned and normal(found.location).startswith("/") and lists and _has(Store.named(normal(found.location)), lists):
        return None
    for root in _roots(store, pinned, lists):
        if not lists or _has(root, lists):
            return TableLocation.of(root, found.location, found.properties)
    return None


def why_read_only(store: Store, found: Metadata) -> Told | None:
    """Why nothing may be committed to the table where it was opened, as a clause."""
    if found.is_encrypted:
        return told("The table is encrypted, and a commit would need its keys")
    if same(store, found.location):
        return None
    return told(
        "The table was moved or copied: its metadata names files at {location}, so engines look there (Spark's "
        "rewrite_table_path and register_table make a copy a table of its own)",
        location=found.location,
    )


def above(store: Store, pinned: str, place: Callable[[Metadata], TableLocation]) -> tuple[Store, str]:
    """The table of one metadata file that lies in a directory of its own (write.metadata.path), and the path in it."""
    if "/" in pinned or not store.is_local or store.size(pinned) is None:
        return store, pinned
    try:
        root = place(documents.read(store, pinned)).store
    except SnapscopeError:  # said to who reads the file
        return store, pinned
    own = f"{root.location}/"
    if not root.is_local or not store.location.startswith(own):
        return store, pinned
    return root, f"{store.location.removeprefix(own)}/{pinned}"


def _lists(found: Metadata) -> list[str]:
    """A few of the table's manifest lists, by their paths under its location; empty where there are none."""
    named = TableLocation(Store("."), normal(found.location))
    newest = sorted(found.snapshots.values(), key=lambda each: -each.time_ms)
    known = [each.manifest_list for each in newest if each.manifest_list is not None] or [
        path for each in newest for path in each.manifests
    ]
    return [path for each in known[:3] if not urls.is_url(path := named.path(each)) and not path.startswith("/")]


def _roots(store: Store, pinned: str | None, lists: list[str]) -> list[Store]:
    """Where the copy's directory may begin: where it was opened, or above the directory that its metadata is in."""
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
    except SnapscopeError:  # a place that cannot be looked at is none that files can be read from
        return False
