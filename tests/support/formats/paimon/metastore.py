"""A Hive Metastore of a few lines, in this process: databases, tables and exclusive locks, by the same protocol."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hive_metastore import ttypes
from hive_metastore.ThriftHiveMetastore import Processor
from thrift.protocol.TBinaryProtocol import TBinaryProtocolFactory
from thrift.server.TServer import TThreadedServer
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransportFactory

from tests.support.builders import TableBuilder
from tests.support.formats.paimon.tables import four_commits
from tests.support.ports import free_port

PAIMON = "org.apache.paimon.hive.mapred.PaimonInputFormat"


def table(database: str, name: str, location: str | None, kind: str = PAIMON, **parameters: str) -> Any:
    return ttypes.Table(
        dbName=database, tableName=name, parameters=parameters,
        sd=ttypes.StorageDescriptor(location=location, inputFormat=kind),
    )  # fmt: skip


@dataclass
class Metastore:
    """Tables by database and name; `held` are locks by the table's names, `asked` the calls that took locks.

    `answers`: cleared, locks are granted and the answer waits."""

    tables: dict[str, dict[str, Any]]
    closed: set[str] = field(default_factory=set)
    held: dict[tuple[str, str], int] = field(default_factory=dict)
    waiting: dict[int, tuple[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    uri: str = ""
    answers: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.answers.set()

    def get_all_databases(self) -> list[str]:
        return list(self.tables)

    def get_database(self, name: str) -> Any:
        if name not in self.tables:
            raise ttypes.NoSuchObjectException(f"database {name}")
        if name in self.closed:
            raise ttypes.MetaException(f"{name} is closed")
        return ttypes.Database(name=name)

    def get_all_tables(self, db_name: str) -> list[str]:
        return list(self.tables[db_name])

    def get_table_objects_by_name(self, dbname: str, tbl_names: list[str]) -> list[Any]:
        return [self.tables[dbname][each] for each in tbl_names]

    def get_table(self, dbname: str, tbl_name: str) -> Any:
        found = self.tables.get(dbname, {}).get(tbl_name.lower())
        if found is None:
            raise ttypes.NoSuchObjectException(f"{dbname}.{tbl_name} table not found")
        return found

    def lock(self, rqst: Any) -> Any:
        (part,) = rqst.component
        assert (part.type, part.level) == (ttypes.LockType.EXCLUSIVE, ttypes.LockLevel.TABLE)
        number = len(self.asked) + 1
        self.waiting[number] = (part.dbname, part.tablename)
        found = self._state(number)
        self.asked.append("lock")
        self.answers.wait(60)
        return found

    def check_lock(self, rqst: Any) -> Any:
        return self._state(rqst.lockid)

    def unlock(self, rqst: Any) -> None:
        self.asked.append("unlock")
        self.held = {table: number for table, number in self.held.items() if number != rqst.lockid}

    def _state(self, number: int) -> Any:
        is_ours = self.held.setdefault(self.waiting[number], number) == number
        return ttypes.LockResponse(number, ttypes.LockState.ACQUIRED if is_ours else ttypes.LockState.WAITING)


class _Socket(TServerSocket):
    """Ends the thread of the server when it is closed; the server itself would ask forever."""

    def accept(self) -> Any:
        try:
            return super().accept()
        except (AttributeError, OSError):
            raise SystemExit from None


@contextmanager
def serving(tables: list[Any]) -> Iterator[Metastore]:
    """Serve these tables until the block ends."""
    by_name: dict[str, dict[str, Any]] = {}
    for each in tables:
        by_name.setdefault(each.dbName, {})[each.tableName] = each
    port, found = free_port(), Metastore(by_name)
    found.uri = f"thrift://127.0.0.1:{port}"
    socket = _Socket("127.0.0.1", port)
    socket.listen()
    server = TThreadedServer(
        Processor(found), socket, TBufferedTransportFactory(), TBinaryProtocolFactory(), daemon=True
    )
    socket.listen = lambda: None  # it listens before the first request is sent

    def serve() -> None:
        with suppress(SystemExit):
            server.serve()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield found
    finally:
        socket.close()


@pytest.fixture
def lake(tmp_path: Path) -> TableBuilder:
    return four_commits(tmp_path / "any where" / "orders")


@pytest.fixture
def server(lake: TableBuilder, tmp_path: Path) -> Iterator[Metastore]:
    tables = [
        table("shop", "orders", f"file:{lake.root}"),
        table("shop", "moved", "file:/none", paimon_location=f"file:{lake.root}"),
        table("shop", "gone", f"file:{tmp_path}/gone"),
        table("shop", "other", f"file:{tmp_path}/other", "org.apache.hadoop.mapred.TextInputFormat"),
        table("closed", "t", "file:/t"),
    ]
    with serving(tables) as found:
        found.closed.add("closed")
        configure(found.uri)
        yield found


def configure(uri: str, *more: str) -> None:
    Path(os.environ["SNAPSCOPE_CONFIG"]).write_text(
        "\n".join(["[catalog.meta]", "type = 'paimon-hive'", f"uri = '{uri}'", *more])
    )


def names(lake: TableBuilder) -> set[str]:
    return {str(each.relative_to(lake.root)) for each in lake.root.rglob("*") if each.is_file()}
