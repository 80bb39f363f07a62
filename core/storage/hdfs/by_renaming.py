"""Write files on a store that renames atomically: a temporary file gets the whole content, then the name.

Invariant: a file appears with its whole content, and a create replaces nothing. An answer that was lost, as in a
fail-over, is settled by reading: what was written counts as written.
"""

from __future__ import annotations

import uuid
from typing import Any

_TRIES = 3
_IDENTITY = ("fileId", "mtime", "size")  # a rename changes none of them; only HTTP tells the first


def create(fs: Any, path: str, data: bytes) -> None:
    """Create a file with its whole content. Raises `FileExistsError` if the name is taken."""
    temporary = _written(fs, path, data)
    try:
        fs.rename(temporary, path, replace=False)
    except Exception as error:  # client libraries raise any type of error
        if not _is_renamed(fs, temporary, path):
            if isinstance(error, FileExistsError) or _info(fs, path) is not None:
                raise FileExistsError(path) from error
            raise


def replace(fs: Any, path: str, data: bytes) -> None:
    """Write a file at once, replacing any existing one."""
    temporary = _written(fs, path, data)
    try:
        fs.rename(temporary, path, replace=True)
    except Exception:  # client libraries raise any type of error
        if not _is_renamed(fs, temporary, path):
            raise


def _is_renamed(fs: Any, temporary: str, path: str) -> bool:
    """Return whether a rename that failed, or whose answer was lost, has been executed. It cannot be any more
    afterwards: the temporary file is gone.

    Nobody else deletes or renames that file. If the answer to deleting it was lost as well, it may have gone by either
    of the two; then the file at `path` shows whether it is the one that was there."""
    if (ours := _info(fs, temporary)) is None:
        return True
    if _removed(fs, temporary):
        return False
    found = _info(fs, path)
    return found is not None and all(ours.get(key) == found.get(key) for key in _IDENTITY)


def _written(fs: Any, path: str, data: bytes, tries: int = _TRIES) -> str:
    """Write a temporary file beside `path`, and return its path. If only an answer was lost, another one is written."""
    directory, _, name = path.rpartition("/")
    temporary = f"{directory}/.{name}.{uuid.uuid4()}.tmp"
    try:
        fs.pipe_file(temporary, data, mode="create")
    except Exception:  # client libraries raise any type of error
        _removed(fs, temporary)
        if tries == 1:
            raise
        return _written(fs, path, data, tries - 1)
    return temporary


def _removed(fs: Any, temporary: str, tries: int = _TRIES) -> bool:
    """Delete a temporary file; False if it was gone, also by a try whose answer was lost."""
    try:
        fs.rm_file(temporary)
    except FileNotFoundError:
        return False
    except Exception:  # client libraries raise any type of error
        if tries == 1:
            raise
        return _removed(fs, temporary, tries - 1)
    return True


def _info(fs: Any, path: str) -> Any:
    try:
        return fs.info(path)
    except FileNotFoundError:
        return None
