"""Commits: a new metadata document, derived from the current one, replaces exactly that.

Invariant: for a Hadoop table one writer wins each version; the result of a write is read back, never assumed. In HDFS a
rename to a taken name fails, Java's too; on a local disk Java's replaces the file, so we wait for it. Source:
`HadoopTableOperations` of Iceberg 1.11.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Mapping

import pyarrow as pa

from core.errors import Conflict, NotFound, SnapscopeError, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import ABSOLUTE, DIRECTORY, TableLocation
from core.formats.iceberg.locations import is_metadata
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import HINT, LAG_S, TEMPORARY, find, version_of
from core.formats.iceberg.retention import old_metadata as fallen
from core.formats.iceberg.write.edits import edited, has, part, removed_snapshots, written
from core.formats.table_format import Unknown
from core.messages import Reason, message
from core.model import codes
from core.model.effects import SwapMetadata
from core.model.history import HistorySummary
from core.model.references import ObjectKind
from core.storage import presence
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

RIVAL_S = 10.0
_CODEC = "write.metadata.compression-codec"


# after a commit ------------------------------------------------------------------------------------------------------


def check_replaced(store: Store, place: TableLocation, found: Metadata, edit: SwapMetadata) -> None:
    """Raise `Conflict` if a ref unknown to the plan named a snapshot that the commit removed.

    The metadata that was replaced is the newest one in the log that still has a removed snapshot.
    """
    removed = removed_snapshots(edit) - found.snapshots.keys()
    known = {name for field, name in map(part, dict(edit.removes)) if field == "refs"}
    for _, file in reversed(found.metadata_log) if removed else ():
        try:
            before = _version(store, place, file)
        except SnapscopeError as error:
            raise Conflict(
                "The metadata that the commit replaced cannot be read, so what the commit removed cannot "
                "be determined ({error}); no file was deleted.",
                error=error,
                path=file,
                remedy="Undo this run, or restore the file and resume it.",
            ) from error
        if before.snapshots.keys() & removed:
            if lost := [
                ref.name for ref in before.refs.values() if ref.snapshot_id in removed and ref.name not in known
            ]:
                raise Conflict(
                    (
                        "{lost} was created while the commit ran and points to a snapshot that expires; no file "
                        "was deleted."
                    ),
                    lost=", ".join(lost),
                    path=file,
                    remedy="Undo this run, then make a new plan.",
                )
            return
    if removed:
        raise Conflict(
            "The metadata-log does not contain the metadata that the commit replaced, so what the "
            "commit removed cannot be determined; no file was deleted.",
            path=found.path,
            remedy="Undo this run, then make a new plan.",
        )


def was_made(store: Store, place: TableLocation, found: Metadata, edit: SwapMetadata, base: str) -> bool:
    """Return whether any version after `base` has the edit.

    Also True if that cannot be determined, so that the edit is not committed again.
    """
    version, files = found, [file for _, file in found.metadata_log]
    while version.path != base:
        if has(version, edit):
            return True
        if not files:
            return True
        try:
            version = _version(store, place, files.pop())
        except NotFound:
            return True
    return False


def _version(store: Store, place: TableLocation, file: str) -> Metadata:
    path = place.path(file)
    return documents.parse(read_at(store, path), path)


def at(store: Store, path: str) -> tuple[Store, str]:
    """Return the store and path of a file of the table, or of a file elsewhere given by its URI."""
    if not ABSOLUTE.match(path):
        return store, path
    directory, _, name = path.rpartition("/")
    return Store.named(directory), name


def read_at(store: Store, path: str) -> bytes:
    where, name = at(store, path)
    return where.read(name, TABLE_METADATA)


def read_current(current: Callable[[], str], read: Callable[[str], bytes]) -> tuple[bytes, str]:
    """Read the metadata file that a catalog names; if it was replaced and deleted meanwhile, the next one.

    Returns its content and name.
    """
    ends, path = time.monotonic() + LAG_S, current()
    while True:
        try:
            return read(path), path
        except NotFound:
            before, path = path, current()
            if path == before and time.monotonic() > ends:
                raise
            ends = ends if path == before else time.monotonic() + LAG_S
            time.sleep(presence.PAUSE_S)


def old_metadata(place: TableLocation, history: HistorySummary) -> dict[str, int]:
    """Return paths and sizes of the metadata files that the next commit drops from the log and deletes."""
    paths = [place.path(each) for each in fallen(history.heads)]
    is_own = place.ours(pa.array(paths, pa.string())).to_pylist()
    names = [path for path, own in zip(paths, is_own, strict=True) if own and _is_named(path)]
    held = history.objects_among(names) if names else ()
    names = [path for path in names if path not in held]
    return place.sizes(list(dict.fromkeys(names)))


def outside(place: TableLocation, found: Metadata, kinds: Mapping[str, str]) -> Callable[[str], Reason | None]:
    """Return a function that says why a path is not a deletable file of the table.

    Hostile metadata may name any path, including the table's own metadata.
    """
    needed = {place.path(file) for _, file in found.metadata_log} | {found.path, f"{DIRECTORY}/{HINT}"}

    def why_not(path: str) -> Reason | None:
        if path in needed or (_is_named(path) and kinds.get(path) != ObjectKind.METADATA):
            return codes.NEEDED_METADATA()
        return None if place.ours(pa.array([path]))[0].as_py() else codes.NO_PLACE()

    return why_not


def _is_named(path: str) -> bool:
    return is_metadata(path.rpartition("/")[2])


def write_new(store: Store, path: str, content: bytes) -> None:
    """Create a metadata file that is not referenced yet."""
    own_store, name = at(store, path)
    own_store.create(name, content)


def withdraw(store: Store, path: str) -> None:
    """Delete a metadata file that was never referenced."""
    own_store, name = at(store, path)
    own_store.delete(name)


def is_packed(found: Metadata) -> bool:
    """Return whether the table's metadata is compressed. Raises `Unsupported` for an unknown codec."""
    packed = found.properties.get(_CODEC, "none").lower()
    if packed not in ("none", "gzip"):
        raise Unsupported(
            "{codec} is {packed!r}, which no engine supports.",
            codec=_CODEC,
            packed=packed,
            path=found.path,
            remedy="Set it to none or gzip with the table's own engine.",
        )
    return packed == "gzip"


# Hadoop tables -------------------------------------------------------------------------------------------------------


def publish(store: Store, found: Metadata, edit: SwapMetadata) -> str | None:
    """Write the next version of a Hadoop table; return its path, or None if another writer has that version.

    Raises `Unknown` if it is unclear whether it was written, or if another writer overwrote it.
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
    if not store.is_local:
        store.probe([DIRECTORY])
    try:
        store.create(path, content)
    except Conflict:
        return None
    except (SnapscopeError, OSError) as error:
        failed = error
    _read_back(store, path, content, failed)
    return path


def repair_hint(store: Store) -> None:
    """Make the hint name the newest version, because a hint that names a deleted version breaks readers.

    Hadoop's checksum file of the old hint is deleted, since it would no longer match.
    """
    store.delete(f"{DIRECTORY}/.{HINT}.crc")
    store.put(f"{DIRECTORY}/{HINT}", str(version_of(find(store)[0])).encode())


def _read_back(store: Store, path: str, content: bytes, failed: BaseException | None) -> None:
    try:
        if failed is None and not store.guarantees.renames:
            _outwait(store)
        now = store.read(path, TABLE_METADATA)
        is_current = now == content and _is_current(store, path)
    except SnapscopeError as error:
        raise Unknown(
            message(
                "It cannot be determined whether {path} was written ({failed}); no file was deleted.",
                path=path,
                failed=failed or error,
            ),
            path=store.location,
            remedy=message("Re-check the table, then resume or undo this run."),
        ) from (failed or error)
    if now != content:
        raise Unknown(
            message("Another writer overwrote {path} right after it was published; no file was deleted.", path=path),
            path=store.location,
            remedy=message("Re-check the table, then resume or undo this run."),
        )
    if not is_current:
        raise Unknown(
            message("Another writer published the version of {path} at the same time; no file was deleted.", path=path),
            path=store.location,
            remedy=message("Re-check the table, then resume or undo this run."),
        )


def _is_current(store: Store, path: str) -> bool:
    """Return whether readers find this version, or later ones that follow it, and no other file is named by it.

    A plain and a compressed file have different names: both may be published where another writer changes the codec. A
    version may also be free because it was deleted after many others, when we had read the one before.
    """
    names = [entry.name for entry in store.ls(DIRECTORY) if version_of(f"{DIRECTORY}/{entry.name}") == version_of(path)]
    if any(name != path.rpartition("/")[2] for name in names):
        return False
    newest = find(store)[0]
    if newest == path:
        return True
    later = documents.parse(store.read(newest, TABLE_METADATA), newest)
    return any(file.rpartition("/")[2] == path.rpartition("/")[2] for _, file in later.metadata_log)


def _outwait(store: Store) -> None:
    """Wait for writers that may still rename a file over what was just published.

    Java writes `<uuid>.metadata.json`, checks that the version is free, and renames: on a local disk this replaces
    whatever was created in between. A writer that checked before us has such a file until it is done; a file left by a
    crash is waited for in vain, for 10 s.
    """

    def rivals() -> set[str]:
        return {entry.name for entry in store.ls(DIRECTORY) if TEMPORARY.fullmatch(entry.name)}

    deadline = time.monotonic() + RIVAL_S
    remaining = rivals()
    while remaining and time.monotonic() < deadline:
        time.sleep(0.002)
        remaining &= rivals()
