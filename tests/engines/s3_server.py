"""A real S3 server on this machine: S3Proxy on a directory, which checks signatures. Maven fetches it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines import servers
from tests.engines.java import JAVA_FLAGS, fetched, find_java
from tests.support.ports import free_port

POM = Path(__file__).with_name("iceberg-pom.xml")
SERVER = "org.gaul:s3proxy:4.1.0:jar:jar-with-dependencies"
KEY, SECRET, BUCKET = "key", "secret", "lake"


@contextmanager
def running(directory: Path) -> Iterator[str]:
    """Yield the server's URL; its one bucket is `directory`/lake. Raises `Missing` where it cannot be had."""
    java, _ = find_java()
    (jar,) = fetched("s3proxy", POM, ["dependency:copy", f"-Dartifact={SERVER}", "-DoutputDirectory={}"])
    (directory / BUCKET).mkdir(parents=True)
    url = f"http://127.0.0.1:{free_port()}"
    settings = directory / "s3proxy.conf"
    settings.write_text(
        f"s3proxy.endpoint={url}\ns3proxy.authorization=aws-v2-or-v4\ns3proxy.identity={KEY}\n"
        f"s3proxy.credential={SECRET}\ns3proxy.ignore-unknown-headers=true\n"  # x-amz-security-token is one
        f"jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={directory}\n"
    )
    log = directory / "s3proxy.log"
    command = [java, *JAVA_FLAGS, "-jar", str(jar), "--properties", str(settings)]
    with servers.running("S3Proxy", command, log, lambda: servers.answers(url)):
        yield url
