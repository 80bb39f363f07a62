"""Why a library did not decode a file: it lacks a codec or an encoding, or the file is cut off or damaged. Pure."""

from __future__ import annotations

import re

from core.errors import Corrupt, SnapscopeError, Unsupported
from core.messages import message

ELSEWHERE = message("Read it with the engine that wrote it.")
_LACKS = re.compile(  # as libraries say it in other errors than NotImplementedError
    r"unrecognized codec|codec is supported but|unknown compression|support for codec|UnsupportedOperationException|"
    r"codec \S+ was not found|not implemented",
    re.IGNORECASE,
)


def error(raised: BaseException, path: str) -> SnapscopeError:
    """The error of ours for a file that a library did not decode."""
    text = f"{type(raised).__name__}: {raised}"
    if is_lack(raised):
        return lack(text, path)
    return Corrupt(
        "The file cannot be read: {error}.",
        error=text,
        path=path,
        remedy=message("Restore the file, or choose a snapshot or tag that does not need it."),
    )


def lack(text: str, path: str | None) -> Unsupported:
    """The error for a file that may be whole, of which the library said this."""
    return Unsupported(
        "The file uses a codec or an encoding that Snapscope does not decode: {error}.",
        error=text.rstrip("."),
        path=path,
        remedy=ELSEWHERE,
    )


def is_lack(raised: BaseException) -> bool:
    """Whether the library could not decode what it found, though it may be whole."""
    return isinstance(raised, NotImplementedError) or _LACKS.search(str(raised)) is not None
