"""Paimon's Hive catalog: which tables a Hive Metastore lists, where they lie, and the lock of their writers.

The Metastore has names and locations; snapshots, tags and branches are files in the table's directory. Writers commit
by renaming, as without a catalog. With `lock.enabled`, which is the default on object stores, they hold an exclusive
lock of the Metastore on the table meanwhile; it is taken here, too.
Source: `HiveCatalog`, `HiveCatalogLock`, `LocationHelper`, `AbstractCatalog.lockEnabled` of Paimon 1.4.

Invariant: of the Metastore, only locks are written, and each that was taken is released or expires by itself.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from core.credentials import masked
from core.errors import Conflict, Corrupt, ErrorCode, NotFound, Unsupported
from core.formats import catalog_answers
from core.installation import extra_command
from core.messages import message
from core.paths import user_name
from core.settings_file import NamedCatalog
from core.urls import is_object_store

TYPE = "paimon-hive"
TIMEOUT_S = 20.0  # without a byte
LATE_S = 600.0  # of the question for a lock, so that one that is granted late is released; it expires in less
LOCK_S = 60.0  # the longest wait for another writer's lock
MOST_BYTES = 64 << 20  # of one text or one list of an answer
_BATCH = 300  # tables of one request
_FORMAT = "org.apache.paimon.hive.mapred.PaimonInputFormat"
_LOCATION = "paimon_location"  # `location-in-properties`
_CHECK = message("Check its uri in the settings file, and the connection.")
T = TypeVar("T")

# Its errors are raised too. Without a handler, Python would print them where a program has set up no logging.
logging.getLogger("thrift").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class HiveTable:
    """A table of the Metastore. `location`: as the Metastore spells it; None if it is not a Paimon table."""

    database: str
    name: str
    location: str | None


def databases(catalog: NamedCatalog) -> list[str]:
    """Return the databases of a catalog."""
    return _asked(catalog, lambda client: sorted(client.get_all_databases()))


def tables(catalog: NamedCatalog, database: str) -> list[HiveTable]:
    """Return the Paimon tables of a database. Raises `NotFound` if there is no such database."""

    def ask(client: Any) -> list[HiveTable]:
        client.get_database(database)
        names = sorted(client.get_all_tables(database))
        found = [
            _entry(each)
            for first in range(0, len(names), _BATCH)
            for each in client.get_table_objects_by_name(database, names[first : first + _BATCH])
        ]
        return sorted((each for each in found if each.location is not None), key=lambda each: each.name)

    return _asked(catalog, ask)


def table(catalog: NamedCatalog, database: str, name: str) -> HiveTable:
    """Return one Paimon table. Raises `NotFound` if there is none of this name."""
    found = _asked(catalog, lambda client: _entry(client.get_table(database, name)))
    if found.location is None:
        raise NotFound("{name} is not a Paimon table.", name=f"{database}.{name}", code=ErrorCode.NO_TABLE)
    return found


def is_locked(catalog: NamedCatalog, location: str) -> bool:
    """Return whether writers of this catalog lock a table at a location."""
    found = catalog.options.get("lock-enabled")
    return found if isinstance(found, bool) else is_object_store(catalog.text("warehouse") or location)


@contextmanager
def locked(catalog: NamedCatalog, entry: HiveTable) -> Iterator[None]:
    """Hold the Metastore's exclusive lock on a table. Raises `Conflict` if others keep it."""
    from hive_metastore import ttypes

    state = ttypes.LockState
    part = ttypes.LockComponent(
        type=ttypes.LockType.EXCLUSIVE, level=ttypes.LockLevel.TABLE, dbname=entry.database, tablename=entry.name
    )
    request = ttypes.LockRequest(component=[part], user=user_name(), hostname=socket.gethostname())
    question = _LockQuestion(request)
    try:
        found = _asked(catalog, question.ask, LATE_S)
    except BaseException:
        if (late := question.give_up()) is not None:
            _release(catalog, late)
        raise
    mine: int = found.lockid
    try:
        until, pause_s = time.monotonic() + LOCK_S, 0.05
        while found.state == state.WAITING and time.monotonic() < until:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 2.0)
            found = _asked(catalog, lambda client: client.check_lock(ttypes.CheckLockRequest(lockid=mine)))
        if found.state != state.ACQUIRED:
            raise Conflict(
                "Another writer holds the lock of {name} in the catalog {catalog}; nothing was committed.",
                name=f"{entry.database}.{entry.name}",
                catalog=catalog.name,
                path=entry.location,
                remedy="Try again when that writer is done.",
            )
        yield
    finally:
        _release(catalog, mine)


def _release(catalog: NamedCatalog, number: int) -> None:
    with contextlib.suppress(Corrupt, NotFound):  # a lock without heartbeats expires
        _asked(catalog, lambda client: _unlock(client, number))


def _unlock(client: Any, number: int) -> None:
    from hive_metastore import ttypes

    client.unlock(ttypes.UnlockRequest(lockid=number))


class _LockQuestion:
    """A request for a lock, sent in a thread. If it was given up before the answer, that thread releases the lock."""

    def __init__(self, request: Any) -> None:
        self._request, self._guard = request, threading.Lock()
        self._is_given_up = False
        self._number: int | None = None

    def ask(self, client: Any) -> Any:
        found = client.lock(self._request)
        with self._guard:
            self._number = found.lockid
            is_late = self._is_given_up
        if is_late:
            _unlock(client, found.lockid)
        return found

    def give_up(self) -> int | None:
        """Return the number of a lock that was granted before; whoever gives up must release it."""
        with self._guard:
            self._is_given_up = True
            return self._number


def _entry(found: Any) -> HiveTable:
    """Convert a table of the Metastore; see `HiveCatalog.isPaimonTable`."""
    storage, parameters = found.sd, found.parameters or {}
    is_ours = storage is not None and storage.inputFormat == _FORMAT
    location = (parameters.get(_LOCATION) or storage.location) if is_ours else None
    if is_ours and not location:
        raise Corrupt("The catalog names no location of {name}.", name=f"{found.dbName}.{found.tableName}")
    return HiveTable(found.dbName, found.tableName, location)


def _asked(catalog: NamedCatalog, ask: Callable[[Any], T], silent_s: float | None = None) -> T:
    """Ask the first server that can be connected to. Its answer may take `silent_s` without a byte."""
    return catalog_answers.ask(catalog.name, catalog.location, lambda: _answer(catalog, ask, silent_s or TIMEOUT_S))


def _answer(catalog: NamedCatalog, ask: Callable[[Any], T], silent_s: float) -> T:
    try:
        from hive_metastore import ttypes
        from hive_metastore.ThriftHiveMetastore import Client
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.Thrift import TException
        from thrift.transport.TSocket import TSocket
        from thrift.transport.TTransport import TBufferedTransport
    except ImportError as error:
        raise Unsupported(
            "Snapscope asks a Hive Metastore through pyiceberg's client, which is missing: {error}.",
            error=error,
            path=catalog.location,
            remedy=message("Install it: {command}", command=extra_command("iceberg")),
            code=ErrorCode.EXTRA_MISSING,
        ) from error
    failed: Exception | None = None
    for host, port in _servers(catalog):
        connection = TSocket(host, port)
        connection.setTimeout(TIMEOUT_S * 1000)
        transport = TBufferedTransport(connection)
        try:
            transport.open()
        except (TException, OSError) as error:
            failed = error
            continue
        connection.setTimeout(silent_s * 1000)
        try:
            limits = {"string_length_limit": MOST_BYTES, "container_length_limit": MOST_BYTES}
            return ask(Client(TBinaryProtocol(transport, **limits)))
        except (ttypes.NoSuchObjectException, ttypes.UnknownDBException) as error:
            raise NotFound(
                "The catalog {name} answers: {said}", name=catalog.name, said=masked(str(error.message)),
                path=catalog.text("uri"), code=ErrorCode.NO_TABLE,
            ) from error  # fmt: skip
        except (TException, OSError, EOFError, ValueError, MemoryError) as error:
            failed = error
            break
        finally:
            transport.close()
    text = getattr(failed, "message", None) or failed
    raise Corrupt(
        "The catalog {name} did not answer: {error}.",
        name=catalog.name,
        error=masked(str(text)),
        path=catalog.text("uri"),
        remedy=_CHECK,
    ) from failed


def _servers(catalog: NamedCatalog) -> list[tuple[str, int]]:
    found = []
    for each in catalog.text("uri").split(","):
        try:
            parts = urlsplit(each.strip())
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError:
            scheme, host, port = "", None, None
        if host is None or port is None or scheme != "thrift":
            raise Unsupported(
                "The uri of the catalog {name} is not thrift://HOST:PORT, or several of them with commas between.",
                name=catalog.name,
                path=each,
                remedy=_CHECK,
            )
        found.append((host, port))
    return found
