"""HDFS by its own protocol. Source: hdfs-native 0.14."""

from __future__ import annotations

from typing import Any

from hdfs_native.fsspec import HdfsFileSystem

from core.storage.file_systems import refuse_directory


class NativeHdfs(HdfsFileSystem):
    """HDFS by its own protocol; `settings` are Hadoop's, before those of $HADOOP_CONF_DIR."""

    def __init__(self, host: str | None = None, port: int | None = None, **settings: Any) -> None:
        own = {name: value for name, value in settings.items() if isinstance(value, str)}  # others are fsspec's
        super().__init__(host, port, **own)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        """The path of a URL as it is: `;`, `?` and `#` are part of names."""
        return f"/{path.split('://', 1)[1].partition('/')[2]}" if "://" in path else path or cls.root_marker

    def ls(self, path: str, detail: bool = True, **more: Any) -> list[Any]:
        found: list[Any] = super().ls(path, detail=True, **more)
        for each in found:
            each["mtime"] = each["modification_time"] / 1000
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().info(path, **more)
        return found | {"mtime": found["modification_time"] / 1000}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        try:
            reader = self.client.read(path)
        except FileNotFoundError:
            refuse_directory(self, path)
            raise
        begin = min(start or 0, len(reader))  # beyond the end, the client ends the process
        return bytes(reader.read_range(begin, (len(reader) if end is None else min(end, len(reader))) - begin))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **more: Any) -> None:
        with self._open(path, "wb", overwrite=mode == "overwrite") as file:
            file.write(value)

    def rm_file(self, path: str) -> None:
        if not self.client.delete(path, False):
            raise FileNotFoundError(path)

    def remove_empty_dir(self, path: str) -> None:
        self.rm_file(path)  # of a directory with entries it is an error

    def rename(self, old: str, new: str, *, replace: bool) -> None:
        self.client.rename(old, new, replace)
