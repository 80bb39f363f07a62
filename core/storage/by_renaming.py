"""Write files on a store that renames atomically: a temporary file gets the whole content, then the name.

Invariant: a file appears with its whole content, and a create replaces nothing.
"""

from __future__ import annotations

import uuid
from typing import Any


def create(fs: Any, path: str, data: bytes) -> None:
    """Create a file with its whole content. Raises `FileExistsError` if the name is taken.

    If a rename failed, or its answer was lost, the temporary file decides: once that is deleted, the file can no
    longer be renamed, and if it is gone, it has been renamed.
    """
    temporary = _written(fs, path, data)
    try:
        fs.rename(temporary, path, replace=False)
    except Exception as error:  # client libraries raise any type of error
        if _removed(fs, temporary):
            if isinstance(error, FileExistsError) or _is_there(fs, path):
                raise FileExistsError(path) from error
            raise


def replace(fs: Any, path: str, data: bytes) -> None:
    """Write a file at once, replacing any existing one."""
    temporary = _written(fs, path, data)
    try:
        fs.rename(temporary, path, replace=True)
    except Exception:  # client libraries raise any type of error
        if _removed(fs, temporary):
            raise


def _written(fs: Any, path: str, data: bytes, tries: int = 3) -> str:
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


def _removed(fs: Any, temporary: str) -> bool:
    """Delete a temporary file; False if it was gone."""
    try:
        fs.rm_file(temporary)
    except FileNotFoundError:
        return False
    return True


def _is_there(fs: Any, path: str) -> bool:
    try:
        fs.info(path)
    except FileNotFoundError:
        return False
    return True
