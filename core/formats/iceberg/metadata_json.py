"""The JSON of a metadata file, plain or gzipped."""

from __future__ import annotations

import zlib
from typing import Any

from core.errors import Corrupt, Unsupported
from core.formats import unpack_limits
from core.messages import message
from core.storage import size_limits


def unpacked(content: bytes, path: str) -> bytes:
    """Return the JSON of a plain or gzipped file. Raises `Unsupported` for zstd, `Corrupt` for a damaged file."""
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        raise Unsupported(
            "The metadata is compressed with zstd, which the table format does not support.",
            path=path,
            remedy="Write it uncompressed or with gzip.",
        )
    if not content.startswith(b"\x1f\x8b"):
        return content
    most = min(size_limits.TABLE_METADATA, max(size_limits.DOCUMENT, size_limits.PACKED_JSON * len(content)))
    try:
        return unpack_limits.inflated(content, most)
    except (ValueError, zlib.error) as error:
        raise Corrupt(
            "The metadata is not a complete gzip file: {error}.", error=error, path=path, remedy="Restore the file."
        ) from error


def document(content: bytes, path: str) -> dict[str, Any]:
    try:
        value = unpack_limits.document(content)
    except ValueError as error:
        what = message("is empty") if not content else message("is not valid JSON ({error})", error=error)
        raise Corrupt(
            "Expected a metadata.json; the file of {content} bytes {what}.",
            content=len(content),
            what=what,
            path=path,
            remedy="Restore the file, or open an older metadata.json by its path.",
        ) from error
    if not isinstance(value, dict):
        raise Corrupt("Expected a JSON object, found {name}.", name=type(value).__name__, path=path)
    return value
