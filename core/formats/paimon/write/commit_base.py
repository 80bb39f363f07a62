"""What a commit is based on: the files of the newest snapshot, and earlier commits. Only reads.

Invariant: a snapshot that expired since the listing is skipped where it no longer matters, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from core.errors import Invalid, NotFound, SnapscopeError, Unsupported
from core.formats import columnar
from core.formats.paimon import binary_row, layout, references
from core.formats.paimon.write import catalog_commits, documents, manifest_encoding
from core.formats.paimon.write.manifest_encoding import Record
from core.formats.paimon.write.publish import Head, snapshot_ids
from core.messages import message
from core.model.references import Snapshot
from core.storage.conditional import HDFS
from core.storage.size_limits import MANIFEST
from core.storage.store import Store


def live_entries(store: Store, snapshot: Snapshot | None) -> list[Record]:
    """Return the ADD entries of all live files of a snapshot, with every field."""
    return [] if snapshot is None else manifest_encoding.live(read_listed(store, base(store, snapshot)))


def delta_entries(store: Store, snapshot: Snapshot) -> list[Record]:
    """Return what one commit changed: its ADD and DELETE entries, with every field."""
    return read_listed(store, _listed(store, snapshot, "delta"))


def difference(store: Store, live: list[Record], target: Snapshot) -> tuple[list[Record], list[Record]]:
    """Return the live files that another snapshot does not have, and those it has that are not live."""
    wanted = {manifest_encoding.identity(entry): entry for entry in live_entries(store, target)}
    live_keys = {manifest_encoding.identity(entry) for entry in live}
    removed = [entry for entry in live if manifest_encoding.identity(entry) not in wanted]
    return removed, [entry for key, entry in wanted.items() if key not in live_keys]


def last_of(store: Store, branch: str, user: str, kind: str, *, after: int = 0) -> Snapshot | None:
    """Return the newest retained commit of a user and kind with an id above `after`."""
    for number in reversed(snapshot_ids(store, branch)):
        if number <= after:
            break
        path = layout.reference(branch, layout.SNAPSHOT, number)
        try:
            found = references.snapshot_of(str(number), store.read(path), path)
        except NotFound:
            break  # expired since the listing, and so are all before it
        if (found.commit_user, found.kind) == (user, kind):
            return found
    return None


def base(store: Store, snapshot: Snapshot | None) -> list[Record]:
    """Return the base list of the next commit: base and delta of this snapshot, in this order."""
    return [] if snapshot is None else [*_listed(store, snapshot, "base"), *_listed(store, snapshot, "delta")]


def _listed(store: Store, snapshot: Snapshot, which: str) -> list[Record]:
    name = snapshot.fields.get(f"{which}ManifestList")
    if name is None:
        return []
    path = f"{layout.MANIFEST}/{name}"
    return manifest_encoding.read_list(_avro(store, path), path)


def _avro(store: Store, path: str) -> bytes:
    """A file that a commit copies records of. No engine reads a table whose manifests have several formats."""
    data = store.read(path, MANIFEST)
    if data.startswith(tuple(columnar.MAGIC)):
        raise Unsupported(
            "Manifests are written in Avro only, and this one is in ORC or Parquet.",
            path=path,
            remedy="Make this change with the table's own engine.",
        )
    return data


def read_listed(store: Store, listed: Iterable[Record]) -> list[Record]:
    """Return the entries of these manifests, one after another."""
    found: list[Record] = []
    for each in listed:
        path = f"{layout.MANIFEST}/{layout.plain_name(each['_FILE_NAME'], layout.MANIFEST)}"
        found += manifest_encoding.read_manifest(_avro(store, path), path)
    return found


def matcher(head: Head, partitions: Sequence[Mapping[str, Any]]) -> Callable[[bytes], bool]:
    """Return a test for stored partitions that match one of those given. Raises `Invalid` for an unknown key."""
    keys = head.schema.partition_keys
    for wanted in partitions:
        if unknown := [key for key in wanted if key not in keys]:
            raise Invalid(
                "'{unknown}' is not a partition key of this table; its keys are {keys}.",
                unknown=unknown[0],
                keys=", ".join(keys) or message("none"),
            )
    types = head.partition_types
    # compare stored values, so that 0.0 and -0.0, or null and "", are different
    stored = [{key: binary_row.encode((value,), (head.types[key],)) for key, value in p.items()} for p in partitions]

    def matches(partition: bytes) -> bool:
        values = dict(zip(keys, binary_row.decode(partition, types), strict=True))
        return any(
            all(binary_row.encode((values[key],), (head.types[key],)) == value for key, value in wanted.items())
            for wanted in stored
        )

    return matches


def rows(records: Iterable[Record]) -> int:
    return sum(record["_FILE"]["_ROW_COUNT"] for record in records)


def total_rows(store: Store, previous: Snapshot | None) -> int:
    """Return the number of rows in all live files."""
    if previous is None:
        return 0
    if previous.total_rows is not None:
        return previous.total_rows
    return rows(live_entries(store, previous))  # Paimon 0.3 and earlier


def is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two documents are the same snapshot, in whatever form a server has written it.

    Each try of a commit has lists of its own."""
    return all(one.get(each) == other.get(each) for each in ("baseManifestList", "deltaManifestList"))


def refuse_indexed(store: Store, previous: Snapshot) -> None:
    """Raise `Unsupported` if index files may refer to the files to be removed."""
    if previous.fields.get("indexManifest"):
        raise Unsupported(
            "The table has index files that may refer to the files to be replaced.",
            path=store.location,
            remedy="Make this change with the table's own engine.",
        )


def refuse_unlocked(store: Store, head: Head) -> None:
    """Raise the error of `unlocked`, if any."""
    if has_own_creates(store):
        return
    paths = [layout.reference(head.branch, layout.SNAPSHOT, n) for n in snapshot_ids(store, head.branch)]
    snapshots = []
    for path, content in store.read_many(paths).items():
        if isinstance(content, NotFound):
            continue  # expired since the listing
        if isinstance(content, SnapscopeError):
            raise content
        snapshots.append(references.snapshot_of(None, content, path))
    if error := unlocked(store, head.branch, snapshots):
        raise error


def has_own_creates(store: Store) -> bool:
    """Return whether the writers of every engine create snapshots exclusively on this store.

    In HDFS they rename a temporary file, which replaces none (Java Paimon: `RenamingSnapshotCommit`, without a lock).
    Writers that hold the lock of their catalog, as commits here then do, are alone.
    """
    return store.is_local or store.protocol in (*HDFS, "memory") or catalog_commits.is_known(store)


def unlocked(store: Store, branch: str, snapshots: Iterable[Snapshot]) -> Unsupported | None:
    """Return an error if another engine has written to this table on an object store.

    Such writers check that an id is free and then write it, protected by their catalog's lock. That lock is not known
    here, so either writer could replace the other's snapshot.
    """
    for found in () if has_own_creates(store) else snapshots:
        if (writer := found.fields.get("writerVersion")) != documents.WRITER:
            return Unsupported(
                "Snapshot {id} was committed by another engine ({writer}), which on an object store "
                "coordinates writers with its catalog's lock; Snapscope cannot take that lock.",
                id=found.id,
                writer=writer or found.commit_user,
                path=layout.reference(branch, layout.SNAPSHOT, found.id),
                remedy="Write to this table with its own engine.",
            )
    return None
