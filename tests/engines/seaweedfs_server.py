"""SeaweedFS on this machine: an Iceberg REST catalog with OAuth2 that lends credentials, and the S3 server that admits
them. Go builds it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.engines import servers
from tests.engines.java import Missing, kept
from tests.engines.lines import last_words
from tests.support.ports import free_port

SEAWEEDFS = "github.com/seaweedfs/seaweedfs@v0.0.0-20261109003541-7506e5f91cd6"
BUCKET = "lake"
KEY = "AKIDADMIN"
REGION = "us-east-1"
ROLE = "arn:aws:iam::role/Lends"


@dataclass(frozen=True)
class Server:
    """A running server: addresses of its catalog and of its S3 server, and the secret of `KEY`."""

    catalog: str
    store: str
    secret: str = field(repr=False)

    @property
    def keys(self) -> dict[str, str]:
        """The administrator's keys, as boto3 takes them."""
        return {"aws_access_key_id": KEY, "aws_secret_access_key": self.secret, "region_name": REGION}

    @property
    def options(self) -> dict[str, str]:
        """How a client reaches the catalog. The keys of the store come from there."""
        return {
            "type": "rest",
            "uri": self.catalog,
            "oauth2-server-uri": f"{self.catalog}/v1/oauth/tokens",
            "credential": f"{KEY}:{self.secret}",
            "warehouse": f"s3://{BUCKET}/",
        }


def built() -> Path:
    """Return the program. Raises `Missing` where it cannot be built: without Go, or where its modules are not served.

    It is built where Go keeps the module, because Go installs no module that replaces others.
    """
    go = shutil.which("go")
    if go is None:
        raise Missing("no go on the PATH")

    def build(fresh: Path) -> None:
        place = json.loads(_said([go, "mod", "download", "-json", SEAWEEDFS]))["Dir"]
        _said([go, "build", "-C", place, "-o", str(fresh / "weed"), "./weed"])

    return kept("seaweedfs", SEAWEEDFS.encode(), build) / "weed"


@contextmanager
def running(directory: Path, secret: str) -> Iterator[Server]:
    """Yield a server with one bucket of tables. Raises `Missing` where it cannot be had."""
    program = built()
    data, identities, roles = directory / "data", directory / "identities.json", directory / "roles.json"
    data.mkdir(parents=True)
    identities.write_text(json.dumps(_identities(secret)))
    roles.write_text(json.dumps(_roles()))
    store, catalog = free_port(), free_port()
    command = [
        str(program),
        *("server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={data}", "-volume.max=20", "-filer"),
        *("-master.telemetry=false", "-master.volumeSizeLimitMB=64"),
        *("-s3", f"-s3.port={store}", f"-s3.externalUrl=http://127.0.0.1:{store}", f"-s3.config={identities}"),
        *(f"-s3.port.iceberg={catalog}", "-s3.port.lance=0", f"-s3.port.grpc={free_port()}"),
        *(f"-s3.iam.config={roles}", f"-s3.iceberg.credentialRole={ROLE}"),
    ]
    for part in ("master", "volume", "filer"):
        command += [f"-{part}.port={free_port()}", f"-{part}.port.grpc={free_port()}"]
    found = Server(f"http://127.0.0.1:{catalog}", f"http://127.0.0.1:{store}", secret)
    with servers.running("SeaweedFS", command, directory / "out.log", lambda: _is_ready(found)):
        yield found


def _is_ready(server: Server) -> bool:
    """Whether the server has made its bucket of tables: it answers before it can."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    if not servers.answers(f"{server.catalog}/v1/config"):
        return False
    once = Config(retries={"total_max_attempts": 1}, read_timeout=10)
    client = boto3.client("s3tables", endpoint_url=server.store, config=once, **server.keys)
    try:
        client.create_table_bucket(name=BUCKET)
    except ClientError as error:
        return bool(error.response["Error"]["Code"] == "BucketAlreadyExists")
    except BotoCoreError:
        return False
    return True


def _identities(secret: str) -> dict[str, object]:
    keys = [{"accessKey": KEY, "secretKey": secret}]
    return {"identities": [{"name": "admin", "credentials": keys, "actions": ["Admin", "Read", "Write", "List"]}]}


def _roles() -> dict[str, object]:
    """The role whose sessions the catalog lends, each limited to one table by the catalog."""
    everything = {"Effect": "Allow", "Action": ["s3:*"], "Resource": ["*"]}
    lends = {
        "Effect": "Allow",
        "Principal": {"Federated": "iceberg-catalog"},
        "Action": ["sts:AssumeRoleWithCredentials"],
    }
    role = {"roleName": "Lends", "roleArn": ROLE, "attachedPolicies": ["All"], "trustPolicy": _policy(lends)}
    return {
        "sts": {
            "tokenDuration": "1h",
            "maxSessionLength": "12h",
            "issuer": "tests",
            "signingKey": "c2lnbnMgc2Vzc2lvbnMgb2YgdGhlIHRlc3RzIG9ubHk=",
        },
        "policy": {"defaultEffect": "Deny", "storeType": "memory"},
        "policies": [{"name": "All", "document": _policy(everything)}],
        "roles": [role],
    }


def _policy(statement: Mapping[str, object]) -> dict[str, object]:
    return {"Version": "2012-10-17", "Statement": [statement]}


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Missing(f"{' '.join(command[1:3])} of {SEAWEEDFS} failed: {last_words(done.stdout + done.stderr)}")
    return done.stdout
