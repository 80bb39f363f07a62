"""What one person keeps between visits: watched tables, saved queries, history. One small JSON document per name.

Each is stored in `state_dir()/desk/<name>.json`; callers limit its size. Invariants: changes by several processes and
threads are serialized and none is lost; a reader sees a complete document, old or new; a document that cannot be read
is an error and stays as it is, because unknown is not empty.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import Corrupt, Invalid
from core.paths import private_file, state_dir

_AGAIN_S = 0.005
_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")


def read(name: str, default: Any) -> Any:
    """The document of that name, or `default` if none exists. Raises `Corrupt` if it cannot be read."""
    path = _path(name)
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return default
    except (OSError, ValueError, RecursionError) as error:
        raise Corrupt(
            "What was saved as {name!r} cannot be read: expected a JSON document, found {error}. It "
            "was left unchanged.",
            name=name,
            error=error,
            path=str(path),
            remedy="Repair the file, or move it away: an empty one is created then.",
        ) from error


def change(name: str, function: Callable[[Any], Any], default: Any) -> Any:
    """Replace the document with what `function` returns for it (or for `default` if none exists); return the new one.

    Nobody else changes it in the meantime, so `function` must be quick and must not wait for input. Raises `Invalid` if
    the document cannot be written.
    """
    from filelock import FileLock  # slow to import, and only changes need it

    path = _path(name)
    try:
        with FileLock(private_file(path.with_suffix(".lock")), poll_interval=_AGAIN_S, fallback_to_soft=False):
            new = function(read(name, default))
            _replace(path, json.dumps(new, ensure_ascii=False, allow_nan=False).encode())
            return new
    except OSError as error:
        raise Invalid(
            "The state directory is not writable: {strerror}. Nothing was saved.",
            strerror=error.strerror,
            path=str(path),
            remedy="Make it writable, or choose another one with SNAPSCOPE_STATE.",
        ) from error


def _path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise Invalid(
            "not a valid name to save under: {name!r}.", name=name, remedy="Use lower-case letters, digits and dashes."
        )
    return state_dir() / "desk" / f"{name}.json"


def _replace(path: Path, content: bytes) -> None:
    number, written = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        os.replace(written, path)
    except BaseException:
        os.unlink(written)
        raise
