"""A real S3 server on this machine: S3Proxy on a directory, which checks signatures. Maven fetches it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.engines.java import JAVA_FLAGS, fetched, find_java
from tests.engines.lines import last_words
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
    with log.open("w") as out:
        command = [java, *JAVA_FLAGS, "-jar", str(jar), "--properties", str(settings)]
        server = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        ends = time.monotonic() + 120
        while not _answers(url):
            if server.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"S3Proxy does not start: {last_words(log.read_text())}")
            time.sleep(0.1)
        yield url
    finally:
        server.kill()
        server.wait()


def _answers(url: str) -> bool:
    try:
        urlopen(url, timeout=5).close()
    except HTTPError:
        return True  # it wants a signature
    except OSError:
        return False
    return True
