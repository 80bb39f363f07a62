"""Tables whose commits the server of a REST catalog publishes, and whether their directories show what it knows.

Engines send the snapshot of a commit to the server, and have it roll back and change branches, which is not done here.
Tags, consumers, expiries and orphans are files that they write and delete themselves. Of an external table everything
is a file.
Source: `CatalogEnvironment`, `CatalogSnapshotCommit`, `AbstractFileStoreTable`, `CatalogUtils` of Paimon 1.4 and 2.0.

Invariant: nothing of a table is changed while the server knows a newest snapshot of any branch that its directory does
not have as the newest, because nobody here would know what that snapshot needs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import NotFound, SnapscopeError
from core.formats.paimon import layout, references
from core.formats.paimon.catalogs import rest
from core.formats.paimon.locations import is_at
from core.formats.paimon.write import commit_base
from core.formats.table_format import Unknown
from core.messages import message
from core.model.actions import Change, OfBranches, Rollback
from core.model.references import MAIN
from core.settings_file import NamedCatalog
from core.storage.store import Store

_ATTEMPTS, _WAIT_S = 5, 0.2  # a server writes the file of a snapshot shortly before or after it knows the snapshot
_BRANCH = f"{layout.BRANCH}-"


def why_elsewhere(catalog: str, change: Change) -> str | None:
    """Return why only an engine can make a change, through the server; None if it is made here."""
    if not isinstance(change, OfBranches) or (isinstance(change, Rollback) and not change.destructive):
        return None
    if isinstance(change, Rollback):
        return message("A rollback that deletes snapshots goes through the catalog {name}.", name=catalog)
    return message("Branches of this table are changed through the catalog {name}.", name=catalog)


def publish(
    catalog: NamedCatalog,
    table: tuple[str, str],
    store: Store,
    branch: str,
    path: str,
    content: bytes,
    statistics: Sequence[Mapping[str, Any]],
) -> bytes | None:
    """Have the server publish a snapshot, as `catalog_commits.Send`. `table`: its database and name.

    Whatever the server answers, the table's directory shows the outcome."""
    client = rest.Client(catalog)
    document = json.loads(content)
    sent = {"tableId": client.table(*table).id, "snapshot": document, "statistics": list(statistics)}
    failed: SnapscopeError | None = None
    is_done = False
    try:
        is_done = client.commit(table[0], _object(table[1], branch), sent)
    except (rest.NotCommitted, NotFound):
        raise
    except SnapscopeError as error:
        failed = error
    try:
        found = store.read(path)
    except NotFound:
        if failed is None and not is_done:
            return None
    except SnapscopeError as error:
        failed = failed or error
    else:
        if commit_base.is_same(references.document(found, path), document):
            return found
        if not is_done:
            return None  # another writer has this id, so ours cannot appear any more
    raise Unknown(
        message(
            "It cannot be determined whether the catalog {name} published {path} ({failed}); nothing was deleted.",
            name=catalog.name,
            path=path,
            failed=message("it says so, but the directory does not show it") if failed is None else failed.message,
        ),
        path=store.location,
        remedy=message("Re-check the table before repeating the change."),
    ) from failed


def why_unlike(catalog: NamedCatalog, database: str, name: str, store: Store) -> str | None:
    """Return how the table that the server knows differs from that in the directory; None if it does not."""
    try:
        client = rest.Client(catalog)
        found = client.table(database, name)
        if not is_at(store, found.path):
            return message("The catalog {name} now has this table at {path}.", name=catalog.name, path=found.path)
        if found.is_external:
            return None
        branches = [each.name for each in store.ls_if_there(layout.BRANCH) if each.is_dir]
        for branch in (MAIN, *sorted(each.removeprefix(_BRANCH) for each in branches if each.startswith(_BRANCH))):
            if (why := _why_unlike(client, database, name, store, branch)) is not None:
                return message("The catalog {name} and the table's directory differ: {why}", name=catalog.name, why=why)
    except SnapscopeError as error:
        return message(
            "It cannot be determined whether the catalog {name} knows newer snapshots: {why}",
            name=catalog.name,
            why=error.message,
        )
    return None


def _why_unlike(client: rest.Client, database: str, name: str, store: Store, branch: str) -> str | None:
    """Return how a branch's newest snapshot in the server differs from that in the directory."""
    why = None
    for attempt in range(_ATTEMPTS):
        time.sleep(_WAIT_S if attempt else 0)
        try:
            served = client.newest_snapshot(database, _object(name, branch))
        except NotFound:
            if branch != MAIN:
                return None  # nobody has committed to it through the server
            served = None
        why = _why_not_empty(store) if served is None else _why_not_newest(store, branch, served)
        if why is None:
            return None
    return why


def _why_not_empty(store: Store) -> str | None:
    for entry in store.ls_if_there(layout.SNAPSHOT):
        if entry.name.startswith(f"{layout.SNAPSHOT}-"):
            return message("The catalog knows no snapshot, but {path} exists.", path=f"{layout.SNAPSHOT}/{entry.name}")
    return None


def _why_not_newest(store: Store, branch: str, served: Mapping[str, Any]) -> str | None:
    """Return why the newest snapshot of the server is not the newest one in the directory."""
    path, later = (layout.reference(branch, layout.SNAPSHOT, served["id"] + step) for step in (0, 1))
    if store.size(later) is not None:
        return message("{path} is newer than the newest snapshot that the catalog knows.", path=later)
    try:
        fields = references.document(store.read(path), path)
    except NotFound:
        return message("The catalog's newest snapshot is {path}, which does not exist.", path=path)
    if commit_base.is_same(fields, served):
        return None
    return message("{path} is not the snapshot that the catalog knows by this id.", path=path)


def _object(name: str, branch: str) -> str:
    """Return how the server names a branch of a table."""
    return name if branch == MAIN else f"{name}$branch_{branch}"
