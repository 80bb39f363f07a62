"""What holds on every Paimon catalog: a warehouse, JDBC on SQLite and PostgreSQL, Hive without and with its lock, and
the REST server of Paimon's own tests, with tables that it commits to and external ones."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from pyspark.sql import SparkSession

from core.catalog import list_tables
from core.errors import Conflict, NotFound, SnapscopeError, Unsupported
from core.execution import recovery
from core.execution.apply import apply
from core.execution.journal import Journal
from core.model.actions import Change, CreateBranch, CreateTag, DeleteTags, Expire, Rollback, Truncate
from core.spark.write import append as spark_write
from core.table import Table, open_table
from tests.engines import mysql_server, postgres_server
from tests.engines import paimon_catalogs as java
from tests.engines.java import Missing
from tests.engines.metastore import Metastore
from tests.support import command_line

SECRET = "marker-secret"
LATE_MS = 1 << 41  # in 2039
ODD = ("a b%20c", "订单")
EXPIRE = Expire(retain_max=1, retain_min=1)
_number = itertools.count(1)


@dataclass(frozen=True)
class Case:
    """A catalog for one test.

    `options` are the engine's, `lines` those of the settings file; `dead` are lines that lead nowhere. `external`:
    where its tables lie, if the catalog does not choose that. `names` are other names that it permits.
    """

    engine: java.Catalogs
    options: str
    commits: tuple[str, str]
    database: str
    place: str = "paimon://meta"
    lines: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    external: str = ""
    names: tuple[str, ...] = ODD

    @property
    def title(self) -> str:
        return f"{self.database}.orders"

    def named(self, name: str, database: str = "") -> str:
        if self.place.startswith("paimon://"):
            return f"{self.place}/{quote(database or self.database)}/{quote(name)}"
        return f"{self.place}/{database or self.database}.db/{name}"

    def open(self) -> Table:
        return open_table(self.named("orders"))

    def write(self, commits: int, name: str = "orders") -> None:
        path = f"{self.external}/{self.database}/{name}" if self.external else ""
        _, *how = self.engine.write(self.options, f"{self.database}.{name}", commits, path)
        assert tuple(how) == self.commits

    @property
    def is_served(self) -> bool:
        """Whether a server publishes commits, and keeps branches."""
        return self.commits[0] == "CatalogSnapshotCommit"

    def rows(self) -> list[int]:
        return self.engine.rows(self.options, self.title)

    def configure(self, lines: tuple[str, ...]) -> None:
        Path(os.environ["SNAPSCOPE_CONFIG"]).write_text("\n".join(["[catalog.meta]", *lines]) if lines else "")

    def run(self, change: Change) -> None:
        """Plan the change and run it, again if another writer committed in between."""
        while True:
            table = self.open()
            try:
                apply(table, table.preview(change, LATE_MS), settle_s=0)
            except Conflict as refused:
                run = Journal().open_run(table.location)
                assert run is None, refused
            else:
                return


Make = Callable[[Path], Case]
_RENAMES = ("RenamingSnapshotCommit", "no lock")
_SERVERS = {"postgres": postgres_server.running, "mysql": mysql_server.running}
_PLACES = [
    *("warehouse", "jdbc", "hive", "locked", "rest", "external"),
    *(pytest.param(name, marks=getattr(pytest.mark, name)) for name in _SERVERS),
]


@pytest.fixture(scope="module", params=_PLACES)
def make(
    request: pytest.FixtureRequest, paimon_engine: java.Catalogs, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Make]:
    """How to reach the catalog, for the directory of one test."""
    engine = paimon_engine
    match request.param:
        case "warehouse":
            yield lambda at: Case(
                engine, f"metastore=filesystem,warehouse={at}/w", _RENAMES, f"shop{next(_number)}", str(at / "w")
            )  # fmt: skip
        case "jdbc":

            def jdbc(at: Path) -> Case:
                lines = ("type = 'paimon-jdbc'", f"warehouse = '{at}/w'", f"uri = 'jdbc:sqlite:{at}/catalog.db'")
                dead = (*lines[:2], f"uri = 'jdbc:sqlite:{at}/none.db'")
                return Case(
                    engine,
                    java.jdbc(at / "catalog.db", at / "w"),
                    _RENAMES,
                    f"shop{next(_number)}",
                    lines=lines,
                    dead=dead,
                )

            yield jdbc
        case "postgres" | "mysql":
            try:
                with _SERVERS[request.param](tmp_path_factory.mktemp(request.param) / "server", SECRET) as server:

                    def on_server(at: Path) -> Case:
                        options = java.jdbc_on_server(
                            server.uri, server.user, SECRET, at / "w", f"catalog-key={at.name}"
                        )
                        own = ("type = 'paimon-jdbc'", f"warehouse = '{at}/w'", f"catalog-key = '{at.name}'")
                        lines = (*own, f"user = '{server.user}'", f"password = '{SECRET}'", f"uri = '{server.uri}'")
                        dead = (*lines[:-1], f"uri = '{re.sub(r':[0-9]+/', ':1/', server.uri)}'")
                        return Case(engine, options, _RENAMES, f"shop{next(_number)}", lines=lines, dead=dead)

                    yield on_server
            except Missing as lack:
                pytest.skip(f"{request.param}: {lack}")
        case "hive" | "locked":
            hive: Metastore = request.getfixturevalue("metastore")
            is_locked = request.param == "locked"
            more = ["lock.enabled=true", "lock-acquire-timeout=60s"] if is_locked else []
            own = ("type = 'paimon-hive'", f"lock-enabled = {str(is_locked).lower()}")
            yield lambda at: Case(
                engine,
                java.hive(hive.uri, at / "w", *more),
                ("RenamingSnapshotCommit", "lock" if is_locked else "no lock"),
                f"shop{next(_number)}",
                lines=(*own, f"uri = '{hive.uri}'"),
                dead=(*own, "uri = 'thrift://127.0.0.1:1'"),
                names=(),  # the Metastore permits letters, digits and underscores
            )
        case "rest" | "external":
            is_external = request.param == "external"

            def rest(at: Path) -> Case:
                (at / "w").mkdir()
                url, own = engine.serve(at / "w", SECRET), ("type = 'paimon-rest'", "warehouse = 'main'")
                lines, dead = ((*own, f"token = '{SECRET}'", f"uri = '{each}'") for each in (url, "http://127.0.0.1:1"))
                how, shop = _RENAMES if is_external else ("CatalogSnapshotCommit", "no lock"), f"shop{next(_number)}"
                where = str(at / "elsewhere") if is_external else ""
                return Case(engine, java.rest(url, SECRET), how, shop, lines=lines, dead=dead, external=where)

            yield rest


@pytest.fixture
def case(make: Make, tmp_path: Path) -> Case:
    """A table of three commits of one row each."""
    made = make(tmp_path)
    made.configure(made.lines)
    made.write(3)
    return made


class TestEveryCatalog:
    """One contract."""

    def test_databases_and_tables_are_listed_and_opened(self, case: Case) -> None:
        for name in case.names:
            case.write(1, name)
        case.engine.create_databases(case.options, f"{case.database}_empty")
        own = [each for each in list_tables(case.place).tables if each.database == case.database]
        assert {each.name for each in own} == {"orders", *case.names}
        for each in own:
            assert open_table(each.location).heads().main.snapshots
            assert open_table(each.location).location == open_table(case.named(each.name)).location
        for missing in (case.named("none"), case.named("orders", "none"), case.named("none", f"{case.database}_empty")):
            with pytest.raises(NotFound):
                open_table(missing).heads()
        if case.place.startswith("paimon://"):
            assert list_tables(f"{case.place}/{case.database}_empty").tables == ()
            with pytest.raises(NotFound):
                open_table(f"{case.place}/{case.database}").heads()

    def test_snapshots_tags_and_branches_of_the_engine_are_read(self, case: Case) -> None:
        case.engine.refer(case.options, case.title, "theirs", 2, "dev")
        heads = case.open().heads()
        assert [each.id for each in heads.main.snapshots] == [1, 2, 3]
        assert [(each.name, each.snapshot.id) for each in heads.main.tags] == [("theirs", 2)]
        assert [each.branch for each in heads.lines] == ["main", "dev"]
        history = case.open().history()
        assert not history.incomplete
        assert "branch:dev/2" in {each.point for each in history.holders}

    def test_changes_are_those_that_the_engine_sees(self, case: Case) -> None:
        for change in (CreateTag("mine", 2), CreateTag("ours", 1), DeleteTags(("ours",)), EXPIRE):
            case.run(change)
        assert case.engine.tags(case.options, case.title) == ["mine"]
        case.write(1)
        assert case.rows() == [0, 0, 1, 2]
        assert [each.id for each in case.open().heads().main.snapshots] == [3, 4]
        for change, rows in ((Rollback("tag:mine"), [0, 1]), (Truncate(), [])):
            case.run(change)
            assert case.rows() == rows
        case.write(2)
        assert case.rows() == [0, 1]

    def test_branches_are_created_where_the_server_does_not_keep_them(self, case: Case) -> None:
        table = case.open()
        if not case.is_served:
            case.run(CreateBranch("dev"))
            assert [each.branch for each in case.open().heads().lines] == ["main", "dev"]
            return
        before = table.heads().references
        for change in (CreateBranch("dev"), Rollback("1", destructive=True)):
            plan = table.preview(change, LATE_MS)
            assert any("through the catalog meta" in each.text for each in plan.warnings)
            with pytest.raises(Unsupported, match="through the catalog meta"):
                apply(table, plan, settle_s=0)
        assert case.open().heads().references == before

    def test_commits_of_both_are_all_kept(self, case: Case) -> None:
        """The engine commits while we do."""
        ours, theirs = 4, 6
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(case.write, theirs)
            for _ in range(ours):
                case.run(Rollback("1"))
            writing.result()
        heads = case.open().heads()
        assert [each.id for each in heads.main.snapshots] == list(range(1, 4 + ours + theirs))
        users = [each.commit_user for each in heads.main.snapshots[3:]]
        assert sorted(users.count(each) for each in set(users)) == [1] * (ours + theirs)
        assert not case.open().history(heads).incomplete

    def test_a_catalog_that_cannot_be_reached_is_named_without_secrets(self, case: Case) -> None:
        case.configure(case.dead)
        place = case.place if case.dead else f"{case.place}/none"
        with pytest.raises(SnapscopeError) as told:
            list_tables(place)
        assert "meta" in told.value.message if case.dead else told.value.path == place
        assert SECRET not in f"{told.value} {vars(told.value)}"
        if case.dead:
            with pytest.raises(SnapscopeError, match="meta"):
                case.open().heads()

    def test_a_life_with_spark(self, case: Case, spark: SparkSession, state_dir: Path) -> None:
        """Write, tag, plan, expire, undo, query."""
        table, named = case.open(), case.named("orders")
        rows = spark.sql("select cast(id as int) id, concat('s', id) v from range(10, 12)").coalesce(1)
        spark_write.append(table.store, rows, spark_write.stamp(int(time.time() * 1000)))
        case.run(CreateTag("before", 4))
        plan = (table := case.open()).preview(EXPIRE, LATE_MS)
        cut = _Cut()
        with pytest.raises(_Cut):
            apply(table, plan, settle_s=1, waits=cut.now)
        run = Journal().open_run(table.location)
        assert run is not None
        assert [each.id for each in case.open().heads().main.snapshots] == [4]
        recovery.undo(run.id, open_table=open_table)
        assert [each.id for each in case.open().heads().main.snapshots] == [1, 2, 3, 4]
        case.run(EXPIRE)
        _, answer = command_line.run("query", named, "select id from t order by id", "--json")
        assert [each["id"] for each in answer["rows"]] == case.rows()
        files = [path for path in state_dir.rglob("*") if path.is_file()]
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]


class _Cut(BaseException):
    """The process dies while it waits for writers."""

    def now(self, _: float) -> None:
        raise self
