"""A real Hive Metastore on this machine: PySpark's own jars and Derby, in a JVM of its own.

    with Metastore(directory) as hive:      # hive.uri: thrift://127.0.0.1:PORT; restart() keeps what it knows
        ...

Invariant: nothing here judges; the engine that keeps locks and pointers is the real one.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pyspark

from tests.engines.java import JAVA_FLAGS, find_java
from tests.support.ports import free_port

START_S = 300.0
_OPENED = "java.lang java.lang.invoke java.io java.net java.nio java.util java.util.concurrent sun.nio.ch".split()
_LOCKS = """
connect 'jdbc:derby:;databaseName={database};create=true';
create table TXNS (TXN_ID bigint primary key, TXN_STATE char(1) not null, TXN_STARTED bigint not null,
  TXN_LAST_HEARTBEAT bigint not null, TXN_USER varchar(128) not null, TXN_HOST varchar(128) not null,
  TXN_AGENT_INFO varchar(128), TXN_META_INFO varchar(128), TXN_HEARTBEAT_COUNT integer);
create table TXN_COMPONENTS (TC_TXNID bigint references TXNS (TXN_ID), TC_DATABASE varchar(128) not null,
  TC_TABLE varchar(128), TC_PARTITION varchar(767), TC_OPERATION_TYPE char(1) not null);
create table NEXT_TXN_ID (NTXN_NEXT bigint not null);
insert into NEXT_TXN_ID values (1);
create table HIVE_LOCKS (HL_LOCK_EXT_ID bigint not null, HL_LOCK_INT_ID bigint not null, HL_TXNID bigint,
  HL_DB varchar(128) not null, HL_TABLE varchar(128), HL_PARTITION varchar(767), HL_LOCK_STATE char(1) not null,
  HL_LOCK_TYPE char(1) not null, HL_LAST_HEARTBEAT bigint not null, HL_ACQUIRED_AT bigint,
  HL_USER varchar(128) not null, HL_HOST varchar(128) not null, HL_HEARTBEAT_COUNT integer,
  HL_AGENT_INFO varchar(128), HL_BLOCKEDBY_EXT_ID bigint, HL_BLOCKEDBY_INT_ID bigint,
  primary key (HL_LOCK_EXT_ID, HL_LOCK_INT_ID));
create table NEXT_LOCK_ID (NL_NEXT bigint not null);
insert into NEXT_LOCK_ID values (1);
create table AUX_TABLE (MT_KEY1 varchar(128) not null, MT_KEY2 bigint not null, MT_COMMENT varchar(255),
  primary key (MT_KEY1, MT_KEY2));
create table COMPLETED_TXN_COMPONENTS (CTC_TXNID bigint, CTC_DATABASE varchar(128) not null, CTC_TABLE varchar(128),
  CTC_PARTITION varchar(767));
"""
"""What a lock takes; the Metastore makes all other tables itself."""


class Metastore:
    """A Metastore that keeps what it knows in a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port = directory, free_port()
        self.uri = f"thrift://127.0.0.1:{self.port}"
        directory.mkdir(parents=True)
        database = directory / "metastore_db"
        settings = {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={database};create=true",
            "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
            "datanucleus.schema.autoCreateAll": "true",
            "datanucleus.connectionPoolingType": "NONE",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": f"file://{directory}/warehouse",
            "hive.metastore.uris": "",
            "hive.async.log.enabled": "false",
        }
        rows = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in settings.items())
        (directory / "hive-site.xml").write_text(f"<configuration>{rows}</configuration>")
        (directory / "hive-log4j2.properties").write_text(
            "status=error\nrootLogger.level=error\nrootLogger.appenderRef.out.ref=out\n"
            "appender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n"
        )
        (directory / "locks.sql").write_text(_LOCKS.format(database=database))
        self._java("org.apache.derby.tools.ij", str(directory / "locks.sql")).wait(START_S)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Metastore:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._process = self._java("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self.port))
        deadline = time.monotonic() + START_S
        while True:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The Metastore did not start: {(self.directory / 'out.log').read_text()[-2000:]}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def _java(self, *words: str) -> subprocess.Popen[bytes]:
        java, _ = find_java()
        jars = Path(pyspark.__file__).parent / "jars"
        opens = [f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in _OPENED]
        path = os.pathsep.join([str(self.directory), str(jars / "*")])
        with (self.directory / "out.log").open("ab") as log:
            return subprocess.Popen(
                [
                    java,
                    *JAVA_FLAGS,
                    *opens,
                    f"-Dderby.stream.error.file={self.directory}/derby.log",
                    "-cp",
                    path,
                    *words,
                ],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
