"""Iceberg's reference server of the REST protocol on this machine, with a SQL catalog behind it. Maven fetches it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines import servers
from tests.engines.java import JAVA_FLAGS, fetched, find_java, from_pyspark
from tests.support.ports import free_port

POM = Path(__file__).with_name("iceberg-rest-pom.xml")


@contextmanager
def running(directory: Path) -> Iterator[str]:
    """Yield the server's URL; its tables lie in the directory. Raises `Missing` where it cannot be had."""
    java, _ = find_java()
    jars = [*fetched("iceberg-rest", POM, ["dependency:copy-dependencies", "-DoutputDirectory={}"]), *from_pyspark()]
    directory.mkdir(parents=True)
    port, log = free_port(), directory / "out.log"
    settings = {
        "CATALOG_REST_PORT": str(port),
        "CATALOG_URI": f"jdbc:sqlite:{directory}/catalog.db",
        "CATALOG_WAREHOUSE": f"file://{directory}/warehouse",
        "CATALOG_IO__IMPL": "org.apache.iceberg.hadoop.HadoopFileIO",
    }
    command = [java, *JAVA_FLAGS, "-cp", os.pathsep.join(map(str, jars)), "org.apache.iceberg.rest.RESTCatalogServer"]
    url = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        return servers.answers(f"{url}/v1/config")

    with servers.running("Iceberg's REST server", command, log, ready, os.environ | settings):
        yield url
