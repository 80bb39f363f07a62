"""Real catalogs of Java Paimon 1.4: its JDBC catalog on SQLite, and the REST server of its own tests.

    with Catalogs() as engine:
        engine.write(jdbc(database, warehouse), "shop.orders", 3)     # three commits of one row each
        url = engine.serve(directory, "token")
        engine.write(rest(url, "token"), "shop.orders", 3)

Invariant: nothing here judges. Whatever is not available raises `Missing`.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from tests.engines import s3_server
from tests.engines.java import JAVA_FLAGS, compiled, fetched, find_java, from_pyspark
from tests.engines.lines import Lines
from tests.engines.paimon_java import POM, RELEASES

HERE = Path(__file__).resolve().parent
VERSION = "1.4.2"
WAREHOUSE, PREFIX = "main", "lake"  # what the REST server calls its only warehouse, and the prefix that it asks for


def _pyspark() -> list[Path]:
    """Hadoop's client, and all that the client of a Hive Metastore takes: PySpark brings them."""
    return [*(first := from_pyspark()), *sorted(set(first[0].parent.glob("*.jar")) - set(first))]


def _jars(artifact: str) -> list[Path]:
    words = ["dependency:copy", f"-Dpaimon.artifact={artifact}", f"-Dpaimon.version={VERSION}", "-Djars={}"]
    return fetched(f"{artifact}-{VERSION}" if artifact != RELEASES[VERSION] else f"paimon-{VERSION}", POM, words)


@functools.cache
def _class_path() -> str:
    beside = fetched(
        "paimon-catalogs", HERE / "catalogs-pom.xml", ["dependency:copy-dependencies", "-DoutputDirectory={}"]
    )
    jars = [*beside, *_jars(RELEASES[VERSION]), *_jars("paimon-s3"), *_pyspark()]
    return compiled("classes-catalogs", HERE / "PaimonCatalogs.java", jars, lambda _: None, VERSION)


def hive(uri: str, warehouse: str | os.PathLike[str], *more: str) -> str:
    """The options of a catalog in a Hive Metastore."""
    return ",".join(["metastore=hive", f"uri={uri}", f"warehouse={os.fspath(warehouse)}", *more])


def s3(url: str) -> list[str]:
    """The options of a server of `tests.engines.s3_server`."""
    key = [f"s3.access-key={s3_server.KEY}", f"s3.secret-key={s3_server.SECRET}"]
    return [f"s3.endpoint={url}", "s3.path-style-access=true", *key]


def jdbc(database: Path, warehouse: str | os.PathLike[str], *more: str) -> str:
    """The options of a JDBC catalog on SQLite."""
    return ",".join(["metastore=jdbc", f"uri=jdbc:sqlite:{database}", f"warehouse={os.fspath(warehouse)}", *more])


def jdbc_on_server(uri: str, user: str, password: str, warehouse: str | os.PathLike[str], *more: str) -> str:
    """The options of a JDBC catalog on a database server."""
    login = [f"jdbc.user={user}", f"jdbc.password={password}"]
    return ",".join(["metastore=jdbc", f"uri={uri}", f"warehouse={os.fspath(warehouse)}", *login, *more])


def rest(url: str, token: str) -> str:
    """The options of a REST catalog."""
    return f"metastore=rest,uri={url},warehouse={WAREHOUSE},token.provider=bear,token={token}"


class Catalogs(Lines):
    """A JVM with the catalogs of Paimon. `options`: what one of the functions above returns."""

    def __init__(self) -> None:
        java, _ = find_java()
        super().__init__([java, *JAVA_FLAGS, "-cp", _class_path(), "PaimonCatalogs"])

    def write(self, options: str, table: str, commits: int, path: str = "") -> tuple[str, str, str]:
        """Create a table if it is missing and make commits of one row (0, 1, …). Returns its location, the class that
        commits, and whether a lock is taken. `path`: in a REST catalog, the table is external and lies there."""
        location, how, lock = self.ask(cmd="write", options=options, table=table, commits=commits, path=path)
        return location, how, lock

    def refer(self, options: str, table: str, tag: str, snapshot: int, branch: str) -> None:
        """Create a tag of a snapshot, and a branch from it."""
        self.ask(cmd="refer", options=options, table=table, tag=tag, snapshot=snapshot, branch=branch)

    def tags(self, options: str, table: str) -> list[str]:
        """The names of a table's tags, sorted."""
        return sorted(self.ask(cmd="tags", options=options, table=table))

    def create_databases(self, options: str, *names: str) -> None:
        self.ask(cmd="databases", options=options, names=names)

    def rows(self, options: str, table: str) -> list[int]:
        """The ids of all rows, sorted."""
        found: list[int] = self.ask(cmd="rows", options=options, table=table)
        return found

    def serve(self, directory: Path, token: str, *lends: str, region: str | None = None) -> str:
        """Start a REST catalog server whose tables lie in a directory, which ends with this process. Returns its URL.

        `lends`: a table, and the options and end in milliseconds of the token that the server lends for it. `region`:
        requests must be signed as DLF's of this region, with the key `key-id`, the secret `token`, and `session`.
        """
        table, lent, until = lends or (None, None, None)
        url: str = self.ask(
            cmd="serve", directory=str(directory), token=token, table=table, lends=lent, until=until, region=region
        )
        return url.rstrip("/")
