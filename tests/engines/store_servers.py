"""Real servers of stores on this machine: S3Proxy and HDFS (Maven), Azurite (npm), fake-gcs-server and SeaweedFS (built
by Go), moto (wheels)."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.engines import hdfs_server, moto_server, s3_server, seaweedfs_server
from tests.engines.java import Missing, kept
from tests.engines.lines import last_words
from tests.support import memory_oss
from tests.support.ports import free_port

LAKE = "lake"  # the bucket, or container
PLAIN = "plain"  # SeaweedFS has a bucket of tables of the other name
AZURITE = "azurite@3.35.0"
FAKE_GCS = "github.com/fsouza/fake-gcs-server@v1.56.1"
ACCOUNT = "devstoreaccount1"  # Azurite's own, with its published key
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Server:
    """A running server: its address, the prefix of locations on it (`{host}`: of that address), and the environment
    that leads there through another address."""

    url: str
    prefix: str
    leads: Callable[[str], Mapping[str, str]] = field(repr=False)


@contextmanager
def local(directory: Path) -> Iterator[Server]:
    yield Server("", str(directory), lambda _: {})


def _s3(url: str, key: str, secret: str) -> Server:
    named = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-east-1"}
    return Server(url, f"s3://{LAKE}", lambda at: {**named, "AWS_ENDPOINT_URL": at})


@contextmanager
def s3(directory: Path) -> Iterator[Server]:
    with s3_server.running(directory) as url:
        yield _s3(url, s3_server.KEY, s3_server.SECRET)


@contextmanager
def moto(directory: Path) -> Iterator[Server]:
    with moto_server.running(directory) as url:
        yield _with_bucket(_s3(url, "key", "secret"))


@contextmanager
def seaweedfs(directory: Path) -> Iterator[Server]:
    with seaweedfs_server.running(directory, "secret") as found:
        yield _with_bucket(_s3(found.store, seaweedfs_server.KEY, found.secret))


def _with_bucket(server: Server) -> Server:
    import boto3

    named = server.leads(server.url)
    keys = {"aws_access_key_id": named["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": named["AWS_SECRET_ACCESS_KEY"]}
    boto3.client("s3", endpoint_url=server.url, region_name="us-east-1", **keys).create_bucket(Bucket=PLAIN)
    return dataclasses.replace(server, prefix=f"s3://{PLAIN}")


@contextmanager
def azure(directory: Path) -> Iterator[Server]:
    node = _tool("node")

    def install(fresh: Path) -> None:
        command = [_tool("npm"), "install", "--no-audit", "--no-fund", "--prefix", str(fresh), AZURITE]
        _made("npm", command, {})

    package = kept("azurite", AZURITE.encode(), install)
    port = free_port()
    command = [node, str(package / "node_modules/.bin/azurite-blob"), "--silent", "--disableTelemetry",
               "--skipApiVersionCheck", "--inMemoryPersistence", "--blobPort", str(port)]  # fmt: skip

    def leads(at: str) -> Mapping[str, str]:
        return {
            "AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};"
            f"AccountKey={ACCOUNT_KEY};BlobEndpoint={at}/{ACCOUNT};"
        }

    with _running("Azurite", command, directory):
        url = f"http://127.0.0.1:{port}"
        from azure.storage.blob import BlobServiceClient

        with BlobServiceClient.from_connection_string(leads(url)["AZURE_STORAGE_CONNECTION_STRING"]) as service:
            _until("Azurite", lambda: service.create_container(LAKE))
        yield Server(url, f"abfs://{LAKE}", leads)


@contextmanager
def gcs(directory: Path) -> Iterator[Server]:
    def build(fresh: Path) -> None:
        _made("Go", [_tool("go"), "install", FAKE_GCS], {"GOBIN": str(fresh)})

    server = kept("fake-gcs", FAKE_GCS.encode(), build) / "fake-gcs-server"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(server), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory",
               "-log-level", "error"]  # fmt: skip
    with _running("fake-gcs-server", command, directory):
        import requests

        _until("fake-gcs-server", lambda: requests.post(f"{url}/storage/v1/b", json={"name": LAKE}, timeout=5))
        yield Server(
            url,
            f"gs://{LAKE}",
            lambda at: {
                "STORAGE_EMULATOR_HOST": at,
                "NO_GCE_CHECK": "true",
                "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
            },
        )


@contextmanager
def hdfs(directory: Path) -> Iterator[Server]:
    with hdfs_server.running(directory) as found:
        yield Server("", f"hdfs://{found.native}/lake", lambda _: {"HADOOP_USER_NAME": hdfs_server.USER})


@contextmanager
def webhdfs(directory: Path) -> Iterator[Server]:
    with hdfs_server.running(directory) as found:
        yield Server(f"http://{found.http}", f"webhdfs://{hdfs_server.USER}@{{host}}/lake", lambda _: {})


@contextmanager
def oss(_: Path) -> Iterator[Server]:
    with memory_oss.serving() as found:
        yield Server(found.url, f"oss://{memory_oss.BUCKET}", lambda at: {"OSS_ENDPOINT": at})


KINDS = {"local": local, "oss": oss, "s3": s3, "moto": moto, "seaweedfs": seaweedfs, "azure": azure, "gcs": gcs,
         "hdfs": hdfs, "webhdfs": webhdfs}  # fmt: skip


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Missing(f"no {name} on the PATH")
    return found


def _made(what: str, command: Sequence[str], more: Mapping[str, str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=1800, stdin=subprocess.DEVNULL,
        env={**os.environ, **more},
    )  # fmt: skip
    if done.returncode:
        raise Missing(f"{what} did not install {command[-1]}: {last_words(done.stdout + done.stderr)}")


@contextmanager
def _running(name: str, command: Sequence[str], directory: Path) -> Iterator[None]:
    with (directory / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=directory)
    try:
        yield
        if server.poll() is not None:
            raise RuntimeError(f"{name} ended: {last_words((directory / 'server.log').read_text())}")
    finally:
        server.kill()
        server.wait()


def _until(name: str, work: Callable[[], object]) -> None:
    ends = time.monotonic() + 300
    while True:
        try:
            work()
        except Exception as error:
            if time.monotonic() > ends:
                raise RuntimeError(f"{name} does not start: {error}") from error
            time.sleep(0.2)
        else:
            return
