"""Tables in Nessie, a REST catalog that keeps history in its own commits and branches: a client sees the newest
snapshot of a branch, and its changes of a table's references are left out.

Here: a branch is read as a catalog of its own, and everything that Nessie would ignore is refused before it is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from core.catalog import list_tables
from core.errors import Invalid, Unsupported
from core.execution.apply import apply
from core.execution.journal import Journal
from core.formats.iceberg.catalogs import pyiceberg_catalog
from core.model.actions import Change, CreateBranch, CreateTag, Expire
from core.table import open_table
from tests.engines import nessie_server
from tests.engines.java import Missing
from tests.engines.nessie_server import Server
from tests.support.execution.iceberg_ground import LATE_MS

pytestmark = pytest.mark.nessie

BRANCHES = ("main", "dev")
ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


@pytest.fixture(scope="module")
def nessie(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A table of three commits, and a branch with one more."""
    try:
        with nessie_server.running(tmp_path_factory.mktemp("nessie")) as server:
            with load_catalog("main", **server.options()) as main:
                main.create_namespace("shop")
                table = main.create_table("shop.orders", ROWS.schema)
                for _ in range(3):
                    table.append(ROWS)
            server.create_branch("dev")
            with load_catalog("dev", **server.options("dev")) as dev:
                dev.load_table("shop.orders").append(ROWS)
            yield server
    except Missing as lack:
        pytest.skip(f"nessie: {lack}")


@pytest.fixture(autouse=True)
def configured(nessie: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch is a catalog of pyiceberg's configuration."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    lines = ["catalog:"]
    for branch in BRANCHES:
        lines += [f"  {branch}:", *(f"    {key}: '{value}'" for key, value in nessie.options(branch).items())]
    (tmp_path / ".pyiceberg.yaml").write_text("\n".join([*lines, ""]))
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def newest(server: Server, branch: str) -> int | None:
    """The newest snapshot of a branch according to pyiceberg."""
    with load_catalog(branch, **server.options(branch)) as client:
        found: int | None = client.load_table("shop.orders").metadata.current_snapshot_id
        return found


def test_each_branch_is_read_as_a_catalog(nessie: Server) -> None:
    assert {each.location for each in list_tables("iceberg://").tables} == {
        f"iceberg://{branch}/shop/orders" for branch in BRANCHES
    }
    heads = {}
    for branch, rows in (("main", 6), ("dev", 8)):
        table = open_table(f"iceberg://{branch}/shop/orders")
        history = table.history()
        (snapshot,) = history.heads.main.snapshots  # all that Nessie tells a client
        assert snapshot.id == newest(nessie, branch)
        assert table.name == "orders", "its directory has a random name"
        assert sum(history.files_at(0)["rows"].to_pylist()) == rows
        heads[branch] = snapshot.id
    assert heads["main"] != heads["dev"]


@pytest.mark.parametrize("change", [CreateTag("mine"), CreateBranch("mine")], ids=repr)
def test_what_nessie_ignores_is_refused(nessie: Server, change: Change) -> None:
    table = open_table("iceberg://main/shop/orders")
    before = newest(nessie, "main")
    with pytest.raises(Unsupported, match="Nessie keeps history in its own commits") as refused:
        apply(table, table.preview(change, LATE_MS), settle_s=0)
    assert "Create branches and tags in Nessie" in str(refused.value)
    assert newest(nessie, "main") == before


def test_it_is_also_noticed_in_the_answer(nessie: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a server that does not say what it is."""
    monkeypatch.setattr(pyiceberg_catalog, "_OF_NESSIE", "another")
    table = open_table("iceberg://main/shop/orders")
    with pytest.raises(Invalid, match="answered that it made the change, but it did not"):
        apply(table, table.preview(CreateTag("mine"), LATE_MS), settle_s=0)
    assert Journal().open_run(table.location) is None


def test_nothing_expires(nessie: Server) -> None:
    """Files of Nessie's other versions are no file of the snapshots that it shows."""
    table = open_table("iceberg://main/shop/orders")
    with pytest.raises(Unsupported, match=r"gc\.enabled = false") as refused:
        table.preview(Expire(retain_min=1, older_than_ms=LATE_MS), LATE_MS)
    assert "nessie-gc" in str(refused.value)
