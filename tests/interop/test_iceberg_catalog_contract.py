"""What holds on every Iceberg catalog: SQL on SQLite, PostgreSQL and MariaDB, a Hive Metastore, moto's Glue, Iceberg's
own REST server, and the REST catalog of SeaweedFS, whose tables lie in its own S3 bucket and are read with the
credentials that it lends.

Nessie, whose tables keep no history of their own, is in `test_nessie`. Other servers of the REST protocol (Polaris,
Gravitino, Unity, Lakekeeper) are not tried: none of them was found as a package that the tests could install.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog

from core import urls
from core.catalog import list_tables
from core.errors import Conflict, NotFound
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import CreateBranch, CreateTag, DeleteTags, Expire, RenameTag, Rollback
from core.model.references import ObjectKind
from core.table import open_table
from tests.engines import iceberg_rest_server, moto_server, mysql_server, postgres_server, seaweedfs_server
from tests.engines.java import Missing
from tests.engines.metastore import Metastore
from tests.support.execution.iceberg_ground import LATE_MS
from tests.support.formats.iceberg.orphans import AGE, LITTER, paths
from tests.support.formats.iceberg.s3_lake import S3Lake
from tests.support.formats.iceberg.sql_catalog import NAME, Lake, home

__all__ = ["home"]  # a fixture

SECRET = "marker-secret"
TOKEN = b"eyJhbGciOi"  # how a JSON web token begins: those of SeaweedFS, and the session tokens that it lends
Makes = Callable[[Path], Lake]
SERVERS = {"postgres": (postgres_server.running, "pg8000"), "mysql": (mysql_server.running, "pymysql")}
OTHERS = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in (*SERVERS, "moto", "seaweedfs")]


@pytest.fixture(scope="module", params=["sql", "hive", "rest", *OTHERS])
def makes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Makes]:
    """How a table of the catalog is made, with a directory of one test."""
    place = tmp_path_factory.mktemp("catalog") / "server"
    try:
        if request.param == "sql":
            yield lambda directory: AnyLake(directory, {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db"})
        elif request.param in SERVERS:
            start, driver = SERVERS[request.param]
            with start(place, SECRET) as server:
                scheme, _, rest = server.uri.removeprefix("jdbc:").partition("://")
                uri = f"{scheme}+{driver}://{server.user}:{SECRET}@{rest}"
                yield lambda directory: AnyLake(directory, {"type": "sql", "uri": uri})
        elif request.param == "hive":
            hive: Metastore = request.getfixturevalue("metastore")
            yield lambda directory: AnyLake(
                directory, {"type": "hive", "uri": hive.uri, "warehouse": f"file://{directory}/wh"}
            )
        elif request.param == "rest":
            with iceberg_rest_server.running(place) as url:
                login = {"credential": f"me:{SECRET}", "oauth2-server-uri": f"{url}/v1/oauth/tokens"}
                yield lambda directory: AnyLake(directory, {"type": "rest", "uri": url, **login})
        elif request.param == "moto":
            with moto_server.running(place) as url:
                own = {"endpoint": url, "region": "us-east-1", "access-key-id": "k", "secret-access-key": SECRET}
                glue = {"type": "glue", **{f"glue.{name}": value for name, value in own.items()}}
                yield lambda directory: AnyLake(directory, glue)
        else:
            with seaweedfs_server.running(place, SECRET) as lender:
                yield lambda directory: S3Lake(directory, lender)
    except Missing as lack:
        pytest.skip(f"{'engines' if request.param in ('sql', 'hive', 'rest') else request.param}: {lack}")


class AnyLake(Lake):
    """A table of five snapshots, two tags and a branch, registered in a catalog. Tests leave nothing there."""

    def __init__(self, directory: Path, options: dict[str, str]) -> None:
        self.options = options
        super().__init__(directory)
        lines = [f"    {key}: '{value}'" for key, value in options.items()]
        (directory / ".pyiceberg.yaml").write_text("\n".join(["catalog:", "  lake:", *lines, ""]))

    def client(self) -> Any:
        return load_catalog("lake", **self.options)

    def location(self) -> str:
        """As `file://` and a path; Hadoop's file system writes `file:` only."""
        return f"file://{urls.local_path(super().location())}"

    def files(self) -> frozenset[str]:
        """Without the checksums that Hadoop's file system writes beside the server's metadata."""
        return frozenset(path for path in super().files() if not path.endswith(".crc"))


@pytest.fixture
def lake(tmp_path: Path, makes: Makes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    made = makes(tmp_path)
    yield made
    with made.client() as client:
        client.drop_table("shop.orders")
        client.drop_namespace("shop")


class TestEveryCatalog:
    """One contract."""

    def test_tables_are_listed_and_opened(self, lake: Lake) -> None:
        for place in ("iceberg://lake", "iceberg://lake/shop", "iceberg://"):
            assert [each.location for each in list_tables(place).tables] == [NAME]
        table = open_table(NAME)
        assert table.location == table.heads().location == NAME
        assert {each.name for each in table.heads().refs} == set(lake.document()["refs"])
        assert {each.id for line in table.heads().lines for each in line.snapshots} <= set(lake.ids())
        for missing in ("iceberg://lake/shop/none", "iceberg://lake/none/orders", "iceberg://none/shop/orders"):
            with pytest.raises(NotFound):
                open_table(missing)

    def test_refs_are_changed_as_another_client_sees_them(self, lake: Lake) -> None:
        old = [each.id for each in open_table(NAME).heads().main.snapshots]
        for change in (CreateTag("mine", old[1]), RenameTag("mine", "ours"), CreateBranch("dev", "tag:ours")):
            table = open_table(NAME)
            apply(table, table.preview(change, LATE_MS), settle_s=0)
        refs = lake.document()["refs"]
        assert refs["ours"]["snapshot-id"] == refs["dev"]["snapshot-id"] == old[1]
        assert "mine" not in refs
        table = open_table(NAME)
        apply(table, table.preview(DeleteTags(("ours",)), LATE_MS), settle_s=0)
        apply(table, table.preview(Rollback(str(old[2])), LATE_MS), settle_s=0)
        assert "ours" not in lake.document()["refs"]
        assert lake.document()["current-snapshot-id"] == old[2]
        assert lake.broken() == []

    def test_an_expiry_deletes_exactly_what_its_plan_names(self, lake: Lake) -> None:
        table = open_table(NAME)
        names = tuple(name for name in lake.document()["refs"] if name != "main")
        plan, there = table.preview(Expire(drop_tags=names), LATE_MS), lake.files()
        assert apply(table, plan, settle_s=0).is_exact
        assert there - lake.files() == set(plan.frees["path"].to_pylist())
        assert len(lake.ids()) == 1
        assert lake.broken() == []

    def test_what_another_client_changes_meanwhile_is_kept(self, lake: Lake) -> None:
        table, old = open_table(NAME), lake.ids()
        names = tuple(name for name in lake.document()["refs"] if name != "main")
        plan, there = table.preview(Expire(drop_tags=names), LATE_MS), lake.files()
        lake.tag("theirs", old[0])
        with pytest.raises(Conflict):
            apply(table, plan, settle_s=0)
        assert lake.files() == there
        assert lake.document()["refs"]["theirs"]["snapshot-id"] == old[0]
        assert lake.ids() == old
        assert Journal().open_run(NAME) is None

    def test_exactly_what_nobody_names_is_an_orphan(self, lake: Lake) -> None:
        """Beside metadata that a catalog has replaced, and no longer names."""
        lost, there = {LITTER["data"], LITTER["manifest"]}, lake.files()
        for path in lost:
            lake.lose(path)
        table = open_table(NAME)
        plan = table.preview(AGE, LATE_MS)
        found = zip(plan.frees["path"].to_pylist(), plan.frees["kind"].to_pylist(), strict=True)
        assert {path for path, kind in found if kind != ObjectKind.METADATA} == lost
        assert apply(table, plan, settle_s=0).is_exact
        assert lake.files() == there
        assert lake.broken() == []
        assert paths(open_table(NAME).preview(AGE, LATE_MS)) == []

    def test_no_secret_is_written_down(self, lake: Lake, state_dir: Path) -> None:
        table = open_table(NAME)
        apply(table, table.preview(CreateTag("mine"), LATE_MS), settle_s=0)
        files = [path for path in state_dir.parent.rglob("*") if path.is_file()]
        assert files
        assert not [path for path in files if SECRET.encode() in (content := path.read_bytes()) or TOKEN in content]
