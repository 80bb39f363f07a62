"""Iceberg's reference server of the REST protocol on this machine, with a SQL catalog behind it. Maven fetches it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.engines.java import JAVA_FLAGS, fetched, find_java, from_pyspark
from tests.engines.lines import last_words
from tests.support.ports import free_port

POM = Path(__file__).with_name("iceberg-rest-pom.xml")
START_S = 120.0


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
    with log.open("w") as out:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | settings)
    try:
        url, ends = f"http://127.0.0.1:{port}", time.monotonic() + START_S
        while not _answers(f"{url}/v1/config"):
            if server.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"Iceberg's REST server does not start: {last_words(log.read_text())}")
            time.sleep(0.1)
        yield url
    finally:
        server.kill()
        server.wait()


def _answers(url: str) -> bool:
    try:
        urlopen(url, timeout=5).close()
    except HTTPError:
        return True  # it may want a token
    except OSError:
        return False
    return True
