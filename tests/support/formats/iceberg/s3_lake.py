"""A table of a catalog in an S3 bucket, written by pyiceberg, and an oracle that reads it by boto3."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import boto3
import fastavro
import pyarrow as pa
from botocore.exceptions import ClientError
from pyiceberg.catalog import load_catalog

from tests.engines.seaweedfs_server import Server
from tests.support.execution.iceberg_ground import Json
from tests.support.formats.iceberg.sql_catalog import Lake


class S3Lake(Lake):
    """A table of five snapshots, two tags and a branch. Whoever reads it has the catalog's options alone."""

    def __init__(self, directory: Path, server: Server) -> None:
        self.options = server.options
        self._s3 = boto3.client("s3", endpoint_url=server.store, **server.keys)
        lines = [f"    {key}: '{value}'" for key, value in self.options.items()]
        (directory / ".pyiceberg.yaml").write_text("\n".join(["catalog:", "  lake:", *lines, ""]))
        rows = pa.table({"id": pa.array([1, 2], pa.int64())})
        with self.client() as client:
            client.create_namespace("shop")
            table = client.create_table("shop.orders", rows.schema)
            for _ in range(5):
                table.append(rows)
            first, second, third, *_ = (each.snapshot_id for each in table.metadata.snapshots)
            named = table.manage_snapshots().create_tag(first, "first").create_tag(second, "second")
            named.create_branch(third, "work").commit()
            self._location = table.location()

    def client(self) -> Any:
        return load_catalog("lake", **self.options)

    def document(self) -> Json:
        found: Json = json.loads(self._read(self.location()))
        return found

    def files(self) -> frozenset[str]:
        bucket, prefix = self._parts(f"{self._location}/")
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        found = (each["Key"].removeprefix(prefix) for page in pages for each in page.get("Contents", ()))
        return frozenset(path for path in found if not path.endswith(".metadata.json"))

    def lose(self, path: str) -> None:
        bucket, key = self._parts(f"{self._location}/{path}")
        self._s3.put_object(Bucket=bucket, Key=key, Body=b"lost")

    def rows(self, location: str) -> list[Json]:
        found: list[Any] = list(fastavro.reader(io.BytesIO(self._read(location))))
        return found

    def _read(self, location: str) -> bytes:
        bucket, key = self._parts(location)
        content: bytes = self._s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        return content

    def exists(self, location: str) -> bool:
        bucket, key = self._parts(location)
        try:
            self._s3.head_object(Bucket=bucket, Key=key)
        except ClientError as error:
            if error.response["Error"]["Code"] == "404":
                return False
            raise
        return True

    @staticmethod
    def _parts(location: str) -> tuple[str, str]:
        bucket, _, key = location.removeprefix("s3://").partition("/")
        return bucket, key
