"""A Nessie server on this machine: an Iceberg REST catalog with branches of its own, whose tables lie on an S3 server.
Maven fetches it. It needs Java 21, which may lie beside the Java of the other engines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from tests.engines import s3_server, servers
from tests.engines.java import Missing, fetched
from tests.support.ports import free_port

POM = Path(__file__).with_name("iceberg-pom.xml")
SERVER = "org.projectnessie.nessie:nessie-quarkus:0.99.0:jar:runner"
JAVA = 21
WAREHOUSE = "warehouse"
_FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SECRET = "tests.keys"  # the name under which the server finds the keys of the store


@dataclass(frozen=True)
class Server:
    """A running server. `uri`: of its Iceberg catalog, of the branch main; `store`: of the S3 server."""

    uri: str
    store: str

    def options(self, reference: str = "main") -> dict[str, str]:
        """How a client reaches a branch of the catalog. The server lends no keys."""
        keys = {"s3.access-key-id": s3_server.KEY, "s3.secret-access-key": s3_server.SECRET}
        return {"type": "rest", "uri": f"{self.uri}/{reference}", **keys}

    def create_branch(self, name: str) -> None:
        """Create a branch at the head of main."""
        references = f"{self.uri.removesuffix('/iceberg')}/api/v2/trees"
        with urlopen(f"{references}/main", timeout=30) as answer:
            main = json.load(answer)["reference"]
        asked = Request(f"{references}?type=BRANCH&name={name}", json.dumps(main).encode())
        asked.add_header("Content-Type", "application/json")
        urlopen(asked, timeout=30).close()


def java() -> str:
    """The first Java that is new enough: of JAVA_HOME, of the PATH, or where Linux keeps them."""
    homes = [os.environ.get("JAVA_HOME"), *map(str, sorted(Path("/usr/lib/jvm").glob("*")))]
    found = [shutil.which("java"), *(shutil.which("java", path=f"{home}/bin") for home in homes if home)]
    for program in filter(None, found):
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version[1]) >= JAVA:
            return program
    raise Missing(f"no Java {JAVA} or newer on the PATH, in JAVA_HOME or in /usr/lib/jvm")


def jar() -> Path:
    """The server. Raises `Missing` where Maven finds none."""
    (found,) = fetched("nessie", POM, ["dependency:copy", f"-Dartifact={SERVER}", "-DoutputDirectory={}"])
    return found


@contextmanager
def running(directory: Path) -> Iterator[Server]:
    """Yield a server that keeps its tables in a directory. Raises `Missing` where it cannot be had."""
    program, code, port = java(), jar(), free_port()
    with s3_server.running(directory / "s3") as store:
        s3 = "nessie.catalog.service.s3.default-options"
        settings = {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": port,
            "quarkus.management.port": free_port(),
            "nessie.version.store.type": "IN_MEMORY",
            "nessie.catalog.default-warehouse": WAREHOUSE,
            f"nessie.catalog.warehouses.{WAREHOUSE}.location": f"s3://{s3_server.BUCKET}/{WAREHOUSE}",
            f"{s3}.endpoint": store,
            f"{s3}.path-style-access": "true",
            f"{s3}.region": "us-east-1",
            f"{s3}.access-key": f"urn:nessie-secret:quarkus:{_SECRET}",
            f"{_SECRET}.name": s3_server.KEY,
            f"{_SECRET}.secret": s3_server.SECRET,
        }
        command = [program, *_FLAGS, *(f"-D{key}={value}" for key, value in settings.items()), "-jar", str(code)]
        uri = f"http://127.0.0.1:{port}/iceberg"
        with servers.running("Nessie", command, directory / "out.log", lambda: servers.answers(f"{uri}/v1/config")):
            yield Server(uri, store)
