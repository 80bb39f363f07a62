"""The JSON of a metadata file, plain or gzipped."""

from __future__ import annotations

import zlib
from typing import Any

from core.errors import Corrupt, Unsupported
from core.formats import unpack_limits
from core.messages import told
from core.storage import size_limits


def unpacked(content: bytes, path: str) -> bytes:
    """The JSON of a plain or gzipped file."""
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        raise Unsupported(
            "The metadata is packed with zstd, which the table format does not know.",
            path=path,
            remedy="Write it plain or with gzip.",
        )
    if not content.startswith(b"\x1f\x8b"):
        return content
    most = min(size_limits.TABLE_METADATA, max(size_limits.DOCUMENT, size_limits.PACKED_JSON * len(content)))
    try:
        return unpack_limits.inflated(content, most)
    except (ValueError, zlib.error) as error:
        raise Corrupt(
            "The metadata is no whole gzip file: {error}.", error=error, path=path, remedy="Restore the file."
        ) from error


def document(content: bytes, path: str) -> dict[str, Any]:
    try:
        value = unpack_limits.document(content)
    except ValueError as error:
        what = told("is empty") if not content else told("is no JSON ({error})", error=error)
        raise Corrupt(
            "A metadata.json was expected; the file of {content} bytes {what}.",
            content=len(content),
            what=what,
            path=path,
            remedy="Restore the file, or open an older metadata.json by its own path.",
        ) from error
    if not isinstance(value, dict):
        raise Corrupt("A JSON object was expected, found {name}.", name=type(value).__name__, path=path)
    return value
