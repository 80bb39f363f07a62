"""Alibaba Cloud's OSS, with failures as errors and ranges as elsewhere, where ossfs has neither: it takes a listing
that is denied for an empty one, and gets the whole object for a range that ends after it.

Source: OSS's documentation of ListObjectsV2, PutObject (`x-oss-forbid-overwrite`, which a bucket ignores while it keeps
versions, or once did) and GetObject (`x-oss-range-behavior`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from oss2 import Session
from ossfs import OSSFileSystem

from core.storage.file_systems import no_listing

_META = "x-oss-meta-"
_PAGE = 1000
_CREDENTIALS = {"key": "OSS_ACCESS_KEY_ID", "secret": "OSS_ACCESS_KEY_SECRET", "token": "OSS_SESSION_TOKEN"}
_CONNECTIONS = 64  # kept open; as many as a read has threads


class Oss(OSSFileSystem):  # type: ignore[misc]  # ossfs has no types
    """OSS, by one request for each page of a directory and for each object."""

    root_marker = ""

    def __init__(self, **options: Any) -> None:
        """Options are those of ossfs. Without a key, it comes from the variables of Alibaba Cloud's own clients."""
        if not options.get("key"):
            named = ((option, os.environ.get(variable)) for option, variable in _CREDENTIALS.items())
            options |= {option: value for option, value in named if value}
        super().__init__(**options)
        self._session = Session(pool_size=_CONNECTIONS)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        """Return a path that begins with the bucket; ossfs begins it with a slash."""
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        return super()._strip_protocol(path).lstrip("/")

    def ls(self, path: str, detail: bool = True, **_: object) -> list[Any]:
        """List a directory, with its own marker if it has one; an object is listed by its own name."""
        bucket, key = self.split_path(path)
        found = list(self._listed(bucket, f"{key}/" if key else "")) or ([self.info(path)] if key else [])
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **_: object) -> dict[str, Any]:
        """Describe an object, or what is a directory because names of objects begin with it."""
        bucket, key = self.split_path(path)
        name = f"{bucket}/{key}".rstrip("/")
        if key:
            try:
                head = self._call_oss("head_object", key, bucket=bucket)
            except FileNotFoundError:
                if not self.has_any(bucket, f"{key}/"):
                    raise FileNotFoundError(path) from None
            else:
                return _entry(name, head.content_length, head.last_modified, head.etag)
        return {"name": name, "size": 0, "type": "directory"}

    def has_any(self, bucket: str, prefix: str) -> bool:
        """Return whether the name of any object begins with a prefix. Raises `FileNotFoundError` without the bucket."""
        page = self._page(bucket, prefix, max_keys=1)
        return bool(page.object_list or page.is_truncated)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: object) -> bytes:
        bucket, key = self.split_path(path)
        first, last = start or 0, None if end is None else end - 1
        is_part = start is not None or end is not None
        headers = {"x-oss-range-behavior": "standard"}
        found = self._call_oss(
            "get_object", key, bucket=bucket, byte_range=(first, last) if is_part else None, headers=headers
        )
        data: bytes = found.read()
        return data[first:end] if is_part and found.status != 206 else data

    def pipe_file(
        self, path: str, value: bytes, mode: str = "overwrite", Metadata: Mapping[str, str] | None = None, **_: object
    ) -> None:
        """Write an object; in the mode "create" only if its name is free."""
        bucket, key = self.split_path(path)
        headers = {f"{_META}{name}": text for name, text in (Metadata or {}).items()}
        headers |= {"x-oss-forbid-overwrite": "true"} if mode == "create" else {}
        self._call_oss("put_object", key, value, bucket=bucket, headers=headers)

    def metadata(self, path: str) -> dict[str, str]:
        """Return the metadata that `pipe_file` has written."""
        bucket, key = self.split_path(path)
        headers: Mapping[str, str] = self._call_oss("head_object", key, bucket=bucket).headers
        return {name.lower().removeprefix(_META): text for name, text in headers.items()}

    def versioning(self, bucket: str) -> str | None:
        """Return "Enabled" or "Suspended", None for a bucket that never kept versions."""
        status: str | None = self._call_oss("get_bucket_versioning", bucket=bucket).status
        return status

    def _listed(self, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
        """Yield what is directly below a prefix."""
        token: str | None = ""
        while token is not None:
            page = self._page(bucket, prefix, delimiter="/", continuation_token=token, max_keys=_PAGE)
            for each in page.object_list:
                yield _entry(f"{bucket}/{each.key}", each.size, each.last_modified, each.etag)
            for name in page.prefix_list:
                yield {"name": f"{bucket}/{name.rstrip('/')}", "size": 0, "type": "directory"}
            token = page.next_continuation_token if page.is_truncated else None

    def _page(self, bucket: str, prefix: str, **parameters: object) -> Any:
        """Return one page of a listing. Raises `Corrupt` if it names what does not begin with the prefix."""
        page = self._call_oss("list_objects_v2", bucket=bucket, prefix=prefix, **parameters)
        if not all(name.startswith(prefix) for name in (*(each.key for each in page.object_list), *page.prefix_list)):
            raise no_listing(f"{bucket}/{prefix}")
        return page


def _entry(name: str, size: int, modified_s: int, etag: str) -> dict[str, Any]:
    return {"name": name, "size": size, "type": "file", "LastModified": modified_s, "ETag": etag}
