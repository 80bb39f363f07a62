"""Iceberg tables of a Glue catalog, on moto's server: listed, read and planned; changes are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from core.catalog import list_tables
from core.errors import Invalid, NotFound, Unsupported
from core.execution.apply import apply
from core.model.actions import CreateTag
from core.table import open_table
from tests.engines import moto_server
from tests.engines.java import Missing
from tests.support.execution import ground
from tests.support.iceberg_tables import SMALL, moved

pytestmark = pytest.mark.moto
SECRET = "a-secret-of-glue"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with moto_server.running(tmp_path_factory.mktemp("moto")) as found:
            yield found
    except Missing as lack:
        pytest.skip(f"moto: {lack}")


@pytest.fixture
def glue(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an empty catalog, which pyiceberg's configuration calls `cloud`."""
    own = {"endpoint": url, "region": "us-east-1", "access-key-id": "k", "secret-access-key": SECRET}
    monkeypatch.setenv("PYICEBERG_CATALOG__CLOUD__TYPE", "glue")
    for name, value in own.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__CLOUD__GLUE__{name.upper().replace('-', '_')}", value)
    client = boto3.client(
        "glue", endpoint_url=url, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key=SECRET
    )
    yield client
    for each in client.get_databases()["DatabaseList"]:
        client.delete_database(Name=each["Name"])


@pytest.fixture
def table(glue: Any, tmp_path: Path) -> Path:
    """`shop.orders`, beside a table of Hive."""
    root = moved(SMALL / "pyiceberg" / "tags_branches", tmp_path / "orders")
    newest = max(root.glob("metadata/*.metadata.json"))
    glue.create_database(DatabaseInput={"Name": "shop"})
    for name, parameters in {
        "orders": {"table_type": "ICEBERG", "metadata_location": f"file://{newest}"},
        "raw": {"table_type": "EXTERNAL_TABLE"},
    }.items():
        glue.create_table(DatabaseName="shop", TableInput={"Name": name, "Parameters": parameters})
    return root


def test_tables_are_listed(table: Path) -> None:
    found = list_tables("iceberg://cloud")
    assert [(each.database, each.name) for each in found.tables] == [("shop", "orders")]
    assert not found.problems


def test_a_table_reads_as_from_its_path(table: Path) -> None:
    by_name, by_path = open_table("iceberg://cloud/shop/orders"), open_table(str(table))
    ours, theirs = by_name.history(), by_path.history()
    assert [each.point for each in ours.holders] == [each.point for each in theirs.holders]
    for position in range(len(ours.holders)):
        assert ours.files_at(position).equals(theirs.files_at(position))


def test_it_follows_the_catalog(glue: Any, table: Path) -> None:
    older = min(table.glob("metadata/*.metadata.json"))
    before = len(open_table("iceberg://cloud/shop/orders").heads().main.snapshots)
    parameters = {"table_type": "ICEBERG", "metadata_location": f"file://{older}"}
    glue.update_table(DatabaseName="shop", TableInput={"Name": "orders", "Parameters": parameters})
    assert len(open_table("iceberg://cloud/shop/orders").heads().main.snapshots) < before


def test_changes_are_refused_and_change_nothing(table: Path) -> None:
    before = ground.disk(table)
    found = open_table("iceberg://cloud/shop/orders")
    plan = found.preview(CreateTag("new"), ground.LATE_MS)
    with pytest.raises(Unsupported, match="Glue"):
        apply(found, plan, settle_s=0)
    assert ground.disk(table) == before


@pytest.mark.parametrize("name", ["raw", "gone"])
def test_what_is_no_iceberg_table(table: Path, name: str) -> None:
    with pytest.raises((NotFound, Invalid)) as told:
        open_table(f"iceberg://cloud/shop/{name}").heads()
    assert SECRET not in f"{told.value} {told.value.remedy}"
