"""Iceberg tables of a Glue catalog, on moto's server: what a change leaves alone in the Glue table, and what happens
beside other writers and faults. What holds on every catalog is in `test_iceberg_catalog_contract`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyiceberg.catalog import load_catalog

from core.catalog import list_tables
from core.errors import Invalid, NotFound, Unsupported
from core.execution.apply import apply
from core.execution.delete_files import Receipt
from core.execution.journal import Journal
from core.execution.recovery import resume
from core.formats.table_format import Unknown
from core.model.actions import CreateTag
from core.table import open_table
from tests.engines import moto_server
from tests.engines.java import Missing
from tests.support.execution import ground
from tests.support.faulty_http import Answer, Proxy, between
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


def shown(glue: Any) -> dict[str, Any]:
    found: dict[str, Any] = glue.get_table(DatabaseName="shop", Name="orders")["Table"]
    return found


def tagged(glue: Any) -> set[str]:
    """The names of the references in the metadata that the Glue table names."""
    return set(json.loads(path_of(shown(glue)["Parameters"]["metadata_location"]).read_bytes())["refs"])


def path_of(location: str) -> Path:
    return Path(location.removeprefix("file://"))


def create_tag(name: str) -> Receipt:
    found = open_table("iceberg://cloud/shop/orders")
    return apply(found, found.preview(CreateTag(name), ground.LATE_MS), settle_s=0)


def test_a_change_replaces_the_location_alone(glue: Any, table: Path) -> None:
    """Athena and others need the rest, of which the metadata knows only a part."""
    before = shown(glue)
    column = {"Name": "x", "Type": "int", "Comment": "kept", "Parameters": {"iceberg.field.id": "1"}}
    own = {
        "Description": "All orders",
        "Owner": "shop",
        "Retention": 7,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [],
        "StorageDescriptor": {"Columns": [column], "Location": f"file://{table}", "Compressed": False},
        "Parameters": {**before["Parameters"], "team": "blue", "write.format.default": "another"},
    }
    glue.update_table(DatabaseName="shop", TableInput={"Name": "orders", **own})
    before = shown(glue)
    assert create_tag("new").is_exact
    after = shown(glue)
    assert path_of(after["Parameters"].pop("metadata_location")).is_file()
    assert after["Parameters"].pop("previous_metadata_location") == before["Parameters"].pop("metadata_location")
    assert {name for name in after if after[name] != before[name]} == {"VersionId", "UpdateTime"}


@pytest.fixture
def proxied(url: str, glue: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    with between(url) as proxy:
        monkeypatch.setenv("PYICEBERG_CATALOG__CLOUD__GLUE__ENDPOINT", proxy.url)
        yield Between(proxy)


class Between:
    """What happens to the first request of a kind that Snapscope sends, and then to its others."""

    def __init__(self, proxy: Proxy) -> None:
        self.seen: list[str] = []
        self.faults: dict[str, Callable[[], Any]] = {}
        self.then: dict[str, Callable[[], Any]] = {}
        proxy.guard, proxy.rule = self._heard, self._answer

    def _heard(self, headers: Mapping[str, str]) -> bool:
        self.seen.append(headers["x-amz-target"].rpartition(".")[2])
        return True

    def _answer(self, _method: str, _path: str) -> Any:
        asked = self.seen[-1]
        faults = self.faults if self.seen.count(asked) == 1 else self.then
        return faults[asked]() if asked in faults else None


def answer(status: int, document: dict[str, Any]) -> Answer:
    return status, [("Content-Type", "application/x-amz-json-1.1")], json.dumps(document).encode()


def test_a_change_whose_answer_is_lost_was_made_once(glue: Any, table: Path, proxied: Between) -> None:
    """The client repeats the request, and Glue refuses it, because the version that it is made on is gone."""
    proxied.faults["UpdateTable"] = lambda: "lose"
    before = int(shown(glue)["VersionId"])
    assert create_tag("new").is_exact
    assert proxied.seen.count("UpdateTable") == 2
    assert int(shown(glue)["VersionId"]) == before + 1
    assert "new" in tagged(glue)
    assert Journal().open_run("iceberg://cloud/shop/orders") is None


def test_a_change_that_another_client_comes_before_is_made_on_theirs(
    url: str, glue: Any, table: Path, proxied: Between
) -> None:
    own = {"endpoint": url, "region": "us-east-1", "access-key-id": "k", "secret-access-key": SECRET}
    theirs = load_catalog("theirs", type="glue", **{f"glue.{name}": value for name, value in own.items()})
    first = theirs.load_table("shop.orders").metadata.snapshots[0].snapshot_id

    def commit() -> None:
        theirs.load_table("shop.orders").manage_snapshots().create_tag(first, "theirs").commit()

    proxied.faults["UpdateTable"] = commit
    assert create_tag("ours").is_exact
    assert {"ours", "theirs"} <= tagged(glue)
    named = {path_of(shown(glue)["Parameters"]["metadata_location"])}
    named |= {path_of(each["metadata-file"]) for each in json.loads(next(iter(named)).read_bytes())["metadata-log"]}
    assert {path for path in table.glob("metadata/*.metadata.json") if path not in named} == set(), "ours is withdrawn"


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_crawler_that_comes_before_a_change(glue: Any, table: Path, proxied: Between, is_lost: bool) -> None:
    """Glue refuses the change, and its table names the same metadata as before. If the answer was lost and Glue refused
    the second request, that is no proof that the first one will not be made."""

    def crawl() -> str | None:
        parameters = {**shown(glue)["Parameters"], "crawled": "today"}
        glue.update_table(DatabaseName="shop", TableInput={"Name": "orders", "Parameters": parameters})
        return "reset" if is_lost else None

    proxied.faults["UpdateTable"] = crawl
    if is_lost:
        with pytest.raises(Unknown):
            create_tag("new")
        assert "new" not in tagged(glue)
        run = Journal().open_run("iceberg://cloud/shop/orders")
        assert run is not None
        assert resume(run.id, open_table=open_table, settle_s=0).is_exact
    else:
        assert create_tag("new").is_exact
    assert "new" in tagged(glue)
    assert shown(glue)["Parameters"]["crawled"] == "today"


def test_a_change_that_glue_refuses_leaves_nothing_behind(glue: Any, table: Path, proxied: Between) -> None:
    proxied.faults["UpdateTable"] = lambda: answer(400, {"__type": "AccessDeniedException", "Message": "not for you"})
    before = ground.disk(table)
    with pytest.raises(Invalid, match=r"refused the change: .*not for you"):
        create_tag("new")
    assert ground.disk(table) == before
    assert Journal().open_run("iceberg://cloud/shop/orders") is None


def test_a_change_that_glue_refuses_after_it_was_repeated_may_still_be_made(
    glue: Any, table: Path, proxied: Between
) -> None:
    """Nobody knows what became of the first request, so the metadata that it names must not be deleted."""
    held: list[Any] = []

    def first() -> str:
        held.append(shown(glue)["Parameters"])
        proxied.then["UpdateTable"] = lambda: answer(400, {"__type": "AccessDeniedException", "Message": "expired"})
        return "reset"

    proxied.faults["UpdateTable"] = first
    before = {path.name for path in table.glob("metadata/*.metadata.json")}
    with pytest.raises(Unknown):
        create_tag("new")
    assert proxied.seen.count("UpdateTable") == 2
    (made,) = {path.name for path in table.glob("metadata/*.metadata.json")} - before
    late = {**held[0], "metadata_location": f"file://{table}/metadata/{made}"}
    glue.update_table(DatabaseName="shop", TableInput={"Name": "orders", "Parameters": late})
    run = Journal().open_run("iceberg://cloud/shop/orders")
    assert run is not None
    assert resume(run.id, open_table=open_table, settle_s=0).is_exact
    assert "new" in tagged(glue)


def test_tables_of_another_service_are_read_only(table: Path, proxied: Between) -> None:
    """Such as S3 Tables, which Glue shows as databases of its own."""
    own = {"Name": "shop", "FederatedDatabase": {"Identifier": "arn", "ConnectionType": "aws:s3tables"}}
    proxied.faults["GetDatabase"] = lambda: answer(200, {"Database": own})
    before = ground.disk(table)
    with pytest.raises(Unsupported, match="aws:s3tables"):
        create_tag("new")
    assert ground.disk(table) == before
    assert Journal().open_run("iceberg://cloud/shop/orders") is None


@pytest.mark.parametrize("name", ["raw", "gone"])
def test_what_is_no_iceberg_table(table: Path, name: str) -> None:
    with pytest.raises((NotFound, Invalid)) as told:
        open_table(f"iceberg://cloud/shop/{name}").heads()
    assert SECRET not in f"{told.value} {told.value.remedy}"
