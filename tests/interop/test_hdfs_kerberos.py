"""A NameNode and a DataNode that ask for Kerberos and encrypt: by a ticket over HDFS's own protocol, by a delegation
token over HTTP. Without either, the error says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import hdfs_server
from tests.engines.hdfs_server import Secure
from tests.engines.java import Missing

pytestmark = [pytest.mark.slow, pytest.mark.engines, pytest.mark.hdfs]
KERBEROS = {"hadoop.security.authentication": "kerberos", "dfs.data.transfer.protection": "privacy"}
PROGRAM = """
import json, sys
from core.errors import SnapscopeError
from core.storage.store import Store
try:
    store = Store(sys.argv[1])
    if sys.argv[2:]:
        store.create("a", b"1")
        store.put("b", b"2")
    print(json.dumps([[each.name, store.read(each.name).decode()] for each in store.ls()]))
except SnapscopeError as error:
    print(json.dumps(f"{error} {error!r}"))
"""


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    try:
        with hdfs_server.running_secure(tmp_path_factory.mktemp("hdfs")) as found:
            yield found
    except Missing as lack:
        pytest.skip(f"engines: {lack}")


def done(secure: Secure, location: str, config: str, *more: str, ticket: Path | None = None) -> object:
    """What a process of its own does: the Kerberos library reads its variables once."""
    home = secure.kerberos.parent
    path = home / "config.toml"
    path.write_text(config)
    path.chmod(0o600)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("KRB5", "HADOOP", "SNAPSCOPE"))
    }
    environment |= {"KRB5_CONFIG": str(secure.kerberos), "KRB5CCNAME": f"FILE:{ticket or home / 'none'}"}
    environment |= {"SNAPSCOPE_CONFIG": str(path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM, location, *more]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def config(location: str, **options: str) -> str:
    return f"[warehouse.w]\nlocation = '{location}'\n" + "".join(f'"{k}" = "{v}"\n' for k, v in options.items())


def test_a_ticket_opens_it_and_a_delegation_token_over_http(secure: Secure) -> None:
    native, web = f"hdfs://{secure.node.native}/lake", f"webhdfs://{secure.node.http}/lake"
    written = done(secure, native, config(native, **KERBEROS), "write", ticket=secure.ticket)
    assert written == [["a", "1"], ["b", "2"]]
    assert done(secure, web, config(web, delegation=secure.token)) == written
    said = done(secure, web, config(web))
    assert "asks for Kerberos over HTTP, or for a delegation token" in str(said)
    said = done(secure, web, config(web, **KERBEROS))
    assert "use hdfs://" in str(said).lower()


def test_without_a_ticket_the_error_says_kinit(secure: Secure) -> None:
    native = f"hdfs://{secure.node.native}/lake"
    said = str(done(secure, native, config(native, **KERBEROS)))
    assert "asks for Kerberos" in said
    assert "kinit" in said
    said = str(done(secure, native, config(native), ticket=secure.ticket))
    assert "set hadoop.security.authentication to kerberos" in said


def test_a_delegation_token_is_in_no_message(secure: Secure) -> None:
    web = "webhdfs://127.0.0.1:1/lake"
    said = str(done(secure, web, config(web, delegation=secure.token)))
    assert "delegation=" in said
    assert secure.token not in said
