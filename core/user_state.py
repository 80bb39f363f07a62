"""What one person keeps between visits: watched tables, saved queries, history. A small JSON document a name.

Each lies in `state_dir()/desk/<name>.json`. Whoever keeps something caps its size. Laws: changes by several processes
and threads follow one another and none is lost; a reader sees a whole document, the old or the new one; a document that
cannot be read is an error and stays as it is: unknown is not empty.
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
    """The document of that name, `default` where none was kept yet. `Corrupt` where it cannot be read."""
    path = _path(name)
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return default
    except (OSError, ValueError, RecursionError) as error:
        raise Corrupt(
            "What was kept under the name {name!r} cannot be read: expected a JSON document, found "
            "{error}. It was left as it is.",
            name=name,
            error=error,
            path=str(path),
            remedy="Mend the file, or move it away: an empty one is started then.",
        ) from error


def change(name: str, function: Callable[[Any], Any], default: Any) -> Any:
    """Replace the document by what `function` makes of it (of `default` where there is none); answers the new one.

    Nobody else changes it meanwhile, so `function` is quick and asks nobody. `Invalid` where it cannot be written."""
    from filelock import FileLock  # slow, and only changes need it

    path = _path(name)
    try:
        with FileLock(private_file(path.with_suffix(".lock")), poll_interval=_AGAIN_S, fallback_to_soft=False):
            new = function(read(name, default))
            _replace(path, json.dumps(new, ensure_ascii=False, allow_nan=False).encode())
            return new
    except OSError as error:
        raise Invalid(
            "The state directory cannot be written: {strerror}. Nothing was kept.",
            strerror=error.strerror,
            path=str(path),
            remedy="Make it writable, or name another one: SNAPSCOPE_STATE.",
        ) from error


def _path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise Invalid(
            "{name!r} is no name to keep something under.", name=name, remedy="Lower-case letters, digits and dashes."
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
