"""The JSON of a metadata file, plain or gzipped."""

from __future__ import annotations

import json
import zlib
from typing import Any

from core.errors import Corrupt, Unsupported
from core.told import told

MOST_BYTES = 1 << 30  # of one unpacked document


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
    try:
        engine = zlib.decompressobj(wbits=31)
        plain = engine.decompress(content, MOST_BYTES)
        if not engine.eof:
            what = (
                told("unpacks to more than {most_bytes:,} bytes", most_bytes=MOST_BYTES)
                if engine.unconsumed_tail
                else told("is cut off")
            )
            raise Corrupt("The gzipped metadata {what}.", what=what, path=path, remedy="Restore the file.")
    except zlib.error as error:
        raise Corrupt(
            "The metadata is no whole gzip file: {error}.", error=error, path=path, remedy="Restore the file."
        ) from error
    return plain


def document(content: bytes, path: str) -> dict[str, Any]:
    try:
        value = json.loads(content, parse_constant=_no_number)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        what = (
            told("is empty")
            if not content
            else told("is no JSON ({error})", error=str(error) or told("nested too deep"))
        )
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


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")
