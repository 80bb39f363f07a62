"""Commits: a new metadata document, made of the raw one, put in the place of exactly the one it was made from.

Law: of a Hadoop table one writer wins each version; what became of a write is read back, never assumed.
Source: `HadoopTableOperations` of Iceberg 1.11.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Collection, Mapping

import pyarrow as pa

from core.errors import Conflict, NotFound, SnapscopeError, Unsupported
from core.formats.iceberg import metadata as documents
from core.formats.iceberg.file_paths import ABSOLUTE, TableLocation
from core.formats.iceberg.metadata import Metadata
from core.formats.iceberg.references import DIRECTORY, HINT, LAG_S, TEMPORARY, find, is_metadata, version_of
from core.formats.iceberg.retention import old_metadata as fallen
from core.formats.iceberg.write.edits import edited, has, part, removed_snapshots, written
from core.formats.table_format import Unknown
from core.messages import Reason, told
from core.model import codes
from core.model.effects import SwapMetadata
from core.model.references import Heads, ObjectKind
from core.storage import presence
from core.storage.size_limits import TABLE_METADATA
from core.storage.store import Store

RIVAL_S = 10.0
_CODEC = "write.metadata.compression-codec"


# afterwards ----------------------------------------------------------------------------------------------------------


def check_replaced(store: Store, place: TableLocation, found: Metadata, edit: SwapMetadata) -> None:
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
                "The metadata that the commit replaced cannot be read, so nobody knows what it took away "
                "({error}); no file was deleted.",
                error=error,
                path=file,
                remedy="Undo this run, or restore the file and resume.",
            ) from error
        if before.snapshots.keys() & gone:
            if lost := [ref.name for ref in before.refs.values() if ref.snapshot_id in gone and ref.name not in known]:
                raise Conflict(
                    "{lost} named a snapshot that goes, and was made while the commit ran; no file was deleted.",
                    lost=", ".join(lost),
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


def was_made(store: Store, place: TableLocation, found: Metadata, edit: SwapMetadata, base: str) -> bool:
    """Did any version after `base` have the edit? True as well where that cannot be known: what is there stays then."""
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
    """The store of a file of the table, or of one elsewhere by its whole URI, and its path there."""
    if not ABSOLUTE.match(path):
        return store, path
    directory, _, name = path.rpartition("/")
    return Store.named(directory), name


def read_at(store: Store, path: str) -> bytes:
    where, name = at(store, path)
    return where.read(name, TABLE_METADATA)


def read_current(current: Callable[[], str], read: Callable[[str], bytes]) -> tuple[bytes, str]:
    """The metadata file that a catalog names, and its name. Replaced and deleted meanwhile, the next one is read."""
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


def old_metadata(place: TableLocation, heads: Heads, held: Collection[str]) -> dict[str, int]:
    """Paths and bytes of the metadata files that fall out of the log with the next commit and are deleted then."""
    paths = [place.path(each) for each in fallen(heads)]
    mine = place.ours(pa.array(paths, pa.string())).to_pylist()
    names = [path for path, own in zip(paths, mine, strict=True) if own and path not in held and _is_named(path)]
    return place.sizes(list(dict.fromkeys(names)))


def outside(place: TableLocation, found: Metadata, kinds: Mapping[str, str]) -> Callable[[str], Reason | None]:
    """Why a path is none of the table's files: hostile metadata may name anything, the metadata itself too."""
    needed = {place.path(file) for _, file in found.metadata_log} | {found.path, f"{DIRECTORY}/{HINT}"}

    def why_not(path: str) -> Reason | None:
        if path in needed or (_is_named(path) and kinds.get(path) != ObjectKind.METADATA):
            return codes.NEEDED_METADATA()
        return None if place.ours(pa.array([path]))[0].as_py() else codes.NO_PLACE()

    return why_not


def _is_named(path: str) -> bool:
    return is_metadata(path.rpartition("/")[2])


def write_new(store: Store, path: str, content: bytes) -> None:
    """A metadata file that nothing names yet."""
    own_store, name = at(store, path)
    own_store.create(name, content)


def withdraw(store: Store, path: str) -> None:
    """Take a metadata file away that nothing ever named."""
    own_store, name = at(store, path)
    own_store.delete(name)


def is_packed(found: Metadata) -> bool:
    """Does the table want its metadata packed?"""
    packed = found.properties.get(_CODEC, "none").lower()
    if packed not in ("none", "gzip"):
        raise Unsupported("{codec} is {packed!r}, which no engine knows.", codec=_CODEC, packed=packed, path=found.path)
    return packed == "gzip"


# Hadoop tables -------------------------------------------------------------------------------------------------------


def publish(store: Store, found: Metadata, edit: SwapMetadata) -> str | None:
    """Write the next version of a Hadoop table; its path, None where another writer has that version.

    `Unknown` where nobody can say whether it was written, or where another wrote over it.
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
    """Let the hint name the newest version: one that names a version that is gone ends readers. Hadoop keeps a check
    sum beside it, which would be another file's then."""
    store.delete(f"{DIRECTORY}/.{HINT}.crc")
    store.put(f"{DIRECTORY}/{HINT}", str(version_of(find(store)[0])).encode())


def _read_back(store: Store, path: str, content: bytes, failed: BaseException | None) -> None:
    try:
        if failed is None:
            _outwait(store)
        now = store.read(path, TABLE_METADATA)
    except SnapscopeError as error:
        raise Unknown(
            told(
                "It is not known whether {path} was written ({failed}); no file was deleted.",
                path=path,
                failed=failed or error,
            ),
            path=store.location,
            remedy=told("Look at the table again; then resume or undo this run."),
        ) from (failed or error)
    if now != content:
        raise Unknown(
            told("Another writer wrote over {path} right after it was published; no file was deleted.", path=path),
            path=store.location,
            remedy=told("Look at the table again; then resume or undo this run."),
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
