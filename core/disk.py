"""Files on a local disk that appear whole and once: a temporary file, synced, then a hard link or a rename."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator

from core.errors import Unsupported

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


@contextlib.contextmanager
def temporary(path: str, data: bytes) -> Iterator[str]:
    """A synced file with this content beside `path`, gone afterwards whatever happens."""
    directory, name = os.path.split(path)
    try:
        os.makedirs(directory, exist_ok=True)
    except FileExistsError as error:  # not the name that was to be created
        raise NotADirectoryError(error.errno, "A file stands where a directory is needed", directory) from error
    temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def create(path: str, data: bytes) -> None:
    """A new file with its whole content; `FileExistsError` where the name is taken."""
    with temporary(path, data) as made:
        try:
            os.link(made, path)
        except OSError as error:
            raise _explained(error, path) from error
        with contextlib.suppress(PermissionError):  # a directory that may not be opened still took the link
            directory = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def probe(directory: str) -> None:
    """Raises where a file cannot be created by `create` in a directory, replaced and deleted. Nothing is left of it."""
    name = os.path.join(directory, f".snapscope.{uuid.uuid4()}")
    made = [f"{name}.tmp", f"{name}.link.tmp"]
    try:
        with open(made[0], "xb"):
            pass
        try:
            os.link(*made)
        except OSError as error:
            raise _explained(error, directory) from error
    finally:
        for path in made:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _explained(error: OSError, path: str) -> OSError | Unsupported:
    """The error, or what it means where this disk knows no hard links."""
    if error.errno not in _NO_LINKS:
        return error
    return Unsupported(
        "This disk has no hard links ({strerror}), so files cannot be created exclusively on it.",
        strerror=error.strerror,
        path=path,
        remedy="Make this change with the table's own engine.",
    )
