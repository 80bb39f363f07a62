"""HDFS by its own protocol. Source: hdfs-native 0.14.

Its client finds the active NameNode of a nameservice and waits for a fail-over. It repeats reads, but no write that a
NameNode may have executed; `by_renaming` settles these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsspec import AbstractFileSystem
from hdfs_native import Client
from hdfs_native.fsspec import HdfsFileSystem

from core.storage.file_systems import refuse_directory
from core.storage.hdfs import hadoop_settings, refusals


class NativeHdfs(HdfsFileSystem):
    """HDFS by its own protocol; `settings` are Hadoop's, before those of $HADOOP_CONF_DIR."""

    def __init__(self, host: str | None = None, port: int | None = None, **settings: Any) -> None:
        AbstractFileSystem.__init__(self, host, port, **settings)  # the class between cannot give a client another name
        self.host, self.port = host, port
        address, known = hadoop_settings.of_client(host, port, settings)
        self.place = address.removeprefix("hdfs://")
        self.is_kerberos = known.get(refusals.SECURITY, "simple") != "simple"
        self.client = Client(address, known)

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        """Names of nameservices are case-sensitive, unlike hosts in URLs."""
        host, port = hadoop_settings.named(path)
        return {"host": host, "port": port}

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        """The path of a URL as it is: `;`, `?` and `#` are part of names."""
        return f"/{path.split('://', 1)[1].partition('/')[2]}" if "://" in path else path or cls.root_marker

    @contextmanager
    def _asking(self, path: str, *, reads: bool = False) -> Iterator[None]:
        """Say what a failure means where the client's words do not. An answer to a write may just be lost."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            if (refusal := refusals.of_client(
                error, self.place, path, is_kerberos=self.is_kerberos or not reads
            )) is not None:  # fmt: skip
                raise refusal from error
            raise

    def ls(self, path: str, detail: bool = True, **more: Any) -> list[Any]:
        with self._asking(path, reads=True):
            found: list[Any] = super().ls(path, detail=True, **more)
        for each in found:
            each["mtime"] = each["modification_time"] / 1000
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        with self._asking(path, reads=True):
            found: dict[str, Any] = super().info(path, **more)
        return found | {"mtime": found["modification_time"] / 1000}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        try:
            with self._asking(path, reads=True):
                reader = self.client.read(path)
                begin = min(start or 0, len(reader))  # beyond the end, the client ends the process
                stop = len(reader) if end is None else min(end, len(reader))
                return bytes(reader.read_range(begin, stop - begin))
        except FileNotFoundError:
            refuse_directory(self, path)
            raise

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: Any) -> None:
        with self._asking(path), self._open(path, "wb", overwrite=mode == "overwrite") as file:
            file.write(value)

    def rm_file(self, path: str) -> None:
        with self._asking(path):
            if not self.client.delete(path, False):
                raise FileNotFoundError(path)

    def mkdir(self, path: str, create_parents: bool = True, **more: Any) -> None:
        with self._asking(path):
            super().mkdir(path, create_parents, **more)

    def remove_empty_dir(self, path: str) -> None:
        self.rm_file(path)  # of a directory with entries it is an error

    def rename(self, old: str, new: str, *, replace: bool) -> None:
        with self._asking(new):
            self.client.rename(old, new, replace)
